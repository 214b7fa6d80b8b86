"""What waits for a person, and the form to decide it: what may be answered, or the ways to decide, with a note.

1. What the agent recommends is chosen beforehand, and nothing else is.
2. It is the operation that judges what was typed (operations.desk). A refusal stands below the form, which stays.
3. A question that somebody else decided meanwhile shows how, and the form is gone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Button, Input, OptionList, Static, TextArea
from textual.widgets.option_list import Option

from ..core.beads import forms
from ..core.beads.escalations import EscalationType
from ..wording.text import age, count, lines, one_line
from . import acts
from .details import Detail
from .look import MUTED, NEEDS_YOU, WRONG, Part, line, paragraph
from .panels import Line
from .reading import Trouble

if TYPE_CHECKING:
    from ..app import App
    from ..operations.decisions.view import DecisionView

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
    from ..operations.decisions.page import decision

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
            do = partial(acts.answer, actor=actor, number=number, text=words)
        elif self.found.form is not None:
            typed = ",".join(_typed(way, words) for way in chosen) if chosen else forms.NONE_OF_THEM
            do = partial(acts.answer, actor=actor, number=number, text=typed)
        elif chosen[0].how == "answer":
            do = partial(acts.answer, actor=actor, number=number, text=words)
        else:
            do = partial(acts.resolve, actor=actor, number=number, how=chosen[0].how, note=words)
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
