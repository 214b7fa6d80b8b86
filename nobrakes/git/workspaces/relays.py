"""The private clones of relay sessions: made once, handed back as a branch after each turn, kept before they go.

1. The clone belongs to a session. It starts on its own branch at the commit that a person has checked out, maybe of
   another repository than the session's.
2. A branch of the repository is created, or moved from where we left it. If a person moved it or has it checked out, or
   it is another session's, it stays, and the work gets another name, with the turn's and if needed a further number.
3. A clone is removed only after its branch is handed back and its loose files are committed to a branch.
"""

import os

from ...agents.limits import DEFAULT, Sizes
from ...errors import GitFailed, NotARepository
from ...paths import git_folder
from ...trash import Trash
from .. import objects
from ..commits import worker as identity
from ..history import History
from ..landing import standing
from ..location import Place, check
from ..objects import Objects
from ..port import Argv, HandedBack, relay_branch
from . import salvage
from .make import INDEX, making
from .salvage import follow

MAX_NAMES = 20
"""How many names are tried beside a session's own."""


class RelayClones:
    """The clones in `folder`, of the repository in `root`."""

    def __init__(self, root: str, folder: str, sizes: Sizes = DEFAULT) -> None:
        self.root, self.folder, self.sizes = root, folder, sizes
        self.place = Place(root, "HEAD")
        self.objects = Objects(self.place)
        self.history = History(self.place, self.objects)

    def path(self, session: int) -> str:
        return os.path.join(self.folder, str(session))

    def alternates(self, session: int) -> str:
        """Names the objects for an agent that works in the checkout itself."""
        return self.path(session) + "~alternates"

    def start(self) -> str:
        """The checked-out commit. Raises NoMain, ForeignRepository; NotARepository if git finds another repository,
        such as the one around a broken `.git`."""
        check(self.root)
        if self.place.git_dir != os.path.realpath(git_folder(self.root) or ""):
            raise NotARepository(f"{self.root} is a broken git repository", "Repair that repository, or name another.")
        return self.place.head()

    def making(self, session: int, start: str, worker: str) -> tuple[Argv, ...]:
        """The commands that make a missing clone; an existing one stays as the last turn left it."""
        path = self.path(session)
        if salvage.is_folder(path):
            return ()
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        branch = relay_branch(session)
        return making(self.place, path, start, branch=branch, head=start, person=identity(worker), index=path + INDEX)

    def hand_back(self, session: int, turn: int, start: str, last: str, in_place: bool = False) -> HandedBack:
        """Fetch the commits and set a branch to them. Raises Tampered, TooLarge, GitFailed. `start`: the clone's first
        commit; `last`: the commit handed back before, empty: none. `in_place`: the checkout follows unless its person
        went on."""
        path = self.path(session)
        head = salvage.checked_out(path) if salvage.is_folder(path) else None
        if head is None or head in (start, last):
            return HandedBack(last, "")
        salvage.take(self.place, self.objects, self.history, start, path, head, self.sizes)
        if in_place and follow(self.place, relay_branch(session), head, last or start):
            return HandedBack(head, relay_branch(session))
        return HandedBack(head, self._branch(relay_branch(session), turn, head, last))

    def _branch(self, name: str, turn: int, head: str, last: str) -> str:
        beside = f"{name}-{turn}"
        names = [beside, *(f"{beside}-{number}" for number in range(2, MAX_NAMES + 1))]
        if self._written(name, head, last):
            return name
        found = next((one for one in names if self._written(one, head, "")), None)
        if found is None:
            raise GitFailed(f"nobrakes could not write the branch {beside}", "nobrakes retries after the next turn.")
        return found

    def _written(self, name: str, head: str, last: str) -> bool:
        ref = f"refs/heads/{name}"
        at = objects.read(self.place, ref)
        if at == head:
            return True
        if at not in (None, last) or self._is_checked_out(ref):
            return False
        return objects.swap(self.place, ref, head, at or "0" * len(head), "nobrakes: handed back")

    def _is_checked_out(self, ref: str) -> bool:
        return bool(standing.branch_worktrees(self.place, ref))

    def loose(self, session: int, base: str) -> str | None:
        """A commit on `base` with the clone's uncommitted files; None: there are none."""
        path = self.path(session)
        if not salvage.is_folder(path):
            return None
        text = f"Uncommitted changes of session {session}\n\nKept by nobrakes before its clone was removed.\n"
        return salvage.salvage(self.place, self.objects, path, base, path + INDEX, text, self.sizes)

    def remove(self, session: int, turn: int, start: str, last: str, in_place: bool = False) -> str:
        """Archive and remove the clone; the branch with its uncommitted files, or empty. `in_place`: the files stay."""
        handed = self.hand_back(session, turn, start, last, in_place)
        loose = None if in_place else self.loose(session, handed.head or start)
        name = "" if loose is None else self._branch(f"{relay_branch(session)}-loose", turn, loose, "")
        self._throw_away(session, self.path(session) + ".files")
        return name

    def clear(self, session: int, turn: int, start: str) -> str:
        """Remove the clone of a read-only turn; returns the branch with any changes, empty: none."""
        path = self.path(session)
        head = salvage.checked_out(path) if salvage.is_folder(path) else None
        if head not in (None, start):
            salvage.take(self.place, self.objects, self.history, start, path, head, self.sizes)
        kept = self.loose(session, head or start) or head
        name = self._branch(f"{relay_branch(session)}-unapproved", turn, kept, "") if kept not in (None, start) else ""
        self._throw_away(session)
        return name

    def _throw_away(self, session: int, *more: str) -> None:
        trash = Trash(os.path.join(os.path.dirname(self.folder), "trash"))
        for leftover in (self.path(session), self.path(session) + INDEX, self.alternates(session), *more):
            trash.take(self.folder, leftover)

    def put_away(self, bead: str, branch: str, commit: str) -> None:
        """Move a branch whose work is on main to the bead's archive, unless a person moved it or works on it."""
        ref = f"refs/heads/{branch}"
        if objects.read(self.place, ref) != commit or self._is_checked_out(ref):
            return
        objects.update(self.place, {objects.own_ref(f"archive/{bead}/{branch.replace('/', '-')}"): commit})
        self.place.run(["update-ref", "-m", "nobrakes: merged", "--no-deref", "-d", ref, commit], expect=(0, 1, 128))

    def commits(self, start: str, head: str) -> list[tuple[str, str]]:
        asked = ["log", "-z", "--reverse", "--format=%H%x01%s", "--max-count=200", f"{start}..{head}", "--"]
        pairs = (record.partition("\x01") for record in self.place.run(asked).text.split("\0") if record)
        return [(commit, subject) for commit, _, subject in pairs]

    def files(self, start: str, head: str) -> list[tuple[str, str]]:
        words = self.place.run(["diff-tree", "-r", "-z", "--no-renames", "--name-status", start, head, "--"]).records
        return list(zip(words[::2], words[1::2], strict=False))

    def close(self) -> None:
        self.objects.close()
        self.place.close()
