"""Where each checkout of main stands: the commit that its index and files were last brought to.

1. The note lies in the checkout's own git folder and needs no database: one commit, or two while main moves under it.
   It is written before main moves and after the files have followed, so it tells whoever comes after a kill.
2. A checkout is behind where its index has paths as they were there, and not as main has them. A path that has neither
   version is a person's; one that has main's is there.
3. A person's own commit, pull, reset or checkout moves main and the index together: that is never behind. It is seen
   by main having left the noted commit, or by the checkout's own log of HEAD. The later of note and log counts.
4. `git checkout main` writes the index first and HEAD last. Where main moved in between, the log of HEAD names what it
   had become: so after a checkout, and where there is neither note nor log, the index itself is compared with the last
   merges. It is from before them where it has none of what they brought.
5. Looking takes no lock and writes nothing.
"""

import contextlib
import errno
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...core.errors import DiskFull, GitFailed, StoreReadOnly
from ...core.policy.boundaries import ABSENT
from .. import commands
from ..differences import raw
from ..environment import CHECKOUT
from ..history import History
from ..refs import is_oid
from .obstacles import Difference
from .worktrees import Worktree

FILE = "nobrakes-checkout"
NAMED = 5
"""So many paths are named to a person."""

_FEW = 100
"""So many paths are asked for by name; beyond that the whole index is read."""
_TAIL = 8192
_PERSONS = re.compile(r"(commit|reset|pull|merge|checkout|rebase|cherry-pick|revert|am|clone)\b")
"""What git itself writes into the log of HEAD when the index moved with it."""
_CHECKOUT = "checkout"
_OURS = re.compile(r"^(Reverts-)?Bead: ", re.MULTILINE)
_MERGES = 20
"""So many commits may come to main while one `git checkout` of it is at work."""


@dataclass(frozen=True, slots=True)
class Note:
    """What a checkout's git folder says: it stands `at` this commit, and is on its way `to` that one."""

    at: str
    to: str = ""


@dataclass(frozen=True, slots=True)
class Look:
    """What was seen of one checkout: where it stands, and which paths are not as main has them for it."""

    at: str
    behind: tuple[str, ...] = ()  # as they were there
    edited: tuple[str, ...] = ()  # staged by a person, who may not have seen main's version
    is_landing: bool = False  # main was moved under it by a landing that nobody brought to its end

    @property
    def is_behind(self) -> bool:
        """Whether a plain commit there would take back what main has."""
        return bool(self.behind or self.edited)


def read(holder: Worktree) -> Note | None:
    """The checkout's note; None: there is none that can be read."""
    try:
        with open(os.path.join(holder.git_dir, FILE), encoding="ascii", errors="replace") as file:
            words = file.read(200).split()
    except OSError:
        return None
    return Note(*words) if len(words) in (1, 2) and all(is_oid(word) for word in words) else None


def write(holder: Worktree, at: str, to: str = "") -> None:
    """Note where the checkout stands; it is on the disk when this returns. DiskFull, StoreReadOnly."""
    if read(holder) == Note(at, to):
        return
    path = os.path.join(holder.git_dir, FILE)
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
        raise (DiskFull if is_full else StoreReadOnly)(f"{path} cannot be written: {error.strerror}") from None


def look(history: History, holder: Worktree, main: str, note: Note | None) -> Look:
    """How the checkout stands to `main`, by its index as it lies there."""
    if not os.path.exists(holder.index) or note == Note(main):
        return Look(main)
    is_landing = note is not None and bool(note.to) and _contains(history, note.to, main)
    try:
        at = note.at if note is not None and is_landing else _stands_at(history, holder, main, note)
        differences = raw(history.objects, at, main)
    except GitFailed:
        return Look(main)  # the noted commit is gone, so main was rewritten by a person
    staged = entries(holder, [path for path, *_ in differences], reading(holder))
    behind, edited = apart(differences, staged)
    if not behind and (not is_landing or len(edited) < len(differences)):
        # an index takes the other's place in one piece: what has a path of main's has all of them, or a person's own
        return Look(main)
    return Look(at, tuple(behind), tuple(edited), is_landing)


def _stands_at(history: History, holder: Worktree, main: str, note: Note | None) -> str:
    """The commit of main that index and files were last brought to, by us or by a person's git. GitFailed."""
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
    """`at`, or the commit before the last merges of beads where the index has nothing of them. GitFailed."""
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
    """The paths whose index entry is from before, and those whose entry is neither from before nor from after."""
    behind, edited = [], []
    for path, mode_before, mode_after, before, after in differences:
        entry = staged.get(path, gone(before))
        if entry == (mode_before, before):
            behind.append(path)
        elif entry != (mode_after, after):
            edited.append(path)
    return behind, edited


def gone(oid: str) -> tuple[str, str]:
    """The entry of a path that is not there, where object ids are as long as this one."""
    return ABSENT, "0" * len(oid)


def entries(holder: Worktree, paths: list[str], env: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """(mode, object) of these paths in the index that `env` names; one in conflict has no mode."""
    asked = ["ls-files", "-s", "-z"]
    if len(paths) <= _FEW:
        asked += ["--", *(f":(literal,top){path}" for path in paths)]
    wanted, found = frozenset(paths), {}
    for record in commands.run(asked, cwd=holder.path, env=env).records if paths else ():
        head, _, path = record.partition("\t")
        mode, oid, stage = head.split(" ")
        if path in wanted:
            found[path] = (mode, oid) if stage == "0" else ("", "")
    return found


def told(holder: Worktree, seen: Look, main: str) -> str:
    """What a person has to know of a checkout that is behind, and how to go on without losing either side."""
    paths = sorted((*seen.behind, *seen.edited))
    return (
        f"the checkout {holder.path} is behind main, which is at {main[:12]}: there {named(paths)} stand as at "
        f"{seen.at[:12]}, or were edited since. Do not commit on main there: it would take back what was merged. "
        f"{keeping_both(seen.at)}"
    )


def keeping_both(at: str) -> str:
    """How a person keeps what lies in a checkout that is behind, and what was merged."""
    return (
        "`nobrakes run` brings it along where nothing of that was edited. Else keep both: `git branch my-work "
        f"{at[:12]}`, `git symbolic-ref HEAD refs/heads/my-work`, commit there, then `git switch` to main and "
        "`git merge my-work`."
    )


def named(paths: Iterable[str]) -> str:
    """The first few of the paths, for a person."""
    every = list(paths)
    return ", ".join(every[:NAMED]) + (f" and {len(every) - NAMED} more" if len(every) > NAMED else "")


def is_clean(holder: Worktree, main: str) -> bool:
    """Whether the checkout's index is main's, whole."""
    asked = ["diff-index", "--cached", "--quiet", main, "--"]
    return commands.run(asked, cwd=holder.path, env=reading(holder), expect=(0, 1)).code == 0


def reading(holder: Worktree) -> Mapping[str, str]:
    """The environment for a look at the index as it lies there."""
    return {**CHECKOUT, "GIT_DIR": holder.git_dir, "GIT_WORK_TREE": holder.path, "GIT_OPTIONAL_LOCKS": "0"}


def _contains(history: History, ancestor: str, descendant: str) -> bool:
    with contextlib.suppress(GitFailed):
        return bool(ancestor) and history.contains(ancestor, descendant)
    return False


def _logged(holder: Worktree) -> tuple[str, str]:
    """Where the last command of git's that brings the index along left HEAD, and which it was; empty: none is known."""
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
