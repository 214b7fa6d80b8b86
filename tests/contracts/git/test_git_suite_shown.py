"""What people are shown of commits: differences and conflicts, and nothing of it is written."""

import pytest

from nobrakes.errors import GitFailed


def test_a_patch_counts_every_file_and_bounds_its_text(git_world, begin):
    git_world.commit_on_main({"old": "1\n2\n", "gone": "x\n"})
    base = git_world.git.main()
    head = git_world.commit_on_main({"old": "1\ntwo\n3\n", "gone": None, "new": "n\n" * 50})
    patch = git_world.git.patch(base, head, 10_000)
    found = {one.path: (one.how, one.added, one.removed) for one in patch.files}
    assert found == {"gone": ("removed", 0, 1), "new": ("added", 50, 0), "old": ("changed", 2, 1)}
    assert "+two\n" in patch.text and not patch.is_cut
    short = git_world.git.patch(base, head, 90)
    assert short.is_cut and len(short.text) <= 90 and short.text.endswith("\n") and short.files == patch.files


def conflicting(git_world, begin, main, branch, before="a\nb\nc\n"):
    """A branch and a main that changed `f`; main's commit and the branch's."""
    git_world.commit_on_main({"f": before, "other": "o\n"})
    bead = begin()
    head = git_world.commit_in_workspace(bead, {"f": branch})
    assert git_world.git.fetch_work(bead, 1) == head
    return git_world.commit_on_main({"f": main}), head


def test_a_conflict_shows_the_lines_of_both_sides(git_world, begin):
    onto, head = conflicting(git_world, begin, "a\nmain\nc\n", "a\nbranch\nc\n")
    kept = git_world.git.kept()
    (clash,) = git_world.git.clashes(onto, head)
    assert (clash.path, clash.in_fork, clash.in_main, clash.in_branch) == ("f", True, True, True)
    (hunk,) = clash.hunks
    assert "main" in hunk.main and "branch" in hunk.branch
    assert git_world.git.kept() == kept


def test_a_file_that_main_removed_conflicts_without_lines(git_world, begin):
    onto, head = conflicting(git_world, begin, None, "a\nbranch\nc\n")
    (clash,) = git_world.git.clashes(onto, head)
    assert (clash.in_fork, clash.in_main, clash.in_branch, clash.hunks) == (True, False, True, ())


def test_what_merges_shows_nothing_and_what_is_gone_is_said(git_world, begin):
    base = git_world.git.main()
    onto = git_world.commit_on_main({"other": "mine\n"})
    assert git_world.git.clashes(onto, base) == ()
    with pytest.raises(GitFailed):
        git_world.git.patch(base, "1" * 40, 100)
