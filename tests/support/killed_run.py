"""A run of three beads by the real daemon, which is killed, and a person's checkout of main beside it.

The repository is made once and put back at the same place for each run. What has to hold at the end is the same whatever
was killed: all beads are on main exactly once, the checkout shows the person's own work and nothing else, a plain commit
of theirs contains what they staged, and `verify` and `doctor` have nothing to say.
"""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from tests.support import shim
from tests.support.project import Project
from tests.support.warm import NOBRAKES

BEADS = ("one", "two", "three")
WORK = (
    "echo made > made-$NOBRAKES_BEAD; echo changed > src/$NOBRAKES_BEAD; rm gone/$NOBRAKES_BEAD; "
    "git add -A; git commit -qm work; echo 'NOBRAKES: COMPLETED'"
)
CHECKOUTS = {"clean": "", "dirty": " M mine\n?? note\n", "staged": "M  mine\nA  note\n"}
"""What a person has in their checkout, and what git says of it."""
MAX_STARTS = 30
PERSON = (
    "export GIT_AUTHOR_NAME=P GIT_AUTHOR_EMAIL=p@example.com GIT_COMMITTER_NAME=P GIT_COMMITTER_EMAIL=p@example.com"
)


class KilledRun:
    """The repository, the person, and who kills."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "repository"
        self.kept = folder / "kept"
        self.kill = folder / "kill"
        for bead in BEADS:
            for name in ("src", "gone"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
                (self.folder / name / bead).write_text("begun\n")
        (self.folder / "mine").write_text("mine\n")
        self.project = Project(self.folder, ["sh", "-c", WORK], more="[review]\nmain_check_hours = 0\n")
        self.project.plan([{"id": bead, "title": bead, "needs_tests": False} for bead in BEADS])
        self.env = {**self.project.env(), **shim.install(self.kill)}
        shutil.copytree(self.folder, self.kept, symlinks=True)
        self.kills = 0

    def put_back(self, checkout: str) -> None:
        """As it was before the first run, with this in the person's checkout."""
        shutil.rmtree(self.folder)
        shutil.copytree(self.kept, self.folder, symlinks=True)
        if checkout != "clean":
            (self.folder / "mine").write_text("edited\n")
            (self.folder / "note").write_text("a note\n")
        self.project.git("update-index", "-q", "--refresh")
        if checkout == "staged":
            self.project.git("add", "mine", "note")

    def run(
        self,
        at: str | None = None,
        seconds: float | None = None,
        argv: tuple[str, ...] = (),
        act: str | None = None,
    ) -> int:
        """Run until idle, killed at a git command (`at`, `act`: see shim) or after so many seconds; the exit code."""
        shim.arm(self.kill, at, act)
        said = self.kill / "said"
        with said.open("wb") as out:
            daemon = subprocess.Popen([*argv, NOBRAKES, "run"], cwd=self.folder, env=self.env, stdout=out, stderr=out)
        try:
            daemon.wait(120 if seconds is None else seconds)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()
        if daemon.returncode not in (0, -signal.SIGKILL) and argv == ():
            raise AssertionError(f"the run ended with {daemon.returncode}: {said.read_text()[-2000:]}")
        self.kills += daemon.returncode != 0
        return daemon.returncode

    def to_the_end(self) -> None:
        """Start again as often as it takes."""
        for _ in range(MAX_STARTS):
            if self.run() == 0 and not self.undone():
                return
        raise AssertionError(f"never done: {self.undone()}")

    def kill_at_random(self, rng: random.Random, kills: int, usual: float) -> float:
        """Kill so many daemons, each after a random while, as long as there is work; the usual seconds of a run, which
        may be fewer than it was thought."""
        for _ in range(kills):
            began = time.monotonic()
            if self.run(seconds=rng.uniform(0.1, usual)) == 0:
                return min(usual, time.monotonic() - began)
        return usual

    def undone(self) -> list[str]:
        """The beads that are not done."""
        return [bead["id"] for bead in self.project.ask("list", "--all") if bead["status"] != "done"]

    def script(self, types: str) -> str:
        """What a person types in their checkout, for the shim: at once, or where git is locked as soon as it is not.

        Nothing of the environment of nobrakes' own git command reaches them.
        """
        unset = "for name in $(env | sed -n 's/^\\(GIT_[A-Z_]*\\)=.*/\\1/p'); do unset $name; done"
        return (
            f"cd {self.folder}; PATH={os.environ['PATH']}; unset NOBRAKES_KILL; {unset}; {PERSON}\n"
            f"types() {{ {types}; }}\n"
            f"again() {{ until types; do sleep 0.05; done; echo done >{self.kill}/acted; }}\n"
            f"echo begun >{self.kill}/acted\n"
            f"if types; then echo done >{self.kill}/acted; else again >/dev/null 2>&1 & fi\n"
        )

    def acted(self) -> str:
        """`begun`, `done`, or nothing where the moment never came."""
        told = self.kill / "acted"
        return told.read_text().strip() if told.exists() else ""

    def person(self, types: str) -> None:
        """A person types this in their checkout now."""
        subprocess.run(["sh", "-c", f"{PERSON}; {types}"], cwd=self.folder, check=True)

    def agents(self) -> list[str]:
        """The runs of agents that there were."""
        return [name for name in os.listdir(self.folder / ".nobrakes" / "runs") if name.endswith("-agent")]

    def assert_sound(self, checkout: str) -> None:
        """What must hold at the end."""
        assert sorted(self.project.landed().values()) == sorted(BEADS), "none is lost, none lands twice"
        self.assert_checkout(checkout)
        for bead in BEADS:
            assert self.project.git("show", f"main:made-{bead}") == "made\n"
            assert self.project.git("show", f"main:src/{bead}") == "changed\n"
            assert not self.project.git("ls-tree", "main", f"gone/{bead}")
        self.project.nobrakes("verify")
        self.project.nobrakes("doctor")

    def assert_checkout(self, checkout: str) -> None:
        """The person's own work is there, and what they commit next is their own."""
        git = self.project.git
        shown = git("status", "--porcelain", ":!.nobrakes")
        assert shown == CHECKOUTS[checkout], f"the person's own work and nothing else: {shown}"
        if checkout != "staged":
            (self.folder / "later").write_text("later\n")
            git("add", "later")
        git("commit", "-q", "-m", "mine")
        told = ["mine", "note"] if checkout == "staged" else ["later"]
        assert git("diff", "--name-only", "HEAD~1", "HEAD").split() == told, "a commit takes nothing back"
        assert not list((self.folder / ".git").rglob("*.lock")), "no lock stays"
        assert not list((self.folder / ".git").glob("index.nobrakes*"))


def usual(world: KilledRun) -> tuple[float, list[str]]:
    """How long a run takes that nobody kills, in seconds, and the git commands of its daemon."""
    world.put_back("clean")
    began = time.monotonic()
    world.run()
    took = time.monotonic() - began
    found = shim.commands(world.kill)
    world.assert_sound("clean")
    return took, found


def tracer() -> str | None:
    """strace, where it may be used."""
    found = shutil.which("strace")
    if found is None:
        return None
    done = subprocess.run([found, "-o", os.devnull, "true"], capture_output=True, check=False)
    return found if done.returncode == 0 else None
