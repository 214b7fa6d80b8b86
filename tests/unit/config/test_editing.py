"""One setting changed in the text of a config.toml: what is asked for, and nothing else."""

import tomllib

import pytest

from nobrakes.config.editing import line_of, toml, values, with_value, without
from nobrakes.errors import ConfigError

FILE = """\
# My settings.
main = "main"   # the branch

[[checks]]
name = "test"
command = "make test" # all of it

[[checks]]
name = "lint"
command = "make lint"

[limits]
# How many at once.
# doers = 4
agent_minutes = 5.0

[agents]
doer = [
    "claude",  # first
    "codex",
]
by_type = { docs = { doer = "script" } }

# Mine.
[agents.script]
# command = []
"""


def lines_that_differ(before: str, after: str) -> tuple[list[str], list[str]]:
    old, new = before.splitlines(), after.splitlines()
    return [line for line in old if line not in new], [line for line in new if line not in old]


@pytest.mark.parametrize(
    ("path", "value", "gone", "came"),
    [
        (("main",), "trunk", ['main = "main"   # the branch'], ['main = "trunk"   # the branch']),
        (("limits", "doers"), 2, ["# doers = 4"], ["doers = 2"]),
        (("limits", "sessions"), 1, [], ["sessions = 1"]),
        (("setup",), "make", [], ['setup = "make"']),
        (("checks", 0, "command"), "a # b", ['command = "make test" # all of it'], ['command = "a # b" # all of it']),
        (("checks", 1, "retry"), 1, [], ["retry = 1"]),
        (("agents", "by_type", "fix", "doer"), "codex", ['by_type = { docs = { doer = "script" } }'],
         ['by_type = { docs = { doer = "script" }, fix = { doer = "codex" } }']),
        (("agents", "doer"), "codex", ["doer = [", '    "claude",  # first', '    "codex",', "]"], ['doer = "codex"']),
        (("agents", "script", "command"), ["a", "b"], ["# command = []"], ['command = ["a", "b"]']),
        (("caps", "day", "usd"), 5.0, [], ["[caps.day]", "usd = 5.0"]),
    ],
)  # fmt: skip
def test_a_setting_is_changed_where_it_stands_and_everything_else_stays(path, value, gone, came):
    for end in ("\n", "\r\n"):
        text = FILE.replace("\n", end)
        made = with_value(text, path, value, "config.toml")
        assert lines_that_differ(text, made) == (gone, came)
        assert made.count("\r") == (made.count("\n") if end == "\r\n" else 0)
        raw = tomllib.loads(made)
        for name in path:
            raw = raw[name]
        assert raw == value


def test_what_is_set_and_taken_out_leaves_the_default_to_be_seen():
    made = with_value(FILE, ("limits", "doers"), 2, "x")
    assert without(made, ("limits", "doers"), "# doers = 4", "x") == FILE
    assert "retry" not in without(with_value(FILE, ("checks", 1, "retry"), 1, "x"), ("checks", 1, "retry"), "", "x")
    assert without(FILE, ("limits", "sessions"), "", "x") == FILE
    gone = tomllib.loads(without(FILE, ("agents", "by_type", "docs", "doer"), "", "x"))
    assert not gone["agents"]["by_type"].get("docs")


def test_a_setting_at_the_top_is_added_before_the_tables():
    assert (
        with_value("# Head.\n[limits]\ndoers = 1\n", ("main",), "x", "f")
        == 'main = "x"\n\n# Head.\n[limits]\ndoers = 1\n'
    )
    assert tomllib.loads(with_value("", ("main",), "x", "f")) == {"main": "x"}
    assert tomllib.loads(with_value("", ("caps", "day", "usd"), 1.0, "f")) == {"caps": {"day": {"usd": 1.0}}}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("limits.doers = 3\n", ("limits", "sessions")),
        ("[agents]\nscript = { command = ['a'] }\n", ("agents", "script", "command")),
        ('["limits"]\n"doers" = 1\n', ("limits", "doers")),
        ("[ limits ]\ndoers=1# x\n", ("limits", "doers")),
        ('names = ["""a\n[limits]\n"""]\n[limits]\n', ("limits", "doers")),
        ("[limits]\n\n\n[agents]\n# doers = 9\n", ("limits", "doers")),
    ],
)
def test_however_a_file_is_written_it_says_the_rest_as_before_or_nothing_is_made_of_it(text, path):
    before = tomllib.loads(text)
    try:
        made = tomllib.loads(with_value(text, path, 7, "config.toml"))
    except ConfigError as error:
        assert "line 1" in str(error) and ".".join(path) in error.hint
        return
    inner = made
    for name in path[:-1]:
        inner = inner[name]
    assert inner.pop(path[-1]) == 7
    for name in path[:-1]:
        before = before.get(name, {})
    before.pop(path[-1], None)
    assert inner == before


def test_a_line_that_is_no_toml_is_mended_by_its_own_key_and_by_no_other():
    text = "[limits]\ndoers = = 3\n\n[review]\nmerge = 'squash'\n"
    assert with_value(text, ("limits", "doers"), 2, "x") == text.replace("doers = = 3", "doers = 2")
    assert without(text, ("limits", "doers"), "# doers = 4", "x") == text.replace("doers = = 3", "# doers = 4")
    with pytest.raises(ConfigError) as refused:
        with_value(text, ("review", "merge"), "rebase", "config.toml")
    assert "line 2" in str(refused.value) and "doers = = 3" in refused.value.hint
    with pytest.raises(ConfigError):
        values("doers 3\n", ("doers",), "x")


def test_values_are_written_so_that_they_are_read_back():
    for value in (True, 3, 1.5, 'a"\\\n\x7fü', ["a", "b"], {"a b": {"c": 1}}, {}):
        assert tomllib.loads(f"x = {toml(value)}")["x"] == value
    assert (line_of(FILE, ("limits",)), line_of(FILE, ("limits", "doers"))) == (12, None)
