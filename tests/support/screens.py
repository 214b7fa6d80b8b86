"""What a person sees on a terminal of 80x24, as text: a command in a pseudo-terminal, and the screen that it leaves.

1. Of the escapes only those that the CLI writes are known: up, clear the line, clear to the end, colours. Any other
   one is an error, so that no screen is recorded wrongly.
2. What changes from run to run (times, hashes, processes, folders, names of agents) is masked with letters.
"""

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

COLUMNS, ROWS = 80, 24
_PART = re.compile(r"\x1b\[([0-9;]*)([A-Za-z])|(\r)|(\n)|([^\x1b\r\n]+)")
_TYPE = re.compile(r"^ +type: (.+)$")
_MORE = re.compile(r"^ {8}(\S.*)$")
_HINT = re.compile(r"^ *Type `([^`]+)`\.?$")
_MASKS = (
    (re.compile(r"\bprocess \d+"), "process PID"),
    (re.compile(r"\b(?=[0-9a-f]*[0-9])[0-9a-f]{12,40}\b"), "HASH"),
    (re.compile(r"\b\d+(?:\.\d+)? (?:ms|s|min|h)\b"), "TIME"),
    (re.compile(r"\b\d+ MB\b"), "SIZE"),
    (re.compile(r"\b(green|red:|proven:?|checks at) [0-9a-f]{7}\b"), r"\1 HASH"),
    (re.compile(r"\b\d\d:\d\d( yesterday)?"), "CLOCK"),
)


class Screen(NamedTuple):
    """The exit code, and every line that a person sees after the command has ended, without blanks at their ends."""

    code: int
    lines: list[str]

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def commands(self) -> list[str]:
        """What it says to type, in its order, each once."""
        found: list[str] = []
        is_open = False
        for line in self.lines:
            first, more, hint = _TYPE.match(line), _MORE.match(line) if is_open else None, _HINT.match(line)
            is_open = bool(first or more)
            found += [match[1] for match in (first, more, hint) if match]
        return list(dict.fromkeys(found))


def seen(argv: Sequence[str], folder: Path, env: Mapping[str, str], seconds: float = 120.0) -> Screen:
    """Run the command in a terminal; AssertionError when it does not end, or a line is wider than the terminal."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    env = {**env, "TERM": "xterm-256color"}
    process = subprocess.Popen(argv, cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    raw, end = b"", time.monotonic() + seconds
    try:
        while True:
            assert time.monotonic() < end, f"{argv} goes on:\n{raw.decode(errors='replace')}"
            if not select.select([ours], [], [], 1.0)[0]:
                continue
            try:
                more = os.read(ours, 65536)
            except OSError:  # how Linux says that nobody has the other end open any more
                break
            if not more:
                break
            raw += more
        code = process.wait(max(1.0, end - time.monotonic()))
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)
    return Screen(code, drawn(raw.decode()))


def drawn(raw: str) -> list[str]:
    """The lines that this leaves on a screen that is long enough for all of it."""
    lines, row, column, at = [""], 0, 0, 0
    for part in _PART.finditer(raw):
        assert part.start() == at, f"unknown to this terminal: {raw[at : at + 20]!r}"
        at = part.end()
        count, letter, back, down, text = part.groups()
        if text is not None:
            lines[row] = lines[row][:column].ljust(column) + text + lines[row][column + len(text) :]
            column += len(text)
        elif back:
            column = 0
        elif down:
            row, column = row + 1, 0
            lines += [""] * (row + 1 - len(lines))
        elif letter == "A":
            row = max(0, row - int(count or 1))
        elif letter == "K":
            lines[row] = ""
        elif letter == "J":
            lines[row:] = [lines[row][:column]]
        else:
            assert letter == "m", f"unknown to this terminal: {part[0]!r}"
    assert at == len(raw), f"unknown to this terminal: {raw[at : at + 20]!r}"
    found = [line.rstrip() for line in lines]
    while found and not found[-1]:
        found.pop()
    return found


def masked(text: str, names: Mapping[str, str]) -> str:
    """The text without what changes from run to run; `names`: words that do, and what stands for them."""
    for word, letter in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(word, letter)
    for pattern, letter in _MASKS:
        text = pattern.sub(letter, text)
    return text
