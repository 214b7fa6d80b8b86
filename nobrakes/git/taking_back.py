"""Several merges taken off main by one commit, the newest one first; nothing is moved here.

1. Each merge is taken back whole, also one of several commits.
2. All of them or none: where one conflicts, it is said with which, and who changed those files since.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ..core.beads.taking_back import Merged, newest_first
from ..core.evidence.record import Made
from ..ports.git import Candidate, Conflict, Git, Message

MOST_LATER = 500
"""So many commits are looked through for who changed the files since."""


@dataclass(frozen=True, slots=True)
class Hindered:
    """A merge that cannot be taken back: later work changed the same files."""

    merge: Merged
    files: tuple[str, ...]


def sorted_out(git: Git, merges: Sequence[Merged], base: str) -> tuple[tuple[Merged, ...], tuple[Merged, ...]]:
    """(those that main holds, newest first; those that it does not hold any more). `base`: a commit before them."""
    gone = git.off_main([one.commit for one in merges]) if merges else frozenset()
    held = [one for one in merges if one.commit not in gone]
    line = git.line(git.main(), base) if held and base and git.has(base) else ()
    return newest_first(held, [made.commit for made in line]), tuple(one for one in merges if one.commit in gone)


def taken_back(git: Git, merges: Sequence[Merged], onto: str, message: Message) -> Candidate | Hindered:
    """One commit on `onto` without the merges, which come newest first; there is at least one."""
    tip = Candidate(onto, git.tree(onto))
    for one in merges:
        whole = git.squash(one.base, one.commit, message) if one.base else Candidate(one.commit, git.tree(one.commit))
        made = git.revert(whole.commit, tip.commit, message) if isinstance(whole, Candidate) else whole
        if isinstance(made, Conflict):
            return Hindered(one, made.files)
        tip = made
    if len(merges) == 1:
        return tip
    made = git.squash(onto, tip.commit, message)
    assert isinstance(made, Candidate), "it stands on what it is put on"
    return made


def later_work(git: Git, hindered: Hindered, main: str, but: Collection[str]) -> tuple[Made, ...]:
    """The commits of main that changed the files since, newest first, but those of these beads."""
    if not hindered.files:
        return ()
    found = []
    for made in git.line(main, hindered.merge.commit)[:MOST_LATER]:
        if made.parents and made.trailer("Bead") not in but:
            changed = {change.path for change in git.changes(made.parents[0], made.commit)}
            if changed & set(hindered.files):
                found.append(made)
    return tuple(found)
