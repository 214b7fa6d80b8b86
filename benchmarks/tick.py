"""What one turn of the daemon costs with few and with many beads, on a real store, with nothing to be done.

    .venv/bin/python benchmarks/tick.py [TURNS]

Target: with 100,000 beads at most 2 times the time with 1,000. Beads have two dependencies each; the daemon is
paused, so that it looks at the whole front of ready beads, decides, reads the news, and starts nothing.
"""

import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import keep, table

from nobrakes.app import App, open_daemon
from nobrakes.beads.model import Bead, Dependency, Status
from nobrakes.daemon.service import control
from nobrakes.daemon.worker.loop import Daemon
from nobrakes.paths import Paths
from nobrakes.store import create_store

SIZES = (1_000, 100_000)
CONFIG = 'main = "main"\n[agents]\ntest_writer = "script"\ndoer = "script"\n[agents.script]\ncommand = ["true"]\n'


def repository(folder: str, beads: int) -> Paths:
    """A repository with nobrakes in it and a graph of so many beads."""
    for argv in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b.invalid", *argv], cwd=folder, check=True)
    paths = Paths(str(Path(folder, ".nobrakes")))
    Path(paths.wake).mkdir(parents=True)
    Path(paths.config).write_text(CONFIG)
    rng = random.Random(1)
    ready = 500
    live = [Bead(f"b{i}", f"Bead {i}", status=Status.NEEDS_DOER, needs_tests=False) for i in range(beads)]
    needs = {(i, j) for i in range(ready, beads) for j in rng.sample(range(i - ready, i), 2)}
    store = create_store(paths.database)
    store.put(live, [Dependency(f"b{i}", f"b{j}") for i, j in sorted(needs)], "benchmark")
    control.pause(store, paths, "benchmark")
    store.close()
    return paths


def turns(daemons: dict[int, Daemon], count: int) -> dict[int, list[float]]:
    """Milliseconds of each turn, the daemons in turn."""
    times: dict[int, list[float]] = {size: [] for size in daemons}
    for _ in range(count):
        for size, daemon in daemons.items():
            start = time.perf_counter()
            turn = daemon.tick()
            times[size].append((time.perf_counter() - start) * 1000)
            assert not turn.changed and len(turn.board.ready) == 64
    return times


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    with tempfile.TemporaryDirectory() as folder:
        daemons = {}
        for size in SIZES:
            home = Path(folder, str(size))
            home.mkdir()
            daemons[size] = open_daemon(App(repository(str(home), size)))
            while daemons[size].tick().changed:
                pass  # the news of the graph's making are read first
        times = turns(daemons, count)
    small, large = (statistics.median(times[size]) for size in SIZES)
    print(table([["beads", "ms a turn"], *([size, f"{statistics.median(times[size]):.2f}"] for size in SIZES)]))
    ratio = statistics.median(b / a for a, b in zip(times[SIZES[0]], times[SIZES[1]], strict=True))
    print(f"median ratio {ratio:.2f} (of the medians {large / small:.2f}), target <= 2")
    keep("tick", times)


if __name__ == "__main__":
    main()
