"""The door to a project's sprints. Every change is one transaction with its event."""

from collections.abc import Mapping
from typing import Any, Protocol

from .model import Document, Due, Going, Kind, RunState, Schedule, Sprint, SprintRun


class Sprints(Protocol):
    """A part of Store."""

    def begin_sprints(self, asked: int, needs_tests: bool, terms: Mapping[str, str], actor: str) -> SprintRun:
        """Keep a person's yes for so many sprints. A run that waits is over by it, and its unfinished sprint is the new
        one's; NotAllowed while one goes on.
        """
        ...

    def sprints_going(self) -> Going | None:
        """The last run with its present sprint and what was handed in for it; None: there was none."""
        ...

    def sprints(self) -> list[Sprint]:
        """All sprints, by number."""
        ...

    def settle_run(self, run: int, state: RunState, why: str, actor: str) -> bool:
        """The run is in this state now; False: it was already, or is not the last one any more."""
        ...

    def add_sprint(self, number: int, run: int, session: int) -> Sprint:
        """A sprint begins, planned by this session; where the number is taken, the one that has it."""
        ...

    def change_sprint(self, number: int, values: Mapping[str, Any], actor: str) -> Sprint:
        """Set fields of a sprint: name, stage, run, session, bead, opening, closing, nudged."""
        ...

    def sprint_of(self, bead: str | None, session: int | None) -> Sprint | None:
        """The sprint whose work this bead is, or that this session plans; None: there is none."""
        ...

    def hand_in_document(self, sprint: int, kind: Kind, text: str, actor: str, name: str = "") -> Document:
        """Keep what an agent handed in; a plan names its sprint. NotAllowed once the sprint is past it."""
        ...

    def add_schedule(self, wanted: Schedule) -> Schedule:
        """Keep sprints that begin at a time; its number and its time are given here."""
        ...

    def remove_schedule(self, schedule: int, actor: str) -> bool:
        """It begins nothing any more; False: it did not before."""
        ...

    def schedules(self) -> list[Schedule]:
        """Those that begin something, by number."""
        ...

    def settle_due(self, due: Due) -> bool:
        """Write down what came of a due time, and begin its sprints where they start; False: it was written down.

        NotAllowed: sprints go on already.
        """
        ...
