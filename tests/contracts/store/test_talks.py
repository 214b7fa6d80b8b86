"""Sessions in the store: what is said comes to one turn, who is too late changes nothing, what ended stays ended."""

from pathlib import Path

import pytest

from nobrakes.agents.db import edits
from nobrakes.agents.limits import Breaker
from nobrakes.agents.limits import State as Trip
from nobrakes.beads.model import Outcome
from nobrakes.daemon.model import Limits
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NoSuchSession, NotAllowed, Stale
from nobrakes.events.kinds import Kind
from nobrakes.sessions.model import Fact, Session, SessionKind, State, Turn
from nobrakes.store import Store

SEAT = ("claude", "anthropic", "opus")


def begun(store: Store, text: str = "hello") -> Session:
    return store.begin_session(SessionKind.PLANNING, "person:me", "a plan", SEAT, text, "me")


def opened(store: Store, session: int) -> Turn:
    found = store.open_turn(session)
    assert found is not None
    return found[0]


def asks(store: Store, session: int, title: str = "Which?") -> int:
    return store.escalate(NewEscalation(EscalationType.QUESTION, title, session=session), None, None, "Session").id


def test_a_turn_takes_all_that_waits_and_no_other_does(store: Store) -> None:
    one = begun(store)
    store.say(one.id, "and this", "me")
    found = store.open_turn(one.id)
    assert found is not None and [m.text for m in found[1]] == ["hello", "and this"]
    assert store.open_turn(one.id) is None  # it is at work
    assert store.session(one.id).waiting == 0 and [m.text for m in store.turn_messages(found[0].id)] == [
        "hello",
        "and this",
    ]
    store.say(one.id, "later", "me")
    assert store.session(one.id).waiting == 1 and store.session(one.id).state is State.RUNNING


def test_what_was_said_meanwhile_makes_it_go_on_at_once(store: Store) -> None:
    one = begun(store)
    turn = opened(store, one.id)
    store.say(one.id, "later", "me")
    closed = store.close_turn(turn.id, Fact.ENDED_WELL, Outcome.COMPLETED, "", said="done")
    assert closed.state is State.READY
    with pytest.raises(Stale):
        store.close_turn(turn.id, Fact.ENDED_WELL, Outcome.COMPLETED, "")
    assert [(m.author, m.text) for m in store.messages(one.id)] == [("me", "hello"), ("me", "later"), ("", "done")]
    found = store.open_turn(one.id)
    assert found is not None and [m.text for m in found[1]] == ["later"]


def test_what_its_agent_never_began_with_is_said_again(store: Store) -> None:
    one = begun(store)
    first = opened(store, one.id)
    assert store.close_turn(first.id, Fact.CUT_OFF, Outcome.LOST, "", resends=True).state is State.READY
    second = store.open_turn(one.id)
    assert second is not None and [m.text for m in second[1]] == ["hello"]
    store.hear_session(second[0].id, "uuid")
    after = store.close_turn(second[0].id, Fact.CUT_OFF, Outcome.NETWORK, "")
    assert after.state is State.READY and after.data["cut_off"] == "network" and after.begun
    third = store.open_turn(one.id)
    assert third is not None and third[1] == [] and third[0].resumes


def test_its_question_is_answered_once_and_told_once(store: Store) -> None:
    one = begun(store)
    turn = opened(store, one.id)
    number, same = asks(store, one.id), asks(store, one.id)
    assert number == same and asks(store, begun(store).id) != number  # another session's is another question
    assert store.close_turn(turn.id, Fact.ENDED_WELL, Outcome.BLOCKED, "").state is State.ASKING
    assert store.open_turn(one.id) is None
    store.answer(number, "this one", "me")
    with pytest.raises(NotAllowed):
        store.answer(number, "that one", "me")
    found = store.open_turn(one.id)
    assert found is not None and [m.text for m in found[1]] == ["You asked: Which?\nThe answer: this one"]


def test_it_waits_for_its_last_question(store: Store) -> None:
    one = begun(store)
    turn = opened(store, one.id)
    first, second = asks(store, one.id, "This?"), asks(store, one.id, "That?")
    store.close_turn(turn.id, Fact.ENDED_WELL, Outcome.BLOCKED, "")
    store.answer(first, "yes", "me")
    assert store.session(one.id).state is State.ASKING
    store.resolve(second, "never mind", "me")
    assert store.session(one.id).state is State.READY and store.session(one.id).waiting == 2


def test_who_is_stopped_waits_for_the_next_word(store: Store) -> None:
    one = begun(store)
    turn = opened(store, one.id)
    assert store.stop_session(one.id, "me").stop_asked
    stopped = store.close_turn(turn.id, Fact.STOPPED, Outcome.INTERRUPTED, "", resends=True)
    assert stopped.state is State.IDLE and not stopped.stop_asked and stopped.waiting == 1
    store.say(one.id, "go on", "me")
    found = store.open_turn(one.id)
    assert found is not None and [m.text for m in found[1]] == ["hello", "go on"]


def test_what_has_ended_hears_nothing_and_says_nothing(store: Store) -> None:
    one = begun(store)
    turn = opened(store, one.id)
    number = asks(store, one.id)
    store.end_session(one.id, "me")
    assert store.escalation(number).resolved_at is not None
    assert store.close_turn(turn.id, Fact.CUT_OFF, Outcome.CANCELLED, "").state is State.ENDED
    for attempt in (lambda: store.say(one.id, "x", "me"), lambda: store.end_session(one.id, "me")):
        with pytest.raises(NotAllowed):
            attempt()
    assert store.sessions() == [] and [s.id for s in store.sessions(going=False)] == [one.id]


def test_a_token_speaks_for_an_open_turn_alone(store: Store) -> None:
    one = begun(store)
    turn = opened(store, one.id)
    assert store.turn_of_token(turn.token)[1].id == one.id
    for wrong in ("", "s", f"s{turn.id}.{one.id}.guess", turn.token[1:], f"s{10**30}.1.x"):
        with pytest.raises(Stale):
            store.turn_of_token(wrong)
    store.close_turn(turn.id, Fact.ENDED_WELL, Outcome.COMPLETED, "")
    with pytest.raises(Stale):
        store.turn_of_token(turn.token)


def test_an_id_that_two_sessions_claim_is_nobodys(store: Store) -> None:
    one, other = begun(store), begun(store)
    first, second = opened(store, one.id), opened(store, other.id)
    assert store.hear_session(first.id, "uuid") and not store.hear_session(second.id, "uuid")
    store.say(one.id, "more", "me")
    store.close_turn(first.id, Fact.ENDED_WELL, Outcome.COMPLETED, "")
    assert not opened(store, one.id).resumes  # nobody can tell whose it is


def test_what_turns_cost_is_the_sessions_cost_and_counts_for_the_day(store: Store) -> None:
    from nobrakes.agents.limits import Cap, Caps

    one = begun(store)
    turn = opened(store, one.id)
    store.spend_turn(turn.id, 1.5, 1000)
    store.spend_turn(turn.id, 2.0, 1500)  # again, after a crash or while it grows
    assert (store.session(one.id).cost_usd, store.session(one.id).tokens) == (2.0, 1500)
    spent = store.board(Limits(caps=Caps(day=Cap(usd=9), calls_per_hour=9))).spent
    assert (spent.day.usd, spent.day.tokens, spent.calls) == (2.0, 1500, 1)


def test_a_word_to_one_that_is_stuck_half_opens_its_breaker(store: Store) -> None:
    one = begun(store)
    turn = opened(store, one.id)
    open_ = Breaker(Trip.OPEN, 3, 3, "crashed")
    stuck = store.close_turn(turn.id, Fact.GAVE_UP, Outcome.CRASHED, "again", resends=True, breaker=open_)
    assert stuck.state is State.STUCK and store.breakers(f"session:{one.id}")["anthropic"].state is Trip.OPEN
    store.say(one.id, "try again", "me")
    assert store.breakers(f"session:{one.id}")["anthropic"].state is Trip.HALF_OPEN


def test_the_board_has_who_is_ready_and_who_is_at_work(store: Store) -> None:
    ready, working, idle = begun(store), begun(store), begun(store)
    opened(store, working.id)
    store.close_turn(opened(store, idle.id).id, Fact.ENDED_WELL, Outcome.COMPLETED, "")
    board = store.board(Limits())
    assert [s.id for s in board.sessions] == [ready.id]
    assert [talk.session.id for talk in board.talks] == [working.id]


def test_everything_is_in_the_log(store: Store) -> None:
    one = begun(store)
    store.close_turn(opened(store, one.id).id, Fact.ENDED_WELL, Outcome.COMPLETED, "")
    store.end_session(one.id, "me")
    kinds = [Kind.SESSION_BEGAN, Kind.TURN_STARTED, Kind.TURN_ENDED, Kind.SESSION_ENDED]
    assert [event.kind for event in store.events()] == kinds


def test_who_is_not_there(store: Store) -> None:
    with pytest.raises(NoSuchSession):
        store.session(7)


def test_an_id_that_a_session_had_before_is_nobodys_again(store: Store) -> None:
    one, liar = begun(store), begun(store)
    first = opened(store, one.id)
    assert store.hear_session(first.id, "old")
    store.close_turn(first.id, Fact.CUT_OFF, Outcome.SESSION_LOST, "", resends=True, lost=True)
    second = opened(store, one.id)
    assert not second.resumes and store.hear_session(second.id, "new")
    assert not store.hear_session(opened(store, liar.id).id, "old")
    assert store.session(one.id).provider_session == "new"


def test_who_was_to_begin_again_and_says_the_one_before_has_begun_nothing(store: Store) -> None:
    one = begun(store)
    first = opened(store, one.id)
    assert store.hear_session(first.id, "full") and store.hear_session(first.id, "full"), "heard again after a crash"
    store.close_turn(first.id, Fact.CUT_OFF, Outcome.GAVE_UP_CONTEXT, "", resends=True, lost=True)
    second = opened(store, one.id)
    assert not second.resumes and not store.hear_session(second.id, "full")
    store.close_turn(second.id, Fact.CUT_OFF, Outcome.CRASHED, "", resends=True)
    assert not opened(store, one.id).resumes


def test_what_a_turn_did_is_noted_once_by_every_way(tmp_path: Path) -> None:
    path = str(tmp_path / "nobrakes.db")
    store = Store(path, create=True)
    turn = opened(store, begun(store).id)
    store.note_turn(turn.id, {"seen": 1})
    for title in ("Which?", "Who?"):
        edits.agent_ask(path, turn.token, title)
    for what in ("proposed", "ready", "proposed", "asked"):
        store.did(turn.id, what)
    data = store.turn(turn.id).data
    assert (data["seen"], data["did"]) == (1, ["asked", "proposed", "ready"])
    store.close_turn(turn.id, Fact.ENDED_WELL, Outcome.COMPLETED, "", said="done")
    with pytest.raises(Stale):
        store.did(turn.id, "found")
    store.close()


def test_what_is_noted_of_a_session_stays_beside_what_a_turn_notes(store: Store) -> None:
    one = begun(store)
    store.note_session(one.id, {"stage": "plan"})
    turn = opened(store, one.id)
    store.note_session(one.id, {"stage": "work", "bead": "a"})
    store.close_turn(turn.id, Fact.CUT_OFF, Outcome.INTERRUPTED, "stopped")
    assert store.session(one.id).data == {"stage": "work", "bead": "a", "cut_off": "interrupted"}
    with pytest.raises(NoSuchSession):
        store.note_session(99, {"stage": "work"})
