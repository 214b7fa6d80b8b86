"""A folder's new files are told by the system; what it cannot watch is said, and a folder made anew is watched anew."""

import os
import threading

import pytest

from nobrakes.host.channel.arrivals import Arrivals


@pytest.fixture
def told():
    return threading.Event()


@pytest.fixture
def arrivals(told):
    made = Arrivals(told.set)
    yield made
    made.close()


def arrives(folder, name="request"):
    (folder / f".{name}").write_text("whole")
    os.rename(folder / f".{name}", folder / name)


def test_a_file_that_was_moved_in_is_told(arrivals, told, tmp_path):
    assert arrivals.watch([str(tmp_path)])
    told.clear()
    arrives(tmp_path)
    assert told.wait(10)


def test_what_came_before_the_watch_is_told_too(arrivals, told, tmp_path):
    arrives(tmp_path)
    arrivals.watch([str(tmp_path)])
    assert told.is_set()


def test_a_folder_that_is_not_there_is_not_watched_and_the_others_are(arrivals, told, tmp_path):
    assert not arrivals.watch([str(tmp_path), str(tmp_path / "none")])
    told.clear()
    arrives(tmp_path)
    assert told.wait(10)


def test_a_folder_that_was_made_anew_is_watched_anew(arrivals, told, tmp_path):
    inbox = tmp_path / "in"
    inbox.mkdir()
    assert arrivals.watch([str(inbox)])
    inbox.rename(tmp_path / "kept")  # its inode stays taken
    inbox.mkdir()
    assert arrivals.watch([str(inbox)])
    told.clear()
    arrives(inbox)
    assert told.wait(10)


def test_folders_below_it_are_nobodys_affair(arrivals, tmp_path):
    for number in range(200):
        (tmp_path / str(number)).mkdir()
    assert arrivals.watch([str(tmp_path)])
    assert len(arrivals._watches) == 1
    assert arrivals.watch([]) and arrivals._watches == {}


def test_where_the_system_cannot_watch_the_caller_is_told(arrivals, tmp_path, monkeypatch):
    from watchdog.observers import Observer

    def refuses(*_, **__):
        raise OSError(24, "inotify instance limit reached")

    monkeypatch.setattr(Observer, "schedule", refuses)
    assert not arrivals.watch([str(tmp_path)])
    assert not arrivals.watch([str(tmp_path)])
