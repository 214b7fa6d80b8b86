"""Whole processes timed in turn: A B C A B C …, medians and ratios, the raw numbers kept.

Machines are noisy, so commands are interleaved and each round's ratio is taken against the same round's floor.
"""

import json
import os
import platform
import statistics
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

RAW = Path(__file__).parent / "raw"


ORDINARY = (0, 1, 40)
"""Exit codes of commands that did what they were asked: done, found something broken, some beads are not done."""


def seconds(
    argv: Sequence[str], cwd: str, env: Mapping[str, str], fine: Collection[int] = ORDINARY, stdin: str = os.devnull
) -> float:
    """Wall time of one process from its start to its end; an exit code that is not `fine` is an error."""
    null, given = os.open(os.devnull, os.O_RDWR), os.open(stdin, os.O_RDONLY)
    here = os.getcwd()
    os.chdir(cwd)
    try:
        start = time.perf_counter()
        actions = [(os.POSIX_SPAWN_DUP2, given, 0), (os.POSIX_SPAWN_DUP2, null, 1)]
        pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
        _, status = os.waitpid(pid, 0)
        taken = time.perf_counter() - start
    finally:
        os.chdir(here)
        os.close(null)
        os.close(given)
    if os.waitstatus_to_exitcode(status) not in fine:
        raise SystemExit(f"{' '.join(argv)} ended with {os.waitstatus_to_exitcode(status)}")
    return taken


def interleaved(
    commands: Mapping[str, Sequence[str]], rounds: int, cwd: str, env: Mapping[str, str] | None = None
) -> dict[str, list[float]]:
    """Times of each command, one warm-up round not counted."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for round_ in range(rounds + 1):
        for name, argv in commands.items():
            taken = seconds(argv, cwd, env or os.environ)
            if round_:
                times[name].append(taken)
    return times


def ratios(times: Mapping[str, Sequence[float]], floor: str) -> dict[str, float]:
    """The median of each round's ratio to the floor of the same round."""
    return {
        name: statistics.median(a / b for a, b in zip(own, times[floor], strict=True)) for name, own in times.items()
    }


def keep(name: str, data: object) -> None:
    """Write the raw numbers beside the machine they come from."""
    RAW.mkdir(exist_ok=True)
    record = {
        "when": time.strftime("%Y-%m-%d"),
        "machine": f"{platform.system()} {platform.release()}, {os.cpu_count()} cores, Python {sys.version.split()[0]}",
        "data": data,
    }
    (RAW / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")


def table(rows: Sequence[Sequence[object]]) -> str:
    """Rows as aligned columns, the first one the head."""
    texts = [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in texts) for i in range(len(texts[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in texts)
