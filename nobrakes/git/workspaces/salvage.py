"""A commit of what lies in a clone: committed or not, tracked or not, with or without its .git.

1. git uses our own git folder (no filters, hooks or fsmonitor), our objects, our index, and the clone only as worktree.
   Nothing of the agent's is configuration; its .gitattributes can only name missing filters.
2. Ignored files are left out. Inner repositories are plain files. Paths outside of its sparse checkout are as in the
   base, if missing.
3. The same files give the same commit.
"""

import contextlib
import io
import itertools
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing, suppress
from functools import partial
from typing import IO

from ...agents.limits import DEFAULT, Sizes
from ...errors import DiskFull, GitFailed, NobrakesError, Tampered
from ...files import write_atomic
from ...paths import Paths
from ...walking import below, open_up, read_inside, replace_inside, walk
from .. import command_line, history, upkeep
from .. import objects as git_objects
from ..command_line import CHECKOUT, PLUMBING
from ..commits import blob_id
from ..history import History, TooMuch, raw
from ..landing import standing
from ..landing.standing import Worktree
from ..location import Place
from ..objects import EXECUTABLE, FILE, Entry, Objects, is_oid
from ..port import GITLINK
from . import measurement

MAX_TOUCHED = 10_000
_FEW = 100
"""Differing files that are compared here; what is more, or larger than _SMALL, git compares."""
_SMALL = 1_000_000
_MAX_INDEX = 200_000_000


def salvage(
    place: Place, objects: Objects, clone: str, base: str, index: str, text: str, sizes: Sizes = DEFAULT
) -> str | None:
    """A commit on `base` with the clone's files; None: they are those of `base`. Raises TooLarge. `index`: a copy of
    the clone's first index, if it exists, saves reading unchanged files."""
    make = partial(_committed, place, objects, clone, base, index, text, sizes)
    return upkeep.held(place, objects, make, lambda made: [] if made is None else [made], base)


def _committed(
    place: Place, objects: Objects, clone: str, base: str, index: str, text: str, sizes: Sizes
) -> str | None:
    commit = objects.commit(base)
    left = left_out(place, clone)
    with git_folder(place) as (folder, env), measurement.without_pipes(clone):
        own = os.path.join(folder, "index")
        if os.path.isfile(index):
            # with its times: git compares them with the files'
            shutil.copy2(index, own)
            _leave_out(clone, env, left)
            paths = measurement.uncommitted(clone, env, sizes)
            is_base = not left and _is_as(place, objects, clone, own, base, paths)
            if is_base or _tree_of(clone, env, own, base) == commit.tree:
                return None
        # the base decides which files count although they are ignored; -m keeps what the index knows of the others
        known = ["-m"] if os.path.isfile(own) else []
        command_line.run(["read-tree", *known, base], cwd=clone, env=env)
        _leave_out(clone, env, left)
        if not known:
            measurement.uncommitted(clone, env, sizes)
        tree = _tree_of(clone, env, own, base)
        if tree == commit.tree:
            return None
        # the base's own date, so that doing it again gives the same id
        when = "@" + " ".join(commit.author.rsplit(" ", 2)[1:])
        dated = {**env, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
        return command_line.run(["commit-tree", tree, "-p", base], cwd=clone, env=dated, stdin=text.encode()).text


def _is_as(place: Place, objects: Objects, clone: str, index: str, base: str, paths: list[str]) -> bool:
    """Whether the clone's files surely are those of `base`, seen without git. `paths`: what differs from the index."""
    settings = (place.settings.get("core.filemode"), place.settings.get("core.symlinks"))
    if len(paths) > _FEW or "false" in settings or _may_hold_repositories(index):
        return False
    with open(index, "rb") as file:
        began = _tree_in(file.read(), len(base) // 2)
    if began is None or objects.entries(began) is None:
        return False
    changes = history.tree_changes(objects, began, objects.commit(base).tree)
    return {path for path, *_ in changes} <= {*paths} and all(
        _entry_of(clone, path, len(base)) == objects.entry(base, path) for path in paths
    )


def _entry_of(clone: str, path: str, digits: int) -> Entry | None:
    """None: nothing is there; without an id: what it is, git has to say."""
    with below(clone, path) or io.BytesIO() as file:
        if isinstance(file, io.BytesIO):
            return Entry("", "") if os.path.lexists(os.path.join(clone, path)) else None
        content = file.read(_SMALL + 1)
        mode = EXECUTABLE if os.fstat(file.fileno()).st_mode & stat.S_IXUSR else FILE
        return Entry(mode, blob_id(content, digits) if len(content) <= _SMALL else "")


def _tree_in(index: bytes, width: int) -> str | None:
    """The tree that an index of ours was made of, as it says itself (git's Documentation/gitformat-index)."""
    at = 12
    for _ in range(int.from_bytes(index[8:12], "big")):
        name = at + 42 + width
        if name > len(index):
            return None
        length = int.from_bytes(index[name - 2 : name], "big")
        if length & 0x4000:
            return None
        length &= 0x0FFF
        end = name + length if length < 0x0FFF else index.find(b"\0", name)
        if end < name:
            return None
        at += end - at + 8 & ~7
    count, _, rest = index[at + 9 : at + 60].partition(b"\n")
    is_tree = index[4:8] == b"\0\0\0\2" and index[at : at + 4] == b"TREE" and index[at + 8 : at + 9] == b"\0"
    return rest[:width].hex() if is_tree and not count.startswith(b"-") and len(rest) >= width else None


def touched(place: Place, clone: str, index: str) -> int:
    with git_folder(place) as (folder, env), measurement.without_pipes(clone):
        shutil.copy2(index, os.path.join(folder, "index"))
        _leave_out(clone, env, left_out(place, clone))
        with tempfile.TemporaryFile() as errors:
            listed = set(itertools.islice(measurement.listed(clone, env, errors), MAX_TOUCHED))
    return len(listed)


@contextlib.contextmanager
def git_folder(place: Place) -> Iterator[tuple[str, Mapping[str, str]]]:
    try:
        folder = tempfile.mkdtemp(prefix="nobrakes-salvage-")
    except OSError as error:
        raise DiskFull(f"no temporary folder can be made: {error.strerror}") from None
    try:
        os.mkdir(os.path.join(folder, "refs"))
        os.mkdir(os.path.join(folder, "objects"))
        sha256 = place.settings.get("extensions.objectformat") == "sha256"
        # "sparse": what the index leaves out counts all the same where it lies there
        config = f"[core]\n\trepositoryformatversion = {int(sha256)}\n\tsparseCheckout = true\n"
        for key in ("filemode", "symlinks", "ignorecase", "precomposeunicode"):
            if f"core.{key}" in place.settings:
                config += f"\t{key} = {place.settings['core.' + key]}\n"
        config += "[extensions]\n\tobjectformat = sha256\n" if sha256 else ""
        for name, content in (("HEAD", "ref: refs/heads/none\n"), ("config", config)):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(content)
        yield (
            folder,
            {
                **PLUMBING,
                "GIT_DIR": folder,
                "GIT_WORK_TREE": ".",
                "GIT_INDEX_FILE": os.path.join(folder, "index"),
                "GIT_OBJECT_DIRECTORY": place.objects,
            },
        )
    finally:
        shutil.rmtree(folder)


def _tree_of(clone: str, env: Mapping[str, str], index: str, base: str) -> str:
    answer = command_line.run(["add", "-A"], cwd=clone, env=env, expect=(0, 1, 128))
    if answer.code != 0:
        if "Permission denied" in answer.error:
            # make readable what was made unreadable, from the top down; links are not followed
            for _, descriptor, folders, names in walk(clone):
                for name in (*folders, *names):
                    open_up(name, descriptor)
        _add_by_name(clone, env)
    elif _may_hold_repositories(index):
        _add_by_name(clone, env)
    history.move_away(os.path.dirname(index), env, base)
    return command_line.run(["write-tree"], cwd=clone, env=env).text


def _may_hold_repositories(index: str) -> bool:
    with open(index, "rb") as file:
        return int(GITLINK, 8).to_bytes(4, "big") in file.read()


def _add_by_name(clone: str, env: Mapping[str, str]) -> None:
    """The slow way: every path by name, also inside nested repositories."""
    listed = command_line.run(["ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=clone, env=env).records
    paths: list[str] = []
    taken_apart: list[str] = []
    for path in dict.fromkeys(listed):
        whole = os.path.join(clone, path)
        if not os.path.isdir(whole) or os.path.islink(whole):
            paths.append(path)
            continue
        if not path.endswith("/") and not os.path.lexists(os.path.join(whole, ".git")):
            continue  # a submodule: its files are not the clone's (fill), and its entry stays
        inside = _files_below(clone, path.rstrip("/"))
        paths += inside
        if inside and not path.endswith("/"):
            taken_apart.append(path)
    if taken_apart:
        command_line.run(["update-index", "-z", "--force-remove", "--stdin"], cwd=clone, env=env, stdin=_z(taken_apart))
    command_line.run(
        ["update-index", "-z", "--add", "--remove", "--ignore-skip-worktree-entries", "--replace", "--stdin"],
        cwd=clone,
        env=env,
        stdin=_z(paths),
    )


def _leave_out(clone: str, env: Mapping[str, str], left: set[str]) -> None:
    if left:
        folders = tuple(path for path in left if path.endswith("/"))
        staged = command_line.run(["ls-files", "-z"], cwd=clone, env=env).records
        marked = [path for path in staged if path in left or path.startswith(folders)]
        command_line.run(["update-index", "-z", "--skip-worktree", "--stdin"], cwd=clone, env=env, stdin=_z(marked))


def left_out(place: Place, clone: str) -> set[str]:
    """The paths that the clone's own index leaves out of the checkout, folders with a slash. An agent may write it."""
    found: set[str] = set()
    width = 32 if place.settings.get("extensions.objectformat") == "sha256" else 20
    index = read_inside(clone, ".git/index", _MAX_INDEX) or b""
    with suppress(IndexError, ValueError):  # it is cut off
        end = _entries(index, width, found)
        if index[end : end + 4] == b"link":  # a split index: the rest of the entries is in another file
            shared = f".git/sharedindex.{index[end + 8 : end + 8 + width].hex()}"
            _entries(read_inside(clone, shared, _MAX_INDEX) or b"", width, found)
    return found


def _entries(index: bytes, width: int, found: set[str]) -> int:
    """Add the index entries' sparse paths to `found`; returns their end (git's Documentation/gitformat-index)."""
    version, count = int.from_bytes(index[4:8], "big"), int.from_bytes(index[8:12], "big")
    if version == 2 and b"link" not in index:
        return 0  # this form can leave nothing out
    at, name = 12, b""
    room = 2 * len(index)  # names share their beginnings in version 4: made by an agent they grow without end
    for _ in range(count):
        begin, at = at, at + 40 + width
        is_extended = index[at] & 0x40
        is_left_out = is_extended and index[at + 2] & 0x40
        at += 4 if is_extended else 2
        same = 0
        if version == 4:  # how much of the name before is dropped, then what comes instead
            drop = index[at] & 0x7F
            while index[at] & 0x80:
                at += 1
                drop = (drop + 1 << 7) | (index[at] & 0x7F)
                if drop > len(name):
                    raise ValueError("it drops more of a name than there is")
            at, same = at + 1, len(name) - drop
        end = index.index(b"\0", at)
        name = name[:same] + index[at:end]
        room -= len(name)
        if room < 0:
            raise ValueError("its names are longer than it is")
        at = end + 1 if version == 4 else begin + ((end - begin + 8) & ~7)
        if is_left_out:
            found.add(os.fsdecode(name))
    return at


def _files_below(clone: str, folder: str) -> list[str]:
    found = []
    for path, descriptor, _, names in walk(os.path.join(clone, folder), leave=frozenset((".git",))):
        for name in names:
            mode = os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_mode
            if name.casefold() != ".git" and (stat.S_ISREG(mode) or stat.S_ISLNK(mode)):
                found.append(os.path.join(folder, path, name))
    return found


def _z(paths: list[str]) -> bytes:
    return b"".join(os.fsencode(path) + b"\0" for path in paths)


# Every step down from a clone's folder refuses links, and only regular files are opened. A branch counts only as a
# plain ref, loose or packed. The objects' folder borrows from our repository alone, or it is refused.
_BORROWS = ".git/objects/info/alternates"
_MAX_REACHED = 8
"""Commits of ours that a workspace's commits stand on, before git finds what is new."""
_MAX_PACKED_REFS = 8_000_000


def is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def branch_head(clone: str, branch: str) -> str | None:
    """The commit of the clone's branch; None: no such plain ref."""
    if (loose := read_inside(clone, f".git/refs/heads/{branch}", 80)) is not None:
        found = loose.decode("ascii", "replace").strip()
        return found if is_oid(found) else None
    if os.path.lexists(os.path.join(clone, ".git", "refs", "heads", branch)):
        # a link or a pipe in the place of the ref is not a branch, whatever packed-refs says
        return None
    wanted = f"refs/heads/{branch}".encode()
    for line in (read_inside(clone, ".git/packed-refs", _MAX_PACKED_REFS) or b"").splitlines():
        oid, _, name = line.partition(b" ")
        if name == wanted:
            packed = oid.decode("ascii", "replace")
            return packed if is_oid(packed) else None
    return None


def checked_out(clone: str) -> str | None:
    """The commit of the clone's HEAD, on any branch or detached; None: unreadable."""
    text = (read_inside(clone, ".git/HEAD", 1000) or b"").decode("ascii", "replace").strip()
    if is_oid(text):
        return text
    branch = text.removeprefix("ref: refs/heads/")
    if branch == text or any(part in ("", ".", "..") for part in branch.split("/")):
        return None
    return branch_head(clone, branch)


def has_loose(clone: str, oid: str) -> bool:
    """Whether the object is a loose file of the clone, so that it was made there."""
    return os.path.isfile(os.path.join(clone, ".git", "objects", oid[:2], oid[2:]))


def objects_folder(clone: str, ours: str) -> str:
    """The clone's folder of objects, safe for git to read beside `ours`. Raises Tampered."""
    folder = os.path.join(clone, ".git", "objects")
    if not (is_folder(clone) and is_folder(os.path.join(clone, ".git")) and is_folder(folder)):
        raise _tampered(clone, "somebody replaced the workspace's .git folder")
    borrowed = read_inside(clone, _BORROWS, 10_000)
    if borrowed is None and os.path.lexists(os.path.join(clone, _BORROWS)):
        raise _tampered(clone, "the file .git/objects/info/alternates is not a plain file")
    if borrowed is not None and os.fsdecode(borrowed).strip("\n") != ours:
        raise _tampered(clone, "the workspace takes git objects from another repository")
    if os.path.lexists(os.path.join(folder, "info", "http-alternates")):
        raise _tampered(clone, "the workspace takes git objects from another repository")
    return folder


def _tampered(clone: str, what: str) -> Tampered:
    return Tampered(
        f"nobrakes cannot fetch the workspace {os.path.basename(clone)}: {what}",
        "Inspect the workspace; `nobrakes show` shows what its agent did.",
    )


def has(place: Place, main: str, clone: str, commit: str, sizes: Sizes) -> bool:
    """Whether the clone and we together have all that the commit needs beside main; copies nothing."""
    try:
        folder = objects_folder(clone, place.objects)
        measurement.on_disk(clone, folder, sizes)
    except Tampered:
        return False
    asked = [*measurement.PLAIN, "rev-list", "--objects", "--quiet", commit, f"^{main}", "--"]
    return place.run(asked, env=measurement.lent(folder), expect=(0, 128)).code == 0


# git runs in our repository under our configuration, with the clone's objects as a second place to read from, and never
# in the clone. With --strict every object is hashed and every link must lead to one that we have. The pack is taken
# from head to main, so what a killed run left makes no holes, and held until a ref names the commit.
def take(
    place: Place, objects: Objects, history: History, main: str, clone: str, head: str, sizes: Sizes = DEFAULT
) -> None:
    """Copy the commit `head` and what it needs from the clone. Tampered: incomplete. TooLarge: nothing is copied."""
    if head == main:
        return
    try:
        _copy(place, objects, history, main, clone, head, sizes)
    except GitFailed as error:
        place.require_usable()
        if isinstance(error, Tampered):
            raise
        # missing or damaged objects, or ones that git refuses (--strict): the clone was whole when it was made
        raise Tampered(f"nobrakes cannot fetch the work in {os.path.basename(clone)}: {error}") from None
    if objects.find(f"{head}^{{commit}}") is None:
        raise Tampered(f"the branch's head {head} is not a commit that nobrakes can fetch")
    try:
        raw(objects, history.fork(main, head) or main, head, sizes)
    except TooMuch as error:
        raise measurement.too_large(clone, str(error)) from None
    except GitFailed as error:
        # git lets in a tree whose modes it reads itself in one way or another; nothing more is done with such a one
        raise Tampered(f"nobrakes cannot read the work in {os.path.basename(clone)}: {error}") from None


def _copy(place: Place, objects: Objects, history: History, main: str, clone: str, head: str, sizes: Sizes) -> None:
    folder = objects_folder(clone, place.objects)
    measurement.on_disk(clone, folder, sizes)
    gathered = _gathered(place, objects, history, main, clone, head)
    measure = measurement.Measuring(place, objects, main, clone, folder, sizes, gathered or {})
    try:
        measure.measure(head)
    finally:
        measure.close()
    with upkeep.folder(place) as made:
        stem = os.path.join(made, "new")
        with open(f"{stem}.pack", "w+b") as pack:
            if gathered is None:
                place.run(
                    [*measurement.PLAIN, "pack-objects", "--revs", "--stdout", "-q", "--window=0", "--threads=1"],
                    env=measurement.lent(folder),
                    stdin=f"{head}\n--not\n{main}\n".encode(),
                    stdout=pack,
                )
            elif gathered:
                pack.write(upkeep.pack(gathered)[0])
            count = _count(pack) if gathered is None else len(gathered)
        if count:
            upkeep.publish(place, stem, place.run(["index-pack", "--strict", f"{stem}.pack"]).text.split()[-1])


def _gathered(
    place: Place, objects: Objects, history: History, main: str, clone: str, head: str
) -> dict[str, upkeep.Content] | None:
    """What the commit has beyond main, read without git; None: it is much, or not in loose objects."""

    def read(oid: str) -> upkeep.Content | None:
        own = upkeep.loose(lambda path, most: read_inside(clone, f".git/objects/{path}", most), oid)
        return objects.small(oid, upkeep.MAX_BYTES) if own is None else own

    asked = 0

    def is_reached(commit: str) -> bool:
        nonlocal asked
        if commit == main:
            return True
        if objects.find(commit) is None:
            return False
        asked += 1
        if asked > _MAX_REACHED:  # each may need a program, and git answers for all in one
            raise upkeep.Unknown
        return history.contains(commit, main)

    return upkeep.beyond(place, objects, [head], read, is_reached)


def _count(pack: IO[bytes]) -> int:
    pack.seek(8)
    header = pack.read(4)
    if len(header) != 4:
        raise GitFailed("git pack-objects wrote no pack")
    return int.from_bytes(header, "big")


BEFORE = "before"
MAX_IGNORED = 10_000_000
"""Largest ignored file that is archived, in bytes."""
MAX_IGNORED_FILES = 1000


# The commit and its objects lie in a small repository of their own, which borrows the others: `git fetch
# <folder>/repository.git before:NAME` brings it back. Small ignored files are copied, ignored folders are not kept. The
# folder is there whole or not at all.
def keep(root: str, at: str, sizes: Sizes) -> None:
    """Archive the checkout `root` in the folder `at`. Raises NobrakesError."""
    if os.path.isdir(at):
        return
    begun = f"{at}~making"
    with suppress(FileNotFoundError):
        shutil.rmtree(begun)
    os.makedirs(begun, mode=0o700)
    place = Place(root, "HEAD")
    for name in ("HEAD", "index"):
        with suppress(FileNotFoundError):
            shutil.copy2(os.path.join(place.git_dir, name), os.path.join(begun, name))
    _commit(place, root, begun, place.head(), sizes)
    _ignored(root, os.path.join(begun, "ignored"))
    os.rename(begun, at)


def _commit(place: Place, root: str, begun: str, head: str, sizes: Sizes) -> None:
    own = os.path.join(begun, "repository.git")
    kind = place.settings.get("extensions.objectformat", "sha1")
    command_line.run(["init", "-q", "--bare", "--template=", f"--object-format={kind}", own], cwd=begun, env=PLUMBING)
    with open(os.path.join(own, "objects", "info", "alternates"), "w", encoding="utf-8") as file:
        file.write(f"{place.objects}\n")
    kept = Place(own, BEFORE)
    kept.settings = place.settings  # of the file system on which the files lie
    with closing(Objects(kept)) as objects:
        text = f"What lay in {root}\n\nKept by nobrakes before an agent worked there.\n"
        found = salvage(kept, objects, root, head, os.path.join(begun, "index"), text, sizes)
        git_objects.move(kept, f"refs/heads/{BEFORE}", found or head, None)


def _ignored(root: str, to: str) -> None:
    asked = ["ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory"]
    with measurement.without_pipes(root):
        listed = command_line.run(asked, cwd=root, env=CHECKOUT).records
    for path in [path for path in listed if path and not path.endswith("/")][:MAX_IGNORED_FILES]:
        whole = os.path.join(root, path)
        with suppress(OSError):
            seen = os.lstat(whole)
            if stat.S_ISREG(seen.st_mode) and seen.st_size <= MAX_IGNORED:
                os.makedirs(os.path.dirname(os.path.join(to, path)), mode=0o700, exist_ok=True)
                shutil.copy2(whole, os.path.join(to, path), follow_symlinks=False)


def main(root: str, at: str, *sizes: str) -> int:
    try:
        keep(root, at, Sizes(*map(int, sizes)))
    except (NobrakesError, OSError) as error:
        print(f"nobrakes could not save {root}, so no agent works there: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))


# No file is touched and no branch of a person is moved: HEAD is switched to the session's branch, under the index's
# lock, only where it still is where the session began or was left. The index goes first: killed in between, the
# checkout shows the work as staged, and doing it again ends it.
def follow(place: Place, branch: str, head: str, last: str) -> bool:
    """Let the checkout of the branch follow to `head`; whether it did. `last`: the session's previous commit. False if
    `branch` is at another commit or the person is elsewhere."""
    assert place.worktree is not None, "who works in a checkout has one"
    here, ref = Worktree(place.worktree, place.git_dir), f"refs/heads/{branch}"
    with standing.locked(here) as is_ours:
        if not is_ours or here.under_way() is not None:
            return False
        own = {**here.env}
        is_there = standing.refs_in(here) == [ref]
        at = git_objects.read(place, ref)
        now = command_line.run(["rev-parse", "-q", "--verify", "HEAD"], cwd=here.path, env=own, expect=(0, 1, 128)).text
        if at not in (None, last, head) or now not in (last, head) or (now == head and not is_there and head != last):
            return False
        command_line.run(["read-tree", "--reset", head], cwd=here.path, env=own)
        with measurement.without_pipes(here.path):
            command_line.run(["update-index", "-q", "--refresh"], cwd=here.path, env=own, expect=(0, 1))
        standing.publish(here)
        if at != head and not git_objects.swap(place, ref, head, at or "0" * len(head), "nobrakes: handed back"):
            return False
        if not is_there:
            command_line.run(
                ["symbolic-ref", "-m", f"nobrakes: the work of {branch}", "HEAD", ref], cwd=here.path, env=own
            )
        return True


_MAX_BYTES = 10_000
_NOTE = "place"


# Workspaces borrow by the full path of our objects, noted at each start. Only what pointed to the place of before is
# rewritten; whatever else stands there an agent wrote. The note changes last: whoever is killed meanwhile does it
# again.
def settle(place: Place, places: Paths) -> tuple[str, ...]:
    """Repair what points to the repository's place at the last start; returns the changed workspaces' names."""
    note = os.path.join(places.folder, _NOTE)
    here = os.fsencode(place.objects)
    before = _read(note)
    if before == here:
        return ()
    mended = [os.path.basename(clone) for clone in _clones(places) if before and _mend(clone, before, here)]
    write_atomic(note, here)
    return tuple(mended)


def _read(note: str) -> bytes:
    with contextlib.suppress(FileNotFoundError), open(note, "rb") as file:
        return file.read(_MAX_BYTES)
    return b""


def _clones(places: Paths) -> Iterator[str]:
    for folder in (places.workspaces, places.scratch):
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        yield from (path for name in names if is_folder(path := os.path.join(folder, name)))


def _mend(clone: str, before: bytes, here: bytes) -> bool:
    borrowed = read_inside(clone, _BORROWS, _MAX_BYTES)
    is_old = borrowed is not None and borrowed.strip(b"\n") == before
    return is_old and replace_inside(clone, _BORROWS, here + b"\n")
