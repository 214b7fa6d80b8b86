"""The branches beside main that features are for (`review.features.EPIC.base`): nobody works for one that was never
heard of.

1. Each is asked about once in the life of a daemon, beside the loop, and again while there is no such branch. Reviews
   ask for themselves.
2. What waits for such a branch holds up nobody else, and a person is told once.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace

from ...agents.prompts.delivery import bases, git_at
from ...beads.model import CLOSED, Bead, BeadType, Frontier, Role, Status, blocked_by, blockers_of, of_bead
from ...daemon.model import Board
from ...daemon.worker.ports import Ports
from ...daemon.worker.upkeep import parked
from ...errors import NobrakesError, NoMain
from ...events.kinds import Event, Kind
from ...git.port import REQUESTS, Git, Land, Landing
from ...host.port import Notice
from ...review.journal import Journal
from ...review.worker.queue import NOBODY, Beside
from ..model import Blocker, PullRequest, PullState, is_free, may_stack, waits_again
from ..text import Where
from . import exchange, landing_branch
from .epics import is_whole_epic
from .landing_branch import below_of, git_of, lands_on

# Branches of the remote that are asked about beside the loop: what others push there nobody tells.


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


# What is held because the branch that it lands on does not pass by itself: it goes on when that is elsewhere.
#
# 1. The event by which it is held says at which tip (`red`). What a person holds, or holds again, is theirs to release.
# 2. Another branch of the remote is asked about as often as requests are looked at.

MOST = 1000
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
        self._release(bead)
        return True

    def _poll(self, now: float) -> float:
        return now + self.ports.config().review.poll_seconds

    def _known(self) -> dict[str, str]:
        """The held beads, and at which tip their branch was red."""
        last: dict[str, Event] = {}
        for event in self.ports.store.latest_events((Kind.HELD, Kind.RELEASED), limit=MOST):
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

    def _release(self, bead: Bead) -> None:
        self.ports.store.record(Event(Kind.RELEASED, bead.id))
        text = f"{bead.id} goes on: the branch that it lands on was red, and is elsewhere by now"
        self.ports.notifier.tell(Notice(text, bead.id))


# Requests that stack on another one: what they are for, and what becomes of them when that one moves or ends.
#
# 1. Such a request is for the branch of the one below it, and shows only what it adds. It is built anew when that one
# changes, and on main when that one is merged.
# 2. Where people merged it into the branch below, it is on main when that one is; what is missing there then is asked
# for anew.
# 3. Where the bead below is given up, nobody knows what it is to stand on: a person says so.


def base_of(ports: Ports, bead: Bead, main: str) -> str:
    """The branch that the bead's request is for: that of the request below it, or main's, which is given."""
    below = below_of(ports, bead)
    under = ports.store.pull(below) if below else None
    return under.branch if under is not None else main


def has_moved(ports: Ports, bead: Bead, journal: Journal) -> bool:
    """Whether what the request was proven on is not what it stacks on any more, has not come to main as it was, or was
    taken off main by others, who do not want it back.
    """
    if not journal.base or is_whole_epic(bead) or not ports.git.has(journal.base):
        return False
    return not ports.git.contains(journal.base, git_of(ports, bead).main())


def is_due(ports: Ports, bead: Bead, journal: Journal, looked: float) -> bool:
    """Whether the request is to follow what it stacks on, at once: nobody did since `looked`."""
    pull = ports.store.pull(bead.id)
    if has_moved(ports, bead, journal):
        return not why_gone(ports, bead)
    if pull is None or not pull.onto or below_of(ports, bead):
        return False
    return looked < (ports.store.bead(pull.onto).closed_at or 0.0)  # it is for main now


def why_gone(ports: Ports, bead: Bead) -> str:
    """What is said where the bead below was given up; empty: it was not."""
    below = bead.stacks_on
    if below is None or ports.store.bead(below).status is not Status.CANCELLED:
        return ""
    return (
        f"it stacks on the pull request of {below}, which was cancelled: remove the dependency "
        f"(`nobrakes undepend {bead.id} {below}`), and it is built anew on main; or cancel it, too"
    )


def why_elsewhere(ports: Ports, bead: Bead, pull: PullRequest, into: str, main: str) -> str:
    """What is said of a request that people merged into that branch (empty: not known), while main has not got it."""
    said = f"pull request {pull.name} is merged, and its commit is not on {main}"
    if into not in ("", base_of(ports, bead, main)):
        said = f"pull request {pull.name} was merged into {into}, and is not on {main}"
    below = below_of(ports, bead)
    if below:
        return f"{said} before the pull request of {below} is merged, too"
    again = f"`nobrakes cancel {bead.id}` and then `nobrakes reopen {bead.id}` has it done again"
    return f"{said}: when it comes there, {bead.id} is done; {again}"


def is_merged_elsewhere(ports: Ports, bead: str) -> bool:
    """Whether people merged its request into what it stacked on, and that is merged by now."""
    pull = ports.store.pull(bead)
    return pull is not None and pull.waits and not pull.number and bool(pull.merged_as)


def asked_anew(ports: Ports, pull: PullRequest) -> None:
    """Forget the request that people merged into the branch below, which is merged by now, with it or without it."""
    exchange.archive(ports, pull.bead)
    came = ports.store.bead(pull.onto).merged_commit or pull.merged_as
    again = PullRequest(pull.bead, branch=pull.branch, heard=pull.heard, merged_as=came, opened_at=ports.store.now())
    ports.store.save_pull(again)


def is_stood_on(ports: Ports, bead: str) -> bool:
    """Whether the request of another bead is for the branch of this one's: the host closes it with the branch."""
    if any(one.onto == bead for one in ports.store.pulls()):
        return True
    if not ports.config().review.stacks:
        return False
    # a database that was lost knows nothing of a request that is there still
    waiting = blocked_by(bead, ports.store.dependencies(bead))
    return any(ports.store.pull(one) is None and exchange.pushed_now(ports, one) for one in waiting)


# Which files the work under review changes: what is started meanwhile should keep away from them.
#
# Looked up once for each branch (its fork and its head), and only while a bead that waits says what it will change.
# That git could not say it is no trouble: the bead's own globs stand, and what collides is found when it is merged, as
# ever.

REACH_MOST = 100
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
            branch = (journal.fork, journal.head)
            if all(branch):
                with parked(self._ports, of_bead(attempt.bead)):
                    files = known[branch] if branch in known else self._changed(*branch)
                    self._files[branch] = files
                    taken[attempt.bead] = (*taken.get(attempt.bead, ()), *files)
        return replace(board, taken=taken)

    def _changed(self, fork: str, head: str) -> tuple[str, ...]:
        with suppress(NobrakesError):
            return tuple(f"/{change.path}" for change in self._ports.git.changes(fork, head)[:REACH_MOST])
        return ()


# Beads on top of open requests: which may be, by requests.model, and what such a request brings, under a ref.
#
# refs/nobrakes/requests/<bead> is what the bead's open request brings. It stays as long as something stands on it.


class Stacks:
    """Lets beads stack, and wait again."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._has_refs = True  # as far as is known

    def turn(self, board: Board) -> bool:
        """Whether something changed."""
        config = self.ports.config().review
        if not config.by_request and not self._has_refs:
            return False
        store, git = self.ports.store, self.ports.git
        waiting = store.pulls() if config.by_request else []
        opened = {one.bead: one for one in waiting if one.state is PullState.OPEN and one.head and git.has(one.head)}
        stacked = dict(store.stacked())
        stood_on = set(stacked.values())
        kept = {bead: one.head for bead, one in opened.items() if config.stacks or bead in stood_on}
        if not (kept or stacked or self._has_refs):
            return False
        self._keep_refs(kept, stood_on)
        self._has_refs = bool(kept or stacked)  # after it: what could not be removed is tried again
        if not config.stacks:
            opened = {}
        changed = False
        for name in stacked:
            with parked(self.ports, of_bead(name)):
                bead = store.bead(name)
                where = lands_on(self.ports, bead)
                may = Where(self._base(stacked[name]), below=where.below)
                if bead.status in CLOSED or waits_again(bead, opened) or where != may:
                    store.stack(name, None)
                    changed = True
        for pull in opened.values():
            with parked(self.ports, of_bead(pull.bead)):
                for bead in self._dependants(pull.bead):
                    if may_stack(bead, pull.bead, self._blockers(bead, pull)):
                        store.stack(bead.id, pull.bead)
                        changed = True
        return changed

    def _keep_refs(self, opened: dict[str, str], stood_on: set[str]) -> None:
        git = self.ports.git
        start = f"{REQUESTS}/"
        there = {name.removeprefix(start): at for name, at in git.kept().items() if name.startswith(start)}
        for bead in (there.keys() | opened.keys()) - (stood_on - opened.keys()):
            if there.get(bead) != opened.get(bead):
                with parked(self.ports, of_bead(bead)):
                    git.pin(start + bead, opened.get(bead))

    def _dependants(self, needed: str) -> list[Bead]:
        """Those that need the bead, have not begun, and land by requests of their own on the same branch."""
        store = self.ports.store
        if store.bead(needed).type is BeadType.EPIC:
            return []
        ids = blocked_by(needed, store.dependencies(needed))
        beads = store.beads(ids=ids) if ids else []
        mine = Where(self._base(needed))
        return [one for one in beads if is_free(one) and lands_on(self.ports, one) == mine]

    def _base(self, bead: str) -> str:
        return lands_on(self.ports, self.ports.store.bead(bead)).base

    def _blockers(self, bead: Bead, pull: PullRequest) -> list[Blocker]:
        store, git = self.ports.store, self.ports.git
        needs = blockers_of(bead.id, store.dependencies(bead.id))
        return [Blocker(one.id, one.status, _has(git, pull.head, one.merged_commit)) for one in store.beads(ids=needs)]


def _has(git: Git, head: str, merged: str | None) -> bool:
    return bool(merged) and git.has(str(merged)) and git.contains(str(merged), head)
