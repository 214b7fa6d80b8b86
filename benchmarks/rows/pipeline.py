"""Beads through the whole machinery, against clone and bubblewrap in a shell script, and what they ask of the store."""

import math
import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from at_once import SECONDS, WAITING
from at_once import measured as at_once
from figures import Dose, Figure, Found, Measured, told
from pipeline import config, nobrakes, run, script
from statements import a_bead

from nobrakes.host.versions import probing_trouble
from nobrakes.sandbox import system_paths

MODE = "as installed (sandbox auto), main checked out, 4 Doers, one check that does nothing"
PLAIN = "plain.sh"
MEMORY, DISK = "a bead, in memory", "a bead, on disk"
FREE = "a bead, in memory, no sandbox"
SLEEP, SLEEPERS, DOERS = 2.0, 32, 4
IDEAL = f"{SLEEPERS} Doers that sleep {SLEEP:g} s, of the ideal"
FEW_FILES, FILES = 50, 5000
TREE = f"CPU of a bead with {FILES:,} files, against {FEW_FILES}"
SQL = "SQL statements a bead"
AT_ONCE = f"{WAITING} changes at once, a check of {SECONDS:g} s"
RUNS = "runs of the checks for each change, all good"

FIGURES = (
    Figure(MEMORY, 95, " ms"),
    Figure(DISK, None, " ms"),
    Figure(FREE, 75, " ms"),
    Figure(IDEAL, 0.6, "", at_least=True),
    Figure(AT_ONCE, 1.2, " of the best mode's"),
    Figure(TREE, 1.3, " x"),
    Figure(SQL, 100),
    Figure(RUNS, 1.02),
)


@contextmanager
def inside(folder: str) -> Iterator[None]:
    """Repositories are made there."""
    before, tempfile.tempdir = tempfile.tempdir, folder
    try:
        yield
    finally:
        tempfile.tempdir = before


def no_sandbox() -> str:
    """Why bubblewrap does not work here; empty: it does."""
    return system_paths.platform_trouble() or probing_trouble(system_paths.argv(os.getcwd(), os.environ)) or ""


def pairs(rounds: int, beads: int, sandbox: str, name: str) -> Found:
    """In turn; both sides are verified."""
    taken = [(script(beads, DOERS, name), nobrakes(beads, DOERS, sandbox)) for _ in range(rounds)]
    floor = statistics.median(floor for floor, _ in taken) / beads * 1000
    ours = statistics.median(ours for _, ours in taken) / beads * 1000
    ratio = statistics.median(ours / floor for floor, ours in taken)
    return Found(ours, f"{name} {floor:.0f} ms", f"{ratio:.2f} times the script", raw=taken)


def memory() -> str:
    """A folder in memory, where there is one."""
    return "/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir()


def cpu_of_a_bead(beads: int, files: int) -> float:
    """Milliseconds, without the start and the end of a run: what more beads cost beyond a few."""
    few, many = (run(count, config(DOERS), files)[1] for count in (DOERS, DOERS + beads))
    return (many - few) / beads * 1000


def measured(dose: Dose) -> Measured:
    """Pairs in memory, and fewer on disk."""
    rounds, beads, sleeping = dose.pick(5, 2, 1), dose.pick(100, 40, 3), dose.pick(256, 64, 4)
    missing = no_sandbox()
    found: dict[str, Found] = {}
    for name, folder in ((MEMORY, memory()), (DISK, "/var/tmp")):
        with told(found, name), inside(folder):
            most = rounds if name == MEMORY else min(rounds, 3)
            found[name] = Found(why=missing) if missing else pairs(most, beads, "", PLAIN)
    with inside(memory()):
        with told(found, FREE):
            found[FREE] = pairs(min(rounds, 3), beads, "none", "pipeline.sh")
        with told(found, IDEAL):
            ideal = math.ceil(sleeping / SLEEPERS) * SLEEP
            taken = [
                (0.0 if missing else script(sleeping, SLEEPERS, PLAIN, SLEEP), nobrakes(sleeping, SLEEPERS, "", SLEEP))
                for _ in range(dose.pick(3, 1, 1))
            ]
            floor, ours = (statistics.median(column) for column in zip(*taken, strict=True))
            least = f"{PLAIN} {ideal / floor:.2f}" if floor else ""
            found[IDEAL] = Found(ideal / ours, least, raw={"ideal": ideal, "pairs": taken})
        with told(found, TREE):
            few, many = (cpu_of_a_bead(dose.pick(20, 10, 2), files) for files in (FEW_FILES, FILES))
            found[TREE] = Found(many / few, f"{few:.0f} ms", f"{many:.0f} ms", raw=[few, many])
        with told(found, AT_ONCE):
            modes = at_once(dose.pick(3, 1, 1), dose.pick(WAITING, WAITING, 6))
            least = {name: min(seconds for seconds, _ in some) for name, some in modes.items()}
            best = min(least, key=lambda name: least[name])
            runs = statistics.mean(runs for _, runs in modes["as installed"]) / dose.pick(WAITING, WAITING, 6)
            ours, alone = least["as installed"], least["every_commit_green"]
            floor = f"{best} {least[best]:.1f} s, every_commit_green {alone:.1f} s"
            found[AT_ONCE] = Found(ours / least[best], floor, f"{ours:.1f} s, {runs:.2f} runs a change", raw=modes)
        with told(found, SQL, RUNS):
            count, began, kinds = a_bead(dose.pick(100, 40, 4), DOERS)
            found[SQL] = Found(count, raw=kinds)
            found[RUNS] = Found(began, "1", "a run on main stands for the branch, too")
    return Measured(f"{rounds} pairs of {beads} beads in memory, else {min(rounds, 3)}; {sleeping} that sleep", found)
