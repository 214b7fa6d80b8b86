"""Which gate sections of a shared file differ: parts of pyproject.toml and package.json that decide whether work is
good. Pure.

1. A file that is added or removed changes the gate sections that it has.
2. New content that cannot be read counts as a change of everything: ("unreadable",).
"""

import json
import tomllib
from collections.abc import Callable, Mapping
from typing import Any

UNREADABLE = "unreadable"

_TOML = ("pytest", "ruff", "mypy", "coverage", "tox", "nox")
_JSON = ("scripts", "jest", "vitest", "mocha", "eslintConfig")


def _toml_gates(content: bytes) -> Mapping[str, Any]:
    # some editors write a byte order mark, and the tools read it
    tool = tomllib.loads(content.decode("utf-8-sig")).get("tool", {})
    if not isinstance(tool, dict):
        raise ValueError("tool is not a table")
    # pytest reads [tool.pytest] and [tool.pytest.ini_options]; plug-ins have [tool.pytest-…] of their own
    return {
        f"tool.{name}": value
        for name, value in tool.items()
        if name in _TOML or any(name.startswith((f"{gate}-", f"{gate}_")) for gate in _TOML)
    }


def _json_gates(content: bytes) -> Mapping[str, Any]:
    data = json.loads(content.decode("utf-8-sig"))
    if not isinstance(data, dict):
        raise ValueError("not an object")
    return {name: data[name] for name in _JSON if name in data}


_READERS: Mapping[str, Callable[[bytes], Mapping[str, Any]]] = {
    "pyproject.toml": _toml_gates,
    "package.json": _json_gates,
}


def is_shared(path: str) -> bool:
    """Whether the file at this repository path has gate sections among others."""
    return path.rpartition("/")[2].casefold() in _READERS


def changed_sections(path: str, before: bytes | None, after: bytes | None) -> tuple[str, ...]:
    """The names of the gate sections that differ, sorted; None stands for an absent file."""
    reader = _READERS.get(path.rpartition("/")[2].casefold())
    if reader is None or before == after:
        return ()
    try:
        new = reader(after) if after is not None else {}
    except (ValueError, RecursionError):
        return (UNREADABLE,)
    try:
        old = reader(before) if before is not None else {}
    except (ValueError, RecursionError):
        # what was broken and is whole now cannot be compared, so a person looks at it
        return (UNREADABLE,)
    names = sorted({*old, *new})
    return tuple(name for name in names if not _same(old.get(name, ...), new.get(name, ...)))


def _same(old: Any, new: Any) -> bool:
    """Equality that tells 1 from True, and keeps the order of keys out of it."""
    if type(old) is not type(new):
        return False
    if isinstance(old, dict):
        return old.keys() == new.keys() and all(_same(old[key], new[key]) for key in old)
    if isinstance(old, list):
        return len(old) == len(new) and all(_same(a, b) for a, b in zip(old, new, strict=True))
    return bool(old == new)
