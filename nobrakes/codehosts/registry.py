"""Which code host a repository's pull requests are at, by its settings and its remote's address."""

from collections.abc import Callable

from ..core.errors import ConfigError
from ..ports.codehosts import CodeHost
from .address import Address, named, of_remote
from .calls import Ask
from .gh import Gh
from .github import GitHub
from .gitlab import GitLab
from .glab import Glab
from .plain import PlainGit

_PROGRAMS = {"github": "gh", "gitlab": "glab"}


def address_of(setting: str, remote: str) -> Address | None:
    """The repository at its host; None: the remote is no repository of a code host. ConfigError."""
    if not setting:
        return of_remote(remote)
    found = named(setting)
    if found is None:
        why = f"review.code_host_repository is no repository: {setting[:80]}"
        raise ConfigError(why, 'It reads like "github.com/owner/name".')
    return found


def kind_of(kind: str, setting: str, address: Address | None, knows: Callable[[str], bool]) -> str:
    """github, gitlab or git. `knows`: whether glab knows a host, asked only where nothing else tells."""
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
    """The host. `remote`: the remote's address, `shown`: the same for people; `asking`: what asks programs about a
    host of this name. ConfigError: gh or glab, and no repository.
    """
    address = address_of(setting, remote)
    kind = kind_of(kind, setting, address, lambda host: Glab(host, asking(host), clock).knows())
    if kind == "git":
        return PlainGit(shown)
    if address is None or (kind == "github" and "/" in address.owner):
        raise ConfigError(
            f"pull requests are opened with {_PROGRAMS[kind]}, and the remote's address names no repository at a host: "
            f"{shown[:200]}",
            'Set review.code_host_repository in .nobrakes/config.toml, like "github.com/owner/name".',
        )
    if kind == "gitlab":
        return GitLab(Glab(address.host, asking(address.host), clock), address)
    return GitHub(Gh(address.host, asking(address.host), clock), address)
