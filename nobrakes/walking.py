"""Reading files and folders that agents and checks filled: no links, no waiting, all bounded.

1. `below` is the one way to open an agent's file. Links, and anything but a plain file with one name, do not exist;
   a lack of the machine is an error.
2. Folders are opened below their open parents, as paths may be too long or change. As many are open as the walk is
   deep.
3. No recursion; more depth than asked for is Beyond.
4. Imports stay cheap: agents count their clone's commits with it (`commits_since`).
"""

import errno
import io
import os
import stat

TYPE_CHECKING = False  # importing `typing` would cost more than what agents ask for all night
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
MAX_ENTRIES = 1_000_000
DEEPEST = 200
FAULTS = frozenset({errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM, errno.ESTALE, errno.ETIMEDOUT})
"""Lacking resources or disk errors: not caused by an agent."""
_STATE = "/.nobrakes/"
_FILE = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC
_HANDLE = getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC


class Beyond(Exception):
    """There is more than is read; `str(error)` says of what."""


def below(top: str, path: str) -> "BinaryIO | None":
    """The plain file `path` below the folder `top`, itself no link; None: no such file. Raises OSError of FAULTS."""
    above, _, name = path.rpartition("/")
    if (folder := folder_below(top, above)) is None:
        return None
    try:
        return within(folder, name)
    finally:
        os.close(folder)


def state_parts(path: str) -> tuple[str, str]:
    """`top` and `path` for `below`, of a path in nobrakes' state. The folders (.nobrakes/runs, .nobrakes/workspaces)
    are ours, and a person may have moved them; their contents may be an agent's."""
    before, found, rest = path.rpartition(_STATE)
    kind, _, inner = rest.partition("/")
    if not found or not inner:
        return os.path.dirname(path) or ".", os.path.basename(path)
    top = f"{before}{_STATE}{kind}"
    return os.path.realpath(top) if os.path.islink(top) else top, inner


def within(folder: int, name: str) -> "BinaryIO | None":
    """As `below`, of a name in an open folder."""
    try:
        if not _is_plain(os.stat(name, dir_fd=folder, follow_symlinks=False)):
            return None  # opening a device may do something
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except (OSError, ValueError) as error:
        _require_machine(error)
        return None
    if not _is_plain(os.fstat(descriptor)):
        os.close(descriptor)
        return None
    return open(descriptor, "rb")


def folder_below(top: str, path: str = "") -> int | None:
    """A descriptor of the folder `path` below `top`, without links; None: missing. Raises OSError of FAULTS."""
    held: int | None = None
    for part in (top, *(path.split("/") if path else ())):
        try:
            inner = os.open(part, FOLDER, dir_fd=held)
        except (OSError, ValueError) as error:
            _require_machine(error)
            return None
        finally:
            if held is not None:
                os.close(held)
        held = inner
    return held


def _is_plain(found: os.stat_result) -> bool:
    """A file with a second name may be anyone's."""
    return stat.S_ISREG(found.st_mode) and found.st_nlink <= 1


def _require_machine(error: OSError | ValueError) -> None:
    if isinstance(error, OSError) and error.errno in FAULTS:
        raise error


def walk(
    top: str | int, most: int = MAX_ENTRIES, deepest: int = DEEPEST, leave: frozenset[str] = frozenset()
) -> "Iterator[tuple[str, int, list[str], list[str]]]":
    """Each folder from `top` down: relative path, descriptor, folders, other names. The caller may remove folders from
    the list. `leave`: names not entered, ignoring case. Unopenable folders are left out. `top` may be open already.
    Raises OSError, Beyond."""
    left = most
    first = os.dup(top) if isinstance(top, int) else os.open(top, FOLDER)
    stack: list[tuple[str, int, Iterator[str] | None]] = [("", first, None)]
    try:
        while stack:
            path, folder, inner = stack[-1]
            if inner is None:
                folders, names = _listed(folder, left)
                left -= len(folders) + len(names)
                folders = [name for name in folders if name.casefold() not in leave]
                yield path, folder, folders, names
                stack[-1] = (path, folder, iter(folders))
                continue
            if (name := next(inner, None)) is None:
                os.close(stack.pop()[1])
                continue
            if len(stack) >= deepest:
                raise Beyond(f"folders are nested more than {deepest} deep")
            try:
                opened = os.open(name, FOLDER, dir_fd=folder)
            except OSError:
                continue
            stack.append((os.path.join(path, name), opened, None))
    finally:
        for _, folder, _ in stack:
            os.close(folder)


def _listed(folder: int, most: int) -> tuple[list[str], list[str]]:
    folders: list[str] = []
    names: list[str] = []
    with os.scandir(folder) as found:
        for one in found:
            (folders if one.is_dir(follow_symlinks=False) else names).append(one.name)
            if len(folders) + len(names) > most:
                raise Beyond("there are too many files to search")
    return sorted(folders), sorted(names)


def open_up(name: str, folder: int | None) -> bool:
    """Give its owner access to a folder or file, not by a link; whether that worked."""
    try:
        if not hasattr(os, "O_PATH"):
            os.chmod(name, 0o700, dir_fd=folder, follow_symlinks=False)
            return True
        handle = os.open(name, _HANDLE, dir_fd=folder)
        try:
            mode = os.fstat(handle).st_mode
            if not (stat.S_ISDIR(mode) or stat.S_ISREG(mode)):
                return False
            wanted = stat.S_IRWXU if stat.S_ISDIR(mode) else stat.S_IRUSR
            os.chmod(f"/proc/self/fd/{handle}", stat.S_IMODE(mode) | wanted)
        finally:
            os.close(handle)
    except (OSError, RuntimeError):
        return False
    return True


_MAX_LOG = 4_000_000
_NEW = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
_COMMITS = ("commit:", "commit (initial):", "commit (merge):")


def read_inside(clone: str, path: str, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file below the clone; None: anything else."""
    with below(clone, path) or io.BytesIO() as file:
        return None if isinstance(file, io.BytesIO) else file.read(limit)


def replace_inside(clone: str, path: str, content: bytes) -> bool:
    """Replace a file below the clone by ours; False: its folder is missing or not writable."""
    above, _, name = path.rpartition("/")
    if (folder := folder_below(clone, above)) is None:
        return False
    ours = f"{name}.{os.getpid()}"
    try:
        with open(os.open(ours, _NEW, 0o644, dir_fd=folder), "wb") as file:
            file.write(content)
        os.rename(ours, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError:
        try:  # noqa: SIM105
            os.unlink(ours, dir_fd=folder)
        except OSError:  # it was never made; `contextlib` would cost more than all of this
            pass
        return False
    finally:
        os.close(folder)
    return True


def commits_since(clone: str, since: float) -> int | None:
    """The commits since then in the clone's log of HEAD; None: it has none. Not proven."""
    if (log := read_inside(clone, ".git/logs/HEAD", _MAX_LOG)) is None:
        return None
    count = 0
    for line in log.decode("utf-8", "replace").split("\n"):
        who, tab, what = line.partition("\t")
        when = who.rsplit(" ", 2)[-2:-1]
        if tab and what.startswith(_COMMITS):
            count += bool(when and when[0].isascii() and when[0].isdigit() and float(when[0]) >= int(since))
    return count
