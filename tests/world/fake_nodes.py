"""Other machines on which the simulated daemon's agents and checks run, with dice of their own.

1. Nodes join, die, hang, are drained, and come back; the scheduler goes away and comes back. When all is calm they work.
2. A run takes places of a node before its first command, and waits for one. If its node does not answer for as long as
   the helper waits, the run is lost: its wrapper is killed, and a file says why, as fleet.on_node does.
3. An agent that was lost lives on at its node, and speaks when the node comes back: nobody hears it.
4. What breaks a promise is kept until the promise asks for it.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from nobrakes.config.sections import FleetSettings
from nobrakes.daemon.model import Board
from nobrakes.decisions.service.node_blockers import node_blocker, on_nodes
from nobrakes.errors import NobrakesError
from nobrakes.fleet.model import Fleet, Node
from nobrakes.programs import NODE_LOST
from nobrakes.store import Store

from .clock import FakeClock
from .fake_processes import Child, FakeProcesses

PATIENCE = 30.0
"""Seconds after which the helper takes a node that does not answer for lost (fleet.gateway)."""
MOST = 4
AWAY = "ConnectionRefusedError"


@dataclass
class _Node:
    name: str
    places: int
    hung_since: float | None = None
    is_drained: bool = False
    runs: dict[str, int] = field(default_factory=dict)  # and the places of each


class FakeNodes:
    """The nodes, and what the daemon sees of them."""

    def __init__(self, seed: int, rate: float, clock: FakeClock, processes: FakeProcesses, store: Store) -> None:
        self.rng = random.Random(f"{seed} the nodes")
        self.rate = rate
        self.clock = clock
        self.processes = processes
        self.store = store
        self.is_calm = False
        places = self.rng.randint(1, 2)
        self.settings = FleetSettings(
            engine="dask",
            scheduler="tcp://127.0.0.1:8786",
            agent_places=places,
            check_places=self.rng.randint(1, 2),
            reserved_for_checks=self.rng.randint(1, 2),
        )
        self.away_since: float | None = None
        self.nodes: list[_Node] = []
        self.lost: list[Child] = []
        self.breaches: list[str] = []
        self._joined = 0
        for _ in range(self.rng.randint(1, 3)):
            self._join()
        self.seen = self.fleet()
        processes.opens = self.opens

    # --- what the daemon has of them -------------------------------------------------------------

    def on_nodes(self, board: Board) -> Board:
        """The board as far as there are places."""
        self.seen = self.fleet()
        return on_nodes(board, self.seen, self.settings)

    def fleet(self) -> Fleet:
        """The nodes as the helper writes them down."""
        self._forget()
        hung = "it does not answer"
        shown = [
            Node(
                one.name,
                one.name,
                one.places,
                dict(one.runs),
                hung if self._is_known_hung(one) else "",
                {},
                one.is_drained,
            )
            for one in self.nodes
        ]
        return Fleet(self.clock.now(), AWAY if self.away_since is not None else "", tuple(shown))

    def opens(self, child: Child) -> bool:
        """Whether the run has its places now; a session's runs on the person's machine."""
        if not child.run[0].isdigit() or any(child.run in one.runs for one in self.nodes):
            return True
        self._forget()
        need = self.settings.agent_places if child.is_agent else self.settings.check_places
        spared = self.settings.reserved_for_checks if child.is_agent else 0
        free = [one for one in self.nodes if self._answers(one) and not one.is_drained]
        free = [one for one in free if one.places - sum(one.runs.values()) - spared >= need]
        if not free or self.away_since is not None:
            return False
        chosen = max(free, key=lambda one: one.places - sum(one.runs.values()))
        chosen.runs[child.run] = need
        if sum(chosen.runs.values()) > chosen.places:
            self.breaches.append(f"{chosen.name} has {chosen.runs} in {chosen.places} places")
        return True

    def starts(self, run: str) -> None:
        """An agent is started."""
        if not (run[0].isdigit() and run.endswith("-agent")):
            return
        living = [one.run for one in self.processes.living() if one.is_agent and one.run[0].isdigit()]
        at_work = sum(self._is_open(one) for one in living)  # whoever is being stopped leaves a place soon
        if (why := node_blocker(self.seen, self.settings)) is not None:
            self.breaches.append(f"{run} was started, although {why.what}")
        elif at_work > self.seen.agents(self.settings):
            self.breaches.append(f"{run} was started as agent {at_work} of {self.seen.agents(self.settings)}")

    def _is_open(self, run: str) -> bool:
        return self.store.attempt(int(run.partition("-")[0])).outcome is None

    # --- what happens to them --------------------------------------------------------------------

    def move(self) -> str:
        """Something happens to them, or nothing; when all is calm they come to be well."""
        said = [self._lose()]
        if self.is_calm:
            said.append(self._mend())
        elif self.rng.random() < self.rate:
            said.append(self._harm())
        return "; ".join(filter(None, said))

    def _harm(self) -> str:
        one = self.rng.choice(self.nodes) if self.nodes else None
        what = self.rng.choice(("join", "die", "die", "hang", "come back", "drain", "resume", "away", "back"))
        if what == "join" and len(self.nodes) < MOST:
            return f"{self._join()} joins"
        if what == "away" and self.away_since is None:
            self.away_since = self.clock.steady()
            return "the scheduler is gone"
        if what == "back" and self.away_since is not None:
            self.away_since = None
            return "the scheduler is back"
        if one is None:
            return ""
        if what == "die":
            self.nodes.remove(one)
            self._lost(one, "the node is gone")
            return f"{one.name} dies"
        if what == "hang" and one.hung_since is None:
            one.hung_since = self.clock.steady()
            return f"{one.name} hangs"
        if what == "come back" and one.hung_since is not None:
            one.hung_since = None
            self._late()
            return f"{one.name} is back"
        if what in ("drain", "resume") and one.is_drained != (what == "drain"):
            one.is_drained = what == "drain"
            return f"{what} {one.name}"
        return ""

    def _mend(self) -> str:
        if self.away_since is None and any(self._is_large(one) for one in self.nodes):
            return ""
        self.away_since = None
        for one in self.nodes:
            one.hung_since, one.is_drained = None, False
        self._late()
        return f"{self._join()} joins"

    def _is_large(self, one: _Node) -> bool:
        least = max(self.settings.agent_places + self.settings.reserved_for_checks, self.settings.check_places)
        return self._answers(one) and not one.is_drained and one.places >= least

    def _join(self) -> str:
        self._joined += 1
        least = self.settings.agent_places + max(self.settings.reserved_for_checks, self.settings.check_places)
        places = least + self.rng.randint(0, 3) if self.is_calm or self.rng.random() < 0.9 else 1
        self.nodes.append(_Node(f"n{self._joined}", places))
        return self.nodes[-1].name

    def _answers(self, one: _Node) -> bool:
        return one.hung_since is None

    def _is_known_hung(self, one: _Node) -> bool:
        return one.hung_since is not None and self.clock.steady() - one.hung_since > PATIENCE

    def _lose(self) -> str:
        """The helper gives up on nodes that have not answered for so long."""
        self._forget()
        away = self.away_since is not None and self.clock.steady() - self.away_since > PATIENCE
        hung = [one for one in self.nodes if one.runs and (away or self._is_known_hung(one))]
        for one in hung:
            self._lost(one, "the node does not answer")
        return f"runs are lost on {', '.join(one.name for one in hung)}" if hung else ""

    def _lost(self, one: _Node, why: str) -> None:
        for run in list(one.runs):
            child = self.processes.children[run]
            child.node_lost = True
            child.outputs[f"{child.command.folder}/{NODE_LOST}"] = f"{why}\n"
            self.processes.kill_wrapper(run, down=True)
            self.lost.append(child)
        one.runs.clear()

    def _forget(self) -> None:
        for one in self.nodes:
            one.runs = {run: need for run, need in one.runs.items() if self.processes.children[run].alive}

    def _late(self) -> None:
        """Agents that were lost speak: their attempts are over, and nobody listens."""
        for child in (one for one in self.lost if one.is_agent):
            if self._is_open(child.run):
                continue  # the daemon has not seen its end yet, and takes what it says as it takes a word before it
            try:
                self.store.attempt_of_token(child.command.env["NOBRAKES_TOKEN"])
            except NobrakesError:
                continue
            self.breaches.append(f"{child.run} was lost with its node, and is heard")
        self.lost.clear()


def take_breaches(nodes: FakeNodes | None) -> Sequence[str]:
    """What was broken since the last question."""
    if nodes is None:
        return ()
    found, nodes.breaches = nodes.breaches, []
    return found
