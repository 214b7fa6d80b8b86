"""One bead's review, from the handed-in head to merged main, against the same git commands in a plain shell script.

    .venv/bin/python benchmarks/review.py [ROUNDS] [BEADS]

BEADS small pieces of work wait, made from the same commit of a small repository, and are reviewed one by one: each is
validated as it is and on main, by one check that does nothing, as in the script. Targets for a bead: at most 50 ms of
the Reviewer's own time (what the daemon's turns take, without the time in which it waits for a check), and at most 2.5
times the script's whole time.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import keep, table
from pipeline import repository, verify

from nobrakes.app import App, open_app, ports_of, serve
from nobrakes.beads.model import Bead, Outcome, Role, Status
from nobrakes.daemon.model import Board
from nobrakes.daemon.worker.loop import Daemon, Turn
from nobrakes.events.kinds import Event, Kind
from nobrakes.notices.senders import StdoutNotifier

HERE = Path(__file__).parent
NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
CONFIG = """
main = "main"
[[checks]]
name = "noop"
command = "true"
kind = "build"
[review]
validators = 1
main_check_hours = 0
[sandbox]
mode = "none"
wall = "none"
"""


class Quiet:
    """Looks on and says nothing."""

    def event(self, event: Event) -> None:
        """Let it pass."""

    def board(self, board: Board) -> None:
        """Let it pass."""


class Own:
    """The seconds that the daemon's turns took."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._tick = Daemon.tick

    def __enter__(self) -> "Own":
        def timed(daemon: Daemon, seen: Board | None = None) -> Turn:
            start = time.perf_counter()
            try:
                return self._tick(daemon, seen)
            finally:
                self.seconds += time.perf_counter() - start

        Daemon.tick = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *error: object) -> None:
        Daemon.tick = self._tick  # type: ignore[method-assign]


@contextmanager
def silent() -> Iterator[None]:
    """Standard output goes nowhere."""
    out, null = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    try:
        yield
    finally:
        os.dup2(out, 1)
        os.close(out)
        os.close(null)


def hand_in(app: App, beads: int) -> None:
    """Work as Doers leave it: a clone with a commit, its head taken in."""
    ports = ports_of(app, StdoutNotifier())
    store, git = ports.store, ports.git
    main = git.main()
    names = [f"b{number}" for number in range(1, beads + 1)]
    store.put([Bead(name, name, status=Status.NEEDS_DOER, needs_tests=False) for name in names], [], "benchmark")
    for name in names:
        attempt = store.open_attempt(name, Role.DOER, "script", ("Ada",), 60.0, main)
        assert attempt is not None
        bead = store.bead(name)
        workspace = git.workspace(bead, main, "Ada")
        for argv in workspace.prologue:
            subprocess.run(argv, check=True)
        commit(workspace.path, name.removeprefix("b"))
        store.close_attempt(
            attempt,
            Kind.WORK_SUBMITTED,
            Outcome.COMPLETED,
            head=git.fetch_work(bead, bead.fence),
            data={"start": main},
        )
    git.close()


def commit(folder: str, number: str) -> None:
    Path(folder, f"file-{number}").write_text(f"{number}\n")
    for argv in (["add", "-A"], ["commit", "-q", "-m", f"bead {number}"]):
        subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b.invalid", *argv], cwd=folder, check=True)


def nobrakes(beads: int) -> tuple[float, float]:
    """Seconds of the whole, and of the daemon's own turns."""
    with tempfile.TemporaryDirectory() as folder:
        repository(folder)
        subprocess.run(["git", "checkout", "-q", "--detach"], cwd=folder, check=True)
        subprocess.run([NOBRAKES, "init", "--main", "main"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        Path(folder, ".nobrakes", "config.toml").write_text(CONFIG)
        with open_app(folder) as app:
            hand_in(app, beads)
        with silent(), Own() as own, open_app(folder) as app:
            start = time.perf_counter()
            serve(app, Quiet(), until_idle=True)
            taken = time.perf_counter() - start
        verify(folder, beads)
    return taken, own.seconds


def script(beads: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        repository(folder)
        work = Path(folder, ".floor")
        for number in map(str, range(1, beads + 1)):
            clone = work / f"ws-{number}"
            subprocess.run(["git", "clone", "-q", "--shared", folder, clone], check=True)
            (work / f"ws-{number}~index").write_bytes((clone / ".git" / "index").read_bytes())
            commit(str(clone), number)
            subprocess.run(["git", "fetch", "-q", clone, f"HEAD:refs/floor/incoming/{number}"], cwd=folder, check=True)
        start = time.perf_counter()
        subprocess.run(["sh", str(HERE / "review.sh"), folder, str(beads)], check=True)
        taken = time.perf_counter() - start
        verify(folder, beads)
    return taken


def main() -> None:
    rounds, beads = (int(a) for a in (*sys.argv[1:], *("5", "40")[len(sys.argv) - 1 :]))
    found = []
    for number in range(rounds):
        floor, (whole, own) = script(beads), nobrakes(beads)
        found.append((floor, whole, own))
        each = [f"{value / beads * 1000:.1f}" for value in found[-1]]
        print(
            f"round {number + 1}, ms a bead: script {each[0]}, nobrakes {each[1]}, its own turns {each[2]}", flush=True
        )
    names = ("shell script", "nobrakes, from its start", "the daemon's own turns")
    medians = [statistics.median(row[place] for row in found) for place in range(3)]
    print(
        table([["what", "ms a bead"], *([n, f"{m / beads * 1000:.1f}"] for n, m in zip(names, medians, strict=True))])
    )
    ratio = statistics.median(whole / floor for floor, whole, _ in found)
    print(f"own time {medians[2] / beads * 1000:.1f} ms, target <= 50; ratio {ratio:.2f}, target <= 2.5")
    keep("review", {"beads": beads, "rounds": found})


if __name__ == "__main__":
    main()
