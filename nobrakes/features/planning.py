"""The next step of a feature. Same board, same answer; features.worker.forge does it.

1. A planned feature has one session, its Shaper's. Each ended turn is handled once: questions wait for a person,
   proposals become drafts, and "ready" makes a version of the plan.
2. After a turn that left nothing to wait for, or refused words, the Shaper is nudged a few times; then a person is
   asked.
3. Turns without an operation are read by their words (features.markers), or shown raw with a question. Answers to a
   person, and words once the plan is built, are only passed on.
4. A conversation begins afresh at a change of stage, after some review iterations, and when its context is nearly full;
   never for idleness.
5. If a Shaper's provider refuses its login or its breaker is open, the next of the list takes over.
6. A day's silence ends the conversation, after a warning, but no question.
7. During a rollback nothing else happens.
8. A paused, expired or failed feature begins no turn: the store does not offer its session.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..beads.model import CLOSED, WAITING_FOR_AGENT, Status, is_handed_back
from ..decisions.forms import as_values, made, shaper_form
from ..decisions.model import Escalation
from ..sessions.model import CLEAN, Session
from ..sessions.model import State as At
from ..text.cleaning import count
from . import actions, model, reviewed_plan
from .actions import About, ForgeAction, ForgeBoard, Standing
from .markers import line
from .model import Feature, Finding, FindingState, Item, ItemKind, PlanReview, ReviewState, Stage, State
from .reviewed_plan import Then, Tracker

if TYPE_CHECKING:
    from ..config.sections import ForgeSettings

# A rollback. A person asked for it, and said yes to what it does. What is on main is taken back whole or not at all, by
# one commit, the newest merge first, reviewed as any work is. What is in the way (later work on the same files, checks
# that do not pass without the feature) is a person's to decide. What a person has in hand, or handed in, is not built
# over.
AGAIN, LEAVE = "try again", "leave it on main"
ROLLBACK_HELD = "it takes feature {feature} back, and waits for nobrakes to hand that in"
"""Why a rollback's bead is held until its candidate is built."""
GIVEN_UP = "its feature {feature} is rolled back"


def plan_rollback(one: Standing) -> list[ForgeAction]:
    """What the feature's rollback needs now."""
    rolling, id_ = one.rolling, one.feature.id
    if rolling is None:
        return []
    if rolling.status is Status.DONE:
        return [actions.FinishRollback(id_)]
    if rolling.status is Status.CANCELLED:
        return [actions.DropRollback(id_, f"somebody cancelled bead {rolling.bead}, which rolls the feature back")]
    if About.ROLLBACK in one.asked:
        return []
    if rolling.status in WAITING_FOR_AGENT and is_handed_back(rolling.held):
        title = f"Feature {id_} ({one.feature.title}) was not rolled back: its revert commit was not merged"
        return [asking(id_, rolling.bead, title, str(rolling.held))]
    return [actions.TakeBack(id_)] if _waits(one, rolling) else []


def _waits(one: Standing, rolling: actions.Rolling) -> bool:
    """Whether its candidate must be built, for the first time or because it no longer fits main."""
    if rolling.held not in (None, ROLLBACK_HELD.format(feature=one.feature.id)):
        return False  # a person has it
    return rolling.status in WAITING_FOR_AGENT or (rolling.status is Status.ESCALATED and rolling.conflicts)


def asking(feature: str, bead: str, title: str, detail: str) -> actions.Ask:
    """What a person is asked if the rollback does not work as it is."""
    form = made(
        "radio",
        (
            f"{AGAIN}: nobrakes builds the commit again on the newest main",
            f"{LEAVE}: merged work stays on main, and cancelled beads can be reopened",
        ),
        [AGAIN],
        priority=1,
    )
    more = f"main is unchanged. To revert the work yourself: `nobrakes take {bead}`, then `nobrakes hand-in {bead}`."
    return actions.Ask(feature, About.ROLLBACK, title[:480], f"{detail}\n{more}", as_values(form), holds=False)


def unfinished(feature: str, bead: str, title: str, detail: str) -> actions.Ask:
    """Tell a person: the bead is done, its result unreadable. It is retried; success closes the question."""
    more = f"Bead {bead} is done, but nobrakes cannot tell yet which merges of feature {feature} it reverted."
    return actions.Ask(feature, About.ROLLBACK, title[:480], f"{detail}\n{more}", holds=False)


# Checkpoints. What is collected are suggestions of agents, comments about what is left to do that a merge brought, and
# what beads wait for a person with. A checkpoint is due when so many items wait, when no bead of the feature has
# anything left to do and an item waits, or when a person says so. Live beads go on; only those that the new plan names
# are held.
HOLD_REASON = "the plan of feature {feature} is being changed, and names it"
"""Why a live bead is held while a new plan with it waits for approval."""
MAX_LISTED, SHORT = 100, 300
KINDS: Mapping[str, ItemKind] = {"dependency": ItemKind.DEPENDENCY, "scope": ItemKind.SCOPE}
"""Prefixes of an agent's suggestion that concern more than its bead: "dependency: …", "scope: …"."""


def kind_of(suggestion: str) -> ItemKind:
    return KINDS.get(suggestion.partition(":")[0].strip().casefold(), ItemKind.SUGGESTION)


def why(rules: "ForgeSettings", items: Sequence[Item], beads: Mapping[str, Status], asked: bool) -> str:
    """Why a checkpoint is due; empty: it is not."""
    if asked:
        return "a person asked for this checkpoint"
    if not items:
        return ""
    if beads and all(status in CLOSED for status in beads.values()):
        return "all beads of the feature are done"
    return count(len(items), "item is collected", "items are collected") if len(items) >= rules.collect else ""


def plan_checkpoints(board: ForgeBoard, one: Standing) -> list[ForgeAction]:
    """What a feature that is built needs: its checkpoint, and live beads held or released."""
    feature = one.feature
    if one.to_hold or one.to_release:
        return [actions.HoldNamed(feature.id, one.to_hold, one.to_release)]
    if feature.stage is not Stage.IMPLEMENTATION or feature.state is not State.ACTIVE or board.paused:
        return []
    if any(other.feature.has_turn for other in board.standings):
        return []
    items = [item for item in one.items if item.state is model.ItemState.WAITING]
    reason = why(board.rules, items, one.beads, bool(feature.data.get(model.CHECKPOINT_ASKED)))
    return [actions.Checkpoint(feature.id, tuple(item.id for item in items), reason)] if reason else []


def is_changing(feature: Feature) -> bool:
    """Whether a partly live plan is being changed; live beads that it names are held."""
    return feature.stage in model.PLANNED and feature.replannings > 0


def is_over(feature: Feature, held: str | None, named: bool) -> bool:
    """Whether a bead's hold for the feature has ended. `named`: the new plan names it."""
    over = {
        HOLD_REASON: not (is_changing(feature) and named),
        model.RESHAPED: feature.stage not in model.PLANNED and not feature.data.get(model.CHECKPOINT_ASKED),
        model.HELD_WITH: feature.state is not State.PAUSED,
    }
    return any(held == reason.format(feature=feature.id) and done for reason, done in over.items())


def asked(one: Escalation) -> str:
    kind = one.type.value.replace("_", " ")
    return f"{kind}: {one.title}" + (f"; it may be {one.hypothesis}" if one.hypothesis else "")


def told(items: Iterable[Item], escalations: Iterable[Escalation], reason: str) -> str:
    """What the Shaper is told at a checkpoint; agents' words are quoted, one line each."""
    parts = [
        f"A checkpoint of the feature: {reason}. Part of it is built, and its live beads go on. Decide with the person "
        "what becomes of each of these: propose new beads, which may depend on any bead, changes of live ones, or "
        "nothing. Ask where only a person can decide. Then say that the plan is complete: all of it is reviewed again."
    ]
    if lines := [_line(item) for item in items]:
        parts.append("Collected:\n" + "\n".join(lines[:MAX_LISTED]))
    open_ = [f"> {one.type.value} {one.id}, bead {one.bead}: {line(one.title, SHORT)}" for one in escalations]
    if open_:
        parts.append("Beads that wait for a person's decision:\n" + "\n".join(open_[:MAX_LISTED]))
    return "\n\n".join(parts)


def _line(item: Item) -> str:
    where = f" {item.file}:{item.line}" if item.file else ""
    whose = f" (bead {item.bead})" if item.bead else ""
    return f"> {item.kind.value}{where}{whose}: {line(item.text, SHORT)}"


# Reviews. A reviewer is done when its turn ended well. It fails when it takes too long, is stuck, was ended, or asks a
# person: then its round goes on without it. What a round found is asked together, the most urgent first, what two of
# them say once, and what a person took as a risk before not at all. Until the plan is ready again the Shaper revises
# it. Those of a feature that is paused end what they began, and begin nothing. A plan that is reopened is reviewed
# whole, from 1.
WAITS = 6
"""An unstarted reviewer may wait so many times its minutes."""
CONTINUE, CLOSE = "continue", "close the reviews"


def plan_reviews(board: ForgeBoard, standing: Standing) -> list[ForgeAction]:
    """What the reviews of one feature need now."""
    feature = standing.feature
    if feature.stage is not Stage.REVIEW or feature.state is not State.ACTIVE or board.paused:
        return []
    seen = tracker(board.rules, feature, standing.reviews, standing.findings)
    last = seen.iterations[-1] if seen.iterations else None
    if last is not None and last.end is reviewed_plan.End.RUNNING:
        return []
    if asks := to_ask(standing.findings, standing.open_questions):
        session = standing.session
        can = session is not None and session.state is not At.ENDED
        return [actions.AskFindings(feature.id, feature.round, asks)] if can else []
    if last is not None and not seen.open and feature.data.get(model.CLOSED_ROUND, 0) < last.number:
        return [actions.CloseRound(feature.id, last.number)]
    return _reviewing_next(board, standing, seen) if goes_on(feature) else []


def goes_on(feature: Feature) -> bool:
    """Whether a round may begin, or a person be asked, once nothing of the last one waits."""
    asked = feature.data.get(model.SIGN_OFF_ASKED) == feature.plan
    return bool(feature.plan) and not (asked or feature.data.get(model.REVISING) or feature.data.get(model.SIGNED))


def _reviewing_next(board: ForgeBoard, standing: Standing, seen: Tracker) -> list[ForgeAction]:
    feature, rules = standing.feature, board.rules
    forgiven = int(feature.data.get(model.FORGIVEN, 0))
    what = reviewed_plan.then(rules, seen, feature.plan, standing.reviews_usd, cap(rules, feature), forgiven)
    if feature.data.get(model.ENOUGH):
        what = Then.SIGN_OFF
    elif what is Then.SIGN_OFF and feature.data.get(model.ANOTHER) == feature.round + 1:
        what = Then.BEGIN
    if what is Then.BEGIN:
        earlier = [one for one in standing.reviews if one.round > since(feature)]
        domains = reviewed_plan.looks(rules, standing.plans, earlier, feature.files)
        begun = feature.round + 1
        return [actions.BeginRound(feature.id, begun, domains, agents(rules, standing, domains, begun))]
    if what is Then.SIGN_OFF:
        return [actions.AskSignOff(feature.id, feature.plan)]
    if what is Then.ASK_DEGRADED and About.DEGRADED not in standing.asked:
        failed = ", ".join(dict.fromkeys(domain for one in seen.iterations[-2:] for domain in one.failed))
        title = f"No reviewer finished a review in {count(seen.degraded, 'review round')} in a row"
        detail = f"These reviewers failed: {failed}. {seen.done} of {count(seen.most, 'plan review')} ended well."
        form = shaper_form(f"{CONTINUE}: two more rounds of reviews start", f"{CLOSE}: you sign off the current plan")
        return [actions.Ask(feature.id, About.DEGRADED, title, detail, form, holds=False)]
    if what is Then.ASK_COST and About.REVIEW_BUDGET not in standing.asked:
        return [_cost(standing, rules)]
    return []


def may_review_again(rules: "ForgeSettings", feature: Feature, seen: Tracker) -> bool:
    """Whether a person may begin another round, since the reviews ended before the last one."""
    is_over = feature.stage is Stage.REVIEW and feature.is_sign_off_asked and not feature.data.get(model.REVISING)
    return is_over and not (feature.data.get(model.SIGNED) or seen.open) and len(seen.iterations) < rules.most_rounds


def is_revising(standing: Standing) -> bool:
    """Whether the findings are decided and the Shaper must declare the revised plan ready."""
    return bool(standing.feature.data.get(model.REVISING)) and not any(
        one.state is FindingState.OPEN for one in standing.findings
    )


def since(feature: Feature) -> int:
    """The last round that no longer counts."""
    return int(feature.data.get(model.SINCE, 0))


_PLAN_KEYS = (model.SIGNED, model.ENOUGH, model.FORGIVEN, model.SIGN_OFF_ASKED, model.CHECKPOINT_ASKED, model.REVISING)


def reopened(feature: Feature) -> Mapping[str, Any]:
    """Notes for a plan that is reopened: its sign-off is void and earlier rounds do not count."""
    return {**dict.fromkeys(_PLAN_KEYS), model.SINCE: feature.round, model.CLOSED_ROUND: feature.round}


def are_over(feature: Feature) -> bool:
    """Whether the reviews had ended: a sign-off was asked for or given."""
    return bool(feature.data.get(model.SIGN_OFF_ASKED) or feature.data.get(model.SIGNED))


def tracker(
    rules: "ForgeSettings", feature: Feature, reviews: Iterable[PlanReview], findings: Iterable[Finding]
) -> Tracker:
    last = since(feature)
    return reviewed_plan.tracker(
        rules, (one for one in reviews if one.round > last), (one for one in findings if one.round > last)
    )


def cap(rules: "ForgeSettings", feature: Feature) -> float:
    """What the feature's reviews may cost by now, in USD."""
    return float(feature.data.get(model.REVIEWS_USD, rules.review_usd))


def agents(rules: "ForgeSettings", standing: Standing, domains: Sequence[str], number: int) -> dict[str, str]:
    own = [standing.session.agent] if standing.session is not None else [spec.agent for spec in standing.specs[:1]]
    names = list(rules.reviewers) or own
    return {domain: names[(place + number - 1) % len(names)] for place, domain in enumerate(domains)} if names else {}


def reviewing_ended(board: ForgeBoard, standing: Standing) -> list[actions.EndReview]:
    """The reviewers that finished or failed, in any state of the feature."""
    running = [one for one in standing.reviews if one.state is ReviewState.RUNNING]
    found = []
    for review in running:
        state, detail = _end(board, review, standing.reviewers.get(review.session or 0), standing)
        if state is not ReviewState.RUNNING:
            found.append(actions.EndReview(review.feature, review.round, review.domain, state, detail))
    return found


def _end(board: ForgeBoard, review: PlanReview, session: Session | None, standing: Standing) -> tuple[ReviewState, str]:
    feature = standing.feature
    if session is None or session.state is At.ENDED:
        return ReviewState.FAILED, "the reviewer's session was ended"
    if feature.stage is not Stage.REVIEW:
        return ReviewState.FAILED, "the plan was reopened before the reviewer finished"
    if feature.state is not State.ACTIVE and session.state is At.READY:
        return ReviewState.FAILED, f"the reviewer had not started when the feature stopped ({feature.state.value})"
    if session.state is At.IDLE:
        halted = session.id in standing.halted
        return (ReviewState.FAILED, session.detail or "the reviewer was stopped") if halted else (ReviewState.DONE, "")
    if session.state is At.ASKING:
        return ReviewState.FAILED, "the reviewer asked a person instead of reviewing"
    if session.state is At.STUCK:
        return ReviewState.FAILED, session.detail or "the reviewer's session does not continue"
    minutes = board.rules.review_minutes
    if session.state is At.RUNNING and board.now >= session.updated_at + minutes * 60:
        return ReviewState.FAILED, f"the reviewer took longer than {count(minutes, 'minute')}"
    if session.state is At.READY and not board.paused and board.now >= review.started_at + WAITS * minutes * 60:
        waited = count(WAITS * minutes, "minute")
        return ReviewState.FAILED, f"the reviewer did not start within {waited}: {session.detail}".rstrip(": ")
    return ReviewState.RUNNING, ""


def reviewing_wake_at(board: ForgeBoard) -> float | None:
    """When the first reviewer times out; while all is paused, waiting ones do not."""
    minutes = board.rules.review_minutes * 60
    times = [
        session.updated_at + minutes if session.state is At.RUNNING else review.started_at + WAITS * minutes
        for standing in board.standings
        for review in standing.reviews
        if review.state is ReviewState.RUNNING
        and (session := standing.reviewers.get(review.session or 0)) is not None
        and (session.state is At.RUNNING or (session.state is At.READY and not board.paused))
    ]
    return min(times, default=None)


def to_ask(findings: Iterable[Finding], open_questions: frozenset[int]) -> tuple[int, ...]:
    waiting = [
        one
        for one in findings
        if one.state is FindingState.OPEN and (one.escalation is None or one.escalation not in open_questions)
    ]
    return tuple(one.id for one in sorted(waiting, key=lambda one: (one.priority, one.id)))


def _cost(standing: Standing, rules: "ForgeSettings") -> actions.Ask:
    limit = cap(rules, standing.feature)
    title = f"The reviews of the plan have cost ${standing.reviews_usd:.2f}; their limit is ${limit:.2f}"
    detail = f"The last review round was round {standing.feature.round} of at most {rules.most_rounds}."
    options = (
        f"{CONTINUE}: the reviews continue, for at most ${rules.review_usd:.2f} more",
        f"{CLOSE}: you sign off the current plan",
    )
    form = as_values(made("radio", options, (CLOSE,), priority=1))
    return actions.Ask(standing.feature.id, About.REVIEW_BUDGET, title, detail, form, holds=False)


WARN_SHARE, FRESH_SHARE = 0.8, 0.95
"""How full a context is when a person is warned, and when the next turn begins afresh."""
FRESH_AFTER_ROUNDS = 5
"""Review iterations in one conversation before it begins afresh."""
MAX_NUDGES = 3
"""Nudges in a row before a person is asked."""


def plan_features(board: ForgeBoard) -> list[ForgeAction]:
    return [action for standing in board.standings for action in _next(board, standing)[:1]]


def wake_at(board: ForgeBoard) -> float | None:
    """When the first session expires, or its warning is due."""
    times = [moment for one in board.standings if _may_expire(one) for moment in _times(board.rules, one)]
    return min((moment for moment in times if moment > board.now), default=None)


def _next(board: ForgeBoard, one: Standing) -> list[ForgeAction]:
    feature, session = one.feature, one.session
    if ended := reviewing_ended(board, one):
        return list(ended)
    for about, asked in one.asked.items():
        if asked.answer is not None:
            return [actions.Answered(feature.id, about, asked.answer)]
    if one.rolling is not None:
        return plan_rollback(one)
    said = session is not None and session.waiting > int(feature.data.get(model.LEFT) or 0)
    if feature.state is State.EXPIRED:
        return [_ask(one, About.EXPIRED)] if said and About.EXPIRED not in one.asked else []
    if feature.state is State.ERROR:
        # what a turn was told that failed waits as well, and is not a word of anybody
        return [actions.Recover(feature.id)] if said and session is not None and session.state is At.READY else []
    if feature.state is not State.ACTIVE:
        return []
    if feature.stage not in model.PLANNED and session is not None and one.last and session.state is At.STUCK:
        return [actions.Fail(feature.id, session.detail or "its turns fail")]
    own = _turns(one) or plan_checkpoints(board, one)
    return own or (_planned(board, one) if feature.stage in model.PLANNED else [])


def _turns(one: Standing) -> list[ForgeAction]:
    last, id_ = one.last, one.feature.id
    if last is None:
        return []
    warn = last.context if last.context is not None and last.context >= WARN_SHARE else None
    if last.did or last.outcome not in CLEAN:
        return [actions.TakeTurn(id_, last.turn, None, warn)]
    reading = last.reading
    if reading is not None and not reading.certain and one.feature.stage not in (Stage.DISCOVERY, Stage.PLANNING):
        reading = replace(reading, steps=())  # a numbered list about a plan under review is not a new plan
    if reading is not None and one.feature.stage not in model.PLANNED:
        # a plan that is built is changed when a person asks for it: to be refused would begin the next turn, for ever,
        # as would a question of what comes next that somebody always answers
        reading = replace(reading, steps=(), ready=False)
    if reading is not None and not reading.is_empty:
        return [actions.TakeTurn(id_, last.turn, reading, warn)]
    if one.feature.stage not in model.PLANNED or (last.spoken_to and last.words.strip()):
        return [actions.TakeTurn(id_, last.turn, None, warn, last.words)]
    return [actions.AskAboutSilentTurn(id_, last.turn, last.words, warn)]


def _planned(board: ForgeBoard, one: Standing) -> list[ForgeAction]:
    feature, session = one.feature, one.session
    if session is None:
        return [actions.BeginShaper(feature.id, spec.agent) for spec in (_free(one) or one.specs)[:1]]
    if session.state is At.ENDED:
        return [actions.Fail(feature.id, f"somebody ended session {session.id} of the feature's Shaper")]
    if session.state is At.RUNNING:
        return []
    own = _seated(one) or _renewed(one) or _budget(board.rules, one) or _expiry(board, one) or _idle(one)
    return own or plan_reviews(board, one)


def _free(one: Standing) -> tuple[actions.AgentSpec, ...]:
    return tuple(spec for spec in one.specs if not spec.trouble)


def _seated(one: Standing) -> list[ForgeAction]:
    session, id_ = one.session, one.feature.id
    assert session is not None
    stuck = session.state is At.STUCK
    own = next((spec for spec in one.specs if spec.agent == session.agent), None)
    why = (own.trouble if own is not None else "") or (session.detail if stuck else "")
    others = [spec for spec in _free(one) if spec.agent != session.agent]
    if others and (stuck or (session.state is At.READY and why)):
        return [actions.SwitchShaper(id_, others[0].agent, why)]
    return [actions.Fail(id_, why or "its turns fail")] if stuck else []


def _renewed(one: Standing) -> list[ForgeAction]:
    feature, session = one.feature, one.session
    assert session is not None
    begun = feature.data.get(model.TALK)
    if not session.begun or not begun:
        return []
    rounds = feature.round - int(begun[model.ROUND])
    if begun[model.STAGE_KEY] != feature.stage.value:
        return [actions.Renew(feature.id, f"the feature is now in {feature.stage.value}")]
    if rounds >= FRESH_AFTER_ROUNDS:
        return [actions.Renew(feature.id, f"{count(rounds, 'round')} of plan reviews ended")]
    full = float(feature.data.get(model.CONTEXT) or 0.0)
    return [actions.Renew(feature.id, f"the Shaper's context window is {full:.0%} full")] if full >= FRESH_SHARE else []


def _budget(rules: "ForgeSettings", one: Standing) -> list[ForgeAction]:
    allowed = float(one.feature.data.get(model.ALLOWED) or rules.shaper_usd)
    if not rules.shaper_usd or one.spent_usd < allowed or About.BUDGET in one.asked:
        return []
    return [_ask(one, About.BUDGET)]


def _ask(one: Standing, about: About) -> actions.Ask:
    told = {"session": one.session.id if one.session else 0, "usd": f"{one.spent_usd:.2f}"}
    return actions.question(one.feature, about, **told, turns=count(MAX_NUDGES, "time"))


def _may_expire(one: Standing) -> bool:
    feature, session = one.feature, one.session
    quiet = session is not None and session.state in (At.IDLE, At.ASKING, At.STUCK) and not one.reviewers
    return feature.state is State.ACTIVE and feature.stage in model.PLANNED and quiet


def _times(rules: "ForgeSettings", one: Standing) -> tuple[float, float]:
    """(warning time, expiry time)."""
    expires = one.feature.turn_at + rules.expire_hours * 3600
    return expires - rules.warn_hours * 3600, expires


def _expiry(board: ForgeBoard, one: Standing) -> list[ForgeAction]:
    if not _may_expire(one) or not board.rules.expire_hours:
        return []
    warns, expires = _times(board.rules, one)
    if board.now >= expires:
        return [actions.Expire(one.feature.id)]
    if board.now >= warns and one.feature.data.get(model.WARNED) != one.feature.turn_at:
        return [actions.WarnOfExpiry(one.feature.id, expires)]
    return []


def _idle(one: Standing) -> list[ForgeAction]:
    session = one.session
    assert session is not None
    if session.state is At.READY and int(one.feature.data.get(model.NUDGED) or 0) > MAX_NUDGES:
        return [] if About.IDLE in one.asked or one.feature.data.get(model.HELD) else [_ask(one, About.IDLE)]
    waits = session.state is not At.IDLE or one.questions or one.feature.data.get(model.HELD)
    revises = one.feature.stage is not Stage.REVIEW or is_revising(one)
    return nudge(one) if revises and not waits else []


def nudge(one: Standing) -> list[ForgeAction]:
    """Tell the Shaper to continue; after MAX_NUDGES in a row ask a person, once."""
    if int(one.feature.data.get(model.NUDGED) or 0) < MAX_NUDGES:
        return [actions.TellShaper(one.feature.id, int(one.feature.data.get(model.LAST_TURN) or 0))]
    return [] if About.IDLE in one.asked else [_ask(one, About.IDLE)]
