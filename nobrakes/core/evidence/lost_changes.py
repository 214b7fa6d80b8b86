"""Merges of beads whose changes a later commit of a person took back, without a word about it.

1. A commit takes a merge back where, after it, nothing that the merge brought is there, and some of it is as it was
   before the merge. A merge of the same bead, or `Reverts-Bead:`, ends the question.
2. It did so unseen where all that lies between the two on main was taken back with it: that is what a commit of an
   index from before the merge makes. Else, or where its subject says so, it was meant, and is told as a note.
3. What came back later was not lost.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from .record import Made

Move = tuple[str, str, str]
"""(path, what it was, what it became): mode and object."""

NAMED = 5


@dataclass(frozen=True, slots=True)
class Lost:
    """The merge `commit` of a bead, whose changes `by` took back in these paths. `is_unseen`: nobody meant to."""

    bead: str
    commit: str
    by: Made
    paths: tuple[str, ...]
    is_unseen: bool

    def told(self) -> str:
        """The same for people."""
        paths = ", ".join(self.paths[:NAMED]) + (f" and {len(self.paths) - NAMED} more" * (len(self.paths) > NAMED))
        who = self.by.author.partition(" <")[0]
        return (
            f"the changes of {self.bead} ({self.commit[:12]}) in {paths} were taken back by {self.by.commit[:12]} "
            f"({self.by.subject[:60]}, {who})"
        )

    def advice(self) -> str:
        """What a person may type about it."""
        return (
            f"`git revert {self.by.commit[:12]}` brings them back, `nobrakes reopen {self.bead}` has it done again; a "
            f"commit with the trailer `Reverts-Bead: {self.bead}` says that it was meant"
        )


@dataclass
class _Merge:
    bead: str
    anchor: str
    last: int  # where on the line its newest commit is
    commit: str
    moves: dict[str, tuple[str, str]] = field(default_factory=dict)
    lost: Lost | None = None


def lost_changes(line: Sequence[Made], moves: Callable[[str], Sequence[Move]]) -> list[Lost]:
    """The merges on main's `line` (newest first) that commits on it took back. `moves`: what a commit changed."""
    now: dict[str, str] = {}
    merges: dict[str, _Merge] = {}
    touched: dict[str, set[str]] = {}  # path -> the beads whose merges changed it
    taken: dict[int, bool] = {}  # place on the line -> whether what it brought is gone
    for place in range(len(line) - 1, -1, -1):
        made, bead = line[place], line[place].trailer("Bead")
        changed = moves(made.commit)
        now.update((path, after) for path, _, after in changed)
        reverted = [value for key, value in made.trailers if key.lower() == "reverts-bead"]
        taken[place] = not changed
        if bead:
            merges[bead] = _joined(merges.get(bead), made, place, changed)
            for path, _, _ in changed:
                touched.setdefault(path, set()).add(bead)
        for name in reverted:
            merges.pop(name, None)
        if not bead and not reverted:
            near = {name for path, _, _ in changed for name in touched.get(path, ())} & merges.keys()
            gone = [merge for name in sorted(near) if not _is_there(merge := merges[name], now)]
            for merge in gone:
                back = [path for path, _, after in changed if merge.moves.get(path, ("",))[0] == after]
                if back:
                    merge.lost = Lost(merge.bead, merge.commit, made, tuple(sorted(back)), False)
                    taken[merge.last] = True
            for merge in gone:
                if merge.lost is not None and merge.lost.by is made and not made.subject.startswith('Revert "'):
                    between = all(taken[one] for one in range(merge.last, place, -1))
                    merge.lost = replace(merge.lost, is_unseen=between)
    return [merge.lost for merge in merges.values() if merge.lost is not None and not _is_there(merge, now)]


def _joined(known: _Merge | None, made: Made, place: int, changed: Sequence[Move]) -> _Merge:
    """The bead's merge with this commit: the next one of the same merge, or a new one."""
    anchor = made.trailer("Evidence")
    if known is None or (known.anchor, known.last) != (anchor, place + 1):
        return _Merge(made.trailer("Bead"), anchor, place, made.commit, {p: (was, is_) for p, was, is_ in changed})
    known.last, known.commit = place, made.commit
    for path, was, is_ in changed:
        known.moves[path] = (known.moves.get(path, (was,))[0], is_)
    return known


def _is_there(merge: _Merge, now: dict[str, str]) -> bool:
    """Whether anything is as the merge made it."""
    return any(now[path] == is_ != was for path, (was, is_) in merge.moves.items())
