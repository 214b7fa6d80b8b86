"""What a person is asked where a step of a feature fails again and again: the step, the plan, or the whole feature.

1. The bead goes back to agents with a person's words, which any other words are; or the plan is changed because of it;
   or the feature rests. Taking back what it brought has a page and a yes of its own: until then it rests, too.
2. Only what nobrakes itself asked with FEATURE in its evidence is meant so: agents fill a form, and no evidence.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..beads import forms
from ..beads.escalations import EscalationType
from .feature import Feature, Stage

FEATURE = "feature"
"""In an escalation's evidence: the feature whose step failed."""
RETRY = "retry with guidance"
REPLAN = "change the plan"
PAUSE = "pause the feature"
ROLL_BACK = "roll back the feature"
OFFERED = frozenset({EscalationType.REPEATED_FAILURE, EscalationType.WEAK_TESTS, EscalationType.BREAKER_OPEN})
"""What is asked so."""
PAUSED = "feature {feature} is paused"
"""Why a live bead is held while its feature rests."""
RESHAPED = "the plan of feature {feature} is being changed because of it"
"""Why the bead that failed is held until its feature's plan was changed."""


def of(features: Sequence[Feature], above: Sequence[str]) -> Feature | None:
    """The feature that is built and that the bead with these epics above it is a step of."""
    found = (one for one in features if one.id in above and one.stage in (Stage.IMPLEMENTATION, Stage.REQUEST))
    return next(found, None)


def form_of(feature: Feature) -> Mapping[str, Any]:
    """The question's form, as core.beads.forms keeps it."""
    what = f"the feature {feature.id}"
    options = [
        {
            "label": RETRY,
            "means": "its failures are forgiven, and your words are in the prompt",
            "why": True,
            "rest": True,
        },
        {"label": REPLAN, "means": f"this goes to the plan of {what}; the bead rests until that is approved"},
        {"label": PAUSE, "means": f"no agent begins on a bead of {what} before you resume it"},
        {
            "label": ROLL_BACK,
            "means": f"{what} rests; `nobrakes forge rollback {feature.id}` says what it takes back, and asks you",
        },
    ]
    return forms.as_values(forms.form({"kind": "radio", "options": options, "priority": 1}))
