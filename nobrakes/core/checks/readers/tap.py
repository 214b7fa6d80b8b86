"""The Test Anything Protocol, and the summary that node --test and tape print below it.

Sources: testanything.org's TAP 14 specification; node's lib/internal/test_runner/reporter/{tap,spec}.js.

1. Only top-level test points count, and only where there is a plan (`1..N`), first or last.
2. What was planned and never reported has failed, and so has a `Bail out!`.
3. `# SKIP`, and a failure marked `# TODO`, are skipped. Where a summary follows, it is believed instead.
"""

import re
from collections.abc import Sequence

from .tally import Tally, added

_PLAN = re.compile(r"1\.\.([0-9]+)(?: *#.*)?\Z")
_POINT = re.compile(r"(not )?ok +(?:[0-9]|-|#)")
_DIRECTIVE = re.compile(r"# *(skip|todo)", re.IGNORECASE)
_SUMMARY = re.compile(r"[#ℹ] (tests|suites|pass|fail|cancelled|skipped|todo|duration_ms) +([0-9.]+)\Z")


class _Document:
    """One run's test points, as they come."""

    def __init__(self) -> None:
        self.planned: int | None = None
        self.points: list[Tally] = []

    @property
    def complete(self) -> bool:
        return self.planned is not None and len(self.points) >= self.planned

    def tally(self) -> list[Tally]:
        """Nothing, where there was no plan: then it was no TAP."""
        if self.planned is None:
            return []
        missing = Tally(failed=max(0, self.planned - len(self.points)))
        return [missing, *self.points]


def _point(line: str, failed: bool) -> Tally:
    directive = _DIRECTIVE.search(line)
    if directive is not None and (failed or directive[1].lower() == "skip"):
        return Tally(skipped=1)
    return Tally(failed=1) if failed else Tally(passed=1)


def read(lines: Sequence[str]) -> Tally | None:
    """TAP from bats, prove -v, tape, and node --test in both of its forms."""
    found: list[Tally] = []
    document = _Document()
    summary: dict[str, int] | None = None
    for line in lines:
        said = _SUMMARY.match(line)
        if said is not None:
            if said[1] == "tests":
                found += _believed(summary)
                summary = {}
            elif said[1] == "pass" and summary is not None:
                document = _Document()
            if summary is not None:
                summary[said[1]] = int(float(said[2]))
            continue
        plan = _PLAN.match(line)
        if plan is not None:
            if document.planned is not None:
                found += document.tally()
                document = _Document()
            document.planned = int(plan[1])
            continue
        point = _POINT.match(line)
        if point is not None:
            if document.complete:
                found += document.tally()
                document = _Document()
            document.points.append(_point(line, failed=point[1] is not None))
        elif line.startswith("Bail out!"):
            document.planned = document.planned or 0
            document.points.append(Tally(failed=1))
    return added([*found, *document.tally(), *_believed(summary)])


def _believed(summary: dict[str, int] | None) -> list[Tally]:
    if summary is None or "pass" not in summary:
        return []
    failed = summary.get("fail", 0) + summary.get("cancelled", 0)
    return [Tally(summary["pass"], failed, summary.get("skipped", 0) + summary.get("todo", 0))]
