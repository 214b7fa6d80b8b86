"""Plan files: what the graph should be, applied as a whole or not at all.

1. YAML and JSON are operations.plan.nodes, `.jsonl` are Beads records (interop); "-" is standard input.
2. Beads come in as drafts: they go live by `live: true`, by the flag, or later by commit-strategy. What a plan wants of
   live beads waits beside them for commit-strategy too, unless the flag says that a person wants it at once.
3. A plan under which beads would wait for each other is refused, and every circle is named with the dependency to
   cut; the one who applies may have those cut, or look first (`dry_run`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...analysis.paths import chain_of
from ...core.beads.bead import CLOSED, Dependency, DependencyType
from ...core.errors import Deadlock, NobrakesError, PlanError
from ...core.graph.cycles import Circle, circles
from ...core.graph.links import Links
from ...core.graph.readiness import reasons_of
from ...ports.store import Store
from . import difference, files
from .nodes import Plan, plan_of

MOST_CHARACTERS = 2_000_000
"""Of a plan that an agent hands over."""

__all__ = ["MOST_CHARACTERS", "Plan", "PlanDeadlock", "PlanReport", "apply_plan", "read_plan"]


@dataclass(frozen=True, slots=True)
class PlanReport:
    """What a plan did, or would do. `ready` and `explained` tell how its beads stand once they are approved.

    `explained` has the reasons of every bead of the plan that is neither ready nor closed. `cut` are the dependencies
    that were left out to break the circles, `problems` what a record of another tool could not bring along, and what
    the plan asks for and does not get. `changed`: beads that are otherwise now; `proposed`: those for which a change
    waits for a person's yes.
    """

    new: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: tuple[str, ...]
    deadlocks: tuple[Circle, ...]
    ready: tuple[str, ...]
    explained: dict[str, list[str]]
    critical_path: tuple[str, ...]
    applied: bool
    cut: tuple[Dependency, ...] = ()
    problems: tuple[str, ...] = field(default=())
    proposed: tuple[str, ...] = field(default=())


class PlanDeadlock(Deadlock):
    """A plan under which beads would wait for each other. `details` has every circle as JSON values."""

    hint = "Take the named dependencies out of the plan, or apply it with --cut; nothing was written."

    def __init__(self, found: Sequence[Circle]) -> None:
        stuck = {bead for circle in found for bead in circle.stuck}
        circles = "1 circle" if len(found) == 1 else f"{len(found)} circles"
        lines = [f"{len(stuck)} beads could never start, because of {circles}; nothing was written"]
        lines += [f"  {told(circle)}" for circle in found]
        lines.append("  stuck: " + ", ".join(sorted(stuck)))
        super().__init__("\n".join(lines))
        self.details: list[dict[str, Any]] = [
            {
                "members": list(circle.members),
                "stuck": list(circle.stuck),
                "cut": {"bead": circle.cut.bead, "needs": circle.cut.needs, "type": circle.cut.type.value},
            }
            for circle in found
        ]


def told(circle: Circle) -> str:
    """The circle in one line: who waits for whom, and what to cut."""
    around = " -> ".join((*circle.members, circle.members[0]))
    verb = "is a child of" if circle.cut.type is DependencyType.PARENT_CHILD else "depends on"
    return f"{around}: cut '{circle.cut.bead} {verb} {circle.cut.needs}'"


def read_plan(path: str) -> Plan:
    """The plan in a file, "-" for standard input; PlanError names every problem with its place."""
    if path != files.STDIN and path.endswith(".jsonl"):
        from .records import plan_of_file

        return plan_of_file(path)
    return plan_in(files.read_text(path), path)


def plan_in(text: str, path: str) -> Plan:
    """The plan in a text; the path says how to read it, and where a problem is. PlanError."""
    if files.looks_like_records(path, text):
        from .records import plan_of_records

        return plan_of_records(text, files.shown(path))
    return plan_of(files.load(path, text), files.shown(path))


def apply_plan(
    store: Store,
    plan: Plan,
    *,
    dry_run: bool = False,
    live: bool = False,
    cut: bool = False,
    actor: str = "person",
    explain: bool = True,
) -> PlanReport:
    """Bring the graph to what the plan says, in one transaction. PlanError, PlanDeadlock: nothing was written.

    `live`: new beads are live at once, and live ones are changed at once. `dry_run` writes nothing and reports
    deadlocks too; `cut` leaves out the dependencies that close circles. Not `explain`: nobody asks what is in the way
    of each bead, and of a large plan `explained` is left empty.
    """
    work = difference.work_out(store, plan, live or plan.live, at_once=live)
    if len(work.ids) <= difference.SMALL and not difference.proposals_of(store, work, actor):
        try:
            return _apply_small(store, plan, work, dry_run, actor)
        except Deadlock:
            pass  # the store names one circle; the whole graph names them all, with their cuts
    elif not (explain or dry_run or store.proposed() or difference.proposals_of(store, work, actor)):
        try:
            return _apply_many(store, plan, work, actor)
        except Deadlock:
            pass
    links = Links(*difference.graph_after(store, work))
    found = after = tuple(circles(links))
    taken_out: tuple[Dependency, ...] = ()
    if found and not dry_run and not cut:
        raise PlanDeadlock(found)
    if found and cut:
        taken_out = tuple(circle.cut for circle in found)
        for edge in taken_out:
            work.take_out(edge)
        links = Links(*difference.graph_after(store, work))
        after = tuple(circles(links))
    chain = chain_of(links)
    proposed = tuple(difference.proposals_of(store, work, actor))
    made = _report(plan, work, links, after, store.now(), chain, not dry_run)
    del links  # a large graph is not kept beside what is written
    if not dry_run:
        _write(store, work, actor)
    waiting = frozenset(proposed)
    unchanged = tuple(id_ for id_ in made.unchanged if id_ not in waiting)
    return replace(made, deadlocks=found, cut=taken_out, proposed=proposed, unchanged=unchanged)


class _Undone(Exception):
    """Takes back what a dry run wrote."""


def _apply_small(store: Store, plan: Plan, work: difference.Work, dry_run: bool, actor: str) -> PlanReport:
    """Write the plan, or write it and take it back; the store looks for circles where the plan adds something."""
    reports = []
    try:
        with store.together():
            _write(store, work, actor)
            links = Links(*difference.neighbourhood(store, work))
            chain = tuple(store.longest_chain())
            reports.append(_report(plan, work, links, circles(links), store.now(), chain, not dry_run))
            if dry_run:
                raise _Undone
    except _Undone:
        pass
    return reports[0]


def _apply_many(store: Store, plan: Plan, work: difference.Work, actor: str) -> PlanReport:
    """Write the plan; the store, which counts what it comes to, tells how its beads stand."""
    _write(store, work, actor)
    ready = store.ready_once_approved(work.ids)
    if store.levels_lag():  # the chain would be read off them
        chain = chain_of(Links(store.nodes(), store.dependencies()), store.usual())
    else:
        chain = tuple(store.longest_chain())
    return _told(plan, work, ready, {}, chain, True)


def _report(
    plan: Plan,
    work: difference.Work,
    links: Links,
    found: Sequence[Circle],
    now: float,
    chain: tuple[str, ...],
    applied: bool,
) -> PlanReport:
    """What the plan comes to; the links hold all that decides about its beads, `found` are the circles in them."""
    ready: list[str] = []
    explained: dict[str, list[str]] = {}
    for id_, reasons in reasons_of(links, now, found, work.ids):
        if not reasons:
            ready.append(id_)
        elif links.nodes[id_].status not in CLOSED:
            explained[id_] = [reason.text for reason in reasons]
    return _told(plan, work, ready, explained, chain, applied)


def _told(
    plan: Plan,
    work: difference.Work,
    ready: Sequence[str],
    explained: dict[str, list[str]],
    chain: tuple[str, ...],
    applied: bool,
) -> PlanReport:
    touched = work.touched
    return PlanReport(
        new=tuple(work.new),
        changed=tuple(id_ for id_ in work.ids if id_ in touched),
        unchanged=tuple(id_ for id_ in work.ids if id_ not in touched and id_ not in work.new),
        deadlocks=(),
        ready=tuple(ready),
        explained=explained,
        critical_path=chain,
        applied=applied,
        problems=(*plan.problems, *work.problems),
    )


def _write(store: Store, work: difference.Work, actor: str) -> None:
    try:
        difference.write(store, work, actor)
    except PlanError:
        raise
    except NobrakesError as error:
        error.args = (f"the plan was not applied: {error}",)
        raise
