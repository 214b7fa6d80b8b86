"""Commands on projects, for the command line and for pages alike. They need no repository."""

from typing import TYPE_CHECKING, Annotated

from ..command_table import NOTE, TEXT, Field
from ..errors import UsageError
from ..text.cleaning import one_line
from .model import SOURCES, Brief

if TYPE_CHECKING:
    from ..app import App
    from .service.projects_folder import ProjectView

Name = Annotated[str, Field("The project's name, also that of its folder.", metavar="NAME")]
Title = Annotated[str, Field("Its title (default: its name).", ("--title",), most=NOTE)]
Objective = Annotated[str, Field("The goal, in a measurable form.", ("--objective",), most=TEXT)]
Context = Annotated[str, Field("Why it exists, and its background.", ("--context",), most=TEXT)]
Constraints = Annotated[tuple[str, ...], Field("A constraint.", ("--constraint",), most=TEXT)]
Resources = Annotated[tuple[str, ...], Field("A source to read.", ("--resource",), most=TEXT)]
Criteria = Annotated[tuple[str, ...], Field("A success criterion.", ("--criterion",), most=TEXT)]
Source = Annotated[str, Field("Where it comes from.", ("--source",), one_of=SOURCES)]
Found = tuple["ProjectView", str]


def new(
    app: "App | None",
    by: str,
    name: Name,
    title: Title = "",
    objective: Objective = "",
    context: Context = "",
    constraint: Constraints = (),
    resource: Resources = (),
    criterion: Criteria = (),
    source: Source = SOURCES[0],
) -> Found:
    """Create a project: a folder with a git repository, a brief (CLAUDE.md, AGENTS.md), a first commit, and nobrakes
    set up in it. The brief, task.md and .claude/settings.json come from your own TEMPLATES, in the projects folder."""
    from .service import projects_folder

    if source not in SOURCES:
        raise UsageError(f"'{one_line(source)[:40]}' is not a source of a project", f"One of: {', '.join(SOURCES)}.")
    made = projects_folder.create(Brief(name, title, objective, context, constraint, resource, criterion, source), by)
    told = f"project {made.name} was made in {one_line(made.path)}\nnext: read and complete {made.path}/CLAUDE.md"
    return made, told


Undo = Annotated[bool, Field("Restore it.", ("--undo",))]


def archive(app: "App | None", by: str, name: Name, undo: Undo = False) -> Found:
    """Hide a project from lists and sessions. Nothing is moved or removed."""
    from .service import projects_folder

    found = projects_folder.archive(name, not undo)
    return found, f"project {found.name} {'is back' if undo else 'is archived; `--undo` restores it'}"
