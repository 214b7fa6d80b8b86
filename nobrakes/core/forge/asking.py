"""What nobrakes itself asks a person about a feature, and what each answer means.

1. An answer is one of the labels; what it does is in daemon.forge.answers, and nothing else is done by it.
2. The first option is the recommended one.
"""

from collections.abc import Mapping
from typing import Any

from ..beads.forms import as_values, made
from .actions import About

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
        "It was told {turns} times to go on, and ended its turns without a question and without a whole plan. "
        "`nobrakes session show {session}` shows what it said.",
        _form(
            f"{GO_ON}: it is told again",
            f"{IS_WHOLE}: its drafts are the plan, and go to review",
            f"{PAUSE}: nothing is started",
        ),
    ),
}
