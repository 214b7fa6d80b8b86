"""What hot commands need of the database: tokens, conditions, one connection, rows as JSON.

Tokens: "<attempt>.<fence>.<secret>" of an attempt, "s<turn>.<session>.<secret>" of a session's turn.

Imports nothing, since hot commands read them.
"""

import os
import time
from _sqlite3 import Error, connect

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import TypeVar

    T = TypeVar("T")


VERSION = 9
"""Of the schema: schema.sql makes an empty database of it, migrations.py brings an earlier one to it."""


def attempt_of(token: str) -> int | None:
    """The attempt that a token names, whether or not it is genuine."""
    first = token.split(".", 1)[0]
    return int(first) if first.isascii() and first.isdigit() and len(first) < 19 else None


def turn_of(token: str) -> int | None:
    """The turn that a token names, whether or not it is genuine."""
    return attempt_of(token[1:]) if token[:1] == "s" else None


# A partial index serves a query only when both say the same words, so hot commands, the store and the tables share
# these.
UNOBSTRUCTED = "open_blockers = 0 AND held IS NULL AND asleep = 0"
"""Nothing is in the way of the bead: blockers are done, parents free, it is not held or deferred."""

CLAIMABLE = (
    f"status IN ('needs_tests', 'needs_doer') AND type <> 'epic' AND {UNOBSTRUCTED} "
    "AND resting = 0 AND assignee IS NULL"
)
"""Ready, by beads.readiness's rule."""

REVIEWABLE = f"status = 'needs_review' AND {UNOBSTRUCTED} AND resting = 0 AND assignee IS NULL"
"""In the Reviewer's queue."""

ESTIMATED = "estimate IS NOT NULL AND type <> 'epic'"
"""Somebody said how long it takes."""

EPIC_COMPLETE = f"type = 'epic' AND status = 'open' AND open_children = 0 AND done_children > 0 AND {UNOBSTRUCTED}"
"""A live epic whose children are closed, and not all of them cancelled."""

EPIC_LANDED = f"type = 'epic' AND status = 'open' AND {UNOBSTRUCTED}"
"""A live epic that can be reviewed as a whole, once all in it that is not closed has landed."""

IN_ORDER = "ORDER BY rank, b_level DESC, dependents DESC, ready_since DESC, id"
"""The Assigner's order; the indexes hold it. Of equals the one whose way has just become free goes on with what was
begun; what waits meanwhile rises (beads.graph)."""

PRIORITY_OF_FORM = "coalesce(json_extract(nullif(form, ''), '$.priority'), 2)"
"""How urgent an escalation is, by decisions.forms.priority_of's rule."""

PROPOSED = "proposed <> '{}'"
"""Something is proposed for the bead. Of a row of `bead_text`."""

CLOSES_OFF = "(status IN ('draft', 'cancelled') OR held IS NOT NULL OR asleep = 1 OR open_blockers > 0)"
"""Whether the bead, as a parent, keeps its children from being started."""

UNFINISHED = "status NOT IN ('done', 'cancelled')"
"""Not closed: beads.model.CLOSED."""

FEATURE_GOES_ON = (
    "(state NOT IN ('completed', 'rolled_back') "
    "OR (state = 'completed' AND json_extract(data, '$.rollback') IS NOT NULL))"
)
"""Not over (features.model.OVER), or being rolled back. Of a row of `features`."""

DID = """UPDATE turns SET data = json_set(data, '$.did',
json_insert(coalesce(json_extract(data, '$.did'), json('[]')), '$[#]', :what))
WHERE id = :turn AND NOT EXISTS (SELECT 1 FROM json_each(turns.data, '$.did') WHERE value = :what)"""
"""Notes in the turn's data what its agent did in it, once: its words need not be read then."""

NOW = "round((julianday('now') - 2440587.5) * 86400.0, 3)"
"""The database's clock: seconds since 1970 UTC, in milliseconds."""


def now() -> float:
    """What NOW says to SQLite, without asking it."""
    return time.time_ns() // 1_000_000 / 1000


WAITS = f"(({CLAIMABLE}) OR ({REVIEWABLE}))"
"""Who competes, and rises when it has waited."""

DUE = """SELECT id, 1 AS asleep FROM beads WHERE asleep = 1 AND defer_until <= :now
UNION ALL SELECT id, 0 FROM beads WHERE resting = 1 AND retry_at <= :now"""
"""Beads whose deferral or retry has come due, and that nobody has woken yet."""

RISING = f"SELECT id FROM beads INDEXED BY beads_rising WHERE {WAITS} AND rises_at <= :now"
"""Beads that compete one class higher from now on."""

OPEN_ATTEMPT = """SELECT attempts.* FROM attempts
JOIN beads ON beads.id = attempts.bead AND beads.fence = attempts.fence
WHERE attempts.id = ? AND outcome IS NULL"""
"""The attempt that a token may speak for: not ended, and its fence is the bead's."""

GOING = "ended_at IS NULL AND kind <> 'attempt'"
"""A session of its own that has not ended; those of attempts go with their attempts."""


def file_uri(path: str, how: str) -> str:
    """The address by which SQLite opens this absolute path, in the way `how`, whatever signs are in its name."""
    return f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?{how}"


# What is rare (an earlier version, an error) imports the whole store when it happens.
def connected(path: str, work: "Callable[[Connection], T]") -> "T":
    """What `work` makes of a connection to an existing database; errors for what can go wrong with that."""
    try:
        connection = connect(file_uri(path, "mode=rw"), timeout=30.0, isolation_level=None, uri=True)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version != VERSION:
                from .database import Database

                Database(path).close()  # brings an earlier version to this one, or says what is wrong
            return work(connection)
        finally:
            connection.close()
    except Error as error:
        from .database import translated

        clear = translated(error, path) if os.path.exists(path) else _missing(path)
        if clear is None:
            raise
        raise clear from error


def _missing(path: str) -> Exception:
    from .database import missing

    return missing(path)


def json_object(fields: str) -> str:
    """json_object of space-separated columns; `?name` is a truth value, `{name` holds JSON already."""
    parts = []
    for field in fields.split():
        name = field.lstrip("?{")
        value = name
        if field[0] == "?":
            value = f"json(iif({name}, 'true', 'false'))"
        elif field[0] == "{":
            value = f"json({name})"
        parts.append(f"'{name}', {value}")
    return f"json_object({', '.join(parts)})"


BEAD_FIELDS = (
    "id title type description {acceptance priority {labels epic estimate ?needs_tests ?scaffolding {touches notes "
    "{metadata status held defer_until created_at updated_at closed_at close_reason failures retry_at assignee fence "
    "lease_until return_to ?branch_kept merged_commit branch {proposed"
)
ADDED = tuple(name.lstrip("?{") for name in BEAD_FIELDS.partition("{proposed")[2].split())
"""beads.model.ADDED: what shows a bead shows these by their names."""
BEAD = json_object(BEAD_FIELDS)
"""A row of `beads` with its `bead_text`."""
LOG = json_object("summary blockers learnings ?keep_branch")
"""What an attempt left for the next one."""

# The JSON says what records.plain says of the same beads; tests compare the two.
_READY = f"""SELECT json_group_array(json(bead)) FROM (SELECT {BEAD} AS bead
FROM beads INDEXED BY beads_claimable JOIN bead_text USING (id) WHERE {CLAIMABLE} {IN_ORDER} LIMIT ?)"""
_HOW_MANY = f"SELECT count(*) FROM beads INDEXED BY beads_claimable WHERE {CLAIMABLE}"
_SHOW = f"SELECT {BEAD} FROM beads JOIN bead_text USING (id) WHERE id = ?"
_DEPENDENCIES = f"""SELECT json_group_array(json({json_object("bead needs type")})) FROM (
SELECT bead, needs, type FROM edges WHERE bead = :id UNION SELECT bead, needs, type FROM edges WHERE needs = :id
UNION SELECT id, epic, 'parent-child' FROM beads WHERE id = :id AND epic IS NOT NULL
UNION SELECT id, epic, 'parent-child' FROM beads WHERE epic = :id ORDER BY 1, 2, 3)"""
_ATTEMPT = json_object(
    "id bead number role name fence started_at agent base head ended_at outcome detail {log {data provider model "
    "cost_usd tokens session provider_session"
)
_ATTEMPTS = f"""SELECT json_group_array(json({_ATTEMPT})) FROM (SELECT id, bead, number, role, name, fence, started_at,
agent, base, head, ended_at, outcome, detail, {LOG} AS log,
iif(said IS NULL, data, json_set(data, '$.said', said)) AS data, provider, model, cost_usd, tokens, session,
(SELECT provider_session FROM sessions WHERE sessions.id = attempts.session) AS provider_session
FROM attempts WHERE bead = :id ORDER BY number)"""
_ESCALATION = json_object(
    "id type bead title detail target attempt {evidence hypothesis created_at answer answered_at resolved_at "
    "resolution return_to session {form {value read_at"
)
_KEPT = {
    **dict.fromkeys(("title", "url", "says", "branch", "into", "head", "base", "merged_as"), "''"),
    **dict.fromkeys(("checks", "remarks", "approved_by"), "'[]'"),
    **dict.fromkeys(("number", "opened_at", "looked_at"), "0"),
    "state": "'opening'",
}


def _kept(name: str) -> str:
    """The SQL of a field of a pull request; one that an earlier version did not keep is as at first."""
    found = f"coalesce(json_extract(value, '$.{name}'), {_KEPT[name]})"
    return f"json({found})" if _KEPT[name] == "'[]'" else found


_URL = _kept("url")
_PAGE = f"iif(substr({_URL}, 1, 8) = 'https://' OR substr({_URL}, 1, 7) = 'http://', {_URL}, '')"
_FIELDS = [
    *("number", "state", "title", "url", "page", "says", "branch", "into", "head", "base", "merged_as"),
    *("checks", "remarks", "approved_by", "opened_at", "looked_at"),
]
_REQUEST_FIELDS = ", ".join(f"'{name}', {_PAGE if name == 'page' else _kept(name)}" for name in _FIELDS)
_REQUEST = f"SELECT json_object('bead', :id, {_REQUEST_FIELDS}) FROM settings WHERE key = 'pull/' || :id"
_ESCALATIONS = f"""SELECT json_group_array(json_set({_ESCALATION}, '$.behind', :behind)) FROM (
SELECT id, type, bead, title, detail, target, attempt, evidence, hypothesis, created_at, answer, answered_at,
resolved_at, resolution, return_to, session, nullif(form, '') AS form, value, read_at
FROM escalations WHERE bead = :id AND resolved_at IS NULL ORDER BY {PRIORITY_OF_FORM}, id)"""


def ready_json(path: str, limit: int) -> "tuple[str, int]":
    """The first `limit` ready beads in the Assigner's order, as a JSON array of objects with every field of Bead; and
    how many more are ready.
    """

    def work(connection: "Connection") -> "tuple[str, int]":
        moment = {"now": now()}
        if any(connection.execute(sql, moment).fetchone() is not None for sql in (DUE, f"{RISING} LIMIT 1")):
            from ..store import open_store

            store = open_store(path)
            store.ready(1)  # lets in what has come due, and lets rise what has waited for a day
            store.close()
        connection.execute("BEGIN")
        found = str(connection.execute(_READY, (limit,)).fetchone()[0])
        return found, max(0, connection.execute(_HOW_MANY).fetchone()[0] - limit)

    return connected(path, work)


def show_json(path: str, bead: str) -> "str | None":
    """One bead with every field, `dependencies` in both directions, `attempts`, open `escalations` and its newest
    `request` at a code host; None: no such.

    Nobody's token is in it.
    """

    def work(connection: "Connection") -> "str | None":
        connection.execute("BEGIN")
        row = connection.execute(_SHOW, (bead,)).fetchone()
        if row is None:
            return None
        values = {"id": bead, "behind": 0}
        if connection.execute("SELECT 1 FROM escalations WHERE bead = :id AND resolved_at IS NULL", values).fetchone():
            from ..decisions.db import behind

            values["behind"] = behind(connection.execute, bead)
        more = ""
        for name, sql in (("dependencies", _DEPENDENCIES), ("attempts", _ATTEMPTS), ("escalations", _ESCALATIONS)):
            more += f',"{name}":{connection.execute(sql, values).fetchone()[0]}'
        asked = connection.execute(_REQUEST, values).fetchone()
        return f'{row[0][:-1]}{more},"request":{asked[0] if asked else "null"}}}'

    return connected(path, work)
