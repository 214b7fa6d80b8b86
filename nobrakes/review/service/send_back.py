"""Work that a person sends back: a note, and comments on lines of its difference, as one text for the next agent.

1. A line belongs to a changed file at the commit that was read, and the text quotes it. Of other work than is there now
   the person is warned first.
2. Where a question stops the bead, the text is its answer. Else it begins the bead's notes: a review ends, what is
   merged is opened again, a bead that waits keeps waiting.
3. It is not a failure. What a person handed in goes back to that person.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...agents.quoting import NOTES
from ...beads.model import Bead, BeadType, Outcome, Role, Status, handed_back
from ...beads.proposals import is_by_person, submitted
from ...beads.service import bead_commands
from ...beads.service.taking import refuse, takes_words
from ...decisions.model import STOPS_BEAD
from ...decisions.service import desk
from ...errors import NotAllowed, UsageError
from ...events.kinds import Event, Kind
from ...files import wake
from ...paths import Paths
from ...records import frozen
from ...text.cleaning import count, cut, one_line
from .merges import DiffView, Found, diff, view_of

if TYPE_CHECKING:
    from ...git.port import Git
    from ...store import Store

MAX_COMMENTS = 50
"""Comments in one text."""
MAX_TEXT = NOTES
"""Characters of the text: what a prompt shows of a bead's notes."""
_LINE_AND_TEXT = ":(-?)([1-9][0-9]{0,6})=(.*)"
_QUOTED = 160
_RETURNABLE = (Status.NEEDS_TESTS, Status.NEEDS_DOER, Status.NEEDS_REVIEW, Status.REVIEWING, Status.DONE)


@frozen
class LineComment:
    """A person's words about one line. `is_before`: the line's number counts in the file before the change."""

    path: str
    line: int
    text: str
    is_before: bool = False


@frozen
class SentBack:
    """The bead, the text that its next agent gets, and the commit that it is about; empty: no lines."""

    bead: Bead
    text: str
    commit: str = ""


def allows(bead: Bead) -> bool:
    if bead.type is BeadType.EPIC:
        return bead.status is Status.ESCALATED
    return bead.status in (*_RETURNABLE, Status.ESCALATED)


def read(given: Sequence[str], paths: Sequence[str] = ()) -> list[LineComment]:
    """`paths`: the files of the difference; the longest that begins a comment is meant. Raises UsageError."""
    if len(given) > MAX_COMMENTS:
        raise UsageError(f"at most {MAX_COMMENTS} comments can be sent together, not {len(given)}", "Send some now.")
    found = []
    for one in given:
        known = sorted((path for path in paths if one.startswith(f"{path}:")), key=len, reverse=True)
        place = re.fullmatch(f"({'|'.join([*map(re.escape, known), '.+?'])}){_LINE_AND_TEXT}", one, re.DOTALL)
        if place is None or not place[4].strip():
            raise UsageError(
                f"'{cut(one_line(one), 60)}' is not a comment on a line",
                "For example: --comment 'src/a.py:12=Use the helper'. For a removed line: src/a.py:-12=…",
            )
        found.append(LineComment(place[1], int(place[3]), place[4].strip(), bool(place[2])))
    return found


def text_of(git: "Git", view: DiffView, comments: Sequence[LineComment], note: str) -> str:
    """The text for the next agent. UsageError: no such file or line in the difference, or too long."""
    told = [f"A person read commit {view.head[:12]} and sends the work back."] if comments else []
    order = {file.path: place for place, file in enumerate(view.files)}
    in_order = sorted(comments, key=lambda one: (order.get(one.path, 0), one.line, not one.is_before))
    for number, one in enumerate(in_order, 1):
        words = "\n   ".join(one.text.splitlines())
        side = ", before the change" if one.is_before else ""
        told.append(f"{number}. {one_line(one.path)}, line {one.line}{side}: {_quote(git, view, one)}\n   {words}")
    text = "\n".join([*told, *([note.strip()] if note.strip() else [])])
    if len(text) > MAX_TEXT:
        raise UsageError(f"the text has {len(text)} characters; the limit is {MAX_TEXT}", "Shorten it.")
    return text


def _quote(git: "Git", view: DiffView, one: LineComment) -> str:
    file = next((each for each in view.files if each.path == one.path), None)
    if file is None:
        some = ", ".join(one_line(each.path) for each in view.files[:5])
        raise UsageError(f"'{cut(one_line(one.path), 80)}' is not a changed file", f"The first changed files: {some}.")
    commit, path = (view.base, file.before or file.path) if one.is_before else (view.head, file.path)
    lines = (git.read(commit, path) or b"").decode("utf-8", "replace").split("\n")
    if not lines[-1]:  # what follows the last line's end is not a line
        lines.pop()
    if one.line > len(lines):
        raise UsageError(f"{one_line(path)} has no line {one.line} at {commit[:7]}", "`nobrakes diff` shows the lines.")
    return f"`{cut(one_line(lines[one.line - 1]).strip(), _QUOTED)}`"


def seen(store: "Store", git: "Git", bead: str, at: str, is_outdated_ok: bool) -> DiffView:
    """The difference at the commit `at`, empty: as it is now. NotAllowed: the work is at another one now."""
    now = diff(store, git, bead, most=0)
    if not at or (len(at) >= 7 and now.head.startswith(at)):
        return now
    if not is_outdated_ok:
        raise NotAllowed(
            f"the work has changed: your comments refer to {at[:7]}, but the work is now at {now.head[:7]}",
            f"See the work: `nobrakes diff {bead}`. To send your comments anyway, about {at[:7]}, add --outdated.",
        )
    made = git.made(at)
    base = git.fork(now.base, made.commit) if made is not None else None
    if made is None or base is None:
        raise UsageError(f"'{one_line(at)[:40]}' is not a commit of the bead", f"See `nobrakes diff {bead}`.")
    return view_of(git, bead, Found(now.source, base, made.commit), 0)


def send_back(store: "Store", bead: str, text: str, actor: str, paths: Paths | None = None) -> Bead:
    """Return the bead to agents with the text, as the rules above say. Raises NotAllowed."""
    with store.write():
        _return(store, store.bead(bead), text, actor)
    if paths is not None:
        wake(paths)
    return store.bead(bead)


def _return(store: "Store", bead: Bead, text: str, actor: str) -> None:
    if not allows(bead):
        if bead.status is not Status.ESCALATED:
            refuse(bead)
        raise NotAllowed(
            f"bead {bead.id} is {bead.status.value.replace('_', ' ')}: its work cannot be sent back now",
            f"If an agent is working on the bead, stop the agent first: `nobrakes stop {bead.id}`.",
        )
    if bead.status is Status.ESCALATED and _answered(store, bead, text, actor):
        return
    store.change(bead.id, {"notes": "\n\n".join(filter(None, (text, bead.notes)))}, actor)
    why = f"sent back: {cut(one_line(text), _QUOTED)}"
    if bead.status is Status.DONE:
        bead_commands.reopen(store, bead.id, actor, why)
    if store.bead(bead.id).status not in (Status.NEEDS_REVIEW, Status.REVIEWING):
        return
    data = {"outcome": Outcome.REMARKS.value, "detail": why, "role": Role.REVIEWER.value}
    store.record(Event(Kind.REVIEW_REJECTED, bead.id, actor=actor, data=data))
    past = store.attempts(bead.id)
    if (done := submitted(past)) is not None and is_by_person(past) and bead.held is None:
        store.record(Event(Kind.HELD, bead.id, actor=actor, data={"reason": handed_back(done.name, text)}))


def _answered(store: "Store", bead: Bead, text: str, actor: str) -> bool:
    """Whether the question took the text; else it was decided without, and the work is the Reviewer's next."""
    asked = [one for one in store.escalations(bead=bead.id) if one.type in STOPS_BEAD]
    if len(asked) != 1 or not takes_words(asked[0]):
        raise NotAllowed(
            f"bead {bead.id} is waiting for {count(len(asked), 'decision')} that comments cannot answer",
            f"Decide first: `nobrakes escalation {asked[0].id}` shows what to type.",
        )
    is_reviewers = asked[0].return_to is Status.NEEDS_REVIEW
    desk.resolve(store, asked[0].id, "retry", "" if is_reviewers else text, actor)
    return not is_reviewers
