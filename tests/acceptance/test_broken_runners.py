"""A runner that is broken on main as well is nobody's failure: a person is asked, and no attempt is counted."""

import sys
from pathlib import Path

import pytest

from tests.support.scripted import Scripted

CHECK = 'command = "sh tests/run.sh"'
WRITES = "mkdir -p tests && echo 'def test_it(): assert 0' >>tests/test_x.py && commit 'Tests'"
BROKEN = {
    "a module that is not installed": f"{sys.executable} -m nosuchrunner -q",
    "a make that hides a missing program": "sh -c 'nosuchrunner || exit 2'",
    "an output that tells no number": "echo all is well",
    "no test is collected anywhere": "echo 'no tests ran in 0.1s'; exit 5",
    "fewer tests than wanted": "echo '1 passed in 0.1s'",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_test_writer_is_not_blamed_for_a_runner_that_is_broken_on_main_too(tmp_path: Path, name: str) -> None:
    project = Scripted(tmp_path)
    project.configure(CHECK, f'command = "{BROKEN[name]}"\nmin_tests = 2')
    project.plan([{"id": "sums", "title": "Add two numbers", "needs_tests": True}])
    project.does("sums", WRITES)
    project.nobrakes("run", expect=40)
    (attempt,) = project.show("sums")["attempts"]
    assert (attempt["role"], attempt["outcome"]) == ("test_writer", "broken_checks")
    assert "their result is the same without the new tests" in attempt["detail"]
    assert [one["type"] for one in project.open()] == ["broken_checks"]
    assert project.show("sums")["failures"] == 0
    assert project.orphans() == []


def test_tests_that_silence_a_runner_which_works_without_them_are_sent_back(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1")
    project.configure(CHECK, "command = \"test -e tests/test_x.py || echo '1 passed in 0.1s'\"")
    project.plan([{"id": "sums", "title": "Add two numbers", "needs_tests": True}])
    project.does("sums", WRITES)
    project.nobrakes("run", expect=40)
    assert project.outcomes("sums", "test_writer") == ["not_red"]
