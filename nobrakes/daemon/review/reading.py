"""Review by fresh eyes, done: sessions that read a candidate which passed, and what follows (core.review.reading).

1. A reviewer begins, and its end is noted with its event, in one transaction each: a crash finds the session again.
2. While it reads, the review holds no place in the queue; afterwards its candidate is built on main as it is then. What
   was read counts as long as the difference is the same.
3. What was read for a review that is over is ended, and counts as no round.
4. A commit that nobrakes itself built to take a merge back is not read.
5. Of an epic that people merge as a whole all of it is read, though each of its beads was; what is found is mended by a
   bead of that epic (roles.mending). Where more lands meanwhile, that is read with it.
"""

from collections.abc import Collection, Mapping
from typing import Any

from ...core.beads.approval import is_approval
from ...core.beads.attempt import Attempt
from ...core.beads.bead import Bead, Role
from ...core.beads.escalations import Escalation, EscalationType
from ...core.beads.events import Event, Kind
from ...core.beads.outcomes import Outcome
from ...core.beads.taking import is_by_person
from ...core.beads.taking_back import is_built
from ...core.owners import of_bead
from ...core.review import findings, reading
from ...core.review.journal import Journal
from ...core.review.machine import Fact
from ...core.review.reading import Next, Reading, Rules, Way
from ...core.review.train import Entry
from ...core.sessions.session import CLEAN, SessionKind
from ...core.sessions.session import State as Of
from ...ports.people import Notice
from ...roles.code_review import Read, review_text
from ...roles.mending import is_mend
from ..lives import last_merge
from ..ports import Ports
from . import whole_epics
from .approval import Approvals
from .queue import ReviewContext
from .reading_asked import question, whose_work
from .reports import AttemptEnd, Report, questioned

BY = "nobrakes"


class Readings:
    """The readings of open reviews."""

    def __init__(self, ports: Ports, approvals: Approvals) -> None:
        self.ports = ports
        self.approvals = approvals
        self.waits = reading.Waits()

    @property
    def rules(self) -> Rules:
        """As the settings are now."""
        return self.ports.config().review.reading_rules()

    # --- in the queue ----------------------------------------------------------------------------

    def is_missing(self, entry: Entry) -> bool:
        """Whether the candidate may not land yet, since nobody read it."""
        if self.rules.way == reading.OFF:
            return False
        return self._next(entry.bead, entry.attempt, entry.journal).way not in (Way.PASS, Way.UNREAD)

    def kept(self, entry: Entry) -> Mapping[str, Any]:
        """What the journal, and so the evidence, keeps of the readings that it lands with; empty: there was none."""
        if self.rules.way == reading.OFF:
            return {}
        known, _, merged = self._all(entry.bead)
        found = reading.since(known, merged)
        yes = self._yes(entry.bead, entry.journal)
        if not found and yes is None:
            return {}
        said = {"by": yes.resolution[:500], "escalation": yes.id} if yes is not None else {}
        way = self._next(entry.bead, entry.attempt, entry.journal).way
        read = {"read": way is Way.PASS and yes is None, "cost_usd": round(reading.cost(found), 6)}
        return {**read, **said, "rounds": [one.as_values() for one in found]}

    # --- the step --------------------------------------------------------------------------------

    def turn(self, context: ReviewContext, journal: Journal) -> Report:
        """Begin a reviewer, see how it does, or say what follows from what it found."""
        bead, attempt = context.bead, context.attempt
        more = whole_epics.has_more(self.ports, bead, journal)
        if more is not None:
            return more
        for one in self._all(bead.id)[0]:
            self._settled(context, one)
        found = self._next(bead.id, attempt.id, journal)
        if found.way is Way.BEGIN:
            self._begin(context, journal, found)
            found = self._next(bead.id, attempt.id, journal)
        if found.way is Way.WAIT and found.reading is not None:
            return self._waits(context, journal, found.reading)
        if found.way in (Way.PASS, Way.UNREAD):
            return Report(Fact.READ)
        if found.way is Way.ASK:
            whose = whose_work(bead, self.ports.store.attempts(bead.id))
            ending = question(journal, found, self._content(journal), last_merge(self.ports.store, bead.id), whose)
            return questioned(ending)
        assert found.reading is not None, "what is sent back was found by somebody"
        self.ports.store.note_session(found.reading.session.id, {reading.SENT_BACK: attempt.id})
        return Report(Fact.SENT_BACK, ending=_sent_back(journal, found.reading))

    def _waits(self, context: ReviewContext, journal: Journal, one: Reading) -> Report:
        session, board = one.session, context.board
        reason = f"fresh eyes read it: session {session.id}, round {one.round} of {self.rules.rounds}"
        is_ready = session.state is Of.READY and not board.paused
        since = self.waits.seen(one, board.now, board.paused)
        until = since + reading.patience(self.rules.minutes) if is_ready else 0.0
        if (journal.waiting, journal.waiting_until) == (reason, until):
            return Report(Fact.NOT_YET)
        waits = {"waiting": reason, "waiting_until": until, "waiting_since": session.created_at}
        rest: dict[str, Any] = {"passing": False, "passing_since": 0.0, "behind": 0, "published": False}
        return Report(Fact.BLOCKED, {**waits, **rest})

    # --- sessions --------------------------------------------------------------------------------

    def _begin(self, context: ReviewContext, journal: Journal, found: Next) -> None:
        ports, bead = self.ports, context.bead
        known, since, merged = self._all(bead.id)
        works = whole_epics.works(ports, bead)
        agents = self.rules.agents or context.limits.agent_choice.agents(Role.DOER, bead.type.value)
        name = reading.reader(agents, {one.agent for one in works}, found.round, found.tries)
        seat = name, ports.adapter(name).provider, ports.config().agents.model_of(name, "reviewer")
        data = {
            reading.BEAD: bead.id,
            reading.ATTEMPT: context.attempt.id,
            reading.CONTENT: self._content(journal),
            reading.HEAD: journal.head,
            reading.BASE: journal.base,
            reading.CANDIDATE: journal.candidate,
            reading.ROUND: found.round,
            reading.TRY: found.tries,
            reading.SINCE: since,
            reading.MERGED: merged,
        }
        text = review_text(
            bead, self._read(bead, journal, works, reading.since(known, merged)), found.round, self.rules.rounds
        )
        title = f"Review of {bead.id}, round {found.round}"[:100]
        told = {"round": found.round, "of": self.rules.rounds, "agent": name, "model": seat[2]}
        with ports.store.together():
            session = ports.store.begin_session(SessionKind.CODE_REVIEW, of_bead(bead.id), title, seat, text, BY, data)
            told |= {"session": session.id, "head": journal.head}
            ports.store.record(Event(Kind.CODE_REVIEW_BEGAN, bead.id, context.attempt.id, data=told))

    def _read(self, bead: Bead, journal: Journal, works: list[Attempt], known: list[Reading]) -> Read:
        ports = self.ports
        within = whole_epics.within(ports, bead)
        answers = [one for one in works if not within or is_mend(ports.store.bead(one.bead), bead.id)]
        passed = ports.store.validation(journal.tree, journal.contract) or {}
        changes = ports.git.changes(journal.base, journal.candidate)
        return Read(
            journal.base,
            journal.candidate,
            [change.path for change in changes],
            self.approvals.gates.shown(journal.base, journal.candidate, changes)["difference"],
            passed.get("results", ()),
            [one.as_values() for one in known if one.outcome == reading.DONE],
            answers[-1].log.summary if answers else "",
            [one.answer or one.resolution for one in self._asked(bead.id) if one.resolved_at is not None],
            within,
        )

    def _settled(self, context: ReviewContext, one: Reading) -> None:
        """Note the end of a reading that has come to one, once."""
        session = one.session
        if one.outcome:
            return
        is_idle = session.state is Of.IDLE
        halted = is_idle and self.ports.store.turns(session.id)[-1].outcome not in CLEAN
        board = context.board
        waited = board.now - self.waits.seen(one, board.now, board.paused)
        ended = reading.ended(one, self.rules.minutes, waited, halted)
        if ended is not None:
            self._end(one, context.attempt.id, *ended)

    def _end(self, one: Reading, attempt: int, outcome: str, why: str) -> None:
        store, session = self.ports.store, one.session
        bead = str(session.data[reading.BEAD])
        rows = [[f.priority.value, f.category, f.place, f.text] for f in one.findings]
        told = {**one.as_values(), "why": why[:500], "of": self.rules.rounds, "findings": rows}
        del told["outcome"]
        told["state"] = outcome
        told |= {name.lower(): number for name, number in findings.counted(one.findings).items()}
        with store.together():
            store.note_session(session.id, {reading.OUTCOME: outcome, reading.WHY: why[:500]})
            if session.state is not Of.ENDED:
                store.end_session(session.id, BY)
            if outcome != reading.DROPPED:
                store.record(Event(Kind.CODE_REVIEW_ENDED, bead, attempt, data=told))
        if outcome == reading.FAILED and session.data.get(reading.TRY, 1) >= reading.TRIES:
            self.ports.notifier.tell(Notice(f"{bead}: nobody came through with a review: {why[:300]}", bead))

    def settle(self, reads: Collection[int]) -> None:
        """End what reads for a review that is over; `reads`: the open reviews that are being read."""
        for session in self.ports.store.sessions():
            if session.kind is SessionKind.CODE_REVIEW and session.data.get(reading.ATTEMPT) not in reads:
                self._end(Reading.of(session), 0, reading.DROPPED, "its review was over")

    # --- what is known ---------------------------------------------------------------------------

    def _next(self, bead: str, attempt: int, journal: Journal) -> Next:
        past = self.ports.store.attempts(bead)
        if is_built(past) or self._yes(bead, journal) is not None:
            return Next(Way.PASS)
        known, since, _ = self._all(bead)
        counted = [one for one in known if one.session.data.get(reading.SINCE) == since]
        return reading.following(self.rules, counted, self._content(journal), attempt, not is_by_person(past))

    def _all(self, bead: str) -> tuple[list[Reading], str, int]:
        """The bead's readings; since when rounds count; and after which merge."""
        merged = last_merge(self.ports.store, bead)
        decided = sum(one.resolved_at is not None for one in self._asked(bead))
        return reading.of_sessions(self.ports.store.code_reviews(bead)), f"{merged}.{decided}", merged

    def _asked(self, bead: str) -> list[Escalation]:
        found = self.ports.store.escalations(open_only=False, bead=bead)
        return [one for one in found if one.type is EscalationType.CODE_REVIEW]

    def _yes(self, bead: str, journal: Journal) -> Escalation | None:
        """The person's word that this very content goes on as it is; None: nobody said so."""
        content, merged = self._content(journal), last_merge(self.ports.store, bead)
        said = [one for one in self._asked(bead) if one.resolved_at is not None and is_approval(one.resolution)]
        of_it = (one for one in said if (one.evidence.get("content"), one.evidence.get("merged")) == (content, merged))
        return next(of_it, None)

    def _content(self, journal: Journal) -> str:
        return self.approvals.content(journal.base, journal.candidate)


def _sent_back(journal: Journal, one: Reading) -> AttemptEnd:
    """What the next attempt is told: what must be mended first, each shortened so that all have room."""
    share = max(120, 2_600 // max(1, len(one.urgent)))
    lines = [findings.told([found])[:share] for found in one.urgent]
    detail = (
        f"Fresh eyes read the change after every check had passed, in round {one.round}. Mend what they found; where "
        "it is not so, say why in the summary of your log.\n" + "\n".join(lines)
    )
    return AttemptEnd(Outcome.FINDINGS, detail, journal.head, {"session": one.session.id})
