"""Text that is safe and aligned on a terminal, whoever wrote it.

1. Titles and agents' words are untrusted: control characters and escape codes never reach the terminal.
2. Widths are columns, not characters: wide characters and emoji take two, combining ones none.
"""

from ..core.text.cleaning import clean, is_seen

_ZERO_WIDTH = frozenset("\u200c\u200d\ufe0e\ufe0f")


def one_line(text: str) -> str:
    """`text` on one line: harmless, white space folded to blanks."""
    return text if text.isprintable() and is_seen(text) else " ".join(clean(text).split())


def lines(text: str) -> list[str]:
    """`text` line by line, each of them harmless; tabs become blanks."""
    found = text.split("\n")
    return found if "\t" not in text and is_seen(text) else clean(text).expandtabs(4).split("\n")


def _columns(character: str) -> int:
    from unicodedata import combining, east_asian_width

    if character in _ZERO_WIDTH or combining(character):
        return 0
    return 2 if east_asian_width(character) in ("W", "F") else 1


def width(text: str) -> int:
    """How many columns `text` takes."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, columns: int) -> str:
    """`text` in at most `columns` columns, with an ellipsis where something was left out."""
    if width(text) <= columns:
        return text
    if columns <= 0:
        return ""
    kept, used = [], 0
    for character in text:
        used += 1 if character.isascii() else _columns(character)
        if used > columns - 1:
            break
        kept.append(character)
    return "".join(kept).rstrip() + "…"


def pad(text: str, columns: int) -> str:
    """`text` filled with blanks up to `columns`."""
    return text + " " * (columns - width(text))


def age(seconds: float) -> str:
    """A span of time in one or two units: 42 s, 3 min, 2 h 05, 4 d."""
    seconds = max(0, int(seconds))
    if seconds < 60:
        return f"{seconds} s"
    if seconds < 3600:
        return f"{seconds // 60} min"
    if seconds < 86400:
        return f"{seconds // 3600} h {seconds % 3600 // 60:02d}"
    return f"{seconds // 86400} d"


def lasted(seconds: float) -> str:
    """How long something took: 0.4 s, 41 s, 3 min 20 s, 2 h 05."""
    if seconds < 9.95:
        return f"{max(0.0, seconds):.1f} s"
    if 60 <= seconds < 3600:
        return f"{int(seconds) // 60} min {int(seconds) % 60} s"
    return age(seconds)


def count(number: int, noun: str) -> str:
    """`1 bead`, `2 beads`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
