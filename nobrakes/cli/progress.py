"""A line every few seconds of what takes long: on a terminal's stderr, and nowhere else."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 3.0
"""Between two lines; what is over sooner is told by its end."""


@contextmanager
def told_while(what: str) -> Iterator[None]:
    """Say what goes on, and for how long by now, until it is over. Programs (no terminal, --json) are told nothing."""
    if not sys.stderr.isatty() or "--json" in sys.argv:
        yield
        return
    over, began = threading.Event(), time.monotonic()

    def tell() -> None:
        while not over.wait(SECONDS):
            sys.stderr.write(f"{what}: {time.monotonic() - began:.0f} s\n")
            sys.stderr.flush()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        over.set()
        teller.join()
