"""A small clone is compared with its commit by reading it: where that says yes, git would find nothing to keep either."""

import os
import random
from pathlib import Path

import pytest
from git_worlds import ME, sh, write

from nobrakes.git import commands
from nobrakes.git.location import Place
from nobrakes.git.objects import Objects
from nobrakes.git.workspaces import untouched


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    sh(root, "git", "init", "-q", "-b", "main")
    write(root, {"a.txt": "a\n", "src/b.py": "b\n", "src/deep/er/c.py": "", "run.sh": "#!/bin/sh\n", "ü ?": "u"})
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("src/b.py")
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", "one", env=ME)
    return root


def said(root: Path) -> bool:
    place = Place(str(root), "main")
    objects = Objects(place)
    try:
        return untouched.is_just(objects, str(root), sh(root, "git", "rev-parse", "HEAD^{tree}").strip())
    finally:
        objects.close()


def test_what_was_committed_and_nothing_else_is_the_tree(repository):
    assert said(repository)


def _swap_for_folder(root: Path) -> None:
    (root / "a.txt").unlink()
    (root / "a.txt").mkdir()


def _swap_for_link(root: Path) -> None:
    (root / "src" / "b.py").unlink()
    (root / "src" / "b.py").symlink_to("b.py")


def _swap_for_pipe(root: Path) -> None:
    (root / "a.txt").unlink()
    os.mkfifo(root / "a.txt")


def _link_to_folder(root: Path) -> None:
    (root / "src" / "deep").rename(root.parent / "deep")
    (root / "src" / "deep").symlink_to(root.parent / "deep")


def _same_size_and_times(root: Path) -> None:
    before = (root / "a.txt").stat()
    (root / "a.txt").write_text("b\n")
    os.utime(root / "a.txt", ns=(before.st_atime_ns, before.st_mtime_ns))


CHANGES = {
    "another content, with the size and times of before": _same_size_and_times,
    "a file that became executable": lambda root: (root / "a.txt").chmod(0o755),
    "one that is not executable any more": lambda root: (root / "run.sh").chmod(0o644),
    "a new file": lambda root: (root / "new").write_text(""),
    "a new file far down": lambda root: (root / "src" / "deep" / "er" / "new").write_text(""),
    "a file that is gone": lambda root: (root / "src" / "deep" / "er" / "c.py").unlink(),
    "a new folder with nothing in it": lambda root: (root / "empty").mkdir(),
    "a repository inside": lambda root: sh(root, "git", "init", "-q", "src/.git-too") and None,
    "a git folder further down": lambda root: (root / "src" / ".git").mkdir(),
    "a link elsewhere": lambda root: ((root / "link").unlink(), (root / "link").symlink_to("a.txt")),
    "a folder in the place of a file": _swap_for_folder,
    "a link in the place of a file": _swap_for_link,
    "a link in the place of a folder": _link_to_folder,
    "a pipe in the place of a file": _swap_for_pipe,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES.keys())
def test_anything_else_is_not(repository, change):
    change(repository)
    assert not said(repository)


@pytest.mark.parametrize("limit", ["MOST_ENTRIES", "MOST_BYTES"])
def test_a_large_one_is_left_to_git(repository, monkeypatch, limit):
    monkeypatch.setattr(untouched, limit, 8)
    assert not said(repository)


def test_a_submodule_is_left_to_git(repository):
    head = sh(repository, "git", "rev-parse", "HEAD").strip()
    sh(repository, "git", "update-index", "--add", "--cacheinfo", f"160000,{head},module")
    sh(repository, "git", "commit", "-q", "-m", "two", env=ME)
    (repository / "module").mkdir()
    assert not said(repository)


def test_the_ids_may_be_long_ones(tmp_path):
    sh(tmp_path, "git", "init", "-q", "-b", "main", "--object-format=sha256", "long")
    root = tmp_path / "long"
    write(root, {"a": "a\n"})
    sh(root, "git", "add", "-A")
    sh(root, "git", "commit", "-q", "-m", "one", env=ME)
    assert said(root)
    (root / "a").write_text("b\n")
    assert not said(root)


@pytest.mark.parametrize("seed", range(40))
def test_it_says_yes_only_where_git_finds_no_change(tmp_path, seed):
    chance = random.Random(seed)
    sh(tmp_path, "git", "init", "-q", "-b", "main")
    paths = [f"{folder}{name}" for folder in ("", "x/", "x/y/", "z/") for name in "abc"]
    write(tmp_path, {place: f"{chance.randrange(3)}\n" for place in chance.sample(paths, 6)})
    attributes = chance.choice(["", "", "* text=auto eol=crlf\n", "* filter=none\n", "* ident\n"])
    write(tmp_path, {".gitattributes": attributes})
    sh(tmp_path, "git", "add", "-A")
    sh(tmp_path, "git", "commit", "-q", "-m", "one", env=ME)
    for place in chance.sample(paths, chance.randrange(3)):
        path = tmp_path / place
        if path.exists() and chance.random() < 0.5:
            chance.choice([path.unlink, lambda path=path: path.chmod(0o755)])()
        elif path.parent.is_dir():
            path.write_text(f"{chance.randrange(3)}\n")
    clean = sh(tmp_path, "git", "status", "--porcelain") == ""
    assert clean if said(tmp_path) else attributes or not clean


def test_a_clone_without_changes_is_archived_without_git_reading_it(world, begin, monkeypatch):
    it = begin()
    head = world.commit_in_workspace(it, {"src/a.py": "a\n"})
    world.git.take_in(it, 1)
    asked: list[str] = []
    run = commands.run
    monkeypatch.setattr(commands, "run", lambda words, **rest: asked.append(words[0]) or run(words, **rest))
    refs = world.git.archive(it, 1)
    assert [ref.rpartition("/")[2] for ref in refs] == ["1-branch"]
    assert "add" not in asked
    assert sh(world.root, "git", "rev-parse", refs[0]).strip() == head
    write(world.workspace_path(it), {"src/a.py": "b\n"})
    assert [ref.rpartition("/")[2] for ref in world.git.archive(it, 1)] == ["1-branch", "1-wip"]
    assert "add" in asked
