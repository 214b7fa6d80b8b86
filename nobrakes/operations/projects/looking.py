"""A project as its documents, its repository and its sessions show it."""

import os
from dataclasses import dataclass

from ...core.errors import NobrakesError
from ...core.projects import documents
from ...core.projects.documents import Box
from ...core.projects.sprint import Stage
from ...core.text.cleaning import clean
from .coding import project_store
from .projects import ProjectView, listed, one
from .running import NONE, SprintsView, view
from .workspace import MOST, Workspace, opened

SHORT = 2000
"""Characters of a section that a view has."""


@dataclass(frozen=True, slots=True)
class ProjectPage:
    """One project. `status` is that of task.md, empty where it gives none; `sprint` its current one; `run` says how far
    sprints are that a person said yes to.
    """

    project: ProjectView
    title: str
    objective: str
    status: str
    sprint: str
    criteria: tuple[Box, ...]
    run: SprintsView = NONE


def page(name: str) -> ProjectPage:
    """The project of this name. NoProject."""
    workspace = opened()
    return _page(workspace, one(workspace, name.strip()))


def pages() -> list[ProjectPage]:
    """Every project that is not archived."""
    workspace = opened()
    return [_page(workspace, project) for project in listed().projects]


def _page(workspace: Workspace, found: ProjectView) -> ProjectPage:
    brief, task = (read(workspace, found.name, path) for path in ("CLAUDE.md", "task.md"))
    lines = (line for _, line in documents.lines(brief))
    title = next((line[2:].strip() for line in lines if line.startswith("# ")), found.name)
    objective = documents.objective(brief)
    criteria = tuple(Box(box.is_checked, clean(box.text), box.line) for box in documents.criteria(brief))
    sprint = documents.field(task, "Current Sprint")
    status = documents.status(task)
    run = _run(found)
    if run.sprint and run.waits_for:
        status = "blocked"
    elif run.sprint:
        status = "planning" if run.stage == Stage.PLANNING.value else "executing"
    sprint = run.sprint or sprint
    return ProjectPage(found, clean(title), clean(objective)[:SHORT], status, clean(sprint), criteria, run)


def _run(found: ProjectView) -> SprintsView:
    """How far its sprints are; what cannot be looked at says nothing."""
    if not found.is_repository:
        return NONE
    try:
        with project_store(found.path) as (store, _):
            return view(store)
    except NobrakesError:
        return NONE


def read(workspace: Workspace, name: str, path: str) -> str:
    """A document of the project; empty where it is not there, is no plain file in it, or no text."""
    folder = os.path.realpath(workspace.folder(name))
    whole = os.path.realpath(os.path.join(folder, path))
    if not whole.startswith(folder + os.sep) or not os.path.isfile(whole):
        return ""
    try:
        with open(whole, encoding="utf-8", errors="replace") as file:
            return file.read(MOST)
    except OSError:
        return ""
