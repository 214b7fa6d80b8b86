"""The fields of a form as values: one small type a field, and an error that names the field.

1. A field that is not in a command's list is refused, so that a typing error in a page is seen.
2. Texts are bounded here; what they mean is the operations' to judge.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import UsageError

MOST_NOTE = 4000
MOST_TEXT = 200_000
NOT_FIELDS = frozenset(("request", "then", "typed", "code"))
"""What every form may have beside its own fields."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `read` makes its value; `is_list`: it may be given several times."""

    name: str
    read: Callable[[str, str], Any]
    is_required: bool = False
    is_list: bool = False


def text(name: str, value: str) -> str:
    """A note or a title."""
    if len(value) > MOST_NOTE:
        raise UsageError(f"{name}: at most {MOST_NOTE} characters, and these are {len(value)}")
    return value.replace("\r\n", "\n")


def long_text(name: str, value: str) -> str:
    """A description or a plan."""
    if len(value) > MOST_TEXT:
        raise UsageError(f"{name}: at most {MOST_TEXT} characters, and these are {len(value)}")
    return value.replace("\r\n", "\n")


def word(name: str, value: str) -> str:
    """An id, a name or one word of a list."""
    found = value.strip()
    if len(found) > 200:
        raise UsageError(f"{name}: at most 200 characters")
    return found


def rows(name: str, value: str) -> tuple[str, ...]:
    """A list, one entry a line."""
    return tuple(line.strip() for line in long_text(name, value).split("\n") if line.strip())


def number(name: str, value: str) -> int:
    """A whole number."""
    found = value.strip()
    if not (found.isascii() and found.isdigit() and len(found) < 19):
        raise UsageError(f"{name}: '{found[:40]}' is no number")
    return int(found)


def flag(name: str, value: str) -> bool:
    """Yes or no; a box that is not ticked is not sent."""
    found = value.strip().lower()
    if found in ("", "0", "no", "off", "false"):
        return False
    if found in ("1", "yes", "on", "true"):
        return True
    raise UsageError(f"{name}: '{found[:40]}' is neither yes nor no")


def values(fields: Sequence[Field], given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The values that were given, by name; a field that was not is not there. UsageError."""
    known = {field.name: field for field in fields}
    found: dict[str, Any] = {}
    for name, value in given:
        if name in NOT_FIELDS:
            continue
        if name not in known:
            raise UsageError(f"there is no field '{name[:40]}'", f"There are: {', '.join(sorted(known))}.")
        field = known[name]
        if field.is_list:
            if value.strip():
                found.setdefault(name, []).append(field.read(name, value))
        elif name in found:
            raise UsageError(f"{name} is given twice")
        else:
            found[name] = field.read(name, value)
    missing = [field.name for field in fields if field.is_required and not _is_there(found.get(field.name))]
    if missing:
        raise UsageError(f"{', '.join(missing)}: nothing was given")
    return found


def _is_there(value: Any) -> bool:
    return value is not None and value != "" and value != ()


def given(found: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Of these names what was given and is not empty."""
    return {name: found[name] for name in names if _is_there(found.get(name))}
