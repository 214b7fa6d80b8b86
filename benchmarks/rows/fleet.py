"""One daemon with a fleet: simulated Doers by the thousand, and the CPU of a real daemon with a hundred."""

import os
import signal
import subprocess
import tempfile
import time
from contextlib import closing
from typing import Any

from figures import Dose, Figure, Found, Measured, told
from fleet import measured as simulated
from idle import cpu_ms, rss_mib
from pipeline import AGENT, NOBRAKES, config, set_up

from nobrakes.store import open_store
from rows.pipeline import inside, memory

MODE = "the shipped deciders, store and daemon; git, processes and the clock are simulated but for the real daemon"
FEW, MANY = 1_000, 10_000
CORE, WAIT = f"{FEW:,} Doers of ten minutes, of a core", f"{FEW:,} Doers, p99 from a free place to a start"
MANY_CORE, MANY_WAIT = f"{MANY:,} Doers of ten minutes, of a core", f"{MANY:,} Doers, p99 from a free place to a start"
GROWTH = f"{FEW:,} Doers, CPU of the last tenth of the time against the first"
REAL_DOERS = 100
REAL = f"a real daemon with {REAL_DOERS} Doers, its own CPU a bead"
MERGED = "SELECT count(*) FROM events WHERE kind = 'merged'"

FIGURES = (
    Figure(CORE, 0.5, ""),
    Figure(WAIT, 2, " s"),
    Figure(MANY_CORE, None, ""),
    Figure(MANY_WAIT, 2, " s"),
    Figure(GROWTH, None, " x"),
    Figure(REAL, None, " ms"),
)


def texts(raw: dict[str, Any]) -> tuple[str, str]:
    """What stands beside the share of a core, and beside the wait."""
    rate = raw["merges"] / raw["seconds"]
    decided = raw["decisions_a_cpu_second"] * raw["core"]
    core = f"{raw['cpu_a_bead_ms']:.0f} ms a bead, {rate:.2f} beads and {decided:.0f} decisions a second"
    return f"{core}, {raw['mb']:.0f} MB", f"p50 {raw['wait_s']['p50']:.3f} s"


def real(doers: int, seconds: float, mean: int) -> dict[str, float]:
    """The daemon's own CPU, without its children's, while agents sleep for so many seconds and commit a file."""
    sleep = f"sleep $(( ${{NOBRAKES_BEAD#b}} * 7919 % {2 * mean} + 1 )) && {AGENT}"
    beads = int(doers * (2 + 2 * seconds / mean))
    with inside(memory()), tempfile.TemporaryDirectory() as folder:
        set_up(folder, beads, config(doers).replace(AGENT, sleep), digits=0)
        child = subprocess.Popen([NOBRAKES, "run"], cwd=folder, stdout=subprocess.DEVNULL)
        try:
            with closing(open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))) as store:
                time.sleep(mean)  # until agents end one after the other
                before, at, merged = cpu_ms(child.pid), time.monotonic(), store.plain(MERGED)[0][0]
                time.sleep(seconds)
                done = store.plain(MERGED)[0][0] - merged
                took, used = time.monotonic() - at, cpu_ms(child.pid) - before
                return {"merges": done, "seconds": took, "cpu_ms": used, "mib": rss_mib(child.pid)}
        finally:
            child.send_signal(signal.SIGINT)
            child.wait(120)


def measured(dose: Dose) -> Measured:
    """The thousand, the ten thousand, and a real daemon."""
    beads, found = dose.pick(100_000, 100_000, 2_000), dict[str, Found]()
    few, many = dose.pick(FEW, FEW, 20), dose.pick(MANY, MANY, 40)
    merges, more = dose.pick(300, 100, 10), dose.pick(200, 60, 10)
    with told(found, CORE, WAIT, GROWTH):
        raw = simulated(few, merges, beads)
        core, wait = texts(raw)
        found[CORE] = Found(raw["core"], "", core, raw=raw)
        found[WAIT] = Found(raw["wait_s"]["p99"], "", wait)
        first, last = raw["tenths"]
        found[GROWTH] = Found(last / first, "", f"the first {first:.3f}, the last {last:.3f} of a core")
    with told(found, REAL):
        seconds, mean = dose.pick(90.0, 30.0, 4.0), dose.pick(60, 30, 2)
        raw = real(dose.pick(REAL_DOERS, REAL_DOERS, 4), seconds, mean)
        rate = raw["merges"] / raw["seconds"]
        beside = (
            f"{rate:.2f} beads a second, {raw['cpu_ms'] / 1000 / raw['seconds']:.2f} of a core, {raw['mib']:.0f} MiB"
        )
        found[REAL] = Found(raw["cpu_ms"] / max(1, raw["merges"]), "", beside, raw=raw)
    with told(found, MANY_CORE, MANY_WAIT):
        raw = simulated(many, more, beads)
        core, wait = texts(raw)
        found[MANY_CORE] = Found(raw["core"], "", core, raw=raw)
        found[MANY_WAIT] = Found(raw["wait_s"]["p99"], "", wait)
    return Measured(f"{few:,} and {many:,} Doers, {merges} and {more} merges, on {beads:,} beads", found)
