"""What `ready` and `show` need of the store: JSON text built by SQLite.

1. Importing this costs three small modules: no json, re, enum, dataclasses, typing, nothing of core.
2. The JSON says what core.public.values.plain says of the same beads; tests compare the two.
"""

from ..conditions import CLAIMABLE, DUE, IN_ORDER, PRIORITY_OF_FORM, RISING, now
from .asjson import BEAD, LOG, json_object
from .connection import connected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sqlite3 import Connection

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
    **dict.fromkeys(("title", "url", "says", "branch", "onto", "into", "head", "base", "merged_as"), "''"),
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
    *("number", "state", "title", "url", "page", "says", "branch", "onto", "into", "head", "base", "merged_as"),
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
            from ..opening import open_store

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
            from ..waiting import behind

            values["behind"] = behind(connection.execute, bead)
        more = ""
        for name, sql in (
            ("dependencies", _DEPENDENCIES),
            ("attempts", _ATTEMPTS),
            ("escalations", _ESCALATIONS),
        ):
            more += f',"{name}":{connection.execute(sql, values).fetchone()[0]}'
        asked = connection.execute(_REQUEST, values).fetchone()
        return f'{row[0][:-1]}{more},"request":{asked[0] if asked else "null"}}}'

    return connected(path, work)
