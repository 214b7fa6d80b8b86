"""An installed CLI is asked whether it works: outside of the repository, and never one that lies in it."""

import os
from pathlib import Path

import pytest

from nobrakes.host import versions

BASE = os.environ["PATH"]


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def test_what_it_says_is_told(tmp_path: Path, root: Path) -> None:
    good = program(tmp_path / "bin" / "good", "echo 1.2.3")
    bad = program(tmp_path / "bin" / "bad", "echo 'SyntaxError: Unexpected token' >&2; exit 1")
    torn = tmp_path / "bin" / "torn"
    torn.write_bytes(b"\x7fELF" + bytes(100))
    torn.chmod(0o755)
    assert versions.trouble(str(good), BASE, str(root)) == ""
    assert "SyntaxError" in versions.trouble(str(bad), BASE, str(root))
    assert "cannot be started" in versions.trouble(str(torn), BASE, str(root))
    assert "was not found" in versions.trouble("no-such-agent", BASE, str(root))
    assert versions.trouble("good", f"{tmp_path / 'bin'}:{BASE}", str(root)) == ""


def test_it_sees_neither_the_repository_nor_a_secret(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    seen = tmp_path / "seen"
    nosy = program(tmp_path / "bin" / "nosy", f"pwd >{seen}; env >>{seen}")
    path = f"{root / 'node_modules/.bin'}:bin:{BASE}"
    assert versions.trouble(str(nosy), path, str(root)) == ""
    assert str(root) not in seen.read_text() and "secret" not in seen.read_text()


@pytest.mark.parametrize("way", ["by its path", "by a link", "by a linked folder", "on PATH", "relative"])
def test_nothing_of_the_repository_is_started(tmp_path: Path, root: Path, way: str) -> None:
    mark = tmp_path / "started"
    own = program(root / "bin" / "agent", f"touch {mark}")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "agent").symlink_to(own)
    (tmp_path / "linked").symlink_to(root / "bin")
    asked, path = {
        "by its path": (str(own), BASE),
        "by a link": (str(outside / "agent"), BASE),
        "by a linked folder": (str(tmp_path / "linked" / "agent"), BASE),
        "on PATH": ("agent", f"{root / 'bin'}:{outside}:{tmp_path / 'linked'}:{BASE}"),
        "relative": ("bin/agent", BASE),
    }[way]
    assert versions.trouble(asked, path, str(root)) == "" and not mark.exists()
