"""`python3 examples/demo` on a machine that lacks something: it is said at once, and nothing is installed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """As much of this repository as the demo reads before it installs."""
    folder = tmp_path / "clone"
    for name in ("examples/demo", "examples/run.py", "tests/gates", "pyproject.toml", ".ci/requirements.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    shutil.copy(ROOT / ".ci" / "requirements-dev.txt", folder / ".ci")
    return folder


def demo(clone: Path, *words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(clone / "examples" / "demo"), *words]
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **env}, timeout=120)


def program(folder: Path, name: str, text: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)
    return str(folder)


def test_what_is_missing_is_said_before_anything_is_installed(clone: Path, tmp_path: Path) -> None:
    old = program(tmp_path / "old", "git", "#!/bin/sh\necho git version 2.30.2\n")
    broken = program(tmp_path / "broken", "git", "#!/bin/sh\nexit 3\n")
    packed = program(tmp_path / "packed", "ensurepip.py", "raise ImportError('no ensurepip here')\n")
    full = "import os\nos.fstatvfs = os.statvfs = lambda path: os.statvfs_result((1, 4096, 9, 9, 9, 9, 9, 9, 0, 255))\n"
    full = program(tmp_path / "full", "sitecustomize.py", full)
    young = "import sys\nsys.version_info = (3, 9, 2, 'final', 0)\n"
    young = program(tmp_path / "young", "sitecustomize.py", young)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    for env, words, told in (
        ({"PATH": str(tmp_path / "nothing")}, (), "git is not on PATH"),
        ({"PATH": old}, (), "this is 'git version 2.30.2'"),
        ({"PATH": broken}, (), "git does not work"),
        ({"PYTHONPATH": packed}, (), "apt install python3-venv"),
        ({"PYTHONPATH": full}, (), "Free some disk space"),
        ({"PYTHONPATH": young}, (), "Python 3.11 or newer is needed"),
        ({}, (str(tmp_path / "taken"),), "is not empty"),
        ({}, (str(tmp_path / "taken" / "file" / "x"),), "cannot be written"),
    ):
        done = demo(clone, *words, **env)
        assert done.returncode == 1 and done.stdout == "", done
        head, *lines = done.stderr.splitlines()
        assert "nothing was installed" in head and len(lines) == 1 and told in lines[0], done.stderr
        assert not (clone / ".venv").exists()
    (clone / ".venv").touch()
    assert "not a folder" in demo(clone).stderr


def test_every_lack_is_said_at_once(clone: Path, tmp_path: Path) -> None:
    (clone / ".venv").touch()
    said = demo(clone, PATH=str(tmp_path / "nothing")).stderr
    assert "git is not on PATH" in said and "not a folder" in said


def test_a_package_index_that_is_not_reached_is_one_clear_line(clone: Path) -> None:
    away = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_CONFIG_FILE": os.devnull, "PIP_RETRIES": "0"}
    done = demo(clone, **away)
    assert done.returncode == 1
    why = [line for line in done.stdout.splitlines() if line.startswith("FAILED: the packages")]
    assert len(why) == 1 and "is not reached" in why[0] and "HTTPS_PROXY" in why[0]
    log = clone / ".venv" / "install.log"
    assert str(log) in done.stdout and log.read_text() and "Traceback" not in done.stdout + done.stderr
