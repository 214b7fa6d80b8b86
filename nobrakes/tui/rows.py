"""One line, or two on a narrow screen, for each thing on the board: a bead, what needs a person, an agent, an event.

Each is a function of the columns that there are, so that it is laid out anew when the screen changes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from ..core.beads import forms
from ..operations.views.live_board import fits
from ..wording import event_text, stages
from ..wording.text import age, count, cut, one_line, width
from ..wording.times import clock
from .look import DOUBT, EVENT_STYLES, MEDIUM, MUTED, NEEDS_YOU, Part, broken, field, line

if TYPE_CHECKING:
    from ..core.beads.escalations import Escalation
    from ..core.beads.events import Event
    from ..operations.views.board import Card, Speaker
    from ..operations.views.live_board import AtWork, LiveView

BROKEN = 36
"""Columns below which a bead's title goes on in a second line."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a panel: what it stands for (`bead:nb-1`, `escalation:4`; empty: nothing to open), and how it looks."""

    key: str
    draw: Callable[[int], Content]


def _plain(text: str, style: str = MUTED) -> Row:
    return Row("", lambda columns: line(columns, (text, style)))


def needs_you(view: "LiveView", now: float, wanted: str) -> list[Row]:
    """Escalations, costliest first."""
    found = [one for one in view.escalations if fits(f"{one.id} {one.bead or ''} {one.type.value} {one.title}", wanted)]
    return [_escalation(one, now) for one in found] or [_plain("nothing waits for you")]


def _escalation(found: "Escalation", now: float) -> Row:
    kind = found.type.value.replace("_", " ")
    urgent = "" if found.form is None else f" P{forms.priority_of(found.form)}"
    behind = f", {count(found.behind, 'bead')} behind it" if found.behind else ""
    about = f"{found.bead or 'no single bead'}{behind}"

    def draw(columns: int) -> Content:
        mark: Part = (f"{NEEDS_YOU[0]} ", NEEDS_YOU[1])
        number = f"{found.id:>3} "
        since = f"{age(now - found.created_at)}"
        if columns < MEDIUM:
            first = line(columns, mark, number, (one_line(found.title), "bold"))
            second = line(columns, "      ", (f"{kind}{urgent}  {about}  {since}", MUTED))
            return Content("\n").join([first, second])
        tail = f"  {kind}{urgent}  {about}  {since}"
        room = max(20, columns - width(tail) - 6)
        return line(columns, mark, number, (cut(one_line(found.title), room), "bold"), (tail, MUTED))

    return Row(f"escalation:{found.id}", draw)


def agents(view: "LiveView", now: float, wanted: str) -> list[Row]:
    """Who works, then the sessions."""
    rows = [_worker(one, now) for one in view.working if fits(_of_worker(one), wanted)]
    rows += [_speaker(one, now - view.at) for one in view.board.sessions if fits(f"{one.title} {one.agent}", wanted)]
    return rows or [_plain("nobody works now")]


def _of_worker(found: "AtWork") -> str:
    one = found.worker
    return f"{one.name} {one.role.value} {one.bead} {one.title} {one.agent}"


def _worker(found: "AtWork", now: float) -> Row:
    one = found.worker
    role = stages.ROLES[one.role.value]

    def draw(columns: int) -> Content:
        since = age(now - one.started_at)
        held = f"{one.memory_mb} MB  " if one.memory_mb is not None else ""
        title, last = one_line(one.title), one_line(found.last)
        says: list[Part] = [one_line(one.says)] if one.says else []
        if one.doubt:
            says += ["  ", (f"{DOUBT[0]} but {one_line(one.doubt)}", DOUBT[1])]
        if columns < MEDIUM:
            first = line(columns, ("◐ ", "$primary"), (one_line(one.name), "bold"), f" {role} {one.bead}  {since}")
            rest = (
                [line(columns, "  ", title), line(columns, "  ", (last, MUTED))]
                if last
                else [line(columns, "  ", title)]
            )
            rest += [line(columns, "  ", *says)] if says else []
            return Content("\n").join([first, *rest])
        head: list[Part] = [("◐ ", "$primary"), (field(one.name, 9) + " ", "bold"), field(role, 11) + " "]
        head += [(field(one.bead, 10), "$accent"), f"{since:>8}  {held}", title]
        below = [*says, *([("   " if says else "", ""), (last, MUTED)] if last else [])]
        return Content("\n").join([line(columns, *head), *([line(columns, "  ", *below)] if below else [])])

    return Row(f"agent:{one.bead}", draw)


def _speaker(one: "Speaker", since: float) -> Row:
    def draw(columns: int) -> Content:
        spent = f" for {age(one.seconds + since)}" if one.seconds is not None else ""
        mark = ("◐ ", "$primary") if one.seconds is not None else ("○ ", MUTED)
        head = f"session {one.session}  {one.agent}, {one.state}{spent}  "
        return line(columns, mark, head, (one_line(one.title), MUTED))

    return Row(f"session:{one.session}", draw)


def cards(name: str, view: "LiveView") -> list[Row]:
    """The beads of a column, and how many more there are."""
    who = {worker.bead: worker.name for worker in view.board.working}
    shown = view.board.columns[name]
    rows = [_card(one, who.get(one.id, ""), name) for one in shown]
    more = how_many(name, view) - len(shown)
    return rows + ([_plain(f"and {more} more")] if more > 0 else [])


def how_many(name: str, view: "LiveView") -> int:
    """Of the column's beads; with a filter, of those that fit."""
    return view.board.counts[name] if view.found is None else view.found[name]


def _card(one: "Card", who: str, name: str) -> Row:
    why = f"{one_line(who)} works on it" if who else "; ".join(one.reasons) if name == "blocked" else ""
    if one.request is not None:
        why = one_line(one.request.says)

    title = one_line(one.title)

    def draw(columns: int) -> Content:
        id_ = field(one.id, 10) if columns >= MEDIUM else one_line(one.id)
        head: list[Part] = [(id_, "$accent"), (f" P{one.priority} ", MUTED)]
        if why and columns >= MEDIUM:
            return line(columns, *head, cut(title, max(20, columns // 2)), ("  " + why, MUTED))
        room = columns - width(id_) - 4
        first, rest = broken(title, room)
        if columns >= BROKEN or not rest:
            return line(columns, *head, title)
        return Content("\n").join([line(columns, *head, first), line(columns, "  ", rest)])

    return Row(f"bead:{one.id}", draw)


def log(view: "LiveView", wanted: str) -> list[Row]:
    """What happened last, newest first."""
    found = [one for one in view.events if not wanted or fits(_of_event(one, view), wanted)]
    return [_event(one, view) for one in found] or [_plain("nothing happened yet" if not wanted else "nothing fits")]


def _of_event(event: "Event", view: "LiveView") -> str:
    return event_text.as_line(event, view.titles.get(event.bead or "", ""), _name(event, view), 500)


def _name(event: "Event", view: "LiveView") -> str:
    return view.names.get(event.attempt or 0, "")


def _event(event: "Event", view: "LiveView") -> Row:
    style = EVENT_STYLES.get(event_text.STYLES.get(event.kind, ""), "")

    def draw(columns: int) -> Content:
        who, bead = event_text.who(event, _name(event, view)), event.bead or ""
        title, what = view.titles.get(bead, ""), event_text.what(event)
        if columns < MEDIUM:
            return line(columns, (clock(event.at)[:5] + " ", MUTED), (what, style), f"  {bead} {one_line(title)}")
        head: list[Part] = [(f"{clock(event.at)}  {field(who, 10)}  ", MUTED), (f"{field(bead, 10)}  ", "$accent")]
        return line(columns, *head, (what, style), (f"  {one_line(title)}", MUTED))

    return Row(f"bead:{event.bead}" if event.bead else "", draw)
