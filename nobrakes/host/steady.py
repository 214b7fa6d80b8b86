"""A clock that nobody sets: it goes on while the machine is awake, and begins anew with each boot."""

import contextlib
import time

_BOOT = "/proc/sys/kernel/random/boot_id"


def steady() -> tuple[str, float]:
    """(this boot, seconds of it in which the machine was awake). Where boots have no name they have the same one."""
    boot = ""
    with contextlib.suppress(OSError), open(_BOOT, encoding="ascii") as file:
        boot = file.read().strip()
    return boot, time.monotonic()
