"""Worlds with channels that are slow, refuse or are dead, while the daemon dies: the promises about notices mean something."""

from dataclasses import replace

import pytest

from nobrakes.notices.model import DeliveryState, NoticeKind
from tests.world.noticing import Noticing
from tests.world.rates import Rates
from tests.world.undoing import some_have_it
from tests.world.world import World

SEEDS = [seed for seed in range(120) if some_have_it(seed, "notices")]


def told(seed: int, rates: Rates, only: str = "") -> Noticing:
    world = World(seed, rates=rates, only=only)
    world.run()
    assert world.noticing is not None
    return world.noticing


@pytest.mark.ci
def test_what_happened_was_sent_and_a_death_repeats_it_at_most() -> None:
    noticing = told(SEEDS[0], replace(Rates(), crash=0.005))
    found = noticing.store.deliveries(99_999)
    assert {one.state for one in found} <= set(DeliveryState) - {DeliveryState.DUE}
    assert noticing.channels.taken and noticing.channels.life


@pytest.mark.slow
def test_everything_that_may_become_of_a_notice_becomes_of_some() -> None:
    states, kinds, repeated, reminded = set(), set(), 0, 0
    for seed in SEEDS[:14]:
        noticing = told(seed, Rates(), "what_people_should_know_was_sent")
        taken = [one.delivery for one in noticing.channels.taken]
        repeated += len(taken) - len(set(taken))
        found = noticing.store.deliveries(99_999)
        states |= {one.state for one in found}
        kinds |= {one.notice.kind for one in found}
        reminded += sum(one.notice.text.startswith("still open: ") for one in found)
    assert states == set(DeliveryState) - {DeliveryState.DUE}
    assert {NoticeKind.MERGED, NoticeKind.ESCALATION, NoticeKind.DIGEST, NoticeKind.PROVIDER_REFUSES} <= kinds
    assert repeated and reminded
