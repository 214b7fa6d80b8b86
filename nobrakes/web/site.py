"""One server's own facts: where it is reached, by which names, and who is logged in."""

import logging
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..operations.views.health import Looks

if TYPE_CHECKING:
    from ..operations.machine_wide.web_state import WebState

FAILURES = 10
"""Wrong codes a minute that are written in the log."""
LOG = logging.getLogger("nobrakes.web")


def hashed(token: str) -> bytes:
    """As a token is kept; empty: there is none."""
    import hashlib

    return hashlib.sha256(token.encode()).digest() if token else b""


@dataclass(slots=True)
class Site:
    """`names` are the hosts that a browser may say, `host:port` in small letters; `token`: the hash of a script's."""

    state: "WebState"
    port: int
    names: frozenset[str]
    is_secure: bool = False
    token: bytes = b""
    is_lan: bool = False
    failed: deque[float] = field(default_factory=deque)
    looks: Looks = field(default_factory=Looks)

    @property
    def scheme(self) -> str:
        """Of every address."""
        return "https" if self.is_secure else "http"

    @property
    def cookie(self) -> str:
        """The name of the session's cookie: two servers on one host do not overwrite each other's."""
        return f"__Host-nb_{self.port}" if self.is_secure else f"nb_{self.port}"

    def is_flooded(self, said: str) -> bool:
        """Note that a code was wrong, in the log too; True: there were too many within a minute to write this one."""
        now = time.monotonic()
        while self.failed and now - self.failed[0] > 60:
            self.failed.popleft()
        if len(self.failed) >= FAILURES:
            return True
        self.failed.append(now)
        LOG.warning(said)
        return False
