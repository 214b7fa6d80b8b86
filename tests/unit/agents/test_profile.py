"""Agents of profiles: each shipped profile is valid, starts its CLI as the profile says, and reads what the CLI writes."""

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nobrakes.agents.adapter import AgentEnd, Assignment
from nobrakes.agents.known import ADAPTERS, adapter, steering
from nobrakes.agents.profile import ByProfile, Filled, at
from nobrakes.beads.model import Outcome
from nobrakes.config import profiles
from nobrakes.config.profiles import Profile
from nobrakes.config.sections import AgentSettings, ProfileSettings
from nobrakes.errors import ConfigError, NoAgent, UsageError

from .profile_events import BEGINS, ID, SAYS, line, opencode, opencode_finish, pi, qwen

Assign = Callable[..., Assignment]
O = Outcome  # noqa: E741
DONE = "It is done.\n\nNOBRAKES: COMPLETED"
TRIED = [name for name, file in profiles.shipped().items() if "[trial]" in Path(file).read_text()]
TEXT = """
title = "Mine"
program = "mine"
credentials = ["MINE_KEY"]
instructions = [".mine.md"]

[says]
rate_limited = ["slow down (please"]
auth = ["who are you"]

[[launch]]
arguments = ["--task", "{prompt}"]

[[lines]]
kind = "text"
text = "line"
"""


def end(name: str, code: int | None, lines: list[bytes], errors: str = "") -> Outcome:
    return adapter(name).verdict(AgentEnd(code, lines, errors, "", 0.0)).outcome


@pytest.fixture
def given(assign: Assign) -> Assignment:
    return assign(settings=AgentSettings())


def settled(given: Assignment, name: str, **own: str) -> Assignment:
    return replace(given, settings=AgentSettings(profiles={name: ProfileSettings(**own)}))


def mine(text: str = TEXT) -> ByProfile:
    return ByProfile("mine", profiles.parse(text, "mine.toml"))


# --- the shipped ones ----------------------------------------------------------------------------


def test_events_of_every_tried_profile_are_recorded() -> None:
    assert set(TRIED) == set(BEGINS) == set(SAYS)


@pytest.mark.parametrize("name", profiles.shipped())
def test_a_shipped_profile_is_valid_and_read_as_pydantic_reads_it(name: str) -> None:
    file = profiles.shipped()[name]
    assert profiles.parse(Path(file).read_text(), file) == profiles.find(name)
    assert name in ADAPTERS and adapter(name).name == name


@pytest.mark.parametrize("name", profiles.shipped())
def test_a_shipped_profile_is_proven_or_says_why_not(name: str) -> None:
    found = profiles.find(name)
    assert found is not None and found.install
    assert bool(found.proof.version and found.proof.date and found.proof.by) == (found.trial is not None)
    assert bool(found.proof.why) == (found.trial is None)


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DONE, O.COMPLETED),
        ("Done, without a marker.", O.COMPLETED),
        ("NOBRAKES: BLOCKED", O.BLOCKED),
        ("NOBRAKES: FAILED\nNOBRAKES: COMPLETED", O.CONTRADICTED_ITSELF),
    ],
)
def test_last_words(name: str, text: str, expected: Outcome) -> None:
    assert end(name, 0, [*BEGINS[name], *SAYS[name](text)]) is expected


@pytest.mark.parametrize("name", TRIED)
def test_an_end_without_words_is_no_success(name: str) -> None:
    for code in (-9, -15, 137, 143):
        assert end(name, code, BEGINS[name]) is O.KILLED
    assert end(name, None, BEGINS[name]) is O.LOST
    assert end(name, 127, [], "sh: not found") is O.MISSING_EXECUTABLE
    for code in (0, 1, 2):
        assert end(name, code, []) is O.BAD_CONFIGURATION
        assert end(name, code, BEGINS[name]) is not O.COMPLETED


@pytest.mark.parametrize("name", TRIED)
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe",
        b"[1]",
        b"null",
        b"{}",
        b'{"type":[]}',
        b"[" * 9000,
        b'{"type":"assistant","message":{"content":7}}',
        b'{"type":"text","part":[]}',
    ],
)
def test_no_line_is_too_strange(name: str, raw: bytes) -> None:
    for one in adapter(name).lines(raw):
        assert one.text
    assert adapter(name).used(raw) is None and adapter(name).session([raw]) is None
    assert end(name, 1, [raw]) in Outcome


@pytest.mark.parametrize("name", [name for name in TRIED if profiles.find(name).resumes])
def test_the_session_is_found_and_a_later_run_goes_on_with_it(name: str, given: Assignment) -> None:
    whole = [*BEGINS[name], *SAYS[name](DONE)]
    assert adapter(name).session(whole) == ID and adapter(name).session([]) is None
    verdict = adapter(name).verdict(AgentEnd(0, whole))
    assert (verdict.outcome, verdict.session) == (O.COMPLETED, ID)
    launch = adapter(name).launch(replace(given, resume=True))
    assert launch.session == given.session and given.session in launch.argv
    fresh = adapter(name).launch(given)
    assert fresh.session == (given.session if given.session in fresh.argv else None)


@pytest.mark.parametrize(
    "name", [name for name in TRIED if any(one.kind == "usage" for one in profiles.find(name).lines)]
)
def test_tokens_are_counted_and_told_while_it_works(name: str) -> None:
    lines = [*BEGINS[name], *SAYS[name](DONE)]
    found = adapter(name).verdict(AgentEnd(0, lines)).tokens
    assert found["output_tokens"] == 80 and sum(found.values()) == 480
    assert [use.context for raw in lines if (use := adapter(name).used(raw))] == [480]


@pytest.mark.parametrize(
    "name", [name for name in TRIED if any(one.kind == "end" for one in profiles.find(name).lines)]
)
def test_the_last_event_tells_that_it_has_finished(name: str) -> None:
    done = SAYS[name](DONE)
    tail = b"\n".join([*BEGINS[name], *done])
    assert adapter(name).finished(tail) and not adapter(name).finished(b"\n".join([*BEGINS[name], *done[:-1]]))
    assert end(name, 0, [*BEGINS[name], *done[:-1]]) is O.CRASHED, "a changed CLI is no success"


@pytest.mark.parametrize("name", profiles.shipped())
def test_a_launch_keeps_to_its_own_folder_and_to_the_variables_that_it_may_see(name: str, given: Assignment) -> None:
    env = {**given.env, "SECRET": "s", "GIT_DIR": "/x", **dict.fromkeys(adapter(name).credentials, "k")}
    launch = adapter(name).launch(settled(replace(given, env=env), name, model="m-1", base_url="http://127.0.0.1:9/v1"))
    assert not {"SECRET", "GIT_DIR"} & set(launch.env) and all(launch.env[key] for key in adapter(name).credentials)
    for path in launch.files:
        assert not path.startswith("/") and ".." not in path.split("/")
    whole = repr((launch.argv, launch.env, launch.files))
    assert not any(f"{{{word}}}" in whole for word in ("home", "state", "model", "address", "session", "task", "role"))
    assert launch.hosts == ("http://127.0.0.1:9/v1",) and "m-1" in whole
    assert all(given.folder in path or ".nobrakes" in path or "/n/" in path for path in launch.writes)
    for path, place in launch.login:
        assert any(place.startswith(own) for own in (*launch.writes, given.folder)), path


@pytest.mark.parametrize("name", TRIED)
def test_a_prompt_is_never_read_as_an_option(name: str, given: Assignment) -> None:
    argv = adapter(name).launch(replace(given, prompt="--help")).argv
    assert "--help" not in argv
    large = adapter(name).launch(replace(given, prompt="x" * 200_000))
    assert all(len(word) < 100_100 for word in large.argv)


@pytest.mark.parametrize("name", profiles.shipped())
def test_unconfined_it_starts_only_with_permissions_of_its_own(name: str, given: Assignment) -> None:
    bounded = replace(given, permitted=(("git",), ("python3", "-m", "pytest")))
    if adapter(name).profile.is_bounded:
        assert "python3 -m pytest" in repr(adapter(name).launch(bounded))
        return
    with pytest.raises(ConfigError) as refused:
        adapter(name).launch(bounded)
    assert f'agents.profiles.{name}.permissions = "bypass"' in refused.value.hint
    assert AgentSettings().is_unbounded(name)
    assert not AgentSettings(profiles={name: ProfileSettings(permissions="bypass")}).is_unbounded(name)


def readable(name: str, *lines: bytes) -> list[Any]:
    return [(str(one.kind), one.text) for raw in lines for one in adapter(name).lines(raw)]


def test_opencodes_transcript() -> None:
    state = {"status": "completed", "input": {"command": "git push"}, "output": "no remote"}
    tool = opencode("tool_use", type="tool", tool="bash", callID="c1", state=state)
    assert readable("opencode", *BEGINS["opencode"], tool, *SAYS["opencode"]("hello"), b"warning\n") == [
        ("note", f"session {ID}"), ("tool_call", "bash: git push"), ("result", "no remote"), ("text", "hello"),
        ("usage", "370 input_tokens, 80 output_tokens, 30 cache_read_input_tokens"), ("cost", "0.5"),
        ("note", "end"), ("note", "warning"),
    ]  # fmt: skip
    (line_,) = [one for one in adapter("opencode").lines(tool) if one.kind == "tool_call"]
    assert line_.data["tool"] == "execute", "dangerous commands are seen"


def test_errors_are_understood() -> None:
    said = line(type="error", sessionID=ID, error={"name": "APIError", "data": {"message": "Too Many Requests"}})
    assert end("opencode", 1, [*BEGINS["opencode"], said]) is O.RATE_LIMITED
    assert end("opencode", 1, [], "Error: Session not found: x") is O.SESSION_LOST
    assert end("opencode", 0, [*BEGINS["opencode"], opencode_finish("tool-calls")]) is not O.COMPLETED
    wrong = "[API Error: 401 Incorrect API key provided]"
    assert end("qwen", 0, [*BEGINS["qwen"], *SAYS["qwen"](wrong)]) is O.AUTH
    assert end("qwen", 0, [*BEGINS["qwen"], *SAYS["qwen"]("[API Error: Connection error.]")]) is O.NETWORK
    refused = "litellm.AuthenticationError: OpenAIException - Incorrect API key provided\nCheck your API key."
    assert end("aider", 0, SAYS["aider"](f"Aider v0.86.2\n\n{refused}\n")) is O.AUTH
    assert end("copilot", 0, [*BEGINS["copilot"], *SAYS["copilot"]("The page 404 is fixed.")]) is O.COMPLETED
    again = [*BEGINS["pi"], pi(stopReason="error", errorMessage="429 rate limit"), *SAYS["pi"](DONE)]
    assert end("pi", 0, again) is O.COMPLETED, "it went on after the error"
    assert end("pi", 1, again[:-2]) is O.RATE_LIMITED
    call = qwen({"type": "tool_use", "id": "1", "name": "edit", "input": {"file_path": "a"}})
    assert end("qwen", 0, [*BEGINS["qwen"], call, *SAYS["qwen"](DONE)]) is O.COMPLETED


# --- a person's ----------------------------------------------------------------------------------


def test_an_agent_that_prints_text(given: Assignment) -> None:
    agent = mine()
    launch = agent.launch(replace(given, env={**given.env, "MINE_KEY": "k"}))
    assert launch.argv == ("mine", "--task", f"{given.system_prompt}\n\n{given.prompt}")
    assert launch.env["MINE_KEY"] == "k"

    def judged(code: int | None, out: str, errors: str = "") -> Outcome:
        return agent.verdict(AgentEnd(code, out.encode().split(b"\n"), errors)).outcome

    assert judged(0, "I did it.") is O.COMPLETED
    assert judged(0, "I stop.\nNOBRAKES: BLOCKED") is O.BLOCKED
    assert judged(0, "Slow down (PLEASE!") is O.RATE_LIMITED, "a sentence is no pattern"
    assert judged(0, "I told it to slow down (please)") is O.COMPLETED, "the agent's own words"
    assert judged(0, "Slow down (please) is what it printed.\nNOBRAKES: COMPLETED") is O.COMPLETED
    assert judged(1, "hello", "who are you?") is O.AUTH
    assert judged(1, "hello", "SyntaxError") is O.CRASHED
    assert judged(0, "") is O.BAD_CONFIGURATION
    assert agent.login({}, given.settings).variables == ("MINE_KEY",)


@pytest.mark.parametrize(
    ("change", "key"),
    [
        (('title = "Mine"', "titel = 'x'"), "titel: is not a key of a profile"),
        (('kind = "text"', 'kind = "words"'), "lines.0.kind"),
        (("rate_limited =", "limits ="), "says.limits"),
        (('program = "mine"', "program = ''"), "program: "),
        (("[says]", "[says"), "is not valid TOML"),
    ],
)
def test_a_mistake_is_named(change: tuple[str, str], key: str) -> None:
    with pytest.raises(ConfigError) as mistake:
        profiles.parse(TEXT.replace(*change), "mine.toml")
    assert key in str(mistake.value) and "mine.toml" in str(mistake.value) and mistake.value.hint


def test_a_persons_profile_is_known_from_when_it_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOBRAKES_USER_HOME", str(tmp_path / "user"))
    file = tmp_path / "mine.toml"
    file.write_text(TEXT)
    assert "mine" not in ADAPTERS
    with pytest.raises(NoAgent):
        adapter("mine")
    name, found = profiles.add(str(file))
    file.write_text(TEXT.replace('program = "mine"', 'program = "evil"'))
    assert (name, found.title) == ("mine", "Mine")
    assert "mine" in ADAPTERS and adapter("mine").launch.__self__.profile.program == "mine", "a copy, as it was read"
    assert AgentSettings().command("mine") == ("mine",) and ".mine.md" in steering()
    monkeypatch.setenv("NOBRAKES_TOKEN", "t")
    assert "mine" not in ADAPTERS, "agents and checks see nothing of a person's settings"
    monkeypatch.delenv("NOBRAKES_TOKEN")
    os.chmod(Path(profiles.own_folder(), "mine.toml"), 0o666)
    with pytest.raises(Exception, match="other accounts can write"):
        profiles.find("mine")


def test_a_persons_profile_with_the_name_of_a_shipped_one_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TEXT)
    profiles.add(str(file))
    os.rename(Path(profiles.own_folder(), "mine.toml"), Path(profiles.own_folder(), "opencode.toml"))
    assert profiles.own() == {} and profiles.files() == profiles.shipped(), "an older version let it in"
    found = profiles.find("opencode")
    assert found is not None and found.program == "opencode"


@pytest.mark.parametrize("name", ["claude.toml", "opencode.toml", "Mine.toml", "..toml", "a b.toml"])
def test_a_name_that_is_taken_or_strange_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(TEXT)
    with pytest.raises(UsageError):
        profiles.add(str(tmp_path / name))


def test_a_file_that_is_no_profile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "large.toml").write_text("#" * 70_000)
    for path in (tmp_path / "large.toml", tmp_path / "missing.toml", tmp_path):
        with pytest.raises(ConfigError):
            profiles.read(str(path))


# --- words and paths -----------------------------------------------------------------------------


def test_words_are_filled_in_and_others_are_left() -> None:
    assert Filled({"model": "m"})({"a": ["{model}", "{env:KEY}"], "{model}": 3}) == {"a": ["m", "{env:KEY}"], "m": 3}


@pytest.mark.parametrize(
    ("path", "expected"), [("a.b", 1), ("l.1", "y"), ("l.9", None), ("a.b.c", None), ("l.x", None), ("n", None)]
)
def test_a_path_leads_to_a_value_or_to_none(path: str, expected: object) -> None:
    assert at({"a": {"b": 1}, "l": ["x", "y"], "n": None}, path) == expected


def test_parts_of_one_file_are_merged(given: Assignment) -> None:
    launch = adapter("opencode").launch(settled(given, "opencode", model="m", base_url="http://127.0.0.1:9/v1"))
    settings = json.loads(launch.files["opencode/opencode.json"])
    assert settings["permission"] == "allow" and settings["mcp"]["nobrakes"]["command"][1] == "mcp"
    assert settings["provider"]["nobrakes"]["models"] == {"m": {}}


def test_a_profile_is_made_of_settings() -> None:
    assert isinstance(profiles.find("opencode"), Profile) and profiles.find("nothing-of-this") is None
