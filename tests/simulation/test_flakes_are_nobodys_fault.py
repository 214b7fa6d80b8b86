"""Tests that fail by chance send no good change back, and what they did is in the ledger."""

import pytest

from nobrakes.beads.model import Outcome
from nobrakes.events.kinds import Kind
from nobrakes.review import queue
from tests.world.rates import Rates
from tests.world.sentback import Count, of_world, worlds
from tests.world.world import World


@pytest.mark.slow
def test_no_good_change_is_sent_back_where_one_run_in_twelve_fails_by_chance() -> None:
    """Three times in a row is one in 2,000; the whole measurement is `python -m tests.world --good 1000`."""
    *_, (_, count) = worlds(40, 1, Rates(flake=0.08), beads=16)
    assert count.good >= 40 and count.wrong > 1 and count.ledger > 1, count
    assert (count.sent_back, count.taken_back, count.asked) == (0, 0, 0), count


@pytest.mark.slow
def test_a_change_that_is_blamed_at_its_first_red_is_counted_as_wronged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "TIMES", 1)
    monkeypatch.setattr(queue, "CONFIRMING", 0)
    assert any(count.sent_back for _, count in worlds(40, 1, Rates(flake=0.2), beads=16))


@pytest.mark.ci
def test_a_bad_change_is_not_counted_as_good() -> None:
    blamed = 0
    for seed in range(50, 110):  # as many worlds as it takes until somebody is blamed
        world = World(seed, 6, Rates(fail=1.0, people=0, crash=0, trouble=0))
        world.run(60)
        assert of_world(world).sent_back == 0
        events = world.store.latest_events([Kind.REVIEW_REJECTED], limit=1000)
        blamed += sum(event.data["outcome"] == Outcome.FAILED_REVIEW for event in events)
        if blamed:
            break
    assert blamed
    assert Count(good=1) + Count(good=2, sent_back=1) == Count(good=3, sent_back=1)
