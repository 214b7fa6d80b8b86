"""Beginning work: claims against a raw loop that writes the same rows, and many processes that want the same beads."""

import multiprocessing
import os
import shutil
import sqlite3
import statistics
import time
from contextlib import closing
from multiprocessing.synchronize import Barrier
from tempfile import TemporaryDirectory
from typing import Any

from figures import Dose, Figure, Found, Measured

from nobrakes.beads.model import Bead, Role, Status
from nobrakes.store import create_store, open_store

MODE = "the store alone, in a file; each claim is one transaction, synchronous = NORMAL"
SPEED = "claims, of a raw loop's speed"
RACERS = (16, 64)
TIMEOUT_SECONDS = 300.0

FIGURES = (
    Figure(SPEED, 0.4, "", at_least=True),
    *(Figure(f"{count} processes race: claimed twice or by nobody", 0) for count in RACERS),
)


def filled(path: str, beads: int) -> None:
    """A store with so many beads that may begin."""
    with closing(create_store(path)) as store:
        live = [Bead(f"b{n:04}", f"Bead {n}", status=Status.NEEDS_DOER, needs_tests=False) for n in range(beads)]
        store.put(live, [], "benchmark")


def ours(path: str, beads: int) -> float:
    """Seconds in which the store claims them all."""
    names = [f"Name{n}" for n in range(2 * beads)]
    with closing(open_store(path)) as store:
        start = time.perf_counter()
        for number in range(beads):
            assert store.open_attempt(f"b{number:04}", Role.DOER, "script", names, 60.0, None) is not None
        return time.perf_counter() - start


def raw(path: str, claimed: str) -> float:
    """Seconds in which a loop writes what was claimed there: the attempt, its event, the bead's row, the setting."""
    with closing(sqlite3.connect(claimed)) as db:
        attempts = db.execute("SELECT * FROM attempts ORDER BY id").fetchall()
        events = {row[4]: row for row in db.execute("SELECT * FROM events WHERE attempt IS NOT NULL")}
        columns = [row[1] for row in db.execute("PRAGMA table_info(beads)")]
        beads = {row[0]: row for row in db.execute("SELECT * FROM beads")}
        settings = db.execute("SELECT * FROM settings").fetchall()
        ids = {row[0]: bead for row, bead in zip(attempts, (beads[row[1]] for row in attempts), strict=True)}
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA synchronous = NORMAL")
        moved = [
            place
            for place, name in enumerate(columns)
            if name in ("status", "assignee", "fence", "lease_until", "retry_at", "branch", "updated_at", "return_to")
        ]
        attempt = f"INSERT INTO attempts VALUES ({', '.join('?' * len(attempts[0]))})"
        event = f"INSERT INTO events VALUES ({', '.join('?' * 7)})"
        bead = f"UPDATE beads SET {', '.join(f'{columns[place]} = ?' for place in moved)} WHERE id = ?"
        free = "SELECT 1 FROM beads WHERE id = ? AND assignee IS NULL AND open_blockers = 0"
        setting = f"INSERT OR REPLACE INTO settings VALUES ({', '.join('?' * len(settings[0]))})" if settings else ""
        start = time.perf_counter()
        for row in attempts:
            new = ids[row[0]]
            db.execute("BEGIN IMMEDIATE")
            assert db.execute(free, (new[0],)).fetchone()
            db.execute(attempt, row)
            db.execute(event, events[row[0]])
            db.execute(bead, [*(new[place] for place in moved), new[0]])
            if setting:
                db.execute(setting, settings[0])
            db.execute("COMMIT")
        return time.perf_counter() - start


def _claim(path: str, beads: int, barrier: Barrier, results: Any) -> None:
    names = [f"Name{n}" for n in range(2 * beads)]
    with closing(open_store(path)) as store:
        barrier.wait(TIMEOUT_SECONDS)
        start = time.perf_counter()
        won = []
        for number in range(beads):
            if store.open_attempt(f"b{number:04}", Role.DOER, "script", names, 60.0, None) is not None:
                won.append(number)
        results.put((won, time.perf_counter() - start))


def race(racers: int, beads: int) -> dict[str, Any]:
    """What so many processes won that all want every bead, in the same order."""
    with TemporaryDirectory() as folder:
        path = os.path.join(folder, "nobrakes.db")
        filled(path, beads)
        context = multiprocessing.get_context("fork")
        barrier, results = context.Barrier(racers), context.Queue()
        processes = [context.Process(target=_claim, args=(path, beads, barrier, results)) for _ in range(racers)]
        for process in processes:
            process.start()
        ends = [results.get(timeout=TIMEOUT_SECONDS) for _ in processes]
        for process in processes:
            process.join(TIMEOUT_SECONDS)
    won = [number for numbers, _ in ends for number in numbers]
    slowest = max(seconds for _, seconds in ends)
    return {"twice": len(won) - len(set(won)), "lost": beads - len(set(won)), "seconds": slowest, "beads": beads}


def measured(dose: Dose) -> Measured:
    """In turn on copies of the same store; at most 64 attempts are open at once."""
    rounds, each = dose.pick(31, 11, 1), dose.pick(64, 64, 4)
    pairs = []
    with TemporaryDirectory() as folder:
        base, own, other = (os.path.join(folder, name) for name in ("base.db", "own.db", "raw.db"))
        filled(base, each)
        for _ in range(rounds + 1):
            for copy in (own, other):
                shutil.copy(base, copy)
                for suffix in ("-wal", "-shm"):
                    if os.path.exists(copy + suffix):
                        os.unlink(copy + suffix)
            pairs.append((ours(own, each), raw(other, own)))
    pairs = pairs[1:]
    ratio = statistics.median(floor / taken for taken, floor in pairs)
    floor, taken = (each / statistics.median(column) for column in (list(zip(*pairs, strict=True))[::-1]))
    found = {SPEED: Found(ratio, f"raw {floor:,.0f} a second, nobrakes {taken:,.0f}", raw=pairs)}
    wanted = dose.pick(1000, 200, 5)
    for racers in RACERS:
        ends = race(dose.pick(racers, racers, 2), wanted)
        told = f"{wanted / ends['seconds']:,.0f} beads a second in all"
        found[f"{racers} processes race: claimed twice or by nobody"] = Found(
            ends["twice"] + ends["lost"], "0", told, raw=ends
        )
    return Measured(f"{rounds} rounds of {each} claims; {wanted} beads in each race", found)
