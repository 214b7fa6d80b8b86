"""Tests within files of code and text, and data that tests may run over, so that a change that only adds some can be
told. Pure.

Found by their forms: a Rust function below `cfg(test)` or with an attribute of a test, a doctest, an in-source test of
vitest, a `test` of Zig, a `unittest` of D, a TEST_CASE or TEST of C++. Of a data file each row counts, in its order.
Each row is looked at once, whatever an agent wrote into the file.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby

from .runner_hooks import block, inner_end

_DOC = r"[ \t]*+(?:(?:--|#|\*|//[/!]?)[ \t]*+)?"
_EXAMPLE = re.compile(rf"{_DOC}(?:>>>|iex(?:\(\d+\))?>)")
_NO_TEXT = re.compile(rf"{_DOC}\Z")
_RUST_DOC = re.compile(r"[ \t]*//[/!]")
_ATTRIBUTE = re.compile(r"[ \t]*#\[")
_TEST_ATTRIBUTE = re.compile(r"\b(?:test|rstest|test_case|proptest|quickcheck|bench)\b")
_ITEM = re.compile(r"\b(?:fn|mod|macro_rules)\b")
_FUNCTION = re.compile(r"\bfn\b")
_MODULE = re.compile(r"\bmod\b")
_EXAMPLES = frozenset(("py", "pyx", "ex", "exs", "hs", "lhs", "rb", "md", "rst", "txt", "adoc"))
_DATA = frozenset(("json", "jsonl", "ndjson", "yaml", "yml", "toml", "csv", "tsv", "xml", "ini", "sql"))
_PATTERNS = {
    "js mjs cjs jsx ts mts cts tsx": r"\bimport\.meta\.vitest\b",
    "zig": r"\A[ \t]*test\b[^{]*\{",
    "d": r"\bunittest\b",
    "c cc cpp cxx h hpp hh": r"\A[ \t]*(?:TEST_CASE|SCENARIO|TEST(?:_F|_P)?)\b",
}
_BY_SUFFIX = {end: re.compile(pattern) for ends, pattern in _PATTERNS.items() for end in ends.split()}


def may_hold(path: str) -> bool:
    suffix = _suffix(path)
    return suffix == "rs" or suffix in _EXAMPLES or suffix in _DATA or suffix in _BY_SUFFIX


def takes_away(path: str, before: str, after: str) -> bool:
    """Whether a test or row of `before` is not in `after`, or rows change their order."""
    if _suffix(path) in _DATA:
        left = iter(_rows(path, after))
        return not all(row in left for row in _rows(path, before))
    return bool(found(path, before) - found(path, after))


def _rows(path: str, text: str) -> Iterator[str]:
    comma = "," if _suffix(path) == "json" else ""  # of the last item, before another one
    return (row.rstrip().removesuffix(comma) for row in text.splitlines())


def found(path: str, text: str) -> Counter[str]:
    """Each test and helper, and how often it is there."""
    suffix, rows = _suffix(path), text.splitlines()
    if suffix in _EXAMPLES:
        texts = _examples(rows)
    else:
        filled = [row for row in rows if row.strip()]
        texts = _rust(filled) if suffix == "rs" else _blocks(filled, _BY_SUFFIX[suffix])
    return Counter(" ".join(one.split()) for one in texts)


def _examples(rows: Sequence[str]) -> Iterator[str]:
    """Each with what follows it up to a row without text."""
    open_: list[str] = []
    for row in (*rows, ""):
        if open_ and _NO_TEXT.match(row):
            yield "\n".join(open_)
            open_ = []
        elif open_ or _EXAMPLE.match(row):
            open_.append(row)


def _blocks(rows: Sequence[str], pattern: re.Pattern[str]) -> Iterator[str]:
    return (block(rows, at) for at, row in enumerate(rows) if pattern.search(row))


def _rust(rows: Sequence[str]) -> Iterator[str]:
    """Functions and doctests. Of a module only its head counts, since each test that is added makes it longer."""
    above: list[str] = []
    functions: dict[int, str] = {}
    named = frozenset(at for at, row in enumerate(rows) if _FUNCTION.search(row))
    for at, row in enumerate(rows):
        if _ATTRIBUTE.match(row) and not _ITEM.search(row):
            above.append(row)
            continue
        is_test = any(map(_TEST_ATTRIBUTE.search, (*above, row) if _ATTRIBUTE.match(row) else above))
        head, above = "\n".join(above), []
        if is_test and _MODULE.search(row):
            yield f"{head}\n{row}"
            functions |= dict.fromkeys(named.intersection(range(at + 1, inner_end(rows, at))), "")
        elif at in functions or (is_test and _ITEM.search(row)):
            functions[at] = head
    yield from (f"{head}\n{block(rows, at)}" for at, head in functions.items())
    for is_doc, group in groupby(rows, lambda row: _RUST_DOC.match(row) is not None):
        doc = "\n".join(group) if is_doc else ""
        if "```" in doc:
            yield doc


def _suffix(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[2].casefold()
