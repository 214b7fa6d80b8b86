"""The merge queue: which prefixes of the waiting changes are validated, published or blamed, and how many go together.

Prefix i is main with the first i waiting changes on it; prefix 0 is main itself.

1. Only a prefix that was validated green is published, so nothing here needs "good plus good is good".
2. A change is blamed when the prefix that ends with it is red and the one before it is green. The search for it is
   binary: it needs a green beginning and a red end, and nothing about what lies between. Where validators idle two
   probes at once part it in three; more of them cost more runs than they save time.
3. Main is known to be green before anybody is blamed.
4. How many changes go together doubles when all of them were good and halves with each blame; there are never more than
   are likely enough to be good together, as the last ones were. Whoever has cost more runs than were won (`Pace.debt`)
   goes one by one until that is paid back, so a queue of N changes costs at most N + 2 MOST + log2(MOST) + 1 runs,
   whatever they are (and CONFIRMING more for each blame that may be a flake).
5. Validators that idle take the next batch, on top of the one that is tried (`Pace.deep`): two of them or three, since
   what stands on a red one was run for nothing. However many there are, they cost no more runs than bors takes.
6. With `every` each prefix of one more change is validated by itself: no commit gets into main's history that did not
   pass. Prefixes are then validated side by side, each on top of those before it that are not proven yet.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from math import log

from ..checks.verdict import Verdict
from .flakes import TIMES

PACE = "queue_pace"
"""The setting that keeps the pace."""

MOST = 16
"""So many changes go together at most."""

WINDOW_OF_SHARE = 20
"""The last so many changes tell the share of bad ones."""

CONFIRMING = TIMES - 1
"""So often a red prefix that may be a flake is run again before it is held against a change."""

LIKELY = 0.4
"""The chance to be green that a batch has at least: the searches for who broke the others pay for themselves."""
DEEP = 3
"""So many batches are tried at once, each on the one before it, as long as none of the last changes was bad; then one
less."""
MOSTLY_BAD = 0.5
"""The share of bad changes above which what stands on a batch is hardly ever of use."""
PROBED = 3
"""So many changes or more of a red batch are searched by two probes at once."""

_RED = (Verdict.RED, Verdict.CONFIRMED)


@dataclass(frozen=True, slots=True)
class Move:
    """What to do now. Of all fields the number is that of a prefix; 0 means none, but in `validate` main itself."""

    validate: tuple[int, ...] = ()
    publish: int = 0
    blame: int = 0


@dataclass(frozen=True, slots=True)
class Pace:
    """How many changes go together, learnt from what came of the last ones. Kept with the queue."""

    size: int = MOST
    debt: int = 0  # validations that were run, less changes that were landed or blamed
    ends: str = ""  # of the last changes: "+" landed, "-" blamed

    @property
    def together(self) -> int:
        """So many changes may be tried together now."""
        if self.debt > 2 * MOST or self.bad_share == 1:
            return 1
        return self.size if not self.bad_share else max(1, min(self.size, round(log(LIKELY, 1 - self.bad_share))))

    def deep(self, validators: int) -> int:
        """So many batches may be tried at once, each on top of the one before it."""
        if self.debt > 2 * MOST or self.bad_share > MOSTLY_BAD:
            return 1
        return min(validators, DEEP - 1 if self.bad_share else DEEP)

    @property
    def bad_share(self) -> float:
        """The share of bad ones among the last changes, 0 to 1; those that are not known yet count as good."""
        return self.ends.count("-") / WINDOW_OF_SHARE

    def ran(self, runs: int = 1) -> "Pace":
        """After validations were started."""
        return replace(self, debt=self.debt + runs)

    def landed(self, changes: int) -> "Pace":
        """After changes were published."""
        size = min(2 * self.size, MOST) if changes >= self.size else self.size
        return replace(self, size=size, debt=self.debt - changes, ends=_last(self.ends + "+" * changes))

    def blamed(self) -> "Pace":
        """After a change was blamed."""
        return replace(self, size=max(1, self.size // 2), debt=self.debt - 1, ends=_last(self.ends + "-"))

    def as_text(self) -> str:
        """As it is kept."""
        return json.dumps(asdict(self))

    @staticmethod
    def of_text(text: str | None) -> "Pace":
        """The pace that was kept; the first one where none was."""
        return Pace(**json.loads(text)) if text else Pace()


def red(runs: int) -> Verdict:
    """The verdict of a prefix that was red in so many runs and green in none."""
    return Verdict.CONFIRMED if runs > CONFIRMING else Verdict.RED


def decide(verdicts: Sequence[Verdict], free: int, every: bool, size: int = 0, suspect: Collection[int] = ()) -> Move:
    """What to do with a queue.

    `verdicts`: of prefix 0, which is main, to that of all waiting changes that are tried together.
    `free`: validators without work.
    `every`: each change's own prefix has to be green.
    `size`: so many changes go together in a batch, and what is behind them is the next one; 0: all are one batch.
    `suspect`: prefixes whose red may be a flake: before that is held against a change they are confirmed.
    """
    if len(verdicts) < 2:
        return Move()
    return _each(verdicts, free, suspect) if every else _together(verdicts, free, size, suspect)


def _together(verdicts: Sequence[Verdict], free: int, size: int, suspect: Collection[int]) -> Move:
    last = len(verdicts) - 1
    low = max((i for i, verdict in enumerate(verdicts) if verdict is Verdict.GREEN), default=0)
    high = next((i for i in range(low + 1, last + 1) if verdicts[i] in _RED), None)
    if high is None:
        tried = max((i for i in range(low + 1, last + 1) if verdicts[i] is Verdict.RUNNING), default=low)
        whole = range(tried + size, last + 1, size) if size else ()
        # while a batch is tried, the next one gathers
        wanted = whole or ([last] if tried == low else [])
        return Move(validate=_unknown(verdicts, wanted, free), publish=low)
    if high > low + 1:
        is_probed = Verdict.RUNNING in verdicts[low + 1 : high]
        return Move(validate=() if is_probed else _unknown(verdicts, _probes(low, high, free), free), publish=low)
    return _culprit(verdicts, low, high, free, suspect)


def _probes(low: int, high: int, free: int) -> tuple[int, ...]:
    """The prefixes that halve what lies between a green and a red one, or part it in three."""
    between = high - low
    if free < 2 or between < PROBED:
        return ((low + high) // 2,)
    return low + round(between / 3), low + round(2 * between / 3)


def _each(verdicts: Sequence[Verdict], free: int, suspect: Collection[int]) -> Move:
    last = len(verdicts) - 1
    low = 0
    while low < last and verdicts[low + 1] is Verdict.GREEN:
        low += 1
    first = low + 1
    if low == last or verdicts[first] not in _RED:
        # what lies behind a red one will be built anew without it
        stop = next((i for i in range(low + 1, last + 1) if verdicts[i] in _RED), last + 1)
        return Move(validate=_unknown(verdicts, range(low + 1, stop), free), publish=low)
    return _culprit(verdicts, low, first, free, suspect)


def _culprit(verdicts: Sequence[Verdict], low: int, high: int, free: int, suspect: Collection[int]) -> Move:
    """The prefix `high` is red, and the one before it is green or main."""
    if high in suspect and verdicts[high] is not Verdict.CONFIRMED:
        return Move(validate=(high,) if free else (), publish=low)
    if verdicts[low] is not Verdict.GREEN:
        return Move(validate=_unknown(verdicts, (0,), free))
    return Move(publish=low, blame=high)


def _unknown(verdicts: Sequence[Verdict], wanted: Sequence[int], free: int) -> tuple[int, ...]:
    return tuple([i for i in wanted if verdicts[i] is Verdict.UNKNOWN][: max(0, free)])


def _last(ends: str) -> str:
    return ends[-WINDOW_OF_SHARE:]
