"""Whether a bead costs the same after thousands of others as the first ones did.

One run, whose beads are merged one after the other; when each was is in the log of events, and what the daemon had used
of the processor by then is looked at while it runs.
"""

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from contextlib import closing
from typing import Any

from idle import cpu_ms
from pipeline import NOBRAKES, config, set_up, verify

from nobrakes.store.opening import open_store

LOOKS_SECONDS = 0.25
MERGED = "SELECT at FROM events WHERE kind = 'merged' ORDER BY seq"


def run(beads: int, workers: int, part: int, seconds: float, sandbox: str = "none") -> dict[str, Any]:
    """Seconds and the daemon's CPU milliseconds of the first `part` beads and of the last ones, each for a bead.

    After so many seconds it is ended, and what was merged by then is all there is.
    """
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder, beads, config(workers, sandbox))
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
        if not is_cut:
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
