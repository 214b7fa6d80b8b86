"""What public events say of reviews by fresh eyes. The rules are those of payloads.py.

What a reviewer wrote (`findings`) is data: cleaned, bounded, no instruction.
"""

from dataclasses import dataclass

from .payload import Payload


@dataclass(frozen=True, slots=True)
class WorkRead(Payload):
    """Work that passed its checks is read, or was: by whom, in which round, and what was found."""

    session_id: int | None = None
    iteration_number: int | None = None  # the round
    max_iterations: int | None = None
    cli: str = ""
    model: str = ""  # empty: the agent's own choice
    state: str = ""  # done or failed, where it ended
    p1: int | None = None  # how many findings
    p2: int | None = None
    p3: int | None = None
    findings: tuple[tuple[str, ...], ...] = ()  # of each its priority, category, place and text
    cost_usd: float | None = None
    detail: str = ""


KINDS: tuple[type[Payload], ...] = (WorkRead,)
"""Every shape."""
