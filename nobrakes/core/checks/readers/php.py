"""phpunit's closing line.

Source: phpunit, src/TextUI/Output/SummaryPrinter.php. Incomplete tests are skipped ones; warnings, notices and
deprecations are remarks on tests that are counted already; a risky test has passed.
"""

import re
from collections.abc import Sequence

from .tally import Tally, added

_OK = re.compile(r"OK \(([0-9]+) tests?, [0-9]+ assertions?\)\Z")
_COUNTS = re.compile(r"Tests: [0-9]+, Assertions: [0-9]+(?:, [A-Za-z ]+: [0-9]+)*\.\Z")
_NUMBER = re.compile(r"([A-Za-z ]+): ([0-9]+)")


def read(lines: Sequence[str]) -> Tally | None:
    """phpunit, and Pest where it prints like it."""
    found = []
    for line in lines:
        fine = _OK.match(line)
        if fine is not None:
            found.append(Tally(passed=int(fine[1])))
        elif line.startswith("No tests executed!"):
            found.append(Tally())
        elif _COUNTS.match(line):
            number = {word.strip(): int(count) for word, count in _NUMBER.findall(line)}
            failed = number.get("Errors", 0) + number.get("Failures", 0)
            skipped = number.get("Skipped", 0) + number.get("Incomplete", 0)
            found.append(Tally(max(0, number["Tests"] - failed - skipped), failed, skipped))
    return added(found)
