"""What the reviews of a feature's plan need next: core.forge.rounds, brought onto the Forge's board.

1. A reviewer is done when its turn ended well. It fails when it takes too long, is stuck, was ended, or asks a person:
   then its round goes on without it. While it waits for a place or a provider, its minutes do not run, but it does not
   wait for ever.
2. What a round found is asked together, once its last reviewer has ended: the most urgent first, what two of them say
   once, and what a person took as a risk before not at all.
3. From the questions on the Shaper revises the plan (`REVISING`) until it says that the plan is ready again; then the
   next round begins by itself.
4. Only a feature that is active goes on. Reviewers of one that is paused end what they began, and begin nothing; those
   of a plan that is opened again have seen what is no plan any more.
5. A plan that is opened anew once its reviews were over, or once it was approved, is reviewed whole and counted from 1.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..beads.forms import as_values, made
from ..sessions.session import Session
from ..sessions.session import State as Of
from . import data_keys as keys
from . import rounds
from .actions import About, Ask, AskFindings, AskSignOff, BeginRound, CloseRound, EndReview, ForgeAction
from .board import ForgeBoard, Standing
from .feature import Feature, Finding, FindingState, PlanReview, ReviewState, Stage, State
from .rounds import Then, Tracker
from .rules import Rules

WAITS = 6
"""A reviewer that was not started yet may wait so many times the minutes that it has."""
CONTINUE, CLOSE = "continue", "close the reviews"


def plan(board: ForgeBoard, standing: Standing) -> list[ForgeAction]:
    """What the reviews of one feature need now."""
    feature = standing.feature
    if feature.stage is not Stage.REVIEW or feature.state is not State.ACTIVE or board.paused:
        return []
    seen = tracker(board.rules, feature, standing.reviews, standing.findings)
    last = seen.iterations[-1] if seen.iterations else None
    if last is not None and last.end is rounds.End.RUNNING:
        return []
    asks = to_ask(standing.findings, standing.open_questions)
    if asks:
        session = standing.session
        can = session is not None and session.state is not Of.ENDED
        return [AskFindings(feature.id, feature.round, asks)] if can else []
    if last is not None and not seen.open and feature.data.get(keys.CLOSED_ROUND, 0) < last.number:
        return [CloseRound(feature.id, last.number)]
    return _next(board, standing, seen) if goes_on(feature) else []


def goes_on(feature: Feature) -> bool:
    """Whether a round may begin, or a person be asked, once nothing of the last one waits."""
    asked = feature.data.get(keys.SIGN_OFF_ASKED) == feature.plan
    return bool(feature.plan) and not (asked or feature.data.get(keys.REVISING) or feature.data.get(keys.SIGNED))


def _next(board: ForgeBoard, standing: Standing, seen: Tracker) -> list[ForgeAction]:
    feature, rules = standing.feature, board.rules
    forgiven = int(feature.data.get(keys.FORGIVEN, 0))
    what = rounds.then(rules, seen, feature.plan, standing.reviews_usd, cap(rules, feature), forgiven)
    if feature.data.get(keys.ENOUGH):
        what = Then.SIGN_OFF
    if what is Then.BEGIN:
        earlier = [one for one in standing.reviews if one.round > since(feature)]
        domains = rounds.looks(rules, standing.plans, earlier, feature.files)
        begun = feature.round + 1
        return [BeginRound(feature.id, begun, domains, agents(rules, standing, domains, begun))]
    if what is Then.SIGN_OFF:
        return [AskSignOff(feature.id, feature.plan)]
    if what is Then.ASK_DEGRADED and About.DEGRADED not in standing.asked:
        return [_ask(feature, About.DEGRADED, *_degraded(seen))]
    if what is Then.ASK_COST and About.REVIEW_BUDGET not in standing.asked:
        return [_ask(feature, About.REVIEW_BUDGET, *_cost(standing, rules))]
    return []


def is_revising(standing: Standing) -> bool:
    """Whether the findings of the last round are decided, and the Shaper has to say that the plan is ready again."""
    return bool(standing.feature.data.get(keys.REVISING)) and not any(
        one.state is FindingState.OPEN for one in standing.findings
    )


def since(feature: Feature) -> int:
    """The last round that does not count any more."""
    return int(feature.data.get(keys.SINCE, 0))


_OF_THE_PLAN = (keys.SIGNED, keys.ENOUGH, keys.FORGIVEN, keys.SIGN_OFF_ASKED, keys.CHECKPOINT_ASKED, keys.REVISING)


def opened_anew(feature: Feature) -> Mapping[str, Any]:
    """What to note of a feature whose plan is opened anew: what was said of it is over, and its rounds do not count."""
    return {**dict.fromkeys(_OF_THE_PLAN), keys.SINCE: feature.round, keys.CLOSED_ROUND: feature.round}


def are_over(feature: Feature) -> bool:
    """Whether the reviews of the plan were over: a person was told so, or has signed it off."""
    return bool(feature.data.get(keys.SIGN_OFF_ASKED) or feature.data.get(keys.SIGNED))


def tracker(rules: Rules, feature: Feature, reviews: Iterable[PlanReview], findings: Iterable[Finding]) -> Tracker:
    """The rounds of the plan that count: those since it was opened last."""
    last = since(feature)
    return rounds.tracker(
        rules, (one for one in reviews if one.round > last), (one for one in findings if one.round > last)
    )


def cap(rules: Rules, feature: Feature) -> float:
    """What the reviews of the feature may cost by now."""
    return float(feature.data.get(keys.REVIEWS_USD, rules.review_usd))


def agents(rules: Rules, standing: Standing, domains: Sequence[str], number: int) -> dict[str, str]:
    """Who reviews which domain: the reviewers in turn, and in the next round the next ones, so that eyes are fresh."""
    own = [standing.session.agent] if standing.session is not None else [seat.agent for seat in standing.seats[:1]]
    names = list(rules.reviewers) or own
    return {domain: names[(place + number - 1) % len(names)] for place, domain in enumerate(domains)} if names else {}


# --- reviewers -------------------------------------------------------------------------------------------------------


def ended(board: ForgeBoard, standing: Standing) -> list[EndReview]:
    """The reviewers that are done, or failed, whatever the feature's state."""
    running = [one for one in standing.reviews if one.state is ReviewState.RUNNING]
    found = []
    for review in running:
        session = standing.reviewers.get(review.session or 0)
        state, detail = _end(board, review, session, standing)
        if state is not ReviewState.RUNNING:
            found.append(EndReview(review.feature, review.round, review.domain, state, detail))
    return found


def _end(board: ForgeBoard, review: PlanReview, session: Session | None, standing: Standing) -> tuple[ReviewState, str]:
    feature = standing.feature
    if session is None or session.state is Of.ENDED:
        return ReviewState.FAILED, "its session was ended"
    if feature.stage is not Stage.REVIEW:
        return ReviewState.FAILED, "the plan was opened again before it was through"
    if feature.state is not State.ACTIVE and session.state is Of.READY:
        return ReviewState.FAILED, f"it had not begun when its feature stopped ({feature.state.value})"
    if session.state is Of.IDLE:
        halted = session.id in standing.halted
        return (ReviewState.FAILED, session.detail or "it was stopped") if halted else (ReviewState.DONE, "")
    if session.state is Of.ASKING:
        return ReviewState.FAILED, "it asked a person instead of reviewing"
    if session.state is Of.STUCK:
        return ReviewState.FAILED, session.detail or "it does not go on"
    minutes = board.rules.review_minutes
    if session.state is Of.RUNNING and board.now >= session.updated_at + minutes * 60:
        return ReviewState.FAILED, f"it took longer than {minutes:g} minutes"
    if session.state is Of.READY and not board.paused and board.now >= review.started_at + WAITS * minutes * 60:
        return ReviewState.FAILED, f"it was not started within {WAITS * minutes:g} minutes: {session.detail}".rstrip(
            ": "
        )
    return ReviewState.RUNNING, ""


def wake_at(board: ForgeBoard) -> float | None:
    """When the first reviewer has taken, or waited, too long; those that wait while all is paused wait for that."""
    minutes = board.rules.review_minutes * 60
    times = [
        session.updated_at + minutes if session.state is Of.RUNNING else review.started_at + WAITS * minutes
        for standing in board.standings
        for review in standing.reviews
        if review.state is ReviewState.RUNNING
        and (session := standing.reviewers.get(review.session or 0)) is not None
        and (session.state is Of.RUNNING or (session.state is Of.READY and not board.paused))
    ]
    return min(times, default=None)


# --- questions -------------------------------------------------------------------------------------------------------


def to_ask(findings: Iterable[Finding], open_questions: frozenset[int]) -> tuple[int, ...]:
    """The open findings without an open question, the most urgent first."""
    waiting = [
        one
        for one in findings
        if one.state is FindingState.OPEN and (one.escalation is None or one.escalation not in open_questions)
    ]
    return tuple(one.id for one in sorted(waiting, key=lambda one: (one.priority, one.id)))


def _ask(feature: Feature, about: About, title: str, detail: str, options: Sequence[str], recommended: str) -> Ask:
    form = as_values(made("radio", options, (recommended,), priority=1))
    return Ask(feature.id, about, title, detail, form, holds=False)


def _degraded(seen: Tracker) -> tuple[str, str, Sequence[str], str]:
    failed = ", ".join(dict.fromkeys(domain for one in seen.iterations[-2:] for domain in one.failed))
    title = f"No reviewer came through in {seen.degraded} rounds in a row"
    detail = f"These failed: {failed}. {seen.done} of {seen.most} rounds were looked at by somebody."
    options = (f"{CONTINUE}: two more rounds are tried", f"{CLOSE}: you sign off with what is there")
    return title, detail, options, CONTINUE


def _cost(standing: Standing, rules: Rules) -> tuple[str, str, Sequence[str], str]:
    limit = cap(rules, standing.feature)
    title = f"The reviews of the plan have cost ${standing.reviews_usd:.2f}, and may cost ${limit:.2f}"
    detail = f"Round {standing.feature.round} of {rules.most_rounds} was the last one."
    options = (
        f"{CONTINUE}: the reviews go on; costs at most ${rules.review_usd:.2f} more",
        f"{CLOSE}: you sign off with what is there",
    )
    return title, detail, options, CLOSE
