"""One bead with all that people ask about it, in one value: what it is, what it waits for, what was tried.

`bead_page` costs what the bead's own history is long, not the graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...core.beads.bead import CLOSED, NO_AGENTS, Bead, DependencyType, Status
from ...core.beads.events import Event
from ...core.graph.readiness import Why
from ...core.pulls.shown import RequestView
from ...core.review import reading
from . import readiness
from .history import BeadHistory, history
from .one_bead import neighbours, whole_bead

if TYPE_CHECKING:
    from ...ports.git import Git
    from ...ports.store import Store

EVENTS = 200
"""The latest events that are handed out."""


@dataclass(frozen=True, slots=True)
class BeadPage:
    """`waits_for` and `waited_for_by` are (bead, type of the dependency); `reasons` say why it is not ready.

    `children` are those of an epic; `can` names the commands that its status allows; `request`: its newest pull
    request; `readings`: those by fresh eyes, and `read` what they came to, in a line.
    """

    history: BeadHistory
    waits_for: tuple[tuple[Bead, str], ...]
    waited_for_by: tuple[tuple[Bead, str], ...]
    children: tuple[Bead, ...]
    reasons: tuple[str, ...]
    events: tuple[Event, ...]
    left_out: int
    can: frozenset[str]
    now: float
    request: RequestView | None = None
    readings: tuple[Mapping[str, Any], ...] = ()
    read: str = ""


def bead_page(store: "Store", git: "Git | None", id: str) -> BeadPage:
    """All of it; NoSuchBead. Without `git` nothing is said of commits and archives."""
    found = history(store, git, id)
    whole = whole_bead(store, id)
    beads = neighbours(store, whole)
    mine, others, children = [], [], []
    for one in found.dependencies:
        other = beads.get(one.needs if one.bead == id else one.bead)
        if other is None:
            continue
        if one.type is DependencyType.PARENT_CHILD and one.needs == id:
            children.append(other)
        elif one.bead == id:
            mine.append((other, one.type.value))
        else:
            others.append((other, one.type.value))
    why = readiness.explain(store, [id])[0]
    readings = reading.of_last_merge(reading.of_sessions(store.code_reviews(id)))
    reasons = tuple(
        text for text, kind in zip(why.reasons, why.whys, strict=True) if kind not in (Why.DONE, Why.CANCELLED)
    )
    return BeadPage(
        found,
        tuple(mine),
        tuple(others),
        tuple(children),
        reasons,
        found.events[-EVENTS:],
        max(0, len(found.events) - EVENTS),
        allowed(found.bead),
        store.now(),
        whole.request,
        tuple(one.as_values() for one in readings),
        reading.summary(readings),
    )


def allowed(bead: Bead) -> frozenset[str]:
    """The commands that a person may give about the bead as it stands."""
    if bead.status in CLOSED:
        return frozenset({"reopen", "edit"})
    can = {"edit", "cancel", "done", "depend"}
    if bead.type != "epic" or bead.status is not Status.DRAFT:
        can |= {"release"} if bead.held is not None else {"hold"}
        can |= {"defer"}
    return frozenset(can - ({"done"} if bead.status is Status.DRAFT else set()))


def spent(page: BeadPage) -> Mapping[str, float]:
    """What its agents cost: dollars, tokens, seconds."""
    attempts = [one for one in page.history.attempts if one.role not in NO_AGENTS]
    return {
        "usd": sum(one.cost_usd for one in attempts),
        "tokens": float(sum(one.tokens for one in attempts)),
        "seconds": sum((one.ended_at or page.now) - one.started_at for one in attempts),
    }
