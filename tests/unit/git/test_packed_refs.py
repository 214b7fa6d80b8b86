"""Packed refs are found as git finds them, and one costs the same among a hundred and among ten thousand."""

import os
import random
import subprocess
from pathlib import Path

import pytest

from nobrakes.git import objects

HEAD = "# pack-refs with: peeled fully-peeled sorted \n"
OID = "1" * 40


def write(folder: Path, names: list[str], head: str = HEAD, tags: bool = False) -> None:
    ordered = sorted(names, key=os.fsencode) if "sorted" in head else names
    peeled = f"^{'2' * 40}\n" if tags else ""
    text = "".join(f"{OID[:-8]}{number:08x} {name}\n{peeled}" for number, name in enumerate(ordered))
    (folder / "packed-refs").write_bytes(os.fsencode(head + text))


@pytest.mark.parametrize("head", [HEAD, "# pack-refs with: peeled fully-peeled \n", ""])
@pytest.mark.parametrize("tags", [False, True])
def test_each_ref_is_found_and_nothing_else(tmp_path: Path, head: str, tags: bool) -> None:
    names = [f"refs/nobrakes/archive/b{n}/{m}-branch" for n in range(60) for m in (1, 2)]
    names += ["refs/heads/main", "refs/heads/main-2", "refs/tags/ä", "refs/nobrakes/archive/b1/1-branch-2"]
    random.Random(1).shuffle(names)
    write(tmp_path, names, head, tags)
    folder = str(tmp_path)
    for name in names:
        assert objects.at(folder, name) is not None and not objects.is_gone(folder, name)
        assert [found for found, _ in objects.packed_refs_below(folder, name) or ()] == sorted(
            other for other in names if other.startswith(name)
        )
    for name in ("refs/heads/mai", "refs/heads/maim", "refs/a", "refs/z", "refs/nobrakes/archive/b1"):
        assert objects.at(folder, name) is None and objects.is_gone(folder, name)
    for prefix in ("refs/nobrakes/archive/b1/", "refs/nobrakes/archive/b1", "refs/", "a", "zzz"):
        assert [found for found, _ in objects.packed_refs_below(folder, prefix) or ()] == sorted(
            name for name in names if name.startswith(prefix)
        )


def test_no_file_an_empty_one_and_refs_that_are_kept_in_another_way(tmp_path: Path) -> None:
    assert objects.packed_refs_below(str(tmp_path), "refs/") == []
    (tmp_path / "packed-refs").write_text("")
    assert objects.packed_refs_below(str(tmp_path), "refs/") == []
    (tmp_path / "packed-refs").write_text(HEAD)
    assert objects.packed_refs_below(str(tmp_path), "refs/") == []
    (tmp_path / "reftable").mkdir()
    assert objects.packed_refs_below(str(tmp_path), "refs/") is None and objects.at(str(tmp_path), "refs/x") is None
    assert not objects.is_gone(str(tmp_path), "refs/x"), "git has to be asked"


def test_a_ref_costs_the_same_among_ten_thousand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    line = objects._line
    monkeypatch.setattr(objects, "_line", lambda lines, begin: looked.append(begin) or line(lines, begin))
    costs = []
    for many in (100, 10_000):
        write(tmp_path, [f"refs/nobrakes/archive/b{n}/1-branch" for n in range(many)])
        looked.clear()
        assert objects.at(str(tmp_path), "refs/nobrakes/archive/b77/1-branch") is not None
        assert objects.is_gone(str(tmp_path), "refs/nobrakes/incoming/b77/1")
        costs.append(len(looked))
    assert costs[1] <= 2 * 20, "two lines of each halving"
    assert costs[0] >= costs[1] / 3


def test_it_reads_what_git_packs(tmp_path: Path) -> None:
    def git(*words: str) -> str:
        me = ["-c", "user.name=Ada", "-c", "user.email=ada@example.invalid"]
        return subprocess.run(["git", *me, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    git("init", "-q", "-b", "main")
    for number in range(30):
        git("commit", "-q", "--allow-empty", "-m", f"{number}")
        git("tag", "-a", "-m", "t", f"v{number}")
        git("update-ref", f"refs/nobrakes/archive/b{number}/1-branch", "HEAD")
    wanted = [tuple(row.split()) for row in git("for-each-ref", "--format=%(refname) %(objectname)").splitlines()]
    git("pack-refs", "--all")
    assert objects.packed_refs_below(str(tmp_path / ".git"), "refs/") == wanted
    for name, oid in wanted:
        assert objects.at(str(tmp_path / ".git"), name) == oid
