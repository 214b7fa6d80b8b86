"""Commands that need a person's yes before they run (`agents.ask_first`): what others see, what no git brings back.

1. A pattern is a program and words that follow it in this order; other words may stand between them. An option of one
   letter is found in a cluster: `rm -r` is `rm -rf` and `rm -fr`, too.
2. A command line is read as a shell reads it, inside `sh -c` and substitutions as well. What a script does that it
   starts is not read.

Imports nothing that costs, since the guard asks before each tool.
"""

from .shell import calls, plain, scripts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_DEPTH = 8
_RIGHTS = frozenset(("sudo", "doas", "xargs"))
_STARTERS = frozenset(("find", "parallel", "watch"))
"""Programs with words of their own before those of the program that they start."""


def pattern_of(text: str, patterns: "Sequence[str]", depth: int = 0) -> str:
    """The pattern that a command line matches; empty: none. ValueError for what a shell could not read."""
    if depth > MOST_DEPTH:
        raise ValueError("commands inside commands, too deep to read")
    for call in calls(text):
        for words in _readings(call.words):
            program, rest = _name(words[0]), words[1:]
            found = next((one for one in patterns if _fits(one.split(), program, rest)), "")
            if not found:
                inner = scripts(program, rest, call.documents)
                found = next((one for part in inner if (one := pattern_of(part, patterns, depth + 1))), "")
            if found:
                return found
    return ""


def _readings(words: "list[str]") -> "list[list[str]]":
    """The words from the program on; several where it cannot be told which word that is.

    After an option of what only carries the program, the next word may be the option's value.
    """
    left = plain(words)
    while left and _name(left[0]) in _RIGHTS:
        left = plain(left[1:])
        while left and left[0].startswith("-"):
            left = left[1:]
    carriers = words[: len(words) - len(left)]
    is_unsure = any(word.startswith("-") for word in carriers) or any(_name(word) in _STARTERS for word in left[:1])
    return [left[place:] for place in range(len(left) if is_unsure else min(len(left), 1))]


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
