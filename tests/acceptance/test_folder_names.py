"""A repository in a folder with a strange name: each command works there, or says in one clear error why not."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.warm import NOBRAKES

GIT = ("git", "-c", "user.name=You", "-c", "user.email=you@example.invalid")
BROKEN = [b"new\nline", b"at the end\n", b"\nat the beginning"]
STRANGE = [
    b"tab\there",
    b"quotes \" and '",
    b"a space behind ",
    b"\xff\xfe no text",
    b"return\r",
    b"\x1b[1mescape",
    b"\\n",
]
COMMANDS = ("init", "status", "doctor", "list", "run", "verify")


def repository(folder: bytes) -> bytes:
    os.makedirs(folder)
    subprocess.run([*GIT, "init", "-q", "-b", "main", "."], cwd=folder, check=True)
    subprocess.run([*GIT, "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=folder, check=True)
    return folder


def said(folder: bytes, *arguments: str) -> tuple[int, str]:
    done = subprocess.run([NOBRAKES, *arguments], cwd=folder, capture_output=True, timeout=120)
    text = (done.stdout + done.stderr).decode("utf-8", "replace")
    assert "Traceback" not in text and done.returncode != 70, f"{arguments}: {text}"
    return done.returncode, text


@pytest.mark.parametrize("name", BROKEN)
def test_a_line_break_is_one_clear_error(tmp_path: Path, name: bytes) -> None:
    folder = repository(os.path.join(os.fsencode(tmp_path), name))
    for command in COMMANDS:
        code, text = said(folder, command)
        assert code and text.startswith("error: "), f"{command}: {text}"
    assert "line break" in said(folder, "init")[1]
    assert not os.path.exists(os.path.join(folder, b".nobrakes"))


@pytest.mark.parametrize("name", STRANGE)
def test_any_other_name_works(tmp_path: Path, name: bytes) -> None:
    folder = repository(os.path.join(os.fsencode(tmp_path), name))
    assert said(folder, "init", "--main", "main")[0] == 0
    for command in ("status", "list", "doctor"):
        assert said(folder, command)[0] in (0, 1), command
