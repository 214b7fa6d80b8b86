"""People who take beads, hand work in and give them back to agents; in worlds with `--hands`.

1. Store and git are those of the commands; in place of a person's worktree stands a commit that they made on main.
2. Their commits count as work that must not be lost (invariants.nothing_is_lost).
"""

import random
from collections.abc import Callable, Sequence

from nobrakes.beads.model import CLOSED, WAITING_FOR_AGENT, WORKING, Bead, BeadType, Status, taken
from nobrakes.beads.proposals import ByHand, is_by_person
from nobrakes.beads.service import taking
from nobrakes.errors import NobrakesError, NotAllowed
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store

from .fake_git import FakeGit
from .objects import applied
from .people import ME, People
from .project import code_path, test_path, wanted
from .scene import Scene


class ByHands:
    """`take`, `hand-in` and `retry`."""

    def __init__(self, people: People, scene: Scene, git: FakeGit, seed: int) -> None:
        self.people, self.scene, self.git = people, scene, git
        self.store: Store = people.store
        self.dice = random.Random(f"{seed} people who work by hand")

    def take(self) -> str:
        """Take a bead from whoever has it."""
        bead = self._some(lambda bead: bead.status not in (*CLOSED, Status.DRAFT))
        self.git.archive(bead, bead.fence)
        data = {"reason": taken(ME, "/mine"), "folder": "/mine"}
        self.store.record(Event(Kind.TAKEN, bead.id, actor=ME, data=data))
        return f"took {bead.id}"

    def hand_in(self) -> str:
        """Hand in work on a bead: good, or such as no check accepts."""
        bead = self._some(lambda bead: bead.status not in (*CLOSED, *WORKING, Status.DRAFT))
        before = self.git.objects.tree_of(self.git.head)
        path, is_good = code_path(bead.id), self.dice.random() < 0.7
        value = (wanted(before, path) or "v0") if is_good else "LINT"
        changes: dict[str, str | None] = {path: value, test_path(bead.id): f"{path} is {value}"}
        now = self.scene.clock.now()
        tree = applied(before, changes)
        made = self.git.objects.commit(tree, (self.git.head,), f"by hand on {bead.id}", ME, now)
        fence = bead.fence + 1
        ref = f"refs/nobrakes/incoming/{bead.id}/{fence}"
        self.git.refs[ref] = made.id
        try:
            self.store.hand_in(ByHand(bead.id, ME, fence, made.id, self.git.head, "/mine"))
        except NobrakesError:
            del self.git.refs[ref]
            raise
        self.git.clones.made_by_agents.add(made.id)
        self.scene.handed_in[made.id] = bead.id
        return f"handed {made.id[:12]} in for {bead.id}"

    def retry(self) -> str:
        """Give a bead back to agents."""
        bead = self._some(lambda bead: bead.status not in (*CLOSED, Status.DRAFT))
        taking.retry(self.store, bead.id, ME, all=True)
        return f"gave {bead.id} back to agents"

    def _some(self, wanted_: Callable[[Bead], bool]) -> Bead:
        found = [one for one in self.store.beads() if one.type is not BeadType.EPIC and wanted_(one)]
        if not found:
            raise NotAllowed("there is none")
        return self.dice.choice(found)


# --- promises --------------------------------------------------------------------------------------


def evidence_names_who_handed_in(scene: Scene) -> list[str]:
    """The record of a merge of a person's work has that person among its attempts."""
    if not scene.handed_in:
        return []
    wrong = []
    for entry in scene.git.evidence():
        record = entry.record
        head = str(record.get("branch", {}).get("commit", ""))
        if head in scene.handed_in and not record.get("added_later"):
            names = {one["name"] for one in record["attempts"] if one["role"] == "person"}
            if ME not in names:
                wrong.append(f"{entry.bead} was merged as handed in, and its evidence does not say by whom")
    return wrong


def what_comes_back_to_a_person_stays_with_them(scene: Scene) -> list[str]:
    """Work of a person that did not pass is held for them until a person says otherwise."""
    if not scene.handed_in:
        return []
    wrong = []
    for bead in scene.beads:
        if bead.status not in WAITING_FOR_AGENT or bead.held is not None:
            continue
        if not is_by_person(scene.store.attempts(bead.id)):
            continue
        last = [e for e in scene.store.events(0, 1_000_000, bead.id) if e.kind in _SAYS]
        if last and last[-1].kind is Kind.REVIEW_REJECTED:
            wrong.append(f"{bead.id} is a person's, was rejected, and waits for an agent")
    return wrong


_SAYS = (Kind.REVIEW_REJECTED, Kind.RELEASED, Kind.RETRIED, Kind.RESOLVED, Kind.CANCELLED, Kind.UNDONE, Kind.REVERTED)

PROMISES: Sequence[Callable[[Scene], list[str]]] = (
    evidence_names_who_handed_in,
    what_comes_back_to_a_person_stays_with_them,
)
