"""Counting an attempt's test rounds when its agent has ended: calls of its tools, and those at its door."""

from ...core.beads.attempt import Attempt, Run
from ...core.beads.events import Kind
from ...core.checks import test_rounds
from ...core.transcript import LineKind
from ..ports import Ports
from .agent_output import LOOKS, Output, calls_in

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
    output = Output.of(ports, run)
    for _ in range(LOOKS):
        text, more = output.read(ports, at_end=True)
        calls += [line.text for line in calls_in(text, words, adapter) if line.kind is LineKind.TOOL_CALL]
        if not more:
            break
    return at_door + test_rounds.count(calls, pattern)
