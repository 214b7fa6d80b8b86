"""Parcels: files that travel between this machine and a node."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.fleet import parcel


def entry(path: str, kind: str = "file", content: bytes = b"x", mode: int = 0o644) -> bytes:
    return json.dumps([path, kind, mode, len(content)]).encode() + b"\n" + content


def filled(top: Path) -> Path:
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "b" / "run.sh").write_text("echo 1")
    (top / "a" / "b" / "run.sh").chmod(0o755)
    (top / "a" / "link").symlink_to("b/run.sh")
    (top / "empty").mkdir()
    return top


def test_a_parcel_brings_files_links_modes_and_empty_folders(tmp_path: Path) -> None:
    here, there = filled(tmp_path / "here"), tmp_path / "there"
    there.mkdir()
    parcel.unpack(str(there), parcel.pack(str(here), sorted(parcel.state_of(str(here)))))
    assert (there / "a/b/run.sh").read_text() == "echo 1"
    assert os.access(there / "a/b/run.sh", os.X_OK)
    assert os.readlink(there / "a/link") == "b/run.sh"
    assert (there / "empty").is_dir()


def test_a_socket_works_at_a_path_of_any_length(tmp_path: Path) -> None:
    """A Unix socket's path has at most 107 bytes, and a repository may lie deeper."""
    folder = tmp_path / ("deep" * 30) / ("deeper" * 30)
    folder.mkdir(parents=True)
    path = str(folder / "line")
    with parcel.listening(path) as server, parcel.connected(path) as line:
        line.sendall(parcel.message({"call": "known"}, b"body"))
        other, _ = server.accept()
        with other:
            assert parcel.receive(other) == ({"call": "known"}, b"body")


def test_only_what_changed_travels_and_what_is_gone_is_removed(tmp_path: Path) -> None:
    here = filled(tmp_path / "here")
    before = parcel.state_of(str(here))
    (here / "a" / "new").write_text("new")
    (here / "a" / "link").unlink()
    names = parcel.changed(before, parcel.state_of(str(here)))
    assert names == ["a/link", "a/new"]
    there = filled(tmp_path / "there")
    parcel.unpack(str(there), parcel.pack(str(here), names))
    assert not os.path.lexists(there / "a/link")
    assert (there / "a/new").read_text() == "new"


@pytest.mark.parametrize("path", ["../out", "a/../../out", "/out", "a//out", "", "a/./out", "a\0out"])
def test_no_entry_leads_out_by_its_name(tmp_path: Path, path: str) -> None:
    with pytest.raises(parcel.Broken):
        parcel.unpack(str(tmp_path), entry(path))
    assert os.listdir(tmp_path) == []


def test_no_entry_is_written_through_a_link(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "file").write_text("mine")
    parcel.unpack(str(inside), entry("way", "link", str(outside).encode()) + entry("way/file", content=b"theirs"))
    assert (outside / "file").read_text() == "mine"
    (inside / "one").symlink_to(outside / "file")
    parcel.unpack(str(inside), entry("one", content=b"theirs"))
    assert (outside / "file").read_text() == "mine"
    assert (inside / "one").read_text() == "theirs"


def test_only_the_named_folders_are_written(tmp_path: Path) -> None:
    parcel.unpack(str(tmp_path), entry("in/one") + entry("out/two") + entry("inner"), ["in"])
    assert sorted(os.listdir(tmp_path)) == ["in"]


@given(st.binary(max_size=200))
def test_other_bytes_are_refused_or_write_nothing_outside(data: bytes) -> None:
    try:
        found = list(parcel.entries(data))
    except parcel.Broken:
        return
    assert all(not path.startswith("/") and ".." not in path.split("/") for path, *_ in found)


@pytest.mark.parametrize("name", ["x" * 255, "\u732b" * 85, "\U0001f408" * 63])
def test_a_name_as_long_as_a_name_can_be_travels(tmp_path: Path, name: str) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    (here / name).write_text("mine")
    parcel.unpack(str(there), parcel.pack(str(here), [name]))
    assert os.listdir(there) == [name]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="name too long"):
        parcel.unpack(str(tmp_path), entry("x" * 256))
    assert os.listdir(tmp_path) == []


def test_a_file_takes_the_place_of_a_folder_and_a_folder_that_of_a_file(tmp_path: Path) -> None:
    (tmp_path / "a" / "deep").mkdir(parents=True)
    (tmp_path / "b").write_text("mine")
    parcel.unpack(str(tmp_path), entry("a", content=b"file") + entry("b/c", content=b"inner"))
    assert ((tmp_path / "a").read_text(), (tmp_path / "b" / "c").read_text()) == ("file", "inner")


def test_a_device_or_a_pipe_does_not_travel(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert parcel.pack(str(tmp_path), ["pipe"]) == b""


def test_a_message_that_is_too_long_is_refused() -> None:
    head = parcel.message({}, b"")[: parcel.LENGTHS]
    assert parcel.sizes(head) == (2, 0)
    with pytest.raises(parcel.Broken):
        parcel.sizes(b"\xff" * parcel.LENGTHS)
    for words in (b"[]", b"{", b"[" * 100_000):
        with pytest.raises(parcel.Broken):
            parcel.header_of(words)
