"""Agents of profiles: a profile of one's own from the file to a merged bead, and the real CLIs of the shipped ones."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nobrakes.config import profiles
from nobrakes.config.profiles import Trial
from nobrakes.conformance import Dialect
from tests.support.profiled_agent import PROFILE
from tests.support.real_clis import BIN, CODE, DONE, NOBRAKES, TEST, committing, prepare

AGENT = Path(__file__).parents[2] / "support" / "profiled_agent.py"
CI = [name for name in profiles.shipped() if profiles.find(name).proof.by == "ci"]


class House:
    """A repository, a person's settings, and programs."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder / "house"
        self.folder.mkdir()
        self.bin = folder / "bin"
        self.bin.mkdir()
        monkeypatch.setenv("PATH", f"{self.bin}{os.pathsep}{os.environ['PATH']}")
        monkeypatch.setenv("NOBRAKES_USER_HOME", str(folder / "user"))
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=self.folder, check=True)
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=self.folder, check=True)
        self.nobrakes("init")

    def nobrakes(self, *words: str, code: int = 0) -> str:
        done = subprocess.run([NOBRAKES, *words], cwd=self.folder, capture_output=True, text=True, timeout=400)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def install(self) -> None:
        program = self.bin / "profiled-agent"
        program.write_text(AGENT.read_text().replace('"""', f'#!{sys.executable}\n"""', 1))
        program.chmod(0o755)

    def checks(self, *words: str) -> dict[str, Any]:
        (found,) = json.loads(self.nobrakes(*words, "--json"))["data"]["agents"]
        return {check["name"]: check["passed"] for check in found["checks"]}


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    return House(tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_profile_of_ones_own_is_tested_added_and_chosen(house: House) -> None:
    file = house.folder / "profiled.toml"
    file.write_text(PROFILE)
    assert "is not installed" in house.nobrakes("agent-profile", "test", str(file), code=28)
    house.install()
    assert house.checks("agent-profile", "test", str(file)) == {
        **dict.fromkeys(("spawn", "stream", "commit", "resume", "kill"), True), "deny": None
    }  # fmt: skip
    assert "unknown agent 'profiled'" in house.nobrakes("init", "--agent", "profiled", code=2)
    assert "PROFILED_KEY" in house.nobrakes("agent-profile", "add", str(file))
    assert "yours" in house.nobrakes("agent-profile", "list")
    house.nobrakes("init", "--agent", "profiled")
    assert json.loads(house.nobrakes("config", "get", "agents.doer", "--json"))["data"]["value"] == ["profiled"]
    assert "profiled" in house.nobrakes("doctor", "--agents")
    assert "there is no profile" in house.nobrakes("agent-profile", "test", "nobodys", code=2)
    file.write_text(PROFILE.replace('"{state}"', '"/nowhere"'))
    assert house.nobrakes("agent-profile", "test", str(file), code=1)


def merged(folder: Path, name: str, program: str, trial: Trial, sandbox: str, more: str = "") -> None:
    """An agent of a profile takes a bead to main, with a model that runs two commands."""
    agents = f'[agents]\ntest_writer = "{name}"\ndoer = "{name}"\n[agents.profiles.{name}]\n{more}'
    agents += f'executable = "{program}"\nmodel = "m"\nbase_url = "http://127.0.0.1:PORT/s/{name}{trial.path}"\n'
    field, dialect = prepare(folder, agents, sandbox), Dialect(name, "", 0, trial)
    write = "import pathlib; pathlib.Path({!r}).write_text({!r})"

    def step(file: str, text: str, subject: str) -> dict[str, Any]:
        words = f"python3 -c {shlex.quote(write.format(file, text))} && {committing(subject)}"
        return {"tools": [list(dialect.shell(words))]}

    script = [step("tests/test_hello.py", TEST, "Test greetings"), DONE, step("hello.py", CODE, "Greet people"), DONE]
    printed = field.let_them_work(
        {name: script}, {**trial.variables, "NOBRAKES_USER_HOME": os.environ["NOBRAKES_USER_HOME"]}
    )
    assert [(role, agent) for role, agent, _ in field.attempts()][:2] == [("test_writer", name), ("doer", name)], (
        printed
    )
    field.assert_merged()


@pytest.mark.slow
def test_an_agent_of_a_persons_profile_takes_a_bead_to_main(house: House, tmp_path: Path) -> None:
    house.install()
    (house.folder / "profiled.toml").write_text(PROFILE)
    house.nobrakes("agent-profile", "add", "profiled.toml")
    trial = profiles.parse(PROFILE, "profiled.toml").trial
    merged(tmp_path / "field", "profiled", "profiled-agent", trial, "none", 'permissions = "bypass"\n')


@pytest.mark.slow
@pytest.mark.profiles
def test_a_real_cli_takes_a_bead_to_main_in_the_sandbox(house: House, tmp_path: Path) -> None:
    if not (BIN / "pi").is_file():
        pytest.skip("pi is not installed in .ci/agents")
    merged(tmp_path / "field", "pi", str(BIN / "pi"), profiles.find("pi").trial, "bubblewrap")


@pytest.mark.slow
@pytest.mark.profiles
@pytest.mark.parametrize("name", CI)
def test_the_real_cli_of_a_shipped_profile_does_what_the_profile_says(house: House, name: str) -> None:
    found = profiles.find(name)
    native = (BIN.parent / f"{found.program}-linux-x64" / "bin" / found.program,)  # npm's scripts do not run there
    program = next((one for one in (BIN / found.program, *native) if one.is_file()), None)
    if program is None:
        pytest.skip(f"{name} is not installed in .ci/agents")
    (house.bin / found.program).symlink_to(program)
    proven = {key: value for key, value in house.checks("agent-profile", "test", name).items() if value is not None}
    assert proven == dict(found.proof.checks)
