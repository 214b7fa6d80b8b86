"""Which files of a commit are tests, where no setting says it: read off its paths and a few texts."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ..core.checks.test_layout import Layout


class Trees(Protocol):
    """What holds the commits (ports.Git)."""

    def paths(self, commit: str) -> frozenset[str]:
        """Every path in the commit's tree."""
        ...

    def read(self, commit: str, path: str, most: int | None = ...) -> bytes | None:
        """A file's content; FileTooLarge."""
        ...

    def link(self, commit: str, path: str) -> str | None:
        """Where a symbolic link leads, as it is written; None: it is none."""
        ...

    def named_by_git(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """(paths that git's own settings and hooks name, folders in which all is named)."""
        ...


def layout_of(trees: Trees, commit: str) -> "Layout":
    """Which files of the commit are tests, by its paths and the texts that tell."""
    from ..core.checks.test_layout import layout, unclear

    paths = trees.paths(commit)
    texts = ((path, text_of(trees, commit, path)) for path in unclear(paths))
    return layout(paths, frozenset((path, text) for path, text in texts if text))


def text_of(trees: Trees, commit: str, path: str) -> str:
    """The text by which a file is told; empty: there is none of a size that anybody would write."""
    from ..core.checks.test_layout import LARGEST
    from ..core.errors import FileTooLarge

    try:
        return (trees.read(commit, path, LARGEST) or b"").decode("utf-8", "replace")
    except FileTooLarge:
        return ""
