"""Telling people on standard output: one line a notice.

A notice may quote an agent, and an agent could speak to the terminal: control characters, escape sequences and marks
that reorder text are removed.
"""

import sys

from ..core.text.cleaning import clean
from ..ports.people import Notice


def plain(text: str) -> str:
    """The text as one line that only says something, and does nothing."""
    return " ".join(clean(text).split())


class StdoutNotifier:
    """Prints each notice as a line and flushes it."""

    def tell(self, notice: Notice) -> None:
        """Print it. A reader that has gone away does not stop the work."""
        line = ("! " if notice.urgent else "") + (f"{plain(notice.bead)}: " if notice.bead else "") + plain(notice.text)
        encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        try:
            print(line.encode(encoding, "replace").decode(encoding), flush=True)
        except (OSError, ValueError):
            return  # a closed pipe or file: the notice is in the store's events as well
