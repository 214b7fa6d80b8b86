"""What the agents on a bead said and did, attempt by attempt."""

from dataclasses import dataclass

from ...core.beads.attempt import Attempt
from ...core.beads.bead import NO_AGENTS
from ...core.errors import UsageError
from ...core.transcript import Line
from ...paths import Paths
from ...ports.store import Store
from .. import sessions


@dataclass(frozen=True, slots=True)
class AttemptLines:
    """An attempt with its last readable lines."""

    attempt: Attempt
    lines: tuple[Line, ...]


def transcripts(store: Store, paths: Paths, bead: str, number: int | None, last: int) -> tuple[AttemptLines, ...]:
    """At most `last` lines of each attempt of an agent, or of the one with this number. NoSuchBead, UsageError."""
    agents = [one for one in store.attempts(bead) if one.role not in NO_AGENTS]
    chosen = [one for one in agents if number is None or one.number == number]
    if number is not None and not chosen:
        raise UsageError(
            f"no agent worked on bead {bead} in attempt {number}", f"`nobrakes history {bead}` lists them."
        )
    return tuple(
        AttemptLines(one, tuple(sessions.transcript(store, sessions.of(paths, one), follow=False, last=last)))
        for one in chosen
    )
