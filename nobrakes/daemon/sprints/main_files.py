"""A project's documents as main has them; live state is the store's, and what lies in a checkout is nobody's word."""

from collections.abc import Mapping
from functools import cached_property

from ...core.errors import FileTooLarge
from ...core.projects import documents
from ...core.projects.terms import COPIES
from ...core.projects.whats_next import Finding, whats_next
from ...ports.git import Git

DOCUMENTS = (*COPIES, "task.md", "DECISIONS.md", "DEVIATIONS.md", "WISHLIST.md", documents.ROADMAP)
MOST_SPRINTS, MOST_COMMITS = 500, 1000


class MainFiles:
    """The documents of one commit."""

    def __init__(self, git: Git, commit: str) -> None:
        self.git, self.commit = git, commit

    @cached_property
    def paths(self) -> frozenset[str]:
        """Every path in it."""
        return self.git.paths(self.commit)

    @cached_property
    def _folders(self) -> set[str]:
        return {path[: path.rfind("/")] for path in self.paths if "/" in path}

    def text(self, path: str) -> str:
        """A document; empty: it is not there, or is too large for one."""
        try:
            found = self.git.read(self.commit, path)
        except FileTooLarge:
            return ""
        return (found or b"").decode("utf-8", "replace")

    def documents(self) -> dict[str, str]:
        """All that there are."""
        of_sprints = (path for path in self.paths if path.startswith(f"{documents.SPRINTS}/"))
        wanted = [path for path in of_sprints if path.endswith(("/plan.md", "/review.md"))][: 2 * MOST_SPRINTS]
        texts = ((path, self.text(path)) for path in (*DOCUMENTS, *sorted(wanted)))
        return {path: text for path, text in texts if text}

    def exists(self, path: str) -> bool:
        """Whether there is such a file or folder."""
        plain = path.removeprefix("./").rstrip("/")
        return plain in self.paths or any(one == plain or one.startswith(plain + "/") for one in self._folders)

    def findings(self, texts: Mapping[str, str]) -> list[Finding]:
        """What does not fit together among these documents."""
        subjects = [made.subject for made in self.git.line(self.commit)[:MOST_COMMITS]]
        return whats_next(texts, subjects, lambda path: path in texts or self.exists(path))
