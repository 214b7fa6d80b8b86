"""Records: frozen dataclasses with slots, whose methods are compiled when they are used. Their JSON too.

1. `dataclass(frozen=True, slots=True)` compiles six methods for each class in half a millisecond: a command defines 200
   records and uses 50, which was a quarter of its start-up. Slots and patterns exist at once; fields are made when they
   are asked for, `__init__` is compiled with the first object, and `__eq__` and `__hash__` with the first comparison. A
   test compares with the library's.
2. `plain` makes the JSON of every surface.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Stored = TypeVar("Stored", bound=DataclassInstance)

Class = TypeVar("Class", bound=type)
Key = TypeVar("Key")
Value = TypeVar("Value")

_COMPILED = frozenset(("__init__", "__eq__", "__hash__"))
_whole: Callable[[Any], Any] = dataclass(frozen=True, slots=True)
_bare: Callable[[Any], Any] = dataclass(init=False, repr=False, eq=False)
_FROZEN = _whole(type("_Frozen", (), {})).__dataclass_params__


def content(help: str = "", *options: str, default: Any = MISSING, default_factory: Any = MISSING, **more: Any) -> Any:
    """An editable field. With options it is an option of commands; `more`: further arguments of their Field."""
    marks = {"help": help, "options": options, "more": more}
    return field(default=default, default_factory=default_factory, metadata=marks)


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, both in the order of the pairs."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


@dataclass_transform(frozen_default=True, field_specifiers=(field, content))
def frozen(kind: Class) -> Class:
    """A frozen dataclass with slots, compiled when its methods are used; with own ones of these, immediately."""
    bases = kind.__bases__ if kind.__bases__ != (object,) else ()
    is_foreign = any(vars(base).get("__dataclass_params__") is not _FROZEN for base in bases)
    if is_foreign or any(name in kind.__dict__ for name in (*_METHODS, *_COMPILED)):
        return _whole(kind)  # type: ignore[no-any-return]
    names = tuple(kind.__annotations__)
    own = {name: value for name, value in vars(kind).items() if name not in ("__dict__", "__weakref__")}
    given = {name: own.pop(name) for name in names if name in own}
    inherited = [name for base in bases for name in base.__dataclass_fields__]  # type: ignore[attr-defined]
    in_order = [name for base in bases for name in base.__match_args__]  # type: ignore[attr-defined]
    in_order += [name for name in names if _is_given_in_order(given.get(name))]

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        _compile_init(made)
        made.__init__(self, *args, **kwargs)

    def __eq__(self: Any, other: Any) -> Any:
        _compile_comparison(made)
        return made.__eq__(self, other)

    def __hash__(self: Any) -> int:
        _compile_comparison(made)
        return made.__hash__(self)  # type: ignore[no-any-return]

    made: Any = type(kind)(
        kind.__name__,
        bases,
        {
            **own,
            **_METHODS,
            "__init__": __init__,
            "__eq__": __eq__,
            "__hash__": __hash__,
            "__slots__": tuple(name for name in names if name not in inherited),
            "__match_args__": tuple(dict.fromkeys(in_order)),
            "__dataclass_params__": _FROZEN,  # a frozen dataclass inherits from frozen ones alone
            "__dataclass_fields__": _Fields(given),
        },
    )
    made.__qualname__ = kind.__qualname__
    return made  # type: ignore[no-any-return]


def _is_given_in_order(default: Any) -> bool:
    return not isinstance(default, Field) or (default.init and default.kw_only is not True)


class _Fields:
    """Makes a class's fields when they are first asked for. `given`: defaults, some of them fields."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self._given = given

    def __get__(self, one: object, kind: Any) -> Any:
        made = next(base for base in kind.__mro__ if vars(base).get("__dataclass_fields__") is self)
        shape = {**self._given, "__annotations__": made.__annotations__, "__module__": made.__module__, "__doc__": "."}
        found: dict[str, Any] = {}
        for base in made.__bases__ if made.__bases__ != (object,) else ():
            found |= base.__dataclass_fields__
        made.__dataclass_fields__ = found = found | _bare(type(made.__name__, (), shape)).__dataclass_fields__
        return found


def _compile_init(made: Any) -> None:
    known = sorted(fields(made), key=lambda one: bool(one.kw_only))
    given: dict[str, Any] = {"__put": object.__setattr__, "__missing": MISSING}  # named as no field is
    named, put = [], []
    for one in known:
        is_made, first = one.default_factory is not MISSING, f"__of_{one.name}"
        given[first] = one.default_factory if is_made else one.default
        if one.init:
            if one.kw_only and "*" not in named:
                named.append("*")
            named.append(one.name if given[first] is MISSING else f"{one.name}={'__missing' if is_made else first}")
            put.append(f"{first}() if {one.name} is __missing else {one.name}" if is_made else one.name)
        else:
            put.append(f"{first}()" if is_made else first)
    body = [f" __put(self, {one.name!r}, {value})" for one, value in zip(known, put, strict=True)]
    body += [" self.__post_init__()"] if hasattr(made, "__post_init__") else []
    _compile(made, [f"def __init__(self, {', '.join(named)}):", *body, " return None"], given)


def _compile_comparison(made: Any) -> None:
    compared = [one.name for one in fields(made) if one.compare]
    mine, other = ("".join(f"{who}.{name}, " for name in compared) for who in ("self", "other"))
    lines = ["def __eq__(self, other):", " if other.__class__ is not self.__class__:", "  return NotImplemented"]
    lines += [f" return ({mine}) == ({other})", "def __hash__(self):", f" return hash(({mine}))"]
    _compile(made, lines, {})


def _compile(made: Any, lines: Sequence[str], given: dict[str, Any]) -> None:
    exec("\n".join(lines), given)
    for name in given.keys() & _COMPILED:
        given[name].__qualname__ = f"{made.__qualname__}.{name}"
        setattr(made, name, given[name])


@cache
def filler(kind: type[Value]) -> Callable[[Iterable[Any]], Value]:
    """Makes a record of all its values in order: assigned to an object with the same slots, which then becomes one."""
    names = kind.__slots__  # type: ignore[attr-defined]
    given: dict[str, Any] = {"kind": kind, "Writable": type("Writable", (), {"__slots__": names})}
    targets = "".join(f"made.{name}, " for name in names)
    exec(f"def filled(values):\n made = Writable()\n {targets}= values\n made.__class__ = kind\n return made", given)
    return given["filled"]  # type: ignore[no-any-return]


def _shown(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{one.name}={getattr(self, one.name)!r}' for one in fields(self))})"


def _not_set(self: Any, name: str, value: Any) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _not_deleted(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, one.name) for one in fields(self)]


def _with_state(self: Any, state: list[Any]) -> None:
    for one, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, one.name, value)


_METHODS: Mapping[str, Any] = {
    "__repr__": _shown,
    "__setattr__": _not_set,
    "__delattr__": _not_deleted,
    "__getstate__": _state,
    "__setstate__": _with_state,
}


# Records that are kept as JSON, so that any daemon, also one of another version, goes on with them. Each field has a
# default, and is a JSON value, a word of an enumeration, a tuple of JSON values, or a mapping of them.
def as_values(one: "DataclassInstance") -> dict[str, Any]:
    """JSON values without copies: they are never changed in place."""
    values = {name: getattr(one, name) for name in one.__dataclass_fields__}
    return {name: value.value if isinstance(value, StrEnum) else value for name, value in values.items()}


def copied(kind: "type[Stored]", source: Any, **given: Any) -> "Stored":
    """A record with `source`'s fields of the same names, `given` ones first. AttributeError: one is missing."""
    return kind(**{name: getattr(source, name) for name in kind.__dataclass_fields__ if name not in given}, **given)


def restore(kind: "type[Stored]", values: Mapping[str, Any]) -> "Stored":
    """Ignores unknown values and defaults missing ones."""
    found = {name: make(values[name]) if make else values[name] for name, make in _makes(kind) if name in values}
    return kind(**found)


@cache
def _makes(kind: "type[DataclassInstance]") -> "tuple[tuple[str, Callable[[Any], Any] | None], ...]":
    """By field the conversion from its JSON value; None: none."""
    firsts = {name: field.default for name, field in kind.__dataclass_fields__.items()}
    return tuple((name, type(first) if isinstance(first, StrEnum | tuple) else None) for name, first in firsts.items())


HIDDEN = frozenset(("token",))


def plain(value: Any) -> Any:
    """`value` as JSON values: dataclasses without hidden fields, tuples as lists, sets sorted."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if (fields := getattr(type(value), "__dataclass_fields__", None)) is None and hasattr(value, "_fields"):
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
    """The JSON schema of a type's values; `names`: types imported only for checking. Raises TypeError."""
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
        own = types_of(type_, names)
        return {
            "title": type_.__name__,
            "type": "object",
            "properties": {name: schema(one, names) for name, one in own.items()},
            "required": list(own),
        }
    raise TypeError(f"{type_!r} has no JSON schema")


def types_of(type_: Any, names: Mapping[str, Any] | None = None) -> dict[str, Any]:
    hints = get_type_hints(type_, localns=dict(names or {}))
    wanted = type_.__dataclass_fields__ if is_dataclass(type_) else type_._fields
    return {name: hints[name] for name in wanted if name not in HIDDEN}


def mistakes(value: Any, wanted: Schema, where: str = "data") -> list[str]:
    """Where a JSON value violates the schema; empty: it fits."""
    if "anyOf" in wanted:
        tried = [mistakes(value, one, where) for one in wanted["anyOf"]]
        return [] if [] in tried else min(tried, key=len)
    if "enum" in wanted:
        return [] if value in wanted["enum"] else [f"{where}: {value!r} is not one of {wanted['enum']}"]
    if "type" not in wanted:
        return []
    if not _KINDS[wanted["type"]](value):
        return [f"{where}: {value!r} is not of type {wanted['type']}"]
    if wanted["type"] == "array":
        each = wanted.get("prefixItems") or [wanted["items"]] * len(value)
        if len(each) != len(value):
            return [f"{where}: its length is {len(value)}, and not {len(each)}"]
        return [
            text
            for n, (one, of) in enumerate(zip(value, each, strict=True))
            for text in mistakes(one, of, f"{where}[{n}]")
        ]
    if wanted["type"] == "object":
        return _object_mistakes(value, wanted, where)
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


def _object_mistakes(value: dict[str, Any], wanted: Schema, where: str) -> list[str]:
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
