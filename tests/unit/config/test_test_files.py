"""What `init` says of the tests: how many files, by which globs, and what the runner collects besides."""

import subprocess
import sys
from pathlib import Path

import pytest

from nobrakes.checks.contract import Check
from nobrakes.checks.probes import listed, listing
from nobrakes.config.sections import CheckSettings
from nobrakes.config.setup import init
from nobrakes.sandbox.closure import platform_trouble


def project(folder: Path, *paths: str) -> Path:
    subprocess.run(["git", "init", "-q", "-b", "main", str(folder)], check=True)
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("def test_a():\n    assert True\n")
    subprocess.run(["git", "-C", str(folder), "add", "-A"], check=True)
    return folder


def checks(command: str) -> list[CheckSettings]:
    return [CheckSettings(name="test", command=command)]


def test_it_counts_the_files_and_names_the_globs(tmp_path: Path) -> None:
    root = project(tmp_path / "a", "pkg/tests/test_a.py", "pkg/tests/helpers.py", "pkg/a.py", "b_test.go")
    found = init.init(str(root), checks=checks("python3 -m pytest -q")).tests
    assert found is not None and found.warnings == ()
    assert found.told() == "tests: 3 files (test_*.py, *_test.go, pkg/tests/**)"


def test_none_found_is_said(tmp_path: Path) -> None:
    report = init.init(str(project(tmp_path / "a", "app.py")), checks=checks("python3 -m pytest -q"))
    assert report.tests is not None and report.tests.told() == "tests: 0 files"
    assert any("boundaries.tests" in warning for warning in report.warnings)


@pytest.mark.slow
@pytest.mark.skipif(bool(platform_trouble()), reason="there is no wall on this machine")
def test_what_the_runner_collects_outside_is_named_and_nothing_runs_unasked(tmp_path: Path) -> None:
    root = project(tmp_path / "a", "tests/test_a.py", "checks/check_b.py")
    tried = "try:\n    open('ran', 'w')\nexcept OSError:\n    pass\n"
    (root / "checks" / "check_b.py").write_text(f"{tried}def test_b():\n    assert True\n")
    command = f"{sys.executable} -m pytest -q tests checks/check_b.py"
    assert not [w for w in init.init(str(root), checks=checks(command)).warnings if "check_b" in w]
    assert not (root / "ran").exists()
    (warning,) = [w for w in init.init(str(root), collect=True).warnings if "check_b" in w]
    assert warning.startswith("the check 'test' runs checks/check_b.py") and "boundaries.tests" in warning
    assert not (root / "ran").exists(), "it ran behind the wall"


@pytest.mark.parametrize(
    ("command", "argv"),
    [
        ("python3 -m pytest -q tests", ("python3", "-m", "pytest", "tests", "--collect-only", "-q")),
        ("npx jest", ("npx", "jest", "--listTests")),
        ("go test -v ./...", ("go", "list", "-f", "./...")),
        ("pytest -q && rm x", None),
        ("npm test", None),
        ("pytest 'unclosed", None),
    ],
)
def test_only_a_runner_alone_is_asked_to_list(command: str, argv: tuple[str, ...] | None) -> None:
    found = listing(Check("test", command))
    assert (found is None) == (argv is None)
    if found is not None and argv is not None:
        assert tuple(word for word in found.argv if "{" not in word) == argv


def test_what_it_lists_is_told_by_repository_paths() -> None:
    said = "tests/test_a.py::test_x\ntests/test_a.py::test_y[a b]\n\n2 tests collected in 0.1s\nERROR tests/c.py\n"
    assert listed("pytest", said, "/r", "app") == ("app/tests/test_a.py",)
    assert listed("jest", "/r/web/a.test.js\n/else/b.js\nnoise\n", "/r", "") == ("web/a.test.js",)
