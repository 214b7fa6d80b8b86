"""Packs are written as git reads them, and an object counts as held only while its pack is."""

import os
import subprocess
import time
import zlib
from pathlib import Path

import pytest

from nobrakes.git import upkeep
from nobrakes.git.upkeep import Held


def git(folder: Path, *words: str, given: bytes = b"") -> bytes:
    settings = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
    done = subprocess.run(["git", *words], cwd=folder, input=given, capture_output=True, env={**os.environ, **settings})
    assert done.returncode == 0, done.stderr
    return done.stdout


def made(folder: Path, kind: str = "sha1") -> dict[str, upkeep.Content]:
    """The objects of a repository: each type, empty ones and large ones."""
    git(folder, "init", "-q", f"--object-format={kind}", ".")
    contents = [b"", b"x", b"0123456789abcde\n", bytes(range(256)) * 900, b"\0\1\2" * 4096]
    blobs = [git(folder, "hash-object", "-w", "--stdin", given=one).decode().strip() for one in contents]
    rows = "".join(f"100644 blob {oid}\tf{number}\n" for number, oid in enumerate(blobs))
    tree = git(folder, "mktree", given=rows.encode()).decode().strip()
    who = ("-c", "user.name=A", "-c", "user.email=a@x.invalid")
    commit = git(folder, *who, "commit-tree", tree, "-m", "one").decode().strip()
    kinds = {**dict.fromkeys(blobs, "blob"), tree: "tree", commit: "commit"}
    return {oid: (one, git(folder, "cat-file", one, oid)) for oid, one in kinds.items()}


@pytest.mark.parametrize("kind", ["sha1", "sha256"])
def test_git_reads_a_pack_that_is_written_here(tmp_path: Path, kind: str) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    objects = made(first, kind)
    git(second, "init", "-q", f"--object-format={kind}", ".")
    pack, index = upkeep.pack(objects)
    width = 20 if kind == "sha1" else 32
    stem = second / ".git" / "objects" / "pack" / f"pack-{pack[-width:].hex()}"
    stem.with_suffix(".pack").write_bytes(pack)
    stem.with_suffix(".idx").write_bytes(index)
    git(second, "verify-pack", str(stem))
    assert {oid: (one, git(second, "cat-file", one, oid)) for oid, (one, _) in objects.items()} == objects
    assert sorted(upkeep.names_in(f"{stem}.idx", width)) == sorted(objects)
    (second / "copy.pack").write_bytes(pack)
    git(second, "index-pack", "--strict", f"--object-format={kind}", "copy.pack")
    assert (second / "copy.idx").read_bytes() == index


def test_a_loose_object_is_read_whole_or_not_at_all(tmp_path: Path) -> None:
    objects = made(tmp_path)

    def read(path: str, most: int) -> bytes:
        return (tmp_path / ".git" / "objects" / path).read_bytes()[:most]

    assert {oid: upkeep.loose(read, oid) for oid in objects} == objects
    oid = next(iter(objects))
    bomb = zlib.compress(b"blob 9999999999\0" + bytes(2 * upkeep.MAX_BYTES))
    for content in (None, b"", b"garbage", zlib.compress(b"blob 3\0ab"), zlib.compress(b"blob 1\0x"), bomb):
        assert upkeep.loose(lambda _path, _most, content=content: content, oid) is None


def test_an_object_is_held_only_while_its_pack_and_its_mark_are_there(tmp_path: Path, monkeypatch) -> None:
    held, now = Held(), time.monotonic()
    files = [tmp_path / f"pack-1{end}" for end in (".keep", ".pack", ".idx")]
    for file in files:
        file.touch()
    held.add(str(tmp_path / "pack-1"), ["a", "b"])
    assert held.has("a") and held.has("b") and not held.has("c")
    for file in files:
        file.unlink()
        assert not held.has("a"), f"{file.name} is gone"
        file.touch()
    monkeypatch.setattr(time, "monotonic", lambda: now + upkeep.HELD_SECONDS)
    assert not held.has("a"), "its mark may be released now"


def test_what_was_made_last_is_remembered_within_bounds() -> None:
    held, part = Held(), bytes(upkeep.MAX_BYTES // 4)
    for number in range(20):
        held.learn(str(number), "tree", part)
        held.learn(str(number), "tree", part)
    assert [oid for oid in map(str, range(20)) if held.made(oid)] == ["16", "17", "18", "19"]
    held.add("pack", map(str, range(upkeep._KNOWN + 10)))
    assert len(held._packs) == upkeep._KNOWN
