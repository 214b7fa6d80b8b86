"""Gates of providers, breakers of beads, costs of attempts: facts for the Assigner, read from indexes."""

import json
from collections.abc import Mapping, Sequence

from ...core.beads.events import Kind
from ...core.beads.outcomes import Outcome
from ...core.limits.breaker import Breaker, State, reset
from ...core.limits.caps import Amount, Caps, Spent, day_start, hour_start
from ...core.limits.cooldowns import Cooldown
from ...core.owners import of_bead
from .. import events
from ..beads import moves
from ..cache import row as one_row
from ..database import Database, Row
from . import sums

RUN_SINCE = "run_since"
"""When this run began: kept over crashes, forgotten when a daemon ends in order."""
TOLD = "cap:"
"""`cap:<name>` = the period for which a person was told that this cap is reached."""
DAY, RUN = "day", "run"
"""The periods of caps, each with a sum that is kept (`sums`)."""
LIFTED = "lifted:"
"""`lifted:<name>` = the period for which a person lifted this cap."""

_AMOUNT = """coalesce(round(sum(cost_usd), 6), 0), coalesce(sum(tokens), 0),
coalesce(sum(coalesce(ended_at, :now) - started_at), 0) / 60.0"""
_OF_BEADS = f"""SELECT bead, {_AMOUNT} FROM attempts
WHERE bead IN (SELECT value FROM json_each(:beads)) AND role <> 'reviewer' GROUP BY bead"""
# not what bears a later hour, since the clock went back
_STARTED = "count(*) FROM {} WHERE started_at >= ?1 AND started_at < ?1 + 3600"
_CALLS = f"""SELECT (SELECT {_STARTED.format("attempts")} AND role <> 'reviewer')
+ (SELECT {_STARTED.format("turns")})"""


def _gate(row: Row) -> Cooldown:
    return Cooldown(
        row["provider"],
        Outcome(row["reason"]),
        row["detail"],
        row["since"],
        row["until"],
        row["times"],
        bool(row["told"]),
    )


def _breaker(row: Row) -> Breaker:
    return Breaker(State(row["state"]), row["idle"], row["same"], row["error"])


def gates(db: Database) -> dict[str, Cooldown]:
    """By provider."""
    return {row["provider"]: _gate(row) for row in db.all("SELECT * FROM gates ORDER BY provider")}


def start_cooldown(db: Database, gate: Cooldown) -> None:
    """Keep the gate, with its event, unless it is kept so already."""
    with db.write():
        if gates(db).get(gate.provider) == gate:
            return
        db.run("DELETE FROM gates WHERE provider = ?", (gate.provider,))
        values = {"reason": gate.reason.value, "detail": gate.detail, "since": gate.since, "until": gate.until}
        db.insert("gates", {"provider": gate.provider, **values, "times": gate.times, "told": gate.told})
        data = {"provider": gate.provider, "reason": gate.reason.value, "until": gate.until, "times": gate.times}
        events.append(db, db.now(), Kind.GATE_CLOSED, None, "nobrakes", {**data, "detail": gate.detail})


def end_cooldown(db: Database, provider: str, actor: str) -> bool:
    """Forget the gate, with its event; False: it was open."""
    with db.write():
        if not db.run("DELETE FROM gates WHERE provider = ?", (provider,)):
            return False
        events.append(db, db.now(), Kind.GATE_OPENED, None, actor, {"provider": provider})
        return True


def breakers(db: Database, owner: str) -> dict[str, Breaker]:
    """By provider."""
    if not _any_breaker(db):
        return {}
    return {row["provider"]: _breaker(row) for row in db.all("SELECT * FROM breakers WHERE owner = ?", (owner,))}


def breakers_of(db: Database, owners: Sequence[str]) -> dict[tuple[str, str], Breaker]:
    """By owner and provider, for the beads of the front."""
    if not owners or not _any_breaker(db):
        return {}
    found = db.all("SELECT * FROM breakers WHERE owner IN (SELECT value FROM json_each(?))", (json.dumps([*owners]),))
    return {(row["owner"], row["provider"]): _breaker(row) for row in found}


def _any_breaker(db: Database) -> bool:
    """Whether there is one at all: mostly there is none, and nothing has to be asked of each bead."""
    return db.maybe("SELECT 1 FROM breakers LIMIT 1") is not None


def save_breaker(db: Database, owner: str, provider: str, breaker: Breaker) -> None:
    """Keep it; one without a mark needs no row."""
    with db.write():
        db.run("DELETE FROM breakers WHERE owner = ? AND provider = ?", (owner, provider))
        if breaker != Breaker():
            values = {"state": breaker.state.value, "idle": breaker.idle, "same": breaker.same, "error": breaker.error}
            db.insert("breakers", {"owner": owner, "provider": provider, **values})


def reset_breakers(db: Database, bead: str, actor: str) -> int:
    """Half-open the open ones, with one event for each."""
    with db.write():
        moves.require(db, (bead,))
        owner = of_bead(bead)
        open_ = {name: one for name, one in breakers(db, owner).items() if one.state is State.OPEN}
        for provider, breaker in open_.items():
            save_breaker(db, owner, provider, reset(breaker))
            events.append(db, db.now(), Kind.BREAKER_RESET, bead, actor, {"provider": provider})
        return len(open_)


def spend(db: Database, attempt: int, cost_usd: float, tokens: int) -> None:
    """Set what the attempt has cost."""
    with db.write():
        sql, values = "UPDATE attempts SET cost_usd = ?, tokens = ? WHERE id = ?", (cost_usd, tokens, attempt)
        if not db.run(f"{sql} AND outcome IS NULL", values):
            db.run(sql, values)
            sums.forget(db)


def spent(db: Database, caps: Caps, beads: Sequence[str], now: float) -> Spent:
    """What was spent under the caps that are set; nothing is summed up for the others."""
    if caps == Caps():
        return Spent()
    since = db.maybe("SELECT value FROM settings WHERE key = ?", (RUN_SINCE,))
    run_since = float(since[0]) if since else now
    of_beads: Mapping[str, Amount] = {}
    if caps.bead.is_set:
        values = {"beads": json.dumps(list(beads)), "now": now}
        of_beads = {row[0]: Amount(*row[1:]) for row in db.all(_OF_BEADS, values)}
    return Spent(
        sums.since(db, DAY, day_start(now), now)[0] if caps.day.is_set else Amount(),
        sums.since(db, RUN, run_since, now)[0] if caps.run.is_set else Amount(),
        of_beads,
        int(db.one(_CALLS, (hour_start(now),))[0]) if caps.calls_per_hour is not None else 0,
        run_since,
        _marked(db, TOLD),
        _marked(db, LIFTED),
    )


def _marked(db: Database, prefix: str) -> dict[str, str]:
    """By the cap's name, the period for which it is marked so."""
    found = db.all("SELECT key, value FROM settings WHERE key >= ? AND key < ?", (prefix, prefix[:-1] + ";"))
    return {row[0][len(prefix) :]: row[1] for row in found}


def move_on(db: Database, caps: Caps, now: float) -> None:
    """Shorten what `spent` adds up under the caps that are set. In no transaction but its own."""
    if caps.day.is_set:
        sums.move_on(db, DAY, day_start(now))
    if caps.run.is_set:
        since = db.maybe("SELECT value FROM settings WHERE key = ?", (RUN_SINCE,), one_row("settings", RUN_SINCE))
        if since is not None:
            sums.move_on(db, RUN, float(since[0]))


def spent_since(db: Database, since: float, now: float) -> Amount:
    """What agents cost that began at `since` or later, the beginning of a day; with the minutes until `now`."""
    found, are_many = sums.since(db, DAY, since, now)
    if are_many:
        sums.move_on(db, DAY, since)
    return found
