"""Agents in a sandbox, by the commands that they type: every operation works as it does outside."""

import json
import re

from nobrakes.agents.service import agent_api
from tests.support.project import Project
from tests.support.sandboxes import in_both, needs_sandbox

EVERY_COMMAND = r"""
say() { printf '== %s\n' "$*"; nobrakes agent "$@" 2>&1; printf 'code %s\n' "$?"; }
say bead
say attempts
say whats-next
say --help >/dev/null
say log 'a line'
say log '  '
say progress --step 1 --of 2 'half'
say notify 'hear me'
say escalate 'buy milk' --detail 'there is none'
say ask 'tea?'
say ask --wait 1 'tea?'
say ask 'which tea?' --option 'green: fresh; costs more' --option 'black' --recommend black --priority 3
say ask 'which tea?' --option 'green' --recommend black
say answer
say answer 77
say request-review '1. this 2. that'
say plan
say propose '{beads: []}'
say plan-ready
say document 'SQLite: one file, no server' --kind decision
say finding 'it is too wide'
say review '{"findings": []}'
say bead --json
say test
say blocked ' '
say hum
say done blocked --blockers 'waits' --learnings 'much'
"""


@in_both
def test_every_operation_works_by_command(tmp_path, sandbox):
    replies = said_by_agent(tmp_path, sandbox)
    asked = {reply.split()[0] for reply in re.findall(r"^== (.*)$", replies, re.MULTILINE)}
    assert asked >= {operation.name for operation in agent_api.OPERATIONS}
    assert "a radio question has from 2 to 12 options, not 1" in replies
    assert "== bead\nYou are Ada" in replies and '"ok":true' in replies.replace('": ', '":')


@needs_sandbox
def test_a_command_says_the_same_in_a_sandbox_and_without(tmp_path):
    outside, inside = (said_by_agent(tmp_path / mode, mode) for mode in ("none", "bubblewrap"))
    assert outside == inside


def said_by_agent(folder, sandbox):
    """What the commands of an agent print; the nonces of its fences are taken out."""
    folder.mkdir(exist_ok=True)
    project = Project(folder / "repository", ["sh", "-c", EVERY_COMMAND], sandbox=sandbox)
    project.plan([{"id": "a", "title": "A", "needs_tests": False, "labels": ["plan-review"]}])
    project.nobrakes("run", expect=None)
    [attempt] = project.ask("show", "a")["attempts"]
    assert attempt["outcome"] == "blocked", attempt
    assert {e["type"] for e in project.ask("escalations")} == {"question", "plan_review", "doer_suggestion"}
    said = (project.folder / ".nobrakes" / "runs" / f"{attempt['id']}-agent" / "agent.out").read_text()
    assert json.dumps("much") in json.dumps(attempt["log"])
    return re.sub(r"untrusted [0-9a-f]{12}", "untrusted", re.sub(r"\d+(\.\d+)? s\b", "some s", said))


@needs_sandbox
def test_any_other_command_says_that_it_is_out_of_reach(tmp_path):
    agent = ["sh", "-c", "nobrakes ready 2>&1; nobrakes show b 2>&1; nobrakes status 2>&1; nobrakes agent done failed"]
    project = Project(tmp_path / "repository", agent, sandbox="bubblewrap", more="[limits]\nmax_failures = 1\n")
    project.config.write_text(project.config.read_text().replace("[limits]\ndoers = 3\ngrace_seconds = 1\n", "", 1))
    project.plan([{"id": one, "title": one, "needs_tests": False} for one in ("a", "b")])
    project.nobrakes("run", expect=None)
    said = (project.folder / ".nobrakes" / "runs" / "1-agent" / "agent.out").read_text()
    assert said.count("can access only its own bead") == 3
