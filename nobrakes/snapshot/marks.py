"""The mark at the end of what was written since the snapshot: up to which event nothing is missing.

Every command reads it, so nothing is imported for it but the value that it stands for.
"""

from ..db.model import Position

MARKS_BEGIN = '{"_type":"nobrakes_mark","seq":'
BETWEEN = ',"at":'
END = "}"


def mark(place: Position) -> str:
    """The mark as a line."""
    return f"{MARKS_BEGIN}{place.seq}{BETWEEN}{place.at!r}{END}\n"


def last_mark(text: str) -> Position | None:
    """The last mark in the text; None: there is none. One without its line end was never written."""
    for line in reversed(text.split("\n")[:-1]):
        if line.startswith(MARKS_BEGIN) and line.endswith(END):
            seq, _, at = line[len(MARKS_BEGIN) : -len(END)].partition(BETWEEN)
            try:
                return Position(int(seq), float(at))
            except ValueError:
                continue
    return None
