"""Moving main in this repository, and every checkout of main with it: index and files together, or not at all.

1. git's two-tree merge decides and writes: unrelated staged or edited files stay; a path with neither version stops
   everything.
2. git overwrites ignored files, so we look for losses ourselves (obstacles).
3. If files are already as wanted, the index follows first. A half-written file of a killed git is ours only if a
   landing was under way (`is_landing`).
4. The caller holds the worktree's lock. The worktree's own index changes only at `publish`.
"""

import contextlib
import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from ...errors import DiskFull, GitFailed, GitUnusable, NobrakesError, StoreReadOnly
from ...review.waits import LOCK_PASSES, Cause, Land, Landing, cause_of, first_words, why
from .. import command_line, persons
from .. import objects as git_objects
from ..history import History, raw
from ..location import Place
from ..objects import Objects
from . import standing
from .standing import Look, Note, Worktree, in_the_way, named

MACHINE = (GitFailed, GitUnusable, DiskFull, StoreReadOnly)
"""Errors when files cannot be written."""


class LandingBlocker(NamedTuple):
    """What keeps a checkout from following, and its remedy while main has not moved on without it. Behind main, a
    commit or stash there would revert a merge."""

    cause: Cause
    what: str
    remedy: str = ""  # empty: what its cause says


class Following:
    """A locked checkout that is to go from `old` to `new`."""

    def __init__(self, objects: Objects, holder: Worktree, new: str, old: str, is_landing: bool = False) -> None:
        self.objects = objects
        self.holder = holder
        self.new = new
        self.old = old
        self.is_landing = is_landing
        self.differences = raw(objects, old, new)
        self._begun: set[str] = set()
        self._there: set[str] = set()  # the files that had their new content before
        self._from = old  # what git starts from: `old`, with these two as they shall be

    def why_not(self) -> LandingBlocker | None:
        try:
            return self._why_not()
        except (GitFailed, GitUnusable) as error:
            return failed(str(error))

    def _why_not(self) -> LandingBlocker | None:
        lost = self._lost()
        if not lost and self._try().code == 0:
            return None
        # the index may be behind the files' times only; looking at the contents settles that
        self._git(["update-index", "-q", "--refresh"], expect=(0, 1))
        self._there = standing.follow_files(self.holder, self.differences)
        if self.is_landing:
            self._begun = standing.follow_begun(self.holder, self.differences)
        if self._there | self._begun:
            self._from = standing.between(self.holder, self.old, self.differences, self._there | self._begun)
        self._git(["update-index", "-q", "--refresh"], expect=(0, 1))
        lost = self._lost()
        if lost:
            return LandingBlocker(
                Cause.UNTRACKED,
                f"the merge would overwrite files that are not in git: {named(lost)}",
                "Add and commit these files, or move them away.",
            )
        tried = self._try()
        if tried.code == 0:
            return None
        edited, cause = self._edited(), cause_of(tried.error)
        if cause is Cause.EDITS or (edited and cause is Cause.UNKNOWN):
            what = named(edited) or first_words(tried.error)
            remedy = "Commit or stash your changes. The merge then continues."
            return LandingBlocker(Cause.EDITS, f"the merge would overwrite your edits: {what}", remedy)
        return failed(tried.error)

    def go(self) -> None:
        """Write the files and our copy of the index. On an error (MACHINE) the index is as before."""
        if self._begun:
            standing.finish(self.holder, self.differences, self._begun)
        self._git(["read-tree", "-m", "-u", self._from, self.new])

    def publish(self) -> None:
        if self._begun | self._there:
            self._git(["update-index", "-q", "--refresh"], expect=(0, 1))
        standing.publish(self.holder)

    def take_back(self) -> None:
        """After `go`, instead of `publish`: restore the files of `old`."""
        staged = standing.entries(self.holder, [path for path, *_ in self.differences], standing.reading(self.holder))
        standing.take_back(self.objects, self.holder, self.new, self.old, staged, self._there)

    def _lost(self) -> list[str]:
        lost = in_the_way(self.holder.path, self.differences)
        if lost:
            # what the index holds is git's to judge: it compares it with both sides
            tracked = set(self._git(["ls-files", "-z", "--", *(f":(literal,top){path}" for path in lost)]).records)
            lost = [path for path in lost if path not in tracked]
        return lost

    def _try(self) -> command_line.Answer:
        return self._git(["read-tree", "-n", "-m", "-u", self._from, self.new], expect=(0, 1, 128))

    def _edited(self) -> list[str]:
        edited: set[str] = set()
        for asked in (["diff-index", "--cached"], ["diff-index"]):
            edited.update(self._git([*asked, "-z", "--name-only", self.old, "--"], expect=(0, 1, 128)).records)
        return sorted((edited & {path for path, *_ in self.differences}) - self._there - self._begun)

    def _git(self, arguments: list[str], expect: Sequence[int] = (0,)) -> command_line.Answer:
        return command_line.run(arguments, cwd=self.holder.path, env=self.holder.env, expect=expect)


def blocked(holder: Worktree, cause: Cause, what: str, remedy: str = "") -> Land:
    """Main waits for this checkout. `remedy`: what ends that, if the cause alone does not say it."""
    said = what if remedy else why(cause, what)
    return Land(Landing.BLOCKED, f"main is checked out in {holder.path}: {f'{said}. {remedy}'.strip(' .')}.", cause)


def failed(said: str) -> LandingBlocker:
    return LandingBlocker(cause_of(said), f"git could not write the checkout's files: {first_words(said)}")


# Before the swap every worktree of main is tried dry under its index's lock, which is held to the end: what would be
# lost is BLOCKED. Each notes where it stands and goes. Afterwards the files follow; if they cannot, main is swapped
# back. Who has main checked out is asked before, under each lock, and after: one that came late is brought along, one
# that left gets back what it had. A checkout that a kill left behind is brought along first; where a person edited what
# has to follow, main goes back to it as long as nobody built on the merge or recorded it, since their next commit could
# take it back.
class Lander:
    """Moves a main that this repository alone decides about."""

    def __init__(self, place: Place, history: History) -> None:
        self.place = place
        self.history = history

    def land(self, new: str, old: str) -> Land:
        present = git_objects.main(self.place)
        if present != old or new == old:
            if not self.history.contains(new, present):
                return Land(Landing.LOST, f"main is at {present[:12]}, not at {old[:12]}")
            return self.settle(Note(old, new) if new != old else None)
        with contextlib.ExitStack() as stack:
            ready = self._ready(stack, standing.main_worktrees(self.place), new, old)
            if isinstance(ready, Land):
                return ready
            for one in ready:
                standing.write(one.holder, old, new)
            if (lost := self._swapped(new, old)) is not None:
                for one in ready:
                    standing.write(one.holder, old)
                return lost
            land = self._follow(ready, new, old)
        return self.settle(Note(old, new)) if land.landing is Landing.MOVED else land

    def _swapped(self, new: str, old: str) -> Land | None:
        try:
            if git_objects.swap(self.place, self.place.ref, new, old, "nobrakes: merge"):
                return None
        except (GitFailed, GitUnusable) as error:
            lock = _LOCKED.search(str(error))
            if lock is None:
                return Land(Landing.BLOCKED, why(cause_of(str(error)), str(error)), cause_of(str(error)))
            cause, what, remedy = _lock_blocker(lock[1], standing.age_of(lock[1]))
            return Land(Landing.BLOCKED, f"{what}. {remedy}", cause)
        return Land(Landing.LOST, "main moved meanwhile")

    def is_shared(self) -> bool:
        return False

    def catch_up(self) -> Land:
        return Land(Landing.MOVED)

    def obstacle(self, new: str, old: str) -> Land | None:
        with contextlib.ExitStack() as stack:
            ready = self._ready(stack, standing.main_worktrees(self.place), new, old)
            return ready if isinstance(ready, Land) else None

    # --- before the swap -------------------------------------------------------------------------

    def _ready(
        self, stack: contextlib.ExitStack, holders: Sequence[Worktree], new: str, old: str
    ) -> list[Following] | Land:
        ready = []
        for holder in holders:
            # before the lock is taken, since a merge under way holds none
            reason = self._hold(stack, holder)
            if reason is not None:
                return reason
            if self.place.ref not in standing.refs_in(holder):
                continue  # it left main before the lock was ours
            reason = self.stand(holder, old)
            if reason is not None:
                return reason
            following = Following(self.history.objects, holder, new, old)
            if (blocker := following.why_not()) is not None:
                return blocked(holder, *blocker)
            ready.append(following)
        return ready

    def _hold(self, stack: contextlib.ExitStack, holder: Worktree) -> Land | None:
        busy, session = holder.under_way(), persons.who(holder.path)
        if session is not None:
            what = f"session {session.session} is working in this checkout"
            return blocked(holder, Cause.SESSION, what, f"`{session.ending}` ends it. The merge then continues.")
        if busy is not None:
            what = f"{busy} is in progress there"
            return blocked(holder, Cause.UNDER_WAY, what, "Finish it. The merge then continues.")
        if not stack.enter_context(standing.locked(holder)):
            return blocked(holder, *_lock_blocker(holder.lock, standing.age_of(holder.lock)))
        return None

    def stand(self, holder: Worktree, main: str) -> Land | None:
        """Bring a locked worktree that is behind to main; returns why that failed."""
        note = standing.read(holder)
        if note == Note(main):
            return None
        seen = standing.look(self.history, holder, main, note)
        if not seen.is_behind:
            # what a landing that did not come to pass wrote of its files is as before
            if note is not None and note.to and note.at == main:
                Following(self.history.objects, holder, note.to, main).take_back()
            standing.write(holder, main)
            return None
        following = self._step(holder, seen, main)
        if (blocker := following.why_not()) is not None:
            return _stuck(holder, seen, main, blocker)
        self._go(following)
        standing.copy(holder)
        return None

    @staticmethod
    def _go(following: Following) -> None:
        """After a kill in between, the next landing knows which files it may trust."""
        standing.write(following.holder, following.old, following.new)
        following.go()
        following.publish()
        standing.write(following.holder, following.new)

    # --- after the swap --------------------------------------------------------------------------

    def _follow(self, ready: Sequence[Following], new: str, old: str) -> Land:
        for number, one in enumerate(ready):
            try:
                one.go()
            except MACHINE as error:
                git_objects.swap(self.place, self.place.ref, old, new, "nobrakes: taken back")
                for other in ready[: number + 1]:
                    other.take_back()
                for other in ready:
                    standing.write(other.holder, old)
                return blocked(one.holder, *failed(f"{error}"))
        for one in ready:
            one.publish()
            standing.write(one.holder, new)
            if self.place.ref not in standing.refs_in(one.holder):
                self._give_back(one)
        return Land(Landing.MOVED)

    def _give_back(self, one: Following) -> None:
        """Restore a checkout that left main meanwhile, unless it took the new commit along or would lose something."""
        if self.history.contains(one.new, standing.head(one.holder)):
            return
        standing.copy(one.holder)
        back = Following(self.history.objects, one.holder, one.old, one.new)
        if back.why_not() is None:
            self._go(back)

    # --- after a kill ----------------------------------------------------------------------------

    def settle(self, unrecorded: Note | None = None, is_elsewhere: bool = False) -> Land:
        """Bring along what a kill left behind; else BLOCKED. `unrecorded`: the last landing, not recorded yet, so main
        may drop it; `is_elsewhere`: main may drop anything, since all is stored elsewhere."""
        main = git_objects.main(self.place)
        notes = {holder: standing.read(holder) or unrecorded for holder in standing.main_worktrees(self.place)}
        if all(note == Note(main) for note in notes.values()):
            return Land(Landing.MOVED)
        looks = {}
        with contextlib.ExitStack() as stack:
            for holder, note in notes.items():
                reason = self._hold(stack, holder)
                seen = standing.look(self.history, holder, main, note)
                if reason is None:
                    looks[holder] = seen
                elif seen.is_behind:  # else somebody works there, with main's own index
                    return replace(reason, may_have_landed=True)
            steps = {h: self._step(h, seen, main) for h, seen in looks.items() if seen.is_behind}
            for holder, step in steps.items():
                if (blocker := step.why_not()) is not None:
                    landed = Note(step.old, main)
                    if landed == (notes[holder] if is_elsewhere else unrecorded):
                        return self._take_back(holder, looks, landed, blocker)
                    return replace(_stuck(holder, looks[holder], main, blocker), may_have_landed=True)
            for step in steps.values():
                self._go(step)
            for holder in looks:
                standing.write(holder, main)
        return Land(Landing.MOVED)

    def _step(self, holder: Worktree, seen: Look, main: str) -> Following:
        return Following(self.history.objects, holder, main, seen.at, seen.is_landing)

    def _take_back(self, stuck: Worktree, looks: dict[Worktree, Look], landed: Note, why: LandingBlocker) -> Land:
        """Move main back to the checkout that cannot follow, and with it those that had followed."""
        objects, new, old = self.history.objects, landed.to, landed.at
        behind = [holder for holder, seen in looks.items() if seen.is_behind]
        back = [Following(objects, one, old, new) for one in looks if one not in behind and os.path.exists(one.index)]
        if any(one.why_not() is not None for one in back) or any(looks[holder].at != old for holder in behind):
            return replace(_stuck(stuck, looks[stuck], new, why), may_have_landed=True)
        for one in back:
            standing.write(one.holder, new, old)
        if not git_objects.swap(self.place, self.place.ref, old, new, "nobrakes: taken back"):
            return replace(_stuck(stuck, looks[stuck], new, why), may_have_landed=True)
        for one in back:
            self._go(one)
        for holder in behind:
            Following(objects, holder, new, old).take_back()
            standing.write(holder, old)
        held = blocked(stuck, *why)
        return replace(held, reason=f"{held.reason} main stays at {old[:12]} until the checkout is updated.")

    def take_up(self) -> None:
        """Before a daemon's first turn: bring checkouts along under the locks that a killed daemon left."""
        with contextlib.suppress(NobrakesError):  # whoever needs main says that there is none, and why it fails
            main = git_objects.main(self.place)
            for holder in standing.main_worktrees(self.place):
                with contextlib.suppress(NobrakesError), standing.locked(holder, adopt=True) as ours:
                    if ours and holder.under_way() is None and persons.who(holder.path) is None:
                        if standing.read(holder) is not None:
                            self.stand(holder, main)
                        elif standing.is_clean(holder, main):
                            standing.write(holder, main)

    def bring_along(self) -> tuple[str, ...]:
        """Bring along each checkout that came late to main; returns messages about those that cannot follow."""
        main = git_objects.main(self.place)
        found: list[str] = []
        for holder in standing.main_worktrees(self.place):
            note = standing.read(holder)
            if note == Note(main) or not os.path.exists(holder.index):
                continue
            seen = standing.look(self.history, holder, main, note)
            if not seen.is_behind and not (note is not None and note.to):
                standing.write(holder, main)
                continue
            with contextlib.ExitStack() as stack:
                reason = self._hold(stack, holder) or self.stand(holder, main)
                if reason is not None:
                    found.append(standing.told(holder, seen, main))
        return (*found, *standing.bare(self.place))


_LOCKED = re.compile(r"'([^']+\.lock)': File exists")


def _lock_blocker(path: str, age: float) -> LandingBlocker:
    if age < LOCK_PASSES:
        return LandingBlocker(Cause.LOCK, f"another git command holds {path}", "The merge continues when that ends.")
    return LandingBlocker(
        Cause.OLD_LOCK,
        f"the lock file {path} is older than {LOCK_PASSES:.0f} seconds",
        "Check whether a git command or an editor still uses the repository. If none does, a killed command left "
        "the lock file: move the file away. The merge then continues.",
    )


def _stuck(holder: Worktree, seen: Look, main: str, why: LandingBlocker) -> Land:
    return Land(Landing.BLOCKED, f"{standing.told(holder, seen, main)} The obstacle: {why.what}.", Cause.BEHIND)


TIP = git_objects.own_ref("landed/tip")
BEFORE = git_objects.own_ref("landed/before")
MAX_REWRITTEN = 50


# One ref holds the tip that landed last. Where that is not in what lands next somebody rewrote main, and it gets a ref
# of its own, of which the last MAX_REWRITTEN stay. What fails here is made good by the next landing.
def keep(place: Place, history: History, new: str) -> None:
    """Keep alive what landed now, and what landed before if main no longer holds it."""
    with contextlib.suppress(GitFailed):
        before = git_objects.read(place, TIP)
        if before == new:
            return
        wanted: dict[str, str | None] = {TIP: new}
        if before is not None and _holds(history, new, before):
            return  # said again, after something else landed on it
        if before is not None and not _holds(history, before, new):
            earlier = sorted(int(ref.rpartition("/")[2]) for ref in git_objects.names_in(place, BEFORE))
            wanted[f"{BEFORE}/{earlier[-1] + 1 if earlier else 1}"] = before
            wanted.update(dict.fromkeys(f"{BEFORE}/{number}" for number in earlier[: len(earlier) + 1 - MAX_REWRITTEN]))
        git_objects.update(place, wanted)


def _holds(history: History, commit: str, tip: str) -> bool:
    try:
        return history.contains(commit, tip)
    except GitFailed:  # one of them is gone from git
        return False


# It is a ref of ours, and no branch of a person; as long as it is not there, main stands for it.
class OwnLander:
    """Moves such a branch."""

    def __init__(self, place: Place, history: History) -> None:
        self.place = place
        self.history = history

    def is_shared(self) -> bool:
        return False

    def catch_up(self) -> Land:
        return Land(Landing.MOVED)

    def obstacle(self, new: str, old: str) -> Land | None:
        return None

    def land(self, new: str, old: str) -> Land:
        """Move it from `old`; while it does not exist, that is main."""
        there = git_objects.read(self.place, self.place.ref)
        if (there or git_objects.main(self.place)) == old and git_objects.move(self.place, self.place.ref, new, there):
            return Land(Landing.MOVED)
        if there is not None and self.history.contains(new, there):
            return Land(Landing.MOVED)  # said again
        return Land(Landing.LOST, f"{self.place.branch} is no longer at {old[:12]}")
