"""Unexpected exceptions in work for one bead or session: that one is parked, the rest continues.

1. `about` names whom the work is for; the innermost counts. Without a name the daemon ends, loudly.
2. Errors of the database and machine are nobody's: they are waited out, or end the daemon.
3. A parked bead's attempt ends as `nobrakes_failed` and a person is asked; the second time the bead is also held. A
   parked session waits for a person. Their runs are stopped. For a session without a turn or a part of the daemon a
   person is asked once, without a bead, and the part is retried less and less often (daemon.worker.loop).
4. Nothing is remembered here, and little is done: what failed may fail again, and the next daemon reads the store.
"""

import os
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from .agents.limits import attempt_of, turn_of
from .beads.lifecycle import GIVEN_BACK
from .beads.model import CLOSED, Attempt, Outcome, bead_owner, called, owners_bead_of, session_owner
from .decisions.model import EscalationType, NewEscalation
from .errors import DiskFull, MachineShort, NobrakesError, NoSuchBead, StoreReadOnly
from .events.kinds import Event, Kind
from .files import storage_errors
from .host.port import Notice
from .ports import Ports
from .sessions.model import Fact, Talk
from .text.cleaning import clean, count
from .text.redaction import redact, secret_values

_SAID = 4000
Owner = str | Callable[[], str]
"""An owner of beads.model, or a function that finds it."""


class Unexpected(Exception):
    """An exception (its cause) and the owner (beads.model) it concerns."""

    def __init__(self, owner: str) -> None:
        super().__init__(owner)
        self.owner = owner


@contextmanager
def about(ports: Ports, owner: Owner) -> Iterator[None]:
    """Turn unexpected exceptions into Unexpected for this owner; empty: for none."""
    try:
        yield
    except (NobrakesError, Unexpected):
        raise
    except Exception as error:
        known = owner if isinstance(owner, str) else owner()
        if not known or _is_nobodys(ports, error):
            raise
        raise Unexpected(known) from error


@contextmanager
def parked(ports: Ports, owner: Owner) -> Iterator[None]:
    """As `about`, but park the owner and go on with others."""
    try:
        with about(ports, owner):
            yield
    except Unexpected as met:
        park(ports, met)


def run_owner(ports: Ports, name: str) -> str:
    """The owner in a run's name; empty: none, or lost with a database."""
    attempt, turn = attempt_of(name), turn_of(name)
    with suppress(NobrakesError):
        if turn:
            return session_owner(ports.store.turn(turn).session)
        bead = ports.store.bead_of_attempt(attempt) if attempt else None
        return bead_owner(bead) if bead else ""
    return ""


def owner_of(work: Attempt | Talk) -> str:
    return session_owner(work.session.id) if isinstance(work, Talk) else bead_owner(work.bead)


def park(ports: Ports, met: Unexpected) -> bool:
    """End the owner's work and ask a person; the second time hold its bead. Whether that is new."""
    error, bead = met.__cause__ or met, owners_bead_of(met.owner)
    secrets = secret_values((*ports.credentials.items(), *ports.environment.items()))
    words = error.whole if isinstance(error, NobrakesError) else "".join(traceback.format_exception(error))
    said = clean(redact(words, secrets))[-_SAID:]
    if bead is not None:
        with suppress(NoSuchBead):
            return _park_bead(ports, bead, said)
        return False
    return _park_session(ports, met.owner, said) or _park_part(ports, met.owner, said)


def _park_bead(ports: Ports, name: str, said: str) -> bool:
    store, outcome = ports.store, Outcome.NOBRAKES_FAILED
    bead = store.bead(name)
    before = [one for one in store.escalations(open_only=False, bead=name) if one.type.value == outcome.value]
    new = NewEscalation(EscalationType.NOBRAKES_FAILED, f"{name}: {outcome.value.replace('_', ' ')}", said)
    going = [one for one in store.attempts(name) if one.outcome is None]
    holds = bool(before) and bead.held is None and bead.status not in CLOSED
    with store.write():
        for attempt in going:
            store.close_attempt(attempt, GIVEN_BACK[attempt.role], outcome, detail=said, escalation=new)
        if not going:
            store.escalate(new, name, None, "nobrakes")
        if holds:
            why = f"nobrakes itself failed on the bead {count(len(before) + 1, 'time')}, see escalation {before[-1].id}"
            store.record(Event(Kind.HELD, name, data={"reason": why}))
            text = f"{name} is held: {why}. `nobrakes release {name}` tries the bead once more"
            ports.notifier.tell(Notice(text, name, urgent=True))
    return bool(going) or holds or not any(one.resolved_at is None for one in before)


def _park_session(ports: Ports, owner: str, said: str) -> bool:
    store, outcome = ports.store, Outcome.NOBRAKES_FAILED
    talk = next((one for one in store.board(ports.limits()).talks if session_owner(one.session.id) == owner), None)
    if talk is None:
        return False
    store.close_turn(
        talk.turn.id,
        Fact.GAVE_UP,
        outcome,
        said,
        said="",
        resends=True,
        breaker=None,
        retry_at=None,
        failed=False,
        lost=False,
    )
    last = said.strip().rpartition("\n")[2]
    text = f"session {talk.session.id} does not continue: {outcome.value.replace('_', ' ')}: {last}"
    ports.notifier.tell(Notice(text, urgent=True))
    return True


def _park_part(ports: Ports, owner: str, said: str) -> bool:
    """Ask a person about it; False: an open question exists."""
    title = f"{called(owner)}: nobrakes failed"
    if any(one.title == title and one.bead is None for one in ports.store.escalations()):
        return False
    ports.store.escalate(NewEscalation(EscalationType.NOBRAKES_FAILED, title, said), None, None, "nobrakes")
    return True


def _is_nobodys(ports: Ports, error: Exception) -> bool:
    """Whether the database or the machine caused it, not the owner."""
    if any(base.__module__ == "sqlite3" for base in type(error).__mro__):
        return True
    if isinstance(error, PermissionError):  # an agent closes what is its own; where ours is closed, all wait
        return os.path.isdir(ports.paths.folder) and not os.access(ports.paths.runs, os.R_OK | os.W_OK | os.X_OK)
    try:
        with storage_errors(ports.paths.folder):
            raise error
    except (DiskFull, MachineShort, StoreReadOnly):
        return True
    except Exception:
        return False
