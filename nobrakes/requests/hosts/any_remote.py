"""Any remote that git can push to: a request is a branch there, and somebody merges it in their own way.

It knows neither requests, nor checks, nor reviews, and says so; what is merged is read off the base itself.
"""

from collections.abc import Callable, Sequence

from ...errors import ConfigError, HostRefused
from ..model import HostCheck, PullState, ReviewComment, Told
from .calls import Address, Ask, named, parse_remote_url
from .github import Gh, GitHub
from .gitlab import GitLab, Glab
from .port import CodeHost, Wanted


class PlainGit:
    """One remote. `address`: for people, without secrets."""

    supports_pull_requests = False

    def __init__(self, address: str) -> None:
        self.address = address

    def about(self) -> str:
        return f"plain git, as branches at {self.address}, without a code host's checks and reviews"

    def ready(self) -> None: ...

    def find(self, branch: str, mark: str) -> Sequence[Told]:
        return ()

    def open(self, wanted: Wanted) -> Told:
        return Told(0, self.address, PullState.OPEN, title=wanted.title)

    def set_labels_and_reviewers(self, number: int, wanted: Wanted) -> None: ...

    def rewrite(self, number: int, wanted: Wanted) -> None: ...

    def retarget(self, number: int, base: str) -> None: ...

    def auto_merge(self, number: int, head: str) -> None:
        """Raises HostRefused."""
        raise HostRefused("plain git cannot merge automatically")

    def close(self, number: int) -> None: ...

    def look(self, number: int) -> Told:
        return Told(0, self.address, PullState.OPEN)

    def checks(self, commit: str) -> Sequence[HostCheck]:
        return ()

    def log(self, check: HostCheck) -> str:
        return ""

    def remarks(self, number: int) -> Sequence[ReviewComment]:
        return ()


_PROGRAMS = {"github": "gh", "gitlab": "glab"}


def address_of(setting: str, remote: str) -> Address | None:
    """The repository at its host; None: no code host. Raises ConfigError."""
    if not setting:
        return parse_remote_url(remote)
    found = named(setting)
    if found is None:
        why = f"review.code_host_repository is not a repository: {setting[:80]}"
        raise ConfigError(why, 'Write the repository like "github.com/owner/name".')
    return found


def kind_of(kind: str, setting: str, address: Address | None, knows: Callable[[str], bool]) -> str:
    """github, gitlab or git. `knows`: whether glab knows a host, called last."""
    if kind != "auto":
        return kind
    if address is None:
        return "git"
    if address.host in ("github.com", "gitlab.com"):
        return address.host.removesuffix(".com")
    if knows(address.host):
        return "gitlab"
    return "github" if setting else "git"


def code_host(
    kind: str, setting: str, remote: str, shown: str, asking: Callable[[str], Ask], clock: Callable[[], float]
) -> CodeHost:
    """`remote`: the remote's address, `shown`: for people; `asking`: runs programs for a host. ConfigError: gh or glab
    without a repository."""
    address = address_of(setting, remote)
    kind = kind_of(kind, setting, address, lambda host: Glab(host, asking(host), clock).knows())
    if kind == "git":
        return PlainGit(shown)
    if address is None or (kind == "github" and "/" in address.owner):
        raise ConfigError(
            f"nobrakes opens pull requests with {_PROGRAMS[kind]}, but the remote's address names no repository at a "
            f"code host: {shown[:200]}",
            'Set review.code_host_repository in .nobrakes/config.toml, like "github.com/owner/name".',
        )
    if kind == "gitlab":
        return GitLab(Glab(address.host, asking(address.host), clock), address)
    return GitHub(Gh(address.host, asking(address.host), clock), address)
