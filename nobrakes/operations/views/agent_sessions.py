"""Every session with an agent that there was: attempts on beads, and conversations beside them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.beads.attempt import Attempt
from ...core.errors import UsageError
from ...core.sessions.session import Session, SessionKind, State

if TYPE_CHECKING:
    from ...ports.store import Store

STATES = ("all", "active", "completed", "failed")
SORTS = ("newest", "oldest", "bead", "agent", "cost")
PAGE = 50
_CONVERSATIONS = 200


@dataclass(frozen=True, slots=True)
class AgentSession:
    """An attempt of an agent on a bead with this title."""

    attempt: Attempt
    title: str


@dataclass(frozen=True, slots=True)
class SessionsView:
    """One page. `has_more`: the next page is not empty. Conversations are on the first page only."""

    attempts: tuple[AgentSession, ...]
    conversations: tuple[Session, ...]
    words: str
    state: str
    sort: str
    page: int
    has_more: bool
    now: float


def agent_sessions(
    store: "Store", words: str = "", state: str = "all", sort: str = "newest", page: int = 1
) -> SessionsView:
    """A page of them; UsageError for another state or sort."""
    for value, known in ((state, STATES), (sort, SORTS)):
        if value not in known:
            raise UsageError(f"'{value[:40]}' is not one of {', '.join(known)}")
    found = store.agents(words, state, sort, PAGE + 1, (page - 1) * PAGE)
    titles = {bead.id: bead.title for bead in store.beads(ids=sorted({one.bead for one in found}))} if found else {}
    shown = tuple(AgentSession(one, titles.get(one.bead, "")) for one in found[:PAGE])
    talks = tuple(one for one in store.sessions(going=False) if _fits(one, words, state))[:_CONVERSATIONS]
    return SessionsView(shown, talks if page == 1 else (), words, state, sort, page, len(found) > PAGE, store.now())


def _fits(session: Session, words: str, state: str) -> bool:
    if session.kind is SessionKind.ATTEMPT:
        return False
    text = f"{session.title} {session.agent} {session.kind.value}".casefold()
    if not all(word in text for word in words.casefold().split()):
        return False
    states = {
        "active": session.state is not State.ENDED,
        "completed": session.state is State.ENDED,
        "failed": session.state is State.STUCK,
    }
    return states.get(state, True)
