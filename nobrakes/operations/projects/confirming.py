"""Which project a chat agent's session works on: confirmed once, changeable, and guarded whenever a coding tool runs.

1. What was confirmed is in the person's database under the session's own name, so it survives whatever is killed.
2. The event is in that database, and in the project's own log, where pages and programs read it.
3. The guard resolves both paths at each call, and compares the repository's identity with the one that was confirmed:
   a folder that was changed for another one, by a link or by a move, is not the project that the person meant.
"""

import os
from contextlib import closing
from dataclasses import dataclass

from ...core.beads.events import Event, Kind
from ...core.errors import NoProject, UsageError
from ...core.projects import guard
from ...core.projects.brief import Brief
from ...core.projects.chats import JOINED, word_of
from ...core.projects.names import suggested
from ...core.text.cleaning import is_seen
from ...paths import FOLDER, Paths
from ...store.opening import open_store
from ...store.user.projects import Chat, ChatEvent, ChatRun, ProjectStore
from ..machine_wide.identity import identity
from .projects import active, complete, create, database, existing
from .workspace import SKILL, Workspace, opened

MOST_NAME = 80
PROMPT = "Before I start coding, let me confirm which project to work on."


@dataclass(frozen=True, slots=True)
class ChatView:
    """A chat agent's session. `project` None: none is confirmed; `path` empty: then, or where its folder is gone."""

    name: str
    client: str
    project: str | None
    path: str
    is_new: bool
    seen_at: float
    set_at: float | None
    runs: tuple[ChatRun, ...]


@dataclass(frozen=True, slots=True)
class Confirmed:
    """A project was set for a session: what the event says, and the words for the chat agent."""

    session: str
    project: str
    path: str
    is_new: bool
    message: str


def require_chat(name: str) -> str:
    """A name that a session can have. UsageError."""
    plain = name.strip()
    if not plain or len(plain) > MOST_NAME or "\n" in plain or not plain.isprintable() or not is_seen(plain):
        shown = "".join(c for c in plain if c.isprintable())[:40]
        raise UsageError(f"'{shown}' is no name of a session", f"One line of at most {MOST_NAME} characters.")
    return plain


def require_word(name: str) -> str:
    """A name that a session can have which has no client. UsageError."""
    plain = require_chat(name)
    if JOINED in plain:
        why = f"'{plain}' is no name of a session: what stands before '{JOINED}' is a client by HTTP"
        raise UsageError(why, "Leave the colon out.")
    return plain


def set_project(chat: str, name: str, is_new: bool, actor: str) -> Confirmed:
    """Confirm the project for the session; with `is_new` it is made. NoProject, ProjectExists, UsageError."""
    chat = require_chat(chat)
    workspace = opened()
    if is_new:
        name = create(Brief(name.strip()), actor).name
    else:
        name = existing(workspace, name)
        if workspace.is_repository(name):
            complete(workspace, name)
    path = workspace.folder(name)
    with closing(database()) as store:
        store.set_project(chat, name, path, is_new, identity(path) if workspace.is_repository(name) else "")
    _tell(path, chat, name, is_new, actor)
    return Confirmed(chat, name, path, is_new, guard.set_message(name, is_new))


def _tell(path: str, chat: str, name: str, is_new: bool, actor: str) -> None:
    """Put the event into the project's own log."""
    paths = Paths(os.path.join(path, FOLDER))
    if not os.path.exists(paths.database):
        return
    store = open_store(paths.database)
    try:
        data = {"sessionId": chat, "projectName": name, "projectPath": path, "isNew": is_new}
        store.record(Event(Kind.PROJECT_SET, actor=actor, data=data))
    finally:
        store.close()


def require_confirmed(
    store: ProjectStore, workspace: Workspace, chat: str, directory: str = ""
) -> tuple[str, str, str]:
    """(the confirmed project, its folder, the resolved path of `directory`: the project's own where it is empty).

    NoProject: no coding tool may run there.
    """
    found = store.chat(chat)
    confirmed = found.confirmed_project if found else None
    path = os.path.realpath(_whole(workspace, confirmed, directory))
    projects = os.path.realpath(workspace.projects)
    guard.require(projects, path, confirmed)
    assert found is not None and confirmed is not None, "the guard lets nothing else through"
    folder = workspace.folder(confirmed)
    if os.path.realpath(folder) != os.path.join(projects, confirmed) or not os.path.isdir(path):
        raise NoProject(guard.REFUSED, f"the folder of project '{confirmed}' is not there, or is a link")
    row = store.projects().get(confirmed)
    if row is not None and row.archived_at is not None:
        raise NoProject(guard.REFUSED, f"project '{confirmed}' is archived: a person brings it back")
    if found.identity and (not workspace.is_repository(confirmed) or identity(folder) != found.identity):
        raise NoProject(guard.REFUSED, f"the folder of project '{confirmed}' is another one than was confirmed")
    return confirmed, folder, path


def _whole(workspace: Workspace, confirmed: str | None, directory: str) -> str:
    """The directory that is meant: a relative one is in the project. UsageError where it is no path at all."""
    if not directory.isprintable():
        raise UsageError("workingDirectory holds a character that is no part of a path here", "Leave it out.")
    base = workspace.folder(confirmed) if confirmed else workspace.projects
    return os.path.join(base, os.path.expanduser(directory)) if directory else base


def chats() -> list[ChatView]:
    """All sessions of chat agents, the one that spoke last first."""
    workspace = opened()
    with closing(database()) as store:
        return [_view(workspace, store, one) for one in store.chats()]


def chat(name: str) -> ChatView | None:
    """The session of this name; None: it is not known."""
    workspace = opened()
    with closing(database()) as store:
        found = store.chat(name)
        return _view(workspace, store, found) if found else None


def chat_events(name: str = "") -> list[ChatEvent]:
    """What happened in a chat, or in all, newest first."""
    with closing(database()) as store:
        return store.chat_events(name)


def _view(workspace: Workspace, store: ProjectStore, one: Chat) -> ChatView:
    project = one.confirmed_project
    path = workspace.folder(project) if project and workspace.has(project) else ""
    runs = tuple(store.runs(one.name))
    return ChatView(one.name, one.client, project, path, one.is_new, one.seen_at, one.set_at, runs)


def confirmation(chat_name: str, message: str) -> str:
    """What the chat agent asks the person: the numbered projects, the suggestion, and the choices."""
    known = active(opened())
    name, why = suggested(known, word_of(chat_name), message)
    if not known:
        return f"{PROMPT}\n\nThere is no project in your workspace yet.\n\nPlease say the name of a new project."
    listed = "\n".join(f"{number}. {one} (existing project)" for number, one in enumerate(known, 1))
    parts = [PROMPT, f"I found these projects in your workspace:\n{listed}"]
    if not name:
        ways = "1. Start a new project\n2. Work on one of these projects (enter project number or name)"
        return "\n\n".join([*parts, f"Please confirm:\n{ways}"])
    based = "Based on the name of this session" if why.startswith("the session") else "Based on your request"
    ways = (
        f"1. Work on **{name}** (existing project)\n2. Start a new project\n"
        "3. Work on a different project (enter project number or name)"
    )
    return "\n\n".join([*parts, f"{based}, I think you want to work on **{name}**.", f"Please confirm:\n{ways}"])


def skill() -> str:
    """The skill of confirming a project, as the person has it."""
    return opened().text(SKILL)
