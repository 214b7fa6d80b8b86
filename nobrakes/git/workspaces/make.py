"""The private clones in which beads are worked on, and the fresh checkouts in which candidates are validated.

1. A workspace exists whole or not at all, in places.workspaces under its bead's id.
2. A clone is removed only after everything is kept under refs/nobrakes/archive/<bead>/. One whose branch cannot be kept
   (objects missing, borrowed or broken) is set aside.
3. Work is found whatever HEAD is: commits on top of the branch belong to it, others are archived.
4. The daemon reads a clone's files and never uses its git configuration (see clones, fetching and salvage).
"""

import errno
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from ...agents.limits import DEFAULT, Sizes
from ...beads.branches import branch_of
from ...beads.model import Bead
from ...errors import GitFailed, NoAnswer, NobrakesError, NotARepository, Tampered, TooLarge
from ...paths import Paths, git_folder
from ...programs import program
from ...trash import Trash
from ...walking import Beyond
from .. import command_line, objects, upkeep
from ..command_line import CHECKOUT, PLUMBING
from ..commits import Person
from ..commits import worker as identity
from ..filters import NO_FILTERS, Filters, Through, fetch_lfs_objects, through
from ..history import History
from ..landing import standing
from ..location import PROMISOR, Place, check
from ..objects import Objects
from ..port import GITLINK, Argv, BrokenRef, HandedBack, Workspace, relay_branch
from . import salvage
from .salvage import follow


# Submodules are filled from the objects of the person's own, found by path: what a branch says in `.gitmodules` is not
# asked and nothing is fetched. git runs with a git folder of our making, so no filter or hook runs.
def links(root: str) -> Iterator[tuple[str, str]]:
    for record in command_line.run(["ls-files", "-s", "-z"], cwd=root, env=PLUMBING).records:
        facts, _, path = record.partition("\t")
        mode, commit, _ = facts.split(" ")
        if mode == GITLINK:
            yield path, commit


def why_not(path: str, commit: str, root: str) -> str:
    """Why the submodule at `path` of the person's checkout `root` cannot be had at this commit; empty: it can."""
    own = os.path.join(root, path)
    if not os.path.lexists(os.path.join(own, ".git")):
        return f"the submodule {path} is missing in {root}. Type: git submodule update --init --recursive"
    if command_line.run(["cat-file", "-e", f"{commit}^{{commit}}"], cwd=own, env=PLUMBING, expect=(0, 1, 128)).code:
        return f"{own} lacks the commit {commit[:12]}. Type: git submodule update --init --recursive"
    return ""


def fill(checkout: str, root: str, found: Iterator[tuple[str, str]]) -> list[str]:
    troubles = []
    for path, commit in found:
        target = os.path.join(checkout, path)
        trouble = why_not(path, commit, root)
        if trouble or os.path.realpath(target) != os.path.join(os.path.realpath(checkout), path):
            troubles.append(trouble or f"{path} is not a folder of the checkout")
            continue
        os.makedirs(target, exist_ok=True)
        own = Place(os.path.join(root, path), "HEAD")
        with salvage.git_folder(own) as (_, env):
            command_line.run(["read-tree", "-m", "-u", commit], cwd=target, env=env)
            staged = command_line.run(["ls-files", "-s", "-z"], cwd=target, env=env).records
        deeper = [record.partition("\t") for record in staged if record.startswith(GITLINK)]
        below = [(name, facts.split(" ")[1]) for facts, _, name in deeper]
        troubles += fill(target, own.root, iter(below))
    return troubles


def main(checkout: str, root: str) -> int:
    try:
        troubles = fill(checkout, root, links(checkout))
    except (NobrakesError, OSError) as error:
        troubles = [str(error)]
    for trouble in troubles:
        print(trouble, file=sys.stderr)
    return 1 if troubles else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))


MAKING = "~making"
INDEX = "~index"
"""Suffix of a workspace's name for files beside it; no bead's id has a tilde."""

_COPIED_SETTINGS = ("core.filemode", "core.symlinks", "core.ignorecase", "core.precomposeunicode")


def mending(
    place: Place, path: str, head: str, branch: str, person: Person, tip: str, hooks: str, through: Through = NO_FILTERS
) -> tuple[Argv, ...]:
    """The commands that put a kept workspace back on its branch. `tip`: the branch's new head if the last worker
    committed beside it; "": unchanged. Configuration, hooks and name are ours again, and stale git locks are gone;
    files stay. Only for a clone in which nothing runs."""
    config = _config(place.settings, len(head), person, through)
    return (program("checkout", "mend", path, config, branch, tip, hooks),)


def making(
    place: Place,
    path: str,
    commit: str,
    *,
    branch: str = "",
    head: str = "",
    person: Person | None = None,
    index: str = "",
    hooks: str = "",
    through: Through = NO_FILTERS,
) -> tuple[Argv, ...]:
    """The commands that check `commit` out at `path`: on `branch`, or detached. `head`: the branch's position; what
    `commit` has beyond it is staged. `index`: a copy of the index out of the agent's reach. `hooks`: a folder."""
    at = path + MAKING if branch else path
    bring_missing(place, commit)
    words = (
        path,
        at,
        commit,
        branch,
        place.objects,
        place.shallow,
        _config(place.settings, len(commit), person, through),
        index,
        head,
        hooks,
        through.attributes,
        *through.options,
    )
    return (program("checkout", "make", *words),)


def bring_missing(place: Place, commit: str) -> None:
    """Fetch the commit's objects that a partial clone lacks: a borrowing checkout asks no remote. Raises GitFailed."""
    for remote in (key[len("remote.") : -len(PROMISOR)] for key in place.settings if key.endswith(PROMISOR)):
        asked = ["rev-list", "--objects", "--no-walk", "--missing=print", commit]
        lines = command_line.run(asked, cwd=place.git_dir, env=PLUMBING).text.splitlines()
        if missing := [line[1:] for line in lines if line.startswith("?")]:
            fetch = ["fetch", remote, "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules"]
            wanted = ["-c", "fetch.negotiationAlgorithm=noop", *fetch, "--filter=blob:none", "--stdin"]
            done = command_line.run(
                wanted, cwd=place.git_dir, env=CHECKOUT, stdin="\n".join(missing).encode(), expect=(0, 1, 128)
            )
            if done.code:
                raise command_line.lacking(done.error)


def _config(settings: Mapping[str, str], width: int, person: Person | None, through: Through) -> str:
    core = {key.partition(".")[2]: settings[key] for key in _COPIED_SETTINGS if key in settings}
    sections: list[tuple[str, dict[str, str]]] = [
        ("core", {"repositoryformatversion": "0", "bare": "false", "logallrefupdates": "true", **core}),
        ("gc", {"auto": "0"}),
        ("maintenance", {"auto": "false"}),
        ("commit", {"gpgsign": "false"}),
    ]
    if width == 64:
        sections[0][1]["repositoryformatversion"] = "1"
        sections.append(("extensions", {"objectformat": "sha256"}))
    if person is not None:
        sections.append(("user", {"name": person.name, "email": person.email}))
    rows = []
    for section, values in sections:
        rows.append(f"[{section}]")
        rows += [f"\t{key} = {_value(value)}" for key, value in values.items()]
    for name, own in sorted(through.filters.items()):
        rows.append(f"[filter {_value(name)}]")
        rows += [f"\t{key} = {_value(value)}" for key, value in own.items()]
    return "\n".join(rows) + "\n"


def _value(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


BROKEN = "~broken-"
"""Infix of a clone's name, before the fence, when it cannot be archived and a person has to look at it."""


def agent_folders(agents: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for cli in _folders(agents):
        for folder in _folders(cli.path):
            found.setdefault(folder.name, []).append(folder.path)
    return found


def forget_sessions(trash: Trash, agents: str, bead: str) -> None:
    for path in agent_folders(agents).get(bead, ()):
        trash.take(os.path.dirname(path), path)


def _folders(path: str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(path) as found:
            return [one for one in found if one.is_dir(follow_symlinks=False)]
    except FileNotFoundError:
        return []


def move_away(trash: Trash, path: str, to: str) -> None:
    try:
        os.rename(path, to)
    except FileNotFoundError:
        return
    except OSError as error:
        trash.note(path, error)


def _clones(places: Paths) -> Iterator[str]:
    for folder in (places.workspaces, places.relays, places.scratch):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
            yield os.path.join(folder, name)


def _made_from(ref: str) -> str:
    parts = ref.removeprefix(f"{objects.ARCHIVE}/").split("/")
    return parts[0] if len(parts) == 2 and parts[1].partition("-")[2].startswith("wip") else ""


_REMEMBERED = 100
_TRIES = 3
"""How often git may fail to archive a clone's files before the clone is moved away."""
_NOT_THE_FILES = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Passing faults of the machine; any other comes from what the agent left."""


class Workspaces:
    """The clones and checkouts of one repository."""

    def __init__(
        self, place: Place, objects: Objects, history: History, places: Paths, sizes: Sizes, filters: Filters
    ) -> None:
        self.filters = filters
        self.place = place
        self.objects = objects
        self.history = history
        self.places = places
        self.sizes = sizes
        self._failed: dict[str, int] = {}
        self._refused: dict[str, TooLarge] = {}
        self.trash = Trash(places.trash)

    def path(self, bead: str) -> str:
        return os.path.join(self.places.workspaces, bead)

    def workspace(self, bead: Bead, start: str, worker: str, files: str | None = None) -> Workspace:
        path, branch = self.path(bead.id), branch_of(bead)
        if os.path.lexists(path):
            tip = self._tip(bead) if self.has(bead.id) else None
            if tip is not None:
                moved = "" if tip == salvage.branch_head(path, branch) else tip
                hooks, filtered = self.places.hooks, through(self.filters, start)
                mended = mending(self.place, path, start, branch, identity(worker), moved, hooks, filtered)
                is_narrow = bool(salvage.left_out(self.place, path))
                return Workspace(path, branch, mended, is_kept=True, is_narrow=is_narrow, commits=(start,))
            self.retire(bead, bead.fence)
        if not objects.is_oid(start) or not objects.is_oid(files or start):
            raise GitFailed(f"a workspace must start at a full commit id, not at '{start[:80]}'")
        # the copy of the index tells later, without reading them, which files were never touched
        made = making(
            self.place,
            path,
            files or start,
            branch=branch,
            head=start,
            person=identity(worker),
            index=path + INDEX,
            hooks=self.places.hooks,
            through=through(self.filters, files or start),
        )
        commits = tuple(dict.fromkeys((start, files or start)))
        return Workspace(path, branch, (*made, *self._filled(path, start)), commits=commits)

    def has(self, bead: str) -> bool:
        path = self.path(bead)
        return salvage.is_folder(path) and salvage.is_folder(os.path.join(path, ".git"))

    def touched(self, bead: str) -> int | None:
        path = self.path(bead)
        if not self.has(bead) or not os.path.isfile(path + INDEX):
            return None
        return salvage.touched(self.place, path, path + INDEX)

    def tip(self, bead: Bead) -> str | None:
        head = self._tip(bead)
        if head is not None:
            self._bring(bead, head)
        return head

    def fetch_work(self, bead: Bead, fence: int) -> str | None:
        head = self._tip(bead)
        wanted = self._astray(bead, fence, head)
        if head is not None:
            self._bring(bead, head)
            wanted[objects.own_ref(f"incoming/{bead.id}/{fence}")] = head
        objects.update(self.place, dict(wanted))
        return head

    def _tip(self, bead: Bead) -> str | None:
        """The branch's head, or commits on top of it under another HEAD."""
        path = self.path(bead.id)
        branch, at = salvage.branch_head(path, branch_of(bead)), salvage.checked_out(path)
        if at is None or at == branch or self._try_to_bring(bead, at) is not None:
            return branch
        if branch is None:
            return at
        return at if self._try_to_bring(bead, branch) is None and self.history.contains(branch, at) else branch

    def _astray(self, bead: Bead, fence: int, tip: str | None) -> dict[str, str]:
        at = salvage.checked_out(self.path(bead.id))
        if at is None or at == tip or self._try_to_bring(bead, at) is not None:
            return {}
        main = objects.main(self.place)
        if tip is not None and self._try_to_bring(bead, tip) is None and self.history.contains(at, tip):
            return {}
        return {} if self.history.contains(at, main) else {self._free(f"archive/{bead.id}/{fence}-head", at): at}

    def scratch(self, commit: str, path: str) -> tuple[Argv, ...]:
        self._require_scratch(path)
        if not objects.is_oid(commit):
            raise GitFailed(f"a checkout needs a full commit id, not '{commit[:80]}'")
        made = making(self.place, os.path.abspath(path), commit, through=through(self.filters, commit))
        return (*made, *self._filled(path, commit))

    def _filled(self, path: str, commit: str) -> tuple[Argv, ...]:
        if self.objects.entry(commit, ".gitmodules") is None:
            return ()
        return ((sys.executable, "-P", "-m", __name__, os.path.abspath(path), self.place.root),)

    def drop_scratch(self, path: str) -> None:
        self._require_scratch(path)
        self.trash.take(self.places.scratch, path)

    def scratches(self) -> tuple[str, ...]:
        folder = self.places.scratch
        return tuple(os.path.join(folder, name) for name in sorted(os.listdir(folder))) if os.path.isdir(folder) else ()

    def archive(self, bead: Bead, fence: int) -> tuple[str, ...]:
        kept, broken = self._keep(bead, fence)
        objects.update(self.place, dict(kept))
        if broken is not None:
            raise broken
        return tuple(sorted(kept))

    def retire(self, bead: Bead, fence: int) -> None:
        kept, broken = self._keep(bead, fence)
        incoming = objects.names_in(self.place, f"{objects.INCOMING}/{bead.id}")
        wanted: dict[str, str | None] = {**kept, **self._only_held_by(incoming, bead, kept)}
        of_review = objects.names_in(self.place, f"{objects.OWN}/candidate/{bead.id}")
        for commit in {commit for commit in wanted.values() if commit is not None}:
            upkeep.hold(self.place, self.objects, [commit], objects.main(self.place))
        wanted.update(dict.fromkeys((*incoming, *of_review, objects.own_ref(f"start/{bead.id}"))))
        objects.update(self.place, wanted)
        path = self.path(bead.id)
        if broken is not None:
            # what cannot be archived is not removed, and must not stand in the bead's way either
            move_away(self.trash, path, f"{path}{BROKEN}{fence}")
        for leftover in (path, path + MAKING, path + INDEX):
            self.trash.take(self.places.workspaces, leftover)

    def holder(self, broken: BrokenRef) -> str:
        """The workspace that has the ref's target, or the files that it was made from; empty: none."""
        files, main = self.path(_made_from(broken.ref)), objects.main(self.place)
        have = (path for path in _clones(self.places) if salvage.has(self.place, main, path, broken.commit, self.sizes))
        return next(have, files if _made_from(broken.ref) and salvage.is_folder(files) else "") if broken.commit else ""

    def restore(self, broken: BrokenRef) -> bool:
        path, commit, main = broken.held_in, broken.commit, objects.main(self.place)
        bead = _made_from(broken.ref)
        base = salvage.checked_out(path) if bead and path == self.path(bead) else None
        for head in filter(None, (base, commit) if path else ()):
            with suppress(GitFailed):
                salvage.take(self.place, self.objects, self.history, main, path, head, self.sizes)
            if head == base:
                self._salvaged(bead, base)  # the same files give the same commit
        return bool(path) and self.objects.is_whole(commit, main)

    def _keep(self, bead: Bead, fence: int) -> tuple[dict[str, str], GitFailed | None]:
        """Copy all of the clone into our objects: the refs to set, and why its branch cannot be archived."""
        path = self.path(bead.id)
        if not salvage.is_folder(path):
            return {}, None
        main = objects.main(self.place)
        head = self._tip(bead)
        broken = None if head is None else self._try_to_bring(bead, head)
        wip, unread = self._salvaged(bead.id, main if head is None or broken is not None else head)
        if head is not None and broken is not None and not isinstance(broken, TooLarge):
            # the files may have brought back what the branch lacked
            broken = self._try_to_bring(bead, head)
        at = salvage.checked_out(path)
        beside = None if at is None or at == head else self._try_to_bring(bead, at)
        kept = self._astray(bead, fence, head)
        if head is not None and broken is None and self._is_own(path, head, main):
            kept[self._free(f"archive/{bead.id}/{fence}-branch", head)] = head
        if wip is not None:
            kept[self._free(f"archive/{bead.id}/{fence}-wip", wip)] = wip
        return kept, broken or unread or (beside if isinstance(beside, TooLarge) else None)

    def _salvaged(self, bead: str, base: str) -> tuple[str | None, GitFailed | None]:
        path = self.path(bead)
        text = f"Uncommitted work on {bead}\n\nKept by nobrakes before its workspace was removed.\n"
        try:
            return salvage.salvage(self.place, self.objects, path, base, path + INDEX, text, self.sizes), None
        except Tampered as error:
            return None, error
        except Beyond as error:
            why: Exception = error
        except (GitFailed, NoAnswer) as error:
            # it may be the repository that is out of order just now; what stays so is the clone's own
            self._failed[bead] = self._failed.get(bead, 0) + 1
            if self._failed[bead] < _TRIES:
                raise
            why = error
        except OSError as error:
            if error.errno in _NOT_THE_FILES:
                raise
            why = error
        return None, Tampered(f"nobrakes cannot archive the files of the workspace {bead}: {why}")

    def _only_held_by(self, incoming: Sequence[str], bead: Bead, kept: Mapping[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        main = objects.main(self.place) if incoming else ""
        for ref in incoming:
            commit = objects.read(self.place, ref)
            if commit is None or commit in kept.values():
                continue
            if any(self.history.contains(commit, other) for other in (*kept.values(), *found.values(), main)):
                continue
            found[self._free(f"archive/{bead.id}/{ref.rpartition('/')[2]}-incoming", commit)] = commit
        return found

    def _free(self, name: str, commit: str) -> str:
        ref = objects.own_ref(name)
        held = None if objects.is_gone(self.place.git_dir, ref) else objects.read(self.place, ref)
        return ref if held in (None, commit) else objects.own_ref(f"{name}-{commit[:12]}")

    def _is_own(self, path: str, head: str, main: str) -> bool:
        """Whether main lacks the commit. A commit made in the clone mostly is a loose file there."""
        return salvage.has_loose(path, head) or not self.history.contains(head, main)

    def _try_to_bring(self, bead: Bead, head: str) -> GitFailed | None:
        try:
            self._bring(bead, head)
        except GitFailed as error:
            return error
        return None

    def _bring(self, bead: Bead, head: str) -> None:
        incoming = objects.names_in(self.place, f"{objects.INCOMING}/{bead.id}")
        main = objects.main(self.place)
        is_held = any(objects.known(self.place.git_dir, ref) == head for ref in incoming)
        # a ref may lead to what something removed
        if is_held and (self.place.held.has(head) or self.objects.is_whole(head, main)):
            return
        if head in self._refused:
            raise self._refused[head]  # a commit never changes, and measuring took its time
        try:
            salvage.take(self.place, self.objects, self.history, main, self.path(bead.id), head, self.sizes)
            fetch_lfs_objects(self.filters, self.path(bead.id), main, head, self.sizes)
        except TooLarge as error:
            self._refused = {**dict(list(self._refused.items())[-_REMEMBERED:]), head: error}
            raise

    def _require_scratch(self, path: str) -> None:
        if os.path.dirname(os.path.abspath(path)) != os.path.abspath(self.places.scratch):
            raise GitFailed(f"{path} is not a folder directly in {self.places.scratch}")


# Clones of relay sessions: made once, handed back as a branch after each turn, kept before they go.
# 1. The clone belongs to a session. It starts on its own branch at the commit that a person has checked out, maybe of
#    another repository than the session's.
# 2. A branch of the repository is created, or moved from where we left it. If a person moved it or has it checked out,
#    or it is another session's, it stays, and the work gets another name, with the turn's and maybe a further number.
# 3. A clone is removed only after its branch is handed back and its loose files are committed to a branch.
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
