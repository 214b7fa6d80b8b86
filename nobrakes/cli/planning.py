"""Plan files: what the graph should be, applied as a whole or not at all."""

from pathlib import Path
from typing import Annotated, Any

import typer

from ..core.errors import PlanError
from .opened import actor, opened
from .output import Output, Screen, plain, said
from .text import count, one_line

PlanFile = Annotated[Path, typer.Argument(metavar="FILE", help="The plan (YAML, TOML or JSON); '-' reads stdin.")]


def _apply(file: Path, **how: Any) -> Output:
    from ..operations import plans

    plan = plans.read_plan(str(file))
    with opened() as app:
        report = plans.apply_plan(app.store, plan, actor=actor(), **how)
    return Output(plain(report), lambda screen: _report(report, screen))


def _report(report: Any, screen: Screen) -> str:
    out = [
        f"{count(len(report.new), 'new bead')}, {len(report.changed)} changed, {len(report.unchanged)} unchanged"
        + ("" if report.applied else screen.paint("  (nothing was written)", "yellow"))
    ]
    for word, style, ids in (("new", "green", report.new), ("changed", "cyan", report.changed)):
        out += [f"  {screen.paint(word, style)}  {one_line(str(bead))}" for bead in ids]
    for circle in report.deadlocks:
        out.append(f"  {screen.paint('deadlock', 'red')}  {one_line(' -> '.join(map(str, circle)))}")
    if report.critical_path:
        out.append("longest chain: " + one_line(" -> ".join(map(str, report.critical_path))))
    if report.ready:
        out.append("ready: " + one_line(", ".join(map(str, report.ready))))
    explained = report.explained.items() if hasattr(report.explained, "items") else report.explained
    out += [f"  {one_line(str(item if isinstance(item, str) else ': '.join(map(str, item))))}" for item in explained]
    return "\n".join(out)


def apply(
    file: PlanFile,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and write nothing.")] = False,
    live: Annotated[bool, typer.Option("--live", help="New beads are live at once, not drafts.")] = False,
    cut: Annotated[bool, typer.Option("--cut", help="Cut circles at their weakest dependency.")] = False,
) -> Output:
    """Bring the graph to what a plan file says. Applying it again changes nothing.

    Example: nobrakes plan example > plan.yaml && nobrakes plan apply plan.yaml --dry-run
    """
    return _apply(file, dry_run=dry_run, live=live, cut=cut)


def propose(file: PlanFile) -> Output:
    """File the beads of a plan as drafts. They wait for `nobrakes commit-strategy`."""
    return _apply(file, dry_run=False, live=False, cut=False)


def example() -> Output:
    """Print a plan file to start from.

    Example: nobrakes plan example > plan.yaml
    """
    from ..places import resource

    try:
        text = Path(resource("config/plan.example.yaml")).read_text(encoding="utf-8")
    except OSError as error:
        raise PlanError(f"the example that comes with nobrakes cannot be read: {error}") from None
    return said({"plan": text}, text.rstrip("\n"))
