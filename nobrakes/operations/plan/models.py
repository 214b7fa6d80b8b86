"""The keys and values of a plan file as pydantic models, which name every problem at once, each with its place."""

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ...core.beads.bead import MAX_TITLE, BeadType
from .values import (
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

Id = Annotated[str, BeforeValidator(id_of)]
Text = Annotated[str, Field(max_length=MAX_TEXT)]
Texts = tuple[Text, ...]


_typed_dict: Any = TypedDict  # made of fields that are written down once, in Node
AT_ONCE = 1000
"""Beads that are judged together."""


class Node(BaseModel):
    """One entry of `beads`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)

    id: Id | None = None
    key: Annotated[str, Field(min_length=1, max_length=MAX_KEY)] | None = None
    title: Annotated[str, BeforeValidator(title_of), Field(min_length=1, max_length=MAX_TITLE)] | None = None
    type: Annotated[BeadType, BeforeValidator(type_of)] | None = None
    description: Text | None = None
    acceptance: Annotated[Texts, BeforeValidator(lines_of)] | None = None
    priority: Annotated[int, Field(ge=0, le=4, strict=True)] | None = None
    labels: Texts | None = None
    epic: str | None = None
    estimate: Annotated[int, BeforeValidator(minutes_of), Field(gt=0, lt=MAX_MINUTES, strict=True)] | None = None
    needs_tests: Annotated[bool, Field(strict=True)] | None = None
    scaffolding: Annotated[bool, Field(strict=True)] | None = None
    touches: Texts | None = None
    notes: Text | None = None
    metadata: dict[str, Any] | None = None
    needs: Texts | None = None
    related: Texts | None = None
    discovered_from: Texts | None = None
    status: Annotated[StatusWord | None, BeforeValidator(status_of)] = None
    hold: Annotated[str, Field(max_length=MAX_HOLD)] | None = None
    defer_until: Annotated[float, BeforeValidator(moment_of)] | None = None


class File(BaseModel):
    """A whole plan file. Its beads are judged apart: a hundred thousand models at once take 160 MB."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    live: Annotated[bool, Field(strict=True)] = False
    beads: tuple[Any, ...]


def _place(parts: tuple[Any, ...]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text or "the file"


def _problems(error: ValidationError, *within: str | int) -> list[str]:
    found = []
    for problem in error.errors():
        what = problem["msg"].removeprefix("Value error, ")
        if problem["type"] == "extra_forbidden":
            what = "is no key of a plan"
        elif problem["type"] == "missing":
            what = "is missing"
        found.append(f"{_place((*within, *problem['loc']))}: {what}")
    return found


def judged(value: dict[str, Any]) -> tuple[bool, list[dict[str, Any]]] | list[str]:
    """(whether the plan is live, what each bead says, by key); or else every problem."""
    live, beads, of_file = False, value.get("beads"), []
    try:
        file = File.model_validate({**value, "beads": ()} if isinstance(beads, list) else value)
        live, beads = file.live, beads if isinstance(beads, list) else file.beads
    except ValidationError as error:
        of_file = _problems(error)
    problems = [one for one in of_file if one.startswith("live:")]
    found: list[dict[str, Any]] = []
    beads = beads if isinstance(beads, list | tuple) else ()
    for first in range(0, len(beads), AT_ONCE):
        found += _judged_part(beads[first : first + AT_ONCE], first, problems)
    problems += of_file
    return list(dict.fromkeys(problems)) if problems else (live, found)


def _judged_part(beads: Sequence[Any], first: int, problems: list[str]) -> list[dict[str, Any]]:
    """What each of these says, by key; `first` is the place of the first one in the file."""
    try:
        return _said().validate_python(list(beads))
    except ValidationError:
        pass  # one by one every problem gets its place
    found = []
    for place, one in enumerate(beads, first):
        try:
            node = Node.model_validate(one)
        except ValidationError as error:
            problems += _problems(error, "beads", place)
        else:
            found.append({name: getattr(node, name) for name in node.model_fields_set})
    return found


@cache
def _said() -> TypeAdapter[list[dict[str, Any]]]:
    """Judges many nodes at once as dicts, by the same rules: an object a bead takes twice as long."""
    hints = get_type_hints(Node, include_extras=True)
    said: Any = _typed_dict("said", {name: hints[name] for name in Node.model_fields}, total=False)
    said.__pydantic_config__ = ConfigDict(extra="forbid")
    return TypeAdapter(list[said])
