"""Test rounds (B22): how often an agent ran the project's tests, by the calls of its tools.

1. A call is a round where it runs the program of a check of kind test, alone, behind others or in a shell of its own,
   with whatever arguments: `pytest -x tests/test_a.py` is one where the check is `python3 -m pytest -q`.
2. A call counts once. What merely names the program (`pip install pytest`, `grep pytest`) is none.
3. `nobrakes agent test` is counted where it is reported (Kind.TESTED), and never here.
4. Rounds in a row that fail in the same way, by what they count, are a streak. A round that passes, or fails in another
   way, ends it; so does an explanation (`nobrakes agent log`).
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from .contract import Check

ROUNDS = "rounds"
"""In an attempt's data: how many test rounds it made."""

_RUNNERS = r"python[\d.]*|node|ruby|perl|php|bash|sh|deno"
_WRAPPERS = r"uv|poetry|pipenv|pdm|hatch|rye|bundle|env|exec|time|nice|run|xvfb-run|timeout|stdbuf|\d+[smh]?"
_WITH_VERB = frozenset(
    ("npm", "npx", "pnpm", "yarn", "bun", "bunx", "cargo", "go", "make", "gmake", "mvn", "mvnw", "gradle", "gradlew",
     "dotnet", "mix", "rake", "deno", "swift", "sbt", "just", "task", "bazel", "cabal", "stack", "flutter", "dart")
)  # fmt: skip
"""Programs that do many things: the word after them says which."""

_START = r"""(?:^(?:[\w .-]{1,30}:\s)?|[;&|(\n`]|-l?c\s+['"]?|\$\()\s*"""
_BEFORE = rf"""(?:(?:\w+=\S*|(?:\S*/)?(?:{_RUNNERS}|{_WRAPPERS})|-\S+)\s+)*(?:\S*/)?"""
_AFTER = r"""(?=$|[\s;&|)'"`])"""


@dataclass(frozen=True, slots=True)
class Streak:
    """How many rounds in a row failed, and how."""

    rounds: int = 0
    how: str = ""


def after(streak: Streak, how: str | None) -> Streak:
    """The streak after one more round; None: that passed."""
    if how is None:
        return Streak()
    return Streak(streak.rounds + 1 if how == streak.how else 1, how)


def failed_at_door(text: str, checks: Iterable[Check]) -> str | None:
    """How the tests failed in what `nobrakes agent test` reported; None: they passed, or were not run."""
    tests = tuple(f"{check.name}: " for check in checks if check.kind == "test")
    failed = [one for one in text.split("; ") if one.startswith(tests) and not one.endswith(": pass")] if tests else []
    return "; ".join(failed) or None


def program(command: str) -> tuple[str, ...]:
    """The word that a check's last command starts, with its verb where it has many; empty: nobody can tell."""
    last = re.split(r"[;&|\n]+", command.strip().rstrip(";&|"))[-1]
    words = [word for word in last.replace("'", " ").replace('"', " ").split() if not re.match(r"\w+=", word)]
    passed = re.compile(rf"(?:\S*/)?(?:{_RUNNERS}|{_WRAPPERS})")
    options = [word for word in words if word.startswith("-")]
    words = [word for word in words if not word.startswith("-")]
    while len(words) > 1 and passed.fullmatch(words[0]):
        words.pop(0)
    if not words:
        return ()
    first = words[0].rpartition("/")[2]
    if options and re.fullmatch(_RUNNERS, first):  # `node --test`: it runs many things
        return (first, options[0])
    return (first, *[w for w in words[1:] if w != "run"][:1]) if first in _WITH_VERB else (first,)


def runs(checks: Iterable[Check]) -> re.Pattern[str] | None:
    """What finds a call that runs the tests; None: there is no check of kind test to find."""
    wanted = sorted({found for check in checks if check.kind == "test" and (found := program(check.command))})
    if not wanted:
        return None
    between = r"(?:\s+(?:-\S+|run))*\s+"
    either = "|".join(between.join(map(re.escape, words)) for words in wanted)
    return re.compile(f"{_START}{_BEFORE}(?:{either}){_AFTER}")


def words(checks: Iterable[Check]) -> tuple[str, ...]:
    """A word each that stands in every call that `runs` finds."""
    return tuple(sorted({program(check.command)[0] for check in checks if check.kind == "test" and check.command}))


def count(calls: Sequence[str], pattern: re.Pattern[str] | None) -> int:
    """How many of the calls are rounds."""
    return sum(1 for call in calls if pattern is not None and pattern.search(call))
