"""The plan that waits for a yes, in the three ways in which people read it: a tree, columns, a timeline.

1. What commit-strategy would do is operations.forge.strategy's; here its drafts are laid out, and nothing is decided.
2. A draft begins as soon as all that it waits for is done, however many agents there are; one without an estimate takes
   as long as the median of those that have one, or an hour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from ...core.beads.bead import Bead, BeadType
from ..forge.strategy import StrategyView, strategy

if TYPE_CHECKING:
    from ...ports import Store

USUAL_MINUTES = 60
MOST = 400
"""Drafts that are laid out; more are counted."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One epic with its drafts; `bead` None: those of no draft epic. `depth`: how deep it is nested."""

    bead: Bead | None
    title: str
    children: tuple[Bead, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One draft in time: minutes from the start, and how many. `is_guess`: nobody estimated it."""

    bead: Bead
    begin: int
    minutes: int
    is_guess: bool
    is_critical: bool


@dataclass(frozen=True, slots=True)
class PlanPage:
    """`at_once` may start after the yes, `after` wait for something; `more` drafts are not laid out."""

    strategy: StrategyView
    tree: tuple[Branch, ...]
    at_once: tuple[Bead, ...]
    after: tuple[Bead, ...]
    epics: tuple[Bead, ...]
    bars: tuple[Bar, ...]
    span: int
    more: int


def plan_page(store: "Store") -> PlanPage:
    """All of it."""
    found = strategy(store)
    drafts = found.drafts[:MOST]
    beads = [draft for draft in drafts if draft.type != BeadType.EPIC]
    ready = set(found.becomes_ready)
    bars = timeline(beads, found.needs, frozenset(found.critical_path))
    return PlanPage(
        found,
        _tree(store, drafts),
        tuple(one for one in beads if one.id in ready),
        tuple(one for one in beads if one.id not in ready),
        tuple(one for one in drafts if one.type == BeadType.EPIC),
        bars,
        max((bar.begin + bar.minutes for bar in bars), default=0),
        len(found.drafts) - len(drafts),
    )


def _tree(store: "Store", drafts: Sequence[Bead]) -> tuple[Branch, ...]:
    named = {one.epic for one in drafts if one.epic is not None}
    epics = {one.id: one for one in store.beads(ids=sorted(named))} if named else {}
    epics |= {one.id: one for one in drafts if one.type == BeadType.EPIC}
    branches = [
        Branch(epic, epic.title, tuple(one for one in drafts if one.epic == id and one.id not in epics))
        for id, epic in sorted(epics.items(), key=lambda item: item[1].title)
    ]
    alone = tuple(one for one in drafts if one.epic is None and one.id not in epics)
    return (*branches, *((Branch(None, "In no epic", alone),) if alone else ()))


def timeline(drafts: Sequence[Bead], needs: Mapping[str, Sequence[str]], critical: frozenset[str]) -> tuple[Bar, ...]:
    """Each draft as early as it can begin, by its beginning; needs that are no drafts are over."""
    known = [draft.estimate for draft in drafts if draft.estimate]
    usual = int(median(known)) if known else USUAL_MINUTES
    minutes = {draft.id: draft.estimate or usual for draft in drafts}
    begins: dict[str, int] = {}
    waiting = {draft.id: [one for one in needs.get(draft.id, ()) if one in minutes] for draft in drafts}
    while waiting:
        free = sorted(id for id, of in waiting.items() if all(one in begins for one in of))
        if not free:  # a circle, which the strategy names: its beads have no beginning
            break
        for id in free:
            begins[id] = max((begins[one] + minutes[one] for one in waiting.pop(id)), default=0)
    bars = [
        Bar(draft, begins[draft.id], minutes[draft.id], not draft.estimate, draft.id in critical)
        for draft in drafts
        if draft.id in begins
    ]
    return tuple(sorted(bars, key=lambda bar: (bar.begin, -bar.minutes, bar.bead.id)))
