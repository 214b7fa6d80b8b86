"""A plan file that is plainly right, read without pydantic, whose start takes longer than everything else.

Each key has its rule; where a value is anything but what the rule plainly takes, the whole file is left to
operations.planmodels. A test holds the two against each other.
"""

from collections.abc import Callable, Mapping
from typing import Any, get_args

from ..core.bead import MAX_TITLE
from .planvalues import (
    MAX_HOLD,
    MAX_KEY,
    MAX_MINUTES,
    MAX_TEXT,
    StatusWord,
    id_of,
    lines_of,
    minutes_of,
    moment_of,
    status_of,
    title_of,
    type_of,
)

_WORDS = (None, *get_args(StatusWord))


class _NotPlain(ValueError):
    """Somebody else has to judge it."""


def _require(fits: bool) -> None:
    if not fits:
        raise _NotPlain


def _string(value: Any, longest: int | None = None, shortest: int = 0) -> str:
    _require(type(value) is str)
    text: str = value
    text.encode()  # half a character is a UnicodeEncodeError, which is a ValueError
    _require(len(text) >= shortest and (longest is None or len(text) <= longest))
    return text


def _text(value: Any) -> str:
    return _string(value, MAX_TEXT)


def _texts(value: Any) -> tuple[str, ...]:
    _require(type(value) is list)
    return tuple(map(_text, value))


def _number(value: Any, low: int, high: int) -> int:
    _require(type(value) is int and low <= value <= high)
    return int(value)


def _flag(value: Any) -> bool:
    _require(type(value) is bool)
    return bool(value)


def _metadata(value: Any) -> dict[str, Any]:
    _require(type(value) is dict)
    for key in value:
        _string(key)
    return dict(value)


def _status(value: Any) -> Any:
    word = status_of(_string(value))
    _require(word in _WORDS)
    return word


_RULES: Mapping[str, Callable[[Any], Any]] = {
    "id": lambda value: id_of(_string(value)),
    "key": lambda value: _string(value, MAX_KEY, 1),
    "title": lambda value: _string(title_of(_string(value)), MAX_TITLE, 1),
    "type": lambda value: type_of(_string(value)),
    "description": _text,
    "acceptance": lambda value: _texts(lines_of(value)),
    "priority": lambda value: _number(value, 0, 4),
    "labels": _texts,
    "epic": _string,
    "estimate": lambda value: _number(minutes_of(value), 1, MAX_MINUTES - 1),
    "needs_tests": _flag,
    "scaffolding": _flag,
    "touches": _texts,
    "notes": _text,
    "metadata": _metadata,
    "needs": _texts,
    "related": _texts,
    "discovered_from": _texts,
    "status": _status,
    "hold": lambda value: _string(value, MAX_HOLD),
    "defer_until": lambda value: moment_of(_string(value)),
}
"""By key: the value as a plan has it, or ValueError."""


def judged(value: Mapping[str, Any]) -> tuple[bool, list[dict[str, Any]]] | None:
    """(whether the plan is live, what each bead says, by key); None: it is not plainly right."""
    if not value.keys() <= {"live", "beads"} or type(value.get("beads")) is not list:
        return None
    try:
        return _flag(value.get("live", False)), [_node(raw) for raw in value["beads"]]
    except ValueError:
        return None


def _node(raw: Any) -> dict[str, Any]:
    _require(type(raw) is dict and raw.keys() <= _RULES.keys())
    return {key: None if value is None else _RULES[key](value) for key, value in raw.items()}
