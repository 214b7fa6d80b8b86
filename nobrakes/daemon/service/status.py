"""The whole repository on one screen, and what holds agents back: cooldowns and caps."""

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from ... import abilities
from ...agents.limits import Cooldown
from ...beads.model import WORKING, Attempt, BeadType, Role, Status
from ...beads.progress import doubt
from ...beads.work_status import REQUESTED, SHOWN, stage
from ...decisions.model import Escalation
from ...decisions.service.blockers import NOTHING, Blockers, Here
from ...decisions.service.blockers import blockers as looked_for
from ...errors import GitUnusable, NobrakesError
from ...events.kinds import Kind
from ...host.locks import holder
from ...machine.registry import MachineView, shown
from ...paths import Paths
from ...records import frozen
from ...requests.model import PullState, RequestLine, page_of
from ...review.journal import Journal, waits_for_people
from ...sessions.model import State
from ...text.cleaning import clean, shorten
from ...walking import commits_since
from . import control
from .control import CapView, caps_of

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...review.queue import Quarantined
    from ...store import Store
    from ..model import Limits


PROGRESS_PAGE = 1000
TEXT = 500


@frozen
class Claim:
    """An agent's last claim of progress. `of` None: unknown total."""

    text: str
    step: int | None = None
    of: int | None = None


def spoken(claim: Claim, commits: int | None) -> str:
    step = "" if claim.step is None else f"step {claim.step}" + (f" of {claim.of}" if claim.of else "")
    fact = "" if commits is None else f"{commits} commit{'' if commits == 1 else 's'}"
    return ", ".join(part for part in (step, fact, claim.text) if part)


def claimed(store: "Store", attempt: Attempt) -> Claim | None:
    """The attempt's last claim of its progress."""
    after, found = 0, None
    while page := store.events(after, PROGRESS_PAGE, attempt.bead):
        after = page[-1].seq
        own = (one for one in reversed(page) if one.kind is Kind.PROGRESSED and one.attempt == attempt.id)
        found = next(own, found)
    if found is None:
        return None
    numbers = found.data.get("data") or {}
    return Claim(shorten(clean(str(found.data.get("text", ""))), TEXT), numbers.get("step"), numbers.get("of"))


def review_step(attempt: Attempt) -> str:
    journal = Journal.of(attempt.data)
    return f"waits: {why}" if (why := journal.merging.waiting) else stage(journal.step.value, journal.change.epic)


def requested(store: "Store") -> dict[str, RequestLine]:
    """Bead -> its request, while it only waits for that. Beads on an epic's branch wait for the epic's request; the
    epic itself has no column."""
    found = {}
    for attempt in store.reviewing():
        if waits_for_people(attempt.data):
            found[attempt.bead] = line(store, attempt.bead, str(attempt.data.get("waiting") or ""))
    for bead in store.beads(statuses=(Status.LANDED,)):
        if (of_epic := found.get(str(bead.epic))) is not None:
            found[bead.id] = replace(of_epic, says=f"{landed(str(bead.epic))}; {of_epic.says}")
    return {one: how for one, how in found.items() if store.bead(one).type is not BeadType.EPIC}


def counts(store: "Store") -> dict[str, int]:
    return counted(store.counts(), len(requested(store)))


def counted(found: Mapping[str, int], asked: int) -> dict[str, int]:
    by_column = {**found, "review": max(0, found["review"] - asked), REQUESTED: asked}
    return {name: by_column[name] for name in (*SHOWN, "held")}


def landed(epic: str) -> str:
    return f"landed on the branch of {epic}"


def line(store: "Store", bead: str, waiting: str = "") -> RequestLine:
    pull = store.pull(bead)
    if pull is None or not pull.waits:
        return RequestLine(0, PullState.OPENING.value, "", waiting)
    return RequestLine(pull.number, pull.state.value, page_of(pull.url), waiting or pull.says)


@frozen
class GatesView:
    """Present cooldowns and caps."""

    now: float
    gates: tuple[Cooldown, ...]
    caps: tuple[CapView, ...]
    machine: MachineView | None = None  # what all repositories share, where that is limited


@frozen
class Worker:
    """An open attempt. `seconds` since it began."""

    name: str
    role: Role
    bead: str
    title: str
    agent: str
    attempt: int
    number: int
    started_at: float
    seconds: float
    says: str = ""  # what it claims, and what its clone says: two tracks
    doubt: str = ""  # what speaks against the claim
    step: str = ""  # of a review: the step that it is at
    onto: str = ""  # of a review: the epic on whose branch it lands; empty: on main
    memory_mb: int | None = None  # that its processes hold; None: none lives


@frozen
class OpenSession:
    """An open session; `seconds` in its turn, None: idle."""

    session: int
    kind: str
    title: str
    agent: str
    state: str
    seconds: float | None
    memory_mb: int | None = None  # that its agent holds; None: it is not at work


@frozen
class StatusView:
    """One screen. `counts`: the board's columns; epics are separate."""

    main: str
    daemon: int | None  # its pid
    paused: bool
    frozen: str | None  # the red tip of main, while nothing is merged for it
    stopping: bool
    counts: Mapping[str, int]
    epics: int
    working: tuple[Worker, ...]
    escalations: tuple[Escalation, ...]
    limits: "Limits"
    checks: int
    next_at: float | None  # the next retry, deferral or end of a cooldown
    gates: tuple[Cooldown, ...]
    caps: tuple[CapView, ...]
    degraded: tuple[str, ...]  # agents of which less is asked than they should be able to do, and why
    quarantined: tuple["Quarantined", ...]
    behind: tuple[str, ...] = ()  # checkouts of main in which a plain commit would take back what was merged
    off_main: str = ""  # the done beads that main does not carry any more, and what can be done
    unknown: tuple[str, ...] = ()  # what main carries and the database does not know, a line for each bead
    sessions: tuple[OpenSession, ...] = ()
    machine: MachineView | None = None  # what all repositories share, where that is limited
    hindrances: Blockers = NOTHING  # what keeps work from going on, and what to type about it


def workers(store: "Store", runs: bool = True) -> tuple[Worker, ...]:
    """Open attempts, oldest first. Reviews only count while a daemon `runs`."""
    now = store.now()
    found, held = [], control.memory_of_agents(store.runs())
    for bead in store.beads(WORKING):
        for attempt in store.attempts(bead.id):
            if attempt.outcome is None and (runs or attempt.role is not Role.REVIEWER):
                found.append(
                    Worker(
                        attempt.name,
                        attempt.role,
                        bead.id,
                        bead.title,
                        attempt.agent,
                        attempt.id,
                        attempt.number,
                        attempt.started_at,
                        max(0.0, now - attempt.started_at),
                        step=str(attempt.data.get("step", "")) if attempt.role is Role.REVIEWER else "",
                        onto=str(attempt.data.get("epic", "")) if attempt.role is Role.REVIEWER else "",
                        memory_mb=held.get((attempt.id, 0)),
                    )
                )
    return tuple(sorted(found, key=lambda worker: worker.started_at))


def open_sessions(store: "Store") -> tuple[OpenSession, ...]:
    """Open sessions, working ones first."""
    now, found = store.now(), []
    held = control.memory_of_agents(store.runs())
    for one in store.sessions():
        turns = store.turns(one.id) if one.state is State.RUNNING else []
        seconds = max(0.0, now - turns[-1].started_at) if turns else None
        memory = held.get((0, turns[-1].id)) if turns else None
        found.append(OpenSession(one.id, one.kind.value, one.title, one.agent, one.state.value, seconds, memory))
    return tuple(sorted(found, key=lambda one: (one.seconds is None, one.session)))


def with_progress(store: "Store", paths: Paths, worker: Worker) -> Worker:
    """The worker with its claimed progress and its clone's commits."""
    claim = claimed(store, store.attempt(worker.attempt))
    if claim is None:
        return worker
    commits = commits_since(os.path.join(paths.workspaces, worker.bead), worker.started_at)
    return replace(worker, says=spoken(claim, commits), doubt=doubt(claim.step, commits))


def status(store: "Store", paths: Paths, config: "Config", here: Here | None = None) -> StatusView:
    """The whole repository on one screen. `here`: this process, to tell whether it could start agents."""
    limits, daemon = control.limits(store, config), holder(paths.lock)
    found, moment = store.counts(), store.board(limits, 1)
    of_main, stands = _main_problems(store, paths, config), looked_for(store, paths, config, here)
    stands = replace(stands, found=tuple(one for one in stands.found if f"{one.what}." not in of_main[0]))
    return StatusView(
        config.main,
        daemon,
        bool(store.setting(control.PAUSED)),
        store.setting(control.FROZEN),
        bool(store.setting(control.STOPPING)),
        counted(found, len(requested(store))),
        found["epic"],
        tuple(with_progress(store, paths, worker) for worker in workers(store, daemon is not None)),
        tuple(store.escalations()),
        limits,
        len(config.checks),
        moment.wake_at,
        tuple(moment.gates.values()),
        caps_of(limits.caps, moment.spent, moment.now),
        degraded(store, paths, config),
        control.quarantined(store),
        *of_main,
        open_sessions(store),
        shown(),
        stands,
    )


def _main_problems(store: "Store", paths: Paths, config: "Config") -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Outdated checkouts, merges missing on main, and merges unknown to the store. Empty if git fails: the doctor
    reports that."""
    from ...git.repository import open_git
    from ...review.service.landed import off_main_message, unknown

    git = open_git(paths, config)
    try:
        return git.behind(), off_main_message(store, git, config), tuple(unknown(store, git))
    except GitUnusable as error:
        return (error.whole,), "", ()
    except NobrakesError:
        return (), "", ()
    finally:
        git.close()


def degraded(store: "Store", paths: Paths, config: "Config") -> tuple[str, ...]:
    """Recorded problems of agents and signing; only the daemon runs programs."""
    seen = abilities.recall(paths)

    def version(name: str, program: str, mark: str) -> str | None:
        return abilities.noted(paths, program, mark) if name in abilities.PROVEN else ""

    agents = config.agents
    found = (
        abilities.standing(name, agents.command(name), seen, version).said for name in agents.agent_choice().names()
    )
    return tuple(filter(None, (*found, store.setting(control.UNSIGNED))))


def view(store: "Store", config: "Config") -> GatesView:
    limits = control.limits(store, config)
    board = store.board(limits, 1)
    return GatesView(board.now, tuple(board.gates.values()), caps_of(limits.caps, board.spent, board.now), shown())
