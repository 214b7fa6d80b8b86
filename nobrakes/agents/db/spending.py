"""Gates of providers, breakers of beads, costs of attempts: facts for the Assigner, read from indexes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from functools import cache

from ...beads.db import moves
from ...beads.model import bead_owner
from ...db import fast
from ...db.database import Database
from ...db.database import row as one_row
from ...db.rows import record
from ...events import db as events_db
from ...events.kinds import Kind
from ...records import as_values, frozen
from .. import limits
from ..limits import Amount, Breaker, Caps, Cooldown, Cost, Spent, State, day_start, hour_start, reset

FEW = 100
"""How many later rows are added up each time."""
KEPT = "summed:"
"""`summed:<period>:<table>` holds the period's stored sum."""

_AGENTS = {"attempts": fast.BY_AGENTS, "turns": "1"}
_PAID = "coalesce(sum(cost_usd), 0), coalesce(sum(tokens), 0), coalesce(sum(coalesce(ended_at, :now) - started_at), 0)"
_OPEN = "SELECT min(id) FROM {0} INDEXED BY {0}_open WHERE outcome IS NULL AND {1}"


# A setting keeps each period's sum up to an id before which all have ended; what came later is added to it. Who changes
# what has ended calls `forget`.
@frozen
class Sum:
    """Cost of those that began at `since` or later, with ids up to `upto`."""

    since: float
    upto: int
    usd: float = 0.0
    tokens: int = 0
    seconds: float = 0.0


def sums_since(db: Database, period: str, moment: float, now: float) -> tuple[Amount, bool]:
    """Cost of the agents begun since, with the minutes until `now`; whether many rows are not in the stored sum."""
    kept = [_kept(db, period, table, moment) for table in _AGENTS]
    after = {f"after_{table}": one.upto for table, one in zip(_AGENTS, kept, strict=True)}
    later = db.all(_later(*(one.upto > 0 for one in kept)), {"since": moment, "now": now, **after})
    parts = [*((one.usd, one.tokens, one.seconds, 0) for one in kept), *map(tuple, later)]
    usd, tokens, seconds, many = (sum(column) for column in zip(*parts, strict=True))
    return Amount(round(usd, 6), tokens, seconds / 60.0), many > FEW


def sums_move_on(db: Database, period: str, moment: float) -> None:
    """Add ended attempts to the stored sum if there are more than a few. Needs a transaction of its own."""
    newest = db.one("SELECT (SELECT max(id) FROM attempts), (SELECT max(id) FROM turns)")
    for table, last in zip(_AGENTS, newest, strict=True):
        before = _kept(db, period, table, moment)
        if (last or 0) - before.upto > FEW:
            first = db.one(_OPEN.format(table, _AGENTS[table]))[0]
            upto = last if first is None else first - 1
            if upto - before.upto > FEW:
                _keep(db, period, table, before, upto)


def forget(db: Database) -> None:
    db.run("DELETE FROM settings WHERE key >= ? AND key < ?", (KEPT, f"{KEPT[:-1]};"))


def _keep(db: Database, period: str, table: str, before: Sum, upto: int) -> None:
    sql = f"SELECT {_PAID} FROM {table} WHERE {_begin(table, before.upto > 0)} AND id <= :upto AND {_AGENTS[table]}"
    key = f"{KEPT}{period}:{table}"
    with db.write(derived=True):
        if _kept(db, period, table, before.since) != before:
            return  # another process was faster, or forgot it
        values = {"since": before.since, "now": db.now(), f"after_{table}": before.upto, "upto": upto}
        usd, tokens, seconds = db.one(sql, values)
        made = Sum(before.since, upto, before.usd + usd, before.tokens + tokens, before.seconds + seconds)
        values_of = (key, json.dumps(astuple(made)))
        db.run("INSERT OR REPLACE INTO settings (key, value) VALUES (?, ?)", values_of, (f"settings {key}",))


def _kept(db: Database, period: str, table: str, moment: float) -> Sum:
    """The period's stored sum for this time, else an empty one."""
    key = f"{KEPT}{period}:{table}"
    found = db.maybe("SELECT value FROM settings WHERE key = ?", (key,), one_row("settings", key))
    made = Sum(*json.loads(found[0])) if found else None
    return made if made is not None and made.since == moment else Sum(moment, 0)


def _begin(table: str, goes_on: bool) -> str:
    """Select by id after a sum, else by time: the plus keeps SQLite from the other index."""
    return f"id > :after_{table} AND +started_at >= :since" if goes_on else "started_at >= :since"


@cache
def _later(attempts: bool, turns: bool) -> str:
    goes_on = zip(_AGENTS.items(), (attempts, turns), strict=True)
    return " UNION ALL ".join(
        f"SELECT {_PAID}, count(*) FROM {table} WHERE {_begin(table, on)} AND {only}" for (table, only), on in goes_on
    )


RUN_SINCE = "run_since"
"""When this run began: survives crashes, removed by an orderly end."""
DAY, RUN = "day", "run"
"""Periods of caps, each with a stored sum."""

_AMOUNT = """coalesce(round(sum(cost_usd), 6), 0), coalesce(sum(tokens), 0),
coalesce(sum(coalesce(ended_at, :now) - started_at), 0) / 60.0"""
_BEADS_SPENDING = f"""SELECT bead, {_AMOUNT} FROM attempts
WHERE bead IN (SELECT value FROM json_each(:beads)) AND {fast.BY_AGENTS} GROUP BY bead"""
# not what bears a later hour, since the clock went back
_STARTED = "count(*) FROM {} WHERE started_at >= ?1 AND started_at < ?1 + 3600"
_CALLS = f"SELECT (SELECT {_STARTED.format('attempts')} AND {fast.BY_AGENTS}) + (SELECT {_STARTED.format('turns')})"


def gates(db: Database) -> dict[str, Cooldown]:
    return {row["provider"]: record(Cooldown, row) for row in db.all("SELECT * FROM gates ORDER BY provider")}


def start_cooldown(db: Database, gate: Cooldown) -> None:
    with db.write():
        if gates(db).get(gate.provider) == gate:
            return
        db.run("DELETE FROM gates WHERE provider = ?", (gate.provider,))
        db.insert("gates", as_values(gate))
        data = {"provider": gate.provider, "reason": gate.reason.value, "until": gate.until, "times": gate.times}
        events_db.append(db, db.now(), Kind.GATE_CLOSED, None, "nobrakes", {**data, "detail": gate.detail})


def end_cooldown(db: Database, provider: str, actor: str) -> bool:
    with db.write():
        if not db.run("DELETE FROM gates WHERE provider = ?", (provider,)):
            return False
        events_db.append(db, db.now(), Kind.GATE_OPENED, None, actor, {"provider": provider})
        return True


def breakers(db: Database, owner: str) -> dict[str, Breaker]:
    if not _any_breaker(db):
        return {}
    return {row["provider"]: record(Breaker, row) for row in db.all("SELECT * FROM breakers WHERE owner = ?", (owner,))}


def breakers_of(db: Database, owners: Sequence[str]) -> dict[tuple[str, str], Breaker]:
    if not owners or not _any_breaker(db):
        return {}
    found = db.all("SELECT * FROM breakers WHERE owner IN (SELECT value FROM json_each(?))", (json.dumps([*owners]),))
    return {(row["owner"], row["provider"]): record(Breaker, row) for row in found}


def _any_breaker(db: Database) -> bool:
    """Saves a query for each bead: mostly there is no breaker."""
    return db.maybe("SELECT 1 FROM breakers LIMIT 1") is not None


def save_breaker(db: Database, owner: str, provider: str, breaker: Breaker) -> None:
    with db.write():
        db.run("DELETE FROM breakers WHERE owner = ? AND provider = ?", (owner, provider))
        if breaker != Breaker():
            db.insert("breakers", {"owner": owner, "provider": provider, **as_values(breaker)})


def reset_breakers(db: Database, bead: str, actor: str) -> int:
    """Half-open every open breaker of the bead; returns how many. Raises NoSuchBead."""
    with db.write():
        moves.require(db, (bead,))
        owner = bead_owner(bead)
        open_ = {name: one for name, one in breakers(db, owner).items() if one.state is State.OPEN}
        for provider, breaker in open_.items():
            save_breaker(db, owner, provider, reset(breaker))
            events_db.append(db, db.now(), Kind.BREAKER_RESET, bead, actor, {"provider": provider})
        return len(open_)


def spend(db: Database, attempt: int, cost_usd: float, tokens: int) -> None:
    from ...beads.db import attempts as attempts_db  # few commands spend

    with db.write():
        sql, values = "UPDATE attempts SET cost_usd = ?, tokens = ? WHERE id = ?", (cost_usd, tokens, attempt)
        bead = attempts_db.bead_of_attempt(db, attempt)
        only = attempts_db.rows_of(bead, attempt) if bead else ()
        if not db.run(f"{sql} AND outcome IS NULL", values, only):
            db.run(sql, values, only)
            forget(db)


def spent(db: Database, caps: Caps, beads: Sequence[str], now: float) -> Spent:
    """Costs under the caps that are set; nothing is summed for others."""
    if caps == Caps():
        return Spent()
    since = db.maybe("SELECT value FROM settings WHERE key = ?", (RUN_SINCE,))
    run_since = float(since[0]) if since else now
    of_beads: Mapping[str, Amount] = {}
    if caps.bead.is_set:
        values = {"beads": json.dumps(list(beads)), "now": now}
        of_beads = {row[0]: Amount(*row[1:]) for row in db.all(_BEADS_SPENDING, values)}
    return Spent(
        sums_since(db, DAY, day_start(now), now)[0] if caps.day.is_set else Amount(),
        sums_since(db, RUN, run_since, now)[0] if caps.run.is_set else Amount(),
        of_beads,
        int(db.one(_CALLS, (hour_start(now),))[0]) if caps.calls_per_hour is not None else 0,
        run_since,
        _marked(db, limits.CAP_REPORTED),
        _marked(db, limits.CAP_LIFTED),
    )


def _marked(db: Database, prefix: str) -> dict[str, str]:
    found = db.all("SELECT key, value FROM settings WHERE key >= ? AND key < ?", (prefix, prefix[:-1] + ";"))
    return {row[0][len(prefix) :]: row[1] for row in found}


def move_on(db: Database, caps: Caps, now: float) -> None:
    """Move the stored sums on, so that `spent` adds up less. Needs a transaction of its own."""
    if caps.day.is_set:
        sums_move_on(db, DAY, day_start(now))
    if caps.run.is_set:
        since = db.maybe("SELECT value FROM settings WHERE key = ?", (RUN_SINCE,), one_row("settings", RUN_SINCE))
        if since is not None:
            sums_move_on(db, RUN, float(since[0]))


def spent_since(db: Database, since: float) -> Amount:
    found, are_many = sums_since(db, DAY, since, db.now())
    if are_many:
        sums_move_on(db, DAY, since)
    return found


def cost_of(db: Database, bead: str) -> Cost:
    """What agents cost on the bead, or on all beads of the epic, with its reviews and its feature's sessions."""
    return Cost.of(fast.cost(db.all, fast.COST_OF_BEAD, {"id": bead, "now": db.now()}))


def cost_since(db: Database, since: float) -> Cost:
    """What those agents cost that worked at some time since then; their time since then."""
    return Cost.of(fast.cost(db.all, fast.COST_SINCE, {"since": since, "now": db.now()}))


_COSTLIEST = f"""SELECT bead FROM attempts WHERE {fast.BY_AGENTS} AND started_at >= ? GROUP BY bead
ORDER BY coalesce(sum(cost_usd), 0) DESC, coalesce(sum(tokens), 0) DESC, min(started_at) LIMIT ?"""


def costliest(db: Database, since: float, limit: int) -> list[str]:
    """The beads on which agents that began since then cost most."""
    return [row[0] for row in db.all(_COSTLIEST, (since, limit))]
