"""What every shape of a payload is, and how one is made of an event's data (payloads.py, feature_payloads.py)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, TypeVar, get_type_hints


@dataclass(frozen=True, slots=True)
class Payload:
    """Nothing more than what is said about every event."""


P = TypeVar("P", bound=Payload)


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def made(kind: type[P], values: Mapping[str, Any]) -> P:
    """The payload of what `values` has for its fields; a value of another type becomes the field's, or is left out."""
    shape: type = kind
    types = _hints(shape)
    known: dict[str, Any] = {}
    for one in fields(kind):
        if values.get(one.name) is not None:
            value = _fitting(types[one.name], values[one.name])
            if value is not None:
                known[one.name] = value
    return kind(**known)


def _fitting(type_: Any, value: Any) -> Any:
    if type_ in (str, str | None):
        return str(value)
    if type_ is bool:
        return bool(value)
    if type_ == int | None:
        return int(value) if isinstance(value, int | float) else None
    if type_ == float | None:
        return float(value) if isinstance(value, int | float) else None
    if type_ == tuple[str, ...]:
        return tuple(map(str, value)) if isinstance(value, list | tuple) else None
    if type_ == tuple[int, ...]:
        return tuple(int(one) for one in value if isinstance(one, int)) if isinstance(value, list | tuple) else None
    if type_ == tuple[tuple[str, ...], ...]:
        return tuple(tuple(map(str, one)) for one in value if isinstance(one, list | tuple))
    return dict(value) if isinstance(value, Mapping) else None
