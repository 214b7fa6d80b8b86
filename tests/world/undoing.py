"""People who take back what they did, merges included, and plans that they approve; one world in four has each.

The commands' own code does it, between any two calls of the daemon. What it refuses is refused.
"""

import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from nobrakes.beads.model import Bead, BeadType
from nobrakes.checks.policy.ownership import LABEL
from nobrakes.checks.worker.validation import Validation
from nobrakes.errors import GitFailed, NotAllowed, NothingToUndo, NotProven
from nobrakes.events.kinds import Kind
from nobrakes.ports import Ports
from nobrakes.review.service.undo import undo
from nobrakes.review.worker.chain import Evidence

from .crashing import Crash
from .fake_git import FakeGit
from .people import ME
from .project import green


def some_have_it(seed: int, what: str) -> bool:
    """Whether this world has it; the dice of the rest of the world are left alone."""
    return random.Random(f"{seed} {what}").random() < 0.25


def with_plans(beads: Sequence[Bead], seed: int) -> list[Bead]:
    """The beads, some of which ask for an approved plan where this world has such."""
    if not some_have_it(seed, "plans"):
        return list(beads)
    dice = random.Random(f"{seed} which plans")
    asks = {bead.id for bead in beads if bead.type is not BeadType.EPIC and dice.random() < 0.4}
    return [replace(bead, labels=(*bead.labels, LABEL)) if bead.id in asks else bead for bead in beads]


class Undoing:
    """`nobrakes undo`, with the checks of the simulated project. `doors` are a person's own: no call of theirs is made
    to fail, but a landing at a remote may be cut off in its middle.
    """

    def __init__(self, ports: Ports, git: FakeGit, rng: random.Random) -> None:
        self.ports = ports
        self.git = git
        self.rng = rng
        self.cut_off: set[int] = set()

    def last_step(self) -> str:
        """Take the last step back."""
        return undo(self.ports.store, self.git, ME).text

    def a_merge(self) -> str:
        """Take a merge back."""
        found = self.ports.store.latest_events((Kind.MERGED,), limit=10)
        if not found:
            return "no merge to take back"
        return self._take_back(self.rng.choice(sorted(event.seq for event in found)))

    def finish(self) -> None:
        """Say again what was cut off, until it is done."""
        while self.cut_off:
            with suppress(NothingToUndo, NotAllowed):  # it was said again before, or later work builds on it
                self._take_back(self.cut_off.pop())

    def _take_back(self, seq: int) -> str:
        try:
            return undo(self.ports.store, self.git, ME, seq, prove=self._prove, keep=self._keep).text
        except (Crash, GitFailed) as error:  # the command was killed, or the remote's answer was not heard
            self.cut_off.add(seq)
            return f"whether a merge was taken back is not known: {error}"

    def _prove(self, commit: str) -> None:
        if not green(self.git.objects.tree_of(commit)):
            raise NotProven(f"{commit[:12]} does not pass")

    def _keep(self, bead: Bead, base: str, commit: str) -> None:
        contract = Validation(self.ports).contract()
        Evidence(self.ports).taken_back(bead, base, commit, "undo", ME, contract)
