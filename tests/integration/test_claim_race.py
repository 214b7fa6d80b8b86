"""Sixteen processes race for the same bead: one wins, the others lose quietly, and nobody fails."""

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import Bead, Role, Status
from nobrakes.daemon.model import Limits
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NotAllowed
from nobrakes.store import create_store, open_store

RACERS = 16
NAMES = [f"Name{i}" for i in range(40)]
TIMEOUT = 120


def _claim_each(path: str, rounds: int, barrier: Barrier, results: Any) -> None:
    store = open_store(path)
    won = []
    for number in range(rounds):
        barrier.wait(TIMEOUT)
        attempt = store.open_attempt(f"b{number}", Role.DOER, "script", NAMES, 60.0, None)
        if attempt is not None:
            won.append((attempt.bead, attempt.name, attempt.fence, attempt.token))
    store.close()
    results.put(won)


def _answer_each(path: str, rounds: int, barrier: Barrier, results: Any) -> None:
    store = open_store(path)
    won = []
    for number in range(1, rounds + 1):
        barrier.wait(TIMEOUT)
        try:
            won.append((number, store.answer(number, multiprocessing.current_process().name, "me").answer))
        except NotAllowed:
            continue
    store.close()
    results.put(won)


def _take_back_or_act(path: str, rounds: int, barrier: Barrier, results: Any) -> None:
    """The one takes each answer back, the other begins with it."""
    store = open_store(path)
    won = []
    barrier_first = barrier.wait(TIMEOUT)
    for number in range(1, rounds + 1):
        barrier.wait(TIMEOUT)
        if barrier_first:
            won += [(number, "acts")] if store.act_by({number: "so"}, "Ada") else []
            continue
        try:
            store.take_back(number, "me")
        except NotAllowed:
            continue
        won.append((number, "taken back"))
    store.close()
    results.put(won)


def race(target: Any, path: str, rounds: int, racers: int) -> list[Any]:
    """What all racers won. They start each round together."""
    context = multiprocessing.get_context("spawn")
    barrier, results = context.Barrier(racers), context.Queue()
    processes = [context.Process(target=target, args=(path, rounds, barrier, results)) for _ in range(racers)]
    for process in processes:
        process.start()
    won = [entry for _ in processes for entry in results.get(timeout=TIMEOUT * 2)]
    for process in processes:
        process.join(TIMEOUT)
    assert [process.exitcode for process in processes] == [0] * racers
    return won


@pytest.mark.parametrize("rounds", [10, pytest.param(200, marks=pytest.mark.slow)])
def test_each_bead_is_claimed_once(tmp_path: Path, rounds: int) -> None:
    path = str(tmp_path / "nobrakes.db")
    store = create_store(path)
    beads = [f"b{i}" for i in range(rounds)]
    store.put([Bead(bead, "t", status=Status.NEEDS_DOER) for bead in beads], [], "me")
    won = race(_claim_each, path, rounds, RACERS)
    assert sorted(bead for bead, *_ in won) == sorted(beads)
    assert {fence for _, _, fence, _ in won} == {1}
    assert len({token for *_, token in won}) == rounds
    open_ = store.board(Limits()).attempts
    assert len({attempt.name for attempt in open_}) == rounds
    assert {(a.bead, a.name, a.fence, a.token) for a in open_} == set(won)
    assert store.check() == []


def test_each_question_is_answered_once(tmp_path: Path) -> None:
    path = str(tmp_path / "nobrakes.db")
    store = create_store(path)
    rounds = 20
    for number in range(rounds):
        store.escalate(NewEscalation(EscalationType.QUESTION, f"which {number}?"), None, None, "me")
    won = race(_answer_each, path, rounds, 2)
    assert sorted(number for number, _ in won) == list(range(1, rounds + 1))
    assert all(store.escalation(number).answer == answer for number, answer in won)


def test_each_answer_is_taken_back_or_acted_by_and_never_both(tmp_path: Path) -> None:
    path = str(tmp_path / "nobrakes.db")
    store = create_store(path)
    rounds = 20
    for number in range(1, rounds + 1):
        store.escalate(NewEscalation(EscalationType.QUESTION, f"which {number}?"), None, None, "me")
        store.answer(number, "so", "me")
    won = race(_take_back_or_act, path, rounds, 2)
    assert sorted(number for number, _ in won) == list(range(1, rounds + 1))
    for number, how in won:
        found = store.escalation(number)
        assert (found.read_at is not None, found.answer) == ((True, "so") if how == "acts" else (False, None))
