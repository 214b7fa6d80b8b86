"""Git's hooks of a workspace: an aid for agents, which keeps them on their branch, and no proof of anything."""

import os
import subprocess
from pathlib import Path

import pytest
from git_worlds import bead, sh

from nobrakes.beads.branches import branch_of
from nobrakes.host import command
from nobrakes.paths import HOOKS, Paths


@pytest.fixture
def left(world, begin):
    folder = Path(world.workspace_path(bead())).parent.parent
    command.install(Paths(str(folder)))
    it = begin()
    clone = Path(world.workspace_path(it))
    hooks = sorted((clone / ".git" / "hooks").iterdir())
    assert [hook.name for hook in hooks] == sorted(HOOKS) and all(os.access(hook, os.X_OK) for hook in hooks)
    (clone / "file").write_text("x")
    assert git(clone, it, "add", "-A").returncode == 0 == git(clone, it, "commit", "-qm", "one").returncode
    return it, clone


def git(clone, it, *argv, branch=True):
    """As an agent would."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GIT_", "NOBRAKES_"))}
    clean |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_EDITOR": "true", "LC_ALL": "C"}
    clean |= {"NOBRAKES_BRANCH": branch_of(it)} if branch else {}
    return subprocess.run(["git", *argv], cwd=clone, env=clean, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "words",
    [
        "checkout -q -b mine",
        "branch mine",
        "branch -m mine",
        "tag v1",
        "checkout -q --detach",
        "update-ref refs/heads/main HEAD",
        "update-ref refs/nobrakes/x HEAD",
        "notes add -m x",
        "worktree add -q ../beside",
        "rebase --no-ff HEAD~1",
        "push . HEAD:refs/heads/main",
    ],
)
def test_other_refs_are_refused_with_what_to_do_instead(left, words):
    it, clone = left
    before = sh(clone, "git", "for-each-ref"), sh(clone, "git", "symbolic-ref", "HEAD")
    done = git(clone, it, *words.split())
    assert done.returncode != 0 and "nobrakes: " in done.stderr and branch_of(it) in done.stderr
    assert before == (sh(clone, "git", "for-each-ref"), sh(clone, "git", "symbolic-ref", "HEAD"))


def test_work_on_the_own_branch_is_let_alone(left):
    it, clone = left
    (clone / "file").write_text("y")
    for words in (
        "stash", "stash pop", "commit -qam two", "commit -q --amend -m more", "reset -q --soft HEAD~1",
        "commit -qm again", "revert --no-edit HEAD", "cherry-pick --allow-empty HEAD~1", "reset -q --hard HEAD",
        "pack-refs --all", "gc -q", "commit -q --allow-empty -m last",
    ):  # fmt: skip
        done = git(clone, it, *words.split())
        assert done.returncode == 0, (words, done.stderr)
    assert sh(clone, "git", "symbolic-ref", "HEAD").strip() == f"refs/heads/{branch_of(it)}"


def test_a_person_who_looks_into_it_is_let_alone(left):
    it, clone = left
    assert git(clone, it, "checkout", "-q", "-b", "mine", branch=False).returncode == 0


def test_who_goes_round_the_hooks_gains_nothing_and_the_next_worker_has_them(world, left):
    it, clone = left
    work = sh(clone, "git", "rev-parse", "HEAD").strip()
    assert git(clone, it, "-c", "core.hooksPath=/dev/null", "update-ref", "refs/heads/main", "HEAD").returncode == 0
    assert git(clone, it, "config", "core.hooksPath", "/dev/null").returncode == 0
    assert git(clone, it, "tag", "v1").returncode == 0
    main = world.git.main()
    assert world.git.fetch_work(it, 1) == work and world.git.main() == main
    world.prepare(world.git.workspace(it, main, "Bea").prologue)
    assert git(clone, it, "tag", "v2").returncode != 0


def test_hooks_of_a_set_up_go_on_beside_them_and_ours_come_back(world, left):
    it, clone = left
    hooks = clone / ".git" / "hooks"
    (hooks / "pre-commit").write_text("#!/bin/sh\necho checked >&2\n")
    (hooks / "pre-commit").chmod(0o755)
    (hooks / "reference-transaction").unlink()
    world.prepare(world.git.workspace(it, world.git.main(), "Bea").prologue)
    done = git(clone, it, "commit", "-q", "--allow-empty", "-m", "two")
    assert done.returncode == 0 and done.stderr == "checked\n"
    assert git(clone, it, "tag", "v1").returncode != 0


def test_a_folder_of_hooks_that_is_a_link_is_not_written_through(world, left, tmp_path):
    it, clone = left
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    hooks = clone / ".git" / "hooks"
    hooks.rename(tmp_path / "before")
    hooks.symlink_to(elsewhere)
    world.prepare(world.git.workspace(it, world.git.main(), "Bea").prologue)
    assert [*elsewhere.iterdir()] == [] and git(clone, it, "tag", "v1").returncode != 0
