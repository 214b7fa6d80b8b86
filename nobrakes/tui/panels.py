"""The parts of the screen: lists of rows that keep their cursor while they change, and the line of keys."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.containers import ScrollableContainer
from textual.content import Content
from textual.events import Click, Resize
from textual.geometry import Region
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from ..wording.text import width
from .look import MUTED, line
from .rows import Row


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
