"""A plan in time, whoever does it.

A bead begins as soon as all that it waits for is done, however many agents there are; one without an estimate takes as
long as those that have one do as a rule (core.graph.usual), or an hour.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..beads.bead import Bead
from ..graph.usual import typical

USUAL_MINUTES = 60


@dataclass(frozen=True, slots=True)
class Bar:
    """One draft in time: minutes from the start, and how many. `is_guess`: nobody estimated it."""

    bead: Bead
    begin: int
    minutes: int
    is_guess: bool
    is_critical: bool


def timeline(drafts: Sequence[Bead], needs: Mapping[str, Sequence[str]], critical: frozenset[str]) -> tuple[Bar, ...]:
    """Each draft as early as it can begin, by its beginning; needs that are no drafts are over."""
    known = [draft.estimate for draft in drafts if draft.estimate]
    usual = typical(known) if known else USUAL_MINUTES
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
