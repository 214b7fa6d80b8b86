"""Projects from the command line: `nobrakes project …`."""

from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.projects.brief import SOURCES
from ..core.public.values import plain
from ..wording.text import cut, lines, one_line
from ..wording.times import spoken
from .output import Output, said
from .repository import actor
from .screen import Screen, table

if TYPE_CHECKING:
    from ..operations.projects.looking import ProjectPage
    from ..operations.projects.projects import ProjectView
    from ..operations.projects.running import SprintsView

Name = Annotated[str, Argument(metavar="NAME", help="The project's name, which is its folder's.")]
Lines = list[str] | None


def list_projects(
    everything: Annotated[bool, Option("--all", help="Those that are archived, too.")] = False,
) -> Output:
    """The projects of your workspace: the folder in which chat agents and sprints work.

    `[workspace] folder = "~/projects"` in your own settings puts it elsewhere.
    """
    from ..operations.projects import projects

    found = projects.listed(everything)

    def text(screen: Screen) -> str:
        rows = [(one.name, _state(one), _waiting(one), one.path) for one in found.projects]
        listed = table(("PROJECT", "STATE", "ESCALATIONS", "FOLDER"), rows, screen)
        return listed or f"there is no project in {one_line(found.folder)} yet: `nobrakes project new NAME` makes one"

    return Output(plain(found), text)


def _state(one: "ProjectView") -> str:
    if one.archived_at is not None:
        return "archived"
    return one.state if one.is_repository else "no repository"


def _waiting(one: "ProjectView") -> str:
    return "?" if one.escalations is None else str(one.escalations)


def new(
    name: Name,
    title: Annotated[str, Option("--title", help="Its title; else its name.")] = "",
    objective: Annotated[str, Option("--objective", help="The goal, so that it can be measured.")] = "",
    context: Annotated[str, Option("--context", help="Why it exists, and what has to be known.")] = "",
    constraint: Annotated[Lines, Option("--constraint", help="What must hold; may be given again.")] = None,
    resource: Annotated[Lines, Option("--resource", help="What to read; may be given again.")] = None,
    criterion: Annotated[Lines, Option("--criterion", help="How one sees success; may be given again.")] = None,
    source: Annotated[str, Option("--source", help=f"Where it comes from: {', '.join(SOURCES)}.")] = SOURCES[0],
) -> Output:
    """Make a project: a folder with a git repository, its brief, its first commit, and nobrakes set up in it.

    The brief (CLAUDE.md, AGENTS.md), task.md and .claude/settings.json come from TEMPLATES in your workspace, which
    you may edit.

    Example: nobrakes project new my-app --objective "A shop that sells tea" --criterion "An order can be paid"
    """
    from ..core.errors import UsageError
    from ..core.projects.brief import Brief
    from ..operations.projects import projects

    if source not in SOURCES:
        raise UsageError(f"'{one_line(source)[:40]}' is no source of a project", f"One of: {', '.join(SOURCES)}.")
    musts, reads, boxes = (tuple(one or ()) for one in (constraint, resource, criterion))
    brief = Brief(name, title, objective, context, musts, reads, boxes, source)
    made = projects.create(brief, actor())
    next_step = f"next: read and complete {made.path}/CLAUDE.md"
    return said(plain(made), f"project {made.name} was made in {one_line(made.path)}\n{next_step}")


def use(
    name: Name,
    session: Annotated[str, Option("--session", help="The chat agent's session that is to work on it.")] = "terminal",
) -> Output:
    """Confirm a project for a session: its coding tools work there from now on. A project can be changed like this.

    Example: nobrakes project use my-app --session phone
    """
    from ..operations.projects import confirming

    found = confirming.set_project(session, name, False, actor())
    return said(plain(found), f"{found.message}\n{found.path}, for session {one_line(found.session)}")


def show(name: Name) -> Output:
    """One project: what its brief and its task.md say, and where it stands."""
    from ..operations.projects import looking

    found = looking.page(name)
    return Output(plain(found), lambda screen: "\n".join(_page(found, screen)))


def _page(found: "ProjectPage", screen: Screen) -> list[str]:
    one = found.project
    out = [screen.paint(f"{one.name}: {one_line(found.title)}", "bold"), one_line(one.path)]
    out.append(f"status    {found.status or 'task.md gives none'}; {_state(one)}; {_waiting(one)} for you")
    out += [f"sprint    {one_line(found.sprint)}"] if found.sprint else []
    out += [f"sprints   {line}" for line in run_lines(found.run)]
    out += [f"objective {line}" if not i else f"          {line}" for i, line in enumerate(lines(found.objective))]
    out += [f"  [{'x' if box.is_checked else ' '}] {cut(one_line(box.text), 100)}" for box in found.criteria]
    out += [f"archived  {spoken(one.archived_at)}"] if one.archived_at is not None else []
    return out


def run_lines(run: "SprintsView") -> list[str]:
    """How far the sprints are that a person said yes to."""
    if not run.state:
        return []
    stage = f", {one_line(run.sprint)} in {run.stage}" if run.sprint else ""
    out = [f"{run.state}: {run.done} of {run.asked} done{stage}"]
    out += [f"it waits: {cut(one_line(run.waits_for), 100)}"] if run.waits_for else []
    return out + ([cut(one_line(run.why), 200)] if run.why else [])


def status() -> Output:
    """Every project with its status, its sprint, and how many of its success criteria are met."""
    from ..operations.projects import confirming, looking

    found = looking.pages()
    chats = confirming.chats()

    def text(screen: Screen) -> str:
        rows = [(one.project.name, one.status or "?", _met(one), _waiting(one.project), one.sprint) for one in found]
        out = [table(("PROJECT", "STATUS", "CRITERIA", "ESCALATIONS", "SPRINT"), rows, screen) or "no project"]
        out += [f"{one.project.name}: {line}" for one in found for line in run_lines(one.run)]
        talks = [(one.name, one.project or "none confirmed", spoken(one.seen_at)) for one in chats]
        out += ["", table(("SESSION", "PROJECT", "SEEN"), talks, screen)] if talks else []
        return "\n".join(out)

    return Output(plain({"projects": found, "sessions": chats}), text)


def _met(one: "ProjectPage") -> str:
    return f"{sum(box.is_checked for box in one.criteria)} of {len(one.criteria)}"


def whats_next(name: Name) -> Output:
    """What does not fit together in a project: documents, commits and artifacts compared. No model is asked.

    Five kinds: tasks of a plan without what they name, a decision that no plan knows, a commit that says "done" of what
    the roadmap has open, a sprint without its review, a project that is complete with success criteria open.

    Example: nobrakes project whats-next my-app
    """
    from ..operations.projects import whats_next as operations

    found = operations.look(name)

    def text(screen: Screen) -> str:
        out = []
        for one in found.findings:
            out.append(f"{screen.paint(one.kind.value.replace('_', ' '), 'yellow')}: {one_line(one.where)}: {one.text}")
            out += [f"  {cut(one_line(item), 110)}" for item in one.items]
        return "\n".join(out) or "nothing contradicts: documents, commits and artifacts fit together"

    return Output(plain(found), text)


def archive(
    name: Name,
    undo: Annotated[bool, Option("--undo", help="Bring it back.")] = False,
) -> Output:
    """Hide a project: nobody is offered it, and no session confirms it. Nothing of it is moved or removed."""
    from ..operations.projects import projects

    found = projects.archive(name, not undo)
    words = "is back" if undo else "is archived; `--undo` brings it back"
    return said(plain(found), f"project {found.name} {words}")
