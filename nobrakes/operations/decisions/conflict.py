"""A conflict with main: the lines of both sides, and whose change it is that the branch conflicts with.

1. It is made anew from git whenever somebody looks, from the main that it was seen on and the branch's own commit,
   wherever that is kept by now. Where one of them is gone, the files that were noted are shown, and why no more is.
2. The other side is what came to main since the branch left it and touches the same files: merges of beads by their
   trailer, anything else by its author.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ...core.beads.attempt import Attempt
from ...core.beads.bead import Role
from ...core.beads.escalations import Escalation
from ...core.errors import NobrakesError, NoSuchBead
from ...core.evidence.record import Made
from ...ports.git import Git
from ...ports.shown import Clash, Hunk
from ...ports.store import Store
from ...wording.stages import main_of
from .branch import GONE, Branch
from .excerpts import WHOLE, line, of_lines
from .view import ConflictFile, ConflictHunk, ConflictView, OtherSide

FILES, HUNKS, LINES, OTHERS = 5, 3, 10, 5
SEARCHED = 200
"""So many commits of main are looked through for the other side."""


def conflict(store: Store, git: Git, found: Escalation, branch: Branch | None, is_whole: bool) -> ConflictView:
    """The conflict as it was when it was asked about."""
    where = main_of(str(found.evidence.get("epic") or ""))
    return replace(_seen(store, git, found, branch, is_whole, where), where=where)


def _seen(store: Store, git: Git, found: Escalation, branch: Branch | None, is_whole: bool, where: str) -> ConflictView:
    noted = tuple(line(path) for path in found.evidence.get("files") or () if isinstance(path, str))
    onto = str(found.evidence.get("main") or "")
    if branch is None or not onto or not git.has(onto):
        why = GONE if branch is None else f"git has {where} as it conflicted with it no more."
        return ConflictView(onto, *_noted(noted, is_whole), missing=why)
    others = tuple(_others(store, git, onto, branch.base, noted))
    try:
        clashes = git.clashes(onto, branch.head, branch.base)
    except NobrakesError as error:
        return ConflictView(onto, *_noted(noted, is_whole), others, line(error))
    if not clashes:
        why = 'As one change it merges; commit by commit, as `merge = "rebase"` wants it, it does not.'
        return ConflictView(onto, *_noted(noted, is_whole), others, why)
    files = tuple(_file(clash, is_whole, where) for clash in (clashes if is_whole else clashes[:FILES]))
    if not others:
        others = tuple(_others(store, git, onto, branch.base, [clash.path for clash in clashes]))
    return ConflictView(onto, files, len(clashes) - len(files), others)


def _noted(paths: Sequence[str], is_whole: bool) -> tuple[tuple[ConflictFile, ...], int]:
    kept = paths if is_whole else paths[:FILES]
    return tuple(ConflictFile(path, "in conflict") for path in kept), len(paths) - len(kept)


def _file(clash: Clash, is_whole: bool, where: str) -> ConflictFile:
    hunks = clash.hunks if is_whole else clash.hunks[:HUNKS]
    shown = tuple(_hunk(one, WHOLE if is_whole else LINES) for one in hunks)
    return ConflictFile(line(clash.path), _how(clash, where), shown, len(clash.hunks) - len(hunks))


def _hunk(hunk: Hunk, most: int) -> ConflictHunk:
    return ConflictHunk(hunk.line, *(of_lines(list(side), most, is_code=True) for side in (hunk.main, hunk.branch)))


def _how(clash: Clash, where: str) -> str:
    if clash.in_main and clash.in_branch:
        if clash.in_fork:
            return "both changed it"
        return "both added it"
    if clash.in_branch:
        return f"{where} removed or renamed it, and the branch changed it"
    return f"the branch removed or renamed it, and {where} changed it"


def _others(store: Store, git: Git, onto: str, base: str, paths: Sequence[str]) -> Iterator[OtherSide]:
    """The newest commits of main that touch these files, since the branch left it."""
    wanted, shown = frozenset(paths), 0
    for made in git.line(onto, base)[:SEARCHED]:
        if not made.parents:
            continue
        touched = sorted(wanted & {change.path for change in git.changes(made.parents[0], made.commit)})
        if touched:
            yield _other(store, made, tuple(line(path) for path in touched))
            shown += 1
        if shown == OTHERS:
            return


def _other(store: Store, made: Made, paths: tuple[str, ...]) -> OtherSide:
    bead = made.trailer("Bead")
    title, who = line(made.subject), line(made.author.rpartition(" <")[0] or made.author)
    if bead:
        try:
            title = line(store.bead(bead).title)
            doers = [one for one in store.attempts(bead) if one.role is Role.DOER]
            who = _named(doers) or who
        except NoSuchBead:  # of another database
            pass
    return OtherSide(line(bead), title, who, made.commit, made.at, paths)


def _named(doers: Sequence[Attempt]) -> str:
    return line(f"{doers[-1].name} ({doers[-1].agent})") if doers else ""
