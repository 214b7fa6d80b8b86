"""Where a session goes by what happens to it."""

import pytest

from nobrakes.errors import NotAllowed
from nobrakes.sessions.model import TABLE, Fact, State, advance


def test_a_conversation_from_its_beginning_to_its_end() -> None:
    state = State.READY
    for fact in (Fact.STARTED, Fact.ASKED, Fact.ANSWERED, Fact.STARTED, Fact.ENDED_WELL, Fact.SAID, Fact.STARTED):
        state = advance(state, fact)
    assert state is State.RUNNING and advance(state, Fact.CLOSED) is State.ENDED


def test_what_is_said_to_an_agent_at_work_stops_nothing() -> None:
    assert advance(State.RUNNING, Fact.SAID) is State.RUNNING


def test_whoever_cut_it_off_it_goes_on_by_itself_but_for_a_person() -> None:
    assert advance(State.RUNNING, Fact.CUT_OFF) is State.READY
    assert advance(State.RUNNING, Fact.STOPPED) is State.IDLE
    assert advance(State.RUNNING, Fact.GAVE_UP) is State.STUCK
    assert advance(State.STUCK, Fact.SAID) is State.READY


@pytest.mark.parametrize("fact", Fact)
def test_what_has_ended_stays_so(fact: Fact) -> None:
    with pytest.raises(NotAllowed, match="ended"):
        advance(State.ENDED, fact)


def test_a_turn_begins_in_one_state_and_ends_in_one() -> None:
    assert [state for state in State if Fact.STARTED in TABLE[state]] == [State.READY]
    ends = (Fact.ENDED_WELL, Fact.ASKED, Fact.CUT_OFF, Fact.STOPPED, Fact.GAVE_UP)
    assert {state for state in State for end in ends if end in TABLE[state]} == {State.RUNNING}
