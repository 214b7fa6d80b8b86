"""What holds for every agent CLI, and how each of their endings that was seen is judged."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest

from nobrakes.abilities import CODED
from nobrakes.agents.adapter import NOT_GUARDED, AgentEnd, Assignment
from nobrakes.agents.known import adapter
from nobrakes.beads.model import TABLE, Outcome
from nobrakes.config.sections import AcpSettings, AgentSettings, ScriptSettings

from . import events as claude
from . import recorded as r
from .recorded import ID, READY

Assign = Callable[..., Assignment]
O = Outcome  # noqa: E741
CLIS = ("claude", "codex", "gemini")
GUARDED = (*CLIS, "acp")
NAMES = (*GUARDED, "script")
DONE = "It is done.\n\nNOBRAKES: COMPLETED"

BEGINS = {
    "claude": [line.rstrip() for line in claude.START],
    "codex": r.CODEX,
    "gemini": r.GEMINI,
    "acp": r.ACP,
    "script": [],
}
SAYS: dict[str, Callable[[str], list[bytes]]] = {
    "claude": lambda text: [claude.said(text).rstrip(), claude.result(result=text).rstrip()],
    "codex": lambda text: [r.codex_said(text), r.TURN_DONE],
    "gemini": lambda text: [r.gemini_said(text), r.RESULT],
    "acp": lambda text: [r.line(type="text", text=text), r.line(type="end", stop="end_turn")],
    "script": lambda text: text.encode().split(b"\n"),
}


def end(name: str, code: int | None, lines: list[bytes], errors: str = "", self_test: str = READY) -> Outcome:
    return adapter(name).verdict(AgentEnd(code, lines, errors, self_test, 0.0)).outcome


@pytest.fixture
def given(assign: Assign) -> Assignment:
    acp = AcpSettings(command=("agent", "--acp"))
    return assign(settings=AgentSettings(script=ScriptSettings(command=("./agent", "{prompt}")), acp=acp))


# --- every adapter -------------------------------------------------------------------------------


def test_this_suite_knows_every_adapter_with_code_of_its_own() -> None:
    assert set(NAMES) == set(CODED) == set(BEGINS) == set(SAYS)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DONE, O.COMPLETED),
        ("Done, without a marker.", O.COMPLETED),
        ("NOBRAKES: BLOCKED", O.BLOCKED),
        ("NOBRAKES: CONTEXT_EXHAUSTED", O.GAVE_UP_CONTEXT),
        ("NOBRAKES: FAILED", O.GAVE_UP_TESTS),
        ("NOBRAKES: FAILED\nNOBRAKES: COMPLETED", O.CONTRADICTED_ITSELF),
    ],
)
def test_last_words(name: str, text: str, expected: Outcome) -> None:
    assert end(name, 0, [*BEGINS[name], *SAYS[name](text)]) is expected


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("code", [-9, -15, 137, 143, 129])
def test_signals(name: str, code: int) -> None:
    assert end(name, code, BEGINS[name]) is O.KILLED


@pytest.mark.parametrize("name", NAMES)
def test_an_end_that_nobody_saw(name: str) -> None:
    assert end(name, None, BEGINS[name]) is O.LOST


@pytest.mark.parametrize("name", NAMES)
def test_commands_that_are_not_there(name: str) -> None:
    assert end(name, 127, [], "sh: not found") is O.MISSING_EXECUTABLE
    assert end(name, 126, [], "Permission denied") is O.BAD_CONFIGURATION


@pytest.mark.parametrize("name", GUARDED)
def test_an_end_without_a_word_is_no_success(name: str) -> None:
    for code in (0, 1, 2):
        assert end(name, code, []) not in (O.COMPLETED, O.BLOCKED)
        assert end(name, code, BEGINS[name]) is O.CRASHED


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "raw", [b"", b"\xff\xfe", b"[1]", b"null", b"{}", b'{"type":[]}', b'{"type":"item.completed","item":7}',
            b'{"type":"result","stats":3,"error":[]}', b'{"type":"turn.completed","usage":"x"}', b"[" * 9000]
)  # fmt: skip
def test_no_line_is_too_strange(name: str, raw: bytes) -> None:
    agent = adapter(name)
    for line in agent.lines(raw):
        assert line.text
    agent.refuses(raw + b"\n", READY)
    assert agent.session([raw]) is None
    assert end(name, 1, [raw]) in Outcome


@pytest.mark.parametrize("name", NAMES)
def test_every_outcome_is_one_of_the_table(name: str) -> None:
    for code in (*range(256), *range(-64, 0)):
        assert end(name, code, BEGINS[name]) in TABLE


@pytest.mark.parametrize("name", GUARDED)
def test_the_session_is_found_in_the_output(name: str) -> None:
    expected = claude.SESSION if name == "claude" else ID
    assert adapter(name).session(BEGINS[name]) == expected
    assert adapter(name).session([]) is None
    verdict = adapter(name).verdict(AgentEnd(0, [*BEGINS[name], *SAYS[name](DONE)], self_test=READY))
    assert verdict.session == expected


def test_a_script_has_no_session_and_no_guard() -> None:
    assert adapter("script").session([b"x"]) is None
    assert adapter("script").guarded(b"") and adapter("script").refuses(b"x\n") is None


@pytest.mark.parametrize("name", ["codex", "gemini", "acp"])
def test_a_run_that_goes_on_without_the_canary_is_refused(name: str) -> None:
    agent = adapter(name)
    begun, worked = b"\n".join([*BEGINS[name], b""]), b"\n".join([*BEGINS[name], SAYS[name]("hello")[0], b""])
    assert agent.refuses(begun) is None and not agent.guarded(begun)  # it may still answer
    assert agent.refuses(worked) == NOT_GUARDED and not agent.guarded(worked)
    assert agent.refuses(worked, "something else") == NOT_GUARDED
    assert agent.refuses(worked[:-9]) is None  # a line that is not whole says nothing yet
    assert agent.refuses(worked, READY) is None and agent.guarded(worked, READY)
    for code in (0, 1, 137):
        assert end(name, code, [*BEGINS[name], *SAYS[name](DONE)], self_test="") is O.GUARD_FAILED


def test_claude_is_guarded_when_its_session_begins_after_the_canary() -> None:
    agent = adapter("claude")
    assert agent.guarded(b"".join(claude.START)) and not agent.guarded(claude.GUARD)
    assert agent.refuses(claude.INIT) == NOT_GUARDED


@pytest.mark.parametrize("name", NAMES)
def test_nothing_waits_for_an_open_stdin(name: str, given: Assignment) -> None:
    agent = adapter(name)
    assert agent.launch(given).stdin is None  # /dev/null
    if name in CLIS:
        large = agent.launch(replace(given, prompt="x" * 200_000))
        assert large.stdin == given.prompt_file
        assert all(len(word) < 100_000 for word in large.argv)


@pytest.mark.parametrize("name", NAMES)
def test_a_prompt_is_never_read_as_an_option(name: str, given: Assignment) -> None:
    argv = adapter(name).launch(replace(given, prompt="--help")).argv
    assert "--help" not in argv or argv[argv.index("--help") - 1] == "--"


@pytest.mark.parametrize("name", GUARDED)
def test_of_the_environment_only_what_is_allowed_arrives(name: str, given: Assignment) -> None:
    env = {**given.env, "SECRET": "s", "CLAUDECODE": "1", "GIT_DIR": "/x", "MINE": "m", "LC_ALL": "C"}
    env |= {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o", "GEMINI_API_KEY": "g"}
    acp = AcpSettings(command=("agent",), keys=("GEMINI_API_KEY",))
    changed = replace(given, env=env, settings=AgentSettings(environment=("MINE",), acp=acp))
    seen = adapter(name).launch(changed).env
    assert not {"SECRET", "CLAUDECODE", "GIT_DIR"} & set(seen)
    assert (seen["MINE"], seen["LC_ALL"], seen["NOBRAKES_BEAD"], seen["CI"]) == ("m", "C", "a1", "1")
    keys = {"claude": "ANTHROPIC_API_KEY", "codex": "CODEX_API_KEY", "gemini": "GEMINI_API_KEY"}
    keys["acp"] = "GEMINI_API_KEY"
    assert {key for key in keys.values() if key in seen} == {keys[name]}


@pytest.mark.parametrize("name", NAMES)
def test_files_stay_in_the_runs_folder(name: str, given: Assignment) -> None:
    for path in adapter(name).launch(given).files:
        assert not path.startswith("/") and ".." not in path.split("/")


@pytest.mark.parametrize("name", CLIS)
def test_a_later_run_goes_on_with_the_session(name: str, given: Assignment) -> None:
    launch = adapter(name).launch(replace(given, resume=True))
    assert launch.session == given.session
    at = launch.argv.index(given.session)
    assert launch.argv[at - 1] == ("resume" if name == "codex" else "--resume")
    assert adapter(name).launch(given).session == (None if name == "codex" else given.session)


# --- each CLI's own endings ----------------------------------------------------------------------

USAGE_LIMIT = (
    "You\N{RIGHT SINGLE QUOTATION MARK}ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), "
    "visit https://chatgpt.com/settings/usage to purchase more credits or try again at 2:08 AM."
)
ENDINGS: list[tuple[str, str, int, list[bytes], str, Outcome]] = [
    ("codex", "warnings are no failure", 0, [*r.CODEX, r.WARNING, *SAYS["codex"]("x")], "", O.COMPLETED),
    ("codex", "an error it got over", 0, [*r.CODEX, r.line(type="error", message="Reconnecting... 1/5"),
     *SAYS["codex"]("x")], "", O.COMPLETED),
    ("codex", "a second turn counts", 0, [*r.codex_failed("x"), r.TURN, *SAYS["codex"]("x")], "", O.COMPLETED),
    ("codex", "cut off in a second turn", 0, [*r.CODEX, *SAYS["codex"]("x"), r.TURN], "", O.CRASHED),
    ("codex", "1 after success", 1, [*r.CODEX, *SAYS["codex"]("x")], "", O.CRASHED),
    ("codex", "bad flag", 2, [], "error: unexpected argument '--x' found", O.VERSION_UNSUPPORTED),
    ("codex", "not a git folder", 1, [], "Not inside a trusted directory", O.BAD_CONFIGURATION),
    ("codex", "resume unknown", 1, [], "Error: thread/resume: no rollout found for thread id x", O.SESSION_LOST),
    ("codex", "401", 1, r.codex_failed("unexpected status 401 Unauthorized: Incorrect API key provided, url: x"), "",
     O.AUTH),
    ("codex", "403", 1, r.codex_failed("unexpected status 403 Forbidden: Country not supported, url: x"), "", O.AUTH),
    ("codex", "429", 1, r.codex_failed("exceeded retry limit, last status: 429 Too Many Requests"), "",
     O.RATE_LIMITED),
    ("codex", "usage limit", 1, r.codex_failed(USAGE_LIMIT), "", O.RATE_LIMITED),
    ("codex", "rate limit in the stream", 1,
     r.codex_failed("rate limit exceeded: Rate limit reached for x. Please try again in 2.5s."), "", O.RATE_LIMITED),
    ("codex", "quota", 1, r.codex_failed("Quota exceeded. Check your plan and billing details."), "", O.BILLING),
    ("codex", "500", 1,
     r.codex_failed("We\N{RIGHT SINGLE QUOTATION MARK}re currently experiencing high demand, which may cause "
                    "temporary errors."), "", O.PROVIDER_DOWN),
    ("codex", "503", 1, r.codex_failed("unexpected status 503 Service Unavailable: x, url: x"), "", O.PROVIDER_DOWN),
    ("codex", "context", 1, r.codex_failed("Codex ran out of room in the model's context window. Start a new thread"),
     "", O.CONTEXT_OVERFLOW),
    ("codex", "model", 1, r.codex_failed("The model `x` does not exist"), "", O.MODEL_UNAVAILABLE),
    ("codex", "cut stream", 1, r.codex_failed("stream disconnected before completion: x"), "", O.NETWORK),
    ("codex", "no key", 1, r.codex_failed("Missing environment variable: `CODEX_API_KEY`."), "", O.AUTH),
    ("codex", "too old for the model", 1,
     r.codex_failed("The 'gpt-9' model requires a newer version of Codex. Please upgrade to the latest app or CLI"), "",
     O.VERSION_UNSUPPORTED),
    ("codex", "400", 1, r.codex_failed("unexpected status 400 Bad Request: No tool output found for call x, url: x"),
     "", O.INVALID_REQUEST),
    ("codex", "400 by its wording alone", 1, r.codex_failed('{"type":"error","error":{"type":"invalid_request_error"}}'),
     "", O.INVALID_REQUEST),
    ("codex", "400 that is about the model", 1,
     r.codex_failed("unexpected status 400 Bad Request: The 'x' model is not supported, url: x"), "",
     O.MODEL_UNAVAILABLE),
    ("codex", "nothing said or done", 0, [*r.CODEX, r.TURN_DONE], "", O.EMPTY_OUTPUT),
    ("codex", "only a deed", 0, [*r.CODEX, r.item("command_execution", command="x"), r.TURN_DONE], "", O.COMPLETED),
    ("codex", "nothing that can be read", 0, [b"hello", b"\xff"], "", O.BAD_CONFIGURATION),
    ("gemini", "the same call again and again", 0, [*r.GEMINI, r.gemini_said("x"),
     r.line(type="error", severity="warning", message="Loop detected, stopping execution"), r.RESULT], "", O.CRASHED),
    ("gemini", "400", 144, r.api_error(400, "Please ensure that function call turn comes immediately after", "X"), "",
     O.INVALID_REQUEST),
    ("gemini", "400 by its wording alone", 1, r.gemini_failed("[API Error: INVALID_ARGUMENT]"), "", O.INVALID_REQUEST),
    ("gemini", "nothing said or done", 0, [*r.GEMINI, r.RESULT], "", O.EMPTY_OUTPUT),
    ("gemini", "nothing that can be read", 0, [b"hello"], "", O.BAD_CONFIGURATION),
    ("claude", "400", 1, [*BEGINS["claude"], claude.api_error("unknown").rstrip(),
     claude.result(is_error=True, api_error_status=400, result="API Error: 400 x").rstrip()], "", O.INVALID_REQUEST),
    ("claude", "invalid_request by its name", 1, [*BEGINS["claude"], claude.api_error("invalid_request").rstrip(),
     claude.result(is_error=True, result="API Error").rstrip()], "", O.INVALID_REQUEST),
    ("claude", "invalid_request that is too long", 1, [*BEGINS["claude"], claude.api_error("invalid_request").rstrip(),
     claude.result(is_error=True, api_error_status=400, terminal_reason="prompt_too_long").rstrip()], "",
     O.CONTEXT_OVERFLOW),
    ("claude", "nothing said or done", 0, [*BEGINS["claude"], claude.result(result="").rstrip()], "", O.EMPTY_OUTPUT),
    ("claude", "only deeds", 0, [*BEGINS["claude"], claude.assistant({"type": "tool_use", "name": "Bash"}).rstrip(),
     claude.result(result="").rstrip()], "", O.COMPLETED),
    ("claude", "nothing that can be read", 0, [b"hello"], "", O.BAD_CONFIGURATION),
    ("claude", "bad flag", 1, [], "error: unknown option '--x'", O.VERSION_UNSUPPORTED),
    ("claude", "an old version that breaks", 1, [*BEGINS["claude"][:-1],
     claude.line(type="system", subtype="init", session_id="s", claude_code_version="1.0.90").rstrip()], "x",
     O.VERSION_UNSUPPORTED),
    ("claude", "not served any more", 1, [*BEGINS["claude"],
     claude.result(is_error=True, api_error_status=400, result="Your version needs an update. Run claude update").rstrip()],
     "", O.VERSION_UNSUPPORTED),
    ("codex", "an unknown failure", 1, r.codex_failed("something new"), "", O.CRASHED),
    ("gemini", "text in pieces", 0, [*r.GEMINI, r.gemini_said("NOBRAKES: BLO"), r.gemini_said("CKED"), r.RESULT], "",
     O.BLOCKED),
    ("gemini", "more after a result", 0, [*r.GEMINI, *SAYS["gemini"]("x"), r.gemini_said("y")], "", O.CRASHED),
    ("gemini", "two results", 0, [*r.GEMINI, *SAYS["gemini"]("x"), *SAYS["gemini"]("y")], "", O.COMPLETED),
    ("gemini", "TERM ends it with 0", 0, [*r.GEMINI, r.gemini_said("x")], "", O.CRASHED),
    ("gemini", "killed after success", 137, [*r.GEMINI, *SAYS["gemini"]("x")], "", O.KILLED),
    ("gemini", "1 after success", 1, [*r.GEMINI, *SAYS["gemini"]("x")], "", O.BAD_CONFIGURATION),
    ("gemini", "untrusted folder", 55, [], "Gemini CLI is not running in a trusted directory.", O.BAD_CONFIGURATION),
    ("gemini", "no way to log in", 41, [], "Please set an Auth method", O.AUTH),
    ("gemini", "resume unknown", 42, [], "Error resuming session: Invalid session identifier", O.SESSION_LOST),
    ("gemini", "bad flag", 42, [], "Unknown argument: x", O.VERSION_UNSUPPORTED),
    ("gemini", "max turns", 53, r.GEMINI, "Reached max session turns for this session.", O.TURN_LIMIT),
    ("gemini", "interrupted", 130, r.GEMINI, "", O.INTERRUPTED),
    ("gemini", "400: the key", 144, r.api_error(400, "API key not valid. Please pass a valid API key."), "", O.AUTH),
    ("gemini", "400: too long", 144, r.api_error(400, "The input token count (2) exceeds the maximum number of tokens"),
     "", O.CONTEXT_OVERFLOW),
    ("gemini", "401", 145, r.api_error(401, "Request had invalid authentication credentials."), "", O.AUTH),
    ("gemini", "403", 147, r.api_error(403, "Permission denied"), "", O.AUTH),
    ("gemini", "404", 1, r.gemini_failed("[API Error: models/x is not found]"), "", O.MODEL_UNAVAILABLE),
    ("gemini", "429 by its code alone", 173, r.gemini_failed("[API Error: x]"), "", O.RATE_LIMITED),
    ("gemini", "the day's quota", 173, r.gemini_failed("[API Error: You have exhausted your daily quota on this"
                                                       " model.]\nPlease wait"), "", O.RATE_LIMITED),
    ("gemini", "500", 244, r.api_error(500, "boom"), "", O.PROVIDER_DOWN),
    ("gemini", "503", 247, r.api_error(503, "The model is overloaded."), "", O.PROVIDER_DOWN),
    ("gemini", "no network", 1, r.gemini_failed("[API Error: exception TypeError: fetch failed sending request]"), "",
     O.NETWORK),
    ("gemini", "an unknown failure", 1, r.gemini_failed("something new"), "", O.CRASHED),
    ("acp", "no tokens left for an answer", 1, [*r.ACP, r.acp_end("max_tokens")], "", O.CONTEXT_OVERFLOW),
    ("acp", "max turns", 1, [*r.ACP, r.acp_end("max_turn_requests")], "", O.TURN_LIMIT),
    ("acp", "refusal", 1, [*r.ACP, r.acp_end("refusal")], "", O.INVALID_REQUEST),
    ("acp", "cancelled", 130, [*r.ACP, r.acp_end("cancelled")], "", O.INTERRUPTED),
    ("acp", "a reason of tomorrow", 1, [*r.ACP, r.acp_end("tired")], "", O.CRASHED),
    ("acp", "not a word, not a deed", 0, [*r.ACP, r.acp_end("end_turn")], "", O.EMPTY_OUTPUT),
    ("acp", "1 after success", 1, [*r.ACP, *SAYS["acp"]("x")], "", O.BAD_CONFIGURATION),
    ("acp", "the words before a tool are not the last", 0,
     [*r.ACP, r.line(type="text", text="NOBRAKES: BLOCKED\n"), r.line(type="tool", id="1"), *SAYS["acp"](DONE)], "",
     O.COMPLETED),
    ("acp", "no guard", 1, r.acp_failed("guard", "it does not answer", begun=False), "", O.GUARD_FAILED),
    ("acp", "no agent", 127, r.acp_failed("missing", "agent: No such file", begun=False), "", O.MISSING_EXECUTABLE),
    ("acp", "not executable", 126, r.acp_failed("not_executable", "x", begun=False), "", O.BAD_CONFIGURATION),
    ("acp", "another protocol", 1, r.acp_failed("version", "the agent uses version 9", begun=False), "",
     O.VERSION_UNSUPPORTED),
    ("acp", "no way to log in", 1, r.acp_failed("auth", "Authentication required", begun=False), "", O.AUTH),
    ("acp", "resume unknown", 1, r.acp_failed("session_lost", "Resource not found", begun=False), "", O.SESSION_LOST),
    ("acp", "it does not speak the protocol", 1, r.acp_failed("died", "it ended, with 1", begun=False),
     "Error: unknown option --acp", O.BAD_CONFIGURATION),
    ("acp", "401", 1, r.acp_failed("turn", "Internal error: {'details': 'status 401 Unauthorized'}"), "", O.AUTH),
    ("acp", "429 as the code", 1, r.acp_failed("turn", "x", 429), "", O.RATE_LIMITED),
    ("acp", "usage limit", 1, r.acp_failed("turn", "You've hit your usage limit"), "", O.RATE_LIMITED),
    ("acp", "503", 1, r.acp_failed("turn", "API Error: 503 upstream"), "", O.PROVIDER_DOWN),
    ("acp", "credit", 1, r.acp_failed("turn", "status: 400, credit balance is too low"), "", O.BILLING),
    ("acp", "context", 1, r.acp_failed("turn", "400: prompt is too long"), "", O.CONTEXT_OVERFLOW),
    ("acp", "no network", 1, r.acp_failed("turn", "fetch failed"), "", O.NETWORK),
    ("acp", "an unknown failure", 1, r.acp_failed("turn", "something new"), "", O.CRASHED),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "code", "lines", "errors", "expected"),
    [(name, *rest) for name, _, *rest in ENDINGS],
    ids=[f"{name}: {what}" for name, what, *_ in ENDINGS],
)
def test_endings(name: str, code: int, lines: list[bytes], errors: str, expected: Outcome) -> None:
    assert end(name, code, lines, errors) is expected


@pytest.mark.parametrize("code", [None, 137, 143])
def test_codex_that_was_killed_while_it_waited_for_the_network_met_an_outage(code: int | None) -> None:
    waits = r.line(
        type="error", message="Reconnecting... waiting for network (Connection failed: error sending request)"
    )
    high = r.line(type="error", message="Reconnecting... 1/5 (unexpected status 503 Service Unavailable: x, url: x)")
    assert end("codex", code, [*r.CODEX, waits, b"", b'{"ty'], self_test="") is O.NETWORK
    assert end("codex", code, [*r.CODEX, high]) is O.PROVIDER_DOWN
    assert end("codex", code, [*r.CODEX, waits, r.codex_said("x")]) is (O.KILLED if code else O.LOST)  # it got over it


def test_the_end_of_a_limit_is_read_where_it_is_said() -> None:
    now = datetime(2026, 11, 21, 23, 30).timestamp()
    limited = adapter("codex").verdict(AgentEnd(1, r.codex_failed(USAGE_LIMIT), self_test=READY, at=now))
    assert limited.resets_at == datetime(2026, 11, 22, 2, 8).timestamp()
    retry = '"error":{"code":429,"details":[{"retryDelay":"34s"}]}'
    limited = adapter("gemini").verdict(AgentEnd(173, r.gemini_failed("[API Error: x]"), retry, READY, now))
    assert limited.resets_at == now + 34


@pytest.mark.parametrize(("name", "lines"), [("codex", SAYS["codex"]("x")), ("gemini", SAYS["gemini"]("x"))])
def test_tokens(name: str, lines: list[bytes]) -> None:
    verdict = adapter(name).verdict(AgentEnd(0, [*BEGINS[name], *lines], self_test=READY))
    assert verdict.tokens == {"input_tokens": 400, "output_tokens": 80, "cache_read_input_tokens": 30}
    assert verdict.cost_usd is None


def readable(name: str, *lines: bytes) -> list[Any]:
    return [(str(line.kind), line.text) for raw in lines for line in adapter(name).lines(raw)]


def test_codexs_transcript() -> None:
    run = {"command": "/bin/bash -lc 'echo hi'", "aggregated_output": "hi\n", "exit_code": 0}
    mcp = {"server": "nb", "tool": "report"}
    assert readable(
        "codex", r.THREAD, r.TURN, item := r.item("reasoning", text="hm"), r.codex_said("hello"),
        r.item("command_execution", done=False, **run), r.item("command_execution", **run),
        r.item("file_change", changes=[{"path": "/w/b.txt", "kind": "add"}]),
        r.item("mcp_tool_call", done=False, **mcp), r.item("mcp_tool_call", **mcp, error={"message": "no"}),
        r.item("web_search", query="q"), r.TURN_DONE, r.codex_failed("boom")[-1], b"warning\n",
    ) == [
        ("note", f"session {ID}"), ("thinking", "hm"), ("text", "hello"),
        ("tool_call", "Bash: /bin/bash -lc 'echo hi'"), ("result", "hi"), ("tool_call", "apply_patch: add /w/b.txt"),
        ("tool_call", "nb: report"), ("result", "no"), ("tool_call", "web_search: q"),
        ("usage", "400 input_tokens, 80 output_tokens, 30 cache_read_input_tokens"), ("limit", "API error: boom"),
        ("note", "warning"),
    ]  # fmt: skip
    assert item


def test_geminis_transcript() -> None:
    use = r.line(type="tool_use", tool_name="run_shell_command", tool_id="1", parameters={"command": "git push"})
    ok = r.line(type="tool_result", tool_id="1", status="success", output="fine")
    no = r.line(type="tool_result", tool_id="1", status="error", error={"type": "x", "message": "refused"})
    assert readable("gemini", r.INIT, r.ASKED, r.gemini_said("hello"), use, ok, no, r.RESULT) == [
        ("note", f"session {ID}, model gemini-2.5-pro"), ("text", "hello"),
        ("tool_call", "run_shell_command: git push"), ("result", "fine"), ("result", "refused"),
        ("usage", "400 input_tokens, 80 output_tokens, 30 cache_read_input_tokens"), ("note", "ended: success"),
    ]  # fmt: skip


def test_the_transcript_of_an_acp_agent() -> None:
    refused = r.line(type="permission", title="push", allowed=False, why="no remote to push to")
    assert readable(
        "acp", *r.ACP, r.line(type="thought", text="hm"), r.line(type="text", text="hello"),
        r.line(type="tool", id="1", title="make"), r.line(type="result", id="1", failed=False, text="made"), refused,
        r.line(type="permission", title="make", allowed=True, why=""), r.line(type="usage", input_tokens=3),
        r.acp_end("end_turn"), r.acp_failed("turn", "boom")[-1],
    ) == [
        ("note", f"session {ID}, agent 1"), ("thinking", "hm"), ("text", "hello"), ("tool_call", "make"),
        ("result", "made"), ("result", "refused: push: no remote to push to"), ("usage", "3 input_tokens"),
        ("note", "ended: end_turn"), ("limit", "turn: boom"),
    ]  # fmt: skip


def test_an_acp_agent_that_cannot_load_a_session_gets_a_fresh_one_next_time() -> None:
    begun = r.line(type="session", session=ID, agent="agent 1", resumed=False, resumes=False)
    verdict = adapter("acp").verdict(AgentEnd(0, [begun, *SAYS["acp"](DONE)], self_test=READY))
    assert (verdict.outcome, verdict.session) == (O.COMPLETED, None)
    assert adapter("acp").session([begun]) is None


# --- ends that are said before the process ends, and ends that nobody can read -------------------


@pytest.mark.parametrize("name", NAMES)
def test_the_last_event_tells_that_an_agent_has_finished_and_nothing_else_does(name: str) -> None:
    begun, done = BEGINS[name], SAYS[name](DONE)
    tail = b"\n".join([*begun, *done])
    assert adapter(name).finished(tail) and adapter(name).finished(tail + b"\nwarning: still here\n")
    assert not adapter(name).finished(b"\n".join([*begun, b"some words"]))
    if name in GUARDED:
        assert not adapter(name).finished(b"\n".join([*begun, *done, *done[:-1]]))  # another turn has begun
        assert adapter(name).finished(tail[: -len(done[-1]) // 2])  # its last line is torn


@pytest.mark.parametrize("name", GUARDED)
def test_a_byte_order_mark_before_the_first_line_is_none_of_the_event(name: str) -> None:
    first, *rest = [*BEGINS[name], *SAYS[name](DONE)]
    found = adapter(name).verdict(AgentEnd(0, [b"\xef\xbb\xbf" + first, *rest], "", READY, 0.0))
    assert found.outcome is O.COMPLETED


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.parametrize("cut", ["end", "middle", "begin"])
def test_a_torn_last_line_leaves_it_unsure_whether_the_agent_had_finished(name: str, cut: str) -> None:
    *done, last = SAYS[name](DONE)
    whole = {"end": [last[:-9]], "middle": [last[:-9] + b'{"type": "other"}', last[-9:]], "begin": [last[20:]]}[cut]

    def verdict(code: int | None, lines: list[bytes]) -> tuple[Outcome, bool]:
        found = adapter(name).verdict(AgentEnd(code, [*BEGINS[name], *done, *lines], "", READY, 0.0))
        return found.outcome, found.unsure

    assert verdict(0, whole) == (O.CRASHED, True)
    assert verdict(None, [last[:-9]]) == (O.LOST, True)  # it named itself, and was stopped by us
    assert verdict(0, []) == (O.CRASHED, True)  # its CLI may name its last event otherwise now
    assert verdict(0, [last, *BEGINS[name], *done])[1] is False  # another turn had begun
    assert verdict(1, whole)[1] is False and verdict(137, whole)[1] is False
    assert verdict(None, [b'{"type": "noth'])[1] is False
    assert verdict(0, [*whole, *SAYS[name](DONE)]) == (O.COMPLETED, False)
