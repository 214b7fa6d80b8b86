"""Changing settings of a config.toml by their keys: `nobrakes config set`, and `init --agent`.

1. The file is valid afterwards, or it stays as it was. One that is wrong in several places may be mended one by one:
   then it has a mistake less, and no new one.
2. Every other line and every comment stays. The file is replaced at once; two changes at a time wait for each other.
3. Which agents there are is judged too, so that none is named that would never be started.
"""

import os
import stat
from collections.abc import Sequence
from typing import Any

from ...agents.registry import ADAPTERS, unknown_agents
from ...errors import ConfigError, NobrakesError
from ...host.files import write_atomic
from ...host.locks import locked
from ...paths import Paths
from ...records import frozen
from .. import editing
from ..editing import commented
from ..keys import Known, known, typed, wrong
from ..sections import Kind
from ..settings import Config, load, parse

Wanted = tuple[str, str | None]
"""(the key, the value as a person typed it; None: what sets it is taken out)."""


@frozen
class SettingChange:
    """One setting: the value before and after, as it stands in the file or by default; None: not set."""

    key: str
    before: Any
    after: Any
    was_default: bool
    is_default: bool


@frozen
class Changed:
    """What was changed in the file at `path`. `wrong`: what is still wrong in it. `written`: whether it differs."""

    path: str
    changes: tuple[SettingChange, ...]
    wrong: tuple[str, ...]
    written: bool


def change(paths: Paths, wanted: Sequence[Wanted]) -> Changed:
    """Change these settings in config.toml. ConfigError: the file is as it was."""
    path = os.path.realpath(paths.config)  # main's, where the checkout has none: then it gets one that is changed
    shown = os.path.relpath(paths.tracked_config)
    with locked(f"{paths.tracked_config}.lock", "change"):
        text = _text(path, shown)
        made, changes = edited(text, wanted, shown)
        left = _judged(text, made, wanted, shown)
        if made != text:
            mode = stat.S_IMODE(os.stat(path).st_mode)
            write_atomic(os.path.realpath(paths.tracked_config), made.encode(), mode)
    if not left:
        load(paths.config)  # it is remembered as right, so that hot commands need not look
    return Changed(paths.tracked_config, changes, tuple(left), made != text)


def edited(text: str, wanted: Sequence[Wanted], where: str) -> tuple[str, tuple[SettingChange, ...]]:
    """The text with these changes, and what each of them is; it is not judged. ConfigError."""
    changes = []
    for key, word in wanted:
        raw = _raw(text, key, where)
        one = _known(key, raw, text, is_unset=word is None)
        before = editing.value_at(raw, one.path)
        if word is None:
            text = editing.without(text, one.path, commented(one.path), where)
        else:
            value = typed(one, word)
            for path, more in _more(one, raw):
                text = editing.with_value(text, path, more, where)
            text = editing.with_value(text, one.path, value, where)
        after = editing.value_at(editing.values(text, one.path, where), one.path)
        changes.append(
            SettingChange(
                key,
                one.default if before is None else before,
                one.default if after is None else after,
                before is None,
                after is None,
            )
        )
    return text, tuple(changes)


def _text(path: str, shown: str) -> str:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{shown} cannot be read: {error}") from None


def _raw(text: str, key: str, where: str) -> dict[str, Any]:
    """What the file says; of one whose mistake is in this key's own line, what the rest says."""
    return editing.values(text, tuple(key.split(".")), where)


def _known(key: str, raw: dict[str, Any], text: str, is_unset: bool) -> Known:
    try:
        return known(key, raw)
    except ConfigError:
        path = tuple(key.split("."))
        if is_unset and editing.line_of(text, path):  # what is no setting may be taken out
            return Known(key, path, str, None)
        raise


def _more(one: Known, raw: dict[str, Any]) -> list[tuple[editing.Path, str]]:
    """What else a check that is new has: its name, and its kind where it is called by one."""
    if one.path[0] != "checks" or len(one.path) != 3 or editing.value_at(raw, one.path[:2]) is not None:
        return []
    name = one.key.removeprefix("checks.").removesuffix(".command")
    kinds: tuple[Kind, ...] = ("lint", "types", "build")
    found: list[tuple[editing.Path, str]] = [((*one.path[:2], "name"), name)]
    return found + ([((*one.path[:2], "kind"), name)] if name in kinds else [])


def _mistakes(text: str, where: str) -> list[str]:
    try:
        found = parse(text, where)
    except ConfigError as error:
        return str(error).splitlines()
    return [f"{where}: {key}: nobrakes knows no agent '{name[:40]}'" for key, name in unknown_agents(found)]


def _judged(text: str, made: str, wanted: Sequence[Wanted], where: str) -> list[str]:
    """What is still wrong; ConfigError where the change brings a mistake, or mends none of those there are."""
    before, after = _mistakes(text, where), _mistakes(made, where)
    new = [line for line in after if line not in before]
    if new:
        said = [line.removeprefix(f"{where}: ") for line in new]
        raise ConfigError("\n".join(said), _hint(made, wanted, said, where))
    if after and len(after) >= len(before):
        hints = [f"{line.partition(': ')[2].partition(':')[0]}" for line in after]
        number = editing.line_of(made, _path(hints[0]))
        line = f" (line {number})" if number else ""
        raise ConfigError(
            "\n".join([f"nothing was changed: the file is wrong elsewhere{line}", *after]),
            f"Mend that first, for example: nobrakes config unset {hints[0]}",
        )
    return after


def _path(key: str) -> editing.Path:
    return tuple(int(part) if part.isdigit() else part for part in key.split("."))


def _hint(made: str, wanted: Sequence[Wanted], said: Sequence[str], where: str) -> str:
    if any("knows no agent" in line for line in said):
        return f"Use one of: {', '.join(sorted(ADAPTERS))}. `script` runs any command."
    for key, word in wanted:
        if word is None:
            return "Nothing was changed: a check needs its name and its command."
        try:
            return wrong(known(key, _raw(made, key, where)), word).hint
        except NobrakesError:
            continue
    return "Nothing was changed."


def setting(config: Config, key: str, raw: dict[str, Any]) -> Any:
    """The value in force of a setting, or of a whole table. ConfigError."""
    found: Any = config
    for name in known(key, raw).path if key != "checks" else ("checks",):
        if isinstance(name, int):
            found = found[name] if name < len(found) else None
        else:
            found = found.get(name) if isinstance(found, dict) else getattr(found, name, None)
    return found


def values(paths: Paths) -> dict[str, Any]:
    """What the file says; empty where it is no TOML."""
    try:
        return _raw(_text(paths.config, paths.config), "", paths.config)
    except ConfigError:
        return {}
