"""What opens over the board: one bead, a diff, what an agent says, help. Esc goes back.

A page is a text that is laid out for the width of the screen, and read again when something changed.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Static

from . import acts
from .beadpage import bead_text, read_bead
from .look import WRONG, line
from .panels import Keys, Line
from .reading import Trouble
from .stage import Stage

if TYPE_CHECKING:
    from ..app import App

_OF_A_BEAD = (
    ("d", "diff", "screen.diff"),
    ("l", "log", "screen.log"),
    ("a", "answer", "screen.answer"),
    ("h", "hold/release", "screen.hold"),
)


class Detail(Screen[None]):
    """A page over the board."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "back", "Back"),
        Binding("j,down", "down", show=False),
        Binding("k,up", "up", show=False),
        Binding("space,pagedown", "page(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("g,home", "edge(0)", show=False),
        Binding("G,end", "edge(1)", show=False),
    ]

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    @property
    def board(self) -> Stage:
        """The board below."""
        assert isinstance(self.app, Stage)
        return self.app

    def keys(self) -> list[tuple[str, str, str]]:
        """What can be pressed: key, word, action."""
        return [("esc", "back", "screen.back"), ("↑↓", "scroll", "")]

    def draw(self, columns: int) -> Content:
        """The page."""
        return Content("")

    def head(self) -> Static:
        """The line at the top."""
        return Static(id="top", markup=False)

    def foot(self) -> Vertical:
        """What stands at the bottom."""
        return Vertical(id="bottom")

    def key_line(self) -> Keys:
        """The keys."""
        return Keys(self.keys())

    def change_keys(self) -> None:
        """Show the keys that hold now."""
        self.query_one(Keys).change(self.keys())

    def compose(self) -> ComposeResult:
        """The page between its title and its keys."""
        yield self.head()
        with VerticalScroll(id="scroll", can_focus=False):
            yield Static(id="text", markup=False)
        with self.foot():
            yield Line("said")
            yield self.key_line()

    def on_mount(self) -> None:
        """Draw."""
        self.redraw()

    def on_resize(self, event: Resize) -> None:
        """Draw anew."""
        self.redraw()

    def redraw(self) -> None:
        """Lay the page out for the width that there is."""
        columns = max(20, self.size.width - 3)
        self.query_one("#text", Static).update(self.draw(columns))
        self.query_one("#top", Static).update(line(self.size.width - 2, ("nobrakes  ", "bold"), self._title))

    def changed(self) -> None:
        """Something changed in the repository."""

    def trouble(self, why: Trouble) -> None:
        """Say what could not be done."""
        self.query_one("#said", Line).say((f"{WRONG[0]} ", WRONG[1]), why.message, rest=why.hint)

    def action_back(self) -> None:
        """Back to what is below."""
        self.dismiss()

    def action_down(self) -> None:
        """A line down."""
        self.query_one("#scroll").scroll_down(animate=False)

    def action_up(self) -> None:
        """A line up."""
        self.query_one("#scroll").scroll_up(animate=False)

    def action_page(self, way: int) -> None:
        """A page down or up."""
        scroll = self.query_one("#scroll")
        (scroll.scroll_page_down if way > 0 else scroll.scroll_page_up)(animate=False)

    def action_edge(self, last: int) -> None:
        """To the beginning or the end."""
        scroll = self.query_one("#scroll")
        (scroll.scroll_end if last else scroll.scroll_home)(animate=False)


class Page(Detail):
    """A page that is read from the repository by `read`, and again when something changed."""

    def __init__(
        self,
        title: str,
        read: Callable[["App"], Any],
        shown: Callable[[Any, int], Content],
        more: tuple[tuple[str, str, str], ...] = (),
        lives: bool = True,
    ) -> None:
        super().__init__(title)
        self._read, self._shown, self._more, self._lives = read, shown, more, lives
        self._value: Any = None

    def keys(self) -> list[tuple[str, str, str]]:
        """Those of every page, and the page's own."""
        return [super().keys()[0], *self._more, *super().keys()[1:]]

    def on_mount(self) -> None:
        """Read."""
        super().on_mount()
        self._ask()

    def changed(self) -> None:
        """Read again, where the page lives."""
        if self._lives:
            self._ask()

    def _ask(self) -> None:
        self.board.reader.ask(self._read, self._got)

    def _got(self, value: Any) -> None:
        if not self.is_attached:
            return
        if isinstance(value, Trouble):
            self.trouble(value)
            return
        self._value = value
        self.redraw()

    def draw(self, columns: int) -> Content:
        """What was read, or that it is being read."""
        return Content("reading …") if self._value is None else self._shown(self._value, columns)


class BeadPage(Page):
    """One bead; from here to its diff, to what its agents say, and to what it asks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "diff"),
        Binding("l", "log"),
        Binding("a,enter", "answer"),
        Binding("h", "hold"),
    ]

    def __init__(self, bead: str) -> None:
        super().__init__(bead, lambda app: read_bead(app, bead), bead_text, _OF_A_BEAD)
        self.bead = bead

    def action_diff(self) -> None:
        """What it changes."""
        self.board.open_diff(self.bead)

    def action_log(self) -> None:
        """What its agents said."""
        self.board.open_log(self.bead)

    def action_hold(self) -> None:
        """Hold it, or let it go on."""
        if self._value is None:
            return
        if self._value.bead.held is None:
            do: Callable[[App], str] = partial(
                acts.hold, actor=self.board.actor, bead=self.bead, reason="held from the board"
            )
        else:
            do = partial(acts.release, actor=self.board.actor, bead=self.bead)
        self.board.reader.ask(do, self._held)

    def _held(self, result: Any) -> None:
        if isinstance(result, Trouble):
            self.trouble(result)
            return
        self.query_one("#said", Line).say(str(result))
        self._ask()

    def action_answer(self) -> None:
        """What it waits for."""
        waiting = [] if self._value is None else [e for e in self._value.escalations if e.resolved_at is None]
        if waiting:
            self.board.open_escalation(waiting[0].id)
        else:
            self.trouble(Trouble(f"{self.bead} asks nothing"))
