"""Telling people on standard output: one line a notice.

A notice may quote an agent, and an agent could speak to the terminal: control characters, escape sequences and marks
that reorder text are removed.
"""

import re
import sys

from ..ports import Notice

_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, screen
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f]).*?(?:\x07|\x1b\\|\x9c|$)"  # OSC and other strings: titles, clipboard
    r"|\x1b[ -/]*[0-~]",
    re.DOTALL,
)
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]+")


def plain(text: str) -> str:
    """The text as one line that only says something, and does nothing."""
    return " ".join(_CONTROLS.sub(" ", _ESCAPES.sub("", text)).split())


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
