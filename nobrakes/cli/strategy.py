"""`commit-strategy`: what was proposed, shown as a difference, approved in one yes, or refused one by one."""

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, confirm

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording import approval
from ..wording.text import count, cut, one_line, pad, width
from .output import Output, said, write
from .repository import actor, opened
from .screen import Screen, screen_of

if TYPE_CHECKING:
    from ..app import App
    from ..core.beads.proposals import ProposedChange
    from ..operations.forge.strategy import ChangedBead, StrategyView

SHOWN = 30
Names = list[str] | None
NAME = "BEAD or BEAD:FIELD"


def commit_strategy(
    yes: Annotated[bool, Option("--yes", "-y", help="Approve without being asked.")] = False,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    only: Annotated[Names, Option("--only", metavar=NAME, help="Approve only this; again for more.")] = None,
    without: Annotated[Names, Option("--without", metavar=NAME, help="Approve all but this; it waits on.")] = None,
    overwrite: Annotated[
        Names, Option("--overwrite", metavar=NAME, help="Approve this though the bead was edited since.")
    ] = None,
    drop: Annotated[
        Names, Option("--drop", metavar=NAME, help="Refuse this proposed change: it goes, and nothing is approved.")
    ] = None,
    seen: Annotated[
        str | None, Option("--seen", metavar="REVISION", help="Approve only while this is what --dry-run showed.")
    ] = None,
    as_json: Annotated[bool, Option("--json", help="Print JSON; needs --yes, --dry-run or --drop.")] = False,
) -> Output:
    """Approve what was proposed: drafts go live, and changes of live beads come into force. All of it, or none.

    Shows first what would change: the new beads, each proposed change from what is to what would be, what becomes ready
    and the longest chain. Then it asks. A change that somebody edited since it was proposed waits on. The graph is
    committed on main as .nobrakes/beads.jsonl, also when nothing waits and only other things changed.

    Example: nobrakes commit-strategy --without nb-k3f9q2:title
    """
    from ..operations.forge import approving, choosing, strategy

    choice = choosing.Choice(*(frozenset(names or ()) for names in (only, without, overwrite)))
    with opened() as app:
        if drop:
            return _dropped(choosing.drop(app.store, drop, actor()))
        found = strategy.strategy(app.store)
        if dry_run:
            return Output(plain(found), lambda screen: "\n".join(difference_lines(found, screen)))
        if found.is_empty:
            return _committed(app, choosing.ALL, None)
        if not yes:
            if as_json or not sys.stdin.isatty():
                raise UsageError(
                    f"{_counted(found)[0]} would be approved, and nobody is here to be asked",
                    "Look with `nobrakes commit-strategy --dry-run`, then run `nobrakes commit-strategy --yes`.",
                )
            write("\n".join(difference_lines(found, screen_of(sys.stdout))))
            if not confirm("Approve?"):
                return said(plain(approving.Approved((), None)), "nothing was changed")
            seen = seen or found.revision
        return _committed(app, choice, seen)


def _committed(app: "App", choice: Any, seen: str | None) -> Output:
    from ..operations import daemons
    from ..operations.forge import approving

    done = approving.commit_strategy(app.store, app.git, app.paths, actor(), choice, seen)
    begun = daemons.running(app.paths) is not None
    on_main = f"; the snapshot is on main as {done.commit[:12]}" if done.commit else ""
    told = approval.told(len(done.approved), len(done.changes), done.features)
    out = [
        (" and ".join(told) if told else "nothing was approved" if done.left else "nothing waits to be approved")
        + on_main
    ]
    out += [f"left, since it was edited since it was proposed: {name}" for name in done.left]
    if done.left:
        out.append(f"look: nobrakes commit-strategy --dry-run; take one over: --overwrite {done.left[0]}")
    out += [f"dropped, since its bead is closed or as proposed: {name}" for name in done.dropped]
    if told:
        out.append("take all of it back: nobrakes undo")
    if done.approved and not begun:
        out.append("let the work begin: nobrakes run")
    return said(plain(done), "\n".join(out))


def _dropped(names: Sequence[str]) -> Output:
    return said({"dropped": list(names)}, "\n".join(f"dropped: {name}" for name in names))


def _counted(found: "StrategyView") -> tuple[str, int]:
    """What waits, in words, and how many that is."""
    changes = sum(len(bead.changes) for bead in found.proposed)
    parts = [count(len(found.drafts), "draft")] if found.drafts else []
    parts += [count(changes, "proposed change")] if changes else []
    return " and ".join(parts), len(found.drafts) + changes


def waiting(found: "StrategyView") -> str:
    """`1 draft waits`, `2 drafts and 1 proposed change wait`."""
    words, many = _counted(found)
    return f"{words} {'waits' if many == 1 else 'wait'}"


def difference_lines(found: "StrategyView", screen: Screen) -> list[str]:
    """What commit-strategy would do, in lines for a person."""
    out = [f"{count(len(found.new), 'draft')} would go live" + (":" if found.new else "")]
    out += _drafts(found, screen)
    if found.proposed:
        out.append(f"{count(len(found.proposed), 'bead')} would change:")
        for bead in found.proposed[:SHOWN]:
            out += _bead(bead, screen)
        if len(found.proposed) > SHOWN:
            out.append(f"  … {len(found.proposed) - SHOWN} more: nobrakes commit-strategy --dry-run --json")
    out += _named("edited since the last commit-strategy", found.changed, ", ")
    out += _named("cancelled since then", found.removed, ", ")
    out += [screen.paint(f"never start: {', '.join(circle.stuck)}", "red") for circle in found.deadlocks]
    out += [f"{screen.paint('warning', 'yellow')}: {one_line(text)}" for text in found.warnings]
    out += _named("ready at once", found.becomes_ready, ", ")
    out += _named("longest chain", found.chain_after.beads, " -> ")
    if found.chain_after.minutes != found.chain_before.minutes and found.chain_before.beads:
        out.append(f"  {found.chain_after.minutes} minutes by estimate, {found.chain_before.minutes} before")
    changes = [change for bead in found.proposed for change in bead.changes]
    if changes:
        out.append(f"leave one out: --without {changes[0].name}; refuse one for good: --drop {changes[0].name}")
    return out


def _drafts(found: "StrategyView", screen: Screen) -> list[str]:
    """A line for each of the first drafts."""
    drafts, needs = [draft for draft in found.drafts if draft.id in found.new], found.needs
    wide = max((width(draft.id) for draft in drafts[:SHOWN]), default=0)
    out = []
    for draft in drafts[:SHOWN]:
        after = f"  (after {', '.join(needs[draft.id])})" if needs.get(draft.id) else ""
        line = f"{pad(draft.id, wide)}  P{draft.priority}  {one_line(draft.title)}{after}"
        out.append(f"  {screen.paint('+', 'green')} {cut(line, screen.width - 4)}")
    return out + ([f"  … {len(drafts) - SHOWN} more: nobrakes list --status draft"] if len(drafts) > SHOWN else [])


def _bead(bead: "ChangedBead", screen: Screen) -> Iterator[str]:
    head = f"{bead.bead}  {one_line(bead.title)}  ({bead.status.value})"
    yield f"  {screen.paint('~', 'cyan')} {cut(head, screen.width - 4)}"
    for change in bead.changes:
        for line in _change(change, screen):
            style = {"+": "green", "-": "red", "!": "yellow"}.get(line.lstrip()[:1])
            shown = cut(f"      {line}", screen.width)
            yield screen.paint(shown, style) if style else shown


_NOTES = {"already": "  (so already)", "closed": "  (the bead is closed)"}


def _change(change: "ProposedChange", screen: Screen) -> Iterator[str]:
    """The difference of one part; where somebody edited it since, all three values."""
    before, after = change.before, change.after
    note = _NOTES.get(change.standing, "")
    if change.dependency is not None:
        word, _, needs = change.part.partition(":")
        yield f"{'+' if after else '-'} {word.replace('_', ' ')} {needs}{note}"
    elif change.part == "cancel":
        yield f"- cancel the bead{note}"
    elif change.standing == "edited":
        yield f"! {change.part} was edited since this was proposed"
        yield from (
            f"  was:      {_value(before)}",
            f"  is now:   {_value(change.now)}",
            f"  proposed: {_value(after)}",
        )
    elif isinstance(after, list):
        yield f"{change.part}:{note}"
        old = before if isinstance(before, list) else []
        yield from (f"  - {_value(one)}" for one in old if one not in after)
        yield from (f"  + {_value(one)}" for one in after if one not in old)
        if sorted(map(str, old)) == sorted(map(str, after)):
            yield "  in another order"
    elif max(len(_value(before)), len(_value(after))) > screen.width // 3:
        yield from (f"{change.part}:{note}", f"  - {_value(before)}", f"  + {_value(after)}")
    else:
        yield f"{change.part}: {_value(before)} -> {_value(after)}{note}"


def _value(value: Any) -> str:
    import json

    if value is None or value == "":
        return "nothing"
    return one_line(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _named(word: str, ids: Sequence[str], between: str) -> list[str]:
    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
    return [f"{word}: {between.join(ids[:SHOWN])}{more}"] if ids else []
