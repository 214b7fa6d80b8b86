"""How many lines of a test file assert something, and which files have fewer of them than before. Pure.

1. Lines are counted, not understood: a line with two assertions is one, and so is one that is never reached. A
   comment is none. What is lost between two versions is what counts.
2. A file of a language that is not known has no number, and nothing is said of it.
3. A file that is gone may have moved: what it asserted has to be found in the files that are new.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_PYTHON = re.compile(
    r"^\s*assert\b|\bself\.(?:assert[A-Z_]\w*|fail)\(|\b(?:raises|warns|deprecated_call|approx)\(|\.assert_[a-z_]+\("
)
_SCRIPT = re.compile(r"\b(?:expect|assert)(?:\.\w+)*\s*\(|\bt\.(?!test|plan|end|log)\w+\(|\.should\b|\bshould\(")
_GO = re.compile(r"\b[tbf]\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)\(|\b(?:assert|require|is|qt)\.\w+\(")
_RUST = re.compile(r"\b(?:debug_)?assert\w*!|\bpanic!|\bunreachable!|#\[should_panic|\bprop_assert\w*!")
_JAVA = re.compile(
    r"\b(?:assert\w*|fail|verify\w*|expect\w*)\s*\(|^\s*assert\b|\bexpected\s*=|\b(?:shouldBe|shouldThrow)\b"
)

_BY_ENDING: Mapping[str, tuple[re.Pattern[str], tuple[str, ...]]] = {
    **dict.fromkeys(("py", "pyi"), (_PYTHON, ("#",))),
    **dict.fromkeys(("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts"), (_SCRIPT, ("//", "*", "/*"))),
    "go": (_GO, ("//", "*", "/*")),
    "rs": (_RUST, ("//", "*", "/*")),
    **dict.fromkeys(("java", "kt", "kts", "groovy", "scala"), (_JAVA, ("//", "*", "/*"))),
}

LONGEST = 2_000
"""Characters of a line that are looked at."""


@dataclass(frozen=True, slots=True)
class Fewer:
    """Files that assert less: their paths, and how many lines there were and are."""

    paths: tuple[str, ...]
    before: int
    after: int

    def __str__(self) -> str:
        files = ", ".join(self.paths[:3]) + (f" and {len(self.paths) - 3} more" if len(self.paths) > 3 else "")
        return f"{files}: {self.after} lines assert something, and {self.before} did before"


def count(path: str, text: str) -> int | None:
    """The lines that assert something; None: the language is not known."""
    known = _BY_ENDING.get(path.rpartition(".")[2].lower())
    if known is None:
        return None
    pattern, comments = known
    lines = (line[:LONGEST] for line in text.splitlines())
    return sum(1 for line in lines if pattern.search(line) and not line.lstrip().startswith(comments))


def fewer(before: Mapping[str, str], after: Mapping[str, str]) -> list[Fewer]:
    """What the touched test files lost, by their texts before and after; a path that is missing is gone, or new."""
    found = []
    for path in sorted(before.keys() & after.keys()):
        was, now = count(path, before[path]) or 0, count(path, after[path]) or 0
        if now < was:
            found.append(Fewer((path,), was, now))
    gone = {path: count(path, before[path]) or 0 for path in sorted(before.keys() - after.keys())}
    moved = sum(count(path, after[path]) or 0 for path in after.keys() - before.keys())
    lost = sum(gone.values())
    if moved < lost:
        found.append(Fewer(tuple(path for path, number in gone.items() if number), lost, moved))
    return found
