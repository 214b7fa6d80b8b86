"""Questions to other machines that are asked beside the loop for reviews, until their ends are heard.

1. A question is begun once, and asked for in each turn until its end is there.
2. What was begun for a review that is not open any more is heard by `settle`: an end that nobody hears keeps a run from
   ending.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Generic, TypeVar

from ...ports.people import Background

End = TypeVar("End")
NOBODY = 0
"""No review has this number: what is begun for none that is open."""


@dataclass(slots=True)
class _Asked(Generic[End]):
    """What was begun for a review, and its end."""

    attempt: int
    end: End | None = None


class Beside(Generic[End]):
    """Questions by name, and the reviews that they were begun for."""

    def __init__(self, background: Background) -> None:
        self._background = background
        self._asked: dict[str, _Asked[End]] = {}

    def ask(self, attempt: int, name: str, ask: Callable[[], End]) -> End | None:
        """Begin it, unless it was begun; its end, or None while it goes on."""
        if not self.is_pending(name):
            self.begin(attempt, name, ask)
        return self.end(name)

    def begin(self, attempt: int, name: str, ask: Callable[[], End]) -> None:
        """Begin a question that is not pending."""
        asked = self._asked[name] = _Asked[End](attempt)

        def job() -> None:
            asked.end = ask()

        self._background.begin(name, job, far=True)

    def end(self, name: str) -> End | None:
        """The end of what was begun, or None while it goes on; the error of what failed is raised."""
        asked = self._asked.pop(name, None) if self._background.over(name) else None
        return asked.end if asked is not None else None  # what another one began is asked anew

    def is_pending(self, name: str) -> bool:
        """Whether it was begun, and nobody heard its end yet."""
        return self._background.busy(name)

    def settle(self, attempts: Collection[int]) -> list[tuple[int, End]]:
        """Hear the ends of what was begun for reviews that are not open any more: nobody else asks for them.

        What was heard, each with its review.
        """
        heard = []
        for name, asked in list(self._asked.items()):
            if asked.attempt not in attempts and (not self.is_pending(name) or self._background.over(name)):
                del self._asked[name]
                heard += [(asked.attempt, asked.end)] if asked.end is not None else []
        return heard
