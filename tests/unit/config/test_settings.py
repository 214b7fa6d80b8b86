"""nobrakes.toml: every setting, its default, and an error that names the key."""

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest

from nobrakes.config.sections import Section
from nobrakes.config.settings import Config, load, parse
from nobrakes.errors import ConfigError
from nobrakes.paths import resource

DEFAULTS = Path(resource("config/nobrakes.toml"))


def test_an_empty_file_is_every_default() -> None:
    assert parse("", "config.toml") == Config()


def test_the_file_that_comes_with_nobrakes_says_the_defaults() -> None:
    assert parse(DEFAULTS.read_text(), "nobrakes.toml") == Config()


def _keys(section: type[Section], prefix: str = "") -> list[str]:
    keys = []
    for field in fields(section):
        inner = isinstance(field.default, Section)
        keys += _keys(type(field.default), f"{prefix}{field.name}.") if inner else [prefix + field.name]
    return keys


def test_every_setting_is_in_that_file_and_explained() -> None:
    """A default that TOML cannot write (none) stands there as a comment."""
    text = DEFAULTS.read_text()
    section, told = "", set()
    for line in text.splitlines():
        head = re.match(r"#? ?\[+([a-z_.]+)\]+", line)
        if head:
            section = head[1] + "."
            told.add(head[1])
        setting = re.match(r"#? ?([a-z_]+) *=", line)
        if setting:
            told.add(section + setting[1])
    assert [key for key in _keys(Config) if key not in told] == []


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("brakes = true", "brakes: is not a setting"),
        ("[limits]\ndoer = 3", "limits.doer: is not a setting"),
        ("[agents.claude]\nmodle = 'x'", "agents.claude.modle: is not a setting"),
        ("[limits]\ndoer = 3", "did you mean doers?"),
        ("[agents.by_type.fix]\ndoers = 'claude'", "did you mean doer?"),
        ("[[checks]]\nname = 'unit'\ncommand = 'x'\nkid = 'test'", "did you mean kind?"),
        ("[limits]\ndoers = 'many'", "limits.doers: "),
        ("[git]\nbranch_pattern = 'feature/x'", "git.branch_pattern: "),
        ("[limits]\ndoers = -1", "limits.doers: "),
        ("[limits]\nidle_minutes = 0", "limits.idle_minutes: "),
        ("[review]\nmerge = 'octopus'", "review.merge: "),
        ("[[checks]]\nname = 'unit'", "checks.0.command: "),
        ("[[checks]]\nname = '../x'\ncommand = 'make'", "checks.0.name: "),
        ("[[checks]]\nname = 'a'\ncommand = 'x'\nkind = 'vibes'", "checks.0.kind: "),
        ("[review]\ndependants = 'wait'", "review.dependants: was removed: pull requests no longer stack"),
        ("limits = 3", "limits: "),
        ("[limits\n", "is not valid TOML"),
        (f"limits{'.a' * 66} = 1", "a key has more than 64 dots"),
        ("names = " + "[" * 5_000, "nested too deep"),
        ("limits.doers = " + "9" * 5_000, "is not valid TOML"),
    ],
)
def test_a_mistake_is_named(text: str, key: str) -> None:
    with pytest.raises(ConfigError) as mistake:
        parse(text, "config.toml")
    assert "config.toml" in str(mistake.value) and key in str(mistake.value) and mistake.value.hint


def test_a_renamed_setting_is_read_by_its_old_name_and_never_by_both() -> None:
    found = parse(
        "[review]\ncanary_hours = 3\nfresh_eyes = 'ask'\nfresh_eyes_agents = ['a']\ndecoy = false", "x"
    ).review
    assert (found.main_check_hours, found.code_review, found.code_review_agents) == (3, "ask", ("a",))
    assert not found.mutation_probes
    both = "[review]\ndecoy = false\nmutation_probes = true\ncanary_hours = 1\nmain_check_hours = 2\nunitt = 1"
    with pytest.raises(ConfigError) as mistakes:
        parse(both, "x")
    lines = str(mistakes.value).splitlines()
    assert len(lines) == 3 and sum("nobrakes config unset review." in line for line in lines) == 2


def test_every_mistake_is_named_at_once() -> None:
    with pytest.raises(ConfigError) as mistakes:
        parse("brakes = 1\n[limits]\ndoers = 'x'", "config.toml")
    assert len(str(mistakes.value).splitlines()) == 2


def test_two_checks_of_one_name_are_refused() -> None:
    check = "[[checks]]\nname = 'unit'\ncommand = 'make'\n"
    with pytest.raises(ConfigError, match="two checks have the name 'unit'"):
        parse(check + check, "config.toml")


def test_minutes_become_seconds_and_checks_add_up() -> None:
    text = """
    [limits]
    doers = 2
    agent_minutes = 1.5
    idle_minutes = 2
    [[checks]]
    name = "unit"
    command = "make test"
    timeout_minutes = 3
    [[checks]]
    name = "lint"
    command = "make lint"
    kind = "lint"
    timeout_minutes = 1
    """
    config = parse(text, "config.toml")
    limits = config.board_limits()
    assert (limits.doers, limits.agent_seconds, limits.idle_seconds) == (2, 90, 120)
    assert [(c.name, c.kind, c.timeout) for c in config.contract()] == [("unit", "test", 180), ("lint", "lint", 60)]


def test_names_of_the_project_go_before_those_of_nobrakes() -> None:
    assert parse("names = ['Zed']", "config.toml").worker_names() == ("Zed",)


def test_a_file_that_cannot_be_read_is_a_mistake_in_the_config(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    for path in (tmp_path / "absent.toml", tmp_path, tmp_path / "bytes.toml"):
        with pytest.raises(ConfigError):
            load(str(path))


ALL = """
main = "trunk"
names = ["Ünï"]
[limits]
doers = 3
[[checks]]
name = "unit"
command = "make"
[agents]
doer = "script"
[agents.script]
command = ["sh", "-c", "true"]
[agents.claude]
max_budget_usd = 1
"""


def test_a_file_is_judged_once_and_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(ALL)
    judged = load(str(path))
    kept = tmp_path / "config.checked"
    assert judged == parse(ALL, "config.toml") and kept.exists()
    program = f"import sys; from nobrakes.config.settings import load; c = load({str(path)!r}); print('pydantic' in sys.modules, c)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == f"False {judged}"


@pytest.mark.parametrize("spoilt", ["", "{", "[]", '{"values": {}}', "nonsense", None])
def test_what_was_kept_is_not_needed(tmp_path: Path, spoilt: str | None) -> None:
    path, kept = tmp_path / "config.toml", tmp_path / "config.checked"
    path.write_text(ALL)
    expected = load(str(path))
    if spoilt is None:
        whole = json.loads(kept.read_text())
        spoilt = json.dumps({**whole, "values": {"brakes": 1}})
    kept.write_text(spoilt)
    assert load(str(path)) == expected
    assert json.loads(kept.read_text())["text"] == ALL


def test_a_changed_file_is_judged_again(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[limits]\ndoers = 3")
    load(str(path))
    path.write_text("[limits]\ndoers = -3")
    with pytest.raises(ConfigError):
        load(str(path))
    path.write_text("[limits]\ndoers = 5")
    assert load(str(path)).limits.doers == 5


def test_rules_that_changed_judge_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, kept = tmp_path / "config.toml", tmp_path / "config.checked"
    path.write_text("[limits]\ndoers = 3")
    load(str(path))
    whole = json.loads(kept.read_text())
    whole["values"]["limits"]["doers"] = 300
    kept.write_text(json.dumps({**whole, "judge": "of another time"}))
    assert load(str(path)).limits.doers == 3


def test_a_folder_that_cannot_be_written_is_no_trouble(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[limits]\ndoers = 3")

    def refuses(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "replace", refuses)
    assert load(str(path)).limits.doers == 3
    assert [one.name for one in tmp_path.iterdir()] == ["config.toml"]


@pytest.mark.parametrize("host", ["*", "*.example", "a b", "", "x:0", "x:y", "https://x", "[::1]:80"])
def test_what_a_sandbox_may_reach_are_names_and_ports(tmp_path, host):
    path = tmp_path / "config.toml"
    path.write_text(f'[sandbox]\nhosts = ["{host}"]\n')
    with pytest.raises(ConfigError, match="hosts"):
        load(str(path))
    path.write_text('[sandbox]\nhosts = ["A.example", "b.example:8080"]\n')
    assert load(str(path)).sandbox.hosts == ("a.example:443", "b.example:8080")
