"""Many notices in one message: how many of each kind, and the first few of those that matter most."""

from collections.abc import Sequence

from .notice import NewNotice, NoticeKind, NoticeRecord, Severity
from .routing import bounded, numbers

SHOWN = 5
MOST_LINE = 200


def digest(counts: Sequence[tuple[str, int]], shown: Sequence[NoticeRecord]) -> NewNotice:
    """The message for `counts` (kind, how many); `shown` are the first of those that matter most, and not empty."""
    ordered = sorted(counts, key=lambda one: (-one[1], one[0]))
    total = sum(count for _, count in ordered)
    lines = [f"{total} notices: {numbers(ordered)}"]
    for one in shown[:SHOWN]:
        about = f"{one.bead}: " if one.bead else ""
        mark = "! " if one.severity is Severity.URGENT else ""
        lines.append(f"{mark}{about}{bounded(' '.join(one.text.split()), MOST_LINE)}")
    if total > len(shown[:SHOWN]):
        lines.append(f"and {total - len(shown[:SHOWN])} more: `nobrakes events` has all that happened")
    most = max((one.severity for one in shown), key=lambda severity: severity.rank)
    return NewNotice(NoticeKind.DIGEST, most, "\n".join(lines))
