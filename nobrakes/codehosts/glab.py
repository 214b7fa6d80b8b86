"""`glab api`: GitLab's command line.

1. Nothing but `glab api` is called, and `glab auth status` to know whether it knows a host.
2. Whether somebody is logged in is asked of the host itself: `auth status` does not believe a login that comes from the
   environment, and without any `glab api` goes out as nobody.
"""

from typing import ClassVar

from .calls import Calls

_UNKNOWN = ("has not been authenticated", "no gitlab instances")


class Glab(Calls):
    """Calls to GitLab, or to a server of its kind: to GITLAB_HOST, which may have a port."""

    program = "glab"
    maker = "GitLab"
    body_headers: ClassVar = ("Content-Type: application/json",)

    def check_login(self) -> None:
        """HostUnavailable: nobody is logged in, or the host cannot be reached."""
        self.read("user")

    def login(self) -> str:
        """As a person types it."""
        return f"glab auth login --hostname {self.host}"

    def knows(self) -> bool:
        """Whether somebody ever logged in to the host with it.

        An answer that does not come in time is no no: of a host that it does not know it says so without asking
        anybody. Whether that one answers by now is asked before each exchange.
        """
        said = self.ask([self.program, "auth", "status", "--hostname", self.host], b"")
        words = f"{said.out}\n{said.error}".lower()
        return said.code == 0 or (said.code != 127 and not any(word in words for word in _UNKNOWN))
