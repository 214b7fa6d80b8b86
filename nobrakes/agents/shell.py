"""Command lines, parsed as a shell does, and those that need a person's approval first (`agents.ask_first`).

1. A pattern is a program and words in order, with others allowed between. One-letter options match in clusters: `rm -r`
   matches `rm -rf` and `rm -fr`.
2. `sh -c` and substitutions are parsed too; scripts that a command starts are not.

A person is asked about what others see and git cannot restore. Imports stay cheap: the guard uses it.
"""

TYPE_CHECKING = False

if TYPE_CHECKING:
    from collections.abc import Sequence


# It knows quotes, escapes, comments, separators, redirections, here-documents, `$(…)` and backquotes, and expands
# nothing. What it cannot read is a ValueError: a shell could not read it either.
_SECTIONS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ")
SHELLS = frozenset(("sh", "bash", "dash", "zsh", "ksh"))
WRAPPERS = {"env", "command", "exec", "nohup", "time", "timeout", "nice", "stdbuf", "setsid", "builtin", "ionice"}
"""Programs that only run another one, which their words name."""
KEYWORDS = frozenset(("then", "do", "else", "if", "while", "until", "!"))
_SEPARATORS = frozenset(";&|(){}\n")


class Call:
    """A simple command: its words, redirected output files, here-documents."""

    __slots__ = ("documents", "words", "writes")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.writes: list[str] = []
        self.documents: list[str] = []


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.calls: list[Call] = []
        self.inner: list[str] = []  # command substitutions
        self.call = Call()
        self.word: str | None = None
        self.target = ""  # the redirection that the next word belongs to
        self.awaited: list[tuple[str, Call]] = []  # here-documents that begin after this line

    def end_word(self) -> None:
        if self.word is None:
            return
        if self.target == ">":
            self.call.writes.append(self.word)
        elif self.target == "<<":
            self.awaited.append((self.word, self.call))
        elif self.target != "<":
            self.call.words.append(self.word)
        self.word, self.target = None, ""

    def end_call(self) -> None:
        self.end_word()
        if self.call.words or self.call.writes:
            self.calls.append(self.call)
        self.call, self.target = Call(), ""

    def add(self, text: str) -> None:
        self.word = (self.word or "") + text

    def until(self, end: str, start: int) -> int:
        place = self.text.find(end, start)
        if place < 0:
            raise ValueError(f"an open {end}")
        return place

    def single(self) -> None:
        end = self.until("'", self.place + 1)
        self.add(self.text[self.place + 1 : end])
        self.place = end + 1

    def double(self) -> None:
        self.add("")
        self.place += 1
        while self.place < len(self.text):
            char = self.text[self.place]
            if char == '"':
                self.place += 1
                return
            if char == "\\" and self.text[self.place + 1 : self.place + 2] in ('"', "\\", "$", "`", "\n"):
                self.add(self.text[self.place + 1].replace("\n", ""))
                self.place += 2
            elif not self.substitution():
                self.add(char)
                self.place += 1
        raise ValueError('an open "')

    def substitution(self) -> bool:
        if self.text[self.place] == "`":
            end = self.until("`", self.place + 1)
            self.inner.append(self.text[self.place + 1 : end])
            self.place = end + 1
        elif self.text.startswith("$(", self.place):
            end = _closing(self.text, self.place + 2)
            self.inner.append(self.text[self.place + 2 : end])
            self.place = end + 1
        else:
            return False
        self.add("$")
        return True

    def redirection(self) -> None:
        if self.word is not None and self.word.isdigit():
            self.word = None  # a file descriptor
        self.end_word()
        char, rest = self.text[self.place], self.text[self.place + 1 : self.place + 3]
        if char == "<" and rest.startswith("<") and rest != "<<":
            self.target, self.place = "<<", self.place + 2
            if self.text.startswith("-", self.place):
                self.place += 1
        else:
            while self.place < len(self.text) and self.text[self.place] in "<>&|":
                self.place += 1
            self.target = char
            if self.text[self.place - 1] == "&" and char == ">" and self.text[self.place : self.place + 1].isdigit():
                self.target = "<"  # a copied descriptor is not a file

    def documents(self) -> None:
        for end, call in self.awaited:
            lines = []
            while self.place < len(self.text):
                newline = self.text.find("\n", self.place)
                newline = len(self.text) if newline < 0 else newline
                line, self.place = self.text[self.place : newline], newline + 1
                if line.strip("\t") == end:
                    break
                lines.append(line)
            call.documents.append("\n".join(lines))
        self.awaited = []

    def read(self) -> None:
        while self.place < len(self.text):
            char = self.text[self.place]
            if char == "'":
                self.single()
            elif char == '"':
                self.double()
            elif char == "\\":
                self.add(self.text[self.place + 1 : self.place + 2].replace("\n", ""))
                self.place += 2
            elif self.substitution():
                pass
            elif char == "#" and self.word is None:
                newline = self.text.find("\n", self.place)
                self.place = len(self.text) if newline < 0 else newline
            elif char in "<>" or self.text.startswith("&>", self.place):
                self.place += char == "&"
                self.redirection()
            elif char in _SEPARATORS and not (char in "{}" and self.word is not None):
                self.end_call()
                self.place += 1
                if char == "\n":
                    self.documents()
            elif char in " \t\r":
                self.end_word()
                self.place += 1
            else:
                self.add(char)
                self.place += 1
        self.end_call()


def _closing(text: str, start: int) -> int:
    """The offset of the bracket that closes the one before `start`."""
    depth = 1
    quote = ""
    for place in range(start, len(text)):
        char = text[place]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "()":
            depth += 1 if char == "(" else -1
            if depth == 0:
                return place
    raise ValueError("an open $(")


def calls(text: str, depth: int = 0) -> list[Call]:
    """The simple commands of a command line in order, those inside substitutions last."""
    if depth > 8:
        raise ValueError("commands inside commands, too deep to read")
    reader = _Reader(text)
    reader.read()
    found = reader.calls
    for inner in reader.inner:
        found += calls(inner, depth + 1)
    return found


def patched(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    return [line[len(section) :].strip() for line in lines for section in _SECTIONS if line.startswith(section)]


def plain(words: list[str]) -> list[str]:
    """The words from the program on, without variables and wrappers."""
    left = list(words)
    while left:
        word = left[0]
        name = word.rpartition("/")[2]
        if "=" in word and word.partition("=")[0].isidentifier():
            left.pop(0)
        elif name in WRAPPERS:
            left.pop(0)
            while left and (left[0].startswith("-") or (name in ("timeout", "nice") and left[0][:1].isdigit())):
                left.pop(0)
        elif word in KEYWORDS:
            left.pop(0)
        else:
            break
    return left


def scripts(program: str, rest: list[str], documents: list[str]) -> list[str]:
    """The command lines given to a shell or `eval` by arguments or input; none for other programs."""
    if program == "eval":
        return [" ".join(rest)]
    if program not in SHELLS:
        return []
    operands = [word for i, word in enumerate(rest) if word[:1] != "-" and not (i and _takes_value(rest[i - 1]))]
    if any(word[:1] == "-" and word[:2] != "--" and "c" in word for word in rest):
        return operands[:1]
    return documents if not operands or "-s" in rest else []


def _takes_value(option: str) -> bool:
    """Whether a shell's option takes the next word: `-o pipefail`, `-eo pipefail`, `--rcfile x`."""
    is_short = option[:1] == "-" and option[:2] != "--"
    return (is_short and option[-1:] in "oO" and "c" not in option) or option in ("--rcfile", "--init-file")


MAX_DEPTH = 8
_RIGHTS = frozenset(("sudo", "doas", "xargs"))
_STARTERS = frozenset(("find", "parallel", "watch"))
"""Programs with words of their own before those of the program that they start."""


def pattern_of(text: str, patterns: "Sequence[str]", depth: int = 0) -> str:
    """The first matching pattern; empty: none. ValueError for text that a shell could not read."""
    if depth > MAX_DEPTH:
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
    """The words from the program on; several readings if a wrapper's option may take the next word."""
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
