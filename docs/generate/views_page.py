"""The reference page of views: what `--json` has under `data`, from the types that it is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from enum import StrEnum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from docs.generate.pages import row
from nobrakes.daemon.service.status import NextStep
from nobrakes.records import types_of
from nobrakes.web import openapi

_INTRO = """# Views

The output of a command is a typed value. You find the same value under `data` of `--json` and in the tools of
`nobrakes mcp`. This page describes version {language} of these values. Within a version, nobrakes only adds fields,
so a reader must ignore fields that it does not know. If a field changes its meaning or is removed, the version
changes. Times are seconds since 1970 (UTC), and commits are full object ids. Commands that this page does not list
return small objects, and the same rules apply to them. Beside `data`, `ready` has `more`, the number of other ready
beads. `escalations` has `asks`, which lists everything else that waits for you (the `hindrances` of `status` that
only a person can remove).

`nobrakes.web.openapi.schema_of("status")` returns the JSON Schema of a value, derived from the code.
"""
_PLAIN = {str: "text", bool: "true or false", int: "whole number", float: "number", NoneType: "null"}


class _Objects:
    """The kinds of object that were spoken of, in order, each under a name of its own."""

    def __init__(self) -> None:
        self.kinds: list[Any] = []

    def name(self, kind: Any) -> str:
        """How it is called; it is described from now on."""
        if kind not in self.kinds:
            self.kinds.append(kind)
        same = [one for one in self.kinds if one.__name__ == kind.__name__]
        return str(kind.__name__) if same[0] is kind else f"{kind.__name__} of {kind.__module__.rpartition('.')[2]}"

    def said(self, type_: Any) -> str:
        """The type in words."""
        origin, arguments = get_origin(type_), get_args(type_)
        if type_ in _PLAIN:
            return _PLAIN[type_]
        if origin in (Union, UnionType):
            return " or ".join(self.said(one) for one in arguments)
        if origin is Literal:
            return " or ".join(f"`{one}`" for one in arguments)
        if origin is tuple and arguments[-1:] != (Ellipsis,):
            return f"list of {len(arguments)}: {', '.join(self.said(one) for one in arguments)}"
        if origin in (tuple, list, set, frozenset, Sequence):
            return f"list of {self.said(arguments[0])}"
        if origin in (dict, Mapping):
            return f"object, each value {self.said(arguments[1])}"
        if isinstance(type_, type) and issubclass(type_, StrEnum):
            return " or ".join(f"`{one.value}`" for one in type_)
        if is_dataclass(type_) or hasattr(type_, "_fields"):
            name = self.name(type_)
            return f"[{name}](#{name.lower().replace(' ', '-')})"
        return "any value"


def views_page() -> str:
    """docs/reference/views.md."""
    objects = _Objects()
    out = [_INTRO.format(language=openapi.LANGUAGE), row("command", "data"), "|---|---|"]
    out.append(row("`nobrakes`", f"object, `next` is {objects.said(NextStep)}"))
    out += [row(f"`nobrakes {words}`", objects.said(type_)) for words, type_ in openapi.views().items()]
    described = 0
    while described < len(objects.kinds):
        kind = objects.kinds[described]
        described += 1
        out += ["", f"## {objects.name(kind)}", "", " ".join((kind.__doc__ or "").split()), ""]
        out += [row("field", "type"), "|---|---|"]
        out += [row(f"`{name}`", objects.said(type_)) for name, type_ in types_of(kind, openapi.names()).items()]
    return "\n".join(out) + "\n"
