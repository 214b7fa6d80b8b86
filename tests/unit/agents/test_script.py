"""Any command as an agent."""

from collections.abc import Callable

import pytest

from nobrakes.agents.adapter import AgentEnd, Assignment, LineKind
from nobrakes.agents.known import ADAPTERS, adapter
from nobrakes.agents.script import Script
from nobrakes.beads.model import Outcome
from nobrakes.config.sections import AgentSettings, ScriptSettings
from nobrakes.errors import ConfigError, NoAgent

Assign = Callable[..., Assignment]


def settings(*command: str) -> AgentSettings:
    return AgentSettings(script=ScriptSettings(command=command))


def test_only_whole_words_are_replaced(assign: Assign) -> None:
    launch = Script().launch(
        assign(settings=settings("sh", "-c", "echo {prompt}", "{prompt}", "{workspace}", "x{prompt}"))
    )
    assert launch.argv == ("sh", "-c", "echo {prompt}", "/n/runs/1/prompt.md", "/n/workspaces/a1", "x{prompt}")
    assert launch.stdin is None and launch.session is None


def test_the_environment_is_what_the_daemon_gives_and_who_the_agent_is(assign: Assign) -> None:
    assert Script().launch(assign(settings=settings("x"))).env == {
        "PATH": "/bin",
        "NOBRAKES_HOME": "/n",
        "NOBRAKES_TOKEN": "t",
        "NOBRAKES_ROLE": "doer",
        "NOBRAKES_BEAD": "a1",
        "NOBRAKES_NAME": "Ada",
        "NOBRAKES_ATTEMPT": "3",
        "NOBRAKES_WORKSPACE": "/n/workspaces/a1",
        "NOBRAKES_PROMPT": "/n/runs/1/prompt.md",
    }


def test_without_a_command_the_error_says_where_to_set_it(assign: Assign) -> None:
    with pytest.raises(ConfigError) as caught:
        Script().launch(assign())
    assert "agents.script.command" in caught.value.hint


@pytest.mark.parametrize(
    ("code", "output", "outcome"),
    [
        (0, "", Outcome.COMPLETED),
        (0, "NOBRAKES: COMPLETED", Outcome.COMPLETED),
        (0, "NOBRAKES: CONTEXT_EXHAUSTED", Outcome.GAVE_UP_CONTEXT),
        (0, "NOBRAKES: BLOCKED", Outcome.BLOCKED),
        (0, "NOBRAKES: FAILED", Outcome.GAVE_UP_TESTS),
        (0, "NOBRAKES: FAILED\nNOBRAKES: COMPLETED", Outcome.CONTRADICTED_ITSELF),
        (1, "", Outcome.FAILED),
        (3, "", Outcome.FAILED),
        (1, "NOBRAKES: COMPLETED", Outcome.FAILED),
        (1, "NOBRAKES: CONTEXT_EXHAUSTED", Outcome.GAVE_UP_CONTEXT),
        (126, "", Outcome.BAD_CONFIGURATION),
        (127, "NOBRAKES: COMPLETED", Outcome.MISSING_EXECUTABLE),
        (137, "NOBRAKES: COMPLETED", Outcome.KILLED),
        (143, "", Outcome.KILLED),
        (-9, "", Outcome.KILLED),
        (None, "", Outcome.LOST),
        (None, "NOBRAKES: COMPLETED", Outcome.COMPLETED),
        (None, "NOBRAKES: BLOCKED", Outcome.BLOCKED),
        (None, "NOBRAKES: FAILED\nNOBRAKES: COMPLETED", Outcome.CONTRADICTED_ITSELF),
        (255, "", Outcome.FAILED),
    ],
)
def test_exit_code_and_marker_decide(code: int | None, output: str, outcome: Outcome) -> None:
    lines = [line.encode() + b"\n" for line in output.split("\n")]
    assert Script().verdict(AgentEnd(code, lines)).outcome is outcome


def test_the_verdict_tells_what_was_said_on_stderr_cleaned() -> None:
    assert Script().verdict(AgentEnd(1, (), "\x1b[31mno such file\n")).detail == "exit code 1: no such file"


def test_lines_are_clean_text() -> None:
    (line,) = Script().lines(b"\x1b[1mhello\xff\x1b[0m\r\n")
    assert (line.kind, line.text) == (LineKind.TEXT, "hello\ufffd")
    assert Script().lines(b"  \n") == ()


def test_the_registry_knows_its_agents_and_says_so_of_any_other() -> None:
    assert all(adapter(name).name == name for name in ADAPTERS)
    with pytest.raises(NoAgent) as caught:
        adapter("gpt")
    assert ", ".join(ADAPTERS) in caught.value.hint
