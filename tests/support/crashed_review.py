"""Reviews on real git and a real database, whose daemon is killed where a test says: between any two calls of its doors.

The children are those of the simulation, on its clock; what they execute is real: checkouts by git, checks by a shell.
"""

import os
import random
import subprocess
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from nobrakes.agents.adapter import Adapter
from nobrakes.beads.model import Bead, Outcome, Role, Status
from nobrakes.config.settings import Config, validated
from nobrakes.daemon.model import Board
from nobrakes.daemon.worker.loop import Daemon
from nobrakes.errors import NoAgent
from nobrakes.events.kinds import Kind
from nobrakes.git.port import Argv
from nobrakes.git.repository import Repository
from nobrakes.host.port import Command, Notice, Step
from nobrakes.paths import Paths
from nobrakes.ports import Ports
from nobrakes.review.service.merges import verify
from nobrakes.store import Store, create_store
from tests.world.agents import Script
from tests.world.clock import FakeClock
from tests.world.crashing import Crash, Crashing, Dice
from tests.world.fake_background import FakeBackground
from tests.world.fake_processes import FakeProcesses

CHECK = "echo Ran 1 test in 0.1s; echo OK; ! ls | grep -q bad"
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
TURNS = 2000


READS = frozenset(
    [
        "now",
        "bead",
        "beads",
        "board",
        "attempt",
        "attempts",
        "reviewing",
        "reviews",
        "runs",
        "validation",
        "setting",
        "events",
        "latest_events",
        "changes",
        "position",
        "escalations",
        "main",
        "tree",
        "fork",
        "contains",
        "between",
        "read",
        "paths",
        "made",
        "line",
        "evidence",
        "evidence_tip",
        "has",
        "is_whole",
        "has_workspace",
        "is_shared",
        "scratches",
        "kept",
        "archived",
        "merged",
        "territory",
        "lent",
        "alive",
        "remains",
        "ending",
        "output",
        "head",
        "reports",
        "activity",
        "breakers",
        "gates",
    ]
)
"""What changes nothing: a kill beside it is one beside the change before or after it."""


STEPS = frozenset(
    f"before {call}" for call in ("store.journal", "git.land", "git.keep_evidence", "store.close_attempt")
)
"""The moments between two steps of a review: what a step did is done, and nothing says so yet."""


class At(Dice):
    """Kills at the given moments: two for each call that may change something, before and after it.

    `only`: no other moments count than those.
    """

    def __init__(self, moments: Collection[int], only: Collection[str] = ()) -> None:
        super().__init__(random.Random(0), 0, 0, 0)
        self.moments = frozenset(moments)
        self.only = only
        self.moment = 0
        self.names: list[str] = []

    def before(self, what: str, error: object) -> None:
        self._perhaps(f"before {what}")

    def after(self, what: str) -> None:
        self._perhaps(f"after {what}")

    def _perhaps(self, what: str) -> None:
        if what.rpartition(".")[2] in READS or (self.only and what not in self.only):
            return
        self.moment += 1
        self.names.append(what)
        if self.moment in self.moments:
            self.crashes += 1
            raise Crash(what)


class Quiet:
    """Nobody is told."""

    def tell(self, notice: Notice) -> None:
        """Nothing."""


class Reviews:
    """A repository with work that waits for its review, and whoever reviews it."""

    def __init__(
        self, folder: Path, moments: Collection[int] = (), only: Collection[str] = (), **review: object
    ) -> None:
        self.folder = folder / "repository"
        self.paths = Paths(str(self.folder / ".nobrakes"))
        self.clock = FakeClock()
        self.dice = At(moments, only)
        self.processes = FakeProcesses(self.clock, self._prepare, self._program, random.Random(0))
        self.config = validated(
            Config, {"checks": [{"name": "test", "command": CHECK, "kind": "test"}], "review": review}
        )
        self.runs: list[str] = []  # the trees that were validated
        self.dead_seconds = 0.0  # so long nobody works after a kill, but for the children
        self.check_seconds: dict[str, float] = {}  # of a tree with this file; else one
        self.folder.mkdir(parents=True)
        for words in ("init -q -b main", "config user.name You", "config user.email you@example.invalid"):
            self.sh("git", *words.split())
        (self.folder / "README").write_text("A project.\n")
        self.sh("git", "add", "-A")
        self.sh("git", "commit", "-q", "-m", "Begin")
        os.makedirs(self.paths.folder)
        (self.folder / ".nobrakes" / ".gitignore").write_text("*\n")
        self.begun = self.sh("git", "rev-parse", "main").strip()

    def sh(self, *argv: str, cwd: str | Path | None = None) -> str:
        """A command of a person's."""
        done = subprocess.run(
            argv, cwd=cwd or self.folder, capture_output=True, text=True, env=self._human(), check=False
        )
        assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
        return done.stdout

    @staticmethod
    def _human() -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        return {**clean, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}

    def hand_in(self, *works: tuple[str, str]) -> None:
        """Beads whose Doers made these files, and whose heads were taken in."""
        store, git = self._store(), self._git()
        names = [name for name, _ in works]
        store.put([Bead(one, f"Bead {one}", status=Status.NEEDS_DOER, needs_tests=False) for one in names], [], "you")
        for name, file in works:
            attempt = store.open_attempt(name, Role.DOER, "script", ("Ada", "Bo", "Cyd", "Dot"), 60.0, self.begun)
            assert attempt is not None
            bead = store.bead(name)
            workspace = git.workspace(bead, self.begun, "Ada")
            for argv in workspace.prologue:
                assert self._prepare(argv) is None
            Path(workspace.path, file).write_text(f"made for {name}\n")
            self.sh("git", "add", "-A", cwd=workspace.path)
            self.sh("git", "commit", "-q", "-m", f"Work on {name}", cwd=workspace.path)
            head = git.fetch_work(bead, bead.fence)
            data = {"start": self.begun}
            store.close_attempt(attempt, Kind.WORK_SUBMITTED, Outcome.COMPLETED, head=head, data=data)
        git.close()
        store.close()

    # --- the machine -----------------------------------------------------------------------------

    def _store(self) -> Store:
        return create_store(os.path.join(self.paths.folder, "nobrakes.db"), self.clock)

    def _git(self) -> Repository:
        return Repository(self.paths, "main")

    def _prepare(self, argv: Argv) -> str | None:
        done = subprocess.run(argv, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        return None if done.returncode == 0 else done.stderr

    def _program(self, command: Command, step: Step) -> Script:
        return self._check(command, step)

    def _check(self, command: Command, step: Step) -> Script:
        self.runs.append(self.sh("git", "rev-parse", "HEAD^{tree}", cwd=command.cwd).strip())
        done = subprocess.run(step.argv, cwd=command.cwd, capture_output=True, text=True, env=ENVIRONMENT, check=False)
        yield max((self.check_seconds.get(name, 1.0) for name in os.listdir(command.cwd)), default=1.0)
        return done.returncode, done.stdout + done.stderr

    # --- reviewing -------------------------------------------------------------------------------

    def review(self) -> None:
        """Until every review is over, with a new daemon after each kill."""
        for _ in range(TURNS):
            store, git = self._store(), self._git()
            try:
                for turn in self._turns(self._daemon(store, git)):
                    if self._is_over(turn):
                        return
            except Crash:
                self._pass(self.dead_seconds)
            finally:
                git.close()
                store.close()
        raise AssertionError("it never ends")

    def _pass(self, seconds: float) -> None:
        end = self.clock.now() + seconds
        while (moment := self.processes.next_event()) is not None and moment <= end:
            self.processes.advance(moment)
            self.clock.advance_to(moment)
        self.clock.advance_to(end)

    def _daemon(self, store: Store, git: Repository) -> Daemon:
        config = replace(self.config)
        return Daemon(
            Ports(
                store=Crashing(store, "store", self.dice),  # type: ignore[arg-type]
                git=Crashing(git, "git", self.dice),  # type: ignore[arg-type]
                processes=Crashing(self.processes, "processes", self.dice),  # type: ignore[arg-type]
                notifier=Quiet(),
                background=FakeBackground(random.Random(0), put_off=0),
                paths=self.paths,
                config=lambda: config,
                limits=lambda: replace(config.board_limits(), doers=0),
                adapter=_nobody,
                environment=ENVIRONMENT,
            )
        )

    def _turns(self, daemon: Daemon) -> Iterator[Board]:
        daemon.recover()
        for _ in range(TURNS):
            turn = daemon.tick()
            if not turn.changed:
                yield turn.board
                moments = [m for m in (self.processes.next_event(), turn.wake_at) if m is not None]
                assert moments, "nothing happens any more"
                self.processes.advance(min(moments))
                self.clock.advance_to(min(moments))
        raise AssertionError("it never rests")

    @staticmethod
    def _is_over(board: Board) -> bool:
        return not (board.attempts or board.runs or board.to_review)

    # --- what came of it -------------------------------------------------------------------------

    def landed(self) -> list[str]:
        """The beads on main, oldest first."""
        return self.sh("git", "log", "--reverse", "--format=%(trailers:key=Bead,valueonly)", "main").split()

    def refs(self, below: str) -> list[str]:
        """The refs of ours below this name."""
        return self.sh("git", "for-each-ref", "--format=%(refname)", f"refs/nobrakes/{below}").split()

    def assert_sound(self, good: Collection[str], bad: Collection[str]) -> None:
        """What must hold whatever was killed."""
        assert sorted(self.landed()) == sorted(good), "none is lost, none lands twice"
        for commit in self.sh("git", "rev-list", f"{self.begun}..main").split():
            assert "bad" not in self.sh("git", "ls-tree", "--name-only", commit), "no commit on main is red"
        store = self._store()
        try:
            status = {bead.id: bead.status for bead in store.beads()}
            assert status == dict.fromkeys(good, Status.DONE) | dict.fromkeys(bad, Status.NEEDS_DOER)
            assert all(store.bead(one).failures == 1 for one in bad), "blamed once"
        finally:
            store.close()
        git = self._git()
        report = verify(git)
        git.close()
        assert (report.wrong, report.notes) == ((), ()), "each merge has its record, in main's order"
        self.sh("git", "fsck", "--strict", "--no-dangling", "--no-progress")
        assert not list((self.folder / ".git").rglob("*.lock")), "no lock stays"


def _nobody(name: str) -> Adapter:
    raise NoAgent(f"{name} is nobody here")
