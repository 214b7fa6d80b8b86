"""Parameters that cost nothing to read: typer imports pydantic for each value, even for text that stays text.

A value that has the wanted type already is taken as it is, plain digits within bounds are a whole number, and a path
that is not there or can be read is one; anything else goes typer's way, with typer's messages.
"""

import os
from pathlib import Path
from types import NoneType
from typing import Any, get_args

from typer.core import TyperCommand, TyperGroup


def _fits(value: Any, annotation: Any, required: bool) -> bool:
    """Whether the value needs no conversion and no complaint."""
    allowed = get_args(annotation) if NoneType in get_args(annotation) else (annotation,)
    if value is None:
        return not required
    if isinstance(value, list | tuple):
        return list[str] in allowed and bool(value or not required) and all(type(item) is str for item in value)
    return type(value) in allowed or (Path in allowed and isinstance(value, Path))


def _whole(value: Any, annotation: Any, parameter: Any) -> Any:
    """The whole number that plain digits stand for; the value itself where typer has to judge it."""
    if type(value) is not str or not (value.isascii() and value.isdigit() and len(value) < 10):
        return value
    if int not in (annotation, *get_args(annotation)) or not hasattr(parameter, "min"):
        return value
    low, high, number = parameter.min, parameter.max, int(value)
    return number if (low is None or low <= number) and (high is None or number <= high) else value


def _path(value: Any, annotation: Any) -> Any:
    """The path that a text names; no command asks more of one than that it can be read."""
    if type(value) is not str or Path not in (annotation, *get_args(annotation)):
        return value
    path = Path(value)
    return path if os.access(path, os.R_OK) or not os.path.lexists(path) else value


def lighten(parameter: Any, annotation: Any) -> None:
    """Let the parameter take values of its type as they are; `annotation` is the one of the command's function."""
    if "process_value" in vars(parameter):
        return
    # typer offers no way to choose a parameter's class, and only this one method of it differs
    convert = parameter.process_value

    def process_value(ctx: Any, value: Any) -> Any:
        value = _path(_whole(value, annotation, parameter), annotation)
        if not _fits(value, annotation, parameter.required):
            return convert(ctx, value)
        return value if parameter.callback is None else parameter.callback(ctx, parameter, value)

    parameter.process_value = process_value


class LightCommand(TyperCommand):
    """A command whose own `--help` is light too."""

    def get_help_option(self, ctx: Any) -> Any:
        """As in typer."""
        return _light_help(super().get_help_option(ctx))


class LightGroup(TyperGroup):
    """A group whose own `--help` is light too."""

    def get_help_option(self, ctx: Any) -> Any:
        """As in typer."""
        return _light_help(super().get_help_option(ctx))


def _light_help(option: Any) -> Any:
    if option is not None:
        lighten(option, bool | None)
    return option
