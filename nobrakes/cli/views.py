"""The big pictures: status, board, one bead's history, the reviews."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .moments import spoken
from .opened import BeadId, known, opened
from .output import Output, plain
from .screen import Screen, paragraph, table
from .text import age, count, cut, one_line

if TYPE_CHECKING:
    from ..operations.views import BoardView, Review, StatusView, Worker

CARDS = 12
"""So many beads of a column are shown; the others are counted."""
COLUMN_STYLES = {"ready": "green", "working": "cyan", "review": "cyan", "escalated": "red", "done": "dim"}


def status() -> Output:
    """The whole repository on one screen: what is done, who works, what waits for you.

    Example: nobrakes status --json | jq .data.counts
    """
    from ..operations import views

    with opened() as app:
        found = views.status(app.store, app.places, app.config)
        now = app.store.now()
    return Output(plain(found), lambda screen: _status(found, now, screen))


def _state(found: "StatusView", screen: Screen) -> str:
    if found.stopping:
        return screen.paint("stopping: agents are being stopped", "yellow")
    if found.paused:
        return screen.paint("paused: nothing new is started", "yellow")
    if found.daemon is not None:
        return screen.paint(f"at work (process {found.daemon})", "green")
    return "at rest: nobrakes run, or nobrakes daemon start"


def _status(found: "StatusView", now: float, screen: Screen) -> str:
    total = sum(number for name, number in found.counts.items() if name != "held")
    out = [f"{screen.paint(one_line(found.main), 'bold')}  {_state(found, screen)}"]
    counted = [screen.paint(f"{n} {name}", COLUMN_STYLES.get(name, "")) for name, n in found.counts.items() if n]
    out.append(f"{count(total, 'bead')}: {', '.join(counted)}" if total else "no bead yet: nobrakes plan example")
    if not found.checks:
        out.append(screen.paint("no check is configured: nothing can be merged", "red"))
    if found.working:
        out += ["", _workers(found.working, screen)]
    if found.escalations:
        out += ["", screen.paint(f"{count(len(found.escalations), 'escalation')} for you:", "red")]
        out += [
            cut(f"  {e.id}  {e.type.value}  {e.bead or ''}  {one_line(e.title)}", screen.width)
            for e in found.escalations[:CARDS]
        ]
    if found.next_at is not None and found.next_at > now:
        out += ["", f"next: something is tried again or comes due at {spoken(found.next_at)}"]
    return "\n".join(out)


def _workers(working: "tuple[Worker, ...]", screen: Screen) -> str:
    rows = [(w.name, w.role.value, w.bead, age(w.seconds), w.title) for w in working]
    return table(("WHO", "ROLE", "BEAD", "SINCE", "TITLE"), rows, screen)


def board() -> Output:
    """The beads in columns, by where they are. Epics are left out."""
    from ..operations import views

    with opened() as app:
        found = views.board(app.store)
    return Output(plain(found), lambda screen: _board(found, screen))


def _board(found: "BoardView", screen: Screen) -> str:
    who = {worker.bead: worker.name for worker in found.working}
    out = []
    for name, cards in found.columns.items():
        if not cards:
            continue
        out += [screen.paint(f"{name} ({len(cards)})", COLUMN_STYLES.get(name, "bold"))]
        for card in cards[:CARDS]:
            why = (
                f"{who[card.id]} works on it"
                if card.id in who
                else "; ".join(card.reasons)
                if name == "blocked"
                else ""
            )
            title = cut(one_line(card.title), max(20, screen.width // 2))
            out.append(cut(f"  {card.id}  P{card.priority}  {title}  {one_line(why)}".rstrip(), screen.width))
        out += [f"  and {len(cards) - CARDS} more"] if len(cards) > CARDS else []
        out.append("")
    return "\n".join(out).rstrip() or "no bead yet: nobrakes plan example"


def reviews(limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="At most so many.")] = 20) -> Output:
    """What the Reviewer merged and rejected, newest first, with what the checks said."""
    from ..operations import views

    with opened() as app:
        found = views.reviews(app.store, limit)
    return Output(plain(found), lambda screen: "\n".join(_review(r, screen) for r in found) or "no review yet")


def _review(review: "Review", screen: Screen) -> str:
    end = review.outcome.value if review.outcome else f"at work: {review.step}"
    word = f"merged as {review.commit[:12]}" if review.commit else end
    style = "green" if review.commit else "" if review.outcome is None else "yellow"
    title = cut(one_line(review.title), 60)
    out = [f"{spoken(review.started_at)}  {review.bead}  {screen.paint(one_line(word), style)}  {title}"]
    if review.detail and not review.commit:
        out.append(paragraph(review.detail, "    "))
    out += [f"    {_check(result)}" for result in review.results]
    return "\n".join(out)


def _check(result: Any) -> str:
    counts = result.get("counts") or {}
    tests = f", {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped" if counts else ""
    return one_line(f"{result.get('name', '?')}: {result.get('outcome', '?')} ({result.get('reason', '')}{tests})")


def history(bead: BeadId) -> Output:
    """Every attempt on a bead: who, how it ended, what was learnt."""
    from ..operations import views

    with opened() as app:
        known(app.store, bead)
        found = views.history(app.store, bead)
    return Output(plain(found), lambda screen: str(found))
