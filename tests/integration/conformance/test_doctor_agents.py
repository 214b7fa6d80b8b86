"""`nobrakes doctor --agents`: a sound CLI passes, each way to misbehave is found, and the daemon goes by what was seen."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nobrakes import abilities, conformance
from nobrakes.app import App, ports_of
from nobrakes.config.settings import load
from nobrakes.notices.senders import StdoutNotifier
from nobrakes.paths import Paths
from tests.integration.claude.conftest import CLI
from tests.support.real_clis import CODEX, GEMINI, NOBRAKES
from tests.support.scripted import until

pytestmark = pytest.mark.slow

FAKE = Path(__file__).parents[2] / "support" / "fake_gemini.py"
MISSING = {"claude": "/nowhere/claude", "codex": "/nowhere/codex", "gemini": "/nowhere/gemini"}
NO_ACP = '[agents.acp]\ncommand = ["/nowhere/acp"]\n'
"""Without it a Gemini CLI is tried as an ACP agent too, which is a second trial beside the first."""


class House:
    """A repository whose CLIs are these."""

    def __init__(self, folder: Path, **executables: str) -> None:
        self.folder = folder
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=folder, check=True)
        subprocess.run([NOBRAKES, "init"], cwd=folder, check=True, capture_output=True)
        self.paths = Paths(str(folder / ".nobrakes"))
        self.use(**executables)

    def use(self, **executables: str) -> None:
        """Name them in the settings."""
        sections = "".join(
            f"[agents.{name}]\nexecutable = {json.dumps(path)}\n" for name, path in {**MISSING, **executables}.items()
        )
        doer = next(iter(executables), "claude")
        text = f'main = "main"\n[agents]\ndoer = "{doer}"\ntest_writer = "{doer}"\n{sections}'
        Path(self.paths.config).write_text(text + NO_ACP)

    def use_acp(self, *command: str, **executables: str) -> None:
        """Name this ACP agent, and no other that is there but these."""
        self.use(**executables)
        config = Path(self.paths.config)
        section = f'[agents.acp]\ncommand = {json.dumps(command)}\nauth = "gemini-api-key"\n'
        text = config.read_text().replace(NO_ACP, section)
        config.write_text(text if executables else text.replace('= "claude"', '= "acp"'))

    def use_unnamed(self, gemini: str) -> None:
        """Name this Gemini CLI, and no ACP agent."""
        self.use(gemini=gemini)
        config = Path(self.paths.config)
        config.write_text(config.read_text().replace(NO_ACP, ""))

    def nobrakes(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """A command."""
        return subprocess.run([NOBRAKES, *words], cwd=self.folder, capture_output=True, text=True, timeout=300)

    def tried(self, name: str) -> tuple[int, dict[str, Any]]:
        """The exit code of the trial, and what was found of this agent."""
        done = self.nobrakes("doctor", "--agents", "--json")
        found = json.loads(done.stdout)["data"]
        return done.returncode, next(one for one in found["agents"] if one["agent"] == name)


def failed(found: dict[str, Any]) -> list[str]:
    return [check["name"] for check in found["checks"] if check["passed"] is False]


def fake(folder: Path, how: str) -> str:
    path = folder / f"gemini-{how}"
    path.write_text(FAKE.read_text().replace('"""', f'#!{sys.executable}\n"""', 1))
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def house(tmp_path: Path) -> House:
    folder = tmp_path / "repository"
    folder.mkdir()
    return House(folder)


def test_what_is_not_installed_is_missing_and_no_failure(house: House) -> None:
    done = house.nobrakes("doctor", "--agents")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("missing") == 4
    assert not Path(abilities.file_of(house.paths)).read_text().strip("{}\n ")


def test_a_sound_cli_of_an_unknown_version_passes_and_is_named(house: House, tmp_path: Path) -> None:
    house.use(gemini=fake(tmp_path, "sound"))
    done = house.nobrakes("doctor", "--agents")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "gemini: nobrakes is not tested with 0.99.1" in done.stdout
    seen = abilities.recall(house.paths)["gemini"]
    assert (seen.version, seen.known, dict(seen.can)) == ("0.99.1", False, dict.fromkeys(abilities.CHECKS, True))


@pytest.mark.parametrize(
    ("how", "found"),
    [
        ("permits", ["deny"]),
        ("forgets", ["resume"]),
        ("idle", ["commit", "deny", "kill"]),
        ("mute", ["spawn"]),
        ("broken", ["spawn"]),
    ],
)
def test_each_way_to_misbehave_is_found(house: House, tmp_path: Path, how: str, found: list[str]) -> None:
    house.use(gemini=fake(tmp_path, how))
    code, gemini = house.tried("gemini")
    assert (code, failed(gemini)) == (1, found), gemini
    assert all(check["detail"] for check in gemini["checks"] if check["passed"] is False)


def test_what_a_cli_leaves_behind_is_found_and_ended(house: House, tmp_path: Path) -> None:
    program = fake(tmp_path, "leaves")
    house.use(gemini=program)
    asked = Path(f"{program}.asked")
    trial = subprocess.Popen(
        [NOBRAKES, "doctor", "--agents", "--json"], cwd=house.folder, stdout=subprocess.PIPE, text=True
    )
    until(lambda: asked.exists() and asked.read_text().endswith("\n"), 180)  # it may wait for a new minute first
    where, command = json.loads(asked.read_text())
    service = subprocess.Popen(command, shell=True, cwd=where)  # ours, so no process of the run
    try:
        printed, _ = trial.communicate(timeout=120)
        gemini = next(one for one in json.loads(printed)["data"]["agents"] if one["agent"] == "gemini")
        assert (trial.returncode, failed(gemini)) == (1, ["kill"]), (service.poll(), gemini)
        assert "survived the kill" in next(c["detail"] for c in gemini["checks"] if c["name"] == "kill")
        assert service.wait(10) != 0
    finally:
        service.kill()
        service.wait()


def test_a_cli_that_cannot_go_on_is_used_without_sessions_and_it_is_said_once(house: House, tmp_path: Path) -> None:
    house.use(gemini=fake(tmp_path, "forgets"))
    assert house.tried("gemini")[0] == 1
    done = house.nobrakes("run")
    assert done.returncode == 0, done.stdout + done.stderr
    told = "gemini 0.99.1 failed its test: resume"
    assert done.stdout.count(told) == 1 and "nobrakes does not continue the agent's sessions" in done.stdout
    assert house.nobrakes("events", "--json").stdout.count('"event":"degraded"') == 1
    assert told in house.nobrakes("doctor").stdout


def test_a_cli_that_nobody_tried_goes_without_sessions_until_it_passes(house: House, tmp_path: Path) -> None:
    house.use(gemini=fake(tmp_path, "sound"))
    assert '"degraded":[]' in house.nobrakes("status", "--json").stdout.replace(" ", ""), "nobody asked its version"
    untried = "gemini 0.99.1 was never tested here; nobrakes is tested with 0.61.0; `nobrakes doctor --agents` tests"
    assert untried in house.nobrakes("doctor").stdout
    done = house.nobrakes("run")
    assert done.returncode == 0 and done.stdout.count(untried) == 1, done.stdout + done.stderr
    assert house.nobrakes("events", "--json").stdout.count('"event":"degraded"') == 1
    assert untried in house.nobrakes("status").stdout
    assert house.tried("gemini")[0] == 0
    assert "degraded" not in house.nobrakes("run").stdout
    assert house.nobrakes("events", "--json").stdout.count('"event":"degraded"') == 1
    assert untried not in house.nobrakes("status").stdout
    assert "0.99.1, tried" in house.nobrakes("doctor").stdout


def test_a_cli_that_changed_since_is_an_unknown_version(house: House, tmp_path: Path) -> None:
    program = fake(tmp_path, "sound")
    house.use(gemini=program)
    assert house.tried("gemini")[0] == 0
    ports = ports_of(App(house.paths), StdoutNotifier())
    assert ports.adapter("gemini").sessions and not ports.degraded()
    Path(program).write_text(Path(program).read_text().replace("0.99.1", "0.99.2"))
    assert not ports.adapter("gemini").sessions
    assert [ports.degraded(), ports.degraded()] == [
        ["gemini was tested here at version 0.99.1, not at its new one; `nobrakes doctor --agents` tests the agent; "
         "nobrakes does not continue the agent's sessions"], []
    ]  # fmt: skip
    assert "gemini was tested here at version 0.99.1, not at its new one" in house.nobrakes("doctor").stdout
    Path(program).write_text(Path(program).read_text().replace("0.99.2", "0.61.0"))
    assert ports.adapter("gemini").sessions, "nobrakes was proven with that one"
    assert not ports.degraded()


def test_without_bubblewrap_it_is_tried_with_proxies_that_nobody_is(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.use(gemini=fake(tmp_path, "sound"))
    monkeypatch.setattr(conformance, "ALONE", ("/nowhere/bwrap",))
    report = conformance.trial_run(load(house.paths.config), house.paths, dict(os.environ))
    assert report.ok and "proxy variables" in report.network


def test_an_agent_may_not_try_agents(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOBRAKES_TOKEN", "t")
    done = house.nobrakes("doctor", "--agents")
    assert done.returncode != 0 and "only a person can test" in done.stderr


@pytest.mark.parametrize(
    ("how", "failing", "untold"),
    [
        ("sound", [], []),
        ("permits", ["deny"], []),
        ("forgets", ["resume"], []),
        ("broken", ["spawn"], ["stream", "commit", "deny", "resume", "kill"]),
        ("unheard", [], ["spawn", "stream", "commit", "deny", "resume", "kill"]),
        ("idle", [], ["stream", "commit", "deny", "kill"]),
        ("lastingly", [], ["resume"]),
    ],
)
def test_of_an_acp_agent_what_can_be_told_is_told(
    house: House, tmp_path: Path, how: str, failing: list[str], untold: list[str]
) -> None:
    house.use_acp(fake(tmp_path, how), "--acp")
    code, acp = house.tried("acp")
    assert (code, failed(acp)) == (1 if failing else 0, failing), acp
    assert [check["name"] for check in acp["checks"] if check["passed"] is None] == untold
    assert all(check["detail"] for check in acp["checks"] if not check["passed"])
    sessions = ports_of(App(house.paths), StdoutNotifier()).adapter("acp").sessions
    assert sessions is (how in ("sound", "permits", "idle", "lastingly"))


def test_an_acp_agent_that_nobody_tried_goes_without_sessions(house: House, tmp_path: Path) -> None:
    program = fake(tmp_path, "sound")
    house.use_acp(program, "--acp")
    ports = ports_of(App(house.paths), StdoutNotifier())
    assert not ports.adapter("acp").sessions
    assert ports.degraded()[0].startswith(
        "the acp agent was never tested here; `nobrakes doctor --agents` tests the agent"
    )
    assert "the acp agent was never tested here" in house.nobrakes("status").stdout
    assert house.tried("acp")[0] == 0
    assert ports.adapter("acp").sessions and not ports.degraded()
    house.use_acp(program, "--acp", "--more")
    assert "acp was tested here at version 0.99.1, not at its new one" in house.nobrakes("doctor").stdout


def test_gemini_cli_is_tried_as_an_acp_agent_where_nobody_named_one(house: House, tmp_path: Path) -> None:
    house.use_unnamed(fake(tmp_path, "permits"))
    done = house.nobrakes("doctor", "--agents")
    assert f"acp: no command is set, so nobrakes tested {tmp_path}/gemini-permits --acp" in done.stdout
    assert done.returncode == 1 and abilities.recall(house.paths)["acp"].can["deny"] is False
    house.use_unnamed(fake(tmp_path, "unguarded"))  # sound as Gemini CLI, and not as an ACP agent
    code, acp = house.tried("acp")
    assert (code, failed(acp), acp["named"]) == (0, ["deny"], False), "nobody uses it"


REAL = {"claude": CLI, "codex": CODEX}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("claude", marks=pytest.mark.claude),
        pytest.param("codex", marks=pytest.mark.codex),
    ],
)
def test_the_real_cli_passes(house: House, name: str) -> None:
    executable = REAL[name]
    if executable is None:
        pytest.skip(f"no {name}: run .ci/run once, or set NOBRAKES_{name.upper()} to an executable")
    house.use(**{name: executable})
    code, found = house.tried(name)
    assert (code, failed(found)) == (0, []), found
    assert found["known"] is True
    assert [check["passed"] for check in found["checks"]] == [True] * len(abilities.CHECKS)


@pytest.mark.gemini
def test_the_real_gemini_cli_passes_by_itself_and_as_an_acp_agent(house: House) -> None:
    """Beside each other, since its ACP mode has to wait for another minute."""
    if GEMINI is None:
        pytest.skip("no Gemini CLI: run .ci/run once, or set NOBRAKES_GEMINI to an executable")
    house.use_acp(GEMINI, "--acp", gemini=GEMINI)
    code, found = house.tried("acp")
    assert code == 0 and found["version"] == abilities.PROVEN["gemini"][0], found
    assert [check["passed"] for check in found["checks"]] == [True] * len(abilities.CHECKS), found
    seen = abilities.recall(house.paths)["gemini"]
    assert seen.known and dict(seen.can) == dict.fromkeys(abilities.CHECKS, True)
