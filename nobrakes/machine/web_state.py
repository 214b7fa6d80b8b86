"""What a person's web server stores (who serves, login codes, sessions), and what daemons share.

1. Everything is in the person's place, unreachable from sandboxes; folders are 0700 and files 0600.
2. Codes and sessions are stored as hashes. A code works once: who removes its file may log in. One written to a file
   for a browser confirms nothing, as the account's files may have been read.
3. A restarted server knows its sessions.
4. Runs are refused: NotAllowed (nobrakes.config.user).
"""

import base64
import hashlib
import json
import os
import re
import secrets
import time
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from functools import partial
from typing import TypeVar

from ..agents.limits import MachineLimits, MachineRoom, day_start, machine_reached
from ..config.user import UserPlace, make, require_own, require_safe, user_place
from ..errors import DaemonRunning, NobrakesError, PlaceUnusable
from ..host import proctable
from ..host.locks import DaemonLock, LivenessLock, holder, is_alive, sweep
from ..records import frozen
from . import registry
from .db import UserStore
from .registry import LOCK_SECONDS, register, require_changeable, settings_at, unknown, wake_all

CODE_SECONDS = 120.0
SESSION_SECONDS = 12 * 3600.0
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_CODE = 10
_LOGIN = "login"
_OPENING = "open.html"


@frozen
class Serving:
    """A running server: process, address, and further addresses."""

    pid: int
    address: str
    others: tuple[str, ...] = ()


def _hashed(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _normal(code: str) -> str:
    """Codes may be typed with blanks, dashes and small letters."""
    return "".join(letter for letter in code.upper() if letter.isalnum())[:64]


class WebState:
    """The folder `web` of the person's state."""

    def __init__(self, folder: str, now: Callable[[], float] = time.time) -> None:
        self.folder = folder
        self._now = now
        self._lock = DaemonLock(os.path.join(folder, "server.lock"))
        for name in ("", "codes", "sessions"):
            make(os.path.join(folder, name) if name else folder)

    # who serves

    def begin(self) -> bool:
        """Become the server; False: another process is."""
        try:
            self._lock.acquire()
        except DaemonRunning:
            return False
        self._sweep()
        return True

    def tell(self, serving: Serving) -> None:
        self._write("server.json", json.dumps(asdict(serving)))

    def serving(self) -> Serving | None:
        """None: none runs, or its address is unknown yet."""
        if (pid := holder(self._lock.path)) is None:
            return None
        try:
            found = json.loads(self._read("server.json"))
            told = Serving(int(found["pid"]), str(found["address"]), tuple(map(str, found["others"])))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return told if told.pid == pid else None

    def end(self) -> None:
        for name in ("server.json", _OPENING):
            with suppress(OSError):
                os.unlink(os.path.join(self.folder, name))
        self._lock.release()

    def name(self) -> str:
        """A random name of this person's pages: other programs share 127.0.0.1 and its cookies, and cannot guess it."""
        try:
            found = self._read("name").strip()
        except OSError:
            found = ""
        if not (found.startswith("nb-") and found[3:].isalnum() and found.isascii()):
            found = "nb-" + base64.b32encode(secrets.token_bytes(7)).decode().strip("=").lower()[:10]
            self._write("name", found)
        return found

    # codes

    def new_code(self, confirms: bool = True) -> str:
        """A code, valid once for two minutes: `ABCDE-FGHJK`. `confirms`: not only for login."""
        self._sweep()
        code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE))
        until = str(self._now() + CODE_SECONDS)
        self._write(os.path.join("codes", _hashed(code)), until if confirms else f"{until} {_LOGIN}")
        return f"{code[:5]}-{code[5:]}"

    def use_code(self, code: str, confirms: bool = False) -> bool:
        """Whether the code was valid; it is used up. `confirms`: for something dangerous."""
        return self._until(os.path.join("codes", _hashed(_normal(code))), remove=True, confirms=confirms)

    # sessions

    def new_session(self) -> str:
        """Only the browser stores this secret."""
        secret = secrets.token_urlsafe(32)
        self._write(os.path.join("sessions", _hashed(secret)), str(self._now() + SESSION_SECONDS))
        return secret

    def session(self, secret: str) -> str | None:
        """The session's short name."""
        hashed = _hashed(secret)
        return hashed[:12] if self._until(os.path.join("sessions", hashed)) else None

    def end_session(self, secret: str) -> None:
        with suppress(OSError):
            os.unlink(os.path.join(self.folder, "sessions", _hashed(secret)))

    # the door of a person's browser

    def opening_page(self, link: str) -> str:
        """A file that leads a browser to the link, so that its login code is on no command line."""
        page = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={link}">nobrakes\n'
        self._write(_OPENING, page)
        return os.path.join(self.folder, _OPENING)

    def _until(self, name: str, remove: bool = False, confirms: bool = False) -> bool:
        """Whether the file is valid; `remove`: for its remover only. `confirms`: and not only for login."""
        path = os.path.join(self.folder, name)
        try:
            with open(path, encoding="ascii") as file:
                until, _, kind = file.read(64).partition(" ")
            early = self._now() < float(until)
            if remove:
                os.unlink(path)
        except (OSError, ValueError):
            return False
        return early and not (confirms and kind)

    def _sweep(self) -> None:
        for kind in ("codes", "sessions"):
            for name in os.listdir(os.path.join(self.folder, kind)):
                if not self._until(os.path.join(kind, name)):
                    with suppress(OSError):
                        os.unlink(os.path.join(self.folder, kind, name))

    def _read(self, name: str) -> str:
        path = os.path.join(self.folder, name)
        require_own(path)
        with open(path, encoding="utf-8") as file:
            return file.read(100_000)

    def _write(self, name: str, text: str) -> None:
        """A private file, complete or not written."""
        path = os.path.join(self.folder, name)
        new = f"{path}.{secrets.token_hex(4)}"
        try:
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            with open(descriptor, "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(new, path)
        except OSError as error:
            raise PlaceUnusable(f"{path} cannot be written: {error.strerror}") from None


def web_state(now: Callable[[], float] = time.time) -> WebState:
    """NotAllowed in a run; PlaceUnusable."""
    place = user_place()
    make(place.state)
    return WebState(os.path.join(place.state, "web"), now)


def short(path: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(path)).strip(".-")[:60] or "repository"


def long_word(path: str) -> str:
    return f"{short(path)}~{hashlib.sha256(path.encode('utf-8', 'surrogateescape')).hexdigest()[:6]}"


def words(paths: Sequence[str]) -> dict[str, str]:
    """Short words, or long ones for equal names."""
    counted = Counter(map(short, paths))
    return {path: short(path) if counted[short(path)] == 1 else long_word(path) for path in paths}


OWN = "~"
"""The word of the person's own place, which no repository can have."""


def word_of(path: str) -> str:
    return OWN if registry.is_own(path) else words(registry.paths()).get(path, "")


def link(path: str, page: str = "") -> str:
    """Empty: the pages are not served."""
    found, word = web_state().serving(), word_of(path)
    return f"{found.address}/r/{word}/{page}" if found is not None and word else ""


AGAIN_SECONDS = 5.0
PASSES_SECONDS = 60.0

T = TypeVar("T")


class _Joined:
    """A sharing daemon: its database, name and repository."""

    def __init__(self, place: UserPlace, root: str, now: Callable[[], float]) -> None:
        make(place.state)
        if not require_safe(place.settings):  # else a run that may write around it could make it
            make(place.settings)
        self.place = place
        self.store = UserStore(place.database, now, timeout=LOCK_SECONDS)
        try:
            self.identity = register(self.store, root)
            sweep(place.daemons)
            self.liveness_lock = LivenessLock(place.daemons)
            me = proctable.look(os.getpid())
            self.store.begin_daemon(self.liveness_lock.name, self.identity, os.getpid(), me.mark if me else "")
        except BaseException:
            self.store.close()
            raise
        self.held: frozenset[str] = frozenset()
        self._file = _inode(place.database)

    def is_there(self) -> bool:
        now = _inode(self.place.database)
        return now is not None and now == self._file and self.liveness_lock.is_seen()

    def is_alive(self, name: str) -> bool:
        return is_alive(self.place.daemons, name)

    def leave(self) -> None:
        """Unwritten changes are found by whoever checks liveness."""
        self.liveness_lock.close()
        try:
            self.store.end_daemon(self.liveness_lock.name)
        except NobrakesError:
            pass
        finally:
            self.store.close()


# What cannot be read (settings, the database, its version) counts as reached, and is looked at again soon. Nothing is
# let go of meanwhile: agents at work keep their places, and what was spent is written later. Where the folder of state
# was removed, the daemon starts again with all its agents.
class SharedMachine:
    """What the daemon of `root` shares. `tell` reports something once."""

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
        """If unreadable, the answer says so, and nothing may start."""
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
                joined.store.set_places(joined.liveness_lock.name, at_work)
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
        places = joined.store.places(joined.is_alive) if limits.agents is not None else []
        own = sum(place.daemon == joined.liveness_lock.name for place in places)
        spent = joined.store.spent(day_start(self._now())) if _counts_money(limits) else []
        usd = round(sum(one.usd for one in spent), 6)
        return MachineRoom(limits, len(places), own, usd, sum(one.tokens for one in spent))

    def take(self, name: str) -> bool:
        joined, room = self._joined, self._room
        if room is None:
            return True  # nobody counts; the next look says what lives
        if room.unknown or joined is None:
            return False
        if (most := room.limits.agents) is None:
            return True
        if taken := self._tried(partial(joined.store.take, joined.liveness_lock.name, name, most, joined.is_alive)):
            joined.held |= {name}
        return bool(taken)

    def give_back(self, name: str) -> None:
        if (joined := self._joined) is not None and name in joined.held:
            self._hold_places(joined, joined.held - {name})

    def hold(self, name: str) -> None:
        if (joined := self._joined) is not None and name not in joined.held:
            self._hold_places(joined, joined.held | {name})

    def _hold_places(self, joined: _Joined, runs: frozenset[str]) -> None:
        self._tried(partial(joined.store.set_places, joined.liveness_lock.name, runs))
        joined.held = runs

    def spent(self, day: float, usd: float, tokens: int) -> None:
        if self._spent == (day, usd, tokens):
            return
        self._spent, self._is_written = (day, usd, tokens), False
        if self._joined is not None and not self._trouble:
            self._tried(partial(self._write_spent, self._joined))
            self._tell_others(self._joined)

    def _write_spent(self, joined: _Joined) -> None:
        if self._spent is not None and not self._is_written:
            joined.store.spend(joined.identity, *self._spent)
            self._is_written = True

    def _tell_others(self, joined: _Joined) -> None:
        """Wake others when the day's sum reaches a limit, so that they stop spending."""
        limits = self._room.limits if self._room is not None else MachineLimits()
        if not _counts_money(limits):
            return
        room = self._tried(partial(self._counted, joined, limits))
        if (is_reached := bool(machine_reached(room, self._now()))) and not self._reached:
            wake_all(joined.place)
        self._reached = is_reached

    def close(self) -> None:
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
        """None on an error: nothing starts until everything is readable."""
        try:
            return ask()
        except NobrakesError as error:
            self._room = self._failed(error, self._room.limits if self._room is not None else MachineLimits())
            return None

    def _failed(self, error: NobrakesError, limits: MachineLimits | None) -> MachineRoom | None:
        now = self._now()
        self._again_at = now + AGAIN_SECONDS
        is_new, self._trouble = str(error) != self._trouble, str(error)
        if is_new:
            self._since = now
        if (room := unknown(limits, error)) is None:
            if is_new:
                self._tell(f"cannot use the data that this machine's repositories share: {error.whole}")
            return None
        return replace(room, passes=room.passes and now < self._since + PASSES_SECONDS)


def _counts_money(limits: MachineLimits) -> bool:
    return limits.usd_per_day is not None or limits.tokens_per_day is not None


def _inode(path: str) -> int | None:
    try:
        return os.stat(path).st_ino
    except OSError:
        return None
