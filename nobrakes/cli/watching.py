"""Looking on: the events as they happen, and what an agent says while it works."""

import time
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from ..core.errors import UsageError
from ..core.public.values import plain
from ..wording.text import cut, one_line
from .output import Output, dumps, write
from .public_events import POLL_SECONDS
from .repository import BeadId, UserPlace, known, looked_at, opened_or_home
from .screen import Screen, screen_of

if TYPE_CHECKING:
    from ..core.beads.events import Event
    from ..core.transcript import Line
    from .live import Titles

AsJson = Annotated[bool, Option("--json", help="Print JSON lines.")]
PAGE = 1000
SIGNS = {
    "text": " ",
    "tool_call": ">",
    "result": "<",
    "thinking": "~",
    "limit": "!",
    "note": "#",
    "usage": "$",
    "cost": "$",
}


def events(
    follow: Annotated[bool, Option("--follow", "-f", help="Go on with what happens, until Ctrl-C.")] = False,
    after: Annotated[int, Option("--after", min=0, help="Only events with a greater number.")] = 0,
    bead: Annotated[str | None, Option("--bead", help="Only events of this bead.")] = None,
    public: Annotated[bool, Option("--public", help="The public events, as JSON lines: see events-public.md.")] = False,
    export: Annotated[
        str | None, Option("--export", metavar="FILE", help="Append the public events that FILE does not have yet.")
    ] = None,
    as_json: AsJson = False,
) -> Output:
    """Everything that happened, in order, each with the number that `undo` takes. With --json one object a line: ts,
    event, task_id, agent, metadata.

    Programs read --public: a promise of names and payloads. With the setting `events.export` the daemon keeps a file.

    Example: nobrakes events --follow --public | jq -r .event
    """
    import sys

    from ..wording import event_text
    from . import public_events
    from .live import Titles

    shown = 0
    with looked_at() as app:
        if bead is not None:
            known(app.store, bead)
        if export is not None:
            if public or after or bead is not None:
                raise UsageError("a file holds every event, and knows where it goes on", "Leave the other options out.")
            return public_events.export(app, export, follow)
        if public:
            return public_events.show(app.store, after, bead, follow)
        titles, width = Titles(app.store), screen_of(sys.stdout).width
        days = event_text.Days(app.store.now())
        while True:
            found = app.store.events(after, PAGE, bead)
            for event in found:
                if as_json:
                    write(dumps(event_text.as_json(event, titles.name(event.attempt))))
                else:
                    heading = days.heading(event.at)
                    write((heading + "\n" if heading else "") + _numbered(event, titles, width))
                after = event.seq
            shown += len(found)
            if len(found) < PAGE:
                if not follow:
                    break
                time.sleep(POLL_SECONDS)
    return Output({"shown": shown, "last": after}, lambda screen: "" if shown else "nothing happened yet")


def _numbered(event: "Event", titles: "Titles", width: int) -> str:
    """The event behind its number, which `undo` takes."""
    number = f"{event.seq:>6}"
    return f"{number}  {titles.line(event, width - len(number) - 2)}"


def watch(
    agent: Annotated[str, Argument(metavar="NAME|BEAD", help="A worker's name, its bead, or `session~N`.")],
    as_json: AsJson = False,
    user: UserPlace = False,
) -> Output:
    """Follow an agent live, from its last lines on, until its attempt ends. Ctrl-C leaves it working.

    Example: nobrakes watch Ada
    """
    import sys

    from ..operations import sessions

    screen = screen_of(sys.stdout)
    with opened_or_home(user, is_reading=True) as app:
        session = sessions.find_session(app.store, app.paths, agent)
        if not as_json:
            of = f"turn {session.number}" if session.turn else f"on {session.bead}, attempt {session.number}"
            write(f"{one_line(session.name)} ({session.role}) {of}")
        for line in sessions.transcript(app.store, session, follow=True, last=100):
            write(dumps(line) if as_json else _line(line, screen))
        ended = sessions.outcome(app.store, session)
    return Output({"attempt": session.attempt, "outcome": ended}, lambda screen: f"ended: {ended or 'not yet'}")


def _line(line: "Line", screen: Screen) -> str:
    sign = SIGNS.get(line.kind.value, " ")
    style = {"thinking": "dim", "tool_call": "cyan", "limit": "red", "result": "dim"}.get(line.kind.value, "")
    return screen.paint(cut(f"{sign} {one_line(line.text)}", max(40, screen.width - 1)), style)


def log(
    bead: BeadId,
    attempt: Annotated[int | None, Option("--attempt", min=1, help="Only this attempt, by its number.")] = None,
    last: Annotated[int, Option("--last", min=1, help="At most so many lines an attempt.")] = 100,
) -> Output:
    """What the agents on a bead said and did, attempt by attempt."""
    from ..operations.views.transcripts import transcripts

    with looked_at() as app:
        known(app.store, bead)
        found = transcripts(app.store, app.paths, bead, attempt, last)

    def text(screen: Screen) -> str:
        out = []
        for one, lines in ((said.attempt, said.lines) for said in found):
            end = one.outcome.value if one.outcome else "works"
            out.append(screen.paint(f"attempt {one.number}: {one.role.value} {one_line(one.name)}: {end}", "bold"))
            out += [_line(line, screen) for line in lines] or ["  it said nothing"]
        return "\n".join(out) or "no agent has worked on it yet"

    return Output(plain(found), text)
