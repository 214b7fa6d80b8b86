"""How long one command keeps everybody else from writing, as somebody sees it who tries all the time."""

import json
import os
import sqlite3
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from figures import Dose, Figure, Found, Measured, told
from graphs import cost, database, repository_with
from pipeline import NOBRAKES

from rows.plans import fresh, plan_of

MODE = "as installed, whole commands; a second connection tries to write every millisecond, and is never let wait"
LARGE, LARGEST = "longest hold at 100,000 beads", "longest hold at 1,000,000 beads"
TRIES_SECONDS = 0.001
ADDED = 1000
AT_LARGEST = ("plan apply", "edit", "depend", "cancel", "done", "undo", "add")
"""In the largest graph these alone, since each takes its time."""

WHOLE = "longest hold while 100,000 beads come in and are approved"

FIGURES = (Figure(LARGE, 100, " ms"), Figure(WHOLE, 100, " ms"), Figure(LARGEST, 1000, " ms"))


class Watcher:
    """Tries to begin a write again and again; the longest time from a refusal to the next success is kept."""

    def __init__(self, path: str) -> None:
        self.longest = 0.0
        self._path = path
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        db = sqlite3.connect(self._path, timeout=0, isolation_level=None)
        refused: float | None = None
        while not self._over.is_set() or refused is not None:
            try:
                db.execute("BEGIN IMMEDIATE")
                db.execute("ROLLBACK")
            except sqlite3.OperationalError:
                refused = refused or time.perf_counter()
            else:
                if refused is not None:
                    self.longest, refused = max(self.longest, time.perf_counter() - refused), None
            time.sleep(TRIES_SECONDS)
        db.close()


KILLED = "killed unended"
"""What is said of a command that took longer than it is waited for."""


def commands(beads: int, folder: str, round_: int) -> dict[str, Sequence[str]]:
    """What people do with a graph; each as it would be typed. `plan apply` brings 1,000 more, and then nothing new."""
    first, last = "b0000001", f"b{beads - 1:07}"
    more = [{"id": f"more-{round_}-{n}", "title": "One more", "needs": [last]} for n in range(min(ADDED, beads))]
    Path(folder, "more.json").write_text(json.dumps({"beads": more}))
    apply = [NOBRAKES, "plan", "apply", "more.json"]
    return {
        "plan apply": apply,
        "plan apply, unchanged": apply,
        "commit-strategy": [NOBRAKES, "commit-strategy", "--yes"],
        "edit": [NOBRAKES, "edit", first, "--priority", "0"],
        "depend": [NOBRAKES, "depend", last, first],
        "undepend": [NOBRAKES, "undepend", last, first],
        "hold": [NOBRAKES, "hold", first],
        "release": [NOBRAKES, "release", first],
        "defer": [NOBRAKES, "defer", first, "2099-01-01"],
        "cancel": [NOBRAKES, "cancel", last],
        "reopen": [NOBRAKES, "reopen", last],
        "done": [NOBRAKES, "done", first],
        "undo": [NOBRAKES, "undo"],
        "add": [NOBRAKES, "add", "Another"],
        "doctor": [NOBRAKES, "doctor"],
    }


def held(argvs: Mapping[str, Sequence[str]], folder: str) -> dict[str, Any]:
    """The longest hold of each command, in milliseconds; what a command fails with is told in its place."""
    found: dict[str, Any] = {}
    for name, argv in argvs.items():
        with Watcher(database(folder)) as watcher:
            try:
                spent = cost(argv, folder)
                taken = spent["s"] if spent["code"] >= 0 else KILLED
            except SystemExit as error:
                taken = str(error).replace(NOBRAKES, "nobrakes")
        found[name] = {"hold_ms": watcher.longest * 1000, "s": taken}
    return found


def in_a_graph(beads: int, rounds: int, only: Collection[str] = ()) -> dict[str, Any]:
    """What people do with a graph that is there; `only` these, without any: all.

    Of a command's rounds the shortest hold counts: a busy machine only adds to it.
    """
    found: dict[str, Any] = {}
    with repository_with(beads) as folder:
        for round_ in range(rounds):
            argvs = commands(beads, folder, round_)
            for name, one in held({name: argvs[name] for name in only or argvs}, folder).items():
                if name not in found or one["hold_ms"] < found[name]["hold_ms"]:
                    found[name] = one
    return found


def from_nothing(beads: int) -> dict[str, Any]:
    """A whole plan applied in an empty repository, and approved."""
    with TemporaryDirectory() as home:
        folder = fresh(os.path.join(home, "repository"))
        Path(folder, "plan.json").write_text(json.dumps({"beads": plan_of(beads)}))
        whole = {
            "plan apply": [NOBRAKES, "plan", "apply", "plan.json"],
            "commit-strategy": [NOBRAKES, "commit-strategy", "--yes"],
        }
        return held(whole, folder)


def _told(raw: Mapping[str, Any]) -> Found:
    order = sorted(raw, key=lambda one: -raw[one]["hold_ms"])
    longest = ", ".join(f"{one} {raw[one]['hold_ms']:.0f}" for one in order[:4])
    ends = {one: KILLED if raw[one]["s"] == KILLED else "failed" for one in raw if isinstance(raw[one]["s"], str)}
    failed = [f"{one} {how}" for one, how in ends.items()]
    most, beside = raw[order[0]]["hold_ms"], "; ".join([f"longest: {longest} ms", *failed])
    if any(one["s"] == KILLED for one in raw.values()):  # what it would have held is not known
        return Found(None, "0", beside, f"{most:.0f} ms, of commands that were killed too", raw)
    return Found(most, "0", beside, raw=raw)


def measured(dose: Dose) -> Measured:
    """Two graphs and a plan; in a smaller dose all are smaller."""
    few, many = dose.pick((100_000, 1_000_000), (10_000, 50_000), (30, 60))
    rounds = dose.pick(2, 1, 1)
    found: dict[str, Found] = {}
    with told(found, LARGE):
        found[LARGE] = _told(in_a_graph(few, rounds))
    with told(found, WHOLE):
        found[WHOLE] = _told(from_nothing(few))
    with told(found, LARGEST):
        found[LARGEST] = _told(in_a_graph(dose.made(many), 1, AT_LARGEST))
    return Measured(f"{few:,} and {many:,} beads, best of {rounds}; in the largest {len(AT_LARGEST)} commands", found)
