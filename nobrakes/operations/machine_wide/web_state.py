"""What a web server of this person keeps: who serves, the codes to log in with, and the sessions that they began.

1. All of it lies in the person's place, where no agent in a sandbox gets; folders are 0700 and files 0600.
2. Codes and sessions are kept as hashes. A code is good once: who removes its file may log in. One that had to be
   written out for a browser to find confirms nothing: what reads this account's files may have seen it.
3. What is kept outlives the server, so a server that was killed and is started again knows its sessions.
4. Nobody in a run gets here: NotAllowed (nobrakes.place).
"""

import base64
import hashlib
import json
import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass

from ...core.errors import DaemonRunning, PlaceUnusable
from ...host.locks import DaemonLock, holder
from ...place import make, require_own, user_place

CODE_SECONDS = 120.0
SESSION_SECONDS = 12 * 3600.0
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
"""Of a code: none that are taken for another one."""
_CODE = 10
_LOGIN = "login"
_OPENING = "open.html"


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that runs: its process, the address that a person opens, and those by which it is known too."""

    pid: int
    address: str
    others: tuple[str, ...] = ()


def _hashed(value: str) -> str:
    return hashlib.sha256(value.encode()).hexdigest()


def _normal(code: str) -> str:
    """A code as it is hashed: what a person types has blanks, dashes and small letters."""
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
        """Be the server; False: another process is it already."""
        try:
            self._lock.acquire()
        except DaemonRunning:
            return False
        self._sweep()
        return True

    def tell(self, serving: Serving) -> None:
        """Write down by which address the server is reached."""
        self._write("server.json", json.dumps(asdict(serving)))

    def serving(self) -> Serving | None:
        """The server that runs; None: none does, or it has not said yet where."""
        pid = holder(self._lock.path)
        if pid is None:
            return None
        try:
            found = json.loads(self._read("server.json"))
            told = Serving(int(found["pid"]), str(found["address"]), tuple(map(str, found["others"])))
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return told if told.pid == pid else None

    def end(self) -> None:
        """Serve no more."""
        for name in ("server.json", _OPENING):
            with suppress(OSError):
                os.unlink(os.path.join(self.folder, name))
        self._lock.release()

    def name(self) -> str:
        """The name of this person's pages, drawn once: other programs of the machine, which share 127.0.0.1 and
        so its cookies, cannot guess it.
        """
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
        """A code that is good once, for two minutes: `ABCDE-FGHJK`. `confirms`: not to log in alone."""
        self._sweep()
        code = "".join(secrets.choice(_LETTERS) for _ in range(_CODE))
        until = str(self._now() + CODE_SECONDS)
        self._write(os.path.join("codes", _hashed(code)), until if confirms else f"{until} {_LOGIN}")
        return f"{code[:5]}-{code[5:]}"

    def use_code(self, code: str, confirms: bool = False) -> bool:
        """Whether the code was good; it is not any more. `confirms`: for something dangerous, not to log in."""
        return self._until(os.path.join("codes", _hashed(_normal(code))), remove=True, confirms=confirms)

    # sessions

    def new_session(self) -> str:
        """The secret of a new session, which only the browser keeps."""
        secret = secrets.token_urlsafe(32)
        self._write(os.path.join("sessions", _hashed(secret)), str(self._now() + SESSION_SECONDS))
        return secret

    def session(self, secret: str) -> str | None:
        """By what name the session of this secret is known; None: there is none."""
        hashed = _hashed(secret)
        return hashed[:12] if self._until(os.path.join("sessions", hashed)) else None

    def end_session(self, secret: str) -> None:
        """Log out."""
        with suppress(OSError):
            os.unlink(os.path.join(self.folder, "sessions", _hashed(secret)))

    def end_sessions(self) -> None:
        """Log everybody out."""
        for name in os.listdir(os.path.join(self.folder, "sessions")):
            with suppress(OSError):
                os.unlink(os.path.join(self.folder, "sessions", name))

    # the door of a person's browser

    def opening_page(self, link: str) -> str:
        """A file that leads a browser to the link: its code, which is to log in alone, stands on no command line,
        which others could read.
        """
        page = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url={link}">nobrakes\n'
        self._write(_OPENING, page)
        return os.path.join(self.folder, _OPENING)

    def _until(self, name: str, remove: bool = False, confirms: bool = False) -> bool:
        """Whether the file says that now is early enough; with `remove` only whoever removes it is told so.

        `confirms`: and that it is not to log in alone.
        """
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
        """Remove what is over."""
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
        """Write a file of this account alone, whole or not at all."""
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
    """The state of this person. NotAllowed in a run; PlaceUnusable."""
    place = user_place()
    make(place.state)
    return WebState(os.path.join(place.state, "web"), now)
