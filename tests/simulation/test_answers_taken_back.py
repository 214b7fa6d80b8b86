"""A person takes an answer back at the very moment when an agent is to begin with it: it begins anew, without it."""

from collections.abc import Mapping
from typing import Any

import pytest

from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Kind
from tests.world.rates import Rates
from tests.world.world import World

SEEDS = (5, 2, 1, 7, 3, 4, 6, 8)
"""The first is one that brings it about, so that the everyday gates need no other."""


def test_whoever_was_about_to_begin_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert any(whether_some_began_anew(seed, monkeypatch) for seed in SEEDS)


@pytest.mark.ci
@pytest.mark.parametrize("seed", SEEDS[1:])
def test_nobody_begins_with_an_answer_that_was_taken_back(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    whether_some_began_anew(seed, monkeypatch)


def whether_some_began_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the world of this seed, where every answer is taken back that still may be, brought it about."""
    world = World(seed, rates=Rates(questions=3, people=0.5, crash=0.002))
    store = world.store
    journal = store.journal
    taken_back: list[int] = []
    anew: list[int] = []

    def with_a_person(attempt: int, data: Mapping[str, Any], answers: Mapping[int, str] | None = None) -> bool:
        for number in answers or ():
            try:
                store.take_back(number, "human")
            except NotAllowed:  # somebody has acted by it before
                continue
            taken_back.append(number)
        # somebody else may have taken one back at this moment, or has answered another way since
        stands = all(store.escalation(number).answer == said for number, said in (answers or {}).items())
        begun = journal(attempt, data, answers or {})
        assert begun is stands
        anew.extend([] if begun else [attempt])
        return begun

    monkeypatch.setattr(store, "journal", with_a_person)
    world.run()
    told = [event.data["escalation"] for event in store.events(0, 100_000) if event.kind is Kind.ANSWER_TAKEN_BACK]
    assert set(taken_back) <= set(told)
    return bool(anew and world.scene.given)
