"""What the pages over the board may ask of it, so that they need not know how it looks."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from textual.app import App as Textual
from textual.message import Message

from .reading import Job, Reader, Trouble

if TYPE_CHECKING:
    from ..app import App
    from ..operations.views.live_board import LiveView


class Seen(Message):
    """The reader saw the repository, or had trouble."""

    def __init__(self, seen: "LiveView | Trouble") -> None:
        super().__init__()
        self.seen = seen


class Finished(Message):
    """The reader did what it was asked."""

    def __init__(self, job: Job, result: Any) -> None:
        super().__init__()
        self.job, self.result = job, result


class Stage(Textual[None]):
    """The board for its pages. `actor` signs what is decided; `reader` does what touches the repository."""

    actor: str
    reader: Reader

    def tell(self, words: str) -> None:
        """Say what was done, on the board."""

    def trouble(self, why: Trouble) -> None:
        """Say what was not done, and why, on the screen that the person sees."""

    def do(self, act: "Callable[[App], str]") -> None:
        """Have it done, and say what came of it."""

    def set_filter(self, words: str) -> None:
        """Show only what has these words."""

    def action_help(self) -> None:
        """A page with the keys."""

    def open_bead(self, bead: str) -> None:
        """A page about the bead."""

    def open_diff(self, bead: str) -> None:
        """A page with what it changes."""

    def open_log(self, bead: str) -> None:
        """A page with what its agents said."""

    def open_escalation(self, number: int) -> None:
        """A page to decide it."""
