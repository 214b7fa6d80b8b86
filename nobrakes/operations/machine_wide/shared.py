"""SharedMachine: the port MachineWide on the person's database, for one daemon.

1. It begins with the daemon's first look: the repository is registered, the daemon lives under a name (host.living).
2. Without a place that can be used nothing is shared, the daemon works by its own limits, and says why, once. It looks
   again later. What cannot be asked for a moment (a locked database, a full disk) is waited out by the loop.
3. Settings that are wrong when a daemon begins keep it from starting: limits that a person set do not go unseen.
   Later the last good ones stay in force, and both ends of that are told.
4. Somebody may remove the folder of state while daemons run. A daemon that sees it begins anew, with all its agents.
"""

import os
from collections.abc import Callable, Collection
from functools import partial
from typing import TypeVar

from ...config.user import load_user
from ...core.errors import ConfigError, DiskFull, MachineShort, NobrakesError, StoreBusy
from ...core.limits.caps import day_start
from ...core.limits.machine import MachineLimits, MachineRoom, reached
from ...host.living import Living, lives, sweep
from ...host.system import proctable
from ...place import UserPlace, make, require_own, require_safe, user_place
from ...store.user.database import UserStore
from .registry import register, wake_all

AGAIN_SECONDS = 60.0
"""So long after it could not be used the place is looked at again."""
_PASSING = (DiskFull, MachineShort, StoreBusy)

T = TypeVar("T")
Stamp = tuple[int, int, int] | None


class _Joined:
    """A daemon that shares: its database, its name, its repository."""

    def __init__(self, place: UserPlace, root: str, now: Callable[[], float]) -> None:
        make(place.state)
        if not require_safe(place.settings):  # else a run that may write around it could make it
            make(place.settings)
        for path in (place.database, place.config):
            require_own(path)
        self.place = place
        self.store = UserStore(place.database, now)
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
        self._file = _stamp(place.database)

    def is_there(self) -> bool:
        """Whether database and name are still what other daemons look at."""
        now = _stamp(self.place.database)
        return now is not None and self._file is not None and now[2] == self._file[2] and self.living.is_seen()

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
        self._limits: MachineLimits | None = None
        self._seen: Stamp = None
        self._wrong = ""
        self._off = ""
        self._again_at = 0.0
        self._spent: tuple[float, float, int] | None = None
        self._reached = False

    def look(self, at_work: Collection[str]) -> MachineRoom | None:
        """What is allowed and taken now. ConfigError at the first look, StoreBusy."""
        joined = self._join()
        if joined is None:
            return None
        return self._used(partial(self._room, joined, frozenset(at_work)), None)

    def _room(self, joined: _Joined, at_work: frozenset[str]) -> MachineRoom | None:
        limits = self._limits_now(joined.place)
        if at_work != joined.held:
            joined.store.set_places(joined.living.name, at_work)
            joined.held = at_work
        if not limits.is_set:
            return None
        places = joined.store.places(joined.lives) if limits.agents is not None else []
        own = sum(place.daemon == joined.living.name for place in places)
        spent = joined.store.spent(day_start(self._now())) if self._counts_money(limits) else []
        usd = round(sum(one.usd for one in spent), 6)
        return MachineRoom(limits, len(places), own, usd, sum(one.tokens for one in spent))

    @staticmethod
    def _counts_money(limits: MachineLimits) -> bool:
        return limits.usd_per_day is not None or limits.tokens_per_day is not None

    def take(self, name: str) -> bool:
        """Take a place, if there is one."""
        joined = self._joined
        if joined is None:
            return True
        most = (self._limits or MachineLimits()).agents
        if most is None:
            return True  # nobody counts; the next look says what lives
        taken = self._used(partial(joined.store.take, joined.living.name, name, most, joined.lives), True)
        if taken:
            joined.held |= {name}
        return taken

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
        self._used(partial(joined.store.set_places, joined.living.name, runs), None)
        joined.held = runs

    def spent(self, day: float, usd: float, tokens: int) -> None:
        """What this repository spent on the day, in all."""
        is_new = self._spent != (day, usd, tokens)
        self._spent = day, usd, tokens
        if self._joined is not None and is_new:
            self._used(partial(self._joined.store.spend, self._joined.identity, day, usd, tokens), None)
            self._tell_others()

    def _tell_others(self) -> None:
        """Who works elsewhere looks at once when the day's sum reaches a limit: nobody spends on until it wakes."""
        joined, limits = self._joined, self._limits
        if joined is None or limits is None or not self._counts_money(limits):
            return
        room = self._used(partial(self._room, joined, joined.held), None)
        is_reached = room is not None and bool(reached(room, self._now()))
        if is_reached and not self._reached:
            wake_all(joined.place)
        self._reached = is_reached

    def close(self) -> None:
        """Give every place back."""
        if self._joined is not None:
            self._joined.leave()
            self._joined = None

    # --- whether there is a place ----------------------------------------------------------------

    def _join(self) -> _Joined | None:
        if self._joined is not None and self._joined.is_there():
            return self._joined
        self.close()
        if self._now() < self._again_at <= self._now() + AGAIN_SECONDS:
            return None
        try:
            place = user_place()
            require_safe(place.settings)
            self._limits_now(place)
            self._joined = joined = _Joined(place, self._root, self._now)
        except (ConfigError, *_PASSING):
            raise
        except NobrakesError as error:
            self._turn_off(error)
            return None
        if self._off:
            self._off = ""
            self._tell("machine-wide limits are in force again")
        if self._spent is not None:
            again, self._spent = self._spent, None
            self.spent(*again)
        return joined

    def _used(self, ask: Callable[[], T], otherwise: T) -> T:
        """The answer; `otherwise` where the place cannot be used any more."""
        try:
            return ask()
        except (ConfigError, *_PASSING):
            raise
        except NobrakesError as error:
            self._turn_off(error)
            self.close()
            return otherwise

    def _turn_off(self, error: NobrakesError) -> None:
        self._again_at = self._now() + AGAIN_SECONDS
        if str(error) != self._off:
            self._off = str(error)
            self._tell(f"machine-wide limits are off: {error}. {error.hint}".strip())

    # --- the settings ----------------------------------------------------------------------------

    def _limits_now(self, place: UserPlace) -> MachineLimits:
        """As the file says now; ConfigError only where there are no earlier ones."""
        stamp = _stamp(place.config)
        if self._limits is not None and stamp == self._seen:
            return self._limits
        try:
            found = load_user(place.config).machine.limits()
        except ConfigError as error:
            if self._limits is None:
                raise
            self._seen = stamp
            if str(error) != self._wrong:
                self._wrong = str(error)
                self._tell(f"{error} The limits of before stay in force.")
            return self._limits
        if self._wrong:
            self._wrong = ""
            self._tell(f"{place.config} is sound again, and in force")
        self._limits, self._seen = found, stamp
        return found


def _stamp(path: str) -> Stamp:
    """What changes with a file: time, size, and the file itself; None: it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
