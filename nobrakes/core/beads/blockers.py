"""What a person is asked when an agent cannot go on: the most urgent question there is, with options.

1. The options are the agent's, if it has any; then guidance in the person's own words, which any other words are; then
   to let the bead rest. An option of the agent's that is called like one of these is left out.
2. Only a question with MARK in its evidence is a blocker: agents fill a form, and no evidence.
3. Imports nothing that costs, since agents call it.
"""

from . import forms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

MARK = "blocker"
"""In an escalation's evidence: an agent cannot go on."""
GUIDE = "give guidance"
PAUSE = "pause the bead"
MOST_OPTIONS = forms.MOST_OPTIONS - 2
OWN: "tuple[Mapping[str, Any], ...]" = (
    {"label": GUIDE, "means": "an agent goes on where this one is, with your words", "why": True, "rest": True},
    {"label": PAUSE, "means": "no agent begins on it before you release it"},
)


def form_of(options: "Sequence[str]" = (), recommended: "Sequence[str]" = (), context: str = "") -> "dict[str, Any]":
    """The form as JSON values; UsageError where the agent's words make none."""
    own = {str(one["label"]) for one in OWN}
    offered = [one for one in map(forms.parted, options) if one["label"].casefold() not in own]
    values = {"kind": "radio", "options": [*offered, *OWN], "recommended": list(recommended), "priority": 1}
    return forms.as_values(forms.form({**values, "context": context}))


def is_blocker(evidence: "Mapping[str, Any]") -> bool:
    """Whether the escalation with this evidence is one."""
    return bool(evidence.get(MARK))
