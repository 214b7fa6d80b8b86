"""What people are shown of commits: a difference, and what two sides of a merge did to the same lines."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """One file of a difference. `added`, `removed`: lines; None: it is no text. `before`: its path, where renamed."""

    path: str
    how: str  # added, removed, changed or renamed
    added: int | None = None
    removed: int | None = None
    before: str = ""


@dataclass(frozen=True, slots=True)
class Patch:
    """What differs between two commits: every file, and the text of it, at most so many bytes as were asked for."""

    files: tuple[ChangedLines, ...]
    text: str
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Hunk:
    """Lines that both sides changed. `line`: where they begin in the merged file, counted from 1."""

    line: int
    main: tuple[str, ...]
    branch: tuple[str, ...]


@dataclass(frozen=True, slots=True)
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
