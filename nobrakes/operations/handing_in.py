"""`hand-in`: a person's commits on a bead go to the Reviewer, as an agent's would.

1. What is in no commit, or stands in the middle of a rebase, is not handed in: the person is told what to type.
2. The commit is kept under refs/nobrakes/incoming before the bead moves; folder and branch stay as they are.
3. Nobody's work is taken from them: a bead with an agent at it has to be taken first.
4. Work on the bead of a feature's rollback takes the feature's merges off main, as what nobrakes builds does.
"""

import os
import shlex
from dataclasses import dataclass

from ..core.beads.bead import WORKING, Bead
from ..core.beads.events import Kind
from ..core.errors import NobrakesError, NotAllowed, UsageError
from ..git.landing.worktrees import Worktree
from ..ports.reviews import ByHand
from .forging import rollback
from .taking import Repository, known_place, refuse
from .waking import wake

_SHOWN = 5
_CONTINUED = ("rebase", "merge", "cherry-pick", "revert")


@dataclass(frozen=True, slots=True)
class HandedIn:
    """What was handed in: the commit, the number of the person's attempt, and where it came from."""

    bead: Bead
    attempt: int
    head: str
    folder: str
    branch: str


def hand_in(here: Repository, bead: str, actor: str, source: str = "") -> HandedIn:
    """Hand in from `source` (a folder or a branch), else from where the bead was taken, else from the current folder.

    NoSuchBead, NotAllowed, UsageError: nothing was changed.
    """
    before = here.store.bead(bead)
    refuse(before)
    if before.status in WORKING:
        raise NotAllowed(
            f"{before.assignee or 'somebody'} works on bead {bead} now: it is {before.status.value}",
            f"`nobrakes take {bead}` stops that and keeps its work; then hand in.",
        )
    worktree, branch, head = _found(here, bead, source)
    main = here.git_of(before).main()
    fork = here.git.fork(main, head)
    if fork is None:
        raise NotAllowed("that branch has no commit in common with main", f"`nobrakes take {bead}` makes one that has.")
    if fork == head:
        raise NotAllowed(
            f"there is nothing to hand in: main has all of {head[:12]} already",
            f"`nobrakes take {bead}` gives you a worktree for it; `--from BRANCH` names another branch.",
        )
    folder = worktree.path if worktree is not None else ""
    takes_back = rollback.takes_back(here.store, here.git, bead)
    here.git.came_through(fork, head)
    with here.store.together():
        fence = here.store.bead(bead).fence + 1
        kept = f"incoming/{bead}/{fence}"
        here.git.pin(kept, head)
        try:
            attempt = here.store.hand_in(ByHand(bead, actor, fence, head, fork, folder, takes_back))
        except NobrakesError:
            here.git.pin(kept, None)
            raise
    wake(here.paths)
    return HandedIn(here.store.bead(bead), attempt.number, head, folder, branch)


def _found(here: Repository, bead: str, source: str) -> tuple[Worktree | None, str, str]:
    """(the worktree, its branch, the commit) to hand in; a worktree with unfinished work is refused."""
    persons = here.persons
    if source and not os.path.isdir(source):
        commit = persons.commit(f"refs/heads/{source}") or persons.commit(source)
        if commit is None:
            raise UsageError(
                f"'{source[:80]}' is neither a folder nor a branch here", "`git branch` lists the branches."
            )
        worktree = persons.of_branch(source)
        if worktree is None:
            return None, source, commit
    else:
        worktree = persons.around(source) if source else known_place(here, bead) or _current(here, bead)
    if worktree is None:
        raise UsageError(
            f"{source or os.getcwd()} is in no worktree of this repository",
            f"`nobrakes take {bead}` makes one; `--from BRANCH` hands in a branch of the repository.",
        )
    if persons.branch(worktree) != persons.place.branch:  # of main itself there is nothing to hand in
        _finished(here, worktree, bead)
    return worktree, persons.branch(worktree), persons.head(worktree)


def _current(here: Repository, bead: str) -> Worktree | None:
    """The worktree around the current folder, unless it was made for another bead."""
    found = here.persons.around(os.getcwd())
    if found is None:
        return None
    for event in here.store.latest_events((Kind.TAKEN,), None, 200):
        if event.bead != bead and event.data.get("folder") == found.path:
            raise UsageError(
                f"{found.path} was made for bead {event.bead}, and not for {bead}",
                f"`nobrakes hand-in {event.bead}`; or name what you mean: --from BRANCH.",
            )
    return found


def _finished(here: Repository, worktree: Worktree, bead: str) -> None:
    place = shlex.quote(worktree.path)
    under_way = worktree.under_way()
    if under_way is not None:
        goes_on = "rebase" if "rebase" in under_way else under_way.split()[-1]
        how = (
            f"`git -C {place} {goes_on} --continue`" if goes_on in ("rebase", "merge", "cherry-pick", "revert") else ""
        )
        raise NotAllowed(
            f"{under_way} is under way in {worktree.path}",
            f"Settle the conflicts and `git -C {place} add` the files, then {how}, then `nobrakes hand-in {bead}`.",
        )
    loose = here.persons.uncommitted(worktree)
    if loose:
        more = f" and {len(loose) - _SHOWN} more" if len(loose) > _SHOWN else ""
        raise NotAllowed(
            f"not committed in {worktree.path}: {', '.join(loose[:_SHOWN])}{more}",
            f"`git -C {place} add -A` and `git -C {place} commit`, or ignore them; then `nobrakes hand-in {bead}`.",
        )
