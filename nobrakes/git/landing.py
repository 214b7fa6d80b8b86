"""Moving main: one compare-and-swap, and a checked-out main brought along without losing what a human did there.

1. Before the swap every worktree of main is tried dry; what would be lost, or a merge under way, is BLOCKED.
2. The index is locked from the try to the end, so no git command of the human comes in between.
3. After the swap the files follow. If they cannot, main is swapped back and it is BLOCKED.
4. Asked again after a crash, main is there already: files that were left behind follow, as long as each of them is
   as it was before or after; anything else is a human's and stays.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import replace

from ..core.errors import DiskFull, GitFailed, StoreReadOnly
from ..ports import Land, Landing
from . import commands, refs, worktrees
from .differences import raw
from .history import History
from .leftovers import bring_along, take_back
from .obstacles import Difference, in_the_way
from .place import Place
from .worktrees import Worktree

LOCK_PATIENCE = 60.0
"""Seconds for which an index.lock is taken for a git command at work; an older one was probably left behind."""
_NAMED = 5


class Lander:
    """Moves a main that this repository alone decides about."""

    def __init__(self, place: Place, history: History) -> None:
        self.place = place
        self.history = history

    def land(self, new: str, old: str) -> Land:
        """Move main from `old` to `new`, and clean checkouts of it."""
        present = refs.main(self.place)
        if present != old or new == old:
            return self._landed_before(new, old, present)
        holders = worktrees.of_main(self.place)
        if not holders:
            return self._swap(new, old)
        with contextlib.ExitStack() as stack:
            reason = self._lock(stack, holders, new, old)
            if reason is not None:
                return reason
            landed = self._swap(new, old)
            return landed if landed.landing is not Landing.MOVED else self._follow(holders, new, old)

    def is_shared(self) -> bool:
        """Nobody is asked."""
        return False

    def catch_up(self) -> Land:
        """Nobody else decides where main is, so it is there."""
        return Land(Landing.MOVED)

    def obstacle(self, new: str, old: str) -> Land | None:
        """Why main could not move just now; None: it could."""
        with contextlib.ExitStack() as stack:
            return self._lock(stack, worktrees.of_main(self.place), new, old)

    def _lock(self, stack: contextlib.ExitStack, holders: Sequence[Worktree], new: str, old: str) -> Land | None:
        """Take every worktree's lock; why main cannot move under them, or None."""
        differences = raw(self.history.objects, old, new) if holders else ()
        for holder in holders:
            # before the lock is taken, since a merge under way holds none
            busy = holder.under_way()
            if busy is not None:
                return _blocked(holder, f"{busy} is under way there", "Finish it, and the merge goes on.")
            if not stack.enter_context(worktrees.locked(holder)):
                return _held(holder)
            reason = self._reason_against(holder, new, old, differences)
            if reason is not None:
                return reason
        return None

    def _swap(self, new: str, old: str) -> Land:
        moved = refs.swap(self.place, self.place.ref, new, old, "nobrakes: merge")
        return Land(Landing.MOVED) if moved else Land(Landing.LOST, "main moved meanwhile")

    def _landed_before(self, new: str, old: str, present: str) -> Land:
        if not self.history.contains(new, present):
            return Land(Landing.LOST, f"main is at {present[:12]}, not at {old[:12]}")
        for holder in worktrees.of_main(self.place):
            if new != old and holder.under_way() is None:
                with worktrees.locked(holder) as ours:
                    if ours:
                        bring_along(self.history.objects, holder, old, present)
        return Land(Landing.MOVED)

    def _reason_against(self, holder: Worktree, new: str, old: str, differences: Sequence[Difference]) -> Land | None:
        """Why main cannot move under this worktree; None: it can."""
        lost = in_the_way(holder.path, differences)
        if lost:
            # what the index holds is git's to judge: it compares it with both sides
            tracked = set(self._git(holder, ["ls-files", "-z", "--", *_literal(lost)]).records)
            lost = [path for path in lost if path not in tracked]
        if lost:
            return _blocked(
                holder,
                f"files there are not in git and would be overwritten: {_named(lost)}",
                "Add and commit them, stash them with `git stash --all`, or move them away.",
            )
        answer = self._try(holder, new, old)
        if answer.code != 0:
            # the index may be behind the files' times only; looking at the contents settles that
            self._git(holder, ["update-index", "-q", "--refresh"], expect=(0, 1))
            answer = self._try(holder, new, old)
        if answer.code == 0:
            return None
        return _blocked(
            holder,
            f"edits there would be lost: {_named(self._edited(holder, differences)) or _last(answer.error)}",
            "Commit or stash your changes, and the merge goes on.",
        )

    def _try(self, holder: Worktree, new: str, old: str) -> commands.Answer:
        return self._git(holder, ["read-tree", "-n", "-m", "-u", old, new], expect=(0, 1, 128))

    def _edited(self, holder: Worktree, differences: Sequence[Difference]) -> list[str]:
        """Which of the paths that main changes have edits, staged or not, in the worktree."""
        edited: set[str] = set()
        for asked in (["diff-index", "--cached"], ["diff-index"]):
            edited.update(self._git(holder, [*asked, "-z", "--name-only", "HEAD", "--"], expect=(0, 1, 128)).records)
        return sorted(edited & {path for path, *_ in differences})

    def _follow(self, holders: Sequence[Worktree], new: str, old: str) -> Land:
        """Bring the files along after the swap; where that fails, everything goes back."""
        for number, holder in enumerate(holders):
            try:
                self._git(holder, ["read-tree", "-m", "-u", old, new])
            except (GitFailed, DiskFull, StoreReadOnly) as error:
                refs.swap(self.place, self.place.ref, old, new, "nobrakes: taken back")
                for other in holders[: number + 1]:
                    take_back(self.history.objects, other, new, old)
                return _blocked(holder, f"its files could not be written: {error}.", error.hint)
        for holder in holders:
            worktrees.publish(holder)
        return Land(Landing.MOVED)

    def _git(self, holder: Worktree, arguments: list[str], expect: Sequence[int] = (0,)) -> commands.Answer:
        return commands.run(arguments, cwd=holder.path, env=holder.env, expect=expect)


def _blocked(holder: Worktree, what: str, remedy: str) -> Land:
    return Land(Landing.BLOCKED, f"main is checked out in {holder.path}, and {what}. {remedy}".strip())


def _held(holder: Worktree) -> Land:
    """Somebody's index.lock: a command at work, or what a killed one left, by its age."""
    if worktrees.lock_age(holder) < LOCK_PATIENCE:
        at_work = _blocked(holder, f"another git command holds {holder.lock}", "It goes on when that has ended.")
        return replace(at_work, patience=LOCK_PATIENCE)
    return _blocked(
        holder,
        f"{holder.lock} is older than {LOCK_PATIENCE:.0f} seconds",
        "Look whether a git command still runs there, perhaps in an editor; if none does, one was killed and left the "
        "file: move it away, and the merge goes on.",
    )


def _named(paths: Sequence[str]) -> str:
    shown = ", ".join(paths[:_NAMED])
    return shown + (f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else "")


def _last(error: str) -> str:
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "git does not say which"


def _literal(paths: Sequence[str]) -> list[str]:
    """Paths that git must not read as patterns."""
    return [f":(literal,top){path}" for path in paths]
