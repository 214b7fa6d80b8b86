"""Which worktree has a branch checked out: one rule, for main, for what people take and for what is handed back."""

from pathlib import Path

from git_worlds import ME, RealWorld, sh, write

from nobrakes.git.landing import standing
from nobrakes.git.persons import Persons
from nobrakes.git.workspaces.make import RelayClones


def test_a_branch_that_is_rebased_just_now_is_checked_out(world: RealWorld, tmp_path: Path) -> None:
    root, linked, ref = str(world.root), tmp_path / "linked", "refs/heads/relay/1"
    persons, clones = Persons(root, "main"), RelayClones(root, str(tmp_path / "clones"))
    world.sh("git", "worktree", "add", "-q", "-b", "relay/1", str(linked))
    write(linked, {"mine": "more\n"})
    sh(linked, "git", "add", "-A")
    sh(linked, "git", "commit", "-qm", "more", env=ME)
    sh(linked, "git", "rebase", "-q", "--exec", "false", "HEAD~1", check=False, env=ME)
    assert standing.main_worktrees(persons.place) == [], "the world has nothing checked out"
    (found,) = standing.branch_worktrees(persons.place, ref)
    assert found == persons.worktree_on_branch("relay/1") and found.path == str(linked)
    assert clones._is_checked_out(ref), "what is handed back does not move it"
    sh(linked, "git", "rebase", "--abort")
    sh(linked, "git", "checkout", "-q", "--detach")
    assert standing.branch_worktrees(persons.place, ref) == [] and not clones._is_checked_out(ref)
