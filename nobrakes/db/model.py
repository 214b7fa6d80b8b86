"""Records that leave and enter the database as a whole: changes since a position, and restored data."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from ..beads.model import Alike, Attempt, Bead, Dependency
from ..decisions.model import Escalation
from ..records import frozen


@frozen
class Position:
    """A place in the event log: an event's seq and time, which tell one database from another. (0, 0): before all."""

    seq: int = 0
    at: float = 0.0


@frozen
class Changes:
    """What of the facts changed after a position, as it is now; `upto` is the position up to which it holds.

    `restarted`: the position is not of this database, and everything is given. `settings` None: unchanged.
    `attempts` are those that have ended. `more`: there is more after `upto`.
    """

    upto: Position
    beads: Sequence[Alike] = ()
    escalations: Sequence[Escalation] = ()
    settings: Mapping[str, str] | None = None
    restarted: bool = False
    attempts: Sequence[Attempt] = ()
    more: bool = False

    def __bool__(self) -> bool:
        return bool(self.beads or self.escalations or self.attempts or self.settings is not None or self.restarted)


@frozen
class Restored:
    """What was kept outside of a database, to be put into one.

    `tests`: bead -> the commit of its proven tests; `settings` None: not known; `attempts`: the last one's number;
    `ended`: attempts that are known.
    """

    beads: Sequence[Bead]
    dependencies: Sequence[Dependency]
    escalations: Sequence[Escalation] = ()
    settings: Mapping[str, str] | None = None
    tests: Mapping[str, str] = field(default_factory=dict)
    attempts: int = 0
    ended: Sequence[Attempt] = ()


# The mark at the end of what was written since the snapshot: up to which event nothing is missing.
MARKS_BEGIN = '{"_type":"nobrakes_mark","seq":'
BETWEEN = ',"at":'
END = "}"


def mark(place: Position) -> str:
    return f"{MARKS_BEGIN}{place.seq}{BETWEEN}{place.at!r}{END}\n"


def last_mark(text: str) -> Position | None:
    """The last mark in the text; None: there is none. One without its line end was never written."""
    for line in reversed(text.split("\n")[:-1]):
        if line.startswith(MARKS_BEGIN) and line.endswith(END):
            seq, _, at = line[len(MARKS_BEGIN) : -len(END)].partition(BETWEEN)
            try:
                return Position(int(seq), float(at))
            except ValueError:
                continue
    return None
