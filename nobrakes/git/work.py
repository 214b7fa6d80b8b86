"""Agents' clones, the checkouts of runs, and what of both is archived."""

import os

from ..core.beads.bead import Bead
from ..ports.git import Argv, Workspace
from . import lfs, refs
from .tools import Tools


class Work(Tools):
    """Where work is done: made, fetched from, removed."""

    def workspace(self, bead: Bead, start: str, worker: str, files: str | None = None) -> Workspace:
        """The bead's private clone. Where it is missing, `prologue` makes it with its branch at `start`."""
        return self._workspaces.workspace(bead, start, worker, files)

    def has_workspace(self, bead: str) -> bool:
        """Whether the bead's clone exists whole."""
        return self._workspaces.has(bead)

    def touched(self, bead: str) -> int | None:
        """How many files of the bead's clone differ from what it began with."""
        return self._workspaces.touched(bead)

    def tip(self, bead: Bead) -> str | None:
        """The head of the branch in the bead's clone, copied to our objects and held by no ref."""
        return self._workspaces.tip(bead)

    def take_in(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head from the clone to refs/nobrakes/incoming/<bead>/<fence>; None: no clone or branch."""
        return self._workspaces.take_in(bead, fence)

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        """The commands that make a fresh checkout of `commit` at `path`, with a .git of its own."""
        return self._workspaces.scratch(commit, path)

    def drop_scratch(self, path: str) -> None:
        """Remove a scratch checkout; nothing happens when it is gone."""
        self._workspaces.drop_scratch(path)

    def scratches(self) -> tuple[str, ...]:
        """The paths of the scratch checkouts that there are."""
        return self._workspaces.scratches()

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        """Keep the clone's branch and its uncommitted work under refs/nobrakes/archive/<bead>/…; the refs made."""
        return self._workspaces.archive(bead, fence)

    def retire(self, bead: Bead, fence: int) -> None:
        """Archive, then remove the bead's clone, its incoming refs, and those of its review and its start."""
        self._workspaces.retire(bead, fence)

    def archived(self, bead: str | None = None) -> list[tuple[str, str]]:
        """(ref, commit) of what was archived, newest first; without those whose commit is gone, which doctor names."""
        below = refs.ARCHIVE if bead is None else f"{refs.ARCHIVE}/{bead}"
        return refs.newest_first(self.place, refs.below(self.place, f"{below}/"))

    def lent(self) -> tuple[str, ...]:
        """The folders of objects that workspaces and checkouts borrow from; the first is the repository's own."""
        stored = lfs.store(self.place)
        return (*self.place.lent(), *([stored] if os.path.isdir(stored) else []))

    def territory(self) -> tuple[str, ...]:
        """The folders and files that belong to the repository, wherever they lie: nobody else may write there."""
        from . import protected_paths

        return (*protected_paths.folders(self.place), *self._settings_files)
