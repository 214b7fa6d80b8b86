"""A person's commands for the daemon: start, stop, pause, limits; and for deleting archived work.

1. The daemon runs in the background. Its lock says whether there is one.
2. Archived work is deleted only on request and only if main has it: the ref's commit is in the merged head of a bead
   that is done by that merge. Discarded, uncommitted and reverted work stays for ever.
3. If the event log does not know the merge (a rebuilt database), nothing is deleted.
4. Deletions are recorded with their commits first, so that they can be undone while git has them.
"""

import json
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import TYPE_CHECKING, Any

from ...agents.limits import CALLS, CAP_LIFTED, WORKSPACES, Cap, Caps, Spent, ends_at, period_of
from ...beads.model import Attempt, Bead, Run, RunKind, Status
from ...config.sections import FROM_THE_START, CheckSettings, LimitSettings
from ...config.settings import Config, validated
from ...config.user import OVERRIDE
from ...decisions.blockers import BACKGROUND
from ...errors import ConfigError, DaemonNotRunning, NobrakesError, NoMain, NotAllowed, UsageError
from ...events.kinds import Event, Kind
from ...files import wake
from ...host import locks
from ...host.locks import holder
from ...paths import Paths, process_environment
from ...records import frozen
from ...text.cleaning import count
from ..model import FROZEN as FROZEN

if TYPE_CHECKING:
    from ...git.port import Git
    from ...review.queue import Quarantined
    from ...store import Store
    from ..model import Limits

DAY = 86_400.0

_ARCHIVE = "refs/nobrakes/archive/"
_OWN = "refs/nobrakes/"


@frozen
class Archived:
    """One archived ref. `days` since its bead's merge (None: not merged); `goes`: old enough."""

    ref: str
    commit: str
    bead: str
    days: float | None = None
    goes: bool = False


def look(store: "Store", git: "Git", keep_days: float | None) -> list[Archived]:
    """Newest first. `keep_days` None: all stays."""
    now = store.now()
    heads: dict[str, tuple[str, float] | None] = {}
    found = []
    for ref, commit in git.archived():
        if (bead := ref.removeprefix(_ARCHIVE).split("/")[0]) not in heads:
            heads[bead] = _merged_head(store, git, bead)
        head = heads[bead]
        days = (now - head[1]) / DAY if head is not None and git.contains(commit, head[0]) else None
        goes = keep_days is not None and days is not None and days >= keep_days
        found.append(Archived(ref, commit, bead, days, goes))
    return found


def _merged_head(store: "Store", git: "Git", name: str) -> tuple[str, float] | None:
    known: list[Bead] = store.beads(ids=[name])
    if not known or known[0].status is not Status.DONE or known[0].merged_commit is None:
        return None
    last = store.latest_events((Kind.MERGED, Kind.REVERTED), limit=1, bead=name)
    if not last or last[0].kind is not Kind.MERGED or last[0].data.get("merged_commit") != known[0].merged_commit:
        return None
    if not last[0].data.get("head") or not git.contains(known[0].merged_commit, git.main()):
        return None
    return str(last[0].data["head"]), last[0].at


def expire(store: "Store", git: "Git", keep_days: float | None, actor: str) -> list[Archived]:
    """Remove expired refs; returns them. UsageError: the settings keep everything."""
    if keep_days is None:
        raise UsageError(
            "retention.archive_days is not set, so nothing is removed",
            "Set the number of days in .nobrakes/config.toml; then old work can be removed.",
        )
    going = [one for one in look(store, git, keep_days) if one.goes]
    for bead in dict.fromkeys(one.bead for one in going):
        refs = {one.ref: one.commit for one in going if one.bead == bead}
        store.record(Event(Kind.ARCHIVE_EXPIRED, bead, actor=actor, data={"refs": refs}))
        for ref in refs:
            git.pin(ref.removeprefix(_OWN), None)
    return going


def bring_back(git: "Git", event: Event) -> None:
    """Restore the refs of an expiry; NotAllowed if git has collected a commit, and then none is set."""
    refs = {str(ref): str(commit) for ref, commit in event.data.get("refs", {}).items()}
    for ref, commit in refs.items():
        if not git.has(commit):
            raise NotAllowed(f"event {event.seq} cannot be undone: git deleted the commit {commit[:12]} of {ref}")
    for ref, commit in refs.items():
        git.pin(ref.removeprefix(_OWN), commit)


# The Breaker Box: what is changed here is a setting of the store, so it holds for every daemon and outlives each. A
# changed limit overrides config.toml until it is changed again. Stopping one agent pauses nothing: its bead goes on.
PAUSED = "paused"
STOPPING = "stopping"
BROKEN = "frozen_by_setup"  # as databases have kept it since a failed set-up was the only reason
STOP_ASKED = "stop_asked"
UNSIGNED = "unsigned"
"""Why no commit was signed although the person's are, since the daemon's last start."""
LIMITS = "limits"
RED_MAIN = "red_main"
"""The setting with the tip on which a person allows starts despite its checks."""
TROUBLE = "trouble"
"""Why the daemon cannot work now; absent: it can."""
TRIAL_WAITS = "trial_waits"
"""The setting with what main's trial waits for, while a daemon lives."""
YES = "yes"
FORMATS_REPORTED = "formats_told"


def untold(store: "Store", root: str, checks: "Iterable[CheckSettings]") -> list[str]:
    """Messages about checks without a format; each is reported once."""
    lacking = {check.name: check.command for check in checks if check.lacks_format}
    before = store.setting(FORMATS_REPORTED)
    now = json.dumps(lacking, sort_keys=True) if lacking else None
    if now == before:
        return []
    from ...config.setup.detect import what_to_write

    known = json.loads(before) if before else {}
    store.set_setting(FORMATS_REPORTED, now)
    return [text for name, text in what_to_write(root, checks).items() if known.get(name) != lacking[name]]


def quarantined(store: "Store") -> "tuple[Quarantined, ...]":
    """What is quarantined now."""
    if not (text := store.setting("quarantine")):
        return ()
    from ...review.queue import parse

    return parse(text)


def memory_of_agents(runs: Iterable[Run]) -> dict[tuple[int, int], int]:
    """MB by (attempt, turn), one of which is 0, for each living agent."""
    found = {}
    for run in runs:
        if run.kind is RunKind.AGENT:
            from ...host.proctable import held_mb

            if (held := held_mb(run.pid, run.born)) is not None:
                found[run.attempt, run.turn] = held
    return found


def _switch(store: "Store", paths: Paths, wanted: Mapping[str, str | None], kind: Kind, actor: str) -> bool:
    changes = {key: value for key, value in wanted.items() if store.setting(key) != value}
    with store.write():
        for key, value in changes.items():
            store.set_setting(key, value)
        if changes:
            store.record(Event(kind, actor=actor, data={"settings": changes}))
    wake(paths)
    return bool(changes)


def pause(store: "Store", paths: Paths, actor: str) -> bool:
    """Whether that is new."""
    return _switch(store, paths, {PAUSED: YES}, Kind.PAUSED, actor)


def stop(store: "Store", paths: Paths, actor: str) -> bool:
    """Also stop the agents, keeping their work. Whether that is new."""
    return _switch(store, paths, {PAUSED: YES, STOPPING: YES}, Kind.PAUSED, actor)


def allow_red_main(store: "Store", git: "Git", actor: str, paths: Paths) -> bool:
    """Let agents start on the present main despite its checks. Whether that is new."""
    try:
        return _switch(store, paths, {RED_MAIN: git.main()}, Kind.RESUMED, actor)
    except NoMain:
        return False  # whoever starts says so


def stop_one(store: "Store", paths: Paths, name_or_bead: str, hold: str | None, actor: str) -> "Attempt":
    """Stop the agent of this name or bead, keeping its work; returns the attempt. `hold`: why to hold its bead, None:
    it goes on. Repeatable. Raises NoSuchBead; NotAllowed if none works."""
    from ...beads.service import bead_commands
    from ...sessions.service import viewing

    at_work = viewing.find_session(store, paths, name_or_bead)
    if at_work.turn:
        raise NotAllowed(f"{name_or_bead} is a session", f"`nobrakes session stop {name_or_bead.partition('~')[2]}`")
    found = store.attempt(at_work.attempt)
    if found.outcome is not None:
        now = store.bead(found.bead).status.value
        raise NotAllowed(f"no agent is working on bead {found.bead}: it is {now}", "`nobrakes status` lists agents.")
    with store.write():
        ask_to_stop(store, [found], actor)
        if hold is not None:
            bead_commands.hold(store, found.bead, hold, actor)
    wake(paths)
    return found


def ask_to_stop(store: "Store", attempts: "Iterable[Attempt]", actor: str) -> None:
    """Ask the daemon to end these open attempts. In the caller's transaction."""
    from ..model import Limits

    board = store.board(Limits())
    new = [one for one in attempts if one.id not in board.stop_asked]
    if new:
        asked = (board.stop_asked & {one.id for one in board.attempts}) | {one.id for one in new}
        store.set_setting(STOP_ASKED, " ".join(map(str, sorted(asked))))
    for one in new:
        store.record(Event(Kind.STOP_ASKED, one.bead, one.id, actor, {"name": one.name, "number": one.number}))


def resume(store: "Store", paths: Paths, actor: str) -> bool:
    """Whether that is new."""
    return _switch(store, paths, {PAUSED: None, STOPPING: None}, Kind.RESUMED, actor)


def overrides(store: "Store") -> dict[str, Any]:
    """Limits that a person changed at runtime, by name."""
    if not (text := store.setting(LIMITS)):
        return {}
    found = json.loads(text)
    assert isinstance(found, dict), "only set_limits writes this setting"
    return found


def _checked(values: Mapping[str, object]) -> "LimitSettings":
    try:
        return validated(LimitSettings, values, "is not a limit")
    except ConfigError as error:
        raise ConfigError(str(error), f"The limits are: {', '.join(_known())}.") from None


def _known() -> list[str]:
    return [field.name for field in fields(LimitSettings) if field.name not in FROM_THE_START]


def limits(store: "Store", config: "Config") -> "Limits":
    """The effective limits: config.toml with runtime changes. The number of validators is that of the first run."""
    if changed := overrides(store):
        if not changed.keys() <= set(_known()):  # a nobrakes that knows other limits wrote them
            _checked(changed)
        # set_limits checked them when it wrote them
        config = replace(config, limits=replace(config.limits, **changed))
    return config.board_limits()


def daemon_limits(store: "Store", config: "Config") -> "Limits":
    """With as many validators as the last validation left cores for, where the settings leave that open."""
    from ...host.proctable import cores
    from ...review.journal import CORES

    found = limits(store, config)
    used = None if config.review.validators else store.setting(CORES)
    return found if used is None else replace(found, queue=found.queue.on(cores(), float(used)))


def set_limits(store: "Store", changes: Mapping[str, str], actor: str, paths: Paths | None = None) -> dict[str, object]:
    """Change limits by name, `default` restores config.toml; returns all changed. ConfigError changes nothing."""
    for name in changes:
        if name in FROM_THE_START:
            raise ConfigError(f"{name} changes only when nobrakes starts", "Set it in .nobrakes/config.toml.")
    before = overrides(store)
    kept = {name: value for name, value in before.items() if name not in changes}
    given: dict[str, object] = {name: value for name, value in changes.items() if value != "default"}
    checked = asdict(_checked({**given, **{name: value for name, value in changes.items() if name not in _known()}}))
    after = kept | {name: checked[name] for name in given}
    if after != before:
        with store.write():
            store.set_setting(LIMITS, json.dumps(after, sort_keys=True) if after else None)
            store.record(Event(Kind.LIMITS_CHANGED, actor=actor, data={"before": before, "after": after}))
    if paths is not None:
        wake(paths)
    return after


@frozen
class CapView:
    """A set cap for all beads, and its spending."""

    name: str
    spent: float
    limit: float
    lifted: bool = False  # a person lets agents start beyond it until its period ends


def caps_of(caps: Caps, spent: Spent, now: float) -> tuple[CapView, ...]:
    """Spent and cap, for each that is set."""
    found = []
    for name, cap, amount in (("day", caps.day, spent.day), ("run", caps.run, spent.run)):
        for part in fields(Cap):
            if (limit := getattr(cap, part.name)) is not None:
                found.append(CapView(f"{name}.{part.name}", getattr(amount, part.name), limit))
    if caps.calls_per_hour is not None:
        found.append(CapView(CALLS, spent.calls, caps.calls_per_hour))
    return tuple(replace(one, lifted=spent.lifted.get(one.name) == period_of(one.name, spent, now)) for one in found)


@frozen
class Lifted:
    """A lifted or restored cap. `until`: its period's end; None: the run's."""

    name: str
    spent: float
    limit: float
    until: float | None
    lifted: bool


def lift(store: "Store", paths: Paths, config: "Config", name: str, is_lifted: bool, actor: str) -> Lifted:
    """Lift the cap until its period ends, or restore it. UsageError: not set."""
    in_force = limits(store, config)
    board = store.board(in_force, 1)
    found = {one.name: one for one in caps_of(in_force.caps, board.spent, board.now)}
    if name not in found:
        known = f"The caps are: {', '.join(found)}." if found else ".nobrakes/config.toml sets no cap for all beads."
        raise UsageError(f"there is no cap '{name[:40]}' to lift", known)
    one = found[name]
    if one.lifted != is_lifted:
        with store.write():
            store.set_setting(f"{CAP_LIFTED}{name}", period_of(name, board.spent, board.now) if is_lifted else None)
            before, after = ("holds", "lifted") if is_lifted else ("lifted", "holds")
            data = {"before": {f"caps.{name}": before}, "after": {f"caps.{name}": after}}
            store.record(Event(Kind.LIMITS_CHANGED, actor=actor, data=data))
    wake(paths)
    return Lifted(name, one.spent, one.limit, ends_at(name, board.now), is_lifted)


def end_cooldown(store: "Store", paths: Paths, provider: str, actor: str) -> bool:
    """False: there was no cooldown. UsageError: an unknown provider."""
    from ...agents.known import ADAPTERS

    known = sorted({WORKSPACES, *(agent.provider for agent in ADAPTERS.values() if agent.provider)})
    if not (opened := store.end_cooldown(provider, actor)) and provider not in known:
        raise UsageError(f"there is no provider '{provider[:40]}'", f"The providers are: {', '.join(known)}.")
    wake(paths)
    return opened


def reset(store: "Store", paths: Paths, bead: str, actor: str) -> int:
    """Let agents try the bead again; returns the number of reset breakers."""
    found = store.reset_breakers(bead, actor)
    wake(paths)
    return found


WANTED = "daemon_wanted"
"""The setting with the time since when a person wants a background daemon."""

POLL_SECONDS = 0.02

STARTING_SECONDS = 20.0

AGENT_ENV = "NOBRAKES_"


def running(paths: Paths) -> int | None:
    return holder(paths.lock)


def is_wanted(store: "Store") -> bool:
    return store.setting(WANTED) is not None


def start(paths: Paths, store: "Store", wait: float = STARTING_SECONDS) -> int:
    """Start a daemon and wait at most `wait` seconds; returns its pid. Raises DaemonRunning, DaemonNotRunning. The
    watchdog then restarts it (daemon.deciders); a failed start changes nothing about that."""
    before = store.setting(WANTED)
    store.set_setting(WANTED, repr(store.now()))
    try:
        return _started(paths, wait)
    except NobrakesError:
        if holder(paths.lock) is None:
            store.set_setting(WANTED, before)
        raise


def start_again(paths: Paths, store: "Store") -> int | None:
    """`start` for the watchdog; None: a person stopped it meanwhile. Raises DaemonNotRunning."""
    pid = _started(paths, STARTING_SECONDS)
    if is_wanted(store):
        return pid
    locks.stop_daemon(paths.lock, STARTING_SECONDS, paths.daemon_log)
    return None


def _started(paths: Paths, wait: float) -> int:
    return locks.start_daemon(
        [sys.executable, "-P", "-m", "nobrakes", "daemon", "run"],
        log=paths.daemon_log,
        lock=paths.lock,
        cwd=paths.root,
        env={
            key: value
            for key, value in process_environment().items()
            if key == OVERRIDE or not key.startswith(AGENT_ENV)
        },
        timeout=wait,
    )


def stop_daemon(paths: Paths, store: "Store", wait: float) -> tuple[int, str]:
    """Stop the daemon and its agents in order, waiting at most `wait` seconds; returns its pid and what still runs.
    DaemonNotRunning, and it is no longer missed (decisions.blockers). The watchdog leaves it stopped."""
    store.set_setting(WANTED, None)  # before it ends: whoever looks then finds that it is not wanted
    if holder(paths.lock) is None and store.setting(BACKGROUND) is not None:
        dead = store.setting(BACKGROUND)
        store.set_setting(BACKGROUND, None)
        raise DaemonNotRunning(
            f"the daemon (process {dead}) had already died; nobrakes no longer expects a daemon",
            "`nobrakes run` or `nobrakes daemon start` continues the work.",
        )
    return locks.stop_daemon(paths.lock, wait, paths.daemon_log)


def restart(paths: Paths, store: "Store", wait: float) -> int:
    """Replace the daemon while its agents go on; returns the new pid. It is wanted as by `start`."""
    from ...host.proctable import look, send

    pid = holder(paths.lock)
    process = look(pid) if pid is not None else None
    if process is not None and holder(paths.lock) == process.pid and send(process, signal.SIGUSR1):
        deadline = time.monotonic() + wait
        while holder(paths.lock) == process.pid:
            if time.monotonic() > deadline:
                raise NobrakesError(
                    f"the daemon (process {process.pid}) did not hand over its work in {count(round(wait), 'second')}",
                    "The daemon may be in a step that cannot be interrupted. Try again.",
                )
            time.sleep(POLL_SECONDS)
    return start(paths, store, wait)
