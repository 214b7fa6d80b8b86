"""The branches beside main that features are for (`review.features.EPIC.base`): nobody works for one that was never
heard of.

1. Each is asked about once in the life of a daemon, beside the loop, and again while there is no such branch. Reviews
   ask for themselves.
2. What waits for such a branch holds up nobody else, and a person is told once.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from ...beads.model import CLOSED, Bead, BeadType, Frontier, Role, of_bead
from ...daemon.model import Board
from ...errors import NobrakesError, NoMain
from ...events.kinds import Event, Kind
from ...git.port import Land, Landing
from ...host.port import Notice
from ...parking import parked
from ...ports import Ports
from ...review.journal import Journal
from ...review.service.landed import bases, git_at
from ...review.worker.queue import NOBODY, Beside
from ..text import Where
from . import landing_branch
from .landing_branch import lands_on


class RemoteBranches:
    """Has each that is wanted heard of, and again from the time on that was said. Main's name is empty here."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[Land] = Beside(ports.background)
        self._going: set[str] = set()
        self._due: dict[str, float] = {}

    def turn(self, wanted: Iterable[str], now: float) -> Mapping[str, Land]:
        """Ask about those that are due; what came of it, by branch, also of those that are not wanted any more."""
        heard: dict[str, Land] = {}
        for branch in sorted(self._going):
            if self._beside.is_pending(_asking(branch)):  # else it failed, and who heard of that was told
                land = self._beside.end(_asking(branch))
                if land is None:
                    continue
                heard[branch] = land
            self._going.remove(branch)
        for branch in wanted:
            if branch not in self._going and branch not in heard and self._due.get(branch, 0.0) <= now:
                self._going.add(branch)
                self._beside.begin(NOBODY, _asking(branch), git_at(self.ports.git, Where(branch)).catch_up)
        return heard

    def again(self, branch: str, at: float) -> None:
        """It is not asked about before that time."""
        self._due[branch] = at

    def at_once(self) -> None:
        """The clock jumped: nothing is waited for."""
        self._due.clear()

    def wake_at(self, wanted: Iterable[str]) -> float | None:
        """When the next of those is asked about again; None: none is, or its end wakes the loop."""
        return min((self._due[one] for one in wanted if one in self._due and one not in self._going), default=None)


def _asking(branch: str) -> str:
    return f"remote {branch}"


AGAIN_SECONDS = 60.0
"""So long a branch that is not there is not asked about again."""


class Bases:
    """Has them heard of."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.remote = RemoteBranches(ports)
        self._asked: set[str] = set()  # those that answered
        self._known: set[str] = set()
        self._told: set[str] = set()

    def turn(self, board: Board) -> bool:
        """Ask, and hear what came of it; whether one was heard of."""
        heard = self.remote.turn(self._unasked(), board.now)
        return True in [self._heard(base, land, board.now) for base, land in heard.items()]

    def ask_again(self, base: str, at: float) -> None:
        """Have it asked about again at that time, unless that is due already."""
        if base in self._asked:
            self._asked.remove(base)
            self.remote.again(base, at)

    def seen(self, board: Board) -> Board:
        """The board without the beads whose branch nobody has heard of yet; on a red main with those for others."""
        if board.elsewhere:
            of = self._bases(board.to_review)
            epics = {one.id for one in board.to_review if one.type == BeadType.EPIC}  # with a repair on their branches
            board = replace(board, elsewhere=frozenset(one for one in board.elsewhere if of[one] or one in epics))
        unknown = {base for base in self._named() if not self.is_known(base)}
        if not unknown or not (board.ready or board.to_review):
            return board
        of = self._bases((*board.ready, *board.to_review))
        ready = tuple(one for one in board.ready if of[one.id] not in unknown)
        return replace(board, ready=ready, to_review=tuple(one for one in board.to_review if of[one.id] not in unknown))

    def wake_at(self) -> float | None:
        """When the next is asked about; None: none is."""
        return self.remote.wake_at(self._unasked())

    def _unasked(self) -> list[str]:
        return [base for base in self._named() if base not in self._asked]

    def _named(self) -> list[str]:
        return bases(self.ports.config())

    def _bases(self, beads: tuple[Frontier, ...]) -> Mapping[str, str]:
        found = self.ports.store.beads(ids=[one.id for one in beads])
        return {bead.id: lands_on(self.ports, bead).base for bead in found}

    def is_known(self, base: str) -> bool:
        """Whether the branch, or main where it is empty, was heard of."""
        if not base:
            return True
        if base not in self._known:
            try:
                git_at(self.ports.git, Where(base)).main()
            except NoMain:
                return False
            self._known.add(base)
        return True

    def _heard(self, base: str, land: Land, now: float) -> bool:
        if land.landing is Landing.MOVED:
            self._asked.add(base)
            return True
        self.remote.again(base, now + AGAIN_SECONDS)
        if base not in self._told and not self.is_known(base):
            self._told.add(base)
            text = (
                f"nobody works for {base}, which a feature is for (review.features), until it is there: {land.reason}"
            )
            self.ports.notifier.tell(Notice(text, urgent=True))
        return False


# What is held because the branch that it lands on does not pass by itself. The event by which it is held says at which
# tip (`red`). What a person holds, or holds again, is theirs to release.
MAX_EVENTS = 1000
"""So many of the last events are looked through by a daemon that begins."""


class RedBranches:
    """Holds beads for red branches, and lets them go on."""

    def __init__(self, ports: Ports, bases: Bases) -> None:
        self.ports = ports
        self.bases = bases
        self._held: dict[str, str] | None = None  # bead to the red tip; None: not looked for yet

    def hold(self, bead: str, tip: str, reason: str, more: str) -> None:
        """Hold it while its branch is at that tip; `more` is told with the reason."""
        landing_branch.hold(self.ports, bead, reason, more, {"red": tip})
        self._held = None

    def turn(self, board: Board) -> bool:
        """Release what has another branch to land on by now; whether anything was."""
        if not self.ports.config().review.by_request:
            return False
        if self._held is None:
            self._held = self._known()
        changed = False
        for bead in self.ports.store.beads(ids=list(self._held)) if self._held else ():
            with parked(self.ports, of_bead(bead.id)):
                changed |= self._look_at(bead, self._held[bead.id], self._held, board.now)
        return changed

    def _look_at(self, bead: Bead, tip: str, held: dict[str, str], now: float) -> bool:
        """Whether it goes on."""
        if bead.held is not None and bead.status not in CLOSED and tip in self._tips(bead):
            self.bases.ask_again(landing_branch.lands_on(self.ports, bead).base, self._poll(now))
            return False
        del held[bead.id]
        if bead.held is None or bead.status in CLOSED:
            return False
        self.ports.store.record(Event(Kind.RELEASED, bead.id))
        text = f"{bead.id} goes on: the branch that it lands on was red, and is elsewhere by now"
        self.ports.notifier.tell(Notice(text, bead.id))
        return True

    def _poll(self, now: float) -> float:
        return now + self.ports.config().review.poll_seconds

    def _known(self) -> dict[str, str]:
        """The held beads, and at which tip their branch was red."""
        last: dict[str, Event] = {}
        for event in self.ports.store.latest_events((Kind.HELD, Kind.RELEASED), limit=MAX_EVENTS):
            last.setdefault(str(event.bead), event)
        return {bead: str(one.data["red"]) for bead, one in last.items() if one.data.get("red")}

    def _tips(self, bead: Bead) -> set[str]:
        """Where the branches are by which the bead is proven; the tip of an epic's own, too."""
        branches = [git_at(self.ports.git, landing_branch.lands_on(self.ports, bead))]
        if bead.type is BeadType.EPIC:
            branches.append(self.ports.git.of_epic(bead.id))
        found = set[str]()
        for branch in branches:
            with suppress(NoMain):
                found.add(branch.main())
        return found


# Files are looked up once for each branch under review, and only while a bead that waits says what it will change. That
# git could not say it is no trouble: what collides is found when it is merged, as ever.
MAX_REACH = 100
"""So many files of one branch are looked at."""


class Reach:
    """Remembers the files of each branch under review, also that there are none."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._files: dict[tuple[str, str], tuple[str, ...]] = {}

    def seen(self, board: Board) -> Board:
        """The board with the files of all work under review among what is taken."""
        if not any(bead.touches for bead in board.ready):
            return board
        taken, known = dict(board.taken), self._files
        self._files = {}
        for attempt in board.attempts:
            journal = Journal.of(attempt.data) if attempt.role is Role.REVIEWER else Journal()
            branch = (journal.change.fork, journal.change.head)
            if all(branch):
                with parked(self._ports, of_bead(attempt.bead)):
                    files = known[branch] if branch in known else self._changed(*branch)
                    self._files[branch] = files
                    taken[attempt.bead] = (*taken.get(attempt.bead, ()), *files)
        return replace(board, taken=taken)

    def _changed(self, fork: str, head: str) -> tuple[str, ...]:
        with suppress(NobrakesError):
            return tuple(f"/{change.path}" for change in self._ports.git.changes(fork, head)[:MAX_REACH])
        return ()
