"""What a daemon does beside its turns: it takes up what another daemon left, then keeps logs, refs and objects small.

1. Old logs are removed in parts when nobody works, at the start and every ten minutes (which: agents.limits). Work
   stays: it is in git, and only `archive` deletes.
2. Typical minutes are learnt from done beads (beads.graph) every ten minutes, also at work.
3. Packing is considered every half a minute while somebody works, and once after: beads must not get slower. Nothing
   waits for it; a failure changes nothing until the next time.
4. Keys of commands (`--request`) are forgotten after thirty days.
"""

import contextlib
import math
import os
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from functools import partial
from itertools import islice

from ...agents.limits import DAY_SECONDS, attempt_of, let_go, release_turns, turn_of
from ...beads import model
from ...checks.policy.boundaries import barred
from ...decisions.model import EscalationType
from ...errors import NobrakesError, NoMain, NoSuchBead, Stale, Tampered
from ...events.kinds import MERGES, Event, Kind
from ...host.port import Notice
from ...host.proctable import end_all
from ...parking import parked, run_owner
from ...ports import Ports
from ...requests.model import WAITING
from ...requests.worker.landing_branch import git_of
from ...review.evidence import Value
from ...review.journal import Journal, may_land
from ...review.verify import ROLLED_BACK, Merge, is_ours, merges
from ...review.worker.chain import Evidence
from ...review.worker.main_checks import fallen
from ...review.worker.verdicts import LANDING, PINS, landing_pin
from ...text.cleaning import count
from ...trash import Trash
from ..model import COMPARED, Board

_MANY = 10_000
_WHY = "the daemon was killed before it recorded the merge's evidence, and the database did not know the merge"


# A merge of ours that main carries and no event names makes its bead done; its record is written first, in main's
# order, from refs/nobrakes/landing/<bead> or with what is known still. An open review whose candidate is on main goes
# on by itself. Main is read since the commit up to which it was compared last.
class Reconciling:
    """Compares once."""

    def __init__(self, ports: Ports, each: Callable[[str], AbstractContextManager[None]]) -> None:
        """`each`: wraps the work for a bead."""
        self.ports = ports
        self.each = each
        self.evidence = Evidence(ports)
        self._chain: set[str] | None = None
        self._recorded: dict[str, Value] = {}
        self._line: set[str] = set()

    def look(self) -> list[str]:
        """Reconcile store and evidence with main; returns beads found done."""
        try:
            main = self.ports.git.main()
        except NoMain:
            return []
        self._drop_landings(main)
        if (since := self._since(main)) == main:
            return []
        line = self.ports.git.line(main, since)
        self._line = {made.commit for made in line}
        found: list[str] = []
        for merge in merges(line):
            with self.each(merge.bead):
                found += [merge.bead] if self._deal_with(merge) else []
        self.ports.store.set_setting(COMPARED, main)
        return found

    def _since(self, main: str) -> str | None:
        since = self.ports.store.setting(COMPARED)
        git = self.ports.git
        return since if since and git.has(since) and git.contains(since, main) else None

    def _deal_with(self, merge: Merge) -> bool:
        known = self.ports.store.beads(ids=[merge.bead])
        bead = known[0] if known else None
        if bead is None or self._is_known(bead, merge):
            return False
        chain, recorded = self._evidence()
        if not is_ours(merge, bead, chain, recorded):
            return False
        if bead.status is model.Status.LANDED or self._waits_for_people(bead.id):
            return False  # its review hears from the code host what was merged, and finishes it
        if any(candidate == merge.tip.commit for _, candidate in self._reviews()):
            return False
        git = self.ports.git
        if git.is_shared() and any(name.startswith(f"{PINS}/{bead.id}/") for name in git.kept()):
            return False  # the review that comes next asks the remote, and finishes it
        if merge.tip.commit not in recorded:
            self._record_what_came_before(merge)
            git.keep_evidence(self._record(bead, merge))
        if not merge.stands or self._was_taken_back(bead, merge):
            return False
        self._done(bead, merge)
        return True

    # --- what is known ---------------------------------------------------------------------------

    def _is_known(self, bead: model.Bead, merge: Merge) -> bool:
        commits = {made.commit for made in merge.commits}
        if bead.merged_commit in commits:
            return True
        events = self.ports.store.latest_events(MERGES, limit=_MANY, bead=bead.id)
        return any(event.data.get("merged_commit") in commits for event in events) or self._is_rewritten(bead, merge)

    def _waits_for_people(self, bead: str) -> bool:
        store = self.ports.store
        pull = store.pull(bead) if self.ports.pulls is not None else None
        is_reviewed = store.bead(bead).status in (model.Status.NEEDS_REVIEW, model.Status.REVIEWING)
        return pull is not None and pull.state in WAITING and is_reviewed

    def _is_rewritten(self, bead: model.Bead, merge: Merge) -> bool:
        if bead.merged_commit is None or bead.merged_commit in self._line:
            return False
        before = self.ports.git.made(bead.merged_commit)
        return before is not None and before.trailer("Evidence") == merge.anchor

    def _was_taken_back(self, bead: model.Bead, merge: Merge) -> bool:
        reviews = (one for one in self.ports.store.attempts(bead.id) if one.role is model.Role.REVIEWER)
        return any(
            one.outcome is model.Outcome.FAILED_REVIEW and Journal.of(one.data).build.candidate == merge.tip.commit
            for one in reviews
        )

    def _evidence(self) -> tuple[set[str], dict[str, Value]]:
        if self._chain is None:
            self._chain = set()
            for entry in self.ports.git.evidence():
                self._chain.add(entry.commit)
                if not entry.problem():
                    for one in entry.record["commits"]:
                        self._recorded[str(one["commit"])] = entry.record
        return self._chain, self._recorded

    def _reviews(self) -> list[tuple[model.Attempt, str]]:
        found = [(one, Journal.of(one.data).build.candidate) for one in self.ports.store.reviewing()]
        return [(review, candidate) for review, candidate in found if candidate]

    # --- what is done ----------------------------------------------------------------------------

    def _record_what_came_before(self, merge: Merge) -> None:
        git, store = self.ports.git, self.ports.store
        for review, candidate in self._reviews():
            if git.has(candidate) and git.contains(candidate, merge.tip.commit):
                self.evidence.merged(review, store.bead(review.bead), Journal.of(review.data))

    def _record(self, bead: model.Bead, merge: Merge) -> Value:
        held = self.ports.git.held(landing_pin(bead.id))
        if held is not None and held["merged"]["commit"] == merge.tip.commit:
            return {**held, "added_later": _WHY}
        base = self.ports.git.made(merge.base) if merge.base else None
        return self.evidence.unknown(bead, base or merge.commits[0], merge.commits, merge.anchor, _WHY)

    def _done(self, bead: model.Bead, merge: Merge) -> None:
        ports = self.ports
        with contextlib.suppress(Tampered):  # it stays where it is, and is put aside when its place is needed
            ports.git.archive(bead, bead.fence)
        data = {"merged_commit": merge.tip.commit, "base": merge.base, "reason": "found on main"}
        ports.store.record(Event(Kind.FOUND_MERGED, bead.id, data=data))
        text = f"{bead.id} is on main as {merge.tip.commit[:12]}, but the database did not know: the bead is now done"
        ports.notifier.tell(Notice(text, bead.id, urgent=True))

    def _drop_landings(self, main: str) -> None:
        git = self.ports.git
        going: dict[str, str] = {}
        for name in git.kept():
            kind, _, bead = name.partition("/")
            with self.each(bead):
                held = git.held(name) if kind == LANDING else None
                if held is not None:
                    going[bead] = str(held["candidate"]["commit"])
        opened = {Journal.of(one.data).build.candidate for one in self.ports.store.reviewing()} if going else set()
        for bead, candidate in going.items():
            with self.each(bead):
                if candidate in opened or (git.has(candidate) and git.contains(candidate, main)):
                    continue
                if git.has(candidate):
                    git.pin(f"archive/{bead}/landing-{candidate[:12]}", candidate)
                git.pin(landing_pin(bead), None)


def take_up(ports: Ports, board: Board) -> None:
    """Poll what waited, remove stale locks, and report what is running."""
    for attempt in board.attempts:
        journal = Journal.of(attempt.data) if attempt.role is model.Role.REVIEWER else None
        if journal is not None and journal.merging.waiting:  # whoever starts a daemon wants it to look at once
            again = journal.with_values(waiting="", waiting_until=0.0, passing=False, passing_since=0.0)
            with contextlib.suppress(Stale):  # a person took the bead away meanwhile
                ports.store.journal(attempt.id, again.as_data())
    if mended := ports.git.settle_in():
        moved = count(len(mended), "workspace borrows", "workspaces borrow")
        ports.notifier.tell(Notice(f"the repository was moved: {moved} git objects from its new folder now"))
    ports.git.clear_locks()
    restore(ports)
    _go_on_through_filters(ports)
    _tell_of_checkouts(ports, board)
    _count_on(ports)
    Reconciling(ports, lambda bead: parked(ports, model.bead_owner(bead))).look()
    with contextlib.suppress(NobrakesError):  # without a main there is nothing to compare, and the turns tell of it
        if text := fallen(ports):
            ports.notifier.tell(Notice(text, urgent=True))
    _let_candidates_go(ports)
    runs = ports.store.runs()
    alive = []
    for run in runs:
        with parked(ports, partial(run_owner, ports, run.id)):
            alive += [run.id] if run.pid is not None and ports.processes.alive(run) else []
    if runs:
        data = {"alive": alive, "ended": [run.id for run in runs if run.id not in alive]}
        ports.store.record(Event(Kind.RECOVERED, data=data))


def restore(ports: Ports, in_depth: bool = False) -> None:
    """Fetch lost objects of our refs from workspaces; doctor reports the rest."""
    for one in ports.git.broken_refs(in_depth):
        if one.held_in and ports.git.restore(one):
            text = f"git had lost the commit of {one.ref}; nobrakes restored the commit from {one.held_in}"
            ports.notifier.tell(Notice(text))


def _go_on_through_filters(ports: Ports) -> None:
    for one in ports.store.escalations():
        if one.type is EscalationType.FILTER_NOT_ALLOWED:
            with contextlib.suppress(NobrakesError):  # git cannot say so now, or a person decided: it stays theirs
                git = git_of(ports, ports.store.bead(str(one.bead)))
                base, head, globs = (one.evidence.get(name) for name in ("base", "head", "touches"))
                if not barred(git.barred_at(str(base), globs) if globs else git.changes(str(base), str(head))):
                    ports.store.resolve(one.id, "your settings now allow the filter", "nobrakes")


def _tell_of_checkouts(ports: Ports, board: Board) -> None:
    if any(attempt.role is model.Role.REVIEWER and may_land(attempt.data) for attempt in board.attempts):
        return
    with contextlib.suppress(NobrakesError):  # the turns meet it again, and tell
        for text in ports.git.behind():
            ports.notifier.tell(Notice(text, urgent=True))


def _count_on(ports: Ports) -> None:
    """Unknown attempts or sessions in folders: the database went back. Skip their numbers, end their agents."""
    names = _names(ports.paths.runs)
    last, turns = model.last_attempt(names), model.last_turn(names)
    sessions = model.last_clone(_names(ports.paths.relays))
    if ports.store.count_on(last, {}, turns, sessions) or ports.store.setting(ROLLED_BACK):
        ports.store.count_on(last, model.fences(ports.git.kept()), turns)
        end_all(ports.paths.wake, {run.id for run in ports.store.runs()})
        ports.store.set_setting(ROLLED_BACK, None)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


def _let_candidates_go(ports: Ports) -> None:
    kept: Collection[str] = ()
    with contextlib.suppress(NobrakesError):  # the next start sees to it
        kept = ports.git.kept()
    for name in kept:
        bead = name.split("/")[1] if name.startswith("candidate/") else ""
        with contextlib.suppress(NoSuchBead), parked(ports, model.bead_owner(bead) if bead else ""):
            if bead and ports.store.bead(bead).status in model.CLOSED:
                ports.git.pin(name, None)


JOB = "upkeep"
PACKING = "pack refs and objects"
AGAIN = 600.0
PACK_AGAIN = 30.0
REQUEST_SECONDS = 30 * 86400.0
MAX_INSPECTED = 2000
MAX_REMOVED = 200


class Upkeep:
    """Removes old logs, and packs refs and objects."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._looked = self._learnt = self._packed = -math.inf
        self._has_worked = True
        self._place = 0

    def turn(self, board: Board) -> bool:
        """Clean up if due and idle; always False: it changes no board."""
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
        settings, store = self.ports.config().retention, self.ports.store
        try:
            names = sorted(os.listdir(self.ports.paths.runs), key=lambda name: (attempt_of(name) or 0, name))
        except FileNotFoundError:
            return []
        last = names[-1:]  # it is compared with, wherever we are
        some = list(islice(names, self._place, self._place + MAX_INSPECTED))
        self._place = self._place + len(some) if self._place + len(some) < len(names) else 0
        known: dict[int, model.Attempt] = {}
        for number in {attempt_of(name) for name in some} - {None}:
            try:
                known[number or 0] = store.attempt(number or 0)
            except NobrakesError:
                continue  # a rebuilt database does not know it
        going: list[str] = []
        if len(some) < len(names) or self._may_go(
            known.values(), settings.run_beads, board.now - settings.run_days * DAY_SECONDS
        ):
            done = store.beads([model.Status.DONE])  # all there ever were: not asked where nothing can go
            merged = {bead.id: bead.closed_at or bead.updated_at for bead in done if bead.merged_commit is not None}
            beads = {number: one.bead for number, one in known.items()}
            going = let_go([*some, *last], beads, merged, board.now, settings.run_days, settings.run_beads)
        going += release_turns(names, self._ended_turns(names), board.now, settings.run_days)
        self._place = max(0, self._place - len(going))
        return going[:MAX_REMOVED]

    @staticmethod
    def _may_go(attempts: Collection[model.Attempt], most: int, before: float) -> bool:
        return len({one.bead for one in attempts}) > most or any(one.started_at <= before for one in attempts)

    def _ended_turns(self, names: Sequence[str]) -> dict[int, float]:
        over = {one.id: one.ended_at for one in self.ports.store.sessions(going=False) if one.ended_at is not None}
        found = {}
        for number in {turn_of(name) for name in names} - {None}:
            with suppress(NobrakesError):  # a rebuilt database does not know it
                if (ended := over.get(self.ports.store.turn(number or 0).session)) is not None:
                    found[number or 0] = ended
        return found

    def _do(self, runs: Sequence[str]) -> None:
        trash, folder = Trash(self.ports.paths.trash), self.ports.paths.runs
        for run in runs:
            trash.take(folder, os.path.join(folder, run))
