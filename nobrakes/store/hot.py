"""What hot commands need of the store: JSON text built by SQLite, and what agents write at their door.

1. Importing this costs two small modules: no json, re, enum, dataclasses, typing, nothing of core. What is rare (an
   error, a deferral that has come due) imports the whole store when it happens.
2. The JSON says what cli.output.plain says of the same beads; tests compare the two.
3. A door opens for the token of an attempt that is open and whose fence is the bead's; Stale for any other.
4. What agents write is cut at LIMIT characters, and holds no NUL and nothing that is not UTF-8.
"""

import os
import sys
from _operator import _compare_digest
from _sqlite3 import Error, connect

from .asjson import json_object as _json_object
from .conditions import CLAIMABLE, DUE, IN_ORDER, NOW, OPEN_ATTEMPT
from .flood import QUESTIONS, REMARKS, refuse_flood
from .schema import VERSION
from .tokens import attempt_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import TypeVar

    T = TypeVar("T")

LIMIT = 8000
CUT = " […]"
SAYING = {"log": "logged", "progress": "progressed", "notify": "notified"}
SAID = ("completed", "gave_up_context", "gave_up_tests", "failed", "blocked")


BEAD_FIELDS = (
    "id title type description {acceptance priority {labels epic estimate ?needs_tests ?scaffolding {touches notes "
    "{metadata status held defer_until created_at updated_at closed_at close_reason failures retry_at assignee fence "
    "lease_until return_to ?branch_kept merged_commit"
)
_BEAD = _json_object(BEAD_FIELDS)
_READY = f"""SELECT json_group_array(json(bead)) FROM (SELECT {_BEAD} AS bead
FROM beads INDEXED BY beads_claimable JOIN bead_text USING (id) WHERE {CLAIMABLE} {IN_ORDER} LIMIT ?)"""
_SHOW = f"SELECT {_BEAD} FROM beads JOIN bead_text USING (id) WHERE id = ?"
_DEPENDENCIES = f"""SELECT json_group_array(json({_json_object("bead needs type")})) FROM (
SELECT bead, needs, type FROM edges WHERE bead = :id UNION SELECT bead, needs, type FROM edges WHERE needs = :id
UNION SELECT id, epic, 'parent-child' FROM beads WHERE id = :id AND epic IS NOT NULL
UNION SELECT id, epic, 'parent-child' FROM beads WHERE epic = :id ORDER BY 1, 2, 3)"""
_ATTEMPT = _json_object(
    "id bead number role name fence started_at agent base head ended_at outcome detail {log {data provider model "
    "cost_usd tokens"
)
_ATTEMPTS = f"""SELECT json_group_array(json({_ATTEMPT})) FROM (SELECT id, bead, number, role, name, fence, started_at,
agent, base, head, ended_at, outcome, detail, {_json_object("summary blockers learnings ?keep_branch")} AS log,
iif(said IS NULL, data, json_set(data, '$.said', said)) AS data, provider, model, cost_usd, tokens
FROM attempts WHERE bead = :id ORDER BY number)"""
_ESCALATION = _json_object(
    "id type bead title detail target attempt {evidence hypothesis created_at answer answered_at resolved_at "
    "resolution return_to"
)
_ESCALATIONS = f"""SELECT json_group_array(json_set({_ESCALATION}, '$.behind', :behind)) FROM (
SELECT * FROM escalations WHERE bead = :id AND resolved_at IS NULL ORDER BY id)"""


def _with(path: str, work: "Callable[[Connection], T]") -> "T":
    """What `work` makes of a connection to an existing database; core.errors for what can go wrong with that."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    try:
        connection = connect(f"file:{quoted}?mode=rw", timeout=30.0, isolation_level=None, uri=True)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                from .opening import open_store

                open_store(path).close()  # brings an earlier version to this one, or says what is wrong
            return work(connection)
        finally:
            connection.close()
    except Error as error:
        from .failures import translated

        clear = translated(error, path) if os.path.exists(path) else _missing(path)
        if clear is None:
            raise
        raise clear from error


def _missing(path: str) -> Exception:
    from .database import missing

    return missing(path)


def ready_json(path: str, limit: int) -> str:
    """The first `limit` ready beads in the Assigner's order, as a JSON array of objects with every field of Bead."""

    def work(connection: "Connection") -> str:
        if connection.execute(DUE, {"now": _now(connection)}).fetchone() is not None:
            from .opening import open_store

            store = open_store(path)
            store.ready(1)  # lets in what has come due
            store.close()
        return str(connection.execute(_READY, (limit,)).fetchone()[0])

    return _with(path, work)


def show_json(path: str, bead: str) -> "str | None":
    """One bead with every field, `dependencies` in both directions, `attempts` and open `escalations`; None: no such.

    Nobody's token is in it.
    """

    def work(connection: "Connection") -> "str | None":
        connection.execute("BEGIN")
        row = connection.execute(_SHOW, (bead,)).fetchone()
        if row is None:
            return None
        values = {"id": bead, "behind": 0}
        if connection.execute("SELECT 1 FROM escalations WHERE bead = :id AND resolved_at IS NULL", values).fetchone():
            from .behind import behind

            values["behind"] = behind(connection.execute, bead)
        more = ""
        for name, sql in (
            ("dependencies", _DEPENDENCIES),
            ("attempts", _ATTEMPTS),
            ("escalations", _ESCALATIONS),
        ):
            more += f',"{name}":{connection.execute(sql, values).fetchone()[0]}'
        return f"{row[0][:-1]}{more}}}"

    return _with(path, work)


def _now(connection: "Connection") -> float:
    return float(connection.execute(f"SELECT {NOW}").fetchone()[0])


def bounded(text: str) -> str:
    """An agent's text as the store takes it."""
    clean = text.replace("\0", "").encode("utf-8", "replace").decode()
    return clean if len(clean) <= LIMIT else clean[: LIMIT - len(CUT)] + CUT


def _door(connection: "Connection", token: str) -> "tuple[int, str, str]":
    """(attempt, bead, name) that the token speaks for."""
    number = attempt_of(token)
    if number is not None:
        sql = f"SELECT token, id, bead, name FROM ({OPEN_ATTEMPT})"
        row = connection.execute(sql, (number,)).fetchone()
        if row is not None and _compare_digest(row[0].encode(), token.encode("utf-8", "replace")):
            return row[1], row[2], row[3]
    from ..core.errors import Stale

    raise Stale("this attempt has ended, or the token is not one of nobrakes")


def _at_door(path: str, token: str, work: "Callable[[Connection, int, str, str], T]") -> "T":
    """What `work` does in one transaction that the token opens: all of it or nothing."""

    def inside(connection: "Connection") -> "T":
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("BEGIN IMMEDIATE")
        try:
            done = work(connection, *_door(connection, token))
            connection.execute("COMMIT")
            return done
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    return _with(path, inside)


_EVENT = f"INSERT INTO events (at, kind, bead, attempt, actor, data) VALUES ({NOW}, ?, ?, ?, ?, %s)"


def agent_say(path: str, token: str, kind: str, text: str, data_json: str = "{}") -> None:
    """Write a log line, a progress or a notice down: `kind` is a key of SAYING, `data_json` a JSON object."""
    event = _EVENT % "json_object('text', ?, 'data', json(?))"

    def work(connection: "Connection", attempt: int, bead: str, name: str) -> None:
        if len(data_json) > LIMIT or not connection.execute("SELECT json_valid(?)", (data_json,)).fetchone()[0]:
            from ..core.errors import UsageError

            raise UsageError(f"the data of `agent {kind}` must be JSON of at most {LIMIT} characters")
        refuse_flood(connection, bead, attempt, REMARKS)
        connection.execute(event, (SAYING[kind], bead, attempt, name, bounded(text), data_json))

    _at_door(path, token, work)


def agent_standing(path: str, token: str, asks: bool = False) -> float:
    """When the agent's attempt began. `asks`: it is about to ask a person; NotAllowed where it did so too often."""

    def work(connection: "Connection") -> float:
        attempt, bead, _ = _door(connection, token)
        if asks:
            refuse_flood(connection, bead, attempt, QUESTIONS)
        return float(connection.execute("SELECT started_at FROM attempts WHERE id = ?", (attempt,)).fetchone()[0])

    return _with(path, work)


def agent_done(
    path: str, token: str, outcome: str, summary: str, blockers: str = "", learnings: str = "", keep: bool = True
) -> None:
    """Leave the attempt's log and what the agent says of its end; the daemon reads both when the process ends."""

    def work(connection: "Connection", attempt: int, bead: str, name: str) -> None:
        if outcome not in SAID:
            from ..core.errors import UsageError

            raise UsageError(f"'{bounded(outcome)[:40]}' is no way to end", f"Use one of: {', '.join(SAID)}.")
        log = (bounded(summary), bounded(blockers), bounded(learnings), keep)
        connection.execute(
            "UPDATE attempts SET said = ?, summary = ?, blockers = ?, learnings = ?, keep_branch = ? WHERE id = ?",
            (outcome, *log, attempt),
        )
        event = _EVENT % "json_object('outcome', ?)"
        connection.execute(event, ("handed_off", bead, attempt, name, outcome))

    _at_door(path, token, work)


def agent_answer(path: str, token: str, number: "int | None" = None) -> "tuple[int, str | None]":
    """(number, answer) of a question about the agent's own bead; `number` None: the last one; answer None: not yet."""

    def work(connection: "Connection") -> "tuple[int, str | None]":
        _, bead, _ = _door(connection, token)
        row = connection.execute(
            "SELECT id, coalesce(answer, iif(resolved_at IS NULL, NULL, resolution)) FROM escalations "
            "WHERE bead = :bead AND type IN ('question', 'plan_review') "
            "AND (:number IS NULL OR id = :number) ORDER BY id DESC LIMIT 1",
            {"bead": bead, "number": number},
        ).fetchone()
        if row is None:
            from ..core.errors import NoSuchEscalation

            which = "no question" if number is None else f"no question {number}"
            raise NoSuchEscalation(f"there is {which} about {bead}", "`nobrakes agent ask QUESTION` asks one.")
        return row[0], row[1]

    return _with(path, work)


def agent_ask(path: str, token: str, question: str) -> int:
    """File a question about the agent's own bead, or find the open one that is the same; its number."""
    return _file(path, token, "question", "escalated", question, "")


def agent_escalate(path: str, token: str, title: str, detail: str = "") -> int:
    """File a suggestion, which stops nothing, or find the open one that is the same; its number."""
    return _file(path, token, "doer_suggestion", "suggested", title, detail)


_SAME = "SELECT id FROM escalations WHERE fingerprint = ? AND resolved_at IS NULL"
_FILE = """INSERT INTO escalations
(type, bead, title, detail, target, attempt, evidence, hypothesis, created_at, resolution, fingerprint)
VALUES (?, ?, ?, ?, 'human', ?, '{}', '', ?, '', ?)"""


def _file(path: str, token: str, type_: str, kind: str, title: str, detail: str) -> int:
    """What store.escalations does for a bead that is worked on, as the bead of an open attempt is: nothing moves."""
    title, detail = bounded(title), bounded(detail)

    def work(connection: "Connection", attempt: int, bead: str, name: str) -> int:
        mark = _fingerprint(type_, bead, title)
        same = connection.execute(_SAME, (mark,)).fetchone()
        if same is not None:
            return int(same[0])
        filed = (type_, bead, title, detail, attempt, _now(connection), mark)
        number = int(connection.execute(_FILE, filed).lastrowid or 0)
        event = _EVENT % "json_object('escalation', ?, 'title', ?, 'type', ?)"
        connection.execute(event, (kind, bead, attempt, name, number, title, type_))
        return number

    return _at_door(path, token, work)


def _fingerprint(type_: str, bead: str, title: str) -> str:
    """core.escalations.fingerprint, without hashlib, which loads OpenSSL."""
    if sys.version_info >= (3, 12):
        from _sha2 import sha256
    else:
        from _sha256 import sha256  # type: ignore[import-not-found]
    words = " ".join(title.split()).lower()
    return str(sha256(f"{type_}\0{bead}\0{words}".encode()).hexdigest()[:32])
