"""The plan that waits for a yes, in the three ways in which people read it: a tree, columns, a timeline.

1. What commit-strategy would do is operations.forge.strategy's; here its drafts are laid out, and nothing is decided.
2. The timeline is core.forge.timeline's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.beads.bead import Bead, BeadType
from ...core.forge.timeline import Bar, timeline
from ..forge.strategy import StrategyView, strategy

if TYPE_CHECKING:
    from ...ports.store import Store

MOST = 400
"""Drafts that are laid out; more are counted."""


@dataclass(frozen=True, slots=True)
class Branch:
    """One epic with its drafts; `bead` None: those of no draft epic. `depth`: how deep it is nested."""

    bead: Bead | None
    title: str
    children: tuple[Bead, ...]


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
