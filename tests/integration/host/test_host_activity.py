"""Signs of life: what counts, what does not, and what it costs."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from nobrakes.host import proctable
from nobrakes.host.proctable import Process, fingerprint


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, Path]:
    folder, workspace = tmp_path / "run", tmp_path / "workspace"
    folder.mkdir()
    (workspace / ".git" / "refs" / "heads").mkdir(parents=True)
    return str(folder), workspace


def changed(path: Path, text: str) -> None:
    path.write_text(text)
    os.utime(path, (time.time() + 5, time.time() + 5))


@pytest.mark.parametrize("name", ["a.py", "deep/er/b.py", ".git/logs/HEAD", ".git/refs/heads/feature/bead-x"])
def test_a_change_of_files_or_commits_is_a_sign_of_life(paths: tuple[str, Path], name: str) -> None:
    folder, workspace = paths
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("1")
    before = fingerprint([], folder, str(workspace), "")
    assert fingerprint([], folder, str(workspace), before) == before
    changed(path, "22")
    assert fingerprint([], folder, str(workspace), before) != before


@pytest.mark.parametrize("name", ["node_modules/x.js", ".venv/x.py", ".git/objects/aa/bb"])
def test_what_changes_without_work_is_none(paths: tuple[str, Path], name: str) -> None:
    folder, workspace = paths
    path = workspace / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("1")
    before = fingerprint([], folder, str(workspace), "")
    changed(path, "22")
    assert fingerprint([], folder, str(workspace), before) == before


def test_files_are_walked_only_when_everything_else_is_silent(
    paths: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, workspace = paths
    before = fingerprint([], folder, str(workspace), "")
    Path(folder, "agent.out").write_text("a word")
    changed(workspace / "a.py", "1")
    spoken = fingerprint([], folder, str(workspace), before)
    assert spoken != before
    assert spoken.split()[-1] == before.split()[-1]
    assert fingerprint([], folder, str(workspace), spoken) != spoken


def test_links_are_not_followed_and_the_walk_is_bounded(
    paths: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, workspace = paths
    (workspace / "loop").symlink_to(workspace)
    (workspace / "away").symlink_to("/")
    monkeypatch.setattr(proctable, "MAX_ENTRIES", 10)
    for number in range(50):
        (workspace / f"{number}.py").write_text("1")
    assert fingerprint([], folder, str(workspace), "").split()[-1].startswith("10.")


def tree(pid: int) -> list[Process]:
    top = proctable.look(pid)
    assert top is not None
    return [top, *proctable.below(pid).values()]


def test_work_of_the_processors_is_a_sign_of_life(paths: tuple[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    folder, workspace = paths
    monkeypatch.setattr(proctable, "CPU_GRAIN", 0.05)
    busy = subprocess.Popen(["sh", "-c", "sh -c 'while :; do :; done'; true"])
    try:
        before = fingerprint(tree(busy.pid), folder, str(workspace), "")
        deadline = time.monotonic() + 20
        while fingerprint(tree(busy.pid), folder, str(workspace), before) == before:
            assert time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        subprocess.run(["pkill", "-KILL", "-P", str(busy.pid)], check=True)
        busy.wait()


def test_nothing_there_yet_is_silence(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    before = fingerprint([], gone, gone, "")
    assert fingerprint([], gone, gone, before) == before
