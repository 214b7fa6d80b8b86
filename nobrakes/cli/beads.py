"""Commands on single beads: add, edit, dependencies, and what a person decides about one."""

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

from ..beads import work_status
from ..beads.model import Status
from ..beads.service.bead_commands import known
from ..beads.work_status import main_of
from ..command_table import Field
from ..errors import UsageError
from ..events.kinds import WATCHED
from ..records import plain
from ..text.cleaning import cost_text, count, cut, lines, one_line, spoken
from . import hot
from .hot import attempt_text
from .outcome import BeadId, Output, TextLayout, actor, looked_at, opened, said
from .screen import Screen, table

if TYPE_CHECKING:
    from ..beads.service.bead_page import BeadHistory, Review
    from ..beads.service.taking import Taken
    from ..review.service.merges import DiffView, FileDiff


def take(
    bead: BeadId, to: Annotated[str, Field("The folder of the new worktree.", ("--to",), metavar="FOLDER")] = ""
) -> Output:
    """Work on a bead yourself, in a worktree next to the repository. nobrakes stops an agent on the bead, archives its
    work, and holds the bead for you. If the branch conflicts with main, a rebase is stopped at the conflict. `hand-in`
    gives your commits to the Reviewer; `retry` gives the bead back to agents."""
    from ..beads.service import taking

    with opened() as app:
        known(app.store, bead)
        found = taking.take(taking.repository(app.store, app.git, app.paths, app.config), bead, actor(), to)
    return said(found, "\n".join(_taken(found)))


def _taken(found: "Taken") -> list[str]:
    place, bead = shlex.quote(found.folder), found.bead.id
    lines = [f"{found.stopped} was stopped"] if found.stopped else []
    lines += [f"archived: {one_line(', '.join(found.archived))}"] if found.archived else []
    how = "its branch" if found.made else "you already have a worktree; its branch"
    lines.append(f"{bead} is yours: {how} {one_line(found.branch)} is in {one_line(found.folder)}")
    if found.conflicts:
        files = one_line(", ".join(found.conflicts[:10]))
        lines.append(f"The branch conflicts with {main_of(found.onto)} in {cut(files, 300)}.")
    lines.append(f"  cd {place}")
    if found.rebasing:
        lines.append("  git add FILES && git rebase --continue   # once the conflicts are resolved")
    elif found.conflicts:
        lines.append(
            f"  git rebase {shlex.quote(found.base)}   # your branch already existed, so nobrakes did not rebase it"
        )
    return [*lines, f"  nobrakes hand-in {bead}"]


def hand_in(
    bead: BeadId,
    source: Annotated[
        str, Field("Your branch or folder (default: where you took the bead).", ("--from",), metavar="BRANCH|FOLDER")
    ] = "",
) -> Output:
    """Hand your commits on a bead to the Reviewer, which tests them like an agent's. This resolves the escalations that
    stop the bead. If your work does not pass, the bead comes back to you, held, with the reason."""
    from ..beads.service import taking

    with opened() as app:
        known(app.store, bead)
        found = taking.hand_in(taking.repository(app.store, app.git, app.paths, app.config), bead, actor(), source)
    where = one_line(found.branch or found.folder)
    return said(found, f"{bead}: commit {found.head[:12]} of {where} is handed in; the Reviewer checks it next")


LINES = 200
Label = Annotated[list[str] | None, Field("Only beads with this label; repeatable.", ("--label", "-l"))]
BoardEpic = Annotated[str | None, Field("Only beads of this epic.", ("--epic",))]


def _statuses(words: list[str] | None) -> tuple[Any, ...]:
    try:
        return tuple(Status(word.strip().lower().replace("-", "_")) for word in words or ())
    except ValueError as error:
        allowed = ", ".join(status.value for status in Status)
        raise UsageError(f"unknown status: {one_line(str(error))}", f"Use one of: {allowed}.") from None


def list_beads(
    status: Annotated[list[str] | None, Field("Only beads in this status; repeatable.", ("--status", "-s"))] = None,
    label: Label = None,
    epic: BoardEpic = None,
    all: Annotated[bool, Field("Print all lines of a long list.", ("--all",))] = False,
    as_json: Annotated[bool, Field("Print JSON instead of text, always in full.", ("--json",))] = False,
) -> Output:
    """List beads by priority, then the oldest first."""
    from ..beads.service.bead_page import listing, with_requests

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
                hot.place(b.status.value, b.held, found.requested.get(b.id)),
                b.assignee or "",
                b.title,
            )
            for b in beads
        ]
        out = table(("BEAD", "", "TYPE", "STATUS", "WHO", "TITLE"), rows, screen) or "no bead"
        if found.read < found.fitting:
            out += f"\n{found.read} of {count(found.fitting, 'bead')}; --all shows the rest"
        return out

    return Output(with_requests(found) if as_json else beads, text)


def show(bead: BeadId) -> Output:
    """Show everything about one bead: its texts, dependencies, attempts and open escalations."""
    from ..beads.service.bead_page import bead_detail, neighbours

    with looked_at() as app:
        known(app.store, bead)
        whole = bead_detail(app.store, bead)
        others = {id_: plain(one) for id_, one in neighbours(app.store, whole).items()}
    found = plain(whole)
    return Output(found, lambda screen: hot.show_text(found, screen, others.get))


def ready(
    beads: Annotated[list[str] | None, Field("With --explain: only these beads.", metavar="BEAD")] = None,
    explain: Annotated[bool, Field("Print for each bead why it can start now, or why not.", ("--explain",))] = False,
    limit: Annotated[int, Field("The maximum number.", ("--limit", "-n"), least=1)] = 20,
) -> Output:
    """List beads that agents can start now, in the order in which they will start."""
    from ..beads.service import bead_page

    if beads and not explain:
        raise UsageError("bead names have no effect without --explain", "Add --explain.")
    with looked_at() as app:
        for bead in beads or ():
            known(app.store, bead)
        if explain:
            explained = bead_page.explain(app.store, tuple(beads or ()))
            return Output(explained, lambda screen: _explained(explained, screen))
        found, more = bead_page.ready(app.store, limit), bead_page.ready_beyond(app.store, limit)

    data = plain(found)
    return Output(data, lambda screen: hot.ready_text(data, more, screen), beside={"more": more})


def _explained(explained: Any, screen: Screen) -> str:
    rows = [(e.bead, "ready" if e.ready else "waits", "; ".join(e.reasons)) for e in explained]
    return table(("BEAD", "", "WHY"), rows, screen) or "no bead"


def reviews(limit: int) -> Output:
    from ..beads.service import bead_page

    with looked_at() as app:
        found = bead_page.reviews(app.store, limit)
    return Output(found, lambda screen: "\n".join(_review(r, screen) for r in found) or "no review yet")


def _review(review: "Review", screen: Screen) -> str:
    from ..events.words import with_title

    at_work = f"under review: {work_status.stage(review.step, review.onto)}"
    end = work_status.ending(review.outcome.value, review.onto) if review.outcome else at_work
    where = f"merged into {work_status.main_of(review.onto)}" if review.onto else "merged"
    word = f"{where} as {review.commit[:12]}" if review.commit else end
    style = "green" if review.commit else "" if review.outcome is None else "yellow"
    reason = one_line(review.detail.split("\n", 1)[0]) if review.detail and not review.commit else ""
    plain_head = f"{spoken(review.started_at)}  {review.bead}  "
    said = cut(": ".join(part for part in (one_line(word), reason) if part), max(20, screen.width - len(plain_head)))
    line = with_title(plain_head + said, review.title, screen.width)
    out = [line.replace(said, screen.paint(said, style), 1)]
    if reason and (not line.startswith(plain_head + word + ": " + reason) or "\n" in review.detail.strip()):
        out += TextLayout(screen, is_whole=True).lines(review.detail, "    ")
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
    transcript: Annotated[bool, Field("Print what the bead's agents said and did.", ("--transcript",))] = False,
    attempt: Annotated[int | None, Field("With --transcript: only this attempt.", ("--attempt",), least=1)] = None,
    last: Annotated[int, Field("With --transcript: lines for each attempt.", ("--last",), least=1)] = 100,
) -> Output:
    """Show one bead from beginning to end: events, attempts with their lessons, reviews, and where its work is. With
    --transcript: everything its agents said and did, attempt by attempt."""
    from ..beads.service import bead_page

    if transcript:
        from .sessions import log

        return log(bead, attempt, last)
    if attempt is not None:
        raise UsageError("--attempt has no effect without --transcript", "Add --transcript.")
    with looked_at() as app:
        known(app.store, bead)
        found = bead_page.history(app.store, app.git, bead)
    return Output(found, lambda screen: _history(found, screen))


def _events(found: "BeadHistory", screen: Screen) -> "Iterator[str]":
    from ..events import words

    names = {attempt.id: attempt.name for attempt in found.attempts}
    days = words.Days(0.0)
    for event in (one for one in found.events if one.kind not in WATCHED):
        if heading := days.heading(event.at):
            yield heading
        yield words.as_line(event, "", names.get(event.attempt or 0, ""), screen.width)


def _history(found: "BeadHistory", screen: Screen) -> str:
    layout = TextLayout(screen, is_whole=True)
    first, *more = layout.wrapped(f"{found.bead.id}  {one_line(found.bead.title)}  ({found.bead.status.value})", "", 2)
    out = [first.replace(found.bead.id, screen.paint(found.bead.id, "bold"), 1), *more]
    out += layout.wrapped(f"cost: {paid}", "  ", 2) if (paid := cost_text(plain(found.cost))) else []
    out += ["", *_events(found, screen)]
    for attempt in found.attempts:
        out += ["", screen.paint(f"attempt {attempt_text(plain(attempt), screen.width - 8)}", "bold")]
        for name in ("summary", "blockers", "learnings"):
            said = getattr(attempt.log, name)
            out += [f"  {name}:", *layout.lines(said, "    ")] if said.strip() else []
    if found.reviews:
        out += ["", "reviews:", *(_review(review, screen) for review in found.reviews)]
    for e in found.escalations:
        decided = "open" if e.resolved_at is None else one_line(e.answer or e.resolution)
        asked = f"escalation {e.id}: {work_status.plain(e.type.value)}: {one_line(e.title)}: {decided}"
        out += ["", *layout.wrapped(asked, "", 2)]
    if found.commit:
        out += ["", f"on main as {found.commit}"]
    elif found.bead.status is Status.LANDED and (landed := [one for one in found.reviews if one.onto and one.commit]):
        out += ["", f"on {work_status.main_of(landed[-1].onto)} as {landed[-1].commit}"]
    if found.archived:
        out += ["", "kept:", *(f"  {commit[:12]}  {one_line(ref)}" for ref, commit in found.archived)]
    return "\n".join(out)


FOUND = {
    "merge": "merged as {head}",
    "branch": "the bead's branch at {head}",
    "handed_in": "handed in as {head}",
    "archive": "archived at {head}",
}
SIGNS = {"added": "A", "removed": "D", "changed": "M", "renamed": "R"}
STYLES = {"+": "green", "-": "red", "@": "cyan"}


def diff(
    bead: BeadId,
    stat: Annotated[bool, Field("Show only the files, with counts of added and removed lines.", ("--stat",))] = False,
) -> Output:
    """Show what a bead changes. Before its merge: the commits on its branch compared with main where the branch
    started, also while an agent works on it. If nobody works on it: its saved or archived branch. After its merge: what
    all commits of the merge changed on main. Uncommitted changes are not shown."""
    from ..review.service import merges as operation

    with looked_at() as app:
        known(app.store, bead)
        found = operation.diff(app.store, app.git, bead, 0 if stat else operation.MAX_PATCH_BYTES)
    return Output(found, lambda screen: _shown(found, screen, stat))


def _shown(found: "DiffView", screen: Screen, stat: bool) -> str:
    where = FOUND[found.source].format(head=found.head[:12])
    out = [screen.paint(f"{found.bead}: {where}, against {found.base[:12]}", "bold")]
    if found.ref:
        out.append(f"  {one_line(found.ref)}")
    if not found.files:
        return "\n".join([*out, "nothing is committed yet" if found.source == "branch" else "nothing differs"])
    out.append(table(("", "+", "-", "file"), [_row(file) for file in found.files], screen))
    out.append(
        f"{count(len(found.files), 'file')}, {screen.paint(f'+{found.added}', 'green')} "
        f"{screen.paint(f'-{found.removed}', 'red')}"
    )
    if not stat:
        out += ["", *(_painted(line, screen) for line in lines(found.patch.rstrip("\n")))]
    if found.is_cut:
        out += ["", f"The rest is left out: git diff {found.base[:12]} {found.head[:12]}"]
    return "\n".join(out)


def _row(file: "FileDiff") -> tuple[str, str, str, str]:
    name = file.path if not file.before else f"{file.before} => {file.path}"
    counts = ("bin", "") if file.is_binary else (str(file.added), str(file.removed))
    return (SIGNS[file.status], *counts, name)


def _painted(line: str, screen: Screen) -> str:
    if line.startswith(("diff ", "+++ ", "--- ")):
        return screen.paint(line, "bold")
    return screen.paint(line, STYLES.get(line[:1], ""))
