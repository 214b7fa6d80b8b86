"""The door to the repository."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from ..agents.limits import READ
from ..beads.model import Bead
from ..errors import GitFailed
from ..records import frozen
from ..review.waits import WAITS, Cause

if TYPE_CHECKING:
    from ..review.evidence import Entry, Made, Value

Argv = tuple[str, ...]

NOWHERE = "/dev/shm"
"""The folder that a filter of git starts in, empty to it, and may write."""
EPICS = "epics"
"""Where the branches of epics are, below refs/nobrakes/."""
BASES = "bases"
"""Where the branches of the remote were, when they were heard of last, that features are for beside main, below it."""

ABSENT = "000000"
GITLINK = "160000"
SYMLINK = "120000"


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
    """One file of a difference. `added`, `removed`: lines; None: it is no text. `before`: its path, where renamed."""

    path: str
    how: str  # added, removed, changed or renamed
    added: int | None = None
    removed: int | None = None
    before: str = ""


@frozen
class Patch:
    """What differs between two commits: every file, and the text of it, at most so many bytes as were asked for."""

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
    """A file in conflict: whether the fork, main and the branch have it, and where both changed it; none: no text."""

    path: str
    in_fork: bool
    in_main: bool
    in_branch: bool
    hunks: tuple[Hunk, ...] = ()


class Shows(Protocol):
    """Differences, for people. Nothing is written into the repository."""

    def patch(self, base: str, head: str, most: int) -> Patch:
        """What differs between the trees of two commits, renames found, with at most `most` bytes of text. GitFailed"""
        ...

    def clashes(self, onto: str, head: str, began: str | None = None) -> tuple[Clash, ...]:
        """What is in conflict when `head`, as one change since `fork(onto, head, began)`, is put on `onto`; by path.

        Empty: nothing. GitFailed: they have no commit in common, or one of them is gone.
        """
        ...


@frozen
class Workspace:
    """Where a bead is worked on, and the commands that make it, or make it fit again when it `is_kept`."""

    path: str
    branch: str
    prologue: tuple[Argv, ...] = ()
    is_kept: bool = False
    is_narrow: bool = False  # the last worker left tracked files out of it, as `git sparse-checkout` does


@frozen
class Candidate:
    """A commit that could become main, and its tree."""

    commit: str
    tree: str


@frozen
class Conflict:
    """The change does not apply to main. `files` are repository paths; `unfiltered`: those that no filter takes.

    `failed`: a filter fails, and nobody knows whether the change applies.
    """

    files: tuple[str, ...]
    detail: str = ""
    unfiltered: "tuple[Change, ...]" = ()
    failed: str = ""


@frozen
class BrokenRef:
    """A ref of ours that leads nowhere, and why. `commit`: what it names, `held_in`: the workspace that may still have
    all of it; each empty where there is none."""

    ref: str
    why: str
    commit: str = ""
    held_in: str = ""


class Landing(StrEnum):
    """What came of moving main."""

    MOVED = "moved"  # main is the new commit now
    LOST = "lost"  # main is somewhere else than expected
    BLOCKED = "blocked"  # a checked-out main has edits that would be lost, or the remote does not take it


@frozen
class Land:
    """The end of `Lands.land`; `reason` tells a person what to do when it is BLOCKED.

    `cause`: BLOCKED, and what review.waits knows of that.
    `may_have_landed`: BLOCKED here, and yet what was to land is at the remote, or may be: it cannot be called back.
    """

    landing: Landing
    reason: str = ""
    cause: Cause = Cause.NONE
    may_have_landed: bool = False

    @property
    def wait(self) -> float:
        """Seconds before it is worth asking again."""
        return WAITS[self.cause].again

    @property
    def timeout(self) -> float:
        """Seconds in which it may pass by itself; after them a person has to look."""
        return WAITS[self.cause].passes


@frozen
class Message:
    """A commit's text and people. `when` makes the same input give the same object id."""

    subject: str
    body: str
    author: str
    when: float
    trailers: tuple[tuple[str, str], ...] = ()


def _no_sandbox(argv: Argv) -> Argv:
    raise GitFailed("filters are run in a sandbox, and there is none here")


@frozen
class Rules:
    """The filters that a person lets nobrakes run; those whose clear text agents and checks see; what confines them."""

    run: Collection[str] = ()
    show: Collection[str] = ()
    confine: Callable[[Argv], Argv] = _no_sandbox


@frozen
class Signing:
    """What the settings say: `how` is "auto" (as the person's git does), "always" or "never"; `who` commits."""

    how: str = "never"
    who: str = ""


class Lands(Protocol):
    """How a tested tree reaches main: one implementation for each value of `review.land`."""

    def is_shared(self) -> bool:
        """Whether main is decided at a remote, so that the other two may take long."""
        ...

    def catch_up(self) -> Land:
        """Before a candidate is built: main here is where it is decided (MOVED), or why it cannot be (BLOCKED)."""
        ...

    def obstacle(self, new: str, old: str) -> Land | None:
        """Why a checkout here keeps main from moving from `old` to `new` just now (BLOCKED); None: none does."""
        ...

    def land(self, new: str, old: str) -> Land:
        """Move main from `old` to `new` by compare-and-swap, and clean checkouts of it along with it."""
        ...


class Questions(Protocol):
    """Questions about commits."""

    def main(self) -> str:
        """The commit that main points to; NoMain."""
        ...

    def tree(self, commit: str) -> str:
        """The commit's tree."""
        ...

    def has(self, commit: str) -> bool:
        """Whether the commit is still there."""
        ...

    def is_whole(self, commit: str) -> bool:
        """Whether the commit is there with all that it needs, as one sees who begins to look only now."""
        ...

    def fork(self, main: str, head: str, began: str | None = None) -> str | None:
        """The commit where `head` left main; None: unrelated.

        `began`: the commit of main that the work began on. Where main was rewritten since and does not contain it, it
        is the fork all the same, as long as it is in `head`: what lies between the two is not the work's.
        """
        ...

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""
        ...

    def between(self, base: str, tip: str) -> tuple[str, ...] | None:
        """The commits by which main came from `base` to `tip`, oldest first, by first parents; None: it did not."""
        ...

    def moves(self, commit: str) -> tuple[tuple[str, str, str], ...]:
        """(path, what it was, what it became) of what the commit changed against its first parent; what was and became
        are opaque, and equal where mode and content are."""
        ...

    def changes(self, base: str, head: str) -> "tuple[Change, ...]":
        """What differs between two commits' trees, by path; renames are a removal and an addition."""
        ...

    def barred_at(self, commit: str, globs: Collection[str]) -> "tuple[Change, ...]":
        """What work at these globs would change on the commit, as far as a filter of git bars it until a person allows
        the filter.
        """
        ...

    def content(self, base: str, head: str) -> str:
        """A digest of the difference between two commits' trees: the same on another base, as long as the changed lines
        and those around them are (review.journal).
        """
        ...

    def laid_open(self, base: str, head: str) -> tuple[str, ...]:
        """Why what is between may lay open what git keeps through a filter, a line for each place."""
        ...

    def read(self, commit: str, path: str, most: int | None = READ) -> bytes | None:
        """A file's content in a commit; None: not there, or not a file. FileTooLarge: more than `most` bytes."""
        ...

    def link(self, commit: str, path: str) -> str | None:
        """Where a symbolic link of the commit leads, as it is written; None: not there, or no link."""
        ...

    def paths(self, commit: str) -> frozenset[str]:
        """Every path in a commit's tree."""
        ...

    def named_by_git(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """(paths of the tree that git's own settings and hooks name, folders of the tree in which all is named)."""
        ...

    def merged(self, since: str | None = None) -> dict[str, str]:
        """Bead id to commit on main, by the `Bead:` trailers; without what a later `Reverts-Bead:` took back.

        `since`: without what this commit has.
        """
        ...

    def off_main(self, commits: Collection[str]) -> frozenset[str]:
        """Those of the commits that main does not contain, also where they are gone from git. NoMain."""
        ...

    def made(self, name: str) -> "Made | None":
        """The commit that `name` stands for, in git's own grammar of revisions; None: there is none."""
        ...

    def line(self, tip: str, since: str | None = None) -> "tuple[Made, ...]":
        """`tip` and its first parents, newest first, without `since` and what it was made from."""
        ...


class Work(Protocol):
    """Agents' clones, the checkouts of runs, and what of both is archived."""

    def workspace(self, bead: Bead, start: str, worker: str, files: str | None = None) -> Workspace:
        """The bead's private clone. Where it is missing, `prologue` makes it with its branch at `start`.

        `files`: the commit whose files lie there instead, as changes that are not committed yet.
        """
        ...

    def has_workspace(self, bead: str) -> bool:
        """Whether the bead's clone exists whole."""
        ...

    def touched(self, bead: str) -> int | None:
        """How many files of the bead's clone differ from what it began with, committed or not; None: nobody can say.

        What git ignores is left out. Bounded in time and number; no file is read that looks untouched.
        """
        ...

    def tip(self, bead: Bead) -> str | None:
        """The head of the branch in the bead's clone, copied to our objects, held by no ref; None: no clone or branch.

        Tampered, TooLarge: as for `fetch_work`.
        """
        ...

    def fetch_work(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head from the clone to refs/nobrakes/incoming/<bead>/<fence>; None: no clone or branch.

        Tampered: it is not whole, or not git's; TooLarge: it is more than the settings let in. Nothing is fetched then.
        """
        ...

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        """The commands that make a fresh checkout of `commit` at `path`, with a .git of its own."""
        ...

    def drop_scratch(self, path: str) -> None:
        """Remove a scratch checkout; nothing happens when it is gone."""
        ...

    def scratches(self) -> tuple[str, ...]:
        """The paths of the scratch checkouts that there are."""
        ...

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        """Keep the clone's branch and its uncommitted work under refs/nobrakes/archive/<bead>/…; the refs made."""
        ...

    def retire(self, bead: Bead, fence: int) -> None:
        """Archive, then remove the bead's clone, its incoming refs, and those of its review and its start."""
        ...

    def archived(self, bead: str | None = None) -> list[tuple[str, str]]:
        """(ref, commit) of what was archived, newest first."""
        ...

    def lent(self) -> tuple[str, ...]:
        """The folders of objects that workspaces and checkouts borrow from; the first is the repository's own."""
        ...

    def territory(self) -> tuple[str, ...]:
        """The folders and files that belong to the repository, wherever they lie: nobody else may write there."""
        ...


class Building(Protocol):
    """Commits that are made, and refs that keep them."""

    def squash(self, onto: str, head: str, message: Message, began: str | None = None) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since `fork(onto, head, began)`. Same input, same id."""
        ...

    def replay(
        self, onto: str, head: str, message: Message, began: str | None = None
    ) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits since `fork(onto, head, began)` one by one on `onto`, with `message`'s trailers.

        Their texts are kept. Same input, same ids.
        """
        ...

    def join(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        """A commit on `head` with `onto` as its second parent, and all that both have. Same input, same id."""
        ...

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of just these steps' trees (texts of the steps' commits kept); the last is returned."""
        ...

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        """A commit on `onto` that takes `commit` back."""
        ...

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """Commit these paths (None removes) on main, whatever else the checkout holds; None: nothing differed."""
        ...

    def write_files(self, onto: str, files: Mapping[str, bytes], message: Message, name: str) -> str | None:
        """A commit on `onto` with these contents, kept as refs/nobrakes/<name>; None: nothing differs. Main stays."""
        ...

    def came_through(self, base: str, head: str) -> None:
        """What `head` changes was made by a person's own git, and came through its filters already."""
        ...

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""
        ...

    def broken_refs(self, in_depth: bool = False) -> list[BrokenRef]:
        """The refs of ours that lead nowhere; nothing is changed. `in_depth`: all that their commits need counts."""
        ...

    def restore(self, broken: BrokenRef) -> bool:
        """Whether what the ref names is there again, fetched from a workspace that had all of it."""
        ...

    def kept(self) -> dict[str, str]:
        """Everything that refs/nobrakes/ holds: the name below it -> object."""
        ...

    def pack(self) -> None:
        """Pack refs and objects where many lie in files of their own; every one of them stays."""
        ...


class MovingMain(Lands, Protocol):
    """Moving main, and what it left behind."""

    def settle_in(self) -> tuple[str, ...]:
        """Mend the workspaces that point to where the repository was before it was moved; their names."""
        ...

    def clear_locks(self) -> None:
        """Remove the lock files that a killed nobrakes left on its own refs and on main, and bring along the checkouts
        of main that it left behind, where that loses nothing."""
        ...

    def bring_along(self) -> tuple[str, ...]:
        """Bring along each checkout that came to main while it moved; what a person has to know of each that cannot
        follow. A look where all are at main costs no process. NoMain."""
        ...

    def elsewhere(self) -> str | None:
        """The commit that the repository's own checkout has, empty before the first, where it has not main checked out;
        None: it has, or there is no checkout."""
        ...

    def behind(self) -> tuple[str, ...]:
        """What a person has to know of each checkout of main that is behind it: a plain commit there would take back
        what was merged. NoMain."""
        ...


class Records(Protocol):
    """Evidence of merges."""

    def evidence(self) -> "Iterator[Entry]":
        """The commits of the evidence chain, newest first; it ends where a parent is not there, or is not one."""
        ...

    def evidence_tip(self) -> str | None:
        """The newest commit of the chain; None: there is none yet."""
        ...

    def keep_evidence(self, record: "Value") -> str:
        """Put the record at the end of the chain, unless the chain has one about the same; the record's commit.

        By compare-and-swap: nothing that somebody else put there is lost. The same record on the same end: the same id.
        """
        ...

    def hold(self, records: "Mapping[str, Value]") -> None:
        """Keep records of evidence below refs/nobrakes/ under these names, each with its candidate as parent.

        All of them or none, and on the disk when this returns. The same record: the same object.
        """
        ...

    def held(self, name: str) -> "Value | None":
        """The record that was kept under this name; None: there is none, or it cannot be read."""
        ...


class Git(Questions, Work, Building, MovingMain, Records, Shows, Protocol):
    """The repository, on the daemon's own side. Nothing runs under a configuration that an agent wrote."""

    def with_base_branch(self, branch: str, direct: bool = False) -> "Git":
        """The same repository where main is that branch of the remote that decides about main (empty: the same one), as
        it was heard of last. NoMain, as long as it was never heard of. `direct`: `land` pushes; else only people merge.
        """
        ...

    def with_epic_branch(self, epic: str) -> "Git":
        """The same repository where main is the branch of that epic: EPICS/<epic>. As long as it is not
        there, main itself stands for it; `land` makes it.
        """
        ...
