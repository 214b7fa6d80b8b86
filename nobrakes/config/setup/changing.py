"""Changing settings of a config.toml by their keys: `nobrakes config set`, and `init --agent`.

1. The file is valid afterwards, or unchanged. With several mistakes each may be fixed alone, as long as none is added.
2. Other lines and comments stay. The file is replaced atomically; concurrent changes wait for each other.
3. Agents' names are validated too.
"""

import json
import os
import shlex
import stat
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import MISSING, fields
from fnmatch import fnmatchcase
from functools import cache, reduce
from itertools import groupby
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from ...agents.known import ADAPTERS, unknown_agents
from ...errors import ConfigError, NobrakesError, NotAllowed
from ...files import write_atomic
from ...host.locks import locked
from ...paths import Paths
from ...records import frozen, plain
from ...text import toml
from .. import editing
from ..editing import Path, commented
from ..sections import PAGE_TEXTS, TERMINAL_CHOICES, Agents, CheckSettings, Kind
from ..settings import RENAMED, Config, load, parse
from ..values import OneOrMore, Rule, Section

# A check is named by its name: `checks.test.command`. What may stand for a value is said by its field in
# config.sections; pydantic judges the whole file afterwards.
SEE = "`nobrakes config` lists every setting with its value."
_YES, _NO = ("true", "yes", "on"), ("false", "no", "off")


@frozen
class Known:
    """A known setting. `kind`: its annotated type, `default` None: none."""

    key: str
    path: Path
    kind: Any
    default: Any


def known(key: str, raw: Mapping[str, Any], top: Any = Config) -> Known:
    """The setting of this key in a file with the values `raw`; ConfigError suggests others. `top`: the root table."""
    parts = key.split(".")
    if parts[0] == "checks" and len(parts) > 1:
        return _known_check_setting(key, parts, raw)
    table: Any = top
    path: list[str] = []
    for place, part in enumerate(parts):
        kind = _hints(table).get(part) if _is_section(table) else None
        if kind is None:
            raise _unknown(key, raw)
        path.append(part)
        is_last = place == len(parts) - 1
        core = _core(kind)
        if get_origin(core) is Mapping and not is_last:
            return _known_mapping_setting(key, parts, place, core, raw)
        if is_last:
            return Known(key, tuple(path), kind, _default(table, part))
        table = core
    raise _unknown(key, raw)


def _known_mapping_setting(key: str, parts: Sequence[str], place: int, kind: Any, raw: Mapping[str, Any]) -> Known:
    inner, rest = _core(get_args(kind)[1]), parts[place + 2 :]
    if not rest:
        return Known(key, tuple(parts), inner, None)
    found = _hints(inner).get(rest[0]) if _is_section(inner) else None
    if found is None or len(rest) > 1:
        raise _unknown(key, raw)
    return Known(key, tuple(parts), found, _default(inner, rest[0]))


def _known_check_setting(key: str, parts: Sequence[str], raw: Mapping[str, Any]) -> Known:
    name, setting = ".".join(parts[1:-1]), parts[-1]
    tables = raw.get("checks", ())
    names = [str(one.get("name", "")) for one in tables] if isinstance(tables, list) else []
    hints = _hints(CheckSettings)
    if len(parts) == 2 or setting not in hints:
        raise _unknown(key, raw, "Name the check, for example: nobrakes config set checks.test.retry 1.")
    if name in names:
        number = names.index(name)
    elif name.isdigit() and int(name) < len(names):
        number = int(name)
    elif setting == "command":
        number = len(names)
    else:
        there = f"There are: {', '.join(names)}." if names else "There is no check yet."
        raise ConfigError(f"there is no check '{name[:40]}'", f"{there} To add a check, set checks.NAME.command.")
    return Known(key, ("checks", number, setting), hints[setting], _default(CheckSettings, setting))


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _core(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        return _core(get_args(kind)[0])
    if get_origin(kind) in (types.UnionType, Union):
        return _core(next(one for one in get_args(kind) if one is not type(None)))
    return kind


def _default(table: Any, name: str) -> Any:
    field = next(one for one in fields(table) if one.name == name)
    if field.default is not MISSING:
        return field.default
    return field.default_factory() if field.default_factory is not MISSING else None


def keys(table: Any = Config, before: str = "") -> Iterator[str]:
    for name, kind in _hints(table).items():
        core = _core(kind)
        if _is_section(core):
            yield from keys(core, f"{before}{name}.")
        else:
            yield f"{before}{name}"


def _unknown(key: str, raw: Mapping[str, Any], hint: str = "") -> ConfigError:
    from difflib import get_close_matches

    there = [*keys()]
    there += [f"checks.{one.get('name')}.{name}" for one in _tables(raw) for name in _hints(CheckSettings)]
    last = key.split(".")[-1]
    like = get_close_matches(key[:80], there, n=1, cutoff=0.9)
    like = like or [one for one in there if one == last or one.endswith(f".{last}")][:3] if last else []
    like = like or get_close_matches(key[:80], there, n=3, cutoff=0.7)
    like = like or [one for one in there if get_close_matches(last, [one.split(".")[-1]], cutoff=0.75)][:3]
    meant = f"Did you mean {' or '.join(like)}? " if like else ""
    if last in RENAMED and key == f"review.{last}":
        meant = f"The setting is now called review.{RENAMED[last]}. "
    return ConfigError(f"'{key[:80]}' is not a setting", f"{meant}{hint or SEE}")


def _tables(raw: Mapping[str, Any]) -> list[Any]:
    found = raw.get("checks", [])
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def typed(one: Known, word: str, before: Any = None) -> Any:
    """A typed word as the file's value; `+` adds to the list `before`. ConfigError names allowed values."""
    core = _core(one.kind)
    if _is_section(core) or core == Config:
        inner = ", ".join(f"{one.key}.{name}" for name in _hints(core))
        raise ConfigError(f"{one.key} is a table: set one of its settings", f"Its settings are: {inner}.")
    if one.key == "checks":
        raise ConfigError(
            "checks is a list: set one check at a time",
            "For example: nobrakes config set checks.test.command 'make test'",
        )
    try:
        if get_origin(core) is tuple and word.startswith("+") and one.path[-1] != "command":
            there = [before] if isinstance(before, str) else before or ()
            value = [*there, *(new for new in _typed(one, core, word[1:]) if new not in there)]
        else:
            value = _typed(one, core, word)
    except ValueError:
        raise wrong(one, word) from None
    if isinstance(value, list) and len(value) == 1 and any(isinstance(rule, OneOrMore) for rule in _rules(one.kind)):
        return value[0]
    return value


def wrong(one: Known, word: str) -> ConfigError:
    nothing = f" To remove the setting: nobrakes config unset {one.key}" if word.lower() in _NOTHING else ""
    return ConfigError(f"{one.key}: '{word[:80]}' is not allowed", f"Allowed: {allowed(one.kind)}.{nothing}")


_NOTHING = ("", "none", "null", "unset", "default", "off")


def _typed(one: Known, core: Any, word: str) -> Any:
    if get_origin(core) is Literal:
        said = next((value for value in get_args(core) if _word(value) == word.strip().strip('"')), None)
        if said is None:
            raise ValueError
        return said
    if core is bool:
        if word.lower() not in _YES + _NO:
            raise ValueError
        return word.lower() in _YES
    if core in (int, float):
        number = int(word) if core is int else float(word)
        if number != number or number in (float("inf"), float("-inf")):
            raise ValueError
        return number
    if get_origin(core) is tuple:
        return _list(word, is_command=one.path[-1] == "command")
    if get_origin(core) is Mapping:
        found = _toml(word)
        if not isinstance(found, dict):
            raise ValueError
        return found
    # A text as it is; one in quotes, without them
    if len(word) > 1 and word[0] == word[-1] == '"':
        try:
            return str(json.loads(word))
        except ValueError:
            return word
    return word


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _list(word: str, is_command: bool) -> list[Any]:
    plain = word.strip()
    if plain.startswith("["):
        found = _toml(plain)
        if not isinstance(found, list):
            raise ValueError
        return found
    if not plain:
        return []
    by_commas = "," in plain and " " not in plain.replace(", ", ",")
    if is_command and not by_commas:
        return shlex.split(plain)
    return [part.strip() for part in plain.split(",") if part.strip()]


def _toml(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return toml.loads(f"x = {word}")["x"] if "\n" not in word else None


def allowed(kind: Any) -> str:
    """The allowed values in words."""
    words = {"ge": "at least", "gt": "more than", "le": "at most"}
    rules = [rule for rule in _rules(kind) if isinstance(rule, Rule)]
    limits = [f"{word} {rule.words[key]:g}" for rule in rules for key, word in words.items() if key in rule.words]
    return ", ".join([_kind(_core(kind), kind), *limits])


def _rules(kind: Any) -> tuple[Any, ...]:
    return getattr(kind, "__metadata__", ()) or tuple(rule for part in get_args(kind) for rule in _rules(part))


def _kind(core: Any, kind: Any) -> str:
    if get_origin(core) is Literal:
        return " or ".join(f"`{json.dumps(value)}`" for value in get_args(core))
    if kind == Agents or any(isinstance(rule, OneOrMore) for rule in _rules(kind)):
        return "text or list of texts"
    if get_origin(core) is Mapping or _is_section(core):
        return "table"
    if get_origin(core) is tuple:
        return "list of texts" if _core(get_args(core)[0]) is str else "list of tables"
    return {str: "text", int: "whole number", float: "number", bool: "`true` or `false`"}[core]


Wanted = tuple[str, str | None]
"""(key, typed value; None: unset)."""


@frozen
class SettingChange:
    """A setting's value before and after, in the file or by default; None: not set."""

    key: str
    before: Any
    after: Any
    was_default: bool
    is_default: bool


@frozen
class Changed:
    """The change of the file at `path`. `wrong`: remaining mistakes. `written`: whether it differs."""

    path: str
    changes: tuple[SettingChange, ...]
    wrong: tuple[str, ...]
    written: bool


def change(paths: Paths, wanted: Sequence[Wanted]) -> Changed:
    """Change these settings in config.toml. On ConfigError the file is unchanged."""
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
    """The changed text and its changes, not validated. Raises ConfigError."""
    changes = []
    for key, word in wanted:
        raw = _raw(text, key, where)
        one = _known(key, raw, text, is_unset=word is None)
        before = editing.value_at(raw, one.path)
        for old in (("review", old) for old, new in RENAMED.items() if one.path == ("review", new)):
            before = editing.value_at(raw, old) if before is None else before
            text = editing.without(text, old, "", where)  # its new name takes its place
        if word is None:
            text = editing.without(text, one.path, commented(one.path), where)
        else:
            value = typed(one, word, one.default if before is None else before)
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
    return editing.values(text, tuple(key.split(".")), where)


def _known(key: str, raw: dict[str, Any], text: str, is_unset: bool) -> Known:
    try:
        return known(key, raw)
    except ConfigError:
        path = tuple(key.split("."))
        if is_unset and editing.line_of(text, path):  # what is not a setting may be taken out
            return Known(key, path, str, None)
        raise


def _more(one: Known, raw: dict[str, Any]) -> list[tuple[editing.Path, str]]:
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
    return [f"{where}: {key}: unknown agent '{name[:40]}'" for key, name in unknown_agents(found)]


def _judged(text: str, made: str, wanted: Sequence[Wanted], where: str) -> list[str]:
    """Remaining mistakes; ConfigError if the change adds one, or fixes none."""
    before, after = _mistakes(text, where), _mistakes(made, where)
    new = [line for line in after if line not in before]
    if new:
        said = [line.removeprefix(f"{where}: ") for line in new]
        raise ConfigError("\n".join(said), _hint(made, wanted, where))
    if after and len(after) >= len(before):
        hints = [f"{line.partition(': ')[2].partition(':')[0]}" for line in after]
        path = tuple(int(part) if part.isdigit() else part for part in hints[0].split("."))
        number = editing.line_of(made, path)
        line = f" (line {number})" if number else ""
        raise ConfigError(
            "\n".join([f"nothing was changed: the file has an error elsewhere{line}", *after]),
            f"Fix the other error first, for example: nobrakes config unset {hints[0]}",
        )
    return after


def _hint(made: str, wanted: Sequence[Wanted], where: str) -> str:
    with suppress(ConfigError):  # of another mistake
        if unknown_agents(parse(made, where)):
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
    """The effective value of a setting or table. Raises ConfigError."""
    found: Any = config
    for name in known(key, raw).path if key != "checks" else ("checks",):
        if isinstance(name, int):
            found = found[name] if name < len(found) else None
        else:
            found = found.get(name) if isinstance(found, dict) else getattr(found, name, None)
    return found


def in_file(paths: Paths, keys: Iterable[str]) -> dict[str, Any]:
    """What config.toml itself has for each of these settings; None: nothing. Raises ConfigError."""
    text = _text(os.path.realpath(paths.config), paths.config)
    raws = {key: _raw(text, key, paths.config) for key in keys}
    return {key: editing.value_at(raw, _known(key, raw, text, is_unset=True).path) for key, raw in raws.items()}


def values(paths: Paths) -> dict[str, Any]:
    """Empty if the file is no TOML."""
    try:
        return _raw(_text(paths.config, paths.config), "", paths.config)
    except ConfigError:
        return {}


# What a page shows of a setting, and may change.
_UNITS = {"mb": "MB", "usd": "US dollars", "share": "share, 1 is all"}
_UNITS |= {name: name for name in ("days", "hours", "minutes", "seconds", "tokens")}


@frozen
class SettingView:
    """A setting as a page shows it. `value` and `default` as a form has them, of a list one entry a line; `default`
    None: not set. `on_page`: a page may change it."""

    key: str
    section: str
    name: str
    help: str
    form: Literal["yes", "choice", "number", "text", "lines", "table"]
    allowed: str
    unit: str
    choices: tuple[str, ...]
    value: str
    default: str | None
    is_changed: bool
    on_page: bool


def listed(config: Config) -> list[SettingView]:
    """Every setting, in the order of config/nobrakes.toml; of checks and channels those that there are."""
    found = []
    for section, group in groupby(editing.settings(), lambda one: one.section):
        settings = list(group)
        for name, table in _tables_at(config, section):
            found += [_view(f"{name}.{one.name}".lstrip("."), name, table, one) for one in settings]
    return [one for one in found if one.key not in ("checks", "notify.channels") or not one.is_changed]


def _tables_at(config: Config, section: str) -> list[tuple[str, Section]]:
    if section == "checks":
        return [(f"checks.{one.name}", one) for one in config.checks]
    if section in editing.EXAMPLES:
        return [(f"notify.channels.{name}", one) for name, one in config.notify.channels.items()]
    return [(section, reduce(getattr, filter(None, section.split(".")), config))]


def _view(key: str, section: str, table: Section, one: editing.Setting) -> SettingView:
    of: Any = type(table)
    kind, default, value = _hints(of)[one.name], _default(of, one.name), getattr(table, one.name)
    choices = tuple(map(_word, get_args(_core(kind)))) if get_origin(_core(kind)) is Literal else ()
    form, shown = _form(kind), None if default is None else _in_a_form(default)
    unit = _UNITS.get(one.name.rpartition("_")[2], "") if form == "number" else ""
    needed = [field.name for field in fields(of) if field.default is field.default_factory is MISSING]
    is_changed = value != default and one.name not in needed
    own = (unit, choices, _in_a_form(value), shown, is_changed, page_may_set(key, kind))
    return SettingView(key, section, one.name, one.comment, form, allowed(kind), *own)


def _form(kind: Any) -> Literal["yes", "choice", "number", "text", "lines", "table"]:
    core = _core(kind)
    if get_origin(core) is tuple:
        return "lines" if _core(get_args(core)[0]) is str else "table"
    forms: dict[Any, Literal["yes", "number", "text"]] = {bool: "yes", int: "number", float: "number", str: "text"}
    return "choice" if get_origin(core) is Literal else forms.get(core, "table")


def _in_a_form(value: Any) -> str:
    if isinstance(value, tuple) and all(isinstance(one, str) for one in value):
        return "\n".join(value)
    if isinstance(value, Mapping | tuple):
        return editing.toml(_given(plain(value)))
    return "" if value is None else _word(value).removesuffix(".0")


def _given(value: Any) -> Any:
    """Without what is not set, which TOML cannot say."""
    if isinstance(value, dict):
        return {name: _given(one) for name, one in value.items() if one is not None}
    return value


def page_may_set(key: str, kind: Any) -> bool:
    core = _core(kind)
    if core in (bool, int, float) or get_origin(core) is Literal:
        return not any(fnmatchcase(key, one) for one in TERMINAL_CHOICES)
    return any(fnmatchcase(key, one) for one in PAGE_TEXTS)


def is_on_page(key: str) -> bool:
    """Whether the page of settings has a field for it, wherever there is no check of this name."""
    try:
        return page_may_set(key, known(key, {}).kind)
    except ConfigError:
        return False


def from_page(paths: Paths, key: str, value: str) -> str:
    """What a page sent for this setting, as typed: a list has one entry a line, an unticked box is not sent. Raises
    ConfigError, NotAllowed."""
    one = known(key, values(paths))
    if not page_may_set(key, one.kind):
        hint = f"Type in a terminal: nobrakes config set {key} VALUE, or nobrakes config unset {key}"
        raise NotAllowed(f"no page can change {key}: it could run a program, open the sandbox or send data away", hint)
    if _form(one.kind) == "lines":
        return json.dumps([line.strip() for line in value.splitlines() if line.strip()])
    return value or "false" if _form(one.kind) == "yes" else value
