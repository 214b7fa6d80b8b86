"""What people are shown of commits: differences and conflicts, and nothing of it is written."""

import random
import re
from difflib import unified_diff

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


def applied(before, difference):
    """The lines after a difference of one file."""
    found, done = [], 0
    for line in difference.split("\n")[:-1]:
        if hunk := re.match(r"@@ -(\d+)(?:,(\d+))? ", line):
            begin = int(hunk[1]) - (hunk[2] != "0")
            found += before[done:begin]
            done = begin
        elif line[:1] in " -" and not line.startswith("--- "):
            assert before[done] == line[1:], line
            done += 1
            found += [line[1:]] if line[0] == " " else []
        elif line.startswith("+") and not line.startswith("+++ "):
            found.append(line[1:])
    return found + before[done:]


def test_a_difference_leads_from_the_lines_before_to_those_after_as_the_plain_text_does(git_world):
    rng = random.Random(7)
    names = [f"f{number}" for number in range(30)]
    before = {name: [rng.choice("abcd") * 3 for _ in range(rng.randrange(1, 60))] for name in names}
    after = {name: [rng.choice("abcd") * 3 if rng.random() < 0.2 else line for line in before[name]] for name in names}
    for lines in after.values():
        cut = rng.randrange(len(lines) + 1)
        lines[cut : cut + rng.randrange(5)] = ["new"] * rng.randrange(5)
    base, head = (
        git_world.commit_on_main({name: "".join(f"{line}\n" for line in lines) for name, lines in tree.items()})
        for tree in (before, after)
    )
    for name in names:
        text, is_cut = git_world.git.difference(base, head, [name], 100_000)
        plain = "".join(f"{line}\n" for line in unified_diff(before[name], after[name], lineterm=""))
        assert applied(before[name], text) == applied(before[name], plain) == after[name] and not is_cut
        assert (f"--- a/{name}\n+++ b/{name}\n" in text) == (before[name] != after[name])


def test_a_difference_is_of_the_named_files_alone_whatever_the_branch_says_of_them(git_world):
    files = {"*": "1\n", ":(top)x": "1\n", "\u00e9": "1\n", "other": "1\n"}
    base = git_world.commit_on_main(files)
    changed = {**dict.fromkeys(files, "2\n"), ".gitattributes": "* -diff diff=own\n", "new": "2\n"}
    head = git_world.commit_on_main(changed)
    for path in files:
        text, is_cut = git_world.git.difference(base, head, [path], 10_000)
        assert f"--- a/{path}\n+++ b/{path}\n" in text and "-1\n+2\n" in text and text.count("+++ ") == 1
        assert not is_cut
    text, is_cut = git_world.git.difference(base, head, ["other", "*"], 10_000)
    assert text.index("+++ b/*") < text.index("+++ b/other")
    short, is_cut = git_world.git.difference(base, head, ["other", "*"], len(text) - 1)
    assert is_cut and text.startswith(short) and short.endswith("\n") and len(short) >= len(text) // 2
    with pytest.raises(GitFailed):
        git_world.git.difference(base, "1" * 40, ["other"], 100)


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
