"""Attempts: a claim that exactly one racer wins, and an end that exactly one caller writes.

1. A claim checks readiness and takes the bead in one transaction: name, lease, fence + 1, token, status, event.
2. An end requires "not ended and the fence is mine"; else Stale, and nothing changes.
3. A token is "<attempt>.<fence>.<secret>", valid only for that attempt while it is open.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ...db import rows
from ...db.database import Database, Row
from ...db.database import row as row_of
from ...db.fast import OPEN_ATTEMPT, attempt_of
from ...decisions import db as decisions_db
from ...decisions.model import NO_ANSWERS, STOPS_BEAD, NewEscalation
from ...errors import NobrakesError, NoSuchBead, Stale
from ...events import db as events_db
from ...events.kinds import Kind
from ...records import as_values
from ...sessions.model import SessionKind, State
from .. import proposals
from ..branches import PATTERN, named
from ..lifecycle import Facts, advance
from ..model import CLOSED, FORK, Attempt, AttemptLog, Bead, Outcome, Role, Status, bead_owner, next_name
from ..proposals import ByHand
from . import moves
from .moves import get_bead

NAME_CURSOR = "name_cursor"
REVIEWER_NAME = "Reviewer"
_NUMBERS = f"""SELECT 1 + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'attempts'), 0),
1 + coalesce((SELECT max(number) FROM attempts WHERE bead = ?), 0),
coalesce((SELECT value FROM settings WHERE key = '{NAME_CURSOR}'), 0),
(SELECT json_group_array(name) FROM attempts WHERE outcome IS NULL)"""
"""The next attempt's number in the store (never reused), in its bead, and among the names; and the used names."""

_CLAIM: Mapping[Role, tuple[Status, Kind]] = {
    Role.TEST_WRITER: (Status.NEEDS_TESTS, Kind.TEST_WRITER_STARTED),
    Role.DOER: (Status.NEEDS_DOER, Kind.DOER_STARTED),
    Role.REVIEWER: (Status.NEEDS_REVIEW, Kind.REVIEW_STARTED),
}
_HANDED_IN = (Kind.WORK_SUBMITTED, Kind.TESTS_PROVEN_RED)


def open_attempt(
    db: Database,
    bead_id: str,
    role: Role,
    agent: str,
    names: Sequence[str],
    lease_seconds: float,
    base: str | None,
    provider: str = "",
    model: str = "",
    branch_pattern: str = PATTERN,
) -> Attempt | None:
    """Claim a ready bead for a role in one transaction; None: lost the race. A bead without a branch gets one by the
    pattern. A REVIEWER claim needs the status needs_review, no readiness, and is named "Reviewer"."""
    status, kind = _CLAIM[role]
    now = db.now()
    moves.wake(db, now)
    with db.write():
        bead, state = moves.bead_with_state(db, bead_id)
        is_free = state["assignee"] is None if role is Role.REVIEWER else bool(state["is_claimable"])
        if not is_free or state["status"] != status:
            return None
        attempt_id, number, cursor, found = db.one(_NUMBERS, (bead_id,))
        name = _free_name(db, role, names, cursor, frozenset(json.loads(found)))
        fence = bead.fence + 1
        token = f"{attempt_id}.{fence}.{db.token_source()}"
        begun = Attempt(attempt_id, bead_id, number, role, name, fence, token, now, agent, base)
        begun = replace(begun, provider=provider, model=model)
        db.insert("attempts", rows.attempt_values(begun), (*rows_of(bead_id, attempt_id), _begun(attempt_id)))
        data = {"role": role.value, "name": name, "agent": agent, "model": model, "number": number}
        events_db.append(db, now, kind, bead_id, "nobrakes", data, attempt_id)
        changes = moves.columns(advance(bead, kind)) | {
            "assignee": name,
            "fence": fence,
            "lease_until": now + lease_seconds,
            "retry_at": None,
            "branch": bead.branch or named(bead, branch_pattern),
        }
        moves.move(db, bead_id, changes, now, state)
        return begun


def _free_name(db: Database, role: Role, names: Sequence[str], cursor: str | int, in_use: frozenset[str]) -> str:
    if role is Role.REVIEWER:
        numbered = (REVIEWER_NAME, *(f"{REVIEWER_NAME} {number}" for number in range(2, len(in_use) + 3)))
        return next(name for name in numbered if name not in in_use)
    name, following = next_name(names, int(cursor), in_use)
    values, only = (NAME_CURSOR, str(following)), (f"settings {NAME_CURSOR}",)
    db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", values, only)
    return name


def close_attempt(
    db: Database,
    attempt_: Attempt,
    kind: Kind,
    outcome: Outcome,
    *,
    detail: str = "",
    head: str | None = None,
    log: AttemptLog | None = None,
    data: Mapping[str, Any] | None = None,
    counts: bool = False,
    retry_at: float | None = None,
    escalation: NewEscalation | None = None,
    merged_commit: str | None = None,
) -> Bead:
    """End the attempt, advance the bead by `kind`, free the lock and file the escalation in one transaction. A stopping
    escalation then moves the bead to escalated, with `kind`'s status to return to. Stale if the attempt has ended."""
    now = db.now()
    with db.write():
        bead, state = moves.bead_with_state(db, attempt_.bead)
        current = _still_open(db, attempt_, bead)
        kept = log or current.log
        _write_end(db, replace(current, outcome=outcome, ended_at=now, detail=detail, head=head, log=kept), data)
        told = {
            "outcome": outcome.value,
            "detail": detail[:500],
            "role": current.role.value,
            "name": current.name,
            "number": current.number,
            "head": head or current.head,
            "merged_commit": merged_commit,
        }
        events_db.append(db, now, kind, bead.id, "nobrakes", told, current.id)
        filed = decisions_db.file(db, escalation, bead.id, current.id, "nobrakes", now) if escalation else None
        stops = filed is not None and filed.type in STOPS_BEAD
        move = advance(bead, kind, Facts(is_asked=stops or moves.has_stopping(db, bead.id)))
        changes = moves.columns(move) | {
            "assignee": None,
            "lease_until": None,
            "failures": bead.failures + counts,
            "retry_at": retry_at,
            "branch_kept": kind in _HANDED_IN or kept.keep_branch,
        }
        if move.status in CLOSED:
            changes |= {"closed_at": now, "close_reason": kind.value, "branch_kept": False}
            changes |= {"retry_at": None, "merged_commit": merged_commit}
        if move.status is Status.ESCALATED:
            changes["retry_at"] = None  # it waits for a person, not for a time: a run need not stay for it
            decisions_db.remember(db, bead.id, move)
        moves.apply(db, bead, changes, now, state)
        return get_bead(db, bead.id)


def _write_end(db: Database, ended: Attempt, data: Mapping[str, Any] | None) -> None:
    db.run(
        "UPDATE attempts SET outcome = :outcome, ended_at = :ended_at, detail = :detail, head = coalesce(:head, head), "
        "summary = :summary, blockers = :blockers, learnings = :learnings, keep_branch = :keep_branch, "
        "data = coalesce(:data, data) WHERE id = :id",
        {**as_values(ended), **as_values(ended.log), "data": None if data is None else rows.attempt_data(data)},
        rows_of(ended.bead, ended.id),
    )


def _still_open(db: Database, attempt_: Attempt, bead: Bead) -> Attempt:
    row = _row(db, attempt_.bead, attempt_.id)
    if row is None or row["outcome"] is not None or not row["fence"] == bead.fence == attempt_.fence:
        raise Stale(f"attempt {attempt_.number} of bead {attempt_.bead} has ended already")
    return rows.attempt(row)


def get_attempt(db: Database, attempt_id: int) -> Attempt:
    """One attempt."""
    bead = bead_of_attempt(db, attempt_id)
    row = None if bead is None else _row(db, bead, attempt_id)
    if row is None:
        raise NobrakesError(f"there is no attempt {attempt_id}", "`nobrakes history BEAD` shows a bead's attempts.")
    return rows.attempt(row)


def attempts(db: Database, bead_id: str) -> list[Attempt]:
    """Oldest first. Raises NoSuchBead."""
    if not (found := _bead_rows(db, bead_id)) and db.maybe("SELECT 1 FROM beads WHERE id = ?", (bead_id,)) is None:
        raise NoSuchBead(f"there is no bead '{bead_id[:80]}'")
    return [rows.attempt(row) for row in found]


def _bead_rows(db: Database, bead_id: str) -> list[Row]:
    of = (*row_of("attempts of", bead_id), "attempts *", "sessions")
    return db.all(f"{rows.ATTEMPT} WHERE bead = ? ORDER BY number", (bead_id,), of)


def _row(db: Database, bead_id: str, attempt_id: int) -> Row | None:
    return next((row for row in _bead_rows(db, bead_id) if row["id"] == attempt_id), None)


def bead_of_attempt(db: Database, attempt_id: int) -> str | None:
    """None: there is no such attempt."""
    row = db.maybe("SELECT bead FROM attempts WHERE id = ?", (attempt_id,), (_begun(attempt_id), "attempts *"))
    return None if row is None else str(row[0])


def _begun(attempt_id: int) -> str:
    return f"attempt {attempt_id} begun"


def journal(db: Database, attempt_id: int, data: Mapping[str, Any], answers_: Mapping[int, str] = NO_ANSWERS) -> bool:
    """Replace the attempt's `data`; Stale. `answers`: as for `act_by`; False: one is outdated, nothing is written."""
    if answers_:
        with db.write():
            if not decisions_db.act_by(db, answers_, get_attempt(db, attempt_id).name, attempt_id):
                return False
            _set_data(db, attempt_id, data)
    else:
        _set_data(db, attempt_id, data)
    return True


def _set_data(db: Database, attempt_id: int, data: Mapping[str, Any]) -> None:
    bead = bead_of_attempt(db, attempt_id)
    only = () if bead is None else rows_of(bead, attempt_id)
    set_it = "UPDATE attempts SET data = ? WHERE id = ? AND outcome IS NULL"
    if not db.alone(set_it, (rows.attempt_data(data), attempt_id), only):
        found = get_attempt(db, attempt_id)
        raise Stale(f"attempt {found.number} of bead {found.bead} has ended already")


def rows_of(bead: str, number: int) -> tuple[str, ...]:
    return f"attempts of {bead}", f"attempts {number}"


def renew(db: Database, attempt_ids: Sequence[int], lease_seconds: float) -> None:
    """Prolong leases of which a third is gone; writes only if there are any."""
    now = db.now()
    due = db.all(
        "SELECT bead FROM attempts JOIN beads ON beads.id = attempts.bead WHERE outcome IS NULL "
        "AND attempts.id IN (SELECT value FROM json_each(?)) AND lease_until < ?",
        (json.dumps(list(attempt_ids)), now + lease_seconds * 2 / 3),
    )
    if due:
        with db.write():
            db.run_many(
                "UPDATE beads SET lease_until = ? WHERE id = ? AND assignee IS NOT NULL",
                [(now + lease_seconds, row[0]) for row in due],
            )


def count_on(db: Database, attempts: int, fences: Mapping[str, int], turns: int = 0, sessions: int = 0) -> bool:
    """Number attempts, turns, sessions and free beads' fences above these; returns whether any was behind."""
    counted = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('attempts', 'turns', 'sessions')"
    known = {str(row[0]): int(row[1]) for row in db.all(counted)}
    wanted = {"attempts": attempts, "turns": turns, "sessions": sessions}
    behind = {table: number for table, number in wanted.items() if number > known.get(table, 0)}
    values = [(fence, bead, fence) for bead, fence in fences.items()]
    if behind or values:
        with db.write():
            for table, number in behind.items():
                count_from(db, table, number)
            db.run_many("UPDATE beads SET fence = ? WHERE id = ? AND fence < ? AND assignee IS NULL", values)
    return bool(behind)


def count_from(db: Database, table: str, number: int) -> None:
    if not db.run("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (number, table)):
        db.run("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, number))


def attempt_of_token(db: Database, token: str) -> Attempt:
    """Raises Stale."""
    from hmac import compare_digest  # loads OpenSSL, and only agents come to the door

    number = attempt_of(token)
    row = None if number is None else db.maybe(OPEN_ATTEMPT, (number,))
    if row is None or not compare_digest(row["token"].encode(), token.encode("utf-8", "replace")):
        raise Stale("this attempt has ended, or nobrakes did not issue this token")
    return get_attempt(db, row["id"])


def hand_in(db: Database, work: ByHand) -> Attempt:
    """Pass a person's work to the Reviewer. NotAllowed: the bead is worked on or landing; Stale: fence."""
    now = db.now()
    with db.write():
        bead = get_bead(db, work.bead)
        changes = moves.moved(db, bead, Kind.HANDED_IN, {}, now)
        moves.refuse_while_it_lands(db, bead.id, bead.status)
        if bead.fence + 1 != work.fence:
            raise Stale(f"another process started on bead {bead.id} first", "Hand in the work again.")
        number = 1 + (db.one("SELECT max(number) FROM attempts WHERE bead = ?", (bead.id,))[0] or 0)
        data = {"start": work.fork, FORK: work.fork, **proposals.as_data(work.takes_back, work.built)}
        by = Attempt(0, bead.id, number, Role.PERSON, work.person, work.fence, "", now, Role.PERSON.value, work.fork)
        done = replace(by, head=work.head, ended_at=now, outcome=Outcome.COMPLETED, detail="handed in", data=data)
        attempt = db.insert("attempts", {**rows.attempt_values(done), "id": None})
        told = {"head": work.head, "number": number, "folder": work.folder, "before": bead.status.value}
        told |= {"return_to": bead.return_to and bead.return_to.value}
        events_db.append(db, now, Kind.HANDED_IN, bead.id, work.person, told, attempt)
        changes |= {"held": None, "fence": work.fence, "branch_kept": True}
        moves.apply(db, bead, changes, now)
        return get_attempt(db, attempt)


_IS_ALIVE = "SELECT 1 FROM attempts WHERE id = :id AND outcome IS NULL UNION ALL SELECT 1 FROM runs WHERE attempt = :id"


# Who held a session last stands with it; what holds of that attempt is asked when the next one comes.
def hold_session(db: Database, session: str, attempt: int, fresh: bool = False) -> bool:
    """Reserve the agent's session for the attempt while it or its process lives. False: another bead's, another run may
    live, or it is to be `fresh` and was used."""
    with db.write():
        row = db.maybe("SELECT * FROM sessions WHERE provider_session = ?", (session,))
        one = get_attempt(db, attempt)
        owner, agent = bead_owner(one.bead), (one.agent, one.provider, one.model)
        if row is None:
            values = rows.new_session(SessionKind.ATTEMPT, owner, agent, State.IDLE, db.now(), provider_session=session)
            _give(db, db.insert("sessions", values, (f"sessions of {attempt}",)), one)
            return True
        if row["attempt"] != attempt:
            if row["disputed"]:
                return False
            if row["owner"] != owner:
                if fresh:  # a CLI names it that was heard later: which of the two speaks the truth, nobody can tell
                    db.run("UPDATE sessions SET disputed = 1 WHERE id = ?", (row["id"],))
                return False
            if fresh or db.maybe(_IS_ALIVE, {"id": row["attempt"]}) is not None:
                return False
        _give(db, row["id"], one)
        return True


def is_session(db: Database, provider_session: str) -> bool:
    return db.maybe("SELECT 1 FROM sessions WHERE provider_session = ?", (provider_session,)) is not None


def _give(db: Database, session: int, one: Attempt) -> None:
    values = (one.id, db.now(), session)
    db.run("UPDATE sessions SET attempt = ?, updated_at = ? WHERE id = ?", values, (f"sessions {session}",))
    db.run("UPDATE attempts SET session = ? WHERE id = ?", (session, one.id), rows_of(one.bead, one.id))
