"""The contract that a commit itself has: its `.nobrakes/config.toml`, read from git."""

from ...config.settings import Config, parse
from ...core.checks.contract import Check
from ...core.errors import ConfigError, FileTooLarge
from ...core.policy.ownership import CONTRACT
from ...ports import Git

LARGEST = 200_000
"""Bytes of such a file."""


class CommittedChecks:
    """The checks of commits, each read once."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._checks: dict[str, tuple[Check, ...]] = {}

    def of(self, commit: str) -> tuple[Check, ...]:
        """The checks of the commit's own config.toml, which was found to be right."""
        if commit not in self._checks:
            if len(self._checks) >= 32:
                self._checks.clear()
            self._checks[commit] = parse(text(self._git, commit) or "", CONTRACT).contract()
        return self._checks[commit]


def config(git: Git, commit: str) -> Config:
    """The settings that the commit has; ConfigError."""
    found = text(git, commit)
    return Config() if found is None else parse(found, f"{CONTRACT} of {commit[:12]}")


def is_same(git: Git, commit: str, other: str) -> bool:
    """Whether two commits have the same bytes of it."""
    return git.read(commit, CONTRACT, LARGEST) == git.read(other, CONTRACT, LARGEST)


def text(git: Git, commit: str) -> str | None:
    """The file as the commit has it; None: it has none. ConfigError: it is too large, or no text."""
    try:
        content = git.read(commit, CONTRACT, LARGEST)
        return None if content is None else content.decode()
    except (FileTooLarge, UnicodeDecodeError):
        raise ConfigError(f"{CONTRACT}: it is too large, or no text") from None
