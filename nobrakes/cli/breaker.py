"""The Breaker Box: pause, resume, stop, and limits changed while it runs."""

from typing import Annotated

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import one_line
from .output import Output, said
from .repository import actor, opened


def pause() -> Output:
    """Start nothing new. What runs goes on, and is reviewed after `nobrakes resume`."""
    from ..operations import control

    with opened() as app:
        control.pause(app.store, app.paths, actor=actor())
    return said({"paused": True}, "paused: nothing new is started; `nobrakes resume` goes on")


def resume() -> Output:
    """Start new work again, after pause or stop."""
    from ..operations import control

    with opened() as app:
        control.resume(app.store, app.paths, actor=actor())
    return said({"paused": False}, "new work is started again")


def stop(
    agent: Annotated[str | None, Argument(metavar="NAME|BEAD", help="One agent: its name, or its bead.")] = None,
    hold: Annotated[str | None, Option("--hold", help="Hold its bead too, and say why; else the bead goes on.")] = None,
) -> Output:
    """Stop all agents, or one. Their work is kept, and no failure is counted.

    All: their beads are ready again after `nobrakes resume`. One: its bead goes on with the next attempt, unless it is
    held; nothing else is paused.

    Example: nobrakes stop Ada --hold "I rewrite the description first"
    """
    from ..operations import control

    if agent is None and hold is not None:
        raise UsageError("--hold is for one agent's bead", "Name the agent or its bead: nobrakes stop Ada --hold why")
    with opened() as app:
        if agent is not None:
            found = control.stop_one(app.store, app.paths, agent, hold, actor=actor())
            data = {"stopping": True, "bead": found.bead, "name": found.name, "number": found.number}
            then = f"{found.bead} goes on" if hold is None else f"{found.bead} is held"
            said_ = f"{one_line(found.name)} is being stopped, its work is kept; {then}"
            return said({**data, "held": hold is not None}, said_)
        control.stop(app.store, app.paths, actor=actor())
    return said({"stopping": True}, "the agents are being stopped, their work is kept; `nobrakes resume` goes on")


def set_limits(
    limits: Annotated[list[str] | None, Argument(metavar="LIMIT=VALUE", help="What to change.")] = None,
) -> Output:
    """Change limits while it runs, until they are changed again. Alone: show them.

    The word `default` gives a limit back to .nobrakes/config.toml.

    Example: nobrakes set doers=8 idle_minutes=20
    """
    from ..operations import control

    changes: dict[str, str] = {}
    for word in limits or ():
        name, equals, value = word.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"'{one_line(word)[:40]}' is not LIMIT=VALUE", "For example: nobrakes set doers=8")
        changes[name.strip()] = value.strip()
    with opened() as app:
        changed = control.set_limits(app.store, changes, actor=actor(), paths=app.paths)
        values = {**plain(app.config.limits), **changed}

    def line(name: str) -> str:
        return f"{name} = {values[name]}" + ("   (changed while it runs)" if name in changed else "")

    return said({"limits": plain(values), "changed": sorted(changed)}, "\n".join(map(line, values)))
