"""The whole repository for a board that stays: read again when something changed, and found out cheaply whether.

1. `LiveReader.mark` costs a look at the last event, at the daemon's lock and at the ends of the agents' output.
2. `LiveReader.read` gives everything that is shown, of one moment, with at most so many beads of each column.
3. One thread uses a reader, with a store of its own.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...core.beads.attempt import Attempt
from ...core.beads.bead import Role
from ...core.beads.escalations import Escalation
from ...core.beads.events import WATCHED, Event, Kind
from ...host.locks import holder
from .. import control, sessions
from ..hindrances.look import hindrances
from . import board as boards
from .progress import review_step
from .requested import requested

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...core.graph.links import Node
    from ...paths import Paths
    from ...ports.store import Store

EVENTS = 60
"""So many of the latest events are given."""
_HIDDEN = WATCHED | {Kind.LOGGED, Kind.PROGRESSED}
"""What agents say goes with the agents."""
EVERYTHING = 1_000_000


@dataclass(frozen=True, slots=True)
class AtWork:
    """Somebody who works, and what they said last; of a review its step."""

    worker: boards.Worker
    last: str


@dataclass(frozen=True, slots=True)
class LiveView:
    """One moment. `at` is the store's clock; `events` are the latest, newest first, `titles` those of their beads.

    `names`: attempt -> who worked in it. `found` counts the beads of each column that fit the filter; None: no filter.
    """

    at: float
    main: str
    daemon: int | None
    paused: bool
    stopping: bool
    board: boards.BoardView
    working: tuple[AtWork, ...]
    escalations: tuple[Escalation, ...]
    events: tuple[Event, ...]
    titles: Mapping[str, str]
    names: Mapping[int, str]
    found: Mapping[str, int] | None = None


class LiveReader:
    """Reads for one viewer that asks again and again."""

    def __init__(self, store: "Store", paths: "Paths", config: "Config") -> None:
        self._store, self._paths, self._config = store, paths, config
        self._rings = sessions.Rings(paths)
        self._open: tuple[Attempt, ...] = ()
        self._names: dict[int, str] = {}

    def mark(self) -> object:
        """Something that is equal as long as nothing has changed."""
        last = self._store.position()
        return last.seq, last.at, holder(self._paths.lock), tuple(self._last(one) for one in self._open)

    def read(self, wanted: str = "", limit: int = boards.CARDS) -> LiveView:
        """Everything, with the first `limit` beads of each column; `wanted`: words that a bead's line has to have."""
        store = self._store
        stands = hindrances(store, self._paths, self._config)
        found = boards.board(store, limit, stands)
        self._open = tuple(store.attempt(worker.attempt) for worker in found.working)
        working = tuple(
            AtWork(boards.with_progress(store, self._paths, worker), self._last(attempt))
            for worker, attempt in zip(found.working, self._open, strict=True)
        )
        kinds = [kind for kind in Kind if kind not in _HIDDEN]
        events = tuple(store.latest_events(kinds, limit=EVENTS))
        columns, fitting = self._fitting(wanted, limit, found)
        return LiveView(
            store.now(),
            self._config.main,
            holder(self._paths.lock),
            bool(store.setting(control.PAUSED)),
            bool(store.setting(control.STOPPING)),
            replace(found, columns=columns),
            working,
            tuple(store.escalations()),
            events,
            self._titles(events),
            {one: self._name(one) for one in {event.attempt for event in events if event.attempt is not None}},
            fitting,
        )

    def _fitting(
        self, wanted: str, limit: int, found: boards.BoardView
    ) -> tuple[Mapping[str, tuple[boards.Card, ...]], Mapping[str, int] | None]:
        """The cards of each column that fit, and how many do; all of them are looked through."""
        if not wanted.strip():
            return found.columns, None
        asked = requested(self._store)
        all_of = boards.nodes_by_column(self._store, EVERYTHING, asked)
        nodes = {name: [node for node in column if fits(_line(node), wanted)] for name, column in all_of.items()}
        known = {card.id: card for cards in found.columns.values() for card in cards}
        cards = {
            name: tuple(known.get(node.id) or boards.card(node, (), asked.get(node.id)) for node in column[:limit])
            for name, column in nodes.items()
        }
        return cards, {name: len(column) for name, column in nodes.items()}

    def _last(self, attempt: Attempt) -> str:
        return review_step(attempt) if attempt.role is Role.REVIEWER else self._rings.last_line(attempt)

    def _name(self, attempt: int) -> str:
        if attempt not in self._names:
            self._names[attempt] = self._store.attempt(attempt).name
        return self._names[attempt]

    def _titles(self, events: tuple[Event, ...]) -> dict[str, str]:
        ids = {event.bead for event in events if event.bead is not None}
        return {bead.id: bead.title for bead in self._store.beads(ids=ids)} if ids else {}


def identity(paths: "Paths") -> tuple[int, int] | None:
    """Which file the database is; None: there is none. Another one has to be opened anew."""
    try:
        found = os.stat(paths.database)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def fits(line: str, wanted: str) -> bool:
    """Whether the line has each of the words somewhere, whatever their case."""
    folded = line.casefold()
    return all(word in folded for word in wanted.casefold().split())


def _line(node: "Node") -> str:
    return f"{node.id} {node.title} {node.type} p{node.priority} {node.epic or ''} {node.assignee or ''}"
