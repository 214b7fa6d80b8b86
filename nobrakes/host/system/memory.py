"""The memory that a process and all that it started hold now: resident pages, as `ps` counts them.

What several of them share is counted for each. What a run detached is still below its wrapper, which adopts it.
"""

import resource
from collections.abc import Sequence

from . import proctable
from .process import LINUX


def held_mb(pid: int | None, mark: str) -> int | None:
    """MB held by the process that was started with this mark, and by what is below it; None: it does not live."""
    process = proctable.look(pid) if pid else None
    if process is None or not process.running or process.mark != mark:
        return None
    return resident_mb([process.pid, *proctable.below(process.pid)])


def resident_mb(pids: Sequence[int]) -> int:
    """MB held by these processes together."""
    if not LINUX:
        from . import ps

        return round(ps.resident(pids) / 2**20)
    return round(_resident(pids) / 2**20)


def _resident(pids: Sequence[int]) -> int:
    pages = 0
    for pid in pids:
        try:
            with open(f"/proc/{pid}/statm", "rb") as file:
                pages += int(file.read().split()[1])
        except (OSError, IndexError):
            continue  # it has just ended
    return pages * resource.getpagesize()
