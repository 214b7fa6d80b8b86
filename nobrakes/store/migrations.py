"""How a database of an earlier version becomes one of this version, with everything in it.

1. One step for each version, from it to the next; a step is never changed after it was released.
2. All steps and the new number are one transaction: a crash in the middle leaves the earlier version, whole.
3. What a step leaves is what schema.py makes of an empty file; a test compares the two.
"""

from collections.abc import Callable, Mapping
from sqlite3 import Connection

from .schema import VERSION

_ATTEMPTS_HAVE_COSTS = (
    "ALTER TABLE attempts ADD COLUMN provider VARCHAR DEFAULT '' NOT NULL",
    "ALTER TABLE attempts ADD COLUMN model VARCHAR DEFAULT '' NOT NULL",
    "ALTER TABLE attempts ADD COLUMN cost_usd FLOAT DEFAULT 0 NOT NULL",
    "ALTER TABLE attempts ADD COLUMN tokens INTEGER DEFAULT 0 NOT NULL",
    "CREATE INDEX attempts_by_time ON attempts (started_at)",
)
_GATES = """CREATE TABLE gates (provider VARCHAR NOT NULL, reason VARCHAR NOT NULL, detail VARCHAR NOT NULL,
since FLOAT NOT NULL, until FLOAT NOT NULL, times INTEGER NOT NULL, told BOOLEAN NOT NULL, PRIMARY KEY (provider))"""
_BREAKERS = """CREATE TABLE breakers (bead VARCHAR NOT NULL, provider VARCHAR NOT NULL, state VARCHAR NOT NULL,
idle INTEGER NOT NULL, same INTEGER NOT NULL, error VARCHAR NOT NULL, PRIMARY KEY (bead, provider),
FOREIGN KEY(bead) REFERENCES beads (id))"""


def _to_2(connection: Connection) -> None:
    """Attempts know provider, model and cost; gates of providers; breakers of beads."""
    for statement in (*_ATTEMPTS_HAVE_COSTS, _GATES, _BREAKERS):
        connection.execute(statement)


def _to_3(connection: Connection) -> None:
    """Beads know their branch; those that an agent worked on had it from their type and their id."""
    connection.execute("ALTER TABLE beads ADD COLUMN branch VARCHAR DEFAULT '' NOT NULL")
    named = "UPDATE beads SET branch = type || '/bead-' || id WHERE id IN (SELECT bead FROM attempts)"
    connection.execute(named)


STEPS: Mapping[int, Callable[[Connection], None]] = {1: _to_2, 2: _to_3}


def is_earlier(version: int) -> bool:
    """Whether a database of this version can be brought to the present one."""
    return version in STEPS


def migrate(connection: Connection, version: int) -> None:
    """Bring the database to VERSION. The caller has begun the transaction and ends it."""
    for step in range(version, VERSION):
        STEPS[step](connection)
    connection.execute(f"PRAGMA user_version = {VERSION}")
