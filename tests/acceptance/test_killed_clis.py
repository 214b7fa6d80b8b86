"""Real agent CLIs are killed at random moments, again and again, with all that they started, their wrappers, the daemon.

No process is left over, no commit is lost, no session is shared, and all work is on main at last. NOBRAKES_KILLS says
how often (8), NOBRAKES_SEED which moments.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.claude.conftest import STUB, own_network
from tests.support.project import Project
from tests.support.real_clis import CLAUDE, CODEX, GEMINI, tool
from tests.support.warm import NOBRAKES

pytestmark = [pytest.mark.claude, pytest.mark.codex, pytest.mark.gemini]

KILLS = int(os.environ.get("NOBRAKES_KILLS", "8"))
SEED = int(os.environ.get("NOBRAKES_SEED", "0"))
PIECES = 5
WORK = """
# the next piece of the bead's work, whatever was cut off before
i=0
while git cat-file -e "HEAD:src/$NOBRAKES_BEAD.$i" 2>/dev/null; do i=$((i + 1)); done
[ $i -lt @PIECES@ ] || { echo "ALL-""DONE"; exit; }
rm -f .git/index.lock
mkdir -p src
echo "piece $i" >"src/$NOBRAKES_BEAD.$i"
setsid sleep 300 >/dev/null 2>&1 &
sleep 0.3
git add -A && git commit -q -m "Piece $i" -m "Bead: $NOBRAKES_BEAD" && git rev-parse HEAD >>@LEDGER@
"""
DONE = {"text": "It is done.\n\nNOBRAKES: COMPLETED"}


def configure(project: Project) -> None:
    url = "http://127.0.0.1:PORT/s"
    agents = {
        "claude": (CLAUDE, "claude-sonnet-4-5", f"{url}/claude"),
        "codex": (CODEX, "gpt-5.5", f"{url}/codex/v1"),
        "gemini": (GEMINI, "gemini-2.5-pro", f"{url}/gemini"),
    }
    text = 'main = "main"\n[[checks]]\nname = "test"\ncommand = "sh tests/run.sh"\n'
    text += "[limits]\ndoers = 3\ngrace_seconds = 1\nmax_failures = 100000\n"
    text += "[breaker]\nwithout_progress = 100000\nsame_error = 100000\n"
    text += '[agents]\ntest_writer = "claude"\ndoer = "claude"\n'
    for type_, agent in (("fix", "codex"), ("task", "gemini")):
        text += f'[agents.by_type.{type_}]\ndoer = "{agent}"\n'
    for name, (executable, model, base) in agents.items():
        text += f'[agents.{name}]\nexecutable = {json.dumps(executable)}\nmodel = "{model}"\nbase_url = "{base}"\n'
    text += '[sandbox]\nmode = "none"\n'  # what the agents run and note lies beside the repository
    project.config.write_text(text)


def test_killed_at_random_moments_they_lose_nothing(tmp_path: Path) -> None:
    if None in (CLAUDE, CODEX, GEMINI):
        pytest.skip("not every agent CLI is there: run .ci/run once")
    project = Project(tmp_path / "repository", ["true"])
    configure(project)
    ledger, work = tmp_path / "ledger", tmp_path / "work.sh"
    ledger.touch()
    work.write_text(WORK.replace("@PIECES@", str(PIECES)).replace("@LEDGER@", str(ledger)))
    calls = {
        "claude": ("Bash", "command"),
        "codex": ("exec_command", "cmd"),
        "gemini": ("run_shell_command", "command"),
    }
    scripts = {
        cli: [{"until": "ALL-DONE", "then": DONE, **tool(name, {given: f"sh {work} TURN"})}]
        for cli, (name, given) in calls.items()
    }
    seconds = 120 + 12 * KILLS
    told = kill_them(project, scripts, seconds)
    print(json.dumps({key: value for key, value in told.items() if key != "sessions"}, indent=1))
    assert sum(told["kills"].values()) >= KILLS
    assert told["orphans"] == [] and project.orphans() == []
    assert set(told["beads"].values()) == {"done"}
    of: dict[str, set[str]] = {}
    for session, bead in told["sessions"]:
        of.setdefault(session, set()).add(bead)
    assert not [session for session, beads in of.items() if len(beads) > 1]
    assert KILLS < 15 or sum(told["resumed"].values()) > 0
    on_main = set(project.git("ls-tree", "-r", "--name-only", "main").split())
    assert {f"src/{bead}.{piece}" for bead in told["beads"] for piece in range(PIECES)} <= on_main
    for commit in ledger.read_text().split():
        assert project.git("for-each-ref", "--contains", commit, "--count=1").strip(), f"{commit} is lost"
    project.git("fsck", "--no-dangling", "--no-progress")


def kill_them(project: Project, scripts: dict[str, object], seconds: int) -> dict[str, dict[str, str]]:
    """What the killer tells, which runs beside the scripted model in a network of its own."""
    folder = project.folder.parent
    order = {"nobrakes": NOBRAKES, "kills": KILLS, "seed": SEED, "seconds": seconds, "clis": sorted(scripts)}
    (folder / "order.json").write_text(json.dumps(order))
    (folder / "home").mkdir()
    killer = Path(__file__).parents[1] / "support" / "killer.py"
    keys = {"ANTHROPIC_API_KEY": "dummy", "OPENAI_API_KEY": "dummy", "GEMINI_API_KEY": "dummy"}
    spec = {
        "scripts": scripts,
        "argv": [sys.executable, str(killer), str(folder / "order.json")],
        "env": {"PATH": os.environ["PATH"], "HOME": str(folder / "home"), "NB_PORT": "{port}", **keys},
        "cwd": str(project.folder),
        "stdin": os.devnull,
        "stdout": str(folder / "told"),
        "stderr": str(folder / "errors"),
        "log": str(folder / "log"),
        "seconds": seconds + 60,
        "own_network": bool(own_network()),
    }
    (folder / "spec.json").write_text(json.dumps(spec))
    done = subprocess.run([*own_network(), sys.executable, str(STUB), str(folder / "spec.json")], timeout=seconds + 90)
    printed = (folder / "told").read_text() + (folder / "errors").read_text()
    assert done.returncode == 0, printed
    told: dict[str, dict[str, str]] = json.loads((folder / "told").read_text())
    return told
