"""The table of decisions: what each word that a person says to an escalation does, and how it is shown.

1. TABLE has the words of each type, the usual one first, with their effects by what is asked about; anything else is
   refused. `answer` takes text; other words are said with `nobrakes resolve`. A question with a form can always be
   answered.
2. What is asked about is an `About`. The narrowest with a row counts: epics, contracts and tests are beads too, an
   agent is the machine.
3. Choosing an option of nobrakes' own also does what OPTIONS says.
4. decisions.service.view fills the names in braces; decisions.service.desk does the effects. docs/reference/outcomes.md
   is printed from these tables.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import Literal

from ..beads.model import Bead, BeadType
from ..records import frozen
from ..review import reading
from . import forms
from .model import STARTS, TEST_DIGEST, Escalation, EscalationType

Word = Literal["answer", "approve", "add", "retry", "done", "cancel", "dismiss"]


class About(StrEnum):
    """What is asked about."""

    BEAD = "a bead"
    EPIC = "an epic that is merged as one"
    TESTS = "a bead whose Test Writer changed the checks"
    CONTRACT = "a bead that adds or changes the checks"
    SESSION = "a session"
    AGENT = "an agent that does not start"
    MACHINE = "no single bead"


class Effect(StrEnum):
    """Done in the same transaction that ends the question."""

    ANSWER = "the agent that asked continues with your words"
    BACK = "the escalation closes; its bead is retried with your note, and its failure count starts at zero"
    HAND_BACK = "the bead is retried with your note; a bead that a person works on is held for that person"
    TO_TESTS = "the bead goes to a Test Writer with your note, and its failure count starts at zero"
    MEND = "a new bead of the epic fixes the findings or what your note says; without either, the review starts again"
    GO_ON = "the review of exactly this commit continues"
    AFTER_TESTS = "a Doer begins with these tests, or the review of exactly this commit continues"
    READ_AGAIN = "the review starts again from the beginning"
    DRAFTS = "each P2 becomes a draft; if there is a P1 the work goes back, else the review continues"
    END = "the escalation closes, and the work that it stopped continues"
    WORK = "the session works according to its plan"
    OPEN_GATE = "the agent is tried again now"
    DRAFT = "the suggestion becomes a draft"
    DONE = "the bead is done"
    CANCEL = "the bead is cancelled"
    REST = "the bead is held until it is released"
    PAUSE_FEATURE = "the feature is paused, and its beads are held"
    CHANGE_PLAN = "the feature goes back to its plan, and a bead that failed is held until that is approved"
    TELL_SHAPER = "the feature continues, and its Shaper gets your words"


@frozen
class Way:
    """A word's effect, label, meaning and cost."""

    effect: Effect
    label: str
    does: str
    costs: str = ""
    is_default: bool = False


Row = Mapping[About, Way]
Rows = Mapping[Word, Row]

_BACK = Way(Effect.BACK, "Try again", "{back}", "{back_costs}")
_RETRY_EPIC = Way(Effect.BACK, "Try again", "The review of the epic starts again; no agent starts.")
_RECHECK = Way(Effect.BACK, "Look again", "The escalation closes, and main is checked again.", "One validation.")
_DONE = Way(
    Effect.DONE,
    "Mark it as done",
    "The bead counts as done, without a merge and without a check. {may_start}",
    "Work that is only on its branch does not reach main: merge it yourself first. The branch is archived.",
)
_CANCEL = Way(
    Effect.CANCEL,
    "Cancel the bead",
    "No agent works on the bead again. `nobrakes undo` restores it.",
    "Its branch and its uncommitted files are archived. {stay_blocked}",
)
_CLOSE = "Close the escalation"
_CLOSED: Row = {
    About.BEAD: Way(Effect.END, _CLOSE, "Like `--retry`, but no agent reads your note."),
    About.SESSION: Way(Effect.END, _CLOSE, "The session gets your note and learns that no action is needed."),
    About.MACHINE: Way(Effect.END, _CLOSE, "No other effect."),
}


def _everywhere(way: Way) -> Row:
    return dict.fromkeys((About.BEAD, About.SESSION, About.MACHINE), way)


_STOPPED: Rows = {
    "retry": {About.BEAD: _BACK, About.MACHINE: _RECHECK},
    "done": {About.BEAD: _DONE},
    "cancel": {About.BEAD: _CANCEL},
    "dismiss": _CLOSED,
}
_USUALLY_RETRIED: Rows = {
    **_STOPPED,
    "retry": {about: replace(way, is_default=True) for about, way in _STOPPED["retry"].items()},
}


def _head_choices(approve: Row, back: Effect, whole: Way) -> Rows:
    label = "Send the work back"
    retry = {About.BEAD: replace(_BACK, effect=back, label=label), About.EPIC: replace(whole, label=label)}
    if About.TESTS in approve:
        retry[About.TESTS] = replace(_BACK, effect=Effect.TO_TESTS, label=label)
    return {
        "approve": approve,
        "retry": {**retry, About.MACHINE: _RECHECK},
        "done": {About.BEAD: _DONE},
        "cancel": {About.BEAD: _CANCEL},
    }


_ACCEPT = "Accept the change"
_ACCEPTED: Row = {
    About.BEAD: Way(
        Effect.GO_ON,
        _ACCEPT,
        "The review of exactly this commit continues. It is merged if the checks pass.",
        "nobrakes merges this change. If it gets another commit, you are asked again.",
    ),
    About.CONTRACT: Way(
        Effect.GO_ON,
        _ACCEPT,
        "You accept the checks exactly as shown. This bead is checked with them.",
        "After the merge all work is checked with them. For another version you are asked again.",
    ),
    About.TESTS: Way(
        Effect.AFTER_TESTS,
        _ACCEPT,
        "The tests stay as they are. The bead goes to a Doer, or its review continues with exactly this commit.",
        "This bead's checks use the changed test-runner files. Main gets the files once the checks pass.",
    ),
}
_MEND = Way(Effect.MEND, "Try again", "{mend}")
_HELD_UP: Rows = {
    "dismiss": _everywhere(
        Way(
            Effect.END,
            _CLOSE,
            "You will not be asked again about this cause.",
            "The merge still waits until the problem is fixed.",
        )
    ),
    "cancel": {About.BEAD: _CANCEL},
}

TABLE: Mapping[EscalationType, Rows] = {
    EscalationType.CONFLICT: {
        **_USUALLY_RETRIED,
        "retry": {**_USUALLY_RETRIED["retry"], About.EPIC: replace(_RETRY_EPIC, is_default=True)},
    },
    EscalationType.REPEATED_FAILURE: _STOPPED,
    EscalationType.WEAK_TESTS: _STOPPED,
    EscalationType.DOER_SUGGESTION: {
        "add": dict.fromkeys(
            (About.BEAD, About.MACHINE),
            Way(
                Effect.DRAFT,
                "Create a draft from it",
                "A draft with your note and the agent's words. It waits for `nobrakes approve`.",
                "No cost before you approve it.",
            ),
        ),
        "dismiss": _everywhere(Way(Effect.END, "Drop the suggestion", "No further action.")),
    },
    EscalationType.QUESTION: {
        "answer": {
            About.BEAD: Way(Effect.ANSWER, "Answer", "The bead continues, with your words in the next prompt."),
            About.SESSION: Way(Effect.ANSWER, "Answer", "The session continues with your words."),
            About.MACHINE: Way(Effect.ANSWER, "Answer", "The work that waits continues with your words."),
        },
        **_STOPPED,
        "retry": {
            About.BEAD: replace(_BACK, label="Let the agent decide"),
            About.MACHINE: Way(Effect.BACK, "Leave it open", "The question closes without an answer."),
        },
    },
    EscalationType.PLAN_REVIEW: {
        "approve": {
            About.BEAD: Way(
                Effect.END, "Approve the plan", "The Doer follows this plan, with your note.", "{next_attempt}"
            ),
            About.SESSION: Way(
                Effect.WORK,
                "Approve the plan",
                "The session follows this plan, with your note.",
                "The agent's tokens. It cannot merge.",
            ),
        },
        "answer": _everywhere(Way(Effect.ANSWER, "Ask for another plan", "The agent plans again, with your words.")),
        "done": {About.BEAD: _DONE},
        "cancel": {About.BEAD: _CANCEL},
    },
    EscalationType.BROKEN_CHECKS: _USUALLY_RETRIED,
    EscalationType.BROKEN_ENVIRONMENT: {
        **_USUALLY_RETRIED,
        "retry": {
            **_USUALLY_RETRIED["retry"],
            About.AGENT: Way(
                Effect.OPEN_GATE, "Try again", "nobrakes starts the agent again now, with one bead.", is_default=True
            ),
            About.MACHINE: Way(
                Effect.BACK, "Try again", "nobrakes tries again, and asks you if the problem lasts.", is_default=True
            ),
        },
        "dismiss": {
            **_CLOSED,
            About.MACHINE: Way(Effect.END, _CLOSE, "No other effect. You are asked again if the problem lasts."),
        },
    },
    EscalationType.CHECKS_CHANGED: _head_choices(_ACCEPTED, Effect.BACK, _RETRY_EPIC),
    EscalationType.FILTER_NOT_ALLOWED: _STOPPED,
    EscalationType.UNUSUAL_CONTENT: _head_choices(_ACCEPTED, Effect.BACK, _RETRY_EPIC),
    EscalationType.MERGE_REVIEW: _head_choices(
        {
            About.BEAD: Way(
                Effect.GO_ON,
                "Approve the merge",
                "It is merged, once it passes on the current {onto}.",
                "The change reaches {onto}. If {onto} moves and the diff changes, you are asked again.",
            )
        },
        Effect.HAND_BACK,
        _MEND,
    ),
    EscalationType.CODE_REVIEW: _head_choices(
        {
            About.BEAD: Way(
                Effect.GO_ON,
                "Continue without changes",
                "The work continues unchanged, once it passes on the current {onto}.",
                "The findings stay unfixed. If {onto} moves and the diff changes, the work is reviewed again.",
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
                "main is checked again now.",
                "The checks run once on main. Nothing is merged until they pass.",
            ),
        },
        "dismiss": {
            **_CLOSED,
            About.MACHINE: Way(Effect.END, _CLOSE, "No other effect.", "Merges wait until main is green."),
        },
    },
    EscalationType.CHECKOUT_BEHIND: _HELD_UP,
    EscalationType.MERGE_HELD_UP: _HELD_UP,
    EscalationType.BREAKER_OPEN: _STOPPED,
    EscalationType.CAP_REACHED: _STOPPED,
    EscalationType.NOBRAKES_FAILED: {
        **_STOPPED,
        "retry": {About.BEAD: _BACK, About.MACHINE: Way(Effect.BACK, "Look again", "The escalation closes.")},
    },
}

BLOCKER, FEATURE, READING = "an agent that cannot continue", "a step of a feature that fails", "code review findings"
SHAPER = "a feature's Shaper or reviewers that fail"
OPTIONS: Mapping[str, Mapping[str, Effect]] = {
    BLOCKER: {forms.PAUSE: Effect.REST},
    FEATURE: {
        forms.FAILING_PAUSE: Effect.PAUSE_FEATURE,
        forms.REPLAN: Effect.CHANGE_PLAN,
        forms.ROLL_BACK: Effect.PAUSE_FEATURE,
    },
    SHAPER: {
        forms.RETRY: Effect.TELL_SHAPER,
        forms.REPLAN: Effect.CHANGE_PLAN,
        forms.FAILING_PAUSE: Effect.PAUSE_FEATURE,
        forms.ROLL_BACK: Effect.PAUSE_FEATURE,
    },
    READING: {reading.GO_ON: Effect.GO_ON, reading.READ_AGAIN: Effect.READ_AGAIN, reading.TICKETS: Effect.DRAFTS},
}
"""Effects of nobrakes' own options, by the evidence of its questions; agents fill forms but no evidence."""


def about(found: Escalation, bead: Bead | None = None) -> tuple[About, ...]:
    """What is asked about, the narrowest first. `bead`: the named one; else an epic counts as a bead."""
    if found.bead is None and found.session is not None:
        return (About.SESSION,)
    if found.bead is None:
        return (About.AGENT, About.MACHINE) if STARTS in found.evidence else (About.MACHINE,)
    more = {
        About.EPIC: bead is not None and bead.type is BeadType.EPIC,
        About.TESTS: bool(found.evidence.get(TEST_DIGEST)),
        About.CONTRACT: "contract" in found.evidence,
    }
    return (*(one for one, holds in more.items() if holds), About.BEAD)


def ways(found: Escalation, bead: Bead | None = None) -> dict[Word, Way]:
    """Possible words and their effects, the default first; empty once decided."""
    if found.resolved_at is not None:
        return {}
    made: dict[Word, Way] = {}
    if found.form is not None and "answer" not in TABLE[found.type]:
        made["answer"] = Way(Effect.ANSWER, "Answer", "The agent continues with your words.")
    for word, row in TABLE[found.type].items():
        way = next((row[one] for one in about(found, bead) if one in row), None)
        if way is not None:
            made[word] = way
    return made


def chosen(found: Escalation, label: str, bead: Bead | None = None) -> Effect | None:
    """The effect of nobrakes' own option; None: nothing, or decided. Other answers fix an epic in code review."""
    if found.resolved_at is not None:
        return None
    if bead is None:
        is_of_shaper = forms.FEATURE in found.evidence and forms.ABOUT in found.evidence
        return OPTIONS[SHAPER].get(label.partition(":")[0]) if is_of_shaper else None
    if found.type is EscalationType.CODE_REVIEW:
        mend = Effect.MEND if bead.type is BeadType.EPIC else None
        return OPTIONS[READING].get(label, mend)
    if forms.is_blocker(found.evidence):
        return OPTIONS[BLOCKER].get(label)
    return OPTIONS[FEATURE].get(label) if found.evidence.get(forms.FEATURE) else None


ESCALATIONS: Mapping[EscalationType, str] = {
    EscalationType.CONFLICT: "The branch and main change the same lines. No agent resolves it for you.",
    EscalationType.CHECKS_CHANGED: "The branch changes a protected file, a protected section of a manifest or a file "
    "that a check's command names. You see the difference: `--approve` continues the review of exactly this commit, "
    "`--retry` sends the work back. "
    "Of a scaffolding bead's contract (`.nobrakes/config.toml`) you approve the very bytes.",
    EscalationType.UNUSUAL_CONTENT: "The branch has names with control, direction or invisible characters, what looks "
    "like a secret key, or clear text of what git keeps through a filter: `--approve` continues the review of exactly "
    "this commit, `--retry` sends the work back.",
    EscalationType.FILTER_NOT_ALLOWED: "git stores a changed file through a filter that is not listed in `git.filters` "
    "or `git.clear_text`. The text says what to type. From the next start on the bead continues.",
    EscalationType.MERGE_REVIEW: "Everything passed, and the merge waits for your approval: the bead or an epic above "
    "it has the label `merge-review`, or `review.approve` is `always`. You see tests and code: `--approve` merges "
    "them, `--retry` sends them back with your note. The approval counts for this content only, also on another base.",
    EscalationType.CODE_REVIEW: "Everything passed, and an agent that did not do the work found something in it, or no "
    "agent could read it (`review.code_review`). `--approve` continues with it as it is, `--retry` sends it back.",
    EscalationType.ASKED_AGAIN: "People asked twice for a change of one point. `--retry`: a Doer tries once more.",
    EscalationType.PULL_CLOSED: "Somebody closed its pull request unmerged. `--retry` starts a Doer for a new one.",
    EscalationType.WEAK_TESTS: "As repeated_failure; the tests were too weak: the bead may say too little about them.",
    EscalationType.REPEATED_FAILURE: "`max_failures` attempts failed. The escalation lists all of them.",
    EscalationType.DOER_SUGGESTION: "An agent saw work outside of its bead (`nobrakes agent escalate`).",
    EscalationType.QUESTION: "An agent asks (`nobrakes agent ask`), or stopped as blocked and says why.",
    EscalationType.PLAN_REVIEW: "A session that plans, or a bead with the label `plan-review`, waits until you approve "
    "its plan (`nobrakes agent request-review`).",
    EscalationType.BROKEN_CHECKS: "A check is missing, collected no test, timed out or was killed.",
    EscalationType.BROKEN_ENVIRONMENT: "The agent does not start (one question for all beads), or its login, model or "
    "settings are wrong; or five faults of the machine in a row.",
    EscalationType.MAIN_RED: "main's own checks fail: found before a branch was blamed for it, or after a merge. One "
    "red main is one escalation, which collects all findings.",
    EscalationType.BREAKER_OPEN: "Every agent of the role has failed on the bead in the same way, or without a commit, "
    "as often as `[breaker]` says. Deciding it lets each of them try once more.",
    EscalationType.CAP_REACHED: "The bead has reached a cap of `[caps.bead]`.",
    EscalationType.CHECKOUT_BEHIND: "A merge has waited for a quarter of an hour for a checkout of main. Its text says "
    "where, and what to type there. Once you have, the merge continues and the escalation closes.",
    EscalationType.MERGE_HELD_UP: "A merge cannot continue, and the work is not at fault: the remote refuses the "
    "push, does not let this account in or did not answer for five minutes, a filter fails, a lock was left, a disk is "
    "full. Once the problem is fixed, the merge continues and the escalation closes.",
    EscalationType.NOBRAKES_FAILED: "An internal error in nobrakes while it worked on this bead; all other work "
    "continued. The escalation has the traceback. After the second one the bead is held (`nobrakes release`).",
}
"""Each type needs a meaning for docs/reference/outcomes.md."""
CAUSES: Mapping[EscalationType, str] = {
    EscalationType.CONFLICT: "conflicts with main",
    EscalationType.REPEATED_FAILURE: "failed too often",
    EscalationType.WEAK_TESTS: "its tests prove too little",
    EscalationType.DOER_SUGGESTION: "an agent suggests more work",
    EscalationType.QUESTION: "an agent's question",
    EscalationType.PLAN_REVIEW: "its plan waits for your approval",
    EscalationType.BROKEN_CHECKS: "a check gave no result",
    EscalationType.BROKEN_ENVIRONMENT: "the agent or the machine is broken",
    EscalationType.CHECKS_CHANGED: "changes files that decide whether work passes",
    EscalationType.UNUSUAL_CONTENT: "has unusual names or content",
    EscalationType.FILTER_NOT_ALLOWED: "needs a git filter that is not allowed",
    EscalationType.MERGE_REVIEW: "passed, and its merge is waiting for your approval",
    EscalationType.CODE_REVIEW: "passed, and you decide on a reviewer's findings",
    EscalationType.ASKED_AGAIN: "people asked twice for the same change of its pull request",
    EscalationType.PULL_CLOSED: "its pull request was closed unmerged",
    EscalationType.MAIN_RED: "main fails its checks",
    EscalationType.CHECKOUT_BEHIND: "a checkout of main blocks its merge",
    EscalationType.MERGE_HELD_UP: "its merge cannot continue",
    EscalationType.BREAKER_OPEN: "every agent fails on it",
    EscalationType.CAP_REACHED: "reached a cap of [caps.bead]",
    EscalationType.NOBRAKES_FAILED: "an internal error in nobrakes",
}
"""Short reasons for asking."""
