"""Every way in which a database can be unusable is a clear error, and leaves the file as it was."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from nobrakes.beads.model import Bead
from nobrakes.daemon.model import Limits
from nobrakes.db import database, fast
from nobrakes.db.database import translated
from nobrakes.db.fast import VERSION
from nobrakes.errors import DiskFull, MachineShort, NobrakesError, StoreBroken, StoreBusy, StoreReadOnly
from nobrakes.store import create_store, open_store

Opens = Callable[[str], object]
WAYS: list[Opens] = [open_store, lambda path: fast.ready_json(path, 1)]
landings = pytest.mark.parametrize("opens", WAYS, ids=["store", "hot"])


@pytest.fixture
def path(tmp_path: Path) -> str:
    found = str(tmp_path / "nobrakes ?#%.db")
    create_store(found).close()
    return found


def version(path: str, number: int) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(f"PRAGMA user_version = {number}")
    connection.close()


@landings
def test_a_sound_database_opens_whatever_its_path(opens: Opens, path: str) -> None:
    opens(path)
    assert os.path.basename(path) in os.listdir(os.path.dirname(path))


@landings
def test_a_missing_database_is_not_made(opens: Opens, tmp_path: Path) -> None:
    with pytest.raises(StoreBroken, match="there is no database"):
        opens(str(tmp_path / "no.db"))
    assert os.listdir(tmp_path) == []


@landings
def test_a_newer_version_says_update(opens: Opens, path: str) -> None:
    version(path, VERSION + 1)
    with pytest.raises(StoreBroken, match="newer") as caught:
        opens(path)
    assert "Update nobrakes" in caught.value.hint


@landings
def test_a_database_of_something_else_is_refused(opens: Opens, tmp_path: Path) -> None:
    other = str(tmp_path / "other.db")
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE beads (x)")
    connection.close()
    for open_ in (opens, create_store):
        with pytest.raises(StoreBroken, match="not a nobrakes database"):
            open_(other)


@landings
@pytest.mark.parametrize("where", [0, 4096 * 3])
def test_a_damaged_file_is_named(opens: Opens, path: str, where: int) -> None:
    with open(path, "r+b") as file:
        file.seek(where)
        file.write(b"rubbish!" * 4000)
    with pytest.raises(StoreBroken) as caught:
        opens(path)
        open_store(path).board(Limits())
        open_store(path).beads()
        raise AssertionError(open_store(path).check())
    assert path in str(caught.value) and "doctor" in caught.value.hint


def test_read_only_is_read_only(path: str) -> None:
    store = open_store(path)
    # what a read-only mount answers; root may write to any file, so permissions cannot show it
    store.run("PRAGMA query_only = ON")
    with pytest.raises(StoreReadOnly) as caught:
        store.put([Bead("a", "A")], [], "me")
    assert "permissions" in caught.value.hint
    store.run("PRAGMA query_only = OFF")
    assert store.beads() == []


def test_a_folder_where_no_log_can_be_made_is_read_only(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(sqlite3.OperationalError) as caught:
        sqlite3.connect(os.path.dirname(path))
    assert isinstance(translated(caught.value, path), MachineShort)
    assert isinstance(translated(caught.value, f"{path} is gone"), StoreBroken)
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert isinstance(translated(caught.value, path), StoreReadOnly)


def test_a_full_disk_loses_nothing(path: str) -> None:
    store = open_store(path)
    store.put([Bead("a", "A")], [], "me")
    pages = store.one("PRAGMA page_count")[0]
    store.run(f"PRAGMA max_page_count = {pages + 1}")
    with pytest.raises(DiskFull) as caught:
        store.put([Bead(f"b{i}", "B", description="x" * 50_000) for i in range(20)], [], "me")
    assert "Nothing" not in str(caught.value) and "space" in caught.value.hint
    assert [bead.id for bead in store.beads()] == ["a"]
    assert store.check() == []


def test_a_locked_database_is_waited_for_and_then_named(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "TIMEOUT_SECONDS", 0.05)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    store = open_store(path)
    with pytest.raises(StoreBusy) as caught:
        store.put([Bead("a", "A")], [], "me")
    assert caught.value.hint
    holder.execute("ROLLBACK")
    store.put([Bead("a", "A")], [], "me")


def test_bugs_are_not_dressed_up(path: str) -> None:
    with pytest.raises(sqlite3.OperationalError):
        open_store(path).run("SELEC")
    assert translated(sqlite3.IntegrityError("x"), path) is None


def test_doctor_finds_and_mends_wrong_counters(path: str) -> None:
    store = open_store(path)
    store.put([Bead("a", "A")], [], "me")
    store.run("UPDATE beads SET open_blockers = 3, b_level = 9")
    assert store.check() == ["a.open_blockers is 3, but should be 0", "a.b_level is 9, but should be 1"]
    assert store.recount() == 1
    assert store.check() == []


def test_creating_twice_changes_nothing(path: str) -> None:
    store = open_store(path)
    store.put([Bead("a", "A")], [], "me")
    store.close()
    assert [bead.id for bead in create_store(path).beads()] == ["a"]


def test_every_error_of_the_store_has_a_hint() -> None:
    for error in (StoreBroken, StoreBusy, StoreReadOnly, DiskFull):
        assert issubclass(error, NobrakesError) and error.hint
