"""Refs: read by hand where that is safe, moved by compare-and-swap only.

1. nobrakes writes refs below refs/nobrakes/, main, and the branches of relay sessions below refs/heads/relay/; nothing
   else.
2. A loose ref file that holds an object id is the truth in every git with file refs, and where there is no such file
   what is packed is; anything else is asked of git. The file comes first: packing writes the other before it goes.
"""

import os
import re

from ..core.errors import GitFailed, NoMain
from ..walking import Beyond, walk
from . import commands, packed_refs
from .location import Place
from .transactions import DURABLE

OWN = "refs/nobrakes"
INCOMING = f"{OWN}/incoming"
ARCHIVE = f"{OWN}/archive"

LOOSE = 100
"""Archived refs in files of their own before they are packed."""
_OID = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(?:/[A-Za-z0-9][A-Za-z0-9_.-]*)*\Z")


def is_oid(text: str) -> bool:
    """Whether the text is a full object id."""
    return _OID.match(text) is not None


def own_ref(name: str) -> str:
    """The ref refs/nobrakes/<name>; GitFailed for a name that git would refuse or read otherwise."""
    if not _NAME.match(name) or ".." in name or any(part.endswith((".lock", ".")) for part in name.split("/")):
        raise GitFailed(f"'{name[:80]}' cannot be part of a ref's name")
    return f"{OWN}/{name}"


def loose(git_dir: str, ref: str) -> str | None:
    """The object id in a loose ref's file; None: no such file, or something else in it."""
    try:
        with open(os.path.join(git_dir, ref), encoding="ascii", errors="replace") as file:
            text = file.read(80).strip()
    except OSError:
        return None
    return text if is_oid(text) else None


def known(git_dir: str, ref: str) -> str | None:
    """The object id that the ref's own file or the packed refs have; None: git has to be asked."""
    found = loose(git_dir, ref)
    if found is not None or os.path.lexists(os.path.join(git_dir, ref)):
        return found
    packed = packed_refs.at(git_dir, ref)
    return packed if packed is not None and is_oid(packed) else None


def read(place: Place, ref: str) -> str | None:
    """The object that the ref points to; None: no such ref."""
    found = known(place.git_dir, ref)
    if found is not None:
        return found
    answer = place.run(["rev-parse", "--verify", "--quiet", "--end-of-options", ref], expect=(0, 1))
    return answer.text if answer.code == 0 else None


def main(place: Place) -> str:
    """The commit that main points to; NoMain."""
    found = next((commit for ref in (place.ref, *place.before) if (commit := read(place, ref)) is not None), None)
    if found is None:
        raise NoMain(f"the branch '{place.branch}' does not exist yet")
    return found


def swap(place: Place, ref: str, new: str, old: str, why: str) -> bool:
    """Move the ref from `old` to `new`; False: it is somewhere else. GitFailed: it could not be written."""
    try:
        place.run([*DURABLE, "update-ref", "-m", why, "--no-deref", ref, new, old])
    except GitFailed:
        if read(place, ref) != old:
            return False
        raise
    return True


def is_gone(git_dir: str, ref: str) -> bool:
    """Whether the ref surely does not exist, so that no process is needed to remove it."""
    if os.path.lexists(os.path.join(git_dir, ref)):
        return False
    packed = packed_refs.below(git_dir, ref)
    return packed is not None and all(name != ref for name, _ in packed)


def update(place: Place, wanted: dict[str, str | None]) -> None:
    """Set refs of our own to objects, None removes; all in one transaction, and nothing when all are so already.

    The refs are on the disk once this returns: what only they hold may be removed elsewhere.
    """
    lines = []
    for ref, commit in wanted.items():
        if not ref.startswith(f"{OWN}/"):
            raise GitFailed(f"{ref} is not a ref of nobrakes")
        _clear_torn(place.git_dir, ref)
        if commit is None:
            if not is_gone(place.git_dir, ref):
                lines.append(f"delete {ref}\n")
        elif loose(place.git_dir, ref) != commit:  # what a person packed may not be on the disk
            lines.append(f"update {ref} {commit}\n")
    if lines and not place.transactions.commit(lines, place.git_dir, place.plumbing):
        place.run([*DURABLE, "update-ref", "--no-deref", "--stdin"], stdin="".join(lines).encode())


def _clear_torn(git_dir: str, ref: str) -> None:
    """Remove the file of a ref of ours that holds no object id, as a power cut leaves it: git refuses to write it."""
    path = os.path.join(git_dir, ref)
    if os.path.lexists(path) and not os.path.isdir(path) and loose(git_dir, ref) is None:
        os.unlink(path)


def broken(place: Place) -> list[tuple[str, str]]:
    """The refs of ours that lead nowhere, by name, and why; nothing is changed. RefsBroken."""
    below(place)  # git itself reads every line, whoever's it is: RefsBroken
    found: list[tuple[str, str]] = []
    named: dict[str, str] = dict(packed_refs.below(place.git_dir, f"{OWN}/") or ())
    for folder, _, names in os.walk(os.path.join(place.git_dir, OWN)):
        for name in names:
            ref = os.path.relpath(os.path.join(folder, name), place.git_dir)
            oid = loose(place.git_dir, ref)
            if oid is not None:
                named[ref] = oid
            elif not name.endswith(".lock"):
                named.pop(ref, None)
                found.append((ref, "its file holds no object id"))
    found += [(ref, f"its line in packed-refs is broken: {oid[:60]}") for ref, oid in named.items() if not is_oid(oid)]
    whole = {ref: oid for ref, oid in named.items() if is_oid(oid)}
    asked = "".join(f"{oid}\n" for oid in whole.values()).encode()
    said = place.run(["cat-file", "--batch-check"], stdin=asked).text.split("\n") if asked else []
    gone = [ref for ref, line in zip(whole, said, strict=True) if line.endswith(" missing")]
    return sorted([*found, *((ref, f"its object {whole[ref][:12]} is gone") for ref in gone)])


def move(place: Place, ref: str, new: str, old: str | None) -> bool:
    """Move a ref of our own from `old` (None: it is not there) to `new`; False: it is somewhere else."""
    line = f"update {ref} {new} {old}\n" if old else f"create {ref} {new}\n"
    if place.transactions.commit([line], place.git_dir, place.plumbing):
        return True
    try:
        place.run([*DURABLE, "update-ref", "--no-deref", "--stdin"], stdin=line.encode())
    except GitFailed:
        present = read(place, ref)
        if present in (old, None) and present != new:
            raise
        return present == new
    return True


def names_in(place: Place, folder: str) -> list[str]:
    """The names of the refs directly in a folder of refs, without a process where refs are files."""
    path = os.path.join(place.git_dir, folder)
    own = os.listdir(path) if os.path.isdir(path) else ()
    packed = packed_refs.below(place.git_dir, f"{folder}/")
    if packed is None:
        return [ref for ref, _ in below(place, f"{folder}/")]
    return sorted({name for name, _ in packed} | {f"{folder}/{name}" for name in own if not name.endswith(".lock")})


def pack(place: Place) -> None:
    """Put refs into one file where more than LOOSE of the archive's lie in files of their own.

    Only those where git can be told so (2.43); an older one packs all, as its own upkeep does. No ref changes. They are
    on the disk in the one file before the others go.
    """
    folder = os.path.join(place.git_dir, ARCHIVE)
    try:
        loose_ones = sum(len(names) for _, _, _, names in walk(folder))
    except (OSError, Beyond):
        loose_ones = 0 if not os.path.isdir(folder) else LOOSE + 1
    if loose_ones > LOOSE:
        only = ["--include", f"{ARCHIVE}/*"] if commands.version() >= (2, 43) else ["--all"]
        place.run([*DURABLE, "pack-refs", *only])


def newest_first(place: Place, pairs: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """These refs by the date of their commits; one whose commit is gone is left out, and holds no other one up."""
    if not pairs:
        return []
    asked = ["rev-list", "--no-walk=unsorted", "--ignore-missing", "--timestamp", "--stdin"]
    said = place.run(asked, stdin="".join(f"{oid}\n" for _, oid in pairs).encode()).text.splitlines()
    dates = {oid: int(date) for date, _, oid in (line.partition(" ") for line in said)}
    known = [(dates[oid], ref, oid) for ref, oid in pairs if oid in dates]
    return [(ref, oid) for _, ref, oid in sorted(known, reverse=True)]


def below(place: Place, *prefixes: str) -> list[tuple[str, str]]:
    """(ref, object id) below the prefixes, by name."""
    asked = ["for-each-ref", "--format=%(refname)%00%(objectname)"]
    pairs = []
    for line in place.run([*asked, *prefixes]).text.split("\n"):
        ref, _, commit = line.partition("\0")
        if commit:
            pairs.append((ref, commit))
    return pairs
