"""What a person is asked where a step of a feature fails again and again: the step, the plan, or the whole feature.

1. The bead goes back to agents with a person's words, which any other words are; or the plan is changed because of it;
   or the feature rests. Taking back what it brought has a page and a yes of its own: until then it rests, too.
2. Only what nobrakes itself asked with FEATURE in its evidence is meant so: agents fill a form, and no evidence.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..decisions import forms
from ..decisions.forms import as_values, made
from ..decisions.model import EscalationType
from .actions import About
from .model import Feature, Stage

FRESH, FROM_BASE, VIEW_ONLY = "go on afresh", "begin from the base", "only look at it"
CONTINUE, CLOSE = "continue", "close"
GO_ON, IS_WHOLE, PAUSE = "go on", "the plan is whole", "pause it"


def _form(*options: str, priority: int = 2) -> Mapping[str, Any]:
    first = options[0].partition(": ")[0]
    return as_values(made("radio", options, [first], priority=priority))


QUESTIONS: Mapping[About, tuple[str, str, Mapping[str, Any]]] = {
    About.EXPIRED: (
        "Feature {feature} ({title}) has expired, and somebody answered: how does it go on?",
        "Nobody said a word for long, so the conversation with its agent is over. Its questions, its drafts and "
        "what was answered are kept.",
        _form(
            f"{FRESH}: a new conversation is given a summary, the drafts and all answers",
            f"{FROM_BASE}: its drafts are cancelled and kept in the archive; planning begins anew",
            f"{VIEW_ONLY}: nothing is started",
            priority=1,
        ),
    ),
    About.BUDGET: (
        "Planning feature {feature} ({title}) has cost {usd} USD: continue?",
        "The setting forge.shaper_usd is reached. No turn is begun before this is answered.",
        _form(
            f"{CONTINUE}: as much again",
            f"{CLOSE}: the feature is paused; its drafts and questions are kept",
            priority=1,
        ),
    ),
    About.IDLE: (
        "The Shaper of feature {feature} ({title}) neither asks nor is ready: how does it go on?",
        "It was told {turns} to go on, and ended its turns without a question and without a whole plan. "
        "`nobrakes session show {session}` shows what it said.",
        _form(
            f"{GO_ON}: it is told again",
            f"{IS_WHOLE}: its drafts are the plan, and go to review",
            f"{PAUSE}: nothing is started",
        ),
    ),
}
FEATURE = "feature"
"""In an escalation's evidence: the feature whose step failed."""
RETRY = "retry with guidance"
REPLAN = "change the plan"
FAILING_PAUSE = "pause the feature"
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
    """The question's form, as decisions.forms keeps it."""
    what = f"the feature {feature.id}"
    options = [
        {
            "label": RETRY,
            "means": "its failures are forgiven, and your words are in the prompt",
            "why": True,
            "rest": True,
        },
        {"label": REPLAN, "means": f"this goes to the plan of {what}; the bead rests until that is approved"},
        {"label": FAILING_PAUSE, "means": f"no agent begins on a bead of {what} before you resume it"},
        {
            "label": ROLL_BACK,
            "means": f"{what} rests; `nobrakes forge rollback {feature.id}` says what it takes back, and asks you",
        },
    ]
    return forms.as_values(forms.form({"kind": "radio", "options": options, "priority": 1}))
