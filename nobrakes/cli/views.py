"""The big pictures: status, board and graph; and the events that other programs read."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

from ..beads import work_status
from ..command_table import Field
from ..decisions.blockers import Blocker, Kind, rest, told
from ..errors import NobrakesError, UsageError
from ..records import grouped
from ..text.cleaning import age, count, cut, one_line
from .outcome import MAIN_IS_SHOWN, WIDEST, Output, TextLayout, looked_at, opened, said, write
from .screen import Screen, table

if TYPE_CHECKING:
    from ..app import App
    from ..beads.service.board import BoardView
    from ..daemon.service.control import CapView
    from ..daemon.service.status import FirstScreen, OpenSession, StatusView, Worker
    from ..decisions.service.all_blockers import Blockers
    from ..machine.registry import MachineView
    from ..pictures.service import GraphNode, GraphView
    from ..store import Store


EACH = 5


NARROWEST = 40


def lines(
    found: "Blockers", now: float, screen: "Screen", wanted: Callable[[Kind], bool] = lambda _: True
) -> list[str]:
    """Every blocker of the wanted kinds."""
    out: list[str] = []
    unnamed = dict(found.more)
    for kind in dict.fromkeys(one.kind for one in found.found if wanted(one.kind)):
        some = [one for one in found.found if one.kind is kind]
        out += hindered_shown(some[:EACH], now, screen)
        left = len(some) - EACH if len(some) > EACH else 0
        left += unnamed.get(kind, 0)
        out += [f"  {rest(kind, left)}"] if left else []
    return out


def hindered_shown(found: Iterable[Blocker], now: float, screen: "Screen") -> list[str]:
    """These blockers in full width, without cutting commands."""
    out = []
    width = max(NARROWEST, screen.width)
    for one in found:
        words = told(one, now)
        style = "red" if one.stops else "yellow"
        out += [
            screen.paint(line, style)
            for line in wrap(words.what, width, subsequent_indent="  ", break_on_hyphens=False)
        ]
        for part in (words.why, words.cure):
            out += wrap(part, width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
        for number, command in enumerate(words.commands):
            out.append(f"  {'type:' if number == 0 else '     '} {screen.paint(command, 'bold')}")
    return out


AsJson = Annotated[bool, Field("Print JSON.", ("--json",))]
COLUMN_STYLES = {
    "ready": "green",
    "working": "cyan",
    "review": "cyan",
    "requested": "yellow",
    "escalated": "red",
    "done": "dim",
}

MAIN_STYLES = {"green": "green", "red": "red"}
NO_BEAD = "no bead yet: nobrakes shape, or nobrakes plan example"


def status(as_json: AsJson = False) -> Output:
    """Show the state of the repository on one screen. It begins with main, the merges since you last looked, the
    cost, what needs you, what is running, and when the work should be done."""
    from ..app import here
    from ..daemon.service.status import status as of_repository

    MAIN_IS_SHOWN.set(True)
    with looked_at() as app:
        found = of_repository(app.store, app.paths, app.config, here(app), not as_json)
        now = app.store.now()
    return Output(found, lambda screen: _status(found, now, screen))


def cap_lines(caps: "Iterable[CapView]") -> list[str]:
    lifted = "  (you lifted this cap until its period ends)"
    return [f"caps.{cap.name}: {cap.spent:.6g} of {cap.limit:.6g}{lifted if cap.lifted else ''}" for cap in caps]


def machine_lines(found: "MachineView | None", screen: Screen) -> list[str]:
    """Limits of all repositories and their use, a line each."""
    if found is None:
        return []
    out = []
    if found.trouble:
        why = f"this machine's limits cannot be read, so no agent starts: {found.trouble}. {found.mend}"
        out.append(screen.paint(one_line(why), "red"))
    for name, spent, limit in (
        ("agents", found.taken, found.agents),
        ("usd_per_day", found.usd, found.usd_per_day),
        ("tokens_per_day", found.tokens, found.tokens_per_day),
    ):
        if limit is None:
            continue
        unknown = f"limit {limit:.6g}; the use so far is unknown"
        used = unknown if found.trouble else f"{spent:.6g} of {limit:.6g}"
        out.append(f"machine.{name}: {used} for all repositories of this machine")
    return out


def first_text(found: "FirstScreen", screen: Screen) -> list[str]:
    """The answers of a morning, each with its name in front."""
    from ..daemon.service.status import NAME, first_lines

    layout, out = TextLayout(screen, is_whole=True), []
    for name, text in first_lines(found, min(screen.width, WIDEST) - NAME):
        whole = "`".join(part.replace(" ", "\xa0") if n % 2 else part for n, part in enumerate(text.split("`")))
        head, *more = (row.replace("\xa0", " ") for row in layout.wrapped(whole, " " * NAME))
        style = MAIN_STYLES.get(found.main.state, "yellow") if name == "main" else ""
        out += [screen.paint(name.ljust(NAME), "bold") + screen.paint(head[NAME:], style), *more]
    return out


def _status(found: "StatusView", now: float, screen: Screen) -> str:
    total = sum(number for name, number in found.counts.items() if name != "held")
    assert found.first is not None
    out = first_text(found.first, screen)
    counted = [screen.paint(f"{n} {name}", COLUMN_STYLES.get(name, "")) for name, n in found.counts.items() if n]
    out.append(f"{count(total, 'bead')}: {', '.join(counted)}" if total else NO_BEAD)
    out += [screen.paint(one_line(why), "red") for why in (*found.behind, found.off_main, *found.unknown) if why]
    if found.working:
        out += ["", _workers(found.working, screen)]
    if found.sessions:
        out += ["", *_sessions(found.sessions, screen)]
    used = [*cap_lines(found.caps), *machine_lines(found.machine, screen)]
    used += [one_line(found.nodes.text())] if found.nodes is not None else []
    used += [screen.paint(one_line(why), "yellow") for why in found.degraded]
    if used:
        out += ["", *used]
    if hindered := lines(found.hindrances, now, screen):
        out += ["", *hindered]
    return "\n".join(out)


def _sessions(found: "tuple[OpenSession, ...]", screen: Screen) -> list[str]:
    rows = []
    for one in found:
        since = f" for {age(one.seconds)}" if one.seconds is not None else ""
        since += f", {one.memory_mb} MB" if one.memory_mb is not None else ""
        rows.append(cut(f"session {one.session}, {one.agent}, {one.state}{since}: {one_line(one.title)}", screen.width))
    return rows


def _workers(working: "tuple[Worker, ...]", screen: Screen) -> str:
    rows = []
    for w in working:
        memory = "-" if w.memory_mb is None else f"{w.memory_mb} MB"
        rows.append((w.name, work_status.ROLES[w.role.value], w.bead, age(w.seconds), memory, w.title))
    out = [table(("WHO", "ROLE", "BEAD", "SINCE", "MEMORY", "TITLE"), rows, screen)]
    out += [cut(f"  {w.bead}: {work_status.stage(w.step, w.onto)}", screen.width) for w in working if w.step]
    for w in working:
        if w.says:
            out.append(cut(f"  {w.name} reports: {one_line(w.says)}", screen.width))
        if w.doubt:
            out.append(screen.paint(f"  but {w.doubt}", "yellow"))
    return "\n".join(out)


def board(
    live: Annotated[bool, Field("Show a screen that keeps updating.", ("--live",))] = False, as_json: AsJson = False
) -> Output:
    """Show the first beads of each column, with the number of beads in it. Epics are left out. With --live it stays on
    the screen and updates: what needs you, who works, the beads, and events. To act, use `nobrakes web`."""
    from ..beads.service import board as board_service
    from ..decisions.service.all_blockers import blockers

    if live:
        return _live(as_json)

    with looked_at() as app:
        found = board_service.board(
            app.store, stands=blockers(app.store, app.paths, app.config, misconfigured=app.misconfigured)
        )
        now = app.store.now()
    return Output(found, lambda screen: _board(found, now, screen))


def _live(as_json: bool) -> Output:
    from .. import extras

    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "the live board needs a terminal",
            "Leave out --live; programs use `nobrakes board --json` or `nobrakes events --follow --json`.",
        )
    extras.need("tui", "`nobrakes board --live`")
    from ..tui import Board

    with opened(is_reading=True) as app:  # what keeps it from being opened is said before the screen is taken
        assert app.store
    Board(None).run()
    return said({}, "")


def _board(found: "BoardView", now: float, screen: Screen) -> str:
    who = {worker.bead: worker.name for worker in found.working}
    out = []
    for name, cards in found.columns.items():
        if not cards:
            continue
        out += [screen.paint(f"{name} ({found.counts[name]})", COLUMN_STYLES.get(name, "bold"))]
        for card in cards:
            why = (
                f"{who[card.id]} is working on this bead"
                if card.id in who
                else "; ".join(card.reasons)
                if name == "blocked"
                else ""
            )
            if card.request is not None:
                why = card.request.says
            title = cut(one_line(card.title), max(20, screen.width // 2))
            out.append(cut(f"  {card.id}  P{card.priority}  {title}  {one_line(why)}".rstrip(), screen.width))
        more = found.counts[name] - len(cards)
        out += [f"  and {more} more: nobrakes list"] if more > 0 else []
        out.append("")
    out += [*_sessions(found.sessions, screen), ""] if found.sessions else []
    out += [*machine_lines(found.machine, screen), *lines(found.hindrances, now, screen)]
    return "\n".join(out).rstrip() or NO_BEAD


FORMATS = ("text", "mermaid", "dot", "svg")
SIGNS = {
    "draft": "~", "ready": ">", "blocked": ".", "working": "*", "review": "?", "escalated": "!", "done": "+",
    "cancelled": "x",
}  # fmt: skip
STYLES = {"ready": "green", "working": "cyan", "review": "cyan", "escalated": "red", "done": "dim", "cancelled": "dim"}


def graph(
    format: Annotated[str, Field("The format: text, mermaid, dot or svg.", ("--format", "-f"))] = "",
    output: Annotated[str | None, Field("Write the graph to this file.", ("--output", "-o"), "<path>")] = None,
    epic: Annotated[str | None, Field("Only beads of this epic.", ("--epic",))] = None,
    focus: Annotated[bool, Field("Show what is running, what needs you, and what comes next.", ("--focus",))] = False,
    epics: Annotated[bool, Field("Show one line for each epic, with its progress.", ("--epics",))] = False,
    whole: Annotated[bool, Field("Show every bead, in a lane for each epic.", ("--all",))] = False,
    search: Annotated[str, Field("With --all: only beads with these words in id or title.", ("--search",))] = "",
    live: Annotated[bool, Field("With --all: leave out closed beads.", ("--open",))] = False,
) -> Output:
    """Draw the dependencies between beads. A drawing (svg) shows at most 500 beads, first those that agents work on and
    those that are ready. The default is text. With more than 5,000 beads the text is limited in the same way; --format
    text writes all. --focus, --epics and --all print the views of the web page as text."""
    looks = [name for name, is_asked in (("focus", focus), ("epics", epics), ("all", whole)) if is_asked]
    if len(looks) + bool(format) > 1:
        raise UsageError("only one of --format, --focus, --epics and --all can be used at a time")
    if looks:
        if output is not None:
            raise UsageError("--output needs --format", "nobrakes graph --format svg -o graph.svg")
        return _looked(looks[0], epic, search, live)
    if search or live:
        raise UsageError("--search and --open need --all", "nobrakes graph --all --search cart")
    return _drawn(format, output, epic)


def _drawn(format: str, output: str | None, epic: str | None) -> Output:
    from ..beads.service.bead_commands import known
    from ..pictures import draw

    if format and format not in FORMATS:
        raise UsageError(f"'{one_line(format)[:40]}' is not a format", f"Use one of: {', '.join(FORMATS)}.")
    with looked_at() as app:
        if epic is not None:
            known(app.store, epic)
        drawn = draw.graph(app.store, format=format, epic=epic)
    data = {"format": format or "text", "beads": drawn.beads, "shown": drawn.shown}
    if output is None:
        if drawn.note:
            sys.stderr.write(f"note: {drawn.note}\n")
        return said({**data, "graph": drawn.text}, drawn.text)
    try:
        with open(output, "w", encoding="utf-8") as file:
            file.write(drawn.text + ("" if drawn.text.endswith("\n") else "\n"))
    except OSError as error:
        raise NobrakesError(f"{output} cannot be written: {error.strerror}", "Name another file.") from None
    note = f"\n{drawn.note}" if drawn.note else ""
    return said({**data, "path": output}, f"written to {output}{note}")


def _looked(mode: str, epic: str | None, search: str, live: bool) -> Output:
    from ..beads.service.bead_commands import known
    from ..pictures.service import graph_view

    if mode != "all" and (epic or search or live):
        raise UsageError("--epic, --search and --open filter --all", "nobrakes graph --all --epic nb-1")
    with looked_at() as app:
        if epic is not None:
            known(app.store, epic)
        found = graph_view(app.store, mode, epic=epic or "", match=search, is_live_only=live)
    return Output(found, lambda screen: _view(found, screen))


def _view(found: "GraphView", screen: Screen) -> str:
    from ..pictures import draw
    from ..pictures.service import MAX_BEADS

    out = [screen.paint(draw.circle(one.members, one.cut, one.stuck), "red") for one in found.cycles]
    if found.too_many:
        out.append(draw.too_many(found.too_many, MAX_BEADS))
    if out:
        out.append("")
    needs = grouped((edge.target, edge.source or "no epic") for edge in found.edges)
    for title, nodes in _groups(found):
        if title:
            out.append(screen.paint(title, "bold"))
        out += [_line(node, needs.get(node.id, ()), "  " if title else "", screen) for node in nodes]
    if not found.nodes:
        out.append("no bead matches" if found.beads else "no bead yet: nobrakes shape, or nobrakes plan example")
    used = dict.fromkeys(node.column for node in found.nodes)
    legend = "  ".join(f"{sign} {name}" for name, sign in SIGNS.items() if name in used)
    return "\n".join(
        [*out, "", legend + ("  # critical path" if any(n.is_critical for n in found.nodes) else "")]
    ).strip("\n")


def _groups(found: "GraphView") -> list[tuple[str, list["GraphNode"]]]:
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


POLL_SECONDS = 0.25


def show(store: "Store", after: int, bead: str | None, follow: bool) -> Output:
    """A line of JSON each; `follow`: until Ctrl-C."""
    from ..events.service import line, public_events

    shown = 0
    while True:
        for last, page in public_events(store, after, bead):
            if page:
                write("".join(map(line, page)))
            after, shown = last, shown + len(page)
        if not follow:
            return said({"shown": shown, "last": after}, "")
        time.sleep(POLL_SECONDS)


def export(app: "App", path: str, follow: bool) -> Output:
    """Update the file; `follow`: until Ctrl-C."""
    from ..events.service import wait_and_keep_up

    whole, written = os.path.abspath(path), 0
    while True:
        done = wait_and_keep_up(app.store, app.paths.root, whole)
        written += done.written
        if not follow:
            break
        time.sleep(POLL_SECONDS)
    text = f"{count(written, 'event')} written to {path}"
    return said({"path": whole, "written": written, "last": done.upto}, text)
