"""What the client writes on stdout: a JSON object a line. Text of the agent, which comes in pieces, is joined first.

Nobody who reads is waited for: where stdout is closed the agent goes on.
"""

import contextlib
import json
import sys
from typing import Any

LONGEST = 20_000
"""Characters of one text: a longer one is written in parts."""


class Lines:
    """The output of one run."""

    def __init__(self) -> None:
        self._kind = ""
        self._pieces: list[str] = []
        self.live = True  # not while an old session is read again

    def piece(self, kind: str, text: str) -> None:
        """A piece of what the agent says or thinks."""
        if not self.live:
            return
        if kind != self._kind:
            self.flush()
        self._kind = kind
        self._pieces.append(text)
        if "\n" in text or sum(map(len, self._pieces)) > LONGEST:
            self.flush()

    def event(self, kind: str, **values: Any) -> None:
        """Anything else."""
        if self.live:
            self.flush()
            self._write({"type": kind, **values})

    def flush(self) -> None:
        """Write what was said so far."""
        text, self._pieces = "".join(self._pieces), []
        for start in range(0, len(text), LONGEST):
            self._write({"type": self._kind, "text": text[start : start + LONGEST]})

    def _write(self, event: dict[str, Any]) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.write(json.dumps(event, default=str) + "\n")
            sys.stdout.flush()
