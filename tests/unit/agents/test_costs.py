"""What agents cost: exact where their programs reported it, estimated by their provider's price, else not known."""

from typing import Any

import pytest

from nobrakes.agents.limits import DAY_SECONDS, Cost, day_start
from nobrakes.beads.model import NO_AGENTS, Bead, BeadType, Outcome, Role, Status
from nobrakes.beads.proposals import ByHand
from nobrakes.config.settings import Config
from nobrakes.daemon.service.now import costs
from nobrakes.db import fast
from nobrakes.events.kinds import Kind
from nobrakes.features.model import Feature
from nobrakes.records import plain
from nobrakes.store import open_memory
from nobrakes.text.cleaning import cost_text
from tests.support.hand_clock import Hand


@pytest.fixture
def store(clock: Hand) -> Any:
    made = open_memory(lambda: clock.time)
    epic = Bead("epic", "Shop", type=BeadType.EPIC, status=Status.OPEN)
    beads = [Bead(f"b{n}", "x", epic="epic", status=Status.NEEDS_DOER, needs_tests=False) for n in range(4)]
    made.put([epic, *beads, Bead("other", "y", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
    return made


def works(store: Any, clock: Hand, bead: str, provider: str, usd: float, tokens: int) -> None:
    """An agent works for a minute."""
    made = store.open_attempt(bead, Role.DOER, "agent", ["Ada"], 60.0, None, provider, "")
    clock.time += 60.0
    store.spend(made.id, usd, tokens)
    store.close_attempt(made, Kind.DOER_STOPPED, Outcome.FAILED)


def text(cost: Cost) -> str:
    return cost_text(plain(cost))


def test_what_was_reported_is_exact_and_belongs_to_the_bead_and_its_epic(store: Any, clock: Hand) -> None:
    works(store, clock, "b0", "north", 1.5, 30_000)
    works(store, clock, "b1", "north", 0.5, 10_000)
    works(store, clock, "other", "north", 8.0, 90_000)
    assert text(store.cost_of("b0")) == "$1.50, 30k tokens, 1 min of agents"
    assert text(store.cost_of("epic")) == "$2.00, 40k tokens, 2 min of agents"
    assert text(store.cost_of("b3")) == "", "no agent worked on it"


def test_tokens_without_a_cost_have_the_price_of_their_provider_and_are_marked(store: Any, clock: Hand) -> None:
    works(store, clock, "b0", "north", 2.0, 1_000_000)
    works(store, clock, "b1", "north", 0.0, 500_000)
    assert text(store.cost_of("b1")) == "$1.00 (about $1.00 of it estimated), 500k tokens, 1 min of agents"
    assert text(store.cost_of("epic")) == "$3.00 (about $1.00 of it estimated), 1.5M tokens, 2 min of agents"


def test_a_provider_that_reports_no_cost_is_named_and_no_price_is_invented(store: Any, clock: Hand) -> None:
    works(store, clock, "b0", "north", 2.0, 1_000)
    works(store, clock, "b1", "south", 0.0, 700)
    works(store, clock, "b2", "west", 0.001, 1)
    assert text(store.cost_of("b1")) == "not reported by south, 700 tokens, 1 min of agents"
    said = "$2.00: north $2.00, west under $0.01, not reported by south, 2k tokens, 3 min of agents"
    assert text(store.cost_of("epic")) == said


def test_the_cost_of_a_night_is_that_of_agents_that_worked_in_it(store: Any, clock: Hand) -> None:
    works(store, clock, "b0", "north", 5.0, 1_000)
    clock.time += 3600.0
    before = store.open_attempt("b1", Role.DOER, "agent", ["Ada"], 60.0, None, "north", "")
    clock.time += 100.0
    evening = clock.time
    clock.time += 20.0
    store.spend(before.id, 2.0, 1_000)
    store.close_attempt(before, Kind.DOER_STOPPED, Outcome.FAILED)
    works(store, clock, "b2", "north", 1.0, 1_000)
    found = store.cost_since(evening)
    assert (found.usd, found.seconds) == (3.0, 80.0), "of one that began earlier, the time since then"


@pytest.mark.parametrize("sql", [fast.COST_SINCE, fast.COST_OF_BEAD])
def test_the_roles_of_no_agent_cost_nothing(sql: str) -> None:
    assert f"role NOT IN {tuple(role.value for role in NO_AGENTS)}" in sql


def test_a_person_who_hands_in_work_is_no_agent_that_reports_no_cost(store: Any, clock: Hand) -> None:
    began = clock.time
    works(store, clock, "b0", "north", 1.5, 30_000)
    store.hand_in(ByHand("b0", "Eve", store.bead("b0").fence + 1, "c" * 40, "d" * 40))
    assert [one.role for one in store.attempts("b0")] == [Role.DOER, Role.PERSON]
    for cost in (store.cost_of("b0"), store.cost_of("epic"), store.cost_since(began)):
        assert text(cost) == "$1.50, 30k tokens, 1 min of agents"


def test_the_week_is_split_into_days_and_its_costliest_beads(store: Any, clock: Hand) -> None:
    clock.time = day_start(clock.time) + 3600.0
    works(store, clock, "other", "north", 9.0, 10)
    clock.time += 8 * DAY_SECONDS
    works(store, clock, "b0", "north", 1.0, 100)
    works(store, clock, "b1", "south", 3.0, 300)
    yesterday = day_start(clock.time)
    clock.time += DAY_SECONDS
    works(store, clock, "b1", "north", 0.5, 50)
    found = costs(store, Config())
    assert [(one.at, one.cost.usd, one.cost.tokens, one.cost.seconds) for one in found.days] == [
        (yesterday + DAY_SECONDS, 0.5, 50, 60.0), (yesterday, 4.0, 400, 120.0)]  # fmt: skip
    assert [(one.id, one.cost.usd) for one in found.beads] == [("b1", 3.5), ("b0", 1.0)]
    assert (found.week.usd, [one.provider for one in found.week.providers]) == (4.5, ["north", "south"])
    store.begin_feature(Feature("epic", "Shop", "Tea"))
    assert [(one.title, one.cost.usd) for one in costs(store, Config()).features] == [("Shop", 4.5)]
