"""`nobrakes config set`, `get`, `unset` and `--all`, and `init --agent`, as people type them."""

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from nobrakes.config.settings import parse
from nobrakes.errors import ConfigError, NotAllowed, UsageError
from tests.support import warm

Done = subprocess.CompletedProcess[str]


def typed(folder: Path, *words: str, expect: int = 0, **env: str) -> Done:
    done = warm.nobrakes(list(words), folder, {**os.environ, **env})
    assert done.returncode == expect, (words, done.stdout, done.stderr)
    return done


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    for words in (
        "init -q -b main",
        "config user.name You",
        "config user.email you@example.invalid",
        "commit -q --allow-empty -m Begin",
    ):
        subprocess.run(["git", *words.split()], cwd=folder, check=True)
    return folder


@pytest.fixture
def folder(bare: Path) -> Path:
    typed(bare, "init", "--test", "make test")
    return bare


def config_of(folder: Path) -> Path:
    return folder / ".nobrakes" / "config.toml"


def test_a_setting_is_set_shown_and_taken_out_again_and_no_other_line_changes(folder: Path) -> None:
    config = config_of(folder)
    before = config.read_text()
    mode = config.stat().st_mode
    done = typed(folder, "config", "set", "limits.doers", "2").stdout
    assert "limits.doers: 4 (default) -> 2" in done and "the change takes effect now" in done and "git add" in done
    assert config.read_text() == before.replace("# doers = 4", "doers = 2") and config.stat().st_mode == mode
    assert typed(folder, "config", "get", "limits.doers").stdout == "2\n"
    assert json.loads(typed(folder, "config", "get", "limits.doers", "--json").stdout)["data"]["value"] == 2
    assert "unchanged" in typed(folder, "config", "set", "limits.doers", "2").stdout
    assert "2 -> 4 (default)" in typed(folder, "config", "unset", "limits.doers").stdout
    assert config.read_text() == before
    assert "limits.max_failures = 3" in typed(folder, "config", "get", "limits").stdout.splitlines()
    assert typed(folder, "config", "get", "caps.day.usd").stdout == "not set\n"
    for line in (("setup", "x"), ("checks.lint.command", "make lint"), ("checks.test.retry", "1"), ("names", "Ada,Bo")):
        typed(folder, "config", "set", *line)
    found = parse(config.read_text(), "x")
    assert [(one.name, one.kind, one.retry) for one in found.checks] == [("test", "test", 1), ("lint", "lint", 0)]
    assert (found.setup, found.names) == ("x", ("Ada", "Bo"))
    assert {line for line in before.splitlines() if line.startswith("#")} <= set(config.read_text().splitlines())
    typed(folder, "set", "doers=7")
    assert "nobrakes set doers=default" in typed(folder, "config", "set", "limits.doers", "1").stdout
    for line in (("review.land", "local"), ("git.sign", "never"), ("git.committer", "Ada <ada@example.org>")):
        assert "at the next start" in typed(folder, "config", "set", *line).stdout


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("set", "limits.doer", "2"), "Did you mean limits.doers?"),
        (("get", "limit.doers"), "Did you mean limits.doers?"),
        (("unset", "nothing.here"), "nobrakes config"),
        (("set", "limits.doers", "many"), "at most 256"),
        (("set", "limits.doers", "999"), "at most 256"),
        (("set", "review.merge", "octopus"), "rebase"),
        (("set", "agents.doer", "claud"), "claude, cline, codex"),
        (("set", "forge.reviewers", "codex,claud"), "claude, cline, codex"),
        (("set", "main", "a..b"), "main"),
        (("set", "checks.test.command", ""), "checks.0.command"),
        (("unset", "checks.test.command"), "checks.0.command"),
        (("set", "sandbox.read", "relative"), "sandbox.read"),
    ],
)
def test_what_the_file_could_not_hold_is_refused_and_changes_nothing(
    folder: Path, words: tuple[str, ...], told: str
) -> None:
    before = config_of(folder).read_bytes()
    done = typed(folder, "config", *words, expect=ConfigError.code)
    assert told in done.stderr and done.stdout == "" and config_of(folder).read_bytes() == before


def test_a_file_that_is_wrong_is_mended_where_that_is_possible(folder: Path) -> None:
    config = config_of(folder)
    good = config.read_text()
    for text, words, left in (
        (good.replace("# doers = 4", "doers = = 3"), ("set", "limits.doers", "2"), False),
        (good.replace("# doers = 4", 'doers = "x"'), ("unset", "limits.doers"), False),
        (good.replace("# doers = 4", "doer = 4"), ("unset", "limits.doer"), False),
        (good.replace("# doers = 4", 'doers = "x"\ndoer = 1'), ("set", "limits.doers", "1"), True),
    ):
        config.write_text(text)
        done = typed(folder, "config", *words).stdout
        assert ("still wrong: " in done) is left, done
        assert left or parse(config.read_text(), "x")
    broken = config.read_text()
    other = typed(folder, "config", "set", "review.merge", "rebase", expect=ConfigError.code).stderr
    assert "limits.doer" in other and "nobrakes config unset limits.doer" in other and config.read_text() == broken
    config.write_text(good + "\n[limits\n")
    number = good.count("\n") + 2
    assert f"line {number}" in typed(folder, "config", "set", "main", "x", expect=ConfigError.code).stderr


def test_an_agent_may_look_and_not_change(folder: Path) -> None:
    for words in (("set", "limits.doers", "9"), ("unset", "limits.doers")):
        assert "agent" in typed(folder, "config", *words, expect=NotAllowed.code, NOBRAKES_TOKEN="x").stderr


def test_the_group_is_a_command_too(folder: Path) -> None:
    assert "limits.doers = 4" in typed(folder, "config").stdout
    assert "is valid" in typed(folder, "config", "--check").stdout
    assert "'set'" in typed(folder, "config", "sett", "x", expect=UsageError.code).stderr
    assert "config set KEY" in typed(folder, "config", "--help").stdout
    typed(folder, "config", "--check", "--all", expect=UsageError.code)


def test_all_is_a_file_that_says_what_is_in_force(folder: Path) -> None:
    typed(folder, "config", "set", "agents.by_type", '{"fix": {"doer": ["codex", "claude"]}}')
    typed(folder, "config", "set", "notify.channels.phone.type", "desktop")
    typed(folder, "config", "set", "caps.day.usd", "7")
    typed(folder, "config", "set", "checks.test.tools", '{"python3": ">=3.11"}')
    text = typed(folder, "config", "--all").stdout
    assert parse(text, "all") == parse(config_of(folder).read_text(), "own")
    assert len(text.splitlines()) > 250 and "# idle_minutes = 10.0" in text and "usd = 7.0" in text


def test_a_new_file_has_about_ten_settings_and_scripts_can_fill_them_in(folder: Path) -> None:
    text = config_of(folder).read_text()
    lines = text.splitlines()
    assert len(lines) < 60
    for line in ('# test_writer = "claude"', '# doer = "claude"', "# command = []", "# doers = 4", "# read = []"):
        assert lines.count(line) == 1
        assert lines[lines.index(line) - 1].startswith("# ")
        text = text.replace(line, line[2:])
    assert set(tomllib.loads(text)["agents"]) == {"test_writer", "doer", "script"}
    assert parse(text, "x").sandbox.read == () and parse(text, "x").limits.doers == 4


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "acp", "script"])
def test_init_sets_the_agent_of_both_roles_and_says_what_is_missing(bare: Path, agent: str) -> None:
    empty = bare.parent / "bin"
    empty.mkdir()
    for name in ("git", "sh"):
        found = next(p for p in os.environ["PATH"].split(os.pathsep) if os.path.exists(os.path.join(p, name)))
        (empty / name).symlink_to(os.path.join(found, name))
    done = typed(bare, "init", "--test", "true", "--agent", agent, PATH=str(empty)).stdout
    agents = parse(config_of(bare).read_text(), "x").agents
    assert agents.doer == agents.test_writer == (agent,)
    if agent in ("acp", "script"):
        assert f"nobrakes config set agents.{agent}.command" in done
        again = typed(bare, "init", "--agent", agent, "--command", "sh 'my agent.sh'", PATH=str(empty)).stdout
        assert f"agents.{agent}.command" in again and "nobrakes config set agents" not in again
        assert parse(config_of(bare).read_text(), "x").agents.command(agent) == ("sh", "my agent.sh")
    else:
        assert "is not installed" in done and "npm install -g @" in done


def test_init_again_changes_the_agent_and_nothing_else(folder: Path) -> None:
    config = config_of(folder)
    config.write_text("# mine\n" + config.read_text())
    before = config.read_text()
    done = typed(folder, "init", "--agent", "codex").stdout
    assert "agents.doer: " in done and "codex" in done
    assert config.read_text() == before.replace('# doer = "claude"', 'doer = "codex"').replace(
        '# test_writer = "claude"', 'test_writer = "codex"'
    )
    for words, told in (
        (("--agent", "claud"), "Did you mean claude?"),
        (("--agent", "claude", "--command", "x"), "executable"),
        (("--command", "x"), "--agent"),
        (("--agent", "script", "--command", "'"), "split"),
    ):
        changed = config.read_text()
        assert told in typed(folder, "init", *words, expect=UsageError.code).stderr
        assert config.read_text() == changed


def test_undo_restores_the_file_and_never_takes_the_step_before(folder: Path) -> None:
    config = config_of(folder)
    before = parse(config.read_text(), "config.toml")
    typed(folder, "add", "A bead")
    typed(folder, "config", "set", "limits.doers", "2")
    typed(folder, "config", "set", "git.filters", "a,b")
    typed(folder, "config", "set", "git.filters", "+c")
    assert "git.filters" in typed(folder, "undo").stdout
    assert tomllib.loads(config.read_text())["git"]["filters"] == ["a", "b"]
    typed(folder, "undo")
    assert "limits.doers" in typed(folder, "undo").stdout
    assert parse(config.read_text(), "config.toml") == before
    assert "A bead" in typed(folder, "list").stdout
    assert "proposed" in typed(folder, "undo", "--json").stdout  # the step before it comes next


def test_a_setting_that_was_changed_by_hand_since_is_not_overwritten(folder: Path) -> None:
    typed(folder, "add", "A bead")
    typed(folder, "config", "set", "limits.doers", "2")
    config = config_of(folder)
    config.write_text(config.read_text().replace("doers = 2", "doers = 3"))
    refused = typed(folder, "undo", expect=NotAllowed.code).stderr
    assert "again later" in refused and "`nobrakes undo " in refused
    assert "doers = 3" in config.read_text()
