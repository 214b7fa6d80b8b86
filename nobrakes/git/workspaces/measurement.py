"""How much an agent's clone contains, by the sizes that git knows, before anything is copied.

1. Sizes come before contents; only commits and folders are read, so a large blob costs a line.
2. Each object counts once. The number and depth of paths is measured where they are compared (differences).
3. Objects of our repository do not count. What is not `gathered` (small, loose objects that were hashed), git reads
   there, with our configuration, the clone's objects as a second place and without its indexes. Paths unchanged since
   main are skipped, so a bead pays only for its changes.
4. No recursion, and a time limit, as for everything that reads agents' files.
5. A pipe under a name that git reads would block it for ever: slow git is continued as after an empty file, and the
   pipe removed (without_pipes).
"""

import contextlib
import os
import signal
import stat
import tempfile
import threading
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import IO, Any

from ...agents.limits import LARGEST_COMMIT, LARGEST_FOLDER, MAX_PATH, Sizes
from ...errors import Tampered, TooLarge
from ...walking import FAULTS, Beyond, walk
from .. import command_line
from ..location import Place
from ..objects import FOLDER, MODULE, Entry, Objects, differing, is_oid, parse_commit, stored
from ..upkeep import Content

PLAIN = ("-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false")
"""Never trust what an agent may have written beside its objects."""
SECONDS = 60.0
"""For all questions about one clone."""
SILENT = 2.0
"""Git that runs so long may wait at a pipe; search for one then, after twice as much, and so on."""
_DEEPEST = 400
_MAX_ENTRIES = 10**9
"""No ignored folder may hide other entries."""
_READ_BY_GIT = frozenset({".gitignore", ".gitattributes"})
_PIPE = 65_536
_BATCH = 400
"""Questions before an answer is read: neither they nor the answers may fill a pipe."""


def too_large(clone: str, why: str) -> TooLarge:
    return TooLarge(
        f"nobrakes does not fetch the work in {os.path.basename(clone)}: {why}",
        "To allow this work, raise the limit in .nobrakes/config.toml. The workspace stays unchanged.",
    )


def on_disk(clone: str, folder: str, sizes: Sizes) -> None:
    """TooLarge if the clone's folder of objects exceeds what a branch of that size can need. Tampered if it holds other
    things than files and folders. Opens nothing."""
    size = 0
    try:
        for _, descriptor, _, names in walk(folder, 4 * sizes.objects, deepest=6):
            for name in names:
                found = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                if not stat.S_ISREG(found.st_mode):
                    raise Tampered(
                        f"nobrakes cannot fetch the workspace {os.path.basename(clone)}: its objects include a link, a "
                        "pipe or a device",
                        "Inspect the workspace; `nobrakes show` shows what its agent did.",
                    )
                size += found.st_size
    except Beyond as error:
        raise too_large(clone, f"{error} among its objects (limits.max_paths)") from None
    except OSError as error:
        if error.errno in FAULTS:
            raise
        why = f"nobrakes cannot read the objects of the workspace {os.path.basename(clone)}: {error.strerror}"
        raise Tampered(why, "Inspect the workspace; `nobrakes show` shows what its agent did.") from None
    if size > 10 * sizes.new:
        raise too_large(clone, f"its git objects have {size:,} bytes; limits.max_new_mb allows {sizes.new / 1e6:g} MB")


@contextlib.contextmanager
def without_pipes(clone: str) -> Iterator[None]:
    """While git reads this clone's files, remove pipes that would block it."""
    over = threading.Event()

    def look() -> None:
        seconds = SILENT
        while not over.wait(seconds):
            _open_pipes(clone)
            seconds *= 2

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()


def _open_pipes(clone: str) -> None:
    with contextlib.suppress(OSError, Beyond):
        for path, folder, folders, names in walk(clone, _MAX_ENTRIES, _DEEPEST, frozenset((".git",))):
            if path.count(os.sep) >= _DEEPEST - 2:
                folders.clear()  # a folder is open for each level
            for name in _READ_BY_GIT.intersection(names):
                with contextlib.suppress(OSError):
                    if stat.S_ISFIFO(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
                        os.close(os.open(name, os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder))
                        os.unlink(name, dir_fd=folder)


def uncommitted(clone: str, env: Mapping[str, str], sizes: Sizes) -> list[str]:
    """The paths that differ from the index; TooLarge if their content is too large. Opens no file. `env` names git
    folder and index."""
    size = 0
    paths: list[str] = []
    with tempfile.TemporaryFile() as errors:
        for path in listed(clone, env, errors):
            paths.append(path)
            for name, length in _lengths(clone, path):
                size += length
                why = sizes.path_beyond(name) or sizes.file_beyond(name, length) or sizes.sum_beyond(size)
                if why is not None:
                    raise too_large(clone, why)
            if len(paths) > sizes.paths:
                raise too_large(clone, f"the workspace has over {sizes.paths:,} uncommitted files (limits.max_paths)")
        errors.seek(0)
        # git cuts its complaint where it would say why
        if any(len(line) > MAX_PATH // 2 for line in errors.read(_PIPE).split(b"\n")):
            raise too_large(clone, f"the workspace has nested folders with paths of more than {MAX_PATH} bytes")
    return paths


def listed(clone: str, env: Mapping[str, str], errors: IO[bytes]) -> Iterator[str]:
    """New or changed paths that are not ignored, streamed from git."""
    process = command_line.converse(["ls-files", "-z", "-o", "-m", "--exclude-standard"], clone, env, errors)
    watch = threading.Timer(SECONDS, process.kill)
    watch.daemon = True
    watch.start()
    try:
        assert process.stdout is not None
        rest = b""
        while block := process.stdout.read(_PIPE):
            *whole, rest = (rest + block).split(b"\0")
            if len(rest) > 4 * MAX_PATH:
                break
            yield from map(os.fsdecode, whole)
        code = process.wait()
        if code == -signal.SIGKILL:
            raise too_large(clone, f"git did not list its files in {SECONDS:.0f} s")
        if code:
            raise command_line.failure(["git", "ls-files"], code, "")
    finally:
        watch.cancel()
        process.kill()
        command_line.hang_up(process)


def _lengths(clone: str, path: str) -> Iterator[tuple[str, int]]:
    whole = os.path.join(clone, path)
    try:
        found = os.lstat(whole)
    except OSError:
        return  # it was removed
    if not stat.S_ISDIR(found.st_mode):
        yield path, found.st_size
        return
    try:
        for folder, descriptor, _, names in walk(whole, leave=frozenset((".git",))):
            for name in names:
                yield os.path.join(path, folder, name), os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_size
    except Beyond as error:
        raise too_large(clone, str(error)) from None


class Measuring:
    """Measures the new objects of one clone beside our commit `main`; close it."""

    def __init__(
        self,
        place: Place,
        objects: Objects,
        main: str,
        clone: str,
        folder: str,
        sizes: Sizes,
        gathered: Mapping[str, Content],
    ) -> None:
        self.objects = objects
        self.main = main
        self.clone = clone
        self.sizes = sizes
        self.seen: set[str] = set()
        self.size = 0
        self.both = _Asked(place, lent(folder), gathered)

    def close(self) -> None:
        self.both.close()

    def measure(self, head: str) -> None:
        """TooLarge if the commit's new objects exceed the limits."""
        trees: dict[str, tuple[str, str | None]] = {}
        root = self.objects.commit(self.main).tree
        left = [head]
        while left:
            new = self._new(dict.fromkeys(left, ""))
            left = []
            for oid, (kind, size) in new.items():
                if kind != "commit":
                    raise Tampered(f"{oid} in the workspace {os.path.basename(self.clone)} is not a commit")
                if size > LARGEST_COMMIT:
                    raise too_large(
                        self.clone, f"the commit {oid[:12]} has {size:,} bytes ({LARGEST_COMMIT:,} at most)"
                    )
                commit = parse_commit(oid, self.both.content(oid))
                if is_oid(commit.tree):
                    trees[commit.tree] = "", root
                left += [parent for parent in commit.parents if is_oid(parent)]
        depth = 0
        while trees:
            if depth > self.sizes.depth + 1:
                self._refuse(self.sizes.path_beyond(f"{next(iter(trees.values()))[0]}…"))
            trees = self._folders(trees)
            depth += 1

    def _folders(self, trees: Mapping[str, tuple[str, str | None]]) -> dict[str, tuple[str, str | None]]:
        inner: dict[str, tuple[str, str | None]] = {}
        for oid, (kind, size) in self._new({oid: path for oid, (path, _) in trees.items()}).items():
            if kind != "tree":
                continue  # git refuses it when it is taken in
            path, before = trees[oid]
            if size > LARGEST_FOLDER:
                raise too_large(self.clone, f"the folder '{path}' has {size:,} bytes of names (limits.max_paths)")
            files: dict[str, str] = {}
            for name, entry, old in self._changed(oid, before):
                self._refuse(self.sizes.name_beyond(name))
                where = f"{path}/{name}" if path else name
                if entry.mode == FOLDER and entry.id not in self.seen:
                    inner[entry.id] = where, old.id if old is not None and old.mode == FOLDER else None
                elif entry.mode != MODULE and entry.id not in self.seen:
                    files[entry.id] = where
            self._new(files)
        return inner

    def _changed(self, tree: str, before: str | None) -> list[tuple[str, Entry, Entry | None]]:
        known = {} if before is None else self.objects.entries(before) or {}
        like = None if before is None else self.objects.large(before)
        try:
            found = stored(self.both.content(tree), len(tree) // 2, like)
        except (ValueError, IndexError):
            raise Tampered(f"the tree {tree} of the workspace {os.path.basename(self.clone)} is unreadable") from None
        names = found.entries if like is None else found.entries.keys() & differing(like, found)
        rows = ((name, found.entries[name], known.get(name)) for name in names)
        return [(name, entry, old) for name, entry, old in rows if entry != old]

    def _new(self, oids: Mapping[str, str]) -> dict[str, tuple[str, int]]:
        fresh = [oid for oid in oids if oid not in self.seen]
        self.seen.update(fresh)
        known = self.objects.present(fresh)
        missing = [oid for oid in fresh if oid not in known]
        found = self.both.look(missing)
        for oid in missing:
            if oid not in found:
                raise Tampered(f"nobrakes cannot fetch the workspace {os.path.basename(self.clone)}: {oid} is missing")
        if len(self.seen) > 4 * self.sizes.objects:
            raise too_large(self.clone, f"the work has more than {4 * self.sizes.objects:,} objects (limits.max_paths)")
        self.size += sum(size for _, size in found.values())
        for oid, (kind, size) in found.items():  # the one that is too large says more than the sum
            self._refuse(self.sizes.file_beyond(oids[oid], size) if kind == "blob" else None)
        self._refuse(self.sizes.sum_beyond(self.size))
        return found

    def _refuse(self, why: str | None) -> None:
        if why is not None:
            raise too_large(self.clone, why)


class _Asked:
    """The gathered objects, and for others one `git cat-file --batch-command` with many questions at a time."""

    def __init__(self, place: Place, env: Mapping[str, str], gathered: Mapping[str, Content]) -> None:
        self._place, self._env, self._gathered = place, env, gathered

    @cached_property
    def _process(self) -> Any:
        asked = [*PLAIN, "cat-file", "--batch-command"]
        process = command_line.converse(asked, self._place.git_dir, {**self._place.plumbing, **self._env})
        self._watch = threading.Timer(SECONDS, process.kill)
        self._watch.daemon = True
        self._watch.start()
        return process

    def close(self) -> None:
        if "_process" in self.__dict__:
            self._watch.cancel()
            command_line.hang_up(self._process)

    def look(self, oids: Collection[str]) -> dict[str, tuple[str, int]]:
        gathered = {oid: self._gathered[oid] for oid in oids if oid in self._gathered}
        found = {oid: (kind, len(content)) for oid, (kind, content) in gathered.items()}
        asked = [oid for oid in oids if oid not in found]
        for start in range(0, len(asked), _BATCH):
            some = asked[start : start + _BATCH]
            self._say(b"".join(b"info %s\n" % oid.encode() for oid in some))
            for oid in some:
                words = self._line().split()
                if len(words) == 3 and words[2].isdigit():
                    found[oid] = (words[1].decode("ascii", "replace"), int(words[2]))
        return found

    def content(self, oid: str) -> bytes:
        if oid in self._gathered:
            return self._gathered[oid][1]
        self._say(b"contents %s\n" % oid.encode())
        words = self._line().split()
        if len(words) != 3 or not words[2].isdigit():
            raise Tampered(f"the object {oid} cannot be read")
        content: bytes = self._process.stdout.read(int(words[2]) + 1)
        return content[:-1]

    def _say(self, text: bytes) -> None:
        try:
            self._process.stdin.write(text)
            self._process.stdin.flush()
        except OSError:
            raise Tampered("git cannot read the workspace's objects, or takes too long") from None

    def _line(self) -> bytes:
        line: bytes = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise Tampered(f"git cannot read the objects, or not in {SECONDS:.0f} s")
        return line


def lent(folder: str) -> Mapping[str, str]:
    """Let git also search this folder for objects; quoted, since colons separate paths."""
    escaped = folder.replace("\\", "\\\\").replace('"', '\\"')
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": f'"{escaped}"'}
