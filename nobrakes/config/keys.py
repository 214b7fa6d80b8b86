"""Settings by their dotted keys, such as `limits.doers`: which there are, and what a person typed as their value.

A check is named by its name: `checks.test.command`. What may stand for a value is said by its field in
config.sections; pydantic judges the whole file afterwards.
"""

import json
import shlex
import tomllib
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from ..errors import ConfigError
from ..records import frozen
from .editing import Path
from .sections import Agents, CheckSettings
from .settings import Config
from .values import OneOrMore, Rule, Section

SEE = "`nobrakes config` lists every setting with its value."
_YES, _NO = ("true", "yes", "on"), ("false", "no", "off")


@frozen
class Known:
    """A setting that there is. `kind` is its type with what it must be, `default` None where there is none."""

    key: str
    path: Path
    kind: Any
    default: Any


def known(key: str, raw: Mapping[str, Any], top: Any = Config) -> Known:
    """The setting of this key in a file that says `raw`; ConfigError that suggests others for one that is none.

    `top`: whose settings; a repository's.
    """
    parts = key.split(".")
    if parts[0] == "checks" and len(parts) > 1:
        return _of_check(key, parts, raw)
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
            return _of_mapping(key, parts, place, core, raw)
        if is_last:
            return Known(key, tuple(path), kind, _default(table, part))
        table = core
    raise _unknown(key, raw)


def _of_mapping(key: str, parts: Sequence[str], place: int, kind: Any, raw: Mapping[str, Any]) -> Known:
    """A setting of a table whose names a person chooses, such as `notify.channels.phone.url`."""
    inner, rest = _core(get_args(kind)[1]), parts[place + 2 :]
    if not rest:
        return Known(key, tuple(parts), inner, None)
    found = _hints(inner).get(rest[0]) if _is_section(inner) else None
    if found is None or len(rest) > 1:
        raise _unknown(key, raw)
    return Known(key, tuple(parts), found, _default(inner, rest[0]))


def _of_check(key: str, parts: Sequence[str], raw: Mapping[str, Any]) -> Known:
    """A setting of one check. One that is not there yet begins with its command."""
    name, setting = ".".join(parts[1:-1]), parts[-1]
    tables = raw.get("checks", ())
    names = [str(one.get("name", "")) for one in tables] if isinstance(tables, list) else []
    hints = _hints(CheckSettings)
    if len(parts) == 2 or setting not in hints:
        raise _unknown(
            key, raw, "A check is changed by its name, for example: nobrakes config set checks.test.retry 1."
        )
    if name in names:
        number = names.index(name)
    elif name.isdigit() and int(name) < len(names):
        number = int(name)
    elif setting == "command":
        number = len(names)
    else:
        there = f"There are: {', '.join(names)}." if names else "There is none yet."
        raise ConfigError(f"there is no check '{name[:40]}'", f"{there} checks.NAME.command makes one.")
    return Known(key, ("checks", number, setting), hints[setting], _default(CheckSettings, setting))


def _is_section(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Section)


def _hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _core(kind: Any) -> Any:
    """The type without what is said beside it, and without None."""
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
    """The key of every setting, in the order of the tables."""
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
    return ConfigError(f"'{key[:80]}' is not a setting", f"{meant}{hint or SEE}")


def _tables(raw: Mapping[str, Any]) -> list[Any]:
    found = raw.get("checks", [])
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def typed(one: Known, word: str) -> Any:
    """What a person typed, as the plain value that stands in the file. ConfigError says what is allowed."""
    core = _core(one.kind)
    if _is_section(core) or core == Config:
        inner = ", ".join(f"{one.key}.{name}" for name in _hints(core))
        raise ConfigError(f"{one.key} is a table: set one of its settings", f"They are: {inner}.")
    if one.key == "checks":
        raise ConfigError(
            "checks are set one by one", "For example: nobrakes config set checks.test.command 'make test'"
        )
    try:
        value = _typed(one, core, word)
    except ValueError:
        raise wrong(one, word) from None
    if isinstance(value, list) and len(value) == 1 and any(isinstance(rule, OneOrMore) for rule in _rules(one.kind)):
        return value[0]
    return value


def wrong(one: Known, word: str) -> ConfigError:
    """That this is no value for the setting, with what is one."""
    nothing = f" `nobrakes config unset {one.key}` takes it out." if word.lower() in _NOTHING else ""
    return ConfigError(f"{one.key}: '{word[:80]}' does not fit", f"It takes {allowed(one.kind)}.{nothing}")


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
    return _text(word)


def _word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _text(word: str) -> str:
    """A text as it is; one in quotes, without them."""
    if len(word) > 1 and word[0] == word[-1] == '"':
        try:
            return str(json.loads(word))
        except ValueError:
            return word
    return word


def _list(word: str, is_command: bool) -> list[Any]:
    """JSON, or names with commas between them; a command also as a shell splits it."""
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
        return tomllib.loads(f"x = {word}")["x"] if "\n" not in word else None


def allowed(kind: Any) -> str:
    """The values that a setting of this type takes, for people."""
    words = {"ge": "at least", "gt": "more than", "le": "at most"}
    rules = [rule for rule in _rules(kind) if isinstance(rule, Rule)]
    limits = [f"{word} {rule.words[key]:g}" for rule in rules for key, word in words.items() if key in rule.words]
    return ", ".join([_kind(_core(kind), kind), *limits])


def _rules(kind: Any) -> tuple[Any, ...]:
    """What the annotation says beside the type, also where the setting may be left out."""
    found = getattr(kind, "__metadata__", ())
    return found or tuple(rule for part in get_args(kind) for rule in _rules(part))


def _kind(core: Any, kind: Any) -> str:
    if get_origin(core) is Literal:
        return " or ".join(f"`{_quoted(value)}`" for value in get_args(core))
    if kind == Agents or any(isinstance(rule, OneOrMore) for rule in _rules(kind)):
        return "text or list of texts"
    if get_origin(core) is Mapping or _is_section(core):
        return "table"
    if get_origin(core) is tuple:
        return "list of texts" if _core(get_args(core)[0]) is str else "list of tables"
    return {str: "text", int: "whole number", float: "number", bool: "`true` or `false`"}[core]


def _quoted(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f'"{value}"'
