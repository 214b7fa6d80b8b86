"""Commands that need a person's yes before they run (`agents.ask_first`): what others see, what no git brings back.

1. A pattern is a program and words that follow it in this order; other words may stand between them. An option of one
   letter is found in a cluster: `rm -r` is `rm -rf` and `rm -fr`, too.
2. A command line is read as a shell reads it, inside `sh -c` and substitutions as well. What a script does that it
   starts is not read.

Imports nothing that costs, since the guard asks before each tool.
"""

from .shell import calls, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_DEPTH = 8
_SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
_RIGHTS = frozenset(("sudo", "doas", "xargs"))


def pattern_of(text: str, patterns: "Sequence[str]", depth: int = 0) -> str:
    """The pattern that a command line matches; empty: none. ValueError for what a shell could not read."""
    if depth > MOST_DEPTH:
        raise ValueError("commands inside commands, too deep to read")
    for call in calls(text):
        words = plain(call.words)
        while words and _name(words[0]) in _RIGHTS:
            words = plain(words[1:])
            while words and words[0].startswith("-"):
                words = words[1:]
        if not words:
            continue
        program, rest = _name(words[0]), words[1:]
        found = next((one for one in patterns if _fits(one.split(), program, rest)), "")
        if not found and (program in _SHELLS or program == "eval"):
            inner = [" ".join(rest)] if program == "eval" else [*rest, *call.documents]
            found = next((one for part in inner if (one := pattern_of(part, patterns, depth + 1))), "")
        if found:
            return found
    return ""


def _name(word: str) -> str:
    return word.rpartition("/")[2]


def _fits(pattern: "list[str]", program: str, rest: "list[str]") -> bool:
    if not pattern or pattern[0] != program:
        return False
    place = 0
    for wanted in pattern[1:]:
        while place < len(rest) and not _is(rest[place], wanted):
            place += 1
        if place == len(rest):
            return False
        place += 0 if wanted.startswith("-") else 1
    return True


def _is(word: str, wanted: str) -> bool:
    if len(wanted) == 2 and wanted[0] == "-" and wanted[1] != "-":
        return word[:1] == "-" and word[:2] != "--" and wanted[1] in word
    return word == wanted
