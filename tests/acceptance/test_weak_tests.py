"""Tests that a program which does nothing right would pass go back to the Test Writer, with the reason."""

import sqlite3
import sys
from pathlib import Path

import pytest

from tests.support.scripted import Scripted

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
    assert "the value the test compares with" in first["detail"]
    assert "the value the test compares with" in project.prompt("sums", 2)
    assert project.status("sums") == "done"
    assert project.orphans() == []


def test_a_person_is_asked_when_the_tests_stay_weak(project: Scripted) -> None:
    project.does("sums", WRITES.format(HEAD + ONE) + " --allow-empty")
    project.nobrakes("run", expect=40)
    assert set(outcomes(project)) == {"weak_tests"}
    assert [escalation["type"] for escalation in project.open()] == ["weak_tests"]


def test_who_does_not_want_it_has_the_red_proof_alone(project: Scripted) -> None:
    project.configure("[limits]", '[review]\ntest_strength = "red"\n[limits]')
    project.does("sums", WRITES.format(HEAD + ONE), turn=1)
    project.does("sums", DOES, turn=2)
    project.nobrakes("run")
    assert outcomes(project) == ["completed", "completed"]


def test_a_bead_costs_as_many_runs_of_its_checks_as_the_pages_say(project: Scripted) -> None:
    """Three programs that do nothing right and one altered test, beside the proof of red and the review's own runs."""
    project.does("sums", WRITES.format(HEAD + ONE + TWO), turn=1)
    project.does("sums", DOES, turn=2)
    project.nobrakes("run")
    with sqlite3.connect(project.folder / ".nobrakes" / "nobrakes.db") as db:
        rows = db.execute("SELECT json_extract(data, '$.step') FROM events WHERE kind = 'checks_began'").fetchall()
    assert [step for (step,) in rows] == ["red_proof", *["test_strength"] * 3, "validate_rebased", "count_base"]
    altered = [path.parent.name for path in (project.folder / ".nobrakes" / "runs").glob("*/test@probe.start")]
    assert len(altered) == 1 and "check" in altered[0]
