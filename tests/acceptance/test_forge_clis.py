"""The real agent CLIs bring a feature from its first question to done, and nobody types in a terminal of theirs.

Discovery, a question, a plan, two reviews with findings, the yes, a merge, a checkpoint with one collected TODO, a plan
that is whole again, its merge. One finding is answered in a browser, the rest by commands. The model is scripted and on
the loopback; nothing of nobrakes or of the CLI is replaced.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_session_clis import ASKED, CLIS, field_of, works
from tests.browser.conftest import DESKTOP, Person, launched
from tests.support.real_clis import NOBRAKES, Field
from tests.support.web_process import web_process

OURS = "$NOBRAKES_HOME/bin/nobrakes agent"
ASKS = (
    f"{OURS} ask 'Which greeting?' --option 'zebra: an animal' --option 'hello: usual' --recommend hello --priority 1"
)
WAITS = {"text": "I asked.\n\nNOBRAKES: BLOCKED"}
WHOLE = {"text": "The plan is complete.\n\nNOBRAKES: COMPLETED"}
LOOKED = {"text": "I looked at all of it.\n\nNOBRAKES: COMPLETED"}
BUILT = {"text": "It is built.\n\nNOBRAKES: COMPLETED"}
FIRST = "def greet():\n    return 'hello'  # TODO: greet people by their names\n"
SECOND = "def greet(name):\n    return f'hello {name}'\n"
FORGE = "\n[forge]\nclean_rounds = 1\nmost_domains = 1\n"


@dataclass
class Planned:
    """One feature whose Shaper, reviewers and Doers are one real CLI."""

    field: Field
    name: str
    id: str

    def works(self, *steps: dict[str, Any] | str, code: int = ASKED) -> list[str]:
        """Run until a person is needed, with these steps of the model; a text is a command. What it was sent."""
        made = [CLIS[self.name].shell(one) if isinstance(one, str) else one for one in steps]
        return [json.dumps(one["body"]) for one in works(self.field, self.name, *made, code=code)]

    def nobrakes(self, *words: str) -> str:
        return self.field.run(NOBRAKES, *words)

    def ask(self, *words: str) -> Any:
        return json.loads(self.nobrakes(*words, "--json"))["data"]

    def question(self) -> dict[str, Any]:
        (only,) = self.ask("escalations")
        return dict(only)

    def feature(self) -> tuple[str, str, int]:
        shown = self.ask("forge", "show", self.id)["feature"]
        return shown["stage"], shown["state"], shown["plan"]


def proposing(bead: str, title: str) -> str:
    """The command with which the Shaper proposes this bead, and says that the plan is complete."""
    plan = {"beads": [{"id": bead, "title": title, "acceptance": ["It greets"], "needs_tests": False}]}
    return f"echo '{json.dumps(plan)}' | {OURS} propose - && {OURS} plan-ready"


def finding(issue: str) -> str:
    return f"{OURS} finding '{issue}' --category security --priority 1 --impact 'Bots.' --option 'add a limit: three'"


def building(bead: str, code: str) -> str:
    """The commands with which a Doer writes hello.py and commits it."""
    return f"printf '%s' \"{code}\" >hello.py && git add -A && git commit -q -m 'Greet' -m 'Bead: {bead}'"


def begun(folder: Path, name: str) -> Planned:
    """A repository whose main has one test, and a feature that waits for its Shaper."""
    field = field_of(folder, name)
    (field.repository / "tests" / "test_it.py").write_text(
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.assertTrue(True)\n"
    )
    field.run("git", "add", "tests")
    field.run("git", "commit", "-q", "-m", "A test")
    config = field.repository / ".nobrakes" / "config.toml"
    config.write_text(
        config.read_text().replace("[agents]\n", f'[agents]\ntest_writer = "{name}"\ndoer = "{name}"\n') + FORGE
    )
    field.run(NOBRAKES, "session", "end", "1")
    made = field.run(NOBRAKES, "forge", "new", "Greeting", "-d", "It greets.", "--only", "1", "--json")
    return Planned(field, name, json.loads(made)["data"]["id"])


def answers_in_a_browser(planned: Planned, title: str, label: str) -> None:
    """A person logs in, finds the question on the Desk and chooses."""
    with web_process(planned.field.repository, dict(os.environ)) as web, launched() as chromium:
        person = Person(chromium, web, "repository", viewport=DESKTOP).log_in()
        person.goes("desk")
        person.page.get_by_role("link", name=title).first.click()
        person.page.get_by_label(label).first.check()
        person.page.locator("form.answer").get_by_role("button", name="Answer", exact=True).first.click()
        person.page.wait_for_url("**/desk")


IN_CI = "claude"
"""The other CLIs are the night's."""


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [getattr(pytest.mark, name), *([] if name == IN_CI else [pytest.mark.night])]


@pytest.mark.parametrize("name", [pytest.param(n, marks=marks(n)) for n in CLIS])
def test_a_feature_goes_from_a_question_to_done(tmp_path: Path, name: str) -> None:
    planned = begun(tmp_path, name)
    sent = planned.works(ASKS, WAITS)
    assert sent[0].count("You are the Shaper of one feature, in discovery") == 1 and sent[0].count("It greets.") == 1
    asked = planned.question()
    assert asked["title"] == "Which greeting?" and asked["form"]["recommended"] == ["hello"]
    planned.nobrakes("answer", str(asked["id"]), "--recommended")

    sent = planned.works(proposing("greet", "Say hello"), WHOLE, finding("No limit"), LOOKED)
    assert sent[0].count("The answer: hello") == 1
    (review, *_) = [one for one in sent if "You review a plan before" in one]
    assert "Say hello" in review and "The answer: hello" not in review, "another conversation, with fresh eyes"
    assert planned.feature() == ("review", "active", 1) and planned.question()["title"] == "No limit"
    answers_in_a_browser(planned, "No limit", "add a limit")

    sent = planned.works(proposing("greet", "Say hello thrice"), WHOLE, finding("It is slow"), LOOKED)
    assert sent[0].count("A person decided: add a limit") == 1, "the answer came once"
    planned.nobrakes("answer", str(planned.question()["id"]), "accept the risk: nobody waits for it")
    planned.works(f"{OURS} plan-ready", WHOLE, LOOKED)
    assert [one["end"] for one in planned.ask("forge", "reviews", planned.id)["iterations"]] == [
        "findings",
        "findings",
        "clean",
    ]
    planned.nobrakes("forge", "sign-off", planned.id, "--take-risk")
    planned.nobrakes("commit-strategy", "--yes")

    planned.works(building("greet", FIRST), BUILT, proposing("greet-names", "Greet by name"), WHOLE, LOOKED)
    assert planned.field.run("git", "show", "main:hello.py") == FIRST
    (item,) = planned.ask("forge", "show", planned.id)["items"]
    assert "greet people by their names" in item["text"] and item["state"] == "reviewed"
    planned.nobrakes("forge", "sign-off", planned.id, "--take-risk")
    planned.nobrakes("commit-strategy", "--yes")
    planned.works(building("greet-names", SECOND), BUILT, code=0)
    assert planned.field.run("git", "show", "main:hello.py") == SECOND
    assert planned.feature()[:2] == ("done", "completed")
