"""The door to the facts: beads, attempts, escalations, the machine's settings."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from ..agents.port import Spending
from ..beads.branches import PATTERN
from ..beads.graph import Node
from ..beads.model import Attempt, AttemptLog, Bead, Dependency, Outcome, Role, Run, Status
from ..beads.port import Alike, Graph, Proposals
from ..beads.work_status import Standstill
from ..commands.model import Requests
from ..decisions.model import Answers, Escalation, EscalationType
from ..events.kinds import Event, Kind
from ..features.port import Forge
from ..notices.port import Outbox
from ..projects.port import Sprints
from ..requests.port import Pulls
from ..review.port import ByHand, Reviews
from ..sessions.port import Sessions

if TYPE_CHECKING:
    from ..daemon.model import Board, Limits

NO_ANSWERS: Mapping[int, str] = {}


@dataclass(frozen=True, slots=True)
class NewEscalation:
    """An escalation about to be filed. `adds_to`: the open one which this is more of; 0: none.

    `session`: the session that asks, where it is no attempt's; such a question is about no bead.
    `form`: of a question, as decisions.forms.as_values gives it.
    """

    type: EscalationType
    title: str
    detail: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    hypothesis: str = ""
    adds_to: int = 0
    session: int | None = None
    form: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Position:
    """A place in the event log: an event's seq and time, which tell one database from another. (0, 0): before all."""

    seq: int = 0
    at: float = 0.0


@dataclass(frozen=True, slots=True)
class Changes:
    """What of the facts changed after a position, as it is now; `upto` is the position up to which it holds.

    `restarted`: the position is not of this database, and everything is given. `settings` None: unchanged.
    `attempts` are those that have ended. `more`: there is more after `upto`.
    """

    upto: Position
    beads: Sequence[Alike] = ()
    escalations: Sequence[Escalation] = ()
    settings: Mapping[str, str] | None = None
    restarted: bool = False
    attempts: Sequence[Attempt] = ()
    more: bool = False

    def __bool__(self) -> bool:
        return bool(self.beads or self.escalations or self.attempts or self.settings is not None or self.restarted)


@dataclass(frozen=True, slots=True)
class Restored:
    """What was kept outside of a database, to be put into one.

    `tests`: bead -> the commit of its proven tests; `settings` None: not known; `attempts`: the last one's number;
    `ended`: attempts that are known.
    """

    beads: Sequence[Bead]
    dependencies: Sequence[Dependency]
    escalations: Sequence[Escalation] = ()
    settings: Mapping[str, str] | None = None
    tests: Mapping[str, str] = field(default_factory=dict)
    attempts: int = 0
    ended: Sequence[Attempt] = ()


class Questions(Protocol):
    """What views ask."""

    def touched(self, after: int | None, since: float | None) -> tuple[int, float, list[str]]:
        """(last event's seq, now, ids that events after `after` name or whose bead changed at or after `since`).

        None: nobody asks for ids.
        """
        ...

    def counts(self) -> Mapping[str, int]:
        """How many beads stand in each of beads.work_status.COLUMNS (epics in none), how many of the live ones are
        `held`, and how many are an `epic`."""
        ...

    def column(self, name: str, limit: int) -> list[Node]:
        """The first `limit` beads of a column, by priority and id."""
        ...

    def around(self, beads: Sequence[str]) -> tuple[list[Node], list[Dependency]]:
        """What decides whether these beads are ready: they, their parents up to the top, the blockers of all those,
        and the dependencies between them. Beads that do not exist are left out."""
        ...

    def longest_chain(self, limit: int | None = None) -> list[str]:
        """The longest chain of live work by estimate, first bead first, epics left out; empty without live beads.

        `limit`: so many beads of its beginning; None: all.
        """
        ...

    def levels(self, beads: Iterable[str]) -> dict[str, int]:
        """The minutes of the longest chain behind each of these beads, itself included. What is due is settled."""
        ...

    def by_priority(self, statuses: Iterable[Status] = (), epic: str | None = None) -> list[tuple[int, str]]:
        """(priority, id) of every bead with one of these statuses (none given: any), in this epic (None: any)."""
        ...

    def ready(self, limit: int) -> list[Bead]:
        """The first `limit` ready beads in the Assigner's order."""
        ...

    def standstill(self) -> Standstill:
        """Who stands still until a person, or a time, lets it go on."""
        ...


class Life(Protocol):
    """The life of a bead: events, attempts, their ends."""

    def record(self, event: Event) -> Bead | None:
        """Append the event; a moving kind advances its bead by the table. NotAllowed moves nothing.

        `data` keys with meaning: held {reason} / released, deferred {until}, resolved {to}. A person's
        cancel or done_by_hand also ends an open attempt (outcome cancelled) and raises the fence; it is NotAllowed
        while the bead's review moves main or has moved it.
        """
        ...

    def approve(self, beads: Sequence[str], actor: str) -> None:
        """Make drafts live, all or none."""
        ...

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
        """Claim a ready bead for a role: name, lease, fence + 1, token, status moved, event. None: lost the race.

        A bead that has no branch yet gets one by the pattern, and keeps it.
        A REVIEWER claim needs status needs_review and takes the name "Reviewer"; it needs no readiness.
        """
        ...

    def hand_in(self, work: ByHand) -> Attempt:
        """Bring a person's work before the Reviewer. NotAllowed: somebody works on it, or it lands; Stale: fence."""
        ...

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
        """End the attempt, advance the bead by `kind`, free the lock, file the escalation: one transaction.

        With an escalation whose type stops beads the bead then moves to escalated and remembers the status
        that `kind` gave it. Stale when the attempt is not open any more.
        """
        ...

    def journal(self, attempt: int, data: Mapping[str, Any], answers: Mapping[int, str] = NO_ANSWERS) -> bool:
        """Replace the attempt's `data` (the review's journal, the agent's session); Stale when it has ended.

        `answers`: what it acts by from now on, as for `act_by`. False, and nothing is written: one of them does not
        stand any more.
        """
        ...

    def attempt(self, attempt: int) -> Attempt:
        """One attempt."""
        ...

    def attempts(self, bead: str) -> list[Attempt]:
        """All attempts of a bead, oldest first."""
        ...

    def count_on(self, attempts: int, fences: Mapping[str, int], turns: int = 0, sessions: int = 0) -> bool:
        """Number attempts, turns and sessions above these, and each bead's fence above the one given.

        Whether one of the first three was behind. A bead that is being worked on keeps its fence.
        """
        ...

    def renew(self, attempts: Sequence[int], lease_seconds: float) -> None:
        """Prolong leases, when less than two thirds are left."""
        ...

    def move_times(self, seconds: float) -> None:
        """The clock jumped: move the times of runs and leases along; back, also retries and closed gates."""
        ...

    def door(self, token: str) -> Attempt:
        """The open attempt that the token speaks for; Stale when there is none."""
        ...


class Machine(Protocol):
    """Runs, settings, and the deciders' board."""

    def plan_run(self, run: Run) -> None:
        """Remember that a child is about to be started."""
        ...

    def update_run(self, run: str, **fields: Any) -> None:
        """Set fields of Run by name."""
        ...

    def end_run(self, run: str) -> None:
        """Forget the child: its end has been dealt with."""
        ...

    def runs(self) -> list[Run]:
        """The children that are planned or alive, as far as the store knows."""
        ...

    def board(self, limits: "Limits", front: int | None = None) -> "Board":
        """The deciders' snapshot, in one read transaction.

        `front`: so many beads of each queue; None: what deciders need, which is one ready bead while no Doer is free.
        """
        ...

    def setting(self, key: str) -> str | None:
        """A small fact of the machine (paused, name cursor, limits changed at run time)."""
        ...

    def set_setting(self, key: str, value: str | None) -> None:
        """Set or remove it."""
        ...


class People(Protocol):
    """Escalations."""

    def escalate(self, new: NewEscalation, bead: str | None, attempt: int | None, actor: str) -> Escalation:
        """File an escalation, or return the open one that is the same. Types that stop beads stop it,
        except while an attempt works on it (then the attempt's end does)."""
        ...

    def escalations(self, open_only: bool = True, bead: str | None = None) -> list[Escalation]:
        """Escalations, of all or of one bead; the open ones by how many unfinished beads wait behind, most first."""
        ...

    def escalations_as_filed(self) -> list[Escalation]:
        """All of them by number, without a count of who waits behind them: counting reads the graph."""
        ...

    def escalation(self, number: int) -> Escalation:
        """One escalation; NoSuchEscalation."""
        ...

    def answer(self, number: int, text: str, actor: str, value: Any = None, to: Status | None = None) -> Escalation:
        """Answer and resolve, exactly once: NotAllowed the second time. The bead goes back to `to`, else `return_to`.

        `value`: of the question's form.
        """
        ...

    def take_back(self, number: int, actor: str) -> Escalation:
        """Open an answered question again, which stops its bead as before. NotAllowed: it was read, or is past."""
        ...

    def act_by(self, answers: Mapping[int, str], actor: str, attempt: int | None = None) -> bool:
        """Somebody acts by these answers from now on: by the question's number, the answer.

        False, and nothing is written: one of them does not stand any more.
        """
        ...

    def resolve(self, number: int, resolution: str, actor: str, to: Status | None = None) -> Escalation:
        """Resolve; the bead goes back (failures 0), once its last stopping escalation is resolved."""
        ...


class EventLog(Protocol):
    """What happened, and what changed since."""

    def changes(self, after: Position, limit: int | None = None) -> Changes:
        """What changed after this position: beads, escalations and the settings that people make.

        `limit`: what the first so many events tell of (Changes.more: there are others); None: all.
        """
        ...

    def bring_back(self, found: Restored, beyond: int, actor: str) -> dict[str, Any]:
        """Put in what is later than this database, and number events above `beyond`; how much that was.

        One transaction, told of by `brought_back`. Who works on a bead that comes back does so no more. What only this
        database has stays as it is.
        """
        ...

    def position(self) -> Position:
        """The last event."""
        ...

    def events(
        self, after: int = 0, limit: int = 1000, bead: str | None = None, kinds: Iterable[Kind] = ()
    ) -> list[Event]:
        """Events with a greater seq, oldest first; `kinds` empty: of any."""
        ...

    def latest_events(
        self, kinds: Iterable[Kind], before: int | None = None, limit: int = 1000, bead: str | None = None
    ) -> list[Event]:
        """Events of these kinds with a smaller seq (None: any), newest first."""
        ...


class Store(
    Graph,
    Proposals,
    Questions,
    Life,
    Spending,
    Forge,
    Sprints,
    Reviews,
    Sessions,
    Outbox,
    Machine,
    Pulls,
    People,
    EventLog,
    Requests,
    Answers,
    Protocol,
):
    """Facts about beads, attempts, escalations; every change is one transaction with its event.

    Whoever needs a part of it says so by the part's name.
    """

    is_copy: bool  # the database cannot be written: a copy of it is read, and every change is StoreReadOnly

    def now(self) -> float:
        """The store's clock; leases are measured by it alone."""
        ...

    def close(self) -> None:
        """Release the database."""
        ...

    def together(self, told: bool = True) -> AbstractContextManager[None]:
        """Several calls as one transaction: all of them, or none when an error leaves the block.

        `told=False`: nobody is told of what changed (snapshot.log); the caller writes the snapshot itself.
        """
        ...

    def sync(self) -> None:
        """Have on the disk what was committed and what is kept beside the database: a power cut may take the last."""
        ...
