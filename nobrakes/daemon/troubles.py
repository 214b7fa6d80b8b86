"""Trouble in a turn of the loop: what of it pauses the daemon, what parks a bead, and what ends it.

1. What the machine lacks, and what git or a person has in the way, pauses the daemon, is told once and tried again.
2. Where git works and fails for one bead or session, that one alone waits, and is tried again less and less often.
   After GIVE_UP_SECONDS it is parked, and a person is asked.
3. What nobody expected about one bead or session parks that one (daemon.parking); about a part of the daemon that part
   waits, and a person is asked; about nobody it ends the daemon.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial

from ..core.errors import (
    DiskFull,
    GitFailed,
    MachineShort,
    NoAnswer,
    NobrakesError,
    RefsBroken,
    Stale,
    StoreBusy,
    StoreReadOnly,
)
from ..core.idle import look_again
from ..core.owners import bead_of, called, is_part
from ..host.files import storage_errors
from ..ports.people import Notice
from .courier import Courier
from .parking import Owner, Unexpected, about, park
from .ports import Ports

RETRY_SECONDS = 15.0
"""When the disk is full or git fails, the loop tries again so much later."""
GIVE_UP_SECONDS = 300.0
"""So long git may fail for one bead, before a person is asked."""
WAITED_OUT = (DiskFull, MachineShort, NoAnswer, StoreBusy)
"""Trouble that may meet any look of the loop itself, and that passes or is mended from outside: it never ends it."""


@dataclass(slots=True)
class _Alone:
    """Since when git fails for one owner in one thing, and when that is tried again."""

    since: float
    until: float


class Troubles:
    """What is in the way just now."""

    def __init__(self, ports: Ports, courier: Courier) -> None:
        self.ports = ports
        self.courier = courier
        self.until = 0.0
        """Until then nothing is begun."""
        self._met: NobrakesError | None = None
        self._alone: dict[tuple[str, str], _Alone] = {}

    def guarded(self, do: Callable[[], bool], owner: Owner = "", what: str = "") -> bool:
        """Do this thing (`what`), for this owner (core.owners); trouble ends nothing but that, and nothing is lost."""
        named = owner if isinstance(owner, str) else ""
        if self.holds(named, what):
            return False
        try:
            with storage_errors(self.ports.paths.folder), about(self.ports, owner):
                done = do()
                self._alone.pop((named, what), None)
                return done
        except Stale:
            return True  # a person took the bead away meanwhile: the next look sees it
        except GitFailed as error:
            if named and not is_part(named) and self._git_works():
                return self._fails(named, what, error)
            self.pause(error)
            return False
        except NobrakesError as error:
            self.pause(error)
            return False
        except Unexpected as met:
            if is_part(met.owner):
                self._wait(named, what)
            return self.guarded(partial(park, self.ports, met))

    @property
    def are_some(self) -> bool:
        """Whether anything waits alone."""
        return bool(self._alone)

    def holds(self, owner: str, what: str) -> bool:
        """Whether this thing, for this owner, is not to be tried yet."""
        waits = self._alone.get((owner, what))
        return waits is not None and self.ports.store.now() < waits.until

    def _git_works(self) -> bool:
        """Whether git answers for the repository as a whole, so that the trouble is one bead's."""
        with suppress(NobrakesError):
            self.ports.git.kept()
            return True
        return False

    def _fails(self, owner: str, what: str, error: GitFailed) -> bool:
        """Let this owner alone wait, or park it."""
        now = self.ports.store.now()
        waits = self._alone.setdefault((owner, what), _Alone(now, now))
        if now >= waits.since + GIVE_UP_SECONDS:
            del self._alone[owner, what]
            met = Unexpected(owner)
            met.__cause__ = error
            return self.guarded(partial(park, self.ports, met))
        if waits.since == now:
            text = f"{called(owner)} is tried again soon, the others go on: {error}"
            self.ports.notifier.tell(Notice(text, bead_of(owner), urgent=True))
        self._wait(owner, what)
        return False

    def _wait(self, owner: str, what: str) -> None:
        """Try this again later, and later each time."""
        now = self.ports.store.now()
        waits = self._alone.setdefault((owner, what), _Alone(now, now))
        waits.until = now + look_again(waits.since, now, RETRY_SECONDS)

    def wake_at(self) -> list[float]:
        """When something is tried again."""
        now = self.ports.store.now()
        return [moment for moment in (self.until, *(one.until for one in self._alone.values())) if moment > now]

    def pause(self, error: NobrakesError) -> None:
        """Pause for it, and tell it unless it is what was told last."""
        self.until = self.ports.store.now() + RETRY_SECONDS
        known = self._met is not None and str(error) == str(self._met)
        self._met = error
        if not known:
            stops = isinstance(error, DiskFull | MachineShort | RefsBroken | StoreReadOnly)
            word = "Nothing is started until it is mended: " if stops else "Trying again soon: "
            with bearing(self.ports.paths.folder):
                self.ports.notifier.tell(Notice(f"{word}{error} {error.hint}".strip(), urgent=True))
                self.courier.trouble(f"{word}{error} {error.hint}", stops)

    def measure_anew(self) -> None:
        """The clock jumped: nothing waits for a moment of before."""
        self.until, self._alone = 0.0, {}

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
