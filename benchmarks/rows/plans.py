"""Large plans in, and a few drafts of a large graph approved."""

import json
import marshal
import os
import sqlite3
import statistics
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from figures import Dose, Figure, Found, Measured, told
from graphs import beads_of, cost, database, repository_with
from peers import imported
from pipeline import NOBRAKES, repository

from nobrakes.db.database import schema

MODE = "as installed, whole commands; a plan of 100,000 beads with texts, labels, estimates and two dependencies each"
NEW, MEMORY, AGAIN, SPEED = (
    "plan apply",
    "plan apply, memory",
    "plan apply, unchanged",
    "plan apply, of the floor's speed",
)
LINES, LINES_MEMORY = "plan apply of JSONL", "plan apply of JSONL, memory"
STRATEGY = "commit-strategy of ten drafts among them"
ONE = "plan apply of one change"
DRAFTS = 10
TOLD = ("title", "description", "labels", "priority", "estimate")
MAX_SECONDS = 30.0

FIGURES = (
    Figure(NEW, 6, " s"),
    Figure(MEMORY, 250, " MiB"),
    Figure(AGAIN, 2, " s"),
    Figure(ONE, 0.4, " s"),
    Figure(SPEED, 0.25, "", at_least=True),
    Figure(LINES, None, " s"),
    Figure(LINES_MEMORY, None, " MiB"),
    Figure(STRATEGY, 1.5, " s"),
)
FLOOR = f"""
import json, marshal, sqlite3, sys, time
plan, rows, path = sys.argv[1:]
tables = marshal.load(open(rows, "rb"))
start = time.perf_counter()
json.load(open(plan))
db = sqlite3.connect(path, isolation_level=None)
db.execute("PRAGMA journal_mode = WAL")
db.execute("PRAGMA synchronous = NORMAL")
for statement in {schema()!r}.split(";\\n"):
    db.execute(statement)
db.execute("BEGIN IMMEDIATE")
for name, values in tables.items():
    if values:
        db.executemany(f"INSERT OR REPLACE INTO {{name}} VALUES ({{', '.join('?' * len(values[0]))}})", values)
db.execute("COMMIT")
print(time.perf_counter() - start)
"""
"""Reads the plan and inserts the same rows into the same tables, indexes and all; getting the rows is not counted."""


def plan_of(count: int) -> list[dict[str, Any]]:
    """The graph as a plan says it."""
    found: dict[str, dict[str, Any]] = {}
    for beads, needs in beads_of(count):
        found |= {one.id: {"id": one.id, **{name: getattr(one, name) for name in TOLD}, "needs": []} for one in beads}
        for edge in needs:
            found[edge.bead]["needs"].append(edge.needs)
    return list(found.values())


def record_of(bead: dict[str, Any]) -> dict[str, Any]:
    """The same as a Beads record."""
    needs = [{"issue_id": bead["id"], "depends_on_id": one, "type": "blocks"} for one in bead["needs"]]
    head = {name: bead[name] for name in ("id", "title", "description", "labels", "priority")}
    rest = {"status": "open", "issue_type": "task", "estimated_minutes": bead["estimate"], "dependencies": needs}
    return head | rest


def fresh(folder: str) -> str:
    """A repository with nobrakes in it."""
    Path(folder).mkdir()
    repository(folder)
    subprocess.run([NOBRAKES, "init"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def floor(folder: str, home: str, plan: str, number: int) -> float:
    """Seconds of the floor for what the plan made in this repository."""
    rows = os.path.join(home, "rows")
    with closing(sqlite3.connect(database(folder))) as db:
        names = [row[0] for row in db.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        tables = {
            name: db.execute(f"SELECT * FROM {name}").fetchall() for name in names if not name.startswith("sqlite")
        }
    with open(rows, "wb") as file:
        marshal.dump(tables, file)
    argv = [sys.executable, "-c", FLOOR, plan, rows, os.path.join(home, f"floor-{number}.db")]
    return float(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)


def applied(beads: int, rounds: int) -> dict[str, list[Any]]:
    """The costs of each round: new, unchanged, the floor, and as JSONL. No round begins after MAX_SECONDS."""
    deadline = time.monotonic() + MAX_SECONDS
    found: dict[str, list[Any]] = {NEW: [], AGAIN: [], SPEED: [], LINES: []}
    with TemporaryDirectory() as home:
        plan, lines = os.path.join(home, "plan.json"), os.path.join(home, "plan.jsonl")
        whole = plan_of(beads)
        Path(plan).write_text(json.dumps({"beads": whole}))
        Path(lines).write_text("".join(json.dumps(record_of(one)) + "\n" for one in whole))
        del whole
        for number in range(rounds):
            if time.monotonic() > deadline:
                break
            folder = fresh(os.path.join(home, f"r{number}"))
            found[NEW].append(cost([NOBRAKES, "plan", "apply", plan], folder))
            found[AGAIN].append(cost([NOBRAKES, "plan", "apply", plan], folder))
            found[SPEED].append(floor(folder, home, plan, number))
            beside = fresh(os.path.join(home, f"l{number}"))
            found[LINES].append(cost([NOBRAKES, "plan", "apply", lines], beside))
    return found


def changed(beads: int, rounds: int) -> list[dict[str, Any]]:
    """What it cost to propose another title for a live bead in the middle, each round with another title."""
    found = []
    with repository_with(beads) as folder:
        for number in range(rounds):
            one = {"id": f"b{beads // 2 + 1:07}", "title": f"Another title {number}"}
            Path(folder, "one.json").write_text(json.dumps({"beads": [one]}))
            found.append(cost([NOBRAKES, "plan", "apply", "one.json"], folder))
    return found


def approved(beads: int, rounds: int) -> list[dict[str, Any]]:
    """What each approval of ten new drafts cost."""
    found = []
    with repository_with(beads) as folder:
        for number in range(rounds):
            drafts = [{"id": f"draft-{number}-{n}", "title": "A draft"} for n in range(DRAFTS)]
            Path(folder, "drafts.json").write_text(json.dumps({"beads": drafts}))
            cost([NOBRAKES, "plan", "apply", "drafts.json"], folder)
            found.append(cost([NOBRAKES, "commit-strategy", "--yes"], folder, MAX_SECONDS))
    return found


def measured(dose: Dose) -> Measured:
    """Each round in a repository of its own; drafts are approved one after the other in the same one."""
    beads, rounds = dose.pick(100_000, 5_000, 20), 0
    found: dict[str, Found] = {}
    with told(found, NEW, MEMORY, AGAIN, SPEED, LINES, LINES_MEMORY):
        raw = applied(beads, dose.pick(3, 1, 1))
        rounds = len(raw[NEW])

        def median(name: str, key: str = "s") -> float:
            return statistics.median(one[key] for one in raw[name])

        floor = f"parse and executemany {statistics.median(raw[SPEED]):.2f} s"
        speed = statistics.median(least / one["s"] for least, one in zip(raw[SPEED], raw[NEW], strict=True))
        peers = f"{median(NEW, 'cpu'):.1f} s of CPU; {imported(dose.pick(1000, 200, 3))}"
        found[NEW] = Found(median(NEW), floor, peers, raw=raw[NEW])
        found[MEMORY] = Found(median(NEW, "mb"))
        found[AGAIN] = Found(median(AGAIN), "", f"{median(AGAIN, 'cpu'):.1f} s of CPU", raw=raw[AGAIN])
        found[SPEED] = Found(speed, floor, raw=raw[SPEED])
        found[LINES] = Found(median(LINES), floor, raw=raw[LINES])
        found[LINES_MEMORY] = Found(median(LINES, "mb"))
    with told(found, ONE):
        one = changed(beads, dose.pick(5, 3, 1))
        seconds, cpu = (statistics.median(each[key] for each in one) for key in ("s", "cpu"))
        found[ONE] = Found(seconds, "", f"{cpu:.2f} s of CPU", raw=one)
    with told(found, STRATEGY):
        ten = approved(beads, 1)
        seconds, cpu = (statistics.median(one[key] for one in ten) for key in ("s", "cpu"))
        ended = "" if ten[0]["code"] >= 0 else "killed unended; "
        found[STRATEGY] = Found(seconds, "", f"{ended}{cpu:.1f} s of CPU", raw=ten)
    return Measured(f"{beads:,} beads, {rounds} rounds, one approval", found)
