"""How a run ended, read from the files that its wrapper left."""

import os
from collections.abc import Sequence

from ...ports.processes import Ending, StepEnd
from ...walking import FAULTS
from ..files import read_tail
from ..system import proctable
from . import wrapper

SAID = 20_000
"""Bytes of the prologue's output that are shown."""


def _numbers(path: str) -> list[int] | None:
    """The numbers in a file that the wrapper wrote; None: missing, or not written to its end."""
    words = read_tail(path, 100).split(b" ")
    if not words[-1].endswith(b"\n") or not all(word.strip().isdigit() for word in words):
        return None
    return [int(word) for word in words]


def _modified(path: str) -> float | None:
    try:
        return os.lstat(path).st_mtime
    except OSError as error:
        if error.errno in FAULTS:
            raise
        return None


def begun_at(base: str) -> float | None:
    """When the step began; None: not yet."""
    return _modified(base + ".start") if read_tail(base + ".start", 1) == b"\n" else None


def _seconds(base: str, begun: float, last: float | None) -> float:
    """How long a step took; for one that was killed, until its last sign of life."""
    ended = _modified(base + ".exit")
    if ended is None:
        signs = (_modified(base + ".out"), _modified(base + ".err"), last)
        ended = max((sign for sign in signs if sign is not None), default=begun)
    return max(0.0, ended - begun)


def _prologue_failed(folder: str) -> str | None:
    numbers = _numbers(os.path.join(folder, wrapper.PROLOGUE_EXIT))
    if numbers and numbers[0] == 0:
        return None
    if numbers is None and _modified(os.path.join(folder, wrapper.PROLOGUE_START)) is None:
        return None  # never begun
    said = read_tail(os.path.join(folder, wrapper.PROLOGUE_OUTPUT), SAID).decode("utf-8", "replace").strip()
    if numbers is None:
        reason = "stopped while its folder was prepared"
    elif numbers[1:] == [0]:
        reason = "its folder is not there"
    else:
        reason = f"command {numbers[1]} of its preparation ended with exit code {numbers[0]}"
    return f"{reason}\n{said}" if said else reason


def is_over(folder: str) -> bool:
    """Whether the wrapper has brought the run to its end, or has no place any more to say what it has to say."""
    return os.path.exists(os.path.join(folder, wrapper.END)) or not os.path.isdir(folder)


def _started_line(path: str) -> tuple[int, int] | None:
    """Pid and start time of the process that a step became; None: not told, or not yet."""
    line = read_tail(path, 4096)
    words = line[line.rfind(b")") + 2 :].split()
    pid = line.split(b" ", 1)[0]
    if not line.endswith(b"\n") or len(words) < 20 or not pid.isdigit() or not words[19].isdigit():
        return None
    return int(pid), int(words[19])


def processes(folder: str) -> frozenset[tuple[int, int]]:
    """Pid and start time of every step that the run has begun, as far as they are told."""
    try:
        names = [name for name in os.listdir(folder) if name.endswith(".start")]
    except OSError:
        return frozenset()
    found = (_started_line(os.path.join(folder, name)) for name in names)
    return frozenset(one for one in found if one is not None)


def step_lives(folder: str, steps: Sequence[str]) -> bool:
    """With the wrapper gone, and something of the run alive: whether a step that it waited for may still run."""
    for name in steps:
        base = os.path.join(folder, name)
        if begun_at(base) is not None and _numbers(base + ".exit") is None:
            known = _started_line(base + ".start")
            now = proctable.look(known[0]) if known else None
            if known is None or (now is not None and now.running and now.started == known[1]):
                return True
    return False


def ending(folder: str, steps: Sequence[str]) -> Ending:
    """What the exit files in `folder` say, in the order of `steps`."""
    ends = []
    last = _modified(os.path.join(folder, wrapper.END))
    for name in steps:
        base = os.path.join(folder, name)
        begun = begun_at(base)
        numbers = _numbers(base + ".exit")
        ends.append(
            StepEnd(
                name,
                begun is not None,
                numbers[0] if numbers else None,
                0.0 if begun is None else _seconds(base, begun, last),
                base + ".out",
                begun or 0.0,
            )
        )
    return Ending(tuple(ends), _prologue_failed(folder), is_over(folder))
