"""The big pictures: status and board."""

import sys
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording import stages
from ..wording.text import age, count, cut, one_line
from ..wording.times import spoken
from .hindered import lines
from .machine import machine_lines
from .output import Output, said
from .providers import cap_lines
from .repository import actor, looked_at, opened
from .screen import Screen, table

if TYPE_CHECKING:
    from ..operations.views.board import BoardView, Speaker, StatusView, Worker

AsJson = Annotated[bool, Option("--json", help="Print JSON.")]
COLUMN_STYLES = {
    "ready": "green",
    "working": "cyan",
    "review": "cyan",
    "requested": "yellow",
    "escalated": "red",
    "done": "dim",
}

NO_BEAD = "no bead yet: nobrakes shape, or nobrakes plan example"


def status() -> Output:
    """The whole repository on one screen: what is done, who works, what waits for you.

    Example: nobrakes status --json | jq .data.counts
    """
    from ..app import here
    from ..operations.views import board as operations_views_board

    with looked_at() as app:
        found = operations_views_board.status(app.store, app.paths, app.config, here(app))
        now = app.store.now()
    return Output(plain(found), lambda screen: _status(found, now, screen))


def _state(found: "StatusView", screen: Screen) -> str:
    if found.stopping:
        return screen.paint("stopping: agents are being stopped", "yellow")
    if found.paused:
        return screen.paint("paused: nothing new is started", "yellow")
    if found.daemon is not None:
        return screen.paint(f"at work (process {found.daemon})", "green")
    return "at rest: nobrakes run, or nobrakes daemon start"


def _status(found: "StatusView", now: float, screen: Screen) -> str:
    total = sum(number for name, number in found.counts.items() if name != "held")
    out = [f"{screen.paint(one_line(found.main), 'bold')}  {_state(found, screen)}"]
    counted = [screen.paint(f"{n} {name}", COLUMN_STYLES.get(name, "")) for name, n in found.counts.items() if n]
    out.append(f"{count(total, 'bead')}: {', '.join(counted)}" if total else NO_BEAD)
    out += [screen.paint(one_line(why), "red") for why in (*found.behind, found.off_main, *found.unknown) if why]
    if found.working:
        out += ["", _workers(found.working, screen)]
    if found.sessions:
        out += ["", *_sessions(found.sessions, screen)]
    used = [*cap_lines(found.caps), *machine_lines(found.machine, screen)]
    used += [screen.paint(one_line(why), "yellow") for why in found.degraded]
    if used:
        out += ["", *used]
    hindered = lines(found.hindrances, now, screen)
    if hindered:
        out += ["", *hindered]
    if found.next_at is not None and found.next_at > now:
        out += ["", f"next: something is tried again or comes due at {spoken(found.next_at)}"]
    return "\n".join(out)


def _sessions(found: "tuple[Speaker, ...]", screen: Screen) -> list[str]:
    rows = []
    for one in found:
        since = f" for {age(one.seconds)}" if one.seconds is not None else ""
        since += f", {one.memory_mb} MB" if one.memory_mb is not None else ""
        rows.append(cut(f"session {one.session}, {one.agent}, {one.state}{since}: {one_line(one.title)}", screen.width))
    return rows


def _workers(working: "tuple[Worker, ...]", screen: Screen) -> str:
    rows = [(w.name, stages.ROLES[w.role.value], w.bead, age(w.seconds), _memory(w), w.title) for w in working]
    out = [table(("WHO", "ROLE", "BEAD", "SINCE", "MEMORY", "TITLE"), rows, screen)]
    out += [cut(f"  {w.bead}: {stages.stage(w.step, w.onto)}", screen.width) for w in working if w.step]
    for w in working:
        if w.says:
            out.append(cut(f"  {w.name} says: {one_line(w.says)}", screen.width))
        if w.doubt:
            out.append(screen.paint(f"  but {w.doubt}", "yellow"))
    return "\n".join(out)


def _memory(one: "Worker") -> str:
    return "-" if one.memory_mb is None else f"{one.memory_mb} MB"


def board(
    live: Annotated[bool, Option("--live", help="One screen that stays: look, answer, decide, pause.")] = False,
    as_json: AsJson = False,
) -> Output:
    """The first beads of each column, by where they are, and how many stand there. Epics are left out.

    With --live it stays on the terminal: what needs you, who works, the beads, what happens; `?` shows the keys.

    Example: nobrakes board --live
    """
    from ..operations.hindrances.look import hindrances
    from ..operations.views import board as operations_views_board

    if live:
        return _live(as_json)

    with looked_at() as app:
        found = operations_views_board.board(app.store, stands=hindrances(app.store, app.paths, app.config))
        now = app.store.now()
    return Output(plain(found), lambda screen: _board(found, now, screen))


def _live(as_json: bool) -> Output:
    """The board that stays until the person quits."""
    from .. import extras

    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the board can stay on a terminal only",
            "Leave --live out; programs read `nobrakes board --json`, or follow `nobrakes events --follow --json`.",
        )
    extras.need("tui", "`nobrakes board --live`")
    from ..tui.board import Board

    with opened(is_reading=True) as app:  # what keeps it from being opened is said before the screen is taken
        assert app.store
    Board(None, actor()).run()
    return said({}, "")


def _board(found: "BoardView", now: float, screen: Screen) -> str:
    who = {worker.bead: worker.name for worker in found.working}
    out = []
    for name, cards in found.columns.items():
        if not cards:
            continue
        out += [screen.paint(f"{name} ({found.counts[name]})", COLUMN_STYLES.get(name, "bold"))]
        for card in cards:
            why = (
                f"{who[card.id]} works on it"
                if card.id in who
                else "; ".join(card.reasons)
                if name == "blocked"
                else ""
            )
            if card.request is not None:
                why = card.request.says
            title = cut(one_line(card.title), max(20, screen.width // 2))
            out.append(cut(f"  {card.id}  P{card.priority}  {title}  {one_line(why)}".rstrip(), screen.width))
        more = found.counts[name] - len(cards)
        out += [f"  and {more} more: nobrakes list"] if more > 0 else []
        out.append("")
    out += [*_sessions(found.sessions, screen), ""] if found.sessions else []
    out += [*machine_lines(found.machine, screen), *lines(found.hindrances, now, screen)]
    return "\n".join(out).rstrip() or NO_BEAD
