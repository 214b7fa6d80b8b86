"""The store in its two shapes: in memory and in a file. Every test of this folder runs on both."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from nobrakes.store import Store

START = 1_750_000_000.0


@dataclass
class HandClock:
    """Time that only tests move."""

    time: float = START

    def now(self) -> float:
        return self.time


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture(params=["memory", "file"])
def open_again(request: pytest.FixtureRequest, tmp_path: Path, clock: HandClock) -> Callable[[], Store]:
    """Opens the test's database; the one in memory cannot be opened twice."""
    if request.param == "memory":
        return lambda: Store(":memory:", clock, create=True)
    return lambda: Store(str(tmp_path / "nobrakes.db"), clock, create=True)


@pytest.fixture
def store(open_again: Callable[[], Store]) -> Iterator[Store]:
    """The store; when the test is over, its derived columns must be what beads.readiness makes of the facts."""
    opened = open_again()
    yield opened
    assert opened.differences() == {}
    opened.close()
