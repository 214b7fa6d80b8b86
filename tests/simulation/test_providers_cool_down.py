"""Whole days in which providers refuse: told by the real daemon on the virtual clock."""

from itertools import pairwise

import pytest

from nobrakes.agents.limits import MARGIN_SECONDS, PROBE_SECONDS
from nobrakes.beads.model import Bead, Outcome, Status
from nobrakes.config.settings import Config, validated
from nobrakes.daemon.worker.loop import is_idle
from nobrakes.events.kinds import Event, Kind
from tests.world.fake_processes import AGENT
from tests.world.project import LINT, TESTS
from tests.world.rates import Rates
from tests.world.world import World

CALM = Rates(fail=0, conflict=0, crash=0, trouble=0, people=0, machine=0, refuse=0)
BEADS = 6
UNSEEN = (Outcome.CAPPED, Outcome.LOST)
"""Endings of which no output tells what was spent: who was stopped, and whose wrapper was killed."""


def a_world(doer: str | list[str] = "first", **more: object) -> World:
    """Some beads for a Doer, at a provider that nothing else goes wrong with."""
    config = validated(
        Config,
        {
            "checks": [{"name": "tests", "command": TESTS}, {"name": "lint", "command": LINT, "kind": "lint"}],
            "agents": {"test_writer": "first", "doer": doer, "script": {"command": [AGENT, "{prompt}"]}},
            **more,
        },
    )
    world = World(3, beads=0, rates=CALM, config=config)
    beads = [Bead(f"b{i}", f"B {i}", status=Status.NEEDS_DOER, needs_tests=False) for i in range(BEADS)]
    world.store.put(beads, [], "me")
    world.daemon.tick()
    return world


def events(world: World, kind: Kind) -> list[float]:
    return [event.at for event in world.store.events(0, 100_000) if event.kind is kind]


@pytest.mark.slow
def test_a_usage_limit_stops_all_until_its_time_and_burns_no_attempt() -> None:
    world = a_world()
    begin = world.clock.now()
    world.providers.refusing["north"] = (Outcome.RATE_LIMITED, begin + 5 * 3600, True)
    world.run()
    starts = events(world, Kind.DOER_STARTED)
    (closed, *_), opens = events(world, Kind.GATE_CLOSED), begin + 5 * 3600 + MARGIN_SECONDS
    assert [at for at in starts if closed < at < opens] == [], "nothing is started at a closed gate"
    assert opens <= min(at for at in starts if at > closed) < opens + 120, "it went on by itself"
    done = [bead for bead in world.store.beads() if bead.status is Status.DONE]
    assert len(done) == BEADS and {bead.failures for bead in done} == {0}
    assert len(events(world, Kind.GATE_OPENED)) == 1 and world.store.gates() == {}
    assert len([n for n in world.scene.notes.told if n.text.startswith("north: rate limited")]) == 1


@pytest.mark.slow
def test_another_provider_takes_over() -> None:
    world = a_world(["first", "second"])
    world.providers.refusing["north"] = (Outcome.AUTH, world.clock.now() + 90_000, False)
    world.run()
    assert {bead.status for bead in world.store.beads()} == {Status.DONE}
    last = [world.store.attempts(bead.id) for bead in world.store.beads()]
    assert {a.agent for attempts in last for a in attempts if a.agent != "nobrakes"} == {"first", "second"}
    assert world.clock.now() < world.providers.refusing["north"][1], "nobody waited for the first one"


@pytest.mark.slow
def test_an_outage_without_an_end_is_tried_by_one_agent_at_a_time() -> None:
    world = a_world()
    world.providers.refusing["north"] = (Outcome.PROVIDER_DOWN, world.clock.now() + 4000, False)
    world.run()
    closings = events(world, Kind.GATE_CLOSED)
    starts = [at for at in events(world, Kind.DOER_STARTED) if at > closings[0]]
    assert 4 <= len(closings) <= 9, "each try waits longer than the one before"
    for a, b in pairwise(closings):
        first, *more = [at for at in starts if a < at < b]
        assert all(at >= first + PROBE_SECONDS for at in more), "the others follow whom its provider let in"
    assert {bead.status for bead in world.store.beads()} == {Status.DONE}


@pytest.mark.slow
def test_a_days_cap_ends_with_the_day_and_is_told_once() -> None:
    world = a_world(caps={"day": {"usd": 0.01}})
    begin = world.clock.now()
    world.run()
    assert {bead.status for bead in world.store.beads()} == {Status.DONE}
    told = events(world, Kind.CAP_REACHED)
    assert len(told) == len({int(at // 86_400) for at in told}) and world.clock.now() > begin + 3600
    spent = [a for bead in world.store.beads() for a in world.store.attempts(bead.id) if a.agent == "first"]
    stopped = [a for a in spent if a.outcome is Outcome.CAPPED]
    assert stopped, "who was at work when the cap was reached was asked to stop"
    assert all(a.cost_usd > 0 and a.tokens > 0 and a.provider == "north" for a in spent if a.outcome not in UNSEEN)


@pytest.mark.slow
def test_the_cap_of_a_bead_asks_a_person_once() -> None:
    world = a_world(caps={"bead": {"usd": 0.01}}, limits={"doers": 1})
    world.providers.refusing["north"] = (Outcome.RATE_LIMITED, world.clock.now() + 300, True)
    attempt = world.store.board(world.config.board_limits()).attempts[0]
    world.store.spend(attempt.id, 1.0, 10)
    world.run()
    asked = [e for e in world.store.escalations() if e.bead == attempt.bead]
    assert [e.type.value for e in asked] == ["cap_reached"]
    assert world.store.bead(attempt.bead).status is Status.ESCALATED


@pytest.mark.slow
def test_a_session_that_overflows_hands_over_what_it_wrote_down() -> None:
    world = a_world(limits={"doers": 1})
    attempt = world.store.board(world.config.board_limits()).attempts[0]
    for text in ("the parser is done", "the printer is next"):
        world.store.record(Event(Kind.LOGGED, attempt.bead, attempt.id, attempt.name, {"text": text}))
    world.providers.refusing["north"] = (Outcome.CONTEXT_OVERFLOW, world.clock.now() + 1e6, False)
    while world.store.attempt(attempt.id).outcome is None:
        assert world.step()
    world.providers.refusing.clear()
    world.run()
    first, *later = world.store.attempts(attempt.bead)
    assert first.outcome is Outcome.GAVE_UP_CONTEXT
    assert first.log.summary == "the parser is done\nthe printer is next"
    assert Outcome.COMPLETED in [a.outcome for a in later] and events(world, Kind.GATE_CLOSED) == []


def test_a_runs_cap_ends_the_run_and_keeps_what_waits() -> None:
    world = a_world(caps={"run": {"usd": 0.01}}, limits={"doers": 1})
    world.store.set_setting("run_since", repr(world.clock.now()))
    while world.step():
        pass
    board = world.store.board(world.config.board_limits())
    assert board.ready and not board.attempts and is_idle(board), "nobody would ever go on with it in this run"
    assert len(events(world, Kind.CAP_REACHED)) == 1
    assert len(events(world, Kind.DOER_STARTED)) == 1
