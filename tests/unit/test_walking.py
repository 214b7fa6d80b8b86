"""Folders that agents filled are walked through without following a link, and no further than asked for."""

import os
import time
from pathlib import Path

import pytest

from nobrakes.host import watching
from nobrakes.host.runs import wrapper
from nobrakes.trash import clear
from nobrakes.walking import Beyond, open_up, walk
from tests.unit.test_trash import deepened


def test_it_sees_what_is_there_and_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "file").touch()
    (tmp_path / "a" / "b" / "other").touch()
    (tmp_path / "link").symlink_to("/")
    (tmp_path / ".GIT").mkdir()
    (tmp_path / ".GIT" / "config").touch()
    seen = [(path, names) for path, _, _, names in walk(str(tmp_path), leave=frozenset((".git",)))]
    assert seen == [("", ["link"]), ("a", ["file"]), ("a/b", ["other"])]


@pytest.mark.slow
def test_it_has_an_end(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    deepened(tmp_path / "deep", 1500)
    with pytest.raises(Beyond, match="more than 200 deep"):
        list(walk(str(tmp_path)))
    for number in range(20):
        (tmp_path / str(number)).touch()
    with pytest.raises(Beyond, match="too many files"):
        list(walk(str(tmp_path), most=10))
    clear(str(tmp_path / "deep"), time.monotonic() + 60)  # pytest could not
    assert not before or len(os.listdir("/proc/self/fd")) == before


@pytest.mark.slow
def test_who_reads_reports_and_diaries_is_not_stopped_by_depth(tmp_path: Path) -> None:
    deepened(tmp_path / "deep", 1500)
    assert "200 deep" in wrapper.read(str(tmp_path), "", "**/*.xml", 0.0).trouble
    assert watching.appended(str(tmp_path), "**", 0.0, {}, 0) == {}
    clear(str(tmp_path / "deep"), time.monotonic() + 60)


def test_a_link_is_not_opened_up(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir(mode=0o500)
    (tmp_path / "link").symlink_to("mine")
    folder = os.open(tmp_path, os.O_RDONLY)
    assert not open_up("link", folder) and (tmp_path / "mine").stat().st_mode & 0o777 == 0o500
    assert open_up("mine", folder) and (tmp_path / "mine").stat().st_mode & 0o777 == 0o700
    os.close(folder)
