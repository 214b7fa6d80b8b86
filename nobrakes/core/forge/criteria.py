"""The eight acceptance criteria that every feature begins with, in the words of the project, and who judges each.

1. What a check of the project says is `automated`: it blocks a merge by itself. What no check says is for a person to
   try (`manual`); how errors are handled is for a review.
2. A project for the browser has a page and a console; another one has a terminal or a log.
3. A person takes any of them away, and adds their own.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..errors import UsageError
from .feature import Criterion

AUTOMATED, MANUAL, REVIEW = "automated", "manual", "review"
WAYS = (AUTOMATED, MANUAL, REVIEW)
MOST, LONGEST = 40, 500


@dataclass(frozen=True, slots=True)
class Stack:
    """What was detected: the commands of the project's checks by kind, empty where there is none; its language."""

    tests: str = ""
    types: str = ""
    lint: str = ""
    is_web: bool = False
    language: str = ""


def usual(stack: Stack) -> tuple[Criterion, ...]:
    """The eight, in their order."""
    typed = "TypeScript " if stack.language == "typescript" else ""
    web = (
        Criterion("The browser's console shows no errors", MANUAL),
        Criterion("The pages fit a phone and a wide screen (responsive)", MANUAL),
        Criterion("What loads shows that it loads (loading states)", MANUAL),
    )
    terminal = (
        Criterion("Nothing unexpected is written to stderr or the log: no warnings, no tracebacks", MANUAL),
        Criterion("What is printed fits a narrow terminal (responsive)", MANUAL),
        Criterion("What takes long says that it is at work (loading states)", MANUAL),
    )
    reached = "with the keyboard and a screen reader" if stack.is_web else "without colours and in plain text"
    return (
        _checked("The tests pass", stack.tests),
        _checked(f"There are no {typed}type errors", stack.types),
        _checked("There are no lint errors", stack.lint),
        *(web if stack.is_web else terminal),
        Criterion("Errors are handled: what fails says what happened and what to do", REVIEW),
        Criterion(f"Everybody can use it: {reached} (accessibility)", MANUAL),
    )


def _checked(text: str, command: str) -> Criterion:
    """A check's command says it; where there is none, a person looks."""
    return Criterion(f"{text}: `{command}`", AUTOMATED) if command else Criterion(text, MANUAL)


def chosen(eight: Sequence[Criterion], without: Collection[int], own: Sequence[str]) -> tuple[Criterion, ...]:
    """The usual ones but those of these numbers (from 1), and a person's own. UsageError.

    An own one may begin with how it is judged: "review: the API stays as it is"; else a person judges it.
    """
    wrong = sorted(number for number in without if not 1 <= number <= len(eight))
    if wrong:
        raise UsageError(f"there is no criterion {wrong[0]}", f"They are numbered from 1 to {len(eight)}.")
    kept = [one for number, one in enumerate(eight, start=1) if number not in without]
    kept += [own_one(text) for text in own if text.strip()]
    if not kept:
        raise UsageError("a feature needs an acceptance criterion", "Keep one of the usual ones, or give your own.")
    if len(kept) > MOST:
        raise UsageError(f"a feature has at most {MOST} acceptance criteria, and these are {len(kept)}")
    return tuple(dict.fromkeys(kept))


def own_one(text: str) -> Criterion:
    """A person's criterion from their words; UsageError."""
    how, colon, rest = text.partition(":")
    judged = how.strip().lower()
    words = " ".join((rest if colon and judged in WAYS else text).split())
    if not words:
        raise UsageError("a criterion is empty", "Say what has to hold.")
    if len(words) > LONGEST:
        raise UsageError(f"a criterion has at most {LONGEST} characters, and this has {len(words)}")
    return Criterion(words, judged if colon and judged in WAYS else MANUAL, usual=False)
