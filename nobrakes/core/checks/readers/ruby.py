"""rspec's and minitest's closing lines.

Sources: rspec-core, lib/rspec/core/notifications.rb (`totals_line`); minitest, lib/minitest.rb
(`SummaryReporter#summary`). An error outside of the examples is a file that could not be loaded: a failure.
"""

import re
from collections.abc import Sequence

from .tally import Tally, added

_RSPEC = re.compile(
    r"([0-9]+) examples?, ([0-9]+) failures?(?:, ([0-9]+) pending)?"
    r"(?:, ([0-9]+) errors? occurred outside of examples)?\Z"
)
_MINITEST = re.compile(
    r"([0-9]+) (?:runs|tests), [0-9]+ assertions, ([0-9]+) failures, ([0-9]+) errors,"
    r"(?: [0-9]+ pendings, ([0-9]+) omissions,| ([0-9]+) skips)"
)


def read(lines: Sequence[str]) -> Tally | None:
    """rspec, minitest (Rails) and test-unit."""
    found = []
    for line in lines:
        spec = _RSPEC.match(line)
        if spec is not None:
            total, failed, pending, outside = (int(part or 0) for part in spec.groups())
            found.append(Tally(max(0, total - failed - pending), failed + outside, pending))
            continue
        mini = _MINITEST.match(line)
        if mini is not None:
            total, failures, errors, omitted, skips = (int(part or 0) for part in mini.groups())
            failed, skipped = failures + errors, omitted + skips
            found.append(Tally(max(0, total - failed - skipped), failed, skipped))
    return added(found)
