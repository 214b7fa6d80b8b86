"""A checkout comes to main, or leaves it, while main moves: their next plain commit takes no merge back.

Each arrival happens right before and right after every git command that the landing asks for, whichever these are.
"""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from git_worlds import ME, RealWorld, message, sh, write

from nobrakes.git import command_line
from nobrakes.git.repository import Repository
from nobrakes.review.waits import Land, Landing

WORK = {"src/app.py": "one = 2\n", "src/new.py": "new\n", "old": None}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RealWorld]:
    made = RealWorld(tmp_path, checked_out=True)
    write(made.root, {"old": "old\n", "mine": "mine\n"})
    made.sh("git", "add", "-A")
    made.sh("git", "commit", "-qm", "more", env=ME)
    yield made
    made.close()


def candidate(world: RealWorld, name: str = "login", files=None) -> tuple[str, str]:
    """(new, old)"""
    old = world.git.main()
    return world.git.squash(old, world.commit_in_workspace_of(name, files or WORK), message(name)).commit, old


class Typing:
    """A person who types something right before or right after the n-th git command of a landing."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, types: str, root: Path) -> None:
        self.types, self.root = types, root
        self.at: tuple[int, str] | None = None
        self.number = 0
        self.refused = False
        real = command_line.run

        def run(arguments, **options):
            self.number += 1
            number = self.number
            self._perhaps(number, "before")
            answer = real(arguments, **options)
            self._perhaps(number, "after")
            return answer

        monkeypatch.setattr(command_line, "run", run)

    def _perhaps(self, number: int, side: str) -> None:
        if self.at == (number, side):
            self.at = None
            self.refused = self.type() != 0

    def type(self) -> int:
        return subprocess.run(["sh", "-c", self.types], cwd=self.root, capture_output=True, check=False).returncode

    def land(self, world: RealWorld, new: str, old: str, at: tuple[int, str]) -> Land:
        self.number, self.at, self.refused = 0, at, False
        return world.git.land(new, old)


LEAVES = "git checkout -q -b theirs"
ARRIVALS = {
    "checkout": (LEAVES, "git checkout -q main", "."),
    "switch": (LEAVES, "git switch -q main", "."),
    "worktree": (LEAVES, "git worktree add -q ../other main", "../other"),
    "linked": (f"{LEAVES}; git worktree add -q ../other -b otherwise", "git -C ../other switch -q main", "../other"),
    "detach": ("true", "git switch -q --detach", "."),
    "branch": ("true", "git checkout -q -b elsewhere", "."),
    "stash": ("echo edited >mine", "git stash -q", "."),
    "gc": ("true", "git gc -q --prune=now", "."),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ARRIVALS)
def test_who_comes_or_goes_at_any_git_command_takes_nothing_back(tmp_path, monkeypatch, name):
    first, types, where = ARRIVALS[name]
    number, most = 1, 1
    while number <= most:
        for side in ("before", "after"):
            folder = tmp_path / f"{number}{side}"
            folder.mkdir()
            made = RealWorld(folder, checked_out=True)
            write(made.root, {"old": "old\n", "mine": "mine\n"})
            made.sh("git", "add", "-A")
            made.sh("git", "commit", "-qm", "more", env=ME)
            made.sh("sh", "-c", first)
            new, old = candidate(made)
            made.git.pin("candidate/login", new)
            with monkeypatch.context() as patch:
                typing = Typing(patch, types, made.root)
                land = typing.land(made, new, old, (number, side))
                most = max(most, typing.number)
            moment = f"{name} {side} command {number}"
            assert land.landing is Landing.MOVED or "another git command" in land.reason, moment
            if typing.refused or typing.at is not None:
                assert typing.type() == 0
            assert made.git.land(new, old).landing is Landing.MOVED
            assert made.git.bring_along() == () and made.git.behind() == (), moment
            root = made.root / where
            assert sh(root, "git", "status", "--porcelain") == "", moment
            write(root, {"last": "last\n"})
            sh(root, "git", "add", "last")
            sh(root, "git", "commit", "-qm", "mine", env=ME)
            assert sh(root, "git", "show", "--name-only", "--format=", "HEAD").split() == ["last"], moment
            made.close()
        number += 1
    assert most > 1


def test_a_checkout_whose_head_follows_only_after_main_has_moved(world):
    """git writes the index first and HEAD last: what its log of HEAD says then is where main is by now."""
    world.sh("git", "checkout", "-q", "-b", "theirs")
    new, old = candidate(world)
    hook = world.root / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\nrm $0\ngit update-ref -m 'nobrakes: merge' refs/heads/main {new} {old}\n")
    hook.chmod(0o755)
    world.sh("git", "checkout", "-q", "main")
    assert not hook.exists() and world.git.main() == new
    assert world.sh("git", "status", "--porcelain") != ""
    (told,) = world.git.behind()
    assert str(world.root) in told
    assert world.git.bring_along() == ()
    assert world.sh("git", "status", "--porcelain") == ""


@pytest.mark.parametrize("log", ["true", "false"])
@pytest.mark.parametrize("note", [True, False])
def test_a_checkout_that_comes_late_is_brought_along_by_the_next_look(world, log, note):
    if note:
        assert world.git.land(*candidate(world, "first", {"first": "first\n"})).landing is Landing.MOVED
    world.sh("git", "config", "core.logAllRefUpdates", log)
    world.sh("git", "checkout", "-q", "-b", "theirs")
    if note:
        assert world.git.land(*candidate(world, "second", {"first": "second\n"})).landing is Landing.MOVED
    world.sh("git", "checkout", "-q", "main")
    new, old = candidate(world)
    world.sh("git", "update-ref", "-m", "nobrakes: merge", "refs/heads/main", new, old)
    assert len(world.git.behind()) == 1
    assert world.git.bring_along() == () and world.git.behind() == ()
    assert world.sh("git", "status", "--porcelain") == ""


@pytest.mark.parametrize("begins", [True, False], ids=["before-the-start", "while-it-works"])
def test_a_checkout_of_a_repository_that_is_bare_by_accident_comes_along_and_is_told_of(world, begins):
    new, old = candidate(world)
    if not begins:
        assert world.git.behind() == ()
    world.sh("git", "config", "core.bare", "true")
    if begins:
        world.git.close()
        world.git = Repository(world.paths, "main")
    assert world.git.land(new, old).landing is Landing.MOVED
    (told,) = world.git.behind()
    assert "core.bare" in told and str(world.root) in told
    world.sh("git", "config", "core.bare", "false")
    assert world.git.behind() == () and world.sh("git", "status", "--porcelain") == ""


def test_what_a_commit_changed_is_told_with_what_it_was(world):
    new, old = candidate(world)
    assert world.git.land(new, old).landing is Landing.MOVED
    found = {path: (was.split()[0], is_.split()[0]) for path, was, is_ in world.git.moves(new)}
    assert found == {
        "old": ("100644", "000000"), "src/app.py": ("100644", "100644"), "src/new.py": ("000000", "100644"),
    }  # fmt: skip


def test_a_late_checkout_with_edits_in_the_way_is_told_of_and_kept(world):
    world.sh("git", "checkout", "-q", "-b", "theirs")
    world.sh("git", "checkout", "-q", "main")
    new, old = candidate(world)
    world.sh("git", "update-ref", "-m", "nobrakes: merge", "refs/heads/main", new, old)
    write(world.root, {"src/app.py": "theirs\n"})
    (told,) = world.git.bring_along()
    assert str(world.root) in told and "Do not commit on main there" in told
    assert "Commit or stash" not in told and "git stash" not in told
    assert (world.root / "src" / "app.py").read_text() == "theirs\n"


def test_a_person_who_stages_what_was_before_is_not_overtaken(world):
    new, old = candidate(world)
    assert world.git.land(new, old).landing is Landing.MOVED
    world.sh("git", "checkout", "-q", old, "--", "src/app.py")
    staged = world.sh("git", "status", "--porcelain")
    assert world.git.bring_along() == () and world.git.behind() == ()
    assert world.sh("git", "status", "--porcelain") == staged
