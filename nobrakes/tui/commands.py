"""The line after a colon: a bead or an escalation to jump to, or a word and what it is about."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from . import acts
from .reading import Trouble

if TYPE_CHECKING:
    from ..app import App
    from .stage import Stage

_HELP = "? shows what can be typed."


def run(board: "Stage", typed: str) -> None:
    """Do what was typed; what it cannot be is said."""
    word, _, rest = typed.strip().partition(" ")
    rest = rest.strip()
    if not word:
        return
    if word.isascii() and word.isdigit() and not rest and len(word) < 19:
        board.open_escalation(int(word))
    elif word in _ALONE and not rest:
        _ALONE[word](board)
    elif word in _OPENING:
        if rest:
            _OPENING[word](board, rest)
        else:
            board.trouble(Trouble(f"{word} what?", _HELP))
    elif word in _ACTS:
        _act(board, word, rest)
    elif not rest:
        board.reader.ask(lambda app: app.store.bead(word).id, partial(_found, board))
    else:
        board.trouble(Trouble(f"'{word[:40]}' is no command", _HELP))


def _found(board: "Stage", result: Any) -> None:
    if isinstance(result, Trouble):
        board.trouble(Trouble(result.message, f"{result.hint} {_HELP}".strip()))
    else:
        board.open_bead(result)


def _act(board: "Stage", word: str, rest: str) -> None:
    made = _ACTS[word](board.actor, rest)
    if made is None:
        board.trouble(Trouble(f"{word} what?", _HELP))
    else:
        board.do(made)


def _hold(actor: str, rest: str) -> "Callable[[App], str] | None":
    bead, _, reason = rest.partition(" ")
    return partial(acts.hold, actor=actor, bead=bead, reason=reason.strip()) if reason.strip() else None


def _release(actor: str, rest: str) -> "Callable[[App], str] | None":
    return partial(acts.release, actor=actor, bead=rest) if rest else None


def _stop(actor: str, rest: str) -> "Callable[[App], str] | None":
    return partial(acts.stop, actor=actor, name=rest) if rest else None


_ALONE: dict[str, Callable[["Stage"], object]] = {
    "help": lambda board: board.action_help(),
    "quit": lambda board: board.exit(),
    "q": lambda board: board.exit(),
    "pause": lambda board: board.do(partial(acts.pause, actor=board.actor)),
    "resume": lambda board: board.do(partial(acts.resume, actor=board.actor)),
    "filter": lambda board: board.set_filter(""),
}
_OPENING: dict[str, Callable[["Stage", str], object]] = {
    "diff": lambda board, rest: board.open_diff(rest),
    "log": lambda board, rest: board.open_log(rest),
    "filter": lambda board, rest: board.set_filter(rest),
}
_ACTS: dict[str, Callable[[str, str], "Callable[[App], str] | None"]] = {
    "hold": _hold,
    "release": _release,
    "stop": _stop,
}
