"""What is read of a plan without pydantic is what pydantic reads of it; what pydantic refuses is never taken."""

import datetime
import random
import subprocess
import sys

import pytest

from nobrakes.operations import planlight, planmodels

VALUES = {
    "id": ["nb-1", "", "a b", "é", 4],
    "key": ["k", "", "k" * 100, "k" * 101],
    "title": ["A title", "  A  ", "", " ", "x" * 500, "x" * 501, "two\nlines", "\ud800", 7],
    "type": ["task", "Bug", "chore", "none of them"],
    "description": ["text", "", "\ud800", 1.5],
    "acceptance": ["- one\n- two", ["a", "b"], [], "", [1], ("a",), {"a": 1}],
    "priority": [0, 4, 5, -1, True, "2", 2.0],
    "labels": [["a", "b", "a"], "a", [None], []],
    "epic": ["e", "", 3],
    "estimate": [1, 0, 999_999, 1_000_000, "2h", "1h30m", "0m", "soon", "", True, 1.0],
    "needs_tests": [True, False, "yes", 1],
    "scaffolding": [True, 0],
    "touches": [["src/**"], [[]]],
    "notes": ["n", ["n"]],
    "metadata": [{}, {"a": [1, {"b": None}]}, {1: 2}, [], {"\ud800": 1}],
    "needs": [["a"], ["a", "b"], "a"],
    "related": [["a"]],
    "discovered_from": [["a"], 1],
    "status": ["draft", "live", "closed", "open", "Done ", "deferred", "no such", "", 1],
    "hold": ["because", "", "x" * 2000, "x" * 2001],
    "defer_until": ["2030-01-31T09:00:00Z", "2030-01-31", "never", 5, 5.5, datetime.date(2030, 1, 31)],
    "no_key": ["x"],
}


def bead(rng, wild):
    """Some keys with some values, each of the first ones more often, so that many a bead is right."""
    keys = [key for key in VALUES if key != "no_key" or wild] if wild else list(VALUES)[:-1]
    chosen = rng.sample(keys, rng.randint(0, 6))
    return {key: None if rng.random() < 0.1 else rng.choice(VALUES[key] if wild else VALUES[key][:1]) for key in chosen}


@pytest.mark.parametrize("seed", range(400))
def test_it_is_what_the_models_say(seed):
    rng = random.Random(seed)
    value = {"beads": [bead(rng, wild=seed % 2 == 0) for _ in range(rng.randint(0, 3))]}
    if rng.random() < 0.3:
        value["live"] = rng.choice([True, False, True, "yes", None])
    light, thorough = planlight.judged(value), planmodels.judged(value)
    if light is not None:
        assert light == thorough
    if seed % 2 and value.get("live", False) in (True, False):
        assert light is not None, "what is plainly right needs no pydantic"


@pytest.mark.parametrize("key", VALUES)
def test_each_value_alone(key):
    for value in [*VALUES[key], None]:
        light, thorough = (judge.judged({"beads": [{key: value}]}) for judge in (planlight, planmodels))
        assert light is None or (light == thorough and repr(light) == repr(thorough)), value


def test_every_key_of_the_models_has_its_rule():
    assert planlight._RULES.keys() == planmodels.Node.model_fields.keys()


def test_a_plan_that_is_right_is_proposed_without_pydantic(tmp_path):
    (tmp_path / "plan.yaml").write_text("beads:\n  - {id: a, title: A, needs: [b]}\n  - {id: b, title: B}\n")
    for argv in (["git", "init", "-q"], ["git", "commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(argv, cwd=tmp_path, check=True)
    subprocess.run([sys.executable, "-m", "nobrakes", "init"], cwd=tmp_path, check=True, capture_output=True)
    code = (
        "import sys; from nobrakes.cli.main import run; assert run(['propose', 'plan.yaml']) == 0; "
        "assert run(['plan', 'apply', 'plan.yaml']) == 0; print('pydantic' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"
