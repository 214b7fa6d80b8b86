"""Workspaces and scratch checkouts of the fake git: what is on the simulated disk beside the repository itself.

1. A clone is made by the prologue that `Git.workspace` returns, run by the child and not by the daemon.
2. Whoever works in a clone that is not there gets an error, as a process whose folder was removed would.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from nobrakes.errors import GitFailed

from .objects import Objects, applied, differing
from .project import Tree

CLONE = "fake-git-clone"
CHECKOUT = "fake-git-checkout"


@dataclass
class Clone:
    """One private clone: its branch's head, the edits that are not committed, and what it began with."""

    branch: str
    head: str
    edits: dict[str, str | None] = field(default_factory=dict)
    begun: str = ""


class Clones:
    """The working places of agents and checks."""

    def __init__(self, objects: Objects) -> None:
        self.objects = objects
        self.of_bead: dict[str, Clone] = {}
        self.scratch: dict[str, str] = {}
        self.made_by_agents: set[str] = set()
        self.thrown_away: list[str] = []

    def execute(self, argv: tuple[str, ...]) -> str | None:
        """Run one command of a prologue; the text of what went wrong, or None."""
        if argv[0] == CLONE:
            _, bead, branch, start, files = argv
            there = self.objects.tree_of(files)
            edits = {path: there.get(path) for path in differing(self.objects.tree_of(start), there)}
            self.of_bead[bead] = Clone(branch, start, edits, files)
            return None
        if argv[0] == CHECKOUT:
            _, commit, path = argv
            self.scratch[path] = commit
            return None
        return f"{argv[0]}: command not found"

    def clone(self, bead: str) -> Clone:
        """The bead's clone; GitFailed when it is gone."""
        if bead not in self.of_bead:
            raise GitFailed(f"the workspace of {bead} is gone")
        return self.of_bead[bead]

    def tree(self, bead: str) -> Tree:
        """What an agent sees in the clone."""
        clone = self.clone(bead)
        return applied(self.objects.tree_of(clone.head), clone.edits)

    def checked_out(self, path: str) -> Tree:
        """What a check sees in the scratch checkout; GitFailed when it is gone."""
        if path not in self.scratch:
            raise GitFailed(f"{path} is gone")
        return self.objects.tree_of(self.scratch[path])

    def edit(self, bead: str, changes: Mapping[str, str | None]) -> None:
        """An agent changes files without a commit."""
        self.clone(bead).edits.update(changes)

    def commit(self, bead: str, subject: str, when: float) -> str:
        """An agent commits what it edited."""
        clone = self.clone(bead)
        made = self.objects.commit(self.tree(bead), (clone.head,), subject, "agent", when)
        clone.head, clone.edits = made.id, {}
        self.made_by_agents.add(made.id)
        return made.id

    def rewrite(self, bead: str, when: float) -> None:
        """An agent throws its branch away and begins with a commit that comes from nowhere.

        What nobody took in of it before is gone by the agent's own will.
        """
        clone = self.clone(bead)
        self.thrown_away.append(clone.head)
        made = self.objects.commit(self.tree(bead), (), "all new", "agent", when)
        clone.head, clone.edits = made.id, {}
        self.made_by_agents.add(made.id)
