"""Whether a bead costs the same after thousands of others as the first ones did.

    .venv/bin/python benchmarks/growth.py [BEADS] [FILES]     # FILES 0: each bead adds one

One run, whose beads are merged one after the other; when each was is in the log of events, and what the daemon had used
of the processor by then is looked at while it runs.

In one repository each bead adds a file, so that the last ones are worked on in as many as there are beads: each of
their checkouts writes all of them and removes them again, whoever makes it. In the other one beads change a few files
in turn, and all that grows is what nobrakes and git keep of those before.
"""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from typing import Any

from idle import cpu_ms
from pipeline import AGENT, NOBRAKES, config, set_up, verify

from nobrakes.store.opening import open_store

LOOKS_SECONDS = 0.25
MERGED = "SELECT at FROM events WHERE kind = 'merged' ORDER BY seq"


FILES = 50
"""So many files there are where the repository does not grow: far more than beads that are worked on at a time."""


def run(beads: int, workers: int, part: int, seconds: float, files: int = 0, sandbox: str = "none") -> dict[str, Any]:
    """Seconds and the daemon's CPU milliseconds of the first `part` beads and of the last ones, each for a bead.

    After so many seconds it is ended, and what was merged by then is all there is. `files`: the beads change so many in
    turn; without, each adds one.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = config(workers, sandbox)
        if files:
            settings = settings.replace(AGENT, AGENT.replace('"file-$n"', f'"file-$((n % {files}))"'))
        set_up(folder, beads, settings)
        child = subprocess.Popen([NOBRAKES, "run"], cwd=folder, stdout=subprocess.DEVNULL)
        used: list[tuple[float, float]] = []
        deadline, is_cut = time.monotonic() + seconds, False
        while child.poll() is None:
            with contextlib.suppress(OSError):  # it has just ended
                used.append((time.time(), cpu_ms(child.pid)))
            time.sleep(LOOKS_SECONDS)
            if not is_cut and time.monotonic() > deadline:
                is_cut = True
                child.send_signal(signal.SIGINT)
        if child.wait() != 0 and not is_cut:
            raise SystemExit(f"nobrakes run ended with {child.returncode}")
        with closing(open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))) as store:
            at = [row[0] for row in store._db.plain(MERGED)]
        if not is_cut and not files:
            verify(folder, beads)
    first, last = (at[0], at[part - 1]), (at[-part], at[-1])
    return {
        "beads": len(at),
        "part": part,
        "seconds": [(end - start) / (part - 1) for start, end in (first, last)],
        "cpu_ms": [(_at(used, end) - _at(used, start)) / (part - 1) for start, end in (first, last)],
        "every_100th": at[::100],
    }


def _at(used: list[tuple[float, float]], when: float) -> float:
    """The CPU at a time, between the two looks round it."""
    before = max((one for one in used if one[0] <= when), default=used[0])
    after = min((one for one in used if one[0] >= when), default=used[-1])
    share = (when - before[0]) / (after[0] - before[0]) if after[0] > before[0] else 0.0
    return before[1] + share * (after[1] - before[1])


def main() -> None:
    beads, files = (int(a) for a in (*sys.argv[1:], *("1000", str(FILES))[len(sys.argv) - 1 :]))
    found = run(beads, workers=4, part=100, seconds=3600, files=files)
    for what, unit in (("seconds", 1000), ("cpu_ms", 1)):
        first, last = (value * unit for value in found[what])
        print(f"{what}: the first {first:.1f} ms a bead, the last {last:.1f}, {last / first:.2f} times")


if __name__ == "__main__":
    main()
