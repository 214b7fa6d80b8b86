"""People who want to see tests and code before the merge; one world in four, or all of them with `--approvals`.

1. Some beads and epics have the label from the start. People say yes, send back, or take the label away; nobody adds
   it.
2. The promise looks at what came to main: never at the digest that the program compares.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

from nobrakes.beads.branches import is_approval
from nobrakes.beads.model import CLOSED, Bead, BeadType, Status
from nobrakes.decisions.model import Escalation, EscalationType
from nobrakes.decisions.service import desk
from nobrakes.errors import NobrakesError
from nobrakes.events.kinds import Kind
from nobrakes.review.journal import LABEL
from nobrakes.review.service import send_back

from .people import ME, People
from .project import code_path
from .scene import Difference, Scene
from .undoing import some_have_it


def how_often(seed: int, rate: float) -> float:
    """How often people look before the merge; 0: in this world nobody asks for it."""
    return rate or float(some_have_it(seed, "approvals"))


def with_labels(beads: Sequence[Bead], seed: int) -> list[Bead]:
    """The beads, some of which ask for approval."""
    dice = random.Random(f"{seed} which approvals")
    chance = {True: 0.2, False: 0.4}
    asks = {bead.id for bead in beads if dice.random() < chance[bead.type is BeadType.EPIC]}
    return [replace(bead, labels=(*bead.labels, LABEL)) if bead.id in asks else bead for bead in beads]


class Approving:
    """`nobrakes resolve` on merges, and `nobrakes edit --label`."""

    def __init__(self, people: People, seed: int) -> None:
        self.people, self.store = people, people.store
        self.dice = random.Random(f"{seed} people who approve merges")

    def decide(self) -> str:
        """Say yes to a merge, or send it back."""
        found = [one for one in self.store.escalations() if one.type is EscalationType.MERGE_REVIEW]
        if not found:
            return "there is nothing to approve"
        one = self.dice.choice(sorted(found, key=lambda one: one.id))
        if self.dice.random() < 0.7:
            desk.resolve(self.store, one.id, "approve", "good", ME)
            return f"approved the merge of {one.bead} ({one.id})"
        desk.resolve(self.store, one.id, "retry", self.dice.choice(("", "smaller")), ME)
        return f"sent {one.bead} back before its merge ({one.id})"

    def send_back(self) -> str:
        """Return work that is in review, before its merge."""
        found = [bead for bead in self.store.beads() if bead.status in (Status.NEEDS_REVIEW, Status.REVIEWING)]
        found = [bead for bead in found if send_back.allows(bead)]
        if not found:
            return "no work in review to send back"
        bead = self.dice.choice(sorted(found, key=lambda one: one.id))
        send_back.send_back(self.store, bead.id, "smaller", ME)
        return f"sent {bead.id} back from its review"

    def get_in_the_way(self) -> str:
        """Commit on main what conflicts with a merge that was approved: the work is done anew, and is another one."""
        yes = {one.bead for one in self.store.escalations(open_only=False) if _is_yes(one)}
        found = [bead for bead in self.store.beads() if bead.id in yes and bead.status not in CLOSED]
        if not found:
            return "no approved merge to get in the way of"
        bead = self.dice.choice(found)
        return self.people.commit({code_path(bead.id): f"v{self.dice.randrange(4)}"})

    def unlabel(self) -> str:
        """Take the label away."""
        found = [bead for bead in self.store.beads() if LABEL in bead.labels and bead.status not in CLOSED]
        if not found:
            raise NobrakesError("there is none")
        bead = self.dice.choice(found)
        self.store.change(bead.id, {"labels": tuple(one for one in bead.labels if one != LABEL)}, ME)
        return f"{bead.id} needs no approval any more"


# --- promises --------------------------------------------------------------------------------------


def no_merge_without_its_yes(scene: Scene) -> list[str]:
    """What has the label comes to main with a person's yes to exactly that difference, said since its last merge."""
    known, git = scene.approved, scene.git
    if known is None:
        return []
    for one in scene.store.escalations(open_only=False):
        if one.type is EscalationType.MERGE_REVIEW and one.id not in known.shown:
            known.shown[one.id] = difference(scene, str(one.evidence["main"]), str(one.evidence["commit"]))
    before, known.labelled = known.labelled, _labelled(scene.beads)
    new, known.landings = git.landings[known.landings :], len(git.landings)
    wrong = []
    for move in new:
        of_bead: dict[str, list[str]] = {}
        for commit in move:
            trailers = dict(git.objects.find(commit).trailers)
            of_bead.setdefault(trailers.get("Bead", ""), []).append(commit)
        for bead in of_bead.keys() & before & known.labelled:
            wrong += _without_yes(scene, bead, of_bead[bead])
    return wrong


def _labelled(beads: Sequence[Bead]) -> set[str]:
    by_id = {bead.id: bead for bead in beads}

    def has_it(bead: Bead | None) -> bool:
        return bead is not None and (LABEL in bead.labels or has_it(by_id.get(bead.epic or "")))

    return {bead.id for bead in beads if has_it(bead)}


def _without_yes(scene: Scene, bead: str, commits: Sequence[str]) -> list[str]:
    git = scene.git
    landed = difference(scene, git.objects.find(commits[0]).parents[0], commits[-1])
    events = scene.store.events(0, 1_000_000, bead)
    merges = [e.seq for e in events if e.kind is Kind.MERGED and e.data.get("merged_commit") not in commits]
    since = max(merges, default=0)
    said = {e.data.get("escalation"): e.seq for e in events if e.kind is Kind.RESOLVED}
    for one in scene.store.escalations(open_only=False, bead=bead):
        if _is_yes(one) and said.get(one.id, 0) > since:
            assert scene.approved is not None
            if scene.approved.shown[one.id] == landed:
                return []
    return [f"{bead} came to main as {commits[-1][:12]}, and nobody said yes to that"]


def _is_yes(one: Escalation) -> bool:
    return one.type is EscalationType.MERGE_REVIEW and one.resolved_at is not None and is_approval(one.resolution)


def difference(scene: Scene, base: str, head: str) -> Difference:
    """What differs between two commits' trees."""
    before, after = scene.git.objects.tree_of(base), scene.git.objects.tree_of(head)
    paths = before.keys() | after.keys()
    return {path: (before.get(path), after.get(path)) for path in paths if before.get(path) != after.get(path)}


PROMISES: Sequence[Callable[[Scene], list[str]]] = (no_merge_without_its_yes,)
