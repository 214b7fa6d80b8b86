"""`run`: the daemon in the foreground, with something to look at, until everything is settled."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..core.errors import Unsettled
from .opened import actor, opened
from .output import Output
from .screen import Screen, screen_of
from .text import count

if TYPE_CHECKING:
    from ..app import App

AsJson = Annotated[bool, typer.Option("--json", help="Print only the result, as JSON.")]


def counts(app: "App") -> dict[str, int]:
    """How many beads (epics apart) are done, ready, at work, blocked, drafts, and with a person."""
    from ..operations import views

    return dict(views.counts(app.store))


def sentence(found: dict[str, int]) -> str:
    """The counts in one line; zeros are left out."""
    return ", ".join(f"{number} {word.replace('_', ' ')}" for word, number in found.items() if number) or "no bead"


def run(
    until_idle: Annotated[
        bool, typer.Option("--until-idle/--forever", help="End when nothing is left that needs no person.")
    ] = True,
    doers: Annotated[int | None, typer.Option("--doers", min=0, max=256, help="Doers at once, from now on.")] = None,
    as_json: AsJson = False,
) -> Output:
    """Work in the foreground until everything is settled.

    Ends with 0 when every bead is done, with 40 when some wait for a person. Ctrl-C stops the agents in order
    and keeps their work; a second Ctrl-C ends at once and leaves them to the next run.
    """
    from ..app import serve

    with opened() as app:
        if doers is not None:
            from ..operations import control

            control.set_limits(app.store, {"doers": str(doers)}, actor=actor(), places=app.places)
        _serve(app, as_json, until_idle, serve)
        found = counts(app)
        waiting = app.store.escalations()
    unsettled = bool(waiting) or any(found.get(word) for word in ("escalated", "blocked", "held"))
    data: dict[str, Any] = {"counts": found, "escalations": [e.id for e in waiting], "settled": not unsettled}

    def text(screen: Screen) -> str:
        out = sentence(found)
        if waiting:
            out += f"\n{count(len(waiting), 'escalation')} for you: nobrakes escalations"
        return out

    return Output(data, text, Unsettled.code if unsettled else 0)


def _serve(app: "App", as_json: bool, until_idle: bool, serve: Any) -> None:
    from .live import Picture, Plain, Quiet

    if as_json:
        serve(app, Quiet(), until_idle=until_idle)
    elif sys.stdout.isatty() and screen_of(sys.stdout).width >= 40:
        from ..operations import sessions

        def last_line(attempt: Any) -> str:
            return sessions.last_line(app.places, attempt)

        with Picture(app.store, last_line, lambda: sentence(counts(app))) as view:
            serve(app, view, until_idle=until_idle)
    else:
        serve(app, Plain(app.store), until_idle=until_idle)
