"""Commands that need a person's yes: asked for once, let through once for each yes, refused after a no. The real guard."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nobrakes.agents.adapter import guard_argv
from nobrakes.agents.db import channel_answers
from nobrakes.agents.shell import pattern_of
from nobrakes.beads.model import Outcome
from nobrakes.config.sections import ASK_FIRST
from nobrakes.decisions.service import desk
from nobrakes.errors import UsageError
from nobrakes.projects.service.coding import is_answered_by_chat
from nobrakes.sessions.model import Fact, SessionKind, State
from nobrakes.store import Store, create_store

COMMAND = "cd infra && terraform -chdir=live apply -auto-approve"


class Agent:
    """A session's agent at work, whose guard is asked."""

    def __init__(self, folder: Path) -> None:
        (folder / "clone").mkdir(parents=True)
        self.folder = folder
        self.path = str(folder / "nobrakes.db")
        self.store: Store = create_store(self.path)
        spec = ("claude", "anthropic", "")
        self.session = self.store.begin_session(SessionKind.RELAY, "me", "Tea", spec, "Deploy", "Ada").id
        self.turn()

    def turn(self) -> None:
        found = self.store.open_turn(self.session)
        assert found is not None
        self.now = found[0]

    def calls(self, command: str, **more: str) -> tuple[int, str]:
        env = {
            "NOBRAKES_ROLE": "doer",
            "NOBRAKES_WORKSPACE": str(self.folder / "clone"),
            "NOBRAKES_TESTS": "",
            "NOBRAKES_GATES": "",
            "NOBRAKES_HOME": str(self.folder),
            "NOBRAKES_TOKEN": self.now.token,
            "NOBRAKES_ASK_FIRST": "\n".join(ASK_FIRST),
            **more,
        }
        call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}}
        done = subprocess.run(guard_argv(), input=json.dumps(call), env=env, capture_output=True, text=True)
        return done.returncode, done.stderr

    def open(self) -> list[int]:
        return [one.id for one in self.store.escalations()]


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(tmp_path / ".nobrakes")


def test_a_run_pauses_for_a_yes_and_goes_on_with_it_once(agent: Agent) -> None:
    assert agent.calls("terraform plan") == (0, "")
    code, said = agent.calls(COMMAND)
    (number,) = agent.open()
    assert code == 2 and f"question {number}" in said and "`terraform apply`" in said
    assert agent.calls(COMMAND)[0] == 2 and agent.open() == [number], "asked twice, it is asked once"
    asked = agent.store.escalation(number)
    assert COMMAND in asked.title and not is_answered_by_chat(asked), "who began the run does not say yes to it"
    agent.store.close_turn(agent.now.id, Fact.ENDED_WELL, Outcome.BLOCKED, "")
    assert agent.store.session(agent.session).state is State.ASKING
    desk.answer(agent.store, number, "yes", "Ada")
    agent.turn()
    assert "The answer: yes" in agent.store.turn_messages(agent.now.id)[-1].text
    assert agent.calls(COMMAND + " ")[0] == 2, "another command is another question"
    (other,) = agent.open()
    assert agent.calls(COMMAND) == (0, "")
    assert agent.calls(COMMAND)[0] == 2 and len(agent.open()) == 2, "the yes is used"
    desk.answer(agent.store, other, "no", "Ada")
    assert "refused this command" in agent.calls(COMMAND + " ")[1] and len(agent.open()) == 1


def test_two_calls_at_once_are_one_yes(agent: Agent) -> None:
    agent.calls(COMMAND)
    (number,) = agent.open()
    desk.answer(agent.store, number, "yes", "Ada")
    with ThreadPoolExecutor(6) as pool:
        codes = sorted(code for code, _ in pool.map(agent.calls, [COMMAND] * 6))
    assert codes == [0, 2, 2, 2, 2, 2] and len(agent.open()) == 1


def test_who_has_no_channel_and_what_is_too_long_is_refused(agent: Agent) -> None:
    assert agent.calls(COMMAND, NOBRAKES_TOKEN="")[0] == 2
    assert agent.calls(COMMAND, NOBRAKES_TOKEN="s1.1.wrong")[0] == 2
    assert agent.calls(f"terraform apply {'x' * channel_answers.MAX_PERMITS}")[0] == 2 and agent.open() == []
    with pytest.raises(UsageError):
        channel_answers.agent_permit(agent.path, agent.now.token, "x" * (channel_answers.MAX_PERMITS + 1))
    assert agent.calls(COMMAND, NOBRAKES_ASK_FIRST="") == (0, "")


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("terraform apply", "terraform apply"),
        ("sudo -E /usr/bin/terraform apply", "terraform apply"),
        ("bash -lc 'npm ci && npm publish'", "npm publish"),
        ("kubectl -n live delete pod a", "kubectl delete"),
        ("echo $(dropdb shop)", "dropdb"),
        ("FOO=1 timeout 5 npm publish", "npm publish"),
        ("echo a | xargs -n1 dropdb", "dropdb"),
        ("sudo -u postgres dropdb shop", "dropdb"),
        ("sudo -u ada sh -c 'terraform apply'", "terraform apply"),
        ("timeout -s KILL 5 npm publish", "npm publish"),
        ("env -u X npm publish", "npm publish"),
        ("xargs -n 1 dropdb <names", "dropdb"),
        ("find . -name a -exec dropdb {} ;", "dropdb"),
        ("watch npm publish", "npm publish"),
        ("sudo echo terraform apply", ""),
        ("sudo -u", ""),
        ("bash -s <<E\ndropdb shop\nE", "dropdb"),
        ("bash -eo pipefail -c 'dropdb shop'", "dropdb"),
        ('bash notes.sh "it\'s npm publish"', ""),
        ("bash notes.sh <<E\nit's\nE", ""),
        ("rm -fr build", "rm -r"),
        ("rm -f build", ""),
        ("echo terraform apply", ""),
        ("terraform plan", ""),
        ("git commit -m 'npm publish'", ""),
        ("npm run publish-docs", ""),
    ],
)
def test_which_commands_are_asked_about(command: str, pattern: str) -> None:
    assert pattern_of(command, [*ASK_FIRST, "rm -r"]) == pattern
