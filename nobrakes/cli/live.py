"""Watching `run`: a picture that is redrawn on a terminal, one line an event elsewhere.

1. Both are Views of the loop and its notifiers, so that a notice does not fall into the picture. What they
   show is read from the event log and the board, never kept beside them.
2. The picture is redrawn once a second by a thread that touches no store; the loop hands it what it needs.
"""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from textwrap import wrap
from typing import TYPE_CHECKING

from ..core.beads.attempt import Attempt
from ..core.beads.bead import Role
from ..core.beads.events import WATCHED, Event
from ..core.beads.events import Kind as EventKind
from ..core.board import Board
from ..core.hindrances import Kind, of_board
from ..operations.views.progress import review_step
from ..ports.people import Notice
from ..wording import event_text, stages
from ..wording.hindrances import told
from ..wording.text import age, cut, one_line, pad
from .output import write
from .screen import Screen, screen_of

if TYPE_CHECKING:
    from ..ports.store import Store

LastLine = Callable[[Attempt], str]
EVENTS_SHOWN = 6
REDRAW_SECONDS = 1.0
_TOLD = (EventKind.DEGRADED, EventKind.ESCALATED, EventKind.SUGGESTED)
"""Of these a notice says the same."""


class Titles:
    """Titles of beads and names of attempts, each read once."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._titles: dict[str, str] = {}
        self._names: dict[int, str] = {}

    def of(self, bead: str | None) -> str:
        """The bead's title; empty for none."""
        if bead is None:
            return ""
        if bead not in self._titles:
            self._titles[bead] = one_line(self._store.bead(bead).title)
        return self._titles[bead]

    def name(self, attempt: int | None) -> str:
        """Who works in the attempt; empty for none."""
        if attempt is None:
            return ""
        if attempt not in self._names:
            self._names[attempt] = one_line(self._store.attempt(attempt).name)
        return self._names[attempt]

    def line(self, event: Event, width: int) -> str:
        """The event with its title, and with the worker's name where the machine speaks of one."""
        return event_text.as_line(event, self.of(event.bead), self.name(event.attempt), width)


def said(notice: Notice) -> str:
    """A notice as one line."""
    bead = f"{notice.bead}: " if notice.bead else ""
    return ("! " if notice.urgent else "") + bead + one_line(notice.text)


class Quiet:
    """Shows nothing on stdout: with --json the result at the end is all. Notices go to stderr."""

    def tell(self, notice: Notice) -> None:
        """Say it where no program reads JSON."""
        sys.stderr.write(said(notice) + "\n")

    def event(self, event: Event) -> None:
        """Nothing."""

    def board(self, board: Board) -> None:
        """Nothing."""


class Plain:
    """One line an event, for pipes, logs and CI."""

    def __init__(self, store: "Store", now: float, width: int = 200) -> None:
        self._titles = Titles(store)
        self._days = event_text.Days(now)
        self._width = width

    def tell(self, notice: Notice) -> None:
        """Print it."""
        write(said(notice))

    def event(self, event: Event) -> None:
        """Print it, after the date where a new day begins, unless its notice has said all of it."""
        if event.kind in _TOLD or event.kind in WATCHED:
            return
        heading = self._days.heading(event.at)
        write((heading + "\n" if heading else "") + self._titles.line(event, self._width))

    def board(self, board: Board) -> None:
        """Nothing: the events say it."""


class Picture:
    """The present moment on a terminal: who works, the review, the counts, what happened last."""

    def __init__(self, store: "Store", last_line: LastLine, count: Callable[[], str]) -> None:
        self._titles = Titles(store)
        self._last_line = last_line
        self._count = count
        self._events: deque[tuple[str, str]] = deque(maxlen=EVENTS_SHOWN)
        self._days: event_text.Days | None = None
        self._board: Board | None = None
        self._seen_at = 0.0
        self._counts = ""
        self._drawn = 0
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._redraw, daemon=True)

    def __enter__(self) -> "Picture":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._draw()

    def tell(self, notice: Notice) -> None:
        """Leave it above the picture, where it stays."""
        with self._lock:
            screen = screen_of(sys.stdout)
            lines = wrap(said(notice), screen.width, subsequent_indent="  ")
            text = "".join(screen.paint(line, "red" if notice.urgent else "") + "\n" for line in lines)
            sys.stdout.write((f"\x1b[{self._drawn}A\x1b[J" if self._drawn else "") + text)
            sys.stdout.flush()
            self._drawn = 0
        self._draw()

    def event(self, event: Event) -> None:
        """Remember it among the last ones, after the date where a new day begins."""
        self._days = self._days or event_text.Days(event.at)
        heading, line = self._days.heading(event.at), self._titles.line(event, screen_of(sys.stdout).width - 1)
        with self._lock:
            if heading:
                self._events.append(("", heading))
            self._events.append((event_text.STYLES.get(event.kind, ""), line))
            self._counts = ""

    def board(self, board: Board) -> None:
        """The new moment."""
        for attempt in board.attempts:
            self._titles.of(attempt.bead)
        counts = self._counts or self._count()
        with self._lock:
            self._board, self._seen_at, self._counts = board, time.monotonic(), counts

    def _redraw(self) -> None:
        while not self._ended.wait(REDRAW_SECONDS):
            self._draw()

    def _draw(self) -> None:
        with self._lock:
            if self._board is None:
                return
            lines = picture(
                self._board,
                self._board.now + time.monotonic() - self._seen_at,
                self._titles,
                self._last_line,
                self._counts,
                list(self._events),
                screen_of(sys.stdout),
            )
            up = f"\x1b[{self._drawn}A" if self._drawn else ""
            sys.stdout.write(up + "".join(f"\r\x1b[2K{line}\n" for line in lines) + "\x1b[J")
            sys.stdout.flush()
            self._drawn = len(lines)


def picture(
    board: Board,
    now: float,
    titles: Titles,
    last_line: LastLine,
    counts: str,
    events: list[tuple[str, str]],
    screen: Screen,
) -> list[str]:
    """The lines of the picture, each at most one screen wide."""
    out = []
    for attempt in board.attempts:
        head = f"{pad(cut(one_line(attempt.name), 10), 10)} {stages.ROLES[attempt.role.value]:<11} {attempt.bead:<10} "
        since = f"{age(now - attempt.started_at):>8}  "
        said = review_step(attempt) if attempt.role is Role.REVIEWER else last_line(attempt)
        room = max(20, screen.width - len(head) - len(since) - 1)
        title = cut(titles.of(attempt.bead), room // 2)
        out.append(screen.paint(head, "cyan") + since + cut(f"{title}  {one_line(said)}".rstrip(), room))
    for talk in board.talks:
        head = f"{pad(f'session {talk.session.id}', 10)} {talk.session.kind.value:<11} {talk.agent:<10} "
        since = f"{age(now - talk.started_at):>8}  "
        room = max(20, screen.width - len(head) - len(since) - 1)
        out.append(screen.paint(head, "cyan") + since + cut(one_line(talk.session.title), room))
    works = board.attempts or board.talks
    state = "stopping" if board.stopping else "paused" if board.paused else "" if works else "waiting"
    state += "  frozen: merges wait until main is green" if board.frozen else ""
    out.append(cut(f"{counts}  {state}".rstrip(), screen.width - 1))
    switches = (Kind.PAUSED, Kind.STOPPING)  # the line above says them
    told_ = [told(one, now).what for one in of_board(board) if one.kind not in switches]
    out += [screen.paint(cut(line, screen.width - 1), "yellow") for line in told_]
    out += [screen.paint(cut(line, screen.width - 1), style or "dim") for style, line in events]
    return out
