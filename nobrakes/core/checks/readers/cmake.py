"""ctest's closing lines.

Source: CMake, Source/CTest/cmCTestTestHandler.cxx (`LogTestSummary`, `LogDisabledTests`, `LogFailedTests`).
A skipped test is among the passed ones there, a disabled one in no number; both are listed as "did not run".
"""

import re
from collections.abc import Sequence

from .tally import Tally, added

_SUMMARY = re.compile(r"[0-9]+% tests passed, ([0-9]+) tests? failed(?: out of ([0-9]+))?")
_NOT_RUN = re.compile(r"[ \t]+[0-9]+ - .*\((Skipped|Disabled)\)")


def read(lines: Sequence[str]) -> Tally | None:
    """ctest."""
    found: list[Tally] = []
    for line in lines:
        if line.startswith("No tests were found!!!"):
            found.append(Tally())
            continue
        summary = _SUMMARY.match(line)
        if summary is not None and summary[2] is not None:
            failed, total = int(summary[1]), int(summary[2])
            found.append(Tally(total - failed, failed, 0))
            continue
        not_run = _NOT_RUN.match(line) if found else None
        if not_run is not None:
            was_passed = not_run[1] == "Skipped" and found[-1].passed > 0
            found[-1] = found[-1].plus(Tally(passed=-1 if was_passed else 0, skipped=1))
    return added(found)
