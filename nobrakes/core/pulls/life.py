"""What follows from what a code host says of a request.

1. Merged is what the host says is merged; nobody else's word makes a bead done.
2. A red check is a failed validation, once nothing of the host's is running any more on that commit.
3. Remarks of people become a log of the next attempt. They are never a failure, and never an instruction to us.
4. A request whose branch somebody else pushed to is theirs: what the host's checks say there blames nobody here.
"""

from collections.abc import Sequence
from enum import StrEnum

from ..text.cleaning import clean, shorten
from .pull import CheckState, HostCheck, PullRequest, PullState, Remark, Seen

MOST_REMARKS = 50
LOG = 6000
"""So many characters of a failed check's log are told, from its end."""
REMARK = 2000
"""So many characters of one remark are told."""
LONGEST = 600.0
"""So many seconds are the most between two looks because nothing happens."""
CALLS_A_MINUTE = 30
"""So often a code host is asked at most."""
_CALLS_OF_A_LOOK = 6
"""The request, its checks and statuses, reviews and comments, and one to spare."""
_SHOWN = 12


class Turn(StrEnum):
    """How a review goes on that waits for its request."""

    WAIT = "wait"
    MERGED = "merged"
    CLOSED = "closed"
    CONFLICTS = "conflicts"  # with what its base is by now
    RED = "red"
    REMARKS = "remarks"


def between_looks(poll: float, waiting: int) -> float:
    """Seconds from one look at a request to the next: where several wait, the looks at all of them fit into what a host
    is asked in a minute.
    """
    return max(poll, (waiting - 1) * _CALLS_OF_A_LOOK * 60 / CALLS_A_MINUTE)


def next_look(between: float, waited: float) -> float:
    """Seconds to the next look at a request about which nothing was new for `waited` seconds: ever longer, up to
    `LONGEST`, and never less than `between`, however long that is.
    """
    return max(between, min(LONGEST, waited / 10))


def turn(seen: Seen, pull: PullRequest) -> Turn:
    """What follows. `pull`: as it is kept."""
    told = seen.told
    if told is None:
        return Turn.WAIT
    if told.state is PullState.MERGED:
        return Turn.MERGED
    if told.state is PullState.CLOSED:
        return Turn.CLOSED
    if told.head != pull.head:
        return Turn.WAIT
    if failed(seen.checks) and not running(seen.checks):
        return Turn.RED
    if news(seen.remarks, pull):
        return Turn.REMARKS
    return Turn.CONFLICTS if told.conflicts else Turn.WAIT


def failed(checks: Sequence[HostCheck]) -> list[HostCheck]:
    """The checks that are red."""
    return [check for check in checks if check.state is CheckState.FAILED]


def running(checks: Sequence[HostCheck]) -> list[HostCheck]:
    """The checks that have no end yet."""
    return [check for check in checks if check.state is CheckState.RUNNING]


def news(remarks: Sequence[Remark], pull: PullRequest) -> list[Remark]:
    """The remarks that no Doer was told of."""
    return [one for one in remarks if one.key not in pull.heard and not one.approves]


def waits_for(seen: Seen, pull: PullRequest, by_itself: bool = False) -> str:
    """What the request waits for, in words. `by_itself`: it is to be merged so, and where it is nobody can."""
    if seen.trouble:
        return seen.trouble
    told = seen.told
    if told is None:
        return "the request is being opened"
    where = f"pull request #{told.number} ({told.url})" if told.number else f"the branch {pull.branch} ({told.url})"
    if told.head and told.head != pull.head:
        return f"{where} has commits of somebody else, and waits for people"
    open_ones = running(seen.checks)
    if open_ones:
        return f"{where} waits for its checks: {', '.join(clean(one.name)[:40] for one in open_ones[:_SHOWN])}"
    who = "the host to merge it by itself" if told.auto_merge else "people to merge it"
    into = f" into {pull.into}" if pull.into else ""
    but = ": git alone merges nothing by itself (review.pull_auto_merge)" if by_itself else ""
    return f"{where} waits for {who}{into}{but}"


def log_of_red(seen: Seen, pull: PullRequest) -> str:
    """What a Doer is told of red checks."""
    logs = dict(seen.logs)
    parts = [f"Checks of the code host failed on pull request {pull.name} ({pull.head[:12]}):"]
    for check in failed(seen.checks)[:_SHOWN]:
        parts.append(f"{clean(check.name)[:100]}: failed. {shorten(clean(check.says), 500)}".rstrip())
        log = logs.get(check.name, "").strip()
        if log:
            parts.append(clean(log[-LOG:]))
    return "\n".join(parts)


def log_of_remarks(seen: Seen, pull: PullRequest) -> str:
    """What a Doer is told of people's remarks: each with its place, as somebody else's words."""
    found = news(seen.remarks, pull)
    parts = [f"People reviewed pull request {pull.name} and asked for changes. They wrote:"]
    for one in found[:MOST_REMARKS]:
        place = f"{clean(one.path)[:200]}:{one.line}" if one.line else clean(one.path)[:200]
        parts.append(f"- {clean(one.by)[:60]}{f', {place}' if place else ''}: {shorten(clean(one.text), REMARK)}")
    if len(found) > MOST_REMARKS:
        parts.append(f"and {len(found) - MOST_REMARKS} more.")
    return "\n".join(parts)
