"""A process beside a Dask worker, which ends the worker's runs when the worker is killed or stands still.

    python -P -m nobrakes.fleet.reaper PID      its input: a byte a second from the worker with this pid

1. A stopped worker cannot kill its runs when their lease ends, and agents would go on. This process has its own clock.
2. It counts pauses, and no seconds in one piece: if the whole machine stood still, the worker gets time to tell that it
   works.
"""

import os
import select
import sys
import time

from . import node

_PAUSES = 5


def main(pid: str) -> int:
    """Ends with the worker."""
    worker, missed = int(pid), 0
    while True:
        ready, _, _ = select.select([0], [], [], node.LEASE / _PAUSES)
        if ready and not os.read(0, 1 << 16):
            break
        missed = 0 if ready else missed + 1
        if missed == _PAUSES:
            node.end_silent(worker)
    while os.getppid() == worker:  # it closed its files, and holds the locks of its runs a moment longer
        time.sleep(0.01)
    node.remove_leftovers()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
