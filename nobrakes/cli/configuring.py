"""The settings: looked at, and changed one by one."""

import os
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import cut, one_line
from .output import Output, said
from .repository import looked_at, opened
from .screen import Screen

if TYPE_CHECKING:
    from ..operations.setup.changing import Changed, SettingChange

Key = Annotated[str, Argument(metavar="KEY", help="The setting, such as limits.doers or checks.test.retry.")]


def config(
    check: Annotated[bool, Option("--check", help="Only say whether the file is right.")] = False,
    every: Annotated[bool, Option("--all", help="As a config.toml with every setting and its comment.")] = False,
) -> Output:
    """Show every setting in force, those of .nobrakes/config.toml and the defaults.

    `config get KEY` shows one, `config set KEY VALUE` changes it and `config unset KEY` goes back to the default; every
    other line of the file and every comment stays.

    Example: nobrakes config set limits.doers 2
    """
    if check and every:
        raise UsageError("--check and --all do not go together", "One judges the file, the other prints it.")
    with opened() as app:
        settings, path = app.config, app.paths.config
        if check:
            app.check_agents()
    if check:
        return said({"path": path, "valid": True}, f"{os.path.relpath(path)} is right")
    values = plain(settings)
    if every:
        from ..operations.setup.config_text import whole_text

        return said(values, whole_text(settings).rstrip())
    return said(values, "\n".join(_toml(values)))


def _toml(values: dict[str, Any], prefix: str = "") -> list[str]:
    """Nested settings as dotted lines, one a setting: `limits.doers = 4`."""
    import json

    out: list[str] = []
    for name, value in values.items():
        if isinstance(value, dict):
            out += _toml(value, f"{prefix}{name}.")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for number, item in enumerate(value):
                out += _toml(item, f"{prefix}{name}[{number}].")
        else:
            out.append(f"{prefix}{name} = {json.dumps(value, ensure_ascii=False)}")
    return out


def get(key: Key) -> Output:
    """Show one setting as it is in force, or a whole table of them.

    Example: nobrakes config get limits.doers
    """
    from ..operations.setup import changing

    with looked_at() as app:
        found = changing.setting(app.config, key, changing.values(app.paths))
    value = plain(found)
    return Output({"key": key, "value": value}, lambda screen: "\n".join(_one(key, value)))


def _one(key: str, value: Any) -> list[str]:
    if isinstance(value, dict):
        return _toml(value, f"{key}.")
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return _toml({key: value})
    return ["not set" if value is None else one_line(value) if isinstance(value, str) else _shown(value)]


def set_value(
    key: Key,
    value: Annotated[str, Argument(metavar="VALUE", help='The value; a list as JSON ["a", "b"] or as a,b.')],
) -> Output:
    """Change one setting in .nobrakes/config.toml; every other line and every comment stays.

    Refused is what the file could not hold. A check is changed by its name (checks.test.retry), and made by its command
    (checks.lint.command). Agents may not use it.

    Example: nobrakes config set review.merge rebase
    """
    return _change(key, value)


def unset(key: Key) -> Output:
    """Take a setting out of .nobrakes/config.toml, so that its default holds again.

    Example: nobrakes config unset caps.day.usd
    """
    return _change(key, None)


def _change(key: str, value: str | None) -> Output:
    from ..app import located
    from ..operations.setup import changing

    changed = changing.change(located(), [(key, value)])
    then = follows(changed)
    return Output(
        {**plain(changed), "next": then},
        lambda screen: "\n".join(
            [*change_lines(changed.changes), *_wrong(changed, screen), *(one_line(line) for line in then)]
        ),
    )


def follows(changed: "Changed") -> list[str]:
    """What follows from it, and what to type."""
    from ..operations.following import following

    if changed.wrong:
        return [f"the settings of before stay in force until {os.path.relpath(changed.path)} is right"]
    with opened() as app:
        from ..app import here

        return following(app.store, app.paths, app.config, changed, here(app))


def _wrong(changed: "Changed", screen: Screen) -> list[str]:
    return [screen.paint("still wrong: ", "yellow") + one_line(line) for line in changed.wrong]


def change_lines(changes: "tuple[SettingChange, ...]") -> list[str]:
    """Each change from what was to what is."""
    out = []
    for one in changes:
        before, after = _shown(one.before), _shown(one.after)
        if one.before == one.after:
            out.append(f"{one.key}: {after}, as it was")
            continue
        before += " (default)" if one.was_default and one.before is not None else ""
        after += " (default)" if one.is_default and one.after is not None else ""
        out.append(f"{one.key}: {before} -> {after}")
    return out


def _shown(value: Any) -> str:
    import json

    if isinstance(value, list | tuple) and len(value) == 1 and value[0] in _AGENTS:
        value = value[0]  # one agent is a list of it alone
    return "not set" if value is None else cut(one_line(json.dumps(plain(value), ensure_ascii=False)), 200)


_AGENTS = ("claude", "codex", "gemini", "acp", "script")
