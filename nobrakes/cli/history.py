"""What happened: one bead from its beginning to its end, and the Reviewer's latest work."""

from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from ..core.beads.bead import Status
from ..core.beads.events import WATCHED
from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording import event_text, stages
from ..wording.text import cut, one_line
from ..wording.times import spoken
from .beadtext import attempt_text
from .output import Output
from .repository import BeadId, known, looked_at
from .screen import Screen
from .sheet import Sheet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..operations.views.history import BeadHistory, Review


def reviews(limit: Annotated[int, Option("--limit", "-n", min=1, help="At most so many.")] = 20) -> Output:
    """What the Reviewer merged and rejected, newest first, with what the checks said."""
    from ..operations.views import history as operations_views_history

    with looked_at() as app:
        found = operations_views_history.reviews(app.store, limit)
    return Output(plain(found), lambda screen: "\n".join(_review(r, screen) for r in found) or "no review yet")


def _review(review: "Review", screen: Screen) -> str:
    at_work = f"at work: {stages.stage(review.step, review.onto)}"
    end = stages.ending(review.outcome.value, review.onto) if review.outcome else at_work
    where = f"landed on {stages.main_of(review.onto)}" if review.onto else "merged"
    word = f"{where} as {review.commit[:12]}" if review.commit else end
    style = "green" if review.commit else "" if review.outcome is None else "yellow"
    reason = one_line(review.detail.split("\n", 1)[0]) if review.detail and not review.commit else ""
    plain_head = f"{spoken(review.started_at)}  {review.bead}  "
    said = cut(": ".join(part for part in (one_line(word), reason) if part), max(20, screen.width - len(plain_head)))
    line = event_text.with_title(plain_head + said, review.title, screen.width)
    out = [line.replace(said, screen.paint(said, style), 1)]
    if reason and (not line.startswith(plain_head + word + ": " + reason) or "\n" in review.detail.strip()):
        out += Sheet(screen, is_whole=True).lines(review.detail, "    ")
    if review.gates:
        out.append(cut(f"    changes protected files: {one_line(', '.join(review.gates))}", screen.width))
    out += [cut(f"    {_check(result)}", screen.width) for result in review.results]
    return "\n".join(out)


def _check(result: Any) -> str:
    counts = result.get("counts") or {}
    tests = f"; {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped" if counts else ""
    return one_line(f"{result.get('name', '?')}: {result.get('outcome', '?')} ({result.get('reason', '')}{tests})")


def history(
    bead: BeadId,
    transcript: Annotated[bool, Option("--transcript", help="What its agents said and did instead.")] = False,
    attempt: Annotated[int | None, Option("--attempt", min=1, help="With --transcript: only this attempt.")] = None,
    last: Annotated[int, Option("--last", min=1, help="With --transcript: at most so many lines an attempt.")] = 100,
) -> Output:
    """One bead from beginning to end: events, attempts with what was learnt, reviews, where its work is.

    With --transcript: what the agents on it said and did, attempt by attempt.

    Example: nobrakes history nb-7
    """
    from ..operations.views import history as operations_views_history

    if transcript:
        from .watching import log

        return log(bead, attempt, last)
    if attempt is not None:
        raise UsageError("--attempt chooses a transcript, and none is asked for", "Give --transcript too.")
    with looked_at() as app:
        known(app.store, bead)
        found = operations_views_history.history(app.store, app.git, bead)
    return Output(plain(found), lambda screen: _history(found, screen))


def _events(found: "BeadHistory", screen: Screen) -> "Iterator[str]":
    """The events under the date of their day, each with who did it."""
    names = {attempt.id: attempt.name for attempt in found.attempts}
    days = event_text.Days(0.0)
    for event in (one for one in found.events if one.kind not in WATCHED):
        heading = days.heading(event.at)
        if heading:
            yield heading
        yield event_text.as_line(event, "", names.get(event.attempt or 0, ""), screen.width)


def _history(found: "BeadHistory", screen: Screen) -> str:
    sheet = Sheet(screen, is_whole=True)
    first, *more = sheet.wrapped(f"{found.bead.id}  {one_line(found.bead.title)}  ({found.bead.status.value})", "", 2)
    out = [first.replace(found.bead.id, screen.paint(found.bead.id, "bold"), 1), *more]
    out += ["", *_events(found, screen)]
    for attempt in found.attempts:
        out += ["", screen.paint(f"attempt {attempt_text(plain(attempt), screen.width - 8)}", "bold")]
        for name in ("summary", "blockers", "learnings"):
            said = getattr(attempt.log, name)
            out += [f"  {name}:", *sheet.lines(said, "    ")] if said.strip() else []
    if found.reviews:
        out += ["", "reviews:", *(_review(review, screen) for review in found.reviews)]
    for e in found.escalations:
        decided = "open" if e.resolved_at is None else one_line(e.answer or e.resolution)
        asked = f"escalation {e.id}: {stages.plain(e.type.value)}: {one_line(e.title)}: {decided}"
        out += ["", *sheet.wrapped(asked, "", 2)]
    if found.commit:
        out += ["", f"on main as {found.commit}"]
    elif found.bead.status is Status.LANDED and (landed := [one for one in found.reviews if one.onto and one.commit]):
        out += [
            "",
            f"on {stages.main_of(landed[-1].onto)} as {landed[-1].commit}",
        ]
    if found.archived:
        out += ["", "kept:", *(f"  {commit[:12]}  {one_line(ref)}" for ref, commit in found.archived)]
    return "\n".join(out)
