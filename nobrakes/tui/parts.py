"""How things look: a shape and a colour for each state, a line for each thing on the board, and one bead whole.

1. A colour never says anything alone: the shape and the word say the same.
2. Texts are Content made of parts and never markup: brackets in a title are brackets.
3. A line says everything; the screen breaks it where it is too narrow.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from textual.content import Content

from ..beads import stages
from ..beads.model import blocked_by, blockers_of
from ..beads.work_status import BY_STATUS
from ..decisions import forms
from ..decisions import hindrances as hindered
from ..decisions.hindrances import STOPS, Kind
from ..events import words
from ..sessions.service.live import fits
from ..text.cleaning import age, count, cut, lines, one_line, pad
from ..text.times import clock, spoken

if TYPE_CHECKING:
    from ..beads.model import Attempt
    from ..beads.service.bead_page import BeadHistory
    from ..beads.service.board import Card, Speaker
    from ..decisions.model import Escalation
    from ..events.kinds import Event
    from ..sessions.service.live import AtWork, LiveView

SHAPES: Mapping[str, tuple[str, str]] = {
    "draft": ("◇", "$quiet"),
    "blocked": ("◌", "$quiet"),
    "ready": ("○", "$success"),
    "working": ("◐", "$primary"),
    "review": ("◉", "$secondary"),
    "requested": ("◎", "$secondary"),
    "escalated": ("◆", "$warning"),
    "done": ("✓", "$quiet"),
    "cancelled": ("✕", "$quiet"),
}
"""By column of the board: its shape and its style."""
NEEDS_YOU = ("◆", "$warning bold")
DOUBT = ("▲", "$warning")
WRONG = ("✗", "$error bold")
EVENT_STYLES = {"red": "$error", "yellow": "$warning", "green": "$success", "": ""}
MUTED = "$quiet"
WIDE, MEDIUM = 110, 60
"""Columns from which the board stands side by side, and from which a line has room for all."""
EVENTS = 200
"""So many of a bead's latest events are shown."""
LONG = 400
"""Columns of one part of a line, at most."""

Part = str | tuple[str, str]


class Row(NamedTuple):
    """A line of a panel: what it stands for (`escalation:4`), how it looks, and the bead to open; empty: none."""

    key: str
    text: Content
    bead: str = ""


def line(*parts: Part) -> Content:
    """Parts on one line, each made harmless; the blanks at their ends, by which they stand apart, are kept."""
    return Content.assemble(*((_kept(one), "") if isinstance(one, str) else (_kept(one[0]), one[1]) for one in parts))


def _kept(text: str) -> str:
    inner = cut(one_line(text).strip(), LONG)
    before = " " * (len(text) - len(text.lstrip(" ")))
    return before + inner + (" " * (len(text) - len(text.rstrip(" "))) if inner else "")


def field(text: str, columns: int) -> str:
    """One untrusted field of a line, exactly as wide as said."""
    return pad(cut(one_line(text), columns), columns)


def paragraph(text: str) -> list[Content]:
    """Untrusted text of several lines: harmless, and nothing of it lost."""
    return [Content("  " + one) for one in lines(text.rstrip())]


def said(mark: Part, what: str, rest: str = "", more: str = "") -> list[Content]:
    """Words behind a mark, and `rest` on a line of its own."""
    return [line(mark, f" {what}", (more, MUTED)), *([line((rest, MUTED))] if rest else [])]


# The line at the top, and what stands in the way.


def head(view: "LiveView | None", columns: int) -> Content:
    """Main, whether somebody works, and how many beads stand in each column, where there is room."""
    if view is None:
        return line(("nobrakes  ", "bold"), "reading …")
    out: list[Part] = [(f"{view.main}  ", "bold"), *_work(view, columns)]
    for name, number in view.board.counts.items() if columns >= MEDIUM else ():
        if number and name in SHAPES:
            out += ["   ", SHAPES[name], f" {number} {name}"]
    return line(*out)


def _work(view: "LiveView", columns: int) -> list[Part]:
    if view.stopping:
        return [("■ stopping: agents are being stopped", "$warning")]
    if view.paused:
        return [("‖ paused: nothing new is started", "$warning")]
    if view.daemon is not None:
        return [("▶ at work", "$success")]
    return [("□ at rest", MUTED), (": nobrakes run, or nobrakes daemon start" if columns >= WIDE else "", MUTED)]


def stands(view: "LiveView", now: float) -> list[Content]:
    """The heaviest thing that keeps work from going on, beside what the top and the first panel say anyway."""
    found = view.board.hindrances.found
    heavy = [one for one in found if one.kind in STOPS and one.kind not in (Kind.PAUSED, Kind.STOPPING)]
    if not heavy:
        return []
    told = hindered.told(heavy[0], now)
    more = f"   and {len(heavy) - 1} more: nobrakes status" if len(heavy) > 1 else ""
    return said(DOUBT, told.what, " ".join(part for part in (told.cure, *told.commands[:1]) if part), more)


# What needs a person, who works, the beads of a column, what happened.


def _plain(text: str) -> Row:
    return Row("", line((text, MUTED)))


def needs_you(view: "LiveView", now: float, wanted: str) -> list[Row]:
    """Escalations, costliest first."""
    found = [one for one in view.escalations if fits(f"{one.id} {one.bead or ''} {one.type.value} {one.title}", wanted)]
    return [_escalation(one, now) for one in found] or [_plain("nothing waits for you")]


def _escalation(found: "Escalation", now: float) -> Row:
    kind = found.type.value.replace("_", " ")
    urgent = "" if found.form is None else f" P{forms.priority_of(found.form)}"
    behind = f", {count(found.behind, 'bead')} behind it" if found.behind else ""
    tail = f"  {kind}{urgent}  {found.bead or 'no single bead'}{behind}  {age(now - found.created_at)}"
    text = line(NEEDS_YOU, f" {found.id:>3} ", (found.title, "bold"), (tail, MUTED))
    return Row(f"escalation:{found.id}", text, found.bead or "")


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
    held = f"{one.memory_mb} MB  " if one.memory_mb is not None else ""
    who: list[Part] = [
        SHAPES["working"],
        (f" {field(one.name, 9)} ", "bold"),
        f"{field(stages.ROLES[one.role.value], 11)} ",
    ]
    out = [line(*who, (field(one.bead, 10), "$accent"), f" {age(now - one.started_at):>8}  {held}", one.title)]
    below: list[Part] = [one.says] if one.says else []
    below += [(f"  {DOUBT[0]} but {one.doubt}", DOUBT[1])] if one.doubt else []
    below += [(f"   {found.last}" if below else found.last, MUTED)] if found.last else []
    return Row(f"agent:{one.attempt}", Content("\n").join([*out, *([line("  ", *below)] if below else [])]), one.bead)


def _speaker(one: "Speaker", since: float) -> Row:
    spent = f" for {age(one.seconds + since)}" if one.seconds is not None else ""
    mark: Part = SHAPES["working"] if one.seconds is not None else ("○", MUTED)
    text = line(mark, f" session {one.session}  {one.agent}, {one.state}{spent}  ", (one.title, MUTED))
    return Row(f"session:{one.session}", text)


def cards(name: str, view: "LiveView", says: bool) -> list[Row]:
    """The beads of a column, and how many more there are; `says`: with what each waits for."""
    who = {worker.bead: worker.name for worker in view.board.working}
    shown = view.board.columns[name]
    rows = [_card(one, _why(one, who.get(one.id, ""), name) if says else "") for one in shown]
    more = how_many(name, view) - len(shown)
    return rows + ([_plain(f"and {more} more")] if more > 0 else [])


def how_many(name: str, view: "LiveView") -> int:
    """Of the column's beads; with a filter, of those that fit."""
    return view.board.counts[name] if view.found is None else view.found[name]


def _why(one: "Card", who: str, name: str) -> str:
    if one.request is not None:
        return one.request.says
    return f"{who} works on it" if who else "; ".join(one.reasons) if name == "blocked" else ""


def _card(one: "Card", why: str) -> Row:
    text = line((one.id, "$accent"), (f" P{one.priority} ", MUTED), one.title, (f"  {why}" if why else "", MUTED))
    return Row(one.id, text, one.id)


def log(view: "LiveView", wanted: str) -> list[Row]:
    """What happened last, newest first."""
    found = [one for one in view.events if not wanted or fits(_of_event(one, view), wanted)]
    return [_event(one, view) for one in found] or [_plain("nothing happened yet" if not wanted else "nothing fits")]


def _of_event(event: "Event", view: "LiveView") -> str:
    return words.as_line(event, view.titles.get(event.bead or "", ""), _name(event, view), 500)


def _name(event: "Event", view: "LiveView") -> str:
    return view.names.get(event.attempt or 0, "")


def _event(event: "Event", view: "LiveView") -> Row:
    who, bead = words.who(event, _name(event, view)), event.bead or ""
    begin: list[Part] = [(f"{clock(event.at)}  {field(who, 10)}  ", MUTED), (f"{field(bead, 10)}  ", "$accent")]
    text = line(*begin, (words.what(event), _style(event)), (f"  {view.titles.get(bead, '')}", MUTED))
    return Row(str(event.seq), text, bead)


def _style(event: "Event") -> str:
    return EVENT_STYLES.get(words.STYLES.get(event.kind, ""), "")


# One bead as a page.


def bead_text(found: "BeadHistory") -> Content:
    """The bead: what it is, what it waits for, who tried, what happened."""
    bead = found.bead
    shape, style = SHAPES.get(BY_STATUS.get(bead.status, "ready"), ("○", ""))
    out = [line((shape, style), (f" {bead.title}", "bold"))]
    state: list[Part] = [(f"  {bead.status.value.replace('_', ' ')}", style), f"  P{bead.priority}  {bead.type.value}"]
    state += [f"  {bead.assignee}"] if bead.assignee else []
    state += [f"  epic {bead.epic}"] if bead.epic else []
    out.append(line(*state, *((f"  {label}", MUTED) for label in bead.labels)))
    if bead.held is not None:
        out.append(line((f"  held: {bead.held}", "$warning")))
    for one in found.escalations:
        if one.resolved_at is None:
            out.append(line((f"  {NEEDS_YOU[0]} escalation {one.id}: ", NEEDS_YOU[1]), one.title))
    waits, behind = blockers_of(bead.id, found.dependencies), blocked_by(bead.id, found.dependencies)
    out += [line((f"  waits for {', '.join(waits)}", MUTED))] if waits else []
    out += [line((f"  before {', '.join(behind)}", MUTED))] if behind else []
    out += [Content(""), *paragraph(bead.description)] if bead.description.strip() else []
    if bead.acceptance:
        out += [*_title("done when"), *(line(f"  · {one}") for one in bead.acceptance)]
    if found.attempts:
        out += [*_title("attempts"), *map(_attempt, found.attempts)]
    out += _title("what happened, newest first")
    for event in found.events[: -EVENTS - 1 : -1]:
        when: Part = (f"  {spoken(event.at)}  {words.who(event):<10}  ", MUTED)
        out.append(line(when, (words.what(event), _style(event))))
    return Content("\n").join(out)


def _title(text: str) -> list[Content]:
    return [Content(""), line((text, "bold"))]


def _attempt(one: "Attempt") -> Content:
    ended = one.outcome.value.replace("_", " ") if one.outcome else "works"
    since = spoken(one.started_at) if one.ended_at is None else age(one.ended_at - one.started_at)
    mark = ("✓", "$success") if ended == "completed" else ("◐", "$primary") if one.outcome is None else ("✗", MUTED)
    first = f" {one.number}  {one.role.value.replace('_', ' ')}  {one.name}  {ended}  {since}"
    return line("  ", mark, first, (f"  {one.detail}" if one.detail else "", MUTED))
