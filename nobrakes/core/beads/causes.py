"""The likely cause of a failure (B42): said only where something that was seen speaks for it, and that is quoted.

1. Evidence is what the machine saw: a line of a check's output, a path of the difference, how a process ended. An
   agent's own words are none, nor is the kind of ending alone. Without evidence there is no hypothesis: an empty text.
2. The cause that most attempts speak for is named, of equals the latest one's; the quote is the latest.
3. The same attempts give the same words.
"""

import re
from collections import Counter
from collections.abc import Sequence

from ..text.cleaning import clean, shorten
from .attempt import Attempt
from .outcomes import Outcome

_QUOTE = 200

_TOOL = "the environment: a program that is needed is not installed where this ran"
_MODULE = "something that is imported is there for nobody: unfinished work, or a dependency that is not installed"
_NETWORK = "the environment: it wants a network or a server that it cannot reach"
_DISK = "the environment: the disk is full"
_MEMORY = "the environment: the memory was not enough, or somebody killed it"
_CLOSED = "the environment: a file or a right that it wants is closed to it"
_PATHS = "the test boundary: the work seems to need a file that the role may not change"
_SYNTAX = "the work itself: a file of it is no valid code, so nothing of it can run"
_NEVER = "something waits for ever, or the time limit is too short"
_BIG = "a hard or too large bead: it does not fit into one session; consider splitting it"
_SAME = "a flawed requirement, or a test that contradicts it: different attempts ended at the same line"

_IN_OUTPUT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), cause)
    for pattern, cause in (
        (r"no space left on device|\bENOSPC\b|disk quota exceeded", _DISK),
        (r"\bMemoryError\b|out of memory|cannot allocate memory|(exit|code|with) 137\b|signal 9\b|SIGKILL", _MEMORY),
        (r"command not found|: not found$|executable file not found|(exit|code|with) 127\b", _TOOL),
        (r"\bENOTFOUND\b|\bEAI_AGAIN\b|\bECONNREFUSED\b|connection refused|network is unreachable", _NETWORK),
        (r"name or service not known|name resolution|could not resolve host|no such host", _NETWORK),
        (r"permission denied|\bEACCES\b|\bEPERM\b|operation not permitted|read-only file system", _CLOSED),
        (r"\b(SyntaxError|IndentationError|TabError)\b|unexpected token|\bsyntax error\b|unterminated string", _SYNTAX),
        (r"\btimed? ?out\b|\bTimeoutError\b|deadline exceeded|did not end (in|within)|had its time", _NEVER),
        (r"\bNo module named\b|cannot find (module|package)|no required module provides|unresolved import", _MODULE),
    )
)

_OF_CHECKS = frozenset({Outcome.FAILED_REVIEW, Outcome.NOT_RED, Outcome.BROKEN_CHECKS})
_OF_PROCESSES = frozenset(
    {Outcome.CRASHED, Outcome.KILLED, Outcome.WORKSPACE_FAILED, Outcome.TIMED_OUT, Outcome.STALLED}
)
"""Endings whose detail is what a check or a process printed, and how it ended."""

_WHOLE = {
    **dict.fromkeys((Outcome.CONTEXT_OVERFLOW, Outcome.TURN_LIMIT), _BIG),
    **dict.fromkeys((Outcome.TIMED_OUT, Outcome.STALLED), _NEVER),
    Outcome.MISSING_EXECUTABLE: _TOOL,
}
"""Endings that the machine itself saw, and that have one cause."""

_FULL = re.compile(r"context was nearly full|context window|(prompt|input) is too long", re.I)
_BARE = re.compile(r"\W*(E\s+)?\w*(Error|Exception)\W*", re.I)
"""A line that says no more than that something failed: any two failures share it."""
_FAILED = re.compile(r"^(FAILED|FAIL:|ERROR:?|E |not ok\b|--- FAIL|✕|✗|×)|\b\w*(Error|Exception|panicked)\b", re.I)


def hypothesis(attempts: Sequence[Attempt]) -> str:
    """The likeliest cause of what these attempts came to, with its quote; empty without evidence."""
    found = [(cause, attempt, line) for attempt in attempts for cause, line in _evidence(attempt)]
    found += _same_line(attempts)
    if not found:
        return ""
    counted = Counter(cause for cause, _, _ in found)
    cause, attempt, line = max(enumerate(found), key=lambda at: (counted[at[1][0]], at[0]))[1]
    return f"{cause} (attempt {attempt.number}: {quote(line)})"


def of_output(text: str) -> str:
    """The likeliest cause of what a command printed, with its quote; empty without evidence."""
    sign = _sign(text)
    return f"{sign[0]} ({quote(sign[1])})" if sign else ""


def passed_before(what: str, output: str) -> str:
    """Why checks may fail on what passed them before: `what` says when it did; the first line that failed is quoted."""
    line = next(iter(_failures(output)), "") or next((line for line in output.splitlines() if line.strip()), "")
    return (
        f"a check that is flaky, or that depends on more than the tree: {what}, and now {quote(line)}" if line else ""
    )


def quote(line: str) -> str:
    """A line as it is shown within a sentence: on one line, without what nobody sees, bounded."""
    return f'"{shorten(" ".join(clean(line).split()), _QUOTE)}"'


def _evidence(attempt: Attempt) -> list[tuple[str, str]]:
    """(cause, the line that speaks for it), none or one."""
    lines = [line for line in attempt.detail.splitlines() if line.strip()]
    if not lines or attempt.outcome is None:
        return []
    if attempt.outcome is Outcome.BOUNDARY:
        return [(_PATHS, lines[1])] if len(lines) > 1 else []  # the first one says what follows
    if attempt.outcome in _OF_PROCESSES and (sign := _sign(attempt.detail)):
        return [sign]
    if attempt.outcome in _WHOLE:
        return [(_WHOLE[attempt.outcome], lines[0])]
    if attempt.outcome is Outcome.GAVE_UP_CONTEXT:
        return [(_BIG, line) for line in lines if _FULL.search(line)][:1]
    if attempt.outcome in _OF_CHECKS:
        sign = _sign(attempt.detail)
        return [sign] if sign else []
    return []


def _sign(text: str) -> tuple[str, str] | None:
    for line in text.splitlines():
        for pattern, cause in _IN_OUTPUT:
            if pattern.search(line):
                return cause, line
    return None


def _same_line(attempts: Sequence[Attempt]) -> list[tuple[str, Attempt, str]]:
    """An entry for each attempt whose checks failed with a line that those of another failed with, too."""
    checked = [(a, _failures(a.detail)) for a in attempts if a.outcome in _OF_CHECKS]
    times = Counter(line for _, lines in checked for line in dict.fromkeys(lines))
    shared = ((a, next((line for line in lines if times[line] > 1), None)) for a, lines in checked)
    return [(_SAME, a, line) for a, line in shared if line is not None]


def _failures(output: str) -> list[str]:
    lines = (" ".join(line.split()) for line in output.splitlines())
    return [line for line in lines if _FAILED.search(line) and not _BARE.fullmatch(line)]
