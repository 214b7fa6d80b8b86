"""Filling an empty database with what was kept outside of it (operations.rebuild).

1. Beads and escalations keep their ids and their times; each bead is told of as proposed.
2. The tests that were proven red are an attempt that ended well, so that the next Doer starts from them.
3. Attempts are numbered on from those of earlier databases: a folder that bears such a number is never taken for new.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..core.bead import Bead, Dependency, Role
from ..core.escalations import Escalation, fingerprint
from ..core.outcomes import Outcome
from . import planning, rows
from .database import Database


@dataclass(frozen=True, slots=True)
class Restored:
    """What is put into an empty database. `tests`: bead -> the commit of its proven tests."""

    beads: Sequence[Bead]
    dependencies: Sequence[Dependency]
    escalations: Sequence[Escalation] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    tests: Mapping[str, str] = field(default_factory=dict)
    attempts: int = 0


def restore(db: Database, found: Restored, actor: str) -> None:
    """Put it all in, in one transaction."""
    now = db.now()
    with db.write():
        planning.put(db, found.beads, found.dependencies, actor)
        db.run_many(
            "UPDATE beads SET updated_at = ? WHERE id = ?",
            [(bead.updated_at, bead.id) for bead in found.beads if bead.updated_at],
        )
        for escalation in found.escalations:
            _escalation(db, escalation)
        db.run_many("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", list(found.settings.items()))
        _count_from(db, "attempts", found.attempts)
        for bead, commit in found.tests.items():
            _proven(db, bead, commit, now)


def count_on(db: Database, attempts: int, fences: Mapping[str, int]) -> bool:
    """Number attempts above this one, and fences above these; whether attempts were behind."""
    row = db.maybe("SELECT seq FROM sqlite_sequence WHERE name = 'attempts'")
    was_behind = attempts > (row[0] if row is not None else 0)
    values = [(fence, bead, fence) for bead, fence in fences.items()]
    if was_behind or values:
        with db.write():
            if was_behind:
                _count_from(db, "attempts", attempts)
            db.run_many("UPDATE beads SET fence = ? WHERE id = ? AND fence < ? AND assignee IS NULL", values)
    return was_behind


def _count_from(db: Database, table: str, number: int) -> None:
    """The table's next row has a number above this one."""
    if not db.run("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, table)):
        db.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))


def _escalation(db: Database, one: Escalation) -> None:
    """As it was, but for the attempt that it came from: that is lost."""
    values = {
        "id": one.id,
        "type": one.type.value,
        "bead": one.bead,
        "title": one.title,
        "detail": one.detail,
        "target": one.target,
        "evidence": rows.as_json(dict(one.evidence)),
        "hypothesis": one.hypothesis,
        "created_at": one.created_at,
        "answer": one.answer,
        "answered_at": one.answered_at,
        "resolved_at": one.resolved_at,
        "resolution": one.resolution,
        "return_to": one.return_to.value if one.return_to else None,
        "fingerprint": fingerprint(one.type, one.bead, one.title),
    }
    db.insert("escalations", values)


def _proven(db: Database, bead: str, commit: str, now: float) -> None:
    values = {
        "bead": bead,
        "number": 1,
        "role": Role.TEST_WRITER.value,
        "name": "nobrakes",
        "fence": 0,
        "token": "",
        "started_at": now,
        "agent": "rebuilt",
        "head": commit,
        "ended_at": now,
        "outcome": Outcome.COMPLETED.value,
        "detail": "the proven tests, found again under refs/nobrakes/tests",
        "summary": "",
        "blockers": "",
        "learnings": "",
        "keep_branch": True,
        "data": "{}",
    }
    db.insert("attempts", values)
