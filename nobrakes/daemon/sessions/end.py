"""What becomes of a session when a turn of it ends.

1. A clean end is the agent's answer: the session waits for what is said to it next, or for the answer to its question.
2. What cut the turn off is nobody's failure: it goes on when it may. What it was told is told again only where its
   agent had not begun, since a session that is resumed knows it.
3. What fails in the same way again opens the breaker of the session at its provider, and the session waits for a
   person; so does what no other turn can mend, and a machine that fails again and again.
4. Where the CLI has lost the session, or its context is full, the next turn begins a new one with what was said.
"""

import os
from dataclasses import replace

from ...agents.adapter import Verdict
from ...core.beads.attempt import Run
from ...core.beads.outcomes import TABLE, Outcome, retry_after
from ...core.board import Limits
from ...core.errors import ConfigError, NobrakesError
from ...core.limits import breaker
from ...core.limits.breaker import Breaker, State
from ...core.owners import of_session
from ...core.sessions.relay import is_relay
from ...core.sessions.session import CLEAN, Fact, Talk
from ...core.text.cleaning import clean
from ...core.transcript import PREFIX, LineKind
from ...ports.people import Notice
from ..agent_ends import STEP, How, how_it_ended, lines, unsure
from ..attempts.accounts import cool, total
from ..attempts.end import START_FAULTS
from ..attempts.guard_watch import head_of, hear_turn
from ..ports import Ports
from .relays import Relays

NO_PLACE = "its start was cut off, and other repositories have taken its place on this machine"
"""Why an attempt or a turn ends that had nothing started yet: the next one comes when there is a place."""
MACHINE_FAULTS = 5
"""So many faults of the machine in a row, and the session waits for a person."""
MOST_SAID = 32_000
"""Characters of an agent's answer that are kept."""

BEGINS_ANEW = frozenset(
    {Outcome.SESSION_LOST, Outcome.CONTEXT_OVERFLOW, Outcome.GAVE_UP_CONTEXT, Outcome.INVALID_REQUEST}
)


class TurnEndings:
    """Deals with turns that ended. Each may be dealt with again after a crash."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.relays = Relays(ports)

    def ended(self, talk: Talk, run: Run, limits: Limits) -> None:
        """The agent's whole tree is dead: close the turn."""
        ports, turn = self.ports, talk.turn
        begun = hear_turn(ports, talk, head_of(ports, run)) or bool(turn.data.get("begun"))
        ended = how_it_ended(ports, talk.agent, run)
        verdict = ended.verdict
        if verdict.unsure:
            verdict = replace(verdict, outcome=Outcome.COMPLETED, detail=unsure(verdict))
        if verdict.cost_usd is not None or verdict.tokens:
            ports.store.spend_turn(turn.id, verdict.cost_usd or 0.0, max(total(verdict.tokens), turn.tokens))
        cool(ports, talk, verdict)
        said = self._said(talk, run) if ended.how is How.ENDED else ""
        self._close(talk, verdict, begun, said, limits)

    def failed_to_start(self, talk: Talk, error: NobrakesError, limits: Limits) -> None:
        """Nothing was started, and why."""
        outcome = Outcome.BAD_CONFIGURATION if isinstance(error, ConfigError) else Outcome.WORKSPACE_FAILED
        verdict = Verdict(outcome, f"{error}\n{error.hint}")
        cool(self.ports, talk, verdict)
        self._close(talk, verdict, False, "", limits)

    def had_no_place(self, talk: Talk, limits: Limits) -> None:
        """A start that a crash cut off could not be gone on with."""
        self._close(talk, Verdict(Outcome.INTERRUPTED, NO_PLACE), False, "", limits)

    def _close(self, talk: Talk, verdict: Verdict, begun: bool, said: str, limits: Limits) -> None:
        ports, session, outcome = self.ports, talk.session, verdict.outcome
        before = ports.store.breakers(of_session(session.id)).get(session.provider, Breaker())
        after = breaker.after(before, outcome, verdict.detail, progress=False, thresholds=limits.breaker)
        lost = outcome in BEGINS_ANEW
        fact = self._fact(talk, outcome, after)
        if is_relay(session):
            self.relays.ended(talk, said, asks=fact is Fact.ENDED_WELL and session.ended_at is None)
        repeats = session.failures + 1
        waits = TABLE[outcome].backoff or self._is_alone(talk, outcome)
        waits |= TABLE[outcome].starts_cooldown and not session.provider
        closed = ports.store.close_turn(
            talk.turn.id,
            fact,
            outcome,
            verdict.detail,
            said=said,
            told_again=fact is not Fact.ENDED_WELL and (lost or not begun),
            breaker=None if after == before else after,
            retry_at=ports.store.now() + retry_after(outcome, repeats) if waits else None,
            failed=TABLE[outcome].counts or TABLE[outcome].backoff or self._is_alone(talk, outcome),
            lost=lost,
        )
        if fact is Fact.GAVE_UP and closed.ended_at is None:
            text = f"session {session.id} does not go on: {outcome.value.replace('_', ' ')}: {verdict.detail[:300]}"
            ports.notifier.tell(Notice(text, urgent=True))

    def _fact(self, talk: Talk, outcome: Outcome, after: Breaker) -> Fact:
        session, row = talk.session, TABLE[outcome]
        if outcome in CLEAN:
            return Fact.ENDED_WELL
        if outcome is Outcome.INTERRUPTED and session.stop_asked:
            return Fact.STOPPED
        if row.needs_person or (row.counts and after.state is State.OPEN):
            return Fact.GAVE_UP
        if self._is_alone(talk, outcome) and session.failures + 1 >= START_FAULTS:
            return Fact.GAVE_UP
        if row.backoff and session.failures + 1 >= MACHINE_FAULTS:
            return Fact.GAVE_UP
        return Fact.CUT_OFF

    def _is_alone(self, talk: Talk, outcome: Outcome) -> bool:
        """Whether its agent did not start, and nobody else met that: where others do, it waits at the gate."""
        if not TABLE[outcome].is_of_start:
            return False
        gate = self.ports.store.gates().get(talk.provider)
        return gate is None or not gate.is_of_start

    def _said(self, talk: Talk, run: Run) -> str:
        """The agent's last words, without the marker."""
        ports = self.ports
        adapter = ports.adapter(talk.agent)
        path = os.path.join(ports.paths.runs, run.id, f"{STEP}.out")
        texts: list[str] = []
        for raw in reversed(lines(ports, path)):
            for line in reversed(adapter.lines(raw)):
                if line.kind is LineKind.TEXT and line.text.strip():
                    texts.insert(0, line.text)
                elif texts and line.kind in (LineKind.TOOL_CALL, LineKind.RESULT):
                    return _without_marker("\n".join(texts))
        return _without_marker("\n".join(texts))


def _without_marker(text: str) -> str:
    kept = [line for line in clean(text).split("\n") if not line.startswith(PREFIX)]
    return "\n".join(kept).strip()[-MOST_SAID:]
