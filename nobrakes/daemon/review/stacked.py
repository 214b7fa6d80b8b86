"""Requests that stack on another one: what they are for, and what becomes of them when that one moves or ends.

1. Such a request is for the branch of the one below it, and shows only what it adds. It is built anew when that one
   changes, and on main when that one is merged.
2. Where people merged it into the branch below, it is on main when that one is; what is missing there then is asked
   for anew.
3. Where the bead below is given up, nobody knows what it is to stand on: a person says so.
"""

from ...core.beads.bead import Bead, Status, blocked_by
from ...core.pulls.pull import PullRequest
from ...core.review.journal import Journal
from ..epics import below_of, git_of
from ..ports import Ports
from ..pulls import branches
from .whole_epics import is_whole_epic


def base_of(ports: Ports, bead: Bead, main: str) -> str:
    """The branch that the bead's request is for: that of the request below it, or main's, which is given."""
    below = below_of(ports, bead)
    under = ports.store.pull(below) if below else None
    return under.branch if under is not None else main


def has_moved(ports: Ports, bead: Bead, journal: Journal) -> bool:
    """Whether what the request was proven on is not what it stacks on any more, has not come to main as it was, or was
    taken off main by others, who do not want it back.
    """
    if not journal.base or is_whole_epic(bead) or not ports.git.has(journal.base):
        return False
    return not ports.git.contains(journal.base, git_of(ports, bead).main())


def is_due(ports: Ports, bead: Bead, journal: Journal, looked: float) -> bool:
    """Whether the request is to follow what it stacks on, at once: nobody did since `looked`."""
    pull = ports.store.pull(bead.id)
    if has_moved(ports, bead, journal):
        return not why_gone(ports, bead)
    if pull is None or not pull.onto or below_of(ports, bead):
        return False
    return looked < (ports.store.bead(pull.onto).closed_at or 0.0)  # it is for main now


def why_gone(ports: Ports, bead: Bead) -> str:
    """What is said where the bead below was given up; empty: it was not."""
    below = bead.stacks_on
    if below is None or ports.store.bead(below).status is not Status.CANCELLED:
        return ""
    return (
        f"it stacks on the pull request of {below}, which was cancelled: remove the dependency "
        f"(`nobrakes undepend {bead.id} {below}`), and it is built anew on main; or cancel it, too"
    )


def why_elsewhere(ports: Ports, bead: Bead, pull: PullRequest, into: str, main: str) -> str:
    """What is said of a request that people merged into that branch (empty: not known), while main has not got it."""
    said = f"pull request {pull.name} is merged, and its commit is not on {main}"
    if into not in ("", base_of(ports, bead, main)):
        said = f"pull request {pull.name} was merged into {into}, and is not on {main}"
    below = below_of(ports, bead)
    if below:
        return f"{said} before the pull request of {below} is merged, too"
    again = f"`nobrakes cancel {bead.id}` and then `nobrakes reopen {bead.id}` has it done again"
    return f"{said}: when it comes there, {bead.id} is done; {again}"


def is_merged_elsewhere(ports: Ports, bead: str) -> bool:
    """Whether people merged its request into what it stacked on, and that is merged by now."""
    pull = ports.store.pull(bead)
    return pull is not None and pull.waits and not pull.number and bool(pull.merged_as)


def asked_anew(ports: Ports, pull: PullRequest) -> None:
    """Forget the request that people merged into the branch below, which is merged by now, with it or without it."""
    branches.archive(ports, pull.bead)
    came = ports.store.bead(pull.onto).merged_commit or pull.merged_as
    again = PullRequest(pull.bead, branch=pull.branch, heard=pull.heard, merged_as=came, opened_at=ports.store.now())
    ports.store.save_pull(again)


def is_stood_on(ports: Ports, bead: str) -> bool:
    """Whether the request of another bead is for the branch of this one's: the host closes it with the branch."""
    if any(one.onto == bead for one in ports.store.pulls()):
        return True
    if not ports.config().review.stacks:
        return False
    # a database that was lost knows nothing of a request that is there still
    waiting = blocked_by(bead, ports.store.dependencies(bead))
    return any(ports.store.pull(one) is None and branches.pushed_now(ports, one) for one in waiting)
