"""One bead as a page, what an agent said, a diff, and the help: values into text of so many columns."""

from typing import TYPE_CHECKING, Any

from textual.content import Content

from ..core.beads.bead import blocked_by, blockers_of
from ..core.columns import BY_STATUS
from ..wording import event_text
from ..wording.text import age, lines, one_line
from ..wording.times import spoken
from .look import EVENT_STYLES, MUTED, NEEDS_YOU, SHAPES, Part, line, paragraph

if TYPE_CHECKING:
    from ..app import App
    from ..core.beads.attempt import Attempt
    from ..operations.views.diff import DiffView
    from ..operations.views.history import BeadHistory
    from ..operations.views.transcripts import AttemptLines

EVENTS = 200
"""So many of a bead's latest events are shown."""
LAST = 500
"""So many of an agent's latest lines."""
_SIGNS = {"tool_call": (">", "$accent"), "result": ("<", MUTED), "thinking": ("~", MUTED), "limit": ("!", "$error")}


def read_bead(app: "App", bead: str) -> "BeadHistory":
    """All about the bead; NoSuchBead."""
    from ..operations.views.history import history

    return history(app.store, None, bead)


def bead_text(found: "BeadHistory", columns: int) -> Content:
    """The bead: what it is, what it waits for, who tried, what happened."""
    bead = found.bead
    shape, style = SHAPES.get(BY_STATUS.get(bead.status, "ready"), ("○", ""))
    out = [paragraph(f"{shape} {one_line(bead.title)}", columns, "", "bold")]
    state: list[Part] = [(f"  {bead.status.value.replace('_', ' ')}", style), f"  P{bead.priority}  {bead.type.value}"]
    state += [f"  {bead.assignee}"] if bead.assignee else []
    state += [f"  epic {bead.epic}"] if bead.epic else []
    state += [(f"  {' '.join(map(one_line, bead.labels))}", MUTED)] if bead.labels else []
    out.append(line(columns, *state))
    if bead.held is not None:
        out.append(paragraph(f"held: {one_line(bead.held)}", columns, "  ", "$warning"))
    for one in found.escalations:
        if one.resolved_at is None:
            out.append(line(columns, (f"  {NEEDS_YOU[0]} escalation {one.id}: ", NEEDS_YOU[1]), one_line(one.title)))
    waits, behind = blockers_of(bead.id, found.dependencies), blocked_by(bead.id, found.dependencies)
    if waits:
        out.append(paragraph(f"waits for {', '.join(waits)}", columns, "  ", MUTED))
    if behind:
        out.append(paragraph(f"before {', '.join(behind)}", columns, "  ", MUTED))
    if bead.description.strip():
        out += [Content(""), paragraph(bead.description, columns)]
    if bead.acceptance:
        out += [Content(""), _title("done when", columns)]
        out += [paragraph(f"· {one_line(one)}", columns) for one in bead.acceptance]
    if found.attempts:
        out += [Content(""), _title("attempts", columns), *(_attempt(one, columns) for one in found.attempts)]
    out += [Content(""), _title("what happened, newest first", columns)]
    for event in found.events[: -EVENTS - 1 : -1]:
        style = EVENT_STYLES.get(event_text.STYLES.get(event.kind, ""), "")
        when: Part = (f"  {spoken(event.at)}  {event_text.who(event):<10}  ", MUTED)
        out.append(line(columns, when, (event_text.what(event), style)))
    return Content("\n").join(out)


def _title(words: str, columns: int) -> Content:
    return line(columns, (words, "bold"))


def _attempt(one: "Attempt", columns: int) -> Content:
    ended = one.outcome.value.replace("_", " ") if one.outcome else "works"
    since = spoken(one.started_at) if one.ended_at is None else age(one.ended_at - one.started_at)
    mark = ("✓ ", "$success") if ended == "completed" else ("◐ ", "$primary") if one.outcome is None else ("✗ ", MUTED)
    head = f"{one.number}  {one.role.value.replace('_', ' ')}  {one_line(one.name)}  {ended}  {since}"
    return line(columns, "  ", mark, head, (f"  {one_line(one.detail)}" if one.detail else "", MUTED))


def read_log(app: "App", name_or_bead: str) -> "tuple[AttemptLines, ...]":
    """What the agents on a bead said."""
    from ..operations.views.transcripts import transcripts

    return transcripts(app.store, app.paths, name_or_bead, None, LAST)


def log_text(found: "tuple[AttemptLines, ...]", columns: int) -> Content:
    """The newest attempt first, and in it what was said last at the top."""
    out: list[Content] = []
    for said in reversed(found):
        one = said.attempt
        ended = one.outcome.value.replace("_", " ") if one.outcome else "works"
        who = f"attempt {one.number}: {one.role.value.replace('_', ' ')} {one_line(one.name)}"
        out.append(line(columns, (who, "bold"), f": {ended}"))
        for spoken_line in reversed(said.lines):
            sign, style = _SIGNS.get(spoken_line.kind.value, (" ", ""))
            out.append(line(columns, (f"{sign} {one_line(spoken_line.text)}", style)))
        out += [Content("")] if said.lines else [line(columns, ("  it said nothing", MUTED))]
    return Content("\n").join(out) if out else Content("no agent has worked on it yet")


PATCH = 200_000
"""Bytes of a patch that a page shows."""
_OF_A_PATCH = {"+": "$success", "-": "$error", "@": "$accent"}


def read_diff(app: "App", bead: str) -> "DiffView":
    """What the bead changes."""
    from ..operations.views.diff import diff

    return diff(app.store, app.git, bead, PATCH)


def diff_text(found: "DiffView", columns: int) -> Content:
    """The files with their counts, and the patch."""
    where = f"{found.source.replace('_', ' ')} {found.head[:12]}, against {found.base[:12]}"
    out = [_title(where, columns)]
    for file in found.files:
        counts = "binary" if file.is_binary else f"+{file.added} -{file.removed}"
        out.append(line(columns, (f"  {counts:<14}", MUTED), one_line(file.path), (f"  {file.status}", MUTED)))
    out += [] if found.files else [line(columns, "  nothing differs")]
    for text in lines(found.patch):
        style = "bold" if text.startswith(("diff ", "+++ ", "--- ")) else _OF_A_PATCH.get(text[:1], "")
        out.append(line(columns, (text, style)))
    if found.is_cut:
        out.append(line(columns, ("the rest is left out: nobrakes diff shows it", MUTED)))
    return Content("\n").join(out)


HELP: tuple[tuple[str, str], ...] = (
    ("↑ ↓  j k", "move; at an end on to the next part"),
    ("← →", "the column beside"),
    ("tab", "the next part"),
    ("enter", "open what the cursor is on"),
    ("esc", "back; on the board, away with the filter"),
    ("a", "answer or decide: the one under the cursor, else the costliest"),
    ("d", "what the bead changes"),
    ("l", "what its agents said"),
    ("p", "pause; again: go on"),
    ("/", "show only what has these words"),
    (":", "jump or command: see below"),
    ("r", "read everything again"),
    ("t", "light or dark"),
    ("q", "quit; nothing stops by it"),
)
COMMANDS: tuple[tuple[str, str], ...] = (
    ("nb-k3f9q2", "open this bead"),
    ("4", "open escalation 4"),
    ("diff BEAD", "what it changes"),
    ("log BEAD", "what its agents said"),
    ("hold BEAD WHY", "keep it from being worked on"),
    ("release BEAD", "let it go on"),
    ("stop NAME", "stop one agent; its work is kept"),
    ("pause, resume", "start nothing new; go on"),
    ("filter WORDS", "as /"),
    ("help, quit", ""),
)
_STATES = ("draft", "blocked", "ready", "working", "review", "requested", "escalated", "done", "cancelled")


def help_text(nothing: Any, columns: int) -> Content:
    """The keys, the words of the line of commands, and what each shape means."""
    out = [_title("keys", columns)]
    out += [line(columns, (f"  {key:<16}", "$accent"), words) for key, words in HELP]
    out += [Content(""), _title("after a colon", columns)]
    out += [line(columns, (f"  {key:<16}", "$accent"), words) for key, words in COMMANDS]
    out += [Content(""), _title("shapes", columns)]
    out += [line(columns, (f"  {SHAPES[name][0]} ", SHAPES[name][1]), name) for name in _STATES]
    decided = "Everything that is decided here is decided as by its command: nobrakes --help."
    out += [Content(""), paragraph(decided, columns)]
    return Content("\n").join(out)
