"""Records: frozen dataclasses with slots, whose methods are compiled with the first object of the class.

`dataclass(frozen=True, slots=True)` compiles six methods for each class, which takes half a millisecond: a command
defines some 300 records and makes objects of 30, so that a quarter of its start-up went there. Fields, slots and
patterns are there at once; with the first object come the methods that the library itself makes of the same fields.
"""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field, fields, make_dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, dataclass_transform

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Kept = TypeVar("Kept", bound=DataclassInstance)


Class = TypeVar("Class", bound=type)

_METHODS = ("__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__getstate__", "__setstate__", "__init__")
_whole: Callable[[Any], Any] = dataclass(frozen=True, slots=True)
_bare: Callable[[Any], Any] = dataclass(init=False, repr=False, eq=False, slots=True)
_FROZEN = _whole(type("_Frozen", (), {})).__dataclass_params__


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(kind: Class) -> Class:
    """The class as a frozen dataclass with slots. One that has a base, or writes one of the methods
    itself, is made whole at once.
    """
    if kind.__bases__ != (object,) or any(name in kind.__dict__ for name in _METHODS):
        return _whole(kind)  # type: ignore[no-any-return]
    made = _bare(kind)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        _complete(made)
        made.__init__(self, *args, **kwargs)

    made.__init__ = __init__
    made.__dataclass_params__ = _FROZEN  # a frozen dataclass inherits from frozen ones alone
    return made  # type: ignore[no-any-return]


def _complete(made: Any) -> None:
    given = {name: made.__dict__[name] for name in ("__post_init__",) if name in made.__dict__}
    like: Any = make_dataclass(
        made.__name__,
        [(one.name, one.type, copy(one)) for one in fields(made)],
        namespace=given,
        frozen=True,
        slots=True,
    )
    for name in _METHODS:
        setattr(made, name, like.__dict__[name])


# Records that are kept as JSON, so that any daemon, also one of another version, goes on with them. Each field has a
# default, and is a JSON value, a word of an enumeration, a tuple of JSON values, or a mapping of them.
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
