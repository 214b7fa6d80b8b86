"""Small facts of the machine: child processes, settings, validations that passed."""

import json
from collections.abc import Mapping
from enum import Enum
from typing import Any

from ...core.beads.attempt import Run
from ...core.serialise import as_values
from .. import rows
from ..cache import row as row_of
from ..database import Database

_RUN_FIELDS = frozenset(Run.__dataclass_fields__) - {"id"}


def plan_run(db: Database, run: Run) -> None:
    """Remember a child that is about to be started; planned again after a crash, it is the same child."""
    values = {**as_values(run), "attempt": run.attempt or None, "turn": run.turn or None}
    columns = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" * len(values))
    db.alone(f"INSERT OR REPLACE INTO runs ({columns}) VALUES ({marks})", tuple(values.values()))


def update_run(db: Database, run: str, fields: Mapping[str, Any]) -> None:
    """Set fields of Run by name."""
    unknown = set(fields) - _RUN_FIELDS
    assert not unknown, f"a Run has no {sorted(unknown)}"
    sets = ", ".join(f'"{name}" = ?' for name in fields)
    db.alone(f"UPDATE runs SET {sets} WHERE id = ?", (*(_plain(value) for value in fields.values()), run))


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value


def end_run(db: Database, run: str) -> None:
    """Forget the child."""
    db.alone("DELETE FROM runs WHERE id = ?", (run,))


def runs(db: Database) -> list[Run]:
    """The children, oldest first."""
    return [rows.run(row) for row in db.all("SELECT * FROM runs ORDER BY started_at, id")]


def setting(db: Database, key: str) -> str | None:
    """A setting's value."""
    row = db.maybe("SELECT value FROM settings WHERE key = ?", (key,), row_of("settings", key))
    return None if row is None else str(row[0])


def set_setting(db: Database, key: str, value: str | None) -> None:
    """Set or remove it."""
    only = (f"settings {key}",)
    if value is None:
        db.alone("DELETE FROM settings WHERE key = ?", (key,), only)
    else:
        db.alone("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", (key, value), only)


def validation(db: Database, tree: str, contract: str) -> Mapping[str, Any] | None:
    """The results of a validation that passed."""
    row = db.maybe("SELECT results FROM validations WHERE tree = ? AND contract = ?", (tree, contract))
    if row is None:
        return None
    found: Mapping[str, Any] = json.loads(row[0])
    return found


def passed_otherwise(db: Database, tree: str) -> bool:
    """Whether a validation of this tree passed, under any key."""
    return db.maybe("SELECT 1 FROM validations WHERE tree = ?", (tree,)) is not None


def save_validation(db: Database, tree: str, contract: str, results: Mapping[str, Any]) -> None:
    """Remember a validation that passed."""
    now = db.now()
    db.alone(
        "INSERT OR REPLACE INTO validations (tree, contract, results, at) VALUES (?, ?, ?, ?)",
        (tree, contract, rows.as_json(dict(results)), now),
    )
