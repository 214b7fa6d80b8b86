"""Deliveries in the store: due until their end is settled, by exactly one transaction.

1. Whoever sends settles afterwards. A kill in between leaves the delivery due: it is sent again, and never lost.
2. A digest is a notice of its own with a delivery of its own. The deliveries that it counts have ended with it.
"""

from collections.abc import Callable, Sequence

from ..db import rows
from ..db.database import Database, Row
from ..records import as_values
from .model import Delivery, DeliveryState, NewNotice, NoticeKind, NoticeRecord, OpenQuestion, Queue

_REMINDED = (NoticeKind.QUESTION.value, NoticeKind.ESCALATION.value)


def add(db: Database, notices: Sequence[NewNotice], same_within: float) -> int:
    """Returns how many were written; a recent fingerprint (in seconds) is skipped."""
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
    return db.insert("notices", {**as_values(notice), "created_at": now, "routed": routed})


def record(row: Row, id_: str = "id") -> NoticeRecord:
    return rows.record(NoticeRecord, row, id=row[id_])


def unrouted(db: Database, limit: int) -> list[NoticeRecord]:
    return [record(row) for row in db.all("SELECT * FROM notices WHERE routed = 0 ORDER BY id LIMIT ?", (limit,))]


def route(db: Database, routes: Sequence[tuple[int, Sequence[tuple[str, float]]]]) -> None:
    """By notice id, its channels, each with the earliest time."""
    insert = """INSERT INTO deliveries (notice, channel, state, due_at, tries, error)
SELECT id, ?, 'due', ?, 0, '' FROM notices WHERE id = ? AND routed = 0"""
    with db.write():
        db.run_many(insert, [(channel, at, notice) for notice, channels in routes for channel, at in channels])
        db.run_many("UPDATE notices SET routed = 1 WHERE id = ?", [(notice,) for notice, _ in routes])


def open_questions(db: Database) -> list[OpenQuestion]:
    """The newest sent notice of each open escalation."""
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
    """Remove older notices that neither wait nor belong to an open escalation."""
    with db.write():
        going = [(row["id"],) for row in db.all(_OLD, (before, limit))]
        db.run_many("DELETE FROM deliveries WHERE notice = ?", going)
        db.run_many("DELETE FROM notices WHERE id = ?", going)
    return len(going)


Compose = Callable[[Sequence[tuple[str, int]], Sequence[NoticeRecord]], NewNotice]

_SINGLE = "state = 'due' AND due_at <= :now AND kind <> 'digest'"
_MATTERS = "CASE severity WHEN 'urgent' THEN 0 WHEN 'warning' THEN 1 ELSE 2 END"
_BOTH = "FROM deliveries JOIN notices ON notices.id = deliveries.notice"
_DELIVERIES = (
    f"""SELECT notices.*, deliveries.id AS delivery, channel, state, due_at, tries, ended_at, error, digest {_BOTH}"""
)

_QUEUES = f"""SELECT channel, sum({_SINGLE}) AS due, sum(due_at <= :now AND kind = 'digest') AS digests,
min(CASE WHEN due_at > :now THEN due_at END) AS next_at {_BOTH} WHERE state = 'due' GROUP BY channel ORDER BY channel"""
_SENT = f"""SELECT count(*) {_BOTH} WHERE channel = :channel AND state = 'sent' AND kind <> 'digest'
AND ended_at BETWEEN :since AND :now"""
_DIGEST_AT = f"""SELECT max(created_at) {_BOTH} WHERE channel = :channel AND kind = 'digest'
AND created_at BETWEEN :since AND :now"""


def queues(db: Database, window: float) -> list[Queue]:
    """Channels' queues; `window`: seconds of counted messages."""
    now = db.now()
    found = []
    with db.read():
        for row in db.all(_QUEUES, {"now": now}):
            asked = {"channel": row["channel"], "since": now - window, "now": now}
            sent, digest_at = db.one(_SENT, asked)[0], db.one(_DIGEST_AT, asked)[0]
            found.append(Queue(row["channel"], row["due"], row["digests"], row["next_at"], sent, digest_at))
    return found


def _delivery(row: Row) -> Delivery:
    return rows.record(Delivery, row, id=row["delivery"], notice=record(row))


def first(db: Database, channel: str) -> Delivery | None:
    """The next due delivery: digests, then by importance, then oldest."""
    row = db.maybe(
        f"{_DELIVERIES} WHERE channel = ? AND state = 'due' AND due_at <= ? "
        f"ORDER BY kind <> 'digest', {_MATTERS}, deliveries.id LIMIT 1",
        (channel, db.now()),
    )
    return None if row is None else _delivery(row)


def hold(db: Database, until: float) -> None:
    """Delay what is not urgent."""
    with db.write():
        db.run(
            "UPDATE deliveries SET due_at = ? WHERE state = 'due' AND due_at < ? "
            "AND notice NOT IN (SELECT id FROM notices WHERE severity = 'urgent')",
            (until, until),
        )


def release(db: Database) -> None:
    """After a clock change, since stored times are meaningless."""
    now = db.now()
    with db.write():
        db.run("UPDATE deliveries SET due_at = ? WHERE state = 'due' AND due_at > ?", (now, now))


def drop_answered(db: Database) -> None:
    """End deliveries about decided escalations."""
    with db.write():
        db.run(
            "UPDATE deliveries SET state = 'answered', ended_at = ? WHERE state = 'due' AND notice IN ("
            "SELECT notices.id FROM notices JOIN escalations ON escalations.id = escalation "
            "WHERE resolved_at IS NOT NULL)",
            (db.now(),),
        )


def make_digest(db: Database, channel: str, compose: Compose, shown: int) -> None:
    """Combine due single notices into one of (kind, count) and the `shown` most important."""
    now = db.now()
    values = {"channel": channel, "now": now, "shown": shown}
    where = f"WHERE channel = :channel AND {_SINGLE}"
    with db.write():
        counts = db.all(f"SELECT kind, count(*) AS many {_BOTH} {where} GROUP BY kind", values)
        if not counts:
            return
        most = db.all(f"SELECT notices.* {_BOTH} {where} ORDER BY {_MATTERS}, deliveries.id LIMIT :shown", values)
        notice = compose([(row["kind"], row["many"]) for row in counts], [record(row) for row in most])
        made = insert(db, notice, now, routed=True)
        due = {"notice": made, "channel": channel, "state": "due", "due_at": now, "tries": 0, "error": ""}
        values["digest"] = db.insert("deliveries", due)
        db.run(
            "UPDATE deliveries SET state = 'digested', ended_at = :now, digest = :digest WHERE channel = :channel "
            "AND state = 'due' AND due_at <= :now "
            "AND NOT EXISTS (SELECT 1 FROM notices WHERE id = notice AND kind = 'digest')",
            values,
        )


def settle(db: Database, delivery: int, state: DeliveryState, error: str = "", due_at: float | None = None) -> bool:
    """End a try: sent, failed for good, or `due` again at `due_at`; ended ones stay. Whether it is the channel's first
    permanent failure since a success."""
    now = db.now()
    with db.write():
        row = db.maybe("SELECT channel, notice FROM deliveries WHERE id = ? AND state = 'due'", (delivery,))
        if row is None:
            return False
        last = db.maybe(
            "SELECT state FROM deliveries WHERE channel = ? AND state IN ('sent', 'failed') "
            "ORDER BY ended_at DESC, id DESC LIMIT 1",
            (row["channel"],),
        )
        ended_at = None if state is DeliveryState.DUE else now
        db.run(
            "UPDATE deliveries SET state = ?, error = ?, due_at = coalesce(?, due_at), tries = tries + 1, ended_at = ? "
            "WHERE id = ?",
            (state.value, error, due_at, ended_at, delivery),
        )
        if state is DeliveryState.SENT:
            db.run(
                "UPDATE notices SET told_at = ? WHERE id = ? OR id IN (SELECT notice FROM deliveries WHERE digest = ?)",
                (now, row["notice"], delivery),
            )
        return state is DeliveryState.FAILED and (last is None or last["state"] != "failed")


def end_others(db: Database, known: Sequence[str]) -> None:
    """Give up deliveries to removed channels."""
    marks = ", ".join("?" * len(known))
    with db.write():
        db.run(
            "UPDATE deliveries SET state = 'failed', ended_at = ?, "
            f"error = 'the settings no longer have this channel' WHERE state = 'due' AND channel NOT IN ({marks})",
            (db.now(), *known),
        )


def listed(db: Database, limit: int) -> list[Delivery]:
    sql = f"{_DELIVERIES} ORDER BY state <> 'due', coalesce(ended_at, due_at) DESC, deliveries.id DESC LIMIT ?"
    return [_delivery(row) for row in db.all(sql, (limit,))]
