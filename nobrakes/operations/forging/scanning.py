"""What a feature's scan finds: comments that say what is left to do, on the commit that the feature begins from."""

from dataclasses import dataclass

from ...core.errors import FileTooLarge
from ...core.forge.todos import MOST_BYTES, Todo, is_affected, is_scanned, scan
from ...ports.git import Git
from ...ports.store import Store

MOST_FINDS = 5000


@dataclass(frozen=True, slots=True)
class ScanView:
    """`blocking` are in files that the feature touches: open points of it. `others` are shown, and nothing more.

    `more`: finds beyond MOST_FINDS that are not listed; `skipped`: files that are too large to be read.
    """

    feature: str
    base: str
    files: int
    blocking: tuple[Todo, ...]
    others: tuple[Todo, ...]
    more: int = 0
    skipped: tuple[str, ...] = ()


def blocking(git: Git, commit: str, files: tuple[str, ...]) -> tuple[Todo, ...]:
    """The finds in the files that a feature touches; no other file is read."""
    return _read(git, commit, [path for path in _paths(git, commit) if is_affected(path, files)])[0]


def _paths(git: Git, commit: str) -> list[str]:
    return sorted(path for path in git.paths(commit) if is_scanned(path)) if commit else []


def _read(git: Git, commit: str, paths: list[str]) -> tuple[tuple[Todo, ...], tuple[str, ...]]:
    """The finds of these files, and the files that are too large."""
    found: list[Todo] = []
    skipped: list[str] = []
    for path in paths:
        try:
            data = git.read(commit, path, MOST_BYTES)
        except FileTooLarge:
            skipped.append(path)
            continue
        if data is not None:  # a link is none
            found += scan(path, data.decode("utf-8", "replace"))
    return tuple(found), tuple(skipped)


def scan_of(store: Store, git: Git, id: str) -> ScanView:
    """The scan of a feature, on its base commit; NoSuchFeature."""
    feature = store.feature(id)
    paths = _paths(git, feature.base)
    found, skipped = _read(git, feature.base, paths)
    blocks = tuple(one for one in found if is_affected(one.file, feature.files))
    others = tuple(one for one in found if not is_affected(one.file, feature.files))
    room = max(0, MOST_FINDS - len(blocks))
    return ScanView(id, feature.base, len(paths), blocks, others[:room], max(0, len(others) - room), skipped)
