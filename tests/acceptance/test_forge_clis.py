"""The real agent CLIs plan a feature: discovery, a question, its answer, a plan that is whole, and reviews of it.

The model is scripted and on the loopback; nothing of nobrakes or of the CLI is replaced.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from nobrakes.core.beads.bead import Bead, BeadType
from nobrakes.core.forge.feature import Criterion, Feature
from nobrakes.store.opening import open_store
from tests.acceptance.test_session_clis import CLIS, field_of, works
from tests.support.real_clis import NOBRAKES, Field

OURS = "$NOBRAKES_HOME/bin/nobrakes agent"
ASKS = (
    f"{OURS} ask 'Which greeting?' --option 'zebra: an animal' --option 'hello: usual' --recommend hello --priority 1"
)
PLAN = '{"beads": [{"id": "greet", "title": "Say hello", "acceptance": ["It says hello"]}]}'
PROPOSES = f"echo '{PLAN}' | {OURS} propose - && {OURS} plan-ready"
WAITS = {"text": "I asked.\n\nNOBRAKES: BLOCKED"}
WHOLE = {"text": "The plan is whole.\n\nNOBRAKES: COMPLETED"}


def begun(folder: Path, name: str) -> Field:
    """A repository with one feature that waits for its Shaper, which is this CLI."""
    field = field_of(folder, name)
    field.run(NOBRAKES, "session", "end", "1")
    store = open_store(str(field.repository / ".nobrakes" / "nobrakes.db"))
    store.put([Bead("greeting", "Greeting", type=BeadType.EPIC)], [], "me")
    store.begin_feature(Feature("greeting", "Greeting", "It greets.", (Criterion("Tests pass", "automated"),)))
    store.close()
    return field


def feature(field: Field) -> tuple[Feature, list[str], list[dict[str, Any]]]:
    """The feature, its drafts, and the turns of its Shaper."""
    store = open_store(str(field.repository / ".nobrakes" / "nobrakes.db"))
    found, drafts = store.feature("greeting"), [bead.id for bead in store.beads() if bead.status == "draft"]
    store.close()
    shown = json.loads(field.run(NOBRAKES, "session", "show", "2", "--json"))["data"]
    return found, drafts, shown["turns"]


@pytest.mark.parametrize("name", [pytest.param(n, marks=getattr(pytest.mark, n)) for n in CLIS])
def test_a_feature_goes_from_discovery_over_a_question_to_a_plan_that_is_reviewed(tmp_path: Path, name: str) -> None:
    cli, field = CLIS[name], begun(tmp_path, name)
    first = works(field, name, cli.shell(ASKS), WAITS)
    said = json.dumps(first[0]["body"])
    assert said.count("You are the Shaper of one feature, in discovery") == 1 and said.count("It greets.") == 1
    (asked,) = json.loads(field.run(NOBRAKES, "escalations", "--json"))["data"]
    assert asked["title"] == "Which greeting?" and asked["form"]["recommended"] == ["hello"]
    field.run(NOBRAKES, "answer", str(asked["id"]), "--recommended")
    requests = works(field, name, cli.shell(PROPOSES), WHOLE)
    found, drafts, turns = feature(field)
    assert (found.stage.value, found.plan) == ("review", 1) and drafts == ["greet", "greeting"], turns
    assert turns[1]["resumes"] and [turn["outcome"] for turn in turns] == ["blocked", "completed"]
    assert json.dumps(requests[0]["body"]).count("The answer: hello") == 1
    reviews = [json.dumps(one["body"]) for one in requests if "You review a plan before" in json.dumps(one["body"])]
    assert reviews and "Say hello" in reviews[0], "another conversation looks at the plan with fresh eyes"
    assert "The answer: hello" not in reviews[0]
