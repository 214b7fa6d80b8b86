"""Removing what agents and checks filled: folders of any depth and number, closed ones, links, names of any kind.

1. What goes is renamed into one private folder first (`.nobrakes/trash`), so that a half-removed folder is never taken
   for a whole one, and nobody waits for what takes long.
2. Nothing is called for each level: a folder in a folder is moved up beside it, and so neither depth nor the length of
   a path matters. Links are removed and never followed, also where one is put in place while we work.
3. It has a time. What is left then, or cannot be removed, stays in the trash and is tried again later.
4. What cannot be removed is a finding, with its reason beside it (`left`), and no error: it must not stop anybody.
5. Of several who come to the same folder one removes it, the others leave it to him.
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
"""Seconds for which whoever throws something away also removes it."""
AGAIN = 600.0
"""Seconds after which what could not be removed is tried again."""
_WHY = ".why"
_LOOK = 256
"""Names between two looks at the clock."""
_MANY = 1000
"""Names that are held at a time, and so many that cannot be removed are enough."""
_REMOVING = "~going"
"""What the name of a folder gets that lies on another disk than the trash, while it is removed where it lies."""


@frozen
class Left:
    """What is still to be removed: where it was, where it is now, and why it stays; `why` empty: it takes its time."""

    path: str
    at: str
    why: str = ""


class _TimeIsUp(Exception):
    """It goes on later."""


class Trash:
    """The folder in which things lie until they are removed. Several processes may throw away and empty at a time."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def take(self, root: str, path: str, seconds: float = AT_ONCE) -> bool:
        """Put `path`, a direct child of `root`, here and remove it as far as `seconds` reach; nothing when it is gone.

        False: it cannot even be renamed, and lies where it lay; `left` says why. GitFailed: it is not in `root`.
        """
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
        """Remove it where it lies: that is another disk."""
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
        """Tell of a path that could not be put anywhere else; it lies where it lay."""
        with contextlib.suppress(OSError):
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self._note(self._place(), path, _reason(error))

    def is_stuck(self, path: str) -> bool:
        """Whether the path was to be put here a short while ago and could not be."""
        return any(one.path == path and one.at == path and one.why for one in self.left())

    def empty(self, seconds: float) -> None:
        """Remove what is here, for so long; what cannot be removed is tried again after a while."""
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
        """What is still here, and what could not be put here."""
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
        """Whether there is something here that `empty` would try to remove now."""
        places = [os.path.join(self.folder, name) for name in _names(self.folder)]
        return any(not self._is_recent(place) for place in places if not place.endswith(_WHY))

    def _remove(self, place: str, path: str, until: float) -> None:
        why = clear(place, until)
        if why is not None:
            self._note(place, path, why)
        elif not os.path.lexists(place):
            with contextlib.suppress(OSError):
                os.unlink(place + _WHY)

    def _note(self, place: str, path: str, why: str) -> None:
        """Write down beside it where it was and why it stays. What cannot be written is only told in other words."""
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
        """Drop the note of what is gone, and after a while of what could not be renamed: whoever wants it gone asks."""
        place = note.removesuffix(_WHY)
        if not os.path.lexists(place) and not (self._is_recent(place) and os.path.lexists(self._noted(place)[0])):
            with contextlib.suppress(OSError):
                os.unlink(note)


def clear(folder: str, until: float) -> str | None:
    """Remove the folder and all in it until that moment (of time.monotonic); why something cannot be removed, or None.

    None says nothing against it but time: whether it is gone shows where it was.
    """
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
    """One open folder into which every other one is moved up, so that there is only one level below it at any time."""

    def __init__(self, top: int, until: float) -> None:
        self.top = top
        self.until = until
        self.number = 0
        self.seen = 0
        self.kept: set[str] = set()
        self.why: str | None = None

    def clear(self) -> str | None:
        """Remove all that lies in it; why something stays."""
        while len(self.kept) < _MANY:
            left = (entry for entry in self._entries(self.top) if entry[0] not in self.kept)
            some = list(itertools.islice(left, _MANY))
            if not some:
                break
            for name, is_folder in some:
                self._one(name, is_folder)
        return self.why

    def _one(self, name: str, is_folder: bool) -> None:
        if not is_folder:
            trouble = _unlinked(name, self.top)
            if trouble is not None:
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
        """Unlink what lies in a folder and move its folders up; whether nothing of it has to stay."""
        whole = True
        for name, is_folder in self._entries(inner):
            if is_folder or _unlinked(name, inner) is not None:
                whole &= self._lifted(inner, name)  # what cannot be removed may at least be moved
        return whole

    def _lifted(self, inner: int, name: str) -> bool:
        """Move an entry up beside its folder."""
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
        """(name, whether it is a folder) of what lies in an open folder."""
        with os.scandir(folder) as found:
            for one in found:
                self.seen += 1
                if self.seen % _LOOK == 0 and time.monotonic() >= self.until:
                    raise _TimeIsUp
                yield one.name, one.is_dir(follow_symlinks=False)

    def _keep(self, name: str, error: OSError) -> None:
        self.kept.add(name)
        self.why = self.why or _reason(error)


def _unlinked(name: str, folder: int) -> OSError | None:
    """Remove what is no folder; why it cannot be removed, or None."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error
    return None


def _move(path: str, to: str) -> bool:
    """Rename; a folder that does not let itself be moved, or what it lies in, is opened first.

    False: it is still where it was, for what it should go to is gone.
    """
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
    """A descriptor of a folder that can be read and written; what its owner closed is opened. OSError."""
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
