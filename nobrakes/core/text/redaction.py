"""What is blacked out wherever words of agents and tools are kept or shown: keys, tokens, passwords.

1. A secret is sure by its own shape (`ghp_…`, a private key's block), or guessed by what stands before it (`token=`).
   A guess must look random: object ids, UUIDs, names of files and words of code are left alone.
2. Only the secret itself goes, and never a quote or half of an escape: what was JSON stays JSON.
3. A block that is printed line by line is found by a `Redactor`, which remembers that it began.
4. Every pattern is bounded, or takes a run of characters at once: the time grows with the text and no faster.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import log2
from typing import NamedTuple

from .secret_shapes import NAMED, SHAPES

BLACK = "[secret]"
SHORTEST = 8
"""A shorter value of a variable is no secret, and would black out ordinary words."""
MOST_LINES = 1_000
"""A block has no more lines than this."""
STRANGE_LINES = 10
"""After so many lines that cannot belong to it a block is over, though nobody said so."""

_SECRET_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|COOKIE|_AUTH", re.IGNORECASE)
_BEFORE = re.compile(r"(?:^|[^A-Za-z0-9_-]|\\[nrtbf]|[0-9\[]m|%[0-9A-Fa-f]{2})\Z")
_BEGIN = re.compile(
    r"-{4,5} ?BEGIN (?:[A-Z0-9]{1,12} ){0,4}(?:PRIVATE KEY(?: BLOCK)?|PGP MESSAGE) ?-{4,5}|Private-Lines: [0-9]{1,4}"
)
_END = re.compile(
    r"-{4,5} ?END (?:[A-Z0-9]{1,12} ){0,4}(?:PRIVATE KEY(?: BLOCK)?|PGP MESSAGE) ?-{4,5}|Private-MAC: [0-9a-f]{1,80}"
)
_RUN = re.compile(r"(?:\\{1,4}[nrt/]|[A-Za-z0-9+/=]){24,}")
_BODY = re.compile(r"\s*[A-Za-z0-9+/]{1,100}={0,3}\s*\Z")
_TAIL = re.compile(r"(?<=[\s>|+:])[A-Za-z0-9+/]{1,80}={1,2}(?=\s*\Z)")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_HASH = re.compile(r"(?:[a-z0-9]{1,10}[:-])?[0-9a-f]{7,128}\Z")
_NAMES = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+\Z", re.ASCII)
_FLAG = re.compile(r"(?:^|[^-])--(?:[A-Za-z]{1,20}-){0,3}\Z")
_AGAIN = re.compile(r"(?:\[secret\]){2,}")
_WORD = re.compile(r"[A-Za-z0-9_.+/=~:@%-]{14,}")
"""A secret that its own shape tells is within such a word, with its mark."""
_compiled = lru_cache(maxsize=None)(re.compile)
_PARTS = re.compile(r"[-_./:@+=]")


class Found(NamedTuple):
    """A secret: what it is, and where. `sure`: its own shape says so, and not what stands beside it."""

    kind: str
    begin: int
    end: int
    sure: bool


def secrets_in(text: str) -> tuple[Found, ...]:
    """The secrets in a text, in their order, none within another; a block's one is where it begins."""
    found = [Found("private key", match.start(), match.end(), True) for match in _blocks(text)]
    found += _by_shape(text)
    found += _by_name(text)
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: (one.begin, -one.end)):
        if kept and one.begin < kept[-1].end:
            if one.end > kept[-1].end:
                kept[-1] = kept[-1]._replace(end=one.end, sure=kept[-1].sure or one.sure)
            continue
        kept.append(one)
    return tuple(kept)


def secret_values(environment: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The values of the variables whose names speak of secrets."""
    return frozenset(value for name, value in environment if len(value) >= SHORTEST and _SECRET_NAME.search(name))


def redact(text: str, values: Iterable[str] = ()) -> str:
    """The whole text without its secrets, and without `values`."""
    return Redactor(values).feed(text)


class Redactor:
    """Blacks out a text that comes piece by piece; a piece ends where a line does, or at `cut`."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = _pattern(frozenset(values))
        self._left = 0
        self._strange = 0

    def feed(self, text: str) -> str:
        """The piece without its secrets."""
        if self._values is not None:
            text = self._values.sub(BLACK, text)
        if self._left or next(_blocks(text), None):
            text = "\n".join(self._line(line) for line in text.split("\n"))
        parts, end = [], 0
        for one in secrets_in(text):
            parts += [text[end : one.begin], BLACK]
            end = one.end
        return "".join([*parts, text[end:]]) if parts else text

    def cut(self, text: str, keep: int) -> int:
        """Where a text without line ends may be cut: at least `keep` characters before its end, through no secret."""
        place = max(1, len(text) - keep)
        least = max(1, place - keep)
        end = next((at for at in range(place, least, -1) if not _in_word(text[at - 1])), place)
        near = max(0, end - keep)
        across = [one for one in secrets_in(text[near:]) if near + one.begin < end < near + one.end]
        values = self._values.finditer(text, near) if self._values is not None else ()
        begins = [near + one.begin for one in across] + [m.start() for m in values if m.start() < end < m.end()]
        return max(1, min([end, *begins]))

    def _line(self, line: str) -> str:
        done: list[str] = []
        whole = True
        while True:
            if not self._left:
                begun = _BEGIN.search(line)
                if begun is None:
                    return _AGAIN.sub(BLACK, "".join([*done, line]))
                done += [line[: begun.start()], BLACK]
                self._left, self._strange, whole = MOST_LINES, 0, False
                line = line[begun.end() :]
            ended = _END.search(line)
            if ended is None:
                return _AGAIN.sub(BLACK, "".join([*done, self._inside(line, whole)]))
            done += [self._inside(line[: ended.start()], False), BLACK]
            self._left = 0
            line = line[ended.end() :]

    def _inside(self, line: str, whole: bool) -> str:
        """A line of a block, or what of it shares its line with other words."""
        self._left -= 1
        if not line.strip():
            return line
        if whole and self._strange == 0 and _BODY.match(line):
            return BLACK
        black = _RUN.sub(_mixed, line)
        if whole and self._strange == 0:
            black = _TAIL.sub(BLACK, black)
        self._strange = 0 if black != line else self._strange + 1
        if self._strange > STRANGE_LINES:
            self._left = 0
        return black


@lru_cache(maxsize=16)
def _pattern(values: frozenset[str]) -> "re.Pattern[str] | None":
    """What finds the values; None: none is long enough."""
    known = {value for value in values if len(value) >= SHORTEST}
    known |= {value.replace("/", "\\/") for value in known}  # as some JSON has it
    words = "|".join(re.escape(value) for value in sorted(known, key=lambda v: (-len(v), v)))
    return re.compile(words) if words else None


def _blocks(text: str) -> Iterator["re.Match[str]"]:
    return _BEGIN.finditer(text) if "BEGIN " in text or "Private-Lines" in text else iter(())


def _mixed(match: "re.Match[str]") -> str:
    """What takes the place of a run: a body has letters of both kinds and digits, a path or a hash mostly has not."""
    run = match[0]
    mixed = any(c.isdigit() for c in run) and any(c.isupper() for c in run) and any(c.islower() for c in run)
    return BLACK if mixed else run


def _in_word(character: str) -> bool:
    return character.isalnum() or character in "_-+/=."


def _by_shape(text: str) -> Iterator[Found]:
    words = "\n".join(_WORD.findall(text))
    for kind, mark, pattern in SHAPES:
        if mark not in words:
            continue
        for match in _compiled(pattern).finditer(text):
            if _BEFORE.search(text[max(0, match.start() - 4) : match.start()]):
                yield Found(kind, match.start(), match.end(), True)


def _by_name(text: str) -> Iterator[Found]:
    """What is known by what stands before it: the group of the pattern that matched last is the secret."""
    if "://" in text or ":\\/\\/" in text:
        for match in _IN_URL.finditer(text):
            if _is_given(match[1]):
                yield Found("password in a URL", match.start(1), match.end(1), False)
    folded = text.translate(_SMALL)
    for kind, marks, pattern, least in NAMED:
        for match in _matches(folded, marks, pattern, text):
            group = match.lastindex or 0
            begin, end = match.span(group)
            called = text[end : end + 1] in ("(", "[")
            if not called and (_looks_right(kind, match[group], least) if least else _is_given(match[group])):
                yield Found(kind, begin, end, False)


_IN_URL = re.compile(r":\\?/\\?/[^\s/@:\"'\\<>]{0,256}:([^\s/@\"'\\<>]{1,256})@")
_SMALL = {ord(c): c.lower() for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}


def _matches(folded: str, marks: tuple[str, ...], pattern: "re.Pattern[str]", text: str) -> Iterator["re.Match[str]"]:
    """Where the pattern fits and one of its marks begins; after a fit it goes on behind it."""
    for mark in marks:
        at = folded.find(mark)
        while at >= 0:
            match = pattern.match(text, at)
            gap = match is not None and "gap" in pattern.groupindex and match["gap"] is not None
            if match is not None and (not gap or _FLAG.search(text[max(0, at - 40) : at])):
                yield match
                at = folded.find(mark, max(at + 1, match.end()))
            else:
                at = folded.find(mark, at + 1)


def _looks_right(kind: str, value: str, least: int) -> bool:
    if kind in ("key", "token") and _UUID.match(value):
        return False
    if kind == "key" and _HASH.match(value):
        return False
    if kind == "AWS secret":
        return any(c.isupper() for c in value) and any(c.islower() for c in value)
    return _is_given(value) and looks_random(value, least)


def _is_given(value: str) -> bool:
    """Whether it is a value, and not what stands for one."""
    return value[0] not in "$%{<*[" and BLACK not in value and not set(value) <= set("*x.X-_")


def looks_random(value: str, least: int) -> bool:
    """Whether a value of at least `least` characters is no word, name, number or path."""
    value = value[:512]
    if len(value) < least or value[0] in "/~." or _NAMES.match(value) or any(c.isspace() for c in value):
        return False
    if not (any(c.isdigit() for c in value) and any(c.isalpha() for c in value)):
        return False
    if all(part.isalpha() or part.isdigit() or len(part) <= 3 for part in _PARTS.split(value)):
        return False
    return _entropy(value) >= (2.5 if least < 16 else 3.0)


def _entropy(value: str) -> float:
    """Bits a character."""
    counts = [value.count(character) for character in set(value)]
    return -sum(n / len(value) * log2(n / len(value)) for n in counts)
