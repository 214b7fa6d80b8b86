"""Start-up is a feature: what agents and hooks call all night loads nothing heavy. Fresh interpreters, real calls."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nobrakes.beads.model import Bead, Role, Status
from nobrakes.checks.policy.ownership import LABEL
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.store import create_store

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"typer", "click", "rich", "pydantic", "sqlmodel", "sqlalchemy", "networkx", "git", "watchdog", "yaml"}
COSTLY = {"re", "json", "dataclasses", "subprocess", "asyncio", "logging", "tomllib"}
"""Standard modules that cost more than a hot path's own work."""

REPORT = "; import sys, os; os.write(2, ('LOADED ' + ' '.join(sys.modules)).encode())"


def loaded(program: str, cwd: Path = ROOT, **environment: str) -> set[str]:
    """The modules in memory after the program, `site`'s own left out."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    ran = subprocess.run([sys.executable, "-c", program + REPORT], cwd=cwd, env=env, capture_output=True, text=True)
    assert "LOADED " in ran.stderr, ran.stderr
    return set(ran.stderr.split("LOADED ")[1].split())


def bare() -> set[str]:
    """What Python itself loads here before it runs a line (an editable install runs code of its own)."""
    return loaded("pass")


def test_the_console_script_loads_only_itself_until_it_knows_the_command() -> None:
    more = loaded("import nobrakes.cli.entry") - bare()
    assert {name for name in more if not name.startswith("nobrakes")} == set()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with nobrakes in it and one live bead."""
    for command in (
        ["git", "init", "-q"],
        ["git", "commit", "-q", "--allow-empty", "-m", "first"],
        [sys.executable, "-m", "nobrakes", "init"],
        [sys.executable, "-m", "nobrakes", "add", "A bead", "--id", "b1"],
    ):
        ran = subprocess.run(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
        assert ran.returncode == 0, (command, ran.stdout, ran.stderr)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("argv", [["ready"], ["show", "b1"]], ids=" ".join)
def test_a_hot_verb_loads_nothing_heavy(project: Path, argv: list[str]) -> None:
    program = f"import sys; sys.argv = {['nobrakes', *argv]!r}; from nobrakes.cli.entry import main; assert main() == 0"
    more = loaded(program, cwd=project) - bare()
    assert more & (HEAVY | COSTLY) == set()
    assert "_sqlite3" in more, "it never asked the store"


SAID = [
    ["log", "x"],
    ["progress", "x"],
    ["progress", "x", "--step", "1", "--of", "2"],
    ["notify", "x"],
    ["answer"],
    ["done"],
    ["bead"],
    ["attempts", "--json"],
    ["whats-next"],
    ["ask", "Which?"],
    ["escalate", "Split it"],
    ["request-review", "1. read"],
]


@pytest.mark.parametrize("words", SAID, ids=" ".join)
def test_what_an_agent_says_loads_nothing_heavy(tmp_path: Path, words: list[str]) -> None:
    folder = tmp_path / ".nobrakes"
    folder.mkdir()
    store = create_store(str(folder / "nobrakes.db"))
    store.put([Bead("b1", "A bead", needs_tests=False, status=Status.NEEDS_DOER, labels=(LABEL,))], [], "me")
    attempt = store.open_attempt("b1", Role.DOER, "script", ("Ada",), 600.0, None)
    assert attempt is not None
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which?"), "b1", attempt.id, "Ada")
    store.close()
    argv = ["nobrakes", "agent", *words]
    program = f"import sys; sys.argv = {argv!r}; from nobrakes.cli.entry import main; assert main() == 0"
    home = {"NOBRAKES_HOME": str(folder), "NOBRAKES_TOKEN": attempt.token, "NOBRAKES_WORKSPACE": str(tmp_path)}
    assert (loaded(program, tmp_path, **home) - bare()) & (HEAVY | COSTLY | {"typing", "nobrakes.errors"}) == set()


def test_the_guard_before_each_tool_loads_nothing_heavy() -> None:
    environment = {"ROLE": "doer", "WORKSPACE": "/", "TESTS": "tests/*", "GATES": ""}
    program = "from nobrakes.hooks import guard; assert guard.main(['--canary']) == 0"
    more = loaded(program, **{f"NOBRAKES_{name}": value for name, value in environment.items()}) - bare()
    assert more & (HEAVY | COSTLY | {"typing", "collections", "pathlib"}) == set()
    own = {"hooks.guard", "hooks.rules", "globs", "agents.shell", "checks.policy.ownership"}
    packages = {"hooks", "agents", "checks", "checks.policy"}
    assert {name for name in more if name.startswith("nobrakes.")} == {f"nobrakes.{name}" for name in own | packages}


@pytest.mark.slow
def test_a_list_loads_the_store_and_no_other_door(project: Path) -> None:
    program = "import sys; sys.argv = ['nobrakes', 'list']; from nobrakes.cli.entry import main; assert main() == 0"
    more = loaded(program, cwd=project) - bare()
    assert "nobrakes.store" in more
    others = {"nobrakes.git.repository", "nobrakes.host.runs.processes"}
    assert more & (others | {"nobrakes.review.machine", "nobrakes.daemon.deciders"}) == set()


def test_the_first_page_of_a_server_loads_no_sqlalchemy(project: Path) -> None:
    """It took longer than all else of the page."""
    program = (
        "from nobrakes.app import App; from nobrakes.paths import Paths; from nobrakes.web import rendering, server"
    )
    program += f"; app = App(Paths({str(project / '.nobrakes')!r}), is_reading=True).__enter__(); "
    program += "rendering.now_view(app, is_visiting=True); rendering.frame_of(app, 'shop')"
    seen = loaded(program, project)
    assert "nobrakes.daemon.service.now" in seen and not {"sqlmodel", "sqlalchemy", "networkx", "git"} & seen


@pytest.mark.parametrize("argv", [["--help"], ["version"], ["plan", "example"], ["list", "--help"]], ids=" ".join)
def test_a_command_loads_no_library_that_it_does_not_need(argv: list[str]) -> None:
    more = loaded(f"from nobrakes.cli.main import run; assert run({argv!r}) == 0") - bare()
    assert more & (HEAVY - {"typer", "click", "pydantic"}) == set()


@pytest.mark.parametrize("module", ["daemon.deciders", "review.machine", "beads.lifecycle"])
def test_a_decider_loads_nothing_heavy(module: str) -> None:
    assert (loaded(f"import nobrakes.{module}") - bare()) & HEAVY == set()


def test_the_adapters_load_no_library_of_an_agent() -> None:
    more = loaded("from nobrakes.agents.known import ADAPTERS; list(ADAPTERS.values())") - bare()
    assert "nobrakes.agents.acp" in more
    assert more & (HEAVY | {"acp", "asyncio", "nobrakes.acp_client"}) == set()
