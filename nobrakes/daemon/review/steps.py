"""The steps of a review in the merge queue: a candidate on main or on the one before it, its validation, main's move.

1. Main moves in one place only, by compare-and-swap from the commit that was validated against; the head of the train
   moves it, for itself and for those behind it that are proven with it.
2. The journals say so before main moves, and are on the disk, since main will be: a power cut takes both or neither.
   From then on the store lets nobody take the beads out of review.
3. Who stands on something that is not there any more is built anew.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import asdict, replace

from ...core.beads.bead import BeadType
from ...core.beads.escalations import EscalationType
from ...core.beads.outcomes import Outcome
from ...core.board import Board
from ...core.errors import NotAllowed
from ...core.idle import look_again, may_pass
from ...core.policy.ownership import CONTRACT
from ...core.review.journal import Journal, Step
from ...core.review.machine import Fact
from ...core.review.train import Entry
from ...core.review.waits import OF_CHECKOUTS, WAITS, Cause, next_look
from ...ports.git import Candidate, Conflict, Land, Landing
from ...ports.people import Notice
from ...ports.store import NewEscalation
from ..checks.committed import is_same
from ..checks.validation import Validation
from ..ports import Ports
from . import landing_records, messages, stacked, whole_epics
from .approval import Approvals
from .culprits import FROZEN, NO_SETUP
from .landing import Landings
from .protected_files import ProtectedFiles
from .pulls import PullSteps
from .queue import ReviewContext, Train
from .reading import Readings
from .reports import AttemptEnd, Report, questioned, unsure
from .verdicts import Verdicts


class ReviewSteps:
    """Leads reviews through the queue."""

    def __init__(self, ports: Ports, validation: Validation, train: Train, judging: Verdicts, pulls: PullSteps) -> None:
        self.ports = ports
        self.validation = validation
        self.train = train
        self.judging = judging
        self.landings = Landings(ports)
        self.pulls = pulls
        self.gates = ProtectedFiles(ports)
        self.approvals = Approvals(ports, self.gates)
        self.readings = Readings(ports, self.approvals)

    def rebase(self, context: ReviewContext, journal: Journal) -> Report:
        """The candidate: on the last one of the train, or on main where there is none."""
        waits = self.landings.is_pending(context.attempt.id)  # what was begun is heard to its end
        was_freed = False
        train = self.train.look(context.board).train
        is_head = not train or train[0].attempt == context.attempt.id  # those behind it stand on what it saw
        if self.ports.git.is_shared() and (waits or is_head):
            ready = self.landings.catch_up(context.attempt.id)
            if ready is None:
                return Report(Fact.NOT_YET)
            if ready.landing is not Landing.MOVED:
                return self._blocked(context, journal, ready)
            self.train.changed()
            if was_freed := bool(journal.waiting):
                self._freed(journal)
        return replace(self._rebased(context, journal), was_freed=was_freed)

    def _rebased(self, context: ReviewContext, journal: Journal) -> Report:
        seen = self.train.look(context.board)
        main = seen.main
        landed = self._landed(context, journal, main)
        if landed is not None:
            return landed
        if any(entry.attempt == context.attempt.id for entry in seen.train):
            # main moved away and is back where it was: the candidate stands, and nothing could stand on itself
            return Report(Fact.STANDS)
        if not self.train.has_place(context.board, context.attempt.id):
            return Report(Fact.NOT_YET)
        base = seen.train[-1].journal.candidate if seen.train else main
        if journal.brings and base != main:
            return Report(Fact.NOT_YET)  # nobody else is validated by it, so it lands by itself
        if base != main and (journal.apart == base or not self.train.may_join(context.board)):
            return Report(Fact.NOT_YET)
        may_be_there = self._may_be_there(context)  # asked before: between made and pinned nothing is to come
        made = self._made(context, journal, base)
        if isinstance(made, Conflict) and base != main:
            alone = self._made(context, journal, main)
            if not isinstance(alone, Conflict):
                # who is before it may fail yet; nobody is asked before that
                return Report(Fact.CONFLICTS_AHEAD, {"apart": base})
            base, made = main, alone
        if isinstance(made, Conflict):
            return self._conflicts(journal, base, made)
        if may_be_there and base == main and whole_epics.adds_nothing(self.ports, made, base):
            return self._there(context, journal, base)
        # no ref holds the candidate: git's own upkeep leaves objects alone for two weeks after they were made
        return Report(
            Fact.BUILT,
            {
                "base": base,
                "candidate": made[-1].commit,
                "tree": made[-1].tree,
                "chain": tuple(c.commit for c in made[:-1]),
                "contract": self.validation.contract(journal.brings),
            },
        )

    def _landed(self, context: ReviewContext, journal: Journal, main: str) -> Report | None:
        """Whether it is on main already: a crash hid that, or an attempt before it was not told of it."""
        if self.pulls.is_on:
            return self.pulls.merged_before(context, journal)
        unasked = whole_epics.without_request(self.ports, context.bead)
        if unasked is not None:
            return unasked
        if journal.candidate and self.ports.git.contains(journal.candidate, main):
            return Report(Fact.LANDED)
        before = self.landings.landed_before(context.attempt.bead)
        if before is None:
            return None
        return Report(Fact.LANDED_BEFORE, {**asdict(before), "tree": self.ports.git.tree(before.candidate)})

    def _may_be_there(self, context: ReviewContext) -> bool:
        """Whether main may have all of it already: of an epic, or of what people merged into what it stacked on."""
        if whole_epics.is_whole_epic(context.bead):
            return True
        return self.pulls.is_on and stacked.is_merged_elsewhere(self.ports, context.bead.id)

    def _there(self, context: ReviewContext, journal: Journal, base: str) -> Report:
        """Main has all of it already, by whatever way."""
        contract = self.validation.contract(journal.brings)
        if not whole_epics.is_whole_epic(context.bead):
            return self.pulls.came_along(context, journal.head, base, contract)
        tree = self.ports.git.tree(journal.head)
        there = {"merged_as": base, "base": base, "candidate": journal.head, "tree": tree, "contract": contract}
        return Report(Fact.PULL_MERGED, there)

    def _conflicts(self, journal: Journal, main: str, found: Conflict) -> Report:
        """A conflict with main itself: the bead leaves the queue at once, and a person is asked."""
        below = self.ports.where.below
        what = f"the pull request of {below}, on which it stacks," if below else messages.main_of(self.ports)
        detail = f"The branch conflicts with {what} in:\n" + "\n".join(found.files) + "\n" + found.detail
        evidence = {"files": list(found.files), "main": main, "head": journal.head, **messages.epic_of(self.ports)}
        return Report(Fact.CONFLICTED, ending=AttemptEnd(Outcome.CONFLICT, detail, journal.head, evidence))

    def _made(self, context: ReviewContext, journal: Journal, base: str) -> tuple[Candidate, ...] | Conflict:
        """The candidate on `base`, after the commits that lead to it."""
        if whole_epics.is_whole_epic(context.bead):
            return whole_epics.made(self.ports, context.bead, context.attempt, journal, base)
        message = messages.for_merge(self.ports, context.bead, context.attempt)
        if self.ports.config().review.merge == "rebase":
            return self._with_contract(journal, self.ports.git.replay(base, journal.head, message, journal.fork))
        made = self.ports.git.squash(base, journal.head, message, journal.fork)
        return made if isinstance(made, Conflict) else self._with_contract(journal, (made,))

    def _with_contract(
        self, journal: Journal, made: tuple[Candidate, ...] | Conflict
    ) -> tuple[Candidate, ...] | Conflict:
        """What was made; where it has another contract than the one that a person approved, a conflict."""
        if not journal.brings or isinstance(made, Conflict):
            return made
        if is_same(self.ports.git, made[-1].commit, journal.brings):
            return made
        return Conflict((CONTRACT,), "Main's was changed meanwhile, and what was approved is not what would land.")

    def validate_rebased(self, context: ReviewContext, journal: Journal) -> Report:
        """Validate the candidate, land it, or send it back, as core.review.queue decides for the whole train."""
        if journal.contract != self.validation.contract(journal.brings):
            return Report(Fact.CHECKS_EDITED)
        train = self.train.look(context.board).train
        place = next((number for number, entry in enumerate(train, 1) if entry.attempt == context.attempt.id), 0)
        if not place:  # what it stood on is not there any more
            return Report(Fact.FELL_OFF)
        move = self.train.move(context.board)
        if place in move.validate:
            return self.judging.to_validate(context, journal, journal.candidate)
        if place == move.blame or (place == 1 and 0 in move.validate):
            return self._blamed(context, journal, self.train.less(train, place - 1))
        bent = self._bent(context, train, place - 1)
        if bent:
            return questioned(self.gates.question_of_runner(journal, bent))
        is_in_batch = place <= move.publish and not context.limits.queue.every_commit_green
        if place != 1 and is_in_batch and self.readings.is_missing(train[place - 1]):
            return Report(Fact.TO_READ)
        if place != 1 and is_in_batch and self.approvals.is_missing(context.board, train[place - 1]):
            return questioned(self.approvals.question(context.board, context.bead, journal))
        if place != 1 or not move.publish:
            return Report(Fact.NOT_YET)
        return self._passed(context, journal, train, move.publish)

    def _passed(self, context: ReviewContext, journal: Journal, train: Sequence[Entry], publish: int) -> Report:
        """The head of the train is proven, and with it the first `publish` of those on it."""
        if self.train.is_uncounted(journal):
            return Report(Fact.UNCOUNTED)
        if journal.checked < len(journal.chain):
            return self._validate_chain(context, journal)
        if journal.chain and len(journal.kept) < len(journal.chain):
            return self._folded(context, journal)
        if self.readings.is_missing(train[0]):
            return Report(Fact.TO_READ)
        if self.approvals.is_missing(context.board, train[0]):
            return questioned(self.approvals.question(context.board, context.bead, journal))
        count = next((n for n in range(1, publish) if self._is_held_back(context, train, n)), publish)
        if count < publish and not context.limits.queue.every_commit_green:
            return Report(Fact.NOT_YET)  # its own step asks about it, and the others are tried without it
        said = [
            {"approval": self.approvals.kept(context.board, entry), "reading": self.readings.kept(entry)}
            for entry in train[:count]
        ]
        if self.pulls.is_on:  # it stands on main alone, and people decide when it is merged
            return Report(Fact.MAY_ASK, said[0])
        tip = self.train.begin_landing(context.board, said)
        return Report(Fact.MAY_LAND, {"tip": tip, **said[0]})

    def _is_held_back(self, context: ReviewContext, train: Sequence[Entry], place: int) -> bool:
        """Whether somebody has to look at this candidate first."""
        if self.readings.is_missing(train[place]):
            return True
        return bool(self._bent(context, train, place)) or self.approvals.is_missing(context.board, train[place])

    def _bent(self, context: ReviewContext, train: Sequence[Entry], place: int) -> str:
        """The altered test that the runner of this candidate did not report, and nobody accepted that; "": none."""
        bent = self.train.bent(train, place)
        entry = train[place]
        return "" if bent and self.gates.is_accepted(entry.bead, entry.journal.head) else bent

    def _blamed(self, context: ReviewContext, journal: Journal, less: str) -> Report:
        """The candidate is red on a green one: sent back, unless main itself is red."""
        self.train.blamed(context.board)
        if journal.red and journal.is_broken:
            return Report(Fact.BLAMED_UNSURE, ending=unsure(journal))
        if journal.red:
            return Report(Fact.BLAMED)
        why = f"The tests prove less than before: {less}"
        return Report(Fact.PROVES_LESS, ending=AttemptEnd(Outcome.FAILED_REVIEW, why))

    def count_base(self, context: ReviewContext, journal: Journal) -> Report:
        """Run main's own tests, which nobody did since it got there: a candidate has to prove as much."""
        if journal.contract != self.validation.contract(journal.brings):
            return Report(Fact.CHECKS_EDITED)
        if not self.train.is_uncounted(journal):
            return Report(Fact.COUNTED)
        return self.judging.to_validate(context, journal, journal.base)

    def _validate_chain(self, context: ReviewContext, journal: Journal) -> Report:
        """With merge = rebase: each commit on the way, which may fail by itself."""
        commit = journal.chain[journal.checked]
        if self.validation.passed(self.ports.git.tree(commit), context.attempt.id, journal.brings) is None:
            return self.judging.to_validate(context, journal, commit)
        return Report(Fact.COMMIT_PROVEN, {"kept": (*journal.kept, commit)})

    def _folded(self, context: ReviewContext, journal: Journal) -> Report:
        """With merge = rebase: only commits that pass alone reach main, the others melt into the next."""
        git = self.ports.git
        steps = [Candidate(c, git.tree(c)) for c in (*journal.kept, journal.candidate)]
        last = git.fold(journal.base, steps, messages.for_merge(self.ports, context.bead, context.attempt))
        proven = self.train.proof(journal, last.commit) if journal.proven else ""
        return Report(Fact.FOLDED, {"candidate": last.commit, "proven": proven})

    def swap(self, context: ReviewContext, journal: Journal) -> Report:
        """Move main, or wait for who moves it."""
        git = self.ports.git
        train: list[Entry] = []
        if whole_epics.is_whole_epic(context.bead) and not self.pulls.is_on:
            return Report(Fact.FELL_OFF)  # people were to merge it, and are not asked any more
        if not git.contains(journal.candidate, git.main()):
            train = self.train.landing(context.board, journal.tip)
            if not train:  # main, the checks or one of those that should land with it are not what they were
                self._freed(journal)
                return Report(Fact.FELL_OFF)
            if train[0].attempt != context.attempt.id:
                return Report(Fact.NOT_YET)  # the head moves main
        land = self._frozen(context, journal, train) if train else None
        if land is not None and any(bead.type == BeadType.REPAIR for bead in context.board.to_review):
            return self._gives_way(journal, land)
        if land is None and train and not self.landings.is_pending(context.attempt.id):
            landing_records.hold(self.ports, self.judging.evidence, train)
        if land is None:
            land = self.landings.land(context.attempt.id, train, journal.tip, journal.base)
        if land is None:
            return Report(Fact.NOT_YET)  # its end wakes the loop
        if land.landing is Landing.BLOCKED:
            return self._blocked(context, journal, land, train)
        self.train.changed()
        self._freed(journal)
        return Report(Fact.LANDED if land.landing is Landing.MOVED else Fact.LOST_RACE)

    def _frozen(self, context: ReviewContext, journal: Journal, train: Sequence[Entry]) -> Land | None:
        """Why nothing lands while main is red; None: it is not, this one is on its way already, or a repair is."""
        where = self.ports.where
        tip = None if where.epic or where.base else self.ports.store.setting(FROZEN)
        if tip is not None and any(self.ports.store.bead(entry.bead).type is BeadType.REPAIR for entry in train):
            return None
        if tip is None or journal.published or self.landings.is_pending(context.attempt.id):
            return None
        why = self.ports.store.setting(NO_SETUP) or "main is red"
        why = f"{why}, at {tip[:12]}: nothing is merged before main is green again"
        return Land(Landing.BLOCKED, why, Cause.MAIN_RED)

    def _gives_way(self, journal: Journal, land: Land) -> Report:
        """End a review that waits for main to be green: a repair waits for its place, and begins on main itself."""
        self._freed(journal)
        why = f"{land.reason}; a repair goes first, and the review begins again after it"
        ending = AttemptEnd(Outcome.INTERRUPTED, why, journal.head)
        return Report(Fact.GIVES_WAY, ending=ending)

    def _blocked(self, context: ReviewContext, journal: Journal, land: Land, train: Sequence[Entry] = ()) -> Report:
        """Main cannot be moved, or brought along, just now; a person is told.

        Those that should land with it (`train`) wait as they did before, unless they may have landed already.
        """
        bead = context.attempt.bead
        now = self.ports.store.now()
        since = journal.waiting_since or now
        passing_since = (journal.passing_since or now) if land.patience else 0.0
        passing = may_pass(land.patience, passing_since, now)
        if journal.waiting != land.reason or (journal.passing and not passing):
            self.ports.notifier.tell(Notice(f"{bead} waits to be merged: {land.reason}", bead, urgent=not passing))
        behind = journal.behind
        if behind and self.ports.store.escalation(behind).evidence.get("cause") != land.cause:
            self._freed(journal)  # what a person was asked about is another cause than this
            behind, since = 0, now
        row = WAITS[land.cause]
        if not behind and not passing and now >= since + row.asked:
            kind = EscalationType.CHECKOUT_BEHIND if land.cause in OF_CHECKOUTS else EscalationType.MERGE_HELD_UP
            new = NewEscalation(kind, f"{bead} waits to be merged: {row.words}", land.reason, {"cause": land.cause})
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
        is_up = journal.step is Step.SWAP and (land.may_have_landed or not train)
        return Report(Fact.HELD_UP, waits) if is_up else Report(Fact.BLOCKED, waits, train=train)

    def _freed(self, journal: Journal) -> None:
        """Main can be moved again: what a person was asked about that is over."""
        if journal.behind:
            with contextlib.suppress(NotAllowed):  # a person resolved it, or a crash hid that we did
                self.ports.store.resolve(journal.behind, "main can be moved again", "nobrakes")

    def is_under_way(self, attempt: int, board: Board) -> bool:
        """Whether the review is landing just now, by itself or with others, where a remote has to say so."""
        opened = {entry.attempt: entry for entry in self.train.look(board).opened}
        tip = opened[attempt].journal.tip if attempt in opened else ""
        together = {entry.attempt for entry in opened.values() if tip and entry.journal.tip == tip}
        return any(self.landings.goes_on(one) for one in {attempt} | together)
