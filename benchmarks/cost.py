"""Runs one command and prints what it cost, as JSON: seconds, megabytes at its most, exit code, bytes of output.

    python -I -S benchmarks/cost.py SECONDS COMMAND …

After so many seconds the command is killed; its exit code is -9 then.
A process of its own, since the kernel counts a child at least as large as who started it.
"""

import os
import signal
import sys
import time


def main() -> None:
    reading, writing = os.pipe()
    start = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_CLOSE, writing), (os.POSIX_SPAWN_CLOSE, reading)]
    pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ, file_actions=actions)
    signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
    signal.setitimer(signal.ITIMER_REAL, float(sys.argv[1]))
    os.close(writing)
    size = 0
    while part := os.read(reading, 1 << 16):
        size += len(part)
    _, status, usage = os.wait4(pid, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    taken = time.perf_counter() - start
    cpu = usage.ru_utime + usage.ru_stime
    code = os.waitstatus_to_exitcode(status)
    print(f'{{"s": {taken}, "cpu": {cpu}, "mb": {usage.ru_maxrss / 1024}, "code": {code}, "bytes": {size}}}')


if __name__ == "__main__":
    main()
