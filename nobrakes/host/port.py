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
    """One command of a run. Output goes to `<folder>/<name>.out` (errors to .err, or with it). `beside` neighbours run
    together. `after`: run only if that step failed (codes 1 to 125). `when_passed`: if one of those ended with 0."""

    name: str
    argv: Argv
    join_output: bool = False
    stdin: str | None = None  # a file; None: /dev/null
    beside: bool = False
    after: str = ""
    when_passed: tuple[str, ...] = ()


@frozen
class Command:
    """A run's prologue and then its steps in order, without a shell."""

    folder: str  # logs and exit codes; made by start()
    cwd: str
    env: Mapping[str, str]  # the whole environment, nothing is inherited
    steps: tuple[Step, ...]
    prologue: tuple[Argv, ...] = ()
    keep_going: bool = False  # run the later steps though one failed
    files: Mapping[str, bytes] = field(default_factory=dict)  # written into the folder before anything runs


@frozen
class StepEnd:
    """How a step ended. `code` None: unknown, or (`started` False) never reached."""

    name: str
    started: bool
    code: int | None
    seconds: float
    output: str  # path of its .out file
    begun: float = 0.0  # when it started, by the files' clock


@frozen
class Ending:
    """How a run ended. `prologue_failed`: why its preparation failed. `over`: it ended properly; a dead run that did
    not was cut off by a kill of its wrapper or a crash of the machine. `cpu`: seconds of all that it waited for."""

    steps: tuple[StepEnd, ...]
    prologue_failed: str | None = None
    over: bool = False
    cpu: float = 0.0

    @property
    def cut_off(self) -> bool:
        """Of a dead run: whether some result is unknown."""
        return not self.over and any(step.code is None for step in self.steps)


@frozen
class Reports:
    """A check's result files. `trouble`: why they are incomplete, so that no one may rely on them."""

    texts: tuple[str, ...] = ()
    trouble: str = ""


class Remains(StrEnum):
    """What still lives of a run."""

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

    def start(self, run: str, command: Command) -> ProcessStart: ...

    def alive(self, run: Run) -> bool:
        """Whether any process of the run lives, also after a restart of the daemon."""

    def remains(self, run: Run, folder: str, steps: Sequence[str]) -> Remains:
        """What lives of its tree. From the first call on, a change wakes the daemon."""

    def ending(self, folder: str, steps: Sequence[str]) -> Ending: ...

    def output(self, path: str, limit: int) -> str:
        """The last `limit` bytes, undecodable ones replaced; "" if missing."""

    def head(self, path: str, limit: int, start: int = 0) -> bytes:
        """Empty if missing."""

    def appended(self, folder: str, glob: str, since: float, places: Mapping[str, int], limit: int) -> dict[str, bytes]:
        """By path, the untrusted new content from `places` on of files below `folder` that match the glob and were
        written since; together at most `limit` bytes."""

    def reports(self, top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
        """The files in `folder` below `top` that match the glob and were written since. Stored in `keep` for later
        calls, since the checkout may be gone."""

    def terminate(self, run: Run) -> None:
        """TERM to the full tree, including detached processes."""

    def kill(self, run: Run) -> None:
        """KILL to the full tree, until none is left."""

    def memory_mb(self, run: Run) -> int:
        """Memory of the living processes in MB."""

    def activity(self, run: Run, folder: str, workspace: str) -> str:
        """A fingerprint of output, files, commits and CPU: the same again means silence."""


class Login(NamedTuple):
    """A login that a confined agent gets a copy of: the person's file, and its path below `top`."""

    source: str
    top: str
    name: str


class ChannelServer(Protocol):
    """Answers confined agents."""

    def start(self) -> None: ...

    def close(self) -> None: ...

    def begin(self, run: str, logins: Sequence[Login] = ()) -> str:
        """Make or find the channel of a starting run, with these logins; returns its folder."""

    def end(self, run: str) -> None:
        """Answer the dead run's last requests, and close its channel."""

    def failed(self) -> Mapping[str, Exception]:
        """Unexpected errors by run, each returned once; such a run is no longer served."""


class Clock(Protocol):
    """Time, as the store and the loop see it."""

    def now(self) -> float: ...


@frozen
class Notice:
    """A message to a person. `urgent`: work waits for them."""

    text: str
    bead: str | None = None
    urgent: bool = False


class Notifier(Protocol):
    """Tells people."""

    def tell(self, notice: Notice) -> None: ...


class Background(Protocol):
    """Runs jobs that the loop does not wait for (host.command says what they may use)."""

    def wakes(self, wake: Callable[[], None]) -> None:
        """`wake` is called after each job, from any thread."""

    def begin(self, name: str, job: Callable[[], None], far: bool = False) -> None:
        """Ignored while a job of this name is unfinished or uncollected. `far`: it waits for another machine, and
        delays only other `far` jobs."""

    def over(self, name: str) -> bool:
        """Whether no such job runs; raises its error once."""

    def busy(self, name: str) -> bool:
        """Whether its end was not collected."""

    def is_empty(self) -> bool: ...

    def close(self) -> None: ...
