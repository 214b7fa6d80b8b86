"""Values as JSON has them: what every surface hands out is made by `plain`, so that all hand out the same."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

HIDDEN = frozenset(("token",))
"""Fields that leave the process nowhere."""


def plain(value: Any) -> Any:
    """`value` as JSON values: dataclasses by field without what is hidden, tuples as lists, sets sorted."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    fields = getattr(type(value), "__dataclass_fields__", None)
    if fields is None and hasattr(value, "_fields"):
        fields = value._fields
    if fields is not None:
        return {name: plain(getattr(value, name)) for name in fields if name not in HIDDEN}
    if hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Iterable):
        return [plain(item) for item in value]
    raise TypeError(f"{type(value).__name__} is not a value that JSON has")


_PLAIN: Mapping[Any, Mapping[str, str]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    NoneType: {"type": "null"},
    object: {},
    Any: {},
}


Schema = dict[str, Any]


def schema(type_: Any, names: Mapping[str, Any] | None = None) -> Schema:
    """The JSON schema of what the type's values become; `names` are types that its module imports for checking alone.

    TypeError for a type that has none.
    """
    if type_ in _PLAIN:
        return dict(_PLAIN[type_])
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        return {"anyOf": [schema(one, names) for one in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple and arguments[-1:] != (Ellipsis,):
        return {"type": "array", "prefixItems": [schema(one, names) for one in arguments]}
    if origin in (tuple, list, set, frozenset, Sequence):
        return {"type": "array", "items": schema(arguments[0], names)}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema(arguments[1], names)}
    if isinstance(type_, type) and issubclass(type_, StrEnum):
        return {"enum": [one.value for one in type_]}
    if is_dataclass(type_) or hasattr(type_, "_fields"):
        return _object(type_, names)
    raise TypeError(f"{type_!r} has no JSON schema")


def types_of(type_: Any, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The types of the fields that are handed out."""
    hints = get_type_hints(type_, localns=dict(names or {}))
    wanted = type_.__dataclass_fields__ if is_dataclass(type_) else type_._fields
    return {name: hints[name] for name in wanted if name not in HIDDEN}


def _object(type_: Any, names: Mapping[str, Any] | None) -> Schema:
    own = types_of(type_, names)
    return {
        "title": type_.__name__,
        "type": "object",
        "properties": {name: schema(one, names) for name, one in own.items()},
        "required": list(own),
    }


def mistakes(value: Any, wanted: Schema, where: str = "data") -> list[str]:
    """Where a JSON value is not as the schema says; empty: it fits."""
    if "anyOf" in wanted:
        tried = [mistakes(value, one, where) for one in wanted["anyOf"]]
        return [] if [] in tried else min(tried, key=len)
    if "enum" in wanted:
        return [] if value in wanted["enum"] else [f"{where}: {value!r} is none of {wanted['enum']}"]
    if "type" not in wanted:
        return []
    if not _KINDS[wanted["type"]](value):
        return [f"{where}: {value!r} is no {wanted['type']}"]
    if wanted["type"] == "array":
        return _of_array(value, wanted, where)
    if wanted["type"] == "object":
        return _of_object(value, wanted, where)
    return []


_KINDS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def _of_array(value: list[Any], wanted: Schema, where: str) -> list[str]:
    each = wanted.get("prefixItems") or [wanted["items"]] * len(value)
    if len(each) != len(value):
        return [f"{where}: its length is {len(value)}, and not {len(each)}"]
    return [
        text for n, (one, of) in enumerate(zip(value, each, strict=True)) for text in mistakes(one, of, f"{where}[{n}]")
    ]


def _of_object(value: dict[str, Any], wanted: Schema, where: str) -> list[str]:
    properties, others = wanted.get("properties", {}), wanted.get("additionalProperties")
    found = [f"{where}: '{name}' is missing" for name in wanted.get("required", ()) if name not in value]
    for name, one in value.items():
        if name in properties:
            found += mistakes(one, properties[name], f"{where}.{name}")
        elif others is not None:
            found += mistakes(one, others, f"{where}.{name}")
        else:
            found.append(f"{where}: '{name}' is not described")
    return found
