"""The person's own settings: read, judged, and changed a line at a time."""

from dataclasses import fields
from pathlib import Path

import pytest

from nobrakes.agents.limits import MachineLimits
from nobrakes.config.editing import USER, settings
from nobrakes.config.user import UserConfig, WebSettings, edited, limits_of, load_user, parse_user
from nobrakes.errors import ConfigError
from nobrakes.paths import resource

TEXT = """# mine
[machine]
agents = 2  # as many as the fan bears

[other]
"""


def test_a_missing_file_limits_nothing(tmp_path: Path) -> None:
    assert load_user(str(tmp_path / "config.toml")).machine.limits() == MachineLimits()


def test_the_file_is_judged_and_names_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[machine]\nagents = 0\n")
    with pytest.raises(ConfigError, match=r"config\.toml: machine\.agents"):
        load_user(str(path))
    path.write_text("[machine]\nagents = 3\nusd_per_day = 20\n")
    for _ in range(2):  # the second time as it is remembered
        assert load_user(str(path)).machine.limits() == MachineLimits(3, 20.0)


def test_the_pages_have_settings_too_and_the_file_that_explains_them_says_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[web]\nport = 7200\nlog_dir = "~/logs"\nlog_level = "DEBUG"\n')
    for _ in range(2):
        assert load_user(str(path)).web == WebSettings(port=7200, log_dir="~/logs", log_level="DEBUG")
    for text, key in (
        ("port = 0", "web.port"), ("port = 70000", "web.port"), ('port = "x"', "web.port"), ('log_dir = "logs"', "web.log_dir"),
        ('log_level = "LOUD"', "web.log_level"), ("prot = 1", "did you mean port"),
    ):  # fmt: skip
        with pytest.raises(ConfigError, match=key):
            parse_user(f"[web]\n{text}\n", "config.toml")
    explained = {f"{one.section}.{one.name}" for one in settings(USER)}
    assert explained == {f"{table.name}.{one.name}" for table in fields(UserConfig) for one in fields(table.default)}
    assert parse_user(Path(resource(USER)).read_text(), USER) == UserConfig()


def test_a_line_is_changed_and_the_others_stay() -> None:
    made = edited("# mine\n[machine]\nagents = 2\n# keep\n", {"agents": 3, "usd_per_day": 2.5}, "x")
    assert made == "# mine\n[machine]\nagents = 3\nusd_per_day = 2.5\n# keep\n"
    assert edited(made, {"agents": None}, "x") == "# mine\n[machine]\nusd_per_day = 2.5\n# keep\n"
    assert parse_user(edited("", {"tokens_per_day": 5_000_000}, "x"), "x").machine.tokens_per_day == 5_000_000


@pytest.mark.parametrize("text", ["machine = { agents = 2 }\n", "machine.agents = 2\n", "[ machine ]\nagents = 2\n"])
def test_each_way_to_write_it_is_changed_where_it_stands(text: str) -> None:
    assert edited(text, {"agents": 3}, "x") == text.replace("2", "3")


def test_the_folders_of_repositories_are_a_list_that_begins_empty(tmp_path: Path) -> None:
    assert UserConfig().machine.session_roots == ()
    wanted = limits_of({"session_roots": "~/code, /srv/work"})
    made = edited("[machine]\nagents = 2\n", wanted, "x")
    assert made == '[machine]\nagents = 2\nsession_roots = ["~/code", "/srv/work"]\n'
    path = tmp_path / "config.toml"
    path.write_text(made)
    for _ in range(2):  # the second time as it is remembered
        assert load_user(str(path)).machine.session_roots == ("~/code", "/srv/work")
    assert edited(made, limits_of({"session_roots": "default"}), "x") == "[machine]\nagents = 2\n"
    for wrong in ("code", "/", "~", "../code", "~root/x"):
        with pytest.raises(ConfigError, match="session_roots"):
            limits_of({"session_roots": wrong})


@pytest.mark.parametrize(
    "words", [{"agents": "0"}, {"agents": "x"}, {"agents": "1.5"}, {"cores": "3"}, {"usd_per_day": "nan"}]
)
def test_what_is_typed_is_judged(words: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        limits_of(words)
    assert limits_of({"agents": "default", "usd_per_day": "20"}) == {"agents": None, "usd_per_day": 20.0}
