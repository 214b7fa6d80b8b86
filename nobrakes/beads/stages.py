"""Stages of work and endings of attempts in words that people use: one mapping for every surface.

1. The keys are what the store keeps (steps of a review, endings of an attempt); they never change for a word's sake.
2. A word that is not known is shown as it is, without its underlines: a database of a later version is no error.
"""

from collections.abc import Mapping

from ..review.journal import Step
from ..text.cleaning import one_line
from .model import Outcome, Role

RED_PROOF = "red_proof"


TEST_STRENGTH = "test_strength"


MAIN = "main"


STAGES: Mapping[str, str] = {
    Step.TAKE_IN.value: "fetching the work",
    Step.BOUNDARIES.value: "checking which files it changes",
    Step.REBASE.value: "putting the branch on top of {main}",
    Step.VALIDATE_REBASED.value: "checking on top of {main}",
    Step.VALIDATE_BASE.value: "checking {main} without the branch",
    Step.COUNT_BASE.value: "counting the tests of {main}",
    Step.SWAP.value: "moving {main}",
    Step.VALIDATE_MAIN.value: "checking {main} after the merge",
    Step.READING.value: "in code review",
    Step.PULL_REQUEST.value: "waiting for people to merge it",
    Step.CLEAN_UP.value: "cleaning up",
    RED_PROOF: "checking that the new tests fail",
    TEST_STRENGTH: "checking how strong the new tests are",
    MAIN: "checking main",
    "main_known": "checking the last main that passed",
    "main_search": "searching for the commit that broke main",
    "main_prove": "checking main without the commit that broke it",
}
"""Each step, as what is done in it; {main} is what a review lands on."""


ENDINGS: Mapping[str, str] = {
    Outcome.COMPLETED.value: "completed",
    Outcome.GAVE_UP_CONTEXT.value: "ran out of context",
    Outcome.GAVE_UP_TESTS.value: "gave up: could not make the tests pass",
    Outcome.FAILED.value: "failed",
    Outcome.FAILED_REVIEW.value: "a check failed",
    Outcome.BOUNDARY.value: "changed files that its role may not change",
    Outcome.NOT_RED.value: "the new tests do not fail",
    Outcome.WEAK_TESTS.value: "the new tests are too weak",
    Outcome.NO_WORK.value: "there was no work",
    Outcome.CONTRADICTED_ITSELF.value: "contradicted itself",
    Outcome.EMPTY_OUTPUT.value: "printed nothing that can be read",
    Outcome.CRASHED.value: "crashed",
    Outcome.KILLED.value: "was killed from outside",
    Outcome.STALLED.value: "showed no activity",
    Outcome.TIMED_OUT.value: "took too long",
    Outcome.CONTEXT_OVERFLOW.value: "the prompt was too long",
    Outcome.INVALID_REQUEST.value: "the provider refused the request",
    Outcome.TURN_LIMIT.value: "used up its turns or its budget",
    Outcome.BLOCKED.value: "blocked: needs an answer",
    Outcome.CONFLICT.value: "conflicts with {main}",
    Outcome.CHECKS_CHANGED.value: "changes protected files",
    Outcome.UNUSUAL_CONTENT.value: "has unusual content",
    Outcome.FILTER_NOT_ALLOWED.value: "needs a git filter that is not allowed",
    Outcome.MERGE_REVIEW.value: "passed; the merge waits for a yes",
    Outcome.CODE_REVIEW.value: "passed; you decide on its review",
    Outcome.FINDINGS.value: "a reviewer found something",
    Outcome.REMARKS.value: "people want changes",
    Outcome.ASKED_AGAIN.value: "people asked for the same change twice",
    Outcome.PULL_CLOSED.value: "the pull request was closed",
    Outcome.BROKEN_CHECKS.value: "a check could not be run",
    Outcome.LOST.value: "ended unseen",
    Outcome.WORKSPACE_FAILED.value: "the workspace could not be made",
    Outcome.SESSION_LOST.value: "the session is gone",
    Outcome.MISSING_EXECUTABLE.value: "the agent's command was not found",
    Outcome.BAD_CONFIGURATION.value: "the agent or its settings are broken",
    Outcome.GUARD_FAILED.value: "the guard failed",
    Outcome.NOBRAKES_FAILED.value: "nobrakes itself failed",
    Outcome.VERSION_UNSUPPORTED.value: "this version of the agent is not supported",
    Outcome.AUTH.value: "the provider refused the login",
    Outcome.BILLING.value: "the provider wants to be paid",
    Outcome.RATE_LIMITED.value: "usage limit reached",
    Outcome.PROVIDER_DOWN.value: "the provider is down",
    Outcome.NETWORK.value: "the provider cannot be reached",
    Outcome.MODEL_UNAVAILABLE.value: "the provider has no such model",
    Outcome.INTERRUPTED.value: "interrupted",
    Outcome.CAPPED.value: "a spending cap was reached",
    Outcome.CANCELLED.value: "the bead was taken away",
}
"""Each ending, short, {main} as in `STAGES`; OUTCOMES says it at length."""
OUTCOMES: Mapping[Outcome, str] = {
    Outcome.COMPLETED: "It did what it was to do.",
    Outcome.GAVE_UP_CONTEXT: "The agent says that its context ran out, or it was stopped because it was nearly full "
    "(`context_share`).",
    Outcome.GAVE_UP_TESTS: "The agent says that it cannot make the tests pass, or they failed alike again and again.",
    Outcome.FAILED: "The agent says that it failed, or a script exited with an error.",
    Outcome.FAILED_REVIEW: "A check failed on the work, and not on main.",
    Outcome.BOUNDARY: "The branch changes a file that the role may not change, or was rewritten.",
    Outcome.WEAK_TESTS: "The new tests are red, but also pass with a program that does nothing right: each function "
    "gives one answer, whatever it is asked. Or a test file that was there asserts less than before.",
    Outcome.NOT_RED: "The new tests do not fail, or not for a reason that a Doer can remove.",
    Outcome.NO_WORK: "The agent says that it is done, and the branch has nothing new.",
    Outcome.CONTRADICTED_ITSELF: "Its last words hold two different markers.",
    Outcome.EMPTY_OUTPUT: "The agent CLI ended well, and nothing that its model said or did can be read.",
    Outcome.CRASHED: "The agent CLI broke down in the middle.",
    Outcome.KILLED: "The process was killed from outside.",
    Outcome.STALLED: "No output, changed file, commit or CPU for `idle_minutes`.",
    Outcome.TIMED_OUT: "It ran for `agent_minutes`.",
    Outcome.CONTEXT_OVERFLOW: "The provider refused: the prompt is too long.",
    Outcome.INVALID_REQUEST: "The provider refused what the session had come to.",
    Outcome.TURN_LIMIT: "It used up `max_turns`, `max_budget_usd` or `caps.attempt`.",
    Outcome.BLOCKED: "The agent waits for an answer.",
    Outcome.CONFLICT: "The branch conflicts with main.",
    Outcome.CHECKS_CHANGED: "The branch changes files that decide whether work passes; a person sees the diff.",
    Outcome.UNUSUAL_CONTENT: "The branch has names that hide something, a secret key, or text of a filtered file.",
    Outcome.FILTER_NOT_ALLOWED: "git keeps a changed file through a filter that your settings do not allow.",
    Outcome.MERGE_REVIEW: "Everything passed, and the merge waits for a person's yes.",
    Outcome.CODE_REVIEW: "Everything passed; a person decides on what the code review found, or that none was made.",
    Outcome.FINDINGS: "Everything passed, and the code review found what is to be mended; the next attempt is told.",
    Outcome.REMARKS: "People want changes of the pull request; the next attempt is told what they wrote.",
    Outcome.ASKED_AGAIN: "People asked for changes of the same point of the pull request again, after it was answered.",
    Outcome.PULL_CLOSED: "People closed the pull request without merging it.",
    Outcome.BROKEN_CHECKS: "A check could not say yes or no, or none is configured, or main itself is red.",
    Outcome.LOST: "It ended unseen: its own process was killed, or the machine. The third time counts as `killed`.",
    Outcome.WORKSPACE_FAILED: "The clone, its checkout or the set-up command failed.",
    Outcome.SESSION_LOST: "The session that was to go on is gone or taken.",
    Outcome.MISSING_EXECUTABLE: "The agent's command was not found.",
    Outcome.BAD_CONFIGURATION: "The agent CLI did not start: its settings or installation are broken, or it is mute.",
    Outcome.GUARD_FAILED: "The guard did not answer, or let through what it must refuse: the run was stopped.",
    Outcome.NOBRAKES_FAILED: "nobrakes met what it did not expect while it worked for this bead.",
    Outcome.VERSION_UNSUPPORTED: "The agent CLI is too old or too new for its options, or not served any more.",
    Outcome.AUTH: "The provider does not accept the credentials.",
    Outcome.BILLING: "The provider wants money.",
    Outcome.RATE_LIMITED: "A usage limit.",
    Outcome.PROVIDER_DOWN: "The provider has an outage.",
    Outcome.NETWORK: "The provider cannot be reached.",
    Outcome.MODEL_UNAVAILABLE: "The provider has no such model.",
    Outcome.INTERRUPTED: "It was stopped by `nobrakes stop`, alone or with all, or with the daemon.",
    Outcome.CAPPED: "It was stopped because a cap of its bead, the day or the run was reached.",
    Outcome.CANCELLED: "A person took the bead away.",
}
"""What each ending means."""


ROLES: Mapping[str, str] = {
    Role.TEST_WRITER.value: "test writer",
    Role.DOER.value: "doer",
    Role.REVIEWER.value: "reviewer",
}


def stage(step: str, epic: str = "") -> str:
    """The step of a review, or what else is being checked, as what is done in it. `epic`: on whose branch it lands."""
    return _of(STAGES.get(step) or plain(step), epic)


def _of(words: str, epic: str) -> str:
    return words.replace("{main}", main_of(epic))


def main_of(epic: str) -> str:
    """What a review lands on: main, or the branch of this epic."""
    return f"the branch of {one_line(epic)}" if epic else "main"


def ending(outcome: str, epic: str = "") -> str:
    """How an attempt ended; `epic` as in `stage`."""
    return _of(ENDINGS.get(outcome) or plain(outcome), epic)


def plain(word: str) -> str:
    """A stored word without its underlines."""
    return one_line(word.replace("_", " "))


def subject(step: str, epic: str = "") -> str:
    """What the checks of a step are run on, as in `checks begin on …`; `epic` as in `stage`."""
    return _of(_SUBJECTS.get(step, "the branch"), epic)


_SUBJECTS: Mapping[str, str] = {
    Step.VALIDATE_REBASED.value: "the branch on top of {main}",
    Step.VALIDATE_BASE.value: "{main} without the branch",
    Step.COUNT_BASE.value: "{main}, to count its tests",
    Step.VALIDATE_MAIN.value: "{main} after the merge",
    RED_PROOF: "the new tests, which have to fail",
    TEST_STRENGTH: "the new tests, with a program that does nothing right",
    MAIN: "main",
    "main_known": "the last main that passed",
    "main_search": "a commit between, to find what broke main",
    "main_prove": "main without the commit that broke it",
}
