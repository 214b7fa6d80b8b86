"""Commands of pages that work on more than one bead: plans, approval, taking back."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.errors import UsageError
from ..wording import approval
from ..wording.text import count, one_line

if TYPE_CHECKING:
    from ..app import App

Values = Mapping[str, Any]
TEXT = "the plan"


def pairs(lines: Sequence[str]) -> dict[str, str]:
    """`NAME=VALUE` a line; UsageError."""
    found = {}
    for line in lines:
        name, equals, value = line.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise UsageError(f"'{one_line(line)[:40]}' is not LIMIT=VALUE", "For example: doers=8")
        found[name.strip()] = value.strip()
    return found


def apply(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    """Bring the graph to what the plan says. PlanError, Deadlock: nothing was written."""
    from ..operations.plan import apply as operations
    from ..operations.waking import wake

    plan = operations.plan_in(values["plan"], TEXT)
    how = {name: bool(values.get(name)) for name in ("dry_run", "live", "cut")}
    report = operations.apply_plan(app.store, plan, actor=actor, **how)
    if report.applied:
        wake(app.paths)
    said = f"{count(len(report.new), 'new bead')}, {len(report.changed)} changed, {len(report.unchanged)} unchanged"
    if report.proposed:
        said += f", changes of {count(len(report.proposed), 'live bead')} proposed: they wait for your approval"
    return report, said if report.applied else f"{said}; nothing was written"


def propose(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    """File the beads of the plan as drafts."""
    from ..operations.forge import approving
    from ..operations.plan import apply as operations

    report = approving.propose(app.store, operations.plan_in(values["plan"], TEXT), actor)
    changes = f", changes of {count(len(report.proposed), 'live bead')} proposed" if report.proposed else ""
    return report, f"{count(len(report.new), 'draft')} filed{changes}; they wait for your approval"


def commit_strategy(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    """Approve what was proposed, or of it `only` these or all `without` these; or refuse what is to `drop`.

    `revision`: of what the page showed. NotAllowed where it is another by now.
    """
    from ..operations.forge import approving, choosing

    chosen = {name: frozenset(values.get(name, ())) for name in ("only", "without")}
    if values.get("drop"):
        if any(chosen.values()):
            raise UsageError("drop refuses, only and without approve: both were given", "Send one of them.")
        dropped = choosing.drop(app.store, values["drop"], actor)
        return {"dropped": list(dropped)}, f"dropped: {', '.join(dropped)}"
    choice, seen = choosing.Choice(**chosen), values.get("revision") or None
    done = approving.commit_strategy(app.store, app.git, app.paths, actor, choice, seen)
    on_main = f"; the snapshot is on main as {done.commit[:12]}" if done.commit else ""
    told = approval.told(len(done.approved), len(done.changes), done.features)
    told += [f"left, since it was edited since it was proposed: {', '.join(done.left)}"] if done.left else []
    told += [f"dropped, since its bead is closed or as proposed: {', '.join(done.dropped)}"] if done.dropped else []
    return done, ("; ".join(told) or "nothing waits to be approved") + on_main


def is_of_a_merge(app: "App", values: Values) -> bool:
    """Whether what is to be taken back is a merge: that moves main."""
    from ..core.beads.events import MERGES
    from ..operations.undo.steps import event_of

    found = event_of(app.store, values["seq"]) if "seq" in values else None
    return found is not None and found.kind in MERGES


def undo(app: "App", values: Values, actor: str) -> tuple[Any, str]:
    """Take the last step back, or the one with this number; a merge runs the checks first."""
    from .. import app as app_module
    from ..operations.undo import steps_back
    from .site import LOG

    def prove(commit: str) -> None:
        app_module.prove(app, commit, lambda line: LOG.debug("undo: %s", one_line(line)))

    keep = partial(app_module.keep_revert, app, actor)
    by_request = app.config.review.by_request
    found = steps_back.undo(app.store, app.git, actor, values.get("seq"), app.paths, prove, keep, by_request)
    return found, one_line(found.text)
