"""Relay sessions: what their data hold. They work in a private clone, and hand back a branch.

One that plans first changes nothing before a person approved its plan.
"""

from .session import Session, SessionKind

REPOSITORY, START, CHAT, PERSONA = "repository", "start", "chat", "persona"
IN_PLACE = "in_place"
"""In a session's data: the repository that it works on, the commit that it began with, the chat that began it, and who
its agent is to be; and whether it works in the repository's own checkout."""
STAGE, PLAN, WORK = "stage", "plan", "work"
"""In a session's data, with its values: whether its turns only plan. Without it they work."""
BEAD = "bead"
"""In a session's data: the bead by which its work was handed in."""
DIRECTORY = "directory"
"""In the data of a session: the folder of its workspace that its agent begins in; empty: the top."""
FILES = "files"
"""In a session's data: whether its progress and its output are kept in files, too."""
PLAN_OF = "plan_of"
"""In the evidence of a question: the session whose plan it is."""
HEAD, BRANCH = "head", "branch"
"""In a turn's data: the commit that it handed back, and the branch that has it."""
FOLDER = "relays"
"""In .nobrakes: where the clones are."""


def is_relay(session: Session) -> bool:
    """Whether the session works in a clone of its own."""
    return session.kind is SessionKind.RELAY


def only_plans(session: Session) -> bool:
    """Whether its turns change nothing yet: a person approves its plan first."""
    return is_relay(session) and session.data.get(STAGE) == PLAN


def files_of(home: str, session: int) -> str:
    """Where the files of a session lie; `home` is the .nobrakes that keeps it."""
    return f"{home}/{FOLDER}/{session}.files"
