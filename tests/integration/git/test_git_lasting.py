"""The git commands that go on answering give what a command of its own would have given."""

import os
import subprocess
from contextlib import nullcontext
from pathlib import Path

import pytest

from nobrakes.errors import GitFailed
from nobrakes.git import command_line
from nobrakes.git.command_line import content
from nobrakes.git.commits import Person
from nobrakes.git.history import History
from nobrakes.git.location import Place
from nobrakes.git.objects import Objects


def git(folder: Path, *argv: str, stdin: str = "", **env: str) -> str:
    me = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]
    done = subprocess.run(
        ["git", *me, *argv], cwd=folder, check=True, capture_output=True, text=True, input=stdin, env=env or None
    )
    return done.stdout.strip()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Begin")
    return Place(str(tmp_path), "main")


def test_a_written_commit_is_the_one_that_commit_tree_makes(place: Place, tmp_path: Path) -> None:
    head = git(tmp_path, "rev-parse", "HEAD")
    tree = git(tmp_path, "rev-parse", "HEAD^{tree}")
    text = "Add ünïcode\n\nA body.\n\nBead: b1\n"
    dates = {"GIT_AUTHOR_DATE": "@1700000000 +0200", "GIT_COMMITTER_DATE": "@1700000001 +0000"}
    names = {
        f"GIT_{who}_{what}": v for who in ("AUTHOR", "COMMITTER") for what, v in (("NAME", "Bo"), ("EMAIL", "b@x"))
    }
    wanted = git(tmp_path, "commit-tree", tree, "-p", head, stdin=text, PATH="/usr/bin:/bin", **dates, **names)
    bo = Person("Bo", "b@x")
    whole = content(tree, (head,), (bo, "1700000000 +0200"), (bo, "1700000001 +0000"), text)
    for _ in range(2):
        assert place.commits.write(whole, place.git_dir, place.plumbing) == wanted


@pytest.mark.parametrize("lost", ["files in memory", "the file itself"])
def test_an_object_is_written_however_its_file_is_named(
    place: Place, monkeypatch: pytest.MonkeyPatch, lost: str
) -> None:
    if lost == "files in memory":
        monkeypatch.delattr(os, "memfd_create", raising=False)
    else:
        monkeypatch.setattr(command_line, "_named", lambda _: nullcontext("/nowhere"))
    tree = place.trees.write(b"", place.git_dir, place.plumbing)
    assert tree == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_a_commit_that_git_refuses_says_why_and_the_next_one_is_written(place: Place, tmp_path: Path) -> None:
    with pytest.raises(GitFailed, match=r"corrupt|broken|fatal"):
        place.commits.write(b"tree nonsense\n\n", place.git_dir, place.plumbing)
    tree, head = git(tmp_path, "rev-parse", "HEAD^{tree}"), git(tmp_path, "rev-parse", "HEAD")
    bo = (Person("Bo", "b@x"), "1 +0000")
    commit = place.commits.write(content(tree, (head,), bo, bo, "again\n"), place.git_dir, place.plumbing)
    assert git(tmp_path, "log", "-1", "--format=%s", commit) == "again"


@pytest.mark.parametrize(("ahead", "own"), [(0, 3), (3, 0), (1, 1), (40, 2), (2, 40), (300, 1), (1, 300)])
def test_the_fork_is_the_one_that_merge_base_gives(place: Place, tmp_path: Path, ahead: int, own: int) -> None:
    def grow(branch: str, count: int) -> str:
        lines = [
            f"commit refs/heads/{branch}\ncommitter A <a@x> {i} +0000\ndata 1\n{branch[0]}"
            + (f"\nfrom {start}" if i == 0 else "")
            for i in range(count)
        ]
        git(tmp_path, "fast-import", "--quiet", stdin="\n".join([*lines, ""]))
        return git(tmp_path, "rev-parse", branch) if count else start

    start = git(tmp_path, "rev-parse", "main")
    main, head = grow("theirs", ahead), grow("own", own)
    history = History(place, Objects(place))
    assert history.fork(main, head) == git(tmp_path, "merge-base", main, head) == start
