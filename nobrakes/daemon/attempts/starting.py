"""Agents that do not start are one fault of the machine, whichever beads meet it.

1. The first failure to start is noted, with who met it. The same failure of somebody else closes the agent's gate
   (core.limits.cooldowns) and asks once, in the name of no bead; both in one transaction. Any end of an agent that
   started takes back what was noted.
2. What makes two failures the same is the beginning of what was printed, without numbers and the names of beads.
3. Once the gate's time is over the CLI is asked for its version first, outside of every repository (host.versions).
   One that cannot answer is not started, and asked again a minute later; one that answers goes ahead with one bead.
4. The question is withdrawn with the gate (store.spender): by the first agent that starts, or by a person.
"""

import json
import re
from functools import partial

from ...agents.adapter import Verdict
from ...core.beads.attempt import Attempt
from ...core.beads.escalations import STARTS, EscalationType
from ...core.beads.outcomes import TABLE
from ...core.board import Board
from ...core.limits import cooldowns
from ...core.limits.breaker import error_of
from ...core.limits.cooldowns import Cooldown
from ...core.sessions.session import Talk
from ...ports.store import NewEscalation
from ..parking import owner_of
from ..ports import Ports

NOTED = "not_started:"
"""The setting of a provider: by failure to start, who met it."""
MOST = 20
"""Different failures that are noted."""


def is_shared(ports: Ports, work: Attempt | Talk, verdict: Verdict, gate: Cooldown | None) -> bool:
    """Whether the failure to start is the agent's and not the work's: its gate is closed for that, or others met it."""
    if not TABLE[verdict.outcome].is_of_start:
        return False
    if gate is not None and gate.is_of_start:
        return True
    store, key, owner, error = ports.store, f"{NOTED}{work.provider}", owner_of(work), _error(work, verdict)
    noted: dict[str, str] = json.loads(store.setting(key) or "{}")
    if noted.get(error, owner) != owner:
        return True
    if error not in noted:
        store.set_setting(key, json.dumps(dict([*noted.items(), (error, owner)][-MOST:])))
    return False


def forget(ports: Ports, work: Attempt | Talk) -> None:
    """Its agent started: what was noted of others was not the agent's fault, or is mended."""
    if ports.store.setting(f"{NOTED}{work.provider}"):
        ports.store.set_setting(f"{NOTED}{work.provider}", None)


def question(work: Attempt | Talk, verdict: Verdict) -> NewEscalation:
    """What a person is asked, in the name of no bead."""
    detail = (
        f"{verdict.detail}\n\nThis met more than one bead or session, so nothing else is started with {work.agent}. "
        "Nothing counts against them. Mend its installation, its settings or its login. It is tried again by itself, "
        f"and this question is withdrawn once it starts. Try at once: nobrakes providers open {work.provider}"
    )
    evidence = {STARTS: work.provider, "agent": work.agent, "outcome": verdict.outcome.value}
    title = f"the agent {work.agent} does not start"
    return NewEscalation(EscalationType.BROKEN_ENVIRONMENT, title, detail, evidence)


class StartProbe:
    """Asks CLIs that did not start whether they work, before anybody is started with them."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._said: dict[str, str] = {}
        self._passed: dict[str, float] = {}

    def holds(self, agent: str, provider: str, board: Board) -> bool | None:
        """None: it may be started. Else it may not, and this says whether the board is different now."""
        gate = board.gates.get(provider)
        if gate is None or not gate.is_of_start or self._passed.get(provider) == gate.until:
            return None
        background, job = self.ports.background, f"ask whether {agent} works"
        if provider not in self._said:
            background.begin(job, partial(self._ask, agent, provider))
        if not background.over(job) or provider not in self._said:
            return False
        trouble = self._said.pop(provider)
        if not trouble:
            self._passed[provider] = gate.until
            return None
        self.ports.store.start_cooldown(cooldowns.still_broken(gate, trouble, self.ports.store.now()))
        return True

    def _ask(self, agent: str, provider: str) -> None:
        """Beside the loop."""
        self._said[provider] = self.ports.start_trouble(agent)


def _error(work: Attempt | Talk, verdict: Verdict) -> str:
    """What makes two failures the same."""
    text = verdict.detail
    if isinstance(work, Attempt):
        text = re.sub(rf"(?<![\w.-]){re.escape(work.bead)}(?![\w.-])", "BEAD", text)
    return error_of(verdict.outcome, " / ".join(line.strip() for line in text.splitlines() if line.strip())[:400])
