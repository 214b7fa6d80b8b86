"""The rollback of a feature under the daemon, on a real store: built once, never over a person's work, and followed to its end."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, Status, handed_back, taken
from nobrakes.beads.proposals import ByHand, Merged
from nobrakes.config.settings import Config
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import GitFailed, NotAllowed
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.actions import About, DropRollback, FinishRollback, TakeBack
from nobrakes.features.model import Feature, Stage, State
from nobrakes.features.planning import AGAIN, LEAVE
from nobrakes.features.service import rollback
from nobrakes.features.service.shaping import Words
from nobrakes.features.worker.forge import Forge
from nobrakes.features.worker.shapers import board_of
from nobrakes.git.port import Candidate, Conflict, Made
from nobrakes.paths import Paths
from nobrakes.store import Store, open_memory
from tests.world.clock import FakeClock


class Main:
    """A main with one merge, and what reverting it comes to."""

    def __init__(self) -> None:
        self.reverted: Candidate | Conflict = Candidate("revert", "tree-of-before")
        self.fails: str = ""
        self.meanwhile: Any = lambda: None
        self.pins: dict[str, str | None] = {}

    def main(self) -> str:
        if self.fails:
            raise GitFailed(self.fails)
        return "c-one"

    def tree(self, commit: str) -> str:
        return "tree"

    def has(self, commit: str) -> bool:
        return True

    def off_main(self, commits: list[str]) -> frozenset[str]:
        return frozenset()

    def line(self, tip: str, since: str) -> tuple[Made, ...]:
        return (Made("c-one", "", (), "", ""),)

    def squash(self, base: str, commit: str, message: object) -> Candidate:
        return Candidate(commit, "tree")

    def revert(self, commit: str, onto: str, message: object) -> Candidate | Conflict:
        self.meanwhile()
        return self.reverted

    def pin(self, name: str, commit: str | None) -> None:
        self.pins[name] = commit


class World:
    """A feature with one merged bead, and its rollback begun."""

    def __init__(self, store: Store, paths: Paths) -> None:
        self.store, self.git = store, Main()
        store.put([Bead("login", "Login", type=BeadType.EPIC, status=Status.OPEN)], [], "me")
        store.begin_feature(Feature("login", "Login", "In.", base="c0de", stage=Stage.IMPLEMENTATION))
        store.put([Bead("one", "One", epic="login", needs_tests=False, status=Status.NEEDS_DOER)], [], "me")
        store.record(Event(Kind.FOUND_MERGED, "one", data={"merged_commit": "c-one", "base": "c0de"}))
        git: Any = self.git
        self.bead = rollback.begin(store, git, paths, "login", "ada").bead
        ports: Any = SimpleNamespace(store=store, git=git, words=lambda: Words(store), config=Config)
        self.forge = Forge(ports)

    def does(self, action: Any) -> bool:
        return self.forge.perform(action)

    def conflicts(self) -> bool:
        """Whether the Forge sees that what it built does not fit main any more."""
        ports: Any = SimpleNamespace(store=self.store, config=lambda: SimpleNamespace(forge={}))
        board: Any = SimpleNamespace(now=0.0, paused=False, stopping=False)
        seen = board_of(ports, board, ports.store.features())
        assert seen is not None and seen.standings[0].rolling is not None
        return seen.standings[0].rolling.conflicts

    def asked(self) -> list[str]:
        return [one.title for one in self.store.escalations() if one.bead is None]

    def state(self) -> tuple[State, str, str]:
        one, bead = self.store.bead("one"), self.store.bead(self.bead)
        return self.store.feature("login").state, one.status.value, bead.status.value


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(open_memory(FakeClock(1000.0).now), Paths(str(tmp_path)))


OVER = State.ROLLED_BACK, "cancelled"
KEPT = "archive/one/reverted-c-one"


def test_it_is_built_and_handed_in_and_built_again_only_while_that_is_its_own(world: World) -> None:
    assert world.does(TakeBack("login")) and not world.does(TakeBack("login"))
    bead, store = world.store.bead(world.bead), world.store
    assert bead.status is Status.NEEDS_REVIEW and world.git.pins == {f"incoming/{bead.id}/{bead.fence}": "revert"}
    apart = NewEscalation(EscalationType.CONFLICT, "apart")
    store.escalate(apart, bead.id, None, "nobrakes")
    assert world.conflicts()
    mine = Merged("one", "c-one", "c0de")
    store.hand_in(ByHand(bead.id, "ada", bead.fence + 1, "mine", "c-one", takes_back=(mine,)))
    store.escalate(apart, bead.id, None, "nobrakes")
    assert not world.conflicts(), "what a person handed in is not built over"


def test_who_took_it_in_hand_while_it_was_built_keeps_it(world: World) -> None:
    hold = Event(Kind.HELD, world.bead, actor="ada", data={"reason": taken("ada", "/w/one")})
    world.git.meanwhile = lambda: world.store.record(hold)
    for reverted in (Candidate("revert", "other"), Candidate("revert", "tree"), Conflict(("src/one",))):
        world.git.reverted = reverted
        assert not world.does(TakeBack("login"))
        world.store.record(Event(Kind.RELEASED, world.bead))
    assert world.state() == (State.PAUSED, "done", "needs_doer") and not world.asked() and not world.git.pins


def test_where_nothing_is_left_it_is_over_and_what_was_taken_back_is_kept(world: World) -> None:
    world.git.reverted = Candidate("revert", "tree")
    assert world.does(TakeBack("login")) and not world.does(TakeBack("login"))
    assert world.state() == (*OVER, "cancelled") and world.git.pins == {KEPT: "c-one"}


@pytest.mark.parametrize("how", [Kind.DONE_BY_HAND, Kind.FOUND_MERGED])
def test_after_a_mend_by_hand_its_beads_are_off_main_too(world: World, how: Kind) -> None:
    world.git.reverted = Conflict(())
    assert world.does(TakeBack("login")) and "conflicts with later work in its history" in world.asked()[0]
    world.store.record(Event(how, world.bead, actor="ada", data={"merged_commit": "mended"}))
    assert world.does(FinishRollback("login")) and not world.does(FinishRollback("login"))
    assert world.state() == (*OVER, "done") and world.git.pins == {KEPT: "c-one"}
    assert not world.asked(), "the question is settled"
    (told,) = [one for one in world.store.events(0, 500) if one.kind is Kind.REVERTED]
    assert told.data["revert"] == ("mended" if how is Kind.FOUND_MERGED else "c-one")


def test_it_is_off_with_its_bead_and_by_the_answer_and_a_late_answer_does_nothing(world: World) -> None:
    world.git.reverted = Conflict(("src/one",))
    assert world.does(TakeBack("login"))
    back = handed_back("ada", "red")
    world.store.record(Event(Kind.HELD, world.bead, actor="ada", data={"reason": back}))
    world.forge.rollbacks.answered(world.store.feature("login"), AGAIN)
    assert world.store.bead(world.bead).held != back, "it is built anew"
    world.store.record(Event(Kind.CANCELLED, world.bead, actor="ada"))
    for chosen in (AGAIN, LEAVE):
        world.forge.rollbacks.answered(world.store.feature("login"), chosen)
        assert "rollback" in world.store.feature("login").data, "the bead's end says it"
    assert world.does(DropRollback("login", "enough")) and not world.does(DropRollback("login", "enough"))
    assert not world.asked() and "rollback" not in world.store.feature("login").data


def test_what_is_left_on_main_by_an_answer_stays(world: World) -> None:
    world.forge.rollbacks.answered(world.store.feature("login"), LEAVE)
    assert world.state() == (State.PAUSED, "done", "cancelled")
    assert "rollback" not in world.store.feature("login").data


def test_what_git_refuses_is_asked_about_once_and_nothing_stays_of_it(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.git.fails = "the disk is gone"
    assert world.does(TakeBack("login")) and not world.does(TakeBack("login"))
    assert world.asked() == ["Feature login is not rolled back: the disk is gone"]
    assert About.ROLLBACK.value in world.store.feature("login").data["asked"]
    world.git.fails = ""

    def refuses(work: ByHand) -> None:
        raise NotAllowed("not now")

    with monkeypatch.context() as late:
        late.setattr(world.store, "hand_in", refuses)
        assert not world.does(TakeBack("login"))
    assert set(world.git.pins.values()) == {None} and len(world.asked()) == 1
    world.store.record(Event(Kind.DONE_BY_HAND, world.bead, actor="ada"))
    world.git.fails = "the disk is gone"
    assert not world.does(FinishRollback("login")) and world.state()[0] is State.PAUSED
    world.git.fails = ""
    assert world.does(FinishRollback("login")) and world.state() == (*OVER, "done") and not world.asked()
