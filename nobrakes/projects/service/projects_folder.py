"""The workspace: the folder of a person's projects, with the skills and templates that they may change.

1. `workspace.folder` of the person's own settings says where it is; unset, it is below the data of the account.
2. Whatever is missing in it is made when it is first needed; a file that is there stays as it is.
3. A project is a folder directly in PROJECTS: no link, and nothing that begins with a dot.
"""

import errno
import json
import os
import shutil
import stat
from contextlib import closing

from ...config.setup.init import init
from ...config.user import default_workspace, load_user, require_safe, user_place
from ...db.fast import now
from ...decisions.service.all_blockers import for_you
from ...errors import ConfigError, NobrakesError, NoProject, NotAllowed, ProjectExists, UsageError
from ...events.kinds import Event, Kind
from ...files import storage_errors, write_atomic
from ...git import persons
from ...host.locks import holder, locked
from ...machine import registry
from ...machine.db import Chat, ChatEvent, ChatRun, ProjectRow, ProjectStore
from ...machine.registry import identity
from ...paths import FOLDER, Paths, resource
from ...records import frozen
from ...store import open_store
from ...text.cleaning import clean, is_seen, shorten, spoken
from .. import model as projects_model
from ..model import BY_SESSION, JOINED, Brief, filled, suggested, values, word_of

PROJECTS, SKILLS, TEMPLATES = "PROJECTS", "SKILLS", "TEMPLATES"
SKILL = f"{SKILLS}/project-setup.md"
BRIEF, TASK, SETTINGS = "DEFAULT-CLAUDE.md", "DEFAULT-task.md", "DEFAULT-settings.json"
_SHIPPED = {
    SKILL: "project-setup.md",
    f"{TEMPLATES}/{BRIEF}": "CLAUDE.md",
    f"{TEMPLATES}/{TASK}": "task.md",
    f"{TEMPLATES}/{SETTINGS}": "settings.json",
}
AGAIN = "Fix the file, or move it away; nobrakes then writes a new file."
MAX_DOCUMENT_BYTES = 200_000
"""Characters of a template or skill that are read."""


@frozen
class Workspace:
    """A workspace. `root` is its real path."""

    root: str

    @property
    def projects(self) -> str:
        return os.path.join(self.root, PROJECTS)

    def folder(self, name: str) -> str:
        return os.path.join(self.projects, name)

    def text(self, name: str) -> str:
        """A skill or template. ConfigError."""
        path = os.path.join(self.root, name)
        try:
            with open(path, encoding="utf-8") as file:
                return file.read(MAX_DOCUMENT_BYTES)
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} cannot be read: {error}", AGAIN) from None

    def names(self) -> list[str]:
        with os.scandir(self.projects) as entries:
            found = [one.name for one in entries if not one.name.startswith(".") and one.is_dir(follow_symlinks=False)]
        return sorted(found, key=lambda name: (name.casefold(), name))

    def has(self, name: str) -> bool:
        return name in self.names()

    def is_repository(self, name: str) -> bool:
        try:
            return stat.S_ISDIR(os.lstat(os.path.join(self.folder(name), ".git")).st_mode)
        except OSError:
            return False


def where() -> str:
    """The configured workspace. ConfigError, NotAllowed in a run, PlaceUnusable."""
    place = user_place()
    require_safe(place.settings)
    own = load_user(place.config).workspace.folder
    return os.path.expanduser(own) if own else default_workspace()


def opened() -> Workspace:
    """The workspace, created if missing. ConfigError, PlaceUnusable, StoreReadOnly, NotAllowed in a run."""
    path = where()
    with storage_errors(path):
        for folder in (path, *(os.path.join(path, one) for one in (PROJECTS, SKILLS, TEMPLATES))):
            try:
                os.makedirs(folder, mode=0o755, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise ConfigError(f"{folder} exists but is not a folder", "Move it away.") from None
        for name, shipped in _SHIPPED.items():
            own = os.path.join(path, name)
            if not os.path.lexists(own):
                with open(resource(f"config/projects/{shipped}"), "rb") as file:
                    write_atomic(own, file.read(), 0o644)
    return Workspace(os.path.realpath(path))


# A new project appears whole or not at all: it is made beside its place, and moved there when it has its first commit.
# What is then left to do (`nobrakes init`) is done by whoever uses it next. A folder that is there is a clash, also
# where it differs in capitals alone. Archiving hides a project; nothing of it is moved or removed.
MAKING = ".making-"
"""Prefix of a project being made; project names cannot begin with a dot."""
_OURS = tuple(f"{FOLDER}/{name}" for name in (".gitattributes", ".gitignore", "config.toml"))


@frozen
class ProjectView:
    """A project. `state`: its daemon's; `is_repository` False: it has no own git folder. `for_you`: what waits for a
    person; None: unknown."""

    name: str
    path: str
    is_repository: bool
    state: str
    for_you: int | None
    archived_at: float | None
    created_by: str


@frozen
class ProjectsView:
    """The workspace and its projects, by name."""

    workspace: str
    folder: str
    projects: tuple[ProjectView, ...]


def database() -> ProjectStore:
    """The person's database, to be closed by the caller. NotAllowed in a run, PlaceUnusable."""
    return registry.opened(ProjectStore)


def listed(everything: bool = False) -> ProjectsView:
    """Without archived ones, unless `everything`."""
    workspace = opened()
    with closing(database()) as store:
        known = store.projects()
    found = tuple(one for one in views(workspace, known) if everything or one.archived_at is None)
    return ProjectsView(workspace.root, workspace.projects, found)


def views(workspace: Workspace, known: dict[str, ProjectRow]) -> list[ProjectView]:
    registered = {one.path: one for one in registry.repositories(for_you)}
    return [_view(workspace, name, known.get(name), registered) for name in workspace.names()]


def _view(
    workspace: Workspace, name: str, row: ProjectRow | None, registered: dict[str, registry.RepositoryView]
) -> ProjectView:
    path = workspace.folder(name)
    looked = registered.get(path)
    state = looked.state if looked else registry.STOPPED
    waits = looked.for_you if looked else 0
    archived, by = (row.archived_at, row.created_by) if row else (None, "")
    return ProjectView(name, path, workspace.is_repository(name), state, waits, archived, by)


def active(workspace: Workspace) -> list[str]:
    with closing(database()) as store:
        known = store.projects()
    return [name for name in workspace.names() if not (name in known and known[name].archived_at is not None)]


def project_at(path: str) -> str:
    """The project in whose folder this repository is; empty: none."""
    folder, name = os.path.split(os.path.realpath(path))
    if os.path.basename(folder) != PROJECTS:
        return ""
    try:
        return name if folder == os.path.join(os.path.realpath(where()), PROJECTS) else ""
    except NobrakesError:
        return ""


def require_project(path: str) -> str:
    """Its name. NotAllowed."""
    if name := project_at(path):
        return name
    raise NotAllowed(f"{path} is not in your projects folder", "`nobrakes project list` shows that folder.")


def existing(workspace: Workspace, name: str) -> str:
    """The name of an existing project. NoProject lists the existing ones; NotAllowed if archived."""
    plain = name.strip()
    available = active(workspace)
    if plain in available:
        return plain
    if plain and not projects_model.mistake(plain) and workspace.has(plain):
        raise NotAllowed(f"project '{plain}' is archived", f"To restore: `nobrakes project archive {plain} --undo`.")
    shown = clean(" ".join(name.split()))[: projects_model.MAX_NAME]
    raise NoProject(f"Project '{shown}' not found. Available projects: {', '.join(available) or 'none'}", "")


def create(brief: Brief, actor: str) -> ProjectView:
    """Make a project: folder, brief, first commit, `nobrakes init`. ProjectExists, UsageError, ConfigError."""
    workspace = opened()
    name = projects_model.names_require(brief.name)
    with locked(os.path.join(workspace.root, ".lock"), name.casefold()):
        if taken := projects_model.clash(name, os.listdir(workspace.projects)):
            raise _taken(taken)
        path, making = workspace.folder(name), workspace.folder(MAKING + name)
        with storage_errors(path):
            shutil.rmtree(making, ignore_errors=True)  # what a killed process left: nobody else makes it now
            os.mkdir(making)
            _write(workspace, making, brief)
            persons.newborn_begin(making, f"Begin {name}")
            try:
                os.rename(making, path)
            except (FileExistsError, NotADirectoryError):
                raise _taken(name) from None
            except OSError as error:
                if error.errno != errno.ENOTEMPTY:
                    raise
                raise _taken(name) from None
    with closing(database()) as store:
        store.created(name, actor)
    complete(workspace, name)
    return one(workspace, name)


def _taken(name: str) -> ProjectExists:
    return ProjectExists(
        f"A project named '{name}' already exists. To work on the existing project, call set_project with "
        "isNew: false. To create a new project, choose a different name.",
        f"In a terminal: `nobrakes project use {name}`, or `nobrakes project new` with another name.",
    )


def _write(workspace: Workspace, folder: str, brief: Brief) -> None:
    known = values(brief, spoken(now()))
    texts = {name: filled(workspace.text(f"TEMPLATES/{name}"), known) for name in (BRIEF, TASK)}
    settings = workspace.text(f"TEMPLATES/{SETTINGS}")
    try:
        json.loads(settings)
    except ValueError as error:
        path = os.path.join(workspace.root, "TEMPLATES", SETTINGS)
        raise ConfigError(f"{path} is not valid JSON: {error}", AGAIN) from None
    os.mkdir(os.path.join(folder, ".claude"))
    files = {"CLAUDE.md": texts[BRIEF], "AGENTS.md": texts[BRIEF], "task.md": texts[TASK]}
    for name, text in {**files, os.path.join(".claude", "settings.json"): settings}.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(clean(text))


def complete(workspace: Workspace, name: str) -> None:
    """Set nobrakes up in the project's repository if that was not finished."""
    path = workspace.folder(name)
    if not os.path.exists(Paths(os.path.join(path, FOLDER)).config):
        init(path)
        if persons.has_commit(path):
            persons.commit(path, _OURS, "Set nobrakes up")
    registry.register_here(path)


def one(workspace: Workspace, name: str) -> ProjectView:
    """Also an archived one. NoProject."""
    with closing(database()) as store:
        known = store.projects()
    found = next((one for one in views(workspace, known) if one.name == name), None)
    if found is None:
        raise NoProject(
            f"Project '{clean(name)[: projects_model.MAX_NAME]}' not found. Available projects: "
            f"{', '.join(active(workspace)) or 'none'}",
            "",
        )
    return found


def archive(name: str, is_archived: bool) -> ProjectView:
    """Archive or restore the project. NoProject; NotAllowed while its daemon runs."""
    workspace = opened()
    found = one(workspace, name.strip())
    if is_archived and holder(Paths(os.path.join(found.path, FOLDER)).lock) is not None:
        raise registry.works_there(found.path)
    with closing(database()) as store:
        store.archive(found.name, is_archived)
    return one(workspace, found.name)


# Which project a chat agent's session works on is in the person's database, so it survives whatever is killed. The
# guard resolves both paths at each call, and compares the repository's identity with the one that was confirmed: a
# folder that was changed for another one, by a link or by a move, is not the project that the person meant.
MAX_NAME = 80
PROMPT = "Before I start coding, let me confirm which project to work on."


@frozen
class ChatView:
    """A chat session. `project` None: none is confirmed; `path` empty: none, or its folder is gone."""

    name: str
    client: str
    project: str | None
    path: str
    is_new: bool
    seen_at: float
    set_at: float | None
    runs: tuple[ChatRun, ...]


@frozen
class Confirmed:
    """A project was set for a session: the event and the words for the chat agent."""

    session: str
    project: str
    path: str
    is_new: bool
    message: str


def require_chat(name: str) -> str:
    """A valid session name. UsageError."""
    plain = name.strip()
    if not plain or len(plain) > MAX_NAME or "\n" in plain or not plain.isprintable() or not is_seen(plain):
        shown = "".join(c for c in plain if c.isprintable())[:40]
        raise UsageError(f"'{shown}' cannot be the name of a session", f"One line of at most {MAX_NAME} characters.")
    return plain


def require_word(name: str) -> str:
    """A valid session name without a client. UsageError."""
    plain = require_chat(name)
    if JOINED in plain:
        why = f"'{plain}' cannot be the name of a session: '{JOINED}' is reserved for clients by HTTP"
        raise UsageError(why, "Leave the colon out.")
    return plain


def set_project(chat: str, name: str, is_new: bool, actor: str) -> Confirmed:
    """Confirm the project for the session; `is_new`: create it. NoProject, ProjectExists, UsageError."""
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
    return Confirmed(chat, name, path, is_new, projects_model.set_message(name, is_new))


def _tell(path: str, chat: str, name: str, is_new: bool, actor: str) -> None:
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
    """(confirmed project, its folder, resolved `directory` or that folder). NoProject: no coding tool may run there."""
    found = store.chat(chat)
    confirmed = found.confirmed_project if found else None
    path = os.path.realpath(_whole(workspace, confirmed, directory))
    projects = os.path.realpath(workspace.projects)
    projects_model.guard_require(projects, path, confirmed)
    assert found is not None and confirmed is not None, "the guard lets nothing else through"
    folder = workspace.folder(confirmed)
    if os.path.isdir(folder) and not os.path.isdir(path):
        raise UsageError(f"workingDirectory is not a folder of project '{confirmed}': {shorten(directory, 100)}")
    if os.path.realpath(folder) != os.path.join(projects, confirmed) or not os.path.isdir(path):
        raise NoProject(projects_model.REFUSED, f"the folder of project '{confirmed}' is missing, or is a link")
    if (row := store.projects().get(confirmed)) is not None and row.archived_at is not None:
        raise NoProject(projects_model.REFUSED, f"project '{confirmed}' is archived: only a person can restore it")
    if found.identity and (not workspace.is_repository(confirmed) or identity(folder) != found.identity):
        raise NoProject(
            projects_model.REFUSED, f"somebody replaced the folder of project '{confirmed}' after its confirmation"
        )
    return confirmed, folder, path


def _whole(workspace: Workspace, confirmed: str | None, directory: str) -> str:
    """A relative directory is in the project. UsageError if it is not a valid path."""
    if not directory.isprintable():
        raise UsageError("workingDirectory contains a character that paths must not contain", "Leave it out.")
    base = workspace.folder(confirmed) if confirmed else workspace.projects
    return os.path.join(base, os.path.expanduser(directory)) if directory else base


def chats() -> list[ChatView]:
    """Latest activity first."""
    workspace = opened()
    with closing(database()) as store:
        return [_confirming_view(workspace, store, one) for one in store.chats()]


def chat(name: str) -> ChatView | None:
    """None: unknown."""
    workspace = opened()
    with closing(database()) as store:
        found = store.chat(name)
        return _confirming_view(workspace, store, found) if found else None


def chat_events(name: str = "") -> list[ChatEvent]:
    """Newest first; of all chats if `name` is empty."""
    with closing(database()) as store:
        return store.chat_events(name)


def _confirming_view(workspace: Workspace, store: ProjectStore, one: Chat) -> ChatView:
    project = one.confirmed_project
    path = workspace.folder(project) if project and workspace.has(project) else ""
    runs = tuple(store.runs(one.name))
    return ChatView(one.name, one.client, project, path, one.is_new, one.seen_at, one.set_at, runs)


def confirmation(chat_name: str, message: str) -> str:
    """The question for the person: numbered projects, the suggestion and the choices."""
    known = active(opened())
    name, why = suggested(known, word_of(chat_name), message)
    if not known:
        return f"{PROMPT}\n\nThere is no project in your workspace yet.\n\nPlease say the name of a new project."
    listed = "\n".join(f"{number}. {one} (existing project)" for number, one in enumerate(known, 1))
    parts = [PROMPT, f"I found these projects in your workspace:\n{listed}"]
    if not name:
        ways = "1. Start a new project\n2. Work on one of these projects (enter project number or name)"
        return "\n\n".join([*parts, f"Please confirm:\n{ways}"])
    based = "Based on the name of this session" if why == BY_SESSION else "Based on your request"
    ways = (
        f"1. Work on **{name}** (existing project)\n2. Start a new project\n"
        "3. Work on a different project (enter project number or name)"
    )
    return "\n\n".join([*parts, f"{based}, I think you want to work on **{name}**.", f"Please confirm:\n{ways}"])


def skill() -> str:
    return opened().text(SKILL)
