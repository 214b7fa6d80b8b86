"""Who runs the tests as root has rights that read and write whatever is closed: they are laid down, and taken up again.

The account stays the same, so that it may still enter its own folders: Linux gives these rights apart from it.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION_3, _OVERRIDES_READING_AND_WRITING, _OVERRIDES_READING = 0x20080522, 1 << 1, 1 << 2

_GET_SECUREBITS, _SET_SECUREBITS, _ROOT_IS_NOTHING = 27, 28, 1
"""Of `prctl`: whether a program that root starts has root's rights."""


_laid_down = False


def are_laid_down() -> bool:
    """Whether root's rights are laid down just now."""
    return _laid_down


class _Sets(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


@contextmanager
def without_roots_rights() -> Iterator[None]:
    """This thread obeys the modes of files, whoever it is, and so does what it starts."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (_Sets * 2)()

    def call(name: str, *words: object) -> int:
        answer: int = getattr(libc, name)(*words)
        if answer < 0:
            raise OSError(ctypes.get_errno(), name)
        return answer

    global _laid_down
    bits = call("prctl", _GET_SECUREBITS, 0, 0, 0, 0)
    call("prctl", _SET_SECUREBITS, bits | _ROOT_IS_NOTHING, 0, 0, 0)
    call("capget", header, sets)
    before = sets[0].effective
    sets[0].effective &= ~(_OVERRIDES_READING_AND_WRITING | _OVERRIDES_READING)
    call("capset", header, sets)
    _laid_down = True
    try:
        yield
    finally:
        _laid_down = False
        sets[0].effective = before
        call("capset", header, sets)
        call("prctl", _SET_SECUREBITS, bits, 0, 0, 0)
