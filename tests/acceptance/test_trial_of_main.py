"""Before a run's first agent starts, main passes its checks, or a person said so; a repair heals a red main."""

import sys
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

CHECK = 'command = "sh tests/run.sh"'
GOOD = "echo more >>shared && commit 'More'"


class Trying(Scripted):
    """A project whose main is tried, as it is by default."""

    tries_main = True


def red(tmp_path: Path) -> Trying:
    """A project that is red from the start, with two plain beads."""
    project = Trying(tmp_path, limits="max_failures = 1")
    (project.folder / "tests" / "test_begin.sh").write_text("test -e mended\n")
    project.git("commit", "-qam", "A test that fails")
    project.plan([{"id": name, "title": name, "needs_tests": False} for name in ("one", "two")])
    for name in ("one", "two"):
        project.does(name, f"echo {name} >{name} && commit '{name}'")
    return project


@pytest.mark.parametrize(
    ("command", "advice"),
    [
        (f"{sys.executable} -c 'import nosuchrunner'", "install its test runner"),
        ("nosuchrunner --all; exit $?", "`nosuchrunner` is not installed: install the program"),
        ("echo no tests ran; true", "`format`"),
        (f"{sys.executable} -m unittest", "add a first test"),  # though there is a file of them
    ],
)
def test_no_agent_is_paid_where_the_checks_cannot_be_run(tmp_path: Path, command: str, advice: str) -> None:
    project = Trying(tmp_path)
    project.configure(CHECK, f'command = "{command}"')
    project.plan([{"id": "one", "title": "One"}])
    said = project.nobrakes("run", expect=40).stdout
    assert advice in said and "nobrakes run --red-main" in said
    assert project.show("one")["attempts"] == []
    assert [one["type"] for one in project.open()] == ["broken_checks"]
    project.nobrakes("run", expect=40)  # it is tried anew, and asked once
    assert len(project.open()) == 1
    assert project.orphans() == []


@pytest.mark.parametrize(
    ("command", "lacks"),
    [
        (f"{sys.executable} -m nosuchrunner", "has no module named nosuchrunner"),
        ("cd tests && nosuchrunner --all", "`nosuchrunner` is not on PATH"),
        ("sh tests/nosuch.sh", "tests/nosuch.sh does not exist"),
    ],
)
def test_a_missing_runner_is_seen_before_anything_is_run(tmp_path: Path, command: str, lacks: str) -> None:
    project = Trying(tmp_path)
    project.configure(CHECK, f'command = "{command}"')
    project.plan([{"id": "one", "title": "One"}])
    said = project.error("run", code=62)
    assert lacks in said["message"] and ".nobrakes/config.toml" in said["hint"]
    assert project.show("one")["attempts"] == [] == project.open()
    assert lacks in project.nobrakes("status").stdout and lacks in project.nobrakes("doctor", expect=1).stdout
    project.nobrakes("add", "Bring the runner", "--scaffolding", "--no-tests", "--id", "two")
    project.does("two", GOOD)
    project.nobrakes("run", expect=40)  # a bead that may mend it is no reason to refuse
    assert "completed" in project.outcomes("two") and project.show("one")["attempts"] == []


def test_a_red_main_is_healed_by_a_repair_before_anything_else_starts(tmp_path: Path) -> None:
    project = red(tmp_path)
    said = project.nobrakes("run", expect=40).stdout
    assert 'nobrakes add "Fix main" --type repair --no-tests' in said
    assert [project.show(name)["attempts"] for name in ("one", "two")] == [[], []]
    project.does("mend", "touch mended && git add mended && commit 'Mend'")
    project.nobrakes("add", "Mend main", "--type", "repair", "--no-tests", "--id", "mend")
    project.nobrakes("run")
    assert next(iter(project.landed().values())) == "mend"
    assert sorted(project.landed().values()) == ["mend", "one", "two"]
    assert project.open() == []
    project.assert_main_is_green_at_every_commit(tmp_path / "scratch")


def test_a_repair_that_leaves_main_red_is_sent_back(tmp_path: Path) -> None:
    project = red(tmp_path)
    project.does("mend", GOOD)
    project.nobrakes("add", "Mend main", "--type", "repair", "--no-tests", "--id", "mend")
    project.nobrakes("run", expect=40)
    assert project.outcomes("mend", "reviewer") == ["failed_review"]
    assert project.landed() == {}


def test_a_person_lets_agents_start_on_a_red_main(tmp_path: Path) -> None:
    project = red(tmp_path)
    project.nobrakes("run", "--red-main", expect=40)
    assert project.outcomes("one", "doer") == ["completed"]
    assert project.landed() == {}


def test_a_main_without_any_test_lets_the_first_one_come(tmp_path: Path) -> None:
    project = Trying(tmp_path)
    project.configure(CHECK, f'command = "{sys.executable} -m unittest"')
    project.git("rm", "-rq", "tests")
    project.git("commit", "-qm", "Nothing yet")
    test = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)"
    project.does("one", f"echo '{test}' >test_one.py && commit 'First'")
    project.nobrakes("add", "One", "--scaffolding", "--id", "one")
    assert "main has no test yet" in project.nobrakes("run").stdout


def test_a_green_main_is_run_once_for_its_tree_and_checks(tmp_path: Path) -> None:
    project = Trying(tmp_path)
    project.plan([{"id": "one", "title": "One", "needs_tests": False}])
    project.does("one", "exit 1")
    said = "main passes its checks (1 test,"
    assert said in project.nobrakes("run", expect=40).stdout
    project.nobrakes("resolve", "1", "--retry")
    assert said not in project.nobrakes("run", expect=40).stdout
    assert len(project.show("one")["attempts"]) > 3


def test_a_main_that_moves_faster_than_its_first_check_lets_agents_start(tmp_path: Path) -> None:
    project = Trying(tmp_path)
    moves = f"git -C {project.folder} commit -q --allow-empty -m More"
    project.configure('mode = "none"', 'mode = "none"\nwall = "none"')  # behind it a check cannot move main
    project.configure(CHECK, f'command = "{moves}; sleep 1; sh tests/run.sh"')
    project.plan([{"id": "one", "title": "One", "needs_tests": False}])
    project.does("one", "echo one >one && commit 'One'")
    said = project.nobrakes("run", expect=None).stdout
    assert "while nobrakes checks" in said and "agents start once" in said
    assert len(project.show("one")["attempts"]) >= 1


def test_status_says_what_the_trial_of_a_moving_main_waits_for(tmp_path: Path) -> None:
    project = Trying(tmp_path)
    ends, moved = project.flag("ends"), project.flag("moved")
    project.configure('mode = "none"', 'mode = "none"\nwall = "none"')
    moves = f"git -C {project.folder} commit -q --allow-empty -m More; touch {moved}"
    project.configure(CHECK, f'command = "{moves}; until [ -e {ends} ]; do sleep 0.1; done; sh tests/run.sh"')
    project.plan([{"id": "one", "title": "One", "needs_tests": False}])
    with project.running():
        until(moved.exists)
        project.add("two")  # a daemon that sleeps looks where main is once it is woken
        until(lambda: "while nobrakes checks" in project.nobrakes("status").stdout)
        assert "agents start once" in project.nobrakes("status").stdout
        ends.touch()
        until(lambda: project.show("one")["attempts"])
        assert "while nobrakes checks" not in project.nobrakes("status").stdout


def test_without_a_check_only_scaffolding_and_repairs_start(tmp_path: Path) -> None:
    project = Trying(tmp_path)
    project.configure(f'[[checks]]\nname = "test"\n{CHECK}\n', "")
    beads = [{"id": "one", "title": "One"}, {"id": "two", "title": "Two", "scaffolding": True, "needs_tests": False}]
    project.plan(beads)
    project.does("two", GOOD)
    said = project.nobrakes("run", expect=40).stdout
    assert "until you add a check, only repair beads and scaffolding beads start" in said
    assert project.show("one")["attempts"] == []
    assert project.outcomes("two", "doer") == ["completed"]


def test_init_tries_the_checks_when_it_is_told_to(tmp_path: Path) -> None:
    project = Trying(tmp_path)
    assert "have not run on main yet: `nobrakes init --trial` runs them now" in project.nobrakes("init").stdout
    assert "main passes its checks (1 test," in project.nobrakes("init", "--trial").stdout
    project.configure(CHECK, 'command = "nosuchrunner"')
    said = project.nobrakes("init", "--trial").stdout
    assert "test: `nosuchrunner` is not installed: install the program, or add the install command as `setup`" in said
