"""People who use git on the repository itself: they collect garbage, amend main's last commit and take main back.

One world in three has them, or every one that asks for them, if nobody shares its main. What such a person does is
nobody else's fault: the promises below look for blame, and for what a prune could take from an open review.
"""

import random
from itertools import pairwise

from nobrakes.beads.model import Role
from nobrakes.errors import NobrakesError
from nobrakes.review.worker.culprits import pin_of

from .fake_git import OWN, FakeGit
from .objects import applied
from .scene import Scene

AMENDED = "docs/amended.md"
"""No agent ever touches it: whoever is blamed for it is blamed for what a person did."""


class Rewriting:
    """What a person does with git, each time told in words."""

    def __init__(self, git: FakeGit, rng: random.Random) -> None:
        self.git = git
        self.rng = rng
        self.times = 0

    def prune(self) -> str:
        """`git gc --prune=now`: what no ref holds is gone at once."""
        return f"pruned {self.git.prune()} commits"

    def amend(self) -> str:
        """`git commit --amend` on main, whoever made the commit: the same words, and one more file."""
        top = self.git.objects.find(self._main())
        self.times += 1
        tree = applied(self.git.objects.tree_of(top.id), {AMENDED: f"v{self.times}"})
        made = self.git.objects.commit(tree, top.parents, top.subject, top.author, top.when, top.trailers)
        self.git.rewrite_main(made.id)
        return f"amended {top.id[:12]} to {made.id[:12]}"

    def reset(self) -> str:
        """`git reset --hard` to one of the last commits."""
        line = [commit.id for commit in self.git.objects.line(self._main())]
        to = self.rng.choice(line[1:4])
        self.git.rewrite_main(to)
        return f"reset main to {to[:12]}"

    def _main(self) -> str:
        if not self.git.objects.find(self.git.head).parents:
            raise NobrakesError("there is nothing on main yet")
        return self.git.head


def how_often(git: FakeGit, seed: int, asked: float) -> float:
    """How often the people of this world do that, as they were `asked` to or as the seed draws; 0: they never do.

    The dice of the rest of the world are left alone.
    """
    if type(git) is not FakeGit:
        return 0.0
    return asked or float(random.Random(f"{seed} git").random() < 1 / 3)


def nobody_is_blamed_for_a_rewritten_main(scene: Scene) -> list[str]:
    """No attempt ends for what a person changed by an amend."""
    blamed = {
        attempt.bead
        for bead in scene.beads
        for attempt in scene.store.attempts(bead.id)
        if attempt.detail and AMENDED in attempt.detail
    }
    return [f"{bead} is blamed for {AMENDED}" for bead in sorted(blamed)]


def an_open_candidate_has_a_ref(scene: Scene) -> list[str]:
    """A review that names a candidate has a ref of its own, so that nobody's prune takes the candidate.

    The ref goes first: who is killed before the journal follows leaves it at the candidate that is built next.
    """
    candidates = {a.bead: str(a.data.get("candidate", "")) for a in scene.board.attempts if a.role is Role.REVIEWER}
    return [
        f"the candidate {commit[:12]} of {bead} has no ref"
        for bead, commit in sorted(candidates.items())
        if commit and OWN + pin_of(bead) not in scene.git.refs
    ]


def nothing_is_asked_twice(scene: Scene) -> list[str]:
    """No two open escalations of the same kind about the same bead, with the same title."""
    open_now = sorted((one.type.value, one.bead or "", one.title) for one in scene.store.escalations())
    return [f"asked twice: {one}" for one, other in pairwise(open_now) if one == other]
