"""How a store is opened: an existing file, a new one, or one in memory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .database import MEMORY
from .sqlite import SqliteStore

if TYPE_CHECKING:
    from ..ports.people import Clock


def open_store(path: str, clock: "Clock | None" = None) -> SqliteStore:
    """The store in an existing file; StoreBroken when it is missing, damaged or of another version."""
    return SqliteStore(path, clock)


def create_store(path: str, clock: "Clock | None" = None) -> SqliteStore:
    """The store in a file that is made when it is missing."""
    return SqliteStore(path, clock, create=True)


@dataclass(frozen=True, slots=True)
class _Given:
    """A clock made of a function."""

    now: Callable[[], float]


def open_memory(now: Callable[[], float] | None = None) -> SqliteStore:
    """An empty store in memory, with tokens that are the same each time: for tests and simulation."""
    clock = None if now is None else _Given(now)
    store = SqliteStore(MEMORY, clock, create=True, token_source=lambda: "memory")
    store.keep_answers()
    return store
