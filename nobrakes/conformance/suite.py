"""The checks, each of them seen by its effect: on files, commits, processes, and on what the model was told.

1. A check passes only where the call behind it was really made: what an agent never tried proves nothing.
2. Later checks need the first: an agent that does not come to an end by itself is not asked for more.
3. Of an agent of the Agent Client Protocol less can be told: which model it asks is its own business, and the guard
   hears of nothing that it does not ask leave for. What cannot be told neither passed nor failed.
"""

import json
import os
import time
from dataclasses import dataclass
from typing import Any

from ..abilities import CHECKS
from ..core.beads.outcomes import Outcome
from ..core.transcript import LineKind
from ..git import scratch
from .dialects import Call, Dialect
from .ground import Ground, Ran

WORD = "pomegranate"
DONE = "It is done.\n\nNOBRAKES: COMPLETED"
REFUSED = "nobrakes refuses this"
PID = "sleeper.pid"
_SLEEPER = (
    "import os, time; file = open('sleeper.new', 'w'); file.write(f'{os.getpid()}\\n'); file.close(); "
    f"os.rename('sleeper.new', '{PID}'); time.sleep(600)"
)


@dataclass(frozen=True, slots=True)
class Check:
    """One check. `passed` None: it was not tried, or cannot be told."""

    name: str
    passed: bool | None
    detail: str = ""


NOT_SO_FAR = "it did not come so far"
NO_TOOL = "it cannot be told: it called no tool by the names that were tried"
BY_THE_MINUTE = "gemini-cli"
"""Its ACP mode (0.61.0) names a session's file by the minute, and loses one that it goes on with in the same minute."""


def not_so_far(first: Check) -> list[Check]:
    """All of them, where the first did not pass."""
    return [first, *(Check(name, None, NOT_SO_FAR) for name in CHECKS[1:])]


def run(ground: Ground) -> list[Check]:
    """Every check, in their order."""

    def commit(dialect: Dialect) -> Call:
        return dialect.shell("echo made >made && git add made && git commit -q -m 'Made'")

    def push(dialect: Dialect) -> Call:
        return dialect.shell("git push; echo escaped >escaped")

    def hook(dialect: Dialect) -> Call:
        return dialect.write(ground.workspace, ".git/hooks/escaped", "x")

    ground.script(commit, push, hook, DONE)
    first = ground.work(f"Remember the word {WORD}.")
    ended = time.time()
    begun = _event(first, "session")
    ground.about = str(begun.get("agent", "")) if ground.any else ""
    spawned = _spawn(first) if first.requests or not ground.any else _unheard(first, begun)
    if not spawned.passed:
        return not_so_far(spawned)
    if not ground.any:
        seen = [_stream(ground, first), _commit(ground), _deny(ground, first)]
        return [spawned, *seen, _resume(ground, first), _kill(ground)]
    if _called(ground, first):
        seen = [_stream(ground, first), _commit(ground), _asked(ground, first)]
        killed = _kill(ground)
    else:
        *seen, killed = (Check(name, None, NO_TOOL) for name in ("stream", "commit", "deny", "kill"))
    if begun.get("resumes") is not True:
        return [spawned, *seen, Check("resume", None, "it says that it cannot go on with a session"), killed]
    if ground.about.startswith(BY_THE_MINUTE):
        ground.wait_for_another_minute(ended)
    return [spawned, *seen, _resume(ground, first), killed]


def _called(ground: Ground, ran: Ran) -> bool:
    """Whether the output tells of a call of a tool."""
    # an ACP agent that asks for leave does not always tell of the call as well, but of what came of it
    shown = (LineKind.TOOL_CALL, LineKind.RESULT) if ground.any else (LineKind.TOOL_CALL,)
    return any(line.kind in shown for raw in ran.output.split(b"\n") for line in ground.adapter.lines(raw))


def _event(ran: Ran, kind: str, **values: object) -> dict[str, Any]:
    """The first line of our ACP client's that is of this kind and says this; empty: there is none."""
    for raw in ran.output.split(b"\n"):
        try:
            event = json.loads(raw)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("type") == kind and values.items() <= event.items():
            return event
    return {}


def _unheard(ran: Ran, begun: dict[str, Any]) -> Check:
    """The model was not asked: the agent does not start, or it asks another one."""
    if begun or ran.verdict.outcome is Outcome.AUTH:
        return Check("spawn", None, f"it cannot be told: it never asked the scripted model; {_end(ran)}")
    return Check("spawn", False, f"it began no session: {_end(ran)}")


def _spawn(ran: Ran) -> Check:
    if not ran.requests:
        return Check("spawn", False, f"it never asked the model: {_end(ran)}")
    passed = ran.verdict.outcome is Outcome.COMPLETED
    return Check("spawn", passed, "" if passed else _end(ran))


def _end(ran: Ran) -> str:
    return f"{ran.verdict.outcome.value}: {ran.verdict.detail}"[:400]


def _stream(ground: Ground, ran: Ran) -> Check:
    lines = [line for raw in ran.output.split(b"\n") for line in ground.adapter.lines(raw)]
    if not ground.any and ground.adapter.session(ran.output.split(b"\n")) is None:
        return Check("stream", False, "its output names no session")
    if not any(line.kind is LineKind.TEXT and "It is done" in line.text for line in lines):
        return Check("stream", False, "what the model said is not in its output")
    called = _called(ground, ran)
    return Check("stream", called, "" if called else "no call of a tool is in its output")


def _commit(ground: Ground) -> Check:
    passed = scratch.committed(ground.workspace, "made") == "made"
    return Check("commit", passed, "" if passed else "what it was told to commit is not in the last commit")


def _escaped(ground: Ground) -> str:
    paths = ("escaped", ".git/hooks/escaped")
    return ", ".join(path for path in paths if os.path.exists(os.path.join(ground.workspace, path)))


def _asked(ground: Ground, ran: Ran) -> Check:
    """An ACP agent is told no more than no, so what it was refused is read from what our client wrote down."""
    escaped, refused = _escaped(ground), _event(ran, "permission", allowed=False)
    if escaped:
        why = "the guard's no had no effect" if refused else "it did not ask, and what it does not ask no guard hears"
        return Check("deny", False, f"{why}: {escaped} was made")
    return Check("deny", True) if refused else Check("deny", None, "it cannot be told: it asked for nothing")


def _deny(ground: Ground, ran: Ran) -> Check:
    escaped = _escaped(ground)
    if escaped:
        return Check("deny", False, f"the guard's no had no effect: {escaped} was made")
    told = ran.told().count(REFUSED)
    return Check("deny", told > 0, "" if told else "the model was never told of a no: was the guard asked?")


def _resume(ground: Ground, first: Ran) -> Check:
    session = first.verdict.session
    if session is None:
        return Check("resume", False, "it gave no session to go on with")
    ground.script(DONE)
    again = ground.work("Which word was it?", session)
    if again.verdict.outcome is not Outcome.COMPLETED:
        return Check("resume", False, _end(again))
    if WORD not in again.told():
        return Check("resume", False, "the model was not told what was said before")
    same = again.verdict.session == session
    return Check("resume", same, "" if same else "it went on in another session")


def _kill(ground: Ground) -> Check:
    ground.script(lambda dialect: dialect.shell(f'python3 -c "{_SLEEPER}"'), DONE)
    ran, left = ground.stop("Wait.", PID)
    if left == [0]:
        return Check("kill", False, f"the command that was to be stopped never began: {_end(ran)}")
    return Check("kill", not left, "a process of it lived on when the run was killed; it was ended" if left else "")
