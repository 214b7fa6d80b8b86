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

from ..core.bead import BeadType
from ..core.board import Board
from ..core.errors import NotAllowed
from ..core.escalations import EscalationType
from ..core.events import Kind
from ..core.outcomes import Outcome
from ..core.ownership import CONTRACT
from ..core.rest import look_again, may_pass
from ..core.reviewer import Journal, Step, waits_no_more, with_other_checks
from ..core.train import Car
from ..ports import Candidate, Conflict, Land, Landing, NewEscalation, Notice
from . import landings, messages
from .closing import close
from .culprits import FROZEN
from .doors import Doors
from .gatefiles import GateFiles
from .judging import Judging
from .train import Case, Train
from .validation import Validation
from .ways import Ways

LONG_WAIT = 900.0
"""Seconds after which a person is asked for a checkout that main waits for; until then a notice is enough."""

WAIT_FOR_CHECKOUT = 5.0
"""Seconds between two looks at a checked-out main that has edits in the way."""


class Queueing:
    """Leads reviews through the queue."""

    def __init__(self, doors: Doors, validation: Validation, train: Train, judging: Judging) -> None:
        self.doors = doors
        self.validation = validation
        self.train = train
        self.judging = judging
        self.ways = Ways(doors)
        self.gates = GateFiles(doors)

    def rebase(self, case: Case, journal: Journal) -> Journal | None:
        """The candidate: on the last one of the train, or on main where there is none."""
        waits = self.ways.is_pending(case.attempt.id)  # what was begun is heard to its end
        if self.doors.git.is_shared() and (waits or not self.train.look(case.board).train):  # else the head has done so
            ready = self.ways.catch_up(case.attempt.id)
            if ready is None:
                return journal
            if ready.landing is not Landing.MOVED:
                self._wait(case, journal, ready)
                return None
            self.train.changed()
            journal = self._moves_again(journal) if journal.waiting else journal
        seen = self.train.look(case.board)
        main = seen.main
        landed = self._landed(case, journal, main)
        if landed is not None:
            return landed
        if any(car.attempt == case.attempt.id for car in seen.train):
            # main moved away and is back where it was: the candidate stands, and nothing could stand on itself
            return replace(journal, step=Step.VALIDATE_REBASED, tip="")
        base = seen.train[-1].journal.candidate if seen.train else main
        if journal.brings and base != main:
            return journal  # nobody else is validated by it, so it lands by itself
        if base != main and (journal.apart == base or not self.train.may_join(case.board)):
            return journal
        made = self._made(case, journal, base)
        if isinstance(made, Conflict) and base != main:
            alone = self._made(case, journal, main)
            if not isinstance(alone, Conflict):
                return replace(journal, apart=base)  # who is before it may fail yet; nobody is asked before that
            base, made = main, alone
        if isinstance(made, Conflict):
            self._conflicts(case, journal, base, made)
            return None
        # no ref holds the candidate: git's own upkeep leaves objects alone for two weeks after they were made
        return replace(
            journal,
            step=Step.VALIDATE_REBASED,
            base=base,
            candidate=made[-1].commit,
            tree=made[-1].tree,
            chain=tuple(c.commit for c in made[:-1]),
            checked=0,
            kept=(),
            apart="",
            red=0,
            is_suspect=False,
            is_broken=False,
            counted="",
            before=(),
            contract=self.validation.contract(journal.brings),
        )

    def _landed(self, case: Case, journal: Journal, main: str) -> Journal | None:
        """Whether it is on main already: a crash hid that, or an attempt before it was not told of it."""
        if journal.candidate and self.doors.git.contains(journal.candidate, main):
            return replace(journal, step=Step.VALIDATE_MAIN)
        before = self.ways.landed_before(case.attempt.bead)
        if before is None:
            return None
        tree = self.doors.git.tree(before.candidate)
        return replace(journal, step=Step.VALIDATE_MAIN, tree=tree, **asdict(before))

    def _conflicts(self, case: Case, journal: Journal, main: str, found: Conflict) -> None:
        """A conflict with main itself: the bead leaves the queue at once, and a person is asked."""
        detail = "The branch conflicts with main in:\n" + "\n".join(found.files) + "\n" + found.detail
        evidence = {"files": list(found.files), "main": main, "head": journal.head}
        close(self.doors, case.limits, case.attempt, Outcome.CONFLICT, detail, head=journal.head, evidence=evidence)

    def _made(self, case: Case, journal: Journal, base: str) -> tuple[Candidate, ...] | Conflict:
        """The candidate on `base`, after the commits that lead to it."""
        message = messages.for_merge(self.doors, case.bead, case.attempt)
        if self.doors.config().review.merge == "rebase":
            return self._with_contract(journal, self.doors.git.replay(base, journal.head, message, journal.fork))
        made = self.doors.git.squash(base, journal.head, message, journal.fork)
        return made if isinstance(made, Conflict) else self._with_contract(journal, (made,))

    def _with_contract(
        self, journal: Journal, made: tuple[Candidate, ...] | Conflict
    ) -> tuple[Candidate, ...] | Conflict:
        """What was made; where it has another contract than the one that a person approved, a conflict."""
        new = self.validation.new_contract
        if not journal.brings or isinstance(made, Conflict) or new.is_that_of(made[-1].commit, journal.brings):
            return made
        return Conflict((CONTRACT,), "Main's was changed meanwhile, and what was approved is not what would land.")

    def validate_rebased(self, case: Case, journal: Journal) -> Journal | None:
        """Validate the candidate, land it, or send it back, as core.queue decides for the whole train."""
        if journal.contract != self.validation.contract(journal.brings):
            return with_other_checks(journal)
        train = self.train.look(case.board).train
        place = next((number for number, car in enumerate(train, 1) if car.attempt == case.attempt.id), 0)
        if not place:  # what it stood on is not there any more
            return replace(journal, step=Step.REBASE, waiting="", waiting_until=0.0)
        move = self.train.move(case.board)
        if place in move.validate:
            following = self.judging.begin(case, journal, journal.candidate)
            if following is None:
                self.train.ran(case.board)
            return following
        if place == move.blame or (place == 1 and 0 in move.validate):
            return self._blamed(case, journal, self.train.less(train, place - 1))
        bent = self._bent(case, train, place - 1)
        if bent:
            self.gates.ask_about_runner(case.attempt, journal, case.limits, bent)
            return None
        if place != 1 or not move.publish:
            return journal
        if self.train.is_uncounted(journal):
            return replace(journal, step=Step.COUNT_BASE)
        if journal.checked < len(journal.chain):
            return self._validate_chain(case, journal)
        folded = self._folded(case, journal)
        if folded is not journal:
            return folded
        count = next((n for n in range(1, move.publish) if self._bent(case, train, n)), move.publish)
        if count < move.publish and not case.limits.queue.every_commit_green:
            return journal  # its own step asks about it, and the others are tried without it
        return self.train.begin_landing(case.board, count)

    def _bent(self, case: Case, train: Sequence[Car], place: int) -> str:
        """The altered test that the runner of this candidate did not report, and nobody accepted that; "": none."""
        bent = self.train.bent(train, place)
        car = train[place]
        return "" if bent and self.gates.is_accepted(car.bead, car.journal.head) else bent

    def _blamed(self, case: Case, journal: Journal, less: str) -> Journal | None:
        """The candidate is red on a green one: sent back, unless main itself is red."""
        self.train.blamed(case.board)
        if journal.red and journal.is_broken:
            return self.judging.ask_about_checks(case, journal)
        if journal.red:
            return replace(journal, step=Step.VALIDATE_BASE)
        return self.judging.reject(case, Outcome.FAILED_REVIEW, f"The tests prove less than before: {less}")

    def count_base(self, case: Case, journal: Journal) -> Journal | None:
        """Run main's own tests, which nobody did since it got there: a candidate has to prove as much."""
        if journal.contract != self.validation.contract(journal.brings):
            return with_other_checks(journal)
        if not self.train.is_uncounted(journal):
            return replace(journal, step=Step.VALIDATE_REBASED)
        return self.judging.begin(case, journal, journal.base)

    def _validate_chain(self, case: Case, journal: Journal) -> Journal | None:
        """With merge = rebase: each commit on the way, which may fail by itself."""
        commit = journal.chain[journal.checked]
        if self.validation.passed(self.doors.git.tree(commit), case.attempt.id, journal.brings) is None:
            return self.judging.begin(case, journal, commit)
        return replace(journal, checked=journal.checked + 1, kept=(*journal.kept, commit))

    def _folded(self, case: Case, journal: Journal) -> Journal:
        """With merge = rebase: only commits that pass alone reach main, the others melt into the next."""
        git = self.doors.git
        if not journal.chain or len(journal.kept) == len(journal.chain):
            return journal
        steps = [Candidate(c, git.tree(c)) for c in (*journal.kept, journal.candidate)]
        last = git.fold(journal.base, steps, messages.for_merge(self.doors, case.bead, case.attempt))
        proven = self.train.proof(journal, last.commit) if journal.proven else ""
        return replace(journal, candidate=last.commit, chain=(), kept=(), proven=proven)

    def swap(self, case: Case, journal: Journal) -> Journal | None:
        """Move main, or wait for who moves it."""
        git = self.doors.git
        train: list[Car] = []
        if not git.contains(journal.candidate, git.main()):
            train = self.train.landing(case.board, journal.tip)
            if not train:  # main, the checks or one of those that should land with it are not what they were
                return replace(self._moves_again(journal), step=Step.REBASE, tip="")
            if train[0].attempt != case.attempt.id:
                return journal  # the head moves main
        land = self._frozen(case, journal, train) if train else None
        if land is not None and any(bead.type == BeadType.REPAIR for bead in case.board.to_review):
            self._gives_way(case, journal, land)
            return None
        if land is None and train and not self.ways.is_pending(case.attempt.id):
            landings.hold(self.doors, self.judging.evidence, train)
        if land is None:
            land = self.ways.land(case.attempt.id, train, journal.tip, journal.base)
        if land is None:
            return journal  # its end wakes the loop
        if land.landing is Landing.BLOCKED:
            self._wait(case, journal, land, train)
            return None
        self.train.changed()
        step = Step.VALIDATE_MAIN if land.landing is Landing.MOVED else Step.REBASE
        return replace(self._moves_again(journal), step=step)

    def _frozen(self, case: Case, journal: Journal, train: Sequence[Car]) -> Land | None:
        """Why nothing lands while main is red; None: it is not, this one is on its way already, or a repair is."""
        tip = self.doors.store.setting(FROZEN)
        if tip is not None and any(self.doors.store.bead(car.bead).type is BeadType.REPAIR for car in train):
            return None
        if tip is None or journal.published or self.ways.is_pending(case.attempt.id):
            return None
        return Land(Landing.BLOCKED, f"main is red at {tip[:12]}, and nothing is merged before it is green again")

    def _gives_way(self, case: Case, journal: Journal, land: Land) -> None:
        """End a review that waits for main to be green: a repair waits for its place, and begins on main itself."""
        journal = self._moves_again(journal)
        why = f"{land.reason}; a repair goes first, and the review begins again after it"
        kind = Kind.REVIEW_INTERRUPTED
        close(self.doors, case.limits, case.attempt, Outcome.INTERRUPTED, why, kind=kind, head=journal.head)

    def _wait(self, case: Case, journal: Journal, land: Land, train: Sequence[Car] = ()) -> None:
        """Main cannot be moved, or brought along, just now; a person is told.

        Those that should land with it wait as they did before, unless they may have landed already.
        """
        bead = case.attempt.bead
        now = self.doors.store.now()
        since = journal.waiting_since or now
        passing_since = (journal.passing_since or now) if land.patience else 0.0
        passing = may_pass(land.patience, passing_since, now)
        wait = land.wait or WAIT_FOR_CHECKOUT
        if journal.waiting != land.reason or (journal.passing and not passing):
            self.doors.notifier.tell(Notice(f"{bead} waits to be merged: {land.reason}", bead, urgent=not passing))
        behind = journal.behind
        if not behind and now >= since + LONG_WAIT:
            new = NewEscalation(EscalationType.CHECKOUT_BEHIND, f"{bead} waits to be merged", land.reason)
            behind = self.doors.store.escalate(new, bead, case.attempt.id, "nobrakes").id
        waits = replace(
            journal,
            waiting=land.reason,
            waiting_until=now + (look_again(passing_since, now, wait) if passing else wait),
            waiting_since=since,
            passing=passing,
            passing_since=passing_since,
            behind=behind,
            published=land.may_have_landed,
        )
        if train and not land.may_have_landed:
            self.train.give_up_landing(train, waits)
        else:
            self.doors.store.journal(case.attempt.id, waits.as_data())

    def _moves_again(self, journal: Journal) -> Journal:
        if journal.behind:
            with contextlib.suppress(NotAllowed):  # a person resolved it, or a crash hid that we did
                self.doors.store.resolve(journal.behind, "main can be moved again", "nobrakes")
        return waits_no_more(journal)

    def is_under_way(self, attempt: int, board: Board) -> bool:
        """Whether the review is landing just now, by itself or with others, where a remote has to say so."""
        opened = {car.attempt: car for car in self.train.look(board).opened}
        tip = opened[attempt].journal.tip if attempt in opened else ""
        together = {car.attempt for car in opened.values() if tip and car.journal.tip == tip}
        return any(self.ways.goes_on(one) for one in {attempt} | together)
