"""What the checks of one bead leave in their home does not bend the checks of the next."""

import os
import pwd
import shutil
import sys
from pathlib import Path

import pytest

from nobrakes.sandbox.closure import platform_trouble
from tests.support.scripted import Scripted

MODES = {"sandbox": "", "wall": 'wall = "landlock"', "neither": 'wall = "none"'}
PYTHON = os.path.realpath(sys.executable)
"""One that reads a user site, which that of a virtual environment does not."""

VISIT = f"""
site=$(HOME=$HOME {PYTHON} -m site --user-site)
for left in "$HOME/.npmrc" "$HOME/.cache/left" "$site/evil.pth"; do
    if [ -e "$left" ]; then echo "there is $left"; exit 1; fi
done
{PYTHON} -c 'import os, sys; sys.exit(os.environ.get("BENT"))' || exit 1
mkdir -p "$HOME/.cache" "$site"
echo planted >"$HOME/.npmrc"
echo planted >"$HOME/.cache/left"
echo 'import os; os.environ["BENT"] = "bent"' >"$site/evil.pth"
true
"""

ACCOUNT = f"""
account=$({PYTHON} -c 'import os, pwd; print(pwd.getpwuid(os.getuid()).pw_dir)')
[ ! -e "$account/left-by-a-check" ] && echo planted >"$account/left-by-a-check"
"""
"""What Java does, which takes the home from the account."""


@pytest.mark.parametrize("mode", MODES)
def test_the_next_bead_finds_an_empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str) -> None:
    if mode == "sandbox" and not shutil.which("bwrap"):
        pytest.skip("bubblewrap is not installed")
    if mode == "wall" and platform_trouble():
        pytest.skip(platform_trouble())
    home = tmp_path / "home"
    (home / ".cache").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("PYTHONNOUSERSITE", raising=False)
    project = Scripted(tmp_path / "project", doers=1)
    project.configure('command = "sh tests/run.sh"', 'command = "sh tests/run.sh && sh src/visit"')
    if mode == "sandbox":
        book = f'read = ["{tmp_path}/project/agent.sh"]\nwrite = ["{project.book}"]'
        project.configure('mode = "none"', f'mode = "bubblewrap"\n{book}')
    else:
        project.configure('mode = "none"', f'mode = "none"\n{MODES[mode]}')
    (project.folder / "src").mkdir()
    (project.folder / "src" / "visit").write_text(VISIT + (ACCOUNT if mode == "sandbox" else ""))
    project.git("add", "src")
    project.git("commit", "-q", "-m", "A program that leaves things in its home")
    project.add("one", "two")
    project.nobrakes("run")
    assert [project.ask("show", one)["status"] for one in ("one", "two")] == ["done", "done"]
    assert sorted(path.name for path in home.iterdir()) == [".cache"], "nothing was left in the person's home"
    assert not os.path.lexists(os.path.join(pwd.getpwuid(os.getuid()).pw_dir, "left-by-a-check"))
    assert not list((home / ".cache").glob("left"))
    assert not list((project.folder / ".nobrakes").rglob("home")), "homes go with their checkouts"
