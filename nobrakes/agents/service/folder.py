"""The agent's side: its guard's questions, `nobrakes agent test`, and the channel out of a sandbox.

What the guard does about a command that a person says yes to first: it asks once, and lets it through once.

In a sandbox the daemon does it, by the same function (`CALLS`).
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ... import errors
from ...decisions.forms import DEFAULT_PRIORITY, as_values, made
from ...errors import DoorClosed, UsageError
from ...lightjson import dumps, loads
from ...paths import AGAIN, process_environment
from ...text.cleaning import count
from ..db.channel_answers import NO, YES, agent_permit
from . import client

CALLS: "Mapping[str, tuple[Callable[..., Any], tuple[tuple[type, ...], ...]]]" = {"permit": (agent_permit, ((str,),))}


def why_not(command: str, pattern: str) -> "str | None":
    """Why the command may not run now; None: a person approved it, and this uses up the approval."""
    number, said = client.call("permit", command, calls=CALLS)
    if said == YES:
        return None
    if said == NO:
        return f"a person refused this command (question {number}): continue without the command"
    return (
        f"a person must approve `{pattern}` first; question {number} asks for it. Try no other way: commit, and end "
        "with NOBRAKES: BLOCKED. After the approval, call exactly the same command again: the command then runs once."
    )


def form_of(
    option: "Sequence[str]",
    recommend: "Sequence[str]",
    checkbox: bool,
    yes_no: bool,
    long: bool,
    optional: bool,
    priority: "int | None",
    context: str,
) -> "dict[str, Any] | None":
    """The form as JSON values. Raises UsageError."""
    kinds = [name for name, wanted in (("yes-no", yes_no), ("long", long), ("options", bool(option))) if wanted]
    if len(kinds) > 1 or (checkbox and not option):
        if checkbox and not option:
            raise UsageError("a checkbox needs options", 'Repeat --option "LABEL: what it means; costs …".')
        raise UsageError(f"a question has one kind, not {' and '.join(kinds)}", "Use one of options, yes-no and long.")
    if not (kinds or recommend or optional or priority is not None or context):
        return None
    kind = "yes_no" if yes_no else "long_text" if long else "short_text"
    if option:
        kind = "checkbox" if checkbox else "radio"
    urgent = DEFAULT_PRIORITY if priority is None else priority
    return as_values(made(kind, option, recommend, required=not optional, priority=urgent, context=context))


CHECKS = "NOBRAKES_CHECKS"
_MARKS = ("NOBRAKES_RUN", "NOBRAKES_WAKE")
_LINES = 40


# What passes here proves nothing: the Reviewer runs the checks itself. The contract comes with the agent's start, since
# config.toml is not in its reach. Each call is one test round (checks.proof).
def test(name: str) -> tuple[dict[str, Any], str]:
    """Run one check or all; (JSON values, text)."""
    client.call("standing")  # who has no door runs nothing
    workspace, known = os.environ.get("NOBRAKES_WORKSPACE", ""), loads(os.environ.get(CHECKS) or "[]")
    wanted = [check for check in known if name in ("", check["name"])]
    if not wanted or not os.path.isabs(workspace):
        names = ", ".join(check["name"] for check in known) or "none"
        raise UsageError(
            f"there is no check '{client.cleaned(name)[:40]}'" if name else "no check is configured", names
        )
    ended = [_run(check, workspace) for check in wanted]
    client.say("test", "; ".join(f"{one['name']}: {one['outcome']}" for one in ended))
    text = "\n\n".join(f"{one['name']}: {one['outcome']}\n{one['output']}".strip() for one in ended)
    return {"passed": all(one["code"] == 0 for one in ended), "checks": ended}, text


def _run(check: dict[str, Any], workspace: str) -> dict[str, Any]:
    from ...host.runs import probing

    # the door is the agent's, and not its tests'; what marks its processes stays
    environment = {n: v for n, v in process_environment().items() if not n.startswith("NOBRAKES_") or n in _MARKS}
    folder = os.path.join(workspace, check["directory"])
    if not os.path.isdir(folder):
        return {"name": check["name"], "code": None, "outcome": "fail: the check's directory is missing", "output": ""}
    code, output = probing.run(check["command"], folder, check["timeout"], environment)
    outcome = "pass" if code == 0 else f"fail: exit code {code}"
    if code is None:
        outcome = f"fail: stopped after {count(check['timeout'], 'second')}"
    tail = "\n".join(client.cleaned(output).strip().splitlines()[-_LINES:])
    return {"name": check["name"], "code": code, "outcome": outcome, "output": "" if code == 0 else tail}


# The channel out of a sandbox: the functions of agents.db.edits by name, with the same arguments. A request is whole or
# not there, and stays when nobody answers; who is not answered soon says again that it lies there.
TIMEOUT = 100.0
"""Seconds to wait for an answer, enough for a daemon's restart."""
LOOK = 0.02
"""Maximal seconds between two looks; the first follow faster."""
SOON = 0.25
"""Seconds without an answer before the request is announced again; then in longer steps."""


def call(token: str, name: str, *arguments: "Any") -> "Any":
    """The daemon's answer. Raises its error, or DoorClosed on a timeout."""
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
        kind, message, hint = said["error"]
        raise getattr(errors, kind, errors.NobrakesError)(message, hint)
    return said["value"]


def _await(answer: str, again: str) -> None:
    begun = time.monotonic()
    waited, soon = 0.0, SOON
    while not os.path.exists(answer):
        if waited > TIMEOUT:
            raise DoorClosed("nobrakes does not answer now; your message is stored for it")
        if waited > soon:
            soon = 2 * waited
            from contextlib import suppress

            with suppress(OSError):  # the request lies there all the same
                os.close(os.open(again, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW, 0o600))
        time.sleep(min(LOOK, LOOK / 20 + waited / 4))
        waited = time.monotonic() - begun
