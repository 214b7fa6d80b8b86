"""The step of a review in which people merge: its request is opened, looked at, and the result reported.

1. The request's row and its commit's pin are written before the host is asked, for a crash in between.
2. Asking is slow and runs beside the loop (requests.worker.exchange); its end is read in a later turn.
3. The host says whether it is merged; otherwise the base does: by the commit, its trailer, or its content.
4. Waiting for people takes no place in the queue; the next question comes after `poll_seconds`, or later if nothing
   happens.
"""

import contextlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

from ...beads.model import CLOSED, Attempt, Bead, BeadType, Outcome, Status
from ...checks.worker.steps import clean
from ...daemon.deciders import look_again, may_pass
from ...daemon.model import Board
from ...decisions.model import STOPS_BEAD
from ...errors import HostRefused, HostUnavailable, NobrakesError, NotAllowed
from ...events.kinds import Event, Kind
from ...git.port import Git
from ...host.port import Notice
from ...ports import Ports
from ...review.journal import Journal, Step
from ...review.machine import Fact
from ...review.service.landed import delivery_of
from ...review.worker.chain import AttemptEnd, Report
from ...review.worker.culprits import FROZEN
from ...review.worker.merge_queue import NOBODY, Beside, ReviewContext
from ...text.cleaning import count
from .. import model as requests_model
from ..hosts.port import CodeHost, PullPorts
from ..model import ASKED, Delivery, NewEvent, PullRequest, PullState, Seen, Turn, mark, push_approval
from . import epics
from . import exchange as requests_exchange
from .exchange import Order, answers, exchange, in_base, is_on_main, look, wanted, with_base, without_secrets
from .landing_branch import git_of


def why_not(ports: Ports, base: str, bead: str, journal: Journal, delivery: Delivery) -> str:
    """Why no new request for that branch opens now; empty: it does."""
    store, most = ports.store, ports.config().review.max_open
    if not delivery.push and store.setting(push_approval(bead)) != journal.change.head:
        return f"to push {bead} and open its pull request, type `nobrakes pr open {bead}`"
    tip = None if ports.where.base else store.setting(FROZEN)  # which is said of main
    if tip is not None and not _mends(ports, bead):
        return f"{base} fails its checks at {tip[:12]}; nobrakes opens no pull request until {base} passes"
    others = [store.bead(one.bead).status for one in store.pulls() if one.bead != bead]
    asked, left = others.count(Status.ESCALATED), sum(one not in CLOSED for one in others)
    if left < most:
        return ""
    wait = count(left, "pull request is waiting", "pull requests are waiting")
    why = f"{wait} for people, so nobrakes opens no more pull requests (review.max_open = {most})"
    asks = count(asked, "of their beads needs", "of their beads need")
    return f"{why}; {asks} your decision: nobrakes escalations" if asked else why


def _mends(ports: Ports, bead: str) -> bool:
    one = ports.store.bead(bead)
    return BeadType.REPAIR in (one.type, *(each.type for each in epics.within(ports, one)))


def opening_adopted(git: Git, journal: Journal, pull: PullRequest) -> Report | None:
    """Keep an existing request that contains what this review proved."""
    build = journal.build
    if pull.head in ("", build.candidate) or not pull.base or pull.contract != build.contract:
        return None
    if not (git.has(pull.head) and git.has(pull.base)):
        return None
    if git.content(pull.base, pull.head) != git.content(build.base, build.candidate):
        return None
    brought = {"base": pull.base, "candidate": pull.head, "tree": git.tree(pull.head), "contract": pull.contract}
    return Report(Fact.ADOPTED, brought)


def _has_moved(ports: Ports, bead: Bead, journal: Journal) -> bool:
    build = journal.build
    if not build.base or epics.is_epic(bead) or not ports.git.has(build.base):
        return False
    return not ports.git.contains(build.base, git_of(ports, bead).main())


# Closing a given-up request is tried once in the life of a daemon, beside the loop; what is left, doctor names. One
# that people merged meanwhile stays as it is; where its bead was cancelled, a person is told. A host that tells nothing
# is not asked: what was pushed there stays.
class GivenUp:
    """Closes requests of beads that were given up."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[PullRequest] = Beside(ports.background)
        self._tried: set[tuple[str, int]] = set()

    def turn(self, host: CodeHost) -> None:
        store = self.ports.store
        for _, closed in self._beside.settle(()):
            now = store.pull(closed.bead)
            is_it = now is not None and now.number in (0, closed.number) and now.head == closed.head
            if closed.state in (PullState.CLOSED, PullState.MERGED) and is_it:
                store.save_pull(closed)
                self._tell(closed)
        for pull in store.pulls():
            key = pull.bead, pull.number
            if key in self._tried:
                continue
            status = store.bead(pull.bead).status
            if status not in CLOSED:
                continue
            self._tried.add(key)
            requests_exchange.archive(self.ports, pull.bead)
            if not host.supports_pull_requests:
                store.save_pull(replace(pull, state=PullState.CLOSED, says="the bead was cancelled"))
                continue
            self._begin(host, pull, requests_exchange.pushed(self.ports, pull.bead), status is Status.DONE)

    def _tell(self, pull: PullRequest) -> None:
        bead = self.ports.store.bead(pull.bead)
        if pull.state is PullState.MERGED and bead.status is Status.CANCELLED:
            text = (
                f"{bead.id} was cancelled, but people had merged its pull request {pull.name}. To mark the bead as "
                f"done, type `nobrakes reopen {bead.id}`, then `nobrakes done {bead.id}`"
            )
            self.ports.notifier.tell(Notice(text, bead.id, urgent=True))

    def _begin(self, host: CodeHost, pull: PullRequest, ours: Collection[str], is_done: bool) -> None:
        def close() -> PullRequest:
            try:
                host.ready()
                number = pull.number or _number_of(host, pull, ours)
                if not number:  # it may be on its way: who opens it hears of it, and it is closed then
                    return pull
                host.close(number)
                told = host.look(number)
            except (HostUnavailable, HostRefused):
                return pull
            if told.state is PullState.MERGED:
                return replace(pull, state=told.state, number=number, merged_as=told.merged_as, says="merged")
            if told.state is not PullState.CLOSED:
                return pull
            why = "the bead was done another way" if is_done else "the bead was cancelled"
            return replace(pull, state=told.state, number=number, says=why)

        self._beside.begin(NOBODY, f"pull close {pull.bead}", close)


def _number_of(host: CodeHost, pull: PullRequest, ours: Collection[str]) -> int:
    """The bead's open request; 0: none. HostRefused: someone else pushed to it."""
    found = [one for one in host.find(pull.branch, mark(pull.bead)) if one.state is PullState.OPEN]
    if found and found[0].head not in ours:
        raise HostRefused(f"the branch {pull.branch} has commits that nobrakes did not push")
    return found[0].number if found else 0


TIMEOUT = 300.0
"""Seconds of passing trouble before a person has to look."""


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
        return self.ports.pulls is not None

    def is_due(self, attempt: Attempt, journal: Journal) -> bool:
        """Whether to look in any case: at first, with an answer pending, on request, or with more of its epic."""
        if journal.step is not Step.PULL_REQUEST:
            return False
        looked = self._looked.get(attempt.id)
        if looked is None or self._beside.is_pending(f"pull {attempt.id}"):
            return True
        bead = self.ports.store.bead(attempt.bead)
        has_more = epics.has_more(self.ports, bead, journal) is not None
        if has_more or _has_moved(self.ports, bead, journal):
            return True
        asked = self.ports.store.setting(ASKED)
        return asked is not None and float(asked) > looked

    # --- before a candidate is built -------------------------------------------------------------

    def merged_before(self, context: ReviewContext, journal: Journal) -> Report | None:
        """What a review does whose request was merged before; None: build the candidate."""
        attempt, bead = context.attempt.id, context.attempt.bead
        pull = self.ports.store.pull(bead)
        if pull is not None and self._is_cut_off(pull):
            return self._merged(attempt, pull)
        if attempt in self._before or pull is None or not pull.waits or not pull.head:
            return None
        if not self.ports.git.has(pull.head):
            return None
        if self._pulls.host.supports_pull_requests:
            if not pull.number:
                return None  # it is found, if it is there, by the step that opens it
            name, catch_up = f"pull look {attempt}", self.ports.git.catch_up
            seen = self._beside.ask(attempt, name, lambda: look(pull.number, self._pulls, catch_up))
            if seen is None:
                return Report(Fact.NOT_YET)
            if seen.trouble:
                return self._waits(context, journal, pull, seen)
            merged = seen.told.merged_as if seen.told is not None and seen.told.state is PullState.MERGED else ""
            had = requests_exchange.as_merged(self.ports, pull, seen.told)
        else:
            merged, had = in_base(self.ports.git, pull), pull
        if not merged or not is_on_main(self.ports.git, merged):
            self._before.add(attempt)
            return None
        requests_exchange.tell_of_later(self.ports, context.bead, had, journal.change.fork, journal.change.head)
        return self._merged(attempt, replace(had, merged_as=merged))

    # --- the request -----------------------------------------------------------------------------

    def turn(self, context: ReviewContext, journal: Journal) -> Report:
        """Open it, or read its state."""
        attempt, bead = context.attempt.id, context.bead
        if not self.is_on:  # it was to be a request of its own, and now its epic's branch is where it lands
            return Report(Fact.FELL_OFF)
        name = f"pull {attempt}"
        self._looked[attempt] = self.ports.store.now()
        pull = self.ports.store.pull(bead.id)
        is_asking = self._beside.is_pending(name)
        more = None if is_asking else epics.has_more(self.ports, bead, journal)
        if more is not None:
            return more
        if pull is not None and self._is_cut_off(pull):
            return self._merged(attempt, pull)
        if not is_asking and _has_moved(self.ports, bead, journal):
            return self._rebuilt(pull)
        if pull is None or not pull.waits:
            delivery = delivery_of(self.ports.store, self.ports.config(), bead)
            # of before the database was lost
            is_known = pull is None and requests_exchange.pushed_now(self.ports, bead.id)
            held = "" if is_known else why_not(self.ports, self._pulls.base, bead.id, journal, delivery)
            if held:
                self._held.add(attempt)
                seen = Seen(trouble=held, wait=_wait(self.ports), needs_person=True)
                return self._waits(context, journal, None, seen)
            heard = pull.heard if pull is not None else ()
            was = pull.number if pull is not None and pull.state is PullState.CLOSED else 0
            pull = PullRequest(bead.id, branch=delivery.branch, heard=heard, opened_at=self.ports.store.now(), was=was)
        if not is_asking:
            if (adopted := opening_adopted(self.ports.git, journal, pull)) is not None:
                return adopted
            pull = self._prepared(journal, pull, bead.title)
            order = self._order(pull)
            self._beside.begin(attempt, name, lambda: exchange(order, self._pulls, self.ports.git.catch_up))
            return Report(Fact.NOT_YET)
        end = self._beside.end(name)
        return Report(Fact.NOT_YET) if end is None else self._report(context, journal, pull, end)

    def forget(self, bead: str) -> None:
        """Archive pushed commits and remove the branch if wanted, in the background: doctor reports leftovers."""
        if not self.is_on:
            return
        for held in self._held:  # there is room now
            self._looked.pop(held, None)
        self._held.clear()
        requests_exchange.archive(self.ports, bead)
        self._remove(bead)

    def _remove(self, bead: str) -> None:
        pull, ours, remove = self.ports.store.pull(bead), requests_exchange.pushed(self.ports, bead), self._pulls.remove
        if pull is None or not ours or not requests_exchange.is_to_go(self.ports, pull):
            return

        def removed() -> Seen:
            with contextlib.suppress(NobrakesError):
                remove(pull.branch, ours)
            return Seen()

        name = f"pull branch {bead}"
        if not self._beside.is_pending(name):
            self._beside.begin(NOBODY, name, removed)

    def settle(self, attempts: Collection[int]) -> None:
        for attempt, seen in self._beside.settle(attempts):
            # what was heard of a request whose review is over: doctor names it, and the next review goes on with it
            store = self.ports.store
            pull = store.pull(store.attempt(attempt).bead) if seen.told is not None else None
            if pull is not None and seen.told is not None and pull.state is PullState.OPENING:
                url = clean(self.ports, seen.told.url)
                store.save_pull(replace(pull, number=seen.told.number, url=url, state=PullState.OPEN))
        if self.is_on and not self.ports.where.base:  # which is asked about all
            self._given_up.turn(self._pulls.host)

    @property
    def _pulls(self) -> PullPorts:
        assert self.ports.pulls is not None, "who lands by requests has a host"
        return self.ports.pulls

    def _prepared(self, journal: Journal, pull: PullRequest, title: str) -> PullRequest:
        build = journal.build
        proven = replace(pull, head=build.candidate, base=build.base, contract=build.contract)
        now = replace(proven, title=title, into=self.ports.where.base)
        if pull != now:
            self.ports.git.pin(f"{requests_exchange.PINS}/{pull.bead}/{now.head}", now.head)
            self.ports.store.save_pull(now)
        return now

    def _order(self, pull: PullRequest) -> Order:
        text = wanted(self.ports, self.ports.store.bead(pull.bead), pull, self._pulls.base)
        digest = sha256(f"{text.title}\n{text.body}".encode()).hexdigest()[:16]
        ours = requests_exchange.pushed(self.ports, pull.bead) | {pull.head}
        now = requests_exchange.pushed_now(self.ports, pull.bead) | {pull.head}
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
        says = pull.says if seen.paced and pull.says else self._waits_for(seen, pull)
        pull = replace(requests_model.kept(pull, seen), says=says, looked_at=store.now())
        pull = self._save(context.attempt.id, *requests_model.happened(pull, seen))
        # without pull requests main says what was merged
        if not self._pulls.host.supports_pull_requests and (merged := in_base(self.ports.git, pull)):
            return self._merged(context.attempt.id, replace(pull, merged_as=merged))
        if seen.trouble:
            return self._waits(context, journal, pull, seen)
        way = requests_model.turn(seen, pull)
        if way is Turn.MERGED and not is_on_main(self.ports.git, pull.merged_as):
            return self._merged_elsewhere(context, journal, pull, told.base if told is not None else "")
        if way is Turn.MERGED:
            requests_exchange.tell_of_others(self.ports, pull, told)
            return self._merged(context.attempt.id, requests_exchange.as_merged(self.ports, pull, told))
        if way is Turn.CLOSED:
            return self._closed(pull)
        if way is Turn.RED:
            detail = clean(self.ports, requests_model.log_of_red(seen, pull))
            return Report(
                Fact.PULL_RED, ending=AttemptEnd(Outcome.FAILED_REVIEW, detail, journal.change.head, _about(pull))
            )
        if way is Turn.REMARKS:
            return self._remarked(journal, pull, seen)
        if way is Turn.CONFLICTS and git_of(self.ports, context.bead).main() != pull.base:
            return self._rebuilt(pull)
        return self._waits(context, journal, pull, seen)

    def _rebuilt(self, pull: PullRequest | None) -> Report:
        if pull is not None:
            self.ports.store.save_pull(replace(pull, base=""))
        return Report(Fact.FELL_OFF)

    def _merged_elsewhere(self, context: ReviewContext, journal: Journal, pull: PullRequest, into: str) -> Report:
        """It was merged into that branch (empty: unknown), without its commit on main."""
        main, bead = self._pulls.base, pull.bead
        said = f"pull request {pull.name} is merged, but its commit is not on {main}"
        if into not in ("", main):
            said = f"pull request {pull.name} was merged into {into}, but is not on {main}"
        again = f"to do the work again, type `nobrakes cancel {bead}`, then `nobrakes reopen {bead}`"
        why = f"{said}. {bead} is done when the commit reaches {main}; {again}"
        # main was heard of after it; a host that is late with it is given a second look
        seen = Seen(trouble=why, wait=_wait(self.ports), needs_person=journal.merging.waiting == why)
        return self._waits(context, journal, pull, seen)

    def _save(self, attempt: int, pull: PullRequest, found: Sequence[NewEvent]) -> PullRequest:
        """One transaction for the state and its events."""
        store = self.ports.store
        with store.write():
            for kind, data in found:
                store.record(Event(kind, pull.bead, attempt, data=data))
            store.save_pull(pull)
        return pull

    def _is_cut_off(self, pull: PullRequest) -> bool:
        is_known = pull.state is PullState.MERGED and is_on_main(self.ports.git, pull.merged_as)
        return is_known and pull.head in requests_exchange.pushed_now(self.ports, pull.bead)

    def _merged(self, attempt: int, pull: PullRequest) -> Report:
        pull = with_base(self.ports.git, pull)
        now = replace(pull, state=PullState.MERGED, says="merged", looked_at=self.ports.store.now())
        with self.ports.store.write():
            self._save(attempt, *requests_model.merged(now))
        tree = self.ports.git.tree(pull.head)
        brought = {"base": pull.base, "candidate": pull.head, "tree": tree, "contract": pull.contract}
        return Report(Fact.PULL_MERGED, {**brought, "merged_as": pull.merged_as})

    def _remarked(self, journal: Journal, pull: PullRequest, seen: Seen) -> Report:
        """Pass comments to the next attempt; a repeated demand goes to a person."""
        new = requests_model.unheard_comments(seen.remarks, pull)
        detail, twice = clean(self.ports, requests_model.log_of_comments(seen, pull)), requests_model.again(new, pull)
        heard = (*pull.heard, *(one.key for one in new))[-1000:]
        self.ports.store.save_pull(replace(requests_model.remembered(new, pull), heard=heard))
        if not twice:
            return Report(
                Fact.PULL_REMARKED, ending=AttemptEnd(Outcome.REMARKS, detail, journal.change.head, _about(pull))
            )
        told = answers(self.ports, pull.bead)
        detail = f"{clean(self.ports, requests_model.told(twice, pull, told))}\n\n{detail}"
        evidence = {**_about(pull), **requests_model.evidence(twice, pull, told)}
        return Report(
            Fact.PULL_ASKED_AGAIN, ending=AttemptEnd(Outcome.ASKED_AGAIN, detail, journal.change.head, evidence)
        )

    def _closed(self, pull: PullRequest) -> Report:
        self.ports.git.pin(f"archive/{pull.bead}/pull-{pull.head[:12]}", pull.head)
        self.ports.store.save_pull(replace(pull, state=PullState.CLOSED))
        detail = (
            f"People closed pull request {pull.name} without merging it: {pull.url}\n"
            f"The work stays under refs/nobrakes/archive/{pull.bead}/. Reopen the pull request and retry, let an agent "
            "do the bead again with people's comments, or cancel the bead."
        )
        return Report(Fact.PULL_CLOSED, ending=AttemptEnd(Outcome.PULL_CLOSED, detail, pull.head, _about(pull)))

    # --- waiting ---------------------------------------------------------------------------------

    def _waits_for(self, seen: Seen, pull: PullRequest) -> str:
        cannot = self.ports.config().review.pull_auto_merge and not self._pulls.host.supports_pull_requests
        return clean(self.ports, requests_model.waits_for(seen, pull, by_itself=cannot))

    def _waits(self, context: ReviewContext, journal: Journal, pull: PullRequest | None, seen: Seen) -> Report:
        merging = journal.merging
        now, bead = self.ports.store.now(), context.attempt.bead
        is_open = pull is not None and pull.state is PullState.OPEN
        rests = seen.paced and is_open and bool(merging.waiting) and not merging.passing  # it was seen, and is again
        reason = merging.waiting if rests else self._waits_for(seen, pull or PullRequest(bead))
        is_same = merging.waiting == reason
        since = (merging.waiting_since if is_same else 0.0) or now
        may = bool(seen.trouble) and not seen.needs_person and not rests
        passing_since = (merging.passing_since or now) if may else 0.0
        passing = may_pass(TIMEOUT if may else 0.0, passing_since, now)
        if not is_same or (merging.passing and not passing):
            self.ports.notifier.tell(Notice(f"{bead} cannot be merged yet: {reason}", bead, urgent=not passing))
        wait = seen.wait or requests_model.next_look(_wait(self.ports), now - since)
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


def _wait(ports: Ports) -> float:
    return requests_model.between_looks(ports.config().review.poll_seconds, len(ports.store.pulls()))


def _about(pull: PullRequest) -> Mapping[str, Any]:
    return {"pull_request": pull.number, "url": pull.url, "head": pull.head}


# Requests may be merged while nobody reviews their beads: a question is open, or an epic waits for more of it. They are
# looked at as often as others, and a review of theirs ends what was asked.
NAME = "pulls merged meanwhile"
UNREVIEWED = (Status.ESCALATED, Status.OPEN)
"""Its question is open, or its epic has more to do."""
SAID = "people merged the bead's pull request"


class MergedMeanwhile:
    """Looks at unreviewed requests."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[list[PullRequest]] = Beside(ports.background)
        self._due = 0.0
        self._waits = False

    def turn(self, board: Board) -> bool:
        """Poll them if due; whether a review begins."""
        pulls = self.ports.pulls
        if self._beside.is_pending(NAME):
            merged = self._beside.end(NAME)
            if merged is None:
                return False
            self._due = board.now + self.ports.config().review.poll_seconds  # from its end on: else no run ever rests
            return True in [self._reviewed(pull) for pull in merged]
        store = self.ports.store
        asked = store.pulls() if pulls is not None and pulls.host.supports_pull_requests else []
        waiting = [one for one in asked if one.number and store.bead(one.bead).status in UNREVIEWED]
        self._waits = bool(waiting)
        if pulls is None or not waiting or board.now < self._due:
            return False
        host = pulls.host
        self._beside.begin(NOBODY, NAME, lambda: [pull for pull in waiting if _is_merged(host, pull)])
        return False

    def wake_at(self) -> float | None:
        return self._due if self._waits and not self._beside.is_pending(NAME) else None

    def _reviewed(self, pull: PullRequest) -> bool:
        store = self.ports.store
        now, bead = store.pull(pull.bead), store.bead(pull.bead)
        if now is None or now.number != pull.number:
            return False
        with store.write(), contextlib.suppress(NotAllowed):  # a person decided it meanwhile
            store.save_pull(replace(now, state=PullState.OPEN))
            for one in store.escalations(bead=bead.id):
                if one.type in STOPS_BEAD:
                    store.resolve(one.id, SAID, "nobrakes", Status.NEEDS_REVIEW)
            if bead.type is BeadType.EPIC and bead.status is Status.OPEN:
                store.record(Event(Kind.EPIC_LANDED, bead.id))
            self.ports.notifier.tell(Notice(f"{SAID} {pull.name}: the question about {bead.id} is closed", bead.id))
        return True


def _is_merged(host: CodeHost, pull: PullRequest) -> bool:
    try:
        host.ready()
        return host.look(pull.number).state is PullState.MERGED
    except (HostUnavailable, HostRefused):
        return False
