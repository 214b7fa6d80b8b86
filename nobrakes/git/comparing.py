"""What differs between two commits, for people: files with counts, and the patch.

1. `diff-tree` alone is asked, under our own configuration: no external program, no text conversion, no settings of
   colours or prefixes, whatever the attributes of a tree name.
2. All of a patch is read and then cut at a line, so what is shown is whole lines; names of files are bytes that git
   told with -z, never quoted.
"""

import os
from collections.abc import Iterator

from ..core.errors import GitFailed
from ..ports import Comparison, FileDiff
from .location import Place

_PLAIN = ("--no-ext-diff", "--no-textconv", "--no-color", "-M", "-r", "--full-index", "--submodule=short")


def compare(place: Place, base: str, head: str, most: int) -> Comparison:
    """The files that differ, and at most `most` bytes of the patch; 0: none of it."""
    if base == head:
        return Comparison(())
    told = place.run(["diff-tree", "-z", "--raw", "--numstat", *_PLAIN, base, head, "--"])
    files = tuple(sorted(_files(told.records), key=lambda file: file.path))
    if not most or not files:
        return Comparison(files)
    prefixes = ("--src-prefix=a/", "--dst-prefix=b/")
    patch = place.run(["diff-tree", "-p", *prefixes, *_PLAIN, base, head, "--"]).out
    is_cut = len(patch) > most
    shown = patch[: patch.rfind(b"\n", 0, most) + 1] if is_cut else patch
    return Comparison(files, shown.decode("utf-8", "replace"), is_cut)


def _files(records: list[str]) -> Iterator[FileDiff]:
    """The files of --raw and --numstat with -z: first a record for each file, then its counts by the same names."""
    left = iter(records)
    found: dict[str, tuple[str, str | None]] = {}
    for record in left:
        if record.startswith(":"):
            status = record.rpartition(" ")[2][:1]
            before = next(left)
            path = next(left) if status in ("R", "C") else before
            found[path] = (status, before if path != before else None)
            continue
        added, removed, path = _counts(record, left)
        status, earlier = found[path]
        is_binary = added == "-"
        yield FileDiff(
            _text(path),
            status,
            0 if is_binary else int(added),
            0 if is_binary else int(removed),
            is_binary,
            None if earlier is None else _text(earlier),
        )


def _counts(record: str, left: Iterator[str]) -> tuple[str, str, str]:
    """(added, removed, path) of a record of --numstat; a renamed file's two names are the records after it."""
    words = record.split("\t", 2)
    if len(words) != 3:
        raise GitFailed(f"git counted the lines of no file: {record[:80]!r}")
    added, removed, path = words
    if not path:
        next(left)
        path = next(left)
    return added, removed, path


def _text(path: str) -> str:
    """A path as text that can be written anywhere; bytes that are no UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
