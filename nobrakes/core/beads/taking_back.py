"""Merges that are taken off main again: what is known of each, and which of them a person's work takes back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .attempt import Attempt
from .taking import submitted

TAKES_BACK = "takes_back"
"""In the data of an attempt: the merges that its work takes off main. Only what hands such work in writes it."""
BUILT = "built"
"""In the data of an attempt that was handed in: nobrakes made the commit itself, and no person."""


@dataclass(frozen=True, slots=True)
class Merged:
    """A bead's merge: `base`..`commit` on main; `base` empty: the commit alone is known. `seq`: its event's number."""

    bead: str
    commit: str
    base: str = ""
    seq: int = 0


def as_data(merges: Sequence[Merged], built: bool = False) -> dict[str, Any]:
    """What the attempt keeps: the merges that it takes back, where it does, and whether nobrakes made the commit."""
    rows = [{"bead": one.bead, "commit": one.commit, "base": one.base, "seq": one.seq} for one in merges]
    return {**({TAKES_BACK: rows} if rows else {}), **({BUILT: True} if built else {})}


def is_built(attempts: Sequence[Attempt]) -> bool:
    """Whether what was handed in last is the commit that nobrakes made, and no person's work."""
    last = submitted(attempts)
    return last is not None and bool(last.data.get(BUILT))


def of_attempts(attempts: Sequence[Attempt]) -> tuple[Merged, ...]:
    """The merges that a bead's work takes back, of all its attempts, oldest first: what was handed in last says it, and
    a person who mends it by hand goes on with the same.
    """
    for one in reversed(attempts):
        if rows := one.data.get(TAKES_BACK):
            return tuple(_merged(row) for row in rows)
    return ()


def _merged(row: Mapping[str, Any]) -> Merged:
    return Merged(str(row["bead"]), str(row["commit"]), str(row["base"]), int(row["seq"]))


def newest_first(merges: Sequence[Merged], line: Sequence[str]) -> tuple[Merged, ...]:
    """The merges as main has them. `line`: commits of main, newest first; what is not among them is as old as its event
    says."""
    places = {commit: place for place, commit in enumerate(line)}
    known = sorted((one for one in merges if one.commit in places), key=lambda one: places[one.commit])
    return (*known, *sorted((one for one in merges if one.commit not in places), key=lambda one: -one.seq))
