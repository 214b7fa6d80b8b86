"""What people look at: the whole repository on one screen, the board, one bead's history, the reviews, the graph.

Everything here only reads, and returns values; texts for people are made by the surfaces.
"""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ... import abilities
from ...agents.limits import Cooldown
from ...agents.service.cooldowns import CapView, caps_of
from ...daemon.service import control
from ...decisions.model import Escalation
from ...decisions.service.blockers import NOTHING, Blockers, Here
from ...decisions.service.blockers import blockers as looked_for
from ...errors import GitUnusable, NobrakesError
from ...events.kinds import MERGES
from ...host.locks import holder
from ...machine.registry import MachineView
from ...machine.registry import shown as machine_shown
from ...paths import Paths
from ...records import frozen
from ...requests.text import RequestLine
from ...sessions.model import State
from ...walking import commits_since
from ..model import CLOSED, WORKING, Dependency, DependencyType, Role, Status
from ..progress import doubt
from ..readiness import Why, explain, ready_beads
from ..work_status import COLUMNS, REQUESTED, SHOWN, column
from .bead_page import BeadHistory, Review, claimed, counted, counts, history, landed, requested, reviews, spoken

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...daemon.model import Limits
    from ...review.queue import Quarantined
    from ...store import Store
    from ..graph import Node


__all__ = ["BeadHistory", "BoardView", "Review", "StatusView", "board", "counts", "history", "reviews", "status"]

CARDS = 12
"""So many beads of a column are handed out; the others are counted."""


@frozen
class Worker:
    """An attempt that is open now. `seconds` since it began."""

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
    """A session that goes on; `seconds` in its turn, None: its agent is not at work."""

    session: int
    kind: str
    title: str
    agent: str
    state: str
    seconds: float | None
    memory_mb: int | None = None  # that its agent holds; None: it is not at work


@frozen
class StatusView:
    """One screen. `counts` has the columns of the board; epics are counted apart."""

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


@frozen
class Card:
    """One bead on the board. `reasons` keep it from being assigned; `request`: what it waits for people in."""

    id: str
    title: str
    type: str
    priority: int
    status: Status
    epic: str | None
    assignee: str | None
    reasons: tuple[str, ...]
    request: RequestLine | None = None


@frozen
class BoardView:
    """The first cards of each column by priority and id, and how many beads stand in it."""

    columns: Mapping[str, tuple[Card, ...]]
    counts: Mapping[str, int]
    working: tuple[Worker, ...]
    gates: tuple[Cooldown, ...]
    frozen: str | None = None  # the red tip of main, while nothing is merged for it
    sessions: tuple[OpenSession, ...] = ()
    machine: MachineView | None = None  # what all repositories share, where that is limited
    hindrances: Blockers = NOTHING  # what keeps work from going on, and what to type about it


def workers(store: "Store", runs: bool = True) -> tuple[Worker, ...]:
    """The attempts that are open, those that began first in front. A review is nobody's work unless a daemon `runs`."""
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
    """The sessions that go on, those at work first."""
    now, found = store.now(), []
    held = control.memory_of_agents(store.runs())
    for one in store.sessions():
        turns = store.turns(one.id) if one.state is State.RUNNING else []
        seconds = max(0.0, now - turns[-1].started_at) if turns else None
        memory = held.get((0, turns[-1].id)) if turns else None
        found.append(OpenSession(one.id, one.kind.value, one.title, one.agent, one.state.value, seconds, memory))
    return tuple(sorted(found, key=lambda one: (one.seconds is None, one.session)))


def with_progress(store: "Store", paths: Paths, worker: Worker) -> Worker:
    """The worker with what it claims of its progress, beside the commits that its clone tells of."""
    claim = claimed(store, store.attempt(worker.attempt))
    if claim is None:
        return worker
    commits = commits_since(os.path.join(paths.workspaces, worker.bead), worker.started_at)
    return replace(worker, says=spoken(claim, commits), doubt=doubt(claim.step, commits))


def nodes_by_column(store: "Store", limit: int, asked: Iterable[str]) -> "dict[str, list[Node]]":
    """The first beads of each column by priority and id; `asked`: those that wait for people at a code host."""
    apart = frozenset(asked)
    found = {name: store.column(name, limit) for name in COLUMNS if name != "review"}
    found["review"] = [node for node in store.column("review", limit + len(apart)) if node.id not in apart][:limit]
    nodes = [node for node in store.around(sorted(apart))[0] if node.id in apart] if apart else []
    found[REQUESTED] = sorted(nodes, key=lambda node: (node.priority, node.id))[:limit]
    return {name: found[name] for name in SHOWN}


def status(store: "Store", paths: Paths, config: "Config", here: Here | None = None) -> StatusView:
    """The whole repository on one screen. `here`: this process, to say whether agents could be started from it."""
    limits, daemon = control.limits(store, config), holder(paths.lock)
    found, moment = store.counts(), store.board(limits, 1)
    of_main, stands = _of_main(store, paths, config), looked_for(store, paths, config, here)
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
        machine_shown(),
        stands,
    )


def _of_main(store: "Store", paths: Paths, config: "Config") -> tuple[tuple[str, ...], str, tuple[str, ...]]:
    """Checkouts that are behind, what fell off main, and what of it the store does not know.

    Nothing where git cannot be asked: the doctor says why.
    """
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
    """By what was noted: of agents, and whether commits are signed. Programs are asked by the daemon, not here."""
    seen = abilities.recall(paths)

    def version(name: str, program: str, mark: str) -> str | None:
        return abilities.noted(paths, program, mark) if name in abilities.PROVEN else ""

    agents = config.agents
    found = (
        abilities.standing(name, agents.command(name), seen, version).said for name in agents.agent_choice().names()
    )
    return tuple(filter(None, (*found, store.setting(control.UNSIGNED))))


def card(node: "Node", reasons: tuple[str, ...] = (), request: RequestLine | None = None) -> Card:
    """The node on the board."""
    return Card(node.id, node.title, node.type, node.priority, node.status, node.epic, node.assignee, reasons, request)


def board(store: "Store", limit: int = CARDS, stands: Blockers = NOTHING) -> BoardView:
    """The beads in columns, who works on what, and what each one waits for. Epics are left out.

    `stands`: what keeps work from going on.
    """
    asked = requested(store)
    columns = nodes_by_column(store, limit, asked)
    shown = [node.id for nodes in columns.values() for node in nodes]
    nodes, dependencies = store.around(shown)
    explained = explain(nodes, dependencies, store.now())

    def reasons(bead: str) -> tuple[str, ...]:
        return tuple(r.text for r in explained[bead].reasons if r.why not in (Why.DONE, Why.CANCELLED))

    cards = {
        name: tuple(card(node, reasons(node.id), asked.get(node.id)) for node in found)
        for name, found in columns.items()
    }
    frozen = store.setting(control.FROZEN)
    gates = tuple(store.gates().values())
    working = workers(store, stands.works)
    return BoardView(cards, counts(store), working, gates, frozen, open_sessions(store), machine_shown(), stands)


MAX_BEADS = 60
HEADINGS: Mapping[str, str] = {
    "escalated": "Needs you",
    "blocked": "Blocked",
    "ready": "Ready",
    "working": "Doing",
    "review": "Review",
    REQUESTED: "Pull requests",
    "done": "Merged",
    "draft": "Drafts",
    "cancelled": "Cancelled",
}
MAIN = ("escalated", "blocked", "ready", "working", "review", "done")
"""The columns that are always there; the others are shown when something stands in them."""


@frozen
class Tile:
    """One bead on the board. `line` is what matters about it in its column; `frees` how many live beads wait for it."""

    id: str
    title: str
    type: str
    priority: int
    epic: str | None
    line: str
    frees: int
    is_critical: bool
    escalation: int | None = None
    attempt: int | None = None
    since: float | None = None  # when it got where it is, where that is known
    page: str = ""  # of its pull request at the code host


@frozen
class Column:
    """`total` beads stand in it, of which the first are shown."""

    name: str
    heading: str
    total: int
    tiles: tuple[Tile, ...]


# A filter looks at every bead; without one only what is shown is read.
@frozen
class ColumnsView:
    """The board. `found` is how many beads the filter found, None without one."""

    columns: tuple[Column, ...]
    wanted: str
    found: int | None
    now: float


def columns(store: "Store", wanted: str = "", most: int = MAX_BEADS) -> ColumnsView:
    """The board, or what of it has all these words."""
    words = tuple(wanted.casefold().split())[:8]
    asked = requested(store)
    if words:
        shown, totals = _filtered(store, words, most, asked)
        found: int | None = sum(totals.values())
    else:
        totals = counted(store.counts(), len(asked))
        shown = nodes_by_column(store, most, asked)
        found = None
    facts = _Facts(store, [node for nodes in shown.values() for node in nodes], asked)
    made = tuple(
        Column(name, heading, totals.get(name, 0), tuple(facts.tile(name, node) for node in shown.get(name, ())))
        for name, heading in HEADINGS.items()
        if name in MAIN or totals.get(name, 0)
    )
    return ColumnsView(made, wanted, found, store.now())


def _filtered(
    store: "Store", words: Sequence[str], most: int, asked: Collection[str]
) -> "tuple[dict[str, list[Node]], dict[str, int]]":
    nodes, dependencies = store.nodes(), store.dependencies()
    labels = {bead.id: " ".join(bead.labels) for bead in store.beads()} if len(nodes) <= 5000 else {}
    ready = set(ready_beads(nodes, dependencies, store.now()))
    shown: dict[str, list[Node]] = {}
    totals: dict[str, int] = {}
    for node in sorted(nodes, key=lambda node: (node.priority, node.id)):
        text = f"{node.id} {node.title} {node.type} {node.epic or ''} {labels.get(node.id, '')}".casefold()
        if node.type == "epic" or not all(word in text for word in words):
            continue
        name = REQUESTED if node.id in asked else column(node.status, node.id in ready)
        totals[name] = totals.get(name, 0) + 1
        if totals[name] <= most:
            shown.setdefault(name, []).append(node)
    return shown, totals


class _Facts:
    """What the tiles need beside their beads, read once."""

    def __init__(self, store: "Store", nodes: "Sequence[Node]", asked: Mapping[str, RequestLine]) -> None:
        self.asked = asked
        around, dependencies = store.around([node.id for node in nodes])
        self.now = store.now()
        self.explained = explain(around, dependencies, self.now)
        self.waiting = _waiting(around, dependencies)
        self.critical = frozenset(store.critical_path())
        self.workers: dict[str, Worker] = {worker.bead: worker for worker in workers(store)}
        self.escalations = {one.bead: one for one in reversed(store.escalations()) if one.bead is not None}
        self.reviewed = {attempt.bead for attempt in store.reviewing()}
        merged = store.latest_events(MERGES, None, 200)
        self.merged = {event.bead: event.at for event in reversed(merged)}

    def tile(self, name: str, node: "Node") -> Tile:
        """The bead as its column shows it."""
        asked, worker = self.escalations.get(node.id), self.workers.get(node.id)
        since = worker.started_at if worker else self.merged.get(node.id) if name == "done" else None
        if asked is not None:
            since = asked.created_at
        return Tile(
            node.id,
            node.title,
            node.type,
            node.priority,
            node.epic,
            self._line(name, node, worker),
            self.waiting.get(node.id, 0),
            node.id in self.critical and node.status not in CLOSED,
            asked.id if asked is not None else None,
            worker.attempt if worker is not None and worker.role is not Role.REVIEWER else None,
            since,
            self.asked[node.id].page if name == REQUESTED else "",
        )

    def _line(self, name: str, node: "Node", worker: Worker | None) -> str:
        if name == "escalated" and node.id in self.escalations:
            return self.escalations[node.id].title
        if worker is not None and worker.role is not Role.REVIEWER:
            role = worker.role.value.replace("_", " ")
            return f"{worker.name}, {role}" + (f", try {worker.number}" if worker.number > 1 else "")
        if name == REQUESTED:
            return self.asked[node.id].says
        if name == "blocked":
            reasons = self.explained[node.id].reasons
            return "; ".join(one.text for one in reasons if one.why not in (Why.DONE, Why.CANCELLED))
        if name == "review" and node.id not in self.reviewed and node.status is Status.NEEDS_REVIEW:
            return "waits for the Reviewer"
        if node.status is Status.LANDED:
            return f"{landed(str(node.epic))}; its request follows when all of it has"
        return ""


def _waiting(nodes: "Sequence[Node]", dependencies: Sequence[Dependency]) -> dict[str, int]:
    """How many live beads wait for each."""
    live = {node.id for node in nodes if node.status not in CLOSED}
    found: dict[str, int] = {}
    for one in dependencies:
        if one.type is DependencyType.BLOCKS and one.bead in live:
            found[one.needs] = found.get(one.needs, 0) + 1
    return found
