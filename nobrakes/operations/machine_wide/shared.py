"""SharedMachine: the port MachineWide on the person's database, for one daemon.

1. It begins with the daemon's first look: the repository is registered, the daemon lives under a name (host.living).
2. What cannot be read (settings, the database, its version) counts as reached (own_settings.unknown). It is looked at
   again soon. Where no limit is set nothing is missed, and the daemon works by its own limits.
3. Nothing is let go of meanwhile: agents at work keep their places, and what was spent is written later.
4. Somebody may remove the folder of state while daemons run. A daemon that sees it begins anew, with all its agents.
"""

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial
from typing import TypeVar

from ...core.errors import NobrakesError
from ...core.limits.caps import day_start
from ...core.limits.machine import MachineLimits, MachineRoom, reached
from ...host.living import Living, lives, sweep
from ...host.system import proctable
from ...place import UserPlace, make, require_safe, user_place
from ...store.user.database import UserStore
from .own_settings import require_changeable, settings_at, unknown
from .registry import LOCK_SECONDS, register, wake_all

AGAIN_SECONDS = 5.0
"""So long after it could not be used the place is looked at again."""
PASSES_SECONDS = 60.0
"""What may pass by itself and lasts longer is a person's matter."""

T = TypeVar("T")


class _Joined:
    """A daemon that shares: its database, its name, its repository."""

    def __init__(self, place: UserPlace, root: str, now: Callable[[], float]) -> None:
        make(place.state)
        if not require_safe(place.settings):  # else a run that may write around it could make it
            make(place.settings)
        self.place = place
        self.store = UserStore(place.database, now, patience=LOCK_SECONDS)
        try:
            self.identity = register(self.store, root)
            sweep(place.daemons)
            self.living = Living(place.daemons)
            me = proctable.look(os.getpid())
            self.store.begin_daemon(self.living.name, self.identity, os.getpid(), me.mark if me else "")
        except BaseException:
            self.store.close()
            raise
        self.held: frozenset[str] = frozenset()
        self._file = _inode(place.database)

    def is_there(self) -> bool:
        """Whether database and name are still what other daemons look at."""
        now = _inode(self.place.database)
        return now is not None and now == self._file and self.living.is_seen()

    def lives(self, name: str) -> bool:
        """Whether the daemon of this name lives."""
        return lives(self.place.daemons, name)

    def leave(self) -> None:
        """Let go of everything; what cannot be written is seen by whoever asks who lives."""
        self.living.close()
        try:
            self.store.end_daemon(self.living.name)
        except NobrakesError:
            pass
        finally:
            self.store.close()


class SharedMachine:
    """What the daemon of the repository at `root` shares. `tell` says something to the person, once."""

    def __init__(self, root: str, now: Callable[[], float], tell: Callable[[str], None]) -> None:
        self._root = root
        self._now = now
        self._tell = tell
        self._joined: _Joined | None = None
        self._room: MachineRoom | None = None
        self._trouble = ""
        self._since = self._again_at = 0.0
        self._spent: tuple[float, float, int] | None = None
        self._is_written = True
        self._reached = False

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        """What is allowed and taken now; where that cannot be read, it says so, and nothing may start."""
        if not (self._trouble and self._now() < self._again_at <= self._now() + AGAIN_SECONDS):
            self._room = self._looked(frozenset(at_work))
        return self._room

    def _looked(self, at_work: frozenset[str]) -> MachineRoom | None:
        limits = None
        try:
            place = user_place()
        except NobrakesError as error:  # no place was ever made, so nothing is limited
            return self._failed(error, MachineLimits())
        try:
            limits = settings_at(place).machine.limits()
            require_changeable(place)
            joined = self._join(place)
            joined.store.require_present()
            if at_work != joined.held:
                joined.store.set_places(joined.living.name, at_work)
                joined.held = at_work
            self._write_spent(joined)
            room = self._counted(joined, limits)
        except NobrakesError as error:
            return self._failed(error, limits)
        self._trouble = ""
        return room

    def _counted(self, joined: _Joined, limits: MachineLimits) -> MachineRoom | None:
        if not limits.is_set:
            return None
        places = joined.store.places(joined.lives) if limits.agents is not None else []
        own = sum(place.daemon == joined.living.name for place in places)
        spent = joined.store.spent(day_start(self._now())) if _counts_money(limits) else []
        usd = round(sum(one.usd for one in spent), 6)
        return MachineRoom(limits, len(places), own, usd, sum(one.tokens for one in spent))

    def take(self, name: str) -> bool:
        """Take a place, if there is one."""
        joined, room = self._joined, self._room
        if room is None:
            return True  # nobody counts; the next look says what lives
        if room.unknown or joined is None:
            return False
        most = room.limits.agents
        if most is None:
            return True
        taken = self._tried(partial(joined.store.take, joined.living.name, name, most, joined.lives))
        if taken:
            joined.held |= {name}
        return bool(taken)

    def give_back(self, name: str) -> None:
        """Nothing was started under this name."""
        joined = self._joined
        if joined is not None and name in joined.held:
            self._places(joined, joined.held - {name})

    def hold(self, name: str) -> None:
        """Have a place for what lives already."""
        joined = self._joined
        if joined is not None and name not in joined.held:
            self._places(joined, joined.held | {name})

    def _places(self, joined: _Joined, runs: frozenset[str]) -> None:
        self._tried(partial(joined.store.set_places, joined.living.name, runs))
        joined.held = runs

    def spent(self, day: float, usd: float, tokens: int) -> None:
        """What this repository spent on the day, in all."""
        if self._spent == (day, usd, tokens):
            return
        self._spent, self._is_written = (day, usd, tokens), False
        if self._joined is not None and not self._trouble:
            self._tried(partial(self._write_spent, self._joined))
            self._tell_others(self._joined)

    def _write_spent(self, joined: _Joined) -> None:
        """Write what was spent, also what could not be written before."""
        if self._spent is not None and not self._is_written:
            joined.store.spend(joined.identity, *self._spent)
            self._is_written = True

    def _tell_others(self, joined: _Joined) -> None:
        """Who works elsewhere looks at once when the day's sum reaches a limit: nobody spends on until it wakes."""
        limits = self._room.limits if self._room is not None else MachineLimits()
        if not _counts_money(limits):
            return
        room = self._tried(partial(self._counted, joined, limits))
        is_reached = bool(reached(room, self._now()))
        if is_reached and not self._reached:
            wake_all(joined.place)
        self._reached = is_reached

    def close(self) -> None:
        """Give every place back."""
        if self._joined is not None:
            self._joined.leave()
            self._joined = None

    # --- whether there is a place ----------------------------------------------------------------

    def _join(self, place: UserPlace) -> _Joined:
        if self._joined is not None and self._joined.is_there():
            return self._joined
        self.close()
        self._joined = joined = _Joined(place, self._root, self._now)
        self._is_written = self._spent is None
        return joined

    def _tried(self, ask: Callable[[], T]) -> T | None:
        """The answer; None where it cannot be had: then nothing starts until a look can read everything."""
        try:
            return ask()
        except NobrakesError as error:
            self._room = self._failed(error, self._room.limits if self._room is not None else MachineLimits())
            return None

    def _failed(self, error: NobrakesError, limits: MachineLimits | None) -> MachineRoom | None:
        """What is allowed while this lasts; what should pass and lasts needs a person."""
        now = self._now()
        self._again_at = now + AGAIN_SECONDS
        is_new, self._trouble = str(error) != self._trouble, str(error)
        if is_new:
            self._since = now
        room = unknown(limits, error)
        if room is None:
            if is_new:
                self._tell(f"what repositories of this machine share cannot be used: {error}. {error.hint}".strip())
            return None
        return replace(room, passes=room.passes and now < self._since + PASSES_SECONDS)


def _counts_money(limits: MachineLimits) -> bool:
    return limits.usd_per_day is not None or limits.tokens_per_day is not None


def _inode(path: str) -> int | None:
    """The file itself, whatever is written into it; None: it is not there."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return None
