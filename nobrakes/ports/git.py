"""The door to the repository."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from ..core.bead import Bead
from ..core.boundaries import Change

Argv = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Workspace:
    """Where a bead is worked on, and the commands that make it, or make it fit again when it `is_kept`."""

    path: str
    branch: str
    prologue: tuple[Argv, ...] = ()
    is_kept: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """A commit that could become main, and its tree."""

    commit: str
    tree: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """The change does not apply to main. `files` are repository paths."""

    files: tuple[str, ...]
    detail: str = ""


class Landing(StrEnum):
    """What came of moving main."""

    MOVED = "moved"  # main is the new commit now
    LOST = "lost"  # main is somewhere else than expected
    BLOCKED = "blocked"  # a checked-out main has edits that would be lost


@dataclass(frozen=True, slots=True)
class Land:
    """The end of `Git.land`; `reason` tells a person what to do when it is BLOCKED."""

    landing: Landing
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A commit's text and people. `when` makes the same input give the same object id."""

    subject: str
    body: str
    author: str
    when: float
    trailers: tuple[tuple[str, str], ...] = ()


class Git(Protocol):
    """The repository, on the daemon's own side. Nothing runs under a configuration that an agent wrote."""

    def main(self) -> str:
        """The commit that main points to; NoMain."""
        ...

    def tree(self, commit: str) -> str:
        """The commit's tree."""
        ...

    def workspace(self, bead: Bead, start: str, worker: str) -> Workspace:
        """The bead's private clone. Where it is missing, `prologue` makes it with its branch at `start`."""
        ...

    def has_workspace(self, bead: str) -> bool:
        """Whether the bead's clone exists whole."""
        ...

    def take_in(self, bead: Bead, fence: int) -> str | None:
        """Fetch the branch's head from the clone to refs/nobrakes/incoming/<bead>/<fence>; None: no clone or branch."""
        ...

    def fork(self, main: str, head: str) -> str | None:
        """The commit where `head` left main; None: unrelated."""
        ...

    def contains(self, ancestor: str, descendant: str) -> bool:
        """Whether `ancestor` is `descendant` or one of its ancestors."""
        ...

    def changes(self, base: str, head: str) -> tuple[Change, ...]:
        """What differs between two commits' trees, by path; renames are a removal and an addition."""
        ...

    def read(self, commit: str, path: str) -> bytes | None:
        """A file's content in a commit; None: not there or not a file."""
        ...

    def squash(self, onto: str, head: str, message: Message) -> Candidate | Conflict:
        """One commit on `onto` with everything `head` added since they parted. Same input, same id."""
        ...

    def replay(self, onto: str, head: str, message: Message) -> tuple[Candidate, ...] | Conflict:
        """`head`'s commits one by one on `onto`, texts kept, with `message`'s trailers. Same input, same ids."""
        ...

    def fold(self, onto: str, steps: Sequence[Candidate], message: Message) -> Candidate:
        """A chain on `onto` of just these steps' trees (texts of the steps' commits kept); the last is returned."""
        ...

    def revert(self, commit: str, onto: str, message: Message) -> Candidate | Conflict:
        """A commit on `onto` that takes `commit` back."""
        ...

    def pin(self, name: str, commit: str | None) -> None:
        """Keep `commit` alive under refs/nobrakes/<name>; None removes the ref."""
        ...

    def land(self, new: str, old: str) -> Land:
        """Move main from `old` to `new` by compare-and-swap, and a clean checkout of it along with it."""
        ...

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        """The commands that make a fresh checkout of `commit` at `path`, with a .git of its own."""
        ...

    def drop_scratch(self, path: str) -> None:
        """Remove a scratch checkout; nothing happens when it is gone."""
        ...

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        """Keep the clone's branch and its uncommitted work under refs/nobrakes/archive/<bead>/…; the refs made."""
        ...

    def retire(self, bead: Bead, fence: int) -> None:
        """Archive, then remove the bead's clone and its incoming refs."""
        ...

    def archived(self, bead: str | None = None) -> list[tuple[str, str]]:
        """(ref, commit) of what was archived, newest first."""
        ...

    def merged(self) -> dict[str, str]:
        """Bead id to commit on main, by the `Bead:` trailers."""
        ...

    def commit_files(self, files: Mapping[str, bytes | None], message: Message) -> str | None:
        """Commit these paths (None removes) on main, whatever else the checkout holds; None: nothing differed."""
        ...

    def clear_locks(self) -> None:
        """Remove the lock files that a killed nobrakes left on its own refs and on main."""
        ...
