"""Looking at large graphs: seconds and megabytes of whole commands."""

import statistics
import sys
from typing import Any

from figures import Dose, Figure, Found, Measured, told
from graphs import cost, database, repository_with
from peers import listed
from pipeline import NOBRAKES

MODE = "as installed, whole commands as people type them; beads with two dependencies each, a tenth of them done"
COMMANDS = ("graph", "status", "board", "list")
TIMEOUT_SECONDS = 30.0
LARGE, LARGEST = "100,000 beads", "1,000,000 beads"
QUESTION = "SELECT id, title, status FROM beads WHERE status <> 'done' ORDER BY id LIMIT 20"

FIGURES = (
    *(Figure(f"{name}, {LARGE}", 0.25, " s") for name in COMMANDS),
    *(Figure(f"{name}, {LARGE}, memory", 100, " MB") for name in COMMANDS),
    *(Figure(f"{name}, {LARGEST}", 2.0, " s") for name in COMMANDS),
)


def twenty_rows(folder: str) -> list[str]:
    """A Python that asks the database for twenty beads."""
    program = f"import sqlite3; print(sqlite3.connect({database(folder)!r}).execute({QUESTION!r}).fetchall())"
    return [sys.executable, "-c", program]


def looked(beads: int, rounds: int, warm_ups: int = 1) -> dict[str, list[dict[str, Any]]]:
    """Each command and the floor in turn; rounds that warm the machine are not counted."""
    with repository_with(beads) as folder:
        argvs = {"floor": twenty_rows(folder), **{name: [NOBRAKES, name] for name in COMMANDS}}
        found: dict[str, list[dict[str, Any]]] = {name: [] for name in argvs}
        for round_ in range(rounds + warm_ups):
            for name, argv in argvs.items():
                taken = cost(argv, folder, TIMEOUT_SECONDS)
                if round_ >= warm_ups:
                    found[name].append(taken)
    return found


def measured(dose: Dose) -> Measured:
    """Two graphs; in a smaller dose both are smaller. In the largest each command runs once, after a warm-up."""
    rounds, sizes = dose.pick(3, 3, 1), dose.pick((100_000, 1_000_000), (20_000, 100_000), (30, 60))
    found: dict[str, Found] = {}
    peers = listed(dose.pick(1000, 200, 3))
    for size, beads in zip((LARGE, LARGEST), sizes, strict=True):
        with told(found, *(figure.name for figure in FIGURES if size in figure.name)):
            raw = looked(dose.made(beads), rounds) if size == LARGE else looked(dose.made(beads), 1)
            least = statistics.median(one["s"] for one in raw["floor"])
            for name in COMMANDS:
                seconds, cpu = (statistics.median(one[key] for one in raw[name]) for key in ("s", "cpu"))
                floor = f"twenty rows by Python {least:.3f} s"
                ended = "" if all(one["code"] >= 0 for one in raw[name]) else "killed unended; "
                beside = f"{ended}{cpu:.2f} s of CPU" + (f"; {peers}" if name == "list" and size == LARGE else "")
                found[f"{name}, {size}"] = Found(seconds, floor, beside, raw=raw[name])
                if size == LARGE:
                    found[f"{name}, {size}, memory"] = Found(max(one["mb"] for one in raw[name]))
    return Measured(f"{sizes[0]:,} and {sizes[1]:,} beads, {rounds} rounds and 1", found)
