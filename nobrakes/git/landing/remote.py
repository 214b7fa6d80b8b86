"""Moving main where a remote decides: its compare-and-swap first, then ours.

1. Before a candidate is built, the remote's main is fetched and ours brought to it, when that loses nothing.
2. The push with a lease is the decision. It comes before the local main moves, and only when the local main could move.
3. A push whose end nobody knows may have landed: asked again, it is pushed under the same lease, or found to be there.
4. Main here with commits of its own, or parted from the remote's, waits for a person. Nothing of theirs is pushed.
"""

from collections.abc import Callable
from dataclasses import replace

from ...core.errors import GitFailed
from ...ports import Land, Landing
from .. import refs
from ..history import History
from ..location import Place
from .local import Lander
from .remote_questions import Remote
from .standing import Note

WAIT_SECONDS = 60.0
"""So long nobody asks the remote again that did not answer, or said no."""

PATIENCE_SECONDS = 300.0
"""So long a remote that does not answer is waited for, before a person has to look."""
_TRIES = 3


class SharedLander:
    """Moves a main that others push to as well."""

    def __init__(self, place: Place, history: History, local: Lander, remote: Remote) -> None:
        self.place = place
        self.history = history
        self.local = local
        self.remote = remote

    def is_shared(self) -> bool:
        """The remote is asked."""
        return True

    def catch_up(self) -> Land:
        """Bring main to where the remote's is now."""
        heard = self.remote.fetch()
        if not heard.ok:
            return _silent(f"{self.remote} cannot be fetched: {heard.words}")
        return self._follow(None)

    def land(self, new: str, old: str) -> Land:
        """Move the remote's main from `old` to `new`, then main here."""
        if not self._has(new):
            main = refs.main(self.place)
            if main == old:
                reason = self.local.obstacle(new, old)
                if reason is not None:
                    return reason
                undecided = pushed(self.remote, self.history, new, old)
            else:
                undecided = self._look(new, main, old)
            if undecided is not None:
                return undecided
        if self.history.contains(new, refs.main(self.place)):
            settled = self.local.settle(Note(old, new), is_elsewhere=True)  # a crash may have left checkouts behind
            if settled.landing is not Landing.MOVED:
                return replace(settled, may_have_landed=True)
        return self._follow(new)

    def commit(self, make: Callable[[], str | None]) -> str | None:
        """Let a commit be made on main here, and push it; GitFailed says whether it was made."""
        ready = self.catch_up()
        if ready.landing is not Landing.MOVED:
            raise GitFailed(f"nothing was committed: {ready.reason}")
        made = make()
        if made is not None:
            said = self.remote.push(made, self.remote.known() or "")
            if not said.ok:
                words = f"{made[:12]} is on main here, and {self.remote} did not take it: {said.words}"
                raise GitFailed(words, "Push main, and merges go on.")
            refs.update(self.place, {self.remote.shared.known: made})
        return made

    def _has(self, new: str) -> bool:
        return has(self.remote, self.history, new)

    def _look(self, new: str, main: str, old: str) -> Land | None:
        """Main here moved by itself; None: the remote's holds it, and so it landed."""
        heard = self.remote.fetch()
        if not heard.ok:
            return _silent(f"{self.remote} cannot be fetched: {heard.words}", may_have_landed=True)
        if self._has(new):
            return None
        if self.history.contains(new, main):
            return self._ahead()
        return Land(Landing.LOST, f"main is at {main[:12]}, not at {old[:12]}")

    def _follow(self, new: str | None) -> Land:
        """Bring main here to the remote's. `new`: what has just landed there, and cannot be called back."""
        landed = new is not None
        for _ in range(_TRIES):
            main, there = refs.main(self.place), self.remote.known()
            if there is None:
                return _waits(f"{self.remote} is not known", may_have_landed=landed)
            if main == there:
                settled = self.local.settle(is_elsewhere=True)
                return settled if settled.landing is Landing.MOVED else replace(settled, may_have_landed=landed)
            if not self.history.contains(main, there):
                if not self.history.contains(there, main):
                    return _waits(
                        f"main here and {self.remote} have parted. Merge or rebase yours onto it, and push",
                        may_have_landed=landed,
                    )
                return Land(Landing.MOVED) if landed else self._ahead()
            land = self.local.land(there, main)
            if land.landing is Landing.BLOCKED:
                return replace(land, may_have_landed=landed)
        return _silent("main here moves faster than it can be brought along", may_have_landed=landed)

    def _ahead(self) -> Land:
        return _waits(f"main here has commits that {self.remote} has not. Push them, and the merge goes on")


def has(remote: Remote, history: History, new: str) -> bool:
    """Whether the remote's main is known to hold it."""
    there = remote.known()
    return there is not None and history.contains(new, there)


def pushed(remote: Remote, history: History, new: str, old: str) -> Land | None:
    """Move the remote's main from `old` to `new`; None: it holds it."""
    said = remote.push(new, old)
    if said.ok:
        refs.update(remote.place, {remote.shared.known: new})
        return None
    why = f"{remote} did not take it: {said.words}"
    if not remote.fetch().ok:
        return _silent(why, may_have_landed=not said.refused)
    if has(remote, history, new):
        return None
    if remote.known() != old:
        return Land(Landing.LOST, f"{remote} moved meanwhile")
    # a remote that nobody hears any more may still be at it
    return _waits(why) if said.refused else _silent(why, may_have_landed=True)


def _waits(reason: str, may_have_landed: bool = False) -> Land:
    return Land(Landing.BLOCKED, reason, WAIT_SECONDS, may_have_landed=may_have_landed)


def _silent(reason: str, may_have_landed: bool = False) -> Land:
    """It may pass by itself."""
    return Land(Landing.BLOCKED, reason, WAIT_SECONDS, PATIENCE_SECONDS, may_have_landed)
