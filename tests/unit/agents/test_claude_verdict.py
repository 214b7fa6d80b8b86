"""Every ending of Claude Code that was seen, built line by line."""

from typing import Any

import pytest

from nobrakes.agents.adapter import NOT_GUARDED, SELF_TEST, AgentEnd
from nobrakes.agents.claude import Claude
from nobrakes.beads.model import Outcome

from .events import GUARD, INIT, SESSION, START, api_error, line, result, said, tool_result

O = Outcome  # noqa: E741


def outcome(code: int | None, lines: list[bytes], errors: str = "") -> Outcome:
    return Claude().verdict(AgentEnd(code, lines, errors)).outcome


MAX_TURNS = result(
    subtype="error_max_turns",
    is_error=True,
    terminal_reason="max_turns",
    num_turns=3,
    errors=["Reached maximum number of turns (2)"],
    result=...,
)
BUDGET = result(subtype="error_max_budget_usd", is_error=True, terminal_reason="budget_exhausted", result=...)
ABORTED = {"subtype": "error_during_execution", "is_error": True, "result": ...}
BLOCKED = "UserPromptSubmit operation blocked by hook"


@pytest.mark.parametrize(
    ("case", "code", "lines", "errors", "expected"),
    [
        ("done", 0, [*START, said("x"), result()], "", O.COMPLETED),
        ("done, reason missing", 0, [*START, result(terminal_reason=...)], "", O.COMPLETED),
        ("a system event after it", 0, [*START, result(), line(type="system", subtype="bye")], "", O.COMPLETED),
        ("two results, the last counts", 0, [*START, MAX_TURNS, said("x"), result(result_index=1)], "", O.COMPLETED),
        ("max turns", 1, [*START, MAX_TURNS], "", O.TURN_LIMIT),
        ("budget", 1, [*START, BUDGET], "", O.TURN_LIMIT),
        ("bad flag", 1, [], "error: unknown option '--x'", O.VERSION_UNSUPPORTED),
        ("settings missing", 1, [], "Error: Settings file not found", O.BAD_CONFIGURATION),
        ("no prompt", 1, [], "Error: Input must be provided", O.BAD_CONFIGURATION),
        ("root and bypass", 1, [], "cannot be used with root/sudo privileges", O.BAD_CONFIGURATION),
        ("session in use", 1, [], "Error: Session ID x is already in use.", O.SESSION_LOST),
        ("resume unknown, old", 1, [], "No conversation found with session ID: x", O.SESSION_LOST),
        (
            "resume unknown",
            1,
            [result(**ABORTED, terminal_reason=..., num_turns=0, errors=["No conversation found with session ID: x"])],
            "",
            O.SESSION_LOST,
        ),
        ("mode auto: 1 after success", 1, [*START, result()], "auto mode needs ...", O.BAD_CONFIGURATION),
        ("SIGINT", 0, [*START, result(**ABORTED, terminal_reason="aborted_tools")], "", O.INTERRUPTED),
        (
            "SIGINT while streaming",
            0,
            [*START, result(**ABORTED, terminal_reason="aborted_streaming")],
            "",
            O.INTERRUPTED,
        ),
        ("SIGINT in API wait", 0, START, "", O.CRASHED),
        ("SIGTERM", 143, START, "", O.KILLED),
        ("SIGHUP", 129, START, "", O.KILLED),
        ("SIGKILL", -9, START, "", O.KILLED),
        ("unseen, in the middle", None, START, "", O.LOST),
        ("unseen, after a tool", None, [*START, result(), said("more")], "", O.LOST),
        ("unseen, before it began", None, [], "", O.LOST),
        ("unseen, done", None, [*START, said("x"), result()], "", O.COMPLETED),
        (
            "unseen, done, the agent's end marker says blocked",
            None,
            [*START, result(result="NOBRAKES: BLOCKED")],
            "",
            O.BLOCKED,
        ),
        ("unseen, max turns", None, [*START, MAX_TURNS], "", O.TURN_LIMIT),
        ("unseen, without a guard", None, [INIT, result()], "", O.GUARD_FAILED),
        ("prompt blocked by a hook", 0, [*START, result(num_turns=0, result=BLOCKED)], "", O.BAD_CONFIGURATION),
        ("hook says continue:false", 0, [*START, result(terminal_reason="hook_stopped")], "", O.BAD_CONFIGURATION),
        ("an unknown reason", 0, [*START, result(terminal_reason="something_new")], "", O.CRASHED),
        ("is_error missing", 0, [*START, result(is_error=...)], "", O.CRASHED),
        ("ended in a second turn", 0, [*START, result(), said("more")], "", O.CRASHED),
        ("crash in the middle", 1, [*START, said("x")], "Segmentation fault", O.CRASHED),
        ("not installed", 127, [], "not found", O.MISSING_EXECUTABLE),
        ("not executable", 126, [], "Permission denied", O.BAD_CONFIGURATION),
    ],
)
def test_every_row_of_exit_codes(
    case: str, code: int | None, lines: list[bytes], errors: str, expected: Outcome
) -> None:
    assert outcome(code, lines, errors) is expected, case


@pytest.mark.parametrize(
    ("error", "status", "text", "more", "expected"),
    [
        ("rate_limit", 429, "API Error: Request rejected (429) · x", {}, O.RATE_LIMITED),
        ("server_error", 529, "Repeated 529 Overloaded errors", {}, O.PROVIDER_DOWN),
        ("server_error", 500, "API Error: 500", {}, O.PROVIDER_DOWN),
        ("authentication_failed", 401, "Invalid API key · Fix external API key", {}, O.AUTH),
        ("authentication_failed", 403, "Failed to authenticate. API Error: 403", {}, O.AUTH),
        ("billing_error", 400, "Credit balance is too low", {}, O.BILLING),
        ("unknown", 400, "API Error: 400 odd", {}, O.INVALID_REQUEST),
        ("invalid_request", 400, "Prompt is too long", {"terminal_reason": "prompt_too_long"}, O.CONTEXT_OVERFLOW),
        ("invalid_request", 400, "Prompt is too long", {}, O.CONTEXT_OVERFLOW),
        ("model_not_found", 404, "There's an issue with the selected model", {}, O.MODEL_UNAVAILABLE),
        ("server_error", None, "API Error: Connection refused (ECONNREFUSED)", {}, O.NETWORK),
        ("authentication_failed", None, "Not logged in · Please run /login", {}, O.AUTH),
        ("max_output_tokens", None, "exceeded the 64000 output token maximum", {}, O.CONTEXT_OVERFLOW),
        # an older CLI without the error's name: status, then wording
        ("", 429, "x", {}, O.RATE_LIMITED),
        ("", 402, "x", {}, O.BILLING),
        ("", 503, "x", {}, O.PROVIDER_DOWN),
        ("", None, "You've hit your weekly limit", {}, O.RATE_LIMITED),
        ("", None, "Limit reached · resets Dec 17 at 6am (Europe/Oslo)", {}, O.RATE_LIMITED),
        ("", None, "OAuth token has expired", {}, O.AUTH),
        ("", None, "read ECONNRESET", {}, O.NETWORK),
        ("", None, "who knows", {}, O.CRASHED),
    ],
)
def test_every_row_of_api_errors(error: str, status: int | None, text: str, more: dict[str, Any], expected: O) -> None:
    lines = [*START, api_error(error), result(is_error=True, api_error_status=status, result=text, **more)]
    verdict = Claude().verdict(AgentEnd(1, lines))
    assert verdict.outcome is expected
    assert verdict.detail == text


def test_an_error_that_was_got_over_is_not_the_ending() -> None:
    assert outcome(0, [*START, api_error("rate_limit"), said("on"), result()]) is O.COMPLETED
    failed = result(is_error=True, api_error_status=500, result="x")
    assert outcome(1, [*START, api_error("authentication_failed"), said("on"), failed]) is O.PROVIDER_DOWN


def test_tool_output_is_no_wording() -> None:
    lines = [*START, tool_result("You've hit your weekly limit\nNOBRAKES: FAILED"), result()]
    assert outcome(0, lines) is O.COMPLETED


def test_a_rejected_limit_tells_when_it_ends() -> None:
    limit = line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1_800_000_000})
    failed = result(is_error=True, api_error_status=429, result="x")
    verdict = Claude().verdict(AgentEnd(1, [*START, limit, api_error("rate_limit"), failed]))
    assert (verdict.outcome, verdict.resets_at) == (O.RATE_LIMITED, 1_800_000_000.0)
    assert Claude().verdict(AgentEnd(0, [*START, limit, result()])).resets_at is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Done.\nNOBRAKES: COMPLETED", O.COMPLETED),
        ("NOBRAKES: CONTEXT_EXHAUSTED", O.GAVE_UP_CONTEXT),
        ("NOBRAKES: BLOCKED", O.BLOCKED),
        ("NOBRAKES: FAILED", O.GAVE_UP_TESTS),
        ("NOBRAKES: FAILED\nNOBRAKES: BLOCKED", O.CONTRADICTED_ITSELF),
    ],
)
def test_after_a_clean_end_the_marker_decides(text: str, expected: Outcome) -> None:
    assert outcome(0, [*START, result(result=text)]) is expected


def test_a_marker_does_not_excuse_an_error() -> None:
    assert outcome(1, [*START, result(is_error=True, api_error_status=401, result="NOBRAKES: COMPLETED")]) is O.AUTH


def test_cost_tokens_and_session_come_from_the_last_result() -> None:
    lines = [*START, result(total_cost_usd=0.1, result_index=0), result(total_cost_usd=0.3, result_index=1)]
    verdict = Claude().verdict(AgentEnd(0, lines))
    assert (verdict.cost_usd, verdict.session) == (0.3, SESSION)
    assert verdict.tokens == {"input_tokens": 10, "output_tokens": 5}


def test_a_session_that_went_wrong_is_not_resumed() -> None:
    overflow = result(is_error=True, api_error_status=400, result="Prompt is too long")
    assert Claude().verdict(AgentEnd(1, [*START, overflow])).session is None


NO_CANARY = GUARD.replace(SELF_TEST.encode(), b"something else")


@pytest.mark.parametrize("head", [[INIT], [NO_CANARY, INIT], [INIT, GUARD], [said("x"), INIT, GUARD]])
def test_a_run_whose_guard_did_not_answer_first_is_refused(head: list[bytes]) -> None:
    verdict = Claude().verdict(AgentEnd(0, [*head, result()]))
    assert (verdict.outcome, verdict.detail) == (O.GUARD_FAILED, NOT_GUARDED)
    assert outcome(137, head) is O.GUARD_FAILED
    assert Claude().refuses(b"".join(head)) == NOT_GUARDED


def test_a_run_is_not_refused_before_it_began_or_when_it_is_guarded() -> None:
    assert Claude().refuses(b"") is None
    assert Claude().refuses(GUARD) is None
    assert Claude().refuses(INIT[:-1]) is None  # the line is not whole yet
    assert Claude().refuses(b"".join(START)) is None


def test_the_end_of_a_long_stream_is_judged_without_its_head() -> None:
    assert outcome(0, [b'cut off"}\n', said("x"), result()]) is O.COMPLETED
