"""Answers that are kept: they hold as long as the database would answer the same, whoever writes."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from nobrakes.agents.limits import Breaker
from nobrakes.beads.db.moves import has_stopping
from nobrakes.beads.model import Bead, Dependency, DependencyType, Role, Run, RunKind, Status
from nobrakes.daemon.model import Limits
from nobrakes.db import queries
from nobrakes.db.database import Database, row, tables
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NobrakesError, NoSuchBead
from nobrakes.events.kinds import Event, Kind
from nobrakes.review.journal import LABEL
from nobrakes.snapshot import beads_jsonl
from nobrakes.store import Store, create_store, open_store

ONE = "SELECT value FROM settings WHERE key = ?"


@pytest.fixture
def path(tmp_path: Path) -> str:
    create_store(str(tmp_path / "nobrakes.db")).close()
    return str(tmp_path / "nobrakes.db")


@pytest.fixture
def db(path: str) -> Iterator[Database]:
    """A database that keeps answers, with what it asks SQLite in `asked`."""
    with closing(Database(path)) as found:
        found.keep_answers()
        yield found


def traced(db: Database) -> list[str]:
    """What is executed from now on."""
    asked: list[str] = []
    db.connection.set_trace_callback(asked.append)
    return asked


def put(db: Database, key: str, value: str) -> None:
    rows = (f"settings {key}",)
    db.alone("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (key, value), rows)


def value(db: Database, key: str) -> str | None:
    found = db.maybe(ONE, (key,), row("settings", key))
    return None if found is None else str(found[0])


def test_a_question_is_asked_once_while_nothing_is_written(db: Database) -> None:
    put(db, "a", "1")
    assert [value(db, "a") for _ in range(3)] == ["1"] * 3
    asked = traced(db)
    assert [value(db, "a") for _ in range(3)] == ["1"] * 3
    assert len([text for text in asked if text.startswith("SELECT")]) == 0


def test_what_this_connection_writes_is_seen(db: Database) -> None:
    assert value(db, "a") is None
    put(db, "a", "1")
    assert value(db, "a") == "1"
    with db.write():
        db.run("UPDATE settings SET value = '2'")  # which rows, nobody says
        assert value(db, "a") == "2"
    assert value(db, "a") == "2"
    db.run_many("DELETE FROM settings WHERE key = ?", [("a",)])
    assert value(db, "a") is None


def test_another_row_leaves_an_answer_alone(db: Database) -> None:
    put(db, "a", "1")
    assert (value(db, "a"), value(db, "a")) == ("1", "1")
    asked = traced(db)
    put(db, "b", "2")
    assert value(db, "a") == "1"
    assert len([text for text in asked if text.startswith("SELECT")]) == 0
    assert [found[0] for found in db.all("SELECT value FROM settings ORDER BY key")] == ["1", "2"]
    put(db, "b", "3")
    assert [found[0] for found in db.all("SELECT value FROM settings ORDER BY key")] == ["1", "3"]


def test_what_another_one_wrote_is_seen_after_a_doubt_and_in_each_transaction(db: Database, path: str) -> None:
    with closing(Database(path)) as other:
        put(other, "a", "1")
        assert [value(db, "a") for _ in range(2)] == ["1"] * 2
        put(other, "a", "2")
        db.doubt()
        assert value(db, "a") == "2"
        put(other, "a", "3")
        with db.write():
            assert value(db, "a") == "3"
        put(other, "a", "4")
        with db.read():
            assert value(db, "a") == "4"


def test_what_another_one_wrote_is_seen_after_a_while_anyhow(
    db: Database, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("nobrakes.db.database.monotonic", lambda: now[0])
    with closing(Database(path)) as other:
        assert [value(db, "a") for _ in range(2)] == [None] * 2
        put(other, "a", "1")
        now[0] += 0.2
        assert value(db, "a") == "1"


def test_what_was_read_in_a_transaction_that_did_not_come_about_is_forgotten(db: Database) -> None:
    put(db, "a", "1")
    assert value(db, "a") == "1"
    with pytest.raises(RuntimeError), db.write():
        put(db, "a", "2")
        assert value(db, "a") == "2"
        raise RuntimeError
    assert value(db, "a") == "1"
    with db.write():
        with pytest.raises(RuntimeError), db.write():
            put(db, "a", "3")
            assert value(db, "a") == "3"
            raise RuntimeError
        assert value(db, "a") == "1"


def test_a_moment_is_one_moment_whoever_writes_in_it(db: Database, path: str) -> None:
    put(db, "a", "1")
    put(db, "b", "1")
    with closing(Database(path)) as other:
        looks = []

        def look() -> tuple[str | None, str | None]:
            first = value(db, "a")
            if not looks:
                with other.write():
                    put(other, "a", "2")
                    put(other, "b", "2")
            looks.append(first)
            return first, value(db, "b")

        assert db.moment(look) == ("2", "2")
        assert looks == ["1", "2"]
        assert db.moment(look) == ("2", "2")
        asked = traced(db)
        assert db.moment(look) == ("2", "2")
        assert asked == []  # nothing was written, and that was seen a moment ago


def test_a_moment_is_one_though_a_question_in_it_sees_what_others_wrote(db: Database, path: str) -> None:
    put(db, "a", "1")
    put(db, "b", "1")
    for _ in range(2):  # both answers are kept, and as what was there when the database was last looked at
        assert (value(db, "a"), value(db, "b")) == ("1", "1")
    with closing(Database(path)) as other:

        def look() -> tuple[str | None, str | None]:
            first = value(db, "a")
            if first == "1":
                with other.write():
                    put(other, "a", "2")
                    put(other, "b", "2")
                db.doubt()
            return first, value(db, "b")

        assert db.moment(look) == ("2", "2")


def test_a_moment_in_which_nobody_writes_takes_no_transaction(db: Database) -> None:
    assert db.moment(lambda: value(db, "a")) is None
    put(db, "a", "1")
    db.doubt()
    asked = traced(db)
    assert db.moment(lambda: value(db, "a")) == "1"
    assert asked == [ONE.replace("?", "'a'"), "PRAGMA data_version"]


def test_a_list_that_is_given_is_nobody_elses(db: Database) -> None:
    put(db, "a", "1")
    db.all("SELECT * FROM settings").clear()
    assert len(db.all("SELECT * FROM settings")) == 1


def test_what_names_a_moment_or_no_table_of_ours_is_asked_each_time(db: Database) -> None:
    db.run("CREATE TEMP TABLE staged (id)")
    for number in range(3):
        assert db.one("SELECT count(*) FROM temp.staged")[0] == number
        assert db.one("SELECT count(*) FROM staged")[0] == number
        db.run("INSERT INTO temp.staged VALUES (1)")
    asked = traced(db)
    for _ in range(2):
        db.all("SELECT id FROM beads WHERE retry_at <= ?", (1.5,))
        db.all("SELECT id FROM beads WHERE retry_at <= :now", {"now": 1.5})
    assert len(asked) == 4


def test_the_tables_of_a_statement() -> None:
    assert set(tables("SELECT 1 FROM beads JOIN bead_text USING (id)")) == {"beads", "bead_text"}
    assert tables("SELECT 1") == ()


def test_a_statement_that_is_all_there_is_to_write_takes_no_transaction_of_its_own(db: Database) -> None:
    asked = traced(db)
    put(db, "a", "1")
    assert len(asked) == 1
    asked.clear()
    db.before_commit = lambda: None
    put(db, "a", "2")
    assert [text.split()[0] for text in asked] == ["BEGIN", "INSERT", "COMMIT"]


def opened(path: str) -> Store:
    store = open_store(path)
    store.keep_answers()
    return store


def test_two_daemons_stores_see_each_others_beads(path: str) -> None:
    with closing(opened(path)) as ours, closing(opened(path)) as theirs:
        ours.put([Bead("a", "A", status=Status.NEEDS_DOER, needs_tests=False)], [], "you")
        theirs.doubt()
        assert theirs.bead("a").title == "A"
        ours.record(Event(Kind.HELD, "a", data={"reason": "later"}))
        theirs.doubt()
        assert theirs.bead("a").held == "later"
        theirs.record(Event(Kind.RELEASED, "a"))
        ours.doubt()
        assert ours.bead("a").held is None


def test_a_remark_that_moves_nothing_is_one_statement_and_of_a_bead_that_is_there(path: str) -> None:
    with closing(opened(path)) as store:
        store.put([Bead("a", "A", status=Status.NEEDS_DOER, needs_tests=False)], [], "you")
        store.record(Event(Kind.PROGRESSED, "a", data={"text": "half"}))
        assert store.bead("a").title == "A"
        asked = traced(store)
        store.record(Event(Kind.PROGRESSED, "a", data={"text": "nearly"}))
        assert [text.split()[0] for text in asked] == ["INSERT"]
        with pytest.raises(NoSuchBead):
            store.record(Event(Kind.PROGRESSED, "b", data={"text": "?"}))
        assert [event.data.get("text") for event in store.events(0, 9, "a")][-2:] == ["half", "nearly"]


def test_labels_and_titles_that_change_are_seen_though_beads_move(path: str) -> None:
    limits = Limits()
    with closing(opened(path)) as store:
        beads = [Bead(one, one.upper(), status=Status.NEEDS_REVIEW, needs_tests=False) for one in "ab"]
        store.put(beads, [Dependency("b", "a", DependencyType.BLOCKS)], "you")
        assert store.board(limits).labelled == {}
        store.change("a", {"labels": (LABEL,)}, "you")
        assert store.board(limits).labelled == {"a": "a"}
        store.record(Event(Kind.DONE_BY_HAND, "a", data={"reason": "by hand"}))
        board = store.board(limits)
        assert [bead.id for bead in board.to_review] == ["b"], "nothing is in its way any more"
        assert board.labelled == {} and store.bead("a").close_reason == "by hand"


def test_who_is_asked_and_which_breakers_there_are_is_seen_whoever_writes_it(path: str) -> None:
    with closing(opened(path)) as ours, closing(opened(path)) as theirs:
        ours.put([Bead(one, one.upper(), status=Status.NEEDS_DOER, needs_tests=False) for one in "ab"], [], "you")
        for bead in "ab":
            assert ours.escalations(bead=bead) == [] and not has_stopping(ours, bead)
        filed = theirs.escalate(NewEscalation(EscalationType.CONFLICT, "Which?", ""), "a", None, "me")
        ours.doubt()
        assert [one.id for one in ours.escalations(bead="a")] == [filed.id] and has_stopping(ours, "a")
        assert ours.escalations(bead="b") == [] and not has_stopping(ours, "b")
        theirs.resolve(filed.id, "this one", "me")
        ours.doubt()
        assert ours.escalations(bead="a") == [] and not has_stopping(ours, "a")
        assert [one.resolution for one in ours.escalations(open_only=False, bead="a")] == ["this one"]
        assert ours.breakers("bead a") == {}
        theirs.save_breaker("bead a", "north", Breaker(idle=1))
        ours.doubt()
        assert ours.breakers("bead a") == {"north": Breaker(idle=1)}


def test_all_reads_of_a_beads_attempts_are_one_question(path: str) -> None:
    with closing(opened(path)) as store:
        store.put([Bead("a", "A", status=Status.NEEDS_DOER, needs_tests=False)], [], "you")
        mine = store.open_attempt("a", Role.DOER, "script", ("Ada",), 60.0, None)
        assert mine is not None
        store.attempts("a")
        asked = traced(store)
        assert store.attempts("a") == [store.attempt(mine.id)] == [mine]
        store.journal(mine.id, {"step": 1})
        assert store.attempt(mine.id).data == store.attempts("a")[0].data == {"step": 1}
        assert len([text for text in asked if text.startswith("SELECT attempts.*")]) == 1
        with pytest.raises(NobrakesError):
            store.attempt(mine.id + 1)


def test_an_attempt_that_was_not_there_yet_is_seen_when_it_begins(path: str) -> None:
    with closing(open_store(path)) as store:
        store.keep_answers()
        store.put([Bead("a", "A", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
        with pytest.raises(NobrakesError):
            store.attempt(1)
        made = store.open_attempt("a", Role.DOER, "script", ["Ada"], 60.0, None)
        assert made is not None and store.attempt(made.id).bead == "a"


def test_a_line_that_cannot_be_made_leaves_no_transaction_open(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> str:
        raise ValueError("no line")

    monkeypatch.setattr(beads_jsonl, "_line", fails)
    with closing(open_store(path)) as store:
        store.put([Bead("a", "A"), Bead("b", "B")], [], "me")
        with pytest.raises(ValueError) as held:  # noqa: F841 - as long as it is held, so is what it came from
            beads_jsonl.dump(store.alike())
        assert not store.connection.in_transaction


def run_of(number: int, started_at: float = 1.0) -> Run:
    return Run(f"{number}-agent", 0, RunKind.AGENT, started_at)


def test_of_rows_that_are_read_often_only_those_that_were_written_are_read(db: Database) -> None:
    for number in range(3):
        queries.plan_run(db, run_of(number))
    first = queries.runs(db)
    asked = traced(db)
    assert queries.runs(db) == first
    assert not [text for text in asked if text.startswith("SELECT")]
    queries.update_run(db, "1-agent", pid=7)
    queries.end_run(db, "0-agent")
    queries.plan_run(db, run_of(9, started_at=0.5))
    asked.clear()
    found = queries.runs(db)
    assert [(run.id, run.pid) for run in found] == [("9-agent", None), ("1-agent", 7), ("2-agent", None)]
    assert found[2] is first[2], "the same row is the same object"
    selects = [text for text in asked if text.startswith("SELECT")]
    assert len(selects) == 1 and '-agent"]' in selects[0], "only the rows that were written"


def test_rows_that_are_read_often_are_the_databases_whoever_writes(db: Database, path: str) -> None:
    queries.plan_run(db, run_of(1))
    assert len(queries.runs(db)) == 1
    with pytest.raises(RuntimeError), db.write():
        queries.end_run(db, "1-agent")
        assert queries.runs(db) == []
        raise RuntimeError
    assert [run.id for run in queries.runs(db)] == ["1-agent"]
    with closing(Database(path)) as other:
        queries.plan_run(other, run_of(2))
        queries.update_run(other, "1-agent", pid=5)
    db.doubt()
    assert [(run.id, run.pid) for run in queries.runs(db)] == [("1-agent", 5), ("2-agent", None)]
    db.run("UPDATE runs SET pid = 6")  # which rows, nobody says
    assert [run.pid for run in queries.runs(db)] == [6, 6]
