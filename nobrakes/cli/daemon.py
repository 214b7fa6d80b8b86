"""The daemon from the command line: in the background, in the foreground, its breakers, caps and watchdog."""

import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any, cast

from ..beads import work_status
from ..beads.model import Attempt, Role
from ..command_table import Field
from ..daemon.model import Board
from ..daemon.service import control
from ..daemon.service import status as operations
from ..daemon.service.status import counts, review_step
from ..decisions.blockers import WAITS_FOR_PERSON, Kind, board_blockers, told
from ..decisions.service.all_blockers import blockers as blockers_of
from ..errors import DaemonNotRunning, NobrakesError, Unsettled, UsageError
from ..events import words
from ..events.kinds import WATCHED, Event
from ..events.kinds import Kind as EventKind
from ..host.locks import report_ready
from ..host.port import Notice
from ..paths import Paths, process_environment
from ..records import plain
from ..text.cleaning import age, cut, one_line, pad, spoken
from .outcome import (
    HOME,
    AsJson,
    Interrupted,
    Output,
    UserPlace,
    actor,
    for_place,
    looked_at,
    opened,
    opened_or_home,
    said,
    write,
)
from .screen import Screen, screen_of
from .views import cap_lines, lines, machine_lines

if TYPE_CHECKING:
    from ..app import App
    from ..daemon.service.watchdog import Looked, Plan
    from ..git.repository import Repository
    from ..store import Store


OVER = (Kind.DAEMON_DEAD, Kind.RUN_CUT_OFF, Kind.RETRY)
"""Over, or handled, once a daemon works."""


def start(user: UserPlace = False, **given: Any) -> Output:
    """Run agents in the background. The log is .nobrakes/daemon.log. It checks first, like `nobrakes run`. If nothing
    could start, it prints the fix and ends with exit code 62."""
    from ..daemon import commands

    with opened_or_home(user) as app:
        now = app.store.now()
        found, text = commands.start(app, actor(), **given)
    first, stands = f"{text}; the daemon's log is {found['log']}", found["hindrances"]
    waits = replace(stands, found=tuple(one for one in stands.found if one.kind not in OVER))
    return Output(found, lambda screen: "\n".join([first, *lines(waits, now, screen)]))


def status(user: UserPlace = False) -> Output:
    """Show whether a daemon runs here. The exit code is 24 if none does."""
    with opened_or_home(user, is_reading=True) as app:
        pid = control.running(app.paths)
    text = f"a daemon is running (process {pid})" if pid else "no daemon is running here"
    error = None if pid else DaemonNotRunning("no daemon is running here")
    return Output({"running": pid is not None, "pid": pid}, lambda screen: text, error)


def run() -> Output:
    """The daemon itself. `nobrakes daemon start` runs this in the background."""
    from ..app import open_daemon
    from ..daemon.worker import service as daemon_service

    with opened() as app:
        daemon_service.serve(
            lambda: open_daemon(app), Plain(app.store, 0.0), until_idle=False, ready=report_ready, is_background=True
        )
    return said({"ended": True}, "the daemon has stopped")


NARROWEST = 40
LINE = 200
SETTLED = ("done", "cancelled", "draft", "held")  # who is held is counted where it stands, too


def sentence(found: dict[str, int]) -> str:
    return ", ".join(f"{number} {word.replace('_', ' ')}" for word, number in found.items() if number) or "no bead"


def running_run(
    until_idle: Annotated[
        bool, Field("End when all remaining work is waiting for a person.", ("--until-idle/--forever",))
    ] = True,
    red_main: Annotated[bool, Field("Start agents even if main fails its checks.", ("--red-main",))] = False,
    doers: Annotated[
        int | None, Field("The maximum number of running agents, from now on.", ("--doers",), least=0, greatest=10_000)
    ] = None,
    as_json: AsJson = False,
) -> Output:
    """Run agents in the foreground until there is nothing left to do.

    Before it starts an agent it looks for a pause, at the checks and their programs, and at the agents and their
    logins. If nothing could start, it prints the fix and ends with exit code 62. Then it runs the checks on main; if
    they fail, only beads of type repair start.

    Exit code 0: every live bead is done. Exit code 40: something waits for a person or a time; it names each with the
    command to type. It also names drafts, which do not change the exit code: they wait for your approval.

    Ctrl-C stops the agents cleanly and saves their work. A second Ctrl-C ends immediately; the next run resumes."""
    from ..app import blockers

    with opened() as app:
        if doers is not None:
            control.set_limits(app.store, {"doers": str(doers)}, actor=actor(), paths=app.paths)
        if red_main:
            control.allow_red_main(app.store, app.git, actor(), app.paths)
        blockers(app, red_main).require(app.store.now())
        board = _serve(app, as_json, until_idle)
        found, now = counts(app.store), app.store.now()
        stands = blockers(app, red_main)
        # a person's `nobrakes stop` stays in force after the run, a signal's stop ends with it
        interrupted = board.stopping and not app.store.setting("stopping")
    settled = not any(number for name, number in found.items() if name not in SETTLED)
    asked = any(one.kind is Kind.ESCALATION and not one.beads for one in stands.found)  # of a session, a feature
    settled = settled and not asked and not any(one.kind in WAITS_FOR_PERSON for one in stands.found)
    data: dict[str, Any] = {"counts": found, "settled": settled, "hindrances": plain(stands)}
    data["escalations"] = [one.number for one in stands.found if one.number is not None]
    merges = [one for one in stands.found if one.kind is Kind.MERGE_WAITS]
    data["waiting"] = [{"bead": one.beads[0], "reason": one.what.partition(": ")[2]} for one in merges]

    def text(screen: Screen) -> str:
        return "\n".join([sentence(found), *lines(stands, now, screen)])

    if interrupted:
        return Output(data, text, Interrupted("it was interrupted", "`nobrakes run` resumes the work."))
    return Output(data, text, None if settled else Unsettled("some work waits for your decision, or for a set time"))


def _serve(app: "App", as_json: bool, until_idle: bool) -> "Board":
    from ..app import serve

    if as_json:
        quiet = Quiet()
        return serve(app, quiet, until_idle=until_idle, notifier=quiet)
    if not sys.stdout.isatty() or screen_of(sys.stdout).width < NARROWEST:
        lines = Plain(app.store, app.store.now(), screen_of(sys.stdout).width if sys.stdout.isatty() else LINE)
        return serve(app, lines, until_idle=until_idle, notifier=lines)
    from ..sessions.service import viewing

    said = viewing.Rings(app.paths)
    with Picture(app.store, said.last_line, lambda: sentence(counts(app.store))) as picture:
        return serve(app, picture, until_idle=until_idle, notifier=picture)


Yes = Annotated[bool, Field("Make the changes (default: only show them).", ("--yes",))]


def install(yes: Yes = False) -> Output:
    """Restart a daemon automatically after it died, also after a restart of the machine. It uses one systemd timer of
    your account for all repositories, without root.

    Without --yes it only shows what it would write. The timer looks once a minute. It never starts a daemon that you
    stopped or paused. While the network or the provider does not answer, it waits 1, 2, 4, 8 … 30 minutes."""
    from ..daemon.service import watchdog

    wanted = watchdog.plan(process_environment())
    if yes:
        watchdog.install(wanted)
        out = [f"the watchdog checks once a minute ({watchdog.NAME}.timer); nobrakes wrote these files:"]
        out += [*map(one_line, wanted.files), *_notes(wanted)]
    else:
        out = ["nothing has been changed yet; --yes writes these files:"]
        for path, text in wanted.files.items():
            out += ["", f"{one_line(path)}", *(f"    {line}" for line in text.splitlines())]
        out += ["", "and then:", *(f"    systemctl --user {' '.join(words)}" for words in wanted.commands)]
        out += ["", *_notes(wanted), "to install: nobrakes daemon install --yes"]
    return said({**plain(wanted), "done": yes}, "\n".join(out))


def uninstall(yes: Yes = False) -> Output:
    """Remove the automatic restart of daemons. Running daemons continue. Without --yes it only shows what it would
    change."""
    from ..daemon.service import watchdog

    wanted = watchdog.plan(process_environment())
    files = watchdog.uninstall(wanted) if yes else watchdog.installed(wanted)
    if yes:
        out = ["the automatic restart of the daemon is removed, with these files:", *map(one_line, files)]
    elif files:
        out = ["nothing has been changed yet; --yes stops the timer and removes these files:", *map(one_line, files)]
        out.append("to remove: nobrakes daemon uninstall --yes")
    else:
        out = ["the automatic restart of the daemon is not installed"]
    return said({"files": list(files), "done": yes}, "\n".join(out))


def takeover(
    yes: Annotated[bool, Field("Take over (default: only show what would be lost).", ("--yes",))] = False,
) -> Output:
    """Continue the work of another machine here. From then on, the other machine's daemon merges nothing."""
    from ..snapshot import worker as moving

    with opened() as app:
        git, now = cast("Repository", app.git), time.time()
        found = moving.take(app.paths, git, now) if yes else moving.look(git, now)
    out = [*found.lost, *found.told]
    if not found.is_done:
        out += ["nothing has been changed yet; to take over: nobrakes takeover --yes"]
    elif found.lost:
        out = [f"this machine continues the work of {found.machine}", *out, "to start agents: nobrakes daemon start"]
    return said(found, "\n".join(map(one_line, out)))


def watch() -> Output:
    """Check each of your repositories once for a daemon that died, and restart it if the network and a provider answer.
    A timer or cron calls this command (see `nobrakes daemon install`). It prints what it found."""
    from ..machine import registry

    error, found, out = None, [], []
    home = registry.home_paths()
    for path in [*([home.root] if home else []), *registry.paths()]:
        looked, failed = _look(path, home)
        error = error or failed
        found.append({"path": path, **plain(looked)})
        told_here = [f"{one_line(path)}: {one_line(looked.said)}", *(f"  {one_line(what)}" for what in looked.down)]
        out += [for_place(line, HOME if home and path == home.root else path) for line in told_here]
        out += [f"  the next network check is after {spoken(looked.until)}"] if looked.until else []
    return Output(found, lambda screen: "\n".join(out) or "no repository is known", error)


def _look(path: str, home: Paths | None) -> "tuple[Looked, NobrakesError | None]":
    from ..app import App, blockers, open_app
    from ..daemon.service import watchdog

    is_home = home is not None and path == home.root
    try:
        with App(home, is_home=True) if home is not None and is_home else open_app(path) as app:

            def require() -> None:
                if not is_home:
                    blockers(app).require(app.store.now())

            return watchdog.look(app.store, app.paths, app.config, process_environment(), require), None
    except NobrakesError as error:  # the others are looked at
        return watchdog.Looked(error.whole), error


def _notes(wanted: "Plan") -> list[str]:
    out = []
    if wanted.not_written:
        names = ", ".join(wanted.not_written)
        out += [
            f"these variables are secret, so nobrakes does not store them: {names}",
            "  a daemon that the timer starts sees them only if you write them to a file in ~/.config/environment.d",
        ]
    if not wanted.lingers:
        out += [
            "your timers run only while you are logged in, because lingering is off for your account",
            "  `loginctl enable-linger` lets them run from the start of the machine, and after you log out:",
            "  all services of your account then run while you are logged out; `loginctl disable-linger` ends that",
        ]
    return out


def providers(
    words: Annotated[
        list[str] | None, Field("`open PROVIDER`, `reset BEAD`, `lift CAP` or `keep CAP`.", metavar="WORDS")
    ] = None,
) -> Output:
    """Show which providers refuse and until when, and what was spent under each cap.

    `open PROVIDER` ends its cooldown early; if it refuses again, the cooldown starts again. `reset BEAD` lets agents
    try a bead again on which they failed repeatedly. `lift CAP` (calls_per_hour, day.usd, run.tokens …) ignores a cap
    until its hour, day or run ends: agents may then cost more than you allowed. `keep CAP` ends that."""
    match words or []:
        case []:
            return _show()
        case ["open" | "reset" | "lift" | "keep" as what, name]:
            from ..daemon import commands

            with opened() as app:
                found, text = commands.providers(app, actor(), **{what: name})
            return said(found, text)
        case other:
            given = one_line(" ".join(other))[:40]
            raise UsageError(
                f"'{given}' is not an action of `nobrakes providers`", "For example: nobrakes providers open anthropic"
            )


def _show() -> Output:
    with looked_at() as app:
        found = operations.view(app.store, app.config)
        stands = blockers_of(app.store, app.paths, app.config)

    def text(screen: Screen) -> str:
        out = lines(stands, found.now, screen, (Kind.COOLDOWN, Kind.CAP, Kind.NO_PLACE, Kind.MACHINE).__contains__)
        out += [*cap_lines(found.caps), *machine_lines(found.machine, screen)]
        return "\n".join(out) or "no provider refuses requests"

    return Output(found, text)


# Watching `run`: a picture that is redrawn on a terminal, one line an event elsewhere. Both are Views of the loop and
# its notifiers, so that a notice does not fall into the picture. A thread that touches no store redraws it once a
# second.
LastLine = Callable[[Attempt], str]
EVENTS_SHOWN = 6
REDRAW_SECONDS = 1.0
_SHOWN_KINDS = (EventKind.DEGRADED, EventKind.ESCALATED, EventKind.SUGGESTED)


class Titles:
    """Cached titles of beads and names of attempts."""

    def __init__(self, store: "Store") -> None:
        self._store = store
        self._titles: dict[str, str] = {}
        self._names: dict[int, str] = {}

    def of(self, bead: str | None) -> str:
        if bead is None:
            return ""
        if bead not in self._titles:
            self._titles[bead] = one_line(self._store.bead(bead).title)
        return self._titles[bead]

    def name(self, attempt: int | None) -> str:
        if attempt is None:
            return ""
        if attempt not in self._names:
            self._names[attempt] = one_line(self._store.attempt(attempt).name)
        return self._names[attempt]

    def line(self, event: Event, width: int) -> str:
        return words.as_line(event, self.of(event.bead), self.name(event.attempt), width)


def live_said(notice: Notice) -> str:
    bead = f"{notice.bead}: " if notice.bead else ""
    return ("! " if notice.urgent else "") + bead + one_line(notice.text)


class Quiet:
    """Prints nothing, for --json; notices go to stderr."""

    def tell(self, notice: Notice) -> None:
        sys.stderr.write(live_said(notice) + "\n")

    def event(self, event: Event) -> None: ...

    def board(self, board: Board) -> None: ...


class Plain:
    """One line an event, for pipes, logs and CI."""

    def __init__(self, store: "Store", now: float, width: int = 200) -> None:
        self._titles = Titles(store)
        self._days = words.Days(now)
        self._width = width

    def tell(self, notice: Notice) -> None:
        """Notices go above the picture and stay."""
        write(live_said(notice))

    def event(self, event: Event) -> None:
        if event.kind in _SHOWN_KINDS or event.kind in WATCHED:
            return
        heading = self._days.heading(event.at)
        write((heading + "\n" if heading else "") + self._titles.line(event, self._width))

    def board(self, board: Board) -> None: ...


class Picture:
    """Shows the present on a terminal: workers, the review, counts, last events."""

    def __init__(self, store: "Store", last_line: LastLine, count: Callable[[], str]) -> None:
        self._titles = Titles(store)
        self._last_line = last_line
        self._count = count
        self._events: deque[tuple[str, str]] = deque(maxlen=EVENTS_SHOWN)
        self._days: words.Days | None = None
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
        with self._lock:
            screen = screen_of(sys.stdout)
            lines = wrap(live_said(notice), screen.width, subsequent_indent="  ")
            text = "".join(screen.paint(line, "red" if notice.urgent else "") + "\n" for line in lines)
            sys.stdout.write((f"\x1b[{self._drawn}A\x1b[J" if self._drawn else "") + text)
            sys.stdout.flush()
            self._drawn = 0
        self._draw()

    def event(self, event: Event) -> None:
        self._days = self._days or words.Days(event.at)
        heading, line = self._days.heading(event.at), self._titles.line(event, screen_of(sys.stdout).width - 1)
        with self._lock:
            if heading:
                self._events.append(("", heading))
            self._events.append((words.style(event), line))
            self._counts = ""

    def board(self, board: Board) -> None:
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
        role = work_status.ROLES[attempt.role.value]
        head = f"{pad(cut(one_line(attempt.name), 10), 10)} {role:<11} {attempt.bead:<10} "
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
    state += "  merges frozen until main passes its checks" if board.frozen else ""
    out.append(cut(f"{counts}  {state}".rstrip(), screen.width - 1))
    switches = (Kind.PAUSED, Kind.STOPPING)  # the line above says them
    told_ = [told(one, now).what for one in board_blockers(board) if one.kind not in switches]
    out += [screen.paint(cut(line, screen.width - 1), "yellow") for line in told_]
    out += [screen.paint(cut(line, screen.width - 1), style or "dim") for style, line in events]
    return out
