"""A patch as rows of a table: numbered, coloured by what each line is, paired for two columns. All of it is data.

1. git's text is read line by line; what is no part of a patch is passed over, and nothing of it becomes markup.
2. Colours are classes of Pygments' tokens, line by line; a file that no lexer knows, or that is long, has none.
3. At most MOST lines are shown; the rest is counted.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from ..wording.text import lines as cleaned

if TYPE_CHECKING:
    from pygments.lexer import Lexer

MOST = 3000
MOST_COLOURED = 1200
"""Lines of one file that are coloured; more would take longer than a page may."""
LONGEST = 2000
"""Characters of a line."""
_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)")
Piece = tuple[str, str]
"""(class of its colour, text)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line. `kind`: same, added, removed, or hunk (its text says where it is); numbers of before and after."""

    kind: str
    pieces: tuple[Piece, ...]
    before: int | None = None
    after: int | None = None


@dataclass(slots=True)
class PatchFile:
    """One file's rows; `note` where there is nothing to show."""

    path: str
    rows: list[Row] = field(default_factory=list)
    note: str = ""

    def pairs(self) -> Iterator[tuple[Row | None, Row | None]]:
        """The rows in two columns: what went and what came instead beside each other."""
        gone: list[Row] = []
        came: list[Row] = []
        for row in [*self.rows, None]:
            if row is not None and row.kind == "removed" and not came:
                gone.append(row)
            elif row is not None and row.kind == "added":
                came.append(row)
            else:
                for place in range(max(len(gone), len(came))):
                    yield gone[place] if place < len(gone) else None, came[place] if place < len(came) else None
                gone, came = ([row] if row is not None and row.kind == "removed" else []), []
                if row is not None and row.kind != "removed":
                    yield row, row


@dataclass(frozen=True, slots=True)
class Patch:
    """The files, and how many lines were left out."""

    files: tuple[PatchFile, ...]
    left: int = 0


def read(text: str, most: int = MOST) -> Patch:
    """The patch that git printed, without colours of its own."""
    files: list[PatchFile] = []
    before = after = shown = left = 0
    inside = False
    for line in text.split("\n"):
        if line.startswith("diff --git "):
            files.append(PatchFile(_path(line)))
            inside = False
        elif not files:
            continue
        elif hunk := _HUNK.match(line):
            before, after, inside = int(hunk[1]), int(hunk[2]), True
            files[-1].rows.append(Row("hunk", (("", _safe(line)),)))
        elif not inside:
            _head(files[-1], line)
        elif line[:1] in (" ", "+", "-"):
            shown += 1
            if shown > most:
                left += 1
                continue
            row, before, after = _row(line, before, after)
            files[-1].rows.append(row)
    for file in files:
        _colour(file)
    return Patch(tuple(files), left)


def _path(line: str) -> str:
    """The name after the change; `+++` says it better where there is one."""
    return _safe(line.removeprefix("diff --git ").rpartition(" b/")[2] or line)


def _head(file: PatchFile, line: str) -> None:
    if line.startswith("+++ b/"):
        file.path = _safe(line[6:].rstrip("\t"))
    elif line.startswith(("Binary files ", "GIT binary patch")):
        file.note = f"{file.note}, no text" if file.note else "no text"
    elif line.startswith(("rename from ", "old mode ", "new mode ", "deleted file ", "new file ")):
        file.note = f"{file.note}, {_safe(line)}" if file.note else _safe(line)


def _row(line: str, before: int, after: int) -> tuple[Row, int, int]:
    pieces = (("", _safe(line[1:])),)
    if line[0] == "+":
        return Row("added", pieces, None, after), before, after + 1
    if line[0] == "-":
        return Row("removed", pieces, before, None), before + 1, after
    return Row("same", pieces, before, after), before + 1, after + 1


def _safe(text: str) -> str:
    return " ".join(cleaned(text.rstrip("\r")))[:LONGEST]


def _colour(file: PatchFile) -> None:
    lexer = _lexer(file.path.rpartition("/")[2])
    if lexer is None or len(file.rows) > MOST_COLOURED:
        return
    file.rows = [
        row if row.kind == "hunk" else Row(row.kind, _tokens(lexer, row.pieces[0][1]), row.before, row.after)
        for row in file.rows
    ]


@cache
def _lexer(name: str) -> "Lexer | None":
    from pygments.lexers import get_lexer_for_filename
    from pygments.util import ClassNotFound

    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _tokens(lexer: "Lexer", text: str) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for token, value in lexer.get_tokens(text):
        colour = _class(token)
        if found and found[-1][0] == colour:
            found[-1] = colour, found[-1][1] + value
        else:
            found.append((colour, value))
    return tuple(found) if "".join(value for _, value in found) == text else (("", text),)


_COLOURS = (("Comment", "c"), ("Keyword", "k"), ("String", "s"), ("Number", "n"), ("Name.Function", "f"),
            ("Name.Class", "f"), ("Name.Tag", "k"), ("Name.Builtin", "b"), ("Operator.Word", "k"))  # fmt: skip


@cache
def _class(token: Any) -> str:
    """The few colours that a patch needs."""
    name = str(token).removeprefix("Token.")
    return next((colour for part, colour in _COLOURS if part in name), "")
