"""The likely cause of a failure: said only where something that was seen speaks for it, and that is quoted.

1. Evidence is what the machine saw: a line of a check's output, a path of the difference, how a process ended. An
   agent's own words are none, nor is the kind of ending alone. Without evidence there is no hypothesis: an empty text.
2. The cause that most attempts speak for is named, of equals the latest one's; the quote is the latest. An attempt
   whose output has a cause of its own says nothing of a line that it shares with others.
3. The same attempts give the same words.
"""

import re
from collections import Counter
from collections.abc import Sequence

from ..beads.model import Attempt, Outcome
from ..text.cleaning import clean, shorten

_QUOTE = 200

_TOOL = "the environment: a required program is not installed"
_MODULE = "an imported module cannot be found: unfinished work, or a dependency that is not installed"
_NETWORK = "the environment: a network or a server cannot be reached"
_DISK = "the environment: the disk is full"
_MEMORY = "the environment: there was not enough memory, or the process was killed"
_CLOSED = "the environment: access to a file was denied, or a permission is missing"
_PATHS = "the test boundary: the work seems to need a file that the role may not change"
_SYNTAX = "the work itself: a file with a syntax error cannot run"
_NEVER = "a process waits forever, or the time limit is too short"
_BIG = "the bead is too large for one session: consider splitting the bead"
_SAME_ASSERTION = "the same assertion fails in different attempts"
_SAME_ERROR = "the same error ends different attempts"
_SAME_TEST = "the same test fails in different attempts"

_IN_OUTPUT: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.I), cause)
    for pattern, cause in (
        (r"no space left on device|\bENOSPC\b|disk quota exceeded", _DISK),
        (r"\bMemoryError\b|out of memory|cannot allocate memory|(exit|code|with) 137\b|signal 9\b|SIGKILL", _MEMORY),
        (
            r"command not found|^[ \t]*(\S*sh|env|make): .*\bnot found$|executable file not found"
            r"|(exit|code|with) 127\b",
            _TOOL,
        ),
        (r"\bENOTFOUND\b|\bEAI_AGAIN\b|\bECONNREFUSED\b|connection refused|network is unreachable", _NETWORK),
        (r"name or service not known|name resolution|could not resolve host|no such host", _NETWORK),
        (r"permission denied|\bEACCES\b|\bEPERM\b|operation not permitted|read-only file system", _CLOSED),
        (r"\b(SyntaxError|IndentationError|TabError)\b|unexpected token|\bsyntax error\b|unterminated string", _SYNTAX),
        (
            r"\btimed? ?out\b|\bTimeoutError\b|deadline exceeded|did not end (in|within)|had its time|ran longer than",
            _NEVER,
        ),
        (r"\bNo module named\b|cannot find (module|package)|no required module provides|unresolved import", _MODULE),
    )
)

_CHECK_OUTCOMES = frozenset({Outcome.FAILED_REVIEW, Outcome.NOT_RED, Outcome.BROKEN_CHECKS})
_PROCESS_OUTCOMES = frozenset(
    {Outcome.CRASHED, Outcome.KILLED, Outcome.WORKSPACE_FAILED, Outcome.TIMED_OUT, Outcome.STALLED}
)

_CAUSES = {
    **dict.fromkeys((Outcome.CONTEXT_OVERFLOW, Outcome.TURN_LIMIT), _BIG),
    **dict.fromkeys((Outcome.TIMED_OUT, Outcome.STALLED), _NEVER),
    Outcome.MISSING_EXECUTABLE: _TOOL,
}

_FULL = re.compile(r"context was nearly full|context window|(prompt|input) is too long", re.I)
_BARE = re.compile(r"\W*(E\s+)?\w*(Error|Exception)\W*", re.I)
_ASSERTION = re.compile(
    r"\s*(?:[E>]\s+)?(?:(?:self\.)?assert\w*\b|Assert\w*Error\b)|.* - (?:assert\b|Assert\w*Error\b)|"
    r".*\bassertion\b.*\bfailed"
)
MAX_LINE = 1000
"""Characters of a line that are compared."""
_NAMES_TEST = re.compile(r"(FAILED|FAIL:|ERROR:?|not ok\b|--- FAIL|✕|✗|×)")
_COUNTS = re.compile(r"FAILED \(\w+=\d+.*\)")
_FAILED = re.compile(r"^(FAILED|FAIL:|ERROR:?|E |not ok\b|--- FAIL|✕|✗|×)|\b\w*(Error|Exception|panicked)\b", re.I)


def hypothesis(attempts: Sequence[Attempt]) -> str:
    """The likeliest cause of these attempts, with its quote; empty without evidence."""
    found = [(cause, attempt, line) for attempt in attempts for cause, line in _evidence(attempt)]
    found += _same_line(attempts)
    if not found:
        return ""
    counted = Counter(cause for cause, _, _ in found)
    cause, attempt, line = max(enumerate(found), key=lambda at: (counted[at[1][0]], at[0]))[1]
    return f"{cause} (attempt {attempt.number}: {quote(line)})"


def likely_cause(text: str) -> str:
    sign = _sign(text)
    return f"{sign[0]} ({quote(sign[1])})" if sign else ""


def passed_before(what: str, output: str) -> str:
    """Why checks may fail on code that passed: `what` says when; quotes the first failed line."""
    line = next(iter(_failures(output)), "") or next((line for line in output.splitlines() if line.strip()), "")
    return f"the check is flaky, or depends on more than the files: {what}, and now {quote(line)}" if line else ""


def quote(line: str) -> str:
    return f'"{shorten(" ".join(clean(line).split()), _QUOTE)}"'


def _evidence(attempt: Attempt) -> list[tuple[str, str]]:
    """(cause, its line), none or one."""
    lines = [line for line in attempt.detail.splitlines() if line.strip()]
    if not lines or attempt.outcome is None:
        return []
    if attempt.outcome is Outcome.BOUNDARY:
        return [(_PATHS, lines[1])] if len(lines) > 1 else []  # the first one says what follows
    if attempt.outcome in _PROCESS_OUTCOMES and (sign := _sign(attempt.detail)):
        return [sign]
    if attempt.outcome in _CAUSES:
        return [(_CAUSES[attempt.outcome], lines[0])]
    if attempt.outcome is Outcome.GAVE_UP_CONTEXT:
        return [(_BIG, line) for line in lines if _FULL.search(line)][:1]
    if attempt.outcome in _CHECK_OUTCOMES:
        sign = _sign(attempt.detail)
        return [sign] if sign else []
    return []


def _sign(text: str) -> tuple[str, str] | None:
    for line in text.splitlines():
        if _ASSERTION.match(line):
            continue
        for pattern, cause in _IN_OUTPUT:
            if pattern.search(line):
                return cause, line
    return None


def _same_line(attempts: Sequence[Attempt]) -> list[tuple[str, Attempt, str]]:
    checked = [(a, _failures(a.detail)) for a in attempts if a.outcome in _CHECK_OUTCOMES and not _sign(a.detail)]
    times = Counter(line for _, lines in checked for line in dict.fromkeys(lines))
    found = []
    for attempt, lines in checked:
        shared = [line for line in lines if times[line] > 1]
        if shared:
            line = min(shared, key=lambda one: _ORDER.index(_kind(one)))
            found.append((_kind(line), attempt, line))
    return found


_ORDER = (_SAME_ASSERTION, _SAME_ERROR, _SAME_TEST)


def _kind(line: str) -> str:
    if _ASSERTION.search(line):
        return _SAME_ASSERTION
    return _SAME_TEST if _NAMES_TEST.match(line) else _SAME_ERROR


def _failures(output: str) -> list[str]:
    lines = (" ".join(line.split())[:MAX_LINE] for line in output.splitlines())
    return [line for line in lines if _FAILED.search(line) and not (_BARE.fullmatch(line) or _COUNTS.fullmatch(line))]
