"""What a confined agent asks over its channel, answered from the database that it cannot reach itself.

1. A request is JSON: the token, the name of a call and its arguments. Anything else is answered by a clear no.
2. The channel of a run speaks for that run's attempt or turn alone (`owner` is how its token begins): a token of
   another is refused, genuine or not.
"""

import json
import sys
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from ...beads.progress import WORK_TYPES
from ...db.fast import now
from ...errors import NobrakesError, Stale, UsageError
from ...text.cleaning import clean
from . import edits
from .edits import AgentIdentity

TYPE_CHECKING = False

if TYPE_CHECKING:
    from sqlite3 import Connection


def _say(path: str, token: str, kind: str, text: str, data_json: str) -> None:
    data = json.loads(data_json)
    if not isinstance(data, dict) or not all(_is_claim(name, value) for name, value in data.items()):
        raise UsageError("a progress report has only step, of, percent and work type", "Use `nobrakes agent …`.")
    edits.agent_say(path, token, kind, text, json.dumps(data))


def _is_claim(name: object, value: object) -> bool:
    return value in WORK_TYPES if name == "work_type" else name in ("step", "of", "percent") and type(value) is int


Calls = Mapping[str, tuple[Callable[..., Any], tuple[tuple[type, ...], ...]]]
"""By name: the call's function of (path, token, …), and the types of the further arguments."""

CALLS: Calls = {
    "say": (_say, ((str,), (str,), (str,))),
    "standing": (edits.agent_standing, ()),
    "ask": (edits.agent_ask, ((str,), (str,))),
    "blocked": (edits.agent_blocked, ((str,), (str,))),
    "escalate": (edits.agent_escalate, ((str,), (str,), (str,))),
    "answer": (edits.agent_answer, ((int, type(None)),)),
    "done": (edits.agent_done, ((str,), (str,), (str,), (str,), (bool,))),
}

_FILING = ("ask", "blocked", "escalate", "file_plan", "forge_propose", "forge_ready", "forge_finding", "permit")
"""Calls that leave something for a person to read."""

MAX_INTEGER = 2**63


def reply(path: str, filed: Callable[[], None], calls: Calls, owner: str, request: bytes | None) -> bytes:
    """The JSON answer to one request: {"value": …} or {"error": [class, message, hint]}. Calls `filed` when something
    was filed for a person. `calls` extend those of this module."""
    try:
        name, value = _call(path, {**CALLS, **calls}, owner, request)
        if name in _FILING:
            filed()
        said: dict[str, Any] = {"value": value}
    except NobrakesError as error:
        said = {"error": [type(error).__name__, str(error), error.hint]}
    except OSError:
        raise  # it waits at the door
    except Exception as error:  # a bug: told, and no end of the thread that answers everybody
        traceback.print_exc(file=sys.stderr)
        said = {"error": ["NobrakesError", f"nobrakes itself failed: {type(error).__name__}", ""]}
    return json.dumps(said).encode()


def _call(path: str, calls: Calls, owner: str, request: bytes | None) -> tuple[str, Any]:
    try:
        asked = json.loads(request or b"")
        token, name, arguments = asked["token"], asked["call"], asked["arguments"]
        call, kinds = calls[name]
        right = isinstance(token, str) and len(arguments) == len(kinds)
        right = right and all(type(value) in kind for value, kind in zip(arguments, kinds, strict=True))
        right = right and all(abs(value) < MAX_INTEGER for value in arguments if isinstance(value, int))
    except (ValueError, RecursionError, KeyError, TypeError):
        right = False
    if not right:
        raise UsageError("nobrakes does not understand this request", "Use `nobrakes agent …`.")
    if name == "say" and arguments[0] not in edits.SAYING:
        raise UsageError("an agent can only log, notify or report progress", "Use `nobrakes agent log TEXT`.")
    if token.partition(".")[0] != owner:
        raise Stale("the token belongs to another attempt or turn than this channel")
    # whoever wrote the request need not have cleaned it
    sound = [clean(value) if isinstance(value, str) and value else value for value in arguments]
    try:
        return name, call(path, token, *sound)
    except ValueError:
        raise UsageError("nobrakes does not understand this request", "Use `nobrakes agent …`.") from None


MAX_PERMITS = 2000
"""Characters of a command in a question; a longer one cannot be judged."""
WAITS, YES, NO = "waits", "yes", "no"
KEY, USED = "ask_first", "used"
_FORM = '{"kind": "yes_no", "context": "agents.ask_first names the command. A yes allows exactly one run (%s)."}'
"""A hash makes commands of nearly the same words two questions."""
_FOUND = f"""SELECT id, answer, resolved_at, read_at, json_extract(evidence, '$.{USED}') FROM escalations
WHERE (bead = :bead OR session = :session) AND type = 'question' AND json_extract(evidence, '$.{KEY}') = :mark
ORDER BY id DESC LIMIT 1"""
_USE = (
    f"UPDATE escalations SET evidence = json_set(evidence, '$.{USED}', 1), read_at = coalesce(read_at, ?) WHERE id = ?"
)


# A command is known by a hash of its very words, for one bead or session. A yes is used in the transaction that finds
# it; a no stands.
def agent_permit(path: str, token: str, command: str) -> "tuple[int, str]":
    """(the question's number, its state): YES once for each yes; WAITS: no answer yet."""
    if len(command) > MAX_PERMITS:
        raise UsageError(f"a person approves only commands of at most {MAX_PERMITS} characters", "Shorten the command.")
    mark = edits.digest(command.encode("utf-8", "replace"))
    form = edits.form_text(path, _FORM % mark[:8])
    filing = edits.Filing("question", f"May the agent run this command once? {command}", form=form, more={KEY: mark})

    def work(connection: "Connection", who: "AgentIdentity") -> "tuple[int, str]":
        row = connection.execute(_FOUND, {"bead": who.bead, "session": who.session, "mark": mark}).fetchone()
        if row is None or row[4]:
            return edits.filed(connection, who, filing), WAITS
        number, answer, resolved_at, read_at, _ = row
        if resolved_at is None:
            return number, WAITS
        if answer != YES:
            return number, NO
        connection.execute(_USE, (now(), number))
        if read_at is None:
            event = edits.EVENT % "json_object('escalation', ?)"
            connection.execute(event, ("answer_read", who.bead, who.attempt, who.name, number))
        return number, YES

    return edits.at_channel(path, token, work)
