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
    EPIC = "an epic that is merged as one change"
    TESTS = "a bead whose Test Writer changed the checks"
    CONTRACT = "a bead that adds or changes the checks"
    SESSION = "a session"
    AGENT = "an agent that does not start"
    MACHINE = "no single bead"


class Effect(StrEnum):
    """Done in the same transaction that ends the question."""

    ANSWER = "the agent that asked continues and reads your words"
    BACK = "the escalation closes; the bead is retried with your note, and its failure count starts at zero"
    HAND_BACK = "the bead is retried with your note; if a person did the work, it is held for that person"
    TO_TESTS = "the bead goes to a Test Writer with your note, and its failure count starts at zero"
    MEND = "a new bead of the epic fixes the findings, or follows your note; without both, the review starts again"
    GO_ON = "the review of exactly this commit continues"
    AFTER_TESTS = "a Doer starts with these tests, or the review of exactly this commit continues"
    READ_AGAIN = "the review starts again from the beginning"
    DRAFTS = "each P2 finding becomes a draft; with a P1 finding the work goes back, else the review continues"
    END = "the escalation closes, and the work that it stopped continues"
    WORK = "the session starts to work on its plan"
    OPEN_GATE = "nobrakes starts the agent again now"
    DRAFT = "the suggestion becomes a draft"
    DONE = "the bead is done"
    CANCEL = "the bead is cancelled"
    REST = "the bead is held until you release it"
    PAUSE_FEATURE = "the feature is paused, and its beads are held"
    CHANGE_PLAN = "the feature is planned again, and a bead that failed is held until you approve the new plan"
    TELL_SHAPER = "the feature continues, and its Shaper reads your words"


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
_RETRY_EPIC = Way(Effect.BACK, "Try again", "The review of the epic starts again. No agent starts.")
_RECHECK = Way(Effect.BACK, "Check again", "nobrakes checks main again and closes this escalation.", "One check run.")
_DONE = Way(
    Effect.DONE,
    "Mark the bead as done",
    "The bead counts as done, without a merge and without a check. {may_start}",
    "Work on the bead's branch does not reach main: merge it yourself first. nobrakes archives the branch.",
)
_CANCEL = Way(
    Effect.CANCEL,
    "Cancel the bead",
    "No agent works on the bead again. `nobrakes undo` restores the bead.",
    "nobrakes archives the bead's branch and uncommitted files. {stay_blocked}",
)
_CLOSE = "Close the escalation"
_CLOSED: Row = {
    About.BEAD: Way(Effect.END, _CLOSE, "The bead is retried as with `--retry`, but no agent reads your note."),
    About.SESSION: Way(Effect.END, _CLOSE, "The session gets your note, and the message that no action is needed."),
    About.MACHINE: Way(Effect.END, _CLOSE, "Only the escalation closes."),
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
        "The review of exactly this commit continues. If the checks pass, nobrakes merges the commit.",
        "The change reaches main. If the bead gets another commit, nobrakes asks you again.",
    ),
    About.CONTRACT: Way(
        Effect.GO_ON,
        _ACCEPT,
        "You accept the checks exactly as shown. nobrakes uses these checks for this bead.",
        "After the merge nobrakes uses these checks for all work, and asks you again about any other version.",
    ),
    About.TESTS: Way(
        Effect.AFTER_TESTS,
        _ACCEPT,
        "The tests stay unchanged. A Doer starts on the bead, or the review of exactly this commit continues.",
        "This bead's checks use the changed files of the test runner. If the checks pass, main gets the files.",
    ),
}
_MEND = Way(Effect.MEND, "Try again", "{mend}")
_HELD_UP: Rows = {
    "dismiss": _everywhere(
        Way(
            Effect.END,
            _CLOSE,
            "nobrakes does not ask you again about this cause.",
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
                "Create a draft from the suggestion",
                "A new draft contains your note and the agent's words. `nobrakes approve` makes it live.",
                "No agent starts on the draft before you approve it.",
            ),
        ),
        "dismiss": _everywhere(Way(Effect.END, "Drop the suggestion", "No draft is made.")),
    },
    EscalationType.QUESTION: {
        "answer": {
            About.BEAD: Way(Effect.ANSWER, "Answer", "The bead continues, and the next prompt contains your words."),
            About.SESSION: Way(Effect.ANSWER, "Answer", "The session continues, and the agent reads your words."),
            About.MACHINE: Way(Effect.ANSWER, "Answer", "The stopped work continues, and the agent reads your words."),
        },
        **_STOPPED,
        "retry": {
            About.BEAD: replace(_BACK, label="Let the agent decide"),
            About.MACHINE: Way(Effect.BACK, "Leave it open", "nobrakes closes the question without an answer."),
        },
    },
    EscalationType.PLAN_REVIEW: {
        "approve": {
            About.BEAD: Way(
                Effect.END, "Approve the plan", "The Doer follows this plan and your note.", "{next_attempt}"
            ),
            About.SESSION: Way(
                Effect.WORK,
                "Approve the plan",
                "The session follows this plan and your note.",
                "The agent uses tokens. It cannot merge.",
            ),
        },
        "answer": _everywhere(Way(Effect.ANSWER, "Ask for a new plan", "The agent plans again, and reads your words.")),
        "done": {About.BEAD: _DONE},
        "cancel": {About.BEAD: _CANCEL},
    },
    EscalationType.BROKEN_CHECKS: _USUALLY_RETRIED,
    EscalationType.BROKEN_ENVIRONMENT: {
        **_USUALLY_RETRIED,
        "retry": {
            **_USUALLY_RETRIED["retry"],
            About.AGENT: Way(
                Effect.OPEN_GATE, "Try again", "nobrakes starts the agent on one bead now, as a test.", is_default=True
            ),
            About.MACHINE: Way(
                Effect.BACK, "Try again", "nobrakes tries again. After a failure it asks again.", is_default=True
            ),
        },
        "dismiss": {
            **_CLOSED,
            About.MACHINE: Way(Effect.END, _CLOSE, "The escalation closes. nobrakes may ask you again."),
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
                "nobrakes merges the work after it passes on the newest commit of {onto}.",
                "The change reaches {onto}. If {onto} moves and the diff changes, nobrakes asks you again.",
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
                "nobrakes continues with the work unchanged, after it passes on the newest commit of {onto}.",
                "The findings remain. If {onto} gets other commits and the diff changes, the work is reviewed again.",
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
                "Check again",
                "nobrakes checks main again now.",
                "The checks run once on main. nobrakes merges nothing until the checks pass.",
            ),
        },
        "dismiss": {
            **_CLOSED,
            About.MACHINE: Way(Effect.END, _CLOSE, "Only the escalation closes.", "Merges wait until main passes."),
        },
    },
    EscalationType.CHECKOUT_BEHIND: _HELD_UP,
    EscalationType.MERGE_HELD_UP: _HELD_UP,
    EscalationType.BREAKER_OPEN: _STOPPED,
    EscalationType.CAP_REACHED: _STOPPED,
    EscalationType.NOBRAKES_FAILED: {
        **_STOPPED,
        "retry": {About.BEAD: _BACK, About.MACHINE: Way(Effect.BACK, "Close it", "nobrakes closes the escalation.")},
    },
}

BLOCKER, FEATURE, READING = "an agent that cannot continue", "a failing step of a feature", "code review findings"
SHAPER = "a failing Shaper or plan reviewer of a feature"
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
        made["answer"] = Way(Effect.ANSWER, "Answer", "The agent continues and reads your words.")
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
    EscalationType.CONFLICT: "The bead's branch and main change the same lines. A person decides what happens.",
    EscalationType.CHECKS_CHANGED: "The branch changes a protected file, a protected section of a manifest or a file "
    "that a check's command names. `--approve` continues the review of exactly this commit; `--retry` sends the work "
    "back. If a scaffolding bead changes `.nobrakes/config.toml`, you approve exactly the version shown.",
    EscalationType.UNUSUAL_CONTENT: "The branch has hidden characters in file names, something that looks like a "
    "secret key, or decrypted text of a file that a git filter encrypts. `--approve` continues the review of exactly "
    "this commit; `--retry` sends the work back.",
    EscalationType.FILTER_NOT_ALLOWED: "The bead changes a file that git stores through a filter, and `git.filters` or "
    "`git.clear_text` does not list that filter. The escalation says what to type. After a restart the bead continues.",
    EscalationType.MERGE_REVIEW: "All checks passed, and the merge needs your approval, because the bead or an epic "
    "above it has the label `merge-review`, or `review.approve` is `always`. `--approve` merges the work; `--retry` "
    "sends the work back with your note. The approval is valid for this content only, also after a rebase.",
    EscalationType.CODE_REVIEW: "All checks passed. A code reviewer found problems, or no code reviewer was available "
    "(`review.code_review`). `--approve` continues with the work unchanged; `--retry` sends the work back.",
    EscalationType.ASKED_AGAIN: "People asked twice for the same change of a pull request. `--retry`: a Doer retries.",
    EscalationType.PULL_CLOSED: "Somebody closed the pull request without a merge. `--retry`: a Doer starts again.",
    EscalationType.WEAK_TESTS: "The new tests were too weak repeatedly. The bead's text may say too little.",
    EscalationType.REPEATED_FAILURE: "`limits.max_failures` attempts on a bead failed. The escalation shows each.",
    EscalationType.DOER_SUGGESTION: "An agent suggests work outside of its bead (`nobrakes agent escalate`).",
    EscalationType.QUESTION: "An agent asks a question (`nobrakes agent ask`), or ended as blocked and says why.",
    EscalationType.PLAN_REVIEW: "A session that plans, or a bead with the label `plan-review`, is waiting for you to "
    "approve its plan (`nobrakes agent request-review`).",
    EscalationType.BROKEN_CHECKS: "A check gave no result: it is missing, collected no test, timed out or was killed.",
    EscalationType.BROKEN_ENVIRONMENT: "The agent does not start, its login, model or settings are wrong, or five "
    "attempts in a row failed because of the machine. nobrakes asks once for all beads.",
    EscalationType.MAIN_RED: "The checks fail on main itself. nobrakes found this before blaming a branch, or after "
    "a merge. nobrakes asks once, and adds later findings to the same escalation.",
    EscalationType.BREAKER_OPEN: "Every agent of the role failed on the bead repeatedly, with the same error or "
    "without a commit (settings in `[breaker]`). Your decision lets each agent try once more.",
    EscalationType.CAP_REACHED: "The bead has reached a spending limit of `[caps.bead]`.",
    EscalationType.CHECKOUT_BEHIND: "A merge has waited 15 minutes because a checkout of main has conflicting changes. "
    "The escalation says where, and what to type. Then the merge continues and the escalation closes.",
    EscalationType.MERGE_HELD_UP: "A merge cannot continue, and the work is not the cause. For example, the remote "
    "refuses the push or the login, or did not answer for five minutes; a git filter fails; a lock file was left; or a "
    "disk is full. After you fix the problem, the merge continues and the escalation closes.",
    EscalationType.NOBRAKES_FAILED: "nobrakes had an internal error while it worked on this bead. Work on other beads "
    "continued. The escalation contains the traceback. After a second error nobrakes holds the bead.",
}
"""Each type needs a meaning for docs/reference/outcomes.md."""
CAUSES: Mapping[EscalationType, str] = {
    EscalationType.CONFLICT: "conflicts with main",
    EscalationType.REPEATED_FAILURE: "failed too often",
    EscalationType.WEAK_TESTS: "the new tests are too weak",
    EscalationType.DOER_SUGGESTION: "an agent suggests more work",
    EscalationType.QUESTION: "an agent's question",
    EscalationType.PLAN_REVIEW: "a plan needs your approval",
    EscalationType.BROKEN_CHECKS: "a check gave no result",
    EscalationType.BROKEN_ENVIRONMENT: "the agent or the machine is broken",
    EscalationType.CHECKS_CHANGED: "changes protected files, which decide whether work passes",
    EscalationType.UNUSUAL_CONTENT: "has unusual names or content",
    EscalationType.FILTER_NOT_ALLOWED: "needs a git filter that is not allowed",
    EscalationType.MERGE_REVIEW: "passed its checks, and the merge needs your approval",
    EscalationType.CODE_REVIEW: "passed its checks, and a code reviewer's findings need your decision",
    EscalationType.ASKED_AGAIN: "people asked twice for the same change of its pull request",
    EscalationType.PULL_CLOSED: "its pull request was closed without a merge",
    EscalationType.MAIN_RED: "main fails its checks",
    EscalationType.CHECKOUT_BEHIND: "a checkout of main blocks its merge",
    EscalationType.MERGE_HELD_UP: "its merge cannot continue",
    EscalationType.BREAKER_OPEN: "every agent keeps failing on it",
    EscalationType.CAP_REACHED: "reached a spending limit of [caps.bead]",
    EscalationType.NOBRAKES_FAILED: "an internal error in nobrakes",
}
"""Short reasons for asking."""
