"""What a command hands back, and how it is shown: text for people, one JSON envelope for programs.

1. A command returns an Output; `emit` prints it. Nothing else writes to stdout, except commands that stream.
2. The envelope is {"ok": true, "command", "data"} or {"ok": false, "command", "error"}; error.code is the exit code.
3. Colour only on a terminal, never with NO_COLOR, and never the only carrier of meaning.
"""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn, TextIO

from . import text as _text

SECRET = frozenset(("token",))
_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34", "cyan": "36"}
PIPE_CLOSED = 141  # as a shell reports a program that SIGPIPE ended


class Screen(NamedTuple):
    """Where text goes: its width in columns, and whether colours are welcome."""

    width: int = 100
    colour: bool = False

    def paint(self, text: str, style: str) -> str:
        """`text` in a style of `_CODES`, where colours are welcome."""
        return f"\x1b[{_CODES[style]}m{text}\x1b[0m" if self.colour and style else text


class Output(NamedTuple):
    """The result of a command. `data` is made of JSON values (see `plain`); `text` makes it readable."""

    data: Any
    text: Callable[[Screen], str]
    code: int = 0


def said(data: Any, text: str) -> Output:
    """An Output whose text is ready and needs no screen."""
    return Output(data, lambda screen: text)


def screen_of(stream: TextIO) -> Screen:
    """The screen that `stream` is. A pipe gets no colours and long lines."""
    if not stream.isatty():
        return Screen(width=120)
    dumb = os.environ.get("TERM", "") in ("", "dumb")
    return Screen(os.get_terminal_size(stream.fileno()).columns or 80, not os.environ.get("NO_COLOR") and not dumb)


def plain(value: Any) -> Any:
    """`value` as JSON values: dataclasses by field without secrets, tuples as lists, sets sorted."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    fields = getattr(type(value), "__dataclass_fields__", None) or getattr(type(value), "model_fields", None)
    if fields is None and hasattr(value, "_fields"):
        fields = value._fields
    if fields is not None:
        return {name: plain(getattr(value, name)) for name in fields if name not in SECRET}
    if hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not a value that JSON has")


def dumps(value: Any) -> str:
    """`value` as one line of JSON."""
    import json

    return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def envelope(command: str, data: Any) -> str:
    """The envelope of a command that did what it was asked."""
    return dumps({"ok": True, "command": command, "data": data})


def error_envelope(command: str, error: BaseException, code: int, hint: str) -> str:
    """The envelope of a command that did not."""
    found: dict[str, Any] = {"code": code, "name": type(error).__name__, "message": str(error), "hint": hint}
    details = getattr(error, "details", None)
    if details:
        found["details"] = details
    return dumps({"ok": False, "command": command, "error": found})


def pipe_closed() -> NoReturn:
    """Nobody reads any more: end quietly, and keep Python from complaining when it closes stdout."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    raise SystemExit(PIPE_CLOSED)


def write(text: str) -> None:
    """One or more whole lines to stdout, at once."""
    try:
        sys.stdout.write(text if text.endswith("\n") else text + "\n")
        sys.stdout.flush()
    except BrokenPipeError:
        pipe_closed()


def emit(output: Output, command: str, as_json: bool) -> int:
    """Show the result; the exit code."""
    if as_json:
        write(envelope(command, output.data))
        return output.code
    text = output.text(screen_of(sys.stdout))
    if text:
        write(text)
    return output.code


def table(head: Sequence[str], rows: Sequence[Sequence[str]], screen: Screen, stretch: int = -1) -> str:
    """Aligned columns. The column `stretch` (default: the last) is cut where the screen is too narrow."""
    if not rows:
        return ""
    stretch %= len(head)
    cells = [[_text.one_line(cell) for cell in row] for row in rows]
    widths = [max(_text.width(row[i]) for row in [list(head), *cells]) for i in range(len(head))]
    others = sum(widths) - widths[stretch] + 2 * (len(head) - 1)
    widths[stretch] = min(widths[stretch], max(10, screen.width - others))

    def line(row: Sequence[str]) -> str:
        return "  ".join(
            _text.pad(_text.cut(cell, wide), wide) for cell, wide in zip(row, widths, strict=True)
        ).rstrip()

    return "\n".join([screen.paint(line(head), "dim"), *map(line, cells)])


def paragraph(text: str, indent: str = "  ") -> str:
    """Untrusted text of several lines, harmless and indented."""
    return "\n".join(indent + line for line in _text.lines(text.rstrip()))
