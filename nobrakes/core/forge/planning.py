"""What a feature does next. Same board, same answer; daemon.forge.perform does it.

1. A feature that is planned has one session, its Shaper's. Each of its turns is dealt with once when it has ended: what
   it asked waits for a person, what it proposed lies as drafts, and "ready" makes a version of the plan.
2. A turn that left nothing to wait for, or whose words were refused, is gone on with by itself, a few times; then a
   person is asked.
3. A turn without an operation is read by its words (core.forge.markers); one that says nothing either is shown raw,
   with a question. Where it only answers what a person said, or the plan is built and nobody waits for its Shaper, the
   words are told, and nothing is asked. Words that look like an error decide nothing.
4. A conversation begins afresh at each change of stage, after some iterations of reviews, and where its context is
   nearly full; never for mere idleness.
5. A Shaper whose provider refuses its login, or whose breaker is open, is followed by the next of the list.
6. Silence of a day ends the agent's conversation and no question. It is said beforehand.
7. One that is rolled back does nothing else (core.forge.rollback).
8. A feature that is paused, expired or in error begins no turn: the store does not offer its session.
"""

from dataclasses import replace

from ..sessions.session import CLEAN
from ..sessions.session import State as At
from . import checkpoints, reviewing, rollback
from .actions import (
    About,
    Answered,
    Ask,
    AskAboutSilentTurn,
    BeginShaper,
    Expire,
    Fail,
    ForgeAction,
    Recover,
    Renew,
    SwitchShaper,
    TakeTurn,
    TellShaper,
    WarnOfExpiry,
)
from .asking import QUESTIONS
from .board import ForgeBoard, Seat, Standing
from .data_keys import ALLOWED, CONTEXT, HELD, LEFT, NUDGED, ROUND, SEEN, STAGE, TALK, WARNED
from .feature import PLANNED, Stage, State
from .rules import Rules

WARN_SHARE, FRESH_SHARE = 0.8, 0.95
"""How full a context is when a person is told, and when the next turn begins afresh."""
FRESH_AFTER_ROUNDS = 5
"""After so many iterations of reviews in one conversation it begins afresh."""
MOST_NUDGES = 3
"""So often in a row a Shaper is told to go on; then a person is asked."""


def plan(board: ForgeBoard) -> list[ForgeAction]:
    """What is to be done now, at most one step of each feature: the next look sees what it came to."""
    return [action for standing in board.standings for action in _next(board, standing)[:1]]


def wake_at(board: ForgeBoard) -> float | None:
    """When the first session expires, or is to be warned of."""
    times = [moment for one in board.standings if _may_expire(one) for moment in _times(board.rules, one)]
    return min((moment for moment in times if moment > board.now), default=None)


def _next(board: ForgeBoard, one: Standing) -> list[ForgeAction]:
    feature, session = one.feature, one.session
    ended = reviewing.ended(board, one)
    if ended:
        return list(ended)
    for about, asked in one.asked.items():
        if asked.answer is not None:
            return [Answered(feature.id, about, asked.answer)]
    if one.rolling is not None:
        return rollback.plan(one)
    said = session is not None and session.waiting > int(feature.data.get(LEFT) or 0)
    if feature.state is State.EXPIRED:
        return [_ask(one, About.EXPIRED)] if said and About.EXPIRED not in one.asked else []
    if feature.state is State.ERROR:
        # what a turn was told that failed waits as well, and is no word of anybody
        return [Recover(feature.id)] if said and session is not None and session.state is At.READY else []
    if feature.state is not State.ACTIVE:
        return []
    own = _turns(one) or checkpoints.plan(board, one)
    return own or (_planned(board, one) if feature.stage in PLANNED else [])


def _turns(one: Standing) -> list[ForgeAction]:
    """Deal with the turn that ended."""
    last, id_ = one.last, one.feature.id
    if last is None:
        return []
    warn = last.context if last.context is not None and last.context >= WARN_SHARE else None
    if last.did or last.outcome not in CLEAN:
        return [TakeTurn(id_, last.turn, None, warn)]
    reading = last.reading
    if reading is not None and not reading.certain and one.feature.stage not in (Stage.DISCOVERY, Stage.PLANNING):
        reading = replace(reading, steps=())  # a numbered list about a plan under review is no new plan
    if reading is not None and one.feature.stage not in PLANNED:
        # a plan that is built is changed when a person asks for it: to be refused would begin the next turn, for ever,
        # as would a question of what comes next that somebody always answers
        reading = replace(reading, steps=(), ready=False)
    if reading is not None and not reading.is_empty:
        return [TakeTurn(id_, last.turn, reading, warn)]
    if one.feature.stage not in PLANNED or (last.spoken_to and last.words.strip()):
        return [TakeTurn(id_, last.turn, None, warn, last.words)]
    return [AskAboutSilentTurn(id_, last.turn, last.words, warn)]


def _planned(board: ForgeBoard, one: Standing) -> list[ForgeAction]:
    feature, session = one.feature, one.session
    if session is None:
        return [BeginShaper(feature.id, seat.agent) for seat in (_free(one) or one.seats)[:1]]
    if session.state is At.ENDED:
        return [Fail(feature.id, f"its session {session.id} was ended")]
    if session.state is At.RUNNING:
        return []
    own = _seated(one) or _renewed(one) or _budget(board.rules, one) or _expiry(board, one) or _idle(one)
    return own or reviewing.plan(board, one)


def _free(one: Standing) -> tuple[Seat, ...]:
    return tuple(seat for seat in one.seats if not seat.trouble)


def _seated(one: Standing) -> list[ForgeAction]:
    """Who goes on where the agent of the session cannot."""
    session, id_ = one.session, one.feature.id
    assert session is not None
    stuck = session.state is At.STUCK
    own = next((seat for seat in one.seats if seat.agent == session.agent), None)
    why = (own.trouble if own is not None else "") or (session.detail if stuck else "")
    others = [seat for seat in _free(one) if seat.agent != session.agent]
    if others and (stuck or (session.state is At.READY and why)):
        return [SwitchShaper(id_, others[0].agent, why)]
    return [Fail(id_, why or "its turns fail")] if stuck else []


def _renewed(one: Standing) -> list[ForgeAction]:
    """Whether the conversation with the agent has to begin afresh."""
    feature, session = one.feature, one.session
    assert session is not None
    begun = feature.data.get(TALK)
    if not session.begun or not begun:
        return []
    rounds = feature.round - int(begun[ROUND])
    if begun[STAGE] != feature.stage.value:
        return [Renew(feature.id, f"the stage is {feature.stage.value} now")]
    if rounds >= FRESH_AFTER_ROUNDS:
        return [Renew(feature.id, f"{rounds} iterations of reviews are over")]
    full = float(feature.data.get(CONTEXT) or 0.0)
    return [Renew(feature.id, f"its context is {full:.0%} full")] if full >= FRESH_SHARE else []


def _budget(rules: Rules, one: Standing) -> list[ForgeAction]:
    allowed = float(one.feature.data.get(ALLOWED) or rules.shaper_usd)
    if not rules.shaper_usd or one.spent_usd < allowed or About.BUDGET in one.asked:
        return []
    return [_ask(one, About.BUDGET)]


def _ask(one: Standing, about: About) -> Ask:
    title, detail, form = QUESTIONS[about]
    told = {"feature": one.feature.id, "title": one.feature.title, "session": one.session.id if one.session else 0}
    told |= {"usd": f"{one.spent_usd:.2f}", "turns": MOST_NUDGES}
    return Ask(one.feature.id, about, title.format(**told), detail.format(**told), form)


def _may_expire(one: Standing) -> bool:
    feature, session = one.feature, one.session
    quiet = session is not None and session.state in (At.IDLE, At.ASKING, At.STUCK) and not one.reviewers
    return feature.state is State.ACTIVE and feature.stage in PLANNED and quiet


def _times(rules: Rules, one: Standing) -> tuple[float, float]:
    """(when it is warned of, when it expires)."""
    expires = one.feature.turn_at + rules.expire_hours * 3600
    return expires - rules.warn_hours * 3600, expires


def _expiry(board: ForgeBoard, one: Standing) -> list[ForgeAction]:
    if not _may_expire(one) or not board.rules.expire_hours:
        return []
    warns, expires = _times(board.rules, one)
    if board.now >= expires:
        return [Expire(one.feature.id)]
    if board.now >= warns and one.feature.data.get(WARNED) != one.feature.turn_at:
        return [WarnOfExpiry(one.feature.id, expires)]
    return []


def _idle(one: Standing) -> list[ForgeAction]:
    """A turn of discovery or planning left nothing that anybody waits for: go on, and not for ever."""
    session = one.session
    assert session is not None
    if session.state is At.READY and int(one.feature.data.get(NUDGED) or 0) > MOST_NUDGES:
        return [] if About.IDLE in one.asked or one.feature.data.get(HELD) else [_ask(one, About.IDLE)]
    waits = session.state is not At.IDLE or one.questions or one.feature.data.get(HELD)
    revises = one.feature.stage is not Stage.REVIEW or reviewing.is_revising(one)
    return nudge(one) if revises and not waits else []


def nudge(one: Standing) -> list[ForgeAction]:
    """Tell the Shaper to go on; after so many times in a row a person is asked, once."""
    nudged = int(one.feature.data.get(NUDGED) or 0)
    if nudged < MOST_NUDGES:
        return [TellShaper(one.feature.id, int(one.feature.data.get(SEEN) or 0))]
    return [] if About.IDLE in one.asked else [_ask(one, About.IDLE)]
