"""The board that stays, to look at: what needs a person, who works, the beads by where they are, what happened.

1. It shows what the reader saw last and says how old that is when the reader has trouble. It never waits for it.
2. It changes nothing. Who wants to act does so on the page (`nobrakes web`) or by a command.
3. A narrow screen has the same parts one below the other, and the same keys.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

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

from ..beads.work_status import SHOWN
from ..text.cleaning import age, count
from . import parts
from .parts import MUTED, SHAPES, WIDE, WRONG, Row, line, said
from .reading import Moment, Reader, Trouble, Wanted

if TYPE_CHECKING:
    from ..beads.service.bead_page import BeadHistory
    from ..sessions.service.live import LiveView

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
    """A titled list. What has not changed is not drawn again; the cursor stays on its row, wherever that moves to."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("j", "cursor_down"), Binding("k", "cursor_up")]

    def __init__(self, id: str, classes: str = "") -> None:
        super().__init__(id=id, classes=classes, markup=False)
        self._rows: tuple[Row, ...] = ()

    def show(self, title: str, rows: Sequence[Row]) -> None:
        """Show these rows under this title, which is nobrakes' own words."""
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
        """The bead under the cursor; empty: none."""
        return self._rows[self.highlighted].bead if self.highlighted is not None else ""


class BeadPage(Screen[None]):
    """One bead, read again whenever something changes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q", "dismiss")]

    def __init__(self, bead: str) -> None:
        super().__init__()
        self.bead = bead
        self._found: BeadHistory | None = None

    def compose(self) -> ComposeResult:
        """The page above its keys."""
        with VerticalScroll(id="scroll"):
            yield Static("reading …", id="text", markup=False)
        yield Static(line(("esc back   ↑↓ scroll   ", MUTED), (ACTING, "bold")), id="keys", markup=False)

    def show(self, found: "BeadHistory | None", why: Trouble | None) -> None:
        """Show this of the bead; with `why` what was found before stays below it."""
        if found is not None and found.bead.id == self.bead:
            self._found = found
        out = said(WRONG, why.message, why.hint) if why is not None else []
        if self._found is not None:
            out.append(parts.bead_text(self._found))
        if out:
            self.query_one("#text", Static).update(Content("\n").join(out))


class Seen(Message):
    """The reader saw the repository, or had trouble."""

    def __init__(self, seen: Moment | Trouble) -> None:
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
        """The colours of our own, for the moment before a theme is there."""
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
            yield Input(id="filter", placeholder="words; enter keeps them, esc shows everything")
            yield Static(Content.assemble((f"{ACTING}\n", "bold"), (KEYS, MUTED)), id="keys", markup=False)

    def on_mount(self) -> None:
        """Begin to look."""
        self.screen.set_class(self.no_color, "-mono")
        self.set_interval(TICK_SECONDS, lambda: self._draw(ages=True))
        self.reader.start()

    def on_unmount(self) -> None:
        """End the thread."""
        self.reader.close()

    def _saw(self, seen: Moment | Trouble) -> None:
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
        """Lay out anew."""
        self.call_after_refresh(self._draw)

    def _draw(self, ages: bool = False) -> None:
        """Whatever has changed; `ages`: only what can have changed by the time alone."""
        base = self.screen_stack[0]
        if not base.query("#keys"):  # it has not begun, or has ended
            return
        view = self.view
        base.query_one("#top", Static).update(parts.head(view, base.size.width))
        old = time.monotonic() - self._seen_at
        state = self._state(view, old)
        base.query_one("#state", Static).set_class(bool(state), "-shown").update(Content("\n").join(state))
        if view is None:
            return
        now, wanted = view.at + old, self._wanted.words
        waits, works = len(view.escalations), len(view.working) + len(view.board.sessions)
        needs = parts.needs_you(view, now, wanted)
        base.query_one("#needs", Panel).show(f"◆ needs you {waits}" if waits else "needs you", needs)
        base.query_one("#agents", Panel).show(f"agents {works}" if works else "agents", parts.agents(view, now, wanted))
        if ages:
            return
        for name in SHOWN:
            column, number = base.query_one(f"#column-{name}", Panel), parts.how_many(name, view)
            column.set_class(number > 0, "-shown")
            if number:
                column.show(f"{SHAPES[name][0]} {name} {number}", parts.cards(name, view, base.size.width < WIDE))
        base.query_one("#log", Panel).show("log", parts.log(view, wanted))

    def _state(self, view: "LiveView | None", old: float) -> list[Content]:
        """What is said below the top: trouble, else the filter, else what keeps work from going on."""
        if self._why is not None:
            since = f", and this is {age(old)} old" if view is not None else ""
            return said(WRONG, f"{self._why.message}{since}", self._why.hint)
        if view is None:
            return []
        if self._wanted.words:
            found = count(sum((view.found or {}).values()), "bead")
            return said(("/", "$accent bold"), self._wanted.words, more=f"   {found}; esc shows everything")
        return parts.stands(view, view.at + old)

    # --- keys ------------------------------------------------------------------------------------------------------

    @on(OptionList.OptionSelected)
    def _on_selected(self, event: OptionList.OptionSelected) -> None:
        bead = event.option_list.bead if isinstance(event.option_list, Panel) else ""
        if bead:
            self._want(bead=bead)
            self.push_screen(BeadPage(bead), lambda _: self._want())
        else:
            self.notify("this line is about no bead, which could be opened", markup=False)

    def _want(self, words: str | None = None, bead: str = "") -> None:
        self._wanted = Wanted(self._wanted.words if words is None else words, bead)
        self.reader.want(self._wanted)

    def action_filter(self) -> None:
        """Type words that a line has to have."""
        self.query_one("#filter", Input).add_class("-shown").focus()

    def action_clear(self) -> None:
        """Away with the filter."""
        typed = self.query_one("#filter", Input)
        typed.value = ""  # which is a change
        self._typed()

    @on(Input.Changed)
    def _on_changed(self, event: Input.Changed) -> None:
        self._want(event.value)

    @on(Input.Submitted)
    def _typed(self) -> None:
        """Back to the lists, with the filter as it is."""
        self.query_one("#filter").remove_class("-shown")
        self.query_one("#needs").focus()
