"""The private clones in which beads are worked on, and the fresh checkouts in which candidates are validated.

1. A workspace exists whole or not at all, and lies in places.workspaces under its bead's id.
2. Nothing of a clone is removed before all of it is kept under refs/nobrakes/archive/<bead>/. A clone whose branch
   cannot be kept (objects missing, borrowed or broken) is put aside, not removed.
3. Work is found whatever HEAD an agent left: commits on top of the branch count as the branch's, others are archived.
4. The daemon reads a clone's files and never runs git by its configuration (see clones, intake and salvage).
"""

import errno
import os
import sys
from collections.abc import Mapping, Sequence

from ...core.beads.bead import Bead
from ...core.beads.branches import branch_of
from ...core.errors import GitFailed, NoAnswer, Tampered, TooLarge
from ...core.limits.sizes import DEFAULT, Sizes
from ...paths import Paths
from ...ports.git import Argv, Workspace
from ...trash import Trash
from ...walking import Beyond
from .. import packing, refs
from ..filtered_checkouts import take_in, through
from ..filters import Filters
from ..history import History
from ..location import Place
from ..messages import worker as identity
from ..objects import Objects
from . import clones, fetch, fill, remove, salvage
from .checkouts import INDEX, MAKING, making, mending

_REMEMBERED = 100
_TRIES = 3
"""So often git may fail to keep a clone's files before the clone is put aside."""
_NOT_THE_FILES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Faults of the machine, which pass; any other is what the agent left."""


class Workspaces:
    """The clones and checkouts of one repository."""

    def __init__(
        self,
        place: Place,
        objects: Objects,
        history: History,
        places: Paths,
        sizes: Sizes = DEFAULT,
        filters: Filters | None = None,
    ) -> None:
        self.filters = filters or Filters(place, objects)
        self.place = place
        self.objects = objects
        self.history = history
        self.places = places
        self.sizes = sizes
        self._failed: dict[str, int] = {}
        self._refused: dict[str, TooLarge] = {}
        self.trash = Trash(places.trash)

    def path(self, bead: str) -> str:
        """Where the bead's clone is, or would be."""
        return os.path.join(self.places.workspaces, bead)

    def workspace(self, bead: Bead, start: str, worker: str, files: str | None = None) -> Workspace:
        """The bead's clone; the commands make it at `start` where it is missing or lost its branch, else fit again.

        `files`: the commit whose files lie in a clone that is made, as changes that are not committed.
        """
        path, branch = self.path(bead.id), branch_of(bead)
        if os.path.lexists(path):
            tip = self._tip(bead) if self.has(bead.id) else None
            if tip is not None:
                moved = "" if tip == clones.branch_head(path, branch) else tip
                hooks, filtered = self.places.hooks, through(self.filters, start)
                mended = mending(self.place, path, start, branch, identity(worker), moved, hooks, filtered)
                return Workspace(path, branch, mended, is_kept=True)
            self.retire(bead, bead.fence)
        if not refs.is_oid(start) or not refs.is_oid(files or start):
            raise GitFailed(f"a workspace starts at a commit's full id, not at '{start[:80]}'")
        # the copy of the index tells later, without reading them, which files were never touched
        made = making(
            self.place,
            path,
            files or start,
            branch=branch,
            head=start,
            person=identity(worker),
            index=path + INDEX,
            hooks=self.places.hooks,
            through=through(self.filters, files or start),
        )
        return Workspace(path, branch, (*made, *self._filled(path, start)))

    def has(self, bead: str) -> bool:
        """Whether the bead's clone exists whole."""
        path = self.path(bead)
        return clones.is_folder(path) and clones.is_folder(os.path.join(path, ".git"))

    def touched(self, bead: str) -> int | None:
        """How many files differ from what the clone began with; None: it is gone, or nobody kept what that was."""
        path = self.path(bead)
        if not self.has(bead) or not os.path.isfile(path + INDEX):
            return None
        return salvage.touched(self.place, path, path + INDEX)

    def tip(self, bead: Bead) -> str | None:
        """The branch's head, copied to our objects and held by no ref; None: no clone, or no such branch."""
        head = self._tip(bead)
        if head is not None:
            self._bring(bead, head)
        return head

    def take_in(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head to refs/nobrakes/incoming/<bead>/<fence>; None: no clone, or no such branch."""
        head = self._tip(bead)
        wanted = self._astray(bead, fence, head)
        if head is not None:
            self._bring(bead, head)
            wanted[refs.own_ref(f"incoming/{bead.id}/{fence}")] = head
        refs.update(self.place, dict(wanted))
        return head

    def _tip(self, bead: Bead) -> str | None:
        """What the bead's branch holds, or what was committed on top of it with another HEAD; None: neither."""
        path = self.path(bead.id)
        branch, at = clones.branch_head(path, branch_of(bead)), clones.checked_out(path)
        if at is None or at == branch or self._try_to_bring(bead, at) is not None:
            return branch
        if branch is None:
            return at
        return at if self._try_to_bring(bead, branch) is None and self.history.contains(branch, at) else branch

    def _astray(self, bead: Bead, fence: int, tip: str | None) -> dict[str, str]:
        """The archive ref for what HEAD holds beside the branch; none where the branch or main has it."""
        at = clones.checked_out(self.path(bead.id))
        if at is None or at == tip or self._try_to_bring(bead, at) is not None:
            return {}
        main = refs.main(self.place)
        if tip is not None and self._try_to_bring(bead, tip) is None and self.history.contains(at, tip):
            return {}
        return {} if self.history.contains(at, main) else {self._free(f"archive/{bead.id}/{fence}-head", at): at}

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        """The commands that make a fresh detached checkout at `path`."""
        self._require_scratch(path)
        if not refs.is_oid(commit):
            raise GitFailed(f"a checkout is made of a commit's full id, not of '{commit[:80]}'")
        made = making(self.place, os.path.abspath(path), commit, through=through(self.filters, commit))
        return (*made, *self._filled(path, commit))

    def _filled(self, path: str, commit: str) -> tuple[Argv, ...]:
        """The commands that fill a fresh checkout's submodules; none where the commit has no `.gitmodules`."""
        if self.objects.entry(commit, ".gitmodules") is None:
            return ()
        return ((sys.executable, "-P", "-m", fill.__name__, os.path.abspath(path), self.place.root),)

    def drop_scratch(self, path: str) -> None:
        """Remove a scratch checkout."""
        self._require_scratch(path)
        self.trash.take(self.places.scratch, path)

    def scratches(self) -> tuple[str, ...]:
        """The paths of the scratch checkouts that there are."""
        folder = self.places.scratch
        return tuple(os.path.join(folder, name) for name in sorted(os.listdir(folder))) if os.path.isdir(folder) else ()

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        """Keep the clone's branch and its uncommitted work; the refs made. GitFailed: the branch is broken."""
        kept, broken = self._keep(bead, fence)
        refs.update(self.place, dict(kept))
        if broken is not None:
            raise broken
        return tuple(sorted(kept))

    def retire(self, bead: Bead, fence: int) -> None:
        """Archive, then remove the clone and the incoming refs; a broken clone is put aside instead."""
        kept, broken = self._keep(bead, fence)
        incoming = refs.names_in(self.place, f"{refs.INCOMING}/{bead.id}")
        wanted: dict[str, str | None] = {**kept, **self._only_held_by(incoming, bead, kept)}
        of_review = refs.names_in(self.place, f"{refs.OWN}/candidate/{bead.id}")
        for commit in {commit for commit in wanted.values() if commit is not None}:
            packing.hold(self.place, [commit], refs.main(self.place))
        wanted.update(dict.fromkeys((*incoming, *of_review, refs.own_ref(f"start/{bead.id}"))))
        refs.update(self.place, wanted)
        path = self.path(bead.id)
        if broken is not None:
            # what cannot be archived is not removed, and must not stand in the bead's way either
            remove.set_aside(self.trash, path, f"{path}{remove.BROKEN}{fence}")
        for leftover in (path, path + MAKING, path + INDEX):
            self.trash.take(self.places.workspaces, leftover)

    def _keep(self, bead: Bead, fence: int) -> tuple[dict[str, str], GitFailed | None]:
        """Bring all of the clone into our objects: the refs that have to hold it, and why its branch cannot be kept."""
        path = self.path(bead.id)
        if not clones.is_folder(path):
            return {}, None
        main = refs.main(self.place)
        head = self._tip(bead)
        broken = None if head is None else self._try_to_bring(bead, head)
        base = main if head is None or broken is not None else head
        wip, unread = self._salvaged(bead, base)
        if head is not None and broken is not None and not isinstance(broken, TooLarge):
            # the files may have brought back what the branch lacked
            broken = self._try_to_bring(bead, head)
        at = clones.checked_out(path)
        beside = None if at is None or at == head else self._try_to_bring(bead, at)
        kept = self._astray(bead, fence, head)
        if head is not None and broken is None and self._is_own(path, head, main):
            kept[self._free(f"archive/{bead.id}/{fence}-branch", head)] = head
        if wip is not None:
            kept[self._free(f"archive/{bead.id}/{fence}-wip", wip)] = wip
        return kept, broken or unread or (beside if isinstance(beside, TooLarge) else None)

    def _salvaged(self, bead: Bead, base: str) -> tuple[str | None, GitFailed | None]:
        """A commit of the clone's files, if they are not those of `base`; or why they stay where they are."""
        path = self.path(bead.id)
        text = f"Uncommitted work on {bead.id}\n\nKept by nobrakes before its workspace was removed.\n"
        try:
            return salvage.salvage(self.place, self.objects, path, base, path + INDEX, text, self.sizes), None
        except Tampered as error:
            return None, error
        except Beyond as error:
            why: Exception = error
        except (GitFailed, NoAnswer) as error:
            # it may be the repository that is out of order just now; what stays so is the clone's own
            self._failed[bead.id] = self._failed.get(bead.id, 0) + 1
            if self._failed[bead.id] < _TRIES:
                raise
            why = error
        except OSError as error:
            if error.errno in _NOT_THE_FILES:
                raise
            why = error
        return None, Tampered(f"the files of the workspace {bead.id} cannot be kept as they are: {why}")

    def _only_held_by(self, incoming: Sequence[str], bead: Bead, kept: Mapping[str, str]) -> dict[str, str]:
        """Archive refs for what an agent had handed in and then took out of its branch again."""
        found: dict[str, str] = {}
        main = refs.main(self.place) if incoming else ""
        for ref in incoming:
            commit = refs.read(self.place, ref)
            if commit is None or commit in kept.values():
                continue
            if any(self.history.contains(commit, other) for other in (*kept.values(), *found.values(), main)):
                continue
            found[self._free(f"archive/{bead.id}/{ref.rpartition('/')[2]}-incoming", commit)] = commit
        return found

    def _free(self, name: str, commit: str) -> str:
        """The ref of this name, or one beside it where another commit is archived under it already."""
        ref = refs.own_ref(name)
        held = None if refs.is_gone(self.place.git_dir, ref) else refs.read(self.place, ref)
        return ref if held in (None, commit) else refs.own_ref(f"{name}-{commit[:12]}")

    def _is_own(self, path: str, head: str, main: str) -> bool:
        """Whether main does not have the commit. One that was made in the clone mostly lies there as a file."""
        return clones.has_loose(path, head) or not self.history.contains(head, main)

    def _try_to_bring(self, bead: Bead, head: str) -> GitFailed | None:
        try:
            self._bring(bead, head)
        except GitFailed as error:
            return error
        return None

    def _bring(self, bead: Bead, head: str) -> None:
        """Take the branch's head in, unless a ref of the bead holds it already, whichever attempt's that is."""
        incoming = refs.names_in(self.place, f"{refs.INCOMING}/{bead.id}")
        main = refs.main(self.place)
        is_held = any(refs.known(self.place.git_dir, ref) == head for ref in incoming)
        if is_held and self.objects.is_whole(head, main):  # a ref may lead to what something removed
            return
        if head in self._refused:
            raise self._refused[head]  # a commit never changes, and measuring took its time
        try:
            fetch.take(self.place, self.objects, self.history, main, self.path(bead.id), head, self.sizes)
            take_in(self.filters, self.path(bead.id), main, head, self.sizes)
        except TooLarge as error:
            self._refused = {**dict(list(self._refused.items())[-_REMEMBERED:]), head: error}
            raise

    def _require_scratch(self, path: str) -> None:
        if os.path.dirname(os.path.abspath(path)) != os.path.abspath(self.places.scratch):
            raise GitFailed(f"{path} is not a folder directly in {self.places.scratch}")
