"""The logins that confined agents use: each has a copy of the human's file, and what one renews all others get.

1. A copy and no mount: a CLI that renews its login by a new file under the old name could not do so with a mounted one.
2. Whoever changed it last wins; where the human's file changed too, that does. So a renewal reaches the human and every
   other run in the time between two looks.
3. What an agent left is bytes that may lie: no link is followed below `top`, and only a JSON object with what the
   human's has is taken over. Where the human is not logged in, nothing is taken.
4. A copy goes with its run.
"""

import contextlib
import errno
import hashlib
import io
import json
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...walking import below, folder_below
from ..files import private_folder, storage_errors, write_atomic, write_private
from ..port import Login

FILE = "logins.json"
LARGEST = 1_000_000
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Logins:
    """Gives logins to runs and keeps them the same. `tell` hears what was not taken over."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._marks: dict[tuple[str, int], object] = {}

    def give(self, door: str, logins: Sequence[Login]) -> None:
        """Lay the copies of a run down. DiskFull, StoreReadOnly."""
        given = []
        for login in logins:
            content = _read(login.source)
            if content is not None:
                folder = os.path.dirname(login.top)
                for part in ("", os.path.basename(login.top), *login.name.split("/")[:-1]):
                    folder = os.path.join(folder, part)
                    private_folder(folder.rstrip("/"))
                with storage_errors(login.top):
                    _put(login, content)
                given.append([*login, _digest(content)])
        if given:
            write_private(os.path.join(door, FILE), json.dumps(given).encode())

    def look(self, door: str, last: bool = False) -> None:
        """Carry over what changed; the `last` time the copies are removed."""
        given = _given(door)
        changed = False
        for number, (source, top, name, seen) in enumerate(given):
            login = Login(source, top, name)
            marks = (_mark(source), _mark(os.path.join(top, name)))
            if last or self._marks.get((door, number)) != marks:
                self._marks[door, number] = marks
                now = self._carried(login, seen, last)
                changed = changed or now != seen
                given[number][3] = now
            if last:
                self._marks.pop((door, number), None)
                _remove(login)
        if changed and not last:
            write_private(os.path.join(door, FILE), json.dumps(given).encode())

    def _carried(self, login: Login, seen: str, last: bool) -> str:
        """The digest of what both have now."""
        human, copy = _read(login.source), _read_copy(login)
        if human is not None and _digest(human) != seen:
            if not last:
                _put(login, human)
            return _digest(human)
        if human is None or copy is None or _digest(copy) == seen:
            return seen
        why = _objection(human, copy)
        if not why:
            try:
                real = os.path.realpath(login.source)
                write_atomic(real, copy, stat.S_IMODE(os.stat(real).st_mode))
                return _digest(copy)
            except Exception as error:
                why = str(error)
        if last:
            self._tell(f"an agent changed its login, which was not taken over into {login.source}: {why}")
        return seen


def _given(door: str) -> list[list[str]]:
    try:
        with open(os.path.join(door, FILE), encoding="utf-8") as file:
            found: list[list[str]] = json.load(file)
            return found
    except FileNotFoundError:
        return []


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _mark(path: str) -> object:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISLNK(found.st_mode):
        with contextlib.suppress(OSError):
            found = os.stat(path)
    return found.st_ino, found.st_mtime_ns, found.st_size


def _objection(human: bytes, copy: bytes) -> str:
    """Why this is no renewal of the human's login; empty: it is one."""
    try:
        before, now = _object(human), _object(copy)
    except (ValueError, RecursionError):
        return "it is no JSON"
    missing = [key for key, value in before.items() if not isinstance(now.get(key), type(value))]
    return f"it has no {', '.join(sorted(missing))[:100]} as before" if missing else ""


def _object(content: bytes) -> dict[str, Any]:
    found = json.loads(content)
    if not isinstance(found, dict):
        raise ValueError("no object")
    return found


def _read(path: str) -> bytes | None:
    """The content of the human's plain file, perhaps by a link, that is not too large; None: anything else is there."""
    try:
        descriptor = os.open(path, _READ)
    except OSError:
        return None
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        return file.read(LARGEST) if stat.S_ISREG(found.st_mode) and found.st_size < LARGEST else None


@contextlib.contextmanager
def _folder(login: Login) -> Iterator[tuple[int, str]]:
    """The folder of the copy, reached without a link, and its name there. OSError."""
    *parts, name = login.name.split("/")
    folder = folder_below(login.top, "/".join(parts))
    if folder is None:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), login.top)
    try:
        yield folder, name
    finally:
        os.close(folder)


def _read_copy(login: Login) -> bytes | None:
    with below(login.top, login.name) or io.BytesIO() as file:
        is_there = not isinstance(file, io.BytesIO) and os.fstat(file.fileno()).st_size < LARGEST
        return file.read(LARGEST) if is_there else None


def _put(login: Login, content: bytes) -> None:
    new = f".{os.urandom(8).hex()}"
    with _folder(login) as (folder, name):
        with open(os.open(new, _NEW, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)


def _remove(login: Login) -> None:
    with contextlib.suppress(OSError), _folder(login) as (folder, name):
        os.unlink(name, dir_fd=folder)
