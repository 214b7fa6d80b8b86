"""Relay sessions: what their data hold. They work in a private clone, and hand back a branch."""

from .session import Session, SessionKind

REPOSITORY, START, CHAT, PERSONA = "repository", "start", "chat", "persona"
"""In a session's data: the repository that it works on, the commit that it began with, the chat that began it, and who
its agent is to be."""
HEAD, BRANCH = "head", "branch"
"""In a turn's data: the commit that it handed back, and the branch that has it."""
FOLDER = "relays"
"""In .nobrakes: where the clones are."""


def is_relay(session: Session) -> bool:
    """Whether the session works in a clone of its own."""
    return session.kind is SessionKind.RELAY
