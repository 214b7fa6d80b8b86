"""Questions with a form, as a person reads them: the options numbered, and what to type for each."""

import shlex
from typing import TYPE_CHECKING

from ..core.beads import forms
from ..wording.text import one_line
from .screen import paragraph

if TYPE_CHECKING:
    from ..core.beads.escalations import Escalation

_KINDS = {"short_text": "short text", "long_text": "text", "yes_no": "yes or no"}
_ASKS = {
    "radio": "one of these",
    "checkbox": "any of these",
    "short_text": "a text of one line",
    "long_text": "a text",
    "yes_no": "yes or no",
}


def kind(found: "Escalation") -> str:
    """The type of the escalation, and of a question with a form what is asked for."""
    if found.form is None:
        return found.type.value
    name = str(found.form["kind"])
    return f"{found.type.value} ({_KINDS.get(name, name)})"


def priority(found: "Escalation") -> str:
    """P1 to P3; empty where nobody said how urgent it is."""
    return "" if found.form is None else f"P{forms.priority_of(found.form)}"


def shown(found: "Escalation") -> list[str]:
    """The form as lines: what is asked for, the context, each option with what it means and costs."""
    if found.form is None:
        return []
    form = forms.form(found.form)
    open_ = "" if form.required else ", or nothing: the agent decides then"
    out = ["", f"P{form.priority}, {_ASKS[form.kind]}{open_}"]
    if form.context:
        out += ["", paragraph(form.context)]
    for place, option in enumerate(form.options, 1):
        mark = " (recommended)" if option.label in form.recommended else ""
        out += ["", f"  {place}. {one_line(option.label)}{mark}"]
        out += [f"     means: {one_line(option.means)}"] if option.means else []
        out += [f"     costs: {one_line(option.costs)}"] if option.costs else []
    if form.recommended and not form.options:
        out += ["", f"  recommended: {form.recommended[0]}"]
    return out


def _word(typed: str) -> str:
    """As a shell reads it, and as no option."""
    return ("-- " if typed.startswith("-") else "") + shlex.quote(typed)


def commands(found: "Escalation") -> list[str]:
    """The command to type for each option, or for a text."""
    if found.form is None:
        return [f'Answer it: nobrakes answer {found.id} "…"']
    form = forms.form(found.form)
    labels = form.labels()
    answer = f"nobrakes answer {found.id}"
    typed = [_word(forms.typed_as(form, label)) for label in labels]
    width = max((len(word) for word in typed), default=0)
    out = ["Answer it:"]
    for label, word in zip(labels, typed, strict=True):
        out.append(f"  {answer} {word:<{width}}  # {one_line(label)}" if word != label else f"  {answer} {word}")
    if not labels:
        out.append(f'  {answer} "…"')
    if form.kind == "checkbox" and len(labels) > 1:
        out.append(f"  {answer} {shlex.quote(','.join(forms.typed_as(form, label) for label in labels[:2]))}  # both")
    if form.recommended:
        out.append(f"  {answer} --recommended")
    if not form.required:
        none = forms.NONE_OF_THEM if form.kind == "checkbox" else "''"
        out += [f"  {answer} {none}  # none of them"] if form.kind == "checkbox" else []
        out.append(f"  {answer} ''  # leave it to the agent")
    return out
