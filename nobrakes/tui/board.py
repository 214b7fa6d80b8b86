"""The board that stays: what needs a person, who works, the beads by where they are, what happened.

1. It shows what the reader saw last and says how old that is when the reader has trouble. It never waits for it.
2. Keys act as their commands do, through operations; what came of it, or why it was refused, is said at the bottom.
3. A narrow screen has the same parts one below the other, and the same keys.
"""

import os
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.filter import Monochrome, NoColor
from textual.screen import Screen
from textual.widgets import Input, Label, OptionList, Static

from ..beads.work_status import SHOWN
from ..decisions import hindrances as hindered
from ..decisions.hindrances import STOPS, Kind
from ..text.cleaning import age, count, one_line
from . import parts
from .pages import Ask, BeadPage, Detail, Page, diff_text, help_text, log_text, read_decision, read_diff, read_log
from .parts import (
    CSS,
    DARK,
    DOUBT,
    LIGHT,
    MUTED,
    SHAPES,
    WIDE,
    WRONG,
    Column,
    Finished,
    Keys,
    Line,
    Panel,
    Part,
    Seen,
    Stage,
    line,
)
from .reading import Job, Reader, Trouble

if TYPE_CHECKING:
    from ..app import App
    from ..sessions.service.live import LiveView
    from .parts import Stage


# What the board shows of a moment: the line at the top, what stands in the way, and the parts below.

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
    needs = parts.needs_you(view, now, wanted)
    base.query_one("#needs", Panel).show(f"◆ needs you {waiting}" if waiting else "needs you", needs)
    works = len(view.working) + len(view.board.sessions)
    base.query_one("#agents", Panel).show(f"agents {works}" if works else "agents", parts.agents(view, now, wanted))
    if ages:
        return
    for name in SHOWN:
        column, number = base.query_one(f"#column-{name}", Column), parts.how_many(name, view)
        column.set_class(number > 0, "-shown")
        if number:
            column.show(f"{SHAPES[name][0]} {name} {number}", parts.cards(name, view))
    base.query_one("#log", Panel).show("log", parts.log(view, wanted))


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


# The line after a colon: a bead or an escalation to jump to, or a word and what it is about.

_HELP = "? shows what can be typed."


def run(board: "Stage", typed: str) -> None:
    """Do what was typed; what it cannot be is said."""
    word, _, rest = typed.strip().partition(" ")
    rest = rest.strip()
    if not word:
        return
    if word.isascii() and word.isdigit() and not rest and len(word) < 19:
        board.open_escalation(int(word))
    elif word in _ALONE and not rest:
        _ALONE[word](board)
    elif word in _OPENING:
        if rest:
            _OPENING[word](board, rest)
        else:
            board.trouble(Trouble(f"{word} what?", _HELP))
    elif word in _ACTS:
        _act(board, word, rest)
    elif not rest:
        board.reader.ask(lambda app: app.store.bead(word).id, partial(_found, board))
    else:
        board.trouble(Trouble(f"'{word[:40]}' is no command", _HELP))


def _found(board: "Stage", result: Any) -> None:
    if isinstance(result, Trouble):
        board.trouble(Trouble(result.message, f"{result.hint} {_HELP}".strip()))
    else:
        board.open_bead(result)


def _act(board: "Stage", word: str, rest: str) -> None:
    made = _ACTS[word](board.actor, rest)
    if made is None:
        board.trouble(Trouble(f"{word} what?", _HELP))
    else:
        board.do(made)


def _hold(actor: str, rest: str) -> "Callable[[App], str] | None":
    bead, _, reason = rest.partition(" ")
    return partial(parts.hold, actor=actor, bead=bead, reason=reason.strip()) if reason.strip() else None


def _release(actor: str, rest: str) -> "Callable[[App], str] | None":
    return partial(parts.release, actor=actor, bead=rest) if rest else None


def _stop(actor: str, rest: str) -> "Callable[[App], str] | None":
    return partial(parts.stop, actor=actor, name=rest) if rest else None


_ALONE: dict[str, Callable[["Stage"], object]] = {
    "help": lambda board: board.action_help(),
    "quit": lambda board: board.exit(),
    "q": lambda board: board.exit(),
    "pause": lambda board: board.do(partial(parts.pause, actor=board.actor)),
    "resume": lambda board: board.do(partial(parts.resume, actor=board.actor)),
    "filter": lambda board: board.set_filter(""),
}
_OPENING: dict[str, Callable[["Stage", str], object]] = {
    "diff": lambda board, rest: board.open_diff(rest),
    "log": lambda board, rest: board.open_log(rest),
    "filter": lambda board, rest: board.set_filter(rest),
}
_ACTS: dict[str, Callable[[str, str], "Callable[[App], str] | None"]] = {
    "hold": _hold,
    "release": _release,
    "stop": _stop,
}


LOW = 32
"""Rows below which less is shown at once."""
TICK_SECONDS = 1.0
KEYS = (
    ("?", "help", "app.help"),
    ("a", "answer", "app.answer"),
    ("/", "filter", "app.filter"),
    (":", "go to", "app.command"),
    ("p", "pause", "app.pause"),
    ("q", "quit", "app.quit"),
    ("enter", "open", "app.open"),
    ("d", "diff", "app.diff"),
    ("l", "log", "app.log"),
    ("tab", "next part", "app.focus_next"),
    ("t", "light/dark", "app.theme"),
)


class Board(Stage):
    """The live board of the repository around `folder`; decisions are signed with `actor`."""

    CSS = CSS
    TITLE = "nobrakes"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit"),
        Binding("question_mark", "help"),
        Binding("slash", "filter"),
        Binding("colon", "command"),
        Binding("p", "pause"),
        Binding("a", "answer"),
        Binding("d", "diff"),
        Binding("l", "log"),
        Binding("r", "again"),
        Binding("t", "theme"),
        Binding("left", "beside(-1)"),
        Binding("right", "beside(1)"),
        Binding("escape", "clear"),
    ]

    def __init__(self, folder: str | None, actor: str) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = "day" if _is_light(os.environ.get("COLORFGBG", "")) else "night"
        self.HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (NARROW, "-medium"), (WIDE, "-wide")]
        self.VERTICAL_BREAKPOINTS = [(0, "-low"), (LOW, "-high")]
        self.actor = actor
        self.reader = Reader(folder, self._saw, self._did)
        self.view: LiveView | None = None
        self._why: Trouble | None = None
        self._seen_at = 0.0
        self._filter = ""
        self._typing = ""  # what the line of input is for
        self._version: object = None
        if self.no_color:  # no colours at all: shape, word and reversal say it
            self._filters = [NoColor() if isinstance(one, Monochrome) else one for one in self._filters]

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours of our own, for the moment before a theme is there."""
        return dict(DARK.variables)

    # --- the screen ------------------------------------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """From the top to the keys."""
        yield Static(id="top", markup=False)
        yield Line("state")
        with Vertical(id="body"):
            with Container(id="above"):
                yield Panel("needs")
                yield Panel("agents")
            with VerticalScroll(id="beads", can_focus=False):
                for name in SHOWN:
                    yield Column(f"column-{name}")
            yield Panel("log")
        with Vertical(id="bottom"):
            yield Line("said")
            with Horizontal(id="line"):
                yield Label(id="what", markup=False)
                yield Input(id="typed")
            yield Keys(KEYS)

    def on_mount(self) -> None:
        """Begin to look."""
        self.screen.set_class(self.no_color, "-mono")
        self.set_interval(TICK_SECONDS, self._tick)
        self.reader.start()

    def on_unmount(self) -> None:
        """End the thread."""
        self.reader.close()

    def _saw(self, seen: "LiveView | Trouble") -> None:
        self.post_message(Seen(seen))

    def _did(self, job: Job, result: Any) -> None:
        self.post_message(Finished(job, result))

    @on(Seen)
    def _on_seen(self, message: Seen) -> None:
        if isinstance(message.seen, Trouble):
            self._why = message.seen
        else:
            first = self.view is None
            self.view, self._why, self._seen_at = message.seen, None, time.monotonic()
            if first:
                self.call_after_refresh(self._begin)
        self._draw()
        if isinstance(self.screen, Detail) and self.view is not None and self._version != self.view.events[:1]:
            self.screen.changed()
        self._version = None if self.view is None else self.view.events[:1]

    @on(Finished)
    def _on_finished(self, message: Finished) -> None:
        message.job.done(message.result)

    def _begin(self) -> None:
        """The cursor stands where something is to be done."""
        base = self.screen_stack[0]
        wanted = "#needs" if self.view is not None and self.view.escalations else "#agents"
        base.query_one(wanted, Panel).focus()

    def on_resize(self, event: Resize) -> None:
        """Lay out anew."""
        self.call_after_refresh(self._draw)

    def _tick(self) -> None:
        """Time goes on: what has an age is drawn where it has changed."""
        self._draw(ages=True)

    @property
    def now(self) -> float:
        """The store's clock, as far as it is known."""
        return time.time() if self.view is None else self.view.at + time.monotonic() - self._seen_at

    def _draw(self, ages: bool = False) -> None:
        """Whatever has changed; `ages`: only what can have changed by the time alone."""
        old = time.monotonic() - self._seen_at
        draw(self.screen_stack[0], Shown(self.view, self.now, old, self._filter, self._why), ages)

    # --- what is said ----------------------------------------------------------------------------------------------

    def tell(self, words: str) -> None:
        """Say what was done."""
        self.screen_stack[0].query_one("#said", Line).say(("✓ ", "$success bold"), one_line(words))

    def trouble(self, why: Trouble) -> None:
        """Say what was not done, and why, on the screen that the person sees."""
        if isinstance(self.screen, Detail):
            self.screen.trouble(why)
            return
        self.query_one("#said", Line).say((f"{WRONG[0]} ", WRONG[1]), one_line(why.message), rest=one_line(why.hint))

    def do(self, act: Callable[["App"], str]) -> None:
        """Have it done, and say what came of it."""
        self.reader.ask(act, self._told)

    def _told(self, result: Any) -> None:
        if isinstance(result, Trouble):
            self.trouble(result)
        else:
            self.tell(str(result))

    # --- moving ----------------------------------------------------------------------------------------------------

    def _panels(self) -> list[Panel]:
        return [panel for panel in self.query(Panel) if panel.display]

    @on(Panel.Edge)
    def _on_edge(self, message: Panel.Edge) -> None:
        """On to the next part, or back to the one before."""
        panels = self._panels()
        if isinstance(message.panel, Column) and self.screen.has_class("-wide"):  # its neighbours are beside it
            panels = [one for one in panels if one is message.panel or not isinstance(one, Column)]
        place = panels.index(message.panel) + message.way
        if 0 <= place < len(panels):
            panels[place].focus()

    def action_beside(self, way: int) -> None:
        """The part before or after."""
        panels = self._panels()
        if self.focused in panels:
            place = panels.index(self.focused) + way
            if 0 <= place < len(panels):
                panels[place].focus()

    @property
    def _current(self) -> tuple[str, str]:
        """What the cursor is on: its kind and its name."""
        kind, _, name = self.focused.current.partition(":") if isinstance(self.focused, Panel) else ("", "", "")
        return kind, name

    @on(OptionList.OptionSelected)
    def _on_selected(self, event: OptionList.OptionSelected) -> None:
        if isinstance(event.option_list, Panel):
            kind, name = self._current
            if kind == "escalation":
                self.open_escalation(int(name))
            elif kind in ("bead", "agent"):
                self.open_bead(name)
            elif kind == "session":
                self.trouble(Trouble(f"session {name} is a conversation", f"`nobrakes session show {name}` shows it."))

    def action_open(self) -> None:
        """What the cursor is on."""
        if isinstance(self.focused, Panel):
            self.focused.action_select()

    def _bead(self) -> str:
        """The bead that the cursor is about; empty: none."""
        kind, name = self._current
        if kind in ("bead", "agent"):
            return name
        if kind == "escalation" and self.view is not None:
            return next((one.bead or "" for one in self.view.escalations if one.id == int(name)), "")
        return ""

    # --- keys ------------------------------------------------------------------------------------------------------

    def action_help(self) -> None:
        """The keys."""
        self.push_screen(Page("help", lambda app: "", help_text, lives=False))

    def action_answer(self) -> None:
        """Answer or decide."""
        kind, name = self._current
        if kind == "escalation":
            self.open_escalation(int(name))
            return
        waiting = () if self.view is None else self.view.escalations
        own = [one for one in waiting if one.bead is not None and one.bead == self._bead()]
        if own or waiting:
            self.open_escalation((own or list(waiting))[0].id)
        else:
            self.trouble(Trouble("nothing waits for you"))

    def action_diff(self) -> None:
        """What the bead changes."""
        self._with_bead(self.open_diff)

    def action_log(self) -> None:
        """What its agents said."""
        self._with_bead(self.open_log)

    def _with_bead(self, open_it: Callable[[str], None]) -> None:
        bead = self._bead()
        if bead:
            open_it(bead)
        else:
            self.trouble(Trouble("the cursor is on no bead"))

    def action_pause(self) -> None:
        """Pause, or go on."""
        is_paused = self.view is not None and (self.view.paused or self.view.stopping)
        self.do(partial(parts.resume if is_paused else parts.pause, actor=self.actor))

    def action_again(self) -> None:
        """Read everything again."""
        self.reader.again()

    def action_theme(self) -> None:
        """Light or dark."""
        self.theme = "night" if self.theme == "day" else "day"

    def action_filter(self) -> None:
        """Type a filter."""
        self._type("/", self._filter)

    def action_command(self) -> None:
        """Type where to go or what to do."""
        self._type(":", "")

    def action_clear(self) -> None:
        """Away with what was said, then with the filter."""
        said = self.query_one("#said", Line)
        if said.has_class("-shown"):
            said.say()
        elif self._filter:
            self.set_filter("")

    # --- the line of input -----------------------------------------------------------------------------------------

    def _type(self, what: str, value: str) -> None:
        if isinstance(self.screen, Detail):
            return
        self._typing = what
        self.query_one("#said", Line).say()
        self.query_one("#what", Label).update(Content(what))
        typed = self.query_one("#typed", Input)
        self.query_one("#line").add_class("-shown")
        self._before = self.focused
        typed.value = value
        typed.focus()

    _before: Any = None

    def _typed_away(self) -> None:
        self.query_one("#line").remove_class("-shown")
        self._typing = ""
        if self._before is not None:
            self._before.focus()

    @on(Input.Changed, "#typed")
    def _on_changed(self, event: Input.Changed) -> None:
        if self._typing == "/":
            self.set_filter(event.value)

    @on(Input.Submitted, "#typed")
    def _on_submitted(self, event: Input.Submitted) -> None:
        what, value = self._typing, event.value
        self._typed_away()
        if what == ":":
            run(self, value)

    def on_key(self, event: Any) -> None:
        """Esc in the line of input: away with it, and with a filter that was typed there."""
        if event.key == "escape" and self._typing:
            event.stop()
            event.prevent_default()
            was = self._typing
            self._typed_away()
            if was == "/":
                self.set_filter("")

    def set_filter(self, words: str) -> None:
        """Show only what has these words."""
        if words != self._filter:
            self._filter = words
            self.reader.want(words)
            self._draw()

    # --- pages -----------------------------------------------------------------------------------------------------

    def open_bead(self, bead: str) -> None:
        """A page about the bead."""
        self.push_screen(BeadPage(bead))

    def open_diff(self, bead: str) -> None:
        """A page with what it changes."""
        self.push_screen(Page(f"{bead}: what it changes", partial(read_diff, bead=bead), diff_text, lives=False))

    def open_log(self, bead: str) -> None:
        """A page with what its agents said."""
        self.push_screen(Page(f"{bead}: what its agents said", partial(read_log, name_or_bead=bead), log_text))

    def open_escalation(self, number: int) -> None:
        """A page to decide it."""
        self.reader.ask(partial(read_decision, number=number), self._ask)

    def _ask(self, result: Any) -> None:
        if isinstance(result, Trouble):
            self.trouble(result)
        else:
            self.push_screen(Ask(result, self.now))


def _is_light(said: str) -> bool:
    """What a terminal says of its colours in COLORFGBG (`0;15`): whether its ground is light."""
    return said.rpartition(";")[2] in ("7", "15")
