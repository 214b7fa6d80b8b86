"""A likely cause is said only where something that was seen speaks for it, and that is quoted."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.model import Attempt, AttemptLog, Outcome, Role
from nobrakes.decisions.causes import hypothesis, likely_cause, passed_before


def tried(*ends: tuple[Outcome | None, str]) -> list[Attempt]:
    return [
        Attempt(n, "b", n, Role.DOER, "Ada", fence=n, token="t", started_at=0.0, outcome=outcome, detail=detail)
        for n, (outcome, detail) in enumerate(ends, start=1)
    ]


RED = "test: fail: 1 test failed\n{}\n1 failed in 0.02s"


@pytest.mark.parametrize(
    ("outcome", "detail", "cause", "quoted"),
    [
        (Outcome.FAILED_REVIEW, RED.format("E   ModuleNotFoundError: No module named 'requests'"), "imported", "requests"),
        (Outcome.FAILED_REVIEW, RED.format("Error: connect ECONNREFUSED 127.0.0.1:5432"), "network", "127.0.0.1:5432"),
        (Outcome.BROKEN_CHECKS, "test: broken: exit code 127\nsh: 1: pytest: not found", "not installed", "127"),
        (Outcome.BROKEN_CHECKS, "test: broken\n  sh: 1: tsc: not found", "not installed", "tsc: not found"),
        (Outcome.BROKEN_CHECKS, "test: broken\nmake: sh: foo: not found", "not installed", "foo: not found"),
        (Outcome.NOT_RED, RED.format("OSError: [Errno 28] No space left on device"), "disk", "No space left"),
        (Outcome.KILLED, "ended by signal 9", "memory", "signal 9"),
        (Outcome.FAILED_REVIEW, RED.format("E   SyntaxError: invalid syntax"), "syntax error", "SyntaxError"),
        (Outcome.FAILED_REVIEW, RED.format("  IndentationError: unexpected indent"), "syntax error", "Indentation"),
        (Outcome.BROKEN_CHECKS, "test: broken: it timed out after 600 seconds", "waits forever", "timed out"),
        (Outcome.TIMED_OUT, "it was ended after 90 minutes", "waits forever", "90 minutes"),
        (Outcome.STALLED, "nothing happened for 20 minutes", "waits forever", "20 minutes"),
        (Outcome.TIMED_OUT, "npm ERR! getaddrinfo ENOTFOUND registry", "network", "ENOTFOUND"),
        (Outcome.CRASHED, "exit code 1 in the middle of its turn: EACCES: /x", "denied", "EACCES: /x"),
        (Outcome.MISSING_EXECUTABLE, "the command was not found: agent", "not installed", "agent"),
        (Outcome.BOUNDARY, "The branch changes what it may not:\ntests/test_a.py: a test", "boundary", "tests/test_a.py"),
        (Outcome.TURN_LIMIT, "Reached maximum number of turns (30)", "too large", "turns (30)"),
        (Outcome.CONTEXT_OVERFLOW, "prompt is too long: 210000 tokens", "too large", "210000"),
        (Outcome.GAVE_UP_CONTEXT, "its context was nearly full (limits.context_share)", "too large", "nearly full"),
    ],
)  # fmt: skip
def test_what_was_seen_is_quoted(outcome: Outcome, detail: str, cause: str, quoted: str) -> None:
    said = hypothesis(tried((outcome, detail)))
    assert cause in said and said.index(quoted) > said.index('(attempt 1: "')


@given(st.lists(st.tuples(st.sampled_from(list(Outcome)), st.just(""))))
def test_an_ending_alone_is_no_evidence(ends: list[tuple[Outcome | None, str]]) -> None:
    assert hypothesis(tried(*ends, (None, ""))) == ""


@pytest.mark.parametrize(
    "outcome", [Outcome.FAILED, Outcome.GAVE_UP_TESTS, Outcome.GAVE_UP_CONTEXT, Outcome.BLOCKED, Outcome.NO_WORK]
)
def test_an_agents_own_words_are_no_evidence(outcome: Outcome) -> None:
    [attempt] = tried((outcome, "No space left on device, permission denied, tests/test_a.py"))
    log = AttemptLog("command not found", "ECONNREFUSED", "too big")
    assert hypothesis([attempt]) == "" == hypothesis(tried((outcome, "exit code 1")))
    assert hypothesis([Attempt(1, "b", 1, Role.DOER, "Ada", 1, "t", 0.0, outcome=outcome, log=log)]) == ""


def test_a_check_that_merely_failed_has_no_known_cause() -> None:
    assert hypothesis(tried((Outcome.FAILED_REVIEW, RED.format("E   assert 3 == 4")))) == ""


def test_the_same_failing_line_of_different_attempts_speaks_for_a_contradiction() -> None:
    line = "FAILED tests/test_sum.py::test_sum - assert 3 == 4"
    again = (Outcome.FAILED_REVIEW, RED.format(line))
    said = hypothesis(tried(again, (Outcome.FAILED, "no"), again))
    assert said.startswith("the same assertion fails") and said.endswith(f'(attempt 3: "{line}")')
    other = (Outcome.FAILED_REVIEW, RED.format("FAILED tests/test_sum.py::test_other - assert 1 == 2"))
    assert hypothesis(tried(again, other)) == ""
    bare = (Outcome.FAILED_REVIEW, RED.format("E   AssertionError"))
    assert hypothesis(tried(bare, bare)) == "", "any two failures share such a line"


UNITTEST = (
    "test: fail: exit code 1\n{}: test_b (tests.test_b.B.test_b)\nTraceback (most recent call last):\n{}\nFAILED (x=1)"
)


@pytest.mark.parametrize(
    ("word", "first", "second", "said"),
    [
        (
            "ERROR",
            "ModuleNotFoundError: No module named 'x'",
            "ModuleNotFoundError: No module named 'x'",
            "imported module",
        ),
        ("ERROR", "SyntaxError: invalid syntax", "SyntaxError: invalid syntax", "syntax error"),
        ("FAIL", "AssertionError: 3 != 1", "AssertionError: 3 != 1", "the same assertion fails"),
        ("ERROR", "NameError: name 'x' is not defined", "NameError: name 'x' is not defined", "the same error"),
        ("FAIL", "AssertionError: 3 != 1", "AssertionError: 4 != 1", "the same test fails"),
        ("FAIL", "AssertionError: 'disk full' != 'timed out'", "AssertionError: '' != 'timed out'", "the same test"),
    ],
)
def test_the_cause_of_each_kind_of_failure(word: str, first: str, second: str, said: str) -> None:
    tries = tried(*((Outcome.FAILED_REVIEW, UNITTEST.format(word, line)) for line in (first, second)))
    assert said in hypothesis(tries) and hypothesis(tries).count('"') >= 2
    assert "not installed" not in hypothesis(tries) or "module" in said


def test_a_check_that_ran_too_long_never_ended() -> None:
    said = hypothesis(
        tried((Outcome.BROKEN_CHECKS, "No result.\ntest: broken: the check ran longer than 5 s and was stopped"))
    )
    assert "waits forever" in said


def test_what_most_attempts_speak_for_is_said_and_of_equals_the_latest() -> None:
    disk = (Outcome.FAILED_REVIEW, RED.format("No space left on device"))
    killed = (Outcome.KILLED, "ended by signal 9")
    assert "disk" in hypothesis(tried(disk, disk, killed))
    assert "memory" in hypothesis(tried(disk, killed)) and "disk" in hypothesis(tried(killed, disk))


def test_a_quote_is_one_bounded_line_without_escapes() -> None:
    said = likely_cause("\x1b[31mNo space left\ton device\x1b[0m" + "x" * 5000 + "\nmore")
    assert "\x1b" not in said and "\n" not in said and len(said) < 400
    assert likely_cause("test: fail: 3 failed") == ""


def test_a_check_that_passed_before_quotes_what_failed() -> None:
    said = passed_before("the tree passed", RED.format("FAILED a::b - boom"))
    assert said.startswith("the check is flaky") and '"FAILED a::b - boom"' in said
    assert passed_before("the tree passed", "") == ""
