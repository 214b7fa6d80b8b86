"""go test: plain, -v, and -json.

Sources: `go help test`, `go doc test2json`, src/cmd/go/internal/test/test.go.

1. -v and -json tell every test, subtests included.
2. The plain form tells packages only. An `ok` package with tests then counts as one test that passed and a
   FAIL package as one that failed: a number that is never too high.
3. A package that cannot be built, or fails without any test that failed, is one failure.
"""

import json
import re
from collections.abc import Sequence

from .tally import Tally

_TEST = re.compile(r"[ \t]*--- (PASS|FAIL|SKIP): \S+ \([0-9.]+s\)")
_PACKAGE = re.compile(r"(ok  |FAIL|\?   )\t(\S+)(.*)")


def read(lines: Sequence[str]) -> Tally | None:
    """One `go test` or several."""
    told = _read_json(lines)
    plain = _read_text(lines)
    if told is None or plain is None:
        return told or plain
    return told.plus(plain)


def _read_text(lines: Sequence[str]) -> Tally | None:
    verbose = any(line.startswith("=== RUN ") for line in lines)
    passed = failed = skipped = 0
    found = verbose
    failed_before = 0
    for line in lines:
        package = _PACKAGE.match(line)
        if package is not None:
            found = True
            if package[1] == "FAIL" and (not verbose or failed == failed_before):
                failed += 1
            elif package[1] == "ok  " and not verbose and "[no tests to run]" not in package[3]:
                passed += 1
            failed_before = failed
            continue
        test = _TEST.match(line) if verbose else None
        if test is not None:
            passed += test[1] == "PASS"
            failed += test[1] == "FAIL"
            skipped += test[1] == "SKIP"
    return Tally(passed, failed, skipped) if found else None


def _read_json(lines: Sequence[str]) -> Tally | None:
    ends = {"pass": 0, "fail": 0, "skip": 0}
    to_blame: set[str] = set()  # packages with a test that failed
    found = False
    for line in lines:
        if not (line.startswith("{") and '"Action":"' in line) or '"Action":"output"' in line:
            continue
        try:
            event = json.loads(line)
        except ValueError:
            continue
        action, package = event.get("Action"), str(event.get("Package", event.get("ImportPath", "")))
        found = found or "Package" in event
        if action not in ends or "Package" not in event:
            continue
        if "Test" in event:
            ends[action] += 1
            if action == "fail":
                to_blame.add(package)
        elif action == "fail" and package not in to_blame:
            ends["fail"] += 1
    return Tally(ends["pass"], ends["fail"], ends["skip"]) if found else None
