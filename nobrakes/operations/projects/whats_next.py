"""whats-next of a project: its documents, commits and artifacts, as they lie in its folder. No model is asked."""

import os
from dataclasses import dataclass

from ...core.errors import NotAllowed
from ...core.projects import documents
from ...core.projects.whats_next import Finding, whats_next
from ...core.text.cleaning import clean
from ...git import newborn
from .looking import read
from .projects import one
from .workspace import Workspace, opened

MOST_SPRINTS = 500
_DOCUMENTS = ("CLAUDE.md", "task.md", "DECISIONS.md", documents.ROADMAP)
_OF_SPRINTS = ("plan.md", "review.md")


@dataclass(frozen=True, slots=True)
class NextView:
    """What does not fit together in the project; nothing: it is silent."""

    project: str
    findings: tuple[Finding, ...]


def look(name: str) -> NextView:
    """Compare. NoProject; NotAllowed for a folder that is no repository."""
    workspace = opened()
    found = one(workspace, name.strip())
    if not found.is_repository:
        raise NotAllowed(f"{found.path} is no git repository", "`git init` there, and a first commit.")
    folder = os.path.realpath(found.path)

    def exists(path: str) -> bool:
        if "\0" in path:  # no file has it in its name, and no call of the system takes it
            return False
        whole = os.path.realpath(os.path.join(folder, path))
        return whole.startswith(folder + os.sep) and os.path.lexists(whole)

    findings = whats_next(_files(workspace, found.name), newborn.subjects(found.path), exists)
    return NextView(found.name, tuple(_shown(finding) for finding in findings))


def _shown(one: Finding) -> Finding:
    return Finding(one.kind, clean(one.where), clean(one.text), tuple(clean(item) for item in one.items))


def _files(workspace: Workspace, name: str) -> dict[str, str]:
    """The documents that are there, by path."""
    paths = [*_DOCUMENTS]
    sprints = os.path.join(workspace.folder(name), documents.SPRINTS)
    if os.path.isdir(sprints):
        paths += [
            f"{documents.SPRINTS}/{sprint}/{document}"
            for sprint in sorted(os.listdir(sprints))[:MOST_SPRINTS]
            for document in _OF_SPRINTS
        ]
    texts = ((path, read(workspace, name, path)) for path in paths)
    return {path: text for path, text in texts if text}
