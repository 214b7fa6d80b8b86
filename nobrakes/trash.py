"""Removing what agents and checks filled: folders of any depth and size, closed ones, links, names of any kind.

1. It is renamed into a private folder first (`.nobrakes/trash`), so that nobody sees half of it or waits.
2. No recursion: inner folders are moved up, so depth and path length do not matter. Links are removed and never
   followed, even if made meanwhile.
3. It has a time limit; the rest stays in the trash for later.
4. What cannot be removed is a finding with its reason (`left`), not an error.
5. Of several processes at one folder, one removes it.
"""

import contextlib
import errno
import fcntl
import itertools
import json
import os
import stat
import time
from collections.abc import Iterator

from .errors import GitFailed
from .records import frozen
from .walking import FOLDER, open_up

AT_ONCE = 2.0
"""Seconds to remove things immediately."""
AGAIN = 600.0
"""Seconds before a failed removal is tried again."""
_WHY = ".why"
_CHECK_EVERY = 256
_MANY = 1000
"""Names held at a time; as many failures end the attempt."""
_REMOVING = "~going"
"""Suffix of a folder on another disk, while it is removed in place."""


@frozen
class Left:
    """Something to remove: former place, present place, and why it stays; empty `why`: not yet removed."""

    path: str
    at: str
    why: str = ""


class _TimeIsUp(Exception):
    """It goes on later."""


class Trash:
    """The folder of things to remove. Several processes may use it at a time."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def take(self, root: str, path: str, seconds: float = AT_ONCE) -> bool:
        """Move `path`, a direct child of `root`, here and remove it for up to `seconds`; ignores a missing one. False:
        it cannot be renamed and stays; `left` says why. GitFailed: it is not in `root`."""
        root, path = os.path.abspath(root), os.path.abspath(path)
        if os.path.dirname(path) != root:
            raise GitFailed(f"{path} is not in {root}, so nobrakes does not remove it")
        if not os.path.lexists(path):
            return True
        place = self._place()
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)  # Python gives a mode to the last folder alone
            os.mkdir(place, 0o700)
            while not _move(path, os.path.join(place, "0")):
                place = self._place()  # whoever empties the trash took the last one away while it was empty
                os.mkdir(place, 0o700)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.rmdir(place)
            if error.errno == errno.EXDEV:
                return self._take_there(place, path, seconds)
            self._note(place, path, _reason(error))
            return False
        self._note(place, path, "")
        self._remove(place, path, time.monotonic() + seconds)
        return True

    def _place(self) -> str:
        return os.path.join(self.folder, f"{time.time_ns()}-{os.getpid()}")

    def _take_there(self, place: str, path: str, seconds: float) -> bool:
        """Remove it in place, on another disk."""
        going = path if path.endswith(_REMOVING) else path + _REMOVING
        try:
            if going != path:
                clear(going, time.monotonic() + seconds)
                os.rename(path, going)
            why = clear(going, time.monotonic() + seconds)
        except OSError as error:
            why = _reason(error)
        if why is not None:
            self._note(place, path if os.path.lexists(path) else going, why)
        return not os.path.lexists(path)

    def note(self, path: str, error: OSError) -> None:
        with contextlib.suppress(OSError):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self._note(self._place(), path, _reason(error))

    def is_stuck(self, path: str) -> bool:
        return any(one.path == path and one.at == path and one.why for one in self.left())

    def empty(self, seconds: float) -> None:
        """Remove contents for so long; failures are tried again later."""
        until = time.monotonic() + seconds
        for name in _names(self.folder):
            place = os.path.join(self.folder, name)
            if time.monotonic() >= until:
                return
            if name.endswith(_WHY):
                self._forget_if_gone(place)
            elif not self._is_recent(place):
                self._remove(place, self._noted(place)[0], until)

    def left(self) -> tuple[Left, ...]:
        found = []
        for name in _names(self.folder):
            place = os.path.join(self.folder, name)
            if not name.endswith(_WHY):
                path, why = self._noted(place)
                found.append(Left(path, place, why))
            elif not os.path.lexists(place.removesuffix(_WHY)):
                path, why = self._noted(place.removesuffix(_WHY))
                found += [Left(path, path, why)] if why and os.path.lexists(path) else []
        return tuple(found)

    def is_due(self) -> bool:
        places = [os.path.join(self.folder, name) for name in _names(self.folder)]
        return any(not self._is_recent(place) for place in places if not place.endswith(_WHY))

    def _remove(self, place: str, path: str, until: float) -> None:
        if (why := clear(place, until)) is not None:
            self._note(place, path, why)
        elif not os.path.lexists(place):
            with contextlib.suppress(OSError):
                os.unlink(place + _WHY)

    def _note(self, place: str, path: str, why: str) -> None:
        with contextlib.suppress(OSError), open(place + _WHY, "w", encoding="utf-8", errors="surrogateescape") as file:
            json.dump({"path": path, "why": why}, file)

    def _noted(self, place: str) -> tuple[str, str]:
        try:
            with open(place + _WHY, encoding="utf-8") as file:
                found = json.load(file)
            return str(found["path"]), str(found["why"])
        except (OSError, ValueError, KeyError, TypeError):
            return place, ""

    def _is_recent(self, place: str) -> bool:
        try:
            age = time.time() - os.stat(place + _WHY).st_mtime
        except OSError:
            return False
        return bool(self._noted(place)[1]) and 0 <= age < AGAIN

    def _forget_if_gone(self, note: str) -> None:
        place = note.removesuffix(_WHY)
        if not os.path.lexists(place) and not (self._is_recent(place) and os.path.lexists(self._noted(place)[0])):
            with contextlib.suppress(OSError):
                os.unlink(note)


def clear(folder: str, until: float) -> str | None:
    """Remove the folder until this time (time.monotonic); returns why not. None may also mean that time ran out."""
    try:
        top = _opened(folder, None)
    except FileNotFoundError:
        return None
    except OSError as error:
        return _reason(error)
    try:
        fcntl.flock(top, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stuck = _Level(top, until).clear()
    except (_TimeIsUp, BlockingIOError):
        return None
    except OSError as error:
        return _reason(error)
    finally:
        os.close(top)
    if stuck is not None:
        return stuck
    try:
        os.rmdir(folder)
    except OSError as error:
        # somebody still writes there: it comes by again
        return None if error.errno in (errno.ENOENT, errno.ENOTEMPTY) else _reason(error)
    return None


class _Level:
    """An open folder into which all others are moved up, so that there is only one level below it."""

    def __init__(self, top: int, until: float) -> None:
        self.top = top
        self.until = until
        self.number = 0
        self.seen = 0
        self.kept: set[str] = set()
        self.why: str | None = None

    def clear(self) -> str | None:
        while len(self.kept) < _MANY:
            left = (entry for entry in self._entries(self.top) if entry[0] not in self.kept)
            if not (some := list(itertools.islice(left, _MANY))):
                break
            for name, is_folder in some:
                self._one(name, is_folder)
        return self.why

    def _one(self, name: str, is_folder: bool) -> None:
        if not is_folder:
            if (trouble := _unlinked(name, self.top)) is not None:
                self._keep(name, trouble)
            return
        try:
            inner = _opened(name, self.top)
        except FileNotFoundError:
            return
        except OSError as error:
            self._keep(name, error)
            return
        try:
            whole = self._inside(inner)
        finally:
            os.close(inner)
        try:
            os.rmdir(name, dir_fd=self.top)
        except FileNotFoundError:
            return
        except OSError as error:
            if whole and error.errno == errno.ENOTEMPTY:
                return  # somebody writes there: it comes by again
            self._keep(name, error)

    def _inside(self, inner: int) -> bool:
        whole = True
        for name, is_folder in self._entries(inner):
            if is_folder or _unlinked(name, inner) is not None:
                whole &= self._lifted(inner, name)  # what cannot be removed may at least be moved
        return whole

    def _lifted(self, inner: int, name: str) -> bool:
        for attempt in range(2):
            self.number += 1
            new = f"{os.getpid()}-{self.number}"
            try:
                os.rename(name, new, src_dir_fd=inner, dst_dir_fd=self.top)
                return True
            except FileNotFoundError:
                return True
            except OSError as error:
                if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR):
                    continue  # what an earlier try moved up has this name
                if attempt == 0 and open_up(name, inner):
                    continue
                self.why = self.why or _reason(error)
                break
        return False

    def _entries(self, folder: int) -> Iterator[tuple[str, bool]]:
        with os.scandir(folder) as found:
            for one in found:
                self.seen += 1
                if self.seen % _CHECK_EVERY == 0 and time.monotonic() >= self.until:
                    raise _TimeIsUp
                yield one.name, one.is_dir(follow_symlinks=False)

    def _keep(self, name: str, error: OSError) -> None:
        self.kept.add(name)
        self.why = self.why or _reason(error)


def _unlinked(name: str, folder: int) -> OSError | None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def _move(path: str, to: str) -> bool:
    """Rename, opening a closed folder or parent first. False: the source stays, since the target's folder is gone."""
    try:
        try:
            os.rename(path, to)
        except PermissionError:
            open_up(os.path.dirname(path), None)
            open_up(path, None)
            os.rename(path, to)
    except FileNotFoundError:
        return not os.path.lexists(path)
    return True


def _opened(name: str, folder: int | None) -> int:
    try:
        found = os.open(name, FOLDER, dir_fd=folder)
    except PermissionError:
        if not open_up(name, folder):
            raise
        found = os.open(name, FOLDER, dir_fd=folder)
    if os.fstat(found).st_mode & stat.S_IRWXU != stat.S_IRWXU:
        with contextlib.suppress(OSError):  # somebody else's
            os.fchmod(found, 0o700)
    return found


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
