"""What an agent hands in for the documents of its project's sprint: a plan, a review, decisions, deviations, wishes.

As in own_bead: in a sandbox the daemon does it, by the same function (`CALLS`).
"""

from ...agents.service import client

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

KINDS = ("decision", "deviation", "wish", "review", "plan")
"""projects.model.Kind, which costs an import of `enum`."""


def document(text: str, kind: str, name: str) -> "tuple[dict[str, Any], str]":
    """Hand it in; (JSON values, text)."""
    path, token = client.key()
    arguments = (client.cleaned(text), kind, client.cleaned(name))
    if client.is_confined():
        from ...agents.service import folder

        number = folder.call(token, "sprint_document", *arguments)
    else:
        number = _document(path, token, *arguments)
    return {"sprint": number, "kind": kind}, f"the {kind} is kept for sprint {number}: nobrakes places it on main"


def _document(path: str, token: str, text: str, kind: str, name: str) -> int:
    from ...db.fast import turn_of
    from ...errors import NotAllowed, UsageError
    from ...events.kinds import session_actor
    from ...store import open_store
    from ...text.cleaning import redacted
    from ..model import Kind, require
    from ..prompts import name_in

    if kind not in KINDS:
        raise UsageError(f"'{kind[:40]}' is not a kind of document", f"Use one of: {', '.join(KINDS)}.")
    found = Kind(kind)
    plain = redacted(require(found, text))
    store = open_store(path)
    try:
        if turn_of(token) is None:
            attempt = store.attempt_of_token(token)
            sprint, who = store.sprint_of(attempt.bead, None), attempt.name
        else:
            session = store.turn_of_token(token)[1]
            sprint, who = store.sprint_of(None, session.id), session_actor(session.id)
        if sprint is None:
            raise NotAllowed(
                "your work belongs to no sprint, so it has no documents",
                "What others should know: `nobrakes agent log`, or the summary of `nobrakes agent done`.",
            )
        return store.hand_in_document(sprint.number, found, plain, who, name or name_in(plain)).sprint
    finally:
        store.close()


CALLS: "Mapping[str, tuple[Callable[..., Any], tuple[tuple[type, ...], ...]]]" = {
    "sprint_document": (_document, ((str,), (str,), (str,))),
}
"""What is done where the database is, and the types of its arguments beside (path, token)."""
