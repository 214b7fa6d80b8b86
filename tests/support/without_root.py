"""Who runs the tests as root has rights that read and write whatever is closed: they are laid down, and taken up again.

The account stays the same, so that it may still enter its own folders: Linux gives these rights apart from it.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION_3, _OVERRIDES_READING_AND_WRITING, _OVERRIDES_READING = 0x20080522, 1 << 1, 1 << 2


class _Sets(ctypes.Structure):
    _fields_ = [("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32)]


@contextmanager
def without_roots_rights() -> Iterator[None]:
    """This thread obeys the modes of files, whoever it is. Programs that root starts have the rights again."""
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(_VERSION_3, 0), (_Sets * 2)()

    def call(name: str) -> None:
        if getattr(libc, name)(header, sets) != 0:
            raise OSError(ctypes.get_errno(), name)

    call("capget")
    before = sets[0].effective
    sets[0].effective &= ~(_OVERRIDES_READING_AND_WRITING | _OVERRIDES_READING)
    call("capset")
    try:
        yield
    finally:
        sets[0].effective = before
        call("capset")
