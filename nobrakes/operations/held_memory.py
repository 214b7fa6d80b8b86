"""The memory that agents hold at this moment, measured by whoever looks."""

from collections.abc import Iterable

from ..core.beads.attempt import Run, RunKind
from ..host.system.memory import held_mb


def memory_of_agents(runs: Iterable[Run]) -> dict[tuple[int, int], int]:
    """MB by (attempt, turn), one of which is 0, for each agent that lives."""
    found = {}
    for run in runs:
        held = held_mb(run.pid, run.born) if run.kind is RunKind.AGENT else None
        if held is not None:
            found[run.attempt, run.turn] = held
    return found
