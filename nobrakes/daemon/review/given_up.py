"""Requests whose bead a person gave up, or that is done without them: they are closed at the code host, and what was
pushed is kept.

1. It is tried once in the life of a daemon, beside the loop. What is left, doctor names.
2. One that people merged meanwhile stays as it is; where its bead was cancelled, a person is told. A host that tells
   nothing is not asked: what was pushed there stays.
3. One that was opened, and that nobody had heard of before the bead was over, is looked for as its review would.
"""

from collections.abc import Collection
from dataclasses import replace

from ...core.beads.bead import CLOSED, Status
from ...core.errors import HostRefused, HostUnavailable
from ...core.pulls.pull import PullRequest, PullState
from ...core.pulls.text import mark
from ...ports.codehosts import CodeHost
from ...ports.people import Notice
from ..ports import Ports
from ..pulls import branches
from .beside import NOBODY, Beside


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
            is_it = now is not None and now.number in (0, closed.number) and now.head == closed.head
            if closed.state in (PullState.CLOSED, PullState.MERGED) and is_it:
                store.save_pull(closed)
                self._tell(closed)
        for pull in store.pulls():
            key = pull.bead, pull.number
            if key in self._tried:
                continue
            status = store.bead(pull.bead).status
            if status not in CLOSED:
                continue
            self._tried.add(key)
            branches.archive(self.ports, pull.bead)
            if not host.tells:
                store.save_pull(replace(pull, state=PullState.CLOSED, says="its bead was given up"))
                continue
            self._begin(host, pull, branches.pushed(self.ports, pull.bead), status is Status.DONE)

    def _tell(self, pull: PullRequest) -> None:
        bead = self.ports.store.bead(pull.bead)
        if pull.state is PullState.MERGED and bead.status is Status.CANCELLED:
            text = (
                f"{bead.id} was cancelled, and people had merged its pull request {pull.name}: to have it count as "
                f"done, type `nobrakes reopen {bead.id}` and `nobrakes done {bead.id}`"
            )
            self.ports.notifier.tell(Notice(text, bead.id, urgent=True))

    def _begin(self, host: CodeHost, pull: PullRequest, ours: Collection[str], is_done: bool) -> None:
        def close() -> PullRequest:
            try:
                host.ready()
                number = pull.number or _number_of(host, pull, ours)
                if not number:  # it may be on its way: who opens it hears of it, and it is closed then
                    return pull
                host.close(number)
                told = host.look(number)
            except (HostUnavailable, HostRefused):
                return pull
            if told.state is PullState.MERGED:
                return replace(pull, state=told.state, number=number, merged_as=told.merged_as, says="merged")
            if told.state is not PullState.CLOSED:
                return pull
            why = "its bead was done without it" if is_done else "its bead was given up"
            return replace(pull, state=told.state, number=number, says=why)

        self._beside.begin(NOBODY, f"pull close {pull.bead}", close)


def _number_of(host: CodeHost, pull: PullRequest, ours: Collection[str]) -> int:
    """The open request of the bead; 0: there is none. HostRefused: somebody else pushed to it, so it is theirs."""
    found = [one for one in host.find(pull.branch, mark(pull.bead)) if one.state is PullState.OPEN]
    if found and found[0].head not in ours:
        raise HostRefused(f"the branch {pull.branch} has commits of somebody else")
    return found[0].number if found else 0
