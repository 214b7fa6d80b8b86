"""A database that an earlier nobrakes wrote is brought to this version, with everything in it."""

import json
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from nobrakes.agents.limits import Breaker
from nobrakes.agents.limits import State as Trip
from nobrakes.beads.model import Attempt, Bead, Outcome, Role, Run, RunKind, Status, bead_owner
from nobrakes.daemon.model import Limits
from nobrakes.db import fast, migrations
from nobrakes.db.database import schema
from nobrakes.db.fast import VERSION
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.events.kinds import Kind
from nobrakes.store import Store, create_store, open_store
from tests.support.dose import everyday
from tests.support.landed_schemas import landed, make, normal, version_of
from tests.support.version_3 import bring_back

EARLIER = [name for name in landed() if name != str(VERSION)]


@pytest.fixture
def old(tmp_path: Path) -> str:
    """A file of version 1."""
    return written(tmp_path, "1")


def written(tmp_path: Path, name: str) -> str:
    """A file with this schema: one bead with an attempt that failed, one with an attempt that is open."""
    new, path = create_store(str(tmp_path / "new.db")), str(tmp_path / "old.db")
    new.put([Bead(b, b.upper(), status=Status.NEEDS_DOER, needs_tests=False) for b in ("a", "b")], [], "me")
    for bead in ("a", "b"):
        attempt = new.open_attempt(bead, Role.DOER, "claude", ["Ada", "Bo"], 60.0, None)
        assert attempt is not None
        if bead == "a":
            new.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.FAILED, detail="no", counts=True)
    number = new.escalate(NewEscalation(EscalationType.QUESTION, "which?"), "a", None, "me").id
    new.answer(number, "so", "me")
    assert new.act_by({number: "so"}, "Ada")
    new.set_setting("paused", "yes")
    new.close()
    with make(path, name) as connection:
        connection.execute("ATTACH ? AS new", (str(tmp_path / "new.db"),))
        for (table,) in connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall():
            known = {row[1] for row in connection.execute(f"PRAGMA new.table_info({table})")}
            mine = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})")]
            columns = ", ".join(f'"{column}"' for column in mine if column in known)
            connection.execute(f"DELETE FROM main.{table}")
            connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")
    connection.close()
    return path


def shape(path: str) -> dict[str, object]:
    """Tables with their columns, indexes with theirs."""
    connection = sqlite3.connect(path)
    found: dict[str, object] = {}
    for type_, name in connection.execute("SELECT type, name FROM sqlite_schema").fetchall():
        what = "table_xinfo" if type_ == "table" else "index_xinfo"
        found[f"{type_} {name}"] = connection.execute(f"PRAGMA {what}({name})").fetchall()
        if type_ == "table":
            keys = connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()
            found[f"keys of {name}"] = sorted(key[2:] for key in keys)  # their order is of no account
    connection.close()
    return found


def version(path: str) -> int:
    connection = sqlite3.connect(path)
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    connection.close()
    return found


@pytest.mark.parametrize("name", everyday(*EARLIER[::4], ci=[name for name in EARLIER if name not in EARLIER[::4]]))
@pytest.mark.parametrize("opens", [open_store, create_store, lambda path: fast.ready_json(path, 1)])
def test_it_has_the_shape_of_a_new_one_and_all_that_was_in_it(
    opens: Callable[[str], object], name: str, tmp_path: Path
) -> None:
    old = written(tmp_path, name)
    assert version(old) == version_of(name)
    opens(old)
    assert version(old) == VERSION
    assert shape(old) == shape(str(tmp_path / "new.db"))
    migrated, new = open_store(old), open_store(str(tmp_path / "new.db"))
    for bead in ("a", "b"):
        assert migrated.bead(bead) == new.bead(bead) and migrated.bead(bead).branch == f"task/bead-{bead}"
        assert migrated.attempts(bead) == new.attempts(bead)
    assert migrated.events() == new.events() and migrated.setting("paused") == "yes"
    (asked,) = migrated.escalations_as_filed()
    assert (asked.answer, asked.value) == ("so", None)
    (was,) = new.escalations_as_filed()
    knew = version_of(name) >= 4
    assert asked.read_at == (was.read_at if knew else asked.answered_at), (
        "who had read it nobody knows: it counts as read"
    )
    assert migrated.check() == []


def test_a_feature_of_its_own_title_keeps_what_else_it_has(tmp_path: Path) -> None:
    path = written(tmp_path, "7a")
    values = {"id": "a", "title": "T", "description": "D", "criteria": "[]", "files": "[]", "notes": "", "base": ""}
    values |= {"stage": "triage", "state": "active", "replannings": 2, "plan": 0, "round": 0, "clean": 0, "turn_at": 0}
    values |= {"created_at": 0, "updated_at": 0, "archived": 0, "actor": "me", "data": "{}"}
    with sqlite3.connect(path) as connection:
        names = ", ".join(f'"{name}"' for name in values)
        connection.execute(
            f"INSERT INTO features ({names}) VALUES ({', '.join('?' * len(values))})", [*values.values()]
        )
    connection.close()
    open_store(path).close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT id, replannings FROM features").fetchall() == [("a", 2)]
    connection.close()


def test_who_stacked_on_a_request_waits_for_its_bead_and_a_person_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "8")
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE beads SET stacks_on = 'a' WHERE id = 'b'")  # which counted a as none
        connection.execute("INSERT INTO edges (bead, type, needs) VALUES ('b', 'blocks', 'a')")
        connection.execute("UPDATE beads SET dependents = 1, b_level = 2, done_level = 1 WHERE id = 'a'")
        pull = {"state": "open", "number": 2, "branch": "task/bead-b", "head": "h", "onto": "a"}
        connection.execute("INSERT INTO settings VALUES ('pull/b', ?)", [json.dumps(pull)])
    connection.close()
    migrated = open_store(path)
    assert migrated.differences() == {} and [one.bead for one in migrated.unrouted_notices(9)] == ["b"]
    kept = migrated.pull("b")
    assert kept is not None and (kept.number, kept.branch) == (2, "task/bead-b")


def test_beads_of_before_are_begun_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    path = written(tmp_path, "9")
    with sqlite3.connect(path) as connection:
        for table in ("beads", "bead_text"):
            connection.execute(f"CREATE TEMP TABLE new_{table} AS SELECT * FROM main.{table} WHERE id = 'a'")
        connection.execute("UPDATE new_beads SET resting = 0, retry_at = NULL, ready_since = created_at")
        for id_, later in (("x", 3), ("z", 1), ("y", 1), ("freed", 9), ("old", 0)):
            for table in ("beads", "bead_text"):
                connection.execute(f"UPDATE new_{table} SET id = ?", [id_])
            connection.execute("UPDATE new_beads SET created_at = ready_since + ?", [later])
            for table in ("beads", "bead_text"):
                connection.execute(f"INSERT INTO main.{table} SELECT * FROM new_{table}")
        connection.execute("INSERT INTO edges (bead, type, needs) VALUES ('freed', 'blocks', 'a')")
    connection.close()
    migrated = open_store(path)
    assert [bead.id for bead in migrated.ready(9)] == ["freed", "a", "old", "z", "y", "x"]
    assert migrated.one("SELECT count(*) FROM beads WHERE freed_at > 0")[0] == 1


def test_the_text_of_a_version_never_changes() -> None:
    """Who changes the schema raises its number: a database says by its number alone what is in it."""
    known = landed()
    assert str(VERSION) in known, "add the new version: python -m tests.support.landed_schemas"
    assert sorted(known[str(VERSION)]) == sorted(normal(schema())), (
        f"the schema's text is not that of version {VERSION}: raise the number, and add a step in migrations.py"
    )
    several = {version_of(name) for name in known if not name.isdecimal()}
    assert several == {5, 7}, "two texts of one version"


def test_a_crash_in_the_middle_leaves_the_earlier_version_whole(old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE attempts ADD COLUMN provider VARCHAR")
        raise KeyboardInterrupt

    before = shape(old)
    monkeypatch.setattr(migrations, "STEPS", {1: half})
    with pytest.raises(KeyboardInterrupt):
        open_store(old)
    assert version(old) == 1 and shape(old) == before
    monkeypatch.undo()
    assert len(open_store(old).attempts("a")) == 1


def test_many_processes_may_come_first(old: str) -> None:
    problems: list[BaseException] = []

    def opens() -> None:
        try:
            open_store(old).close()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=opens) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == [] and version(old) == VERSION


def test_every_earlier_version_has_its_step() -> None:
    assert sorted(migrations.STEPS) == list(range(1, VERSION))


def numberless(store: Store) -> list[Attempt]:
    """The attempts, whatever number their session has."""
    return [replace(one, session=None) for bead in ("a", "b") for one in store.attempts(bead)]


def test_one_with_attempts_at_work_keeps_their_sessions_runs_and_breakers(tmp_path: Path) -> None:
    path = str(tmp_path / "nobrakes.db")
    new = create_store(path)
    new.put([Bead(b, b.upper(), status=Status.NEEDS_DOER, needs_tests=False) for b in ("a", "b")], [], "me")
    mine, other = (new.open_attempt(b, Role.DOER, "claude", ["Ada", "Bo"], 60.0, None, "anthropic") for b in ("a", "b"))
    assert mine is not None and other is not None
    assert new.hold_session("uuid", mine.id, fresh=True) and not new.hold_session("uuid", other.id, fresh=True)
    assert new.hold_session("own", other.id, fresh=True)
    new.plan_run(Run(f"{mine.id}-agent", mine.id, RunKind.AGENT, 1.0, pid=7, born="boot-7", hard_deadline=99.0))
    new.save_breaker(bead_owner("a"), "anthropic", Breaker(Trip.HALF_OPEN, 2, 1, "failed"))
    attempts, runs = numberless(new), new.runs()
    new.close()
    bring_back(path)
    assert version(path) == 3
    migrated = open_store(path)
    assert version(path) == VERSION and migrated.check() == []
    assert numberless(migrated) == attempts and migrated.runs() == runs
    assert migrated.attempts("a")[0].provider_session == "uuid"
    assert migrated.breakers(bead_owner("a"))["anthropic"] == Breaker(Trip.HALF_OPEN, 2, 1, "failed")
    assert not migrated.hold_session("uuid", other.id), "agents of two beads call it theirs"
    assert migrated.hold_session("own", other.id)
    board = migrated.board(Limits())
    assert [a.id for a in board.attempts] == [mine.id, other.id] and board.runs[mine.id].pid == 7
    assert migrated.setting("session:uuid") is None
