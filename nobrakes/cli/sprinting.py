"""Sprints of a project from the command line: `nobrakes project run`, `schedule`, `continue`."""

import sys
from typing import TYPE_CHECKING, Annotated

from typer import Option, confirm

from ..core.errors import NotAllowed
from ..core.public.values import plain
from ..wording.text import count, cut, lines, one_line
from ..wording.times import spoken
from .output import Output, said
from .projects import Name
from .repository import actor

if TYPE_CHECKING:
    from ..operations.projects.projects import ProjectView
    from ..operations.projects.running import Offer
    from ..operations.projects.scheduling import ScheduleView


def run(
    name: Name,
    sprints: Annotated[int, Option("--sprints", "-n", help="How many sprints the yes is for.")] = 1,
    tests: Annotated[
        bool, Option("--tests/--no-tests", help="Whether a Test Writer writes each sprint's tests first.")
    ] = True,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask: what would be shown is what you want.")] = False,
    later: Annotated[bool, Option("--later", help="Start no daemon: the next one goes on with it.")] = False,
) -> Output:
    """Say yes to some sprints of a project: each is planned, built, reviewed and written down, then the next.

    What the yes is for is shown before: the brief, the checks, the caps. When one of them changes, you are asked again.
    It ends when every success criterion is met and `nobrakes project whats-next` is silent, or after these sprints.

    Example: nobrakes project run my-app --sprints 3
    """
    from ..app import hindrances, open_app
    from ..operations import daemons
    from ..operations.projects import running

    found = _repository(name)
    with open_app(found.path) as app:
        offer = running.offer(app.store, app.git, app.config, sprints, tests)
        shown = "\n".join(_offered(found.name, offer))
        again = f"nobrakes project run {found.name} --sprints {sprints}{'' if tests else ' --no-tests'} --yes"
        if not _said_yes(shown, yes, again):
            return said({"run": None}, "nothing was begun")
        pid = daemons.running(app.paths)
        if pid is None and not later:
            hindrances(app).require(app.store.now())
        made = running.accept(app.store, app.paths, offer, actor())
        if pid is None and not later:
            pid = daemons.start(app.paths, app.store)
    works = f"a daemon works at it (process {pid})" if pid else "no daemon works there: the next one goes on with it"
    text = f"{count(sprints, 'sprint')} of {found.name}: {works}\n`nobrakes project status` says how far it is"
    return said({"run": plain(made), "offer": plain(offer), "daemon": pid}, text if not yes else f"{shown}\n{text}")


def _said_yes(shown: str, yes: bool, again: str) -> bool:
    """Whether a person says yes to what is shown; NotAllowed where nobody can be asked."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NotAllowed(f"{shown}\nNobody said yes to this, and nothing was begun", f"If you mean it: `{again}`.")
    print(shown)
    return confirm("Yes to this?")


def schedule(
    name: Name,
    at: Annotated[str, Option("--at", metavar="HH:MM", help="When, by a clock on the wall of the zone.")] = "",
    days: Annotated[str, Option("--days", help="Only on these: mon,thu; else every day.")] = "",
    zone: Annotated[str, Option("--zone", help="The zone, as Europe/Berlin; else this machine's.")] = "",
    sprints: Annotated[int, Option("--sprints", "-n", help="How many sprints each time.")] = 1,
    late_hours: Annotated[
        float, Option("--late-hours", help="Missed by less, it still begins, once; by more, you are told.")
    ] = 4.0,
    tests: Annotated[
        bool, Option("--tests/--no-tests", help="Whether a Test Writer writes each sprint's tests first.")
    ] = True,
    remove: Annotated[int | None, Option("--remove", metavar="N", help="Take schedule N away.")] = None,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask: what would be shown is what you want.")] = False,
) -> Output:
    """Have sprints of a project begin at a time; without --at: list what begins when. A daemon has to be there then.

    Each due time begins at most once, and never while work is paused, main is red, or a cap is reached.

    Example: nobrakes project schedule my-app --at 03:00 --days mon,thu --zone Europe/Berlin
    """
    from ..app import open_app
    from ..operations.projects import running, scheduling

    found = _repository(name)
    with open_app(found.path) as app:
        if remove is not None:
            scheduling.remove(app.store, app.paths, remove, actor())
            return said({"removed": remove}, f"schedule {remove} begins nothing any more")
        if not at:
            known = scheduling.listed(app.store)
            rows = [_due(one) for one in known]
            return said(plain({"schedules": known}), "\n".join(rows) or "no sprint of it begins at a time")
        offer = running.offer(app.store, app.git, app.config, sprints, tests, later=True)
        wanted = scheduling.wanted(at, days, zone, late_hours, offer, actor())
        when = f"when      at {wanted.at}, {','.join(wanted.days) or 'every day'}, {one_line(zone) or 'local time'}"
        shown = "\n".join([*_offered(found.name, offer), f"{when}, at most {late_hours:g} hours late"])
        if not _said_yes(shown, yes, f"nobrakes project schedule {found.name} --at {wanted.at} … --yes"):
            return said({"schedule": None}, "nothing was scheduled")
        made = scheduling.add(app.store, app.paths, wanted)
    return said(plain(made), f"{shown}\n{_due(made)}" if yes else _due(made))


def _due(one: "ScheduleView") -> str:
    own = one.schedule
    when = f"{own.at} {','.join(own.days) or 'daily'} {one_line(own.zone) or 'local time'}"
    return f"schedule {own.id}: {count(own.sprints, 'sprint')} at {when}, next {spoken(one.next_at)}"


def _repository(name: str) -> "ProjectView":
    from ..operations.projects import projects, workspace

    found = projects.one(workspace.opened(), name.strip())
    if not found.is_repository:
        raise NotAllowed(f"{found.path} is no git repository", "`git init` there, and a first commit.")
    return found


def _offered(name: str, offer: "Offer") -> list[str]:
    out = [f"{one_line(name)}: {count(offer.sprints, 'sprint')}"]
    out += [f"objective {line}" if not i else f"          {line}" for i, line in enumerate(lines(offer.objective))]
    out += [f"  [{'x' if box.is_checked else ' '}] {cut(one_line(box.text), 100)}" for box in offer.criteria]
    out += [f"check     {cut(one_line(one), 110)}" for one in offer.checks]
    out += [f"cap       {one_line(one)}" for one in offer.caps]
    out += [f"agents    {one_line(one)}" for one in offer.agents]
    out.append(f"tests     {'first, by a Test Writer' if offer.needs_tests else 'by whoever does the work'}")
    out += [f"before    {cut(one_line(offer.replaces), 200)}"] if offer.replaces else []
    return out
