"""Whole simulated daemons whose work lands by requests: people at the host, outages, force-pushes, other people's merges,
and a daemon that dies at any call to the host. Planted bugs show that it would be seen.
"""

from collections.abc import Collection
from dataclasses import replace

import pytest

from nobrakes.requests import model as requests_model
from nobrakes.requests.model import PullRequest, Seen, Turn
from nobrakes.requests.worker import exchange as exchanging
from nobrakes.requests.worker import request_step
from nobrakes.review.waits import Land
from nobrakes.review.worker.main_checks import RemoteMain
from tests.support.dose import each_dosed, everyday
from tests.world.fake_code_host import FakeCodeHost
from tests.world.rates import Rates
from tests.world.requested import MAIN, RequestedFakeGit
from tests.world.world import Broken, World

RATES = Rates(requests=1.0)


@pytest.mark.parametrize("seed", each_dosed("worlds by requests", range(60), 6))
def test_every_promise_is_kept(seed: int) -> None:
    World(seed, rates=RATES).run()


@pytest.mark.ci
@pytest.mark.parametrize("rates", [replace(RATES, hands=1.0), replace(RATES, readings=1.0)], ids=["hands", "readings"])
def test_quiet_hours_end_while_a_request_is_looked_at(rates: Rates) -> None:
    """The request of a bead that waits for a person is looked at each minute, and notices wait for 23 hours."""
    world = World(69, rates=rates)
    world.run()
    assert world.noticing is not None and world.noticing.settings.quiet_hours == "06:00-05:00"


@pytest.mark.ci
def test_people_merge_there_and_other_things_happen() -> None:
    """The stories of some seeds have what these worlds are for."""
    worlds = [World(seed, rates=RATES) for seed in range(4, 9)]
    for world in worlds:
        world.run()
        assert world.scene.requested is not None and world.git.landings == []
    told = "\n".join(line for world in worlds for line in world.log)
    for words in ("merged #", "somebody merged", "CRASH at host.", "pull_opened"):
        assert words in told, words
    assert [bead for world in worlds for bead in world.scene.beads if bead.merged_commit]


def test_a_world_without_them_has_no_host() -> None:
    assert World(2).scene.requested is None and "--requests" not in World(2).replay


def done_early(patch: pytest.MonkeyPatch) -> None:
    def turn(seen: Seen, pull: PullRequest) -> Turn:
        return Turn.MERGED if seen.checks or seen.told is not None else Turn.WAIT

    patch.setattr(requests_model, "turn", turn)
    patch.setattr(request_step, "is_on_main", lambda git, commit: True)


def a_second_one(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(exchanging, "_found", lambda order, ports: None)
    real = FakeCodeHost.open

    def open_(self: FakeCodeHost, wanted: object) -> object:
        hidden, self.requests = self.requests, []
        try:
            told = real(self, wanted)  # type: ignore[arg-type]
        finally:
            made, self.requests = self.requests, hidden
            for one in made:
                one.number = len(hidden) + 1
                hidden.append(one)
        return replace(told, number=len(hidden))

    patch.setattr(FakeCodeHost, "open", open_)  # a host that would let it


def main_is_pushed(patch: pytest.MonkeyPatch) -> None:
    real = RequestedFakeGit.publish

    def publish(self: RequestedFakeGit, branch: str, commit: str, ours: Collection[str]) -> Land:
        said = real(self, branch, commit, ours)
        self.host.branches[MAIN] = self.host.branches[branch]
        return said

    patch.setattr(RequestedFakeGit, "publish", publish)


@pytest.mark.parametrize("bug", everyday(ci=[done_early, a_second_one, main_is_pushed]))
def test_a_planted_bug_is_seen(bug: object, monkeypatch: pytest.MonkeyPatch) -> None:
    bug(monkeypatch)  # type: ignore[operator]
    names = {
        "done_early": "done_is_merged_by_people",
        "a_second_one": "a_bead_has_one_open_request",
        "main_is_pushed": "main_moves_by_people_alone",
    }
    only = names[bug.__name__]  # type: ignore[attr-defined]
    with pytest.raises(Broken, match=only):
        for seed in range(20):
            World(seed, rates=RATES, only=only).run()


@pytest.mark.slow
def test_a_red_main_that_nobody_asks_about_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """In some worlds people break main, and mend it when reviews wait for that."""
    monkeypatch.setattr(RemoteMain, "turn", lambda self, board, is_red: False)
    told = ""
    for seed in range(400, 465):  # which of them tells it changes with the program
        try:
            World(seed, rates=Rates(requests=1.0, people=0.1, crash=0.001, machine=0.0)).run()
        except Broken as error:
            told = str(error)
        if "never settles" in told:
            break
    assert "never settles" in told
