"""Problems that stop work: one blocker for each problem, with the command to type.

1. Each is a `Kind`, ordered as people are told: what stops everything, then some beads, then what only waits for a
   time.
2. A blocker that `refuses` makes a run useless from the start: `run` and `daemon start` refuse with it. Work continues
   beside others.
3. `commands` are in order. `until`: when it ends by itself, with the command to skip the wait.
4. This is the only list: surfaces show it and decide nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from ..agents import limits
from ..agents.limits import WORKSPACES, Cooldown, MachineRoom, Reached
from ..beads.model import Outcome
from ..records import frozen
from ..text.cleaning import age, count, one_line, spoken

if TYPE_CHECKING:
    from ..daemon.model import Board

BACKGROUND = "background"
"""The setting with the background daemon's pid, from its start to its stop."""
RUN_SINCE = "run_since"
"""The setting with this run's start, until its orderly end; caps.run counts from it."""


class Kind(StrEnum):
    """What blocks work, the heaviest first."""

    CONFIG = "config"  # config.toml is wrong
    OWN_CODE = "own_code"  # nobrakes imports files of the repository, which agents change
    TAKEN_OVER = "taken_over"  # another machine has this work
    DAEMON_DEAD = "daemon_dead"  # it was started in the background, is gone, and nobody stopped it
    RUN_CUT_OFF = "run_cut_off"  # a run in the foreground was killed
    STOPPING = "stopping"
    PAUSED = "paused"
    NO_CHECK = "no_check"
    NO_RUNNER = "no_runner"  # a check's program is not there
    NO_AGENT = "no_agent"
    NO_LOGIN = "no_login"
    NO_SANDBOX = "no_sandbox"
    NO_DOERS = "no_doers"  # limits.doers is 0
    NO_NODES = "no_nodes"  # no node takes work, or the scheduler does not answer
    MACHINE = "machine"  # the limits that repositories share cannot be read
    MAIN_RED = "main_red"
    CHECKS_BROKEN = "checks_broken"  # the checks could not be run on main
    CAP = "cap"
    COOLDOWN = "cooldown"
    NO_PLACE = "no_place"  # other repositories hold every place of the machine
    MEMORY = "memory"  # agents at work use as much as they may
    ESCALATION = "escalation"
    SIGN_OFF = "sign_off"  # a plan whose reviews are done
    SPRINTS = "sprints"  # their run continues only with a new yes
    SESSION = "session"  # its turns fail in the same way
    FEATURE_STOPPED = "feature_stopped"  # by an error, or because it has expired
    REQUEST = "request"  # work that passed is pushed when a person says so
    FEATURE = "feature"  # one that is planned or built is paused
    EPIC_CIRCLE = "epic_circle"  # epics that people merge as a whole wait for each other
    MERGE_WAITS = "merge_waits"  # git's locks, edits in a checkout, a remote
    CANCELLED_BLOCKER = "cancelled_blocker"
    CANCELLED_PARENT = "cancelled_parent"
    HELD = "held"
    DRAFTS = "drafts"
    EMPTY_EPIC = "empty_epic"
    DEFERRED = "deferred"
    RETRY = "retry"
    QUARANTINED = "quarantined"


CONFIG = ".nobrakes/config.toml"
ORDER: Mapping[Kind, int] = {kind: number for number, kind in enumerate(Kind)}
STOPS = frozenset(
    {
        *(Kind.CONFIG, Kind.OWN_CODE, Kind.DAEMON_DEAD, Kind.RUN_CUT_OFF, Kind.STOPPING, Kind.PAUSED, Kind.NO_CHECK),
        *(Kind.NO_RUNNER, Kind.NO_AGENT, Kind.NO_LOGIN, Kind.NO_SANDBOX, Kind.NO_DOERS, Kind.MACHINE, Kind.MAIN_RED),
        *(Kind.TAKEN_OVER, Kind.NO_NODES, Kind.CAP, Kind.CHECKS_BROKEN, Kind.COOLDOWN, Kind.NO_PLACE, Kind.MEMORY),
    }
)
"""Blocks more than single beads."""
WAITS_FOR_PERSON = frozenset(
    {Kind.SIGN_OFF, Kind.SPRINTS, Kind.SESSION, Kind.FEATURE_STOPPED, Kind.REQUEST, Kind.EPIC_CIRCLE}
)
"""Only a person moves these, besides escalations and drafts: `run` then ends with 40."""
_BY_ITSELF = frozenset({Kind.NO_PLACE, Kind.MEMORY, Kind.RETRY, Kind.QUARANTINED})
"""These end without a person, or block nothing."""


@frozen
class Blocker:
    """One problem: what happened, why, and the commands in order. `until`: when it ends by itself (seconds since 1970
    UTC). `beads`: the first blocked ones. `cures`: fixes outside nobrakes that come before the commands; empty: none.
    `number`: the escalation's. `behind`: how many beads wait for its end."""

    kind: Kind
    what: str
    why: str = ""
    commands: tuple[str, ...] = ()
    cure: str = ""
    until: float | None = None
    beads: tuple[str, ...] = ()
    refuses: bool = False
    number: int | None = None
    behind: int = 0

    @property
    def stops(self) -> bool:
        return self.kind in STOPS

    @property
    def asks(self) -> bool:
        """Whether it waits for a person without an escalation."""
        if self.kind is Kind.COOLDOWN:
            return bool(self.cure)  # a login, a bill or a setting is wrong
        return self.until is None and self.number is None and self.kind not in _BY_ITSELF


def in_order(found: Iterable[Blocker]) -> tuple[Blocker, ...]:
    """What stops everything first, by its kind; then by what waits behind it."""
    return tuple(sorted(found, key=lambda one: (not one.stops, 0 if one.stops else -one.behind, ORDER[one.kind])))


def board_blockers(board: "Board", paused_by: str = "") -> list[Blocker]:
    """Present blockers by switches, limits, providers and the machine. `paused_by`: who paused; empty: unknown."""
    found = []
    at_work = bool(board.attempts or board.talks or board.turn_runs)
    if board.stopping or board.paused:
        stopping = (Kind.STOPPING, "stopping: nobrakes is stopping the agents, and no new work starts")
        kind, what = stopping if board.stopping else (Kind.PAUSED, "paused: no new work starts")
        # what is at work goes on, and somebody has to look after it
        found.append(Blocker(kind, what, paused_by, ("nobrakes resume",), refuses=not at_work))
    if board.no_nodes is not None:
        found.append(board.no_nodes)
    elif board.limits.doers == 0:
        found.append(
            Blocker(
                Kind.NO_DOERS,
                "no agent starts: `limits.doers` is 0",
                "`limits.doers` is the number of agents that work at the same time",
                ("nobrakes set doers=1",),
                refuses=not at_work,
            )
        )
    found += [cap_blocker(one) for one in limits.reached(board.limits.caps, board.spent, board.now)]
    found += [cooldown_blocker(gate, board.now) for gate in board.gates.values()]
    is_at_end = not (at_work or board.reviewable or board.to_review or board.epics_done or board.epics_landed)
    found += machine_blockers(board.machine, board.now, is_at_end)
    if limits.is_full(board.memory_mb, board.limits.agents_mb):
        why = "agents start again when running agents free memory or end; you can also raise the limit"
        more = f"nobrakes set agents_mb={board.memory_mb + board.limits.agents_mb}"
        found.append(
            Blocker(
                Kind.MEMORY, limits.full_text(board.memory_mb, board.limits.agents_mb), why, ("nobrakes status", more)
            )
        )
    return found


def cap_blocker(one: Reached) -> Blocker:
    """A reached cap for all beads."""
    what = f"caps.{one.name} is reached ({one.spent:.6g} of {one.limit:.6g})"
    lift = f"nobrakes providers lift {one.name}"
    if one.until is None:
        why = "the next run counts from zero; if you lift the cap, agents can cost more than you allowed"
        return Blocker(Kind.CAP, f"{what}: this run starts no more agents", why, ("nobrakes run", lift))
    why = "agents start again at that time; if you lift the cap, agents can cost more than you allowed"
    return Blocker(Kind.CAP, f"{what}: no new work starts", why, (lift,), until=one.until)


def cure_of_start(provider: str) -> str:
    if provider == WORKSPACES:
        return "fix the folder, the disk, git, or `setup`"
    return "fix the agent's installation, settings or login"


def _spaced(outcome: Outcome) -> str:
    return outcome.value.replace("_", " ")


_NO_START = ", so no agent starts"
_RATE_LIMITED = f": {_spaced(Outcome.RATE_LIMITED)}{_NO_START}"


def in_short(one: Blocker) -> str:
    """A cooldown or a cap in the line of what is running."""
    return one.what.replace(_RATE_LIMITED, " is at its usage limit")


def cooldown_blocker(gate: Cooldown, now: float) -> Blocker:
    """A provider that refuses, or is being retried."""
    reason = _spaced(gate.reason)
    command = (f"nobrakes providers open {gate.provider}",)
    if gate.is_of_start:
        closed, of_workspaces = gate.is_closed(now), gate.provider == WORKSPACES
        own = f"the agent of {gate.provider} does not start ({reason})"
        what = "nobrakes cannot create a workspace" if of_workspaces else own
        return Blocker(
            Kind.COOLDOWN,
            f"{what}{'' if closed else '; nobrakes is trying again'}",
            f"nobrakes tries again at that time; {gate.detail}" if closed else gate.detail,
            command,
            cure_of_start(gate.provider),
            until=gate.until if closed else None,
        )
    if not gate.is_closed(now):
        return Blocker(Kind.COOLDOWN, f"{gate.provider}: {reason}; nobrakes is trying again", gate.detail, command)
    after = "" if gate.told else "nobrakes tries again at that time; "
    if gate.reason is Outcome.RATE_LIMITED and not gate.told:
        after = "the provider did not say when the limit ends, so nobrakes tries again at this time; "
    cure = {
        Outcome.AUTH: "log in again, or renew the key",
        Outcome.BILLING: "pay or raise the limit at the provider",
        Outcome.MODEL_UNAVAILABLE: "in .nobrakes/config.toml, set a model that the provider offers",
    }.get(gate.reason, "")
    return Blocker(
        Kind.COOLDOWN,
        f"{gate.provider}: {reason}{_NO_START}",
        f"{after}the provider's message: {gate.detail}" if gate.detail else after.removesuffix("; "),
        command,
        cure,
        until=gate.until,
    )


def machine_blockers(room: MachineRoom | None, now: float, is_at_end: bool = False) -> list[Blocker]:
    """Shared limits of the machine that are used up or unreadable. `is_at_end`: nothing goes on without a new agent."""
    found = []
    if room is not None and room.unknown:
        refuses = is_at_end and not room.passes
        what = "no agent starts: the limits that your repositories share cannot be read"
        found.append(
            Blocker(Kind.MACHINE, what, room.unknown, ("nobrakes machine",), room.mend.rstrip("."), refuses=refuses)
        )
    elif room is not None and limits.free(room) == 0:
        work = count(room.limits.agents or 0, "agent is running", "agents are running")
        found.append(
            Blocker(
                Kind.NO_PLACE,
                f"this machine's limit for agents is reached: {room.taken} of {work}",
                f"{room.others} of these agents run in other repositories" if room.others else "all of these run here",
                ("nobrakes machine", f"nobrakes machine set agents={room.taken + 1}"),
            )
        )
    for one in limits.machine_reached(room, now):
        short = one.name.removeprefix(limits.PREFIX)
        found.append(
            Blocker(
                Kind.CAP,
                f"{one.name} is reached ({one.spent:.6g} of {one.limit:.6g}): no agent starts in any repository",
                "all repositories on this machine share this limit; if you raise the limit, agents can cost more",
                ("nobrakes machine", f"nobrakes machine set {short}=default"),
                until=one.until,
            )
        )
    return found


# A blocker in words, the same for every surface: what happened, why, what to do, and what to type.

REST: dict[Kind, str] = {Kind.ESCALATION: "nobrakes escalations"}
"""The command that lists unnamed ones of a kind; other beads explain themselves."""
EXPLAIN = "nobrakes ready --explain"


class Told(NamedTuple):
    """One blocker, each part on one line; empty parts are left out. `commands` in order."""

    what: str
    why: str
    cure: str
    commands: tuple[str, ...]


def told(one: Blocker, now: float) -> Told:
    """The blocker in words."""
    what = one_line(one.what)
    if one.until is not None and one.until > now:
        what += f" for {age(one.until - now)}, until {spoken(one.until)}"
    commands = tuple(one_line(command) for command in one.commands)
    return Told(what, one_line(one.why), one_line(one.cure), commands)


def rest(kind: Kind, number: int) -> str:
    return f"and {number} more ({kind.value.replace('_', ' ')}): {REST.get(kind, EXPLAIN)}"


def refusal(found: Sequence[Blocker], now: float) -> tuple[str, str]:
    """(why nothing was started, what to do first) for a refused run."""
    lines = ["nothing was started"]
    for one in found:
        words = told(one, now)
        lines += [words.what, *(f"  {part}" for part in (words.why,) if part)]
    first = told(found[0], now)
    hint = [f"{first.cure[:1].upper()}{first.cure[1:]}."] if first.cure else []
    hint += [f"Type `{first.commands[0]}`."] if first.commands else []
    return "\n".join(lines), "\n".join(hint)
