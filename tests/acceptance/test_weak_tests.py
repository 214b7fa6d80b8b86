"""Tests that a program which does nothing right would pass go back to the Test Writer, with the reason."""

import json
import shutil
import sqlite3
import sys
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

CHECK = 'command = "sh tests/run.sh"'
HEAD = "import unittest\nfrom sums import add\n\n\nclass TestAdd(unittest.TestCase):\n"
ONE = "    def test_one(self):\n        self.assertEqual(add(1, 2), 3)\n"
TWO = "    def test_two(self):\n        self.assertEqual(add(2, 2), 4)\n"
WRITES = "mkdir -p tests && cat >tests/test_sums.py <<'X'\n{}X\ncommit 'Tests'"
DOES = "printf 'def add(a, b):\\n    return a + b\\n' >sums.py && commit 'Add'"


def outcomes(project: Scripted) -> list[str]:
    """How the agents' attempts ended."""
    return [a["outcome"] for a in project.show("sums")["attempts"] if a["role"] != "reviewer"]


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    found = Scripted(tmp_path)
    found.configure(CHECK, f'command = "PYTHONPATH=. {sys.executable} -m unittest discover -v -s tests"')
    found.plan([{"id": "sums", "title": "Add two numbers", "needs_tests": True}])
    return found


def test_one_example_is_too_little_and_two_are_enough(project: Scripted) -> None:
    project.does("sums", WRITES.format(HEAD + ONE), turn=1)
    project.does("sums", WRITES.format(HEAD + ONE + TWO), turn=2)
    project.does("sums", DOES, turn=3)
    project.nobrakes("run")
    assert outcomes(project) == ["weak_tests", "completed", "completed"]
    first = project.show("sums")["attempts"][0]
    assert "the value that the test compares with" in first["detail"]
    assert "the value that the test compares with" in project.prompt("sums", 2)
    assert project.status("sums") == "done"
    assert project.orphans() == []


def test_a_person_is_asked_when_the_tests_stay_weak(project: Scripted) -> None:
    project.does("sums", WRITES.format(HEAD + ONE) + " --allow-empty")
    project.nobrakes("run", expect=40)
    assert set(outcomes(project)) == {"weak_tests"}
    assert [escalation["type"] for escalation in project.open()] == ["weak_tests"]


def test_tests_that_put_something_else_in_the_products_place_are_weak(project: Scripted) -> None:
    tests = (
        (HEAD + ONE + TWO)
        .replace("from sums import add", "from unittest import mock\nimport sums")
        .replace("add(", "sums.add(")
    )
    instead = "\ndef setUpModule():\n    mock.patch.object(sums, 'add', lambda a, b: a + b).start()\n"
    project.does("sums", WRITES.format(tests + instead) + " --allow-empty")
    project.nobrakes("run", expect=40)
    assert set(outcomes(project)) == {"weak_tests"}
    assert [escalation["type"] for escalation in project.open()] == ["weak_tests"]


def test_who_does_not_want_it_has_the_red_proof_alone(project: Scripted) -> None:
    project.configure("[limits]", '[review]\ntest_strength = "red"\n[limits]')
    project.does("sums", WRITES.format(HEAD + ONE), turn=1)
    project.does("sums", DOES, turn=2)
    project.nobrakes("run")
    assert outcomes(project) == ["completed", "completed"]


def steps(project: Scripted) -> list[str]:
    """The steps in which checks were run."""
    with sqlite3.connect(project.folder / ".nobrakes" / "nobrakes.db") as db:
        rows = db.execute("SELECT json_extract(data, '$.step') FROM events WHERE kind = 'checks_began' ORDER BY seq")
        return [step for (step,) in rows]


def test_a_bead_costs_as_many_runs_of_its_checks_as_the_pages_say(project: Scripted) -> None:
    """One stub program and one altered test, beside the proof of red and the review's own runs."""
    project.does("sums", WRITES.format(HEAD + ONE + TWO), turn=1)
    project.does("sums", DOES, turn=2)
    project.nobrakes("run")
    assert steps(project) == ["red_proof", "test_strength", "validate_rebased", "count_base"]
    (run,) = altered(project)
    assert "check" in run


def altered(project: Scripted) -> list[str]:
    """The runs in which a test was altered."""
    return sorted(path.parent.name for path in (project.folder / ".nobrakes" / "runs").glob("*/test@probe.start"))


def test_a_second_review_alters_a_test_only_where_the_change_is_another_one(project: Scripted) -> None:
    project.configure("[limits]", '[review]\napprove = "always"\n[limits]')
    project.does("sums", WRITES.format(HEAD + ONE + TWO), turn=1)
    project.does("sums", DOES, turn=2)
    project.nobrakes("run", expect=40)
    assert len(altered(project)) == 1
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--retry", "--note", "With a sum")
    project.does("sums", "printf 'def add(a, b):\\n    return sum((a, b))\\n' >sums.py && commit 'Sum'", turn=3)
    project.nobrakes("run", expect=40)
    assert len(altered(project)) == 2, "other code is tried again"
    (project.folder / "elsewhere").write_text("mine\n")
    project.git("add", "elsewhere")
    project.git("commit", "-q", "-m", "Mine")
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--approve")
    project.nobrakes("run")
    assert project.status("sums") == "done" and len(altered(project)) == 2, "the same change on another main is not"
    assert project.ask("review")[-1]["results"][0]["decoy"].startswith("seen tests/test_sums.py::test_")


@pytest.mark.parametrize("has_run", [True, False], ids=["in the middle of a run", "between two runs"])
def test_an_attempt_in_the_middle_of_the_three_programs_of_before_goes_on(project: Scripted, has_run: bool) -> None:
    """It was tried with one program of three when nobrakes was updated: it is tried once more."""
    project.does("sums", WRITES.format(HEAD + ONE + TWO), turn=1)
    project.does("sums", DOES, turn=2)
    begun, go = project.flag("begun"), project.flag("go")
    wait = f"! grep -rq 'kwargs' --include=*.py . || {{ touch '{begun}'; while [ ! -e '{go}' ]; do sleep 0.05; done; }}; PYTHONPATH=."
    project.configure('command = "PYTHONPATH=.', f'command = "{wait}')
    database, runs = project.folder / ".nobrakes" / "nobrakes.db", project.folder / ".nobrakes" / "runs"
    with project.running() as process:
        until(begun.exists)
        process.kill()
        process.wait()
        go.touch()
        until((runs / "1-stub1" / "test.exit").exists, what=lambda: [*runs.glob("1-stub1/*")])
        for name in ("1-cheat1", "1-cheat11"):
            shutil.copytree(runs / "1-stub1", runs / name)
        shutil.rmtree(runs / "1-stub1")
        with sqlite3.connect(database) as db:
            data = json.loads(db.execute("SELECT data FROM attempts WHERE id = 1").fetchone()[0])
            data |= {"phase": "cheats", "cheat": 1, "met": ["empty bodies"]}
            db.execute("UPDATE attempts SET data = ? WHERE id = 1", (json.dumps(data),))
            db.execute("UPDATE runs SET id = '1-cheat11' WHERE id = '1-stub1'" if has_run else "DELETE FROM runs")
        project.nobrakes("run")
    assert outcomes(project) == ["completed", "completed"] and project.status("sums") == "done"
    assert steps(project)[:4] == ["red_proof", "test_strength", "test_strength", "validate_rebased"]
