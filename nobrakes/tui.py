"""The live board: how things look (a shape and a colour for each state, a line for each thing), and its screens.

1. A colour never says anything alone: the shape and the word say the same.
2. Texts are Content made of parts and never markup: brackets in a title are brackets.
3. A line says everything; the screen breaks it where it is too narrow.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.app import App as Textual
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.filter import Monochrome, NoColor
from textual.message import Message
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from .beads import work_status
from .beads.model import Attempt, blocked_by, blockers_of
from .beads.service.bead_page import BeadHistory, history
from .beads.service.board import Card
from .beads.work_status import BY_STATUS, SHOWN
from .daemon.service.status import OpenSession
from .decisions import blockers as hindered
from .decisions import forms
from .decisions.blockers import STOPS, Kind
from .decisions.model import Escalation
from .errors import NobrakesError
from .events import words
from .events.kinds import Event
from .records import frozen
from .sessions.service.viewing import AtWork, LiveReader, LiveView, fits, identity
from .text.cleaning import age, clock, count, cut, lines, one_line, pad, spoken

if TYPE_CHECKING:
    from .app import App


# One thread reads, with an app of its own, so that the screen never waits. A database that was replaced is reopened;
# one that is gone is said, and not rebuilt: a board only looks. No error leaves the thread: each is told as words,
# and what was read last stays.
LOOK_SECONDS = 0.5
READ_SECONDS = 1.0


@frozen
class Wanted:
    """The wanted view: beads whose line has these words, and the open bead's page; empty: all, none."""

    words: str = ""
    bead: str = ""


@frozen
class View:
    """One consistent reading; `page`: of the wanted bead."""

    view: "LiveView"
    page: "BeadHistory | None"


@frozen
class Trouble:
    """Why reading failed, and what to type; `hint` may be empty."""

    message: str
    hint: str = ""


class Gone(NobrakesError):
    """The database is missing."""

    hint = "`nobrakes status` rebuilds the database from the files beside it."

    def __init__(self) -> None:
        super().__init__("the database was removed")


class Reader(threading.Thread):
    """Calls `seen` with each View or Trouble in this thread. `start` begins it, `close` ends it."""

    def __init__(self, folder: str | None, seen: Callable[[View | Trouble], None]) -> None:
        super().__init__(name="reader", daemon=True)
        self._folder, self._seen = folder, seen
        self._wanted = Wanted()
        self._wake, self._ended = threading.Event(), threading.Event()
        self._app: App | None = None
        self._live: LiveReader | None = None
        self._identity: object = None
        self._mark: object = None
        self._read_at = 0.0
        self._trouble: Trouble | None = None

    def want(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._wake.set()

    def close(self, seconds: float = 5.0) -> None:
        self._ended.set()
        self._wake.set()
        if self.is_alive():
            self.join(seconds)

    def run(self) -> None:
        try:
            while not self._ended.is_set():
                try:
                    self._look()
                    self._trouble = None
                except Exception as error:
                    self._close()
                    if (found := trouble_of(error)) != self._trouble:
                        self._trouble = found
                        self._seen(found)
                self._wake.wait(LOOK_SECONDS)
                self._wake.clear()
        finally:
            self._close()

    def _look(self) -> None:
        app, live = self._opened()
        wanted = self._wanted
        seen = self._mark
        if isinstance(seen, tuple) and seen[0] == wanted and time.monotonic() - self._read_at < READ_SECONDS:
            return
        mark = (wanted, live.mark())
        if mark == seen:
            return
        found = View(live.read(wanted.words), history(app.store, None, wanted.bead) if wanted.bead else None)
        # what happened while it was read is seen the next time
        self._mark, self._read_at = mark, time.monotonic()
        self._seen(found)

    def _opened(self) -> "tuple[App, LiveReader]":
        from .app import open_app

        if self._app is not None and self._live is not None:
            if identity(self._app.paths) == self._identity:
                return self._app, self._live
            self._close()
        app = open_app(self._folder, is_reading=True)
        self._identity = identity(app.paths)
        if self._identity is None:
            raise Gone()
        self._app, self._live = app, LiveReader(app.store, app.paths, app.config)
        return self._app, self._live

    def _close(self) -> None:
        app, self._app, self._live, self._mark = self._app, None, None, None
        if app is not None:
            try:
                app.close()
            except Exception:
                return  # it is gone, and that was said


def trouble_of(error: Exception) -> Trouble:
    if isinstance(error, NobrakesError):
        return Trouble(str(error), error.hint)
    return Trouble(f"{type(error).__name__}: {error}")


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
NEEDS_YOU = ("◆", "$warning bold")
WARNING = ("▲", "$warning")
WRONG = ("✗", "$error bold")
EVENT_STYLES = {"red": "$error", "yellow": "$warning", "green": "$success", "": ""}
MUTED = "$quiet"
WIDE, MEDIUM = 110, 60
EVENTS = 200
LONG = 400

Part = str | tuple[str, str]


class Row(NamedTuple):
    """A line of a panel: what it stands for (`escalation:4`), its look, and the bead to open; empty: none."""

    key: str
    text: Content
    bead: str = ""


def line(*parts: Part) -> Content:
    return Content.assemble(*((_kept(one), "") if isinstance(one, str) else (_kept(one[0]), one[1]) for one in parts))


def _kept(text: str) -> str:
    inner = cut(one_line(text).strip(), LONG)
    before = " " * (len(text) - len(text.lstrip(" ")))
    return before + inner + (" " * (len(text) - len(text.rstrip(" "))) if inner else "")


def field(text: str, columns: int) -> str:
    return pad(cut(one_line(text), columns), columns)


def paragraph(text: str) -> list[Content]:
    return [Content("  " + one) for one in lines(text.rstrip())]


def said(mark: Part, what: str, rest: str = "", more: str = "") -> list[Content]:
    return [line(mark, f" {what}", (more, MUTED)), *([line((rest, MUTED))] if rest else [])]


def head(view: "LiveView | None", columns: int) -> Content:
    """Main, activity, and the number of beads by column, if there is room."""
    if view is None:
        return line(("nobrakes  ", "bold"), "reading …")
    out: list[Part] = [(f"{view.main}  ", "bold"), *_work(view, columns)]
    for name, number in view.board.counts.items() if columns >= MEDIUM else ():
        if number and name in SHAPES:
            out += ["   ", SHAPES[name], f" {number} {name}"]
    return line(*out)


def _work(view: "LiveView", columns: int) -> list[Part]:
    if view.stopping:
        return [("■ stopping: nobrakes is stopping the agents", "$warning")]
    if view.paused:
        return [("‖ paused: no new work starts", "$warning")]
    if view.daemon is not None:
        return [("▶ at work", "$success")]
    return [("□ idle", MUTED), ("; to start: nobrakes run, or nobrakes daemon start" if columns >= WIDE else "", MUTED)]


def stands(view: "LiveView", now: float) -> list[Content]:
    """The main blocker that the top and first panel do not show."""
    found = view.board.hindrances.found
    heavy = [one for one in found if one.kind in STOPS and one.kind not in (Kind.PAUSED, Kind.STOPPING)]
    if not heavy:
        return []
    told = hindered.told(heavy[0], now)
    more = f"   and {len(heavy) - 1} more: nobrakes status" if len(heavy) > 1 else ""
    return said(WARNING, told.what, " ".join(part for part in (told.cure, *told.commands[:1]) if part), more)


def _plain(text: str) -> Row:
    return Row("", line((text, MUTED)))


def needs_you(view: "LiveView", now: float, wanted: str) -> list[Row]:
    """Escalations, costliest first."""
    found = [one for one in view.escalations if fits(f"{one.id} {one.bead or ''} {one.type.value} {one.title}", wanted)]
    others = len(view.board.hindrances.asks)
    told = count(others, "other thing needs you", "other things need you") + ", named above"
    return [_escalation(one, now) for one in found] or [_plain(told if others else "nothing needs you")]


def _escalation(found: "Escalation", now: float) -> Row:
    kind = found.type.value.replace("_", " ")
    urgent = "" if found.form is None else f" P{forms.priority_of(found.form)}"
    behind = f", {count(found.behind, 'bead')} behind it" if found.behind else ""
    tail = f"  {kind}{urgent}  {found.bead or 'no single bead'}{behind}  {age(now - found.created_at)}"
    text = line(NEEDS_YOU, f" {found.id:>3} ", (found.title, "bold"), (tail, MUTED))
    return Row(f"escalation:{found.id}", text, found.bead or "")


def agents(view: "LiveView", now: float, wanted: str) -> list[Row]:
    rows = [_worker(one, now) for one in view.working if fits(_worker_text(one), wanted)]
    rows += [_session(one, now - view.at) for one in view.board.sessions if fits(f"{one.title} {one.agent}", wanted)]
    return rows or [_plain("no agent is working now")]


def _worker_text(found: "AtWork") -> str:
    one = found.worker
    return f"{one.name} {one.role.value} {one.bead} {one.title} {one.agent}"


def _worker(found: "AtWork", now: float) -> Row:
    one = found.worker
    held = f"{one.memory_mb} MB  " if one.memory_mb is not None else ""
    who: list[Part] = [
        SHAPES["working"],
        (f" {field(one.name, 9)} ", "bold"),
        f"{field(work_status.ROLES[one.role.value], 11)} ",
    ]
    out = [line(*who, (field(one.bead, 10), "$accent"), f" {age(now - one.started_at):>8}  {held}", one.title)]
    below: list[Part] = [one.says] if one.says else []
    below += [(f"  {WARNING[0]} but {one.doubt}", WARNING[1])] if one.doubt else []
    below += [(f"   {found.last}" if below else found.last, MUTED)] if found.last else []
    return Row(f"agent:{one.attempt}", Content("\n").join([*out, *([line("  ", *below)] if below else [])]), one.bead)


def _session(one: "OpenSession", since: float) -> Row:
    spent = f" for {age(one.seconds + since)}" if one.seconds is not None else ""
    mark: Part = SHAPES["working"] if one.seconds is not None else ("○", MUTED)
    text = line(mark, f" session {one.session}  {one.agent}, {one.state}{spent}  ", (one.title, MUTED))
    return Row(f"session:{one.session}", text)


def cards(name: str, view: "LiveView", says: bool) -> list[Row]:
    """A column's beads and the number of others; `says`: with what each waits for."""
    who = {worker.bead: worker.name for worker in view.board.working}
    shown = view.board.columns[name]
    rows = [_card(one, _why(one, who.get(one.id, ""), name) if says else "") for one in shown]
    more = how_many(name, view) - len(shown)
    return rows + ([_plain(f"and {more} more")] if more > 0 else [])


def how_many(name: str, view: "LiveView") -> int:
    return view.board.counts[name] if view.found is None else view.found[name]


def _why(one: "Card", who: str, name: str) -> str:
    if one.request is not None:
        return one.request.says
    return f"{who} is working on it" if who else "; ".join(one.reasons) if name == "blocked" else ""


def _card(one: "Card", why: str) -> Row:
    text = line((one.id, "$accent"), (f" P{one.priority} ", MUTED), one.title, (f"  {why}" if why else "", MUTED))
    return Row(one.id, text, one.id)


def log(view: "LiveView", wanted: str) -> list[Row]:
    found = [one for one in view.events if not wanted or fits(_event_text(one, view), wanted)]
    return [_event(one, view) for one in found] or [_plain("no events yet" if not wanted else "nothing fits")]


def _event_text(event: "Event", view: "LiveView") -> str:
    return words.as_line(event, view.titles.get(event.bead or "", ""), _name(event, view), 500)


def _name(event: "Event", view: "LiveView") -> str:
    return view.names.get(event.attempt or 0, "")


def _event(event: "Event", view: "LiveView") -> Row:
    who, bead = words.who(event, _name(event, view)), event.bead or ""
    begin: list[Part] = [(f"{clock(event.at)}  {field(who, 10)}  ", MUTED), (f"{field(bead, 10)}  ", "$accent")]
    text = line(*begin, (words.what(event), _style(event)), (f"  {view.titles.get(bead, '')}", MUTED))
    return Row(str(event.seq), text, bead)


def _style(event: "Event") -> str:
    return EVENT_STYLES.get(words.style(event), "")


def bead_text(found: "BeadHistory") -> Content:
    """The bead: what it is, what it waits for, attempts, events."""
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


# The board shows what the reader saw last and says how old that is when the reader has trouble. It changes nothing: who
# wants to act does so on the page (`nobrakes web`) or by a command. A narrow screen has the same parts one below the
# other.
TICK_SECONDS = 1.0
ACTING = "to act: nobrakes web --open"
KEYS = "q quit   / filter   enter open   esc back   tab next part   ↑↓ move"

NIGHT = Theme(
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
CSS = """
Screen { background: $background; color: $foreground; }
* { scrollbar-color: $foreground 25%; scrollbar-background: $background; scrollbar-size-vertical: 1; }
#top { height: auto; padding: 0 1; background: $panel; }
#state { height: auto; max-height: 3; padding: 0 1; display: none; }
#state.-shown, #filter.-shown { display: block; }
#body, #scroll { height: 1fr; }
#above { height: auto; max-height: 45%; }
#beads { height: 1fr; }
#bottom { height: auto; dock: bottom; }
#keys { height: auto; padding: 0 1; background: $panel; }
#text { height: auto; padding: 0 1; }
#filter { height: 1; border: none; padding: 0 1; background: $panel; display: none; }
Panel {
    height: auto; max-height: 100%; padding: 0 1; background: transparent;
    border: none; border-top: solid $foreground 20%; border-title-color: $foreground; border-title-style: bold;
}
Panel:focus { border: none; border-top: solid $accent; border-title-color: $accent; background-tint: $foreground 0%; }
Panel > .option-list--option { padding: 0; }
Panel > .option-list--option-highlighted { color: $foreground; background: transparent; text-style: none; }
Panel:focus > .option-list--option-highlighted {
    color: $foreground; background: $accent 25%; text-style: bold;
}
.-mono Panel:focus > .option-list--option-highlighted { text-style: reverse; }
.column { display: none; }
.column.-shown { display: block; }
#needs { max-height: 7; }
#agents { max-height: 13; }
#log { height: 6; }
.-wide #above { layout: horizontal; max-height: 40%; min-height: 5; }
.-wide #needs, .-wide #agents { width: 1fr; max-height: 100%; margin: 0 1 0 0; }
.-wide #beads { layout: horizontal; overflow-x: hidden; }
.-wide .column { width: 1fr; height: 1fr; margin: 0 1 0 0; }
.-wide #log { height: 10; }
"""


class Panel(OptionList):
    """A titled list. Unchanged contents are not redrawn; the cursor follows its row."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("j", "cursor_down"), Binding("k", "cursor_up")]

    def __init__(self, id: str, classes: str = "") -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._rows: tuple[Row, ...] = ()

    def show(self, title: str, rows: Sequence[Row]) -> None:
        """Show these rows under this trusted title."""
        self.border_title = title
        before, place = self._rows, self.highlighted or 0
        self._rows = tuple(rows)
        if self._rows == before:
            return
        keys = [row.key for row in self._rows]
        key = before[place].key if place < len(before) else ""
        with self.prevent(OptionList.OptionHighlighted):
            if len(before) == len(keys):
                for index, row in enumerate(self._rows):
                    self.replace_option_prompt_at_index(index, row.text)
            else:
                self.set_options([Option(row.text) for row in self._rows])
            self.highlighted = keys.index(key) if key and key in keys else min(place, len(keys) - 1)

    @property
    def bead(self) -> str:
        return self._rows[self.highlighted].bead if self.highlighted is not None else ""


class BeadPage(Screen[None]):
    """One bead, read again at each change."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss")]

    def __init__(self, bead: str) -> None:
        super().__init__()
        self.bead = bead
        self._found: BeadHistory | None = None

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="scroll"):
            yield Static("reading …", id="text", markup=False)
        yield Static(line(("esc back   ↑↓ scroll   ", MUTED), (ACTING, "bold")), id="keys", markup=False)

    def show(self, found: "BeadHistory | None", why: Trouble | None) -> None:
        """Show this bead; with `why` the former content stays below."""
        if found is not None and found.bead.id == self.bead:
            self._found = found
        out = said(WRONG, why.message, why.hint) if why is not None else []
        if self._found is not None:
            out.append(bead_text(self._found))
        if out:
            self.query_one("#text", Static).update(Content("\n").join(out))


class Seen(Message):
    """The reader's result or trouble."""

    def __init__(self, seen: View | Trouble) -> None:
        super().__init__()
        self.seen = seen


class Board(Textual[None]):
    """The live board of the repository around `folder`."""

    CSS = CSS
    TITLE = "nobrakes"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit"),
        Binding("slash", "filter"),
        Binding("escape", "clear"),
    ]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (WIDE, "-wide")]  # noqa: RUF012

    def __init__(self, folder: str | None) -> None:
        super().__init__()
        self.register_theme(NIGHT)
        self.theme = NIGHT.name
        self.reader = Reader(folder, self._saw)
        self.view: LiveView | None = None
        self._why: Trouble | None = None
        self._seen_at = 0.0
        self._wanted = Wanted()
        if self.no_color:  # no colours at all: shape, word and reversal say it
            self._filters = [NoColor() if isinstance(one, Monochrome) else one for one in self._filters]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return dict(NIGHT.variables)

    def compose(self) -> ComposeResult:
        """From the top to the keys."""
        yield Static(id="top", markup=False)
        yield Static(id="state", markup=False)
        with Vertical(id="body"):
            with Container(id="above"):
                yield Panel("needs")
                yield Panel("agents")
            with VerticalScroll(id="beads", can_focus=False):
                for name in SHOWN:
                    yield Panel(f"column-{name}", "column")
            yield Panel("log")
        with Vertical(id="bottom"):
            yield Input(id="filter", placeholder="search words; enter applies them, esc shows everything")
            yield Static(Content.assemble((f"{ACTING}\n", "bold"), (KEYS, MUTED)), id="keys", markup=False)

    def on_mount(self) -> None:
        self.screen.set_class(self.no_color, "-mono")
        self.set_interval(TICK_SECONDS, lambda: self._draw(ages=True))
        self.reader.start()

    def on_unmount(self) -> None:
        self.reader.close()

    def _saw(self, seen: View | Trouble) -> None:
        self.post_message(Seen(seen))

    @on(Seen)
    def _on_seen(self, message: Seen) -> None:
        seen, is_first = message.seen, self.view is None
        if isinstance(seen, Trouble):
            self._why = seen
        else:
            self.view, self._why, self._seen_at = seen.view, None, time.monotonic()
            if is_first:  # the cursor stands where something is to be done
                self.call_after_refresh(self.query_one("#needs" if seen.view.escalations else "#agents").focus)
        self._draw()
        if isinstance(self.screen, BeadPage):
            self.screen.show(None if isinstance(seen, Trouble) else seen.page, self._why)

    def on_resize(self, event: Resize) -> None:
        self.call_after_refresh(self._draw)

    def _draw(self, ages: bool = False) -> None:
        base = self.screen_stack[0]
        if not base.query("#keys"):  # it has not begun, or has ended
            return
        view = self.view
        base.query_one("#top", Static).update(head(view, base.size.width))
        old = time.monotonic() - self._seen_at
        state = self._state(view, old)
        base.query_one("#state", Static).set_class(bool(state), "-shown").update(Content("\n").join(state))
        if view is None:
            return
        now, wanted = view.at + old, self._wanted.words
        waits, works = len(view.escalations), len(view.working) + len(view.board.sessions)
        needs = needs_you(view, now, wanted)
        base.query_one("#needs", Panel).show(f"◆ needs you {waits}" if waits else "needs you", needs)
        base.query_one("#agents", Panel).show(f"agents {works}" if works else "agents", agents(view, now, wanted))
        if ages:
            return
        for name in SHOWN:
            column, number = base.query_one(f"#column-{name}", Panel), how_many(name, view)
            column.set_class(number > 0, "-shown")
            if number:
                column.show(f"{SHAPES[name][0]} {name} {number}", cards(name, view, base.size.width < WIDE))
        base.query_one("#log", Panel).show("log", log(view, wanted))

    def _state(self, view: "LiveView | None", old: float) -> list[Content]:
        if self._why is not None:
            since = f"; the last data is {age(old)} old" if view is not None else ""
            return said(WRONG, f"{self._why.message}{since}", self._why.hint)
        if view is None:
            return []
        if self._wanted.words:
            found = count(sum((view.found or {}).values()), "bead")
            return said(("/", "$accent bold"), self._wanted.words, more=f"   {found}; esc shows everything")
        return stands(view, view.at + old)

    # --- keys ------------------------------------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    def _on_selected(self, event: OptionList.OptionSelected) -> None:
        bead = event.option_list.bead if isinstance(event.option_list, Panel) else ""
        if bead:
            self._want(bead=bead)
            self.push_screen(BeadPage(bead), lambda _: self._want())
        else:
            self.notify("this line has no bead to open", markup=False)

    def _want(self, words: str | None = None, bead: str = "") -> None:
        self._wanted = Wanted(self._wanted.words if words is None else words, bead)
        self.reader.want(self._wanted)

    def action_filter(self) -> None:
        self.query_one("#filter", Input).add_class("-shown").focus()

    def action_clear(self) -> None:
        typed = self.query_one("#filter", Input)
        typed.value = ""  # which is a change
        self._typed()

    @on(Input.Changed)
    def _on_changed(self, event: Input.Changed) -> None:
        self._want(event.value)

    @on(Input.Submitted)
    def _typed(self) -> None:
        self.query_one("#filter").remove_class("-shown")
        self.query_one("#needs").focus()
