"""What piles up is kept small, beside the loop: logs of runs that were merged long since, refs and objects in files of
their own.

1. Logs are looked for when nobody works, at the start and then every ten minutes; some of it at a time.
2. What beads take as a rule is learnt from those that were done (beads.graph), every ten minutes, also at work.
3. Whether there is something to pack is looked at every half a minute while somebody works, and once after that: a bead
   costs the thousandth what it cost the first, however long nobody rests. Nothing waits for it, and where it fails all
   stays as it was, until the next time.
4. Keys of commands (`--request`) are forgotten after thirty days.
5. Which logs go: agents.limits, by the settings. No work goes: that is in git, and `archive` alone lets go of
   it.
"""

import json
import math
import os
import traceback
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice

from ...agents.limits import DAY, attempt_of, let_go, let_turns_go, turn_of
from ...beads.lifecycle import GIVEN_BACK
from ...beads.model import CLOSED, Attempt, Outcome, Status, called, of_bead, of_session, owners_bead_of
from ...decisions.model import EscalationType, NewEscalation
from ...errors import DiskFull, MachineShort, NobrakesError, NoSuchBead, StoreReadOnly
from ...events.kinds import Event, Kind
from ...host.files import storage_errors
from ...host.port import Notice
from ...ports import Ports
from ...sandbox.machine import HOME
from ...sessions.model import Fact, Talk, name_of
from ...text.cleaning import clean
from ...text.redaction import redact, secret_values
from ...trash import Trash
from .. import actions
from ..actions import Action
from ..model import Board

# Exceptions that nobody expected, met in work for one bead or session: that one is parked, and the rest goes on.
#
# 1. `about` names whom the work below it is for; the innermost name counts. What has no name ends the daemon, loudly.
# 2. Errors of errors, of the database and of the machine are nobody's: they are waited out, or end the daemon.
# 3. A parked bead's attempt ends as `nobrakes_failed`, and a person is asked; the second time the bead is held as well.
# A parked session waits for a person. What still runs for either is stopped like the run of anything taken away.
# For a session without a turn, and for a part of the daemon, a person is asked in the name of no bead, once; that
# part is tried again less and less often (daemon.worker.loop), and everything else goes on.
# 4. Nothing is remembered here, and little is done: what failed may fail again, and the next daemon reads the store.

_SAID = 4000
"""Characters of the traceback that are kept: its end."""


Owner = str | Callable[[], str]
"""Of beads.model, or what finds it out once it is asked for."""


class Unexpected(Exception):
    """An exception (its cause), and the owner (beads.model) that it was met for."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner


@contextmanager
def about(ports: Ports, owner: Owner) -> Iterator[None]:
    """What nobody expects below is Unexpected, about this owner; empty: it is about nobody."""
    try:
        yield
    except (NobrakesError, Unexpected):
        raise
    except Exception as error:
        known = owner if isinstance(owner, str) else owner()
        if not known or _is_nobodys(ports, error):
            raise
        raise Unexpected(known) from error


@contextmanager
def parked(ports: Ports, owner: Owner) -> Iterator[None]:
    """As `about`, and whom it is about is parked: who works for many goes on with the others."""
    try:
        with about(ports, owner):
            yield
    except Unexpected as met:
        park(ports, met)


def of_run(ports: Ports, name: str) -> str:
    """The owner of what is named after a run; empty: it is nobody's, or of an attempt that was lost with a database."""
    attempt, turn = attempt_of(name), turn_of(name)
    with suppress(NobrakesError):
        if turn:
            return of_session(ports.store.turn(turn).session)
        return of_bead(ports.store.attempt(attempt).bead) if attempt else ""
    return ""


def owner_of(work: Attempt | Talk) -> str:
    """Whom an attempt or a turn serves."""
    return of_session(work.session.id) if isinstance(work, Talk) else of_bead(work.bead)


def subject(ports: Ports, action: Action, board: Board) -> Owner:
    """Whom an action is about; empty: nobody alone."""
    if isinstance(action, actions.StartAgent | actions.StartReview | actions.AskPerson):
        return of_bead(action.bead)
    if isinstance(action, actions.CompleteEpic | actions.LandEpic):
        return of_bead(action.epic)
    if isinstance(action, actions.StartTurn):
        return of_session(action.session)
    works: list[Attempt] | list[Talk] = []
    if isinstance(action, actions.Resume):
        works = [one for one in board.attempts if one.id == action.attempt]
    elif isinstance(action, actions.ResumeTurn):
        works = [one for one in board.talks if one.turn.id == action.turn]
    elif isinstance(action, actions.Terminate | actions.Kill | actions.Sample):
        return partial(of_run, ports, action.run)  # also of one whose attempt is over
    return owner_of(works[0]) if works else ""


def park(ports: Ports, met: Unexpected) -> bool:
    """End what was at work for the owner, and ask a person; the second time its bead is held. Whether that is new."""
    error, bead = met.__cause__ or met, owners_bead_of(met.owner)
    secrets = secret_values((*ports.credentials.items(), *ports.environment.items()))
    words = f"{error} {error.hint}" if isinstance(error, NobrakesError) else "".join(traceback.format_exception(error))
    said = clean(redact(words, secrets))[-_SAID:]
    if bead is not None:
        with suppress(NoSuchBead):
            return _park_bead(ports, bead, said)
        return False
    return _park_session(ports, met.owner, said) or _park_part(ports, met.owner, said)


def _park_bead(ports: Ports, name: str, said: str) -> bool:
    store, outcome = ports.store, Outcome.NOBRAKES_FAILED
    bead = store.bead(name)
    before = [one for one in store.escalations(open_only=False, bead=name) if one.type.value == outcome.value]
    new = NewEscalation(EscalationType.NOBRAKES_FAILED, f"{name}: {outcome.value.replace('_', ' ')}", said)
    going = [one for one in store.attempts(name) if one.outcome is None]
    holds = bool(before) and bead.held is None and bead.status not in CLOSED
    with store.write():
        for attempt in going:
            store.close_attempt(attempt, GIVEN_BACK[attempt.role], outcome, detail=said, escalation=new)
        if not going:
            store.escalate(new, name, None, "nobrakes")
        if holds:
            why = f"nobrakes itself failed on it {len(before) + 1} times, see escalation {before[-1].id}"
            store.record(Event(Kind.HELD, name, data={"reason": why}))
            text = f"{name} is held: {why}. `nobrakes release {name}` has it tried once more"
            ports.notifier.tell(Notice(text, name, urgent=True))
    return bool(going) or holds or not any(one.resolved_at is None for one in before)


def _park_session(ports: Ports, owner: str, said: str) -> bool:
    """Whether it had a turn that could be ended: who has none is in nobody's way."""
    store, outcome = ports.store, Outcome.NOBRAKES_FAILED
    talk = next((one for one in store.board(ports.limits()).talks if of_session(one.session.id) == owner), None)
    if talk is None:
        return False
    store.close_turn(
        talk.turn.id,
        Fact.GAVE_UP,
        outcome,
        said,
        said="",
        told_again=True,
        breaker=None,
        retry_at=None,
        failed=False,
        lost=False,
    )
    last = said.strip().rpartition("\n")[2]
    text = f"session {talk.session.id} does not go on: {outcome.value.replace('_', ' ')}: {last}"
    ports.notifier.tell(Notice(text, urgent=True))
    return True


def _park_part(ports: Ports, owner: str, said: str) -> bool:
    """Ask a person about what has no bead and no turn; False: it was asked, and nobody decided yet."""
    title = f"{called(owner)}: nobrakes failed"
    if any(one.title == title and one.bead is None for one in ports.store.escalations()):
        return False
    ports.store.escalate(NewEscalation(EscalationType.NOBRAKES_FAILED, title, said), None, None, "nobrakes")
    return True


def _is_nobodys(ports: Ports, error: Exception) -> bool:
    """Whether it is the database's or the machine's, whoever was worked for."""
    if any(base.__module__ == "sqlite3" for base in type(error).__mro__):
        return True
    if isinstance(error, PermissionError):  # an agent closes what is its own; where ours is closed, all wait
        return os.path.isdir(ports.paths.folder) and not os.access(ports.paths.runs, os.R_OK | os.W_OK | os.X_OK)
    try:
        with storage_errors(ports.paths.folder):
            raise error
    except (DiskFull, MachineShort, StoreReadOnly):
        return True
    except Exception:
        return False


JOB = "upkeep"
PACKING = "pack refs and objects"
AGAIN = 600.0
"""Seconds between two looks."""
PACK_AGAIN = 30.0
"""Seconds between two looks at what there is to pack."""
REQUEST_SECONDS = 30 * 86400.0
"""A command under a key is remembered so long."""
MOST_LOOKED_AT = 2000
"""Folders of runs in one look."""
MOST_AT_ONCE = 200
"""Folders that go at one time."""


class Upkeep:
    """Lets old logs go, and has refs and objects packed."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._looked = self._learnt = self._packed = -math.inf
        self._has_worked = True
        self._place = 0

    def turn(self, board: Board) -> bool:
        """Look, when it is time and nobody works; nothing of it is anybody's turn: False."""
        if board.now >= self._learnt + AGAIN:
            self._learnt = board.now
            self.ports.store.learn()
        self._pack(board)
        background = self.ports.background
        if background.busy(JOB):
            background.over(JOB)
        elif board.now >= self._looked + AGAIN and not board.attempts:
            self._looked = board.now
            self.ports.store.forget_requests(board.now - REQUEST_SECONDS)
            background.begin(JOB, partial(self._do, self._old_runs(board)))
        return False

    def _pack(self, board: Board) -> None:
        """Have refs and objects packed, if it is time and there may be new ones."""
        background = self.ports.background
        self._has_worked |= bool(board.attempts)
        if background.busy(PACKING):
            background.over(PACKING)
        elif self._has_worked and not self._packed <= board.now < self._packed + PACK_AGAIN:
            self._packed, self._has_worked = board.now, False
            background.begin(PACKING, self._do_pack)

    def _do_pack(self) -> None:
        with suppress(NobrakesError):  # a lock of a person's git, a full disk: who has to write will meet it
            self.ports.git.pack()

    def _old_runs(self, board: Board) -> list[str]:
        """The folders of runs that may go now."""
        settings, store = self.ports.config().retention, self.ports.store
        try:
            names = sorted(os.listdir(self.ports.paths.runs), key=lambda name: (attempt_of(name) or 0, name))
        except FileNotFoundError:
            return []
        last = names[-1:]  # it is compared with, wherever we are
        some = list(islice(names, self._place, self._place + MOST_LOOKED_AT))
        self._place = self._place + len(some) if self._place + len(some) < len(names) else 0
        known: dict[int, Attempt] = {}
        for number in {attempt_of(name) for name in some} - {None}:
            try:
                known[number or 0] = store.attempt(number or 0)
            except NobrakesError:
                continue  # a rebuilt database does not know it
        going: list[str] = []
        if len(some) < len(names) or self._may_go(
            known.values(), settings.run_beads, board.now - settings.run_days * DAY
        ):
            done = store.beads([Status.DONE])  # all there ever were: not asked where nothing can go
            merged = {bead.id: bead.closed_at or bead.updated_at for bead in done if bead.merged_commit is not None}
            beads = {number: one.bead for number, one in known.items()}
            going = let_go([*some, *last], beads, merged, board.now, settings.run_days, settings.run_beads)
        going += let_turns_go(names, self._ended_turns(names), board.now, settings.run_days)
        self._place = max(0, self._place - len(going))
        return going[:MOST_AT_ONCE]

    @staticmethod
    def _may_go(attempts: Collection[Attempt], most: int, before: float) -> bool:
        """Whether there are logs of more beads than are kept, or one that began before that moment."""
        return len({one.bead for one in attempts}) > most or any(one.started_at <= before for one in attempts)

    def _ended_turns(self, names: Sequence[str]) -> dict[int, float]:
        """When the session of each turn was ended, of those that were."""
        over = {one.id: one.ended_at for one in self.ports.store.sessions(going=False) if one.ended_at is not None}
        found = {}
        for number in {turn_of(name) for name in names} - {None}:
            with suppress(NobrakesError):  # a rebuilt database does not know it
                session = self.ports.store.turn(number or 0).session
                if (ended := over.get(session)) is not None:
                    found[number or 0] = ended
        return found

    def _do(self, runs: Sequence[str]) -> None:
        trash, folder = Trash(self.ports.paths.trash), self.ports.paths.runs
        for run in runs:
            trash.take(folder, os.path.join(folder, run))


# Removing the checkouts of runs that were judged, and the trash, beside the loop: nobody waits for that.
#
# 1. What is to be removed is what lies there and belongs to no run, whoever left it: nothing has to be remembered.
# 2. The checkouts of runs that a command asked for are that command's own (review.worker.main_monitor).
# 3. So is the checkout of the run of main's monitor, which belongs to no attempt (review.worker.main_monitor).
# 4. A session's checkout stays as long as the session goes on.
# 5. What cannot be removed is told once, and tried again after a while (nobrakes.trash).

EMPTYING = "empty the trash"
"""The job that removes what is in the trash."""
EMPTYING_SECONDS = 2.0
"""So long at a time: others wait for their turn beside the loop."""
ASKED = "asked"
"""How the names of runs begin that a command asks for."""
NOBODY = 0
"""The attempt of runs that judge nobody's work: the canary's, and those that a command asks for."""
WATCH = "canary"
"""The setting with how far the canary is, and how the names of its runs begin."""


class Scratch:
    """The checkouts that are being removed."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.trash = Trash(ports.paths.trash)
        self._leaving: set[str] = set()
        self._told: set[str] = set()

    def drop(self, run: str) -> None:
        """Begin to remove a run's checkout."""
        self._leaving.add(run)
        self.ports.background.begin(f"drop {run}", partial(self.remove, run))

    def remove(self, run: str) -> None:
        """Remove a run's checkout and, before it, the home that its checks had."""
        folder = os.path.join(self.ports.paths.runs, run)
        self.trash.take(folder, os.path.join(folder, HOME))
        self.ports.git.drop_scratch(os.path.join(self.ports.paths.scratch, run))

    def settle(self) -> bool:
        """Hear which removals are over, and begin with what is left; the error of one that failed.

        Nobody's turn depends on it: False.
        """
        for run in tuple(self._leaving):
            self._leaving.discard(run)  # should it have failed, it still lies there
            with parked(self.ports, partial(of_run, self.ports, run)):
                if not self.ports.background.over(f"drop {run}"):
                    self._leaving.add(run)
        found = {os.path.basename(path): path for path in self.ports.git.scratches()}
        left = {name for name in found if name not in self._leaving and not name.startswith(f"{ASKED}-")}
        if left:  # nobody is asked where nothing can be removed: this is looked at in each quiet turn
            left -= self._used()
        for name in sorted(left):
            if not self._is_watched(name) and not self.trash.is_stuck(found[name]):
                self.drop(name)
        self._empty()
        return False

    def _used(self) -> set[str]:
        """The checkouts of runs, and of sessions that go on or whose agent still runs."""
        store = self.ports.store
        runs = store.runs()
        names = {run.id for run in runs} | {name_of(session.id) for session in store.sessions()}
        return names | {name_of(store.turn(run.turn).session) for run in runs if run.turn}

    def _empty(self) -> None:
        """Go on with what takes long, and tell of what cannot be removed."""
        if not self.ports.background.over(EMPTYING):
            return
        for one in self.trash.left():
            if one.why and one.path not in self._told:
                self._told.add(one.path)
                text = f"{one.path} cannot be removed ({one.why}); what is left of it is at {one.at}"
                self.ports.notifier.tell(Notice(text, urgent=True))
        if self.trash.is_due():
            self.ports.background.begin(EMPTYING, partial(self.trash.empty, EMPTYING_SECONDS))

    def _is_watched(self, name: str) -> bool:
        if not name.startswith(f"{WATCH}-"):
            return False
        watch = json.loads(self.ports.store.setting(WATCH) or "{}")
        return bool(watch.get("commit")) and name == f"{WATCH}-{watch.get('serial')}"
