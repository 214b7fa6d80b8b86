"""How things look: a shape and a colour for each state, beside its word, and the sheet of styles.

1. A colour never says anything alone: the shape and the word say the same.
2. Texts are Content made of parts and never markup: brackets in a title are brackets.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import App as Textual
from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.theme import Theme
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ..beads import stages
from ..decisions import forms
from ..errors import NotAllowed
from ..events import words
from ..sessions.service.live import fits
from ..text.cleaning import age, count, cut, lines, one_line, pad, width
from ..text.times import clock
from .reading import Job, Reader, Trouble

if TYPE_CHECKING:
    from ..app import App
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

Part = str | tuple[str, str]

DARK = Theme(
    name="night",
    primary="#7aa2f7",
    secondary="#bb9af7",
    accent="#7aa2f7",
    warning="#e0af68",
    error="#f7768e",
    success="#9ece6a",
    foreground="#c8ccd8",
    background="#16181f",
    surface="#16181f",
    panel="#1f222b",
    dark=True,
    variables={"quiet": "#868da0"},
)
LIGHT = Theme(
    name="day",
    primary="#2856b8",
    secondary="#7a3fb0",
    accent="#2856b8",
    warning="#8f5a00",
    error="#b3261e",
    success="#2f6b1f",
    foreground="#24262e",
    background="#fafaf7",
    surface="#fafaf7",
    panel="#eceae3",
    dark=False,
    variables={"quiet": "#6a6d75"},
)

CSS = """
Screen { background: $background; color: $foreground; }
* { scrollbar-color: $foreground 25%; scrollbar-background: $background; scrollbar-color-hover: $accent;
    scrollbar-color-active: $accent; scrollbar-background-hover: $background;
    scrollbar-background-active: $background; }
#top { height: auto; padding: 0 1; background: $panel; }
#state { height: auto; max-height: 3; padding: 0 1; display: none; }
#state.-shown { display: block; }
#body { height: 1fr; }
#above { height: auto; max-height: 45%; }
#beads { height: 1fr; }
#bottom { height: auto; dock: bottom; }
#keys {
    height: 1; padding: 0 1; background: $panel;
}
#said { height: auto; max-height: 4; padding: 0 1; display: none; }
#said.-shown { display: block; }
#line { height: 1; display: none; }
#line.-shown { display: block; }
#line Label { width: auto; padding: 0 1; color: $accent; text-style: bold; }
Input { height: 1; border: none; padding: 0 1; background: $panel; }
Input:focus { border: none; background-tint: $foreground 5%; }
Panel {
    height: auto; max-height: 100%; padding: 0 1; background: transparent;
    border: none; border-top: solid $foreground 20%; border-title-color: $foreground; border-title-style: bold;
    scrollbar-size-vertical: 1;
}
Panel:focus { border: none; border-top: solid $accent; border-title-color: $accent; background-tint: $foreground 0%; }
Panel > .option-list--option { padding: 0; }
Panel > .option-list--option-disabled { color: $quiet; }
Panel > .option-list--option-highlighted { color: $foreground; background: transparent; text-style: none; }
Panel:focus > .option-list--option-highlighted {
    color: $foreground; background: $accent 25%; text-style: bold;
}
.-mono Panel:focus > .option-list--option-highlighted { text-style: reverse; }
.-mono Choice:focus > .option-list--option-highlighted { text-style: reverse; }
.-mono Button:focus { text-style: reverse; }
Column { display: none; max-height: 10000; }
#beads { scrollbar-size-vertical: 1; }
Column.-shown { display: block; }
#needs { max-height: 7; }
#agents { max-height: 13; }
#log { height: 6; }
.-wide #above { layout: horizontal; height: auto; max-height: 40%; min-height: 5; }
.-wide #needs { width: 1fr; height: auto; max-height: 100%; margin: 0 1 0 0; }
.-wide #agents { width: 1fr; height: auto; max-height: 100%; }
.-wide #beads { layout: horizontal; overflow-x: hidden; }
.-wide Column { width: 1fr; height: 1fr; max-height: 100%; margin: 0 1 0 0; }
.-wide #log { height: 10; }
.-low #log { height: 4; }
.-low #needs { max-height: 5; }
.-low #agents { max-height: 7; }
.-narrow #log { height: 5; }
Detail #text, Ask #text { padding: 0 1; height: auto; }
Detail #scroll, Ask #scroll { height: 1fr; scrollbar-size-vertical: 1; }
Choice {
    height: auto; max-height: 100%; border: none; padding: 0 1; margin: 1 0 0 0; background: transparent;
}
Choice:focus { border: none; background-tint: $foreground 0%; }
Choice > .option-list--option-highlighted { color: $foreground; background: transparent; text-style: none; }
Choice:focus > .option-list--option-highlighted { color: $foreground; background: $accent 25%; text-style: none; }
Ask Input { margin: 1 1 0 1; }
Ask TextArea { height: 6; margin: 1 1 0 1; border: none; background: $panel; padding: 0 1; }
Ask TextArea:focus { border: none; }
Ask .label { padding: 0 1; color: $quiet; margin: 1 0 0 0; }
Ask #send { margin: 1 1; min-width: 12; height: 1; border: none; background: $panel; color: $foreground; }
Ask #send:focus { background: $accent 40%; text-style: bold; }
"""


def line(columns: int, *parts: Part) -> Content:
    """Parts on one line of so many columns: each made harmless, the last that fits cut."""
    out: list[Part] = []
    left = columns
    for part in parts:
        text, style = (part, "") if isinstance(part, str) else part
        kept = _kept(text)
        shown = cut(kept, left)
        if shown:
            out.append((shown, style))
            left -= width(shown)
        if shown != kept:
            break
    return Content.assemble(*out)


def _kept(text: str) -> str:
    """Harmless, with the blanks at its ends, by which parts stand apart."""
    if text.isprintable() and text.isascii():
        return text
    inner = one_line(text).strip()
    before = " " * (len(text) - len(text.lstrip(" ")))
    after = " " * (len(text) - len(text.rstrip(" "))) if inner else ""
    return before + inner + after


def field(text: str, columns: int) -> str:
    """One untrusted field of a line, exactly as wide as said."""
    return pad(cut(one_line(text), columns), columns)


def shape(column: str) -> tuple[str, str]:
    """The shape of a column with a blank behind it."""
    found, style = SHAPES[column]
    return f"{found} ", style


def paragraph(text: str, columns: int, indent: str = "  ", style: str = "") -> Content:
    """Untrusted text of several lines: harmless, each broken at words so that nothing is lost."""
    room = max(10, columns - width(indent))
    out = []
    for one in lines(text.rstrip()):
        rest = one
        while True:
            part, rest = broken(rest, room)
            out.append((indent + part, style))
            if not rest:
                break
    return Content("\n").join([Content.assemble(part) for part in out])


def broken(text: str, room: int) -> tuple[str, str]:
    """As much of the text as fits, up to a blank where there is one, and the rest."""
    if width(text) <= room:
        return text, ""
    piece = cut(text, room + 1).removesuffix("…")
    place = len(piece) if text[len(piece) :].startswith(" ") else piece.rfind(" ")
    if place > room // 2:
        return text[:place], text[place:].lstrip(" ")
    piece = piece or text[:1]
    return piece, text[len(piece) :]


# One line, or two on a narrow screen, for each thing on the board: a bead, what needs a person, an agent, an event.
#
# Each is a function of the columns that there are, so that it is laid out anew when the screen changes.

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
    return words.as_line(event, view.titles.get(event.bead or "", ""), _name(event, view), 500)


def _name(event: "Event", view: "LiveView") -> str:
    return view.names.get(event.attempt or 0, "")


def _event(event: "Event", view: "LiveView") -> Row:
    style = EVENT_STYLES.get(words.STYLES.get(event.kind, ""), "")

    def draw(columns: int) -> Content:
        who, bead = words.who(event, _name(event, view)), event.bead or ""
        title, what = view.titles.get(bead, ""), words.what(event)
        if columns < MEDIUM:
            return line(columns, (clock(event.at)[:5] + " ", MUTED), (what, style), f"  {bead} {one_line(title)}")
        head: list[Part] = [(f"{clock(event.at)}  {field(who, 10)}  ", MUTED), (f"{field(bead, 10)}  ", "$accent")]
        return line(columns, *head, (what, style), (f"  {one_line(title)}", MUTED))

    return Row(f"bead:{event.bead}" if event.bead else "", draw)


# The parts of the screen: lists of rows that keep their cursor while they change, and the line of keys.


class Panel(OptionList):
    """A titled list. What has not changed is not drawn again; the cursor stays on its row, wherever that moves to."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
    ]

    class Edge(Message):
        """The cursor was moved beyond the first (-1) or the last row (1)."""

        def __init__(self, panel: "Panel", way: int) -> None:
            super().__init__()
            self.panel, self.way = panel, way

    def __init__(self, id: str) -> None:
        super().__init__(id=id, markup=False)
        self._rows: tuple[Row, ...] = ()
        self._drawn: list[Content] = []
        self._columns = 0

    def show(self, title: str, rows: Sequence[Row]) -> None:
        """Show these rows under this title, which is nobrakes' own words."""
        if self.border_title != title:
            self.border_title = title
        self._rows = tuple(rows)
        self._draw()

    @property
    def current(self) -> str:
        """The key of the row under the cursor; empty: it stands for nothing."""
        return self._rows[self.highlighted].key if self.highlighted is not None and self._rows else ""

    @property
    def has_rows(self) -> bool:
        """Whether there is something to open."""
        return any(row.key for row in self._rows)

    def on_resize(self, event: Resize) -> None:
        """Lay the rows out anew."""
        self._draw()

    def _draw(self) -> None:
        columns = self.scrollable_content_region.width
        if columns <= 0:
            return
        drawn = [row.draw(columns) for row in self._rows]
        if columns == self._columns and drawn == self._drawn and len(self.options) == len(drawn):
            return
        keys = [row.key for row in self._rows]
        before, place = self._cursor, self.highlighted
        self._drawn, self._columns = drawn, columns
        with self.prevent(OptionList.OptionHighlighted):
            if len(self.options) == len(drawn):
                for index, content in enumerate(drawn):
                    if self.options[index].prompt != content:
                        self.replace_option_prompt_at_index(index, content)
            else:
                self.set_options([Option(content) for content in drawn])
            if before and before in keys:
                self.highlighted = keys.index(before)
            elif keys:
                self.highlighted = min(place or 0, len(keys) - 1)
        self.refresh(layout=True)
        self._cursor = self.current

    _cursor = ""

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Remember what the cursor is on."""
        super().watch_highlighted(highlighted)
        if highlighted is not None and highlighted < len(self._rows):
            self._cursor = self._rows[highlighted].key

    def action_cursor_down(self) -> None:
        """Down, and out at the end."""
        if self.highlighted is None or self.highlighted >= len(self._rows) - 1:
            self.post_message(self.Edge(self, 1))
        else:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        """Up, and out at the beginning."""
        if not self.highlighted:
            self.post_message(self.Edge(self, -1))
        else:
            super().action_cursor_up()


class Column(Panel):
    """The beads that stand in one column of the board; one below the other, what is around them scrolls."""

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Keep the cursor in sight."""
        super().watch_highlighted(highlighted)
        if highlighted is not None and self.has_focus:
            self.call_after_refresh(self._come_into_sight)

    def on_focus(self) -> None:
        """The cursor comes into sight."""
        self.call_after_refresh(self._come_into_sight)

    def _come_into_sight(self) -> None:
        around = self.parent
        if self.highlighted is None or not isinstance(around, ScrollableContainer) or not around.max_scroll_y:
            return
        heights = [content.plain.count("\n") + 1 for content in self._drawn[: self.highlighted + 1]]
        above = sum(heights[:-1])
        top = self.virtual_region.y + above + (1 if above else 0)
        around.scroll_to_region(Region(0, top, 1, heights[-1] + (0 if above else 1)), animate=False)


class Keys(Static):
    """The keys at the bottom: as many as fit, the most useful first; they can be touched."""

    def __init__(self, keys: Sequence[tuple[str, str, str]], id: str = "keys") -> None:
        """`keys`: what is pressed, what it does, and the action that it calls."""
        super().__init__(id=id, markup=False)
        self._keys = tuple(keys)
        self._places: list[tuple[int, int, str]] = []

    def on_mount(self) -> None:
        """Draw."""
        self._draw()

    def on_resize(self, event: Resize) -> None:
        """Draw anew."""
        self._draw()

    def change(self, keys: Sequence[tuple[str, str, str]]) -> None:
        """Show others."""
        if tuple(keys) != self._keys:
            self._keys = tuple(keys)
            self._draw()

    async def on_click(self, event: Click) -> None:
        """Do what was touched."""
        for start, end, action in self._places:
            if start <= event.x < end and action:
                await self.screen.run_action(action)

    def _draw(self) -> None:
        room = self.size.width - 2
        out: list[str | Content | tuple[str, str]] = []
        place, self._places = 1, []
        for key, word, action in self._keys:
            taken = width(key) + 1 + width(word)
            if place + taken > room + 1:
                continue
            out += [(key, "$accent bold"), " ", (word, MUTED), "  "]
            self._places.append((place, place + taken, action))
            place += taken + 2
        self.update(Content.assemble(*out))


class Line(Static):
    """One or more lines of words that are shown when there are some."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id, markup=False)
        self._words: object = None

    def say(self, *parts: str | tuple[str, str], rest: str = "") -> None:
        """Show the parts, and `rest` on a line of its own; nothing: the line is away."""
        if self._words == (parts, rest):
            return
        self._words = (parts, rest)
        self.set_class(bool(parts), "-shown")
        room = 400
        shown = [line(room, *parts)] + ([line(room, (rest, MUTED))] if rest else [])
        self.update(Content("\n").join(shown))


# What a person does from the board: the same operations as the commands, and in the same words.
#
# Each takes the app, in the thread that reads, and returns the sentence that the person is told; errors pass.


def refuse_agents() -> None:
    """NotAllowed inside a run: what changes something is for people."""
    from ..app import is_agent

    if is_agent():
        raise NotAllowed(
            "an agent may not decide from the board",
            "Say what you need with `nobrakes agent escalate`, or ask with `nobrakes agent ask`.",
        )


def pause(app: "App", actor: str) -> str:
    """Start nothing new."""
    from ..daemon.service import control

    refuse_agents()
    control.pause(app.store, app.paths, actor)
    return "paused: nothing new is started; p goes on"


def resume(app: "App", actor: str) -> str:
    """Go on."""
    from ..daemon.service import control

    refuse_agents()
    control.resume(app.store, app.paths, actor)
    return "new work is started again"


def hold(app: "App", actor: str, bead: str, reason: str) -> str:
    """Keep the bead from being worked on."""
    from ..beads.service import beads

    refuse_agents()
    beads.hold(app.store, bead, reason, actor, app.paths)
    return f"{bead} is held"


def release(app: "App", actor: str, bead: str) -> str:
    """Let a held bead go on."""
    from ..beads.service import beads

    refuse_agents()
    beads.release(app.store, bead, actor, app.paths)
    return f"{bead} is released"


def stop(app: "App", actor: str, name: str) -> str:
    """Have one agent stopped."""
    from ..daemon.service import control

    refuse_agents()
    stopped = control.stop_one(app.store, app.paths, name, None, actor)
    return f"{one_line(stopped.name)} is being stopped, its work is kept; {stopped.bead} goes on"


def answer(app: "App", actor: str, number: int, text: str) -> str:
    """Answer a question."""
    from ..decisions.service import desk

    refuse_agents()
    decided = desk.answer(app.store, number, text, actor, app.paths)
    return f"escalation {number} is answered{desk.then(app.store, decided)}"


def resolve(app: "App", actor: str, number: int, how: str, note: str) -> str:
    """Decide an escalation."""
    from ..decisions.service import desk

    refuse_agents()
    decided = desk.resolve(app.store, number, how, note, actor, app.paths)
    return f"escalation {number} is resolved: {how}{desk.then(app.store, decided)}"


# What the pages over the board may ask of it, so that they need not know how it looks.


class Seen(Message):
    """The reader saw the repository, or had trouble."""

    def __init__(self, seen: "LiveView | Trouble") -> None:
        super().__init__()
        self.seen = seen


class Finished(Message):
    """The reader did what it was asked."""

    def __init__(self, job: Job, result: Any) -> None:
        super().__init__()
        self.job, self.result = job, result


class Stage(Textual[None]):
    """The board for its pages. `actor` signs what is decided; `reader` does what touches the repository."""

    actor: str
    reader: Reader

    def tell(self, words: str) -> None:
        """Say what was done, on the board."""

    def trouble(self, why: Trouble) -> None:
        """Say what was not done, and why, on the screen that the person sees."""

    def do(self, act: "Callable[[App], str]") -> None:
        """Have it done, and say what came of it."""

    def set_filter(self, words: str) -> None:
        """Show only what has these words."""

    def action_help(self) -> None:
        """A page with the keys."""

    def open_bead(self, bead: str) -> None:
        """A page about the bead."""

    def open_diff(self, bead: str) -> None:
        """A page with what it changes."""

    def open_log(self, bead: str) -> None:
        """A page with what its agents said."""

    def open_escalation(self, number: int) -> None:
        """A page to decide it."""
