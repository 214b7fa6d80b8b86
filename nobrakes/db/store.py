"""SqliteStore: the port `Store` on one SQLite file. Its parts are small classes, each beside what it calls."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ..agents.db import spending
from ..agents.limits import Amount, Breaker, Cooldown
from ..beads.branches import PATTERN
from ..beads.db import attempts, levels, moves, planning, transitions
from ..beads.graph import Node, Usual
from ..beads.model import Attempt, AttemptLog, Bead, Dependency, Outcome, Role, Run, Status
from ..beads.port import Alike, Said
from ..beads.work_status import Standstill
from ..commands.model import Request
from ..decisions import db as decisions_db
from ..decisions.model import Escalation
from ..events import db as events_db
from ..events.kinds import Event, Kind
from ..features.db import Collected, Features, Shapers
from ..notices import db as notices_db
from ..notices.model import Delivery, DeliveryState, NewNotice, NoticeRecord, OpenQuestion, Queue
from ..projects.db import Schedules
from ..review.port import ByHand
from ..sessions.db import Talks
from . import snapshot, views
from .database import Database
from .port import NO_ANSWERS, Changes, NewEscalation, Position, Restored

if TYPE_CHECKING:
    from ..daemon.model import Board, Limits
    from ..host.port import Clock
    from ..requests.model import PullRequest


# The part of the port `Store` that is the machine: runs, settings, and the deciders' board.


class Machine:
    """Facts of the machine on one database."""

    _db: Database

    def plan_run(self, run: Run) -> None:
        """Remember that a child is about to be started."""
        views.plan_run(self._db, run)

    def update_run(self, run: str, **fields: Any) -> None:
        """Set fields of Run by name."""
        views.update_run(self._db, run, fields)

    def end_run(self, run: str) -> None:
        """Forget the child."""
        views.end_run(self._db, run)

    def runs(self) -> list[Run]:
        """The children that are planned or alive."""
        return views.runs(self._db)

    def board(self, limits: "Limits", front: int | None = None) -> "Board":
        """The deciders' snapshot."""
        from . import snapshot as boards  # brings the deciders' modules, and few commands need them

        return boards.board(self._db, limits, front)

    def setting(self, key: str) -> str | None:
        """A small fact of the machine."""
        return views.setting(self._db, key)

    def set_setting(self, key: str, value: str | None) -> None:
        """Set or remove it."""
        views.set_setting(self._db, key, value)


# The part of the port `Store` that views ask: counts, columns, what is ready, what happened since.


class Questions:
    """Questions of views on one database, never answered from the whole graph."""

    _db: Database

    def touched(self, after: int | None, since: float | None) -> tuple[int, float, list[str]]:
        """What happened since a moment."""
        return views.touched(self._db, after, since)

    def counts(self) -> Mapping[str, int]:
        """How many beads stand in each column of the board."""
        return views.counts(self._db)

    def column(self, name: str, limit: int) -> list[Node]:
        """The first beads of a column."""
        return views.column(self._db, name, limit)

    def around(self, beads: Sequence[str]) -> tuple[list[Node], list[Dependency]]:
        """What decides whether these beads are ready."""
        return views.around(self._db, beads)

    def longest_chain(self, limit: int | None = None) -> list[str]:
        """The longest chain of live work by estimate, first bead first."""
        return levels.longest_chain(self._db, limit)

    def levels(self, beads: Iterable[str]) -> dict[str, int]:
        """The minutes of the longest chain behind each."""
        return views.levels(self._db, beads)

    def by_priority(self, statuses: Iterable[Status] = (), epic: str | None = None) -> list[tuple[int, str]]:
        """(priority, id) of each bead that fits."""
        return views.by_priority(self._db, statuses, epic)

    def ready(self, limit: int) -> list[Bead]:
        """The first ready beads in the Assigner's order."""
        return views.ready(self._db, limit)

    def standstill(self) -> Standstill:
        """Who stands still until a person, or a time, lets it go on."""
        return snapshot.standstill(self._db)


# What doctor and rebuild ask of the store, beyond its port.


class Upkeep:
    """Looking a store over, setting it right and filling it again."""

    _db: Database

    def restore(self, found: Restored, actor: str) -> None:
        """Fill this empty store with what was kept outside of the database."""
        snapshot.restore(self._db, found, actor)

    def differences(self) -> dict[str, dict[str, tuple[Any, Any]]]:
        """Bead -> derived column -> (stored, recomputed by core's rules). Empty when all is right."""
        now = self._db.now()
        moves.wake(self._db, now)
        with self._db.read():
            return levels.differences(self._db, now, lag=True)

    def recount(self) -> int:
        """Set every derived column right; how many beads were wrong."""
        with self._db.write():
            return levels.recompute(self._db, self._db.now())

    def check(self) -> list[str]:
        """What is wrong: with the file as SQLite sees it, with references, with derived columns. Empty: sound."""
        return levels.problems(self._db) or levels.told(self.differences())


# The part of the port `Store` that is the event log: what happened, what changed since, what is brought back.


class EventLog:
    """The event log on one database."""

    _db: Database

    def changes(self, after: Position, limit: int | None = None) -> Changes:
        """What changed after it, by so many events (None: by all)."""
        return snapshot.changes(self._db, after, limit)

    def bring_back(self, found: Restored, beyond: int, actor: str) -> dict[str, Any]:
        """Put in what is later than this database, and number events above `beyond`."""
        return snapshot.bring_back(self._db, found, beyond, actor)

    def position(self) -> Position:
        """The last event."""
        return snapshot.position(self._db)

    def events(
        self, after: int = 0, limit: int = 1000, bead: str | None = None, kinds: Iterable[Kind] = ()
    ) -> list[Event]:
        """Events with a greater seq, oldest first."""
        return events_db.after(self._db, after, limit, bead, kinds)

    def latest_events(
        self, kinds: Iterable[Kind], before: int | None = None, limit: int = 1000, bead: str | None = None
    ) -> list[Event]:
        """Events of these kinds with a smaller seq, newest first."""
        return events_db.latest(self._db, kinds, before, limit, bead)


# The part of the port `Store` that is the graph: beads, dependencies, and what is asked of them.


class Graph:
    """Beads and dependencies on one database. Each method is one transaction of the module that it names."""

    _db: Database

    def put(self, beads: Sequence[Bead], dependencies: Sequence[Dependency], actor: str) -> None:
        """Add beads and dependencies in one transaction."""
        planning.put(self._db, beads, dependencies, actor)

    def change(self, bead: str, fields: Mapping[str, Any], actor: str) -> Bead:
        """Set content fields by name."""
        return transitions.change(self._db, bead, fields, actor)

    def add_dependency(self, dependency: Dependency, actor: str) -> None:
        """Add one dependency; a parent-child one sets `epic`."""
        planning.add_dependency(self._db, dependency, actor)

    def remove_dependency(self, dependency: Dependency, actor: str) -> None:
        """Remove one dependency; a parent-child one clears `epic`."""
        planning.remove_dependency(self._db, dependency, actor)

    def propose(
        self,
        bead: str,
        parts: Mapping[str, Mapping[str, Any] | None],
        actor: str,
        kind: Kind = Kind.CHANGE_PROPOSED,
        why: str = "",
    ) -> Bead:
        """Set parts of what is proposed for the bead, or take them away."""
        return planning.propose(self._db, bead, parts, actor, kind, why)

    def proposed(self) -> list[Bead]:
        """The beads for which something is proposed."""
        return planning.proposed(self._db)

    def alike(self, ids: Iterable[str] | None = None) -> Iterator[Alike]:
        """Those of these beads (None: of all) that are there, by id order, as they are written down."""
        return snapshot.alike(self._db, ids)

    def learn(self) -> bool:
        """Keep what beads without an estimate take as a rule by now; whether that changed."""
        return levels.relearn(self._db)

    def usual(self) -> Usual:
        """What is to be expected of beads without an estimate."""
        return levels.usual(self._db)

    def as_said(self, said: Sequence[Said]) -> dict[str, Status]:
        """Of these the beads that are there as is said, with their status."""
        return planning.as_said(self._db, said)

    def ready_once_approved(self, beads: Sequence[str]) -> list[str]:
        """Of these the beads that could be started, were the drafts among them approved."""
        return planning.ready_once_approved(self._db, beads)

    def stack(self, bead: str, on: str | None) -> None:
        """The bead is worked on on top of the open request of this blocker of it; None: it waits for all of them."""
        planning.stack(self._db, bead, on)

    def stacked(self) -> list[tuple[str, str]]:
        """The beads that stack, each with the one on whose request."""
        return planning.stacked(self._db)

    def levels_lag(self) -> bool:
        """Whether levels lag behind the graph."""
        return levels.is_due(self._db)

    def bead(self, bead: str) -> Bead:
        """One bead, whole."""
        return planning.get_bead(self._db, bead)

    def beads(self, statuses: Iterable[Status] = (), ids: Iterable[str] = ()) -> list[Bead]:
        """Beads by id order; statuses and ids both narrow it down."""
        return views.beads(self._db, statuses, ids)

    def nodes(self) -> list[Node]:
        """Every bead without its texts, by id order."""
        return levels.all_nodes(self._db)

    def dependencies(self, bead: str | None = None) -> list[Dependency]:
        """All dependencies, parents among them, or those that touch `bead`; sorted."""
        return levels.all_dependencies(self._db) if bead is None else views.dependencies(self._db, bead)


# The part of the port `Store` that moves beads: events of people, attempts, and their ends.


class Life:
    """The life of beads on one database. Each method is one transaction of the module that it names."""

    _db: Database
    _token_source: Callable[[], str]

    def record(self, event: Event) -> Bead | None:
        """Append the event; a moving kind advances its bead."""
        return transitions.record(self._db, event)

    def approve(self, beads: Sequence[str], actor: str) -> None:
        """Make drafts live, all or none."""
        transitions.approve(self._db, beads, actor)

    def open_attempt(
        self,
        bead: str,
        role: Role,
        agent: str,
        names: Sequence[str],
        lease_seconds: float,
        base: str | None,
        provider: str = "",
        model: str = "",
        branch_pattern: str = PATTERN,
    ) -> Attempt | None:
        """Claim a ready bead; None: lost the race."""
        agent_spec, source = (agent, provider, model), self._token_source
        return attempts.open_attempt(
            self._db, source, bead, role, agent_spec, names, lease_seconds, base, branch_pattern
        )

    def close_attempt(
        self,
        attempt: Attempt,
        kind: Kind,
        outcome: Outcome,
        *,
        detail: str = "",
        head: str | None = None,
        log: AttemptLog | None = None,
        data: Mapping[str, Any] | None = None,
        counts: bool = False,
        retry_at: float | None = None,
        escalation: NewEscalation | None = None,
        merged_commit: str | None = None,
    ) -> Bead:
        """End the attempt and advance its bead; Stale when it is not open any more."""
        return attempts.close_attempt(
            self._db,
            attempt,
            kind,
            outcome,
            detail=detail,
            head=head,
            log=log,
            data=data,
            counts=counts,
            retry_at=retry_at,
            escalation=escalation,
            merged_commit=merged_commit,
        )

    def hand_in(self, work: ByHand) -> Attempt:
        """A person's work goes to the Reviewer; NotAllowed, Stale: nothing was written."""
        return attempts.hand_in(self._db, work)

    def journal(self, attempt: int, data: Mapping[str, Any], answers: Mapping[int, str] = NO_ANSWERS) -> bool:
        """Replace the attempt's `data`; False: one of the answers that it is to act by does not stand any more."""
        return attempts.journal(self._db, attempt, data, answers)

    def attempt(self, attempt: int) -> Attempt:
        """One attempt."""
        return attempts.get_attempt(self._db, attempt)

    def attempts(self, bead: str) -> list[Attempt]:
        """All attempts of a bead, oldest first."""
        return attempts.attempts(self._db, bead)

    def count_on(self, attempts_: int, fences: Mapping[str, int], turns: int = 0, sessions: int = 0) -> bool:
        """Number attempts, turns, sessions and fences above these; whether one of the first three was behind."""
        return snapshot.count_on(self._db, attempts_, fences, turns, sessions)

    def renew(self, attempts_: Sequence[int], lease_seconds: float) -> None:
        """Prolong leases, when less than two thirds are left."""
        attempts.renew(self._db, attempts_, lease_seconds)

    def move_times(self, seconds: float) -> None:
        """The clock jumped: move the times of runs and leases along; back, also retries and closed gates."""
        attempts.move_times(self._db, seconds)

    def door(self, token: str) -> Attempt:
        """The open attempt that the token speaks for."""
        return attempts.door(self._db, token)


# The part of the port `Store` that people see to: escalations.


class People:
    """Escalations on one database: asked once, answered once."""

    _db: Database

    def escalate(self, new: NewEscalation, bead: str | None, attempt: int | None, actor: str) -> Escalation:
        """File an escalation, or return the open one that is the same."""
        return decisions_db.escalate(self._db, new, bead, attempt, actor)

    def escalations(self, open_only: bool = True, bead: str | None = None) -> list[Escalation]:
        """Escalations, those that most beads wait for first."""
        return decisions_db.listed(self._db, open_only, bead)

    def escalations_as_filed(self) -> list[Escalation]:
        """All of them by number, uncounted."""
        return decisions_db.as_filed(self._db)

    def escalation(self, number: int) -> Escalation:
        """One escalation."""
        return decisions_db.escalation(self._db, number)

    def answer(self, number: int, text: str, actor: str, value: Any = None, to: Status | None = None) -> Escalation:
        """Answer and resolve, exactly once."""
        return decisions_db.answer(self._db, number, text, actor, value, to)

    def take_back(self, number: int, actor: str) -> Escalation:
        """Open an answered question again that nobody read."""
        return decisions_db.take_back(self._db, number, actor)

    def act_by(self, answers_: Mapping[int, str], actor: str, attempt: int | None = None) -> bool:
        """Somebody acts by these answers from now on; False: one of them does not stand any more."""
        return decisions_db.act_by(self._db, answers_, actor, attempt)

    def resolve(self, number: int, resolution: str, actor: str, to: Status | None = None) -> Escalation:
        """Resolve, exactly once."""
        return decisions_db.resolve(self._db, number, resolution, actor, to)


# The part of SqliteStore that is the port `Spending`. Each method is one transaction of spending or session_locks.


class Spender:
    """Gates, breakers, costs and sessions on one database."""

    _db: Database

    def gates(self) -> Mapping[str, Cooldown]:
        """By provider, the cooldowns that go on, or after which no agent was served yet."""
        return spending.gates(self._db)

    def start_cooldown(self, gate: Cooldown) -> None:
        """Store the cooldown as it is now, and record that it began."""
        with self._db.write():
            spending.start_cooldown(self._db, gate)
            if not gate.is_of_start:
                decisions_db.started(self._db, gate.provider, "it starts again", "nobrakes")

    def end_cooldown(self, provider: str, actor: str) -> bool:
        """Forget the gate, and record that it opened; a question about an agent that does not start goes with it."""
        with self._db.write():
            opened = spending.end_cooldown(self._db, provider, actor)
            if opened:
                decisions_db.started(self._db, provider, "it is tried again", actor)
            return opened

    def breakers(self, owner: str) -> Mapping[str, Breaker]:
        """By provider, the breakers of an owner."""
        return spending.breakers(self._db, owner)

    def save_breaker(self, owner: str, provider: str, breaker: Breaker) -> None:
        """Keep it as it is now."""
        spending.save_breaker(self._db, owner, provider, breaker)

    def reset_breakers(self, bead: str, actor: str) -> int:
        """Half-open every open breaker of the bead."""
        return spending.reset_breakers(self._db, bead, actor)

    def spend(self, attempt: int, cost_usd: float, tokens: int) -> None:
        """Set what the attempt has cost."""
        spending.spend(self._db, attempt, cost_usd, tokens)

    def spent_since(self, since: float) -> Amount:
        """What agents cost that began at `since` or later."""
        return spending.spent_since(self._db, since, self._db.now())

    def is_session(self, provider_session: str) -> bool:
        """Whether a session is known by this id of its CLI."""
        return attempts.is_session(self._db, provider_session)

    def hold_session(self, session: str, attempt: int, fresh: bool = False) -> bool:
        """Give the session to the attempt; False: it is another bead's, or another run of it may live."""
        return attempts.hold_session(self._db, session, attempt, fresh)


# Pull requests: the newest of each bead, as it was seen last, among the machine's small facts (`settings`).

_KEY = "pull/"


class Pulls:
    """The part of the port `Store` that keeps them."""

    _db: Database

    def pull(self, bead: str) -> "PullRequest | None":
        """The bead's request; None: there was none."""
        kept = views.setting(self._db, _KEY + bead)
        return None if kept is None else _made(bead, kept)

    def pulls(self, waiting: bool = True) -> "list[PullRequest]":
        """The requests that wait, or all of them; oldest first."""
        from ..requests.model import WAITING, PullState

        # the loop asks in each quiet turn: what is over is large, and is not read
        states = json.dumps(sorted(WAITING if waiting else PullState))
        rows = self._db.all(
            "SELECT key, value FROM settings WHERE key >= 'pull/' AND key < 'pull0' AND "
            "coalesce(json_extract(value, '$.state'), 'opening') IN (SELECT value FROM json_each(?))",
            (states,),
        )
        found = [_made(str(row[0]).removeprefix(_KEY), str(row[1])) for row in rows]
        return sorted(found, key=lambda one: (one.opened_at, one.bead))

    def save_pull(self, pull: "PullRequest") -> None:
        """Keep it in the place of the bead's last one."""
        from ..serialise import as_values

        views.set_setting(self._db, _KEY + pull.bead, json.dumps(as_values(pull), sort_keys=True))


def _made(bead: str, text: str) -> "PullRequest":
    from ..requests.model import PullRequest  # most repositories have none
    from ..serialise import of_values

    return of_values(PullRequest, {**json.loads(text), "bead": bead})


# The part of the port `Store` that remembers commands by their keys.

_KEEP = "INSERT OR REPLACE INTO requests (key, command, actor, at, result) VALUES (?, ?, ?, ?, ?)"
UNKNOWN = ""
"""The result of a command that was cut off: JSON is never empty."""


class Requests:
    """Commands with keys, on one database."""

    _db: Database

    def request(self, key: str) -> Request | None:
        """What was done under the key; None: nothing."""
        row = self._db.maybe("SELECT * FROM requests WHERE key = ?", (key,))
        return None if row is None else Request(row[0], row[1], row[2], row[3], row[4] or None)

    def keep_request(self, request: Request) -> None:
        """Remember it."""
        with self._db.write():
            self._keep(request)

    def _keep(self, request: Request) -> None:
        result = UNKNOWN if request.result is None else request.result
        self._db.run(_KEEP, (request.key, request.command, request.actor, self._db.now(), result))

    @contextmanager
    def noting(self, request: Request) -> Iterator[None]:
        """Inside, each transaction that writes also remembers the request; an error takes it back."""
        self._db.before_commit = partial(self._keep, request)
        try:
            yield
        except Exception:
            self._db.before_commit = None
            with self._db.write():
                self._db.run("DELETE FROM requests WHERE key = ? AND result = ?", (request.key, UNKNOWN))
            raise
        finally:
            self._db.before_commit = None

    def forget_requests(self, before: float) -> int:
        """Forget those of before this time."""
        if self._db.maybe("SELECT 1 FROM requests WHERE at < ?", (before,)) is None:
            return 0
        with self._db.write():
            return self._db.run("DELETE FROM requests WHERE at < ?", (before,))


# The part of the port `Store` that is the outbox: notices and their deliveries.


class Outbox:
    """The outbox on one database. Each method is one transaction of written or deliveries."""

    _db: Database

    def add_notices(self, notices: Sequence[NewNotice], same_within: float) -> int:
        """Write them; how many were no repetition."""
        return notices_db.add(self._db, notices, same_within)

    def unrouted_notices(self, limit: int) -> list[NoticeRecord]:
        """Notices without a word on which channels get them."""
        return notices_db.unrouted(self._db, limit)

    def route_notices(self, routes: Sequence[tuple[int, Sequence[tuple[str, float]]]]) -> None:
        """Say which channels get them, and when."""
        notices_db.route(self._db, routes)

    def queues(self, window: float) -> list[Queue]:
        """What waits for each channel."""
        return notices_db.queues(self._db, window)

    def next_delivery(self, channel: str) -> Delivery | None:
        """The delivery that is due and comes first."""
        return notices_db.first(self._db, channel)

    def hold_deliveries(self, until: float) -> None:
        """What waits and is not urgent waits until then."""
        notices_db.hold(self._db, until)

    def release_deliveries(self) -> None:
        """Everything that waits may be sent now."""
        notices_db.release(self._db)

    def drop_answered(self) -> None:
        """End what tells of an escalation that is open no more."""
        notices_db.drop_answered(self._db)

    def make_digest(
        self,
        channel: str,
        compose: Callable[[Sequence[tuple[str, int]], Sequence[NoticeRecord]], NewNotice],
        shown: int,
    ) -> None:
        """All single notices that are due there become one."""
        notices_db.make_digest(self._db, channel, compose, shown)

    def settle_delivery(
        self, delivery: int, state: DeliveryState, error: str = "", due_at: float | None = None
    ) -> bool:
        """A try is over; whether it is the first of its channel that failed for good since one was sent."""
        return notices_db.settle(self._db, delivery, state, error, due_at)

    def end_other_channels(self, known: Sequence[str]) -> None:
        """End what waits for a channel that is none of these."""
        notices_db.end_others(self._db, known)

    def open_questions(self) -> list[OpenQuestion]:
        """Open escalations whose last notice was sent."""
        return notices_db.open_questions(self._db)

    def deliveries(self, limit: int) -> list[Delivery]:
        """Those that wait, then the newest."""
        return notices_db.listed(self._db, limit)

    def prune_notices(self, before: float, limit: int) -> int:
        """Remove old notices; how many."""
        return notices_db.prune(self._db, before, limit)


# The part of the port `Store` that only reviews need.


class Reviewing:
    """Open and ended reviews, and the validations that passed, on one database."""

    _db: Database

    def reviewing(self) -> list[Attempt]:
        """The Reviewer's attempts that have not ended, oldest first."""
        return views.reviewing(self._db)

    def reviews(self, limit: int) -> list[Attempt]:
        """The Reviewer's latest attempts, newest first."""
        from . import searches

        return searches.latest(self._db, limit)

    def agents(self, words: str, state: str, sort: str, limit: int, offset: int = 0) -> list[Attempt]:
        """Attempts of agents, searched, filtered and sorted."""
        from . import searches

        return searches.agents(self._db, words, state, sort, limit, offset)

    def merges(self, on_main: bool = False) -> dict[str, str]:
        """Bead id to the commit of its merge, of every done bead that has one; `on_main`: of those that main has."""
        return views.merges(self._db, on_main)

    def validation(self, tree: str, contract: str) -> Mapping[str, Any] | None:
        """The recorded results of a validation that passed."""
        return views.validation(self._db, tree, contract)

    def passed_otherwise(self, tree: str) -> bool:
        """Whether this tree has passed under any key at all."""
        return views.passed_otherwise(self._db, tree)

    def save_validation(self, tree: str, contract: str, results: Mapping[str, Any]) -> None:
        """Remember a validation that passed."""
        views.save_validation(self._db, tree, contract, results)


def _secret() -> str:
    """A token that nobody guesses."""
    from secrets import token_urlsafe  # only whoever opens an attempt needs one

    return token_urlsafe(24)


class SqliteStore(
    Graph,
    Questions,
    Life,
    Reviewing,
    Spender,
    Talks,
    Features,
    Shapers,
    Collected,
    Schedules,
    Outbox,
    Machine,
    Pulls,
    People,
    EventLog,
    Requests,
    Upkeep,
):
    """The store. `clock` replaces the database's own clock, `token_source` the secrets in tokens: for simulation."""

    def __init__(
        self, path: str, clock: "Clock | None" = None, create: bool = False, token_source: Callable[[], str] = _secret
    ) -> None:
        self._db = Database(path, clock.now if clock is not None else None, create)
        self.is_copy = self._db.is_copy  # the folder cannot be written: what is read is a copy
        self._token_source = token_source

    def now(self) -> float:
        """The store's clock."""
        return self._db.now()

    def close(self) -> None:
        """Release the database."""
        self._db.close()

    def keep_answers(self) -> None:
        """Ask no question again while its answer must be the same: for who asks all the time."""
        self._db.keep_answers()

    def doubt(self) -> None:
        """What others have written until now is seen by the next question."""
        self._db.doubt()

    def together(self, told: bool = True) -> AbstractContextManager[None]:
        """Several calls as one transaction."""
        return self._db.write(told=told)

    def sync(self) -> None:
        """Have on the disk what was committed, and what is kept beside the database."""
        self._db.sync()

    def tell(self, told: Callable[[], None], settle: Callable[[], None]) -> None:
        """Call `told` after each transaction that changed what `changes` gives, and `settle` in `sync`."""
        self._db.tell, self._db.settle = told, settle
