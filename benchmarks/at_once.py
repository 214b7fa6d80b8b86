"""48 changes that wait at once, with a check of half a second: from the first run of the checks to the end.

    .venv/bin/python benchmarks/at_once.py [ROUNDS] [BEADS]

Each mode of the queue in turn, `nobrakes run` with its defaults but for the number of agents, main checked out as
people have it. The checks begin when all changes were handed in. Every landed tree is verified.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from measure import keep, table
from pipeline import NOBRAKES, config, set_up, verify

from nobrakes.events.kinds import Kind
from nobrakes.store import open_store

MODES: Mapping[str, str] = {
    "as installed": "",
    "one validator": "validators = 1",
    "two validators": "validators = 2",
    "four validators": "validators = 4",
    "every_commit_green": "every_commit_green = true",
}
SECONDS = 0.5
WAITING = 48


def landed(beads: int, review: str) -> tuple[float, int]:
    """(seconds until all were on main, runs of the checks)."""
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as outside:
        go, book = Path(outside, "go"), Path(outside, "runs")
        waits = f"until [ -e {go} ]; do sleep 0.02; done"
        check = f"ls file-* >/dev/null 2>&1 || exit 0; echo x >>{book}; {waits}; sleep {SECONDS}"
        settings = config(beads, "none").replace('command = "true"', f'command = "{check}"')
        set_up(folder, beads, f"{settings}\n[review]\n{review}\n")
        running = subprocess.Popen([NOBRAKES, "run"], cwd=folder, stdout=subprocess.DEVNULL)
        store = open_store(str(Path(folder, ".nobrakes", "nobrakes.db")))
        while len(store.latest_events([Kind.WORK_SUBMITTED], limit=beads)) < beads:
            assert running.poll() is None, "the run ended before all were handed in"
            time.sleep(0.05)
        store.close()
        go.touch()
        began = time.perf_counter()
        assert running.wait() == 0
        taken = time.perf_counter() - began
        verify(folder, beads)
        return taken, len(book.read_text().split())


def measured(rounds: int, beads: int) -> dict[str, list[tuple[float, int]]]:
    """Each round of each mode."""
    found: dict[str, list[tuple[float, int]]] = {name: [] for name in MODES}
    for _ in range(rounds):
        for name, review in MODES.items():
            found[name].append(landed(beads, review))
    return found


def main() -> None:
    rounds, beads = (int(a) for a in (*sys.argv[1:], *("3", "48")[len(sys.argv) - 1 :]))
    found = measured(rounds, beads)
    rows = [
        [name, f"{min(seconds for seconds, _ in some):.2f}", " ".join(f"{runs / beads:.3g}" for _, runs in some)]
        for name, some in found.items()
    ]
    print(table([["mode", "seconds, the least", "runs a change"], *rows]))
    keep("at_once", found)


if __name__ == "__main__":
    main()
