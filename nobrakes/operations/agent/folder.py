"""The agent's side of its channel, inside a sandbox: a file in a folder that the daemon reads, its answer in another.

1. A request is whole or not there. It stays where it is when nobody answers: a daemon that comes back takes it in.
2. The daemon sleeps until the system tells it of a request. Whoever is not answered soon says again that it lies there.
3. Imported only where NOBRAKES_DOOR is set, and then in place of store.agent.edits: the same functions with the same
   arguments. The path of the database is not used, since it is not there.
"""

import os
import time

from ...lightjson import dumps, loads
from ...paths import AGAIN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PATIENCE = 100.0
"""Seconds to wait for an answer: the daemon may be starting anew."""
LOOK = 0.02
"""Seconds between two looks, at most: the first ones follow each other faster."""
SOON = 0.25
"""After so many seconds without an answer it is said again that a request lies there; then in ever longer steps."""


def agent_say(path: str, token: str, kind: str, text: str, data_json: str = "{}") -> None:
    """Write a log line, a progress or a notice down."""
    call(token, "say", kind, text, data_json)


def agent_standing(path: str, token: str) -> float:
    """When the agent's attempt began."""
    return float(call(token, "standing"))


def agent_done(
    path: str, token: str, outcome: str, summary: str, blockers: str = "", learnings: str = "", keep: bool = True
) -> None:
    """Leave the attempt's log and what the agent says of its end."""
    call(token, "done", outcome, summary, blockers, learnings, keep)


def agent_answer(path: str, token: str, number: "int | None" = None) -> "tuple[int, str | None]":
    """(number, answer) of a question about the agent's own bead."""
    found, text = call(token, "answer", number)
    return found, text


def agent_ask(path: str, token: str, question: str, form_json: str = "") -> int:
    """File a question about the agent's own bead, perhaps with a form; its number."""
    return int(call(token, "ask", question, form_json))


def agent_blocked(path: str, token: str, what: str, form_json: str) -> int:
    """File what stops the agent, and that its attempt ends so; the question's number."""
    return int(call(token, "blocked", what, form_json))


def agent_escalate(path: str, token: str, title: str, detail: str = "", severity: str = "info") -> int:
    """File a suggestion; its number."""
    return int(call(token, "escalate", title, detail, severity))


def call(token: str, name: str, *arguments: "Any") -> "Any":
    """What the daemon answers; its error, or DoorClosed where it did not answer in time."""
    door = os.environ["NOBRAKES_DOOR"]
    request = f"{time.time_ns():x}-{os.getpid()}-{os.urandom(4).hex()}.json"
    temporary = os.path.join(door, "in", f".{request}")
    with open(temporary, "x", encoding="utf-8", errors="replace") as file:
        file.write(dumps({"token": token, "call": name, "arguments": arguments}))
    os.rename(temporary, os.path.join(door, "in", request))
    answer = os.path.join(door, "out", request)
    _await(answer, os.path.join(door, "in", AGAIN))
    with open(answer, encoding="utf-8") as file:
        said = loads(file.read())
    if "error" in said:
        from ...core import errors

        kind, message, hint = said["error"]
        raise getattr(errors, kind, errors.NobrakesError)(message, hint)
    return said["value"]


def _await(answer: str, again: str) -> None:
    """Return when the answer is there; DoorClosed."""
    begun = time.monotonic()
    waited, soon = 0.0, SOON
    while not os.path.exists(answer):
        if waited > PATIENCE:
            from ...core.errors import DoorClosed

            raise DoorClosed("nobrakes does not answer just now; what you said is stored for it")
        if waited > soon:
            soon = 2 * waited
            from contextlib import suppress

            with suppress(OSError):  # the request lies there all the same
                os.close(os.open(again, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        time.sleep(min(LOOK, LOOK / 20 + waited / 4))
        waited = time.monotonic() - begun
