"""What landed stays alive when a person rewrites main: a merge can be brought back, or looked at, also after a gc.

1. One ref holds the tip that landed last, and with it all that landed before it.
2. Where that is not in what lands next, somebody rewrote main: it gets a ref of its own. Of these the last MOST stay.
3. Main has moved already when this is written: what fails here is made good by the next landing.
"""

import contextlib

from ...core.errors import GitFailed
from .. import refs
from ..history import History
from ..location import Place

TIP = refs.own_ref("landed/tip")
BEFORE = refs.own_ref("landed/before")
MOST = 50


def keep(place: Place, history: History, new: str) -> None:
    """Keep what has just landed alive, and what landed before, where main does not hold it any more."""
    with contextlib.suppress(GitFailed):
        before = refs.read(place, TIP)
        if before == new:
            return
        wanted: dict[str, str | None] = {TIP: new}
        if before is not None and _holds(history, new, before):
            return  # said again, after something else landed on it
        if before is not None and not _holds(history, before, new):
            earlier = sorted(int(ref.rpartition("/")[2]) for ref in refs.names_in(place, BEFORE))
            wanted[f"{BEFORE}/{earlier[-1] + 1 if earlier else 1}"] = before
            wanted.update(dict.fromkeys(f"{BEFORE}/{number}" for number in earlier[: len(earlier) + 1 - MOST]))
        refs.update(place, wanted)


def _holds(history: History, commit: str, tip: str) -> bool:
    try:
        return history.contains(commit, tip)
    except GitFailed:  # one of them is gone from git
        return False
