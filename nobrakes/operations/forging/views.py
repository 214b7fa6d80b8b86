"""Features as people see them: the list of all, and one with its plan, its talk, its findings and what is collected."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.beads.bead import WORKING, Bead, BeadType, Status
from ...core.beads.escalations import Escalation
from ...core.beads.work_status import WorkStatus
from ...core.errors import UsageError
from ...core.forge.feature import (
    STAGES,
    Feature,
    Finding,
    FindingState,
    Item,
    ItemState,
    PlanReview,
    State,
)
from ...core.sessions.session import Message
from ...core.text.cleaning import clean
from ..work_status import status_now
from .plan_looks import PlanLook, VersionView, look, planned, versions

if TYPE_CHECKING:
    from ...ports.store import Store

STATES = ("all", *(state.value for state in State))
SORTS = ("activity", "created", "stage")
MOST_MESSAGES = 200
_ORDER = {stage: place for place, stage in enumerate(STAGES)}


@dataclass(frozen=True, slots=True)
class FeatureCard:
    """One feature of the list; the numbers are of what is open or done now."""

    id: str
    title: str
    stage: str
    state: str
    created_at: float
    updated_at: float
    replannings: int
    round: int
    plan: int
    questions: int
    findings: int
    items: int
    done: int
    beads: int
    archived: bool


@dataclass(frozen=True, slots=True)
class FeatureListView:
    """The features that were asked for. `total` and `hidden` count all, and those that are put away."""

    features: tuple[FeatureCard, ...]
    state: str
    words: str
    sort: str
    total: int
    hidden: int
    now: float


@dataclass(frozen=True, slots=True)
class FeatureView:
    """One feature. `messages` are the talk with its Shaper, the latest of many; `questions` wait for a person.

    `at_work`: how each of its steps stands that somebody works on, or that waits for a person.
    """

    feature: Feature
    card: FeatureCard
    plan: PlanLook
    versions: tuple[VersionView, ...]
    reviews: tuple[PlanReview, ...]
    findings: tuple[Finding, ...]
    items: tuple[Item, ...]
    questions: tuple[Escalation, ...]
    messages: tuple[Message, ...]
    now: float
    at_work: tuple[WorkStatus, ...] = ()


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is counted of a feature: its open questions, what was found and collected, the statuses of its beads."""

    questions: tuple[Escalation, ...]
    findings: tuple[Finding, ...]
    items: tuple[Item, ...]
    statuses: tuple[Status, ...]


def _facts(store: "Store", one: Feature, open_: Iterable[Escalation], beads: Iterable[Bead]) -> _Facts:
    statuses = tuple(bead.status for bead in beads if bead.type is not BeadType.EPIC)
    return _Facts(_asked(one, open_), tuple(store.findings(one.id)), tuple(store.items(one.id)), statuses)


def listed(
    store: "Store", state: str = "all", words: str = "", sort: str = "activity", archived: bool = False
) -> FeatureListView:
    """The features of one state, with all of these words in title, description or files. UsageError."""
    _one_of("state", state, STATES)
    _one_of("sort", sort, SORTS)
    found = store.features(going=False)
    asked = clean(words).casefold().split()
    shown = [
        one for one in found if one.archived is archived and (state in ("all", one.state.value)) and _has(one, asked)
    ]
    now, open_ = store.now(), store.escalations()
    cards = tuple(_card(one, _facts(store, one, open_, planned(store, one.id))) for one in _sorted(shown, sort))
    hidden = sum(one.archived for one in found)
    return FeatureListView(cards, state, clean(words)[:200], sort, len(found), hidden, now)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"there is no {name} '{clean(value)[:40]}'", f"Use one of: {', '.join(allowed)}.")


def _has(one: Feature, asked: list[str]) -> bool:
    text = "\n".join((one.id, one.title, one.description, *one.files)).casefold()
    return all(word in text for word in asked)


def _sorted(found: Iterable[Feature], sort: str) -> list[Feature]:
    if sort == "stage":
        return sorted(found, key=lambda one: (_ORDER[one.stage], -one.updated_at, one.id))
    if sort == "created":
        return sorted(found, key=lambda one: (-one.created_at, one.id))
    return sorted(found, key=lambda one: (-one.updated_at, one.id))


def _card(one: Feature, facts: _Facts) -> FeatureCard:
    return FeatureCard(
        one.id,
        one.title,
        one.stage.value,
        one.state.value,
        one.created_at,
        one.updated_at,
        one.replannings,
        one.round,
        one.plan,
        len(facts.questions),
        sum(found.state is FindingState.OPEN for found in facts.findings),
        sum(item.state is ItemState.WAITING for item in facts.items),
        sum(status is Status.DONE for status in facts.statuses),
        len(facts.statuses),
        one.archived,
    )


def _asked(one: Feature, open_: Iterable[Escalation]) -> tuple[Escalation, ...]:
    """What waits for a person about the feature: of its session, of nobrakes about it, and of its epic."""
    return tuple(
        found
        for found in open_
        if (one.session is not None and found.session == one.session)
        or found.bead == one.id
        or found.evidence.get("feature") == one.id
    )


def view(store: "Store", id: str) -> FeatureView:
    """One feature; NoSuchFeature."""
    one = store.feature(id)
    plan = look(store, id)
    facts = _facts(store, one, store.escalations(), (step.bead for step in plan.steps))
    going = [step.bead.id for step in plan.steps if step.bead.status in (*WORKING, Status.ESCALATED)]
    messages = store.messages(one.session)[-MOST_MESSAGES:] if one.session is not None else []
    return FeatureView(
        one,
        _card(one, facts),
        plan,
        versions(store.plan_versions(id)),
        tuple(store.plan_reviews(id)),
        facts.findings,
        facts.items,
        facts.questions,
        tuple(messages),
        store.now(),
        tuple(status for bead in going if (status := status_now(store, bead)) is not None),
    )
