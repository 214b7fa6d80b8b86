"""Seeing where things are: list, show, ready."""

from typing import Annotated, Any

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import one_line
from . import beadtext
from .output import Output
from .repository import BeadId, known, looked_at
from .screen import Screen, table

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
    from ..operations.views.listing import listing, with_requests

    statuses = _statuses(status)
    with looked_at() as app:
        if epic is not None:
            known(app.store, epic)
        limit = None if all or as_json or label else LINES
        found = listing(app.store, statuses, epic, label or (), limit, lines_only=all and not (as_json or label))
    beads = found.beads

    def text(screen: Screen) -> str:
        rows = [
            (
                b.id,
                f"P{b.priority}",
                str(b.type),
                beadtext.place(b.status.value, b.held, found.requested.get(b.id)),
                b.assignee or "",
                b.title,
            )
            for b in beads
        ]
        out = table(("BEAD", "", "TYPE", "STATUS", "WHO", "TITLE"), rows, screen) or "no bead"
        if found.read < found.fitting:
            out += f"\n{found.read} of {found.fitting} beads; --all shows the rest"
        return out

    return Output(with_requests(found) if as_json else beads, text)


def show(bead: BeadId) -> Output:
    """One bead with everything about it: texts, dependencies, attempts, open escalations."""
    from ..operations.views.one_bead import neighbours, whole_bead

    with looked_at() as app:
        known(app.store, bead)
        whole = whole_bead(app.store, bead)
        others = {id_: plain(one) for id_, one in neighbours(app.store, whole).items()}
    found = plain(whole)
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
        found, more = readiness.ready(app.store, limit), readiness.ready_beyond(app.store, limit)

    data = plain(found)
    return Output(data, lambda screen: beadtext.ready_text(data, more, screen), more=more)


def _explained(explained: Any, screen: Screen) -> str:
    rows = [(e.bead, "ready" if e.ready else "waits", "; ".join(e.reasons)) for e in explained]
    return table(("BEAD", "", "WHY"), rows, screen) or "no bead"
