"""What a daemon with nothing to do costs: CPU over a minute, and memory at its end, from /proc.

    .venv/bin/python benchmarks/idle.py [SECONDS]

Targets: at most 20 ms of CPU a minute and 80 MiB resident. It has merged one bead before, so that all it ever needs
is loaded. Linux only.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import keep, table
from pipeline import CONFIG, NOBRAKES, repository

from nobrakes.core.beads.bead import Bead, Status
from nobrakes.store.opening import open_store


def cpu_ms(pid: int) -> float:
    """CPU of the process until now, finer than the clock ticks of /proc/<pid>/stat where the kernel tells it."""
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        total += int((thread / "schedstat").read_text().split()[0])
    return total / 1e6


def rss_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no VmRSS")


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    with tempfile.TemporaryDirectory() as folder:
        repository(folder)
        subprocess.run([NOBRAKES, "init", "--main", "main"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        Path(folder, ".nobrakes", "config.toml").write_text(CONFIG.replace("WORKERS", "2").replace("SANDBOX", "none"))
        store = open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))
        store.put([Bead("b1", "bead 1", status=Status.NEEDS_DOER, needs_tests=False)], [], "benchmark")
        subprocess.run([NOBRAKES, "daemon", "start"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        try:
            pid = int(Path(folder, ".nobrakes", "daemon.lock").read_text().split()[0])
            deadline = time.monotonic() + 60
            while store.bead("b1").status is not Status.DONE:
                if time.monotonic() > deadline:
                    raise SystemExit("the first bead was not merged within a minute")
                time.sleep(0.1)
            time.sleep(2)
            before = cpu_ms(pid)
            time.sleep(seconds)
            used, resident = cpu_ms(pid) - before, rss_mib(pid)
        finally:
            store.close()
            subprocess.run([NOBRAKES, "daemon", "stop"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    a_minute = used * 60 / seconds
    print(
        table(
            [
                ["what", "measured", "target"],
                ["CPU, ms a minute", f"{a_minute:.1f}", "<= 20"],
                ["resident, MiB", f"{resident:.1f}", "<= 80"],
            ]
        )
    )
    keep("idle", {"seconds": seconds, "cpu_ms_a_minute": a_minute, "rss_mib": resident})


if __name__ == "__main__":
    main()
