"""`graph`: what waits for what, as text or a picture; what happens now and next; what a change would do."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from ..core.errors import NobrakesError, UsageError
from ..wording.text import cut, one_line
from .output import Output, said
from .repository import known, looked_at
from .screen import Screen

if TYPE_CHECKING:
    from ..operations.views.graph.view import GraphNode, GraphView
    from ..operations.views.graph.what_if import WhatIf

FORMATS = ("text", "mermaid", "dot", "svg")
SIGNS = {
    "draft": "~", "ready": ">", "blocked": ".", "working": "*", "review": "?", "escalated": "!", "done": "+",
    "cancelled": "x",
}  # fmt: skip
STYLES = {"ready": "green", "working": "cyan", "review": "cyan", "escalated": "red", "done": "dim", "cancelled": "dim"}


def graph(
    format: Annotated[str, Option("--format", "-f", help="text, mermaid, dot or svg.")] = "",
    output: Annotated[Path | None, Option("--output", "-o", help="Write it to this file.")] = None,
    epic: Annotated[str | None, Option("--epic", help="Only what belongs to this epic.")] = None,
    focus: Annotated[bool, Option("--focus", help="What runs or waits for you, and what comes next.")] = False,
    epics: Annotated[bool, Option("--epics", help="One line for each epic, with how far it is.")] = False,
    whole: Annotated[bool, Option("--all", help="Every bead, in a lane for each epic.")] = False,
    search: Annotated[str, Option("--search", help="With --all: only these words in id or title.")] = "",
    live: Annotated[bool, Option("--open", help="With --all: closed beads left out.")] = False,
    what_if: Annotated[str, Option("--what-if", help="What changes when this bead is done, or answered.")] = "",
    delay: Annotated[float | None, Option("--delay", help="With --what-if: it begins so many hours later.")] = None,
    answered: Annotated[bool, Option("--answered", help="With --what-if: its question is answered.")] = False,
    done: Annotated[bool, Option("--done", help="With --what-if: it is done.")] = False,
) -> Output:
    """Draw what waits for what. A drawing (svg) shows at most 500 beads, from those at work and ready on.

    Without a format it is text, and of more than 5,000 beads the same part; --format text writes all of them.

    --focus, --epics and --all are the ways to look of the web page, as text; --what-if asks what a change would do.

    Example: nobrakes graph --format svg -o graph.svg
    """
    looks = [name for name, is_asked in (("focus", focus), ("epics", epics), ("all", whole)) if is_asked]
    if len(looks) + bool(what_if) + bool(format) > 1:
        raise UsageError("only one of --format, --focus, --epics, --all and --what-if can be shown at a time")
    if what_if:
        return _what_if(what_if, delay, answered, done)
    if delay is not None or answered or done:
        raise UsageError(
            "--delay, --answered and --done belong to --what-if", "nobrakes graph --what-if nb-3 --delay 4"
        )
    if looks:
        if output is not None:
            raise UsageError("--output belongs to --format", "nobrakes graph --format svg -o graph.svg")
        return _looked(looks[0], epic, search, live)
    if search or live:
        raise UsageError("--search and --open belong to --all", "nobrakes graph --all --search cart")
    return _drawn(format, output, epic)


def _drawn(format: str, output: Path | None, epic: str | None) -> Output:
    from ..operations.views import drawing

    if format and format not in FORMATS:
        raise UsageError(f"'{one_line(format)[:40]}' is not a format", f"Use one of: {', '.join(FORMATS)}.")
    with looked_at() as app:
        if epic is not None:
            known(app.store, epic)
        drawn = drawing.graph(app.store, format=format, epic=epic)
    data = {"format": format or "text", "beads": drawn.beads, "shown": drawn.shown}
    if output is None:
        if drawn.note:
            sys.stderr.write(f"note: {drawn.note}\n")
        return said({**data, "graph": drawn.text}, drawn.text)
    try:
        output.write_text(drawn.text + ("" if drawn.text.endswith("\n") else "\n"), encoding="utf-8")
    except OSError as error:
        raise NobrakesError(f"{output} cannot be written: {error.strerror}", "Name a file that can be.") from None
    note = f"\n{drawn.note}" if drawn.note else ""
    return said({**data, "path": str(output)}, f"written to {output}{note}")


def _looked(mode: str, epic: str | None, search: str, live: bool) -> Output:
    from ..operations.views.graph.looks import graph_view

    if mode != "all" and (epic or search or live):
        raise UsageError("--epic, --search and --open narrow --all down", "nobrakes graph --all --epic nb-1")
    with looked_at() as app:
        if epic is not None:
            known(app.store, epic)
        found = graph_view(app.store, mode, epic=epic or "", match=search, is_live_only=live)
    return Output(found, lambda screen: _view(found, screen))


def _view(found: "GraphView", screen: Screen) -> str:
    from ..operations.views.graph.looks import MOST
    from ..wording import graph as words

    out = [screen.paint(words.circle(one.members, one.cut, one.stuck), "red") for one in found.cycles]
    if found.too_many:
        out.append(words.too_many(found.too_many, MOST))
    if out:
        out.append("")
    needs: dict[str, list[str]] = {}
    for edge in found.edges:
        needs.setdefault(edge.target, []).append(edge.source or "no epic")
    for title, nodes in _groups(found):
        if title:
            out.append(screen.paint(title, "bold"))
        out += [_line(node, needs.get(node.id, ()), "  " if title else "", screen) for node in nodes]
    if not found.nodes:
        out.append("no bead fits" if found.beads else "no bead yet: nobrakes shape, or nobrakes plan example")
    used = dict.fromkeys(node.column for node in found.nodes)
    legend = "  ".join(f"{sign} {name}" for name, sign in SIGNS.items() if name in used)
    return "\n".join(
        [*out, "", legend + ("  # critical path" if any(n.is_critical for n in found.nodes) else "")]
    ).strip("\n")


def _groups(found: "GraphView") -> list[tuple[str, list["GraphNode"]]]:
    """The boxes as they are read: from left to right in each lane, epics from top to bottom."""
    if found.mode != "all":
        return [("", sorted(found.nodes, key=lambda node: (node.y, node.x)))]
    rows: dict[str, list[GraphNode]] = {lane.id: [] for lane in found.lanes}
    for node in found.nodes:
        rows[node.lane].append(node)
    titles = {lane.id: f"{lane.id} {one_line(lane.title)}".strip() or "without an epic" for lane in found.lanes}
    return [(titles[id_], sorted(row, key=lambda node: (node.x, node.y))) for id_, row in rows.items()]


def _line(node: "GraphNode", needs: Sequence[str], indent: str, screen: Screen) -> str:
    sign = screen.paint(SIGNS[node.column], STYLES.get(node.column, ""))
    mark = screen.paint("#", "yellow") if node.is_critical else " "
    waits = f"  <- {', '.join(needs[:8])}{' …' if len(needs) > 8 else ''}" if needs else ""
    named = cut(one_line(node.title), 60) or "without an epic"
    return f"{indent}{sign}{mark}{node.id}  {named}{_progress(node.counts)}{waits}".rstrip()


def _progress(counts: Mapping[str, int]) -> str:
    if not counts:
        return ""
    said_ = [f"{counts['done']} of {sum(counts.values()) - counts['cancelled']} done"]
    said_ += [
        f"{counts[name]} {word}" for name, word in (("working", "working"), ("escalated", "for you")) if counts[name]
    ]
    return f"  ({', '.join(said_)})"


def _what_if(bead: str, delay: float | None, answered: bool, done: bool) -> Output:
    from ..core.graph.what_if import Change
    from ..operations.views.graph.what_if import what_if

    asked = [
        change
        for change, is_asked in ((Change.DELAYED, delay is not None), (Change.ANSWERED, answered), (Change.DONE, done))
        if is_asked
    ]
    if len(asked) > 1:
        raise UsageError("only one of --delay, --answered and --done can be asked at a time")
    with looked_at() as app:
        known(app.store, bead)
        found = what_if(app.store, bead, asked[0] if asked else None, delay or 0.0)
    return Output(found, lambda screen: _told(found))


def _told(found: "WhatIf") -> str:
    from ..wording import graph as words

    lines = words.answered(found.change, found.then, found.titles, found.column not in ("done", "cancelled"))
    return "\n".join(
        [f"{words.asked(found.bead, found.title, found.change, found.hours)}:", *(f"  {one}" for one in lines)]
    )
