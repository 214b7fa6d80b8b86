"""What an agent's process came to, whoever it worked for: an attempt or a session.

Our own stop is never the agent's failure: whatever signal or exit code follows it, only the agent's words count, and
that it waited for its provider. Without these the reason of the stop is how it ended.
"""

import os
from dataclasses import dataclass, replace
from enum import Enum, auto

from ..agents.adapter import UNSEEN, AgentEnd, Verdict
from ..agents.guarded import CANARY_FILE, self_test_failed
from ..core.beads.attempt import Run
from ..core.beads.outcomes import Outcome
from ..core.checks.contract import SETUP_FAILED, first_error
from ..ports.processes import StepEnd
from .checks.proofs import clean
from .checks.steps import setup_said
from .confine import OWN
from .ports import Ports

STEP = "agent"
SELF_TEST = os.path.join(OWN, CANARY_FILE)
"""In the folder of a run: what its agent writes."""
HEAD, TAIL = 64_000, 2_000_000
"""Bytes of the beginning and of the end of an agent's output that are read for its verdict."""

_OUTAGES = frozenset({Outcome.NETWORK, Outcome.PROVIDER_DOWN, Outcome.RATE_LIMITED})
"""An agent that took too long because it waited for one of these is not to blame."""
_TOO_LONG = frozenset({Outcome.STALLED, Outcome.TIMED_OUT})
_OWN_WORDS = frozenset({Outcome.COMPLETED, Outcome.GAVE_UP_CONTEXT, Outcome.GAVE_UP_TESTS, Outcome.BLOCKED})
"""What an agent says of its own end."""
_NO_WORDS_COUNT = frozenset({Outcome.GUARD_FAILED, Outcome.CANCELLED})
"""After a stop for one of these nothing is taken from it."""


LIVED_ON = "it had finished and lived on, so it was ended"


class How(Enum):
    """How far an agent came."""

    NEVER_BEGAN = auto()
    STOPPED = auto()  # by us; `outcome` says why
    OUTAGE = auto()  # by us, while it waited for its provider
    ENDED = auto()  # by itself: its words count


@dataclass(frozen=True, slots=True)
class Ended:
    """How far it came, and what that means."""

    how: How
    verdict: Verdict


def how_it_ended(ports: Ports, agent: str, run: Run) -> Ended:
    """What the run's exit files and its output say."""
    folder = os.path.join(ports.paths.runs, run.id)
    ending = ports.processes.ending(folder, [STEP])
    step = ending.steps[0]
    if run.stopping is not None:
        return _stopped(ports, agent, run.stopping, step, folder)
    if ending.prologue_failed is not None:
        unguarded = self_test_failed(ending.prologue_failed)
        if unguarded is not None:
            return Ended(How.NEVER_BEGAN, Verdict(Outcome.GUARD_FAILED, unguarded))
        why = clean(ports, ending.prologue_failed)[-4000:]
        if said := setup_said(ending.prologue_failed):
            why = f"{SETUP_FAILED}: {first_error(clean(ports, said))}\n{why}"
        return Ended(How.NEVER_BEGAN, Verdict(Outcome.WORKSPACE_FAILED, why))
    if not step.started:
        return Ended(How.NEVER_BEGAN, Verdict(Outcome.LOST, UNSEEN))
    return Ended(How.ENDED, _by_adapter(ports, agent, step, folder))


def _stopped(ports: Ports, agent: str, why: Outcome, step: StepEnd, folder: str) -> Ended:
    """By its words, as far as they count. An exit code other than 0 is what our stop came to."""
    if why in _NO_WORDS_COUNT or not step.started:
        return Ended(How.STOPPED, Verdict(why, ""))
    verdict = _by_adapter(ports, agent, step if step.code == 0 else replace(step, code=None), folder)
    if why is Outcome.COMPLETED and verdict.outcome is Outcome.LOST:
        verdict = replace(verdict, detail=LIVED_ON)
    if verdict.outcome in _OWN_WORDS or verdict.unsure or why is Outcome.COMPLETED:
        return Ended(How.ENDED, verdict)
    if verdict.outcome in _OUTAGES and why in _TOO_LONG:
        return Ended(How.OUTAGE, verdict)
    if why in _TOO_LONG and not ports.adapter(agent).has_begun(lines(ports, step.output)):
        errors = clean(ports, ports.processes.output(os.path.join(folder, f"{STEP}.err"), 2000)).strip()
        why_not = f"it did not start: it was silent from its start on, and was stopped. {errors}".strip()
        return Ended(How.NEVER_BEGAN, Verdict(Outcome.BAD_CONFIGURATION, why_not))
    return Ended(How.STOPPED, Verdict(why, ""))


def _by_adapter(ports: Ports, agent: str, step: StepEnd, folder: str) -> Verdict:
    processes = ports.processes
    errors = processes.output(os.path.join(folder, f"{STEP}.err"), 20_000)
    self_test = processes.output(os.path.join(folder, SELF_TEST), 100)
    end = AgentEnd(step.code, lines(ports, step.output), errors, self_test, ports.store.now())
    return ports.adapter(agent).verdict(end)


def unsure(verdict: Verdict) -> str:
    """How an unsure end is told."""
    return f"unsure whether it had finished, since its last line is torn ({verdict.detail}): its commits are judged"


def lines(ports: Ports, path: str) -> list[bytes]:
    """The lines of an agent's output; of a long one those at its beginning and at its end."""
    processes, older = ports.processes, f"{path}.1"  # host.runs.recorder
    end = (processes.output(older, HEAD + TAIL) + processes.output(path, HEAD + TAIL)).encode()
    if len(end) < HEAD + TAIL:
        return end.split(b"\n")
    begin = processes.head(older, HEAD) or processes.head(path, HEAD)
    return [*begin.split(b"\n")[:-1], *end[-TAIL:].split(b"\n")[1:]]  # no line that was cut
