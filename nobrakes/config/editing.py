"""One setting of a config.toml changed in its text: all other lines and comments stay.

1. The key's line is replaced; else its commented-out default; else a line is added to its table.
2. The result is parsed again and must differ in nothing else. Forms that lines do not show are left to the person, with
   a message.
3. Invalid TOML can be fixed if the invalid line is this key's.
"""

import copy
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..errors import ConfigError
from ..paths import resource
from ..records import frozen
from ..text.toml import loads

Path = tuple[str | int, ...]
_KEY = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\]|\\.)*"|'[^']*')"""
_KEYS = rf"{_KEY}(?:\s*\.\s*{_KEY})*"
_HEADER = re.compile(rf"\s*(\[\[?)\s*({_KEYS})\s*\]\]?\s*(?:#.*)?")
_ASSIGNED = re.compile(rf"\s*({_KEYS})\s*=")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_OTHER_TABLE = re.compile(r"\s*#\s?\[")
_GONE = object()


def toml(value: Any) -> str:
    """A plain value as TOML, on one line."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_name(key)} = {toml(one)}" for key, one in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml, value))}]"
    return repr(value)


def _name(key: str) -> str:
    return key if _BARE.fullmatch(key) else toml(key)


@frozen
class _Assigned:
    """The lines `first` to `last` set the value at `path`; `left` is the text before it."""

    path: Path
    first: int
    last: int
    left: str


@frozen
class _Table:
    """The lines of the table at `path` from `first` (its header; -1 for the top) up to, but without, `end`."""

    path: Path
    first: int
    end: int


class _Text:
    """A config.toml as lines, with what they set."""

    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        self.end = "\r" if self.lines[0].endswith("\r") else ""
        self.assigned: list[_Assigned] = []
        headers: list[tuple[Path, int]] = [((), -1)]
        counts: dict[Path, int] = {}
        at = 0
        while at < len(self.lines):
            header, found = _HEADER.fullmatch(self.lines[at]), _ASSIGNED.match(self.lines[at])
            if header:
                headers.append((_absolute(_names(header[2]), header[1] == "[[", counts), at))
            elif found:
                last = self._last(at, found.end())
                self.assigned.append(_Assigned((*headers[-1][0], *_names(found[1])), at, last, found[0]))
                at = last
            at += 1
        ends = [first for _, first in headers[1:]] + [len(self.lines)]
        self.tables = [_Table(path, first, end) for (path, first), end in zip(headers, ends, strict=True)]

    def _last(self, first: int, begin: int) -> int:
        """A value without an end counts as one line."""
        if not any(mark in self.lines[first][begin:] for mark in ("[", "{", '"""', "'''")):
            return first
        return next((last for last in range(first, len(self.lines)) if self.block(first, last) is not None), first)

    def block(self, first: int, last: int) -> dict[str, Any] | None:
        return _read("\n".join(self.lines[first : last + 1]) + "\n")

    def exact(self, path: Path) -> _Assigned | None:
        return next((one for one in self.assigned if one.path == path), None)

    def around(self, path: Path) -> _Assigned | None:
        found = [one for one in self.assigned if one.path == path[: len(one.path)] and len(one.path) < len(path)]
        return max(found, key=lambda one: len(one.path), default=None)

    def table(self, path: Path) -> _Table | None:
        return next((one for one in self.tables if one.path == path), None)

    def with_lines(self, first: int, last: int, *new: str) -> str:
        """Replace the lines from `first` up to, but without, `last`."""
        return "\n".join([*self.lines[:first], *(f"{line}{self.end}" for line in new), *self.lines[last:]])

    def replaced(self, found: _Assigned, value: Any) -> str:
        """Keeps a comment behind the value."""
        line = f"{found.left.rstrip()} {toml(value)}{self._comment(found)}"
        return self.with_lines(found.first, found.last + 1, line)

    def _comment(self, found: _Assigned) -> str:
        last, whole = self.lines[found.last].rstrip("\r"), self.block(found.first, found.last)
        for at in (at for at, sign in enumerate(last) if sign == "#" and whole is not None):
            if _read("\n".join([*self.lines[found.first : found.last], last[:at]]) + "\n") == whole:
                return last[len(last[:at].rstrip()) :]
        return ""

    def value(self, found: _Assigned) -> Any:
        value: Any = self.block(found.first, found.last)
        for _ in _names(found.left.rpartition("=")[0]):
            value = None if value is None else next(iter(value.values()))
        return value

    def commented(self, table: _Table, name: str) -> tuple[int, int] | None:
        """The first and last line of the commented-out default of `name` in the table."""
        sets = re.compile(rf"\s*#\s?{re.escape(name)}\s*=\s*(.*?)\s*")
        for at in self._own(table):
            if found := sets.fullmatch(self.lines[at]):
                rest = range(at, table.end) if found[1].endswith("[") else ()
                return at, next((end for end in rest if re.fullmatch(r"\s*#\s?\]\s*", self.lines[end])), at)
        return None

    def _own(self, table: _Table) -> list[int]:
        inside = {at for one in self.assigned for at in range(one.first, one.last + 1)}
        own = []
        for at in range(table.first + 1, table.end):
            if at not in inside and _OTHER_TABLE.match(self.lines[at]):
                break
            own += [at] if at not in inside else []
        return own

    def added(self, path: Path, line: str) -> str:
        table = self.table(path[:-1])
        beside = [one for one in self.assigned if one.path[:-1] == path[:-1] and "." in one.left]
        if table is None and beside:  # the table is written as dotted keys
            at = beside[-1].last + 1
            return self.with_lines(at, at, f"{beside[-1].left.rpartition('.')[0]}.{line}")
        if table is None:
            kept = "\n".join(self.lines).rstrip()
            begin = f"[[{_name(str(path[0]))}]]" if isinstance(path[-2], int) else _header(path[:-1])
            gap = [f"{kept}{self.end}", self.end] if kept else []
            return "\n".join([*gap, f"{begin}{self.end}", f"{line}{self.end}", ""])
        shows = re.compile(r"\s*#\s?[a-z_]+ = .*")
        ends = [one.last for one in self.assigned if table.first < one.first < table.end]
        ends += [at for at in self._own(table) if shows.fullmatch(self.lines[at].rstrip("\r"))]
        if ends or table.path:
            at = max(ends, default=table.first) + 1
            return self.with_lines(at, at, line)
        at = table.end
        while at > 0 and self.lines[at - 1].lstrip().startswith("#"):
            at -= 1
        return self.with_lines(at, at, line, "")


def _header(path: Path) -> str:
    return f"[{'.'.join(_name(str(name)) for name in path)}]"


def _names(key: str) -> tuple[str, ...]:
    found: Any = loads(f"{key} = 0")
    names = []
    while isinstance(found, dict):
        name, found = next(iter(found.items()))
        names.append(name)
    return tuple(names)


def _absolute(names: tuple[str, ...], is_list: bool, counts: dict[Path, int]) -> Path:
    if is_list:
        counts[names] = counts.get(names, -1) + 1
        return (*names, counts[names])
    if names[:1] in counts:
        return (names[0], counts[names[:1]], *names[1:])
    return names


def _read(text: str) -> dict[str, Any] | None:
    try:
        return loads(text)
    except ValueError:
        return None


def value_at(raw: Any, path: Path) -> Any:
    for name in path:
        try:
            raw = raw[name]
        except (LookupError, TypeError):
            return None
    return raw


def values(text: str, path: Path, where: str) -> dict[str, Any]:
    """The parsed text; if this key's line is wrong, the rest. Raises ConfigError."""
    try:
        return loads(text)
    except ValueError as error:
        known = _Text(text)
        own = known.exact(path)
        rest = None if own is None else _read(known.with_lines(own.first, own.last + 1))
        if rest is not None:
            return rest
        found = re.search(r"at line (\d+)", str(error))
        number = int(found[1]) if found else len(text.rstrip("\n").split("\n"))
        line = text.split("\n")[number - 1].strip()[:120]
        raise ConfigError(f"{where} is not valid TOML: {error}", f"Fix line {number} in an editor: {line}") from None


def line_of(text: str, path: Path) -> int | None:
    """The line, from 1, that sets this or begins this table."""
    known = _Text(text)
    found = [one.first for one in (known.exact(path) or known.around(path),) if one]
    found += [one.first for one in known.tables if one.path == path and path]
    found += [one.first for one in known.assigned if one.path[: len(path)] == path]
    return min(found) + 1 if found else None


def with_value(text: str, path: Path, value: Any, where: str) -> str:
    """The text with this value of the setting. Raises ConfigError."""
    before = values(text, path, where)
    known = _Text(text)
    exact, around, name = known.exact(path), known.around(path), str(path[-1])
    table = known.table(path[:-1])
    shown = known.commented(table, name) if table is not None else None
    if exact is not None:
        made = known.replaced(exact, value)
    elif around is not None:
        whole = copy.deepcopy(known.value(around))
        made = known.replaced(around, _put(whole, path[len(around.path) :], value))
    elif shown is not None:
        made = known.with_lines(shown[0], shown[1] + 1, f"{_name(name)} = {toml(value)}")
    else:
        made = known.added(path, f"{_name(name)} = {toml(value)}")
    return _sure(made, _put(copy.deepcopy(before), path, value), path, text, where)


def without(text: str, path: Path, default: str, where: str) -> str:
    """The text without the setting; `default`: the line that shows its default, or empty. Raises ConfigError."""
    before = values(text, path, where)
    known = _Text(text)
    exact, around = known.exact(path), known.around(path)
    if exact is not None:
        table = next(one for one in known.tables if one.first < exact.first < one.end)
        is_plain = table.path == path[:-1] and known.commented(table, str(path[-1])) is None
        made = known.with_lines(exact.first, exact.last + 1, *([default] if default and is_plain else []))
    elif around is not None and value_at(before, path) is not None:
        whole = copy.deepcopy(known.value(around))
        made = known.replaced(around, _put(whole, path[len(around.path) :], _GONE))
    elif value_at(before, path) is None:
        return text
    else:
        raise _by_hand(text, path, where)
    return _sure(made, _put(copy.deepcopy(before), path, _GONE), path, text, where)


def _put(raw: Any, path: Path, value: Any) -> Any:
    name, rest = path[0], path[1:]
    if isinstance(raw, list) and isinstance(name, int) and name == len(raw):
        raw.append({})
    if rest:
        inner = value_at(raw, (name,))
        inner = ([] if isinstance(rest[0], int) else {}) if inner is None else inner
        if value is _GONE and not inner:
            return raw
        raw[name] = _put(inner, rest, value)
    elif value is _GONE:
        if value_at(raw, (name,)) is not None:
            del raw[name]
    else:
        raw[name] = value
    return raw


def _sure(made: str, wanted: dict[str, Any], path: Path, text: str, where: str) -> str:
    if (found := _read(made)) is None or _full(found) != _full(wanted):
        raise _by_hand(text, path, where)
    return made


def _full(raw: Any) -> Any:
    if isinstance(raw, dict):
        return {key: _full(value) for key, value in raw.items() if value != {}}
    return [_full(one) for one in raw] if isinstance(raw, list) else (raw, type(raw))


def _by_hand(text: str, path: Path, where: str) -> ConfigError:
    key = ".".join(map(str, path))
    number = next((found for end in range(len(path), 0, -1) if (found := line_of(text, path[:end]))), None)
    place = f", line {number}," if number else ""
    return ConfigError(
        f"nobrakes cannot change {where}{place}, because of its format", f"Edit {key} in the file by hand."
    )


# The settings as config/nobrakes.toml or config/user.toml shows them.
TEMPLATE = "config/nobrakes.toml"
USER = "config/user.toml"
_SETTING = re.compile(r"(?:# )?([a-z_]+) = (.*)")
_SECTION = re.compile(r"(?:# )?\[\[?([a-z.]+)\]\]?")
EXAMPLES = ("checks", "notify.channels.phone")


class Setting(NamedTuple):
    """One setting of config/nobrakes.toml: section (empty: top), name, default as TOML, comment."""

    section: str
    name: str
    default: str
    comment: str


def settings(template: str = TEMPLATE) -> Iterator[Setting]:
    """In the file's order; one without a comment has that of the line before."""
    with open(resource(template), encoding="utf-8") as file:
        lines = iter(file.read().splitlines())
    section, comment, used = "", "", True
    for line in lines:
        found, heading = _SETTING.fullmatch(line), _SECTION.fullmatch(line)
        if found and found[1] == "checks":  # its table stands before it, commented out
            continue
        if found:
            value = found[2]
            while value.startswith("[") and not value.endswith("]"):
                value += " " + next(lines).strip()
            yield Setting(section, found[1], value.replace("[ ", "[").replace(", ]", "]"), comment)
            used = True
        elif heading:
            if line.startswith("# [["):
                yield Setting("", heading[1], "[]", comment)
            section, used = heading[1], True
        elif line.startswith("# "):
            comment, used = (line[2:] if used else f"{comment} {line[2:]}"), False
        elif not line:
            used = True


def commented(path: tuple[str | int, ...]) -> str:
    """The commented-out default of a setting; empty: not in the template."""
    section, name = ".".join(map(str, path[:-1])), path[-1]
    found = next((one for one in settings() if (one.section, one.name) == (section, name)), None)
    return "" if found is None or section in EXAMPLES else f"# {found.name} = {found.default}"
