"""The door to child processes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ..core.attempt import Run
from .git import Argv


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
