"""Plan files: what the graph should be, applied as a whole or not at all."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..core.errors import Deadlock, UsageError
from ..wording.text import count, one_line
from .asking import KEPT
from .output import Output, said
from .progress import told_while
from .repository import actor, opened
from .screen import Screen

if TYPE_CHECKING:
    from ..operations.plan.apply import PlanReport
    from ..operations.plan.nodes import PlanNode

SHOWN = 30
AsJson = Annotated[bool, Option("--json", help="Print JSON instead of text.")]
PlanFile = Annotated[Path, Argument(metavar="FILE", help="YAML, JSON, or beads as .jsonl; '-' reads stdin.")]


def _apply(file: Path, whole: bool, **how: Any) -> Output:
    from ..operations.plan import apply as operations_plan_apply
    from ..operations.waking import wake

    with opened() as app:
        with told_while(f"reading {one_line(file.name)}"):
            plan = operations_plan_apply.read_plan(str(file))
        with told_while(f"applying {count(len(plan.nodes), 'bead')}"):
            report = operations_plan_apply.apply_plan(
                app.store, plan, actor=actor(), explain=whole or KEPT.get(), **how
            )
        if report.applied:
            wake(app.paths)
    waits = bool(report.applied and (report.proposed or (report.new and not (how["live"] or plan.live))))
    error = None
    if report.deadlocks and not report.applied and not report.cut:
        error = Deadlock(operations_plan_apply.told(report.deadlocks[0]))
    return Output(report, lambda screen: _report(report, screen, waits), error)


def _report(report: "PlanReport", screen: Screen, waits: bool) -> str:
    from ..operations.plan import apply as operations_plan_apply

    counted = f"{count(len(report.new), 'new bead')}, {len(report.changed)} changed, {len(report.unchanged)} unchanged"
    if report.proposed:
        counted += f", {count(len(report.proposed), 'change')} of live beads proposed"
    out = [counted + ("" if report.applied else screen.paint("  (nothing was written)", "yellow"))]
    out += _some(screen.paint("new", "green"), report.new)
    out += _some(screen.paint("changed", "cyan"), report.changed)
    out += _some(screen.paint("proposed for", "cyan"), report.proposed)
    for circle in report.deadlocks:
        out.append(f"{screen.paint('deadlock', 'red')}: {operations_plan_apply.told(circle)}")
        out.append(f"  these could never start: {', '.join(circle.stuck)}")
    out += [f"cut: {edge.bead} does not wait for {edge.needs}" for edge in report.cut]
    out += [f"{screen.paint('warning', 'yellow')}: {one_line(problem)}" for problem in report.problems[:SHOWN]]
    out += [f"  … and {len(report.problems) - SHOWN} more: --json"] if len(report.problems) > SHOWN else []
    out += _some("can start first", report.ready)
    if report.critical_path:
        out.append("longest chain: " + " -> ".join(report.critical_path))
    if waits:
        out.append("nothing of this is in force yet; see it and approve it: nobrakes commit-strategy")
    return "\n".join(out)


def _some(word: str, ids: tuple[str, ...]) -> list[str]:
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return [f"{word}: {', '.join(ids[:SHOWN])}{more}"] if ids else []


def apply(
    file: PlanFile,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would change, and write nothing.")] = False,
    live: Annotated[bool, Option("--live", help="New beads are live, and live ones change, at once.")] = False,
    cut: Annotated[bool, Option("--cut", help="Leave out the dependencies that close circles.")] = False,
    as_json: AsJson = False,
) -> Output:
    """Bring the graph to what a plan file says. Applying it again changes nothing.

    New beads are drafts. What the plan changes of live beads is proposed: both wait for `nobrakes commit-strategy`.

    Example: nobrakes plan example > plan.yaml && nobrakes plan apply plan.yaml --dry-run
    """
    return _apply(file, as_json, dry_run=dry_run, live=live, cut=cut)


def propose(
    file: Annotated[
        Path | None, Argument(metavar="[FILE]", help="YAML, JSON, or beads as .jsonl; '-' reads stdin.")
    ] = None,
    tasks: Annotated[
        Path | None, Option("--from", metavar="FILE", help="Task lists in Markdown, or issues as gh prints them; '-'.")
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what would be filed, and write nothing.")] = False,
) -> Output:
    """File the beads of a plan as drafts, and propose its changes of live beads. All waits for `commit-strategy`.

    With --from the plan is made from a text: `- [ ] Title` is a bead, a heading an epic; or from what `gh issue list
    --json number,title,body,labels,state,milestone` prints. The same text again changes its beads.

    Example: nobrakes propose --from ideas.md --dry-run
    """
    from ..operations.forge import approving
    from ..operations.plan import apply as operations_plan_apply
    from ..operations.plan import from_text

    if (file is None) == (tasks is None):
        raise UsageError(
            "name one file: a plan, or with --from a text to make one from",
            "For example: `nobrakes propose plan.yaml`, or `nobrakes propose --from ideas.md --dry-run`.",
        )
    with opened() as app:
        if file:
            plan = operations_plan_apply.read_plan(str(file))
        else:
            plan = from_text.read_tasks(str(tasks), {id_ for _, id_ in app.store.by_priority()})
        report = approving.propose(app.store, plan, actor(), dry_run)
    waits = bool(report.applied and (report.new or report.proposed))
    drafts = plan.nodes if tasks else ()
    return Output(report, lambda screen: "\n".join([*_drafted(drafts), _report(report, screen, waits)]))


def _drafted(nodes: "Sequence[PlanNode]") -> Iterator[str]:
    """A line for each of the first beads that a text comes to."""
    for node in nodes[:SHOWN]:
        found = node.fields
        notes = [f"in {found['epic']}"] if found.get("epic") else []
        notes += [f"after {', '.join(node.needs[:SHOWN])}"] if node.needs else []
        many = len(found.get("acceptance", ()))
        notes += ["1 criterion" if many == 1 else f"{many} criteria"] if many else []
        yield one_line(
            f"{node.id}  {found.get('type', 'task')}  {found['title']}" + (f"  ({'; '.join(notes)})" if notes else "")
        )
    if len(nodes) > SHOWN:
        yield f"… and {len(nodes) - SHOWN} more"


def example() -> Output:
    """Print a plan file to start from.

    Example: nobrakes plan example > plan.yaml
    """
    from .planexample import PLAN

    return said({"plan": PLAN}, PLAN.rstrip("\n"))
