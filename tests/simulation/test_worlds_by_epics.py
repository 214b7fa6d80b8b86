"""Whole simulated daemons where people merge epics as a whole: beads land on the branch of their epic, and are done when
the epic's request is merged. People ask for changes, push to it by force, close it, and merge while more lands.
"""

import pytest

from nobrakes.requests.worker import request_step
from tests.support.dose import each_dosed
from tests.world.rates import Rates
from tests.world.world import Broken, World

RATES = Rates(requests=1.0, epics=1.0)


@pytest.mark.parametrize("seed", each_dosed("worlds by epics", range(60), 8))
def test_every_promise_is_kept(seed: int) -> None:
    World(seed, rates=RATES).run()


@pytest.mark.ci
def test_people_merge_epics_there() -> None:
    """The stories of some seeds have what these worlds are for."""
    worlds = [World(seed, rates=RATES) for seed in range(24, 29)]
    for world in worlds:
        world.run()
        assert world.git.landings == [] and "--epics 1" in world.replay
    told = "\n".join(line for world in worlds for line in world.log)
    for words in ("landed b", "epic_landed", "merged #", "found_merged b", "CRASH at host.", "review_rejected b"):
        assert words in told, words
    assert [bead for world in worlds for bead in world.scene.beads if bead.merged_commit and bead.epic]


def test_a_world_without_them_has_no_epics_of_its_own() -> None:
    assert World(2, rates=Rates(requests=1.0)).config.review.unit == "bead" and "--epics" not in World(2).replay


KEPT_BACK = 7
"""A seed in which features keep back what has passed."""


@pytest.mark.ci
def test_some_worlds_have_features_with_settings_of_their_own_and_a_person_says_what_is_pushed() -> None:
    world = World(KEPT_BACK, rates=RATES)
    assert any(one.push is False for one in world.config.review.features.values())
    world.run()
    assert any("push_allowed" in line for line in world.log), "and every promise was kept"


@pytest.mark.ci
def test_a_push_without_a_word_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(request_step, "why_not", lambda *_: "")
    with pytest.raises(Broken, match="nothing_is_pushed_without_a_word"):
        World(KEPT_BACK, rates=RATES, only="nothing_is_pushed_without_a_word").run()


@pytest.mark.ci
@pytest.mark.parametrize("seed", [33, 94], ids=["checks that cannot run once it landed", "a stop after people merged"])
def test_what_once_broke_a_promise_keeps_it(seed: int) -> None:
    World(seed, rates=RATES).run()
