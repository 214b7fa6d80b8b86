"""Objects and refs vanish at any moment of a review, on real git: nothing is lost, nobody is blamed, nothing stands still."""

import random
import shutil
import subprocess
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from nobrakes.beads.model import Status
from nobrakes.review.service.merges import verify
from tests.support.crashed_review import READS, At, Reviews

WORKS = (("one", "src-one"), ("two", "bad-two"), ("three", "src-three"))
Act = Callable[[Reviews], None]


class Meddling(At):
    """Somebody does something at the given moments; None: at all of them."""

    def __init__(self, world: Reviews, act: Act, moments: Collection[int] | None) -> None:
        super().__init__(moments or ())
        self.world, self.act, self.always = world, act, moments is None

    def _perhaps(self, what: str) -> None:
        if what.rpartition(".")[2] in READS:
            return
        self.moment += 1
        self.names.append(what)
        if self.moment in self.moments or self.always:
            self.act(self.world)


def prune(world: Reviews) -> None:
    world.sh("git", "prune", "--expire=now")


def collect(world: Reviews) -> None:
    world.sh("git", "reflog", "expire", "--all", "--expire=now")
    world.sh("git", "gc", "-q", "--prune=now")


def repack(world: Reviews) -> None:
    world.sh("git", "repack", "-q", "-a", "-d")
    world.sh("git", "prune-packed", "-q")
    prune(world)


def without(*names: str) -> Act:
    """The refs with these names are removed, and what only they held, in packs that nobrakes holds too."""

    def act(world: Reviews) -> None:
        for ref in world.sh("git", "for-each-ref", "--format=%(refname)", "refs/nobrakes").split():
            if ref.split("/")[2] in names:
                world.sh("git", "update-ref", "-d", ref)
        for held in (world.folder / ".git" / "objects" / "pack").glob("*.keep"):
            held.unlink()
        repack(world)

    return act


def reviewed(folder: Path, act: Act, moments: Collection[int] | None = (), **review: object) -> Reviews:
    world = Reviews(folder, main_check_hours=0, validators=2, **review)
    world.hand_in(*WORKS)
    world.dice = Meddling(world, act, moments)
    world.review()
    return world


@pytest.mark.parametrize(
    "act",
    [prune, pytest.param(collect, marks=pytest.mark.night), pytest.param(repack, marks=pytest.mark.night)],
    ids=lambda act: act.__name__,
)
def test_whoever_prunes_all_the_time_holds_nothing_up(tmp_path: Path, act: Act) -> None:
    world = reviewed(tmp_path, act, None)
    world.assert_sound(good=("one", "three"), bad=("two",))
    assert world.refs("candidate") == [], "what is over is not kept"


@pytest.mark.slow
@pytest.mark.parametrize("merge", ["squash", "rebase"])
@pytest.mark.parametrize("names", [("candidate",), ("candidate", "incoming", "start")], ids=["candidate", "head"])
def test_what_vanishes_at_any_moment_is_built_again(tmp_path: Path, names: tuple[str, ...], merge: str) -> None:
    plain = reviewed(tmp_path / "plain", prune, (), merge=merge)
    for moment in random.Random(1).sample(range(1, plain.dice.moment + 1), 2):
        world = reviewed(tmp_path / str(moment), without(*names), {moment}, merge=merge)
        world.assert_sound(good=("one", "three"), bad=("two",))
        shutil.rmtree(tmp_path / str(moment))


def test_work_that_is_nowhere_any_more_goes_back_to_a_doer_and_is_not_blamed(tmp_path: Path) -> None:
    def gone(world: Reviews) -> None:
        shutil.rmtree(world.folder / ".nobrakes" / "workspaces" / "one", ignore_errors=True)
        without("candidate", "incoming", "start")(world)

    plain = reviewed(tmp_path / "plain", prune)
    begun = next(number for number, name in enumerate(plain.dice.names, 1) if name == "after store.journal")
    world = reviewed(tmp_path / "gone", gone, {begun})
    store = world._store()
    try:
        assert store.bead("one").status is Status.NEEDS_DOER and store.bead("one").failures == 0
        assert store.bead("three").status is Status.DONE
    finally:
        store.close()
    assert world.landed() == ["three"]


def test_records_that_are_gone_hold_no_merge_up_and_verify_says_so(tmp_path: Path) -> None:
    world = Reviews(tmp_path, main_check_hours=0)
    world.hand_in(WORKS[0])
    world.review()
    gone = world.sh("git", "rev-parse", "refs/nobrakes/evidence").strip()
    world.sh("git", "repack", "-q", "-a", "-d", "-k")
    for pack in [*(world.folder / ".git" / "objects" / "pack").iterdir()]:
        pack.rename(tmp_path / pack.name)
    for pack in tmp_path.glob("*.pack"):
        subprocess.run(["git", "unpack-objects", "-q"], cwd=world.folder, check=True, stdin=pack.open())
    (world.folder / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    world.hand_in(WORKS[2])
    world.review()
    store, git = world._store(), world._git()
    try:
        assert world.landed() == ["one", "three"] and store.bead("three").status is Status.DONE
        wrong = {(one.bead, one.text.partition(",")[0]) for one in verify(git).wrong}
        assert (
            "three",
            "records were rewritten or removed: the last record at this commit",
        ) in wrong
        assert {bead for bead, _ in wrong} == {"one", "three"} and git.broken_refs(in_depth=True) == []
    finally:
        store.close()
        git.close()


def test_what_vanishes_again_and_again_is_a_persons_matter(tmp_path: Path) -> None:
    world = reviewed(tmp_path, without("candidate"), None)
    store = world._store()
    try:
        told = [one for one in store.escalations() if one.bead == "one"]
        assert [one.type.value for one in told] == ["broken_environment"]
        assert store.bead("one").failures == 0
    finally:
        store.close()
