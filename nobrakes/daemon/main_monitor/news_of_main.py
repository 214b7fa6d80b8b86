"""What others do to a main that a remote decides about, while nobody else asks for it: nobody may start on it, or its
requests wait for people.
"""

from ...core.beads.bead import Role
from ...core.board import Board
from ...core.checks.trial import Starts
from ..ports import Ports
from ..review.remote_branches import RemoteBranches

MAIN = ("",)


class NewsOfMain:
    """Asks for it as often as requests are looked at."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self.remote = RemoteBranches(ports)
        self._wanted: tuple[str, ...] = ()

    def turn(self, board: Board, is_red: bool) -> bool:
        """Whether the remote has answered. `is_red`: main is, and the queue is frozen."""
        is_kept_back = is_red or board.limits.starts in (Starts.SCAFFOLDING, Starts.REPAIRS)
        waits = self.ports.pulls is not None and any(one.role is Role.REVIEWER for one in board.attempts)
        self._wanted = MAIN if (is_kept_back or waits) and self.ports.git.is_shared() else ()
        heard = self.remote.turn(self._wanted, board.now)
        for branch, land in heard.items():
            self.remote.again(branch, board.now + (land.wait or self.ports.config().review.poll_seconds))
        return bool(heard)

    def wake_at(self) -> float | None:
        """When it asks; None: it does not."""
        return self.remote.wake_at(self._wanted)
