"""`gh api`: GitHub's command line.

Nothing but `gh api` is called, and `gh auth status` to know whether somebody is logged in.
"""

from typing import ClassVar

from ..core.errors import HostUnavailable
from .calls import Calls, first_line

_UNREACHED = ("dial tcp", "no such host", "timeout", "connection refused")


class Gh(Calls):
    """Calls to GitHub, or to a server of its kind: to GH_HOST, which may have a port."""

    program = "gh"
    maker = "GitHub"
    headers: ClassVar = ("Accept: application/vnd.github+json",)

    def check_login(self) -> None:
        """HostUnavailable: nobody is logged in, or the host cannot be reached."""
        said = self.run("auth", "status", "--hostname", self.host)
        if said.code == 0:
            return
        words = f"{said.out}\n{said.error}".lower()
        if any(word in words for word in _UNREACHED):
            raise HostUnavailable(f"{self.host} cannot be reached: {first_line(said.error)}")
        raise self.logged_out()

    def login(self) -> str:
        """As a person types it."""
        return "gh auth login" if self.host == "github.com" else f"gh auth login --hostname {self.host}"
