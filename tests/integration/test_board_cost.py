"""The board costs what is going on, not what exists: 1,000 beads and 100,000 take the same time."""

import time
from pathlib import Path
from statistics import median

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Status
from nobrakes.daemon.model import Limits
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store, create_store

ROUNDS = 60
FRONT = 32
MOST = 1.5


def _filled(path: Path, count: int) -> Store:
    """Layers of beads in epics: some ready, some done, some held, some deferred, most of them blocked."""
    store = create_store(str(path / f"{count}.db"))
    epics = [Bead(f"e{i}", "Epic", BeadType.EPIC, status=Status.OPEN) for i in range(count // 50)]
    beads = [
        Bead(
            f"b{i:06}",
            "Some work",
            description="x" * 200,
            status=Status.DONE if i % 10 == 0 else Status.NEEDS_DOER,
            priority=i % 5,
            estimate=1 + i % 90,
            epic=f"e{i // 50}",
            held="wait" if i % 31 == 1 else None,
            defer_until=4e9 if i % 37 == 1 else None,
            retry_at=3e9 if i % 41 == 1 else None,
        )
        for i in range(count)
    ]
    edges = [Dependency(f"b{i:06}", f"b{i - step:06}") for i in range(count) for step in (3, 7) if i % 50 >= step]
    store.put(epics + beads, edges, "me")
    store.record(Event(Kind.ESCALATED, "b000002"))
    return store


def _seconds(store: Store) -> float:
    start = time.perf_counter()
    board = store.board(Limits(), FRONT)
    taken = time.perf_counter() - start
    assert len(board.ready) == FRONT
    return taken


@pytest.mark.slow
def test_the_board_of_a_hundred_thousand_beads_costs_that_of_a_thousand(tmp_path: Path) -> None:
    small, large = _filled(tmp_path, 1_000), _filled(tmp_path, 100_000)
    times = [(_seconds(small), _seconds(large)) for _ in range(ROUNDS)]
    few, many = (median(column) for column in zip(*times, strict=True))
    print(f"board: {few * 1e3:.3f} ms with 1,000 beads, {many * 1e3:.3f} ms with 100,000, ratio {many / few:.2f}")
    assert many / few <= MOST
