"""`run`: the daemon in the foreground, with something to look at, until everything is settled."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ..core.errors import Unsettled
from ..core.hindrances import Kind
from ..core.public.values import plain
from .hindered import lines
from .output import Interrupted, Output
from .repository import actor, opened
from .screen import Screen, screen_of

if TYPE_CHECKING:
    from ..app import App
    from ..core.board import Board

NARROWEST = 40
LINE = 200
"""Columns of a line where no screen is."""
SETTLED = ("done", "cancelled", "draft", "held")  # who is held is counted where it stands, too

AsJson = Annotated[bool, Option("--json", help="Print only the result, as JSON.")]


def counts(app: "App") -> dict[str, int]:
    """How many beads (epics apart) are done, ready, at work, blocked, drafts, and with a person."""
    from ..operations.views import board

    return dict(board.counts(app.store))


def sentence(found: dict[str, int]) -> str:
    """The counts in one line; zeros are left out."""
    return ", ".join(f"{number} {word.replace('_', ' ')}" for word, number in found.items() if number) or "no bead"


def run(
    until_idle: Annotated[
        bool, Option("--until-idle/--forever", help="End when nothing is left that needs no person.")
    ] = True,
    red_main: Annotated[bool, Option("--red-main", help="Let agents start though main is not green.")] = False,
    doers: Annotated[int | None, Option("--doers", min=0, max=256, help="Doers at once, from now on.")] = None,
    as_json: AsJson = False,
) -> Output:
    """Work in the foreground until everything is settled.

    It looks first, without starting an agent: at a pause, the checks and their programs, the agents and their logins.
    What would keep everything from starting is said with what mends it, and it ends with 62. Then main is tried: unless
    it passes its checks, only beads of type repair start.
    Ends with 0 when every live bead is done, with 40 when some wait for a person or a time; each is named with what to
    type. Drafts are named, too, and change no exit code: nothing of them is to be done before you approve them.
    Ctrl-C stops the agents in order and keeps their work; a second Ctrl-C ends at once, and the next run takes them up.
    """
    from ..app import hindrances

    with opened() as app:
        if doers is not None:
            from ..operations import control

            control.set_limits(app.store, {"doers": str(doers)}, actor=actor(), paths=app.paths)
        if red_main:
            from ..operations import control

            control.allow_red_main(app.store, app.git, actor(), app.paths)
        hindrances(app, red_main).require(app.store.now())
        board = _serve(app, as_json, until_idle)
        found, now = counts(app), app.store.now()
        stands = hindrances(app, red_main)
        # a person's `nobrakes stop` stays in force after the run, a signal's stop ends with it
        interrupted = board.stopping and not app.store.setting("stopping")
    settled = not any(number for name, number in found.items() if name not in SETTLED)
    data: dict[str, Any] = {"counts": found, "settled": settled, "hindrances": plain(stands)}
    data["escalations"] = [one.number for one in stands.found if one.number is not None]
    merges = [one for one in stands.found if one.kind is Kind.MERGE_WAITS]
    data["waiting"] = [{"bead": one.beads[0], "reason": one.what.partition(": ")[2]} for one in merges]

    def text(screen: Screen) -> str:
        return "\n".join([sentence(found), *lines(stands, now, screen)])

    if interrupted:
        return Output(data, text, Interrupted("it was interrupted", "`nobrakes run` goes on where it was."))
    return Output(data, text, None if settled else Unsettled("some beads are not done"))


def _serve(app: "App", as_json: bool, until_idle: bool) -> "Board":
    from ..app import serve
    from .live import Picture, Plain, Quiet

    if as_json:
        quiet = Quiet()
        return serve(app, quiet, until_idle=until_idle, notifier=quiet)
    if not sys.stdout.isatty() or screen_of(sys.stdout).width < NARROWEST:
        lines = Plain(app.store, app.store.now(), screen_of(sys.stdout).width if sys.stdout.isatty() else LINE)
        return serve(app, lines, until_idle=until_idle, notifier=lines)
    from ..operations import sessions

    said = sessions.Rings(app.paths)
    with Picture(app.store, said.last_line, lambda: sentence(counts(app))) as picture:
        return serve(app, picture, until_idle=until_idle, notifier=picture)
