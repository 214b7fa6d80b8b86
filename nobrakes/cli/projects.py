"""Projects from the command line: `nobrakes project …`."""

import sys
from typing import TYPE_CHECKING, Annotated, Any

from ..command_table import Field
from ..errors import NotAllowed
from ..projects import commands
from ..text.cleaning import count, cut, lines, one_line, spoken
from .outcome import Output, actor, confirm, opened_or_home, said
from .screen import Screen, table

if TYPE_CHECKING:
    from ..projects.service.projects_folder import ProjectView
    from ..projects.service.sprint_approval import Offer, ProjectPage, SprintsView


Name = Annotated[str, Field("The project's name, also that of its folder.", metavar="NAME")]


def list_projects(everything: Annotated[bool, Field("Include archived projects.", ("--all",))] = False) -> Output:
    """List the projects in your projects folder. Chat agents and sprints work there. To move the folder, set
    `[workspace] folder = "~/projects"` in your own settings."""
    from ..projects.service import projects_folder

    found = projects_folder.listed(everything)

    def text(screen: Screen) -> str:
        rows = [(one.name, _state(one), _waiting(one), one.path) for one in found.projects]
        listed = table(("PROJECT", "STATE", "FOR YOU", "FOLDER"), rows, screen)
        return listed or f"there is no project in {one_line(found.folder)} yet: `nobrakes project new NAME` creates one"

    return Output(found, text)


def _state(one: "ProjectView") -> str:
    if one.archived_at is not None:
        return "archived"
    return one.state if one.is_repository else "no repository"


def _waiting(one: "ProjectView") -> str:
    return "?" if one.for_you is None else str(one.for_you)


def new(**given: Any) -> Output:
    made, text = commands.new(None, actor(), **given)
    return said(made, text)


def use(
    name: Name,
    session: Annotated[str, Field("The chat agent's session for the project.", ("--session",))] = "terminal",
) -> Output:
    """Confirm a project for a session: from now on its coding tools work there. Use it again to switch."""
    from ..projects.service import projects_folder

    found = projects_folder.set_project(session, name, False, actor())
    return said(found, f"{found.message}\n{found.path}, chat session {one_line(found.session)}")


def show(name: Name) -> Output:
    """Show one project: its brief, its task.md and its state."""
    from ..projects.service import sprint_approval as sprints_service

    found = sprints_service.page(name)
    return Output(found, lambda screen: "\n".join(_page(found, screen)))


def _page(found: "ProjectPage", screen: Screen) -> list[str]:
    one = found.project
    out = [screen.paint(f"{one.name}: {one_line(found.title)}", "bold"), one_line(one.path)]
    out.append(f"status    {found.status or 'task.md gives none'}; {_state(one)}; {_waiting(one)} waiting for you")
    out += [f"sprint    {one_line(found.sprint)}"] if found.sprint else []
    out += [f"sprints   {line}" for line in run_lines(found.run)]
    out += [f"objective {line}" if not i else f"          {line}" for i, line in enumerate(lines(found.objective))]
    out += [f"  [{'x' if box.is_checked else ' '}] {cut(one_line(box.text), 100)}" for box in found.criteria]
    out += [f"archived  {spoken(one.archived_at)}"] if one.archived_at is not None else []
    return out


def run_lines(run: "SprintsView") -> list[str]:
    """The progress of approved sprints."""
    if not run.state:
        return []
    stage = f", {one_line(run.sprint)} in {run.stage}" if run.sprint else ""
    out = [f"{run.state}: {run.done} of {run.asked} done{stage}"]
    out += [f"waiting for: {cut(one_line(run.waits_for), 100)}"] if run.waits_for else []
    return out + ([cut(one_line(run.why), 200)] if run.why else [])


def status() -> Output:
    """Show every project with its status, its sprint, and how many of its success criteria are met."""
    from ..projects.service import projects_folder
    from ..projects.service import sprint_approval as sprints_service

    found = sprints_service.pages()
    chats = projects_folder.chats()

    def text(screen: Screen) -> str:
        met = [f"{sum(box.is_checked for box in one.criteria)} of {len(one.criteria)}" for one in found]
        named = zip(found, met, strict=True)
        rows = [(one.project.name, one.status or "?", of, _waiting(one.project), one.sprint) for one, of in named]
        out = [table(("PROJECT", "STATUS", "CRITERIA", "ESCALATIONS", "SPRINT"), rows, screen) or "no project"]
        out += [f"{one.project.name}: {line}" for one in found for line in run_lines(one.run)]
        talks = [(one.name, one.project or "none confirmed", spoken(one.seen_at)) for one in chats]
        out += ["", table(("SESSION", "PROJECT", "SEEN"), talks, screen)] if talks else []
        return "\n".join(out)

    return Output({"projects": found, "sessions": chats}, text)


def whats_next(name: Name) -> Output:
    """List contradictions between a project's documents, commits and artifacts. It asks no model. Five kinds: plan
    tasks whose output is missing or did not change in the sprint, a decision that no plan mentions, a commit that says
    "done" for an open item of the roadmap, a sprint without its review.md, and a completed project with open success
    criteria."""
    from ..projects.service import sprint_approval as operations

    found = operations.look(name)

    def text(screen: Screen) -> str:
        out = []
        for one in found.findings:
            out.append(f"{screen.paint(one.kind.value.replace('_', ' '), 'yellow')}: {one_line(one.where)}: {one.text}")
            out += [f"  {cut(one_line(item), 110)}" for item in one.items]
        return "\n".join(out) or "no contradictions: documents, commits and artifacts agree"

    return Output(found, text)


def archive(**given: Any) -> Output:
    found, text = commands.archive(None, actor(), **given)
    return said(found, text)


Yes = Annotated[bool, Field("Approve without being asked.", ("--yes", "-y"))]
Seen = Annotated[str, Field("For web pages: a terminal has just shown the sprints.", ("--seen",), hidden=True)]
_LIMITS = ("sprints", "tests", "item", "usd", "until")


def run(name: Name, yes: Yes = False, seen: Seen = "", **given: Any) -> Output:
    found = _repository(name)
    with opened_or_home(False, folder=found.path) as app:
        offer = commands.offered(app, **{word: given[word] for word in _LIMITS if word in given})
        shown = "\n".join(_offered(found.name, offer))
        words = [f"--sprints {offer.sprints}", *([] if offer.needs_tests else ["--no-tests"])]
        words += [f"--item {one}" for one in given.get("item", ())]
        words += [f"--usd {offer.usd:g}"] if offer.usd else []
        words += [f"--until {offer.until}"] if offer.until else []
        if not _said_yes(shown, yes, f"nobrakes project run {found.name} {' '.join(words)} --yes"):
            return said({"run": None}, "nothing was started")
        made, text = commands.run(app, actor(), seen=offer.seen, **given)
    return said(made, text if not yes else f"{shown}\n{text}")


def _said_yes(shown: str, yes: bool, again: str) -> bool:
    """Whether a person confirms; NotAllowed without a terminal."""
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise NotAllowed(
            f"nothing was started: there is no terminal to ask you in\n{shown}", f"To approve the sprints: `{again}`."
        )
    print(shown)
    return confirm("Approve this?")


def schedule(name: Name, yes: Yes = False, seen: Seen = "", **given: Any) -> Output:
    """Start sprints of a project at set times. Without --at it lists the schedules. A daemon must be running at that
    time. Each scheduled time starts at most once, and never while work is paused, main is red or a cap is reached."""
    from ..projects.service import sprint_approval

    found = _repository(name)
    with opened_or_home(False, folder=found.path) as app:
        shown = ""
        if given.get("at") and given.get("remove") is None:
            offer = commands.offered(app, **{word: given[word] for word in _LIMITS if word in given}, is_later=True)
            seen = offer.seen
            at, days, zone, late = (given[word] for word in ("at", "days", "zone", "late_hours"))
            wanted = sprint_approval.wanted(at, days, zone, late, offer, actor())
            when = f"when      at {wanted.at}, {','.join(wanted.days) or 'every day'}, {one_line(zone) or 'local time'}"
            shown = "\n".join([*_offered(found.name, offer), f"{when}, at most {count(late, 'hour')} late"])
            if not _said_yes(shown, yes, f"nobrakes project schedule {found.name} --at {wanted.at} … --yes"):
                return said({"schedule": None}, "nothing was scheduled")
        made, text = commands.schedule(app, actor(), seen=seen, **given)
    return said(made, f"{shown}\n{text}" if yes and shown else text)


def _repository(name: str) -> "ProjectView":
    from ..projects.service import projects_folder

    found = projects_folder.one(projects_folder.opened(), name.strip())
    if not found.is_repository:
        raise NotAllowed(f"{found.path} is not a git repository", "Type `git init` there, and make a first commit.")
    return found


def _offered(name: str, offer: "Offer") -> list[str]:
    out = [f"{one_line(name)}: {count(offer.sprints, 'sprint')}"]
    out += [f"objective {line}" if not i else f"          {line}" for i, line in enumerate(lines(offer.objective))]
    out += [f"  [{'x' if box.is_checked else ' '}] {cut(one_line(box.text), 100)}" for box in offer.criteria]
    out += [f"item      {cut(one_line(one), 100)}" for one in offer.items]
    out += [f"budget    ${offer.usd:.2f}"] if offer.usd else []
    out += [f"until     {offer.until}"] if offer.until else []
    out += [f"check     {cut(one_line(one), 110)}" for one in offer.checks]
    out += [f"cap       {one_line(one)}" for one in offer.caps]
    out += [f"agents    {one_line(one)}" for one in offer.agents]
    out.append(f"tests     {'first, by a Test Writer' if offer.needs_tests else 'by the Doer, with the work'}")
    out += [f"before    {cut(one_line(offer.replaces), 200)}"] if offer.replaces else []
    return out


def go_on(**given: Any) -> Output:
    went, _ = commands.go_on(None, actor(), **given)

    def text(screen: Screen) -> str:
        rows = [(one.project, "works" if one.daemon else "rests", one_line(one.text)) for one in went]
        return table(("PROJECT", "DAEMON", "WHY"), rows, screen) or "no project"

    return Output(went, text)
