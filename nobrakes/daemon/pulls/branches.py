"""The branches of requests: which commits of them are ours, what is kept of them, and their end at the remote.

Everything that was pushed is pinned before it is, and archived before its branch is removed.
"""

from collections.abc import Iterable
from dataclasses import replace

from ...core.beads.bead import Bead, BeadType, Role
from ...core.pulls.pull import PullRequest, Told
from ...ports.people import Notice
from ..ports import Ports

PINS = "pull"


def pins(ports: Ports, bead: str) -> list[str]:
    """The names of what was pushed for the bead's open request."""
    return [name for name in ports.git.kept() if name.startswith(f"{PINS}/{bead}/")]


def pushed(ports: Ports, bead: str) -> frozenset[str]:
    """Every commit that was pushed for the bead, also for requests that are over."""
    return pushed_of(ports.git.kept().items(), bead)


def pushed_now(ports: Ports, bead: str) -> frozenset[str]:
    """What was pushed for the bead since its last request was merged."""
    return frozenset(name.rpartition("/")[2] for name in pins(ports, bead))


def pushed_of(kept: Iterable[tuple[str, str]], bead: str) -> frozenset[str]:
    """The same of what refs/nobrakes/ holds."""
    starts = (f"{PINS}/{bead}/", f"archive/{bead}/pull-")
    return frozenset(commit for name, commit in kept if name.startswith(starts))


def as_merged(ports: Ports, pull: PullRequest, told: Told | None) -> PullRequest:
    """The request as people merged it: where they were faster than our last push, at an earlier head."""
    git, head = ports.git, told.head if told is not None else ""
    if head and head not in pushed(ports, pull.bead):
        head = pull.had  # with what somebody else pushed on it, and without what could not be pushed after that
    if head in ("", pull.head) or not git.has(head):
        return pull
    return replace(pull, head=head, base=git.fork(pull.base, head) or pull.base)


def tell_of_others(ports: Ports, pull: PullRequest, told: Told | None) -> None:
    """Tell that people merged what we did not push, unless it is known to have what we pushed."""
    git, head = ports.git, told.head if told is not None else ""
    if not head or head in {pull.head, *pushed(ports, pull.bead)} or (git.has(head) and git.contains(pull.head, head)):
        return
    text = (
        f"{pull.bead}: pull request {pull.name} was merged at {head[:12]}, which nobrakes did not push; what it "
        f"proved is {pull.head[:12]}. What was merged counts as the work: look at it with `nobrakes show {pull.bead}`"
    )
    ports.notifier.tell(Notice(text, pull.bead, urgent=True))


def tell_of_later(ports: Ports, bead: Bead, pull: PullRequest, fork: str, head: str) -> None:
    """Tell that people merged it before what was handed in since (`fork`..`head`) was in it; an epic goes on."""
    git, commits = ports.git, (pull.base, pull.head, fork, head)
    if bead.type is BeadType.EPIC or not all(commit and git.has(commit) for commit in commits):
        return
    reviews = [one.data for one in ports.store.attempts(bead.id) if one.role is Role.REVIEWER]
    if head in [data.get("head") for data in reviews if data.get("candidate") == pull.head]:
        return  # that is what the request was made of
    if git.content(fork, head) == git.content(pull.base, pull.head):
        return
    text = (
        f"people merged pull request {pull.name} without what was handed in since, and that is not on main: it "
        f"is {head[:12]}, which stays under refs/nobrakes/archive/{bead.id}/. `nobrakes reopen {bead.id}` has the bead "
        "worked on again"
    )
    ports.notifier.tell(Notice(text, bead.id, urgent=True))


def archive(ports: Ports, bead: str) -> None:
    """What was pushed for the bead is archived, and has no pins of its own any more."""
    for name in pins(ports, bead):
        commit = name.rpartition("/")[2]
        if ports.git.has(commit):
            ports.git.pin(f"archive/{bead}/pull-{commit[:12]}", commit)
        ports.git.pin(name, None)


def is_to_go(ports: Ports, pull: PullRequest | None) -> bool:
    """Whether the branch of the merged request is removed at the remote."""
    return pull is not None and bool(pull.branch) and ports.config().review.pull_delete_branch
