"""Questions with a form, as a person reads them: what is asked for, and how urgent it is."""

from typing import TYPE_CHECKING

from ..core.beads import forms
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


def asks(found: "Escalation") -> str:
    """What a question with a form asks for; empty: it has none."""
    if found.form is None:
        return ""
    name = str(found.form["kind"])
    return _KINDS.get(name, name)


def priority(found: "Escalation") -> str:
    """P1 to P3; empty where nobody said how urgent it is."""
    return "" if found.form is None else f"P{forms.priority_of(found.form)}"


def asked(found: "Escalation") -> list[str]:
    """The form as lines: what is asked for, and the context. Its options are choices of the page."""
    if found.form is None:
        return []
    form = forms.form(found.form)
    open_ = "" if form.required else ", or nothing: the agent decides then"
    out = ["", f"  P{form.priority}, {_ASKS[form.kind]}{open_}"]
    return [*out, "", paragraph(form.context)] if form.context else out
