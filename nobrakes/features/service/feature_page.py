"""Features as people see them: the list, and one with its plan, talk, findings and collected items."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ...beads.model import WORKING, Bead, BeadType, DependencyType, Status
from ...beads.service.bead_page import status_now
from ...beads.work_status import WorkStatus
from ...decisions.model import Escalation
from ...errors import NotAllowed, UsageError
from ...events.kinds import Event, Kind
from ...records import copied, frozen, grouped
from ...requests.model import PullState, RequestView
from ...requests.model import view as request_view
from ...sessions.model import Message
from ...text.cleaning import clean
from .. import model, planning, reviewed_plan
from ..model import Feature, Finding, FindingState, PlanChanges, PlanReview, PlanVersion, ReviewState, changes
from ..reviewed_plan import Estimate, Iteration, SignOff, Tracker, beads_under, is_unchanged

if TYPE_CHECKING:
    from ...config.sections import ForgeSettings
    from ...store import Store


# The timeline is features.model's: each step as early as it can begin.
class At(StrEnum):
    """State of a plan step."""

    PENDING = "pending"
    IN_PROGRESS = "in progress"
    NEEDS_REVIEW = "needs review"
    APPROVED = "approved"
    BLOCKED = "blocked"


@frozen
class PlanStep:
    """A step; `depth`: epics around it, `needs`: beads that it waits for. `is_changed`: a change is proposed."""

    bead: Bead
    at: At
    depth: int
    needs: tuple[str, ...] = ()
    is_changed: bool = False


@frozen
class PlanLook:
    """The current plan: its steps in the order of work, each below its epic, and as bars of `span` minutes."""

    steps: tuple[PlanStep, ...] = ()
    bars: tuple[model.Bar, ...] = ()
    span: int = 0

    def column(self, at: str) -> tuple[PlanStep, ...]:
        return tuple(one for one in self.steps if one.at.value == at and one.bead.type is not BeadType.EPIC)


@frozen
class VersionView:
    """A plan version: when and why it was stored, its number of beads, and its changes."""

    number: int
    at: float
    actor: str
    why: str
    beads: int
    changes: PlanChanges


def planned(store: "Store", epic: str) -> tuple[Bead, ...]:
    return tuple(bead for bead in beads_under(store, epic) if bead.status is not Status.CANCELLED)


def look(store: "Store", epic: str) -> PlanLook:
    """Without cancelled beads."""
    known = {bead.id: bead for bead in planned(store, epic)}
    _, edges = store.around(list(known)) if known else ([], [])
    needs = grouped((one.bead, one.needs) for one in edges if one.type is DependencyType.BLOCKS and one.bead in known)
    open_ = {
        id_ for id_, of in needs.items() if any(one in known and known[one].status is not Status.DONE for one in of)
    }
    bars = model.timeline([bead for bead in known.values() if bead.type is not BeadType.EPIC], needs, frozenset())
    steps = [
        PlanStep(bead, _at(bead, bead.id in open_), depth, tuple(needs.get(bead.id, ())), bool(bead.proposed))
        for bead, depth in _in_order(known, epic, [bar.bead.id for bar in bars])
    ]
    return PlanLook(tuple(steps), bars, max((bar.begin + bar.minutes for bar in bars), default=0))


def _in_order(known: dict[str, Bead], epic: str, work: Sequence[str]) -> list[tuple[Bead, int]]:
    """Each epic before its beads, and those in the order of `work`; an epic counts as the first bead in it."""
    below = grouped((bead.epic, bead) for bead in known.values())
    place = {id_: number for number, id_ in enumerate(work)}

    def first(bead: Bead) -> int:
        inside = below.get(bead.id)
        return min(map(first, inside)) if inside else place.get(bead.id, len(place))

    found: list[tuple[Bead, int]] = []
    waiting = [(bead, 0) for bead in sorted(below.get(epic, []), key=first, reverse=True)]
    while waiting:
        bead, depth = waiting.pop()
        found.append((bead, depth))
        waiting += [(one, depth + 1) for one in sorted(below.get(bead.id, []), key=first, reverse=True)]
    return found


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
    """Each compared with the one before."""
    before: PlanVersion | None = None
    found = []
    for one in kept:
        differs = changes(before.beads if before is not None else (), one.beads)
        found.append(VersionView(one.number, one.at, one.actor, one.why, len(one.beads), differs))
        before = one
    return tuple(found)


def difference(store: "Store", feature: str, number: int) -> PlanChanges:
    """What version `number` changed. NoSuchFeature, UsageError."""
    last = store.feature(feature).plan
    now, before = store.plan_version(feature, number), store.plan_version(feature, number - 1)
    if now is None:
        raise UsageError(f"the plan has no version {number}", f"It has {last}.")
    return changes(before.beads if before is not None else (), now.beads)


@frozen
class Requests:
    """A feature's pull requests: of its beads, or of its epics where people merge those as a whole. Of the `expected`
    so many are `merged`; `opened` counts these as well."""

    each: tuple[RequestView, ...] = ()
    opened: int = 0
    merged: int = 0
    expected: int = 0
    is_begun: bool = False

    def stage(self, stored: model.Stage) -> str:
        if stored is not model.Stage.IMPLEMENTATION or not self.is_begun:
            return stored.value
        return model.REQUEST_REVIEW if self.opened >= self.expected else model.PULL_REQUEST


def _requests(store: "Store", one: Feature, beads: Iterable[Bead]) -> Requests:
    known = {bead.id: bead for bead in beads}
    pulls = {id_: pull for id_ in (one.id, *known) if (pull := store.pull(id_)) is not None}
    done = {id_ for id_, bead in known.items() if bead.status is Status.DONE}
    done |= {one.id} if one.stage is model.Stage.DONE else set()
    steps = [bead for bead in known.values() if bead.type is not BeadType.EPIC and bead.status is not Status.DRAFT]
    is_whole = any(id_ == one.id or known[id_].type is BeadType.EPIC for id_ in pulls)
    named = {bead.epic if is_whole else bead.id for bead in steps}
    own = [pulls.get(str(id_)) for id_ in named if id_ in pulls or id_ not in done]
    merged = sum(pull is not None and pull.state is PullState.MERGED and pull.bead in done for pull in own)
    waiting = sum(pull is not None and pull.waits for pull in own)
    opened = merged + sum(pull is not None and pull.state is PullState.OPEN for pull in own)
    each = sorted(pulls.values(), key=lambda pull: (pull.opened_at, pull.bead))
    return Requests(tuple(map(request_view, each)), opened, merged, len(own), bool(merged or waiting))


STATES = ("all", *(state.value for state in model.State))
SORTS = ("activity", "created", "stage")
MAX_MESSAGES = 200
_ORDER = {stage: place for place, stage in enumerate(model.STAGES)}


@frozen
class FeatureCard:
    """A feature in the list; numbers are of what is open or done now."""

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
    merged: int
    requests: int


@frozen
class FeatureListView:
    """The matching features. `total` and `hidden` count all, and archived ones."""

    features: tuple[FeatureCard, ...]
    state: str
    words: str
    sort: str
    total: int
    hidden: int
    now: float


@frozen
class FeatureView:
    """One feature. `messages`: the latest with its Shaper; `questions`: waiting for a person. `at_work`: state of each
    step in work or waiting for a person."""

    feature: Feature
    card: FeatureCard
    plan: PlanLook
    versions: tuple[VersionView, ...]
    reviews: tuple[PlanReview, ...]
    findings: tuple[Finding, ...]
    items: tuple[model.Item, ...]
    questions: tuple[Escalation, ...]
    messages: tuple[Message, ...]
    now: float
    requests: Requests
    at_work: tuple[WorkStatus, ...] = ()


@frozen
class _Facts:
    """Counts: open questions, findings, collected items, bead statuses, pull requests."""

    questions: tuple[Escalation, ...]
    findings: tuple[Finding, ...]
    items: tuple[model.Item, ...]
    statuses: tuple[Status, ...]
    requests: Requests


def _facts(store: "Store", one: Feature, open_: Iterable[Escalation], beads: Sequence[Bead]) -> _Facts:
    statuses = tuple(bead.status for bead in beads if bead.type is not BeadType.EPIC)
    return _Facts(
        _asked(one, open_),
        tuple(store.findings(one.id)),
        tuple(store.items(one.id)),
        statuses,
        _requests(store, one, beads),
    )


def listed(
    store: "Store", state: str = "all", words: str = "", sort: str = "activity", archived: bool = False
) -> FeatureListView:
    """Features of one state with all of these words in title, description or files. UsageError."""
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
        raise UsageError(f"unknown {name} '{clean(value)[:40]}'", f"Use one of: {', '.join(allowed)}.")


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
    return copied(
        FeatureCard,
        one,
        stage=facts.requests.stage(one.stage),
        state=one.state.value,
        questions=len(facts.questions),
        findings=sum(found.state is FindingState.OPEN for found in facts.findings),
        items=sum(item.state is model.ItemState.WAITING for item in facts.items),
        done=sum(status is Status.DONE for status in facts.statuses),
        beads=len(facts.statuses),
        merged=facts.requests.merged,
        requests=facts.requests.expected if facts.requests.is_begun else 0,
    )


def _asked(one: Feature, open_: Iterable[Escalation]) -> tuple[Escalation, ...]:
    return tuple(
        found
        for found in open_
        if (one.session is not None and found.session == one.session)
        or found.bead == one.id
        or found.evidence.get("feature") == one.id
    )


def view(store: "Store", id: str) -> FeatureView:
    """Raises NoSuchFeature."""
    one = store.feature(id)
    plan = look(store, id)
    facts = _facts(store, one, store.escalations(), [step.bead for step in plan.steps])
    going = [step.bead.id for step in plan.steps if step.bead.status in (*WORKING, Status.ESCALATED)]
    messages = store.messages(one.session)[-MAX_MESSAGES:] if one.session is not None else []
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
        facts.requests,
        tuple(status for bead in going if (status := status_now(store, bead)) is not None),
    )


@frozen
class ReviewsView:
    """`done` of `most` rounds finished; `clean` in a row found nothing. `next`: the next round's reviewers. `warning`:
    the risk of signing off now; empty: none. `signed`: the stored sign-off of the version; None: none.
    `may_review_again`: only a person begins the next round."""

    feature: str
    version: int
    done: int
    most: int
    clean: int
    open: int
    iterations: tuple[Iteration, ...]
    running: tuple[PlanReview, ...]
    findings: tuple[Finding, ...]
    next: tuple[str, ...]
    estimate: Estimate
    warning: str
    signed: Mapping[str, object] | None
    may_review_again: bool


def reviews(store: "Store", rules: "ForgeSettings", id_: str) -> ReviewsView:
    """Raises NoSuchFeature."""
    feature = store.feature(id_)
    looked, findings, plans = store.plan_reviews(id_), store.findings(id_), store.plan_versions(id_)
    seen = planning.tracker(rules, feature, looked, findings)
    costs = {one.session: store.session(one.session).cost_usd for one in looked if one.session is not None}
    through = [costs[one.session] for one in looked if one.state is ReviewState.DONE and one.session in costs]
    counted = [one for one in looked if one.round > planning.since(feature)]
    again = planning.may_review_again(rules, feature, seen)
    asked, data = feature.data.get(model.SIGN_OFF_ASKED) == feature.plan, feature.data
    is_over = asked or data.get(model.SIGNED) or data.get(model.ENOUGH) or feature.stage not in model.PLANNED
    can_begin = again or not (is_over or len(seen.iterations) >= rules.most_rounds)
    domains = reviewed_plan.looks(rules, plans, counted, feature.files) if plans and can_begin else ()
    cap = planning.cap(rules, feature)
    cost = reviewed_plan.estimate(rules, len(domains), len(seen.iterations), through, sum(costs.values()), cap)
    return ReviewsView(
        id_,
        feature.plan,
        seen.done,
        seen.most,
        seen.clean,
        seen.open,
        seen.iterations,
        tuple(one for one in looked if one.state is ReviewState.RUNNING),
        tuple(findings),
        domains,
        cost,
        reviewed_plan.warning(seen),
        feature.data.get(model.SIGNED),
        again,
    )


# A sign-off approves one version of the plan as it is now; a plan that was changed since needs another. Open points in
# its files are answered before. Too few
# rounds (`take_risk`) and findings that nobody decided (a reason) are said with it and kept. It makes nothing live, and
# no agent can do it.
def tracker(store: "Store", feature: Feature, rules: "ForgeSettings") -> Tracker:
    return planning.tracker(rules, feature, store.plan_reviews(feature.id), store.findings(feature.id))


def sign_off(
    store: "Store",
    rules: "ForgeSettings",
    id_: str,
    actor: str,
    *,
    take_risk: bool = False,
    reason: str = "",
    seen: int = 0,
) -> SignOff:
    """NoSuchFeature; NotAllowed: nothing to sign, an open point, risk or reason. `seen`: the shown version; 0: any."""
    with store.write():
        feature = store.feature(id_)
        model.require(feature, model.Stage.REVIEW, "only a plan under review can be signed off")
        if seen not in (0, feature.plan):
            why = f"the plan of feature {id_} is now at version {feature.plan}, but you saw version {seen}"
            raise NotAllowed(why, f"`nobrakes forge show {id_}` shows the new version.")
        reviewed_plan.require_answers(store, id_)
        kept = reviewed_plan.sign_off(
            tracker(store, feature, rules), feature.plan, actor, store.now(), take_risk, reason
        )
        if not is_unchanged(store, feature):
            raise NotAllowed(
                f"the plan of feature {id_} has changed since version {feature.plan}, and is not complete yet",
                "You get a notice when the plan is ready again.",
            )
        for finding in store.findings(id_):
            if finding.state is FindingState.OPEN:
                store.resolve_finding(finding.id, FindingState.RISK_ACCEPTED, kept.reason, actor)
        store.close_finding_questions(id_, f"accepted with the plan: {kept.reason}")
        store.note_feature(id_, {model.REVISING: None, model.SIGNED: asdict(kept)}, actor)
        told: dict[str, Any] = {"version": kept.version, "reviews": kept.reviews, "most": kept.most, "risk": kept.risk}
        told |= {"reason": kept.reason, "open": kept.open, "degraded": list(kept.degraded)}
        store.record(Event(Kind.SIGNED_OFF, id_, actor=actor, data=told))
    return kept
