"""Who calls a command, and under which key: `--as NAME` and `--request KEY`, the same for each command that changes.

1. They stand before or after the command's words; said twice, they have to say the same.
2. Without --as it is NOBRAKES_ACTOR, or the person at the keyboard. Inside a run nobody acts under another name.
"""

import os
from contextvars import ContextVar
from typing import Annotated, NamedTuple

from typer import Option

from ..core.public.actor import Actor, Surface, given, usual

As = Annotated[str | None, Option("--as", metavar="NAME", help="Act under this name; else as NOBRAKES_ACTOR or you.")]
RequestKey = Annotated[
    str | None, Option("--request", metavar="KEY", help="Do it once: the same again under KEY answers as it did first.")
]


class Asked(NamedTuple):
    """What was said beside a command's own words."""

    name: str | None = None
    request: str | None = None


BEFORE: ContextVar[Asked | None] = ContextVar("BEFORE", default=None)
"""What stood before the command's words."""
KEPT: ContextVar[bool] = ContextVar("KEPT", default=False)
"""Whether what the command gives back is kept under its key, and so has to be whole."""
_ACTOR: ContextVar[Actor | None] = ContextVar("_ACTOR", default=None)


def asked(after: Asked) -> Asked:
    """What holds for the command: said before its words or after them. UsageError."""
    from ..core.errors import UsageError

    before = BEFORE.get() or Asked()
    for option, first, second in (("--as", before.name, after.name), ("--request", before.request, after.request)):
        if first is not None and second is not None and first != second:
            raise UsageError(f"{option} is said twice, and not the same", "Say it once.")
    return Asked(
        before.name if after.name is None else after.name, before.request if after.request is None else after.request
    )


def choose(name: str | None) -> Actor:
    """Who acts from now on; NotAllowed where an agent chooses a name."""
    from ..app import is_agent

    if name is not None and is_agent():
        from ..core.errors import NotAllowed

        raise NotAllowed("inside a run nobody acts under another name", "Leave --as out.")
    chosen = name if name is not None or is_agent() else os.environ.get("NOBRAKES_ACTOR") or None
    at_keyboard = os.environ.get("USER") or os.environ.get("LOGNAME") or ""
    found = usual(at_keyboard, Surface.CLI) if chosen is None else given(chosen, Surface.CLI)
    _ACTOR.set(found)
    return found


def present() -> Actor:
    """Who acts."""
    return _ACTOR.get() or choose(None)
