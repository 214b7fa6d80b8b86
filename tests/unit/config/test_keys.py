"""Settings by their keys: which there are, what is meant by one that is none, and what a person typed as a value."""

import re
import tomllib
from pathlib import Path

import pytest

from nobrakes.config.setup import changing
from nobrakes.config.setup.changing import allowed, edited, keys, known, typed
from nobrakes.errors import ConfigError

RAW = {"checks": [{"name": "test", "command": "x"}, {"name": "unit.fast", "command": "y"}]}


def said(key: str, word: str):
    return typed(known(key, RAW), word)


@pytest.mark.parametrize(
    ("key", "word", "value"),
    [
        ("limits.doers", "2", 2),
        ("limits.agent_minutes", "90", 90.0),
        ("review.merge", "rebase", "rebase"),
        ("review.mutation_probes", "off", False),
        ("boundaries.lock_files", "yes", True),
        ("main", '"trunk"', "trunk"),
        ("setup", "npm ci && x", "npm ci && x"),
        ("agents.doer", "codex", "codex"),
        ("agents.doer", "codex,claude", ["codex", "claude"]),
        ("agents.doer", '["codex"]', "codex"),
        ("names", "Ada, Bo", ["Ada", "Bo"]),
        ("names", "", []),
        ("sandbox.read", '["~/.a,b"]', ["~/.a,b"]),
        ("agents.script.command", "python3 'my agent.py' {prompt}", ["python3", "my agent.py", "{prompt}"]),
        ("agents.script.command", "python3,agent.py", ["python3", "agent.py"]),
        ("agents.script.command", '["a b", "c"]', ["a b", "c"]),
        ("caps.day.usd", "12.5", 12.5),
        ("checks.test.cache", "never", "never"),
        ("checks.test.cache", "true", True),
        ("checks.unit.fast.retry", "1", 1),
        ("checks.1.retry", "1", 1),
        ("checks.test.tools", '{"node": "20"}', {"node": "20"}),
        ("agents.by_type", '{ fix = { doer = "codex" } }', {"fix": {"doer": "codex"}}),
        ("agents.by_type.fix.doer", "codex", "codex"),
        ("notify.channels.phone.kinds", "question,escalation", ["question", "escalation"]),
    ],
)
def test_what_is_typed_becomes_what_the_setting_is(key, word, value):
    found = said(key, word)
    assert found == value and type(found) is type(value)


@pytest.mark.parametrize(
    ("key", "word", "told"),
    [
        ("limits.doers", "many", "whole number, at least 0, at most 10000"),
        ("limits.doers", "2.5", "whole number"),
        ("caps.day.usd", "none", "nobrakes config unset caps.day.usd"),
        ("caps.day.usd", "nan", "number, more than 0"),
        ("review.merge", "octopus", '`"squash"` or `"rebase"`'),
        ("review.mutation_probes", "maybe", "`true` or `false`"),
        ("names", '["a"', "list of texts"),
        ("limits", "3", "limits.doers"),
        ("checks", "[]", "checks.test.command"),
    ],
)
def test_what_does_not_fit_is_answered_with_what_does(key, word, told):
    with pytest.raises(ConfigError) as refused:
        said(key, word)
    assert key in str(refused.value) and told in refused.value.hint


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("limits.doer", "limits.doers"),
        ("doers", "limits.doers"),
        ("limit.doers", "limits.doers"),
        ("agents.script.comand", "agents.script.command"),
        ("checks.test.comand", "checks.test.command"),
        ("main.x", ""),
        ("", ""),
        ("checks.test", "Name the check"),
    ],
)
def test_what_is_no_setting_is_answered_with_what_was_meant(key, meant):
    with pytest.raises(ConfigError, match="is not a setting") as refused:
        known(key, RAW)
    assert meant in refused.value.hint


PLUS = ("[]", "+b", "b"), ('"a"', "+b", ["a", "b"]), ('["a", "b"]', "+b,c", ["a", "b", "c"]), ("[]", '+["+b"]', "+b")


@pytest.mark.parametrize(("before", "word", "after"), PLUS)
def test_a_list_that_begins_with_plus_is_added_to_what_is_there(before, word, after):
    made, _ = edited(f"[git]\nfilters = {before}\n", [("git.filters", word)], "config.toml")
    assert tomllib.loads(made) == {"git": {"filters": after}}


def test_no_hint_replaces_a_list_that_a_person_may_have_filled():
    source = "".join(path.read_text() for path in Path(changing.__file__).parents[2].rglob("*.py"))
    lists = {key.rpartition(".")[2] for key in keys() if allowed(known(key, RAW).kind).startswith(("list", "text or"))}
    hints = re.findall(r"nobrakes config set ([\w.{}]+) (.+)", source)
    replacing = [hint for hint in hints if hint[0].rpartition(".")[2] in {"{setting}", *lists} and "+" not in hint[1]]
    assert hints and [key for key, _ in replacing if not key.endswith(".command")] == []


def test_a_check_that_is_not_there_begins_with_its_command():
    assert known("checks.lint.command", RAW).path == ("checks", 2, "command")
    with pytest.raises(ConfigError, match="no check 'lint'") as refused:
        known("checks.lint.retry", RAW)
    assert "test, unit.fast" in refused.value.hint


def test_every_setting_is_known_by_its_key_and_says_what_it_takes():
    for key in keys():
        assert key == "checks" or allowed(known(key, {}).kind)


@pytest.mark.parametrize("word", ["true", None])
def test_a_setting_by_its_old_name_is_changed_by_its_new_one(word):
    text, (change,) = edited("[review]\n# mine\ndecoy = false\n", [("review.mutation_probes", word)], "x")
    assert "decoy" not in text and "# mine" in text
    assert (change.before, change.after) == (False, True)
    assert ("mutation_probes = true" in text) == (word is not None)
