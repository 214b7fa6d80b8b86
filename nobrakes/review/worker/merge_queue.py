"""The merge queue at work: who is in the queue, what is known of each candidate, and what follows for them.

1. Only the pace is stored here: the queue comes from the open reviews' journals and main.
2. A pass is a remembered validation of the candidate's tree; a red is counted in its review's journal.
3. A tree that passes but proves less than its base is red.
4. All waiting reviews share one reading for the turn. Journal writes are applied to it (`journaled`); after other
   writes it is read again (`changed`).
"""

import contextlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

from ...beads.model import Attempt, Bead, Role, Run, RunKind, bead_owner
from ...checks.contract import CheckOutcome, CheckResult, Verdict, overall
from ...checks.worker.steps import NOTICED, UNSEEN, probes_of, unnoticed
from ...checks.worker.validation import Validation, as_json, counts_of, proves_less
from ...daemon.model import Board, Limits
from ...events.kinds import Event, Kind
from ...host.port import Background
from ...parking import about
from ...ports import Ports
from ...requests.model import Where
from ...requests.worker.landing_branch import lands_on
from .. import machine, queue
from ..journal import PACE, Journal, Pace, Step, is_unqueued
from ..machine import Fact
from ..queue import LEDGER, Confirm, Entry, Flake, Move, at_once, decide, joined, may_join, red, to_land


class ReviewContext:
    """One review in one turn."""

    def __init__(self, ports: Ports, attempt: Attempt, board: Board) -> None:
        self.ports = ports
        self.attempt = attempt
        self.board = board

    @cached_property
    def bead(self) -> Bead:
        return self.ports.store.bead(self.attempt.bead)

    @property
    def limits(self) -> Limits:
        return self.board.limits


@dataclass(frozen=True)
class QueueSnapshot:
    """All open reviews, those that build on main, and the started validations. `attempts`: open reviews by id."""

    main: str
    opened: Sequence[Entry]
    entries: Sequence[Entry]
    busy: frozenset[int]
    pace: Pace
    attempts: dict[int, Attempt]


class AlteredTests:
    """What the altered tests of the queue's candidates say (checks.probes)."""

    def __init__(self, ports: Ports, validation: Validation, is_green: Callable[[Entry], bool]) -> None:
        self.ports = ports
        self.validation = validation
        self._is_green = is_green

    def is_clear(self, entries: Sequence[Entry], place: int) -> bool:
        """Whether the altered tests of all changes below this one were seen, or what lies below it passed alone. Where
        main does not report such tests either, nothing is asked of them."""
        build = entries[place].journal.build
        missed = unnoticed(self.validation.recorded(build.tree)) if place else []
        hidden = [check for check, _, changes in missed if changes - {build.candidate}]
        main = self._probes(entries, place)[0] if hidden else {}
        if all(main.get(check, "").startswith(UNSEEN) for check in hidden):
            return True
        return self._is_green(entries[place - 1]) and self.is_clear(entries, place - 1)

    def _probes(self, entries: Sequence[Entry], place: int) -> list[dict[str, str]]:
        """The results of the mutation probes of main, and of what the candidate stands on."""
        with about(self.ports, bead_owner(entries[place].bead)):
            trees = [self.ports.git.tree(entries[at].journal.build.base) for at in (0, place)]
        return [probes_of(self.validation.recorded(tree)) for tree in trees]

    def bent(self, entries: Sequence[Entry], place: int) -> str:
        """The altered test that the candidate's runner did not report, unlike its base's; "": none. Of what others
        below it missed they are asked, unless it was seen there."""
        build = entries[place].journal.build
        missed = unnoticed(self.validation.recorded(build.tree))
        if not missed or not self.is_clear(entries, place):
            return ""
        main, base = self._probes(entries, place)
        reports = {check for found in (main, base) for check, told in found.items() if told.startswith(NOTICED)}
        own = {
            check
            for check, _, changes in missed
            if not place or not changes or build.candidate in changes or base.get(check, "").startswith(NOTICED)
        }
        return next((test for check, test, _ in missed if check in reports & own), "")

    def is_unjudged(self, entries: Sequence[Entry], place: int) -> bool:
        """Whether an altered test was not reported, and nobody knows of the candidate's base or main."""
        build, runs = entries[place].journal.build, entries[place].journal.runs
        missed = unnoticed(self.validation.recorded(build.tree)) if place and runs.counted != build.base else []
        return bool(missed) and any(
            not any(check in found for found in self._probes(entries, place)) for check, _, _ in missed
        )


class MergeQueue:
    """What the open reviews know of each other."""

    def __init__(self, ports: Ports, validation: Validation) -> None:
        self.ports = ports
        self.validation = validation
        self.altered = AlteredTests(ports, validation, self._is_green)
        self._board: Board | None = None
        self._seen: QueueSnapshot | None = None
        self._move: Move | None = None

    def changed(self) -> None:
        self._seen = self._move = None

    def journaled(self, seen: QueueSnapshot | None, attempt: Attempt, ended: bool = False) -> None:
        """`seen` stays valid but for this review's journal, and with `ended` its validation."""
        if seen is None or attempt.id not in seen.attempts:
            self.changed()
            return
        attempts = {**seen.attempts, attempt.id: attempt}
        busy = seen.busy - {attempt.id} if ended else seen.busy
        self._seen, self._move = self._snapshot(seen.main, attempts, busy, seen.pace), None

    @property
    def seen(self) -> QueueSnapshot | None:
        return self._seen

    def look(self, board: Board) -> QueueSnapshot:
        if self._board is not board:
            self._board = board
            self._move = None
            self._seen = self._read(
                [a for a in board.attempts if a.role is Role.REVIEWER], board.runs.values(), board.pace
            )
        elif self._seen is None:
            store = self.ports.store
            self._seen = self._read(store.reviewing(), store.runs(), pace_now(self.ports, board))
        return self._seen

    def _read(self, attempts: Sequence[Attempt], runs: Collection[Run], pace: Pace) -> QueueSnapshot:
        busy = frozenset(run.attempt for run in runs if run.kind is RunKind.VALIDATION)
        return self._snapshot(self.ports.git.main(), {a.id: a for a in attempts if self._is_ours(a)}, busy, pace)

    def _is_ours(self, attempt: Attempt) -> bool:
        by_request = self.ports.config().review.by_request
        where = lands_on(self.ports, self.ports.store.bead(attempt.bead)) if by_request else Where()
        return where == self.ports.where

    def _snapshot(self, main: str, attempts: dict[int, Attempt], busy: frozenset[int], pace: Pace) -> QueueSnapshot:
        opened = [Entry(a.id, a.bead, Journal.of(a.data)) for a in attempts.values()]
        going = [entry for entry in opened if not is_unqueued(entry.journal.step)]
        return QueueSnapshot(main, going, joined(main, going, self.validation.contract), busy, pace, attempts)

    def may_join(self, board: Board) -> bool:
        seen = self.look(board)
        if any(entry.journal.change.brings for entry in seen.opened):  # which waits until nobody else is in the queue
            return False
        return may_join(seen.entries, board.limits.queue, seen.pace)

    def has_place(self, board: Board, attempt: int) -> bool:
        """Whether the queue has room for this review, which may return to it."""
        seen = self.look(board)
        before = (Step.TAKE_IN, Step.BOUNDARIES, Step.REBASE)
        others = sum(entry.attempt != attempt and entry.journal.step not in before for entry in seen.opened)
        return others < at_once(board.limits.queue, seen.pace)

    def free(self, board: Board) -> int:
        """How many more validations may run; those of other branches count."""
        if self.ports.config().review.by_request:  # the Reviewers of others began some since this one looked
            busy = len({run.attempt for run in self.ports.store.runs() if run.kind is RunKind.VALIDATION})
        else:
            busy = len(self.look(board).busy)
        return max(0, board.limits.queue.validators - busy)

    # --- deciding --------------------------------------------------------------------------------

    def move(self, board: Board) -> Move:
        """The decision of review.queue; prefix i ends with the i-th entry."""
        seen = self.look(board)
        if self._move is None:
            rules = board.limits.queue
            entries = seen.entries[: at_once(rules, seen.pace)]
            verdicts = [self._main_verdict(entry) for entry in entries[:1]]
            verdicts += [self._verdict(seen, place) for place in range(len(entries))]
            suspect = {place for place, entry in enumerate(entries, 1) if entry.journal.runs.is_suspect}
            apart = {place for place, entry in enumerate(entries, 1) if not entry.journal.change.shares_run}
            considered = {entry.attempt for entry in entries}
            others = [one for one in seen.opened if one.attempt not in considered and not one.journal.merging.waiting]
            coming = len(board.to_review) + len(others)
            every = rules.every_commit_green
            self._move = decide(verdicts, self.free(board), every, seen.pace.together, suspect, apart, coming)
        return self._move

    def _main_verdict(self, head: Entry) -> Verdict:
        # where a run could not say whether the work is good, nobody is blamed, so main need not be looked at
        with about(self.ports, bead_owner(head.bead)):
            tree = self.ports.git.tree(head.journal.build.base)
        runs, brings = head.journal.runs, head.journal.change.brings
        known = runs.is_broken or self.validation.passed(tree, head.attempt, brings) is not None
        return Verdict.GREEN if known else Verdict.UNKNOWN

    def _verdict(self, seen: QueueSnapshot, place: int) -> Verdict:
        entry = seen.entries[place]
        # a journal may say so though a crash came before the start
        if entry.journal.runs.validating == entry.journal.build.candidate and entry.attempt in seen.busy:
            return Verdict.RUNNING
        if self._is_green(entry):
            if self.less(seen.entries, place):
                return Verdict.CONFIRMED
            return Verdict.GREEN if self.altered.is_clear(seen.entries, place) else Verdict.RED
        return red(entry.journal.runs.red) if entry.journal.runs.red else Verdict.UNKNOWN

    def _is_green(self, entry: Entry) -> bool:
        journal = entry.journal
        if self.ports.config().review.revalidate == "always":
            return journal.runs.proven == self.proof(journal, journal.build.candidate)
        return self.validation.passed(journal.build.tree, entry.attempt, journal.change.brings) is not None

    def less(self, entries: Sequence[Entry], place: int) -> str:
        """Why a candidate proves less than main or its base; empty: it does not."""
        journal = entries[place].journal
        if journal.change.is_scaffolding:  # which may change what is proven
            return ""
        recorded = self.validation.recorded
        mine = recorded(journal.build.tree)
        with about(self.ports, bead_owner(entries[place].bead)):
            for before in dict.fromkeys((entries[0].journal.build.base, journal.build.base)):
                known = recorded(self.ports.git.tree(before))
                if known is None and before == entries[0].journal.runs.counted:
                    known = {"results": entries[0].journal.runs.before}
                why = proves_less(self.ports, before, journal.build.candidate, known, mine)
                if why is not None:
                    return why
        return ""

    def is_uncounted(self, journal: Journal) -> bool:
        """The candidate's tests were counted, its base's were not."""
        build = journal.build
        if journal.change.is_scaffolding or journal.runs.counted == build.base:
            return False
        recorded = self.validation.recorded
        mine, before = recorded(build.tree), recorded(self.ports.git.tree(build.base))
        if before is not None and unnoticed(mine):  # whether main's runner reports probes has to be known
            return not probes_of(before)
        return counts_of(mine) is not None and before is None

    def proof(self, journal: Journal, commit: str) -> str:
        key = journal.build.contract if journal.build.candidate else self.validation.contract(journal.change.brings)
        return f"{journal.step.value} {commit} {key}"

    # --- consequences ----------------------------------------------------------------------------

    def ran(self, board: Board) -> None:
        self._keep(board, pace_now(self.ports, board).ran())

    def blamed(self, board: Board) -> None:
        self._keep(board, pace_now(self.ports, board).blamed())

    def begin_landing(self, board: Board, said: Sequence[Mapping[str, Any]]) -> str:
        """Journal that main is about to move to the last of the first candidates, one for each of `said` (a person's
        and the review's decisions); returns it. A person cannot take these beads now. All or none: raises Stale."""
        seen = self.look(board)
        count = len(said)
        tip = seen.entries[count - 1].journal.build.candidate
        landing = [
            machine.advance(entry.journal, Fact.MAY_LAND, tip=tip, **brought).journal
            for entry, brought in zip(seen.entries, said, strict=False)
        ]
        attempts = [
            replace(seen.attempts[entry.attempt], data=journal.as_data())
            for entry, journal in zip(seen.entries, landing, strict=False)
        ]
        with self.ports.store.write():
            for attempt in attempts:
                self.ports.store.journal(attempt.id, attempt.data)
            if not landing[0].merging.waiting:  # else it is counted already
                self._keep(board, seen.pace.landed(count))
        for attempt in attempts:
            self.journaled(self.seen, attempt)
        return tip

    def landing(self, board: Board, tip: str) -> list[Entry]:
        """Those that land with `tip`; empty if one is gone."""
        seen = self.look(board)
        swapping = [one for one in seen.entries if one.journal.step is Step.SWAP and one.journal.build.tip == tip]
        return to_land(joined(seen.main, swapping, self.validation.contract), tip)

    def wait(self, attempt: int, journal: Journal, entries: Sequence[Entry]) -> None:
        """Main did not move: store the journal; the other entries wait too."""
        with self.ports.store.write() if entries else contextlib.nullcontext():
            self.ports.store.journal(attempt, journal.as_data())
            for entry in entries[1:]:
                behind = machine.advance(entry.journal, Fact.BLOCKED_HEAD).journal
                self.ports.store.journal(entry.attempt, behind.as_data())
        self.changed()

    def _keep(self, board: Board, pace: Pace) -> None:
        if not is_paced(board.limits):
            return
        self.ports.store.set_setting(PACE, pace.as_text())
        if (seen := self._seen) is not None:
            self._seen, self._move = self._snapshot(seen.main, seen.attempts, seen.busy, pace), None


def below(ports: Ports, journal: Journal) -> list[str]:
    """What a candidate stands on: its base, which another one may have made, down to main."""
    found, main = [journal.build.base], ports.git.main()
    if found[0] != main:
        builds = [Journal.of(one.data).build for one in ports.store.reviewing()]
        bases = {build.candidate: build.base for build in builds}
        while found[-1] != main and (base := bases.get(found[-1], "")) and base not in found:
            found.append(base)
    return found


def pace_now(ports: Ports, board: Board) -> Pace:
    return Pace.parse(ports.store.setting(PACE)) if is_paced(board.limits) else Pace()


def is_paced(limits: Limits) -> bool:
    return not limits.queue.every_commit_green and not limits.queue.is_serial


End = TypeVar("End")
NOBODY = 0
"""The id of no review: for background work of none."""


@dataclass(slots=True)
class _Asked(Generic[End]):
    """Background work for a review, and its result."""

    attempt: int
    end: End | None = None


# A question is begun once and asked for in each turn until its end is there. What was begun for a review that is over
# is heard by `settle`: an end that nobody hears keeps a run from ending.
class Beside(Generic[End]):
    """Background questions by name, with their reviews."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._asked: dict[str, _Asked[End]] = {}

    def ask(self, attempt: int, name: str, ask: Callable[[], End]) -> End | None:
        """Start it once; returns its end, None while it runs."""
        if not self.is_pending(name):
            self.begin(attempt, name, ask)
        return self.end(name)

    def begin(self, attempt: int, name: str, ask: Callable[[], End]) -> None:
        asked = self._asked[name] = _Asked[End](attempt)

        def job() -> None:
            asked.end = ask()

        self._background.begin(name, job, far=True)

    def end(self, name: str) -> End | None:
        """None while it runs; raises the error of failed work."""
        asked = self._asked.pop(name, None) if self._background.over(name) else None
        return asked.end if asked is not None else None  # what another one began is asked again

    def is_pending(self, name: str) -> bool:
        return self._background.busy(name)

    def settle(self, attempts: Collection[int]) -> list[tuple[int, End]]:
        """Collect results for ended reviews, which no one else does."""
        heard = []
        for name, asked in list(self._asked.items()):
            if asked.attempt not in attempts and (not self.is_pending(name) or self._background.over(name)):
                del self._asked[name]
                heard += [(asked.attempt, asked.end)] if asked.end is not None else []
        return heard


STANDS = "it passed in the run "


# The ledger is the events of kind `flaked`, one a check and run: a run that is judged again after a crash adds none.
# What failed is remembered by tree and contract until that tree passes.
def ledger(ports: Ports) -> list[Flake]:
    return [Flake.of(event) for event in ports.store.latest_events([Kind.FLAKED], limit=LEDGER)]


class Flaky:
    """Reads the results of validations."""

    def __init__(self, ports: Ports, validation: Validation) -> None:
        self.ports = ports
        self.validation = validation

    def hear(self, attempt: Attempt, tree: str, run: Run, results: Sequence[CheckResult]) -> None:
        """Record flakes in these results, and remember failures; before the pass is remembered."""
        contract = self.validation.run_contract(run.id)
        if contract is None:
            return
        store, key = self.ports.store, f"failed/{contract.key}"
        known = self.validation.known
        failed = (known(tree, key) or {}).get("results", [])
        shown = queue.found(tree, results, failed, known(tree, contract.key) is not None)
        failing = queue.failures(results)
        if not shown and failing == failed:
            return
        told = {(e.data["check"], e.data["run"]) for e in self._events_in_attempt(attempt)} if shown else set()
        with store.write():
            for flake in shown:
                if (flake.check, run.id) not in told:
                    data = {"check": flake.check, "tests": list(flake.tests), "tree": tree, "run": run.id}
                    store.record(Event(Kind.FLAKED, attempt.bead, attempt.id, data=data))
            self.validation.save(tree, key, {"results": failing})

    def _events_in_attempt(self, attempt: Attempt) -> list[Event]:
        found = self.ports.store.latest_events([Kind.FLAKED], limit=LEDGER, bead=attempt.bead)
        return [event for event in found if event.attempt == attempt.id]

    def to_confirm(self, journal: Journal, commit: str, run: Run, results: Sequence[CheckResult]) -> bool:
        """Whether the commit is validated again before blame. In the queue review.queue decides; a commit of the chain
        is never blamed, but folded into the next."""
        if journal.step is Step.VALIDATE_REBASED or (
            journal.runs.confirming == commit and journal.runs.again + 1 >= queue.TIMES
        ):
            return False
        return self.is_suspect(run, results)

    def carried(self, journal: Journal, commit: str, run: Run, results: Sequence[CheckResult]) -> Journal:
        """The journal with the results that stay valid while failed checks repeat."""
        contract = self.validation.run_contract(run.id)
        if contract is None or overall(results) is not CheckOutcome.FAIL:
            return journal.with_values(carried=(), carried_for="")
        stand = [
            replace(one, reason=one.reason if one.reason.startswith(STANDS) else STANDS + run.id)
            for one in queue.carried(results, contract.checks)
        ]
        return journal.with_values(carried=tuple(as_json(stand)), carried_for=f"{commit} {contract.key}")

    def is_suspect(self, run: Run, results: Sequence[CheckResult]) -> bool:
        """Whether this failure may be a flake, by ledger and settings."""
        if overall(results) is not CheckOutcome.FAIL:
            return False
        how = Confirm(self.ports.config().review.confirm)
        checks = self.validation.checks(run)
        if how is not Confirm.FLAKY:
            return queue.wants_confirming(how, results, checks, ())
        return queue.wants_confirming(how, results, checks, ledger(self.ports))
