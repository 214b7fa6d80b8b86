"""Memory of agents: while those at work use as much as is allowed, no other one starts.

1. What counts is the memory that the processes of this repository's agents hold at this moment, all together. Nobody is
   stopped for it: who is at work goes on, and gives it back.
2. Without a limit nobody measures, and nothing here says anything.
"""

LOOK_SECONDS = 2.0
"""Who waits for memory looks again so often: nothing wakes it."""


def is_full(held: int, limit: int) -> bool:
    """Whether no agent may start for want of memory; in MB."""
    return 0 < limit <= held


def full_text(held: int, limit: int) -> str:
    """What a person is told."""
    return f"no agent is started: those at work use {held} MB, and limits.agents_mb is {limit}"
