"""What agents and checks filled is removed whatever it holds, in a bounded time; what cannot be removed is told."""

import os
import threading
import time
from pathlib import Path

import pytest

from nobrakes.errors import GitFailed
from nobrakes.trash import Left, Trash


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "root"
    found.mkdir()
    return found


@pytest.fixture
def trash(tmp_path: Path) -> Trash:
    return Trash(str(tmp_path / "trash"))


def deepened(folder: Path, levels: int, name: str = "deeper" * 10) -> None:
    """Nest so many folders, each with a file, and make no path on the way."""
    folder.mkdir()
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        inner = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(os.open("file", os.O_WRONLY | os.O_CREAT, dir_fd=inner))
        os.close(here)
        here = inner
    os.close(here)


@pytest.mark.slow
def test_folders_of_any_depth_go(root: Path, trash: Trash) -> None:
    deepened(root / "deep", 3000)
    assert trash.take(str(root), str(root / "deep"), 60)
    assert list(root.iterdir()) == [] and trash.left() == () and os.listdir(trash.folder) == []


def test_odd_and_closed_things_go_and_nothing_outside_is_touched(root: Path, trash: Trash, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("mine")
    odd = root / "odd"
    (odd / "closed" / "inner").mkdir(parents=True)
    (odd / "closed" / "inner" / "file").write_text("x")
    (odd / "link").symlink_to(outside)
    (odd / "closed" / "link").symlink_to(outside / "precious")
    (odd / "loop").symlink_to("loop")
    os.mkfifo(odd / "pipe")
    (odd / "line\nbreak\x1b[31m").mkdir()
    os.mkdir(os.fsencode(odd) + b"/\xff\xfe")
    os.link(outside / "precious", odd / "second")
    (odd / "closed" / "inner").chmod(0)
    (odd / "closed").chmod(0)
    odd.chmod(0)
    assert trash.take(str(root), str(odd), 60)
    assert list(root.iterdir()) == [] and trash.left() == ()
    assert (outside / "precious").read_text() == "mine"


def test_a_file_and_a_link_in_the_place_of_a_folder_go(root: Path, trash: Trash) -> None:
    (root / "file").write_text("x")
    (root / "link").symlink_to("/")
    assert trash.take(str(root), str(root / "file")) and trash.take(str(root), str(root / "link"))
    assert list(root.iterdir()) == [] and os.path.isdir("/")
    assert trash.take(str(root), str(root / "file")), "it is gone already"


@pytest.mark.slow
def test_what_takes_long_goes_on_later(root: Path, trash: Trash) -> None:
    wide = root / "wide"
    wide.mkdir()
    for number in range(2000):
        (wide / str(number)).touch()
    assert trash.take(str(root), str(wide), 0)
    assert not wide.exists(), "whoever threw it away need not wait"
    [left] = trash.left()
    assert left.path == str(wide) and left.why == "" and trash.is_due()
    assert wide.mkdir() is None and trash.take(str(root), str(wide)), "its place is free again"
    while trash.is_due():
        trash.empty(0.01)
    assert trash.left() == () and os.listdir(trash.folder) == []


def test_what_cannot_be_removed_is_told_and_holds_nobody_up(
    root: Path, trash: Trash, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = root / "stuck"
    (stuck / "inner").mkdir(parents=True)
    (stuck / "inner" / "hard").write_text("x")
    (stuck / "inner" / "soft").write_text("x")
    unlink, rename = os.unlink, os.rename

    def refuses(path, *, dir_fd=None):
        if path == "hard":
            raise PermissionError(1, "Operation not permitted")
        unlink(path, dir_fd=dir_fd)

    def stays(source, target, **where):
        if source == "hard":
            raise PermissionError(1, "Operation not permitted")
        rename(source, target, **where)

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuses)
        patch.setattr(os, "rename", stays)
        assert trash.take(str(root), str(stuck), 60)
    [left] = trash.left()
    assert (left.path, left.why) == (str(stuck), "Operation not permitted")
    assert not trash.is_due(), "it is not tried over and over"
    (note,) = (name for name in os.listdir(trash.folder) if name.endswith(".why"))
    os.utime(os.path.join(trash.folder, note), (0, time.time() - 3600))
    assert trash.is_due()
    trash.empty(60)
    assert trash.left() == () and os.listdir(trash.folder) == []


def test_what_cannot_be_renamed_stays_where_it_is_and_is_told(
    root: Path, trash: Trash, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = root / "held"
    held.mkdir()

    def refuses(*_, **__):
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(os, "rename", refuses)
        assert not trash.take(str(root), str(held))
    assert trash.left() == (Left(str(held), str(held), "Operation not permitted"),)
    assert trash.is_stuck(str(held)) and not trash.is_due()
    held.rmdir()
    assert trash.left() == (), "a person has seen to it"


def test_another_disk_is_no_blocker(root: Path, trash: Trash, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "far" / "inner").mkdir(parents=True)
    rename = os.rename

    def far(source, target, **where):
        if str(target).startswith(trash.folder):
            raise OSError(18, "Invalid cross-device link")
        rename(source, target, **where)

    monkeypatch.setattr(os, "rename", far)
    assert trash.take(str(root), str(root / "far"), 60)
    assert list(root.iterdir()) == [] and trash.left() == ()


def test_only_what_lies_directly_in_the_named_folder_goes(root: Path, trash: Trash) -> None:
    (root / "a" / "b").mkdir(parents=True)
    with pytest.raises(GitFailed):
        trash.take(str(root), str(root / "a" / "b"))
    with pytest.raises(GitFailed):
        trash.take(str(root / "a"), str(root / "a" / ".." / "a"))
    assert (root / "a" / "b").is_dir()


def test_who_empties_it_between_the_place_and_the_move_loses_nothing(
    root: Path, trash: Trash, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "file").write_text("x")
    rename, times = os.rename, iter([True, True])

    def slow(source, target, **where):
        if next(times, False):
            Trash(trash.folder).empty(5)
        rename(source, target, **where)

    monkeypatch.setattr(os, "rename", slow)
    assert trash.take(str(root), str(root / "file"))
    assert list(root.iterdir()) == [] and trash.left() == ()


@pytest.mark.slow
def test_several_who_empty_it_at_once_find_nothing_wrong(root: Path, trash: Trash) -> None:
    """One takes while others empty, as the daemon's loop and what works beside it do."""
    over = threading.Event()

    def empties() -> None:
        while not over.is_set():
            trash.empty(5)

    others = [threading.Thread(target=empties) for _ in range(3)]
    for other in others:
        other.start()
    for number in range(60):
        deepened(root / f"{number}", 40, "inner")
        assert trash.take(str(root), str(root / f"{number}"), 5)
    over.set()
    for other in others:
        other.join()
    trash.empty(60)
    assert [one.why for one in trash.left() if one.why] == []
    assert os.listdir(trash.folder) == []
