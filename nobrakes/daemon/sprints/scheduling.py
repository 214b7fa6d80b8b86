"""Schedules, done: whatever is due begins, or it is told why not. A look where there is none costs one question."""

from ...core.board import Board
from ...core.errors import NotAllowed
from ...core.limits import caps
from ...core.projects import documents, schedules
from ...core.projects.schedules import Schedule
from ...core.projects.sprint import RunState, changed
from ...core.projects.terms import BRIEF
from ...host.zone import named_zone
from ..ports import Ports
from .facts import terms_now
from .main_files import MainFiles


class Scheduling:
    """Begins sprints at their times."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._wakes: list[float] = []

    def turn(self, board: Board) -> bool:
        """What is due now; whether anything began or was told."""
        is_changed = False
        self._wakes = []
        for one in self.ports.store.schedules():
            zone = named_zone(one.zone) or self.ports.zone()  # its file may be gone since a person named it
            hindered = bool(board.paused or board.stopping or board.frozen)
            hindered |= bool(caps.reached(board.limits.caps, board.spent, board.now))
            is_due = schedules.comes(one, zone, board.now, hindered, "") is not None
            due = schedules.comes(one, zone, board.now, hindered, self._refused(one)) if is_due else None
            if due is not None:
                try:
                    is_changed |= self.ports.store.settle_due(due)
                except NotAllowed:  # a person was quicker by a moment: the next look says so
                    continue
            self._wakes += schedules.wakes(one, zone, board.now)
        return is_changed

    def _refused(self, one: Schedule) -> str:
        """Why its sprints may not begin."""
        going = self.ports.store.sprints_going()
        if going is not None and going.run.state is RunState.GOING:
            return "sprints go on already"
        main = MainFiles(self.ports.git, self.ports.git.main())
        brief = main.text(BRIEF)
        others = changed(one.terms, terms_now(self.ports, brief))
        if others:
            return f"the {' and '.join(others)} changed since the yes: `nobrakes project schedule` gives it anew"
        boxes = documents.criteria(brief)
        if boxes and all(box.is_checked for box in boxes):
            return "every success criterion is met already"
        return ""

    def wake_at(self, now: float) -> list[float]:
        """When something is due without anything happening."""
        return [at for at in self._wakes if at > now]
