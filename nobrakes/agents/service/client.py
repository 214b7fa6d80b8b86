"""What an agent does at its door: NOBRAKES_TOKEN names its attempt, and it reaches that attempt's bead only.

1. Imports nothing that costs: the hot commands, the whole command line and the MCP server share it.
2. Every text is cleaned here and bounded in the store; so many remarks and so many questions an attempt, no more.
"""

import os
import time

from ... import paths
from ...text.cleaning import clean

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    Calls = Mapping[str, tuple[Callable[..., Any], tuple[tuple[type, ...], ...]]]

POLL_SECONDS = 0.25
MAX_SECONDS = 3600.0
"""An attempt's default timeout; MCP clients wait longer (agents.adapter)."""
SIGN_SECONDS = 5.0
"""Seconds between signs of life of a waiting agent."""
OUTCOMES = {
    "completed": "completed",
    "context_exhausted": "gave_up_context",
    "gave_up_context": "gave_up_context",
    "gave_up_tests": "gave_up_tests",
    "failed": "failed",
    "blocked": "blocked",
}
"""Declarable endings: exit markers or outcomes."""
DOCUMENTS = ("decision", "deviation", "wish", "review")
"""projects.model.Kind, which costs an import of `enum`."""
NO_ANSWER = "no answer yet: commit, log and end with NOBRAKES: BLOCKED"
WRITTEN = "written down"
HANDED_IN = "handed in: now end your session"
_FIRST = 64_000
"""Characters of a text that are read; the store keeps fewer."""


def key() -> "tuple[str, str]":
    """(database, token) of this process' attempt. Raises NotAllowed."""
    token = os.environ.get("NOBRAKES_TOKEN", "")
    if not token:
        from ...errors import NotAllowed

        raise NotAllowed("`nobrakes agent …` is for agents, and NOBRAKES_TOKEN is not set", "See `nobrakes --help`.")
    found = paths.find()
    if found is None:
        from ...errors import NotInitialised

        raise NotInitialised("this folder has no .nobrakes, and NOBRAKES_HOME names no folder")
    return found.database, token


def is_confined() -> bool:
    return bool(os.environ.get("NOBRAKES_DOOR"))


def call(name: str, *arguments: "Any", calls: "Calls | None" = None) -> "Any":
    """A function of `calls`, or of agents.db.edits, for this process' attempt; in a sandbox the daemon calls it."""
    path, token = key()
    if is_confined():
        return _over_channel(token, name, *arguments)
    if calls is not None:
        return calls[name][0](path, token, *arguments)
    from ..db import edits

    return getattr(edits, f"agent_{name}")(path, token, *arguments)


# The channel out of a sandbox: the functions of agents.db.edits by name, with the same arguments. A request is whole or
# not there, and stays when nobody answers; who is not answered soon says again that it lies there.
TIMEOUT = 100.0
"""Seconds to wait for an answer, enough for a daemon's restart."""
LOOK = 0.02
"""Maximal seconds between two looks; the first follow faster."""
SOON = 0.25
"""Seconds without an answer before the request is announced again; then in longer steps."""


def _over_channel(token: str, name: str, *arguments: "Any") -> "Any":
    """The daemon's answer. Raises its error, or DoorClosed on a timeout."""
    from ...lightjson import dumps, loads

    door = os.environ["NOBRAKES_DOOR"]
    request = f"{time.time_ns():x}-{os.getpid()}-{os.urandom(4).hex()}.json"
    temporary = os.path.join(door, "in", f".{request}")
    with open(temporary, "x", encoding="utf-8", errors="replace") as file:
        file.write(dumps({"token": token, "call": name, "arguments": arguments}))
    os.rename(temporary, os.path.join(door, "in", request))
    answer = os.path.join(door, "out", request)
    _await(answer, os.path.join(door, "in", paths.AGAIN))
    with open(answer, encoding="utf-8") as file:
        said = loads(file.read())
    if "error" in said:
        from ... import errors

        kind, message, hint = said["error"]
        raise getattr(errors, kind, errors.NobrakesError)(message, hint)
    return said["value"]


def _await(answer: str, again: str) -> None:
    begun = time.monotonic()
    waited, soon = 0.0, SOON
    while not os.path.exists(answer):
        if waited > TIMEOUT:
            from ...errors import DoorClosed

            raise DoorClosed("nobrakes does not answer now; your message is stored for it")
        if waited > soon:
            soon = 2 * waited
            from contextlib import suppress

            with suppress(OSError):  # the request lies there all the same
                os.close(os.open(again, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        time.sleep(min(LOOK, LOOK / 20 + waited / 4))
        waited = time.monotonic() - begun


def cleaned(text: str) -> str:
    return clean(text[:_FIRST])


def no_answer(number: int) -> str:
    return f"question {number}: {NO_ANSWER}"


def plan_waits(number: int) -> str:
    return f"plan {number} waits for a person: change nothing, and end with NOBRAKES: BLOCKED"


def suggested(number: int) -> str:
    return f"filed as escalation {number}; continue with your bead"


def waits(number: int) -> str:
    return f"filed as question {number}: the bead waits, and your session continues with the answer. End now."


def say(verb: str, text: str) -> None:
    call("say", verb, cleaned(text), "{}")


def progress(
    text: str, step: "int | None", of: "int | None", percent: "int | None" = None, work_type: "str | None" = None
) -> "tuple[int | None, str]":
    """Record progress; returns the commits so far and any contradiction to the claim."""
    from ...lightjson import dumps

    claim = {"step": step, "of": of or None, "percent": percent, "work_type": work_type or None}
    data = dumps({name: value for name, value in claim.items() if value is not None})
    if step is None:
        if of is not None:
            from ...errors import UsageError

            raise UsageError("--of needs --step", "Give --step and --of, or --step alone.")
        call("say", "progress", cleaned(text), data)
        return None, ""
    from ...beads.progress import MAX_STEPS, doubt

    if not 0 <= step <= (of or MAX_STEPS) <= MAX_STEPS:
        from ...errors import UsageError

        raise UsageError(f"step {step} of {of or MAX_STEPS} is out of range", f"Count from 0 to at most {MAX_STEPS}.")
    call("say", "progress", cleaned(text), data)
    commits = own_commits(call("standing"))
    return commits, doubt(step, commits)


def own_commits(since: float) -> "int | None":
    """Commits in the agent's clone since then; None: unknown."""
    from ...walking import commits_since

    workspace = os.environ.get("NOBRAKES_WORKSPACE", "")
    return commits_since(workspace, since) if os.path.isabs(workspace) else None


def ask(question: str, wait: float, form: "dict[str, Any] | None" = None) -> "tuple[int, str | None]":
    """File the question or find the same one, and wait at most `wait` seconds for its answer."""
    form_json = ""
    if form is not None:
        from ...lightjson import dumps

        form_json = dumps(form)
    number = int(call("ask", cleaned(question), form_json))
    return number, wait_for(number, wait)


def wait_for(number: int, wait: float) -> "str | None":
    """The answer or the plan's decision; None: not in time."""
    if wait <= 0:
        return None  # what is answered is open no more, and what is not open was asked again
    now = sign = time.monotonic()
    until = now + wait
    answer = _answer_now(number)
    while answer is None and (now := time.monotonic()) < until:
        if now >= sign:
            # touch the run's own folder, which the daemon looks at: whoever waits for a person is not silent
            written = os.environ.get("NOBRAKES_HANDOFF", "")
            if os.path.isabs(written):
                os.utime(os.path.dirname(written))
            sign = now + SIGN_SECONDS
        time.sleep(min(POLL_SECONDS, until - now))
        answer = _answer_now(number)
    return answer


def _answer_now(number: int) -> "str | None":
    """None: no answer yet, or the daemon is restarting."""
    try:
        return answer(number)[1]
    except Exception as error:
        from ...errors import DoorClosed, StoreBusy

        if isinstance(error, (DoorClosed, StoreBusy)):
            return None
        raise


def blocked(what: str, options: "list[str]", recommended: "list[str]", tried: str) -> int:
    """Report that nothing goes on without a person; returns the question's number."""
    from ...decisions.forms import form_of
    from ...lightjson import dumps

    form = form_of([cleaned(one) for one in options], [cleaned(one) for one in recommended], cleaned(tried))
    number = int(call("blocked", cleaned(what), dumps(form)))
    if not is_confined():
        from ...files import poke

        found = paths.find()
        assert found is not None, "it names the database"
        poke(found.wake, "agent")
    return number


SEVERITIES = ("info", "warning", "urgent")
"""notices.model.Severity, without importing `enum`."""


def escalate(suggestion: str, detail: str, severity: str) -> int:
    return int(call("escalate", cleaned(suggestion), cleaned(detail), severity))


def answer(number: "int | None") -> "tuple[int, str | None]":
    found, text = call("answer", number)
    return found, text


def done(outcome: str, summary: str, blockers: str, learnings: str, keep_branch: bool) -> None:
    call("done", outcome, cleaned(summary), cleaned(blockers), cleaned(learnings), keep_branch)
