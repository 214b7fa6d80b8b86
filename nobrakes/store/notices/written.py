"""Notices in the store: written once, routed once, removed when they are old."""

from collections.abc import Sequence

from ...core.notices.notice import NewNotice, NoticeKind, NoticeRecord, OpenQuestion, Severity
from ..database import Database, Row

_REMINDED = (NoticeKind.QUESTION.value, NoticeKind.ESCALATION.value)


def add(db: Database, notices: Sequence[NewNotice], same_within: float) -> int:
    """Write them; how many were no repetition. A clock that was set back makes nothing the same for longer."""
    now, written = db.now(), 0
    with db.write():
        for notice in notices:
            same = "SELECT 1 FROM notices WHERE fingerprint = ? AND created_at BETWEEN ? AND ?"
            within = (notice.fingerprint, now - same_within, now + same_within)
            if notice.fingerprint and db.maybe(same, within) is not None:
                continue
            insert(db, notice, now, routed=False)
            written += 1
    return written


def insert(db: Database, notice: NewNotice, now: float, *, routed: bool) -> int:
    """Write one row in the caller's transaction; its id."""
    values = {
        "kind": notice.kind.value,
        "severity": notice.severity.value,
        "text": notice.text,
        "bead": notice.bead,
        "session": notice.session,
        "escalation": notice.escalation,
        "link": notice.link,
        "fingerprint": notice.fingerprint,
        "created_at": now,
        "routed": routed,
    }
    return db.insert("notices", values)


def record(row: Row, id_: str = "id") -> NoticeRecord:
    """The notice of a row."""
    return NoticeRecord(
        row[id_],
        NoticeKind(row["kind"]),
        Severity(row["severity"]),
        row["text"],
        row["bead"],
        row["session"],
        row["escalation"],
        row["link"],
        row["fingerprint"],
        row["created_at"],
        row["told_at"],
    )


def unrouted(db: Database, limit: int) -> list[NoticeRecord]:
    """Oldest first."""
    return [record(row) for row in db.all("SELECT * FROM notices WHERE routed = 0 ORDER BY id LIMIT ?", (limit,))]


def route(db: Database, routes: Sequence[tuple[int, Sequence[tuple[str, float]]]]) -> None:
    """One delivery for each channel, unless the notice was routed already."""
    insert = """INSERT INTO deliveries (notice, channel, state, due_at, tries, error)
SELECT id, ?, 'due', ?, 0, '' FROM notices WHERE id = ? AND routed = 0"""
    with db.write():
        db.run_many(insert, [(channel, at, notice) for notice, channels in routes for channel, at in channels])
        db.run_many("UPDATE notices SET routed = 1 WHERE id = ?", [(notice,) for notice, _ in routes])


def open_questions(db: Database) -> list[OpenQuestion]:
    """Of each open escalation the newest notice, where that was sent."""
    marks = ", ".join("?" * len(_REMINDED))
    sql = f"""SELECT notices.*, times FROM notices JOIN (
SELECT max(notices.id) AS newest, count(*) AS times FROM notices JOIN escalations ON escalations.id = escalation
WHERE resolved_at IS NULL AND answer IS NULL AND kind IN ({marks}) GROUP BY escalation
) ON newest = notices.id WHERE told_at IS NOT NULL ORDER BY notices.id"""
    return [OpenQuestion(record(row), row["told_at"], row["times"]) for row in db.all(sql, _REMINDED)]


_OLD = """SELECT id FROM notices WHERE created_at < ? AND routed = 1
AND NOT EXISTS (SELECT 1 FROM deliveries WHERE notice = notices.id AND state = 'due')
AND NOT EXISTS (SELECT 1 FROM deliveries AS counted JOIN deliveries AS digest ON digest.id = counted.digest
    WHERE counted.notice = notices.id AND digest.state = 'due')
AND NOT EXISTS (SELECT 1 FROM escalations WHERE id = notices.escalation AND resolved_at IS NULL)
ORDER BY id LIMIT ?"""


def prune(db: Database, before: float, limit: int) -> int:
    """Remove old ones with their deliveries; how many."""
    with db.write():
        going = [(row["id"],) for row in db.all(_OLD, (before, limit))]
        db.run_many("DELETE FROM deliveries WHERE notice = ?", going)
        db.run_many("DELETE FROM notices WHERE id = ?", going)
    return len(going)
