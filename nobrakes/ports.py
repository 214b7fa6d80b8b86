"""The only doors to the world: Clock, Store, Git, Processes, Notifier, as Protocols over core's values.

1. Paths are absolute strings, object ids full lowercase hex, times seconds since 1970 UTC by the store's clock.
2. A method either does the whole of what it says or raises a core.errors.NobrakesError and did nothing.
3. Every method may be called again after a crash between its effect and its return: it must be idempotent.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from .core.attempt import Attempt, AttemptLog, Run, RunKind
from .core.bead import Bead, Dependency, Role, Status
from .core.board import Board, Limits
from .core.boundaries import Change
from .core.escalations import Escalation, EscalationType
from .core.events import Event, Kind
from .core.links import Node
from .core.outcomes import Outcome

# --- clock ---------------------------------------------------------------------------------------


class Clock(Protocol):
    """Time, as the store and the loop see it."""

    def now(self) -> float:
        """Seconds since 1970 UTC."""
        ...


# --- store ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class NewEscalation:
    """An escalation about to be filed."""

    type: EscalationType
    title: str
    detail: str = ""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    hypothesis: str = ""


class Store(Protocol):
    """Facts about beads, attempts, escalations; every change is one transaction with its event."""

    def now(self) -> float:
        """The store's clock; leases are measured by it alone."""
        ...

    def close(self) -> None:
        """Release the database."""
        ...

    def together(self) -> AbstractContextManager[None]:
        """Several calls as one transaction: all of them, or none when an error leaves the block."""
        ...

    # the graph
    def put(self, beads: Sequence[Bead], dependencies: Sequence[Dependency], actor: str) -> None:
        """Add beads (any status) and dependencies in one transaction. Deadlock, BadBead: nothing written."""
        ...

    def change(self, bead: str, fields: Mapping[str, Any], actor: str) -> Bead:
        """Set content fields of Bead by name; NoSuchBead, BadBead, Deadlock (for `epic`)."""
        ...

    def add_dependency(self, dependency: Dependency, actor: str) -> None:
        """Add one dependency; Deadlock names the circle, NoSuchBead a missing end."""
        ...

    def remove_dependency(self, dependency: Dependency, actor: str) -> None:
        """Remove one dependency; nothing happens when it is not there."""
        ...

    def bead(self, bead: str) -> Bead:
        """One bead, whole; NoSuchBead."""
        ...

    def beads(self, statuses: Iterable[Status] = (), ids: Iterable[str] = ()) -> list[Bead]:
        """Beads by id order; no filter means all of them."""
        ...

    def nodes(self) -> list[Node]:
        """Every bead without its texts, by id order: for questions about the whole graph."""
        ...

    def dependencies(self, bead: str | None = None) -> list[Dependency]:
        """All dependencies, or those that touch `bead` at either end; sorted."""
        ...

    def ready(self, limit: int) -> list[Bead]:
        """The first `limit` ready beads in the Assigner's order."""
        ...

    # the life of a bead
    def record(self, event: Event) -> Bead | None:
        """Append the event; a moving kind advances its bead by the table. NotAllowed moves nothing.

        `data` keys with meaning: held {reason} / released, deferred {until}, resolved {to}. A person's
        cancel or done_by_hand also ends an open attempt (outcome cancelled) and raises the fence.
        """
        ...

    def approve(self, beads: Sequence[str], actor: str) -> None:
        """Make drafts live, all or none."""
        ...

    def open_attempt(
        self, bead: str, role: Role, agent: str, names: Sequence[str], lease_seconds: float, base: str | None
    ) -> Attempt | None:
        """Claim a ready bead for a role: name, lease, fence + 1, token, status moved, event. None: lost the race.

        A REVIEWER claim needs status needs_review and takes the name "Reviewer"; it needs no readiness.
        """
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

    def journal(self, attempt: int, data: Mapping[str, Any]) -> None:
        """Replace the attempt's `data` (the review's journal, the agent's session)."""
        ...

    def attempt(self, attempt: int) -> Attempt:
        """One attempt."""
        ...

    def attempts(self, bead: str) -> list[Attempt]:
        """All attempts of a bead, oldest first."""
        ...

    def renew(self, attempts: Sequence[int], lease_seconds: float) -> None:
        """Prolong leases, when less than two thirds are left."""
        ...

    # child processes
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

    # people
    def escalate(self, new: NewEscalation, bead: str | None, attempt: int | None, actor: str) -> Escalation:
        """File an escalation, or return the open one that is the same. Types that stop beads stop it,
        except while an attempt works on it (then the attempt's end does)."""
        ...

    def escalations(self, open_only: bool = True) -> list[Escalation]:
        """Escalations; the open ones sorted by how many unfinished beads wait behind them, most first."""
        ...

    def escalation(self, number: int) -> Escalation:
        """One escalation; NoSuchEscalation."""
        ...

    def answer(self, number: int, text: str, actor: str) -> Escalation:
        """Answer and resolve, exactly once: NotAllowed the second time. The bead goes back to `return_to`."""
        ...

    def resolve(self, number: int, resolution: str, actor: str, to: Status | None = None) -> Escalation:
        """Resolve; the bead goes back (failures 0), once its last stopping escalation is resolved."""
        ...

    # agents
    def door(self, token: str) -> Attempt:
        """The open attempt that the token speaks for; Stale when there is none."""
        ...

    # the machine
    def board(self, limits: Limits, front: int = 64) -> Board:
        """The deciders' snapshot, in one read transaction."""
        ...

    def setting(self, key: str) -> str | None:
        """A small fact of the machine (paused, name cursor, limits changed at run time)."""
        ...

    def set_setting(self, key: str, value: str | None) -> None:
        """Set or remove it."""
        ...

    def validation(self, tree: str, contract: str) -> Mapping[str, Any] | None:
        """The recorded results of a validation that passed, by its key; None: it has to be run."""
        ...

    def save_validation(self, tree: str, contract: str, results: Mapping[str, Any]) -> None:
        """Remember a validation that passed."""
        ...

    def events(self, after: int = 0, limit: int = 1000, bead: str | None = None) -> list[Event]:
        """Events with a greater seq, oldest first."""
        ...


# --- git -----------------------------------------------------------------------------------------


Argv = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a bead is worked on, and the commands that make it (empty when it is there already)."""

    path: str
    branch: str
    prologue: tuple[Argv, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A commit that could become main, and its tree."""

    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """The change does not apply to main. `files` are repository paths."""

    files: tuple[str, ...]
    detail: str = ""


class Landing(StrEnum):
    """What came of moving main."""

    MOVED = "moved"  # main is the new commit now
    LOST = "lost"  # main is somewhere else than expected
    BLOCKED = "blocked"  # a checked-out main has edits that would be lost


@dataclass(frozen=True, slots=True)
class Land:
    """The end of `Git.land`; `reason` tells a person what to do when it is BLOCKED."""

    landing: Landing
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A commit's text and people. `when` makes the same input give the same object id."""

    subject: str
    body: str
    author: str
    when: float
    trailers: tuple[tuple[str, str], ...] = ()


class Git(Protocol):
    """The repository, on the daemon's own side. Nothing runs under a configuration that an agent wrote."""

    def main(self) -> str:
        """The commit that main points to; NoMain."""
        ...

    def tree(self, commit: str) -> str:
        """The commit's tree."""
        ...

    def workspace(self, bead: Bead, start: str, worker: str) -> Workspace:
        """The bead's private clone. Where it is missing, `prologue` makes it with its branch at `start`."""
        ...

    def has_workspace(self, bead: str) -> bool:
        """Whether the bead's clone exists whole."""
        ...

    def take_in(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head from the clone to refs/nobrakes/incoming/<bead>/<fence>; None: no clone or branch."""
        ...

    def fork(self, main: str, head: str) -> str | None:
        """The commit where `head` left main; None: unrelated."""
        ...

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""
        ...

    def changes(self, base: str, head: str) -> tuple[Change, ...]:
        """What differs between two commits' trees, by path; renames are a removal and an addition."""
        ...

    def read(self, commit: str, path: str) -> bytes | None:
        """A file's content in a commit; None: not there or not a file."""
        ...

    def squash(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since they parted. Same input, same id."""
        ...

    def replay(self, onto: str, head: str, message: Message) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits one by one on `onto`, texts kept, with `message`'s trailers. Same input, same ids."""
        ...

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of just these steps' trees (texts of the steps' commits kept); the last is returned."""
        ...

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        """A commit on `onto` that takes `commit` back."""
        ...

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""
        ...

    def land(self, new: str, old: str) -> Land:
        """Move main from `old` to `new` by compare-and-swap, and a clean checkout of it along with it."""
        ...

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        """The commands that make a fresh checkout of `commit` at `path`, with a .git of its own."""
        ...

    def drop_scratch(self, path: str) -> None:
        """Remove a scratch checkout; nothing happens when it is gone."""
        ...

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        """Keep the clone's branch and its uncommitted work under refs/nobrakes/archive/<bead>/…; the refs made."""
        ...

    def retire(self, bead: Bead, fence: int) -> None:
        """Archive, then remove the bead's clone and its incoming refs."""
        ...

    def archived(self, bead: str | None = None) -> list[tuple[str, str]]:
        """(ref, commit) of what was archived, newest first."""
        ...

    def merged(self) -> dict[str, str]:
        """Bead id to commit on main, by the `Bead:` trailers."""
        ...

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """Commit these paths (None removes) on main, whatever else the checkout holds; None: nothing differed."""
        ...

    def clear_locks(self) -> None:
        """Remove the lock files that a killed nobrakes left on its own refs and on main."""
        ...


# --- processes -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Step:
    """One command of a run. Its output goes to `<folder>/<name>.out` (errors to .err, or with it)."""

    name: str
    argv: Argv
    join_output: bool = False
    stdin: str | None = None  # a file; None: /dev/null


@dataclass(frozen=True, slots=True)
class Command:
    """What a run executes: first the prologue, then the steps in order, all without a shell's reading of them."""

    folder: str  # logs and exit codes; made by start()
    cwd: str
    env: Mapping[str, str]  # the whole environment, nothing is inherited
    steps: tuple[Step, ...]
    prologue: tuple[Argv, ...] = ()
    keep_going: bool = False  # run the later steps though one failed
    files: Mapping[str, bytes] = field(default_factory=dict)  # written into the folder before anything runs


@dataclass(frozen=True, slots=True)
class StepEnd:
    """How a step ended. `code` None: killed while running, or (`started` False) never reached."""

    name: str
    started: bool
    code: int | None
    seconds: float
    output: str  # path of its .out file


@dataclass(frozen=True, slots=True)
class Ending:
    """How a run ended. `prologue_failed` is the text of what went wrong while its folder was prepared."""

    steps: tuple[StepEnd, ...]
    prologue_failed: str | None = None


@dataclass(frozen=True, slots=True)
class Born:
    """Identity of a process that survives pid reuse: boot id and start time in `mark`."""

    pid: int
    mark: str


class Processes(Protocol):
    """Children that survive the daemon: own session, output to files, exit codes on disk."""

    def start(self, run: str, command: Command) -> Born:
        """Start it and return at once."""
        ...

    def alive(self, run: Run) -> bool:
        """Whether anything of the run's tree still lives, also after a restart of the daemon."""
        ...

    def ending(self, folder: str, steps: Sequence[str]) -> Ending:
        """What the exit files say."""
        ...

    def output(self, path: str, limit: int) -> str:
        """The last `limit` bytes of an output file as text, undecodable bytes replaced; "" when it is missing."""
        ...

    def terminate(self, run: Run) -> None:
        """TERM to the whole tree, including what detached itself."""
        ...

    def kill(self, run: Run) -> None:
        """KILL to the whole tree, until none is left."""
        ...

    def activity(self, run: Run, folder: str, workspace: str) -> str:
        """A fingerprint of output, files, commits and CPU: the same text again means silence."""
        ...


# --- people --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should hear of. `urgent`: work waits for them."""

    text: str
    bead: str | None = None
    urgent: bool = False


class Notifier(Protocol):
    """Tells people."""

    def tell(self, notice: Notice) -> None:
        """Say it; a failure to say it must never stop the work."""
        ...


__all__ = [name for name in dir() if name[0].isupper()] + ["RunKind"]
