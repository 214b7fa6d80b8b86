"""Records that leave and enter the database as a whole: changes since a position, and restored data."""

from collections.abc import Mapping, Sequence
from dataclasses import field

from ..beads.model import Attempt, Bead, BeadRow, Dependency
from ..decisions.model import Escalation
from ..records import frozen


@frozen
class Position:
    """A position in one database's event log: seq and time. (0, 0): before all."""

    seq: int = 0
    at: float = 0.0


@frozen
class Changes:
    """Facts changed after a position; `upto`: the position they hold for. `restarted`: from another database, so
    everything is included. `settings` None: unchanged. `attempts`: ended ones. `more`: there is more after `upto`."""

    upto: Position
    beads: Sequence[BeadRow] = ()
    escalations: Sequence[Escalation] = ()
    settings: Mapping[str, str] | None = None
    restarted: bool = False
    attempts: Sequence[Attempt] = ()
    more: bool = False

    def __bool__(self) -> bool:
        return bool(self.beads or self.escalations or self.attempts or self.settings is not None or self.restarted)


@frozen
class Restored:
    """External data for a database. `tests`: bead -> commit of proven tests; `settings` None: unknown; `attempts`: the
    last number; `ended`: known attempts."""

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
    """An incomplete last line does not count."""
    for line in reversed(text.split("\n")[:-1]):
        if line.startswith(MARKS_BEGIN) and line.endswith(END):
            seq, _, at = line[len(MARKS_BEGIN) : -len(END)].partition(BETWEEN)
            try:
                return Position(int(seq), float(at))
            except ValueError:
                continue
    return None
