"""Moving main where a remote decides: its compare-and-swap first, then ours.

1. Before a candidate is built, the remote's main is fetched and ours brought to it, when that loses nothing.
2. The push with a lease is the decision. It comes before the local main moves, and only when the local main could move.
3. A push whose end nobody knows may have landed: asked again, it is pushed under the same lease, or found to be there.
4. Main here with commits of its own, or parted from the remote's, waits for a person. Nothing of theirs is pushed.
"""

from collections.abc import Callable
from dataclasses import replace

from ...core.errors import GitFailed
from ...core.review.waits import Cause, why
from ...ports.git import Land, Landing
from .. import refs
from ..history import History
from ..location import Place
from .local import Lander
from .remote_questions import Remote, Reply
from .standing import Note

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
            return unheard(self.remote, heard)
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
            return replace(unheard(self.remote, heard), may_have_landed=True)
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
                return _waits(Cause.MISSING, f"{self.remote} is not known", landed)
            if main == there:
                settled = self.local.settle(is_elsewhere=True)
                return settled if settled.landing is Landing.MOVED else replace(settled, may_have_landed=landed)
            if not self.history.contains(main, there):
                if not self.history.contains(there, main):
                    what = f"main here and {self.remote} have parted. Merge or rebase yours onto it, and push"
                    return _waits(Cause.PARTED, what, landed)
                return Land(Landing.MOVED) if landed else self._ahead()
            land = self.local.land(there, main)
            if land.landing is Landing.BLOCKED:
                return replace(land, may_have_landed=landed)
        return _waits(Cause.RACES, "main here moves faster than it can be brought along", landed)

    def _ahead(self) -> Land:
        what = f"main here has commits that {self.remote} has not. Push them, and the merge goes on"
        return _waits(Cause.AHEAD, what)


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
    if not remote.fetch().ok:
        return replace(refused(remote, f"{remote} did not take it", said), may_have_landed=not said.refused)
    if has(remote, history, new):
        return None
    if remote.known() != old:
        return Land(Landing.LOST, f"{remote} moved meanwhile")
    # a remote that nobody hears any more may still be at it
    return replace(refused(remote, f"{remote} did not take it", said), may_have_landed=not said.refused)


def unheard(remote: Remote, said: Reply) -> Land:
    """The remote could not be fetched."""
    return refused(remote, f"{remote} cannot be fetched", said)


def refused(remote: Remote, what: str, said: Reply) -> Land:
    """A remote did not do what it was asked for: in its own words, and with what ends it.

    One that did not say no may have done it, or do it still.
    """
    cause = Cause.SILENT if said.cause is Cause.UNKNOWN and not said.refused else said.cause
    return Land(Landing.BLOCKED, why(cause, f"{what}: {said.words}", remote.shared.by_request), cause)


def _waits(cause: Cause, what: str, may_have_landed: bool = False) -> Land:
    return Land(Landing.BLOCKED, why(cause, what), cause, may_have_landed)
