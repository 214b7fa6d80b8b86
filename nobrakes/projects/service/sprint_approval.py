"""A person's approval of sprints of a project: what it is given for, shown before; then kept with its digests.

1. The offer shows main's content and the current settings: the approval is for that and nothing else. What changes
   afterwards asks again (projects.sprints).
2. Nothing is asked for where nothing could decide about the work: a project without checks is refused.
"""

import os
from collections.abc import Sequence
from datetime import date
from functools import cache

from ...agents.limits import Cap, Caps, Cost
from ...config.settings import Config
from ...daemon.model import Board
from ...daemon.service.control import limits
from ...errors import NobrakesError, NotAllowed, UsageError
from ...features.reviewed_plan import under
from ...files import wake
from ...git import persons
from ...git.port import Git
from ...host.command import LocalZone, named_zone
from ...paths import Paths
from ...records import frozen
from ...store import Store
from ...text.cleaning import clean, count
from .. import model
from .. import sprints as sprint_rules
from ..sprints import Finding, whats_next
from .coding import project_store
from .projects_folder import MAX_DOCUMENT_BYTES, ProjectView, Workspace, listed, one, opened, require_project

SHORT = 2000
"""Characters of a section in a view."""
_UNITS = ("usd", "tokens", "minutes")


@frozen
class Offer:
    """What an approval would be for. `checks` are commands, `caps` words; `replaces`: why the run before it waits.

    `items`: the open roadmap items that it is for, as `ID: text`; `usd`: its budget, 0: none; `until`: its last day."""

    sprints: int
    objective: str
    criteria: tuple[model.Box, ...]
    checks: tuple[str, ...]
    caps: tuple[str, ...]
    needs_tests: bool
    agents: tuple[str, ...]
    replaces: str
    terms: dict[str, str]
    items: tuple[str, ...] = ()
    usd: float = 0.0
    until: str = ""

    @property
    def seen(self) -> str:
        """It changes with the brief, the roadmap, the checks and the caps, whatever a person limits."""
        return "-".join(word for name, word in self.terms.items() if name not in (model.ITEMS, model.USD, model.UNTIL))


@frozen
class Limits:
    """What a person limits an approval of: roadmap items by id (none: all), US dollars (0: no budget), a last day."""

    items: tuple[str, ...] = ()
    usd: float = 0.0
    until: str = ""


UNLIMITED = Limits()


@frozen
class SprintsView:
    """State of the sprints. `state`: RunState's word; empty: none was ever requested."""

    state: str = ""
    asked: int = 0
    done: int = 0
    why: str = ""
    sprint: str = ""
    stage: str = ""
    waits_for: str = ""


NONE = SprintsView()


def offer(
    store: "Store",
    git: Git,
    config: "Config",
    sprints: int,
    needs_tests: bool,
    limited: Limits = UNLIMITED,
    later: bool = False,
) -> Offer:
    """What an approval of so many sprints would be given for; `later`: not for now. UsageError, NotAllowed."""
    if not 1 <= sprints <= model.ASKED:
        raise UsageError(f"you can approve 1 to {model.ASKED} sprints, not {sprints}", "For example --sprints 3.")
    if not config.checks:
        raise NotAllowed(
            "the project has no checks, so nothing can show that its work is good",
            "Add a check: `nobrakes config set checks.test.command 'COMMAND'`.",
        )
    if (going := store.sprints_going()) is not None and going.run.state is model.RunState.GOING and not later:
        raise model.going_already(going.run)
    main = git.main()
    texts = ((git.read(main, path) or b"").decode("utf-8", "replace") for path in (sprint_rules.BRIEF, model.ROADMAP))
    brief, roadmap = texts
    objective = model.objective(brief)
    boxes = tuple(model.Box(one.is_checked, clean(one.text), one.line) for one in model.criteria(brief))
    if not boxes:
        raise NotAllowed(
            "the brief on main has no success criteria, so the project could never be complete",
            "Write boxes (`- [ ] …`) below `## Success Criteria` in CLAUDE.md, and commit the file.",
        )
    caps, items = limits(store, config).caps, _items(roadmap, limited.items)
    limits_in = {model.ITEMS: " ".join(model.item_id(one.text) for one in items)}
    limits_in |= {model.USD: f"{limited.usd:g}"} if limited.usd else {}
    limits_in |= {model.UNTIL: _day(limited.until, store.now())} if limited.until else {}
    waits = going.run.why if going is not None and going.run.state is model.RunState.WAITS else ""
    agents = (f"plans: {config.agents.shaper[0]}", f"works: {', '.join(config.agents.agent_choice().names())}")
    return Offer(
        sprints,
        clean(objective)[:SHORT],
        boxes,
        tuple(clean(f"{check.name}: {check.command}") for check in config.checks),
        tuple(_caps(caps)),
        needs_tests,
        agents,
        waits,
        {**sprint_rules.terms(brief, roadmap, config.contract(), caps), **limits_in},
        tuple(clean(one.text if model.own_id(one.text) else f"{model.item_id(one.text)}: {one.text}") for one in items),
        limited.usd,
        limited.until,
    )


def _items(roadmap: str, named: Sequence[str]) -> list[model.Box]:
    """The open items of the roadmap with these ids; none named: all. UsageError."""
    open_items = [one for one in model.items(roadmap) if not one.is_checked]
    known = {model.item_id(one.text): one for one in open_items}
    if twice := [one for one in open_items if known[model.item_id(one.text)] is not one]:
        name = model.item_id(twice[0].text)
        raise NotAllowed(f"two open items of {model.ROADMAP} are called '{name}'", "Give each item its own id.")
    if wrong := [one for one in named if one not in known]:
        open_ = ", ".join(list(known)[:20]) or "none"
        raise UsageError(f"'{wrong[0][:60]}' is not an open item of {model.ROADMAP}", f"Open roadmap items: {open_}.")
    return [known[one] for one in dict.fromkeys(named)] if named else list(known.values())


def _day(text: str, now: float) -> str:
    """The last day of an approval, as 2026-12-31. UsageError."""
    try:
        day = date.fromisoformat(text.strip())
    except ValueError:
        raise UsageError(f"'{text[:20]}' is not a date", "For example --until 2026-12-31.") from None
    if day < date.fromtimestamp(now):
        raise UsageError(f"{day} is in the past", "Use today or a later day.")
    return day.isoformat()


def _caps(caps: Caps) -> list[str]:
    found = []
    for name in ("attempt", "bead", "day", "run"):
        cap: Cap = getattr(caps, name)
        parts = [f"{getattr(cap, unit):g} {unit}" for unit in _UNITS if getattr(cap, unit) is not None]
        found += [f"{name}: {', '.join(parts)}"] if parts else []
    if caps.calls_per_hour is not None:
        found.append(f"{count(caps.calls_per_hour, 'agent')} an hour")
    return found or ["none (set caps in `[caps]` of .nobrakes/config.toml)"]


def accept(store: "Store", paths: Paths, wanted: Offer, actor: str) -> model.SprintRun:
    """Store the approval. NotAllowed: sprints are running already."""
    made = store.begin_sprints(wanted.sprints, wanted.needs_tests, wanted.terms, actor)
    wake(paths)
    return made


def view(store: "Store") -> SprintsView:
    """Current state of the sprints; documents show it at a sprint's begin or end."""
    if (going := store.sprints_going()) is None:
        return NONE
    run, sprint = going.run, going.sprint
    title, stage, waits = ("", "", "") if sprint is None else (sprint.title, sprint.stage.value, _waits(store, sprint))
    if run.state is model.RunState.GOING and (sprint is None or sprint.bead is None):
        planned = next((one.id for one in store.features() if one.has_turn), "")
        waits = waits or (f"feature {planned}, which nobrakes plans first" if planned else "")
    return SprintsView(run.state.value, run.asked, going.done, run.why, title, stage, waits)


def _waits(store: "Store", sprint: model.Sprint) -> str:
    mine = {sprint.bead, sprint.opening, sprint.closing} - {None}
    mine |= set() if sprint.bead is None else set(under(store, sprint.bead))
    sessions = {one.session for one in store.features() if one.id == sprint.bead} | {sprint.session}
    for asked in store.escalations():
        if asked.bead in mine or asked.session in sessions - {None}:
            return f"escalation {asked.id}: {clean(asked.title)}"
    return ""


def unfinished(store: Store, board: Board) -> str:
    """What a daemon would continue here, in words; empty: nothing."""
    if (going := store.sprints_going()) is not None and going.run.state is model.RunState.GOING:
        return f"{going.done} of {count(going.run.asked, 'sprint is', 'sprints are')} done"
    if planned := store.schedules():
        return count(len(planned), "schedule begins sprints", "schedules begin sprints")
    beads = {one.id for one in (*board.ready, *board.to_review)} | {one.bead for one in board.attempts}
    sessions = {one.id for one in board.sessions} | {one.session.id for one in board.talks}
    owners = ((len(beads), "bead"), (len(sessions), "session"))
    return " and ".join(count(number, noun) for number, noun in owners if number)


@frozen
class ScheduleView:
    """A schedule, and when it is due next, in seconds since 1970."""

    schedule: model.Schedule
    next_at: float


def wanted(at: str, days: str, zone: str, late_hours: float, offer: Offer, actor: str) -> model.Schedule:
    """Parse a schedule. UsageError."""
    clock = model.clock_time(at)
    if zone and named_zone(zone) is None:
        raise UsageError(f"'{zone[:60]}' is not a time zone known on this machine", "Try Europe/Berlin, or UTC.")
    if not 0 < late_hours <= model.MAX_LATE:
        raise UsageError(f"--late-hours must be above 0 and at most {model.MAX_LATE:g}")
    said = f"{clock:%H:%M}"
    return model.Schedule(
        0, said, model.named_days(days), zone, offer.sprints, late_hours, offer.needs_tests, offer.terms, actor, 0.0
    )


def add(store: "Store", paths: Paths, one: model.Schedule) -> ScheduleView:
    """Store it and notify the daemon."""
    made = store.add_schedule(one)
    wake(paths)
    return _view(store, made)


def remove(store: "Store", paths: Paths, number: int, actor: str) -> None:
    if not store.remove_schedule(number, actor):
        name = os.path.basename(paths.root)
        raise UsageError(f"there is no schedule {number}", f"`nobrakes project schedule {name}` lists the schedules.")
    wake(paths)


def scheduling_listed(store: "Store") -> list[ScheduleView]:
    return [_view(store, one) for one in store.schedules()]


def _view(store: "Store", one: model.Schedule) -> ScheduleView:
    return ScheduleView(one, model.next_due(one, named_zone(one.zone) or LocalZone(), store.now()))


@frozen
class SprintsPage:
    """The sprints of one project, newest first, with what an approval would be for; None: there can be none, since
    `refused`. `cost`: of the last run."""

    name: str
    run: model.SprintRun | None
    state: SprintsView
    cost: Cost
    sprints: tuple[model.Sprint, ...]
    roadmap: tuple[model.Box, ...]
    offer: Offer | None
    refused: NobrakesError | None
    schedules: tuple[ScheduleView, ...]


def sprints_page(store: "Store", git: Git, config: "Config", root: str) -> SprintsPage:
    """NotAllowed: the repository is not a project."""
    name, going = require_project(root), store.sprints_going()
    wanted: Offer | NobrakesError
    try:
        wanted = offer(store, git, config, 1, True, later=True)
    except NobrakesError as error:
        wanted = error
    roadmap = model.items((git.read(git.main(), model.ROADMAP) or b"").decode("utf-8", "replace"))
    return SprintsPage(
        name,
        None if going is None else going.run,
        view(store),
        Cost() if going is None else store.sprints_cost(going.run.id),
        tuple(store.sprints()[: -MAX_SPRINTS - 1 : -1]),
        tuple(model.Box(one.is_checked, clean(one.text), one.line) for one in roadmap),
        wanted if isinstance(wanted, Offer) else None,
        None if isinstance(wanted, Offer) else wanted,
        tuple(scheduling_listed(store)),
    )


@frozen
class ProjectPage:
    """One project. `status`: of task.md, empty if it has none; `sprint`: its current one; `run`: state of its approved
    sprints."""

    project: ProjectView
    title: str
    objective: str
    status: str
    sprint: str
    criteria: tuple[model.Box, ...]
    run: SprintsView = NONE


def page(name: str) -> ProjectPage:
    workspace = opened()
    return _page(workspace, one(workspace, name.strip()))


def pages() -> list[ProjectPage]:
    workspace = opened()
    return [_page(workspace, project) for project in listed().projects]


def _page(workspace: Workspace, found: ProjectView) -> ProjectPage:
    brief, task = (read(workspace, found.name, path) for path in ("CLAUDE.md", "task.md"))
    lines = (line for _, line in model.lines(brief))
    title = next((line[2:].strip() for line in lines if line.startswith("# ")), found.name)
    objective = model.objective(brief)
    criteria = tuple(model.Box(box.is_checked, clean(box.text), box.line) for box in model.criteria(brief))
    sprint = model.field(task, "Current Sprint")
    status = model.status(task)
    run = _run(found)
    if run.sprint and run.waits_for:
        status = "blocked"
    elif run.sprint:
        status = "planning" if run.stage == model.Stage.PLANNING.value else "executing"
    sprint = run.sprint or sprint
    return ProjectPage(found, clean(title), clean(objective)[:SHORT], status, clean(sprint), criteria, run)


def _run(found: ProjectView) -> SprintsView:
    if not found.is_repository:
        return NONE
    try:
        with project_store(found.path) as (store, _):
            return view(store)
    except NobrakesError:
        return NONE


def read(workspace: Workspace, name: str, path: str) -> str:
    """A document of the project; empty if missing, no plain file in it, or no text."""
    folder = os.path.realpath(workspace.folder(name))
    whole = os.path.realpath(os.path.join(folder, path))
    if not whole.startswith(folder + os.sep) or not os.path.isfile(whole):
        return ""
    try:
        with open(whole, encoding="utf-8", errors="replace") as file:
            return file.read(MAX_DOCUMENT_BYTES)
    except OSError:
        return ""


MAX_SPRINTS = 500
_DOCUMENTS = ("CLAUDE.md", "task.md", "DECISIONS.md", model.ROADMAP)
_SPRINT_FILES = ("plan.md", "review.md")


@frozen
class NextView:
    """Contradictions in the project; empty: none."""

    project: str
    findings: tuple[Finding, ...]


def look(name: str) -> NextView:
    """Raises NoProject; NotAllowed for a folder that is not a repository."""
    workspace = opened()
    found = one(workspace, name.strip())
    if not found.is_repository:
        raise NotAllowed(f"{found.path} is not a git repository", "Type `git init` there, and make a first commit.")
    folder = os.path.realpath(found.path)

    def exists(path: str) -> bool:
        if "\0" in path:  # no file has it in its name, and no call of the system takes it
            return False
        whole = os.path.realpath(os.path.join(folder, path))
        return whole.startswith(folder + os.sep) and os.path.lexists(whole)

    texts, subjects = _files(workspace, found.name), persons.subjects(found.path)
    findings = whats_next(texts, subjects, exists, beginnings(found.path))
    return NextView(found.name, tuple(_shown(finding) for finding in findings))


def beginnings(folder: str, tip: str = "") -> sprint_rules.Began:
    """A sprint begins before the commit that brings its plan. Of documents of older work no beginning is known."""
    came = persons.added(folder, model.SPRINTS, tip or "HEAD") if tip or persons.has_commit(folder) else {}

    def began(sprint: str) -> tuple[frozenset[str], str] | None:
        commit, review = (came.get(f"{model.SPRINTS}/{sprint}/{one}") for one in _SPRINT_FILES)
        if commit is None or commit == review:
            return None
        return persons.differing(folder, commit, tip), persons.committed(folder, "DECISIONS.md", commit)

    return cache(began)


def _shown(one: Finding) -> Finding:
    return Finding(one.kind, clean(one.where), clean(one.text), tuple(clean(item) for item in one.items))


def _files(workspace: Workspace, name: str) -> dict[str, str]:
    paths = [*_DOCUMENTS]
    sprints = os.path.join(workspace.folder(name), model.SPRINTS)
    if os.path.isdir(sprints):
        paths += [
            f"{model.SPRINTS}/{sprint}/{document}"
            for sprint in sorted(os.listdir(sprints))[:MAX_SPRINTS]
            for document in _SPRINT_FILES
        ]
    return {path: text for path, text in ((path, read(workspace, name, path)) for path in paths) if text}
