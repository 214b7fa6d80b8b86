"""The agent's process: started in a session of its own, and ended with all that is in it.

1. A signal that would end the client ends the turn first: the agent is asked to cancel it and has GRACE seconds.
2. At the end the agent's stdin is closed; who does not go by itself gets TERM, then KILL.
"""

import asyncio
import contextlib
import os
import signal
from collections.abc import Sequence

LINE = 64 * 1024 * 1024
"""Bytes that one message may have."""
GRACE = 4.0
PATIENCE = 3.0


async def start(command: Sequence[str], workspace: str) -> asyncio.subprocess.Process:
    """The agent; OSError where there is none."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, cwd=workspace, limit=LINE, start_new_session=True
    )


async def stop(process: asyncio.subprocess.Process) -> None:
    """See it and its group end."""
    if process.stdin is not None:
        process.stdin.close()
    for number in (None, signal.SIGTERM, signal.SIGKILL):
        if number is not None:
            _send(process.pid, number)
        try:
            await asyncio.wait_for(process.wait(), PATIENCE)
            break
        except TimeoutError:
            continue
    _send(process.pid, signal.SIGKILL)


def _send(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
