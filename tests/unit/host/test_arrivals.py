"""A folder's new files are told by the system; what it cannot watch is said, and a folder made anew is watched anew."""

import os

import pytest

from nobrakes.host import channel as module
from nobrakes.host.channel import Inboxes
from nobrakes.host.watching import OVERFLOW, Inotify
from nobrakes.paths import AGAIN


@pytest.fixture
def arrivals():
    made = Inboxes()
    yield made
    made.close()


def arrives(folder, name="request"):
    (folder / f".{name}").write_text("whole")
    os.rename(folder / f".{name}", folder / name)


def told(arrivals):
    """The next that is told; what is told of files that are no request (an empty set) is passed over."""
    while (found := arrivals.wait(5.0)) == set():
        pass
    return found


def test_a_file_that_was_moved_in_is_told_with_its_folder(arrivals, tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    assert arrivals.watch([str(tmp_path / "one"), str(tmp_path / "other")]) == set()
    arrives(tmp_path / "one")
    assert told(arrivals) == {str(tmp_path / "one")}
    assert arrivals.wait(0.05) == set()


def test_whoever_was_not_answered_is_told_of_again(arrivals, tmp_path):
    arrivals.watch([str(tmp_path)])
    (tmp_path / AGAIN).touch()
    assert told(arrivals) == {str(tmp_path)}


def test_a_wake_up_says_that_everything_is_to_be_looked_at_and_is_never_lost(arrivals):
    for _ in range(100_000):  # more than the pipe holds
        arrivals.wake()
    assert arrivals.wait(None) is None


def test_a_folder_that_is_not_there_is_said_and_the_others_are_watched(arrivals, tmp_path):
    assert arrivals.watch([str(tmp_path), str(tmp_path / "none")]) == set()
    assert arrivals.missing and arrivals.watched() == {str(tmp_path)}
    arrives(tmp_path)
    assert told(arrivals) == {str(tmp_path)}


@pytest.mark.parametrize("way", ["moved", "removed"])
def test_a_folder_that_was_made_again_is_told_and_watched_again(arrivals, tmp_path, way):
    inbox = tmp_path / "in"
    inbox.mkdir()
    assert arrivals.watch([str(inbox)]) == set()
    if way == "moved":
        inbox.rename(tmp_path / "kept")
    else:
        inbox.rmdir()
    inbox.mkdir()
    assert told(arrivals) is None, "everything is to be looked at"
    assert arrivals.watch([str(inbox)]) == set()
    while arrivals.wait(0.05) is None:
        pass
    arrives(inbox)
    assert told(arrivals) == {str(inbox)}


@pytest.mark.parametrize("way", ["made", "moved"])
def test_a_folder_that_is_not_there_is_told_when_it_comes_and_costs_no_look_until_then(arrivals, tmp_path, way):
    inbox = tmp_path / "run" / "in"
    inbox.parent.mkdir()
    for _ in range(2):
        assert arrivals.watch([str(inbox)]) == set()
        assert not arrivals.missing, "the system tells of it"
    (inbox.parent / "another").mkdir()
    assert arrivals.wait(0.05) == set(), "what comes beside it is nobody's affair"
    if way == "made":
        inbox.mkdir()
    else:
        (inbox.parent / "another").rename(inbox)
    assert told(arrivals) is None
    assert arrivals.watch([str(inbox)]) == set() and arrivals.watched() == {str(inbox)}
    while arrivals.wait(0.05) is None:
        pass
    arrives(inbox)
    assert told(arrivals) == {str(inbox)}


def test_a_folder_whose_folder_is_gone_or_goes_is_missing(arrivals, tmp_path):
    inbox = tmp_path / "run" / "in"
    arrivals.watch([str(inbox)])
    assert arrivals.missing
    inbox.parent.mkdir()
    arrivals.watch([str(inbox)])
    assert not arrivals.missing
    inbox.parent.rmdir()
    assert told(arrivals) is None
    arrivals.watch([str(inbox)])
    assert arrivals.missing
    inbox.parent.mkdir()
    inbox.mkdir()
    assert arrivals.watch([str(inbox)]) == set() and arrivals.watched() == {str(inbox)}


def test_a_folder_that_comes_while_it_is_looked_for_is_told(arrivals, tmp_path, monkeypatch):
    real, inbox = Inotify.add, tmp_path / "in"

    def adds(self, folder, events):
        inbox.mkdir()
        return real(self, folder, events)

    monkeypatch.setattr(Inotify, "add", adds)
    arrivals.watch([str(inbox)])
    assert arrivals.wait(0.0) is None


def test_folders_below_it_are_nobodys_affair(arrivals, tmp_path):
    for number in range(200):
        (tmp_path / str(number)).mkdir()
    assert arrivals.watch([str(tmp_path)]) == set()
    assert len(arrivals.watched()) == 1
    assert arrivals.watch([]) == set() and arrivals.watched() == set()


def test_a_link_in_its_place_is_not_followed(arrivals, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in").symlink_to(tmp_path / "elsewhere")
    assert arrivals.watch([str(tmp_path / "in")]) == {str(tmp_path / "in")}


def test_where_the_system_has_no_watch_left_the_caller_is_told_and_it_is_tried_again(arrivals, tmp_path, monkeypatch):
    def refuses():
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(module, "Inotify", refuses)
    for _ in range(2):
        assert arrivals.watch([str(tmp_path)]) == {str(tmp_path)}
        assert arrivals.why_not == "Too many open files"
    monkeypatch.undo()
    assert arrivals.watch([str(tmp_path)]) == set() and not arrivals.why_not


def test_one_folder_that_cannot_be_watched_is_no_others_trouble(arrivals, tmp_path, monkeypatch):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    real = Inotify.add

    def refuses(self, folder, events):
        if folder.endswith("one"):
            raise OSError(13, "Permission denied")
        return real(self, folder, events)

    monkeypatch.setattr(Inotify, "add", refuses)
    assert arrivals.watch([str(tmp_path / "one"), str(tmp_path / "other")]) == {str(tmp_path / "one")}
    arrives(tmp_path / "other")
    assert told(arrivals) == {str(tmp_path / "other")}


def test_events_that_were_too_many_mean_a_look_at_everything(arrivals, tmp_path, monkeypatch):
    arrivals.watch([str(tmp_path)])
    monkeypatch.setattr(Inotify, "read", lambda self: [(-1, OVERFLOW, "")])
    arrives(tmp_path)
    assert arrivals.wait(5.0) is None


def test_who_is_closed_can_still_be_woken():
    made = Inboxes()
    made.close()
    made.wake()
