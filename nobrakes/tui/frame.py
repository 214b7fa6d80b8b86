"""What the board shows of a moment: the line at the top, what stands in the way, and the parts below."""

from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ..core.columns import SHOWN
from ..core.hindrances import STOPS, Kind
from ..wording import hindrances as hindered
from ..wording.text import age, count, one_line
from . import rows
from .look import DOUBT, MUTED, SHAPES, WIDE, WRONG, Part, line
from .panels import Column, Line, Panel
from .reading import Trouble

if TYPE_CHECKING:
    from ..operations.views.live_board import LiveView

NARROW = 60
"""Columns below which the counts stand with the columns alone."""


class Shown(NamedTuple):
    """What was seen last, `old` seconds ago; `now` is the store's clock. `trouble`: why it is not seen any more."""

    view: "LiveView | None"
    now: float
    old: float
    wanted: str
    trouble: Trouble | None


def draw(base: Screen[None], shown: Shown, ages: bool) -> None:
    """Whatever has changed; `ages`: only what can have changed by the time alone."""
    if not base.query("#keys"):  # it has not begun, or has ended
        return
    base.query_one("#top", Static).update(_top(shown, base.size.width - 2))
    _state(base.query_one("#state", Line), shown)
    view = shown.view
    if view is None:
        return
    now, wanted = shown.now, shown.wanted
    waiting = len(view.escalations)
    needs = rows.needs_you(view, now, wanted)
    base.query_one("#needs", Panel).show(f"◆ needs you {waiting}" if waiting else "needs you", needs)
    works = len(view.working) + len(view.board.sessions)
    base.query_one("#agents", Panel).show(f"agents {works}" if works else "agents", rows.agents(view, now, wanted))
    if ages:
        return
    for name in SHOWN:
        column, number = base.query_one(f"#column-{name}", Column), rows.how_many(name, view)
        column.set_class(number > 0, "-shown")
        if number:
            column.show(f"{SHAPES[name][0]} {name} {number}", rows.cards(name, view))
    base.query_one("#log", Panel).show("log", rows.log(view, wanted))


def _top(shown: Shown, room: int) -> Content:
    view = shown.view
    if view is None:
        return line(room, ("nobrakes  ", "bold"), "" if shown.trouble else "reading …")
    head: list[Part] = [(one_line(view.main) + "  ", "bold"), *_work(view, room)]
    counted = [(name, number) for name, number in view.board.counts.items() if number and name in SHAPES]
    gap = "   " if room >= WIDE else "  "
    for name, number in counted if room >= NARROW - 2 else ():
        shape, style = SHAPES[name]
        head += [gap, (shape, style), f" {number} {name}"]
    return line(room, *head)


def _work(view: "LiveView", room: int) -> list[Part]:
    """Whether somebody works."""
    if view.stopping:
        return [("■ stopping: agents are being stopped", "$warning")]
    if view.paused:
        return [("‖ paused: nothing new is started", "$warning")]
    if view.daemon is not None:
        return [("▶ at work", "$success")]
    return [("□ at rest", MUTED), (": nobrakes run, or nobrakes daemon start" if room >= WIDE else "", MUTED)]


def _state(state: Line, shown: Shown) -> None:
    view, why = shown.view, shown.trouble
    if why is not None:
        old = f", and this is {age(shown.old)} old" if view is not None else ""
        state.say((f"{WRONG[0]} ", WRONG[1]), f"{one_line(why.message)}{old}", rest=why.hint)
    elif shown.wanted:
        found = count(sum((view.found or {}).values()), "bead") if view is not None else ""
        state.say(("/ ", "$accent bold"), shown.wanted, (f"   {found}; esc shows everything", MUTED))
    else:
        _stands(state, shown)


def _stands(state: Line, shown: Shown) -> None:
    """The heaviest thing that keeps work from going on, beside what the top and the first panel say anyway."""
    found = () if shown.view is None else shown.view.board.hindrances.found
    heavy = [one for one in found if one.kind in STOPS and one.kind not in (Kind.PAUSED, Kind.STOPPING)]
    if not heavy:
        state.say()
        return
    words = hindered.told(heavy[0], shown.now)
    more = f"   and {len(heavy) - 1} more: nobrakes status" if len(heavy) > 1 else ""
    typed = " ".join(part for part in (words.cure, *words.commands[:1]) if part)
    state.say((f"{DOUBT[0]} ", DOUBT[1]), words.what, (more, MUTED), rest=typed)
