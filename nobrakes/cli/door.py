"""What an agent does at its door: NOBRAKES_TOKEN names its attempt, and it reaches that attempt's bead only.

Imports nothing that costs: cli.hot and cli.agent share it.
"""

import os
import time

from .. import places

POLL_SECONDS = 0.25
OUTCOMES = {
    "completed": "completed",
    "context_exhausted": "gave_up_context",
    "gave_up_context": "gave_up_context",
    "gave_up_tests": "gave_up_tests",
    "failed": "failed",
    "blocked": "blocked",
}
"""What an agent may say about its end: the words of the exit markers, or those of the outcomes."""
NO_ANSWER = "no answer yet: commit, log and end with NOBRAKES: BLOCKED"


def _key() -> "tuple[str, str]":
    """(database, token) of the attempt that this process belongs to; NotAllowed for anybody else."""
    token = os.environ.get("NOBRAKES_TOKEN", "")
    if not token:
        from ..core.errors import NotAllowed

        raise NotAllowed("`nobrakes agent …` is for agents, and NOBRAKES_TOKEN is not set", "See `nobrakes --help`.")
    found = places.find()
    if found is None:
        from ..core.errors import NotInitialised

        raise NotInitialised("there is no .nobrakes here, and NOBRAKES_HOME names none")
    return found.database, token


def no_answer(number: int) -> str:
    """What an agent is told while nobody has answered."""
    return f"question {number}: {NO_ANSWER}"


def say(verb: str, text: str) -> None:
    """Write a log line, a progress or a notice down."""
    from ..store import hot

    hot.agent_say(*_key(), verb, text)


def ask(question: str, wait: float) -> "tuple[int, str | None]":
    """File the question, or find the one that is the same, and wait at most `wait` seconds for its answer."""
    from ..store import hot

    path, token = _key()
    number = hot.agent_ask(path, token, question)
    until = time.monotonic() + wait
    while (answer := hot.agent_answer(path, token, number)[1]) is None and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
    return number, answer


def escalate(suggestion: str, detail: str) -> int:
    """File a suggestion; its number."""
    from ..store import hot

    return hot.agent_escalate(*_key(), suggestion, detail)


def answer(number: "int | None") -> "tuple[int, str | None]":
    """(number, answer) of a question of this bead; None: the last one."""
    from ..store import hot

    return hot.agent_answer(*_key(), number)


def done(outcome: str, summary: str, blockers: str, learnings: str, keep_branch: bool) -> None:
    """Say how the attempt ended, and leave its log."""
    from ..store import hot

    hot.agent_done(*_key(), outcome, summary, blockers, learnings, keep=keep_branch)
