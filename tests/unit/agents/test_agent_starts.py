"""An agent that begins in a folder of its workspace: made where it is missing, and never through a link."""

import subprocess
from pathlib import Path

import pytest

from nobrakes.agents.adapter import Launch
from nobrakes.agents.worker.process import in_directory


def begun(workspace: Path, directory: str) -> subprocess.CompletedProcess[str]:
    launch = in_directory(Launch(("/bin/pwd", "-P"), {}, programs=("git",)), directory)
    assert launch.programs == ("/bin/pwd", "git")
    return subprocess.run(launch.argv, cwd=workspace, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("directory", ["src", "src/new", "-n/--", 'it\'s "odd"/$HOME/`x`'])
def test_it_begins_there(tmp_path: Path, directory: str) -> None:
    (tmp_path / "src").mkdir()
    assert begun(tmp_path, directory).stdout.rstrip("\n") == str(tmp_path / directory)


@pytest.mark.parametrize("directory", ["link", "link/below", "src/link", "file", "file/below"])
def test_it_goes_through_no_link_and_no_file(tmp_path: Path, directory: str) -> None:
    top = tmp_path / "workspace"
    (top / "src").mkdir(parents=True)
    (top / "file").touch()
    for place in (top / "link", top / "src" / "link"):
        place.symlink_to(tmp_path)
    done = begun(top, directory)
    assert done.returncode == 126 and done.stdout == "" and "is not a folder of the workspace" in done.stderr
    assert not (tmp_path / "below").exists()
