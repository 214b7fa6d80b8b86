"""What a command is given, said once: the command line makes options of it, pages make forms of it.

A command is a function of a subject's `commands`: the app and who acts come first, then what people give, each with its
type and its Field. It returns a record, which is JSON, and text for people, of which a page shows line one.
"""

from collections.abc import Callable
from inspect import Parameter as Given
from inspect import signature
from types import NoneType, UnionType
from typing import Any, get_args

from .records import frozen

CommandFunction = Callable[..., tuple[Any, str]]
WORD, NOTE, TEXT = 200, 4000, 200_000
"""Characters of an id or a name, of a title or a note, of a description or a plan."""


@frozen
class Field:
    """`options`: as it is typed; without, it is known by its place. `most`: characters that a page may send.

    `reads_stdin`: on the command line `-` stands for standard input.
    """

    help: str
    options: tuple[str, ...] = ()
    metavar: str = ""
    most: int = WORD
    reads_stdin: bool = False


@frozen
class Parameter:
    """One thing that a command is given. `type`: str, int, bool, or a tuple of one of them."""

    name: str
    type: Any
    field: Field
    default: Any

    def is_required(self) -> bool:
        """Whether nothing can be done without it."""
        return self.default is Given.empty


def parameters(command: CommandFunction) -> tuple[Parameter, ...]:
    """What people give it."""
    return tuple(_parameter(one) for one in list(signature(command).parameters.values())[2:])


def _parameter(one: Given) -> Parameter:
    type_, field = get_args(one.annotation)
    if isinstance(type_, UnionType):
        type_ = next(kind for kind in get_args(type_) if kind is not NoneType)
    return Parameter(one.name, type_, field, one.default)
