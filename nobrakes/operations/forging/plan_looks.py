"""A feature's plan in the three ways in which people read it, and its versions with what each has other than before.

1. A step is a bead below the feature's epic; what it stands at is said in five words (`At`).
2. The timeline is core.forge.timeline's: each step as early as it can begin.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ...core.beads.bead import WORKING, Bead, BeadType, DependencyType, Status
from ...core.errors import UsageError
from ...core.forge.feature import PlanVersion
from ...core.forge.plan_changes import PlanChanges, changes
from ...core.forge.timeline import Bar, timeline
from ...ports.store import Store
from ...roles.plan_beads import beads_under


class At(StrEnum):
    """Where a step of a plan stands."""

    PENDING = "pending"
    IN_PROGRESS = "in progress"
    NEEDS_REVIEW = "needs review"
    APPROVED = "approved"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step; `depth` counts the epics around it, `needs` are beads that it waits for. `is_changed`: proposed so."""

    bead: Bead
    at: At
    depth: int
    needs: tuple[str, ...] = ()
    is_changed: bool = False


@dataclass(frozen=True, slots=True)
class PlanLook:
    """The plan as it lies now: its steps in the order of the tree, and as bars of `span` minutes."""

    steps: tuple[PlanStep, ...] = ()
    bars: tuple[Bar, ...] = ()
    span: int = 0

    def column(self, at: str) -> tuple[PlanStep, ...]:
        """The steps that stand there; epics left out."""
        return tuple(one for one in self.steps if one.at.value == at and one.bead.type is not BeadType.EPIC)


@dataclass(frozen=True, slots=True)
class VersionView:
    """A version of the plan: when and why it was kept, how many beads it has, and what is other than before."""

    number: int
    at: float
    actor: str
    why: str
    beads: int
    changes: PlanChanges


def planned(store: Store, epic: str) -> tuple[Bead, ...]:
    """The beads under the epic; what was given up is left out."""
    return tuple(bead for bead in beads_under(store, epic) if bead.status is not Status.CANCELLED)


def look(store: Store, epic: str) -> PlanLook:
    """The plan under the epic; what was given up is left out."""
    known = {bead.id: bead for bead in planned(store, epic)}
    _, edges = store.around(list(known)) if known else ([], [])
    needs: dict[str, list[str]] = {}
    for edge in edges:
        if edge.type is DependencyType.BLOCKS and edge.bead in known:
            needs.setdefault(edge.bead, []).append(edge.needs)
    open_ = {id_ for id_, of in needs.items() if any(not _is_done(known.get(one)) for one in of)}
    steps = [_step(bead, depth, needs, open_) for bead, depth in _in_order(known, epic)]
    work = [bead for bead in known.values() if bead.type is not BeadType.EPIC]
    bars = timeline(work, needs, frozenset())
    return PlanLook(tuple(steps), bars, max((bar.begin + bar.minutes for bar in bars), default=0))


def _is_done(bead: Bead | None) -> bool:
    return bead is None or bead.status is Status.DONE


def _in_order(known: dict[str, Bead], epic: str) -> list[tuple[Bead, int]]:
    """Each epic before what is in it."""
    below: dict[str | None, list[Bead]] = {}
    for bead in known.values():
        below.setdefault(bead.epic, []).append(bead)
    found: list[tuple[Bead, int]] = []
    waiting = [(bead, 0) for bead in reversed(below.get(epic, []))]
    while waiting:
        bead, depth = waiting.pop()
        found.append((bead, depth))
        waiting += [(one, depth + 1) for one in reversed(below.get(bead.id, []))]
    return found


def _step(bead: Bead, depth: int, needs: dict[str, list[str]], waiting: set[str]) -> PlanStep:
    return PlanStep(bead, _at(bead, bead.id in waiting), depth, tuple(needs.get(bead.id, ())), bool(bead.proposed))


def _at(bead: Bead, waits: bool) -> At:
    if bead.status is Status.DONE:
        return At.APPROVED
    if bead.status is Status.ESCALATED or bead.held is not None:
        return At.BLOCKED
    if bead.status is Status.NEEDS_REVIEW or bead.status is Status.REVIEWING:
        return At.NEEDS_REVIEW
    if bead.status in WORKING:
        return At.IN_PROGRESS
    return At.BLOCKED if waits and bead.status is not Status.DRAFT else At.PENDING


def versions(kept: Sequence[PlanVersion]) -> tuple[VersionView, ...]:
    """All of them, each against the one before."""
    before: PlanVersion | None = None
    found = []
    for one in kept:
        differs = changes(before.beads if before is not None else (), one.beads)
        found.append(VersionView(one.number, one.at, one.actor, one.why, len(one.beads), differs))
        before = one
    return tuple(found)


def difference(store: Store, feature: str, number: int) -> PlanChanges:
    """What version `number` of the feature's plan has other than the one before it. NoSuchFeature, UsageError."""
    last = store.feature(feature).plan
    now, before = store.plan_version(feature, number), store.plan_version(feature, number - 1)
    if now is None:
        raise UsageError(f"the plan has no version {number}", f"It has {last}.")
    return changes(before.beads if before is not None else (), now.beads)
