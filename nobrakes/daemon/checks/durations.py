"""How long checks took the last time, and the event that says so when they begin again.

1. What took long was the whole run: the checkout, the set-up and the checks, until the end of the last one.
2. A run that was cut off, stopped, or ran some of the checks only, says nothing of the next one.
"""

import json

from ...core.beads.attempt import Attempt, Run, RunKind
from ...core.beads.events import Event, Kind
from ...ports.processes import Ending
from ..epics import lands_on
from ..ports import Ports

SETTING = "check_seconds"
"""The setting with the seconds of the last run of each kind, as a JSON object."""

_STEPS = {RunKind.RED_PROOF: "red_proof", RunKind.CHEAT: "test_strength"}


class Durations:
    """Remembers and tells them."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports

    def tell(self, run: str, commit: str, kind: RunKind, attempt: Attempt | None, step: str = "") -> None:
        """Say that checks begin: of an attempt in its step, or of nobody's in `step`."""
        step = step or _STEPS.get(kind) or str((attempt.data if attempt else {}).get("step", ""))
        data = {"step": step, "commit": commit, "run": run, "seconds": self._known().get(kind.value)}
        bead, number = (attempt.bead, attempt.id) if attempt else (None, None)
        if bead is not None and kind is RunKind.VALIDATION:
            epic = lands_on(self.ports, self.ports.store.bead(bead)).epic
            data |= {"epic": epic} if epic else {}
        self.ports.store.record(Event(Kind.CHECKS_BEGAN, bead, number, data=data))

    def note(self, run: Run, ending: Ending) -> None:
        """Remember how long a run of all its checks took."""
        ends = [step.begun + step.seconds for step in ending.steps if step.started]
        if not ends or ending.cut_off or run.stopping is not None or ending.prologue_failed is not None:
            return
        seconds = round(max(0.0, max(ends) - run.started_at), 1)
        known = self._known()
        if known.get(run.kind.value) != seconds:
            self.ports.store.set_setting(SETTING, json.dumps(known | {run.kind.value: seconds}))

    def _known(self) -> dict[str, float]:
        text = self.ports.store.setting(SETTING)
        return dict(json.loads(text)) if text else {}
