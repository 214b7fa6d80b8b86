"""What was worked out from a file, kept beside it: `config.toml` has `config.checked`, which git ignores.

1. It counts for the very text that it was made of and for the rules that made it; else it was never there.
2. Losing it, or not being able to write it, costs time and nothing else.
"""

import contextlib
import json
import os
from typing import Any


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _beside(path: str) -> str:
    return f"{os.path.splitext(path)[0]}.checked"


def recall_last(path: str, judge: str) -> Any:
    """The JSON values that `judge` made last, of whatever text; None: there are none."""
    return _kept(path, judge, None)


def recall(path: str, text: str, judge: str) -> Any:
    """The JSON values that `judge` made of this text; None: it has not seen it."""
    values = _kept(path, judge, text)
    if values is not None:
        _renew(path)
    return values


def _renew(path: str) -> None:
    """What was touched and is the same is not new (places.config_is_new)."""
    with contextlib.suppress(OSError):
        if os.stat(path).st_ctime_ns > os.stat(_beside(path)).st_mtime_ns:
            os.utime(_beside(path))


def _kept(path: str, judge: str, text: str | None) -> Any:
    try:
        with open(_beside(path), encoding="utf-8") as file:
            kept = json.load(file)
        return kept["values"] if kept["judge"] == judge and text in (None, kept["text"]) else None
    except (OSError, ValueError, LookupError, TypeError):  # not there, or not whole
        return None


def keep(path: str, text: str, judge: str, values: Any) -> None:
    """Remember what `judge` made of this text."""
    temporary = f"{_beside(path)}.{os.getpid()}"
    try:
        with open(temporary, "w", encoding="utf-8", opener=_private) as file:
            json.dump({"judge": judge, "text": text, "values": values}, file)
        os.replace(temporary, _beside(path))
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
