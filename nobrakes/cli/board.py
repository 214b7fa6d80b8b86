"""Seeing where things are: list, show, ready."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from ..core.errors import UsageError
from . import beadtext
from .output import Output, plain
from .repository import BeadId, known, looked_at
from .screen import Screen, table
from .text import one_line

if TYPE_CHECKING:
    from ..ports import Store

LINES = 200
Label = Annotated[list[str] | None, Option("--label", "-l", help="Only with this label; may be repeated.")]
Epic = Annotated[str | None, Option("--epic", help="Only what belongs to this epic.")]


def _statuses(words: list[str] | None) -> tuple[Any, ...]:
    from ..core.beads.bead import Status

    try:
        return tuple(Status(word.strip().lower().replace("-", "_")) for word in words or ())
    except ValueError as error:
        allowed = ", ".join(status.value for status in Status)
        raise UsageError(f"{one_line(str(error))}: there is no such status", f"Use one of: {allowed}.") from None


def list_beads(
    status: Annotated[list[str] | None, Option("--status", "-s", help="Only in this status; repeatable.")] = None,
    label: Label = None,
    epic: Epic = None,
    all: Annotated[bool, Option("--all", help="Every line; without it a long list is cut.")] = False,
    as_json: Annotated[bool, Option("--json", help="Print JSON instead of text; never cut.")] = False,
) -> Output:
    """List beads, first by priority, then by id.

    Example: nobrakes list --status needs_doer --status doing
    """
    statuses = _statuses(status)
    with looked_at() as app:
        if epic is not None:
            known(app.store, epic)
        fitting = app.store.by_priority(statuses, epic)
        shown = _first(fitting, len(fitting) if all or as_json or label else LINES)
        beads = _read(app.store, shown, lines_only=all and not (as_json or label))
    if label:
        beads = [bead for bead in beads if set(label) <= set(bead.labels)]

    def text(screen: Screen) -> str:
        rows = [
            (b.id, f"P{b.priority}", str(b.type), beadtext.place(b.status.value, b.held), b.assignee or "", b.title)
            for b in beads
        ]
        out = table(("BEAD", "", "TYPE", "STATUS", "WHO", "TITLE"), rows, screen) or "no bead"
        if len(shown) < len(fitting):
            out += f"\n{len(shown)} of {len(fitting)} beads; --all shows the rest"
        return out

    return Output(beads, text)


def _read(store: "Store", ids: list[str], lines_only: bool) -> list[Any]:
    """These beads in this order; of a whole graph for its lines, what a line tells."""
    if not ids:
        return []
    found = {bead.id: bead for bead in (store.nodes() if lines_only else store.beads(ids=ids))}
    return [found[id_] for id_ in ids]


def _first(fitting: list[tuple[int, str]], limit: int) -> list[str]:
    """The ids of the first beads by priority and id; only those that may be among them are sorted by id."""
    last = sorted(priority for priority, _ in fitting)[:limit][-1:]
    near = [(priority, _natural(id_), id_) for priority, id_ in fitting if [priority] <= last]
    return [id_ for *_, id_ in sorted(near)[:limit]]


def _natural(bead: str) -> tuple[object, ...]:
    """Sorts nb-2 before nb-10."""
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in bead.replace(".", "-").split("-"))


def show(bead: BeadId) -> Output:
    """One bead with everything about it: texts, dependencies, attempts, open escalations."""
    with looked_at() as app:
        found = plain(known(app.store, bead))
        dependencies = app.store.dependencies(bead)
        found["dependencies"] = plain(dependencies)
        found["attempts"] = plain(app.store.attempts(bead))
        found["escalations"] = plain(app.store.escalations(bead=bead))
        ids = {d.needs for d in dependencies} | {d.bead for d in dependencies}
        others = {b.id: plain(b) for b in app.store.beads(ids=ids)} if ids else {}
    return Output(found, lambda screen: beadtext.show_text(found, screen, others.get))


def ready(
    beads: Annotated[list[str] | None, Argument(metavar="BEAD", help="Only these, with --explain.")] = None,
    explain: Annotated[bool, Option("--explain", help="Say for each bead why it is ready or not.")] = False,
    limit: Annotated[int, Option("--limit", "-n", min=1, help="At most so many.")] = 20,
) -> Output:
    """What can be worked on now, in the order in which it will be taken.

    Example: nobrakes ready --explain nb-7
    """
    from ..operations.views import readiness

    if beads and not explain:
        raise UsageError("beads are named, but not what to say about them", "Add --explain.")
    with looked_at() as app:
        for bead in beads or ():
            known(app.store, bead)
        if explain:
            explained = readiness.explain(app.store, tuple(beads or ()))
            return Output(explained, lambda screen: _explained(explained, screen))
        found = readiness.ready(app.store, limit)

    data = plain(found)
    return Output(data, lambda screen: beadtext.ready_text(data, screen))


def _explained(explained: Any, screen: Screen) -> str:
    rows = [(e.bead, "ready" if e.ready else "waits", "; ".join(e.reasons)) for e in explained]
    return table(("BEAD", "", "WHY"), rows, screen) or "no bead"
