"""The memory that processes hold: what /proc says and what `ps` says of the same ones agree."""

import os
import subprocess
import sys

from nobrakes.host import proctable
from nobrakes.host.proctable import held_mb, look, resident_mb

HOLDS = "held = bytearray(60 << 20); print(1, flush=True); input()"


def test_both_ways_tell_the_same() -> None:
    argv = [sys.executable, "-c", HOLDS]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None and child.stdout.readline() == "1\n"
        process = look(child.pid)
        assert process is not None
        held = held_mb(child.pid, process.mark)
        assert held is not None and 60 <= held < 200
        assert abs(proctable.resident([child.pid]) / 2**20 - held) < 20
        assert resident_mb([child.pid, child.pid]) >= 2 * held - 2, "what is shared is counted for each"
        assert held_mb(child.pid, "another:1") is None and held_mb(None, "") is None
        child.communicate("\n")
    assert held_mb(child.pid, process.mark) is None and resident_mb([child.pid]) == 0
    assert proctable.resident([child.pid]) == 0 and proctable.resident([os.getpid()]) > 0
