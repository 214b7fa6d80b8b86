"""Frozen dataclasses that are kept as JSON, so that any daemon, also one of another version, goes on with them.

Each field has a default, and is a JSON value, a word of an enumeration, or a tuple of JSON values.
"""

from collections.abc import Mapping
from enum import StrEnum
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
    found = {}
    for name, field in kind.__dataclass_fields__.items():
        if name in values:
            value, first = values[name], field.default
            if isinstance(first, StrEnum):
                value = type(first)(value)
            found[name] = tuple(value) if isinstance(first, tuple) else value
    return kind(**found)
