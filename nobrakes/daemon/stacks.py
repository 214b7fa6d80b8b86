"""Beads on top of open requests: which may be, by core.pulls.stacking, and what such a request brings, under a ref.

refs/nobrakes/requests/<bead> is what the bead's open request brings. It stays as long as something stands on it.
"""

from ..core.beads.bead import CLOSED, Bead, BeadType, blocked_by, blockers_of
from ..core.board import Board
from ..core.owners import of_bead
from ..core.pulls.delivery import Where
from ..core.pulls.pull import PullRequest, PullState
from ..core.pulls.stacking import Blocker, is_free, may_stack, waits_again
from ..ports import Git
from ..ports.git import REQUESTS
from .epics import lands_on
from .parking import parked
from .ports import Ports


class Stacks:
    """Lets beads stack, and wait again."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._has_refs = True  # as far as is known

    def turn(self, board: Board) -> bool:
        """Whether something changed."""
        config = self.ports.config().review
        if not config.by_request and not self._has_refs:
            return False
        store, git = self.ports.store, self.ports.git
        waiting = store.pulls() if config.by_request else []
        opened = {one.bead: one for one in waiting if one.state is PullState.OPEN and one.head and git.has(one.head)}
        stacked = dict(store.stacked())
        stood_on = set(stacked.values())
        kept = {bead: one.head for bead, one in opened.items() if config.stacks or bead in stood_on}
        if not (kept or stacked or self._has_refs):
            return False
        self._keep_refs(kept, stood_on)
        self._has_refs = bool(kept or stacked)  # after it: what could not be removed is tried again
        if not config.stacks:
            opened = {}
        changed = False
        for name in stacked:
            with parked(self.ports, of_bead(name)):
                bead = store.bead(name)
                where = lands_on(self.ports, bead)
                may = Where(self._base(stacked[name]), below=where.below)
                if bead.status in CLOSED or waits_again(bead, opened) or where != may:
                    store.stack(name, None)
                    changed = True
        for pull in opened.values():
            with parked(self.ports, of_bead(pull.bead)):
                for bead in self._dependants(pull.bead):
                    if may_stack(bead, pull.bead, self._blockers(bead, pull)):
                        store.stack(bead.id, pull.bead)
                        changed = True
        return changed

    def _keep_refs(self, opened: dict[str, str], stood_on: set[str]) -> None:
        git = self.ports.git
        start = f"{REQUESTS}/"
        there = {name.removeprefix(start): at for name, at in git.kept().items() if name.startswith(start)}
        for bead in (there.keys() | opened.keys()) - (stood_on - opened.keys()):
            if there.get(bead) != opened.get(bead):
                with parked(self.ports, of_bead(bead)):
                    git.pin(start + bead, opened.get(bead))

    def _dependants(self, needed: str) -> list[Bead]:
        """Those that need the bead, have not begun, and land by requests of their own on the same branch."""
        store = self.ports.store
        if store.bead(needed).type is BeadType.EPIC:
            return []
        ids = blocked_by(needed, store.dependencies(needed))
        beads = store.beads(ids=ids) if ids else []
        mine = Where(self._base(needed))
        return [one for one in beads if is_free(one) and lands_on(self.ports, one) == mine]

    def _base(self, bead: str) -> str:
        return lands_on(self.ports, self.ports.store.bead(bead)).base

    def _blockers(self, bead: Bead, pull: PullRequest) -> list[Blocker]:
        store, git = self.ports.store, self.ports.git
        needs = blockers_of(bead.id, store.dependencies(bead.id))
        return [Blocker(one.id, one.status, _has(git, pull.head, one.merged_commit)) for one in store.beads(ids=needs)]


def _has(git: Git, head: str, merged: str | None) -> bool:
    return bool(merged) and git.has(str(merged)) and git.contains(str(merged), head)
