"""How a run ended, read from the files that its wrapper left."""

import os
from collections.abc import Sequence

from ..ports import Ending, StepEnd
from . import wrapper
from .files import read_tail

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
        return os.stat(path).st_mtime
    except FileNotFoundError:
        return None


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


def ending(folder: str, steps: Sequence[str]) -> Ending:
    """What the exit files in `folder` say, in the order of `steps`."""
    ends = []
    last = _modified(os.path.join(folder, wrapper.END))
    for name in steps:
        base = os.path.join(folder, name)
        begun = _modified(base + ".start")
        numbers = _numbers(base + ".exit")
        ends.append(
            StepEnd(
                name,
                begun is not None,
                numbers[0] if numbers else None,
                0.0 if begun is None else _seconds(base, begun, last),
                base + ".out",
            )
        )
    return Ending(tuple(ends), _prologue_failed(folder))
