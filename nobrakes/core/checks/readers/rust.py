"""cargo test: one "test result:" line for each binary and for the doc tests.

Source: rust-lang/rust, library/test/src/formatters/pretty.rs (`write_run_finish`). Ignored tests are skipped;
filtered ones were not asked for.
"""

import re
from collections.abc import Sequence

from .tally import Tally, added

_RESULT = re.compile(r"test result: (?:ok|FAILED)\. ([0-9]+) passed; ([0-9]+) failed; ([0-9]+) ignored;")
_NEXTEST = re.compile(r" +Summary \[ *[0-9.]+s\] [0-9/]+ tests? run: ([^\n]*)")
_NEXTEST_PART = re.compile(r"([0-9]+) (passed|failed|timed out|exec failed|skipped)")


def read(lines: Sequence[str]) -> Tally | None:
    """cargo test, and cargo nextest's summary line."""
    found = []
    for line in lines:
        result = _RESULT.match(line)
        if result is not None:
            found.append(Tally(int(result[1]), int(result[2]), int(result[3])))
            continue
        summary = _NEXTEST.match(line)
        if summary is not None:
            number = {"passed": 0, "failed": 0, "timed out": 0, "exec failed": 0, "skipped": 0}
            for count, word in _NEXTEST_PART.findall(summary[1]):
                number[word] = int(count)
            failed = number["failed"] + number["timed out"] + number["exec failed"]
            found.append(Tally(number["passed"], failed, number["skipped"]))
    return added(found)
