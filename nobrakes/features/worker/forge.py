"""The Forge's part of each turn of the daemon's loop: look, decide, do."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ...beads.model import of_bead
from ...daemon.model import Board
from ...errors import NoAgent
from ...parking import parked
from ...ports import Ports
from .. import planning
from ..actions import (
    About,
    Answered,
    Ask,
    Checkpoint,
    DropRollback,
    Fail,
    FinishRollback,
    ForgeAction,
    ForgeBoard,
    HoldNamed,
    TakeBack,
)
from ..model import ItemState, Stage, Step
from .reviews import Checkpoints, PlanReviews, Rollbacks, collect, rests
from .shapers import Answers, Shapers, board_of

if TYPE_CHECKING:
    from ...store import Store


MAX_STEPS = 20
"""Of each feature in one turn; the rest comes with the next."""


class Forge:
    """Brings features on. It keeps nothing that a new one would miss."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        shapers = Shapers(ports)
        answers, reviews, checkpoints = Answers(ports), PlanReviews(ports), Checkpoints(shapers)
        self.rollbacks = Rollbacks(ports, answers)
        answers.by_about[About.ROLLBACK] = self.rollbacks.answered
        self.methods: dict[type, Callable[[Any], bool]] = {
            **shapers.methods,
            **reviews.methods,
            Ask: answers.ask,
            Answered: answers.answered,
            Checkpoint: checkpoints.checkpoint,
            HoldNamed: checkpoints.hold,
            DropRollback: self.rollbacks.drop,
        }
        self.outside: dict[type, Callable[[Any], bool]] = {
            TakeBack: self.rollbacks.take_back,
            FinishRollback: self.rollbacks.finish,
        }
        self._board: ForgeBoard | None = None
        self._looked: object = None

    def seen(self, board: Board) -> Board:
        """The board without the complete epics that wait for a person: nothing is left to do about them."""
        if not board.epics_done:
            return board
        return replace(board, epics_done=tuple(epic for epic in board.epics_done if not rests(self.ports, epic)))

    def turn(self, board: Board) -> bool:
        """Do what is next of each feature, step by step; whether anything is different now.

        All that is decided by now is done before any session begins a turn: what holds one back comes first.
        """
        changed = False
        for _ in range(MAX_STEPS):
            self._board = seen = board_of(self.ports, board)
            if seen is None:
                return changed
            collected = self._collect(seen)
            done = collected if any(collected) else [self.perform(action) for action in planning.plan_features(seen)]
            if not any(done):
                return changed
            changed = True
        return changed

    def _collect(self, seen: ForgeBoard) -> list[bool]:
        """Collect what is new; a suggestion and a merge are events, so without one there is nothing."""
        position = self.ports.store.position()
        if position == self._looked:
            return []
        found = [collect(self.ports, one.feature) for one in seen.standings]
        self._looked = position
        return found

    def perform(self, action: ForgeAction) -> bool:
        """Do it in one transaction; what asks git for long makes its own.

        Where it wants an agent that there is not, the feature does not go on.
        """
        with parked(self.ports, of_bead(action.feature)):
            return self._done(action)
        return False

    def _done(self, action: ForgeAction) -> bool:
        if type(action) in self.outside:
            return self.outside[type(action)](action)
        try:
            with self.ports.store.write():
                return self.methods[type(action)](action)
        except NoAgent as error:
            with self.ports.store.write():
                return self.methods[Fail](Fail(action.feature, str(error)))

    def wake_at(self) -> list[float]:
        """When the next feature needs something without anything happening."""
        if self._board is None:
            return []
        return [at for at in (planning.wake_at(self._board), planning.reviewing_wake_at(self._board)) if at is not None]


# A feature is done with its epic in one transaction, so that no crash parts the two. Where something that was collected
# still waits, a checkpoint comes first.
def complete(store: "Store", epic: str) -> bool:
    """The epic was completed: so is its feature, if it is one that is built. Whether it is done now."""
    for feature in store.features():
        if feature.id == epic and feature.stage in (Stage.IMPLEMENTATION, Stage.REQUEST):
            if any(item.state is ItemState.WAITING for item in store.items(epic)):
                return False
            store.move_feature(epic, Step.MERGED, "nobrakes", "all beads of its epic are done")
            return True
    return False
