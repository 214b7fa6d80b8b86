"""What happened: one bead from its beginning to its end, and the Reviewer's latest work."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ..wording import event_text
from ..wording.text import cut, one_line
from ..wording.times import spoken
from .beadtext import attempt_text
from .output import Output, plain
from .repository import BeadId, known, looked_at
from .screen import Screen, paragraph

if TYPE_CHECKING:
    from ..operations.views.history import BeadHistory, Review


def reviews(limit: Annotated[int, Option("--limit", "-n", min=1, help="At most so many.")] = 20) -> Output:
    """What the Reviewer merged and rejected, newest first, with what the checks said."""
    from ..operations.views import history

    with looked_at() as app:
        found = history.reviews(app.store, limit)
    return Output(plain(found), lambda screen: "\n".join(_review(r, screen) for r in found) or "no review yet")


def _review(review: "Review", screen: Screen) -> str:
    end = review.outcome.value if review.outcome else f"at work: {review.step}"
    word = f"merged as {review.commit[:12]}" if review.commit else end
    style = "green" if review.commit else "" if review.outcome is None else "yellow"
    title = cut(one_line(review.title), 60)
    out = [f"{spoken(review.started_at)}  {review.bead}  {screen.paint(one_line(word), style)}  {title}"]
    if review.detail and not review.commit:
        out.append(paragraph(review.detail, "    "))
    if review.gates:
        out.append(cut(f"    changes what decides: {one_line(', '.join(review.gates))}", screen.width))
    out += [f"    {_check(result)}" for result in review.results]
    return "\n".join(out)


def _check(result: Any) -> str:
    counts = result.get("counts") or {}
    tests = f"; {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped" if counts else ""
    return one_line(f"{result.get('name', '?')}: {result.get('outcome', '?')} ({result.get('reason', '')}{tests})")


def history(bead: BeadId) -> Output:
    """One bead from beginning to end: events, attempts with what was learnt, reviews, where its work is.

    Example: nobrakes history nb-7
    """
    from ..operations.views import history

    with looked_at() as app:
        known(app.store, bead)
        found = history.history(app.store, app.git, bead)
    return Output(plain(found), lambda screen: _history(found, screen))


def _history(found: "BeadHistory", screen: Screen) -> str:
    out = [f"{screen.paint(found.bead.id, 'bold')}  {one_line(found.bead.title)}  ({found.bead.status.value})"]
    out += ["", *(event_text.as_line(event, width=screen.width) for event in found.events)]
    for attempt in found.attempts:
        out += ["", screen.paint(f"attempt {attempt_text(plain(attempt))}", "bold")]
        for name in ("summary", "blockers", "learnings"):
            said = getattr(attempt.log, name)
            out += [f"  {name}:", paragraph(said, "    ")] if said.strip() else []
    if found.reviews:
        out += ["", "reviews:", *(_review(review, screen) for review in found.reviews)]
    for e in found.escalations:
        decided = "open" if e.resolved_at is None else one_line(e.answer or e.resolution)
        out += ["", f"escalation {e.id}: {e.type.value}: {one_line(e.title)}: {decided}"]
    if found.commit:
        out += ["", f"on main as {found.commit}"]
    if found.archived:
        out += ["", "kept:", *(f"  {commit[:12]}  {one_line(ref)}" for ref, commit in found.archived)]
    return "\n".join(out)
