"""The log of the server: a file that is rotated, with no body, token or code in it.

DEBUG, INFO, WARNING and ERROR; what is said of requests are methods, paths and numbers.
"""

import logging
import logging.handlers
import os

from ..core.errors import UsageError
from ..wording.text import one_line

BYTES = 2_000_000
KEPT = 3
LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR")


def begin(folder: str, level: str) -> None:
    """Write to `web.log` in the folder from now on."""
    if level not in LEVELS:
        raise UsageError(f"'{level[:20]}' is no level of a log", f"Use one of: {', '.join(LEVELS)}.")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        handler = _Private(os.path.join(folder, "web.log"), maxBytes=BYTES, backupCount=KEPT, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}") from None
    handler.setFormatter(_OneLine("%(asctime)s %(levelname)s %(message)s"))
    for name in ("nobrakes.web", "nobrakes.serving", "uvicorn.error"):
        log = logging.getLogger(name)
        log.handlers = [handler]
        log.setLevel(level if name.startswith("nobrakes.") else max(logging.WARNING, logging.getLevelName(level)))
        log.propagate = False


class _OneLine(logging.Formatter):
    """What a browser says begins no line of its own, and moves no terminal."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = one_line(record.message)
        return super().formatMessage(record)


class _Private(logging.handlers.RotatingFileHandler):
    """A file that this account alone reads."""

    def _open(self):  # type: ignore[no-untyped-def]
        return open(
            os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600),
            "a",
            encoding="utf-8",
        )
