"""What the adapters share of all CLIs that print events: their output is read event by event, and judged at its end.

1. `Read` takes the events in, as each CLI's `verdict` module knows them. A line that holds none says nothing.
2. A run that went on without the guard's canary is refused, whatever it did.
3. Where the last line is torn nobody knows whether the agent had finished: the verdict is unsure.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from ..core.beads.outcomes import TABLE, Outcome
from ..core.text.cleaning import clean, shorten
from .adapter import AgentEnd, Verdict
from .endings import RESUMABLE
from .events import parse
from .guarded import NOT_GUARDED, answered
from .resets import reset_time

_DETAIL = 2000
_PRINTED = 10
"""Lines of what a CLI printed that did not start which are quoted."""
_CRASHES = frozenset((4, 5, 6, 7, 8, 11, 31))
"""Signals by which a program ends that is broken itself."""
_BEFORE_IT_BEGAN = frozenset(
    {Outcome.KILLED, Outcome.CRASHED, Outcome.EMPTY_OUTPUT, *(o for o, row in TABLE.items() if row.is_of_start)}
)
"""What it means where a CLI ended so before a session began is its own fault."""
_TORN = re.compile(rb'\s*(?:\{\s*"|.*":.*[}\]]\s*\Z)', re.S)
"""How a line looks that is a piece of an event: it begins as one, or ends as one."""


@dataclass(slots=True)
class Read(ABC):
    """What the events of one process came to."""

    session: str | None = None  # by which a later run can go on with it
    worked: bool = False  # something happened that comes after the start of the session
    cost: float | None = None
    tokens: Mapping[str, int] = field(default_factory=dict)
    torn: bool = False  # a piece of an event came after the last event of a turn
    torn_end: bool = False  # and it is a piece of the last one

    printed: list[str] = field(default_factory=list)  # the first lines that hold no event

    last: ClassVar[re.Pattern[bytes]]
    """What is found in the line of the last event, whole or torn."""

    @abstractmethod
    def take(self, event: Mapping[str, Any]) -> None:
        """Take one more event in."""

    @classmethod
    @abstractmethod
    def is_last(cls, event: Mapping[str, Any]) -> bool | None:
        """Whether after this event the agent has come to its end; None: it says nothing about that."""

    @property
    def has_begun(self) -> bool:
        """Whether a session began: until then its CLI alone can be to blame."""
        return self.session is not None or self.worked

    def tear(self, raw: bytes) -> None:
        """Take in a line that holds no event."""
        if raw.strip() and len(self.printed) < _PRINTED:
            self.printed.append(raw[:300].decode(errors="replace").strip())
        if _TORN.match(raw):
            self.torn, self.torn_end = True, self.torn_end or self.last.search(raw) is not None

    def unguarded(self, self_test: str) -> bool:
        """Whether the session went on without the guard's answer; `canary` is what the guard left in the folder."""
        return self.worked and not answered(self_test)

    def resets_at(self, end: AgentEnd, detail: str) -> float | None:
        """When the usage limit ends that `detail` tells of; None: nobody said."""
        return reset_time(detail, end.at)


R = TypeVar("R", bound=Read)


class EventCli(ABC, Generic[R]):
    """An adapter but for its launch and its lines. `reads` makes what the events are taken into."""

    reads: type[R]

    @abstractmethod
    def outcome(self, end: AgentEnd, read: R) -> tuple[Outcome, str]:
        """What the end of a guarded run means, and why."""

    def read(self, lines: Iterable[bytes]) -> R:
        """The events of these lines, taken in."""
        read = self.reads()
        for raw in lines:
            event = parse(raw)
            if event is None:
                read.tear(raw)
                continue
            if read.is_last(event) is not None:
                read.torn = read.torn_end = False
            read.take(event)
        return read

    def begun(self, head: bytes) -> R:
        """The same of an output that goes on: its last line may not be whole yet, and says nothing."""
        return self.read(head.split(b"\n")[:-1])

    def verdict(self, end: AgentEnd) -> Verdict:
        """By `outcome`, with what was told of session, cost, tokens and the end of a usage limit."""
        read = self.read(end.lines)
        unguarded = read.unguarded(end.self_test)
        outcome, detail = (Outcome.GUARD_FAILED, NOT_GUARDED) if unguarded else self.outcome(end, read)
        if not read.has_begun and outcome in _BEFORE_IT_BEGAN:
            outcome, detail = _did_not_start(end, outcome, detail, read)
        return Verdict(
            outcome,
            shorten(clean(detail).strip(), _DETAIL),
            read.session if outcome in RESUMABLE else None,
            read.cost,
            read.tokens,
            read.resets_at(end, detail) if outcome is Outcome.RATE_LIMITED else None,
            _is_unsure(end, outcome, read),
        )

    def has_begun(self, lines: Iterable[bytes]) -> bool:
        """Whether a session began."""
        return self.read(lines).has_begun

    def finished(self, tail: bytes) -> bool:
        """Whether the last of its events that says so ends it; a last line that is torn ends it too."""
        for raw in reversed(tail.split(b"\n")):
            event = parse(raw)
            if event is None and self.reads.last.search(raw):
                return True
            is_last = None if event is None else self.reads.is_last(event)
            if is_last is not None:
                return is_last
        return False

    def refuses(self, head: bytes, self_test: str = "") -> str | None:
        """That the session went on without the guard's answer."""
        return NOT_GUARDED if self.begun(head).unguarded(self_test) else None

    def guarded(self, head: bytes, self_test: str = "") -> bool:
        """Whether the guard left its canary."""
        return answered(self_test)

    def session(self, lines: Iterable[bytes]) -> str | None:
        """The id that the output names."""
        return self.read(lines).session


def _did_not_start(end: AgentEnd, outcome: Outcome, detail: str, read: Read) -> tuple[Outcome, str]:
    """The same, where nothing had begun that a bead or its model could have done: with what the CLI printed."""
    if outcome is Outcome.KILLED and not (end.code is not None and abs(end.code) % 128 in _CRASHES):
        return outcome, detail
    said = [*end.errors.strip().splitlines()[-_PRINTED:], *read.printed]
    printed = "\n".join(line for line in said if line.strip() not in detail)
    if not TABLE[outcome].is_of_start:
        outcome, detail = Outcome.BAD_CONFIGURATION, f"it did not start: {detail}"
    return outcome, f"{detail.strip()}\nit printed: {printed}" if printed else detail


def _is_unsure(end: AgentEnd, outcome: Outcome, read: Read) -> bool:
    """Whether it may have come to its end: it exited as who has, or its torn last line is that of an end."""
    if end.code == 0:
        return outcome is Outcome.CRASHED and read.torn
    return end.code is None and outcome is Outcome.LOST and read.torn_end
