"""Which code host a repository's pull requests are at, by its settings and its remote's address."""

from collections.abc import Callable

from ..core.errors import ConfigError
from ..ports.codehosts import CodeHost
from .address import Address, named, of_remote
from .gh import Ask, Gh
from .github import GitHub
from .plain import PlainGit


def address_of(setting: str, remote: str) -> Address | None:
    """The repository at its host; None: the remote is no repository of a code host. ConfigError."""
    if not setting:
        return of_remote(remote)
    found = named(setting)
    if found is None:
        why = f"review.code_host_repository is no repository: {setting[:80]}"
        raise ConfigError(why, 'It reads like "github.com/owner/name".')
    return found


def is_github(kind: str, setting: str, address: Address | None) -> bool:
    """Whether gh is what requests are opened with."""
    known = address is not None and (address.host == "github.com" or bool(setting))
    return kind == "github" or (kind == "auto" and known)


def code_host(
    kind: str, setting: str, remote: str, shown: str, asking: Callable[[str], Ask], clock: Callable[[], float]
) -> CodeHost:
    """The host. `remote`: the remote's address, `shown`: the same for people; `asking`: what asks programs about a
    host of this name. ConfigError: gh, and no repository.
    """
    address = address_of(setting, remote)
    if not is_github(kind, setting, address):
        return PlainGit(shown)
    if address is None:
        raise ConfigError(
            f"pull requests are opened with gh, and the remote's address names no repository at a host: {shown[:200]}",
            'Set review.code_host_repository in .nobrakes/config.toml, like "github.com/owner/name".',
        )
    return GitHub(Gh(address.host, asking(address.host), clock), address)
