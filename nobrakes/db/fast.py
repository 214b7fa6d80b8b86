"""What hot commands need of the database: tokens, conditions, one connection, rows as JSON.

Tokens: "<attempt>.<fence>.<secret>" of an attempt, "s<turn>.<session>.<secret>" of a session's turn.

Imports nothing of nobrakes at its top, since hot commands load it.
"""

import os
import time
from _sqlite3 import Error, connect

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Callable
    from sqlite3 import Connection
    from typing import Any, TypeVar

    T = TypeVar("T")


VERSION = 11
"""The schema's version: schema.sql makes it, migrations.py upgrades to it."""


def attempt_of(token: str) -> int | None:
    first = token.split(".", 1)[0]
    return int(first) if first.isascii() and first.isdigit() and len(first) < 19 else None


def turn_of(token: str) -> int | None:
    return attempt_of(token[1:]) if token[:1] == "s" else None


# A partial index serves a query only when both say the same words, so hot commands, the store and the tables share
# these.
UNOBSTRUCTED = "open_blockers = 0 AND held IS NULL AND asleep = 0"
"""Blockers are done, parents free; neither held nor deferred."""

CLAIMABLE = (
    f"status IN ('needs_tests', 'needs_doer') AND type <> 'epic' AND {UNOBSTRUCTED} "
    "AND resting = 0 AND assignee IS NULL"
)
"""Ready by the rule of beads.readiness."""

REVIEWABLE = f"status = 'needs_review' AND {UNOBSTRUCTED} AND resting = 0 AND assignee IS NULL"

ESTIMATED = "estimate IS NOT NULL AND type <> 'epic'"

EPIC_COMPLETE = f"type = 'epic' AND status = 'open' AND open_children = 0 AND done_children > 0 AND {UNOBSTRUCTED}"
"""A live epic with closed children, not all cancelled."""

EPIC_LANDED = f"type = 'epic' AND status = 'open' AND {UNOBSTRUCTED}"
"""A live epic to review as a whole, once its open beads have landed."""

IN_ORDER = "ORDER BY rank, b_level DESC, dependents DESC, freed_at DESC, created_at, beads.rowid"
"""The Assigner's order; the indexes have it. Among equals the latest unblocked continues begun work, then the order of
the source decides, which `created_at` keeps; waiting ones rise (beads.graph)."""

LISTED = "ORDER BY priority, created_at, beads.rowid"
"""The order of every other list of beads."""

PRIORITY_OF_FORM = "coalesce(json_extract(nullif(form, ''), '$.priority'), 2)"
"""An escalation's urgency, by the rule of decisions.forms.priority_of."""

PROPOSED = "proposed <> '{}'"

CLOSES_OFF = "(status IN ('draft', 'cancelled') OR held IS NOT NULL OR asleep = 1 OR open_blockers > 0)"
"""Whether the bead keeps its children from starting."""

UNFINISHED = "status NOT IN ('done', 'cancelled')"

FEATURE_GOES_ON = (
    "(state NOT IN ('completed', 'rolled_back') "
    "OR (state = 'completed' AND json_extract(data, '$.rollback') IS NOT NULL))"
)
"""In `features`: not over (State.COMPLETED and State.ROLLED_BACK of features.model), or being rolled back."""

DID = """UPDATE turns SET data = json_set(data, '$.did',
json_insert(coalesce(json_extract(data, '$.did'), json('[]')), '$[#]', :what))
WHERE id = :turn AND NOT EXISTS (SELECT 1 FROM json_each(turns.data, '$.did') WHERE value = :what)"""
"""Records once what a turn's agent did, so that its words need no parsing."""

NOW = "round((julianday('now') - 2440587.5) * 86400.0, 3)"
"""The database's clock: seconds since 1970 UTC, in milliseconds."""


def now() -> float:
    return time.time_ns() // 1_000_000 / 1000


WAITS = f"(({CLAIMABLE}) OR ({REVIEWABLE}))"

DUE = """SELECT id, 1 AS asleep FROM beads WHERE asleep = 1 AND defer_until <= :now
UNION ALL SELECT id, 0 FROM beads WHERE resting = 1 AND retry_at <= :now"""

RISING = f"SELECT id FROM beads INDEXED BY beads_rising WHERE {WAITS} AND rises_at <= :now"

OPEN_ATTEMPT = """SELECT attempts.* FROM attempts
JOIN beads ON beads.id = attempts.bead AND beads.fence = attempts.fence
WHERE attempts.id = ? AND outcome IS NULL"""
"""A token's attempt: open, with the bead's fence."""

GOING = "ended_at IS NULL AND kind <> 'attempt'"


def file_uri(path: str, how: str) -> str:
    return f"file:{path.replace('%', '%25').replace('?', '%3f').replace('#', '%23')}?{how}"


# What is rare (an earlier version, an error) imports the whole store when it happens.
def connected(path: str, work: "Callable[[Connection], T]") -> "T":
    """Run `work` on a connection to an existing database; converts errors."""
    try:
        connection = connect(file_uri(path, "mode=rw"), timeout=30.0, isolation_level=None, uri=True)
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0] != VERSION:
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


# Settings of daemon.model, read without it. git.objects reads a ref too, but its import costs more than a hot command;
# what is in doubt here is looked at with git.
_MAIN = """SELECT compared, frozen = :tip,
iif(green = :tip OR compared IS NULL, 1, EXISTS (SELECT 1 FROM beads WHERE merged_commit = :tip)) FROM
(SELECT max(iif(key = 'compared', value, NULL)) AS compared, max(iif(key = 'frozen', value, '')) AS frozen,
max(iif(key = 'canary' AND json_valid(value), json_extract(value, '$.green'), '')) AS green FROM settings)"""


def main_moved(execute: "Callable[..., Any]", root: str, branch: str) -> bool:
    """Whether `branch` is not where a merge or its monitor left it green, by its ref and without git. False where no
    daemon ever compared it with the database."""
    tip = _tip(f"{root}/.git", branch)
    [(compared, is_frozen, is_known)] = execute(_MAIN, {"tip": tip})
    return compared is not None and bool(not tip or is_frozen or not is_known)


def _tip(folder: str, branch: str) -> str:
    """The branch's commit; "" where its git folder lies elsewhere."""
    try:
        with open(f"{folder}/refs/heads/{branch}", encoding="ascii") as file:
            return file.read().strip()
    except (OSError, ValueError):
        pass
    try:
        with open(f"{folder}/packed-refs", encoding="utf-8", errors="replace") as file:
            return next((line[:-1].split(" ")[0] for line in file if line.endswith(f" refs/heads/{branch}\n")), "")
    except OSError:
        return ""


def _missing(path: str) -> Exception:
    from .database import missing

    return missing(path)


def json_object(fields: str, **values: str) -> str:
    """json_object of space-separated columns, or of `values`; `?name` is a truth value, `{name` holds JSON."""
    parts = []
    for field in fields.split():
        name = field.lstrip("?{")
        value = values.get(name, name)
        if field[0] == "?":
            value = f"json(iif({value}, 'true', 'false'))"
        elif field[0] == "{":
            value = f"json({value})"
        parts.append(f"'{name}', {value}")
    return f"json_object({', '.join(parts)})"


BEAD_FIELDS = (
    "id title type description {acceptance priority {labels epic estimate ?needs_tests ?scaffolding {touches notes "
    "{metadata status held defer_until created_at updated_at closed_at close_reason failures retry_at assignee fence "
    "lease_until return_to ?branch_kept merged_commit branch {proposed"
)
ADDED = tuple(name.lstrip("?{") for name in BEAD_FIELDS.partition("{proposed")[2].split())
BEAD = json_object(BEAD_FIELDS)
LOG = json_object("summary blockers learnings ?keep_branch")

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
    "cost_usd tokens session provider_session",
    log=LOG,
    data="iif(said IS NULL, data, json_set(data, '$.said', said))",
    provider_session="(SELECT provider_session FROM sessions WHERE sessions.id = attempts.session)",
)
_ATTEMPTS = f"""SELECT json_group_array(json({_ATTEMPT}))
FROM (SELECT * FROM attempts WHERE bead = :id ORDER BY number) AS attempts"""
_ESCALATION = json_object(
    "id type bead title detail target attempt {evidence hypothesis created_at answer answered_at resolved_at "
    "resolution return_to session {form {value read_at",
    form="nullif(form, '')",
)
_DEFAULTS = {
    **dict.fromkeys(("title", "url", "says", "branch", "into", "head", "base", "merged_as"), "''"),
    **dict.fromkeys(("checks", "remarks", "approved_by"), "'[]'"),
    **dict.fromkeys(("number", "opened_at", "looked_at"), "0"),
    "state": "'opening'",
}


def _kept(name: str) -> str:
    found = f"coalesce(json_extract(value, '$.{name}'), {_DEFAULTS[name]})"
    return f"json({found})" if _DEFAULTS[name] == "'[]'" else found


_URL = _kept("url")
_PAGE = f"iif(substr({_URL}, 1, 8) = 'https://' OR substr({_URL}, 1, 7) = 'http://', {_URL}, '')"
_FIELDS = [
    *("number", "state", "title", "url", "page", "says", "branch", "into", "head", "base", "merged_as"),
    *("checks", "remarks", "approved_by", "opened_at", "looked_at"),
]
_REQUEST_FIELDS = ", ".join(f"'{name}', {_PAGE if name == 'page' else _kept(name)}" for name in _FIELDS)
_REQUEST = f"SELECT json_object('bead', :id, {_REQUEST_FIELDS}) FROM settings WHERE key = 'pull/' || :id"
_ESCALATIONS = f"""SELECT json_group_array(json_set({_ESCALATION}, '$.behind', :behind)) FROM (
SELECT * FROM escalations WHERE bead = :id AND resolved_at IS NULL ORDER BY {PRIORITY_OF_FORM}, id)"""


_PAID = """SELECT provider, round(coalesce(sum(cost_usd), 0), 6), coalesce(sum(tokens), 0),
coalesce(sum(iif(cost_usd > 0, 0, tokens)), 0),
round(sum(max(0, coalesce(ended_at, :now) - max(started_at, :since))), 3)
FROM ({}) GROUP BY provider ORDER BY provider"""
PAID_RUN = "SELECT provider, cost_usd, tokens, started_at, ended_at FROM"
_IN_TIME = "started_at >= :since - 86400 AND coalesce(ended_at, :now) > :since"
BY_AGENTS = "role NOT IN ('reviewer', 'person')"
COST_SINCE = f"{PAID_RUN} attempts WHERE {BY_AGENTS} AND {_IN_TIME} UNION ALL {PAID_RUN} turns WHERE {_IN_TIME}"
"""Agents that worked at some time since then."""
COST_OF_BEAD = f"""WITH RECURSIVE below (id) AS
(SELECT :id UNION SELECT beads.id FROM beads JOIN below ON beads.epic = below.id)
{PAID_RUN} attempts WHERE bead IN below AND {BY_AGENTS} UNION ALL {PAID_RUN} turns WHERE session IN (
SELECT sessions.id FROM below JOIN sessions ON owner = 'bead:' || below.id AND kind = 'code_review'
UNION SELECT session FROM features WHERE id IN below UNION SELECT session FROM plan_reviews WHERE feature IN below)"""
"""Agents on a bead, an epic's beads or a feature, with its reviews."""
_PRICES = """SELECT provider, sum(cost_usd) / sum(tokens) FROM (
SELECT provider, cost_usd, tokens FROM attempts WHERE id > (SELECT max(id) FROM attempts) - 1000
UNION ALL SELECT provider, cost_usd, tokens FROM turns WHERE id > (SELECT max(id) FROM turns) - 1000)
WHERE cost_usd > 0 AND tokens > 0 GROUP BY provider"""
"""Dollars for a token, by what agents of the provider reported lately."""


def cost(ask: "Callable[[str, Any], Any]", of: str, values: "dict[str, Any]") -> "dict[str, Any]":
    """The values of an agents.limits.Cost; tokens without a reported cost at their provider's price, if it is known."""
    rows = [tuple(row) for row in ask(_PAID.format(of), {"now": now(), "since": 0.0, **values})]
    prices = dict(map(tuple, ask(_PRICES, {}))) if any(row[3] for row in rows) else {}
    found = []
    for provider, usd, tokens, unpriced, seconds in rows:
        about = round(unpriced * prices.get(provider, 0.0), 6)
        found.append({"provider": provider, "usd": usd, "estimated": about, "tokens": tokens, "seconds": seconds})
    sums = {name: round(sum(one[name] for one in found), 6) for name in ("usd", "estimated", "tokens", "seconds")}
    return {**sums, "providers": found}


def ready_json(path: str, limit: int) -> "tuple[str, int]":
    """The first `limit` ready beads in the Assigner's order as JSON with every field, and the number of others."""

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
    """A bead, `dependencies` both ways, `attempts`, open `escalations`, newest `request`, `cost`, no token; or None."""

    def work(connection: "Connection") -> "str | None":
        connection.execute("BEGIN")
        if (row := connection.execute(_SHOW, (bead,)).fetchone()) is None:
            return None
        values = {"id": bead, "behind": 0}
        if connection.execute("SELECT 1 FROM escalations WHERE bead = :id AND resolved_at IS NULL", values).fetchone():
            from ..decisions.db import behind

            values["behind"] = behind(connection.execute, [bead])[bead]
        more = ""
        for name, sql in (("dependencies", _DEPENDENCIES), ("attempts", _ATTEMPTS), ("escalations", _ESCALATIONS)):
            more += f',"{name}":{connection.execute(sql, values).fetchone()[0]}'
        asked = connection.execute(_REQUEST, values).fetchone()
        from ..lightjson import dumps

        paid = dumps(cost(connection.execute, COST_OF_BEAD, {"id": bead}))
        return f'{row[0][:-1]}{more},"request":{asked[0] if asked else "null"},"cost":{paid}}}'

    return connected(path, work)
