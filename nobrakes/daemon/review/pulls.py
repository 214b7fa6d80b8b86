"""The step of a review in which people merge: its request is opened, looked at, and what follows is reported.

1. The row of the request is written, and its commit pinned, before the host is asked: a crash in between finds both.
2. What is asked takes long, so it goes on beside the loop (daemon.pulls.exchange); its end is heard in a later turn.
3. The host says whether it is merged. Where none can tell, what the base contains says so: the commit itself, its
   trailer, or its content.
4. What waits for people holds no place in the queue, and nobody is asked again before `poll_seconds`, or longer where
   nothing happens.
"""

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from ...core.beads.attempt import Attempt
from ...core.beads.events import Event
from ...core.beads.outcomes import Outcome
from ...core.errors import NobrakesError
from ...core.idle import look_again, may_pass
from ...core.pulls import disputes, happened, life
from ...core.pulls.happened import Happening
from ...core.pulls.life import Turn
from ...core.pulls.pull import ASKED, PullRequest, PullState, Seen, Told
from ...core.review.journal import Journal, Step
from ...core.review.machine import Fact
from ...ports.codehosts import PullPorts
from ...ports.people import Notice
from ...roles.delivery import delivery_of
from ..checks.proofs import clean
from ..epics import below_of, git_of
from ..ports import Ports
from ..pulls import branches
from ..pulls.exchange import Order, exchange, look
from ..pulls.merged import in_base, is_on_main, with_base
from ..pulls.wording import answers, wanted, without_secrets
from . import opening, stacked, whole_epics
from .beside import NOBODY, Beside
from .given_up import GivenUp
from .queue import ReviewContext
from .reports import AttemptEnd, Report

PATIENCE = 300.0
"""So long trouble that may pass is waited for, before a person has to look."""


class PullSteps:
    """Leads reviews through their requests."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[Seen] = Beside(ports.background)
        self._looked: dict[int, float] = {}
        self._held: set[int] = set()
        self._before: set[int] = set()
        self._given_up = GivenUp(ports)

    @property
    def is_on(self) -> bool:
        """Whether work lands by pull requests."""
        return self.ports.pulls is not None

    def is_due(self, attempt: Attempt, journal: Journal) -> bool:
        """Whether the request is looked at whatever its journal says: this process never did, it waits for what it
        asked, a person asked, or more of its epic has landed.
        """
        if journal.step is not Step.PULL_REQUEST:
            return False
        looked = self._looked.get(attempt.id)
        if looked is None or self._beside.is_pending(_asking(attempt.id)):
            return True
        bead = self.ports.store.bead(attempt.bead)
        has_more = whole_epics.has_more(self.ports, bead, journal) is not None
        if has_more or stacked.is_due(self.ports, bead, journal, looked):
            return True
        asked = self.ports.store.setting(ASKED)
        return asked is not None and float(asked) > looked

    # --- before a candidate is built -------------------------------------------------------------

    def merged_before(self, context: ReviewContext, journal: Journal) -> Report | None:
        """What a review is told whose request people merged before it began; None: it builds its candidate."""
        attempt, bead = context.attempt.id, context.attempt.bead
        pull = self.ports.store.pull(bead)
        if pull is not None and self._is_cut_off(pull):
            return self._merged(attempt, pull)
        why = stacked.why_gone(self.ports, context.bead)
        if why:  # it would hold a place in the queue until a person has said so
            self.ports.notifier.tell(Notice(f"{bead} is not reviewed: {why}", bead, urgent=True))
            return Report(Fact.STOPPED, ending=AttemptEnd(Outcome.INTERRUPTED, why, journal.head))
        if attempt in self._before or pull is None or not pull.waits or not pull.head:
            return None
        if not self.ports.git.has(pull.head):
            return None
        if self._pulls.host.tells:
            if not pull.number:
                return None  # it is found, if it is there, by the step that opens it
            name, catch_up = f"pull look {attempt}", self.ports.git.catch_up
            seen = self._beside.ask(attempt, name, lambda: look(pull.number, self._pulls, catch_up))
            if seen is None:
                return Report(Fact.NOT_YET)
            if seen.trouble:
                return self._waits(context, journal, pull, seen)
            merged = seen.told.merged_as if seen.told is not None and seen.told.state is PullState.MERGED else ""
            had = branches.as_merged(self.ports, pull, seen.told)
        else:
            merged, had = in_base(self.ports.git, pull), pull
        if not merged or not is_on_main(self.ports.git, merged):
            self._before.add(attempt)
            return None
        branches.tell_of_later(self.ports, context.bead, had, journal.fork, journal.head)
        return self._merged(attempt, replace(had, merged_as=merged))

    # --- the request -----------------------------------------------------------------------------

    def turn(self, context: ReviewContext, journal: Journal) -> Report:
        """Open it, or see how it is."""
        attempt, bead = context.attempt.id, context.bead
        if not self.is_on:  # it was to be a request of its own, and now its epic's branch is where it lands
            return Report(Fact.FELL_OFF)
        name = _asking(attempt)
        self._looked[attempt] = self.ports.store.now()
        pull = self.ports.store.pull(bead.id)
        is_asking = self._beside.is_pending(name)
        more = None if is_asking else whole_epics.has_more(self.ports, bead, journal)
        if more is not None:
            return more
        if pull is not None and self._is_cut_off(pull):
            return self._merged(attempt, pull)
        gone = None if is_asking else self._gone_below(context, journal)  # which tells a person
        if gone is not None:
            return gone
        if not is_asking and stacked.has_moved(self.ports, bead, journal):
            return self._built_anew(pull)
        if pull is None or not pull.waits:
            delivery = delivery_of(self.ports.store, self.ports.config(), bead)
            is_known = pull is None and branches.pushed_now(self.ports, bead.id)  # of before the database was lost
            held = "" if is_known else opening.why_not(self.ports, self._pulls.base, bead.id, journal, delivery)
            if held:
                self._held.add(attempt)
                seen = Seen(trouble=held, wait=_wait(self.ports), needs_person=True)
                return self._waits(context, journal, None, seen)
            heard = pull.heard if pull is not None else ()
            was = pull.number if pull is not None and pull.state is PullState.CLOSED else 0
            pull = PullRequest(bead.id, branch=delivery.branch, heard=heard, opened_at=self.ports.store.now(), was=was)
        if not is_asking:
            adopted = opening.adopted(self.ports.git, journal, pull)
            if adopted is not None:
                return adopted
            pull = self._prepared(journal, pull, bead.title)
            order = self._order(pull)
            self._beside.begin(attempt, name, lambda: exchange(order, self._pulls, self.ports.git.catch_up))
            return Report(Fact.NOT_YET)
        end = self._beside.end(name)
        return Report(Fact.NOT_YET) if end is None else self._report(context, journal, pull, end)

    def forget(self, bead: str) -> None:
        """The bead is merged: what was pushed for it is archived, and then its branch is removed, where that is wanted.

        Whether it could be is not waited for: doctor names what is left.
        """
        if not self.is_on:
            return
        for held in self._held:  # there is room now
            self._looked.pop(held, None)
        self._held.clear()
        branches.archive(self.ports, bead)
        self._remove(bead)

    def _remove(self, bead: str) -> None:
        """Remove the branch of the merged request, unless others are for it: the host would close them."""
        pull, ours, remove = self.ports.store.pull(bead), branches.pushed(self.ports, bead), self._pulls.remove
        if pull is None or not ours or not branches.is_to_go(self.ports, pull):
            return
        if stacked.is_stood_on(self.ports, bead):
            return

        def removed() -> Seen:
            with contextlib.suppress(NobrakesError):
                remove(pull.branch, ours)
            return Seen()

        name = f"pull branch {bead}"
        if not self._beside.is_pending(name):
            self._beside.begin(NOBODY, name, removed)

    def settle(self, attempts: Collection[int]) -> None:
        """Hear the ends of what was begun for reviews that are not open any more; close the requests of beads that
        people gave up.
        """
        for attempt, seen in self._beside.settle(attempts):
            self._note(attempt, seen)
        if self.is_on and not self.ports.where.base:  # which is asked about all
            self._given_up.turn(self._pulls.host)

    def _note(self, attempt: int, seen: Seen) -> None:
        """What was heard of a request whose review is over: doctor names it, and the next review goes on with it."""
        store = self.ports.store
        pull = store.pull(store.attempt(attempt).bead) if seen.told is not None else None
        if pull is not None and seen.told is not None and pull.state is PullState.OPENING:
            url = clean(self.ports, seen.told.url)
            store.save_pull(replace(pull, number=seen.told.number, url=url, state=PullState.OPEN))

    @property
    def _pulls(self) -> PullPorts:
        assert self.ports.pulls is not None, "who lands by requests has a host"
        return self.ports.pulls

    def _prepared(self, journal: Journal, pull: PullRequest, title: str) -> PullRequest:
        """The row and the pin, before anything is asked of anybody."""
        onto = below_of(self.ports, self.ports.store.bead(pull.bead)) or pull.onto
        proven = replace(pull, head=journal.candidate, base=journal.base, contract=journal.contract)
        now = replace(proven, title=title, onto=onto, into=self.ports.where.base)
        if pull != now:
            self.ports.git.pin(f"{branches.PINS}/{pull.bead}/{now.head}", now.head)
            self.ports.store.save_pull(now)
        return now

    def _order(self, pull: PullRequest) -> Order:
        bead = self.ports.store.bead(pull.bead)
        text = wanted(self.ports, bead, pull, stacked.base_of(self.ports, bead, self._pulls.base))
        digest = sha256(f"{text.title}\n{text.body}".encode()).hexdigest()[:16]
        ours = branches.pushed(self.ports, pull.bead) | {pull.head}
        now = branches.pushed_now(self.ports, pull.bead) | {pull.head}
        return Order(pull.head, ours, now, text, digest, pull.text, pull.number, pull.was)

    # --- what came of it -------------------------------------------------------------------------

    def _report(self, context: ReviewContext, journal: Journal, pull: PullRequest, seen: Seen) -> Report:
        seen = without_secrets(self.ports, seen)
        told, store = seen.told, self.ports.store
        if told is not None:
            state = PullState.OPEN if told.state is PullState.MERGED else told.state  # until its commit is here
            pull = replace(pull, state=state, number=told.number, url=clean(self.ports, told.url))
            had = pull.head if told.head == pull.head else pull.had
            pull = replace(pull, text=seen.text or pull.text, merged_as=told.merged_as, had=had)
            pull = self._let_go(context, pull, told)
        says = pull.says if seen.paced and pull.says else self._waits_for(seen, pull)
        pull = replace(happened.kept(pull, seen), says=says, looked_at=store.now())
        pull = self._save(context.attempt.id, *happened.happened(pull, seen))
        if not self._pulls.host.tells:  # whoever pushed to its branch meanwhile, main says what was merged
            merged = in_base(self.ports.git, pull)
            if merged:
                return self._merged(context.attempt.id, replace(pull, merged_as=merged))
        if seen.trouble:
            return self._waits(context, journal, pull, seen)
        way = life.turn(seen, pull)
        if way is Turn.MERGED and not is_on_main(self.ports.git, pull.merged_as):
            return self._merged_elsewhere(context, journal, pull, told.base if told is not None else "")
        if way is Turn.MERGED:
            branches.tell_of_others(self.ports, pull, told)
            return self._merged(context.attempt.id, branches.as_merged(self.ports, pull, told))
        if way is Turn.CLOSED:
            return self._closed(pull)
        if way is Turn.RED:
            detail = clean(self.ports, life.log_of_red(seen, pull))
            return Report(Fact.PULL_RED, ending=AttemptEnd(Outcome.FAILED_REVIEW, detail, journal.head, _about(pull)))
        if way is Turn.REMARKS:
            return self._remarked(journal, pull, seen)
        if way is Turn.CONFLICTS and git_of(self.ports, context.bead).main() != pull.base:
            return self._built_anew(pull)
        if pull.onto != below_of(self.ports, context.bead):  # it is to be for another branch by now
            self._looked.pop(context.attempt.id, None)
        return self._waits(context, journal, pull, seen)

    # --- on top of another one -------------------------------------------------------------------

    def _gone_below(self, context: ReviewContext, journal: Journal) -> Report | None:
        why = stacked.why_gone(self.ports, context.bead)
        if not why:
            return None
        seen = Seen(trouble=why, wait=_wait(self.ports), needs_person=True)
        return self._waits(context, journal, self.ports.store.pull(context.bead.id), seen)

    def _built_anew(self, pull: PullRequest | None) -> Report:
        """It is not gone on with as it is."""
        if pull is not None:
            self.ports.store.save_pull(replace(pull, base=""))
        return Report(Fact.FELL_OFF)

    def _let_go(self, context: ReviewContext, pull: PullRequest, told: Told) -> PullRequest:
        """The request; where it is for main by now, the branch that it was for is not needed any more."""
        if not pull.onto or below_of(self.ports, context.bead) or told.base not in ("", self._pulls.base):
            return pull
        was, now = pull.onto, replace(pull, onto="")
        self.ports.store.save_pull(now)
        under = self.ports.store.pull(was)
        if under is not None and under.state is PullState.MERGED:
            self._remove(was)
        return now

    def came_along(self, context: ReviewContext, head: str, base: str, contract: str) -> Report:
        """It came to main with what it stacked on."""
        pull = self.ports.store.pull(context.bead.id) or PullRequest(context.bead.id)
        commit = pull.merged_as if is_on_main(self.ports.git, pull.merged_as) else base
        self.ports.git.pin(f"{branches.PINS}/{pull.bead}/{head}", head)  # so that a crash finds it (_is_cut_off)
        had = replace(pull, head=head, base=base, contract=contract, merged_as=commit)
        return self._merged(context.attempt.id, had)

    def _merged_elsewhere(self, context: ReviewContext, journal: Journal, pull: PullRequest, into: str) -> Report:
        """People merged it into that branch, and main has not got its commit."""
        below = below_of(self.ports, context.bead)
        if pull.onto and not below:
            stacked.asked_anew(self.ports, pull)
            return Report(Fact.FELL_OFF)
        why = stacked.why_elsewhere(self.ports, context.bead, pull, into, self._pulls.base)
        # main was heard of after it; a host that is late with it is given a second look
        needs_person = bool(below) or journal.waiting == why
        return self._waits(context, journal, pull, Seen(trouble=why, wait=_wait(self.ports), needs_person=needs_person))

    def _save(self, attempt: int, pull: PullRequest, found: Sequence[Happening]) -> PullRequest:
        """Keep it, and tell what is new about it, in one transaction."""
        store = self.ports.store
        with store.together():
            for kind, data in found:
                store.record(Event(kind, pull.bead, attempt, data=data))
            store.save_pull(pull)
        return pull

    def _is_cut_off(self, pull: PullRequest) -> bool:
        """Whether its merge was written down by who was killed before the review knew it: its pins are there."""
        is_known = pull.state is PullState.MERGED and is_on_main(self.ports.git, pull.merged_as)
        return is_known and pull.head in branches.pushed_now(self.ports, pull.bead)

    def _merged(self, attempt: int, pull: PullRequest) -> Report:
        pull = with_base(self.ports.git, pull)
        now = replace(pull, state=PullState.MERGED, says="merged", looked_at=self.ports.store.now())
        with self.ports.store.together():
            self._save(attempt, *happened.merged(now))
            self.ports.store.stack(pull.bead, None)  # it is on main, whatever becomes of the one below
        tree = self.ports.git.tree(pull.head)
        brought = {"base": pull.base, "candidate": pull.head, "tree": tree, "contract": pull.contract}
        return Report(Fact.PULL_MERGED, {**brought, "merged_as": pull.merged_as})

    def _remarked(self, journal: Journal, pull: PullRequest, seen: Seen) -> Report:
        """What people want is told to the next attempt; where they want it for the second time, a person decides."""
        new = life.news(seen.remarks, pull)
        detail, twice = clean(self.ports, life.log_of_remarks(seen, pull)), disputes.again(new, pull)
        heard = (*pull.heard, *(one.key for one in new))[-1000:]
        self.ports.store.save_pull(replace(disputes.remembered(new, pull), heard=heard))
        if not twice:
            return Report(Fact.PULL_REMARKED, ending=AttemptEnd(Outcome.REMARKS, detail, journal.head, _about(pull)))
        told = answers(self.ports, pull.bead)
        detail = f"{clean(self.ports, disputes.told(twice, pull, told))}\n\n{detail}"
        evidence = {**_about(pull), **disputes.evidence(twice, pull, told)}
        return Report(Fact.PULL_ASKED_AGAIN, ending=AttemptEnd(Outcome.ASKED_AGAIN, detail, journal.head, evidence))

    def _closed(self, pull: PullRequest) -> Report:
        self.ports.git.pin(f"archive/{pull.bead}/pull-{pull.head[:12]}", pull.head)
        self.ports.store.save_pull(replace(pull, state=PullState.CLOSED))
        detail = (
            f"People closed pull request {pull.name} without merging it: {pull.url}\n"
            f"Its work is kept under refs/nobrakes/archive/{pull.bead}/. Reopen it there and retry this, have the bead "
            "done again with what they said, or give the bead up."
        )
        return Report(Fact.PULL_CLOSED, ending=AttemptEnd(Outcome.PULL_CLOSED, detail, pull.head, _about(pull)))

    # --- waiting ---------------------------------------------------------------------------------

    def _waits_for(self, seen: Seen, pull: PullRequest) -> str:
        cannot = self.ports.config().review.pull_auto_merge and not self._pulls.host.tells
        return clean(self.ports, life.waits_for(seen, pull, by_itself=cannot))

    def _waits(self, context: ReviewContext, journal: Journal, pull: PullRequest | None, seen: Seen) -> Report:
        """The review waits; a person is told once for each reason."""
        now, bead = self.ports.store.now(), context.attempt.bead
        is_open = pull is not None and pull.state is PullState.OPEN
        rests = seen.paced and is_open and bool(journal.waiting) and not journal.passing  # it was seen, and is again
        reason = journal.waiting if rests else self._waits_for(seen, pull or PullRequest(bead))
        is_same = journal.waiting == reason
        since = (journal.waiting_since if is_same else 0.0) or now
        may = bool(seen.trouble) and not seen.needs_person and not rests
        passing_since = (journal.passing_since or now) if may else 0.0
        passing = may_pass(PATIENCE if may else 0.0, passing_since, now)
        if not is_same or (journal.passing and not passing):
            self.ports.notifier.tell(Notice(f"{bead} waits to be merged: {reason}", bead, urgent=not passing))
        wait = seen.wait or life.next_look(_wait(self.ports), now - since)
        waits: Mapping[str, Any] = {
            "waiting": reason,
            "waiting_until": now + (look_again(passing_since, now, wait) if passing and not seen.wait else wait),
            "waiting_since": since,
            "passing": passing,
            "passing_since": passing_since,
            "behind": 0,
            "published": False,
        }
        return Report(Fact.BLOCKED, waits)


def _asking(attempt: int) -> str:
    return f"pull {attempt}"


def _wait(ports: Ports) -> float:
    return life.between_looks(ports.config().review.poll_seconds, len(ports.store.pulls()))


def _about(pull: PullRequest) -> Mapping[str, Any]:
    return {"pull_request": pull.number, "url": pull.url, "head": pull.head}
