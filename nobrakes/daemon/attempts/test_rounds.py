"""Counting an attempt's test rounds when its agent has ended: calls of its tools, and those at its door."""

import os
from collections.abc import Iterator

from ...core.beads.attempt import Attempt, Run
from ...core.beads.events import Kind
from ...core.checks import test_rounds
from ...core.transcript import LineKind
from ..agent_ends import STEP
from ..ports import Ports

MOST = 4_000_000
"""Bytes that are looked at at once."""
LOOKS = 16
"""So often at most."""
EVENTS = 100_000


def count(ports: Ports, attempt: Attempt, run: Run) -> int:
    """The rounds that can be seen: a CLI that tells of no calls has those of `nobrakes agent test` alone."""
    store = ports.store
    told = store.events(0, EVENTS, attempt.bead)
    at_door = sum(1 for event in told if event.attempt == attempt.id and event.kind is Kind.TESTED)
    contract = ports.config().contract()
    pattern = test_rounds.runs(contract)
    if pattern is None:
        return at_door
    adapter, words = ports.adapter(attempt.agent), [word.encode() for word in test_rounds.words(contract)]
    calls: list[str] = []
    for raw in _lines(ports, run, words):
        if any(word in raw for word in words):
            calls += [line.text for line in adapter.lines(raw) if line.kind is LineKind.TOOL_CALL]
    return at_door + test_rounds.count(calls, pattern)


def _lines(ports: Ports, run: Run, words: list[bytes]) -> Iterator[bytes]:
    """The lines of its output, as far as it is kept and looked at, but for stretches that have none of the words."""
    path = os.path.join(ports.paths.runs, run.id, f"{STEP}.out")
    for file in (f"{path}.1", path):  # host.runs.recorder
        rest = b""
        for look in range(LOOKS):
            piece = ports.processes.head(file, MOST, look * MOST)
            text = rest + piece
            before, _, rest = text.rpartition(b"\n")
            if any(word in before for word in words):  # a million lines a second are looked at in no other way
                yield from before.split(b"\n")
            if len(piece) < MOST:
                break
        yield rest
