"""One bead as a page, what an agent said, a diff, and the help: values into text of so many columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Resize
from textual.screen import Screen
from textual.widgets import Button, Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from ..beads.model import blocked_by, blockers_of
from ..beads.work_status import BY_STATUS
from ..decisions import forms
from ..decisions.model import EscalationType
from ..events import words
from ..text.cleaning import age, count, lines, one_line
from ..text.times import spoken
from . import parts
from .parts import EVENT_STYLES, MUTED, NEEDS_YOU, SHAPES, WRONG, Keys, Line, Part, Stage, line, paragraph
from .reading import Trouble

if TYPE_CHECKING:
    from ..app import App
    from ..beads.model import Attempt
    from ..beads.service.bead_page import BeadHistory
    from ..decisions.service.view import DecisionView
    from ..review.service.evidence import DiffView
    from ..sessions.service.live import AttemptLines


EVENTS = 200
"""So many of a bead's latest events are shown."""
LAST = 500
"""So many of an agent's latest lines."""
_SIGNS = {"tool_call": (">", "$accent"), "result": ("<", MUTED), "thinking": ("~", MUTED), "limit": ("!", "$error")}


def read_bead(app: "App", bead: str) -> "BeadHistory":
    """All about the bead; NoSuchBead."""
    from ..beads.service.bead_page import history

    return history(app.store, None, bead)


def bead_text(found: "BeadHistory", columns: int) -> Content:
    """The bead: what it is, what it waits for, who tried, what happened."""
    bead = found.bead
    shape, style = SHAPES.get(BY_STATUS.get(bead.status, "ready"), ("○", ""))
    out = [paragraph(f"{shape} {one_line(bead.title)}", columns, "", "bold")]
    state: list[Part] = [(f"  {bead.status.value.replace('_', ' ')}", style), f"  P{bead.priority}  {bead.type.value}"]
    state += [f"  {bead.assignee}"] if bead.assignee else []
    state += [f"  epic {bead.epic}"] if bead.epic else []
    state += [(f"  {' '.join(map(one_line, bead.labels))}", MUTED)] if bead.labels else []
    out.append(line(columns, *state))
    if bead.held is not None:
        out.append(paragraph(f"held: {one_line(bead.held)}", columns, "  ", "$warning"))
    for one in found.escalations:
        if one.resolved_at is None:
            out.append(line(columns, (f"  {NEEDS_YOU[0]} escalation {one.id}: ", NEEDS_YOU[1]), one_line(one.title)))
    waits, behind = blockers_of(bead.id, found.dependencies), blocked_by(bead.id, found.dependencies)
    if waits:
        out.append(paragraph(f"waits for {', '.join(waits)}", columns, "  ", MUTED))
    if behind:
        out.append(paragraph(f"before {', '.join(behind)}", columns, "  ", MUTED))
    if bead.description.strip():
        out += [Content(""), paragraph(bead.description, columns)]
    if bead.acceptance:
        out += [Content(""), _title("done when", columns)]
        out += [paragraph(f"· {one_line(one)}", columns) for one in bead.acceptance]
    if found.attempts:
        out += [Content(""), _title("attempts", columns), *(_attempt(one, columns) for one in found.attempts)]
    out += [Content(""), _title("what happened, newest first", columns)]
    for event in found.events[: -EVENTS - 1 : -1]:
        style = EVENT_STYLES.get(words.STYLES.get(event.kind, ""), "")
        when: Part = (f"  {spoken(event.at)}  {words.who(event):<10}  ", MUTED)
        out.append(line(columns, when, (words.what(event), style)))
    return Content("\n").join(out)


def _title(words: str, columns: int) -> Content:
    return line(columns, (words, "bold"))


def _attempt(one: "Attempt", columns: int) -> Content:
    ended = one.outcome.value.replace("_", " ") if one.outcome else "works"
    since = spoken(one.started_at) if one.ended_at is None else age(one.ended_at - one.started_at)
    mark = ("✓ ", "$success") if ended == "completed" else ("◐ ", "$primary") if one.outcome is None else ("✗ ", MUTED)
    head = f"{one.number}  {one.role.value.replace('_', ' ')}  {one_line(one.name)}  {ended}  {since}"
    return line(columns, "  ", mark, head, (f"  {one_line(one.detail)}" if one.detail else "", MUTED))


def read_log(app: "App", name_or_bead: str) -> "tuple[AttemptLines, ...]":
    """What the agents on a bead said."""
    from ..sessions.service.live import transcripts

    return transcripts(app.store, app.paths, name_or_bead, None, LAST)


def log_text(found: "tuple[AttemptLines, ...]", columns: int) -> Content:
    """The newest attempt first, and in it what was said last at the top."""
    out: list[Content] = []
    for said in reversed(found):
        one = said.attempt
        ended = one.outcome.value.replace("_", " ") if one.outcome else "works"
        who = f"attempt {one.number}: {one.role.value.replace('_', ' ')} {one_line(one.name)}"
        out.append(line(columns, (who, "bold"), f": {ended}"))
        for spoken_line in reversed(said.lines):
            sign, style = _SIGNS.get(spoken_line.kind.value, (" ", ""))
            out.append(line(columns, (f"{sign} {one_line(spoken_line.text)}", style)))
        out += [Content("")] if said.lines else [line(columns, ("  it said nothing", MUTED))]
    return Content("\n").join(out) if out else Content("no agent has worked on it yet")


PATCH = 200_000
"""Bytes of a patch that a page shows."""
_OF_A_PATCH = {"+": "$success", "-": "$error", "@": "$accent"}


def read_diff(app: "App", bead: str) -> "DiffView":
    """What the bead changes."""
    from ..review.service.evidence import diff

    return diff(app.store, app.git, bead, PATCH)


def diff_text(found: "DiffView", columns: int) -> Content:
    """The files with their counts, and the patch."""
    where = f"{found.source.replace('_', ' ')} {found.head[:12]}, against {found.base[:12]}"
    out = [_title(where, columns)]
    for file in found.files:
        counts = "binary" if file.is_binary else f"+{file.added} -{file.removed}"
        out.append(line(columns, (f"  {counts:<14}", MUTED), one_line(file.path), (f"  {file.status}", MUTED)))
    out += [] if found.files else [line(columns, "  nothing differs")]
    for text in lines(found.patch):
        style = "bold" if text.startswith(("diff ", "+++ ", "--- ")) else _OF_A_PATCH.get(text[:1], "")
        out.append(line(columns, (text, style)))
    if found.is_cut:
        out.append(line(columns, ("the rest is left out: nobrakes diff shows it", MUTED)))
    return Content("\n").join(out)


HELP: tuple[tuple[str, str], ...] = (
    ("↑ ↓  j k", "move; at an end on to the next part"),
    ("← →", "the column beside"),
    ("tab", "the next part"),
    ("enter", "open what the cursor is on"),
    ("esc", "back; on the board, away with the filter"),
    ("a", "answer or decide: the one under the cursor, else the costliest"),
    ("d", "what the bead changes"),
    ("l", "what its agents said"),
    ("p", "pause; again: go on"),
    ("/", "show only what has these words"),
    (":", "jump or command: see below"),
    ("r", "read everything again"),
    ("t", "light or dark"),
    ("q", "quit; nothing stops by it"),
)
COMMANDS: tuple[tuple[str, str], ...] = (
    ("nb-k3f9q2", "open this bead"),
    ("4", "open escalation 4"),
    ("diff BEAD", "what it changes"),
    ("log BEAD", "what its agents said"),
    ("hold BEAD WHY", "keep it from being worked on"),
    ("release BEAD", "let it go on"),
    ("stop NAME", "stop one agent; its work is kept"),
    ("pause, resume", "start nothing new; go on"),
    ("filter WORDS", "as /"),
    ("help, quit", ""),
)
_STATES = ("draft", "blocked", "ready", "working", "review", "requested", "escalated", "done", "cancelled")


def help_text(nothing: Any, columns: int) -> Content:
    """The keys, the words of the line of commands, and what each shape means."""
    out = [_title("keys", columns)]
    out += [line(columns, (f"  {key:<16}", "$accent"), words) for key, words in HELP]
    out += [Content(""), _title("after a colon", columns)]
    out += [line(columns, (f"  {key:<16}", "$accent"), words) for key, words in COMMANDS]
    out += [Content(""), _title("shapes", columns)]
    out += [line(columns, (f"  {SHAPES[name][0]} ", SHAPES[name][1]), name) for name in _STATES]
    decided = "Everything that is decided here is decided as by its command: nobrakes --help."
    out += [Content(""), paragraph(decided, columns)]
    return Content("\n").join(out)


# What opens over the board: one bead, a diff, what an agent says, help. Esc goes back.
#
# A page is a text that is laid out for the width of the screen, and read again when something changed.

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
                parts.hold, actor=self.board.actor, bead=self.bead, reason="held from the board"
            )
        else:
            do = partial(parts.release, actor=self.board.actor, bead=self.bead)
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


# What waits for a person, and the form to decide it: what may be answered, or the ways to decide, with a note.
#
# 1. What the agent recommends is chosen beforehand, and nothing else is.
# 2. It is the operation that judges what was typed (decisions.service.desk). A refusal stands below the form.
# 3. A question that somebody else decided meanwhile shows how, and the form is gone.

_ASKS = {
    "radio": "one of these",
    "checkbox": "any of these",
    "short_text": "a text of one line",
    "long_text": "a text",
    "yes_no": "yes or no",
}
_OPEN = "leave it to the agent"


@dataclass(frozen=True, slots=True)
class Way:
    """One way to decide. `how`: `answer` with `value` (None: what is typed), or a word of `nobrakes resolve`."""

    how: str
    label: str
    does: str = ""
    costs: str = ""
    value: str | None = None
    takes_note: bool = False
    is_recommended: bool = False


def read_decision(app: "App", number: int) -> "DecisionView":
    """The escalation with all that a person decides by; NoSuchEscalation."""
    from ..decisions.service.page import decision

    return decision(app.store, app.paths, lambda: app.git, lambda: app.config, number)


def ways(found: "DecisionView") -> list[Way]:
    """The ways to decide it, in order; none for a question that is answered with a text of one's own."""
    if found.form is not None:
        return _of_form(forms.form(found.form))
    if found.type is EscalationType.QUESTION:  # the words of an answer are all that is asked for
        return []
    return [Way(c.how, c.label, c.does, c.costs, c.value, True, c.is_recommended) for c in found.choices]


def _of_form(form: forms.Form) -> list[Way]:
    means = {option.label: option for option in form.options}
    out = []
    for label in form.labels():
        option = means.get(label)
        recommended = label in form.recommended
        typed = forms.typed_as(form, label)
        does, costs = ("", "") if option is None else (option.means, option.costs)
        asks_why = option is not None and option.why
        out.append(Way("answer", label, does, costs, typed, asks_why, recommended))
    if out and not form.required and form.kind != "checkbox":
        out.append(Way("answer", _OPEN, value=""))
    return out


def _typed(way: Way, words: str) -> str:
    """What is answered by this way; the reason goes behind it where it asks for one."""
    return f"{way.value}: {words}" if way.takes_note and words.strip() else str(way.value)


class Choice(OptionList):
    """Options with their marks: Enter or a blank chooses, a digit chooses by number. Several, or one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "select", show=False),
        Binding("j", "cursor_down", show=False),
        Binding("k", "cursor_up", show=False),
        *(Binding(str(n), f"number({n})", show=False) for n in range(1, 10)),
    ]

    def __init__(self, choices: Sequence[Way], several: bool) -> None:
        super().__init__(id="choice", markup=False)
        self.choices = tuple(choices)
        self.several = several
        self.chosen = {index for index, way in enumerate(choices) if way.is_recommended}

    def on_mount(self) -> None:
        """Show them, the cursor on what is chosen."""
        self._draw()
        self.highlighted = min(self.chosen, default=0)

    def on_resize(self) -> None:
        """Lay them out anew."""
        self._draw()

    def toggle(self, index: int) -> None:
        """Choose the option; of several also not any more."""
        if self.several:
            self.chosen ^= {index}
        else:
            self.chosen = {index}
        self._draw()

    def action_number(self, number: int) -> None:
        """Choose by number."""
        if number <= len(self.choices):
            self.highlighted = number - 1
            self.toggle(number - 1)

    def _draw(self) -> None:
        columns = max(20, self.scrollable_content_region.width)
        place = self.highlighted
        self.set_options([Option(self._one(index, columns)) for index in range(len(self.choices))])
        self.highlighted = place
        self.refresh(layout=True)

    def _one(self, index: int, columns: int) -> Content:
        way, is_on = self.choices[index], index in self.chosen
        mark = ("■ " if is_on else "□ ") if self.several else ("● " if is_on else "○ ")
        style = "$accent bold" if is_on else ""
        parts: list[Part] = [(mark, style), (f"{index + 1}  ", MUTED), (one_line(way.label), "bold" if is_on else "")]
        out = [line(columns, *parts, ("  (recommended)" if way.is_recommended else "", "$success"))]
        for word, text in (("", way.does), ("costs: ", way.costs)):
            if text:
                out += [paragraph(word + one_line(text), columns - 5, "     ", MUTED)]
        return Content("\n").join(out)


class Ask(Detail):
    """One escalation, and the form to decide it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("ctrl+s", "send", "Send", priority=True)]

    def __init__(self, found: "DecisionView", now: float) -> None:
        super().__init__(f"escalation {found.id}  {one_line(found.title)}")
        self.found, self.now = found, now
        self.ways = ways(found)

    def keys(self) -> list[tuple[str, str, str]]:
        """What can be done."""
        out = [("esc", "back", "screen.back")]
        if self.found.resolved_at is None:
            out.insert(0, ("^s", "answer" if self._is_question else "decide", "screen.send"))
            if self.ways:
                out.insert(1, ("enter", "choose", ""))
            out.insert(2, ("tab", "next field", "app.focus_next"))
        if self.found.bead:
            out += [("b", "its bead", "screen.bead"), ("d", "diff", "screen.diff")]
        return out

    @property
    def _is_question(self) -> bool:
        return any(way.how == "answer" for way in self.ways) or not self.ways

    def compose(self) -> ComposeResult:
        """The words, the form, and what is said of it."""
        yield self.head()
        with VerticalScroll(id="scroll", can_focus=False):
            yield Static(id="text", markup=False)
            if self.found.resolved_at is None:
                yield from self._form()
        with self.foot():
            yield Line("said")
            yield self.key_line()

    def _form(self) -> ComposeResult:
        kind = str(self.found.form["kind"]) if self.found.form else ""
        if self.ways:
            yield Choice(self.ways, several=kind == "checkbox")
        if kind == "long_text" or (not self.ways and not kind):
            yield Static(Content("your answer"), classes="label", markup=False)
            yield TextArea(id="words", soft_wrap=True, tab_behavior="focus", highlight_cursor_line=False)
        elif kind == "short_text":
            yield Static(Content("your answer, on one line"), classes="label", markup=False)
            yield Input(id="words", max_length=forms.SHORT)
        elif any(way.takes_note for way in self.ways):
            note = "the reason, where the option asks for one" if kind else "a note, which the next attempt reads"
            yield Static(Content(note), classes="label", markup=False)
            yield Input(id="words")
        yield Button(Content("Answer" if self._is_question else "Decide"), id="send", compact=True)

    def on_mount(self) -> None:
        """Begin where something is chosen or typed."""
        super().on_mount()
        wanted = "#choice" if self.ways else "#words"
        if self.found.resolved_at is None:
            self.query_one(wanted).focus()

    def draw(self, columns: int) -> Content:
        """What is asked, with all that is known about it."""
        return told(self.found, self.now, columns)

    # --- deciding --------------------------------------------------------------------------------------------------

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Choose; what is one alone leads on to the button."""
        choice = self.query_one(Choice)
        was = event.option_index in choice.chosen
        choice.toggle(event.option_index)
        if not choice.several and was:
            self.query_one("#send").focus()

    def on_input_submitted(self) -> None:
        """Enter in a line of text leads to the button."""
        self.query_one("#send").focus()

    def on_button_pressed(self) -> None:
        """Send it."""
        self.action_send()

    def action_send(self) -> None:
        """Have it decided as the form says."""
        if self.found.resolved_at is not None:
            return
        words, chosen = self._words(), self._chosen()
        if self.ways and not chosen and not self._may_be_none:
            self._refused(Trouble("nothing is chosen", "Choose with the arrows and Enter, or with a digit."))
            return
        actor, number = self.board.actor, self.found.id
        if not self.ways:
            do = partial(parts.answer, actor=actor, number=number, text=words)
        elif self.found.form is not None:
            typed = ",".join(_typed(way, words) for way in chosen) if chosen else forms.NONE_OF_THEM
            do = partial(parts.answer, actor=actor, number=number, text=typed)
        elif chosen[0].how == "answer":
            do = partial(parts.answer, actor=actor, number=number, text=words)
        else:
            do = partial(parts.resolve, actor=actor, number=number, how=chosen[0].how, note=words)
        self.board.reader.ask(do, self._sent)

    @property
    def _may_be_none(self) -> bool:
        form = self.found.form
        return form is not None and form["kind"] == "checkbox"

    def _chosen(self) -> list[Way]:
        if not self.ways:
            return []
        return [self.ways[index] for index in sorted(self.query_one(Choice).chosen)]

    def _words(self) -> str:
        fields = self.query("#words")
        if not fields:
            return ""
        field = fields.first()
        return field.text if isinstance(field, TextArea) else field.value if isinstance(field, Input) else ""

    def _sent(self, result: Any) -> None:
        if isinstance(result, Trouble):
            self._refused(result)
            self.board.reader.ask(partial(read_decision, number=self.found.id), self._read_again)
            return
        self.board.tell(str(result))
        self.dismiss()

    def _read_again(self, found: Any) -> None:
        """After a refusal: was it decided by somebody else?"""
        if isinstance(found, Trouble) or found.resolved_at is None or not self.is_current:
            return
        self.found = found
        self.set_focus(None)
        self.query("Choice, Input, TextArea, Button, .label").remove()
        self.redraw()
        self.change_keys()

    def _refused(self, why: Trouble) -> None:
        self.query_one("#said", Line).say((f"{WRONG[0]} ", WRONG[1]), why.message, rest=why.hint)

    def action_bead(self) -> None:
        """Open its bead."""
        if self.found.bead:
            self.board.open_bead(self.found.bead)

    def action_diff(self) -> None:
        """Show what its bead changes."""
        if self.found.bead:
            self.board.open_diff(self.found.bead)


def told(found: "DecisionView", now: float, columns: int) -> Content:
    """An escalation in words: what happened, what was tried, and what is behind it."""
    out = [line(columns, (f"{NEEDS_YOU[0]} ", NEEDS_YOU[1]), (one_line(found.title), "bold"))]
    if len(one_line(found.title)) + 2 > columns:
        out = [paragraph(f"{NEEDS_YOU[0]} {one_line(found.title)}", columns, "", "bold")]
    kind = found.type.value.replace("_", " ")
    about = f"{found.bead}, {count(found.behind, 'bead')} behind it" if found.bead else "no single bead"
    out += [line(columns, (f"  {kind}  {about}  {age(now - found.created_at)}", MUTED))]
    if found.detail:
        out += [Content(""), paragraph(found.detail, columns)]
    if found.form is not None:
        out += _asked(forms.form(found.form), columns)
    if found.hypothesis:
        out += [Content(""), paragraph(f"likely cause: {one_line(found.hypothesis)}", columns)]
    if found.means:
        out += [Content(""), paragraph(found.means, columns, "  ", MUTED)]
    if found.resolved_at is None:
        out += [paragraph(f"first: {one_line(text)}", columns, "  ", "$warning") for text in found.mend]
    for name, value in found.evidence.items():
        out += [Content(""), line(columns, (f"{one_line(str(name)).replace('_', ' ')}", "bold"))]
        out += _evidence(value, columns)
    if found.answer is not None:
        out += [Content(""), line(columns, ("answer", "bold")), paragraph(found.answer, columns)]
    if found.resolved_at is not None:
        out += [Content(""), paragraph(f"✓ decided: {one_line(found.resolution)}", columns, "", "$success")]
    return Content("\n").join(out)


def _asked(form: forms.Form, columns: int) -> list[Content]:
    open_ = "" if form.required else ", or nothing: the agent decides then"
    out = [Content(""), line(columns, (f"P{form.priority}, {_ASKS[form.kind]}{open_}", MUTED))]
    if form.context:
        out += [Content(""), paragraph(form.context, columns)]
    return out


def _evidence(value: object, columns: int) -> list[Content]:
    """A piece of evidence: texts as they are, lists an entry a line."""
    from ..lightjson import visible

    if isinstance(value, str):
        return [paragraph(value, columns)]
    if isinstance(value, list | tuple):
        return [part for one in value for part in _evidence(one, columns)] or [Content("")]
    if isinstance(value, dict):
        return [paragraph(f"{name}: {visible(str(one))}", columns) for name, one in value.items() if one]
    return [paragraph(" ".join(lines(visible(str(value)))), columns)]
