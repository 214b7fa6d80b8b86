"""ports.Git on a real repository: each question goes to the module that knows its topic.

1. Constructing it costs nothing; git is looked for and asked when the first question comes.
2. What merges, lands, commits and makes workspaces is imported when it is first used: most commands only ask.
3. Nothing here runs under a configuration that an agent wrote (environment, clones, salvage).
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from ..core.beads.bead import Bead
from ..core.errors import FileTooLarge, GitFailed
from ..core.evidence.record import Entry, Made, Value
from ..core.limits.sizes import DEFAULT, READ, Sizes
from ..core.policy.boundaries import Change
from ..paths import Paths
from ..ports import Argv, Candidate, Conflict, Land, Landing, Lands, Message, Workspace
from . import differences, locks, moved, refs
from .history import History
from .landing import landed
from .location import Place
from .objects import EXECUTABLE, FILE, Objects

if TYPE_CHECKING:
    from .commits import Committer
    from .evidence import Chain
    from .landing.local import Lander
    from .landing.remote_questions import Shared
    from .merge import Merger
    from .workspaces.make import Workspaces

_REMEMBERED = 16
"""Pairs of commits whose changes are remembered: one review asks for the same ones several times."""


_PATHS_KEPT = 8
"""The trees of so many commits are remembered as lists of paths: one is asked for several times in a review."""


class Repository:
    """The repository that `places` belong to, and the branch that work lands on; `shared`: a remote decides it."""

    def __init__(self, places: Paths, main: str, shared: "Shared | None" = None, sizes: Sizes = DEFAULT) -> None:
        self.places = places
        self.shared = shared
        self.sizes = sizes
        self.place = Place(places.root, main)
        self.objects = Objects(self.place)
        self.history = History(self.place, self.objects)
        self._changes: dict[tuple[str, str], tuple[Change, ...]] = {}
        self._paths: dict[str, frozenset[str]] = {}

    @cached_property
    def _merger(self) -> "Merger":
        from .merge import Merger

        return Merger(self.place, self.objects, self.history)

    @cached_property
    def _lander(self) -> "Lander":
        from .landing.local import Lander

        return Lander(self.place, self.history)

    @cached_property
    def _lands(self) -> Lands:
        if self.shared is None:
            return self._lander
        from .landing.remote import SharedLander
        from .landing.remote_questions import Remote

        return SharedLander(self.place, self.history, self._lander, Remote(self.place, self.shared))

    @cached_property
    def _workspaces(self) -> "Workspaces":
        from .workspaces.make import Workspaces

        return Workspaces(self.place, self.objects, self.history, self.places, self.sizes)

    @cached_property
    def _committer(self) -> "Committer":
        from .commits import Committer

        return Committer(self.place, self.objects, self._lander)

    @cached_property
    def _chain(self) -> "Chain":
        from .evidence import Chain

        return Chain(self.place, self.objects)

    def close(self) -> None:
        """End the processes that read objects and change refs."""
        self.objects.close()
        self.place.transactions.close()
        self.place.commits.close()
        self.place.trees.close()

    def main(self) -> str:
        """The commit that main points to; NoMain."""
        return refs.main(self.place)

    def tree(self, commit: str) -> str:
        """The commit's tree."""
        return self.objects.commit(commit).tree

    def has(self, commit: str) -> bool:
        """Whether the commit is still there."""
        return self.objects.content(commit) is not None

    def is_whole(self, commit: str) -> bool:
        """Whether the commit is there with all that it needs, as one sees who begins to look only now."""
        self._forget()
        return self._is_connected(commit, refs.main(self.place))

    def _is_connected(self, commit: str, known: str) -> bool:
        """Whether all is there that the commit needs beside what a whole one has."""
        asked = ["rev-list", "--objects", "--quiet", commit, f"^{known}", "--"]
        return self.place.run(asked, expect=(0, 128)).code == 0

    def _forget(self) -> None:
        """What was read may be gone, and a process that goes on answering still reads packs that were removed."""
        self.close()
        self.objects.forget()
        self.history.forget()
        self._changes.clear()

    def workspace(self, bead: Bead, start: str, worker: str, files: str | None = None) -> Workspace:
        """The bead's private clone. Where it is missing, `prologue` makes it with its branch at `start`."""
        return self._workspaces.workspace(bead, start, worker, files)

    def lent(self) -> tuple[str, ...]:
        """The folders of objects that workspaces and checkouts borrow from; the first is the repository's own."""
        return self.place.lent()

    def territory(self) -> tuple[str, ...]:
        """The folders and files that belong to the repository, wherever they lie: nobody else may write there."""
        from . import protected_paths

        return (*protected_paths.folders(self.place), *self._settings_files)

    @cached_property
    def _settings_files(self) -> tuple[str, ...]:
        from . import protected_paths

        return protected_paths.settings(self.place)

    def has_workspace(self, bead: str) -> bool:
        """Whether the bead's clone exists whole."""
        return self._workspaces.has(bead)

    def take_in(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head from the clone to refs/nobrakes/incoming/<bead>/<fence>; None: no clone or branch."""
        return self._workspaces.take_in(bead, fence)

    def fork(self, main: str, head: str, began: str | None = None) -> str | None:
        """The commit where `head` left main, or `began` where main was rewritten since; None: unrelated."""
        return self.history.fork(main, head, began)

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""
        return self.history.contains(ancestor, descendant)

    def between(self, base: str, tip: str) -> tuple[str, ...] | None:
        """The commits by which main came from `base` to `tip`, oldest first, by first parents; None: it did not."""
        return self.history.between(base, tip)

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

    def read(self, commit: str, path: str, most: int | None = READ) -> bytes | None:
        """A file's content in a commit; None: not there, or not a file. FileTooLarge: more than `most` bytes."""
        entry = self.objects.entry(commit, path)
        if entry is None or entry.mode not in (FILE, EXECUTABLE):
            return None
        size = None if most is None else self.objects.size(entry.id)
        if size is not None and most is not None and size > most:
            raise FileTooLarge(f"{path!r} in {commit[:12]} has {size:,} bytes, and {most:,} are read at most")
        return self.objects.content(entry.id)

    def paths(self, commit: str) -> frozenset[str]:
        """Every path in a commit's tree."""
        found = self._paths.get(commit)
        if found is None:
            ran = self.place.run(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit])
            found = frozenset(ran.records)
            if len(commit) in (40, 64):  # an object's name, which never stands for another one
                while len(self._paths) >= _PATHS_KEPT:
                    del self._paths[next(iter(self._paths))]
                self._paths[commit] = found
        return found

    def squash(self, onto: str, head: str, message: Message, began: str | None = None) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since `fork`. Same input, same id."""
        return self._merger.squash(onto, head, message, began)

    def replay(
        self, onto: str, head: str, message: Message, began: str | None = None
    ) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits since `fork` one by one on `onto`, texts kept, with `message`'s trailers. Same ids."""
        return self._merger.replay(onto, head, message, began)

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of just these steps' trees (texts of the steps' commits kept); the last is returned."""
        return self._merger.fold(onto, steps, message)

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        """A commit on `onto` that takes `commit` back."""
        return self._merger.revert(commit, onto, message)

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""
        refs.update(self.place, {refs.own_ref(name): commit})

    def is_shared(self) -> bool:
        """Whether main is decided at a remote."""
        return self.shared is not None

    def catch_up(self) -> Land:
        """Bring main to where it is decided, when that loses nothing."""
        return self._lands.catch_up()

    def land(self, new: str, old: str) -> Land:
        """Move main from `old` to `new` by compare-and-swap, and a clean checkout of it along with it.

        GitFailed: a part of `new` is gone; it was tested when it was there, and main does not move to what is not.
        """
        if refs.main(self.place) == old and not self._is_connected(new, old):
            raise GitFailed(f"{new[:12]} is not whole any more: something removed its objects")
        land = self._lands.land(new, old)
        if land.landing is Landing.MOVED:
            landed.keep(self.place, self.history, new)
        return land

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
        """(ref, commit) of what was archived, newest first."""
        below = refs.ARCHIVE if bead is None else f"{refs.ARCHIVE}/{bead}"
        return refs.below(self.place, f"{below}/", newest_first=True)

    def pack(self) -> None:
        """Pack refs where many lie in files of their own; every one of them stays, under its name."""
        refs.pack(self.place)

    def kept(self) -> dict[str, str]:
        """Everything that refs/nobrakes/ holds: the name below it -> object."""
        below = f"{refs.OWN}/"
        return {ref.removeprefix(below): commit for ref, commit in refs.below(self.place, below)}

    def merged(self, since: str | None = None) -> dict[str, str]:
        """Bead id to commit on main, by the `Bead:` trailers; without what a later `Reverts-Bead:` took back."""
        return self.history.merged(refs.main(self.place), since)

    def off_main(self, commits: Collection[str]) -> frozenset[str]:
        """Those of the commits that main does not contain, also where they are gone from git."""
        return self.history.outside(refs.main(self.place), commits)

    def made(self, name: str) -> Made | None:
        """The commit that `name` stands for, in git's own grammar of revisions; None: there is none."""
        return self._chain.made(name)

    def line(self, tip: str, since: str | None = None) -> tuple[Made, ...]:
        """`tip` and its first parents, newest first, without `since` and what it was made from."""
        return self._chain.line(tip, since)

    def evidence(self) -> Iterator[Entry]:
        """The commits of the evidence chain, newest first."""
        return self._chain.entries(self._chain.tip())

    def evidence_tip(self) -> str | None:
        """The newest commit of the chain; None: there is none yet."""
        return self._chain.tip()

    def keep_evidence(self, record: Value) -> str:
        """Put the record at the end of the chain, unless the chain has one about the same; the record's commit."""
        return self._chain.keep(record)

    def hold(self, records: Mapping[str, Value]) -> None:
        """Keep records of evidence under these names, each with its candidate as parent."""
        self._chain.hold(records)

    def held(self, name: str) -> Value | None:
        """The record that was kept under this name; None: there is none, or it cannot be read."""
        return self._chain.held(name)

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """Commit these paths (None removes) on main, whatever else the checkout holds; None: nothing differed."""
        lands = self._lands
        if not lands.is_shared():
            return self._committer.commit_files(files, message)
        from .landing.remote import SharedLander

        assert isinstance(lands, SharedLander), "whoever asks a remote can push to it"
        return lands.commit(lambda: self._committer.commit_files(files, message))

    def settle_in(self) -> tuple[str, ...]:
        """Mend the workspaces that point to where the repository was before it was moved; their names."""
        return moved.settle(self.place, self.places)

    def clear_locks(self) -> None:
        """Remove the lock files that a killed nobrakes left, and bring along the checkouts of main that it left behind
        while their locks still keep everybody else out."""
        locks.clear(self.place)
        self._lander.take_up()
        locks.clear_indexes(self.place)

    def behind(self) -> tuple[str, ...]:
        """What a person has to know of each checkout of main that is behind it."""
        return self._lander.behind()
