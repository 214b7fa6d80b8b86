"""A person's yes to sprints of a project: what it is given for, shown before; then kept with its digests.

1. What is shown is what main has, with the settings as they are: the yes is for that and nothing else. What changes
   afterwards asks again (core.projects.sprints).
2. Nothing is asked for where nothing could decide about the work: a project without checks is refused.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...core.errors import NotAllowed, UsageError
from ...core.limits.caps import Cap, Caps
from ...core.projects import documents, terms
from ...core.projects.documents import Box
from ...core.projects.sprint import ASKED, RunState, Sprint, SprintRun, going_already
from ...core.text.cleaning import clean
from ...paths import Paths
from ...ports.git import Git
from ...ports.store import Store
from ..control import limits
from ..waking import wake

if TYPE_CHECKING:
    from ...config.settings import Config

SHORT = 2000
_UNITS = ("usd", "tokens", "minutes")


@dataclass(frozen=True, slots=True)
class Offer:
    """What a yes would be given for. `checks` are commands, `caps` words; `replaces`: why the run before it waits."""

    sprints: int
    objective: str
    criteria: tuple[Box, ...]
    checks: tuple[str, ...]
    caps: tuple[str, ...]
    needs_tests: bool
    agents: tuple[str, ...]
    replaces: str
    terms: dict[str, str]


@dataclass(frozen=True, slots=True)
class SprintsView:
    """How far the sprints are. `state` is RunState's word, empty: none was ever asked for."""

    state: str = ""
    asked: int = 0
    done: int = 0
    why: str = ""
    sprint: str = ""
    stage: str = ""
    waits_for: str = ""


NONE = SprintsView()
"""Nobody said yes to a sprint."""


def offer(store: Store, git: Git, config: "Config", sprints: int, needs_tests: bool, later: bool = False) -> Offer:
    """What a yes to so many sprints would be given for; `later`: not for now. UsageError, NotAllowed."""
    if not 1 <= sprints <= ASKED:
        raise UsageError(f"from 1 to {ASKED} sprints can be asked for, and not {sprints}")
    if not config.checks:
        raise NotAllowed(
            "nothing decides here whether work is good: the project has no checks",
            "`nobrakes config set checks.test.command 'COMMAND'` in its folder names one.",
        )
    going = store.sprints_going()
    if going is not None and going.run.state is RunState.GOING and not later:
        raise going_already(going.run)
    raw = git.read(git.main(), terms.BRIEF)
    brief = (raw or b"").decode("utf-8", "replace")
    objective = documents.objective(brief)
    boxes = tuple(Box(one.is_checked, clean(one.text), one.line) for one in documents.criteria(brief))
    if not boxes:
        raise NotAllowed(
            "the brief on main has no success criteria, so nobody could say when the project is complete",
            "Write boxes (`- [ ] …`) below `## Success Criteria` in CLAUDE.md, and commit it.",
        )
    caps = limits(store, config).caps
    waits = going.run.why if going is not None and going.run.state is RunState.WAITS else ""
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
        terms.terms(brief, config.contract(), caps),
    )


def _caps(caps: Caps) -> list[str]:
    found = []
    for name in ("attempt", "bead", "day", "run"):
        cap: Cap = getattr(caps, name)
        parts = [f"{getattr(cap, unit):g} {unit}" for unit in _UNITS if getattr(cap, unit) is not None]
        found += [f"{name}: {', '.join(parts)}"] if parts else []
    if caps.calls_per_hour is not None:
        found.append(f"{caps.calls_per_hour} agents an hour")
    return found or ["none: `[caps]` in .nobrakes/config.toml sets them"]


def accept(store: Store, paths: Paths, wanted: Offer, actor: str) -> SprintRun:
    """The yes, kept. NotAllowed: sprints go on already."""
    made = store.begin_sprints(wanted.sprints, wanted.needs_tests, wanted.terms, actor)
    wake(paths)
    return made


def view(store: Store) -> SprintsView:
    """How far the repository's sprints are, now; documents say how it was when one began or ended."""
    going = store.sprints_going()
    if going is None:
        return NONE
    run, sprint = going.run, going.sprint
    if sprint is None:
        return SprintsView(run.state.value, run.asked, going.done, run.why)
    waits = _waits(store, sprint)
    return SprintsView(run.state.value, run.asked, going.done, run.why, sprint.title, sprint.stage.value, waits)


def _waits(store: Store, sprint: Sprint) -> str:
    """What of the sprint waits for a person."""
    mine = {sprint.bead, sprint.opening, sprint.closing} - {None}
    for one in store.escalations():
        if one.bead in mine or (one.session is not None and one.session == sprint.session):
            return f"escalation {one.id}: {clean(one.title)}"
    return ""


def unfinished(store: Store) -> str:
    """What a daemon would go on with here, in words; empty: nothing."""
    going = store.sprints_going()
    if going is not None and going.run.state is RunState.GOING:
        return f"{going.done} of {going.run.asked} sprints are done"
    planned = store.schedules()
    return f"{len(planned)} schedules begin sprints" if planned else ""
