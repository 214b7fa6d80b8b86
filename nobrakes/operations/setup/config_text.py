"""The text of a new config.toml, and of one with every setting in force.

1. A new one has the settings that matter first, each with its comment. Defaults are commented out, so that a later
   nobrakes may improve them; what is set is what somebody decided.
2. Comments and defaults are those of config/nobrakes.toml.
"""

import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields
from typing import Any

from ...config.checks import CheckSettings
from ...config.editing import toml
from ...config.settings import Config
from ...config.template import EXAMPLES, Setting, settings

FIRST = (
    "main",
    "setup",
    "checks",
    "limits.doers",
    "limits.max_failures",
    "review.merge",
    "agents.test_writer",
    "agents.doer",
    "agents.script.command",
    "caps.day.usd",
    "sandbox.mode",
    "sandbox.read",
)
"""What a new config.toml shows."""
_HEAD = """\
# What matters first of the settings of nobrakes; what is commented out has the default that is shown. All settings:
# `nobrakes config --all`. To change one, edit this file, or: nobrakes config set limits.doers 2
"""
_HEAD_OF_ALL = """\
# Every setting of nobrakes as it is in force; what is commented out has its default, or is not set.
"""
_WIDTH = 118


def config_text(main: str, setup: str, checks: Iterable[CheckSettings]) -> str:
    """A new config.toml with these values set and what matters first shown."""
    config = Config(main=main, setup=setup, checks=tuple(checks))
    wanted = [one for one in settings() if _key(one) in FIRST and (one.name != "setup" or setup)]
    return _HEAD + _tables(wanted, config, always=("main",))


def whole_text(config: Config) -> str:
    """A config.toml with every setting, which says what `config` says."""
    return _HEAD_OF_ALL + _tables(list(settings()), config)


def _key(one: Setting) -> str:
    return f"{one.section}.{one.name}".lstrip(".")


def _tables(wanted: list[Setting], config: Config, always: tuple[str, ...] = ()) -> str:
    out: list[str] = []
    section = ""
    for one in wanted:
        if one.section != section:
            section = one.section
            out += ["", _example(section) if section in EXAMPLES else f"[{section}]"]
        out += [] if section else [""]
        out += [f"# {line}" for line in textwrap.wrap(one.comment, _WIDTH, break_on_hyphens=False)]
        value, default = (_at(found, _key(one)) for found in (config, Config()))
        if section in EXAMPLES or (value == default and one.name not in always):
            out.append(f"# {one.name} = {one.default}")
        elif one.name == "checks":
            out += _checks(config.checks)
        else:
            out.append(f"{one.name} = {toml(_plain(value))}")
    return "\n".join(out) + "\n"


def _example(section: str) -> str:
    return f"# [[{section}]]" if section == "checks" else f"# [{section}]"


def _at(config: Any, key: str) -> Any:
    for name in key.split("."):
        config = getattr(config, name, None)
    return config


def _plain(value: Any) -> Any:
    """The value as it is written: of the tables that a person names, what is not their default."""
    if isinstance(value, Mapping):
        return {key: _differing(one) if hasattr(one, "__dataclass_fields__") else one for key, one in value.items()}
    if isinstance(value, tuple):
        return list(value)
    return value


def _differing(one: Any) -> dict[str, Any]:
    values = asdict(one)
    return {field.name: values[field.name] for field in fields(one) if values[field.name] != field.default}


def _checks(checks: Iterable[CheckSettings]) -> list[str]:
    out: list[str] = []
    for check in checks:
        values = _differing(check)
        values = {"name": check.name, "command": check.command, "kind": check.kind, **values}
        values = {name: value for name, value in values.items() if value != {}}
        out += ["", "[[checks]]", *(f"{name} = {toml(value)}" for name, value in values.items())]
    return out[1:]
