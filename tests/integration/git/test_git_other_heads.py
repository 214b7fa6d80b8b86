"""Clones that a killed or clumsy agent left: locks of git, commits with a detached HEAD or on another branch."""

from pathlib import Path

import pytest
from git_worlds import sh

from nobrakes.beads.branches import branch_of


@pytest.fixture
def left(world, begin):
    it = begin()
    return it, Path(world.workspace_path(it))


def commit(clone: Path, name: str) -> str:
    (clone / name).write_text(name)
    sh(clone, "git", "add", "-A")
    sh(clone, "git", "-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", name)
    return sh(clone, "git", "rev-parse", "HEAD").strip()


LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "shallow.lock", "refs/heads/{}.lock")


def test_the_locks_of_killed_git_commands_do_not_stop_the_next_worker(world, left):
    it, clone = left
    for name in LOCKS:
        (clone / ".git" / name.format(branch_of(it))).write_text("")
    world.prepare(world.git.workspace(it, world.git.main(), "Bea").prologue)
    made = commit(clone, "more")
    sh(clone, "git", "pack-refs", "--all")
    assert world.git.fetch_work(it, 2) == made


@pytest.mark.parametrize("where", [["--detach"], ["-b", "mine"]])
def test_commits_on_top_of_the_branch_are_taken_in_whatever_head_is(world, left, where):
    it, clone = left
    commit(clone, "one")
    sh(clone, "git", "checkout", "-q", *where)
    made = commit(clone, "two")
    assert world.git.fetch_work(it, 1) == made
    world.prepare(world.git.workspace(it, world.git.main(), "Bea").prologue)
    assert sh(clone, "git", "symbolic-ref", "HEAD").strip() == f"refs/heads/{branch_of(it)}"
    assert sh(clone, "git", "rev-parse", "HEAD").strip() == made and sh(clone, "git", "status", "--porcelain") == ""
    world.git.retire(it, 1)
    assert made in dict(world.git.archived(it.id)).values()


def test_commits_beside_the_branch_are_archived_and_not_taken(world, left):
    it, clone = left
    sh(clone, "git", "checkout", "-q", "--detach")
    beside = commit(clone, "beside")
    sh(clone, "git", "checkout", "-q", branch_of(it))
    branch = commit(clone, "one")
    sh(clone, "git", "checkout", "-q", "--detach", beside)
    assert world.git.fetch_work(it, 1) == branch
    assert (f"refs/nobrakes/archive/{it.id}/1-head", beside) in world.git.archived(it.id)
    world.git.retire(it, 1)
    assert {branch, beside} <= set(dict(world.git.archived(it.id)).values())
