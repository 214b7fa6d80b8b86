"""SqliteStore: the port `Store` on one SQLite file. Each method is one transaction of the module that it names."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ..core.beads.attempt import Attempt, AttemptLog, Run
from ..core.beads.bead import Bead, Dependency, Role, Status
from ..core.beads.branches import PATTERN
from ..core.beads.escalations import Escalation
from ..core.beads.events import Event, Kind
from ..core.beads.outcomes import Outcome
from ..core.graph.links import Node
from ..ports import Changes, NewEscalation, Position, Restored
from . import changes, escalations, events, queries, restoring
from .attempts import claims
from .beads import edits, longest_chain, planning, recompute, transitions
from .database import Database
from .machine import facts
from .spender import Spender
from .upkeep import Upkeep

if TYPE_CHECKING:
    from ..core.board import Board, Limits
    from ..ports import Clock


def _secret() -> str:
    """A token that nobody guesses."""
    from secrets import token_urlsafe  # only whoever opens an attempt needs one

    return token_urlsafe(24)


class SqliteStore(Spender, Upkeep):
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

    def together(self, told: bool = True) -> AbstractContextManager[None]:
        """Several calls as one transaction."""
        return self._db.write(told=told)

    def sync(self) -> None:
        """Have on the disk what was committed, and what is kept beside the database."""
        self._db.sync()

    def tell(self, told: Callable[[], None], settle: Callable[[], None]) -> None:
        """Call `told` after each transaction that changed what `changes` gives, and `settle` in `sync`."""
        self._db.tell, self._db.settle = told, settle

    # the graph

    def put(self, beads: Sequence[Bead], dependencies: Sequence[Dependency], actor: str) -> None:
        """Add beads and dependencies in one transaction."""
        planning.put(self._db, beads, dependencies, actor)

    def change(self, bead: str, fields: Mapping[str, Any], actor: str) -> Bead:
        """Set content fields by name."""
        return edits.change(self._db, bead, fields, actor)

    def add_dependency(self, dependency: Dependency, actor: str) -> None:
        """Add one dependency; a parent-child one sets `epic`."""
        planning.add_dependency(self._db, dependency, actor)

    def remove_dependency(self, dependency: Dependency, actor: str) -> None:
        """Remove one dependency; a parent-child one clears `epic`."""
        planning.remove_dependency(self._db, dependency, actor)

    def bead(self, bead: str) -> Bead:
        """One bead, whole."""
        return planning.bead(self._db, bead)

    def beads(self, statuses: Iterable[Status] = (), ids: Iterable[str] = ()) -> list[Bead]:
        """Beads by id order; statuses and ids both narrow it down."""
        return queries.beads(self._db, statuses, ids)

    def nodes(self) -> list[Node]:
        """Every bead without its texts, by id order."""
        return recompute.all_nodes(self._db)

    def dependencies(self, bead: str | None = None) -> list[Dependency]:
        """All dependencies, parents among them, or those that touch `bead`; sorted."""
        return recompute.all_dependencies(self._db) if bead is None else queries.dependencies(self._db, bead)

    def touched(self, after: int | None, since: float | None) -> tuple[int, float, list[str]]:
        """What happened since a moment."""
        return queries.touched(self._db, after, since)

    def counts(self) -> Mapping[str, int]:
        """How many beads stand in each column of the board."""
        return queries.counts(self._db)

    def column(self, name: str, limit: int) -> list[Node]:
        """The first beads of a column."""
        return queries.column(self._db, name, limit)

    def around(self, beads: Sequence[str]) -> tuple[list[Node], list[Dependency]]:
        """What decides whether these beads are ready."""
        return queries.around(self._db, beads)

    def longest_chain(self) -> list[str]:
        """The longest chain of live work by estimate, first bead first."""
        return longest_chain.longest_chain(self._db)

    def by_priority(self, statuses: Iterable[Status] = (), epic: str | None = None) -> list[tuple[int, str]]:
        """(priority, id) of each bead that fits."""
        return queries.by_priority(self._db, statuses, epic)

    def ready(self, limit: int) -> list[Bead]:
        """The first ready beads in the Assigner's order."""
        return queries.ready(self._db, limit)

    # the life of a bead

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
        return claims.open_attempt(self._db, source, bead, role, agent_spec, names, lease_seconds, base, branch_pattern)

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
        return claims.close_attempt(
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

    def journal(self, attempt: int, data: Mapping[str, Any]) -> None:
        """Replace the attempt's `data`."""
        claims.journal(self._db, attempt, data)

    def attempt(self, attempt: int) -> Attempt:
        """One attempt."""
        return claims.attempt(self._db, attempt)

    def attempts(self, bead: str) -> list[Attempt]:
        """All attempts of a bead, oldest first."""
        return claims.attempts(self._db, bead)

    def count_on(self, attempts_: int, fences: Mapping[str, int]) -> bool:
        """Number attempts above this one, and fences above these; whether attempts were behind."""
        return restoring.count_on(self._db, attempts_, fences)

    def reviewing(self) -> list[Attempt]:
        """The Reviewer's attempts that have not ended, oldest first."""
        return queries.reviewing(self._db)

    def reviews(self, limit: int) -> list[Attempt]:
        """The Reviewer's latest attempts, newest first."""
        return queries.reviews(self._db, limit)

    def merges(self) -> dict[str, str]:
        """Bead id to the commit of its merge, of every done bead that has one."""
        return queries.merges(self._db)

    def renew(self, attempts_: Sequence[int], lease_seconds: float) -> None:
        """Prolong leases, when less than two thirds are left."""
        claims.renew(self._db, attempts_, lease_seconds)

    def move_times(self, seconds: float) -> None:
        """The clock jumped: move the times of runs and leases along; back, also retries and closed gates."""
        claims.move_times(self._db, seconds)

    # child processes

    def plan_run(self, run: Run) -> None:
        """Remember that a child is about to be started."""
        facts.plan_run(self._db, run)

    def update_run(self, run: str, **fields: Any) -> None:
        """Set fields of Run by name."""
        facts.update_run(self._db, run, fields)

    def end_run(self, run: str) -> None:
        """Forget the child."""
        facts.end_run(self._db, run)

    def runs(self) -> list[Run]:
        """The children that are planned or alive."""
        return facts.runs(self._db)

    # people and agents

    def escalate(self, new: NewEscalation, bead: str | None, attempt: int | None, actor: str) -> Escalation:
        """File an escalation, or return the open one that is the same."""
        return escalations.escalate(self._db, new, bead, attempt, actor)

    def escalations(self, open_only: bool = True, bead: str | None = None) -> list[Escalation]:
        """Escalations, those that most beads wait for first."""
        return escalations.listed(self._db, open_only, bead)

    def escalations_as_filed(self) -> list[Escalation]:
        """All of them by number, uncounted."""
        return escalations.as_filed(self._db)

    def escalation(self, number: int) -> Escalation:
        """One escalation."""
        return escalations.escalation(self._db, number)

    def answer(self, number: int, text: str, actor: str) -> Escalation:
        """Answer and resolve, exactly once."""
        return escalations.answer(self._db, number, text, actor)

    def resolve(self, number: int, resolution: str, actor: str, to: Status | None = None) -> Escalation:
        """Resolve, exactly once."""
        return escalations.resolve(self._db, number, resolution, actor, to)

    def door(self, token: str) -> Attempt:
        """The open attempt that the token speaks for."""
        return claims.door(self._db, token)

    # the machine

    def board(self, limits: "Limits", front: int | None = None) -> "Board":
        """The deciders' snapshot."""
        from . import snapshot as boards  # brings the deciders' modules, and few commands need them

        return boards.board(self._db, limits, front)

    def setting(self, key: str) -> str | None:
        """A small fact of the machine."""
        return facts.setting(self._db, key)

    def set_setting(self, key: str, value: str | None) -> None:
        """Set or remove it."""
        facts.set_setting(self._db, key, value)

    def validation(self, tree: str, contract: str) -> Mapping[str, Any] | None:
        """The recorded results of a validation that passed."""
        return facts.validation(self._db, tree, contract)

    def save_validation(self, tree: str, contract: str, results: Mapping[str, Any]) -> None:
        """Remember a validation that passed."""
        facts.save_validation(self._db, tree, contract, results)

    def changes(self, after: Position) -> Changes:
        """What changed after it."""
        return changes.changes(self._db, after)

    def bring_back(self, found: Restored, beyond: int, actor: str) -> dict[str, Any]:
        """Put in what is later than this database, and number events above `beyond`."""
        return restoring.bring_back(self._db, found, beyond, actor)

    def position(self) -> Position:
        """The last event."""
        return changes.position(self._db)

    def events(self, after: int = 0, limit: int = 1000, bead: str | None = None) -> list[Event]:
        """Events with a greater seq, oldest first."""
        return events.after(self._db, after, limit, bead)

    def latest_events(
        self, kinds: Iterable[Kind], before: int | None = None, limit: int = 1000, bead: str | None = None
    ) -> list[Event]:
        """Events of these kinds with a smaller seq, newest first."""
        return events.latest(self._db, kinds, before, limit, bead)
