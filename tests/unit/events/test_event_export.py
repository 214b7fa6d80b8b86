"""EVENTS.jsonl: each public event once and in order, wherever a writer was killed, and nothing else is touched."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nobrakes.beads.model import Bead, Role, Status
from nobrakes.errors import NotAllowed
from nobrakes.events import service as events_service
from nobrakes.events.kinds import Event, Kind
from nobrakes.events.service import public_events
from nobrakes.store import Store, open_memory


def filled(store: Store, beads: int = 3) -> Store:
    """A store in which agents began and lost beads, so that some events are said in several parts."""
    for number in range(beads):
        store.put([Bead(f"b{number}", "A title", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
        store.open_attempt(f"b{number}", Role.DOER, "script", ["Ada", "Bo"], 60.0, None)
        store.record(Event(Kind.CANCELLED, f"b{number}", actor="me", data={"reason": "no"}))
    return store


def wanted(store: Store) -> list[str]:
    return [events_service.line(event) for _, page in public_events(store, 0) for event in page]


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines(keepends=True)


def begun(line: str) -> dict[str, Any] | None:
    found = json.loads(line)
    return found["metadata"] if found["event"] == "log.begun" else None


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "EVENTS.jsonl"


def keep(store: Store, path: Path) -> events_service.Exported:
    done = events_service.keep_up(store, str(path.parent), path.name)
    assert done is not None
    return done


def test_a_file_begins_and_grows(store: Store, path: Path) -> None:
    filled(store)
    assert keep(store, path).is_new
    first, *rest = lines(path)
    assert begun(first) is not None and rest == wanted(store) and len(rest) > 9
    store.record(Event(Kind.PAUSED, actor="me", data={"settings": {}}))
    again = keep(store, path)
    assert (again.written, again.is_new) == (1, False) and lines(path)[1:] == wanted(store)
    assert keep(store, path).written == 0
    assert path.stat().st_mode & 0o777 == 0o600


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_killed_at_any_byte_no_line_is_lost_or_doubled(data: st.DataObject, tmp_path_factory: Any) -> None:
    path = tmp_path_factory.mktemp("export") / "EVENTS.jsonl"
    ticks = iter(range(1_800_000_000, 1_900_000_000))
    store = filled(open_memory(lambda: float(next(ticks))), 2)
    keep(store, path)
    for _ in range(data.draw(st.integers(1, 3))):
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole)))
        tail = data.draw(st.sampled_from([b"", b"\0" * 7]))
        path.write_bytes(whole[:cut] + (tail if whole[:cut].endswith(b"\n") else b""))
        store.record(Event(Kind.PAUSED, actor="me", data={"settings": {}}))
        keep(store, path)
        first, *rest = lines(path)
        assert begun(first) is not None and rest == wanted(store)
    store.close()


def test_a_full_disk_leaves_the_file_as_it_was(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(store)
    keep(store, path)
    before = path.read_bytes()
    store.record(Event(Kind.PAUSED, actor="me", data={"settings": {}}))
    write = os.write

    def full(descriptor: int, content: bytes) -> int:
        write(descriptor, content[:10])
        raise OSError(28, "No space left on device")

    told: list[str] = []
    exporter = events_service.Exporter(store, str(path.parent), lambda: path.name, told.append)
    monkeypatch.setattr("nobrakes.host.messages.os.write", full)
    for _ in range(40):
        exporter.turn()
    assert path.read_bytes() == before and len(told) == 1 and "added to the file later" in told[0]
    monkeypatch.setattr("nobrakes.host.messages.os.write", write)
    for _ in range(20):  # it waits a little before it tries again
        exporter.turn()
    assert lines(path)[1:] == wanted(store) and len(told) == 1


def test_a_file_that_was_moved_away_begins_again_with_a_note(store: Store, path: Path) -> None:
    told: list[str] = []
    exporter = events_service.Exporter(store, str(path.parent), lambda: path.name, told.append)
    filled(store)
    exporter.turn()
    path.rename(path.with_suffix(".old"))
    exporter.turn()
    assert lines(path)[1:] == wanted(store) and "writes the file again" in told[0]


def test_nothing_is_looked_at_while_nothing_happens(store: Store, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    exporter = events_service.Exporter(filled(store), str(path.parent), lambda: path.name, print)
    exporter.turn()
    monkeypatch.setattr(events_service, "keep_up", lambda *_: pytest.fail("it was opened again"))
    exporter.turn()


def test_a_database_that_went_back_goes_on_after_the_last_event_that_both_know(now: Any, path: Path) -> None:
    store = filled(open_memory(now), 1)
    keep(store, path)
    known = len(lines(path))
    store.record(Event(Kind.PAUSED, actor="me", data={"settings": {}}))
    lost = store.position().seq
    keep(store, path)
    with store.write():
        store.run("DELETE FROM events WHERE seq = ?", (lost,))
    store.record(Event(Kind.RESUMED, actor="me", data={"settings": {}}))
    for _ in range(2):
        keep(store, path)
        after = lines(path)[known + 1 :]
        assert begun(after[0]) and begun(after[0])["after"] == lost - 1  # type: ignore[index]
        assert [json.loads(one)["event"] for one in after[1:]] == ["execution.resumed"]


def test_another_database_begins_again(now: Any, path: Path) -> None:
    keep(filled(open_memory(now)), path)
    before = len(lines(path))
    other = filled(open_memory(now), 1)
    keep(other, path)
    keep(other, path)
    first, *rest = lines(path)[before:]
    assert begun(first) and begun(first)["why"] and rest == wanted(other)  # type: ignore[index]


@pytest.mark.parametrize("content", ["my notes\n", "my notes", '{"ts":1}\nnotes\n', '{"ts":1}\nnotes'])
def test_a_file_of_somebody_else_is_not_touched(store: Store, path: Path, content: str) -> None:
    path.write_text(content)
    with pytest.raises(NotAllowed, match="other data"):
        keep(filled(store), path)
    assert path.read_text() == content


def test_no_link_is_followed(store: Store, path: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "linked").symlink_to(outside)
    (root / "events").symlink_to(outside / "events")
    (outside / "held").write_text("")
    os.link(outside / "held", root / "held")
    os.mkfifo(root / "pipe")
    (root / ".git").mkdir()
    (root / "to_git").symlink_to(root / ".git")
    for place in ("linked/events", "events", "held", "pipe", "to_git/events", ".git/events", "no/such", "."):
        with pytest.raises(NotAllowed):
            events_service.keep_up(store, str(root), place)
    assert sorted(os.listdir(outside)) == ["held"] and os.listdir(root / ".git") == []
    with pytest.raises(NotAllowed):
        events_service.keep_up(store, str(tmp_path / "elsewhere"), str(root / "to_git" / "events"))


def test_who_finds_it_locked_leaves_it_to_the_other(store: Store, path: Path) -> None:
    import fcntl

    keep(filled(store), path)
    with path.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert events_service.keep_up(store, str(path.parent), path.name) is None
    assert keep(store, path).written == 0
