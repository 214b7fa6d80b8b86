"""The agent's CLI is broken by an update in the night: one question for all beads, and it goes on once it is mended."""

import json
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.test_lingering_agents import PROGRAM, key  # noqa: F401  # the fixture shows a login
from tests.support.sandboxes import needs_sandbox
from tests.support.scripted import Scripted, until
from tests.support.warm import NOBRAKES

GOOD = PROGRAM.replace("@PYTHON@", sys.executable).replace("@END@", "print(result)")
GOOD = GOOD.replace('"work"', '"work-" + os.environ["NOBRAKES_BEAD"]')
HELP = "#!/bin/sh\necho 'Bun is a fast JavaScript runtime (1.3.14)'\necho 'Usage: bun <command>'\n"
STUB = "#!/bin/sh\necho 'Error: claude native binary not installed.' >&2\nexit 1\n"
SILENT = '#!/bin/sh\n[ "$1" = --version ] && exit 1\nexec sleep 3600\n'
CUT = "\x7fELF\x02\x01\x01" + "\x00" * 90


def project(folder: Path, program: str, limits: str = "linger_seconds = 1") -> tuple[Scripted, Path]:
    made = Scripted(folder, limits=limits)
    path = folder / "claude"
    path.write_text(program)
    path.chmod(0o755)
    made.configure('doer = "script"', 'doer = "claude"')
    made.configure("[sandbox]", f"[agents.claude]\nexecutable = {json.dumps(str(path))}\n[sandbox]")
    made.add(*(f"b{n}" for n in range(6)))
    return made, path


@pytest.mark.parametrize("program", [HELP, STUB, CUT, SILENT], ids=["help", "stub", "cut short", "silent"])
def test_a_broken_cli_asks_once_counts_nothing_and_goes_on_when_it_is_mended(tmp_path: Path, program: str) -> None:
    made, path = project(tmp_path, program, "linger_seconds = 1\nidle_minutes = 0.03")
    database = made.folder / ".nobrakes" / "nobrakes.db"

    def asked() -> list[tuple[str, str]]:
        with sqlite3.connect(database) as db:
            return db.execute("SELECT type, title FROM escalations").fetchall()

    child = subprocess.Popen(
        [NOBRAKES, "run", "--red-main"], cwd=made.folder, env=made.env(), stdout=subprocess.DEVNULL
    )
    try:
        until(asked)
        with sqlite3.connect(database) as db:
            until(lambda: not db.execute("SELECT 1 FROM attempts WHERE ended_at IS NULL").fetchone())
            started = db.execute("SELECT count(*) FROM attempts").fetchone()[0]
            assert started <= 4 and db.execute("SELECT sum(failures) FROM beads").fetchone()[0] == 0
        assert asked() == [("broken_environment", "the agent claude does not start")]
        shown = made.nobrakes("status").stdout
        assert "the agent of anthropic does not start" in shown and "nobrakes providers open anthropic" in shown
        path.write_text(GOOD)
        made.nobrakes("providers", "open", "anthropic")
        assert child.wait(120) == 0
    finally:
        child.kill()
        child.wait()
    assert len(asked()) == 1 and [made.status(f"b{n}") for n in range(6)] == ["done"] * 6


@pytest.mark.slow
def test_it_opens_by_itself(tmp_path: Path) -> None:
    made, path = project(tmp_path, STUB)
    child = subprocess.Popen(
        [NOBRAKES, "run", "--red-main"], cwd=made.folder, env=made.env(), stdout=subprocess.DEVNULL
    )
    try:
        with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
            until(lambda: db.execute("SELECT 1 FROM gates").fetchone())
        path.write_text(GOOD)
        assert child.wait(180) == 0
    finally:
        child.kill()
        child.wait()
    assert [made.status(f"b{n}") for n in range(6)] == ["done"] * 6
    with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
        assert db.execute("SELECT count(*), count(resolved_at) FROM escalations").fetchone() == (1, 1)


def closed(made: Scripted) -> None:
    """The agent's gate is closed for long, as after many starts in vain, and no agent is left."""
    with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
        until(lambda: db.execute("SELECT 1 FROM gates").fetchone())
        until(lambda: not db.execute("SELECT 1 FROM attempts WHERE ended_at IS NULL").fetchone())
        db.execute("UPDATE gates SET until = until + 3000, times = 9")


SLOWLY = [pytest.param(how, marks=pytest.mark.slow) for how in ("between two runs", "by another agent")]


@pytest.mark.parametrize("how", ["while it runs", *SLOWLY])
def test_settings_that_name_another_program_are_tried_at_once(tmp_path: Path, how: str) -> None:
    made, path = project(tmp_path, STUB)
    good = tmp_path / "other" / "claude"
    good.parent.mkdir()
    good.write_text(GOOD)
    good.chmod(0o755)
    run = [NOBRAKES, "run", "--red-main"]
    child = subprocess.Popen(run, cwd=made.folder, env=made.env(), stdout=subprocess.DEVNULL)
    try:
        closed(made)
        if how == "between two runs":
            child.terminate()
            child.wait(60)
        if how == "by another agent":
            made.configure('doer = "claude"', 'doer = "script"')
        else:
            made.configure(json.dumps(str(path)), json.dumps(str(good)))
        if how == "between two runs":
            child = subprocess.Popen(run, cwd=made.folder, env=made.env(), stdout=subprocess.DEVNULL)
        assert child.wait(120) == 0
    finally:
        child.kill()
        child.wait()
    assert [made.status(f"b{n}") for n in range(6)] == ["done"] * 6 and made.open() == []


def test_a_cli_that_fails_in_one_way_on_one_bead_is_not_closed(tmp_path: Path) -> None:
    broken = GOOD.replace(
        "import json", 'import os, sys\nif os.environ.get("NOBRAKES_BEAD") == "b2": sys.exit("no room")\nimport json', 1
    )
    made, _ = project(tmp_path, broken)
    made.nobrakes("hold", "b2")
    made.nobrakes("run", expect=None)
    made.nobrakes("release", "b2")
    done = subprocess.Popen([NOBRAKES, "run", "--red-main"], cwd=made.folder, env=made.env(), stdout=subprocess.DEVNULL)
    try:
        with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
            until(lambda: db.execute("SELECT 1 FROM attempts WHERE outcome = 'bad_configuration'").fetchone())
            assert not db.execute("SELECT 1 FROM gates").fetchone()
    finally:
        done.kill()
        done.wait()
    assert [made.status(f"b{n}") for n in (0, 1, 3, 4, 5)] == ["done"] * 5


MODELS = GOOD.replace(
    "text = ",
    """if "--model=gone" in sys.argv:
    say(type="result", subtype="success", is_error=True, api_error_status=404, num_turns=1, result="no model gone")
    sys.exit(1)
text = """,
    1,
)


def test_a_model_that_is_not_there_is_one_question_and_closes_no_other_model(tmp_path: Path) -> None:
    made, _ = project(tmp_path, MODELS)
    made.configure("[agents.claude]", '[agents.claude]\nmodel = "gone"')
    child = subprocess.Popen(
        [NOBRAKES, "run", "--red-main"], cwd=made.folder, env=made.env(), stdout=subprocess.DEVNULL
    )
    try:
        with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
            until(lambda: db.execute("SELECT 1 FROM escalations").fetchone())
            until(lambda: not db.execute("SELECT 1 FROM attempts WHERE ended_at IS NULL").fetchone())
            assert db.execute("SELECT provider, reason FROM gates").fetchall() == [("claude:gone", "model_unavailable")]
            assert db.execute("SELECT sum(failures) FROM beads").fetchone()[0] == 0
        assert "nobrakes providers open claude:gone" in made.nobrakes("status").stdout
        (asked,) = made.open()
        assert asked["bead"] is None and "does not have the model gone" in asked["title"]
        made.configure('model = "gone"', 'model = "there"')
        assert child.wait(60) == 0
        assert [made.status(f"b{n}") for n in range(6)] == ["done"] * 6 and made.open() == []
    finally:
        child.kill()
        child.wait()


AGENT = Path(__file__).parents[1] / "support" / "acp_agent.py"
FINISHES = [
    ["run", "mkdir -p src && echo 1 >src/$NOBRAKES_BEAD && git add -A && git commit -q -m Work"],
    ["say", "NOBRAKES: COMPLETED"],
]
UPDATED = "import sys\nsys.exit('updating: try again')\n"


def shown(made: Scripted) -> tuple[float, int, str]:
    """Until when the one gate is closed, how many attempts there were, and what the gate tells."""
    with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
        (until_, detail), *more = db.execute("SELECT until, detail FROM gates").fetchall()
        assert not more
        return until_, db.execute("SELECT count(*) FROM attempts").fetchone()[0], detail


@pytest.mark.parametrize("how", ["acp", pytest.param("acp in a sandbox", marks=needs_sandbox), "script"])
def test_an_agent_without_a_version_is_asked_before_it_is_started_again(tmp_path: Path, how: str) -> None:
    (tmp_path / "agent").mkdir()
    lets = f"write = [{json.dumps(str(tmp_path / 'agent'))}]"  # where this agent keeps its sessions
    made = Scripted(tmp_path, limits="linger_seconds = 1", more=lets)
    program = tmp_path / "agent.py"
    book = tmp_path / "script.json"
    book.write_text(json.dumps({"turns": {"doer": FINISHES}, "sessions": str(tmp_path / "agent")}))
    good, head = AGENT.read_text(), ""
    if how == "acp in a sandbox":
        program = tmp_path / "bin" / "agent.py"
        program.parent.mkdir()
        allowed = [str(program.parent), str(book), str(AGENT.parents[2])]
        made.configure('mode = "none"', f'mode = "bubblewrap"\nread = {json.dumps(allowed)}')
        head = f"import os, sys\nif os.path.exists({str(tmp_path / 'agent.sh')!r}): sys.exit('not closed off')\n"
    if how.startswith("acp"):
        good = head + good
        program.write_text(head + UPDATED)
        made.configure('doer = "script"', 'doer = "acp"')
        made.configure(
            "[sandbox]",
            f"[agents.acp]\ncommand = {json.dumps([sys.executable, str(program), str(book)])}\n[sandbox]",
        )
        says = "updating: try again"
    else:
        program.write_text("#!/bin/sh\nexit 127\n")
        program.chmod(0o755)
        good = (tmp_path / "agent.sh").read_text()
        made.configure(json.dumps(["sh", str(tmp_path / "agent.sh")]), json.dumps([str(program)]))
        says = "does not exist"
    made.add(*(f"b{n}" for n in range(3)))
    child = made.start("run", "--red-main")
    try:
        with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
            until(lambda: db.execute("SELECT 1 FROM gates").fetchone())
            until(lambda: not db.execute("SELECT 1 FROM attempts WHERE ended_at IS NULL").fetchone())
            if how == "script":
                program.unlink()
            db.execute("UPDATE gates SET until = 1, detail = ''")
        _, attempts, _ = shown(made)
        made.nobrakes("providers", "open", "workspaces")  # not closed: this wakes the run, and no more
        until(lambda: shown(made)[0] > 1)
        assert shown(made)[1] == attempts and says in shown(made)[2]
        program.write_text(good)
        program.chmod(0o755)
        with sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db") as db:
            db.execute("UPDATE gates SET until = 1")
        made.nobrakes("providers", "open", "workspaces")  # not closed: this wakes the run, and no more
        assert child.wait(120) == 0
    finally:
        child.kill()
        child.communicate()
        made.kill_orphans()
    assert [made.status(f"b{n}") for n in range(3)] == ["done"] * 3 and made.open() == []
