"""What agents cost since a moment, without adding up again what ended long before: a day may have ten thousand of them.

1. For each period that is asked for, a setting keeps the sum of the attempts, and one of the turns, up to an id: all of
   those have ended. What came later is added to it, and when that has become long the sum is moved on.
2. What has ended costs what it cost. Who changes that, or puts in what ended elsewhere, calls `forget`: then all of the
   period is added up once more.
3. One that is open keeps those after it out of the sum until it has ended; the clock may still be set under it.
"""

import json
from dataclasses import astuple, dataclass
from functools import cache

from ...core.limits.caps import Amount
from ..cache import row
from ..database import Database

FEW = 100
"""So many that came later are added up each time."""
KEPT = "summed:"
"""`summed:<period>:<table>` = the sum that is kept for it."""

_AGENTS = {"attempts": "role <> 'reviewer'", "turns": "1"}
_PAID = "coalesce(sum(cost_usd), 0), coalesce(sum(tokens), 0), coalesce(sum(coalesce(ended_at, :now) - started_at), 0)"
_OPEN = "SELECT min(id) FROM {0} INDEXED BY {0}_open WHERE outcome IS NULL AND {1}"


@dataclass(frozen=True, slots=True)
class Sum:
    """What those cost that began at `since` or later and have an id up to `upto`."""

    since: float
    upto: int
    usd: float = 0.0
    tokens: int = 0
    seconds: float = 0.0


def since(db: Database, period: str, moment: float, now: float) -> tuple[Amount, bool]:
    """What agents cost that began then or later, with the minutes until `now`; whether many are not in the sum."""
    kept = [_kept(db, period, table, moment) for table in _AGENTS]
    after = {f"after_{table}": one.upto for table, one in zip(_AGENTS, kept, strict=True)}
    later = db.all(_later(*(one.upto > 0 for one in kept)), {"since": moment, "now": now, **after})
    parts = [*((one.usd, one.tokens, one.seconds, 0) for one in kept), *map(tuple, later)]
    usd, tokens, seconds, many = (sum(column) for column in zip(*parts, strict=True))
    return Amount(round(usd, 6), tokens, seconds / 60.0), many > FEW


def move_on(db: Database, period: str, moment: float) -> None:
    """Take into the sum what has ended meanwhile, if that is more than a few. In no transaction but its own."""
    newest = db.one("SELECT (SELECT max(id) FROM attempts), (SELECT max(id) FROM turns)")
    for table, last in zip(_AGENTS, newest, strict=True):
        before = _kept(db, period, table, moment)
        if (last or 0) - before.upto > FEW:
            first = db.one(_OPEN.format(table, _AGENTS[table]))[0]
            upto = last if first is None else first - 1
            if upto - before.upto > FEW:
                _keep(db, period, table, before, upto)


def forget(db: Database) -> None:
    """The sums are made anew: what they were made of is another."""
    db.run("DELETE FROM settings WHERE key >= ? AND key < ?", (KEPT, f"{KEPT[:-1]};"))


def _keep(db: Database, period: str, table: str, before: Sum, upto: int) -> None:
    begin = _begin(table, before.upto > 0)
    sql = f"SELECT {_PAID} FROM {table} WHERE {begin} AND id <= :upto AND {_AGENTS[table]}"
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
    """The sum that is kept for the period, if it is of this moment; else one of nothing."""
    key = f"{KEPT}{period}:{table}"
    found = db.maybe("SELECT value FROM settings WHERE key = ?", (key,), row("settings", key))
    made = Sum(*json.loads(found[0])) if found else None
    return made if made is not None and made.since == moment else Sum(moment, 0)


def _begin(table: str, goes_on: bool) -> str:
    """By the id where there is a sum, else by the time: the plus keeps SQLite from the other one's index."""
    return f"id > :after_{table} AND +started_at >= :since" if goes_on else "started_at >= :since"


@cache
def _later(attempts: bool, turns: bool) -> str:
    goes_on = zip(_AGENTS.items(), (attempts, turns), strict=True)
    parts = (
        f"SELECT {_PAID}, count(*) FROM {table} WHERE {_begin(table, on)} AND {only}" for (table, only), on in goes_on
    )
    return " UNION ALL ".join(parts)
