"""Projects: made, listed, archived. What a session works on is operations.projects.confirming.

1. A new project appears whole or not at all: it is made beside its place, and moved there when it has its first commit.
   What is then left to do (`nobrakes init`) is done by whoever uses it next, where a crash cut it off.
2. A folder that is there is a clash, whatever is in it, also where it differs in capitals alone; nothing in it changes.
3. Archiving hides a project; nothing of it is moved or removed.
"""

import errno
import json
import os
import shutil
from contextlib import closing
from dataclasses import dataclass

from ...core.errors import ConfigError, NoProject, NotAllowed, ProjectExists
from ...core.projects import names
from ...core.projects.brief import Brief, filled, values
from ...core.text.cleaning import clean
from ...git import newborn
from ...host.files import storage_errors
from ...host.key_lock import locked
from ...host.locks import holder
from ...paths import FOLDER, Paths
from ...store.conditions import now
from ...store.user.projects import ProjectRow, ProjectStore
from ...wording.times import spoken
from ..machine_wide import own_database, registry
from ..setup.init import init
from .workspace import AGAIN, BRIEF, SETTINGS, TASK, Workspace, opened

MAKING = ".making-"
"""What is put before the name of a project that is being made; no project's name begins with a dot."""
_OURS = (f"{FOLDER}/.gitignore", f"{FOLDER}/config.toml")


@dataclass(frozen=True, slots=True)
class ProjectView:
    """A project. `state` is its daemon's, `is_repository` False: it has no git folder of its own.

    `escalations` None: nobody could say.
    """

    name: str
    path: str
    is_repository: bool
    state: str
    escalations: int | None
    archived_at: float | None
    created_by: str


@dataclass(frozen=True, slots=True)
class ProjectsView:
    """The workspace and its projects, by name; those that are archived only where they were asked for."""

    workspace: str
    folder: str
    projects: tuple[ProjectView, ...]


def database() -> ProjectStore:
    """The person's database. NotAllowed in a run, PlaceUnusable. The caller closes it."""
    return own_database.opened(ProjectStore)


def listed(everything: bool = False) -> ProjectsView:
    """The projects that are not archived, or all of them."""
    workspace = opened()
    with closing(database()) as store:
        known = store.projects()
    found = tuple(one for one in views(workspace, known) if everything or one.archived_at is None)
    return ProjectsView(workspace.root, workspace.projects, found)


def views(workspace: Workspace, known: dict[str, ProjectRow]) -> list[ProjectView]:
    """Every folder of the workspace that is a project, as it is now."""
    registered = {one.path: one for one in registry.repositories()}
    return [_view(workspace, name, known.get(name), registered) for name in workspace.names()]


def _view(
    workspace: Workspace, name: str, row: ProjectRow | None, registered: dict[str, registry.RepositoryView]
) -> ProjectView:
    path = workspace.folder(name)
    looked = registered.get(path)
    state = looked.state if looked else registry.STOPPED
    escalations = looked.escalations if looked else 0
    archived, by = (row.archived_at, row.created_by) if row else (None, "")
    return ProjectView(name, path, workspace.is_repository(name), state, escalations, archived, by)


def active(workspace: Workspace) -> list[str]:
    """The names of the projects that are not archived."""
    with closing(database()) as store:
        known = store.projects()
    return [name for name in workspace.names() if not (name in known and known[name].archived_at is not None)]


def existing(workspace: Workspace, name: str) -> str:
    """The name of a project that is there. NoProject names those that are; NotAllowed where it is archived."""
    plain = name.strip()
    available = active(workspace)
    if plain in available:
        return plain
    if plain and not names.mistake(plain) and workspace.has(plain):
        raise NotAllowed(f"project '{plain}' is archived", f"`nobrakes project archive {plain} --undo` brings it back.")
    shown = clean(" ".join(name.split()))[: names.MOST]
    raise NoProject(f"Project '{shown}' not found. Available projects: {', '.join(available) or 'none'}", "")


def create(brief: Brief, actor: str) -> ProjectView:
    """Make a project: folder, brief, first commit, `nobrakes init`. ProjectExists, UsageError, ConfigError."""
    workspace = opened()
    name = names.require(brief.name)
    with locked(os.path.join(workspace.root, ".lock"), name.casefold()):
        taken = names.clash(name, os.listdir(workspace.projects))
        if taken:
            raise _taken(taken)
        path, making = workspace.folder(name), workspace.folder(MAKING + name)
        with storage_errors(path):
            shutil.rmtree(making, ignore_errors=True)  # what a killed process left: nobody else makes it now
            os.mkdir(making)
            _write(workspace, making, brief)
            newborn.begin(making, f"Begin {name}")
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
        raise ConfigError(f"{path} is no JSON: {error}", AGAIN) from None
    os.mkdir(os.path.join(folder, ".claude"))
    files = {"CLAUDE.md": texts[BRIEF], "AGENTS.md": texts[BRIEF], "task.md": texts[TASK]}
    for name, text in {**files, os.path.join(".claude", "settings.json"): settings}.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(clean(text))


def complete(workspace: Workspace, name: str) -> None:
    """Set nobrakes up in the project, where that was not done or was cut off. The project is a repository."""
    path = workspace.folder(name)
    if not os.path.exists(Paths(os.path.join(path, FOLDER)).config):
        init(path)
        if newborn.has_commit(path):
            newborn.commit(path, _OURS, "Set nobrakes up")
    registry.register_here(path)


def one(workspace: Workspace, name: str) -> ProjectView:
    """The project of this name, archived or not. NoProject."""
    with closing(database()) as store:
        known = store.projects()
    found = next((one for one in views(workspace, known) if one.name == name), None)
    if found is None:
        raise NoProject(
            f"Project '{clean(name)[: names.MOST]}' not found. Available projects: "
            f"{', '.join(active(workspace)) or 'none'}",
            "",
        )
    return found


def archive(name: str, is_archived: bool) -> ProjectView:
    """Archive the project, or bring it back. NoProject; NotAllowed while its daemon runs."""
    workspace = opened()
    found = one(workspace, name.strip())
    if is_archived and holder(Paths(os.path.join(found.path, FOLDER)).lock) is not None:
        raise NotAllowed(f"a daemon works in {found.path}", "`nobrakes daemon stop` there ends it in order.")
    with closing(database()) as store:
        store.archive(found.name, is_archived)
    return one(workspace, found.name)
