"""Limits that stop agents from starting or continuing: breakers, caps, cooldowns, machine limits, memory, sizes.

The circuit breaker of one provider on one bead: closed, half open, open.

1. A number of failures in a row without a commit, or of equal errors, opens it.
2. While it is open, only another provider may work on the bead; if none is left, a person is asked once.
3. Only a person closes it: first half open, where a failure opens it again and a success closes it.
4. What is not the bead's failure (a limit, an outage, a stop) does not count.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, fields, replace
from enum import StrEnum
from typing import Any, Protocol

from ..beads.model import TABLE, Attempt, Outcome, Session
from ..records import frozen
from ..text.cleaning import count


class State(StrEnum):
    """Whether agents may be started."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


@frozen
class Thresholds:
    """After how many failures in a row it opens."""

    without_progress: int = 3
    same_error: int = 5


@frozen
class Breaker:
    """What the failures in a row have in common."""

    state: State = State.CLOSED
    idle: int = 0  # failures in a row that left no commit
    same: int = 0  # failures in a row with this error
    error: str = ""


_CHANGING = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{7,40}\b|\d+")


def error_of(outcome: Outcome, detail: str) -> str:
    """The identity of an error: outcome and first line, without numbers and object ids."""
    first = next((line for line in detail.splitlines() if line.strip()), "")
    return f"{outcome.value}: {_CHANGING.sub('#', first.strip().lower())[:200]}"


def after(breaker: Breaker, outcome: Outcome, detail: str, progress: bool, thresholds: Thresholds) -> Breaker:
    """The breaker after this end of an attempt. `progress`: it left a commit of its own."""
    if outcome is Outcome.COMPLETED:
        return replace(breaker, state=State.CLOSED, idle=0)
    if not TABLE[outcome].counts:
        return breaker
    error = error_of(outcome, detail)
    idle = 0 if progress else breaker.idle + 1
    same = breaker.same + 1 if error == breaker.error else 1
    trips = breaker.state is not State.CLOSED or idle >= thresholds.without_progress or same >= thresholds.same_error
    return Breaker(State.OPEN if trips else State.CLOSED, idle, same, error)


def reset(breaker: Breaker) -> Breaker:
    return replace(breaker, state=State.HALF_OPEN, idle=0, same=0) if breaker.state is State.OPEN else breaker


# Caps. A cap stops softly: nothing new is started under it, and who is at work is asked to stop (daemon.deciders). A
# bead that reached its own goes to a person; a day's and an hour's end with the day and the hour (UTC), or when a
# person lifts them.
DAY_SECONDS = 86_400.0
HOUR_SECONDS = 3600.0
CAP_REPORTED, CAP_LIFTED = "cap:", "lifted:"
"""Settings: followed by a cap's name, the period for which a person was notified or lifted it."""
CALLS = "calls_per_hour"
"""The cap on starts; the others are about cost."""


@frozen
class Amount:
    """What was spent."""

    usd: float = 0.0
    tokens: float = 0.0
    minutes: float = 0.0


@frozen
class Paid:
    """What a provider's agents cost: dollars that they reported, and what their other tokens cost by its price.

    Without both it is not known, whatever it was.
    """

    provider: str
    usd: float
    estimated: float
    tokens: int
    seconds: float


@frozen
class Cost:
    """What agents cost together, and of each provider."""

    usd: float = 0.0
    estimated: float = 0.0
    tokens: int = 0
    seconds: float = 0.0
    providers: tuple[Paid, ...] = ()

    def without(self, part: "Cost") -> "Cost":
        """The rest, of all providers together."""
        names = ("usd", "estimated", "tokens", "seconds")
        return Cost(**{name: max(0, getattr(self, name) - getattr(part, name)) for name in names})

    @staticmethod
    def of(values: Mapping[str, Any]) -> "Cost":
        return Cost(**{**values, "providers": tuple(Paid(**one) for one in values["providers"])})


@frozen
class Cap:
    """What may be spent; None: without a cap."""

    usd: float | None = None
    tokens: float | None = None
    minutes: float | None = None

    @property
    def is_set(self) -> bool:
        return not (self.usd is None and self.tokens is None and self.minutes is None)


@frozen
class Caps:
    """Every cap of the config."""

    attempt: Cap = Cap()
    bead: Cap = Cap()
    day: Cap = Cap()
    run: Cap = Cap()
    calls_per_hour: int | None = None


@frozen
class Spent:
    """Costs in the store: today, in this run, of beads of the front; and the agents started this hour."""

    day: Amount = Amount()
    run: Amount = Amount()
    beads: Mapping[str, Amount] = field(default_factory=dict)
    calls: int = 0
    run_since: float = 0.0
    told: Mapping[str, str] = field(default_factory=dict)  # by cap: the period for which a person was told
    lifted: Mapping[str, str] = field(default_factory=dict)  # by cap: the period for which a person lifted it


@frozen
class Reached:
    """A reached cap: `name` like day.usd, `period` it applies to, `until` its end."""

    name: str
    spent: float
    limit: float
    period: str
    until: float | None = None


def over(name: str, cap: Cap, amount: Amount, period: str, until: float | None) -> Iterator[Reached]:
    for part in fields(Cap) if cap.is_set else ():
        limit, spent = getattr(cap, part.name), getattr(amount, part.name)
        if limit is not None and spent >= limit:
            yield Reached(f"{name}.{part.name}", spent, limit, period, until)


def day_start(now: float) -> float:
    return now - now % DAY_SECONDS


def hour_start(now: float) -> float:
    return now - now % HOUR_SECONDS


def reached(caps: Caps, spent: Spent, now: float) -> list[Reached]:
    """The reached caps for all beads that are not lifted: nothing new may start."""
    return [one for one in used_up(caps, spent, now) if spent.lifted.get(one.name) != one.period]


def used_up(caps: Caps, spent: Spent, now: float) -> list[Reached]:
    """The reached caps for all beads, also lifted ones."""
    day, hour = day_start(now), hour_start(now)
    found = list(over("day", caps.day, spent.day, f"{day:.0f}", day + DAY_SECONDS))
    found += over("run", caps.run, spent.run, f"{spent.run_since:.3f}", None)
    if caps.calls_per_hour is not None and spent.calls >= caps.calls_per_hour:
        found.append(Reached(CALLS, spent.calls, caps.calls_per_hour, f"{hour:.0f}", hour + HOUR_SECONDS))
    return found


def period_of(name: str, spent: Spent, now: float) -> str:
    if name.startswith("run."):
        return f"{spent.run_since:.3f}"
    return f"{day_start(now) if name.startswith('day.') else hour_start(now):.0f}"


def ends_at(name: str, now: float) -> float | None:
    """When the cap's period ends; None: with the run."""
    if name.startswith("run."):
        return None
    return day_start(now) + DAY_SECONDS if name.startswith("day.") else hour_start(now) + HOUR_SECONDS


def calls_left(caps: Caps, spent: Spent, now: float) -> int | None:
    if caps.calls_per_hour is None or spent.lifted.get(CALLS) == period_of(CALLS, spent, now):
        return None
    return max(0, caps.calls_per_hour - spent.calls)


def bead_cap_reached(caps: Caps, spent: Spent, bead: str) -> Reached | None:
    if not caps.bead.is_set:
        return None
    return next(over("bead", caps.bead, spent.beads.get(bead, Amount()), bead, None), None)


def untold(caps: Caps, spent: Spent, now: float) -> list[Reached]:
    return [one for one in reached(caps, spent, now) if spent.told.get(one.name) != one.period]


def wake_at(caps: Caps, spent: Spent, now: float) -> float | None:
    return min((one.until for one in reached(caps, spent, now) if one.until is not None), default=None)


# Cooldowns of providers. A reset time that the provider said is believed within bounds. Where it said none each wait is
# longer, and after it one agent goes ahead. Attempts that ran when it began do not make it longer. Agents that do not
# start, workspaces that cannot be made and models that the provider does not have close gates of their own.
MAX_COOLDOWN_SECONDS = 3600.0
"""A provider without a known reset time is retried at least this often."""
MAX_RESET_SECONDS = 8 * 24 * 3600.0
"""Usage limits last at most a week; a later reset time is a mistake."""
MARGIN_SECONDS = 5.0
"""Margin after a limit's end, since clocks differ."""
PROBE_SECONDS = 120.0
"""An agent that worked for so long was accepted by its provider."""

ASK_SECONDS = 60.0
"""Between two checks of a CLI that does not work."""

LETS_IN = frozenset(
    {
        Outcome.COMPLETED,
        Outcome.GAVE_UP_CONTEXT,
        Outcome.GAVE_UP_TESTS,
        Outcome.FAILED,
        Outcome.NO_WORK,
        Outcome.BOUNDARY,
        Outcome.FILTER_NOT_ALLOWED,
        Outcome.CONTRADICTED_ITSELF,
        Outcome.CONTEXT_OVERFLOW,
        Outcome.TURN_LIMIT,
        Outcome.BLOCKED,
    }
)
"""Attempts with these endings were served by the provider."""


def model_key(agent: str, model: str) -> str:
    return f"{agent}:{model or 'default'}"


def model_key_of(work: object) -> str:
    return model_key(work.agent, work.model) if isinstance(work, Attempt) else ""


WORKSPACES = "workspaces"


def gate_key(work: "Served", outcome: Outcome) -> str:
    """The key of the cooldown that this end of `work` starts or extends."""
    row = TABLE[outcome]
    return WORKSPACES if row.is_of_workspace else model_key_of(work) if row.is_of_model else work.provider


class Served(Protocol):
    """Who was started at a provider: an attempt, or a session's turn."""

    @property
    def provider(self) -> str:
        """Empty: no provider that could refuse."""

    @property
    def started_at(self) -> float: ...


@frozen
class Cooldown:
    """A provider that refused and has not served an agent since. `times`: refusals in a row."""

    provider: str
    reason: Outcome
    detail: str
    since: float
    until: float
    times: int
    told: bool  # the provider itself said until when

    @property
    def is_of_start(self) -> bool:
        return TABLE[self.reason].is_of_start

    @property
    def is_asked(self) -> bool:
        return self.is_of_start or TABLE[self.reason].is_of_model

    def is_closed(self, now: float) -> bool:
        return now < self.until


def close(
    gate: Cooldown | None,
    attempt: Served,
    outcome: Outcome,
    detail: str,
    now: float,
    resets_at: float | None,
    is_broken: bool = False,
) -> Cooldown | None:
    """The cooldown after `attempt` was refused; `gate` itself if that is nothing new; None: none. `is_broken`: the
    agent starts on no bead."""
    row = TABLE[outcome]
    key = gate_key(attempt, outcome)
    if not (row.starts_cooldown or row.is_of_model or is_broken) or not key:
        return gate
    told = resets_at is not None and now < resets_at <= now + MAX_RESET_SECONDS
    if gate is not None and attempt.started_at < gate.since:
        if not told or (gate.told and gate.until >= (resets_at or 0.0) + MARGIN_SECONDS):
            return gate
        return replace(gate, reason=outcome, until=(resets_at or 0.0) + MARGIN_SECONDS, told=True)
    times = gate.times + 1 if gate is not None else 1
    if told and resets_at is not None:
        until = resets_at + MARGIN_SECONDS
    else:
        until = now + min(row.gate_seconds * 2.0 ** min(times - 1, 20), MAX_COOLDOWN_SECONDS)
    return Cooldown(key, outcome, detail[:500], now, until, times, told)


def is_proven(gate: Cooldown, attempt: Served, outcome: Outcome) -> bool:
    if not _is_behind(gate, attempt) or attempt.started_at < gate.until:
        return False
    return outcome in LETS_IN or (gate.is_of_start and TABLE[outcome].counts)


def _is_behind(gate: Cooldown, one: Served) -> bool:
    return gate.provider in (WORKSPACES, one.provider, model_key_of(one))


def still_broken(gate: Cooldown, trouble: str, now: float) -> Cooldown:
    """Extend the cooldown of an agent whose CLI still fails; the check costs nothing, so it repeats soon."""
    return replace(gate, detail=trouble[:500], since=now, until=now + ASK_SECONDS)


def tried_again(gate: Cooldown, now: float) -> Cooldown:
    return replace(gate, since=now, until=now, times=0, told=False)


def room(gates: Mapping[str, Cooldown], attempts: Iterable[Served], now: float) -> dict[str, int]:
    """How many agents may start at each provider with a cooldown; others have no bound."""
    found = {}
    for gate in gates.values():
        if gate.is_closed(now):
            found[gate.provider] = 0
            continue
        if gate.told:
            continue
        inside = [a for a in attempts if _is_behind(gate, a) and a.started_at >= gate.until]
        if not any(now >= a.started_at + PROBE_SECONDS for a in inside):
            found[gate.provider] = 0 if inside else 1
    return found


def cooldowns_wake_at(gates: Mapping[str, Cooldown], attempts: Iterable[Served], now: float) -> float | None:
    times = [gate.until for gate in gates.values() if gate.is_closed(now)]
    for gate in gates.values():
        if not gate.is_closed(now) and not gate.told:
            inside = [a.started_at for a in attempts if _is_behind(gate, a) and a.started_at >= gate.until]
            times += [start + PROBE_SECONDS for start in inside if start + PROBE_SECONDS > now]
    return min(times, default=None)


# Limits of the machine. A place is one agent's or a session's turn; reviews and checks take none. Where more are taken
# than allowed nothing new starts, and nobody is stopped for it. A limit that cannot be read counts as reached.
PREFIX = "machine."


@frozen
class MachineLimits:
    """The machine's limits; None: unlimited."""

    agents: int | None = None
    usd_per_day: float | None = None
    tokens_per_day: int | None = None

    @property
    def is_set(self) -> bool:
        return self != MachineLimits()


@frozen
class MachineRoom:
    """A snapshot of the machine: its limits, used places, and today's costs of all repositories."""

    limits: MachineLimits
    taken: int = 0  # by the agents of every living daemon
    own: int = 0  # of these, by this daemon's
    usd: float = 0.0
    tokens: int = 0
    told: Mapping[str, str] = field(default_factory=dict)  # by limit: the day for which a person was told
    unknown: str = ""  # why limits cannot be read, or what is used of them; empty: they can
    mend: str = ""  # what a person does about that
    passes: bool = False  # it may pass by itself

    @property
    def others(self) -> int:
        return self.taken - self.own


def free(room: MachineRoom | None) -> int | None:
    if room is not None and room.unknown:
        return 0
    return None if room is None or room.limits.agents is None else max(0, room.limits.agents - room.taken)


def without_places(room: MachineRoom | None) -> MachineRoom | None:
    return None if room is None else replace(room, limits=replace(room.limits, agents=None))


def machine_reached(room: MachineRoom | None, now: float) -> list[Reached]:
    """The reached limits of the day: nothing new may start."""
    if room is None or room.unknown:
        return []
    day = day_start(now)
    spent = (
        ("usd_per_day", room.usd, room.limits.usd_per_day),
        ("tokens_per_day", float(room.tokens), room.limits.tokens_per_day),
    )
    return [
        Reached(f"{PREFIX}{name}", amount, float(limit), f"{day:.0f}", day + DAY_SECONDS)
        for name, amount, limit in spent
        if limit is not None and amount >= limit
    ]


def machine_unreported(room: MachineRoom | None, now: float) -> list[Reached]:
    return [one for one in machine_reached(room, now) if room is not None and room.told.get(one.name) != one.period]


def machine_wake_at(room: MachineRoom | None, now: float) -> float | None:
    return min((one.until for one in machine_reached(room, now) if one.until is not None), default=None)


def reached_text(name: str, spent: float, limit: float) -> str:
    short = name.removeprefix(PREFIX)
    return (
        f"no agent starts on this machine, because its limit {short} is reached ({spent:.6g} of {limit:.6g}). "
        f"The next day begins at 00:00 UTC. To raise the limit now: `nobrakes machine set {short}=…`."
    )


def needs_person(room: MachineRoom | None) -> bool:
    return room is not None and bool(room.unknown) and not room.passes


def unknown_text(room: MachineRoom) -> str:
    return f"no agent starts: this machine's limits cannot be read: {room.unknown}. {room.mend} Merges continue."


def waiting_text(room: MachineRoom) -> str:
    work = count(room.limits.agents or 0, "agent works", "agents work")
    return (
        f"ready beads wait, because this machine's agent limit is reached: {room.taken} of {work}, "
        f"{room.others} of them in other repositories. `nobrakes machine` shows the repositories."
    )


# Memory: while the processes of agents hold as much as is allowed, no other agent starts, and nobody is stopped for it.
LOOK_SECONDS = 2.0
"""Polling interval while waiting for memory: no event signals it."""


def is_full(held: int, limit: int) -> bool:
    return 0 < limit <= held


def full_text(held: int, limit: int) -> str:
    return f"no agent starts: the running agents use {held} MB, and limits.agents_mb is {limit}"


# Sessions: one belongs to its CLI, model, role and workspace. The bead's last attempt decides, whoever made it: after a
# review that said no nothing goes on. One that was stopped before its agent began leaves it to the one before.
BEGUN = "begun"
"""In an attempt's data: whether its session was seen in the output."""
RESUMES = "resumes"
"""In an attempt's data: the number of the attempt whose session it resumes."""


def goes_on(attempt: Attempt, past: Sequence[Attempt], start: str) -> Attempt | None:
    """The attempt whose session `attempt` resumes; None: a fresh one. `past`: the bead's attempts, oldest first;
    `start`: the commit that the workspace is measured from."""
    for last in reversed([one for one in past if one.number < attempt.number]):
        if last.outcome is None or not last.log.keep_branch:
            return None
        if _agent_spec(last) != _agent_spec(attempt) or last.data.get("start") != start:
            return None
        if TABLE[last.outcome].session is not Session.RESUME:
            return None
        if last.data.get(BEGUN) and last.provider_session is not None:
            return last
    return None


def _agent_spec(attempt: Attempt) -> tuple[str, str, str, str]:
    return attempt.role.value, attempt.agent, attempt.provider, attempt.model


# Folders of runs: those of work that is on main may go, never the newest attempt's, since attempts are numbered on from
# it when the database is lost.


def attempt_of(run: str) -> int | None:
    number = run.partition("-")[0]
    return int(number) if number.isascii() and number.isdigit() else None


def turn_of(run: str) -> int | None:
    return attempt_of(run[1:]) if run[:1] == "s" else None


def release_turns(runs: Sequence[str], ended: Mapping[int, float], now: float, days: float) -> list[str]:
    """Turns' runs to delete; `ended`: by turn, its session's end. The newest stays: turns are numbered from it."""
    numbered = sorted((number, run) for run in runs if (number := turn_of(run)) is not None)
    return [run for number, run in numbered[:-1] if number in ended and now - ended[number] >= days * DAY_SECONDS]


def let_go(
    runs: Sequence[str], beads: Mapping[int, str], merged: Mapping[str, float], now: float, days: float, most: int
) -> list[str]:
    """The runs to delete, in order of their attempts. `beads`: attempt to bead. `merged`: when each bead was merged.
    Logs stay for `days`, and for `most` merged beads."""
    newest_first = sorted(merged, key=lambda bead: (-merged[bead], bead))
    kept = {bead for bead in newest_first[:most] if now - merged[bead] < days * DAY_SECONDS}
    numbered = sorted((number, run) for run in runs if (number := attempt_of(run)) is not None)
    last = numbered[-1][0] if numbered else None
    return [
        run
        for number, run in numbered
        if number != last and (bead := beads.get(number)) is not None and bead in merged and bead not in kept
    ]


# Work beyond a limit is not copied, read or merged: the attempt ends as a boundary that names the setting.
MAX_PATH = 4096
MAX_NAME = 255
"""Bytes; the limit of known file systems."""
LARGEST_COMMIT = 1_000_000
"""Bytes of one commit, mostly its message."""
LARGEST_FOLDER = 10_000_000
"""Bytes of one tree: some 200,000 names."""
READ = 4_000_000
"""Bytes read of a file to judge it; a larger one is too large."""


@frozen
class Sizes:
    """Bytes of one file, bytes of all new content, differing paths, nested folders."""

    file: int = 50_000_000
    new: int = 200_000_000
    paths: int = 20_000
    depth: int = 100

    @property
    def objects(self) -> int:
        """New objects of one branch: every commit has some, and undone changes count."""
        return 10 * self.paths + 1000

    def file_beyond(self, path: str, size: int) -> str | None:
        if size <= self.file:
            return None
        return f"{_shown(path)} has {size:,} bytes, and limits.max_file_mb allows {self.file / 1e6:g} MB"

    def sum_beyond(self, size: int) -> str | None:
        if size <= self.new:
            return None
        return f"the new content is larger than limits.max_new_mb allows ({self.new / 1e6:g} MB)"

    def count_beyond(self, count: int) -> str | None:
        if count <= self.paths:
            return None
        return f"the work changes more than {self.paths:,} paths, the maximum of limits.max_paths"

    def path_beyond(self, path: str) -> str | None:
        if path.count("/") > self.depth:
            deep = count(self.depth, "folder")
            return f"{_shown(path)} is nested deeper than limits.max_depth allows ({deep})"
        if len(path) * 4 > MAX_PATH and len(path.encode("utf-8", "surrogateescape")) >= MAX_PATH:
            return f"the path {_shown(path)} is longer than {MAX_PATH} bytes, the maximum of file systems"
        return None

    def name_beyond(self, name: str) -> str | None:
        if len(name) * 4 <= MAX_NAME or len(name.encode("utf-8", "surrogateescape")) <= MAX_NAME:
            return None
        return f"the file name {_shown(name)} is longer than {MAX_NAME} bytes, the maximum of file systems"


DEFAULT = Sizes()


def _shown(path: str) -> str:
    plain = path if len(path) <= 120 else f"{path[:60]}…{path[-40:]}"
    return plain if plain.isprintable() else plain.encode("unicode_escape", "surrogateescape").decode("ascii")
