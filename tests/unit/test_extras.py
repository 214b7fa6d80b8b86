"""Extras: without them everything else is imported, and what needs one says what to type."""

import importlib.util
import json
import os
import subprocess
import sys

import pytest

from nobrakes import extras
from nobrakes.agents.acp import Acp
from nobrakes.cli import main
from nobrakes.errors import MissingExtra
from nobrakes.notices import senders

HIDDEN = """
import sys
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {hidden}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hide())
from nobrakes.cli.main import function_of
from nobrakes.command_table import COMMANDS
for entry in COMMANDS:
    assert function_of(entry)
import nobrakes.app, nobrakes.daemon.worker.service, nobrakes.mcp_server, nobrakes.agents.known, nobrakes.notices.senders
"""


@pytest.fixture
def base(monkeypatch):
    """Only the base install is there."""
    real = importlib.util.find_spec
    hidden = {module for module, _ in extras.EXTRAS.values()}
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name in hidden else real(name))


@pytest.mark.ci
def test_every_command_is_imported_with_the_base_install_alone():
    hidden = sorted(module for module, _ in extras.EXTRAS.values())
    code = HIDDEN.format(hidden=hidden)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_what_needs_an_extra_says_what_to_type(base):
    with pytest.raises(MissingExtra) as error:
        Acp().launch(None)
    assert "`acp`" in str(error.value) and "nobrakes[acp]" in error.value.hint
    assert "nobrakes[notify]" in senders.trouble("apprise", ())
    with pytest.raises(MissingExtra, match="board --live"):
        extras.need("tui", "`nobrakes board --live`")


def test_what_to_type_is_as_it_was_installed(tmp_path):
    assert extras.command("tui", str(tmp_path), "/v/bin/python", True) == "/v/bin/python -m pip install 'nobrakes[tui]'"
    assert extras.command("tui", str(tmp_path), "/v/bin/python", False).startswith(
        "uv pip install --python /v/bin/python "
    )
    (tmp_path / "pipx_metadata.json").write_text(json.dumps({}))
    typed = extras.command("tui", str(tmp_path), "/v/bin/python", True)
    assert typed.startswith(f"pipx inject {os.path.basename(tmp_path)} ") and "textual>=8" in typed


def test_the_extras_are_those_of_the_package():
    found = {name: extras.requirement(name) for name in extras.EXTRAS}
    assert found["tui"] == "textual>=8" and found["notify"] == "apprise>=1.9"
    assert found["acp"].startswith("agent-client-protocol")


def test_nodes_without_their_extra_are_told_before_anything_starts(base, repository, monkeypatch, capsys):
    monkeypatch.chdir(repository)
    assert main.run(["init", "--test", "true"]) == 0
    with (repository / ".nobrakes" / "config.toml").open("a") as config:
        config.write('[fleet]\nengine = "dask"\nscheduler = "tcp://127.0.0.1:9"\n')
    for words, code in ((["run"], 62), (["daemon", "start"], 62), (["fleet"], MissingExtra.code), (["doctor"], 1)):
        capsys.readouterr()
        assert main.run(words) == code, words
        shown = "".join(capsys.readouterr())
        assert "the extra `fleet`, which is not installed" in shown and "nobrakes[fleet]" in shown, (words, shown)
    assert not (repository / ".nobrakes" / "fleet").exists(), "nothing was started"
