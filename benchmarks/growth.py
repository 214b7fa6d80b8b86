"""Whether a bead costs the same after thousands of others as the first ones did.

    .venv/bin/python benchmarks/growth.py [BEADS] [grows]     # grows: each bead adds a file

One run, whose beads are merged one after the other; when each was is in the log of events, and what the daemon had used
of the processor by then is looked at while it runs.

In one repository each bead adds a file, so that the last ones are worked on in as many as there are beads: each of
their checkouts writes all of them and removes them again, whoever makes it. In the other one beads change a hundred
files in turn, and all that grows is what nobrakes and git keep of those before.
"""

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from itertools import pairwise
from typing import Any

from idle import cpu_ms
from pipeline import AGENT, NOBRAKES, config, set_up, verify

from nobrakes.store import open_store

LOOKS_SECONDS = 0.25
MERGED = "SELECT at FROM events WHERE kind = 'merged' ORDER BY seq"

DIGITS = 6
IN_TURN = AGENT.replace('>"file-$n"', '>"file-${n#????}"')
"""The file is called by the last two digits: a hundred in turn, so that none who work at a time share one."""


def run(
    beads: int, workers: int, part: int, seconds: float, grows: bool = True, sandbox: str = "none"
) -> dict[str, Any]:
    """Seconds and the daemon's CPU milliseconds of the first `part` beads and of the last ones, each for a bead.

    After so many seconds it is ended, and what was merged by then is all there is. `grows`: each bead adds a file.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = config(workers, sandbox)
        if grows:
            set_up(folder, beads, settings)
        else:
            set_up(folder, beads, settings.replace(AGENT, IN_TURN), DIGITS)
        child = subprocess.Popen([NOBRAKES, "run"], cwd=folder, stdout=subprocess.DEVNULL)
        used: list[tuple[float, float]] = []
        deadline, is_cut = time.monotonic() + seconds, False
        while child.poll() is None:
            with contextlib.suppress(OSError):  # it has just ended
                # what a thread used is not told any more when it has ended, as they do at the end
                used.append((time.time(), max(cpu_ms(child.pid), used[-1][1] if used else 0.0)))
            time.sleep(LOOKS_SECONDS)
            if not is_cut and time.monotonic() > deadline:
                is_cut = True
                child.send_signal(signal.SIGINT)
        if child.wait() != 0 and not is_cut:
            raise SystemExit(f"nobrakes run ended with {child.returncode}")
        with closing(open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))) as store:
            at = [row[0] for row in store.plain(MERGED)]
        if not is_cut and grows:
            verify(folder, beads)
    first, last = (at[0], at[part - 1]), (at[-part], at[-1])
    return {
        "beads": len(at),
        "part": part,
        "seconds": [(end - start) / (part - 1) for start, end in (first, last)],
        "cpu_ms": [(_at(used, end) - _at(used, start)) / (part - 1) for start, end in (first, last)],
        "every_100th": at[::100],
        "windows": [_window(at[i : i + part], used) for i in range(0, len(at) - part + 1, part)],
    }


def _window(at: list[float], used: list[tuple[float, float]]) -> dict[str, float]:
    """Milliseconds of some beads that were merged one after the other, each for a bead."""
    gaps = [(end - start) * 1000 for start, end in pairwise(at)]
    cpu = (_at(used, at[-1]) - _at(used, at[0])) / len(gaps)
    return {"mean": statistics.mean(gaps), "median": statistics.median(gaps), "cpu": cpu}


def _at(used: list[tuple[float, float]], when: float) -> float:
    """The CPU at a time, between the two looks round it."""
    before = max((one for one in used if one[0] <= when), default=used[0])
    after = min((one for one in used if one[0] >= when), default=used[-1])
    share = (when - before[0]) / (after[0] - before[0]) if after[0] > before[0] else 0.0
    return before[1] + share * (after[1] - before[1])


def main() -> None:
    beads = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    found = run(beads, workers=4, part=100, seconds=3600, grows="grows" in sys.argv)
    for number, one in enumerate(found["windows"]):
        text = f"to {(number + 1) * found['part']:6,}: {one['mean']:6.1f} ms a bead, median {one['median']:6.1f}"
        print(f"{text}, the daemon's CPU {one['cpu']:5.1f}")
    for what, unit in (("seconds", 1000), ("cpu_ms", 1)):
        first, last = (value * unit for value in found[what])
        print(f"{what}: the first {first:.1f} ms a bead, the last {last:.1f}, {last / first:.2f} times")


if __name__ == "__main__":
    main()
