"""The door to the repository."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from ..agents.limits import READ
from ..beads.model import Bead
from ..errors import GitFailed
from ..records import frozen

if TYPE_CHECKING:
    from ..review.evidence import Entry, Value
    from ..review.waits import Land

Argv = tuple[str, ...]

NOWHERE = "/dev/shm"
"""The folder in which a git filter starts: empty and writable."""
EPICS = "epics"
"""Branches of epics, below refs/nobrakes/."""
BASES = "bases"
"""The last known remote branches that features use beside main, below refs/nobrakes/."""

ABSENT = "000000"
GITLINK = "160000"
SYMLINK = "120000"


@frozen
class Made:
    """A commit in the repository; `trailers` in order. `at`: the committer's time, 0: not read or unreadable."""

    commit: str
    tree: str
    parents: tuple[str, ...]
    subject: str
    author: str
    trailers: tuple[tuple[str, str], ...] = ()
    at: float = field(default=0.0, compare=False)

    def trailer(self, key: str) -> str:
        """The last one with this key: earlier ones may be from the commit's author. Empty: none."""
        return next((value for name, value in reversed(self.trailers) if name.lower() == key.lower()), "")


@frozen
class Change:
    """One path that differs. Modes are git's octal strings, "000000" where the file is absent."""

    path: str
    before: str
    after: str
    link: str | None = None  # where a new symbolic link leads
    sections: tuple[str, ...] = ()  # the protected sections of a shared file that differ
    dependencies: bool = False  # its lists of dependencies differ
    hooks: tuple[str, ...] = ()  # what bends the runner and differs, in words (checks.policy.runner_hooks)
    hidden: tuple[str, ...] = ()  # paths that git ignores by it, and did not before
    unfiltered: str = ""  # why what it brings cannot come through the filter that git keeps the path by
    barred: tuple[str, ...] = ()  # where that is a person's to allow: the filter's name, then the commands to type


@frozen
class ChangedLines:
    """One file of a difference. `added`, `removed`: lines; None: not text. `before`: its path before a rename."""

    path: str
    how: str  # added, removed, changed or renamed
    added: int | None = None
    removed: int | None = None
    before: str = ""


@frozen
class Patch:
    """The difference between two commits: every file, and its text up to the given number of bytes."""

    files: tuple[ChangedLines, ...]
    text: str
    is_cut: bool = False


@frozen
class Hunk:
    """Lines that both sides changed. `line`: where they begin in the merged file, counted from 1."""

    line: int
    main: tuple[str, ...]
    branch: tuple[str, ...]


@frozen
class Clash:
    """A file in conflict: whether fork, main and branch have it, and where both changed it. No hunks: not text."""

    path: str
    in_fork: bool
    in_main: bool
    in_branch: bool
    hunks: tuple[Hunk, ...] = ()


class Shows(Protocol):
    """Differences, for people. Nothing is written into the repository."""

    def patch(self, base: str, head: str, most: int) -> Patch:
        """Renames are found; at most `most` bytes of text. Raises GitFailed."""

    def difference(self, base: str, head: str, paths: Sequence[str], most: int) -> tuple[str, bool]:
        """The difference in these files, all of them taken for text, by path and without renames: whole lines of at
        most `most` bytes, and whether there are more. Raises GitFailed."""

    def clashes(self, onto: str, head: str, began: str | None = None) -> tuple[Clash, ...]:
        """The conflicts, by path, of `head` as one change since `fork(onto, head, began)` on `onto`. Raises GitFailed:
        no common commit, or one is gone."""


@frozen
class Workspace:
    """Where a bead is worked on, and the commands that make it, or repair it when it `is_kept`."""

    path: str
    branch: str
    prologue: tuple[Argv, ...] = ()
    is_kept: bool = False
    is_narrow: bool = False  # the last worker left tracked files out of it, as `git sparse-checkout` does
    commits: tuple[str, ...] = ()  # of the repository, on which it stands


@frozen
class Candidate:
    """A commit that could become main, and its tree."""

    commit: str
    tree: str


@frozen
class Conflict:
    """The change does not apply to main. `files`: repository paths; `unfiltered`: those that no filter accepts.
    `failed`: a filter failed, so the result is unknown."""

    files: tuple[str, ...]
    detail: str = ""
    unfiltered: "tuple[Change, ...]" = ()
    failed: str = ""


@frozen
class BrokenRef:
    """A ref of ours that leads nowhere, and why. `commit`: its target; `held_in`: a workspace with it. Empty: none."""

    ref: str
    why: str
    commit: str = ""
    held_in: str = ""


@frozen
class Message:
    """A commit's text and people. `when` makes the same input give the same object id."""

    subject: str
    body: str
    author: str
    when: float
    trailers: tuple[tuple[str, str], ...] = ()


def _no_sandbox(argv: Argv) -> Argv:
    raise GitFailed("git filters run only in a sandbox, which does not work on this machine")


@frozen
class HandedBack:
    """What a relay session's clone hands back: its commit, and the repository's branch; empty: nothing."""

    head: str
    branch: str


def relay_branch(session: int) -> str:
    return f"relay/{session}"


@frozen
class Rules:
    """The filters that nobrakes may run; those whose clear text agents and checks see; their confinement."""

    run: Collection[str] = ()
    show: Collection[str] = ()
    confine: Callable[[Argv], Argv] = _no_sandbox


@frozen
class Signing:
    """`how` is "auto" (as the person's git does), "always" or "never"; `who` commits."""

    how: str = "never"
    who: str = ""


class Lands(Protocol):
    """How a tested tree reaches main: one implementation for each value of `review.land`."""

    def is_shared(self) -> bool:
        """Whether a remote decides main, so that the other methods may be slow."""

    def catch_up(self) -> "Land":
        """Before a candidate is built: MOVED when main here is up to date, else BLOCKED."""

    def obstacle(self, new: str, old: str) -> "Land | None":
        """Why a checkout here keeps main from moving from `old` to `new` now (BLOCKED)."""

    def land(self, new: str, old: str) -> "Land":
        """Move main from `old` to `new` by compare-and-swap, and clean checkouts of it along with it."""


class Questions(Protocol):
    """Questions about commits."""

    def main(self) -> str:
        """Raises NoMain."""

    def tree(self, commit: str) -> str: ...

    def has(self, commit: str) -> bool: ...

    def is_whole(self, commit: str) -> bool:
        """Whether the commit and everything that it needs exist, as a new process sees it."""

    def fork(self, main: str, head: str, began: str | None = None) -> str | None:
        """The commit where `head` left main; None: unrelated. `began`: the commit of main that the work began on; it
        stays the fork if main was rewritten without it but `head` contains it."""

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""

    def between(self, base: str, tip: str) -> tuple[str, ...] | None:
        """The first-parent commits from `base` to `tip`, oldest first; None: no such line."""

    def moves(self, commit: str) -> tuple[tuple[str, str, str], ...]:
        """(path, before, after) of the changes against the first parent; opaque, equal for equal mode and content."""

    def changes(self, base: str, head: str) -> "tuple[Change, ...]":
        """Differences by path; a rename is a removal and an addition."""

    def barred_at(self, commit: str, globs: Collection[str]) -> "tuple[Change, ...]":
        """Changes of work at these globs that a git filter bars until a person allows it."""

    def content(self, base: str, head: str) -> str:
        """A digest of the difference, the same on another base while changed lines and context are (review.journal)."""

    def laid_open(self, base: str, head: str) -> tuple[str, ...]:
        """One line for each place where the work may expose filtered content."""

    def read(self, commit: str, path: str, most: int | None = READ) -> bytes | None:
        """None: missing, or not a file. Raises FileTooLarge."""

    def link(self, commit: str, path: str) -> str | None:
        """A symbolic link's target as written; None: missing, or not a link."""

    def paths(self, commit: str) -> frozenset[str]: ...

    def named_by_git(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """(paths of the tree that git's settings and hooks name, folders of the tree that count with all in them)."""

    def merged(self, since: str | None = None) -> dict[str, str]:
        """Bead id to its commit on main, by trailers, unless reverted later. `since`: without its ancestors."""

    def off_main(self, commits: Collection[str]) -> frozenset[str]:
        """The commits that main does not contain or git has lost. Raises NoMain."""

    def made(self, name: str) -> Made | None: ...

    def line(self, tip: str, since: str | None = None) -> tuple[Made, ...]:
        """`tip` and its first parents, newest first, without `since` and its ancestors."""


class Work(Protocol):
    """Agents' clones, the checkouts of runs, and what of both is archived."""

    def workspace(self, bead: Bead, start: str, worker: str, files: str | None = None) -> Workspace:
        """The bead's private clone; if missing, `prologue` makes it with its branch at `start`. `files`: the commit
        whose files lie there as uncommitted changes."""

    def has_workspace(self, bead: str) -> bool:
        """Whether the bead's clone exists completely."""

    def touched(self, bead: str) -> int | None:
        """How many files of the clone changed, less ignored ones; None: unknown. Bounded in time and number."""

    def tip(self, bead: Bead) -> str | None:
        """The head of the branch in the bead's clone, copied to our objects but held by no ref; None: no clone or
        branch. Raises Tampered, TooLarge as `fetch_work`."""

    def fetch_work(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head from the clone to refs/nobrakes/incoming/<bead>/<fence>; None: no clone or branch.
        Nothing is fetched on Tampered (incomplete, or not git's) or TooLarge."""

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        """The commands that make a fresh checkout of `commit` at `path`, with its own .git."""

    def drop_scratch(self, path: str) -> None: ...

    def scratches(self) -> tuple[str, ...]: ...

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        """Archive the clone's branch and uncommitted work under refs/nobrakes/archive/<bead>/…; returns the refs."""

    def retire(self, bead: Bead, fence: int) -> None:
        """Archive, then remove the bead's clone and its incoming, review and start refs."""

    def archived(self, bead: str | None = None) -> list[tuple[str, str]]: ...

    def lent(self) -> tuple[str, ...]:
        """The object folders that workspaces and checkouts borrow from; the repository's own is first."""

    def territory(self) -> tuple[str, ...]:
        """All folders and files of the repository: others must not write there."""


class Building(Protocol):
    """Commits that are made, and refs that keep them."""

    def squash(self, onto: str, head: str, message: Message, began: str | None = None) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since `fork(onto, head, began)`. Same input, same id."""

    def replay(
        self, onto: str, head: str, message: Message, began: str | None = None
    ) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits since `fork(onto, head, began)` one by one on `onto`, with their texts and `message`'s
        trailers. Same input, same ids."""

    def join(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        """A merge commit on `head` with `onto` as its second parent. Same input, same id."""

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of these steps' trees and texts; returns the last."""

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict: ...

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """Commit these paths (None removes) on main, whatever else the checkout holds; None: nothing differed."""

    def write_files(self, onto: str, files: Mapping[str, bytes], message: Message, name: str) -> str | None:
        """A commit on `onto` with these contents, stored as refs/nobrakes/<name>; None: nothing differs. Main stays."""

    def came_through(self, base: str, head: str) -> None:
        """Record that a person's own git made `head`'s changes, so they came through its filters."""

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""

    def broken_refs(self, in_depth: bool = False) -> list[BrokenRef]:
        """Our refs that lead nowhere; nothing is changed. `in_depth`: check everything that their commits need."""

    def restore(self, broken: BrokenRef) -> bool:
        """Fetch the ref's target from a workspace that has all of it; whether that worked."""

    def kept(self) -> dict[str, str]:
        """Every ref below refs/nobrakes/: name -> object."""

    def pack(self) -> None:
        """Pack refs and objects when many are loose; none is lost."""


class MovingMain(Lands, Protocol):
    """Moving main, and what it left behind."""

    def settle_in(self) -> tuple[str, ...]:
        """Repair workspaces that point to the repository's former place; returns their names."""

    def clear_locks(self) -> None:
        """Remove lock files of a killed nobrakes, and bring along checkouts of main that it left behind, where that
        loses nothing."""

    def bring_along(self) -> tuple[str, ...]:
        """Bring along each checkout that came to main while it moved; returns messages about those that cannot follow.
        Without work it costs no process. Raises NoMain."""

    def elsewhere(self) -> str | None:
        """The commit of the repository's own checkout if it is not on main, empty before the first commit; None: it is
        on main, or there is no checkout."""

    def behind(self) -> tuple[str, ...]:
        """A message about each checkout of main that is behind: a commit there would revert merges. Raises NoMain."""


class Records(Protocol):
    """Evidence of merges."""

    def evidence(self) -> "Iterator[Entry]":
        """The evidence chain, newest first; it ends at a missing or foreign parent."""

    def evidence_tip(self) -> str | None: ...

    def keep_evidence(self, record: "Value") -> str:
        """Append the record unless the chain has one about the same; returns its commit. Compare-and-swap: no other
        record is lost. The same record on the same end: the same id."""

    def hold(self, records: "Mapping[str, Value]") -> None:
        """Store evidence records below refs/nobrakes/ under these names, each with its candidate as parent. All or
        none, and on disk on return. The same record: the same object."""

    def held(self, name: str) -> "Value | None":
        """None: no such record, or unreadable."""


class Git(Questions, Work, Building, MovingMain, Records, Shows, Protocol):
    """The repository, on the daemon's own side. Nothing runs under a configuration that an agent wrote."""

    def with_base_branch(self, branch: str, direct: bool = False) -> "Git":
        """The same repository where main is that remote branch (empty: the same one), as last fetched. NoMain until it
        was fetched. `direct`: `land` pushes; else only people merge."""

    def with_epic_branch(self, epic: str) -> "Git":
        """The same repository where main is the branch EPICS/<epic>. Until `land` makes it, main itself stands for
        it."""
