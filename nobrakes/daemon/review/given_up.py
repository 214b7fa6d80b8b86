"""Requests whose bead a person gave up: they are closed at the code host, and what was pushed is kept.

1. It is tried once in the life of a daemon, beside the loop. What is left, doctor names.
2. One that people merged meanwhile stays as it is.
"""

from dataclasses import replace

from ...core.beads.bead import Status
from ...core.errors import HostRefused, HostUnavailable
from ...core.pulls.pull import PullRequest, PullState
from ...ports.codehosts import CodeHost
from ..ports import Ports
from ..pulls import branches
from .beside import Beside

_NOBODY = 0
"""No review has this number."""


class GivenUp:
    """Closes them."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._beside: Beside[PullRequest] = Beside(ports.background)
        self._tried: set[tuple[str, int]] = set()

    def turn(self, host: CodeHost) -> None:
        """Begin what is to be done, and write down what came of it."""
        store = self.ports.store
        for _, closed in self._beside.settle(()):
            now = store.pull(closed.bead)
            if closed.state is PullState.CLOSED and now is not None and now.number == closed.number:
                store.save_pull(closed)
        for pull in store.pulls():
            key = pull.bead, pull.number
            if not pull.number or key in self._tried or store.bead(pull.bead).status is not Status.CANCELLED:
                continue
            self._tried.add(key)
            branches.archive(self.ports, pull.bead)
            self._begin(host, pull)

    def _begin(self, host: CodeHost, pull: PullRequest) -> None:
        def close() -> PullRequest:
            try:
                host.ready()
                host.close(pull.number)
                state = host.look(pull.number).state
            except (HostUnavailable, HostRefused):
                return pull
            return replace(pull, state=state, says="its bead was given up") if state is PullState.CLOSED else pull

        self._beside.begin(_NOBODY, f"pull close {pull.bead}", close)
