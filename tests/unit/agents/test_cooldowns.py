"""A provider that refuses: how long nothing is started there, and who goes ahead afterwards."""

from dataclasses import replace

import pytest

from nobrakes.agents import limits
from nobrakes.agents.limits import MARGIN_SECONDS, MAX_COOLDOWN_SECONDS, PROBE_SECONDS, Cooldown
from nobrakes.beads.model import TABLE, Attempt, Outcome, Role

NOW = 1_000_000.0


def at(started: float, provider: str = "north") -> Attempt:
    return Attempt(1, "b", 1, Role.DOER, "Ada", 1, "t", started, agent="first", provider=provider)


def refused(
    outcome: Outcome = Outcome.PROVIDER_DOWN, resets: float | None = None, before: Cooldown | None = None
) -> Cooldown:
    now = NOW if before is None else before.until + 40
    gate = limits.close(before, at(now - 10), outcome, "no", now, resets)
    assert gate is not None
    return gate


def test_a_reset_time_that_was_said_is_believed() -> None:
    gate = refused(Outcome.RATE_LIMITED, NOW + 5 * 3600)
    assert gate.told and gate.until == NOW + 5 * 3600 + MARGIN_SECONDS
    assert gate.is_closed(gate.until - 1) and not gate.is_closed(gate.until)


@pytest.mark.parametrize("resets", [None, NOW - 60, NOW + 400 * 86_400])
def test_a_reset_time_that_cannot_be_is_none(resets: float | None) -> None:
    gate = refused(Outcome.RATE_LIMITED, resets)
    assert not gate.told and gate.until == NOW + TABLE[Outcome.RATE_LIMITED].gate_seconds


def test_without_one_the_gate_closes_for_twice_as_long_each_time_up_to_an_hour() -> None:
    gate, waits = refused(), []
    for _ in range(9):
        waits.append(gate.until - gate.since)
        gate = refused(before=gate)
    assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, MAX_COOLDOWN_SECONDS]


def test_those_who_were_running_do_not_make_it_longer() -> None:
    gate = refused()
    again = limits.close(gate, at(gate.since - 300), Outcome.PROVIDER_DOWN, "no", gate.since + 50, None)
    assert again == gate


def test_those_who_were_running_may_know_until_when() -> None:
    gate = refused(Outcome.RATE_LIMITED)
    told = limits.close(gate, at(gate.since - 300), Outcome.RATE_LIMITED, "no", gate.since + 9, gate.since + 7200)
    assert told is not None and told.told and told.times == 1 and told.until == gate.since + 7200 + MARGIN_SECONDS


def test_telling_it_twice_changes_nothing() -> None:
    """After a crash between the gate and the attempt's end, the end is dealt with again."""
    for resets in (None, NOW + 700):
        gate = refused(Outcome.RATE_LIMITED, resets)
        assert limits.close(gate, at(NOW - 10), Outcome.RATE_LIMITED, "no", NOW + 1, resets) == gate


@pytest.mark.parametrize("outcome", [o for o in Outcome if not (TABLE[o].starts_cooldown or TABLE[o].is_of_model)])
def test_no_other_ending_closes_a_gate(outcome: Outcome) -> None:
    assert limits.close(None, at(NOW), outcome, "", NOW + 1, NOW + 999) is None


def test_a_model_that_is_not_there_closes_that_model_of_that_agent_alone() -> None:
    gone, other = replace(at(NOW), model="gone"), replace(at(NOW + 9000), model="there")
    gate = limits.close(None, gone, Outcome.MODEL_UNAVAILABLE, "no", NOW + 1, None)
    assert gate is not None and gate.provider == "first:gone"
    assert limits.room({gate.provider: gate}, (), NOW + 2) == {"first:gone": 0}
    assert not limits.is_proven(gate, other, Outcome.COMPLETED)
    assert limits.is_proven(gate, replace(gone, started_at=NOW + 9000), Outcome.COMPLETED)


def test_an_agent_without_a_provider_has_no_gate() -> None:
    assert limits.close(None, at(NOW, provider=""), Outcome.RATE_LIMITED, "", NOW + 1, None) is None


def test_at_a_closed_gate_there_is_no_room() -> None:
    gate = refused()
    assert limits.room({"north": gate}, [], gate.until - 1) == {"north": 0}


def test_behind_a_gate_that_said_when_there_is_room_for_all() -> None:
    gate = refused(Outcome.RATE_LIMITED, NOW + 600)
    assert limits.room({"north": gate}, [], gate.until) == {}


def test_behind_another_one_goes_ahead_and_the_rest_follow_when_it_works() -> None:
    gate = refused()
    probe = at(gate.until + 1)
    known = {"north": gate}
    assert limits.room(known, [], gate.until) == {"north": 1}
    assert limits.room(known, [at(gate.since - 60), at(gate.until + 1, "south")], gate.until + 2) == {"north": 1}
    assert limits.room(known, [probe], gate.until + 2) == {"north": 0}
    assert limits.cooldowns_wake_at(known, [probe], gate.until + 2) == probe.started_at + PROBE_SECONDS
    assert limits.room(known, [probe], probe.started_at + PROBE_SECONDS) == {}


def test_a_served_agent_proves_the_gate_open_and_an_old_one_does_not() -> None:
    gate = refused()
    assert limits.is_proven(gate, at(gate.until + 1), Outcome.FAILED)
    assert not limits.is_proven(gate, at(gate.until + 1), Outcome.STALLED)
    assert not limits.is_proven(gate, at(gate.since - 60), Outcome.COMPLETED)
    assert not limits.is_proven(gate, replace(at(gate.until + 1), provider="south"), Outcome.COMPLETED)


def test_the_loop_wakes_when_the_gate_opens() -> None:
    early, late = refused(), refused(Outcome.RATE_LIMITED, NOW + 9000)
    assert limits.cooldowns_wake_at({"north": late, "south": early}, [], NOW) == early.until
    assert limits.cooldowns_wake_at({}, [], NOW) is None
