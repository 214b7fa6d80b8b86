"""The schema that commands use is the one that the tables declare, and questions are answered from its indexes."""

import subprocess
import sys
from pathlib import Path

import pytest

from nobrakes.daemon import db as daemon_db
from nobrakes.db import fast
from nobrakes.db.database import MEMORY, Database
from nobrakes.features import db as features_db
from nobrakes.store import open_memory


def test_the_schema_is_generated_from_the_tables() -> None:
    tables = "nobrakes.db.tables"  # in a process of its own: it costs a second, and leaves sqlmodel behind
    made = subprocess.run([sys.executable, "-m", tables], capture_output=True, text=True, check=True).stdout
    file = Path(fast.__file__).with_name("schema.sql")
    assert file.read_text(encoding="utf-8") == made, f"run: python -m {tables} > nobrakes/db/schema.sql"


def test_an_empty_database_is_of_this_version() -> None:
    db = Database(MEMORY)
    assert db.one("PRAGMA user_version")[0] == fast.VERSION
    assert db.one("PRAGMA foreign_keys")[0] == 1


_TABLES = ("beads", "bead_text", "features", "plan_reviews")


@pytest.mark.parametrize(
    "sql",
    [
        *(daemon_db.READY, daemon_db.TO_REVIEW, daemon_db.COMPLETE, fast.DUE, fast.RISING, fast._READY),
        *(features_db.FEATURE_OF_SESSION, features_db.REVIEW_OF_SESSION),
    ],
    ids=lambda sql: sql[:40],
)
def test_the_board_never_scans_a_table_or_sorts(sql: str) -> None:
    db = Database(MEMORY)
    values = {"now": 1.0} if ":now" in sql else (10,)
    plan = [row["detail"] for row in db.all(f"EXPLAIN QUERY PLAN {sql}", values)]
    on_tables = [step for step in plan if any(name in step for name in _TABLES)]
    assert on_tables and all("INDEX" in step for step in on_tables), plan
    assert not any("TEMP B-TREE" in step for step in plan), plan


def test_held_and_merged_beads_are_found_by_their_indexes() -> None:
    """`status` read all of 100,000 beads five times for them."""
    store, asked = open_memory(), list[str]()
    store.connection.set_trace_callback(asked.append)
    store.counts(), store.standstill(), store.merges(on_main=True), store.merges(), store.merged_since(0.0)
    store.connection.set_trace_callback(None)
    indexes = {"held IS NOT NULL": "beads_held", "merged_commit": "COVERING INDEX beads_merged"}
    found = []
    for sql in asked:
        for words, index in indexes.items():
            if f" {words}" in sql.partition("WHERE")[2]:
                plan = [row["detail"] for row in store.connection.execute(f"EXPLAIN QUERY PLAN {sql}")]
                found.append(any(index in step for step in plan))
    assert found == [True] * 5
