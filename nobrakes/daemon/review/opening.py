"""Whether a request is opened now, or one that is there goes on as it is."""

from ...core.beads.bead import CLOSED, BeadType, Status
from ...core.pulls.delivery import Delivery
from ...core.pulls.pull import PullRequest, push_approval
from ...core.review.journal import Journal
from ...core.review.machine import Fact
from ...ports import Git
from ..ports import Ports
from . import whole_epics
from .culprits import FROZEN
from .reports import Report


def why_not(ports: Ports, base: str, bead: str, journal: Journal, delivery: Delivery) -> str:
    """Why no new request for that branch is opened now; empty: it is."""
    store, most = ports.store, ports.config().review.max_open
    if not delivery.push and store.setting(push_approval(bead)) != journal.head:
        return f"nothing is pushed, and no pull request opened, before you say `nobrakes pr open {bead}`"
    tip = None if ports.where.base else store.setting(FROZEN)  # which is said of main
    if tip is not None and not _mends(ports, bead):
        return f"{base} is red at {tip[:12]}, and no request is opened before it is green again"
    others = [store.bead(one.bead).status for one in store.pulls() if one.bead != bead]
    asked, count = others.count(Status.ESCALATED), sum(one not in CLOSED for one in others)
    if count < most:
        return ""
    wait = "1 pull request waits" if count == 1 else f"{count} pull requests wait"
    why = f"{wait} for people, and no more are opened (review.max_open = {most})"
    return f"{why}; the bead of {asked} of them waits for your decision: nobrakes escalations" if asked else why


def _mends(ports: Ports, bead: str) -> bool:
    """Whether it brings a repair of main, by itself or as an epic."""
    one = ports.store.bead(bead)
    return BeadType.REPAIR in (one.type, *(each.type for each in whole_epics.within(ports, one)))


def adopted(git: Git, journal: Journal, pull: PullRequest) -> Report | None:
    """A request that is there already stays as it is, where it brings what this review proved."""
    if pull.head in ("", journal.candidate) or not pull.base or pull.contract != journal.contract:
        return None
    if not (git.has(pull.head) and git.has(pull.base)):
        return None
    if git.content(pull.base, pull.head) != git.content(journal.base, journal.candidate):
        return None
    brought = {"base": pull.base, "candidate": pull.head, "tree": git.tree(pull.head), "contract": pull.contract}
    return Report(Fact.ADOPTED, brought)
