"""`--request KEY` on the command line: which command is done once in which way, and its answer shown again."""

import io
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from .output import Output, dumps
from .screen import Screen

if TYPE_CHECKING:
    from ..core.public.actor import Actor
    from ..operations.public.requests import Answer

TOGETHER = frozenset(
    {
        "add",
        "edit",
        "depend",
        "undepend",
        "plan apply",
        "propose",
        "answer",
        "resolve",
        "quarantine",
        "hold",
        "release",
        "retry",
    }
    | {"forge new", "forge edit", "forge change", "forge discuss"}
    | {"forge pause", "forge resume", "forge cancel", "forge archive", "forge rollback"}
    | {"forge sign-off", "forge checkpoint"}
    | {"defer", "cancel", "done", "reopen", "pause", "resume", "stop", "set", "providers", "gates"}
)
"""Commands that change the store alone, at once: their key is in the same transaction. Others note it as they go."""
NEVER = frozenset({"init", "config set", "config unset", "shape", "reshape", "run", "daemon run", "web"})
"""Commands that begin a database, a talk, a server or a night's work: they may be given again, and take no key."""


def once(words: str, key: str, actor: "Actor", arguments: Mapping[str, Any], function: Callable[[], Output]) -> Output:
    """Call the command, unless it was called under the key; then what it showed is shown again."""
    from ..operations.public import requests
    from ..operations.waking import wake
    from .repository import shared

    with shared() as app:
        wanted = requests.Once(key, requests.named(words, dict(arguments), _stdin(arguments)), actor, words in TOGETHER)
        shown: list[Output] = []

        def do() -> "Answer":
            shown.append(function())
            return _answer(shown[0])

        answer, again = requests.once(app.store, app.paths, wanted, do)
        if not again:
            wake(app.paths)  # a daemon that was woken before the end of the transaction saw nothing yet
            return shown[0]
    sys.stderr.write("note: this was done before under the same key, and is not done again\n")
    return _shown(answer)


def _stdin(arguments: Mapping[str, Any]) -> str:
    """What the command will read, read already: nobody else waits for a person's typing while it is done."""
    if "-" not in arguments.values():
        return ""
    text = sys.stdin.read()
    sys.stdin = io.StringIO(text)
    return text


def _answer(output: Output) -> "Answer":
    from ..operations.public.requests import Answer

    error = output.error
    text = output.text(Screen(WIDTH))
    named = None if error is None else (type(error).__name__, str(error), error.hint)
    return Answer(0 if error is None else error.code, dumps(output.data), text, named)


WIDTH = 120
"""Columns of a text that is kept."""


def _shown(answer: "Answer") -> Output:
    import json

    from ..core import errors

    error = None
    if answer.error is not None:
        name, message, hint = answer.error
        error = getattr(errors, name, errors.NobrakesError)(message, hint)
        error.code = answer.code
    return Output(json.loads(answer.data), lambda screen: answer.text, error)
