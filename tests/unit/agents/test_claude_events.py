"""What each kind of event says to a reader."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.agents.adapter import LineKind, Use
from nobrakes.agents.claude import Claude

from .events import GUARD, HOOK_STARTED, INIT, SESSION, api_error, assistant, line, result, said, tool_result

K = LineKind


def told(raw: bytes) -> list[tuple[LineKind, str]]:
    return [(found.kind, found.text) for found in Claude().lines(raw)]


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (HOOK_STARTED, []),
        (GUARD, []),
        (
            line(type="system", subtype="hook_response", hook_event="SessionStart", exit_code=2, stderr="no"),
            [(K.NOTE, "the SessionStart hook refused: no")],
        ),
        (INIT, [(K.NOTE, f"session {SESSION}, model opus")]),
        (said("\x1b[31mhello\x1b[0m"), [(K.TEXT, "hello")]),
        (said(" "), []),
        (assistant({"type": "thinking", "thinking": "hm"}), [(K.THINKING, "hm")]),
        (
            assistant({"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls", "description": "d"}}),
            [(K.TOOL_CALL, "Bash: ls")],
        ),
        (
            assistant({"type": "tool_use", "id": "t1", "name": "Write", "input": {"file_path": "/a", "content": "x"}}),
            [(K.TOOL_CALL, "Write: /a")],
        ),
        (assistant({"type": "tool_use", "id": "t1", "name": "Odd", "input": {}}), [(K.TOOL_CALL, "Odd")]),
        (api_error("rate_limit"), [(K.TEXT, "API Error"), (K.LIMIT, "API error: rate_limit")]),
        (tool_result("out\n"), [(K.RESULT, "out")]),
        (tool_result([{"type": "text", "text": "a"}, {"type": "image"}]), [(K.RESULT, "a")]),
        (tool_result(""), [(K.RESULT, "(no output)")]),
        (
            line(type="system", subtype="api_retry", attempt=1, max_retries=10, error_status=429, error="rate_limit"),
            [(K.LIMIT, "retrying the API call: rate_limit, attempt 1 of 10")],
        ),
        (line(type="system", subtype="permission_denied", tool_name="Bash"), [(K.NOTE, "denied: Bash")]),
        (
            line(type="rate_limit_event", rate_limit_info={"status": "rejected", "resetsAt": 1_800_000_000}),
            [(K.LIMIT, "usage limit: rejected")],
        ),
        (
            result(),
            [
                (K.USAGE, "10 input_tokens, 5 output_tokens"),
                (K.COST, "0.2500 USD"),
                (K.NOTE, "ended: success, completed, turns: 2"),
            ],
        ),
        (line(type="something_new"), []),
        (b"not json\n", [(K.NOTE, "not json")]),
        (b"[1]\n", [(K.NOTE, "[1]")]),
        (b"\n", []),
        (b"[" * 100_000 + b"\n", [(K.NOTE, "[" * 396 + " […] " + "[" * 199)]),
    ],
)
def test_every_event_type(raw: bytes, lines: list[tuple[LineKind, str]]) -> None:
    assert told(raw) == lines


def test_long_results_are_shortened_and_failures_marked() -> None:
    (found,) = Claude().lines(tool_result("x" * 10_000, is_error=True))
    assert len(found.text) == 600
    assert found.data == {"id": "t1", "failed": True}


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.sampled_from(["text", "tool_use", "init"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "message", "content", "usage", "input", "error", "rate_limit_info"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.sampled_from(["system", "assistant", "user", "result", "rate_limit_event"]), JSON, JSON, JSON)
def test_no_field_of_an_event_is_relied_on(kind: str, message: Any, content: Any, usage: Any) -> None:
    Claude().lines(line(type=kind, subtype=content, message=message, usage=usage, rate_limit_info=usage))
    Claude().lines(line(type=kind, message={"content": content}, total_cost_usd=usage))
    Claude().lines(line(type=kind, message={"content": [content]}))


def test_what_a_message_has_used_while_it_works() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 900, "cache_creation_input_tokens": 80, "output_tokens": 1}
    message = {"id": "m7", "content": [], "usage": usage}
    assert Claude().used(line(type="assistant", message=message)) == Use("m7", 991, 991)
    of_subagent = line(type="assistant", message=message, parent_tool_use_id="toolu_1")
    assert Claude().used(of_subagent) == Use("m7", 991, 0)
    for raw in (result(), said("x"), b'{"usage"', b'{"type":"assistant","message":{"usage":3}}', b""):
        assert Claude().used(raw) is None
