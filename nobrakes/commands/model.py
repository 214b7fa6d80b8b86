"""Commands that were given with a key of their own, so that giving them again does nothing again."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Request:
    """A command under its key. `result` is what it came to; None: it was cut off after it changed something."""

    key: str
    command: str
    actor: str
    at: float = 0.0
    result: str | None = None


class Requests(Protocol):
    """The commands of the last time, by their keys."""

    def request(self, key: str) -> Request | None:
        """What was done under the key; None: nothing."""
        ...

    def keep_request(self, request: Request) -> None:
        """Remember it, in the transaction that is under way if there is one; `at` is the store's."""
        ...

    def noting(self, request: Request) -> AbstractContextManager[None]:
        """Inside, each transaction that writes also remembers the request, without a result.

        An error that leaves the block takes it back.
        """
        ...

    def forget_requests(self, before: float) -> int:
        """Forget those of before this time; how many."""
        ...
