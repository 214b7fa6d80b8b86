"""`--request KEY`: a command repeated under one key is done once, and answers the same.

1. A command of one transaction stores its key in it.
2. A command that also changes git or files stores its key with each transaction, and its answer at the end. If it was
   killed in between, repeating it raises `CutOff` instead of doing it again.
3. A failed command leaves no key. Another command or other words under a known key are refused.
4. Of two processes with one key, one waits for the other.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from .errors import NotAllowed, UsageError
from .events.kinds import Actor
from .host.locks import locked
from .records import frozen

if TYPE_CHECKING:
    from .paths import Paths
    from .store import Store


MAX_KEY = 200


@frozen
class Answer:
    """A command's exit code, JSON data and text, and the code's error."""

    code: int
    data: str
    text: str
    error: tuple[str, str, str] | None = None  # its name, message and hint


@frozen
class Once:
    """A command under its key. `together`: one transaction of the store alone."""

    key: str
    command: str  # its words and its arguments: `named` makes it
    actor: Actor
    together: bool


def named(words: str, arguments: Any, more: str = "") -> str:
    """The command with all its input; `more` is read elsewhere, such as stdin."""
    given = json.dumps([arguments, more], sort_keys=True, default=str)
    return f"{words} {sha256(given.encode()).hexdigest()}"


def once(store: "Store", paths: "Paths", wanted: Once, do: Callable[[], Answer]) -> tuple[Answer, bool]:
    """Run it once; returns its result, and whether it ran before. Raises UsageError, NotAllowed."""
    _check(wanted.key)
    request = wanted.key, wanted.command, wanted.actor.name
    if wanted.together:
        with store.write():
            known = _known(store, wanted)
            answer = known or do()
            if known is None:
                store.keep_request(*request, json.dumps(asdict(answer)))
        return answer, known is not None
    with locked(paths.request_lock, wanted.key):
        known = _known(store, wanted)
        if known is not None:
            return known, True
        with store.noting(*request):
            answer = do()
        store.keep_request(*request, json.dumps(asdict(answer)))
        return answer, False


def _check(key: str) -> None:
    if not 0 < len(key) <= MAX_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(
            "the request key is not valid",
            f"Use 1 to {MAX_KEY} visible ASCII characters without spaces, such as a UUID.",
        )


def _known(store: "Store", wanted: Once) -> Answer | None:
    if (found := store.request(wanted.key)) is None:
        return None
    command, result = found
    if command != wanted.command:
        other = command.rpartition(" ")[0]
        raise UsageError(
            f"the key '{wanted.key}' was used for another command, or with other arguments: nobrakes {other}",
            "Use a new key for each new command, and the same key only to repeat exactly the same command.",
        )
    if not result:
        raise NotAllowed(
            f"the command with the key '{wanted.key}' was interrupted after it had started to change something",
            "`nobrakes events` shows the changes. To run the command again, use a new key.",
        )
    values = json.loads(result)
    error = values.pop("error")
    return Answer(**values, error=None if error is None else tuple(error))
