"""`nobrakes forge rollback`: what it will do is shown first, and done on a yes."""

from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..core.errors import NotAllowed
from ..core.public.values import plain
from ..wording.text import count, cut, one_line
from .output import Output
from .repository import FeatureId, actor, opened
from .screen import Screen

if TYPE_CHECKING:
    from ..operations.forging.rollback import RollbackStep, RollbackView

MOST = 20
"""Beads that are named."""


def rollback(
    feature: FeatureId,
    yes: Annotated[bool, Option("--yes", "-y", help="Do it.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what it would do.")] = False,
) -> Output:
    """Take all of a feature back. Its open beads are cancelled, with their work archived, and agents on them stop. What
    is on main of it is taken off by one commit that reverts its merges, newest first, and that passes the checks as
    any merge does. It cannot be resumed then; nothing is deleted.

    Without --yes it shows what would happen, and does nothing.

    Example: nobrakes forge rollback nb-k3f9q2 --yes
    """
    from ..operations.forging import rollback as operation

    with opened() as app:
        if yes and not dry_run:
            seen = operation.begin(app.store, app.git, app.paths, feature, actor())
        else:
            seen = operation.look(app.store, app.git, feature)
    if not (yes or dry_run):
        raise NotAllowed(_what(seen), f"If you mean it: `nobrakes forge rollback {seen.feature} --yes`.")
    return Output(plain(seen), lambda screen: "\n".join(_shown(seen, screen)))


def _what(seen: "RollbackView") -> str:
    gone = f"; {count(len(seen.off_main), 'merge')} left alone, since main does not hold them" if seen.off_main else ""
    stops = f" ({count(len(seen.stops), 'agent')} stopped)" if seen.stops else ""
    taken = f"{count(len(seen.reverts), 'merge')} taken off main by one commit"
    if not seen.reverts:
        taken = "nothing taken off main"
    return (
        f"rolling back feature {seen.feature} means: {count(len(seen.cancels), 'bead')} cancelled{stops}, "
        f"{taken}{gone}. Nothing was done"
    )


def _shown(seen: "RollbackView", screen: Screen) -> list[str]:
    title = f"feature {seen.feature} ({cut(one_line(seen.title), 60)})"
    if seen.is_over:
        head = f"{title} is rolled back: nothing of it was on main"
    elif seen.is_begun:
        head = f"{title} is being rolled back by bead {seen.bead}: `nobrakes show {seen.bead}` tells how far it is"
    else:
        head = f"{title}: this would be done"
    out = [screen.paint(head, "bold")]
    for words, steps in (
        ("cancelled" if seen.is_begun else "to cancel", seen.cancels),
        ("to be taken off main, newest first", seen.reverts),
        ("left alone, since main does not hold it any more", seen.off_main),
    ):
        out += _list(words, steps, set(seen.stops))
    return out


def _list(words: str, steps: "tuple[RollbackStep, ...]", stops: set[str]) -> list[str]:
    if not steps:
        return []
    out = [f"{words} ({len(steps)}):"]
    for one in steps[:MOST]:
        at_work = "  somebody worked on it, and is stopped" if one.bead in stops and not one.commit else ""
        commit = f"  {one.commit[:12]}" if one.commit else ""
        out.append(f"  {one.bead}{commit}  {cut(one_line(one.title), 70)}{at_work}")
    return [*out, *([f"  and {len(steps) - MOST} more"] if len(steps) > MOST else [])]
