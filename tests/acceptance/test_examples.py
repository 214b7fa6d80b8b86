"""Each example, from an empty folder to a merged main, through the command line, with its stated outcome."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def play(name: str, folder: Path) -> str:
    env = {k: v for k, v in os.environ.items() if k == "NOBRAKES_USER_HOME" or not k.startswith("NOBRAKES_")}
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "run.py"), name, str(folder)],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


def commits(folder: Path) -> list[str]:
    log = subprocess.run(
        ["git", "log", "--reverse", "--format=%H %(trailers:key=Bead,valueonly,separator=%x2C)"],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
    )
    return [line.split()[0] for line in log.stdout.splitlines() if len(line.split()) == 2]


def passes_alone(folder: Path, commit: str, scratch: Path, command: list[str]) -> None:
    subprocess.run(["git", "clone", "-q", str(folder), str(scratch)], check=True)
    subprocess.run(["git", "checkout", "-q", commit], cwd=scratch, check=True)
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
    assert done.returncode == 0, f"{commit} fails alone:\n{done.stdout}{done.stderr}"
    shutil.rmtree(scratch)


UNITTEST = [sys.executable, "-m", "unittest", "discover", "-s", "tests", "-t", "."]


@pytest.mark.parametrize(
    ("name", "check"),
    [
        ("library", UNITTEST),
        ("existing", UNITTEST),
        pytest.param("javascript", ["node", "--test"], marks=pytest.mark.night),
    ],
)
def test_the_example_ends_as_it_says_and_every_commit_passes_alone(name: str, check: list[str], tmp_path: Path) -> None:
    if shutil.which(check[0]) is None:
        pytest.skip(f"{check[0]} is not installed")
    folder = tmp_path / "repository"
    printed = play(name, folder)
    assert f"{name} is built" in printed
    assert f"  cd {folder}" in printed and "nobrakes history " in printed and folder.is_dir()
    landed = commits(folder)
    assert landed
    for commit in landed:
        passes_alone(folder, commit, tmp_path / "scratch", check)
