"""The example of each command, as its help shows it, is typed in a repository in which it makes sense.

tests/unit/cli/test_table.py has every example read by the command line; here they are run, in the order of RUN.
What cannot be run stands in NOT_RUN with its reason; a command that is in neither fails.
"""

import re
import shlex
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from nobrakes.command_table import COMMANDS, entry, example
from tests.support.scripted import Scripted, until
from tests.support.warm import NOBRAKES

RUN = (
    "init",
    "plan example, plan apply, sync beads, propose, shape, commit-strategy",
    "config, config set, config get, config unset, add, edit, depend, undepend",
    "run, status, list, show, ready, graph, history, review, diff, events",
    "escalations, escalation, approve, answer, resolve, retry",
    "hold, release, defer, undo, cancel, reopen, done, prompt",
    "flakes, quarantine, archive, set, pause, resume, providers, machine, repositories, notify list, sessions",
    "daemon start, daemon status, watch, stop, daemon restart, daemon stop",
    "forge new, forge list, project list, project status, pr list, doctor, version, help, web",
)
NOT_RUN: Mapping[str, str] = {
    "demo": "it builds a repository for a minute: tests/release/test_installed.py",
    "answers": "it needs the numbers of two questions: tests/acceptance/test_typed_questions.py",
    "agent": "an agent types it: tests/unit/agents/test_agent_operations.py",
    "agent-profile": "it needs an agent's program: tests/integration/conformance/test_profiles.py",
    "forge": "it needs a feature that an agent planned: tests/acceptance/test_forge_clis.py",
    "project": "it needs a project: tests/acceptance/test_sprints.py",
    "session": "it needs a session: tests/acceptance/test_docs_run.py types it from docs/how-to/sessions.md",
    "pr": "it needs a pull request: tests/acceptance/test_pull_requests.py",
    "daemon": "it changes the services of this account",
    "sync github": "it needs `gh` with an account",
    "fleet": "it needs nodes: tests/acceptance/test_fleet.py",
    "reshape": "it is a talk between a person in a terminal and an agent with an account",
    "relay": "it needs an agent with an account",
    "board": "it needs a terminal",
    "verify": "it names a tag",
    "takeover": "it needs a remote and another machine: tests/acceptance/test_takeover.py",
    "take": "it needs a terminal's own folder: tests/acceptance/test_take_and_hand_in.py",
    "hand-in": "the same",
    "send-back": "it names a line of work: tests/acceptance/test_work_sent_back.py",
    "preview": "it needs a server and a workspace: tests/acceptance/test_previews.py",
    "notify": "it needs a channel, or asks in a terminal",
    "mcp": "a chat client starts it",
}
"""A command, or the group of those that RUN does not name."""
STREAMS = {"watch", "web", "events"}
"""What goes on until Ctrl-C."""


QUESTION = "nobrakes agent ask '{}' >/dev/null; echo 'NOBRAKES: BLOCKED'"


def played(folder: Path) -> Scripted:
    """Files that examples name, four beads that ask, and one that an agent works on for ever."""
    project = Scripted(folder, doers=5)
    project.configure('name = "test"', 'name = "unit"')
    (project.folder / "ideas.md").write_text("# Till\n\n- [ ] Count the coins\n")
    (project.folder / "src").mkdir()
    (project.folder / "src" / "paths.py").write_text("# TODO: ask which zone\n")
    project.git("add", "src")
    project.git("commit", "-q", "-m", "Paths")
    for number in range(1, 5):
        project.does(f"asks-{number}", QUESTION.format(f"Which zone, {number}?"))
    project.does("nb-7", "exec sleep 600")
    return project


def before(project: Scripted, words: str) -> None:
    """What the example takes for granted."""
    if words == "add":
        project.add("nb-1", "nb-3", *(f"asks-{number}" for number in range(1, 5)))
        project.add("nb-7")
    elif words == "sync beads":
        (project.folder / ".beads").mkdir()
    elif words == "run":
        project.nobrakes("hold", "nb-7", "--reason", "its agent never ends")
    elif words == "daemon start":
        project.nobrakes("reopen", "nb-7")
    elif words == "watch":
        until(lambda: project.turns("nb-7"))


def typed(project: Scripted, words: str) -> tuple[int, str]:
    """The exit code of the example, and what it prints; of what streams, until Ctrl-C."""
    argv = shlex.split(re.split(r" [|>] ", example(entry(words)))[0])[1:]
    if words not in STREAMS:
        done = project.nobrakes(*argv, expect=None)
        return done.returncode, done.stdout + done.stderr
    env = {**project.env(), "BROWSER": "true"}
    how = {"cwd": project.folder, "env": env, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen([NOBRAKES, *argv], **how) as process:
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        said = first + process.stdout.read()
    return (0 if process.returncode == 130 else process.returncode) if first else -1, said


def test_the_examples_of_the_commands_work(tmp_path: Path) -> None:
    order = [words for line in RUN for words in line.split(", ")]
    others = [one.words for one in COMMANDS if not one.hidden and one.words not in order]
    assert {words if words in NOT_RUN else words.split()[0] for words in others} == set(NOT_RUN)
    project = played(tmp_path)
    settings = project.config.read_text()
    failed = []
    for words in order:
        before(project, words)
        code, said = typed(project, words)
        if words == "init":
            project.config.write_text(settings)  # it chose another agent
        elif words == "plan example":
            (project.folder / "plan.yaml").write_text(said)
        if code not in (0, 40):
            failed.append(f"`{example(entry(words))}` ended with {code}: {said}")
    assert failed == []
