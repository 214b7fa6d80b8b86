"""ports.Git on a real repository: each question goes to the module that knows its topic.

1. Constructing it costs nothing; git is looked for and asked when the first question comes.
2. Nothing here runs under a configuration that an agent wrote (environment, clones, salvage).
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from ..core.bead import Bead
from ..core.boundaries import Change
from ..places import Places
from ..ports import Argv, Candidate, Conflict, Land, Message, Workspace
from . import differences, locks, refs
from .commits import Committer
from .history import History
from .landing import Lander
from .merging import Merger
from .objects import EXECUTABLE, FILE, Objects
from .place import Place
from .workspaces import Workspaces

_REMEMBERED = 16
"""Pairs of commits whose changes are remembered: one review asks for the same ones several times."""


class Repository:
    """The repository that `places` belong to, and the branch that work lands on."""

    def __init__(self, places: Places, main: str) -> None:
        self.places = places
        self.place = Place(places.root, main)
        self.objects = Objects(self.place)
        self.history = History(self.place, self.objects)
        self._changes: dict[tuple[str, str], tuple[Change, ...]] = {}

    @cached_property
    def _merger(self) -> Merger:
        return Merger(self.place, self.objects, self.history)

    @cached_property
    def _lander(self) -> Lander:
        return Lander(self.place, self.history)

    @cached_property
    def _workspaces(self) -> Workspaces:
        return Workspaces(self.place, self.objects, self.history, self.places)

    @cached_property
    def _committer(self) -> Committer:
        return Committer(self.place, self.objects)

    def close(self) -> None:
        """End the processes that read objects and change refs."""
        self.objects.close()
        self.place.transactions.close()

    def main(self) -> str:
        """The commit that main points to; NoMain."""
        return refs.main(self.place)

    def tree(self, commit: str) -> str:
        """The commit's tree."""
        return self.objects.commit(commit).tree

    def workspace(self, bead: Bead, start: str, worker: str) -> Workspace:
        """The bead's private clone. Where it is missing, `prologue` makes it with its branch at `start`."""
        return self._workspaces.workspace(bead, start, worker)

    def has_workspace(self, bead: str) -> bool:
        """Whether the bead's clone exists whole."""
        return self._workspaces.has(bead)

    def take_in(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head from the clone to refs/nobrakes/incoming/<bead>/<fence>; None: no clone or branch."""
        return self._workspaces.take_in(bead, fence)

    def fork(self, main: str, head: str) -> str | None:
        """The commit where `head` left main; None: unrelated."""
        return self.history.fork(main, head)

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""
        return self.history.contains(ancestor, descendant)

    def changes(self, base: str, head: str) -> tuple[Change, ...]:
        """What differs between two commits' trees, by path; renames are a removal and an addition."""
        known = self._changes.get((base, head))
        if known is None:
            known = differences.changes(self.objects, base, head)
            while len(self._changes) >= _REMEMBERED:
                del self._changes[next(iter(self._changes))]
            if refs.is_oid(base) and refs.is_oid(head):
                self._changes[base, head] = known
        return known

    def read(self, commit: str, path: str) -> bytes | None:
        """A file's content in a commit; None: not there or not a file."""
        entry = self.objects.entry(commit, path)
        return self.objects.content(entry.id) if entry is not None and entry.mode in (FILE, EXECUTABLE) else None

    def squash(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since they parted. Same input, same id."""
        return self._merger.squash(onto, head, message)

    def replay(self, onto: str, head: str, message: Message) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits one by one on `onto`, texts kept, with `message`'s trailers. Same input, same ids."""
        return self._merger.replay(onto, head, message)

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of just these steps' trees (texts of the steps' commits kept); the last is returned."""
        return self._merger.fold(onto, steps, message)

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        """A commit on `onto` that takes `commit` back."""
        return self._merger.revert(commit, onto, message)

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""
        refs.update(self.place, {refs.own_ref(name): commit})

    def land(self, new: str, old: str) -> Land:
        """Move main from `old` to `new` by compare-and-swap, and a clean checkout of it along with it."""
        return self._lander.land(new, old)

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        """The commands that make a fresh checkout of `commit` at `path`, with a .git of its own."""
        return self._workspaces.scratch(commit, path)

    def drop_scratch(self, path: str) -> None:
        """Remove a scratch checkout; nothing happens when it is gone."""
        self._workspaces.drop_scratch(path)

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        """Keep the clone's branch and its uncommitted work under refs/nobrakes/archive/<bead>/…; the refs made."""
        return self._workspaces.archive(bead, fence)

    def retire(self, bead: Bead, fence: int) -> None:
        """Archive, then remove the bead's clone and its incoming refs."""
        self._workspaces.retire(bead, fence)

    def archived(self, bead: str | None = None) -> list[tuple[str, str]]:
        """(ref, commit) of what was archived, newest first."""
        below = refs.ARCHIVE if bead is None else f"{refs.ARCHIVE}/{bead}"
        return refs.below(self.place, f"{below}/", newest_first=True)

    def merged(self) -> dict[str, str]:
        """Bead id to commit on main, by the `Bead:` trailers."""
        return self.history.merged(refs.main(self.place))

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """Commit these paths (None removes) on main, whatever else the checkout holds; None: nothing differed."""
        return self._committer.commit_files(files, message)

    def clear_locks(self) -> None:
        """Remove the lock files that a killed nobrakes left on its own refs and on main."""
        locks.clear(self.place)
