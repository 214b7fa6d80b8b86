"""Any remote that git can push to: a request is a branch there, and somebody merges it in their own way.

It knows neither requests, nor checks, nor reviews, and says so; what is merged is read off the base itself.
"""

from collections.abc import Sequence

from ..core.errors import HostRefused
from ..core.pulls.pull import HostCheck, PullState, Remark, Told
from ..ports.codehosts import Wanted


class PlainGit:
    """One remote. `address`: what people are told, without what is secret in it."""

    tells = False

    def __init__(self, address: str) -> None:
        self.address = address

    def about(self) -> str:
        """What it can tell, and what not."""
        return f"git alone, as branches at {self.address}: it tells of no checks and no reviews"

    def ready(self) -> None:
        """Nobody logs in."""

    def find(self, branch: str, mark: str) -> Sequence[Told]:
        """It knows none."""
        return ()

    def open(self, wanted: Wanted) -> Told:
        """The branch is the request."""
        return Told(0, self.address, PullState.OPEN, title=wanted.title)

    def dress(self, number: int, wanted: Wanted) -> None:
        """There is nothing to dress."""

    def rewrite(self, number: int, wanted: Wanted) -> None:
        """There is no text."""

    def retarget(self, number: int, base: str) -> None:
        """Nobody there knows what a branch is for."""

    def auto_merge(self, number: int, head: str) -> None:
        """HostRefused: nobody there merges by itself."""
        raise HostRefused("git alone merges nothing by itself")

    def close(self, number: int) -> None:
        """The branch stays: it is somebody's to look at."""

    def look(self, number: int) -> Told:
        """The branch stands; whether it is merged is asked of its base."""
        return Told(0, self.address, PullState.OPEN)

    def checks(self, commit: str) -> Sequence[HostCheck]:
        """Nobody tells."""
        return ()

    def log(self, check: HostCheck) -> str:
        """Nobody tells."""
        return ""

    def remarks(self, number: int) -> Sequence[Remark]:
        """Nobody tells."""
        return ()
