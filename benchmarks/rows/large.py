"""Looking at large graphs: seconds and megabytes of whole commands."""

import random
import statistics
import sys
from contextlib import closing
from typing import Any

from figures import Dose, Figure, Found, Measured, told
from graphs import cost, database, repository_with
from peers import listed
from pipeline import NOBRAKES

from nobrakes.beads.model import Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.store import open_store

MODE = "as installed, whole commands as people type them; beads with two dependencies each, a tenth of them done"
COMMANDS = ("graph", "status", "board", "list")
TIMEOUT_SECONDS = 30.0
LARGE, LARGEST = "100,000 beads", "1,000,000 beads"
QUESTIONS = 12
ASKED = {"first screen": 0.25, "status": 0.25, "board": 0.25, "escalations": 0.25, "doctor": 1.5}
QUESTION = "SELECT id, title, status FROM beads WHERE status <> 'done' ORDER BY id LIMIT 20"

FIGURES = (
    *(Figure(f"{name}, {LARGE}", 0.25, " s") for name in COMMANDS),
    *(Figure(f"{name}, {LARGE}, memory", 100, " MB") for name in COMMANDS),
    *(Figure(f"{name}, {LARGEST}", 2.0, " s") for name in COMMANDS),
    *(Figure(f"{name}, {LARGE}, {QUESTIONS} questions", most, " s") for name, most in ASKED.items()),
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


def asked(beads: int, rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Each command where QUESTIONS are open, each of another bead; a round that warms the machine is not counted."""
    with repository_with(beads) as folder:
        with closing(open_store(database(folder))) as store:
            live = sorted(store.listed([Status.NEEDS_DOER]))
            for bead in random.Random(3).sample(live, QUESTIONS):
                store.escalate(NewEscalation(EscalationType.QUESTION, f"Why {bead}?"), bead, None, "benchmark")
        argvs = {name: [NOBRAKES, *([] if name == "first screen" else [name])] for name in ASKED}
        taken = [{name: cost(argv, folder, TIMEOUT_SECONDS) for name, argv in argvs.items()} for _ in range(rounds + 1)]
        return {name: [one[name] for one in taken[1:]] for name in ASKED}


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
    with told(found, *(figure.name for figure in FIGURES if "questions" in figure.name)):
        for name, raw in asked(dose.made(sizes[0]), rounds).items():
            seconds, cpu = (statistics.median(one[key] for one in raw) for key in ("s", "cpu"))
            found[f"{name}, {LARGE}, {QUESTIONS} questions"] = Found(seconds, "", f"{cpu:.2f} s of CPU", raw=raw)
    return Measured(f"{sizes[0]:,} and {sizes[1]:,} beads, {rounds} rounds and 1", found)
