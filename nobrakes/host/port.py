"""The door to child processes, to people, to the time, and to work beside the loop."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple, Protocol

from ..beads.model import Run
from ..git.port import Argv
from ..records import frozen


@frozen
class Step:
    """One command of a run. Its output goes to `<folder>/<name>.out` (errors to .err, or with it).

    Neighbours that are `beside` run at the same time. `after` names an earlier step: this one runs only when that one
    failed (exit codes 1 to 125). `when_passed` names earlier steps: this one runs only when one of them ended with 0.
    """

    name: str
    argv: Argv
    join_output: bool = False
    stdin: str | None = None  # a file; None: /dev/null
    beside: bool = False
    after: str = ""
    when_passed: tuple[str, ...] = ()


@frozen
class Command:
    """What a run executes: first the prologue, then the steps in order, all without a shell's reading of them."""

    folder: str  # logs and exit codes; made by start()
    cwd: str
    env: Mapping[str, str]  # the whole environment, nothing is inherited
    steps: tuple[Step, ...]
    prologue: tuple[Argv, ...] = ()
    keep_going: bool = False  # run the later steps though one failed
    files: Mapping[str, bytes] = field(default_factory=dict)  # written into the folder before anything runs


@frozen
class StepEnd:
    """How a step ended. `code` None: nobody saw its exit code, or (`started` False) it was never reached."""

    name: str
    started: bool
    code: int | None
    seconds: float
    output: str  # path of its .out file
    begun: float = 0.0  # when it started, by the files' clock


@frozen
class Ending:
    """How a run ended. `prologue_failed` is the text of what went wrong while its folder was prepared.

    `over`: it was brought to an end. A dead run that is not was cut off: its wrapper was killed, with or before its
    program, or the machine went down.
    """

    steps: tuple[StepEnd, ...]
    prologue_failed: str | None = None
    over: bool = False

    @property
    def cut_off(self) -> bool:
        """Of a dead run: whether there is something that nobody can tell any more."""
        return not self.over and any(step.code is None for step in self.steps)


@frozen
class Reports:
    """What a check wrote into files. `trouble`: why that is not all of it; then nobody may count on the texts."""

    texts: tuple[str, ...] = ()
    trouble: str = ""


class Remains(StrEnum):
    """What of a run still lives."""

    WHOLE = "whole"  # its wrapper, which will say how it ends
    STEP = "step"  # the wrapper was killed; its program lives on, and nobody will know its exit code
    REST = "rest"  # neither: something that they left behind
    NOTHING = "nothing"


@frozen
class ProcessStart:
    """Identity of a process that survives pid reuse: boot id and start time in `mark`."""

    pid: int
    mark: str


class Processes(Protocol):
    """Children that survive the daemon: own session, output to files, exit codes on disk."""

    def start(self, run: str, command: Command) -> ProcessStart:
        """Start it and return at once."""
        ...

    def alive(self, run: Run) -> bool:
        """Whether anything of the run's tree still lives, also after a restart of the daemon."""
        ...

    def remains(self, run: Run, folder: str, steps: Sequence[str]) -> Remains:
        """What of its tree still lives. From the first look on, the daemon is woken when that changes."""
        ...

    def ending(self, folder: str, steps: Sequence[str]) -> Ending:
        """What the exit files say."""
        ...

    def output(self, path: str, limit: int) -> str:
        """The last `limit` bytes of an output file as text, undecodable bytes replaced; "" when it is missing."""
        ...

    def head(self, path: str, limit: int, start: int = 0) -> bytes:
        """The first `limit` bytes of an output file, from `start` on; empty when it is missing."""
        ...

    def appended(self, folder: str, glob: str, since: float, places: Mapping[str, int], limit: int) -> dict[str, bytes]:
        """By path, what the files below `folder` hold from their `places` on, together `limit` bytes at most.

        Those that the glob matches and that were written at `since` or later; an agent may have put anything there.
        """
        ...

    def reports(self, top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
        """The files in `folder` below `top` that the glob matches and that were written at `since` or later.

        They are kept in the file `keep`, and read there when they are asked for again: the checkout may be gone then.
        """
        ...

    def terminate(self, run: Run) -> None:
        """TERM to the whole tree, including what detached itself."""
        ...

    def kill(self, run: Run) -> None:
        """KILL to the whole tree, until none is left."""
        ...

    def memory_mb(self, run: Run) -> int:
        """MB of memory that the run's processes hold now; 0: none lives."""
        ...

    def activity(self, run: Run, folder: str, workspace: str) -> str:
        """A fingerprint of output, files, commits and CPU: the same text again means silence."""
        ...


class Login(NamedTuple):
    """A login that a confined agent gets a copy of: the human's file, and where below the folder `top` it is seen."""

    source: str
    top: str
    name: str


class ChannelServer(Protocol):
    """Hears agents that are confined, and answers them."""

    def start(self) -> None:
        """Hear them from now on, until `close`."""
        ...

    def close(self) -> None:
        """Hear nobody any more; what is said waits for the next one."""
        ...

    def begin(self, run: str, logins: Sequence[Login] = ()) -> str:
        """Make the door of a run that is about to start, or find it; its folder. It gets these logins."""
        ...

    def end(self, run: str) -> None:
        """The run is dead: take in its last words, and close its door."""
        ...

    def failed(self) -> Mapping[str, Exception]:
        """By run, what nobody expected while it was heard, told once: it is not heard any more."""
        ...


class Clock(Protocol):
    """Time, as the store and the loop see it."""

    def now(self) -> float:
        """Seconds since 1970 UTC."""
        ...


@frozen
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


class Background(Protocol):
    """Does beside the loop what the loop need not wait for (host.command says what a job may use)."""

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called after each job, from wherever it was done."""
        ...

    def begin(self, name: str, job: Callable[[], None], far: bool = False) -> None:
        """Do the job, unless one of this name was begun and its end not told yet.

        `far`: it waits for another machine, and no other job waits for it but those that are far as well.
        """
        ...

    def over(self, name: str) -> bool:
        """Whether no such job goes on; the error of one that failed is raised here, once."""
        ...

    def busy(self, name: str) -> bool:
        """Whether it was begun and its end not told yet."""
        ...

    def is_empty(self) -> bool:
        """Whether the end of everything that was begun was told."""
        ...

    def close(self) -> None:
        """Wait for what was begun."""
        ...
