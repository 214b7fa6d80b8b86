"""Files of a run on their way between this machine and a node, and the messages around them.

1. A message is a JSON object and bytes, each with its length before it.
2. A parcel is a list of entries: a header line (JSON) and, of a file, its content. It is written below one folder only.
3. What arrives is untrusted: no entry leads out of its folder, through a link or by its name, and all is bounded.
4. Standard library only: the program that stands for a sandbox loads it (fleet.on_node).
"""

import json
import os
import stat
import struct

from ..walking import DEEPEST, FOLDER, folder_below, walk, within

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import Any

MAX_HEADER = 4_000_000
MAX_BODY = 64 << 20
PART = 8 << 20
"""Bytes of a parcel that one message carries."""
MAX_PARCEL = 4 << 30
MAX_ENTRIES = 1_000_000
_MAX_DEPTH = 2 * DEEPEST
"""Of an entry: a workspace's place, and what `state_of` finds in it."""
_LENGTHS = struct.Struct("!IQ")
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Broken(Exception):
    """What the other side sent is not a message or a parcel of ours."""


def message(header: "Mapping[str, Any]", body: bytes = b"") -> bytes:
    words = json.dumps(header).encode()
    return _LENGTHS.pack(len(words), len(body)) + words + body


def receive(line: "socket.socket") -> "tuple[dict[str, Any], bytes]":
    """Raises EOFError, Broken."""
    words, size = sizes(_exactly(line, _LENGTHS.size))
    return header_of(_exactly(line, words)), _exactly(line, size)


LENGTHS = _LENGTHS.size


def sizes(head: bytes) -> "tuple[int, int]":
    words, size = _LENGTHS.unpack(head)
    if words > MAX_HEADER or size > MAX_BODY:
        raise Broken("a message is too long")
    return words, size


def header_of(words: bytes) -> "dict[str, Any]":
    try:
        found = json.loads(words)
    except (ValueError, RecursionError):
        raise Broken("a message is not JSON") from None
    if not isinstance(found, dict):
        raise Broken("a message is not an object")
    return found


def listening(path: str) -> "socket.socket":
    """A Unix socket that listens at the path, which may have any length. Raises OSError."""
    import socket

    folder = os.open(os.path.dirname(path), FOLDER)
    try:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        line.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        line.listen()
        return line
    finally:
        os.close(folder)


def connected(path: str) -> "socket.socket":
    """A connection to the Unix socket, whose path may have any length, and no link in its place. Raises OSError."""
    import socket

    held = os.open(path, getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            line.connect(f"/proc/self/fd/{held}")
        except OSError:
            line.close()
            raise
        return line
    finally:
        os.close(held)


def _exactly(line: "socket.socket", size: int) -> bytes:
    parts = []
    while size:
        part = line.recv(min(size, 1 << 20))
        if not part:
            raise EOFError
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def state_of(top: str) -> "dict[str, tuple[int, ...]]":
    """The state of a folder, so that later only what changed is sent: mode, size, times and inode by path."""
    found: dict[str, tuple[int, ...]] = {}
    for path, folder, folders, names in walk(top, MAX_ENTRIES):
        for name in (*folders, *names):
            try:
                one = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except OSError:
                continue
            is_folder = stat.S_ISDIR(one.st_mode)
            times = () if is_folder else (one.st_size, one.st_mtime_ns, one.st_ctime_ns, one.st_ino)
            found[os.path.join(path, name)] = (one.st_mode, *times)
    return found


def changed(before: "Mapping[str, tuple[int, ...]]", now: "Mapping[str, tuple[int, ...]]") -> "list[str]":
    """Paths that are new, other or gone, each folder before what is in it."""
    gone = [path for path in before if path not in now]
    return sorted([path for path, one in now.items() if before.get(path) != one] + gone)


def pack(top: str, paths: "Iterable[str]", under: str = "") -> bytes:
    """The entries of these paths below `top`, to be written below `under`."""
    parts = []
    for path in paths:
        above, _, name = path.rpartition("/")
        folder = folder_below(top, above)
        if folder is None:
            parts.append(_entry(under, path, "gone"))
            continue
        try:
            parts.append(_packed(folder, name, under, path))
        finally:
            os.close(folder)
    return b"".join(parts)


def _packed(folder: int, name: str, under: str, path: str) -> bytes:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return _entry(under, path, "gone")
    if stat.S_ISDIR(found.st_mode):
        return _entry(under, path, "folder")
    if stat.S_ISLNK(found.st_mode):
        return _entry(under, path, "link", os.fsencode(os.readlink(name, dir_fd=folder)))
    file = within(folder, name)
    if file is None:
        return b""  # a pipe, a device, a file with two names: none of them travels
    with file:
        content = file.read()
    mode = 0o755 if found.st_mode & stat.S_IXUSR else 0o644
    return _entry(under, path, "file", content, mode)


def _entry(under: str, path: str, kind: str, content: bytes = b"", mode: int = 0) -> bytes:
    words = json.dumps([os.path.join(under, path), kind, mode, len(content)]).encode()
    return words + b"\n" + content


def entries(parcel: bytes) -> "Iterator[tuple[str, str, int, bytes]]":
    """Raises Broken."""
    place = count = 0
    while place < len(parcel):
        end = parcel.find(b"\n", place, place + MAX_HEADER)
        count += 1
        try:
            path, kind, mode, size = json.loads(parcel[place:end] if end > 0 else b"0")
            is_sound = isinstance(path, str) and isinstance(mode, int) and isinstance(size, int) and size >= 0
        except (ValueError, TypeError, RecursionError):
            is_sound = False
        if not is_sound or count > MAX_ENTRIES or end + 1 + size > len(parcel):
            raise Broken("a parcel has an entry that is none")
        parts = path.split("/")
        if any(part in ("", ".", "..") for part in parts) or "\0" in path:
            raise Broken("an entry of a parcel leads elsewhere")
        if len(path) > 4000 or len(parts) > _MAX_DEPTH:
            raise Broken("an entry of a parcel lies too deep")
        try:
            os.fsencode(path)
        except UnicodeEncodeError:
            raise Broken("an entry of a parcel has a name that no file can have") from None
        place = end + 1 + size
        yield path, kind, mode, parcel[end + 1 : place]


def unpack(top: str, parcel: bytes, inside: "Sequence[str]" = ("",)) -> None:
    """Write the entries below the folder `top`, but only what lies in the folders `inside`. Raises Broken, OSError."""
    for path, kind, mode, content in entries(parcel):
        if not any(not place or path.startswith(f"{place}/") for place in inside):
            continue
        write(top, path, kind, mode, content)


def write(top: str, path: str, kind: str, mode: int, content: bytes) -> None:
    """Write one entry below the folder `top`. Raises Broken, OSError."""
    above, _, name = path.rpartition("/")
    folder = _made(top, above, kind != "gone")
    if folder is not None:
        try:
            _written(folder, name, kind, mode, content)
        finally:
            os.close(folder)


def _made(top: str, path: str, is_wanted: bool) -> "int | None":
    held = os.open(top, FOLDER)
    for part in path.split("/") if path else ():
        try:
            inner = _opened(part, held, is_wanted)
        finally:
            os.close(held)
        if inner is None:
            return None
        held = inner
    return held


def _opened(name: str, above: int, is_wanted: bool) -> "int | None":
    try:
        return os.open(name, FOLDER, dir_fd=above)
    except OSError:
        if not is_wanted:
            return None
    _removed(above, name)  # a file or a link in its place
    os.mkdir(name, 0o755, dir_fd=above)
    return os.open(name, FOLDER, dir_fd=above)


def _written(folder: int, name: str, kind: str, mode: int, content: bytes) -> None:
    if kind == "folder":
        inner = _opened(name, folder, True)
        assert inner is not None, "it was wanted"
        os.close(inner)
    elif kind == "gone":
        _removed(folder, name)
    elif kind == "link":
        _removed(folder, name)
        os.symlink(os.fsdecode(content), name, dir_fd=folder)
    elif kind == "file":
        new = f".nobrakes.{os.getpid()}.new"  # not of the name, which may be as long as a name can be
        try:
            with open(os.open(new, _NEW, mode & 0o755, dir_fd=folder), "wb") as file:
                file.write(content)
            _moved(folder, new, name)
        except BaseException:
            _removed(folder, new)
            raise
    else:
        raise Broken("a parcel has an entry of an unknown kind")


def _moved(folder: int, new: str, name: str) -> None:
    try:
        os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
    except IsADirectoryError:
        _removed(folder, name)
        os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)


def _removed(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except IsADirectoryError:
        import shutil

        shutil.rmtree(name, ignore_errors=True, dir_fd=folder)
    except FileNotFoundError:
        pass
