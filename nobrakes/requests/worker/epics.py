"""The branches beside main: an epic's, which one pull request brings to main, and those of features for another base.

The review of an epic as a whole:

1. Its beads were reviewed when they landed there. Here all of it is proven on the current base: the branch if it
   contains the base, else both together.
2. Faults found by people or checks become beads of the epic; the request follows when they have landed.
3. Merging the request completes only what it had; later and open beads continue, and so does the epic.

Another base of a feature (`review.features.EPIC.base`): nobody works for an unknown branch. Each is asked about once in
a daemon's life, beside the loop, and again while it is missing. Reviews ask for themselves. What waits for one delays
nothing else, and a person is told once.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from ... import US
from ...beads.model import CLOSED, Attempt, Bead, BeadType, DependencyType, Outcome, ReadyBead, Role, Status, bead_owner
from ...beads.proposals import submitted
from ...beads.service.bead_commands import mend
from ...daemon.model import Board
from ...decisions.model import MENDS, EscalationType
from ...errors import NobrakesError, NoMain
from ...events.kinds import Event, Kind
from ...git.port import EPICS, Candidate, Conflict, Git, Message
from ...host.port import Notice
from ...parking import parked
from ...ports import Ports
from ...review.journal import Journal
from ...review.machine import Fact
from ...review.service.landed import bases, git_at
from ...review.verify import NONE
from ...review.waits import Land, Landing
from ...review.worker import chain
from ...review.worker.chain import AttemptEnd, Report, refused
from ...review.worker.merge_queue import NOBODY, Beside
from ..model import Where
from . import landing_branch

if TYPE_CHECKING:
    from ...store import Store

_SENT_BACK = {
    Outcome.FAILED_REVIEW: "the failed checks on the pull request of",
    Outcome.REMARKS: "people's comments on the pull request of",
    Outcome.FINDINGS: MENDS[EscalationType.CODE_REVIEW].answers,
}


def is_epic(bead: Bead) -> bool:
    return bead.type is BeadType.EPIC


def taken_in(ports: Ports, bead: Bead) -> Report:
    """The fetched content of the epic's branch."""
    git = ports.git
    if not landing_branch.ensure_objects(ports, bead.id) or not landing_branch.landings(ports, bead.id):
        return refused(Outcome.NO_WORK, f"the branch of epic {bead.id} has no work of its beads")
    head, main = git.with_epic_branch(bead.id).main(), git.main()
    # whether what landed first did not begin on what is main here
    landed = landing_branch.landings(ports, bead.id)
    known = [one.base for one in landed if one.base and ports.git.has(one.base)]
    first = [base for base in known if not any(_holds(ports.git, base, one.commit) for one in landed)]
    if not all(_began_on(ports, bead.id, main, base) for base in first):
        why = (
            f"the epic's branch started from another branch than {chain.main_of(ports)}, and would bring it along: set "
            f"review.features.{bead.id}.base to that branch, then type `nobrakes release {bead.id}`"
        )
        landing_branch.hold(ports, bead.id, why)
        return refused(Outcome.NO_WORK, f"{bead.id} is held: {why}")
    fork = git.fork(main, head)
    if fork is None:
        return refused(Outcome.BOUNDARY, f"the branch of {bead.id} shares no history with main")
    anchor = git.evidence_tip() or NONE
    return Report(Fact.TAKEN_IN, {"head": head, "fork": fork, "epic": "", "base": fork, "anchor": anchor})


def _began_on(ports: Ports, epic: str, main: str, base: str) -> bool:
    git, todo, seen = ports.git, [base], set[str]()
    while todo:
        commit = todo.pop()
        if commit in seen or git.contains(commit, main):
            continue
        seen.add(commit)
        made = git.made(commit)
        if made is None or not made.parents:
            return False
        if len(made.parents) == 1 and not landing_branch.has_landed_as(ports, epic, commit, made.trailer("Bead")):
            return False
        todo += made.parents
    return True


def without_request(ports: Ports, bead: Bead) -> Report | None:
    """What an epic's review does if work no longer lands by requests; None: it does."""
    if not is_epic(bead) or ports.pulls is not None:
        return None
    why = hold_without_request(ports, bead.id)
    return Report(Fact.STOPPED, ending=AttemptEnd(Outcome.INTERRUPTED, f"{bead.id} is held: {why}"))


def hold_without_request(ports: Ports, epic: str) -> str:
    """Hold an epic with landed work that no request would deliver; returns the reason."""
    why = (
        "the epic's finished work is on a branch, which only a pull request can deliver, but review.land is now "
        f'"{ports.config().review.land}": set review.land to "pull_request" again, then type `nobrakes release {epic}`'
    )
    landing_branch.hold(ports, epic, why)
    return why


def made(ports: Ports, bead: Bead, attempt: Attempt, journal: Journal, base: str) -> tuple[Candidate, ...] | Conflict:
    """The epic's branch on the base: itself if it contains it, else combined as the settings say."""
    change = journal.change
    git = ports.git
    if git.contains(base, change.head):
        return (Candidate(change.head, git.tree(change.head)),)
    if ports.config().review.diverged == "rebase":
        return _rebased(ports, bead, journal, base)
    words = Message(
        f"Merge {ports.where.base or ports.config().main} into the branch of {bead.id}", "", US, attempt.started_at
    )
    both = git.join(base, change.head, words)
    return both if isinstance(both, Conflict) else (both,)


def _rebased(ports: Ports, bead: Bead, journal: Journal, base: str) -> tuple[Candidate, ...] | Conflict:
    git = ports.git
    landed = {one.commit: one for one in landing_branch.landings(ports, bead.id)}
    tip = Candidate(base, git.tree(base))
    for made in reversed(git.line(journal.change.head, journal.change.fork)):
        one = landed.get(made.commit)
        if one is None:
            continue
        words = Message(one.bead.title, one.bead.description, made.author, made.at, tuple(made.trailers))
        found = git.squash(tip.commit, one.commit, words, one.base)
        if isinstance(found, Conflict):
            return found
        tip = found
    return (tip,)


def has_more(ports: Ports, bead: Bead, journal: Journal) -> Report | None:
    """What a waiting review does when more of the epic has landed; None: it has all."""
    if not is_epic(bead):
        return None
    head = ports.git.with_epic_branch(bead.id).main()
    are_done = all(one.status in (Status.LANDED, *CLOSED) for one in _children(ports.store, bead))
    if head == journal.change.head or not are_done:
        return None
    why = f"more work of {bead.id} is finished, so its pull request is updated"
    return Report(Fact.STOPPED, ending=AttemptEnd(Outcome.INTERRUPTED, why, journal.change.head))


def works(ports: Ports, bead: Bead) -> list[Attempt]:
    """The reviewed attempts by start: for an epic, those on its branch."""
    done = [submitted(ports.store.attempts(one.id)) for one in (within(ports, bead) or [bead])]
    return sorted((one for one in done if one is not None), key=lambda one: one.id)


def within(ports: Ports, bead: Bead) -> list[Bead]:
    return [one.bead for one in landing_branch.landings(ports, bead.id)] if is_epic(bead) else []


def _children(store: "Store", bead: Bead) -> list[Bead]:
    found = store.dependencies(bead.id)
    ids = [one.bead for one in found if one.needs == bead.id and one.type is DependencyType.PARENT_CHILD]
    return store.beads(ids=ids) if ids else []


def sent_back(ports: Ports, bead: Bead, journal: Journal, ending: AttemptEnd) -> None:
    """Add a bead that fixes the epic, beginning on the failed combination. Needs a transaction."""
    build, change = journal.build, journal.change
    if ending.outcome not in _SENT_BACK:
        return
    git = ports.git
    if ending.outcome is Outcome.FAILED_REVIEW and (
        build.candidate not in ("", change.head) and git.contains(change.head, build.candidate)
    ):
        git.with_epic_branch(bead.id).land(build.candidate, change.head)
    mend(ports.store, bead, _SENT_BACK[ending.outcome], ending.detail, "nobrakes")


def _merged(ports: Ports, bead: Bead, journal: Journal) -> list[landing_branch.Landed]:
    build = journal.build
    git, landed = ports.git, landing_branch.landings(ports, bead.id)
    named: set[str] = set()
    if ports.config().review.diverged == "rebase":  # its commits are other ones then, with the same trailers
        named = {of for made in git.line(build.candidate, build.base) if (of := made.trailer("Bead"))}
    return [one for one in landed if one.bead.id in named or _holds(git, build.candidate, one.commit)]


def _holds(git: Git, commit: str, landing: str) -> bool:
    return git.has(landing) and git.contains(landing, commit)


def is_a_landing(ports: Ports, bead: Bead, merged: str) -> bool:
    """Whether the epic reached main by a bead's own landing commit, which has its record."""
    return is_epic(bead) and any(one.commit == merged for one in landing_branch.landings(ports, bead.id))


def let_go(ports: Ports, bead: Bead, journal: Journal) -> None:
    """Archive the merged branch, unless it has more than its request."""
    git, name = ports.git, f"{EPICS}/{bead.id}"
    there = git.kept().get(name)
    if there is None:
        return
    git.pin(f"archive/{bead.id}/epic-{there[:12]}", there)
    if len(_merged(ports, bead, journal)) == len(landing_branch.landings(ports, bead.id)):
        git.pin(name, None)


def end(ports: Ports, bead: Bead, journal: Journal, merged: str) -> Kind:
    """Finish what the merged request contained, in a transaction; the event: MERGED, or LANDED if the epic goes on."""
    reason = (
        "main had the work already" if merged == journal.build.base else f"the pull request of {bead.id} was merged"
    )
    for one in _merged(ports, bead, journal):
        is_there = ports.git.contains(one.commit, merged)
        data = {
            "merged_commit": one.commit if is_there else merged,
            "base": one.base if is_there else "",
            "reason": reason,
            "with": bead.id,
            "whole": merged,
        }
        ports.store.record(Event(Kind.FOUND_MERGED, one.bead.id, data=data))
    if any(one.status not in CLOSED for one in _children(ports.store, bead)):
        return Kind.LANDED
    from ...features.worker.forge import complete

    complete(ports.store, bead.id)
    return Kind.MERGED


def adds_nothing(ports: Ports, candidate: Sequence[Candidate], base: str) -> bool:
    return candidate[-1].tree == ports.git.tree(base)


class RemoteBranches:
    """Fetches wanted branches, and again when due. Main's name is empty here."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[Land] = Beside(ports.background)
        self._going: set[str] = set()
        self._due: dict[str, float] = {}

    def turn(self, wanted: Iterable[str], now: float) -> Mapping[str, Land]:
        """Fetch due branches; returns results by branch, also of unwanted ones."""
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
        self._due[branch] = at

    def at_once(self) -> None:
        self._due.clear()

    def wake_at(self, wanted: Iterable[str]) -> float | None:
        return min((self._due[one] for one in wanted if one in self._due and one not in self._going), default=None)


def _asking(branch: str) -> str:
    return f"remote {branch}"


AGAIN_SECONDS = 60.0
"""Seconds before a missing branch is asked about again."""


class Bases:
    """Has them heard of."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.remote = RemoteBranches(ports)
        self._asked: set[str] = set()  # those that answered
        self._known: set[str] = set()
        self._told: set[str] = set()

    def turn(self, board: Board) -> bool:
        """Whether a branch was heard of for the first time."""
        heard = self.remote.turn(self._unasked(), board.now)
        return True in [self._heard(base, land, board.now) for base, land in heard.items()]

    def ask_again(self, base: str, at: float) -> None:
        if base in self._asked:
            self._asked.remove(base)
            self.remote.again(base, at)

    def seen(self, board: Board) -> Board:
        """The board without beads whose branch is unknown, and on a red main with those for others."""
        if board.elsewhere:
            of = self._bases(board.to_review)
            epics = {one.id for one in board.to_review if one.type == BeadType.EPIC}  # with a repair on their branches
            board = replace(board, elsewhere=frozenset(one for one in board.elsewhere if of[one] or one in epics))
        unknown = {base for base in bases(self.ports.config()) if not self.is_known(base)}
        if not unknown or not (board.ready or board.to_review):
            return board
        of = self._bases((*board.ready, *board.to_review))
        ready = tuple(one for one in board.ready if of[one.id] not in unknown)
        return replace(board, ready=ready, to_review=tuple(one for one in board.to_review if of[one.id] not in unknown))

    def wake_at(self) -> float | None:
        return self.remote.wake_at(self._unasked())

    def _unasked(self) -> list[str]:
        return [base for base in bases(self.ports.config()) if base not in self._asked]

    def _bases(self, beads: tuple[ReadyBead, ...]) -> Mapping[str, str]:
        found = self.ports.store.beads(ids=[one.id for one in beads])
        return {bead.id: landing_branch.lands_on(self.ports, bead).base for bead in found}

    def is_known(self, base: str) -> bool:
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
            text = f"no agent works on beads for the branch {base} (review.features) until it exists: {land.reason}"
            self.ports.notifier.tell(Notice(text, urgent=True))
        return False


# What is held because the branch that it lands on does not pass by itself. The event by which it is held says at which
# tip (`red`). What a person holds, or holds again, is theirs to release.
MAX_EVENTS = 1000


class RedBranches:
    """Holds beads for red branches, and releases them."""

    def __init__(self, ports: Ports, bases: Bases) -> None:
        self.ports = ports
        self.bases = bases
        self._held: dict[str, str] | None = None  # bead to the red tip; None: not looked for yet

    def hold(self, bead: str, tip: str, reason: str, more: str) -> None:
        """Hold it while its branch is at that tip; `more` extends the message."""
        landing_branch.hold(self.ports, bead, reason, more, {"red": tip})
        self._held = None

    def turn(self, board: Board) -> bool:
        """Release beads whose branch changed; whether any."""
        if not self.ports.config().review.by_request:
            return False
        if self._held is None:
            # the held beads, and at which tip their branch was red
            last: dict[str, Event] = {}
            for event in self.ports.store.latest_events((Kind.HELD, Kind.RELEASED), limit=MAX_EVENTS):
                last.setdefault(str(event.bead), event)
            self._held = {bead: str(one.data["red"]) for bead, one in last.items() if one.data.get("red")}
        changed = False
        for bead in self.ports.store.beads(ids=list(self._held)) if self._held else ():
            with parked(self.ports, bead_owner(bead.id)):
                changed |= self._look_at(bead, self._held[bead.id], self._held, board.now)
        return changed

    def _look_at(self, bead: Bead, tip: str, held: dict[str, str], now: float) -> bool:
        if bead.held is not None and bead.status not in CLOSED and tip in self._tips(bead):
            at = now + self.ports.config().review.poll_seconds
            self.bases.ask_again(landing_branch.lands_on(self.ports, bead).base, at)
            return False
        del held[bead.id]
        if bead.held is None or bead.status in CLOSED:
            return False
        self.ports.store.record(Event(Kind.RELEASED, bead.id))
        text = f"{bead.id} continues: its target branch, which failed the checks, has changed"
        self.ports.notifier.tell(Notice(text, bead.id))
        return True

    def _tips(self, bead: Bead) -> set[str]:
        branches = [git_at(self.ports.git, landing_branch.lands_on(self.ports, bead))]
        if bead.type is BeadType.EPIC:
            branches.append(self.ports.git.with_epic_branch(bead.id))
        found = set[str]()
        for branch in branches:
            with suppress(NoMain):
                found.add(branch.main())
        return found


# Files are looked up once for each branch under review, and only while a bead that waits says what it will change. That
# git could not say it is not trouble: what collides is found when it is merged, as ever.
MAX_REACH = 100


class Reach:
    """Caches the files of each reviewed branch."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        self._files: dict[tuple[str, str], tuple[str, ...]] = {}

    def seen(self, board: Board) -> Board:
        """The board with the files of reviewed work marked as taken."""
        if not any(bead.touches for bead in board.ready):
            return board
        taken, known = dict(board.taken), self._files
        self._files = {}
        for attempt in board.attempts:
            journal = Journal.of(attempt.data) if attempt.role is Role.REVIEWER else Journal()
            branch = (journal.change.fork, journal.change.head)
            if all(branch):
                with parked(self._ports, bead_owner(attempt.bead)):
                    files = known[branch] if branch in known else self._changed(*branch)
                    self._files[branch] = files
                    taken[attempt.bead] = (*taken.get(attempt.bead, ()), *files)
        return replace(board, taken=taken)

    def _changed(self, fork: str, head: str) -> tuple[str, ...]:
        with suppress(NobrakesError):
            return tuple(f"/{change.path}" for change in self._ports.git.changes(fork, head)[:MAX_REACH])
        return ()
