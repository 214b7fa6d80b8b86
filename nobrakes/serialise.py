"""Frozen dataclasses that are kept as JSON, so that any daemon, also one of another version, goes on with them.

Each field has a default, and is a JSON value, a word of an enumeration, a tuple of JSON values, or a mapping of them.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Kept = TypeVar("Kept", bound=DataclassInstance)


def as_values(one: "DataclassInstance") -> dict[str, Any]:
    """JSON values, of which none is copied: they are never changed in place."""
    values = {name: getattr(one, name) for name in one.__dataclass_fields__}
    return {name: value.value if isinstance(value, StrEnum) else value for name, value in values.items()}


def of_values(kind: "type[Kept]", values: Mapping[str, Any]) -> "Kept":
    """What was kept as these values. What others keep beside it is left out, and what is missing is as at first."""
    found = {name: make(values[name]) if make else values[name] for name, make in _makes(kind) if name in values}
    return kind(**found)


@cache
def _makes(kind: "type[DataclassInstance]") -> "tuple[tuple[str, Callable[[Any], Any] | None], ...]":
    """By field what makes it of its JSON value; None: it is that value."""
    firsts = {name: field.default for name, field in kind.__dataclass_fields__.items()}
    return tuple((name, type(first) if isinstance(first, StrEnum | tuple) else None) for name, first in firsts.items())
