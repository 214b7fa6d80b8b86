"""How a test is altered so that it has to fail, in languages that are read by patterns.

Pure; core.checks.mutation_probes says why.

1. A value is altered into one near it where the test plainly comes to it: an assertion of one line, compared with a
   literal, that is no part of a loop, a branch or a function within, with nothing before it that may leave the test.
2. Else the test fails as the first thing that it does.
3. What may be skipped is left alone, and so is a file in which only some tests may run.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

Altered = tuple[str, str, bool]
"""(what the runner calls the test, the altered file, whether the expected value was altered)."""

SCRIPTS = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")

_LITERAL = r"""-?\d+(?:\.\d+)?|"[^"\\\n]*"|'[^'\\\n]*'|true|false|null"""
_QUOTED = re.compile(r"""//.*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`[^`\n]*`""")
_LEAVES = re.compile(r"\b(?:return|throw|raise|skip|pending|next|assume\w*|rescue|catch|done|exit)\b")


One = TypeVar("One")


class Dice(Protocol):
    """What draws (random.Random, which has no place in a pure room)."""

    def choice(self, seq: Sequence[One], /) -> One:
        """One of them."""
        ...


Alter = Callable[[str, Dice], Iterator[Altered]]


def near_number(text: str, draw: Dice) -> str:
    """Another number of the same look: its last digit is another one."""
    places = [place for place, one in enumerate(text.partition("e")[0]) if one.isdigit()]
    if not places or not re.fullmatch(r"[-0-9.e+]+", text):
        return "1"
    last = places[:12][-1]  # what comes later may be more than a number can tell apart
    return f"{text[:last]}{_other(text[last], '123456789', draw)}{text[last + 1 :]}"


def near_text(text: str, draw: Dice) -> str:
    """Another text of the same look: one letter or digit of it is another one."""
    places = [place for place, one in enumerate(text) if one.isascii() and one.isalnum()]
    if not places:
        return text + draw.choice("abcdefghijklmnopqrstuvwxyz")
    place = draw.choice(places)
    kind = next(kind for kind in ("0123456789", _LOWER, _LOWER.upper()) if text[place] in kind)
    return f"{text[:place]}{_other(text[place], kind, draw)}{text[place + 1 :]}"


def _near(literal: str, draw: Dice) -> str:
    """Another literal near this one: a quoted text, a number, a word for yes, no or nothing."""
    if literal[:1] in "\"'":
        return f"{literal[0]}{near_text(literal[1:-1], draw)}{literal[0]}"
    return _OPPOSITE.get(literal) or near_number(literal, draw)


def _other(one: str, kind: str, draw: Dice) -> str:
    return draw.choice([other for other in kind if other.lower() != one.lower()])


_LOWER = "abcdefghijklmnopqrstuvwxyz"
_OPPOSITE = {"true": "false", "false": "true", "null": "0"}


def _by(pattern: str, first: str, skips: str, left_out: str, value: str = "") -> Alter:
    """Alters what begins as the pattern says (its group `name`), by putting `first` behind it.

    `skips`: in a test that may not run; `left_out`: in a file some of whose tests may not run. `value`: a line with a
    value (a group with a name) that becomes one near it instead, where the test certainly comes to that line.
    """
    begin, skipped, partial = re.compile(pattern, re.MULTILINE), re.compile(skips), re.compile(left_out, re.MULTILINE)
    line = re.compile(value) if value else None

    def alter(text: str, draw: Dice) -> Iterator[Altered]:
        found = [] if partial.search(text) else list(begin.finditer(text))
        ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
        for match, end in zip(found, ends, strict=True):
            if skipped.search(match[0]) or skipped.search(text[match.end() : end]):
                continue
            name = match.groupdict().get("test") or match["name"]
            place = _value(text, match.end(), end, line) if line is not None else None
            if place is None:
                yield name, text[: match.end()] + match.expand(first) + text[match.end() :], False
            else:
                near = _near(text[place[0] : place[1]], draw)
                yield name, text[: place[0]] + near + text[place[1] :], True

    return alter


def _value(text: str, begin: int, end: int, line: re.Pattern[str]) -> tuple[int, int] | None:
    """Where the value is that the test whose body is at `begin` certainly comes to; None where there is none."""
    at, depth, indent = begin, 0, None
    for row in text[begin:end].splitlines(keepends=True)[:50]:
        plain = _QUOTED.sub("", row)
        margin = len(row) - len(row.lstrip())
        if plain.strip() and at > begin:
            indent = margin if indent is None else indent
            if margin < indent or depth < 0:
                return None
            match = line.fullmatch(row.rstrip("\r\n")) if depth == 0 and margin == indent else None
            if match is not None and match.lastgroup:
                begins, ends = match.span(match.lastgroup)
                return at + begins, at + ends
        if _LEAVES.search(plain):
            return None
        depth += sum(map(plain.count, "({[")) - sum(map(plain.count, ")}]"))
        at += len(row)
    return None


_SCRIPT = _by(
    r"^[ \t]*(?:test|it)\(\s*(?P<quote>[\"'`])(?P<name>[A-Za-z0-9 _.,:-]+)(?P=quote)\s*,\s*"
    r"(?:async\s+)?(?:function\s*\w*\s*\([^)]*\)|\([^)]*\)\s*=>|\w+\s*=>)\s*\{",
    " throw new Error();",
    r"\.skip|\.todo|xit\(|xtest\(",
    r"\.only\b|\b(?:describe|suite|context)\.(?:skip|todo|runIf|each)|\b(?:xdescribe|xcontext|fdescribe|fit)\(",
    r"[ \t]*(?:await\s+)?(?:(?:[\w$]+\.)+(?:equals?|strictEquals?|is|same|deepEquals?|deepStrictEqual)\(.*?,\s*"
    rf"(?P<value>{_LITERAL})(?:,\s*(?:\"[^\"]*\"|'[^']*'))?"
    r"|expect\(.*\)\.(?:toBe|toEqual|toStrictEqual|to\.(?:be\.|deep\.)?(?:equal|eql|eq))\("
    rf"(?P<other>{_LITERAL}))\);?\s*",
)


def _perl(text: str, draw: Dice) -> Iterator[Altered]:
    """Test points of Test::More that stand at the left of a file which skips nothing."""
    if re.search(r"(?i:\bskip|\btodo\b)|\bexit\b", text):
        return
    quoted = r"""(?P<quote>["'])(?P<name>[A-Za-z0-9 _.,:-]+)(?P=quote)"""
    value = r"""-?\d+(?:\.\d+)?|"[^"\\\n$@]*"|'[^'\\\n]*'"""
    point = re.compile(rf"^is[ (].+?,\s*(?P<value>{value}),\s*{quoted}\)?;[ \t]*$", re.MULTILINE)
    for match in point.finditer(text):
        near = _near(match["value"], draw)
        yield match["name"], f"{text[: match.start('value')]}{near}{text[match.end('value') :]}", True


_RUBY = _by(
    r"^[ \t]*(?:(?:it|specify|example|test) (?P<quote>['\"])(?P<name>[A-Za-z0-9 _.,:-]+)(?P=quote) do"
    r"|def (?P<test>test_\w+))[ \t]*$",
    "; raise",
    r"\bskip\b|\bpending\b",
    r"^[ \t]*(?:[fx](?:describe|context|it|specify)|(?:describe|context|it|specify)\b.*(?:, :\w|\w: ))|:focus|\bskip\b",
    rf"[ \t]*(?:expect\(.*\)\.to eql?[ (](?P<value>{_LITERAL})\)?|assert_equal\(? ?(?P<other>{_LITERAL}), .*"
    rf"|\S.*\.must_equal[ (](?P<spec>{_LITERAL})\)?)[ \t]*",
)
_JAVA = _by(
    r"@Test\s*(?:@DisplayName\([^)]*\)\s*)?(?:public |protected )?(?:final )?void (?P<name>\w+)\(\)[^{;]*\{",
    " if (true) { throw new AssertionError(); }",
    r"\bassum|\bAssum",
    r"@(?:Disabled|Ignore|Enabled|Tag|Category)|@Test\s*\(|@RunWith",
    rf"[ \t]*(?:Assert\w*\.)?assertEquals\((?P<value>{_LITERAL}), .*\);[ \t]*",
)

OTHERS: Mapping[str, Alter] = {
    **dict.fromkeys(SCRIPTS, _SCRIPT),
    ".go": _by(
        r"^func (?P<name>Test\w+)\((?P<t>\w+) \*testing\.T\) \{",
        r" \g<t>.FailNow();",
        r"\.Skip|testing\.Short",
        r"^//\s*\+build|^//go:build",
    ),
    ".rs": _by(
        r"#\[test\]\s*(?:#\[(?!ignore|should_panic)[^\]]*\]\s*)*(?:pub )?fn (?P<name>\w+)\(\)[^{;]*\{",
        " if true { panic!(); }",
        r"#\[ignore|should_panic",
        r"#!?\[cfg(?:_attr)?\((?!test\))",
    ),
    ".rb": _RUBY,
    ".java": _JAVA,
    ".t": _perl,
}
"""The ending of a file to what alters each of its tests."""
