"""What a bead's work changes: its branch against main below it, or what its merge changed on main.

1. A bead that is merged shows its merge, all commits of it. Any other shows its branch as it is committed now: in its
   clone, also while an agent works there; else what was handed in; else what was archived of it; a merge that was taken
   back comes last.
2. What is not committed is not shown.
3. An agent's clone is read as bytes that may lie (git.workspaces): git runs under our own configuration alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ...core.beads.attempt import FORK
from ...core.beads.bead import Bead, Role, Status
from ...core.errors import GitFailed, NoEvidence, NotAllowed
from ...core.evidence.record import RecordKind
from ...ports.git import Git
from ...ports.shown import ChangedLines
from ...ports.store import Store
from ..evidence.reading import records_of

Source = Literal["merge", "branch", "handed_in", "archive"]
MOST = 4_000_000
"""Bytes of a patch that are shown."""


@dataclass(frozen=True, slots=True)
class FileDiff:
    """One file that differs. `status`: added, removed, changed, or renamed (from `before`); bytes that are no UTF-8
    are replaced in its path. `added` and `removed` count lines; both are 0 where it is no text (`is_binary`).
    """

    path: str
    status: str
    added: int = 0
    removed: int = 0
    is_binary: bool = False
    before: str = ""


@dataclass(frozen=True, slots=True)
class DiffView:
    """What differs between `base` and `head` (commits), and where that was found.

    `patch` is git's text, cut at a line where it has more than `MOST` bytes (`is_cut`); empty where none was asked for.
    `ref`: what holds the head of an archived or handed-in branch. All of it is an agent's: untrusted.
    """

    bead: str
    source: Source
    base: str
    head: str
    files: tuple[FileDiff, ...]
    patch: str = ""
    is_cut: bool = False
    ref: str | None = None

    @property
    def added(self) -> int:
        """Lines in all files."""
        return sum(file.added for file in self.files)

    @property
    def removed(self) -> int:
        """Lines in all files."""
        return sum(file.removed for file in self.files)


@dataclass(frozen=True, slots=True)
class _Found:
    source: Source
    base: str
    head: str
    ref: str | None = None


def diff(store: Store, git: Git, bead: str, most: int = MOST) -> DiffView:
    """What the bead changes; `most`: bytes of the patch, 0 for none. NoSuchBead; NotAllowed: there is no work of it.

    Tampered, TooLarge: what lies in its clone cannot be read.
    """
    wanted = store.bead(bead)
    found = _found(store, git, wanted)
    if found is None:
        raise NotAllowed(
            f"bead {bead} has no branch and no merge: nobody has worked on it yet", f"`nobrakes show {bead}` shows it."
        )
    return _view(git, bead, found, most)


def between(git: Git, bead: str, base: str, head: str, most: int = MOST) -> DiffView:
    """What a review has before it: `head` against `base`, two commits that the repository has."""
    return _view(git, bead, _Found("handed_in", base, head), most)


def _view(git: Git, bead: str, found: _Found, most: int) -> DiffView:
    patch = git.patch(found.base, found.head, most)
    files = tuple(map(_file, patch.files))
    is_cut = patch.is_cut and most > 0
    return DiffView(bead, found.source, found.base, found.head, files, patch.text, is_cut, found.ref)


def _file(file: ChangedLines) -> FileDiff:
    path, before = (
        name.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for name in (file.path, file.before)
    )
    is_binary = file.added is None or file.removed is None
    return FileDiff(path, file.how, file.added or 0, file.removed or 0, is_binary, before)


def _found(store: Store, git: Git, bead: Bead) -> _Found | None:
    places: tuple[Callable[[], _Found | None], ...] = (
        lambda: _merge(store, git, bead, bead.merged_commit) if bead.status is Status.DONE else None,
        lambda: _branch(store, git, bead, "branch", git.tip(bead)),
        lambda: _kept(store, git, bead),
        lambda: _merge(store, git, bead, bead.merged_commit or _newest(git, bead.id)),
    )
    return next((found for place in places if (found := place()) is not None), None)


def _branch(
    store: Store, git: Git, bead: Bead, source: Source, head: str | None, ref: str | None = None
) -> _Found | None:
    if head is None:
        return None
    began = (one for one in reversed(store.attempts(bead.id)) if one.role is not Role.REVIEWER and one.data.get(FORK))
    attempt = next(began, None)
    base = git.fork(git.main(), head, None if attempt is None else attempt.data[FORK])
    if base is None:
        raise GitFailed(f"the branch of {bead.id} has no history in common with main")
    return _Found(source, base, head, ref)


def _kept(store: Store, git: Git, bead: Bead) -> _Found | None:
    """What was handed in last, or archived last: a branch before files that were not committed."""
    mine = {name: head for name, head in git.kept().items() if name.startswith(f"incoming/{bead.id}/")}
    newest = max(mine, key=lambda name: _fence(name), default=None)
    if newest is not None:
        return _branch(store, git, bead, "handed_in", mine[newest], f"refs/nobrakes/{newest}")
    for wanted in ("-branch", "-incoming", "-head", "-wip"):
        for ref, head in git.archived(bead.id):
            if wanted in ref.rpartition("/")[2]:
                return _branch(store, git, bead, "archive", head, ref)
    return None


def _fence(name: str) -> int:
    number = name.rpartition("/")[2]
    return int(number) if number.isdigit() else -1


def _merge(store: Store, git: Git, bead: Bead, commit: str | None) -> _Found | None:
    """What came to main with the merge: by its review's journal, else its evidence, else the trailers of main."""
    if commit is None or not git.has(commit):
        return None
    reviews = (one.data for one in reversed(store.attempts(bead.id)) if one.data.get("candidate") == commit)
    bases = [str(data["base"]) for data in reviews if data.get("base")]
    if not bases:
        bases = [base for base, merged in _recorded(git, bead.id) if merged == commit]
    return _Found("merge", bases[0] if bases else _before(git, bead.id, commit), commit)


def _newest(git: Git, bead: str) -> str | None:
    return next((merged for _, merged in _recorded(git, bead)), None)


def _recorded(git: Git, bead: str) -> list[tuple[str, str]]:
    """(base, commit) of the bead's merges that have evidence, newest first."""
    try:
        found = records_of(git, bead)
    except NoEvidence:
        return []
    merges = (one.record for one in reversed(found) if not one.problem and one.record["kind"] == RecordKind.MERGE)
    return [(str(record["base"]["commit"]), str(record["merged"]["commit"])) for record in merges]


def _before(git: Git, bead: str, commit: str) -> str:
    """The first commit below the merge that is not the bead's."""
    made = git.made(commit)
    while made is not None and made.parents and made.trailer("Bead") == bead:
        made = git.made(made.parents[0])
    return commit if made is None else made.commit
