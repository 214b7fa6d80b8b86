"""A repository that an installed earlier version worked in, killed at work, is upgraded to this release and goes on.

An earlier version is the last commit of each schema of the database, built and installed from git's history. Its run
merged two beads, asked a question and held a bead, and was killed with an agent at work.
"""

import json
import os
import signal
import sqlite3
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nobrakes.db.fast import VERSION
from tests.release.conftest import PYTHON, ROOT, outside
from tests.support.scripted import until

EARLIER = {
    1: "f880e76d",
    2: "1d277f74",
    3: "c2ce71ba",
    4: "fbadf783",
    5: "2d5e0e30",
    6: "346dee7e",
    7: "ccebf0fb",
    8: "d235c3ef",
    9: "7fda5777",
}
"""The last commit of each of the first schemas; `earlier` finds those of later ones."""
IN_CI = (1, 4, 7, VERSION - 1)
"""The night has the others too."""
RUN_TESTS = """
n=0
for test in tests/test_*.sh; do n=$((n + 1)); sh "$test" || exit 1; echo "ok $n - $test"; done
echo "1..$n"
"""
AGENT = """
if [ ! -e "@HERE@/upgraded" ]; then
    case "$NOBRAKES_BEAD" in
    slow) exec sleep 600 ;;
    asks)
        "$NOBRAKES_HOME/bin/nobrakes" agent ask "Which one?"
        echo "NOBRAKES: BLOCKED"
        exit
        ;;
    esac
fi
mkdir -p src && echo "made for $NOBRAKES_BEAD" >"src/$NOBRAKES_BEAD" && git add -A && git commit -q -m "Work on $NOBRAKES_BEAD"
"""
CONFIG = """
main = "main"
[[checks]]
name = "test"
command = "sh tests/run.sh"
[limits]
doers = 3
[agents]
test_writer = "script"
doer = "script"
[agents.script]
command = ["sh", "@HERE@/agent.sh"]
"""
UNCONFINED = '[sandbox]\nmode = "none"\n'
"""The agent reads what is outside of its workspace. The first version has no sandbox, and no setting of it."""
BEADS = {"a": [], "b": ["a"], "slow": [], "asks": [], "holds": [], "after": ["slow", "asks"]}


class Place:
    """A home with a repository, and the nobrakes that is installed."""

    def __init__(self, home: Path, program: Path) -> None:
        self.home, self.folder, self.program = home, home / "repository", program
        self.env = outside(home, NOBRAKES_USER_HOME=str(home / "user"))
        (self.folder / "tests").mkdir(parents=True)

    def git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self.folder, env=self.env, check=True, capture_output=True, text=True
        )
        return done.stdout

    def nobrakes(self, *words: str, expect: int | None = 0) -> str:
        done = subprocess.run(
            [self.program, *words], cwd=self.folder, env=self.env, capture_output=True, text=True, timeout=300
        )
        assert expect in (None, done.returncode), f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done.stdout

    def ask(self, *words: str) -> Any:
        return json.loads(self.nobrakes(*words, "--json", expect=None))["data"]

    def statuses(self) -> dict[str, str]:
        return {bead["id"]: bead["status"] for bead in self.ask("list")}

    def schema(self) -> int:
        with sqlite3.connect(self.folder / ".nobrakes" / "nobrakes.db") as database:
            (found,) = database.execute("PRAGMA user_version").fetchone()
        database.close()
        return int(found)


def build(commit: str, tools: Path, folder: Path) -> Path:
    """The program of an environment with the wheel of that commit."""
    source = folder / "source"
    source.mkdir()
    archive = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x"], cwd=source, input=archive, check=True)
    uv, env = str(tools / "uv"), outside(folder, UV_CACHE_DIR=str(folder.parent / "cache"))
    wheel = [uv, "build", "--quiet", "--wheel", "--no-config", "--out-dir", str(folder / "dist"), str(source)]
    subprocess.run(wheel, env=env, check=True)
    return install(next((folder / "dist").glob("*.whl")), tools, folder / "venv", env)


def install(wheel: Path, tools: Path, venv: Path, env: dict[str, str]) -> Path:
    subprocess.run([tools / "uv", "venv", "--quiet", "--python", PYTHON, venv], env=env, check=True)
    pip = [tools / "uv", "pip", "install", "--quiet", "--no-config", "--python", venv / "bin" / "python"]
    subprocess.run([*pip, wheel], env=env, check=True)
    return venv / "bin" / "nobrakes"


def work(place: Place, more: str) -> None:
    """What the earlier version does until it is killed."""
    here = str(place.home)
    (place.folder / "tests" / "run.sh").write_text(RUN_TESTS)
    (place.folder / "tests" / "test_begin.sh").write_text("true\n")
    (place.home / "agent.sh").write_text(AGENT.replace("@HERE@", here))
    place.git("init", "-q", "-b", "main")
    place.git("config", "user.name", "You")
    place.git("config", "user.email", "you@example.invalid")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "Begin")
    place.nobrakes("init", "--test", "sh tests/run.sh")
    (place.folder / ".nobrakes" / "config.toml").write_text(CONFIG.replace("@HERE@", here) + more)
    beads = [{"id": id_, "title": id_, "needs_tests": False, "needs": needs} for id_, needs in BEADS.items()]
    (place.home / "plan.json").write_text(json.dumps({"beads": beads}))
    place.nobrakes("plan", "apply", str(place.home / "plan.json"), "--live")
    place.nobrakes("hold", "holds", "--reason", "later")
    process = subprocess.Popen([place.program, "run"], cwd=place.folder, env=place.env, stdout=subprocess.DEVNULL)
    try:
        wanted = {"a": "done", "b": "done", "slow": "doing", "asks": "escalated"}
        until(lambda: wanted.items() <= place.statuses().items(), 120, place.statuses)
    finally:
        process.kill()
        process.wait()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                if os.readlink(f"/proc/{pid}/cwd").startswith(f"{place.folder}/"):
                    os.kill(int(pid), signal.SIGKILL)


def earlier(schema: int) -> str:
    """The last commit of the schema: the parent of the one that raised its number."""
    if schema in EARLIER:
        return EARLIER[schema]
    line = f"VERSION = {schema + 1}"
    found = ["git", "log", "--format=%h^", "--reverse", f"-G^{line}$", "--", "nobrakes/db/fast.py"]
    raised = subprocess.run(found, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    assert raised, f"no commit has {line}"
    return raised[0]


@pytest.mark.parametrize(
    "schema", [pytest.param(one, marks=() if one in IN_CI else pytest.mark.night) for one in range(1, VERSION)]
)
def test_a_repository_of_an_earlier_version_goes_on(schema: int, wheel: Path, tools: Path, tmp_path: Path) -> None:
    place = Place(tmp_path / "home", build(earlier(schema), tools, tmp_path))
    work(place, UNCONFINED if schema > 1 else "")
    assert place.schema() == schema
    before = place.statuses()
    place.program = install(wheel, tools, tmp_path / "new", place.env)
    assert place.statuses() == before and place.schema() == VERSION
    assert place.ask("show", "holds")["held"]
    place.nobrakes("config", "set", "sandbox.mode", "none")
    assert "main matches its evidence" in place.nobrakes("verify")
    (tmp_path / "home" / "upgraded").touch()
    (question,) = place.ask("escalations")
    place.nobrakes("answer", str(question["id"]), "The first.")
    place.nobrakes("release", "holds")
    place.nobrakes("run")
    assert place.statuses() == dict.fromkeys(BEADS, "done")
    assert sorted(place.git("log", "--format=%(trailers:key=Bead,valueonly)", "main").split()) == sorted(BEADS)
    assert "main matches its evidence" in place.nobrakes("verify")
    doers = [one["outcome"] for one in place.ask("history", "slow")["attempts"] if one["role"] == "doer"]
    assert len(doers) == 2 and doers[1] == "completed", "the attempt that was cut off is over"
