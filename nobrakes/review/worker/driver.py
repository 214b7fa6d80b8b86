"""The Reviewer at work: one review, step by step, each journaled before the next.

1. Every step can be repeated: it compares the journal with the world before it acts.
2. A step does what its name says and reports what it saw; review.machine and review.worker.verdicts continue.
3. The steps from the rebase until main has moved are here: there reviews meet.
"""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial

from ...agents.worker.end import close
from ...beads.model import FORK, Attempt, BeadType, Outcome, Role, Run, Status
from ...beads.proposals import is_by_person
from ...checks.contract import NO_CHECKOUT, CheckResult, cannot_run
from ...checks.policy.boundaries import barred, fault, violations
from ...checks.policy.ownership import CONTRACT
from ...checks.worker.steps import boundary_at, is_same
from ...checks.worker.validation import Validation, explain, result_of
from ...daemon.deciders import look_again, may_pass
from ...daemon.model import Board
from ...decisions.model import EscalationType, NewEscalation
from ...errors import GitFailed, NotAllowed
from ...git.port import EPICS, Candidate, Conflict
from ...host.port import Notice
from ...ports import Ports
from ...requests.model import Where
from ...requests.worker import epics
from ...requests.worker.epics import Bases, RedBranches
from ...requests.worker.landing_branch import lands_on, ports_of
from ...requests.worker.request_step import MergedMeanwhile, PullSteps
from .. import machine
from ..journal import Journal, Step
from ..machine import Act, Fact, Next
from ..queue import Entry
from ..service.landed import git_at
from ..verify import NONE
from ..waits import CHECKOUT_CAUSES, FILE_CAUSES, WAITS, Cause, Land, Landing, next_look
from . import chain as review_evidence
from . import verdicts
from .asked import Approvals, NewContract, ProtectedFiles, Readings, SuspiciousContent
from .chain import AttemptEnd, Report, blamed, questioned, refused, unsure
from .culprits import BROKEN, FROZEN, Lost, handed_in, pin_of
from .merge_queue import NOBODY, MergeQueue, ReviewContext, is_paced
from .verdicts import Landings, Verdicts, Watchman


# Main moves in one place only, by compare-and-swap from the commit that was validated against; the queue's head moves
# it, for itself and for those behind it that are proven with it. The journals say so before, on the disk: from then on
# nobody takes the beads out of review. Who stands on something that is gone is rebuilt.
class ReviewSteps:
    """Leads reviews through the queue."""

    def __init__(
        self, ports: Ports, validation: Validation, queue: MergeQueue, verdicts: Verdicts, pulls: PullSteps
    ) -> None:
        self.ports = ports
        self.validation = validation
        self.queue = queue
        self.verdicts = verdicts
        self.landings = Landings(ports)
        self.pulls = pulls
        self.gates = ProtectedFiles(ports)
        self.approvals = Approvals(ports, self.gates)
        self.readings = Readings(ports, self.approvals)

    def rebase(self, context: ReviewContext, journal: Journal) -> Report:
        """Build the candidate on the queue's last one, or on main."""
        waits = self.landings.is_pending(context.attempt.id)  # what was begun is heard to its end
        has_caught_up = False
        entries = self.queue.look(context.board).entries
        is_head = not entries or entries[0].attempt == context.attempt.id  # those behind it stand on what it saw
        if self.ports.git.is_shared() and (waits or is_head):
            ready = self.landings.catch_up(context.attempt.id)
            if ready is None:
                return Report(Fact.NOT_YET)
            if ready.landing is not Landing.MOVED:
                return self._blocked(context, journal, ready)
            self.queue.changed()
            has_caught_up = True
        report = self._rebased(context, journal)
        is_held = report.fact is Fact.BLOCKED or (report.fact is Fact.NOT_YET and not has_caught_up)
        if was_freed := bool(journal.merging.waiting) and not is_held:
            self._freed(journal)
        return replace(report, was_freed=was_freed)

    def _rebased(self, context: ReviewContext, journal: Journal) -> Report:
        seen = self.queue.look(context.board)
        main = seen.main
        if (landed := self._landed(context, journal, main)) is not None:
            return landed
        if any(entry.attempt == context.attempt.id for entry in seen.entries):
            # main moved away and is back where it was: the candidate stands, and nothing could stand on itself
            return Report(Fact.STANDS)
        if not self.queue.has_place(context.board, context.attempt.id):
            return Report(Fact.NOT_YET)
        base = seen.entries[-1].journal.build.candidate if seen.entries else main
        if journal.change.brings and base != main:
            return Report(Fact.NOT_YET)  # nobody else is validated by it, so it lands by itself
        if base != main and (journal.build.apart == base or not self.queue.may_join(context.board)):
            return Report(Fact.NOT_YET)
        made = self._made(context, journal, base)
        if isinstance(made, Conflict) and base != main:
            alone = self._made(context, journal, main)
            if not isinstance(alone, Conflict):
                # who is before it may fail yet; nobody is asked before that
                return Report(Fact.CONFLICTS_AHEAD, {"apart": base})
            base, made = main, alone
        if isinstance(made, Conflict) and made.failed:
            why = f"A git filter fails on this machine. {made.failed}\n{WAITS[Cause.FILTER].remedy}"
            return self._blocked(context, journal, Land(Landing.BLOCKED, why, Cause.FILTER))
        if isinstance(made, Conflict):
            return self._conflicts(journal, base, made)
        land = self.ports.git.obstacle(made[-1].commit, main) if journal.merging.waiting else None
        if land is not None and land.cause in FILE_CAUSES:
            return self._blocked(context, journal, land)
        if epics.is_epic(context.bead) and base == main and epics.adds_nothing(self.ports, made, base):
            return self._there(journal, base)
        # no ref holds the candidate: git's own upkeep leaves objects alone for two weeks after they were made
        return Report(
            Fact.BUILT,
            {
                "base": base,
                "candidate": made[-1].commit,
                "tree": made[-1].tree,
                "chain": tuple(c.commit for c in made[:-1]),
                "contract": self.validation.contract(journal.change.brings),
            },
        )

    def _landed(self, context: ReviewContext, journal: Journal, main: str) -> Report | None:
        """Whether it is on main already: a crash hid that, or an earlier attempt missed it."""
        if self.pulls.is_on:
            return self.pulls.merged_before(context, journal)
        if (unasked := epics.without_request(self.ports, context.bead)) is not None:
            return unasked
        if journal.build.candidate and self.ports.git.contains(journal.build.candidate, main):
            return Report(Fact.LANDED)
        before = self.landings.landed_before(context.attempt.bead)
        if before is None:
            return None
        return Report(Fact.LANDED_BEFORE, {**asdict(before), "tree": self.ports.git.tree(before.candidate)})

    def _there(self, journal: Journal, base: str) -> Report:
        change = journal.change
        contract = self.validation.contract(change.brings)
        tree = self.ports.git.tree(change.head)
        there = {"merged_as": base, "base": base, "candidate": change.head, "tree": tree, "contract": contract}
        return Report(Fact.PULL_MERGED, there)

    def _conflicts(self, journal: Journal, main: str, found: Conflict) -> Report:
        """A conflict with main itself: the bead leaves the queue, and a person is asked."""
        if why := fault((), found.unfiltered):
            needs = {"base": main, "touches": list(found.files), **barred(found.unfiltered)}
            return Report(Fact.CONFLICTED, ending=AttemptEnd(*why, journal.change.head, needs))
        what, head = review_evidence.main_of(self.ports), journal.change.head
        detail = f"The branch conflicts with {what} in:\n" + "\n".join(found.files) + "\n" + found.detail
        evidence = {"files": list(found.files), "main": main, "head": head, **review_evidence.epic_of(self.ports)}
        return Report(Fact.CONFLICTED, ending=AttemptEnd(Outcome.CONFLICT, detail, head, evidence))

    def _made(self, context: ReviewContext, journal: Journal, base: str) -> tuple[Candidate, ...] | Conflict:
        change = journal.change
        if epics.is_epic(context.bead):
            return epics.made(self.ports, context.bead, context.attempt, journal, base)
        message = review_evidence.for_merge(self.ports, context.bead, context.attempt)
        if self.ports.config().review.merge == "rebase":
            return self._with_contract(journal, self.ports.git.replay(base, change.head, message, change.fork))
        made = self.ports.git.squash(base, change.head, message, change.fork)
        return made if isinstance(made, Conflict) else self._with_contract(journal, (made,))

    def _with_contract(
        self, journal: Journal, made: tuple[Candidate, ...] | Conflict
    ) -> tuple[Candidate, ...] | Conflict:
        if not journal.change.brings or isinstance(made, Conflict):
            return made
        if is_same(self.ports.git, made[-1].commit, journal.change.brings):
            return made
        return Conflict((CONTRACT,), "This file changed on main, so the merge would differ from what you approved.")

    def validate_rebased(self, context: ReviewContext, journal: Journal) -> Report:
        """Validate, land or send back the candidate, as review.queue decides."""
        if journal.build.contract != self.validation.contract(journal.change.brings):
            return Report(Fact.CHECKS_EDITED)
        entries = self.queue.look(context.board).entries
        place = next((number for number, entry in enumerate(entries, 1) if entry.attempt == context.attempt.id), 0)
        if not place:  # what it stood on is not there any more
            return Report(Fact.FELL_OFF)
        move = self.queue.move(context.board)
        if place in move.validate:
            return self.verdicts.to_validate(context, journal, journal.build.candidate)
        if place == move.blame or (place == 1 and 0 in move.validate):
            return self._blamed(context, journal, self.queue.less(entries, place - 1))
        bent = self._bent(context, entries, place - 1)
        if bent and any(self._bent(context, entries, before) for before in range(place - 1)):
            return Report(Fact.NOT_YET)  # who is below it is asked first, and it is tried without that
        if bent:
            return questioned(self.gates.question_of_runner(journal, bent))
        if self.queue.altered.is_unjudged(entries, place - 1) and place <= move.publish:
            return Report(Fact.UNCOUNTED)
        is_in_batch = place <= move.publish and not context.limits.queue.every_commit_green
        if place != 1 and is_in_batch and self.readings.is_missing(entries[place - 1]):
            return Report(Fact.TO_READ)
        if place != 1 and is_in_batch and self.approvals.is_missing(context.board, entries[place - 1]):
            return questioned(self.approvals.question(context.board, context.bead, journal))
        if place != 1 or not move.publish:
            return Report(Fact.NOT_YET)
        return self._passed(context, journal, entries, move.publish)

    def _passed(self, context: ReviewContext, journal: Journal, entries: Sequence[Entry], publish: int) -> Report:
        build = journal.build
        if self.queue.is_uncounted(journal):
            return Report(Fact.UNCOUNTED)
        if build.checked < len(build.chain):
            return self._validate_chain(context, journal)
        if build.chain and len(build.kept) < len(build.chain):
            return self._folded(context, journal)
        if self.readings.is_missing(entries[0]):
            return Report(Fact.TO_READ)
        if self.approvals.is_missing(context.board, entries[0]):
            return questioned(self.approvals.question(context.board, context.bead, journal))
        count = next((n for n in range(1, publish) if self._is_held_back(context, entries, n)), publish)
        if count < publish and not context.limits.queue.every_commit_green:
            return Report(Fact.NOT_YET)  # its own step asks about it, and the others are tried without it
        said = [
            {"approval": self.approvals.kept(context.board, entry), "reading": self.readings.kept(entry)}
            for entry in entries[:count]
        ]
        if self.pulls.is_on:  # it stands on main alone, and people decide when it is merged
            return Report(Fact.MAY_ASK, said[0])
        return Report(Fact.MAY_LAND, {"tip": self.queue.begin_landing(context.board, said), **said[0]})

    def _is_held_back(self, context: ReviewContext, entries: Sequence[Entry], place: int) -> bool:
        """Whether a person or reviewer has to see this candidate first."""
        if self.readings.is_missing(entries[place]) or self.queue.altered.is_unjudged(entries, place):
            return True
        return bool(self._bent(context, entries, place)) or self.approvals.is_missing(context.board, entries[place])

    def _bent(self, context: ReviewContext, entries: Sequence[Entry], place: int) -> str:
        """The altered test that the runner did not report, unless accepted; "": none."""
        bent = self.queue.altered.bent(entries, place)
        entry = entries[place]
        return "" if bent and self.gates.is_accepted(entry.bead, entry.journal.change.head) else bent

    def _blamed(self, context: ReviewContext, journal: Journal, less: str) -> Report:
        """The candidate is red on a green one: sent back, unless main itself is red."""
        runs = journal.runs
        self.queue.blamed(context.board)
        if runs.red and runs.is_broken:
            return Report(Fact.BLAMED_UNSURE, ending=unsure(journal))
        if runs.red:
            return Report(Fact.BLAMED)
        why = f"The tests check less than before: {less}"
        return Report(Fact.PROVES_LESS, ending=AttemptEnd(Outcome.FAILED_REVIEW, why))

    def count_base(self, context: ReviewContext, journal: Journal) -> Report:
        """Count main's tests: a candidate has to prove as much."""
        if journal.build.contract != self.validation.contract(journal.change.brings):
            return Report(Fact.CHECKS_EDITED)
        if not self.queue.is_uncounted(journal):
            return Report(Fact.COUNTED)
        return self.verdicts.to_validate(context, journal, journal.build.base)

    def _validate_chain(self, context: ReviewContext, journal: Journal) -> Report:
        """With merge = rebase: each commit on the way, which may fail by itself."""
        build = journal.build
        commit = build.chain[build.checked]
        if self.validation.passed(self.ports.git.tree(commit), context.attempt.id, journal.change.brings) is None:
            return self.verdicts.to_validate(context, journal, commit)
        return Report(Fact.COMMIT_PROVEN, {"kept": (*build.kept, commit)})

    def _folded(self, context: ReviewContext, journal: Journal) -> Report:
        build = journal.build
        git = self.ports.git
        steps = [Candidate(c, git.tree(c)) for c in (*build.kept, build.candidate)]
        last = git.fold(build.base, steps, review_evidence.for_merge(self.ports, context.bead, context.attempt))
        proven = self.queue.proof(journal, last.commit) if journal.runs.proven else ""
        return Report(Fact.FOLDED, {"candidate": last.commit, "proven": proven})

    def swap(self, context: ReviewContext, journal: Journal) -> Report:
        """Move main, or wait for it."""
        build = journal.build
        git = self.ports.git
        entries: list[Entry] = []
        if epics.is_epic(context.bead) and not self.pulls.is_on:
            return Report(Fact.FELL_OFF)  # people were to merge it, and are not asked any more
        if not git.contains(build.candidate, git.main()):
            entries = self.queue.landing(context.board, build.tip)
            if not entries:  # main, the checks or one of those that should land with it are not what they were
                self._freed(journal)
                return Report(Fact.FELL_OFF)
            if entries[0].attempt != context.attempt.id:
                return Report(Fact.NOT_YET)  # the head moves main
        land = self._frozen(context, journal, entries) if entries else None
        if land is not None and any(bead.type == BeadType.REPAIR for bead in context.board.to_review):
            # end a review that waits for main to be green: a repair waits for its place, and begins on main itself
            self._freed(journal)
            why = f"{land.reason}; nobrakes merges a repair first, then reviews this bead again"
            return Report(Fact.GIVES_WAY, ending=AttemptEnd(Outcome.INTERRUPTED, why, journal.change.head))
        if land is None and entries and not self.landings.is_pending(context.attempt.id):
            verdicts.hold(self.ports, self.verdicts.evidence, entries)
        if land is None:
            land = self.landings.land(context.attempt.id, entries, build.tip, build.base)
        if land is None:
            return Report(Fact.NOT_YET)  # its end wakes the loop
        if land.landing is Landing.BLOCKED:
            return self._blocked(context, journal, land, entries)
        self.queue.changed()
        self._freed(journal)
        return Report(Fact.LANDED if land.landing is Landing.MOVED else Fact.LOST_RACE)

    def _frozen(self, context: ReviewContext, journal: Journal, entries: Sequence[Entry]) -> Land | None:
        """Why nothing lands on a red main; None: it is green, or this one is under way or a repair."""
        where = self.ports.where
        tip = None if where.epic or where.base else self.ports.store.setting(FROZEN)
        if tip is not None and any(self.ports.store.bead(entry.bead).type is BeadType.REPAIR for entry in entries):
            return None
        if tip is None or journal.merging.published or self.landings.is_pending(context.attempt.id):
            return None
        why = self.ports.store.setting(BROKEN) or "main is red"
        why = f"{why} at {tip[:12]}: merges wait until main passes again"
        return Land(Landing.BLOCKED, why, Cause.MAIN_RED)

    def _blocked(self, context: ReviewContext, journal: Journal, land: Land, entries: Sequence[Entry] = ()) -> Report:
        """Main cannot move now; a person is notified. `entries` wait as before, unless they may have landed."""
        merging = journal.merging
        bead = context.attempt.bead
        now = self.ports.store.now()
        since = merging.waiting_since or now
        passing_since = (merging.passing_since or now) if land.timeout else 0.0
        passing = may_pass(land.timeout, passing_since, now)
        if merging.waiting != land.reason or (merging.passing and not passing):
            self.ports.notifier.tell(Notice(f"{bead} cannot be merged yet: {land.reason}", bead, urgent=not passing))
        behind = merging.behind
        if behind and self.ports.store.escalation(behind).evidence.get("cause") != land.cause:
            self._freed(journal)  # what a person was asked about is another cause than this
            behind, since = 0, now
        row = WAITS[land.cause]
        kind = EscalationType.CHECKOUT_BEHIND if land.cause in CHECKOUT_CAUSES else EscalationType.MERGE_HELD_UP
        if not behind and not passing and now >= since + row.asked and not self._is_asked(kind):
            new = NewEscalation(kind, f"{bead} cannot be merged yet: {row.words}", land.reason, {"cause": land.cause})
            behind = self.ports.store.escalate(new, bead, context.attempt.id, "nobrakes").id
        wait = next_look(land.cause, now - since)
        waits = {
            "waiting": land.reason,
            "waiting_until": now + (look_again(passing_since, now, wait) if passing else wait),
            "waiting_since": since,
            "passing": passing,
            "passing_since": passing_since,
            "behind": behind,
            "published": land.may_have_landed,
        }
        if journal.step is Step.SWAP and (land.may_have_landed or not entries):
            return Report(Fact.HELD_UP, waits)
        if journal.step is Step.SWAP and land.cause in FILE_CAUSES:
            return Report(Fact.IN_THE_WAY, waits, entries=entries)
        return Report(Fact.BLOCKED, waits, entries=entries)

    def _is_asked(self, kind: EscalationType) -> bool:
        """Only one question about checkouts of main at a time."""
        open_ones = self.ports.store.escalations() if kind is EscalationType.CHECKOUT_BEHIND else ()
        return any(one.type is kind for one in open_ones)

    def _freed(self, journal: Journal) -> None:
        if journal.merging.behind:
            with contextlib.suppress(NotAllowed):  # a person resolved it, or a crash hid that we did
                self.ports.store.resolve(journal.merging.behind, "merges continue", "nobrakes")

    def is_under_way(self, attempt: int, board: Board) -> bool:
        """Whether the review is landing now, where a remote decides."""
        opened = {entry.attempt: entry for entry in self.queue.look(board).opened}
        tip = opened[attempt].journal.build.tip if attempt in opened else ""
        together = {entry.attempt for entry in opened.values() if tip and entry.journal.build.tip == tip}
        return any(self.landings.goes_on(one) for one in {attempt} | together)


_TRIES = 3

_WITH_THE_NEXT = (Step.BOUNDARIES, Step.CLEAN_UP)
"""The steps before these change nothing, so both are journaled together."""

MAX_STEPS = 100
"""Steps of one review in a turn, so that others get theirs and a stop is noticed."""


class Review:
    """Leads reviews on."""

    def __init__(self, ports: Ports, validation: Validation, watchman: Watchman) -> None:
        self.ports = ports
        self.validation = validation
        self.new_contract = NewContract(ports)
        self.queue = MergeQueue(ports, validation)
        self.lost = Lost(ports)
        self.verdicts = Verdicts(ports, validation, self.queue, self.lost, watchman)
        self.gates = ProtectedFiles(ports)
        self.suspicious = SuspiciousContent(ports)
        self.pulls = PullSteps(ports)
        self.review_steps = ReviewSteps(ports, validation, self.queue, self.verdicts, self.pulls)
        self.steps: dict[Step, Callable[[ReviewContext, Journal], Report]] = {
            Step.TAKE_IN: self._fetch_head,
            Step.BOUNDARIES: self._boundaries,
            Step.REBASE: self.review_steps.rebase,
            Step.VALIDATE_REBASED: self.review_steps.validate_rebased,
            Step.VALIDATE_BASE: self._validate_base,
            Step.COUNT_BASE: self.review_steps.count_base,
            Step.SWAP: self.review_steps.swap,
            Step.VALIDATE_MAIN: self._validate_main,
            Step.READING: self.review_steps.readings.turn,
            Step.PULL_REQUEST: self.pulls.turn,
            Step.CLEAN_UP: self._clean_up,
        }

    def advance(self, attempt: Attempt, board: Board) -> bool:
        """Do all possible steps; whether there was one."""
        # another one's turn may have moved it since the board was made
        attempt = self.queue.look(board).attempts.get(attempt.id, attempt)
        journal = Journal.of(attempt.data)
        is_read = journal.step is Step.READING  # its end is heard whenever it comes
        if journal.merging.waiting_until > board.now and not is_read and not self.pulls.is_due(attempt, journal):
            return False
        context = ReviewContext(self.ports, attempt, board)
        moved = False
        for _ in range(MAX_STEPS):
            following = self._step(context, journal)
            if following is None:
                self.queue.changed()
                return True
            if following.act is Act.WAIT:
                return moved
            has_joined = journal.step is Step.REBASE and following.journal.step is Step.VALIDATE_REBASED
            journal, moved = following.journal, True
            attempt = replace(attempt, data=journal.as_data())
            # a merge by people is written down already, and that main is about to move by whoever moves it
            seen = self.queue.seen
            is_written = journal.step is Step.SWAP and seen is not None and seen.attempts.get(attempt.id) == attempt
            if not is_written and (journal.step not in _WITH_THE_NEXT or journal.merging.merged_as):
                self.ports.store.journal(attempt.id, attempt.data)
            self.queue.journaled(seen, attempt)
            if has_joined and is_paced(board.limits):
                return True  # a batch begins in the next turn, when all who can have joined it
            context = ReviewContext(self.ports, attempt, board)
        return moved

    def _step(self, context: ReviewContext, journal: Journal, tries: int = _TRIES) -> Next | None:
        """Do a step and what follows; None: something was started, or the review is over. If git fails, search for lost
        objects, else try again before reporting."""
        made = journal
        try:
            report = self.steps[journal.step](context, journal)
            following = _after(journal, report)
            if following.act is Act.GO_ON and following.journal.build.candidate not in ("", journal.build.candidate):
                made = following.journal
                self.ports.git.pin(pin_of(context.attempt.bead), made.build.candidate)
            if following.act is Act.GO_ON or (following.act is Act.WAIT and following.journal is journal):
                return following
            if journal.step is Step.BOUNDARIES:
                self.ports.store.journal(context.attempt.id, journal.as_data())
            if following.act is Act.WAIT:
                self.queue.wait(context.attempt.id, following.journal, report.entries)
            else:
                self.verdicts.perform(context, following, report)
            return None
        except GitFailed:
            self.queue.changed()
            if (found := self.lost.look(context.attempt, made, context.limits)) is not None:
                return found if found.act is Act.GO_ON else None
            if tries == 1:
                raise
            return self._step(context, journal, tries - 1)

    # --- the steps -------------------------------------------------------------------------------

    def _fetch_head(self, context: ReviewContext, journal: Journal) -> Report:
        if epics.is_epic(context.bead):
            return epics.taken_in(self.ports, context.bead)
        done = handed_in(self.ports, context.attempt.bead)
        if done is None:
            return refused(Outcome.NO_WORK, "there is no work to review")
        head = str(done.head)
        fork = self.ports.git.fork(self.ports.git.main(), head, done.data.get(FORK))
        if fork is None:
            what = review_evidence.main_of(self.ports)
            return refused(Outcome.BOUNDARY, f"the branch has no history in common with {what}")
        start = str(done.data.get("start") or fork)
        anchor = self.ports.git.evidence_tip() or NONE
        taken = {"head": head, "fork": fork, "epic": self.ports.where.epic, "base": start, "anchor": anchor}
        return Report(Fact.TAKEN_IN, taken)

    def _boundaries(self, context: ReviewContext, journal: Journal) -> Report:
        if epics.is_epic(context.bead):  # each of its beads kept them
            return Report(Fact.IN_BOUNDS, {"gates": (), "is_scaffolding": False, "shares_run": False, "brings": ""})
        if (against := self._against_the_rules(context, journal)) is not None:
            return against
        brought = self.new_contract.brought(context.bead, journal)
        if brought is not None and brought.faults:
            return refused(Outcome.BOUNDARY, "\n".join(brought.faults))
        gates = self.gates.judged(context.bead, journal)
        if isinstance(gates, AttemptEnd):
            return questioned(gates)
        if (suspicious := self.suspicious.question(context.bead, journal)) is not None:
            return questioned(suspicious)
        brings = journal.change.brings
        if brought is not None:
            if not self.new_contract.is_accepted(context.bead, brought):
                return questioned(self.new_contract.question(journal, brought))
            brings, gates = journal.change.head, (*gates, CONTRACT)
        is_free = context.bead.scaffolding
        shares_run = not (is_free or gates or self.gates.edits_tests(journal))
        return Report(
            Fact.IN_BOUNDS, {"gates": gates, "is_scaffolding": is_free, "shares_run": shares_run, "brings": brings}
        )

    def _against_the_rules(self, context: ReviewContext, journal: Journal) -> Report | None:
        change = journal.change
        git = self.ports.git
        start = journal.build.base
        if not git.contains(change.fork, start) or not git.contains(start, change.head):
            detail = "the branch was rewritten: it no longer contains the commit it started from"
            return refused(Outcome.BOUNDARY, detail)
        own = boundary_at(self.ports, start, Role.DOER, bead=context.bead)
        if is_by_person(self.ports.store.attempts(context.bead.id)):
            own = replace(own, tests=(), documents=())  # all of that is a person's to change
        work = git.changes(start, change.head)
        found = violations(Role.DOER, work, own, context.bead.scaffolding, asks=True)
        if start != change.fork:
            tests = git.changes(change.fork, start)
            writers = boundary_at(self.ports, change.fork, Role.TEST_WRITER, start, context.bead)
            found += violations(Role.TEST_WRITER, tests, writers, context.bead.scaffolding)
            work = (*tests, *work)
        if why := fault(found, work):
            evidence = {"base": change.fork, "head": change.head, **barred(work)}
            return refused(*why) if found else questioned(AttemptEnd(*why, change.head, evidence))
        if not git.changes(change.fork, change.head):
            return refused(Outcome.NO_WORK, "the branch changes nothing")
        return None

    def _validate_main(self, context: ReviewContext, journal: Journal) -> Report:
        is_proven = journal.runs.proven == self.queue.proof(journal, journal.build.candidate)
        if is_proven or self.ports.config().review.revalidate == "cached":
            return Report(Fact.PROVEN)
        return self.verdicts.to_validate(context, journal, journal.build.candidate)

    def _clean_up(self, context: ReviewContext, journal: Journal) -> Report:
        self.review_steps.landings.forget(context.attempt.bead)
        self.pulls.forget(context.attempt.bead)
        if epics.is_epic(context.bead):
            epics.let_go(self.ports, context.bead, journal)
        if journal.change.brings:
            self.new_contract.take_over(context.attempt.bead, journal)
        return Report(Fact.MERGED)

    def _validate_base(self, context: ReviewContext, journal: Journal) -> Report:
        """The candidate failed. Before it is blamed: does main pass by itself?"""
        build, change = journal.build, journal.change
        if build.contract != self.validation.contract(change.brings):
            return Report(Fact.CHECKS_EDITED)
        tree = self.ports.git.tree(build.base)
        is_better = change.is_scaffolding or context.bead.type is BeadType.REPAIR  # which has to turn main green
        # main may not be run today either; but checks that the work brings say nothing of main, where they are begun
        results = [result_of(row) for row in journal.runs.results]
        why_not = cannot_run(results)
        begun = bool(change.brings) and not any(one.reason.startswith(NO_CHECKOUT) for one in results)
        known = not why_not and self.validation.passed(tree, context.attempt.id, change.brings) is not None
        if known or (is_better and (begun or not why_not)):
            return blamed(journal)
        return self.verdicts.to_validate(context, journal, build.base)

    # --- from outside ----------------------------------------------------------------------------

    def settle(self, board: Board) -> bool:
        """Collect results of remote requests for ended reviews, and end their code reviews."""
        going = {attempt.id for attempt in board.attempts}
        self.pulls.settle(going)
        self.review_steps.landings.settle({NOBODY, *going})
        reviews = (attempt for attempt in board.attempts if attempt.role is Role.REVIEWER)
        self.review_steps.readings.settle({one.id for one in reviews if Journal.of(one.data).step is Step.READING})
        return False

    def ended(self, attempt: Attempt, run: Run, board: Board) -> Attempt | None:
        """A validation ended; returns the attempt to go on with, None: nothing to do now."""
        seen = self.queue.look(board)
        attempt = seen.attempts.get(attempt.id, attempt)
        self.queue.changed()
        if run.stopping in (Outcome.INTERRUPTED, Outcome.CANCELLED):
            self.validation.judge(run)
            self.ports.store.end_run(run.id)
            self.stop(attempt, board)
            return None
        following = self.verdicts.ended(ReviewContext(self.ports, attempt, board), run)
        if following is not None:
            self.queue.journaled(seen, following, ended=True)
        return following

    def stop(self, attempt: Attempt, board: Board) -> bool:
        """Give the review back, or finish it if its merge has landed. False: it is landing now."""
        ports = self.ports
        if self.review_steps.is_under_way(attempt.id, board):
            return False
        attempt = self.queue.look(board).attempts.get(attempt.id, attempt)
        journal = Journal.of(attempt.data)
        self.queue.changed()
        if self._has_landed(journal):
            if journal.step is Step.VALIDATE_MAIN:
                self.verdicts.stopped_on_main(attempt, journal)
            last = machine.advance(journal, Fact.STOPPED_AFTER_LANDING).journal
            ports.store.journal(attempt.id, last.as_data())
            self.advance(replace(attempt, data=last.as_data()), board)
            return True
        # where a remote decides nobody knows yet whether it landed
        is_known = journal.step is Step.SWAP and not ports.git.is_shared()
        stopped = machine.advance(journal, Fact.STOPPED_BEFORE_LANDING if is_known else Fact.STOPPED)
        if stopped.journal is not journal:
            ports.store.journal(attempt.id, stopped.journal.as_data())
        kind, head = machine.GOES_TO[stopped.act], journal.change.head
        close(ports, board.limits, attempt, Outcome.INTERRUPTED, "the review was stopped", kind=kind, head=head)
        return True

    def _has_landed(self, journal: Journal) -> bool:
        git = self.ports.git
        try:
            landed = journal.merging.merged_as or journal.build.candidate
            return bool(landed) and git.contains(landed, git.main())
        except GitFailed:
            if git.is_whole(journal.build.candidate):
                raise
            return False


def _after(journal: Journal, report: Report) -> Next:
    """The next step. An ended wait is journaled even if another follows."""
    freed = machine.advance(journal, Fact.FREED).journal if report.was_freed else journal
    following = machine.advance(freed, report.fact, **report.brought)
    return Next(freed, Act.GO_ON) if report.was_freed and following.act is Act.WAIT else following


# Each branch that work lands on has a Reviewer and a queue of its own; they share the validators. An epic's branch that
# is red by itself is held with its epic: nobody reverts there.
class Reviews:
    """Leads each review with the Reviewer of its bead's branch."""

    def __init__(self, ports: Ports, validation: Validation, watchman: Watchman) -> None:
        """`watchman` learns that main is red."""
        self.ports = ports
        self.validation = validation
        self.watchman = watchman
        self.main = Review(ports, validation, watchman)
        self.bases = Bases(ports)
        self.red = RedBranches(ports, self.bases)
        self.meanwhile = MergedMeanwhile(ports)
        self._others: dict[Where, Review] = {}
        self._lands = ""  # how, when that was looked at last

    def turn(self, board: Board) -> bool:
        """Learn of other branches before decisions; whether something changed."""
        return any([*(part.turn(board) for part in (self.bases, self.red, self.meanwhile)), self._lands_otherwise()])

    def _lands_otherwise(self) -> bool:
        """Hold the epics that people were to merge, before anyone goes on without their branches."""
        config = self.ports.config().review
        if config.land == self._lands:
            return False
        self._lands = config.land
        landed = () if config.by_request else self.ports.store.beads(statuses=(Status.LANDED,))
        for epic in sorted({bead.epic for bead in landed if bead.epic}):
            epics.hold_without_request(self.ports, epic)
        return bool(landed)

    def of(self, bead: str) -> Review:
        """The review of the branch on which the bead lands."""
        where = lands_on(self.ports, self.ports.store.bead(bead))
        if where == Where():
            return self.main
        if where not in self._others:
            watchman = partial(self._base_red, where) if where.base else self.watchman
            watchman = partial(self._found_red, where.epic) if where.epic else watchman
            self._others[where] = Review(ports_of(self.ports, where), self.validation, watchman)
        return self._others[where]

    def advance(self, attempt: Attempt, board: Board) -> bool:
        review = self.of(attempt.bead)
        return self.bases.is_known(review.ports.where.base) and review.advance(attempt, board)

    def ended(self, attempt: Attempt, run: Run, board: Board) -> Attempt | None:
        return self.of(attempt.bead).ended(attempt, run, board)

    def stop(self, attempt: Attempt, board: Board) -> bool:
        return self.of(attempt.bead).stop(attempt, board)

    def restart(self, attempt: Attempt) -> None:
        self.of(attempt.bead).verdicts.restart(attempt)

    def settle(self, board: Board) -> bool:
        changed = [one.settle(board) for where, one in self._others.items() if not where.epic]
        return self.main.settle(board) or any(changed)

    def wake_at(self) -> list[float | None]:
        return [self.bases.wake_at(), self.meanwhile.wake_at()]

    def measure_again(self) -> None:
        for one in (self.main, *self._others.values()):
            one.review_steps.readings.waits.restart()

    def _found_red(self, epic: str, results: Sequence[CheckResult]) -> None:
        reason = (
            f"the epic's branch itself fails the checks: fix it (refs/nobrakes/{EPICS}/{epic}) and the epic continues, "
            f"or add a bead of type repair to {epic} and type `nobrakes release {epic}`"
        )
        self.red.hold(epic, self.ports.git.with_epic_branch(epic).main(), reason, f"\n{explain(results)}")

    def _base_red(self, where: Where, results: Sequence[CheckResult]) -> None:
        tip = git_at(self.ports.git, where).main()
        for bead in self.ports.store.beads(statuses=(Status.NEEDS_REVIEW, Status.REVIEWING)):
            if lands_on(self.ports, bead) == where and bead.type is not BeadType.REPAIR:  # which may mend it
                reason = (
                    f"{where.base} itself fails the checks, so nobrakes merges nothing into it: fix {where.base} "
                    f"and the review continues, or type `nobrakes release {bead.id}`"
                )
                self.red.hold(bead.id, tip, reason, f"\n{explain(results)}")
