"""The branch that a bead lands on: main, its epic's where people merge epics as a whole (`unit = "epic"`), or a
feature's other base, which is main to its work.

1. An epic's branch is our ref, and nobody reports its moves. The reviews know what landed there: a missing or older ref
   is restored before anybody starts there and before the epic's review.
2. If it has something else, the epic is held and a person told.
"""

from collections.abc import Mapping
from dataclasses import replace

from ...beads.model import Attempt, Bead, Outcome, Role, Status
from ...events.kinds import Event, Kind
from ...git.port import EPICS, Git
from ...host.port import Notice
from ...ports import Ports
from ...records import frozen
from ...review.service import landed
from ..model import Where


def git_of(ports: Ports, bead: Bead) -> Git:
    """The repository with the bead's target branch as main."""
    where = lands_on(ports, bead)
    if where.epic:
        ensure_objects(ports, where.epic)
    return landed.git_at(ports.git, where)


def base_of(ports: Ports, bead: Bead) -> Git:
    return landed.git_at(ports.git, Where(lands_on(ports, bead).base))


def lands_on(ports: Ports, bead: Bead) -> Where:
    return landed.where_of(ports.store, ports.config(), bead)


def ports_of(ports: Ports, where: Where) -> Ports:
    """Ports for reviews on that branch, which only we move."""
    pulls = None if where.epic or where.direct else ports.pulls
    if pulls is not None and where.base:
        pulls = replace(pulls, base=where.base)
    return replace(ports, git=landed.git_at(ports.git, where), pulls=pulls, where=where)


@frozen
class Landed:
    """A bead on its epic's branch, not done, with its commits `base`..`commit`."""

    bead: Bead
    commit: str
    base: str


def landings(ports: Ports, epic: str) -> list[Landed]:
    """Beads on the epic's branch that are not done, by their reviews, or by the branch after a lost database."""
    store = ports.store
    beads = [bead for bead in store.beads(statuses=(Status.LANDED,)) if bead.epic == epic]
    told = {bead.id: [one for one in store.attempts(bead.id) if _has_landed(one)] for bead in beads}
    on_branch = {} if all(told.values()) else ports.git.with_epic_branch(epic).merged()
    found = []
    for bead in beads:
        if told[bead.id]:
            data = told[bead.id][-1].data
            found.append(Landed(bead, str(data["candidate"]), str(data.get("base", ""))))
        elif (made := ports.git.made(on_branch.get(bead.id, ""))) is not None and made.parents:
            found.append(Landed(bead, made.commit, made.parents[0]))
    return found


def _has_landed(one: Attempt) -> bool:
    return one.role is Role.REVIEWER and one.outcome is Outcome.COMPLETED and bool(one.data.get("candidate"))


def has_landed_as(ports: Ports, epic: str, commit: str, bead: str | None) -> bool:
    """Whether the bead landed on the epic's branch by this commit; after a lost database: whether it belongs there."""
    found = ports.store.beads(ids=[bead]) if bead else []
    landed = [one for each in found for one in ports.store.attempts(each.id) if _has_landed(one)]
    if not landed:
        return any(each.epic == epic for each in found)
    return any(one.data["candidate"] == commit and one.data.get("epic") == epic for one in landed)


def ensure_objects(ports: Ports, epic: str) -> bool:
    """Ensure that the epic's branch holds all landings; False: unknown."""
    git = ports.git
    commits = [one.commit for one in landings(ports, epic)]
    if not commits:
        return True
    there = git.kept().get(f"{EPICS}/{epic}")
    if all(git.has(one) for one in (*commits, there) if one is not None):
        missing = [one for one in commits if there is None or not git.contains(one, there)]
        if not missing:
            return True
        tip = next((one for one in missing if all(git.contains(other, one) for other in missing)), None)
        if tip is not None and (there is None or git.contains(there, tip)):
            git.pin(f"{EPICS}/{epic}", tip)
            ports.notifier.tell(Notice(f"the branch of {epic} lost merged work; nobrakes restored the branch", epic))
            return True
    reason = (
        f"refs/nobrakes/{EPICS}/{epic} lacks work that was merged into it. `nobrakes history {epic}` lists the "
        f"merges that the ref should have. Restore the ref, then type `nobrakes release {epic}`"
    )
    hold(ports, epic, reason)
    return False


def hold(ports: Ports, bead: str, reason: str, more: str = "", data: Mapping[str, str] | None = None) -> None:
    """Hold the bead for a person, and report it once; `more` extends the message, `data` is stored."""
    if ports.store.bead(bead).held is None:
        ports.store.record(Event(Kind.HELD, bead, data={"reason": reason, **(data or {})}))
        ports.notifier.tell(Notice(f"{bead} is held: {reason}{more}", bead, urgent=True))
