"""Trouble in a turn of the loop: what of it pauses the daemon, what parks a bead, and what ends it.

1. What the machine lacks, and what git or a person has in the way, pauses the daemon, is told once and tried again.
2. What nobody expected about one bead or session parks that one (daemon.parking); about nobody it ends the daemon.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from ..core.errors import DiskFull, MachineShort, NoAnswer, NobrakesError, Stale, StoreBusy, StoreReadOnly
from ..host.files import storage_errors
from ..ports import Notice
from .courier import Courier
from .parking import Owner, Unexpected, about, park
from .ports import Ports

RETRY_SECONDS = 15.0
"""When the disk is full or git fails, the loop tries again so much later."""
WAITED_OUT = (DiskFull, MachineShort, NoAnswer, StoreBusy)
"""Trouble that may meet any look of the loop itself, and that passes or is mended from outside: it never ends it."""


class Troubles:
    """What is in the way just now."""

    def __init__(self, ports: Ports, courier: Courier) -> None:
        self.ports = ports
        self.courier = courier
        self.until = 0.0
        """Until then nothing is begun."""
        self._met: NobrakesError | None = None

    def guarded(self, do: Callable[[], bool], owner: Owner = "") -> bool:
        """Do it, for this owner (core.owners); trouble ends nothing but that, and nothing is lost."""
        try:
            with storage_errors(self.ports.paths.folder), about(self.ports, owner):
                return do()
        except Stale:
            return True  # a person took the bead away meanwhile: the next look sees it
        except NobrakesError as error:
            self.pause(error)
            return False
        except Unexpected as met:
            return self.guarded(partial(park, self.ports, met))

    def pause(self, error: NobrakesError) -> None:
        """Pause for it, and tell it unless it is what was told last."""
        self.until = self.ports.store.now() + RETRY_SECONDS
        known = self._met is not None and str(error) == str(self._met)
        self._met = error
        if not known:
            stops = isinstance(error, DiskFull | MachineShort | StoreReadOnly)
            word = "Nothing is started until it is mended: " if stops else "Trying again soon: "
            with bearing(self.ports.paths.folder):
                self.ports.notifier.tell(Notice(f"{word}{error} {error.hint}".strip(), urgent=True))
                self.courier.trouble(f"{word}{error} {error.hint}", stops)

    def mended(self) -> None:
        """Nothing is in the way any more: should it come back, it is told again."""
        self._met = None

    @property
    def present(self) -> NobrakesError | None:
        """What keeps the daemon from working just now; None when nothing does."""
        return self._met if self.ports.store.now() < self.until else None


@contextmanager
def bearing(folder: str) -> Iterator[None]:
    """What is shown may get lost where nothing can be written: it is in the store as well."""
    with suppress(*WAITED_OUT), storage_errors(folder):
        yield
