"""Where each checkout of main stands: the commit that its index and files last followed.

1. A note in the checkout's git folder has one commit, or two while main moves. It is written before main moves and
   after the files followed, so it is right after a kill, without a database.
2. A checkout is behind if index paths equal that commit instead of main. A path with neither version is a person's.
3. A person's commit, pull, reset or checkout moves main and index together and is never behind: main left the noted
   commit, or HEAD's log shows it. The later of note and log counts.
4. `git checkout main` writes the index first and HEAD last, so if main moved in between, the log names the wrong
   commit: after a checkout, or without note and log, the index is compared with the last merges, and is older if it has
   none of their content.
5. Looking takes no lock and writes nothing.
"""

import contextlib
import errno
import os
import re
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...errors import DiskFull, GitFailed, StoreReadOnly
from ...records import frozen
from ...text.cleaning import first_of
from ...walking import Beyond, walk
from .. import command_line
from .. import objects as git_objects
from ..command_line import CHECKOUT
from ..history import History, raw
from ..location import Place
from ..objects import EXECUTABLE, FILE, LINK, Objects, is_oid
from ..port import ABSENT, GITLINK

Difference = tuple[str, str, str, str, str]
"""(path, mode before, mode after, object before, object after), as from git.history.raw."""


# git takes ignored files for worthless: `read-tree -u` replaces them. They are a human's too (.env, local notes), so we
# look.
def in_the_way(root: str, differences: Sequence[Difference]) -> list[str]:
    """Paths below `root` that would be lost or written through: what is in the place of new files, unless it goes."""
    removed = {path for path, _, after, _, _ in differences if after == ABSENT}
    found = set()
    for path, before, after, _, _ in differences:
        if (blocked := _leading(root, path, removed)) is not None:
            found.add(blocked)
        elif (before == ABSENT and after != ABSENT) or (before == GITLINK and after not in (GITLINK, ABSENT)):
            # a file in the place of a submodule: git would remove the submodule's files, edits and all
            found.update(_in_place(root, path, removed))
    return sorted(found)


def _leading(root: str, path: str, removed: set[str]) -> str | None:
    parts = path.split("/")
    for end in range(1, len(parts)):
        folder = "/".join(parts[:end])
        try:
            mode = os.lstat(os.path.join(root, folder)).st_mode
        except OSError:
            return None
        if not stat.S_ISDIR(mode):
            return None if folder in removed else folder
    return None


def _in_place(root: str, path: str, removed: set[str]) -> list[str]:
    whole = os.path.join(root, path)
    try:
        mode = os.lstat(whole).st_mode
    except OSError:
        return []
    if not stat.S_ISDIR(mode):
        return [path]
    try:
        inside = [os.path.join(path, folder, name) for folder, _, _, names in walk(whole) for name in names]
    except (OSError, Beyond):
        return [path]  # who cannot be looked through has to be asked about
    return [name for name in inside if name not in removed]


MARK = b"nobrakes"
_COPY = "index.nobrakes"
LOOK = "-look"
"""Suffix of the copy's name, for an index of a few paths."""
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)

_UNDER_WAY = (
    ("MERGE_HEAD", "a merge"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase or `git am`"),
    # between two commits of several there is no *_HEAD
    ("sequencer", "a cherry-pick or revert of several commits"),
    # one that has only begun; from its first step on HEAD is elsewhere, and ends where main is by then
    ("BISECT_LOG", "a bisection"),
)


# Read from the files that git keeps, so that looking costs no process. While main moves, the worktree's index.lock is
# ours: it is written aside and linked, so that it names us from its first moment on.
@frozen
class Worktree:
    """A worktree and its own git folder (for the first one the shared git folder)."""

    path: str
    git_dir: str

    @property
    def index(self) -> str:
        return os.path.join(self.git_dir, "index")

    @property
    def copy(self) -> str:
        return os.path.join(self.git_dir, _COPY)

    @property
    def lock(self) -> str:
        return self.index + ".lock"

    @property
    def env(self) -> Mapping[str, str]:
        """The person's own settings, and our copy of the index."""
        return {**CHECKOUT, "GIT_DIR": self.git_dir, "GIT_WORK_TREE": self.path, "GIT_INDEX_FILE": self.copy}

    def under_way(self) -> str | None:
        return next((what for name, what in _UNDER_WAY if os.path.lexists(os.path.join(self.git_dir, name))), None)


def _line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline().rstrip("\n")
    except OSError:
        return ""


def all_of(place: Place) -> list[Worktree]:
    """Every existing worktree of the repository."""
    found = [] if place.worktree is None else [Worktree(place.worktree, place.git_dir)]
    linked = os.path.join(place.git_dir, "worktrees")
    for name in sorted(os.listdir(linked)) if os.path.isdir(linked) else []:
        git_dir = os.path.join(linked, name)
        dot_git = _line(os.path.join(git_dir, "gitdir"))
        path = os.path.dirname(os.path.normpath(os.path.join(git_dir, dot_git)))
        if dot_git and os.path.isdir(path):
            found.append(Worktree(path, git_dir))
    return found


def main_worktrees(place: Place) -> list[Worktree]:
    return branch_worktrees(place, place.ref)


def branch_worktrees(place: Place, ref: str) -> list[Worktree]:
    return [one for one in all_of(place) if ref in refs_in(one)]


def refs_in(worktree: Worktree) -> list[str]:
    files = ("HEAD", os.path.join("rebase-merge", "head-name"), os.path.join("rebase-apply", "head-name"))
    lines = (_line(os.path.join(worktree.git_dir, name)).removeprefix("ref: ") for name in files)
    return [line for line in lines if line.startswith("refs/")]


def is_on(git_dir: str, ref: str) -> bool:
    """Whether the worktree has the branch checked out, and does not rebase it."""
    return _line(os.path.join(git_dir, "HEAD")) == f"ref: {ref}"


def head(worktree: Worktree) -> str:
    return command_line.run(["rev-parse", "HEAD^{commit}"], cwd=worktree.path, env=worktree.env).text


@contextlib.contextmanager
def locked(worktree: Worktree, adopt: bool = False) -> Iterator[bool]:
    """Hold the worktree's index.lock, with a copy of its index; False: it is locked already. `adopt`: take over the
    lock of a killed nobrakes as it is, so that nothing comes in between."""
    if not _take(worktree) and not (adopt and _is_ours(worktree)):
        yield False
        return
    try:
        copy(worktree)
        yield True
    finally:
        for ending in ("", ".lock", LOOK, f"{LOOK}.lock"):
            _remove(worktree.copy + ending)
        _remove(worktree.lock)


def _take(worktree: Worktree) -> bool:
    """The lock contains our mark from the start."""
    background = f"{worktree.copy}-{os.getpid()}"
    try:
        try:
            _write_mark(background, os.O_TRUNC)
            os.link(background, worktree.lock)
        finally:
            _remove(background)
    except (FileExistsError, FileNotFoundError):  # the latter: a daemon that starts tidied up beside us
        return False
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise StoreReadOnly(f"cannot create {worktree.lock}: {error.strerror}") from None
        return _take_without_links(worktree)
    return True


def _take_without_links(worktree: Worktree) -> bool:
    """As safe as a file system without links allows: a kill between the two calls leaves a lock without our mark."""
    try:
        _write_mark(worktree.lock, os.O_EXCL)
    except FileExistsError:
        return False
    except OSError as error:
        raise StoreReadOnly(f"cannot create {worktree.lock}: {error.strerror}") from None
    return True


def _write_mark(path: str, how: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | how, 0o666)
    try:
        os.write(descriptor, MARK)
        os.fsync(descriptor)  # an empty lock after a power cut would be nobody's, and stay
    finally:
        os.close(descriptor)


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def copy(worktree: Worktree) -> None:
    import shutil

    _remove(worktree.copy)
    try:
        # with its times: git compares them with the files' to know which ones it has to read
        shutil.copy2(worktree.index, worktree.copy)
    except FileNotFoundError:
        return  # nothing was ever checked out or added here
    except OSError as error:
        raise GitFailed(f"cannot copy {worktree.index}: {error.strerror}") from None


def publish(worktree: Worktree) -> None:
    os.replace(worktree.copy, worktree.index)


def age_of(lock: str) -> float:
    """Seconds since the lock was written; 0: it is gone."""
    try:
        return time.time() - os.stat(lock).st_mtime
    except OSError:
        return 0.0


def clear(worktree: Worktree) -> None:
    """Remove the lock and files of a killed nobrakes; a person's lock stays."""
    if _is_ours(worktree):
        _clear_copies(worktree)
        _remove(worktree.lock)
    elif not os.path.lexists(worktree.lock):
        _clear_copies(worktree)


def _is_ours(worktree: Worktree) -> bool:
    try:
        with open(worktree.lock, "rb") as file:
            return file.read(len(MARK) + 1) == MARK
    except OSError:
        return False


def _clear_copies(worktree: Worktree) -> None:
    for name in os.listdir(worktree.git_dir):
        if name.startswith(_COPY):
            _remove(os.path.join(worktree.git_dir, name))


CONDITION_FILE = "nobrakes-checkout"
NAMED = 5
"""How many paths a message names."""

_FEW = 100
"""Up to so many paths are queried by name; beyond that the whole index is read."""
_TAIL = 8192
_PERSONS = re.compile(r"(commit|reset|pull|merge|checkout|rebase|cherry-pick|revert|am|clone)\b")
"""Git's entries in the log of HEAD when the index moved with it."""
_CHECKOUT = "checkout"
_OURS = re.compile(r"^(Reverts-)?Bead: ", re.MULTILINE)
_MERGES = 20
"""How many commits may come to main during one `git checkout` of it."""


@frozen
class Note:
    """A checkout's note: it is `at` this commit, and moves `to` that one."""

    at: str
    to: str = ""


@frozen
class Look:
    """A checkout's state: its commit, and the paths that differ from main's."""

    at: str
    behind: tuple[str, ...] = ()  # as they were there
    edited: tuple[str, ...] = ()  # staged by a person, who may not have seen main's version
    is_landing: bool = False  # main was moved under it by a landing that nobody brought to its end

    @property
    def is_behind(self) -> bool:
        """Whether a plain commit there would revert changes of main."""
        return bool(self.behind or self.edited)


def read(holder: Worktree) -> Note | None:
    try:
        with open(os.path.join(holder.git_dir, CONDITION_FILE), encoding="ascii", errors="replace") as file:
            words = file.read(200).split()
    except OSError:
        return None
    return Note(*words) if len(words) in (1, 2) and all(is_oid(word) for word in words) else None


def write(holder: Worktree, at: str, to: str = "") -> None:
    """Note where the checkout is, durably. Raises DiskFull, StoreReadOnly."""
    if read(holder) == Note(at, to):
        return
    path = os.path.join(holder.git_dir, CONDITION_FILE)
    try:
        with open(f"{path}.new", "w", encoding="ascii") as file:
            file.write(f"{at} {to}".rstrip() + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(f"{path}.new", path)
        folder = os.open(holder.git_dir, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise (DiskFull if is_full else StoreReadOnly)(f"cannot write {path}: {error.strerror}") from None


def look(history: History, holder: Worktree, main: str, note: Note | None) -> Look:
    """Compare the checkout's index with `main`."""
    if not os.path.exists(holder.index) or note == Note(main):
        return Look(main)
    is_landing = note is not None and bool(note.to) and _contains(history, note.to, main)
    try:
        at = note.at if note is not None and is_landing else _current_commit(history, holder, main, note)
        differences = raw(history.objects, at, main)
    except GitFailed:
        return Look(main)  # the noted commit is gone, so main was rewritten by a person
    behind, edited = apart(differences, entries(holder, [path for path, *_ in differences], reading(holder)))
    if not behind and (not is_landing or len(edited) < len(differences)):
        # an index takes the other's place in one piece: what has a path of main's has all of them, or a person's own
        return Look(main)
    return Look(at, tuple(behind), tuple(edited), is_landing)


def _current_commit(history: History, holder: Worktree, main: str, note: Note | None) -> str:
    noted = note.at if note is not None and _contains(history, note.at, main) else ""
    logged, command = _logged(holder)
    if not _contains(history, logged, main):
        logged = ""
    if noted and not (logged and _contains(history, noted, logged)):
        return noted
    if not logged:
        return main if note is not None or command else _from_before(history, holder, main)
    return _from_before(history, holder, logged) if command == _CHECKOUT else logged


def _from_before(history: History, holder: Worktree, at: str) -> str:
    objects, line = history.objects, [at]
    while len(line) <= _MERGES and (parents := objects.commit(line[-1]).parents):
        line.append(parents[0])
    brought = [raw(objects, before, at) for before in line[1:]]
    staged = entries(holder, list({path for one in brought for path, *_ in one}), reading(holder))
    found, is_ours = at, False
    for commit, before, differences in zip(line, line[1:], brought, strict=False):
        is_ours = is_ours or _OURS.search(objects.commit(commit).message) is not None
        behind, edited = apart(differences, staged)
        if is_ours and behind and len(behind) + len(edited) == len(differences):
            found = before
    return found


def apart(differences: Iterable[Difference], staged: Mapping[str, tuple[str, str]]) -> tuple[list[str], list[str]]:
    """(paths whose index entry is the old one, paths whose entry is neither old nor new)."""
    behind, edited = [], []
    for path, mode_before, mode_after, before, after in differences:
        entry = staged.get(path, gone(before))
        if entry == (mode_before, before):
            behind.append(path)
        elif entry != (mode_after, after):
            edited.append(path)
    return behind, edited


def gone(oid: str) -> tuple[str, str]:
    return ABSENT, "0" * len(oid)


def entries(holder: Worktree, paths: list[str], env: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """(mode, object) of these paths in the index that `env` names; a path in conflict has no mode."""
    asked = ["ls-files", "-s", "-z"]
    if len(paths) <= _FEW:
        asked += ["--", *(f":(literal,top){path}" for path in paths)]
    wanted, found = frozenset(paths), {}
    for record in command_line.run(asked, cwd=holder.path, env=env).records if paths else ():
        head, _, path = record.partition("\t")
        mode, oid, stage = head.split(" ")
        if path in wanted:
            found[path] = (mode, oid) if stage == "0" else ("", "")
    return found


def told(holder: Worktree, seen: Look, main: str) -> str:
    paths = sorted((*seen.behind, *seen.edited))
    return (
        f"the checkout {holder.path} is behind main ({main[:12]}): {named(paths)} are still at {seen.at[:12]}, or were "
        "edited since then. Do not commit on main there: the commit would revert merged work. `nobrakes run` updates "
        "the checkout unless you edited its files. To keep your edits, type `git branch my-work "
        f"{seen.at[:12]}`, `git symbolic-ref HEAD refs/heads/my-work`, commit, then go back to main and "
        "`git merge my-work`."
    )


_BARE = (
    "git treats this repository as bare (core.bare is true), but files are checked out in {}. nobrakes still updates "
    "these files, but git refuses to work there. `git config core.bare false` corrects the setting."
)


def bare(place: Place) -> tuple[str, ...]:
    return (_BARE.format(os.path.dirname(place.git_dir)),) if place.bare_by_accident else ()


def behind(place: Place, history: History) -> tuple[str, ...]:
    """Messages about the checkouts of main that are behind; nothing is changed. Raises NoMain."""
    main = git_objects.main(place)
    looks = {holder: look(history, holder, main, read(holder)) for holder in main_worktrees(place)}
    return (*(told(holder, seen, main) for holder, seen in looks.items() if seen.is_behind), *bare(place))


def named(paths: Iterable[str]) -> str:
    return first_of(list(paths), NAMED)


def is_clean(holder: Worktree, main: str) -> bool:
    asked = ["diff-index", "--cached", "--quiet", main, "--"]
    return command_line.run(asked, cwd=holder.path, env=reading(holder), expect=(0, 1)).code == 0


def reading(holder: Worktree) -> Mapping[str, str]:
    return {**CHECKOUT, "GIT_DIR": holder.git_dir, "GIT_WORK_TREE": holder.path, "GIT_OPTIONAL_LOCKS": "0"}


def _contains(history: History, ancestor: str, descendant: str) -> bool:
    with contextlib.suppress(GitFailed):
        return bool(ancestor) and history.contains(ancestor, descendant)
    return False


def _logged(holder: Worktree) -> tuple[str, str]:
    """Where the last command that moves the index left HEAD, and its name; empty: unknown."""
    try:
        with open(os.path.join(holder.git_dir, "logs", "HEAD"), "rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return "", ""
    for line in reversed(lines):
        people, _, message = line.partition("\t")
        words, command = people.split(" "), _PERSONS.match(message)
        if command is not None and len(words) > 1 and is_oid(words[1]):
            return words[1], command[1]
    return "", ""


Version = Mapping[str, tuple[str, str]]
"""Path to (mode, object)."""


# A path is touched only when its file is, after the human's own filters, one of the two versions that nobrakes moved
# between, or the beginning of the later one, as a kill leaves it. The index follows only for paths that it has as
# before. The caller holds the worktree's index (`locked`).
def follow_files(holder: Worktree, differences: Sequence[Difference]) -> set[str]:
    """Update the index (our copy) where its entry is old and the file already new; returns those paths."""
    behind = _behind(holder, differences)
    _, ahead = _states(holder, differences)
    return _follow(holder, differences, behind & ahead)


def follow_begun(holder: Worktree, differences: Sequence[Difference]) -> set[str]:
    """Update the index (our copy) where the file is only the beginning of the new one; returns the paths."""
    after = {path: (mode, oid) for path, _, mode, _, oid in differences}
    begun = {path for path in _behind(holder, differences) if _is_begun(holder, path, *after[path])}
    return _follow(holder, differences, begun)


def _behind(holder: Worktree, differences: Sequence[Difference]) -> set[str]:
    return set(apart(differences, entries(holder, [path for path, *_ in differences], holder.env))[0])


def _follow(holder: Worktree, differences: Sequence[Difference], paths: set[str]) -> set[str]:
    if lines := _lines(differences, paths):
        _git(holder, ["update-index", "-z", "--index-info"], stdin=lines)
    return paths


def between(holder: Worktree, old: str, differences: Sequence[Difference], paths: set[str]) -> str:
    """The tree of `old` with the new version of these paths: git then leaves them alone."""
    env = {**holder.env, "GIT_INDEX_FILE": holder.copy + LOOK}
    whole = ["-c", "core.sparseCheckout=false", "-c", "core.splitIndex=false"]
    lines = _lines(differences, paths)
    try:
        command_line.run([*whole, "read-tree", old], cwd=holder.path, env=env)
        command_line.run([*whole, "update-index", "-z", "--index-info"], cwd=holder.path, env=env, stdin=lines)
        return command_line.run([*whole, "write-tree"], cwd=holder.path, env=env).text
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(holder.copy + LOOK)


def _lines(differences: Sequence[Difference], paths: set[str]) -> bytes:
    """Lines for `update-index --index-info`; removals first, since a folder may have become a file."""
    return b"".join(
        (f"0 {'0' * len(oid)}" if mode == ABSENT else f"{mode} {oid}").encode() + b"\t" + os.fsencode(path) + b"\0"
        for path, _, mode, _, oid in sorted((d for d in differences if d[0] in paths), key=lambda d: d[2] != ABSENT)
    )


def finish(holder: Worktree, differences: Sequence[Difference], paths: set[str]) -> None:
    for path, _, mode, _, _ in differences:
        if path in paths and mode == ABSENT:
            os.unlink(os.path.join(holder.path, path))
            with contextlib.suppress(OSError):
                os.removedirs(os.path.dirname(os.path.join(holder.path, path)))
    wanted = {path: (mode, oid) for path, _, mode, _, oid in differences if path in paths and mode != ABSENT}
    if wanted:
        with _index(holder, wanted) as env:
            command_line.run(["checkout-index", "-f", "-q", "-a"], cwd=holder.path, env=env)


def take_back(objects: Objects, holder: Worktree, new: str, old: str, staged: Version, but: set[str]) -> None:
    """Restore files already written or removed for `new` to `old`, where the index (`staged`) has them so. The index
    and the files of `but` stay. If a file's filter fails, git's stored form is written."""
    differences = raw(objects, new, old)
    kept = {path for path, _, mode, _, oid in differences if staged.get(path, gone(oid)) == (mode, oid)} - but
    there = {path: (mode, oid) for path, _, mode, _, oid in differences if mode not in (ABSENT, GITLINK)}
    written, _ = _states(holder, differences)
    written |= {path for path in there if not os.path.lexists(os.path.join(holder.path, path))}
    written |= {path for path, mode, _, oid, _ in differences if path in kept and _is_begun(holder, path, mode, oid)}
    written &= kept - {row[2:] for row in _git(holder, ["ls-files", "-t", "-z"]).records if row.startswith("S ")}
    try:
        finish(holder, differences, written)
    except GitFailed:
        for path in sorted(written & there.keys()):
            _write_stored(objects, os.path.join(holder.path, path), *there[path])


def _is_begun(holder: Worktree, path: str, mode: str, oid: str) -> bool:
    """Whether the file is a prefix of this version, as a killed git leaves it."""
    if mode not in (FILE, EXECUTABLE):
        return False
    whole = os.path.join(holder.path, path)
    if os.path.islink(whole) or not os.path.isfile(whole):
        return False
    answer = _git(holder, ["cat-file", "--filters", f"--path={path}", oid], expect=(0, 1, 128))
    if answer.code != 0 or os.path.getsize(whole) >= len(answer.out):
        return False
    with open(whole, "rb") as file:
        return answer.out.startswith(file.read())


def _write_stored(objects: Objects, path: str, mode: str, oid: str) -> None:
    content = objects.content(oid)
    if content is None:
        raise GitFailed(f"cannot restore {path}: its object {oid} is missing")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    if mode == LINK:
        os.symlink(content, os.fsencode(path))
        return
    with open(path, "xb") as file:
        file.write(content)
    if mode == EXECUTABLE:
        os.chmod(path, os.stat(path).st_mode | 0o111)


def _states(holder: Worktree, differences: Sequence[Difference]) -> tuple[set[str], set[str]]:
    before = {path: (mode, oid) for path, mode, _, oid, _ in differences}
    return _matching(holder, before), _matching(holder, {path: (mode, oid) for path, _, mode, _, oid in differences})


def _matching(holder: Worktree, version: Version) -> set[str]:
    absent = {path for path, (mode, _) in version.items() if mode == ABSENT}
    there = {path: entry for path, entry in version.items() if path not in absent and entry[0] != GITLINK}
    matching = {path for path in absent if not os.path.lexists(os.path.join(holder.path, path))}
    if not there:
        return matching
    with _index(holder, there) as env:
        differing = command_line.run(["diff-files", "-z", "--name-only"], cwd=holder.path, env=env).records
    return matching | (there.keys() - set(differing))


@contextlib.contextmanager
def _index(holder: Worktree, version: Version) -> Iterator[Mapping[str, str]]:
    file = holder.copy + LOOK
    env = {**holder.env, "GIT_INDEX_FILE": file}
    with contextlib.suppress(FileNotFoundError):
        os.unlink(file)
    lines = b"".join(
        f"{mode} {oid}\t".encode() + os.fsencode(path) + b"\0" for path, (mode, oid) in sorted(version.items())
    )
    try:
        command_line.run(["update-index", "-z", "--index-info"], cwd=holder.path, env=env, stdin=lines)
        command_line.run(["update-index", "-q", "--refresh"], cwd=holder.path, env=env, expect=(0, 1))
        yield env
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(file)


def _git(
    holder: Worktree, arguments: list[str], expect: Sequence[int] = (0,), stdin: bytes | None = None
) -> command_line.Answer:
    return command_line.run(arguments, cwd=holder.path, env=holder.env, expect=expect, stdin=stdin)
