"""How many SQL statements a daemon asks of its store for each bead, from ready to merged.

The daemon runs in this process, so that each connection of its can be listened to; agents and checks are the children
that they always are. Statements of triggers are not counted, those that begin and end transactions are.
"""

import os
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from pipeline import config, set_up, verify
from review import Quiet, silent

from nobrakes.app import open_app, serve


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Each statement that is executed on a connection that is opened meanwhile, by its text."""
    found: Counter[str] = Counter()
    connect = sqlite3.connect

    def note(text: str) -> None:
        if not text.startswith("--"):
            found[" ".join(text.split()[:6])] += 1

    def opened(*words: Any, **named: Any) -> sqlite3.Connection:
        connection = connect(*words, **named)
        connection.set_trace_callback(note)
        return connection

    sqlite3.connect = opened  # type: ignore[assignment]
    try:
        yield found
    finally:
        sqlite3.connect = connect


def a_bead(beads: int, workers: int) -> tuple[float, float, dict[str, float]]:
    """For each bead: statements, runs of the checks, and statements of each kind, the most frequent ones first."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder, beads, config(workers))
        with silent(), counted() as found, open_app(folder) as app:
            serve(app, Quiet(), until_idle=True)
        verify(folder, beads)
        with closing(sqlite3.connect(os.path.join(folder, ".nobrakes", "nobrakes.db"))) as db:
            began = db.execute("SELECT count(*) FROM events WHERE kind = 'checks_began'").fetchone()[0]
    return found.total() / beads, began / beads, {text: number / beads for text, number in found.most_common(40)}
