"""`nobrakes init` in the repositories of newcomers: every package has its check, and what is missing is one line."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.warm import NOBRAKES

UNITTEST = "import unittest\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1, 1)\n"
AGENT = ["init", "--agent", "script", "--command", "sh -c 'echo made >made && git add -A && git commit -q -m Made'"]


def nobrakes(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [NOBRAKES, *arguments], cwd=folder, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, (arguments, done.stdout, done.stderr)
    return done.stdout


def ask(folder: Path, *arguments: str) -> Any:
    return json.loads(nobrakes(folder, *arguments, "--json"))["data"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    return tmp_path


def commit(folder: Path, *files: str) -> None:
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(UNITTEST if name.rpartition("/")[2].startswith("test_") else "")
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "Begin"], cwd=folder, check=True)


def test_each_package_of_a_monorepo_is_checked_before_a_merge(folder: Path) -> None:
    commit(folder, "packages/api/tests/__init__.py", "packages/api/tests/test_a.py", "packages/web/tests/test_b.py")
    said = nobrakes(folder, *AGENT, "--trial")
    assert "python3 -m unittest -v  (in packages/api)  (read as unittest)" in said
    assert "python3 -m unittest discover -v -s tests  (in packages/web)  (read as unittest)" in said
    assert "main passes its checks (2 tests" in said and "warning" not in said
    nobrakes(folder, "add", "One", "--id", "one", "--no-tests")
    assert "1 done" in nobrakes(folder, "run").splitlines()
    checks = ask(folder, "show", "one")["attempts"][-1]["data"]["results"]
    assert {one["name"] for one in checks} == {"api", "web"}


@pytest.mark.parametrize("tests", ["tests/test_a.py", "tests/unit/test_a.py", "src/app/tests/test_a.py", "test_a.py"])
def test_a_suite_of_unittest_is_found_without_a_project_file(folder: Path, tests: str) -> None:
    packages = ["src/app/__init__.py", "src/app/tests/__init__.py"] if tests.startswith("src") else []
    commit(folder, tests, *packages)
    assert "main passes its checks (1 test" in nobrakes(folder, "init", "--trial")


def test_a_check_is_added_to_a_repository_that_is_set_up(folder: Path) -> None:
    commit(folder, "readme")
    assert ask(folder, "init")["checks"] == []
    commit(folder, "tests/test_a.py")
    said = nobrakes(folder, "init", "--test", "python3 -m unittest discover -v -s tests", "--trial")
    assert "was already set up" in said and 'checks.test.command: not set -> "python3 -m unittest' in said
    assert "main passes its checks (1 test" in said
    again = nobrakes(folder, "init", "--test", "make test")
    assert "to change, type nobrakes config set checks.test.command 'make test'" in again
    assert [one["command"] for one in ask(folder, "init")["checks"]] == ["python3 -m unittest discover -v -s tests"]


def test_a_missing_program_is_one_line_with_how_to_get_it(folder: Path) -> None:
    commit(folder, "readme")
    said = nobrakes(folder, "init", "--test", "pnpm-of-nobody test", "--lint", "python3 -m tox_of_nobody")
    assert [line for line in said.splitlines() if "of_nobody" in line or "of-nobody" in line][-2:] == [
        "warning: the check 'test' cannot run: `pnpm-of-nobody` is not on PATH: install the program, add "
        "the install command as `setup`, or fix `command` under [[checks]] in .nobrakes/config.toml",
        "warning: the check 'lint' cannot run: python3 has no module named tox_of_nobody: install the program, add the "
        "install command as `setup`, or fix `command` under [[checks]] in .nobrakes/config.toml",
    ]
    tried = [
        line for line in nobrakes(folder, "init", "--trial").splitlines() if "of_nobody" in line and "warn" in line
    ]
    assert tried == [
        "warning: lint: `tox_of_nobody` is not installed: install the program, or add the install command as "
        "`setup` in .nobrakes/config.toml"
    ]


def test_a_program_that_several_checks_lack_is_one_line(folder: Path) -> None:
    commit(folder, "readme")
    said = nobrakes(folder, "init", "--test", "pnpm-of-nobody test", "--lint", "pnpm-of-nobody lint")
    assert [line for line in said.splitlines() if "not on PATH" in line] == [
        "warning: the check 'test' cannot run, and the check 'lint': `pnpm-of-nobody` is not on PATH: install "
        "the program, add the install command as `setup`, or fix `command` under [[checks]] in .nobrakes/config.toml"
    ]


def test_ids_are_short_however_long_a_title_is(folder: Path) -> None:
    commit(folder, "readme")
    nobrakes(folder, "init")
    long = "Write a very long title that goes on and on about the interface of the thing"
    nobrakes(folder, "add", long)
    (folder / "list.md").write_text(f"- [ ] {long}, again\n")
    nobrakes(folder, "propose", "list.md")
    assert "1 unchanged" in nobrakes(folder, "propose", "list.md")
    (folder / "plan.json").write_text(json.dumps({"beads": [{"title": f"{long}, in a plan"}]}))
    nobrakes(folder, "propose", "plan.json")
    assert [len(bead["id"]) for bead in ask(folder, "list")] == [9, 9, 9]
