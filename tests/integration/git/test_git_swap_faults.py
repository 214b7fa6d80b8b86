"""Main's move under faults of the system: killed, out of space or out of luck at every call that writes.

`strace` injects them, into the process that moves main and into every git below it, at the N-th such call of each
process, N from 1 until no process has so many. Afterwards main is where it was or where it should be, the next one who
moves it succeeds, nothing is broken, and no lock stays.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from git_worlds import sh

from nobrakes.git.repository import Repository
from nobrakes.paths import Paths
from nobrakes.review.waits import Landing

WRITES = "write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,ftruncate,copy_file_range"
MOVE = """
import sys
from nobrakes.git.repository import Repository
from nobrakes.paths import Paths
folder, new, old = sys.argv[1:]
print(Repository(Paths(folder + "/.nobrakes"), "main").land(new, old).landing.value)
"""
FAULTS = ("signal=KILL", "error=ENOSPC", "error=EIO")
MOST = 400
"""No process writes so often: a search that comes so far has gone wrong."""

pytestmark = pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")


def prepared(folder: Path) -> tuple[Path, str, str]:
    """A repository with a checkout, main, and what it is to become."""
    repository = folder / "repository"
    repository.mkdir()
    sh(repository, "git", "init", "-q", "-b", "main")
    for name in ("one", "two"):
        (repository / name).write_text("old\n")
    commit = ("git", "-c", "user.name=You", "-c", "user.email=you@example.invalid", "commit", "-qam")
    sh(repository, "git", "add", "-A")
    sh(repository, *commit, "Old")
    old = sh(repository, "git", "rev-parse", "HEAD").strip()
    (repository / "one").write_text("new\n")
    (repository / "three").write_text("new\n")
    sh(repository, "git", "add", "-A")
    sh(repository, *commit, "New")
    new = sh(repository, "git", "rev-parse", "HEAD").strip()
    sh(repository, "git", "reset", "-q", "--hard", old)
    (repository / ".nobrakes").mkdir()
    (repository / ".nobrakes" / ".gitignore").write_text("*\n")
    return repository, new, old


def moved(repository: Path, new: str, old: str, fault: str, nth: int) -> bool:
    """Move main, with a fault at every process's `nth` write; whether any process had so many."""
    log = repository.parent / "strace"
    inject = f"inject={WRITES}:{fault}:when={nth}"
    argv = ["strace", "-f", "-q", "-o", str(log), "-e", f"trace={WRITES}", "-e", inject]
    program = [sys.executable, "-c", MOVE, str(repository), new, old]
    # python itself writes nothing but its end: no byte code
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([*argv, *program], capture_output=True, env=env, check=False)
    told = log.read_text()
    return "INJECTED" in told or "killed by SIGKILL" in told


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_main_moves_or_does_not_and_can_be_moved_again(tmp_path: Path, fault: str) -> None:
    begun, new, old = prepared(tmp_path)
    nth = 0
    while True:
        nth += 1
        assert nth < MOST
        folder = tmp_path / str(nth)
        folder.mkdir()
        repository = Path(shutil.copytree(begun, folder / "repository", symlinks=True))
        if not moved(repository, new, old, fault, nth):
            break
        assert sh(repository, "git", "rev-parse", "main").strip() in (old, new)
        git = Repository(Paths(str(repository / ".nobrakes")), "main")
        try:
            git.clear_locks()
            assert git.land(new, old).landing is Landing.MOVED, f"after {fault} at write {nth}"
        finally:
            git.close()
        assert sh(repository, "git", "rev-parse", "main").strip() == new
        assert sh(repository, "git", "status", "--porcelain") == ""
        assert (repository / "three").read_text() == (repository / "one").read_text() == "new\n"
        sh(repository, "git", "fsck", "--strict", "--no-dangling", "--no-progress")
        assert not list((repository / ".git").rglob("*.lock"))
        shutil.rmtree(folder)
    assert nth > 10, "faults were injected"
