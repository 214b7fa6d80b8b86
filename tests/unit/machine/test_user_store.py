"""user.db: its migrations, repositories, places and sums; and the last place, raced for by real processes."""

import hashlib
import multiprocessing
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nobrakes.errors import PlaceUnusable, StoreBusy
from nobrakes.machine import db as machine_db
from nobrakes.machine.db import DaySpent, UserStore


def everybody(name: str) -> bool:
    return True


def nobody(name: str) -> bool:
    return False


@pytest.fixture
def store(tmp_path: Path) -> Iterator[UserStore]:
    made = UserStore(str(tmp_path / "user.db"), lambda: 100.0)
    yield made
    made.close()


def test_a_new_file_has_every_step_once(store: UserStore, tmp_path: Path) -> None:
    again = UserStore(store.path, lambda: 200.0)
    again.close()
    with closing(sqlite3.connect(store.path)) as connection:
        rows = connection.execute("SELECT version, at FROM migrations").fetchall()
    assert rows == [(number + 1, 100.0) for number in range(len(machine_db.STEPS))]
    assert Path(store.path).stat().st_mode & 0o777 == 0o600


def test_an_earlier_file_is_brought_up_and_keeps_what_it_has(store: UserStore) -> None:
    store.register("i", "/a", "a")
    steps = (*machine_db.STEPS, ("ALTER TABLE repositories ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'",))
    with closing(sqlite3.connect(store.path, isolation_level=None)) as connection:
        machine_db.bring_up(connection, store.path, 300.0, steps)
        assert connection.execute("SELECT path, colour FROM repositories").fetchall() == [("/a", "red")]
        broken = (*steps, ("CREATE TABLE more (a)", "no sql"))
        with pytest.raises(sqlite3.Error):
            machine_db.bring_up(connection, store.path, 400.0, broken)
        assert machine_db.version(connection) == len(steps), "a step is whole, or was not made"
        assert not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'more'").fetchone()


def test_a_file_of_a_newer_nobrakes_is_left_alone(store: UserStore) -> None:
    with closing(sqlite3.connect(store.path)) as connection, connection:
        connection.execute("INSERT INTO migrations VALUES (99, 1.0)")
    with pytest.raises(PlaceUnusable, match="newer"):
        UserStore(store.path, lambda: 1.0)


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "user.db").write_text("this is no database " * 100)
    with pytest.raises(PlaceUnusable, match="not a database"):
        UserStore(str(tmp_path / "user.db"), lambda: 1.0)


def test_a_repository_is_known_by_its_identity(store: UserStore) -> None:
    store.register("i", "/a", "a")
    store.register("j", "/b", "b")
    store.register("i", "/moved", "moved")
    assert [(one.identity, one.path) for one in store.repositories()] == [("j", "/b"), ("i", "/moved")]
    store.register("k", "/b", "b")
    assert [one.identity for one in store.repositories()] == ["k", "i"], "another one is where it was"
    assert store.forget("k") and not store.forget("k")


def test_no_more_places_than_allowed(store: UserStore) -> None:
    for name in ("one", "two"):
        store.begin_daemon(name, name, 1, "")
    assert store.take("one", "a", 2, everybody) and store.take("two", "b", 2, everybody)
    assert not store.take("one", "c", 2, everybody)
    assert store.take("one", "a", 2, everybody), "what is held is held"
    assert [place.run for place in store.places(everybody)] == ["a", "b"]
    store.set_places("two", {"b", "x", "y"})
    assert len(store.places(everybody)) == 4, "who lives has a place, also beyond the limit"
    assert store.take("one", "c", None, everybody)
    store.end_daemon("two")
    assert [place.run for place in store.places(everybody)] == ["a", "c"]


def test_the_dead_hold_nothing(store: UserStore) -> None:
    for name in ("dead", "mine"):
        store.begin_daemon(name, name, 1, "")
    store.take("dead", "a", 1, everybody)
    assert not store.take("mine", "b", 1, everybody)
    assert store.places(nobody) == []
    assert store.take("mine", "b", 1, nobody)
    assert [place.daemon for place in store.places(everybody)] == ["mine"]


def test_what_was_spent_outlasts_its_repository(store: UserStore) -> None:
    store.register("i", "/a", "a")
    store.spend("i", 0.0, 1.5, 10)
    store.spend("i", 0.0, 2.5, 20)
    store.spend("j", 86400.0, 9.0, 9)
    store.forget("i")
    assert store.spent(0.0) == [DaySpent("i", 2.5, 20)]


def _race(path: str, name: str, most: int, start: object, won: object) -> None:
    store = UserStore(path, lambda: 1.0)
    store.begin_daemon(name, name, 1, "")
    start.wait()  # type: ignore[attr-defined]
    for number in range(5):
        if store.take(name, f"{name}-{number}", most, everybody):
            won.put(name)  # type: ignore[attr-defined]
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("most", [1, 3])
def test_the_last_place_is_taken_once_whoever_races_for_it(tmp_path: Path, most: int) -> None:
    context = multiprocessing.get_context("spawn")
    start, won = context.Barrier(6), context.SimpleQueue()
    path = str(tmp_path / "user.db")  # nobody made it before: they race for its tables, too
    racers = [context.Process(target=_race, args=(path, f"d{n}", most, start, won)) for n in range(6)]
    for one in racers:
        one.start()
    for one in racers:
        one.join(60)
        assert one.exitcode == 0
    winners = 0
    while not won.empty():
        won.get()
        winners += 1
    assert winners == most


def test_whoever_waits_too_long_is_told(store: UserStore) -> None:
    other = UserStore(store.path, lambda: 1.0, timeout=0.05)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as holder:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreBusy):
            other.register("i", "/a", "a")
    other.close()


def test_a_step_that_was_landed_never_changes() -> None:
    """Who changes the tables adds a step: a file says by its number alone what is in it."""
    digests = [hashlib.sha256(" ".join(" ".join(step).split()).encode()).hexdigest()[:16] for step in machine_db.STEPS]
    assert digests == ["99e7a4526de45609", "2f0e93896b961f18"], "add a step, and its digest here"
