"""Tests stay honest: what a Doer hands in holds the Test Writer's files as they were proven, and nothing asserts less."""

import sys
from pathlib import Path

import pytest

from tests.support.scripted import Scripted

CHECK = 'command = "sh tests/run.sh"'
OLD = "import unittest\n\n\nclass TestOld(unittest.TestCase):\n    def test_old(self):\n{}"
BOTH = "        self.assertEqual(1, 1)\n        self.assertTrue(True)\n"
ONE = "        self.assertEqual(1, 1)\n"
SLOW = "class TestSlow(unittest.TestCase):\n    def test_slow(self):\n        self.assertEqual({})\n"
NEW = """mkdir -p tests && cat >tests/test_sums.py <<'X'
import unittest
from sums import add


class TestAdd(unittest.TestCase):
    def test_both(self):
        self.assertEqual(add(1, 2), 3)
        self.assertEqual(add(2, 2), 4)

    def test_more(self):
        self.assertEqual(add(5, 7), 12)
X
"""
DOES = "printf 'def add(a, b):\\n    return a + b\\n' >sums.py && commit 'Add'"


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    found = Scripted(tmp_path, limits="max_failures = 2")
    found.configure(CHECK, f'command = "PYTHONPATH=. {sys.executable} -m unittest discover -v -s tests"')
    (found.folder / "tests" / "test_old.py").write_text(OLD.format(BOTH))
    found.git("add", "-A")
    found.git("commit", "-q", "-m", "Old tests")
    return found


@pytest.mark.parametrize(
    "play",
    [
        "echo 'import unittest' >tests/test_sums.py",
        "git rm -q tests/test_sums.py",
        "chmod +x tests/test_sums.py",
        "rm tests/test_sums.py; ln -s ../sums.py tests/test_sums.py",
        "git revert --no-edit HEAD",
        "git checkout -q HEAD~1 -- tests; git rm -q --cached tests/test_sums.py; rm tests/test_sums.py",
    ],
)
def test_whatever_a_doer_does_to_the_tests_main_gets_those_that_were_proven(project: Scripted, play: str) -> None:
    project.plan([{"id": "sums", "title": "Add two numbers", "needs_tests": True}])
    project.does("sums", f"{NEW} commit 'Tests'", turn=1)
    project.does("sums", f"{play}; {DOES}", turn=2)
    project.does("sums", DOES, turn=3)
    project.nobrakes("run")
    written, bad, good = (a for a in project.show("sums")["attempts"] if a["role"] != "reviewer")
    assert (written["outcome"], bad["outcome"], good["outcome"]) == ("completed", "boundary", "completed")
    entry = project.git("ls-tree", "main", "tests/test_sums.py")
    assert entry == project.git("ls-tree", written["head"], "tests/test_sums.py") and entry


def test_a_test_writer_that_takes_an_assertion_away_is_told_how_many_there_were(project: Scripted) -> None:
    project.plan([{"id": "sums", "title": "Add two numbers", "needs_tests": True}])
    spoils = f"cat >tests/test_old.py <<'X'\n{OLD.format(ONE)}X\n"
    project.does("sums", f"{NEW}{spoils} commit 'Tests'", turn=1)
    project.does("sums", "git checkout -q HEAD~1 -- tests/test_old.py; commit 'As it was'", turn=2)
    project.does("sums", DOES, turn=3)
    project.nobrakes("run")
    attempts = [a for a in project.show("sums")["attempts"] if a["role"] != "reviewer"]
    assert [a["outcome"] for a in attempts] == ["weak_tests", "completed", "completed"]
    told = "tests/test_old.py: 1 line asserts something, and before the change 2 did"
    assert told in attempts[0]["detail"] and told in project.prompt("sums", 2)


def test_a_scaffolding_bead_may_take_tests_away(project: Scripted) -> None:
    project.does("one", f"cat >tests/test_old.py <<'X'\n{OLD.format(ONE)}X\nwork")
    project.add("one", scaffolding=True)
    project.nobrakes("run")
    assert project.status("one") == "done"


@pytest.mark.parametrize("asserted", ["1, 1", "1, 2"], ids=["main is green", "main is red"])
def test_the_first_bead_of_all_is_compared_with_main_that_nobody_has_run(project: Scripted, asserted: str) -> None:
    (project.folder / "pace.py").write_text("FAST = False\n")
    skips = f'import unittest\nimport pace\n\n\n@unittest.skipIf(pace.FAST, "slow")\n{SLOW.format(asserted)}'
    (project.folder / "tests" / "test_slow.py").write_text(skips)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A test that may be skipped")
    project.plan([{"id": "hurry", "title": "Be faster", "needs_tests": False}])
    project.does("hurry", "echo 'FAST = True' >pace.py && commit 'Fast'")
    project.nobrakes("run", expect=40)
    attempts = project.show("hurry")["attempts"]
    assert {a["outcome"] for a in attempts if a["role"] == "reviewer"} == {"failed_review"}
    assert all("the branch skips 1 more test than main" in a["detail"] for a in attempts if a["role"] == "reviewer")
    assert project.landed() == {}


def test_what_mends_a_red_main_lands_though_its_tests_were_never_counted(project: Scripted) -> None:
    slow = f"import unittest\nimport pace\n\n\n{SLOW.format('pace.FAST, True')}"
    (project.folder / "pace.py").write_text("FAST = False\n")
    (project.folder / "tests" / "test_slow.py").write_text(slow)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A test that fails")
    project.plan([{"id": "hurry", "title": "Be faster", "needs_tests": False}])
    project.does("hurry", "echo 'FAST = True' >pace.py && commit 'Fast'")
    project.nobrakes("run")
    assert list(project.landed().values()) == ["hurry"]
