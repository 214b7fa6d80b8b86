"""Runs one command and prints what it cost, as JSON: seconds, megabytes at its most, exit code, bytes of output.

    python -I -S benchmarks/cost.py COMMAND …

A process of its own, since the kernel counts a child at least as large as who started it.
"""

import os
import sys
import time


def main() -> None:
    reading, writing = os.pipe()
    start = time.perf_counter()
    actions = [(os.POSIX_SPAWN_DUP2, writing, 1), (os.POSIX_SPAWN_CLOSE, writing), (os.POSIX_SPAWN_CLOSE, reading)]
    pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=actions)
    os.close(writing)
    size = 0
    while part := os.read(reading, 1 << 16):
        size += len(part)
    _, status, usage = os.wait4(pid, 0)
    taken = time.perf_counter() - start
    cpu = usage.ru_utime + usage.ru_stime
    code = os.waitstatus_to_exitcode(status)
    print(f'{{"s": {taken}, "cpu": {cpu}, "mb": {usage.ru_maxrss / 1024}, "code": {code}, "bytes": {size}}}')


if __name__ == "__main__":
    main()
