"""Processes on the virtual clock. They live on when the daemon dies, and only `advance` lets them do anything.

1. A run is one record; starting it twice starts it once. Its exit codes and outputs are its files on disk.
2. TERM ends most trees within seconds, some only by KILL; some leave a process behind that lives on.
3. Some agents that have finished live on in silence until they are stopped, and answer that with a code of their own.
4. A reboot ends all, and now and then a kill a wrapper, alone or with its program: their exit codes are gone then.
"""

import heapq
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nobrakes.agents.adapter import PREFIX
from nobrakes.beads.model import Outcome, Run
from nobrakes.errors import GitFailed
from nobrakes.git.port import Argv
from nobrakes.host.port import Command, Ending, ProcessStart, Remains, Reports, Step, StepEnd

from .agents import Script
from .clock import FakeClock

AGENT = "simulated-agent"
"""The first word of the command that stands for an agent."""

Prepare = Callable[[Argv], str | None]
"""Runs one command of a prologue; the text of what went wrong, or None."""
Program = Callable[[Command, Step], Script]
"""What a step of a run does."""


@dataclass
class Child:
    """One run, as it would be on disk and in the process table."""

    run: str
    command: Command
    born: ProcessStart
    started_at: float
    alive: bool = True
    working: bool = True  # shows signs of life
    stubborn: bool = False  # only KILL ends it
    leaves_one_behind: bool = False
    lingers: float = 0.0  # above 0: it lives on when it has finished, and this is drawn for how it answers a stop
    has_finished: bool = False  # it lingers
    main_ended: bool = False
    wrapped: bool = True
    node_lost: bool = False  # the node that it ran on, and with it the run
    over: bool = False  # the wrapper has said all that it had to say
    told_to_stop: bool = False
    stopped_at: float = 0.0  # when TERM came first
    stopped_for: Outcome | None = None  # and why
    active_at: float = 0.0  # when it last showed a sign of life
    stopped_at_work: bool = False  # told so without a reason, while it worked on alone
    script: Script | None = None
    place: int = -1  # of the present step; -1: the prologue
    prologue_failed: str | None = None
    begun: dict[str, float] = field(default_factory=dict)
    ended: dict[str, tuple[int, float]] = field(default_factory=dict)  # code and seconds
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def vanished(self) -> bool:
        """Whether it died in the middle, and nobody had asked for that."""
        return not (self.alive or self.over or self.told_to_stop)

    @property
    def is_agent(self) -> bool:
        """Whether it is an agent and not a check."""
        return any(AGENT in step.argv for step in self.command.steps)


class FakeProcesses:
    """Children that survive the daemon."""

    def __init__(
        self,
        clock: FakeClock,
        prepare: Prepare,
        program: Program,
        rng: random.Random,
        leftovers: float = 0.0,
        cut: float = 0.0,
        linger: float = 0.0,
    ) -> None:
        self.clock = clock
        self.prepare = prepare
        self.program = program
        self.rng = rng
        self.leftovers = leftovers  # how often an agent leaves a process behind
        self.cut = cut  # how often a wrapper is killed
        self.linger = linger  # how often an agent that has finished lives on
        self.lingering = random.Random(f"lingering {linger}")
        self.children: dict[str, Child] = {}
        self._due: list[tuple[float, int, str, str]] = []
        self._counter = 0
        self._boot = 1
        self.begins: Callable[[str], None] = lambda run: None
        """Hears of every agent that is started."""
        self.loses: float | None = None  # how often nothing tells of a change; None: nobody knows what changed
        self.losing = random.Random("signs")
        self._signs: set[str] = set()
        self.opens: Callable[[Child], bool] = lambda child: True
        """Whether a run may begin now; else it is asked again soon. False: no node has a place."""

    # --- the port --------------------------------------------------------------------------------

    def start(self, run: str, command: Command) -> ProcessStart:
        """Start it and return at once; a run that was started before is only found again."""
        if run not in self.children:
            born = ProcessStart(1000 + len(self.children), f"boot{self._boot}-{len(self.children)}")
            child = Child(run, command, born, self.clock.steady())
            child.outputs = {f"{command.folder}/{name}": text.decode() for name, text in command.files.items()}
            child.stubborn = self.rng.random() < 0.1
            self.children[run] = child
            if child.is_agent:
                self.begins(run)
                child.leaves_one_behind = self.rng.random() < self.leftovers
                drawn = self.lingering.random() if self.linger else 1.0
                child.lingers = drawn / self.linger if drawn < self.linger else 0.0
            self._later(run, "prologue", self.rng.uniform(0.1, 3))
            if self.rng.random() < self.cut:
                self._later(run, self.rng.choice(["cut", "cut down"]), self.rng.uniform(0, 90))
        return self.children[run].born

    def alive(self, run: Run) -> bool:
        """Whether anything of the run's tree still lives."""
        child = self.children.get(run.id)
        return child is not None and child.alive

    def remains(self, run: Run, folder: str, steps: Sequence[str]) -> Remains:
        """What of its tree still lives."""
        child = self.children.get(run.id)
        if child is None or not child.alive:
            return Remains.NOTHING
        if child.main_ended or not (child.wrapped or child.begun):
            return Remains.REST
        return Remains.WHOLE if child.wrapped else Remains.STEP

    def ending(self, folder: str, steps: Sequence[str]) -> Ending:
        """What the exit files say."""
        child = next((c for c in self.children.values() if c.command.folder == folder), None)
        if child is None:
            return Ending(tuple(StepEnd(name, False, None, 0.0, f"{folder}/{name}.out") for name in steps))
        ends = []
        for name in steps:
            code, seconds = child.ended.get(name, (None, 0.0))
            path = f"{folder}/{name}.out"
            ends.append(StepEnd(name, name in child.begun, code, seconds, path, child.begun.get(name, 0.0)))
        return Ending(tuple(ends), child.prologue_failed, child.over)

    def output(self, path: str, limit: int) -> str:
        """The last `limit` bytes of an output file as text."""
        for child in self.children.values():
            if path in child.outputs:
                return child.outputs[path][-limit:]
        return ""

    def head(self, path: str, limit: int, start: int = 0) -> bytes:
        """The first `limit` bytes of an output file, from `start` on."""
        found = (child.outputs[path] for child in self.children.values() if path in child.outputs)
        return next(found, "").encode()[start : start + limit]

    def appended(self, folder: str, glob: str, since: float, paths: Mapping[str, int], limit: int) -> dict[str, bytes]:
        """Nobody keeps a diary."""
        return {}

    def reports(self, top: str, folder: str, glob: str, since: float, keep: str) -> Reports:
        """Nobody writes any."""
        return Reports()

    def terminate(self, run: Run) -> None:
        """TERM to the whole tree."""
        child = self.children.get(run.id)
        if child is None or not child.alive:
            return
        child.told_to_stop = True
        if not child.stopped_at:
            child.stopped_at, child.stopped_for = self.clock.steady(), run.stopping
        works_on = self.remains(run, child.command.folder, ()) is Remains.STEP
        child.stopped_at_work = works_on and child.is_agent and run.stopping is None
        if not child.stubborn:
            self._later(run.id, "die", self.rng.uniform(0, 3))

    def kill(self, run: Run) -> None:
        """KILL to the whole tree, until none is left."""
        child = self.children.get(run.id)
        if child is not None:
            child.told_to_stop |= child.alive
            self._end(child)

    def memory_mb(self, run: Run) -> int:
        """Nobody measures here."""
        return 0

    def activity(self, run: Run, folder: str, workspace: str) -> str:
        """A fingerprint: the same text again means silence."""
        child = self.children.get(run.id)
        if child is None or not child.alive or not child.working:
            return "silent"
        child.active_at = self.clock.steady()
        return f"busy at {self.clock.steady():.3f}"

    # --- the world's side ------------------------------------------------------------------------

    def taken(self) -> set[str] | None:
        """The runs that have changed since the last call, without those whose sign is lost."""
        signs, self._signs = self._signs, set()
        if self.loses is None:
            return None
        return {run for run in sorted(signs) if self.losing.random() >= self.loses}

    def next_event(self) -> float | None:
        """When the next process does something."""
        return self._due[0][0] if self._due else None

    def advance(self, now: float) -> list[str]:
        """Everything that processes do until `now`, in its order; one line each, for the log."""
        lines = []
        while self._due and self._due[0][0] <= now:
            moment, _, run, what = heapq.heappop(self._due)
            child = self.children[run]
            if child.alive:
                self.clock.pass_to(moment)
                self._happen(child, what)
                lines.append(f"{run} {what}{'' if child.alive else ', dead'}")
        return lines

    def reboot(self) -> None:
        """The machine restarts."""
        self._boot += 1
        for child in self.children.values():
            self._end(child)

    def kill_wrapper(self, run: str, down: bool) -> None:
        """The run's wrapper is killed from outside: alone, or with everything below it."""
        child = self.children[run]
        child.wrapped = False
        self._signs.add(run)
        if down:
            self._end(child)

    def living(self) -> list[Child]:
        """The processes that live now."""
        return [child for child in self.children.values() if child.alive]

    def say(self, child: Child, step: Step, text: str) -> None:
        """Add to the output of a step."""
        path = f"{child.command.folder}/{step.name}.out"
        child.outputs[path] = child.outputs.get(path, "") + text

    # --- inside ----------------------------------------------------------------------------------

    def _later(self, run: str, what: str, seconds: float) -> None:
        self._counter += 1
        heapq.heappush(self._due, (self.clock.steady() + seconds, self._counter, run, what))

    def _happen(self, child: Child, what: str) -> None:
        self._signs.add(child.run)
        if what == "die":
            if child.has_finished and child.wrapped and child.lingers < 0.5:
                step = child.command.steps[child.place]
                child.ended[step.name] = (
                    143 if child.lingers < 0.3 else 1,
                    self.clock.steady() - child.begun[step.name],
                )
            self._end(child)
        elif what in ("cut", "cut down"):
            self.kill_wrapper(child.run, what == "cut down")
        elif what == "prologue":
            self._prologue(child)
        elif what == "prepared":
            self._prepared(child)
        elif what == "opens":
            self._opens(child)
        else:
            self._go_on(child)

    def _prologue(self, child: Child) -> None:
        """Half of it: until it has ended, whoever stops it leaves a folder that is not prepared."""
        if child.command.prologue:
            child.prologue_failed = "the run was stopped while its folder was being prepared"
        self._later(child.run, "prepared", self.rng.uniform(0, 2))

    def _prepared(self, child: Child) -> None:
        if not child.wrapped:  # what it was at is done, and nobody goes on
            self._end(child)
            return
        for argv in child.command.prologue:
            failed = self.prepare(argv)
            if failed is not None:
                child.prologue_failed = failed
                child.over = True
                self._end(child)
                return
        child.prologue_failed = None
        self._opens(child)

    def _opens(self, child: Child) -> None:
        if self.opens(child):
            self._next_step(child)
        else:
            self._later(child.run, "opens", 5.0)

    def _next_step(self, child: Child) -> None:
        child.place += 1
        steps = child.command.steps
        last = child.ended.get(steps[child.place - 1].name, (0, 0.0))[0] if child.place else 0
        if child.place >= len(steps) or (last and not child.command.keep_going):
            self._main_is_over(child)
            return
        step = steps[child.place]
        failed = child.ended.get(step.after, (0, 0.0))[0] in range(1, 126)
        passed = any(name in child.ended and child.ended[name][0] == 0 for name in step.when_passed)
        if (step.after and not failed) or (step.when_passed and not passed):
            self._next_step(child)
            return
        child.begun[step.name] = self.clock.steady()
        child.script = self.program(child.command, step)
        self._go_on(child)

    def _go_on(self, child: Child) -> None:
        assert child.script is not None
        step = child.command.steps[child.place]
        try:
            pause = next(child.script)
        except StopIteration as end:
            self._step_ends(child, step, *end.value)
        except GitFailed as error:  # its folder is gone
            self._step_ends(child, step, 1, f"{error}\n")
        else:
            if pause is None:
                child.working = False
            else:
                self._later(child.run, "go on", pause)

    def _step_ends(self, child: Child, step: Step, code: int, output: str) -> None:
        self.say(child, step, output)
        if child.lingers and PREFIX in output:
            child.has_finished, child.working = True, False
            return
        if not child.wrapped:
            self._main_is_over(child)
            return
        child.ended[step.name] = (code, self.clock.steady() - child.begun[step.name])
        self._next_step(child)

    def _main_is_over(self, child: Child) -> None:
        child.over = child.wrapped
        child.main_ended = True
        child.working = False
        if not child.leaves_one_behind:
            self._end(child)

    def _end(self, child: Child) -> None:
        self._signs.add(child.run)
        child.alive = False
        if child.script is not None:
            child.script.close()
