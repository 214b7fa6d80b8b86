"""The table of decisions: what each word that a person says to an escalation does, and how it is shown.

1. TABLE has for each type its words, the usual one first, and for each word what it does by what is asked about. What
   is not in it is refused; there is no default. An `answer` is said with words; every other word is one of `nobrakes
   resolve`. What has a form is answered too, whatever its type.
2. What is asked about is one of `About`. The narrowest that the word has a row for counts: an epic, a contract and
   tests are a bead as well, an agent is the machine.
3. Who answers with an option of nobrakes' own does what OPTIONS says beside answering.
4. The texts hold names in braces, which decisions.service.view fills in; decisions.service.desk does the effects.
   docs/reference/outcomes.md is printed from these tables.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Literal, get_args

from ..beads.model import Bead, BeadType
from ..features import actions as asking
from ..records import frozen
from ..review import reading
from . import forms
from .model import OF_TESTS, STARTS, Escalation, EscalationType

Word = Literal["answer", "approve", "add", "retry", "done", "cancel", "dismiss"]
WORDS: tuple[Word, ...] = get_args(Word)


class About(StrEnum):
    """What is asked about."""

    BEAD = "a bead"
    EPIC = "an epic that is merged as a whole"
    TESTS = "a bead whose Test Writer changed the checks"
    CONTRACT = "a bead that brings a contract"
    SESSION = "a session"
    AGENT = "an agent that does not start"
    MACHINE = "no single bead"


class Effect(StrEnum):
    """What is done, in one transaction with the end of the question."""

    ANSWER = "whoever asked goes on with the words"
    BACK = "the question ends; its bead goes back to where it was, with its failures forgiven and your note"
    HAND_BACK = "the bead goes back to where it was, with your note; a person's own work is held for that person"
    TO_TESTS = "the bead goes back to a Test Writer, with its failures forgiven and your note"
    MEND = "a bead of the epic mends what was found or what your note says; without either its review begins again"
    GO_ON = "the review of this very commit goes on"
    AFTER_TESTS = "a Doer begins with these tests, or the review of this very commit goes on"
    READ_AGAIN = "the review begins again, and the work is reviewed again"
    DRAFTS = "each P2 becomes a draft; where there is a P1 the work goes back, else the review goes on"
    END = "the question is closed; what it stopped goes on"
    WORK = "the session works by its plan"
    OPEN_GATE = "the agent is tried again at once"
    DRAFT = "the suggestion becomes a draft"
    DONE = "the bead is done"
    CANCEL = "the bead is cancelled"
    REST = "the bead is held until it is released"
    PAUSE_FEATURE = "the feature is paused, and the bead is held"
    CHANGE_PLAN = "the feature goes back to its plan, and the bead is held"


@frozen
class Way:
    """What a word does, and what a person reads of it: its label, what it does, what that costs."""

    effect: Effect
    label: str
    does: str
    costs: str = ""
    is_usual: bool = False


Row = Mapping[About, Way]
Rows = Mapping[Word, Row]

_BACK = Way(Effect.BACK, "Try again", "{back}", "{back_costs}")
_WHOLE = Way(Effect.BACK, "Try again", "The review of the whole begins again; no agent is started.")
_LOOK = Way(Effect.BACK, "Look again", "The question is closed, and main is looked at again.", "A run of all checks.")
_DONE = Way(
    Effect.DONE,
    "It is done by hand",
    "The bead counts as done; nothing is merged and nothing is checked. {may_start}",
    "What is only on its branch does not reach main: bring it there yourself first. The branch is archived.",
)
_CANCEL = Way(
    Effect.CANCEL,
    "Give the bead up",
    "No agent works on the bead any more; `nobrakes undo` brings it back.",
    "Its branch and what was not committed are archived. {stay_blocked}",
)
_CLOSE = "Close the question"
_CLOSED: Row = {
    About.BEAD: Way(Effect.END, _CLOSE, "As `--retry`, but no agent reads your note."),
    About.SESSION: Way(Effect.END, _CLOSE, "The session reads that nothing is to be done about it, with your note."),
    About.MACHINE: Way(Effect.END, _CLOSE, "Nothing more than that."),
}


def _everywhere(way: Way) -> Row:
    return dict.fromkeys((About.BEAD, About.SESSION, About.MACHINE), way)


_STOPPED: Rows = {
    "retry": {About.BEAD: _BACK, About.MACHINE: _LOOK},
    "done": {About.BEAD: _DONE},
    "cancel": {About.BEAD: _CANCEL},
    "dismiss": _CLOSED,
}
_USUALLY_RETRIED: Rows = {
    **_STOPPED,
    "retry": {about: replace(way, is_usual=True) for about, way in _STOPPED["retry"].items()},
}


def _of_a_head(approve: Row, back: Effect, whole: Way) -> Rows:
    """What is approved is one commit, whose review goes on."""
    label = "Send the work back"
    retry = {About.BEAD: replace(_BACK, effect=back, label=label), About.EPIC: replace(whole, label=label)}
    if About.TESTS in approve:
        retry[About.TESTS] = replace(_BACK, effect=Effect.TO_TESTS, label=label)
    return {
        "approve": approve,
        "retry": {**retry, About.MACHINE: _LOOK},
        "done": {About.BEAD: _DONE},
        "cancel": {About.BEAD: _CANCEL},
    }


_ACCEPT = "Accept the change"
_ACCEPTED: Row = {
    About.BEAD: Way(
        Effect.GO_ON,
        _ACCEPT,
        "The review of this very commit goes on, and it is merged if the checks pass.",
        "The change is on main then. Another commit asks again.",
    ),
    About.CONTRACT: Way(
        Effect.GO_ON,
        _ACCEPT,
        "The contract is accepted, byte for byte as it is here: this bead is validated by it.",
        "Once it is merged, everything is validated by it. Another version of it asks again.",
    ),
    About.TESTS: Way(
        Effect.AFTER_TESTS,
        _ACCEPT,
        "The tests stay as they are, and the bead goes on: to a Doer, or to the review of this very commit.",
        "What bends the runner decides about this bead's checks, and is on main once they pass.",
    ),
}
_MEND = Way(Effect.MEND, "Try again", "{mend}")
_HELD_UP: Rows = {
    "dismiss": _everywhere(
        Way(
            Effect.END,
            _CLOSE,
            "You are not asked again for this cause.",
            "The merge still waits until that is mended.",
        )
    ),
    "cancel": {About.BEAD: _CANCEL},
}

TABLE: Mapping[EscalationType, Rows] = {
    EscalationType.CONFLICT: {
        **_USUALLY_RETRIED,
        "retry": {**_USUALLY_RETRIED["retry"], About.EPIC: replace(_WHOLE, is_usual=True)},
    },
    EscalationType.REPEATED_FAILURE: _STOPPED,
    EscalationType.WEAK_TESTS: _STOPPED,
    EscalationType.DOER_SUGGESTION: {
        "add": dict.fromkeys(
            (About.BEAD, About.MACHINE),
            Way(
                Effect.DRAFT,
                "Make a draft of it",
                "A draft with the agent's words, quoted, and your note above them; it waits for "
                "`nobrakes commit-strategy`.",
                "Nothing before you approve it.",
            ),
        ),
        "dismiss": _everywhere(Way(Effect.END, "Drop the suggestion", "Nothing is done about it.")),
    },
    EscalationType.QUESTION: {
        "answer": {
            About.BEAD: Way(Effect.ANSWER, "Answer", "The bead goes on, and your words are in the next prompt."),
            About.SESSION: Way(Effect.ANSWER, "Answer", "The session goes on with your words."),
            About.MACHINE: Way(Effect.ANSWER, "Answer", "What waits for it goes on with your words."),
        },
        **_STOPPED,
        "retry": {
            About.BEAD: replace(_BACK, label="Let the agent decide"),
            About.MACHINE: Way(Effect.BACK, "Leave it open", "The question is closed without an answer."),
        },
    },
    EscalationType.PLAN_REVIEW: {
        "approve": {
            About.BEAD: Way(
                Effect.END, "Approve the plan", "The Doer works by this plan, with your note.", "{next_attempt}"
            ),
            About.SESSION: Way(
                Effect.WORK,
                "Approve the plan",
                "The session works by this plan, with your note.",
                "What its agent spends. It merges nothing.",
            ),
        },
        "answer": _everywhere(Way(Effect.ANSWER, "Have the plan changed", "The agent plans again, with your words.")),
        "done": {About.BEAD: _DONE},
        "cancel": {About.BEAD: _CANCEL},
    },
    EscalationType.BROKEN_CHECKS: _USUALLY_RETRIED,
    EscalationType.BROKEN_ENVIRONMENT: {
        **_USUALLY_RETRIED,
        "retry": {
            **_USUALLY_RETRIED["retry"],
            About.AGENT: Way(
                Effect.OPEN_GATE, "Try again", "What is closed is tried again at once, with one bead.", is_usual=True
            ),
            About.MACHINE: Way(
                Effect.BACK, "Try again", "It is tried again by itself; you are asked again if it lasts.", is_usual=True
            ),
        },
    },
    EscalationType.CHECKS_CHANGED: _of_a_head(_ACCEPTED, Effect.BACK, _WHOLE),
    EscalationType.UNUSUAL_CONTENT: _of_a_head(_ACCEPTED, Effect.BACK, _WHOLE),
    EscalationType.MERGE_REVIEW: _of_a_head(
        {
            About.BEAD: Way(
                Effect.GO_ON,
                "Approve the merge",
                "It is merged, once it passes on {onto} as it is then.",
                "The change is on {onto} then. Where that has moved and the difference is another, you are asked "
                "again.",
            )
        },
        Effect.HAND_BACK,
        _MEND,
    ),
    EscalationType.CODE_REVIEW: _of_a_head(
        {
            About.BEAD: Way(
                Effect.GO_ON,
                "Go on as it is",
                "It goes on without a change, once it passes on {onto} as it is then.",
                "What was found stays in it. Where {onto} has moved and the difference is another one, it is read "
                "again.",
            )
        },
        Effect.HAND_BACK,
        _MEND,
    ),
    EscalationType.ASKED_AGAIN: {**_STOPPED, "retry": {**_STOPPED["retry"], About.EPIC: _MEND}},
    EscalationType.PULL_CLOSED: {**_STOPPED, "retry": {**_STOPPED["retry"], About.EPIC: _MEND}},
    EscalationType.MAIN_RED: {
        **_STOPPED,
        "retry": {
            About.BEAD: _BACK,
            About.MACHINE: Way(
                Effect.BACK,
                "Look again",
                "main is checked again at once.",
                "A run of all checks. Merges wait until main is green.",
            ),
        },
        "dismiss": {
            **_CLOSED,
            About.MACHINE: Way(Effect.END, _CLOSE, "Nothing more than that.", "Merges wait until main is green."),
        },
    },
    EscalationType.CHECKOUT_BEHIND: _HELD_UP,
    EscalationType.MERGE_HELD_UP: _HELD_UP,
    EscalationType.BREAKER_OPEN: _STOPPED,
    EscalationType.CAP_REACHED: _STOPPED,
    EscalationType.NOBRAKES_FAILED: {
        **_STOPPED,
        "retry": {About.BEAD: _BACK, About.MACHINE: Way(Effect.BACK, "Look again", "The question is closed.")},
    },
}


BLOCKER, FEATURE, READING = "an agent that cannot go on", "a step of a feature that fails", "what the code review found"
OPTIONS: Mapping[str, Mapping[str, Effect]] = {
    BLOCKER: {forms.PAUSE: Effect.REST},
    FEATURE: {
        asking.FAILING_PAUSE: Effect.PAUSE_FEATURE,
        asking.REPLAN: Effect.CHANGE_PLAN,
        asking.ROLL_BACK: Effect.PAUSE_FEATURE,
    },
    READING: {
        reading.GO_ON: Effect.GO_ON,
        reading.READ_AGAIN: Effect.READ_AGAIN,
        reading.TICKETS: Effect.DRAFTS,
    },
}
"""By what nobrakes asks, what its own options do; agents fill a form, and no evidence, so they cannot ask so."""


def about(found: Escalation, bead: Bead | None = None) -> tuple[About, ...]:
    """What is asked about, the narrowest first. `bead`: the one that it names; else an epic counts as a bead."""
    if found.bead is None and found.session is not None:
        return (About.SESSION,)
    if found.bead is None:
        return (About.AGENT, About.MACHINE) if STARTS in found.evidence else (About.MACHINE,)
    more = {
        About.EPIC: bead is not None and bead.type is BeadType.EPIC,
        About.TESTS: bool(found.evidence.get(OF_TESTS)),
        About.CONTRACT: "contract" in found.evidence,
    }
    return (*(one for one, holds in more.items() if holds), About.BEAD)


def ways(found: Escalation, bead: Bead | None = None) -> dict[Word, Way]:
    """What each word does that it can be decided with, the usual one first; nothing once it was decided."""
    if found.resolved_at is not None:
        return {}
    made: dict[Word, Way] = {}
    if found.form is not None and "answer" not in TABLE[found.type]:
        made["answer"] = Way(Effect.ANSWER, "Answer", "The agent goes on with your words.")
    for word, row in TABLE[found.type].items():
        way = next((row[one] for one in about(found, bead) if one in row), None)
        if way is not None:
            made[word] = way
    return made


def chosen(found: Escalation, label: str, bead: Bead | None = None) -> Effect | None:
    """What an option of nobrakes' own does beside being the answer; None: nothing more, or it was decided before.

    An epic that fresh eyes read is mended by whatever else is answered.
    """
    if bead is None or found.resolved_at is not None:
        return None
    if found.type is EscalationType.CODE_REVIEW:
        mend = Effect.MEND if bead.type is BeadType.EPIC else None
        return OPTIONS[READING].get(label, mend)
    if forms.is_blocker(found.evidence):
        return OPTIONS[BLOCKER].get(label)
    return OPTIONS[FEATURE].get(label) if found.evidence.get(asking.FEATURE) else None
