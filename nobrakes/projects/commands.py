"""Commands on projects, for the command line and for pages alike. `new`, `archive` and `go_on` need no repository; the
others are for the project in whose repository they are."""

from typing import TYPE_CHECKING, Annotated, Any

from ..command_table import NOTE, TEXT, Field, typed_anywhere
from ..errors import NobrakesError, NotAllowed, UsageError
from ..paths import typed_in
from ..records import frozen
from ..text.cleaning import count, one_line, spoken
from .model import SOURCES, Brief

if TYPE_CHECKING:
    from ..app import App
    from .service.projects_folder import ProjectView
    from .service.sprint_approval import Offer, ScheduleView

Name = Annotated[str, Field("The name of the project and of its folder.", metavar="NAME")]
Title = Annotated[str, Field("The project's title (default: its name).", ("--title",), most=NOTE)]
Objective = Annotated[str, Field("The goal, in a measurable form.", ("--objective",), most=TEXT)]
Context = Annotated[str, Field("Why the project exists, and its background.", ("--context",), most=TEXT)]
Constraints = Annotated[tuple[str, ...], Field("A constraint.", ("--constraint",), most=TEXT)]
Resources = Annotated[tuple[str, ...], Field("A source to read.", ("--resource",), most=TEXT)]
Criteria = Annotated[tuple[str, ...], Field("A success criterion.", ("--criterion",), most=TEXT)]
Source = Annotated[str, Field("Where the project comes from.", ("--source",), one_of=SOURCES)]
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
        raise UsageError(f"'{one_line(source)[:40]}' is not a known source", f"Use one of: {', '.join(SOURCES)}.")
    made = projects_folder.create(Brief(name, title, objective, context, constraint, resource, criterion, source), by)
    told = f"created project {made.name} in {one_line(made.path)}\nnext: read and complete {made.path}/CLAUDE.md"
    return made, told


Undo = Annotated[bool, Field("Restore the project.", ("--undo",))]


def archive(app: "App | None", by: str, name: Name, undo: Undo = False) -> Found:
    """Hide a project from lists and sessions. This moves and deletes nothing."""
    from .service import projects_folder

    found = projects_folder.archive(name, not undo)
    return found, f"project {found.name} {'is restored' if undo else 'is archived; `--undo` restores the project'}"


Sprints = Annotated[int, Field("How many of the planned sprints you approve.", ("--sprints", "-n"), least=1)]
Tests = Annotated[bool, Field("Whether a Test Writer writes each sprint's tests first.", ("--tests/--no-tests",))]
Items = Annotated[tuple[str, ...], Field("Only the roadmap item with this id (default: all).", ("--item",), "ID", TEXT)]
Budget = Annotated[float, Field("The most that all sprints may cost, in US dollars; 0: no limit.", ("--usd",), least=0)]
Until = Annotated[str, Field("The last day on which a sprint may start, for example 2026-12-31.", ("--until",), "DAY")]
Later = Annotated[bool, Field("Start no daemon now; the next daemon starts the sprints.", ("--later",))]
Seen = Annotated[str, Field("The offer of sprints that you saw; nobrakes approves no other offer.", ("--seen",))]


def offered(
    app: "App",
    sprints: int = 1,
    tests: bool = True,
    item: Items = (),
    usd: float = 0.0,
    until: str = "",
    seen: str = "",
    is_later: bool = False,
) -> "Offer":
    """What an approval would be for. NotAllowed if it is no longer what was `seen`."""
    from .service import sprint_approval

    limited = sprint_approval.Limits(item, usd, until)
    found = sprint_approval.offer(app.store, app.git, app.config, sprints, tests, limited, is_later)
    if seen and seen != found.seen:
        raise NotAllowed("the brief, the roadmap, the checks or the caps changed since you looked", "Read them again.")
    return found


def run(
    app: "App",
    by: str,
    sprints: Sprints = 1,
    tests: Tests = True,
    item: Items = (),
    usd: Budget = 0.0,
    until: Until = "",
    later: Later = False,
    seen: Seen = "",
) -> tuple[dict[str, Any], str]:
    """Approve sprints of a project. nobrakes plans, builds, reviews and documents each sprint before the next begins.

    The command first shows what you approve: the brief, the roadmap items, the checks and the caps. nobrakes asks you
    again if one of them changes, if the budget is spent, if the last day is over, or if a plan contains other work. It
    ends after these sprints, or earlier if every success criterion is met and `nobrakes project whats-next` is empty.
    """
    from ..app import blockers
    from ..daemon.service import control
    from .service import projects_folder, sprint_approval

    name = projects_folder.require_project(app.paths.root)
    offer = offered(app, sprints, tests, item, usd, until, seen)
    if (pid := control.running(app.paths)) is None and not later:
        blockers(app).require(app.store.now())
    made = sprint_approval.accept(app.store, app.paths, offer, by)
    if pid is None and not later:
        pid = control.start(app.paths, app.store)
    works = f"the daemon runs the sprints (process {pid})" if pid else "no daemon runs; the next starts the sprints"
    told = f"{count(sprints, 'sprint')} of {name}: {works}\n`nobrakes project status` shows the progress"
    return {"run": made, "offer": offer, "daemon": pid}, told


At = Annotated[str, Field("The local time in the time zone.", ("--at",), "HH:MM")]
Days = Annotated[str, Field("Days such as mon,thu (default: every day).", ("--days",))]
Zone = Annotated[str, Field("The time zone, such as Europe/Berlin (default: this machine's).", ("--zone",))]
Each = Annotated[int, Field("The number of sprints each time.", ("--sprints", "-n"), least=1)]
Late = Annotated[float, Field("How many hours late sprints may start; later you get a message.", ("--late-hours",))]
Remove = Annotated[int | None, Field("Remove schedule N.", ("--remove",), "N")]


def schedule(
    app: "App",
    by: str,
    at: At = "",
    days: Days = "",
    zone: Zone = "",
    sprints: Each = 1,
    late_hours: Late = 4.0,
    tests: Tests = True,
    item: Items = (),
    usd: Budget = 0.0,
    until: Until = "",
    remove: Remove = None,
    seen: Seen = "",
) -> tuple["ScheduleView | dict[str, Any]", str]:
    """Start sprints of a project at set times, or list the schedules."""
    from .service import projects_folder, sprint_approval

    projects_folder.require_project(app.paths.root)
    if remove is not None:
        sprint_approval.remove(app.store, app.paths, remove, by)
        return {"removed": remove}, f"removed schedule {remove}"
    if not at:
        known = sprint_approval.scheduling_listed(app.store)
        return {"schedules": known}, "\n".join(map(due, known)) or "no schedules yet; add a schedule with --at HH:MM"
    offer = offered(app, sprints, tests, item, usd, until, seen, is_later=True)
    wanted = sprint_approval.wanted(at, days, zone, late_hours, offer, by)
    made = sprint_approval.add(app.store, app.paths, wanted)
    return made, due(made)


def due(one: "ScheduleView") -> str:
    own = one.schedule
    when = f"{own.at} {','.join(own.days) or 'daily'} {one_line(own.zone) or 'local time'}"
    return f"schedule {own.id}: {count(own.sprints, 'sprint')} at {when}, next {spoken(one.next_at)}"


@frozen
class ProjectProgress:
    """A project: whether its daemon works, and why not, or what it continues."""

    project: str
    daemon: int | None
    text: str


Only = Annotated[str, Field("Only this project, even if you stopped its daemon.", metavar="[NAME]")]


def go_on(app: "App | None", by: str, name: Only = "") -> tuple[list[ProjectProgress], str]:
    """Start the daemon of every unfinished project. A project is unfinished if it has approved sprints, a schedule, or
    beads or sessions that can continue.

    The daemon resumes interrupted work and updates the documents. The command skips projects that you stopped or
    paused, unless you name one. Use it after you log in or restart the machine; `nobrakes daemon install` does the same
    for all your daemons."""
    from .service import projects_folder

    opened = projects_folder.opened()
    names = [projects_folder.existing(opened, name)] if name else projects_folder.active(opened)
    found = [projects_folder.one(opened, one) for one in names]
    went = [_went_on(one, bool(name)) for one in found if one.is_repository]
    return went, "; ".join(f"{one.project}: {one_line(one.text)}" for one in went) or "no project"


def _went_on(found: "ProjectView", is_named: bool) -> ProjectProgress:
    from ..app import blockers, open_app
    from ..daemon.service import control
    from .service import sprint_approval

    try:
        with open_app(found.path) as app:
            why = sprint_approval.unfinished(app.store, app.store.board(control.limits(app.store, app.config)))
            if (pid := control.running(app.paths)) is not None or not why:
                return ProjectProgress(found.name, pid, why or "no unfinished work")
            if not is_named and not control.is_wanted(app.store):
                hint = f"the project's daemon is stopped. Start the daemon: `nobrakes project continue {found.name}`"
                return ProjectProgress(found.name, None, f"{why}; {hint}")
            if app.store.setting(control.PAUSED) is not None:
                paused = f"the project is paused. Resume the project: `{typed_in(found.path, 'nobrakes resume')}`"
                return ProjectProgress(found.name, None, f"{why}; {paused}")
            blockers(app).require(app.store.now())
            return ProjectProgress(found.name, control.start(app.paths, app.store), why)
    except NobrakesError as error:  # the others go on
        return ProjectProgress(found.name, None, typed_anywhere(error.whole, found.path))
