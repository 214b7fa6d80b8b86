"""Which code host an address belongs to, and which repository there it names."""

import re
from dataclasses import dataclass

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[^:/\s]+):(?!/)(?P<path>[^\s]+)\Z")
_URL = re.compile(r"(?:https?|ssh|git)://(?:[^@/\s]+@)?(?P<host>[^/\s]+)/(?P<path>[^\s]+)\Z")
_DEEPEST = 21
_NAME = re.compile(r"[A-Za-z0-9_.-]+\Z")


@dataclass(frozen=True, slots=True)
class Address:
    """A repository at a code host: `host` may have a port, `owner` may be a group in a group."""

    host: str
    owner: str
    name: str

    def __str__(self) -> str:
        return f"{self.host}/{self.owner}/{self.name}"


def named(text: str) -> Address | None:
    """Of `host/owner/name` or `host/group/group/name`, as settings have it; None: it is something else."""
    host, _, path = text.partition("/")
    return _made(host, path)


def of_remote(url: str) -> Address | None:
    """Of a remote's address; None: it is a path, or no repository of a code host."""
    found = _URL.match(url.strip()) or _SCP.match(url.strip())
    if found is None:
        return None
    host = found["host"]
    if not url.strip().startswith("http"):
        host = host.partition(":")[0]  # the port is that of ssh
    return _made(host, found["path"])


def _made(host: str, path: str) -> Address | None:
    parts = path.strip("/").removesuffix(".git").split("/")
    if not host or not 2 <= len(parts) <= _DEEPEST or not all(_NAME.match(one) and one.strip(".") for one in parts):
        return None
    return Address(host.lower(), "/".join(parts[:-1]), parts[-1])
