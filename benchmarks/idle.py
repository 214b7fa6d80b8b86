"""What a daemon with nothing to do costs: CPU over a minute, and memory at its end, from /proc.

    .venv/bin/python benchmarks/idle.py [SECONDS]

Targets: at most 20 ms of CPU a minute and 80 MiB resident. It has merged one bead before, so that all it ever needs
is loaded. Linux only.
"""

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import keep, table
from pipeline import AGENT, NOBRAKES, config, set_up

from nobrakes.beads.model import Bead, Dependency, Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.store import open_store


def cpu_ms(pid: int) -> float:
    """CPU of the process until now, finer than the clock ticks of /proc/<pid>/stat where the kernel tells it."""
    return sum(int(text.split()[0]) for text in _threads(pid, "schedstat")) / 1e6


def _threads(pid: int, name: str) -> Iterator[str]:
    """What the kernel tells of each thread; one that has just ended is passed over."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            yield (thread / name).read_text()


def rss_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("no VmRSS")


def switches(pid: int) -> int:
    """How often the process has waited until now: each time something woke it."""
    lines = [line for text in _threads(pid, "status") for line in text.splitlines()]
    return sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))


def own(folder: str, daemon: int) -> set[int]:
    """The daemon, whatever it started, and whatever names its folder: wrappers of runs outlive a daemon."""
    parents, found = {}, {daemon}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):  # it ended
            parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if folder.encode() in (entry / "cmdline").read_bytes():
                found.add(int(entry.name))
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def used(pids: Iterable[int]) -> dict[int, tuple[float, int]]:
    """CPU milliseconds and waits of each process that lives."""
    found = {}
    for pid in pids:
        with contextlib.suppress(OSError):
            found[pid] = (cpu_ms(pid), switches(pid))
    return found


@contextmanager
def daemon(folder: str) -> Iterator[int]:
    """A daemon at work in the folder; its pid."""
    subprocess.run([NOBRAKES, "daemon", "start"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    try:
        yield int(Path(folder, ".nobrakes", "daemon.lock").read_text().split()[0])
    finally:
        subprocess.run([NOBRAKES, "daemon", "stop"], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def until(condition: Callable[[], bool], what: str) -> None:
    """Wait a minute at most."""
    deadline = time.monotonic() + 60
    while not condition():
        if time.monotonic() > deadline:
            raise SystemExit(f"within a minute {what}")
        time.sleep(0.1)


def over(seconds: float, folder: str, pid: int) -> dict[str, float]:
    """What the daemon and all of its own use, as for a minute; the agents wait, and are counted with them."""
    before = used(own(folder, pid))
    time.sleep(seconds)
    after = used(own(folder, pid))
    a_minute = 60 / seconds
    return {
        "seconds": seconds,
        "processes": len(after),
        "cpu_ms_a_minute": a_minute * sum(cpu - before.get(one, (0, 0))[0] for one, (cpu, _) in after.items()),
        "wakes_a_minute": a_minute * sum(n - before.get(one, (0, 0))[1] for one, (_, n) in after.items()),
        "rss_mib": rss_mib(pid),
    }


def nothing_to_do(seconds: float, beads: int = 0, escalations: int = 0, settle: float = 2.0) -> dict[str, float]:
    """After one bead was merged. The other `beads` wait for questions that nobody answers."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder, 1, config(2, "none"))
        store = open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))
        try:
            asked = [Bead(f"q{n}", f"Question {n}", status=Status.NEEDS_DOER) for n in range(escalations)]
            live = [Bead(f"w{n}", f"Bead {n}", status=Status.NEEDS_DOER) for n in range(beads - escalations)]
            needs = [Dependency(one.id, asked[n % len(asked)].id) for n, one in enumerate(live)]
            store.put([*asked, *live], needs, "benchmark")
            for one in asked:
                store.escalate(NewEscalation(EscalationType.QUESTION, f"Why {one.id}?"), one.id, None, "benchmark")
            with daemon(folder) as pid:
                until(lambda: store.bead("b1").status is Status.DONE, "the first bead was not merged")
                time.sleep(settle)
                return over(seconds, folder, pid)
        finally:
            store.close()


def silent_agents(seconds: float, agents: int = 4, settle: float = 3.0) -> dict[str, float]:
    """As installed: agents that say nothing, each in its sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        sleep = f"sleep {3600 + seconds:g}"
        set_up(folder, agents, config(agents).replace(AGENT, sleep))
        with daemon(folder) as pid:

            def have_begun() -> bool:
                return sum(sleep.encode() in words for words in _cmdlines(own(folder, pid))) >= agents

            until(have_begun, f"not all of {agents} agents began")
            time.sleep(settle)
            return over(seconds, folder, pid)


def _cmdlines(pids: Iterable[int]) -> list[bytes]:
    found = []
    for pid in pids:
        with contextlib.suppress(OSError):
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").strip())
    return [words for words in found if words.startswith(b"sleep ")]


def main() -> None:
    found = nothing_to_do(float(sys.argv[1]) if len(sys.argv) > 1 else 60.0)
    print(
        table(
            [
                ["what", "measured", "target"],
                ["CPU, ms a minute", f"{found['cpu_ms_a_minute']:.1f}", "<= 20"],
                ["resident, MiB", f"{found['rss_mib']:.1f}", "<= 80"],
            ]
        )
    )
    keep("idle", found)


if __name__ == "__main__":
    main()
