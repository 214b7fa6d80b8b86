"""Tests within files of code, each with its text, so that a change that only adds some can be told. Pure.

Found by their forms: a Rust function below `cfg(test)` or with an attribute of a test, a doctest, an in-source test of
vitest, a `test` of Zig, a `unittest` of D, a TEST_CASE or TEST of C++.
"""

import re
from collections import Counter
from collections.abc import Iterator

from .runner_hooks import block

_DOC = r"[ \t]*(?:--|#|\*|//[/!]?)?[ \t]*"
_EXAMPLE = rf"^{_DOC}(?:>>>|iex(?:\(\d+\))?>)[^\n]*(?:\n(?!{_DOC}$)[^\n]*)*"
_RUST = (
    r"^[ \t]*#\[[^\n]*\b(?:test|rstest|test_case|proptest|quickcheck|bench)\b[^\n]*\n(?:[ \t]*#\[[^\n]*\n)*"
    r"[^\n]*\b(?:fn|mod|macro_rules)\b[^\n]*|^[ \t]*//[/!][ \t]*```[^\n]*(?:\n[ \t]*//[/!][^\n]*)*"
)
_PATTERNS = {
    "py pyx ex exs hs lhs rb": _EXAMPLE,
    "rs": _RUST,
    "js mjs cjs jsx ts mts cts tsx": r"^[^\n]*\bimport\.meta\.vitest\b[^\n]*",
    "zig": r"^[ \t]*test\b[^\n]*\{[^\n]*",
    "d": r"^[^\n]*\bunittest\b[^\n]*",
    "c cc cpp cxx h hpp hh": r"^[ \t]*(?:TEST_CASE|SCENARIO|TEST(?:_F|_P)?)\b[^\n]*",
}
_BY_SUFFIX = {end: re.compile(pattern, re.MULTILINE) for ends, pattern in _PATTERNS.items() for end in ends.split()}
_FUNCTION = re.compile(r"^[^\n]*\bfn\b[^\n]*", re.MULTILINE)
_MODULE = re.compile(r"\bmod\b")


def may_hold(path: str) -> bool:
    return _suffix(path) in _BY_SUFFIX


def found(path: str, text: str) -> Counter[str]:
    """Each test and helper, and how often it is there."""
    return Counter(" ".join(one.split()) for one in _texts(_suffix(path), text))


def _texts(suffix: str, text: str) -> Iterator[str]:
    for match in _BY_SUFFIX[suffix].finditer(text):
        if suffix == "rs" and _MODULE.search(match.group()):  # it grows by each test that is added
            yield match.group()
            inside = _inside(text[match.end() :], match.group())
            yield from (block(inside, one.end()) for one in _FUNCTION.finditer(inside))
        else:
            yield f"{match.group()}\n{block(text, match.end())}"


def _inside(text: str, head: str) -> str:
    """The lines below a line that are indented more than it is."""
    margin = len(head) - len(head.lstrip())
    rows = text.splitlines()
    end = next((n for n, row in enumerate(rows) if row.strip() and len(row) - len(row.lstrip()) <= margin), len(rows))
    return "\n".join(rows[:end])


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].casefold()
