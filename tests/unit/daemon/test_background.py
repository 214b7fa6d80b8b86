"""What a daemon does beside its turns: files of work under review, and what is learnt and tidied up."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from nobrakes.beads.model import Attempt, Bead, ReadyBead, Role, Status
from nobrakes.daemon.model import Board
from nobrakes.daemon.worker.recovery import AGAIN, PACK_AGAIN, PACKING, Upkeep
from nobrakes.errors import GitFailed
from nobrakes.requests.worker.epics import Reach
from nobrakes.review.journal import Journal

READY = (ReadyBead("a", Status.NEEDS_DOER, "task", priority=2, failures=0, touches=("src/**",)),)


def reviews(number: int, fork: str, head: str) -> Attempt:
    data = Journal().with_values(head=head, fork=fork).as_data()
    return Attempt(number, f"b{number}", 1, Role.REVIEWER, "R", fence=1, token="t", started_at=0.0, data=data)


def test_the_files_of_a_branch_are_asked_once_also_where_there_are_none() -> None:
    asked: list[tuple[str, str]] = []

    def changes(fork: str, head: str) -> list[SimpleNamespace]:
        asked.append((fork, head))
        if head == "gone":
            raise GitFailed("it is gone")
        return [SimpleNamespace(path="src/x")] if fork == "f2" else []

    reach = Reach(SimpleNamespace(git=SimpleNamespace(changes=changes)))  # type: ignore[arg-type]
    board = Board(1.0, ready=READY, attempts=(reviews(1, "f1", "h"), reviews(2, "f1", "gone"), reviews(3, "", "h")))
    for _ in range(3):
        assert reach.seen(board).taken == {"b1": (), "b2": ()}
    assert asked == [("f1", "h"), ("f1", "gone")]
    assert reach.seen(Board(1.0, ready=READY, attempts=(reviews(1, "f2", "h"),))).taken == {"b1": ("/src/x",)}
    assert asked[2:] == [("f2", "h")], "the same head of another fork is another branch"


def test_what_beads_take_is_learnt_while_agents_work() -> None:
    learnt: list[float] = []
    background = SimpleNamespace(busy=lambda job: False, begin=lambda job, do: None)
    store = SimpleNamespace(learn=lambda: learnt.append(now))
    ports = SimpleNamespace(background=background, store=store, git=SimpleNamespace(pack=None))
    upkeep = Upkeep(ports)  # type: ignore[arg-type]
    for now in (0.0, 5.0, AGAIN - 1, AGAIN, AGAIN + 5):
        assert not upkeep.turn(Board(now, attempts=(reviews(1, "f", "h"),)))
    assert learnt == [0.0, AGAIN]


def test_what_lies_in_files_of_its_own_is_packed_while_nobody_rests_and_never_of_itself() -> None:
    begun: list[float] = []
    background = SimpleNamespace(
        busy=lambda job: False,
        begin=lambda job, do: job == PACKING and (do(), begun.append(now)),
        over=lambda job: True,
    )
    store = SimpleNamespace(learn=lambda: None, forget_requests=lambda before: None)
    packed: list[None] = []

    def pack() -> None:
        packed.append(None)
        raise GitFailed("a person's git holds the lock")

    ports = SimpleNamespace(background=background, store=store, git=SimpleNamespace(pack=pack))
    upkeep = Upkeep(ports)  # type: ignore[arg-type]
    upkeep._old_runs = lambda board: []  # type: ignore[method-assign]
    at_work = (reviews(1, "f", "h"),)
    for now in (0.0, 5.0, PACK_AGAIN, PACK_AGAIN + 5, 2 * PACK_AGAIN):
        upkeep.turn(Board(now, attempts=at_work))
    assert begun == [0.0, PACK_AGAIN, 2 * PACK_AGAIN] and len(packed) == 3
    last = 2 * PACK_AGAIN
    upkeep.turn(Board(last + 1, attempts=at_work))
    for now in (last + 2, last + PACK_AGAIN, last + 2 * PACK_AGAIN, last + 900):
        upkeep.turn(Board(now))
    assert begun[3:] == [last + PACK_AGAIN], "once after the last work, and an idle daemon looks at nothing"
    for now in (last + 901, 5.0):
        upkeep.turn(Board(now, attempts=at_work))
    assert begun[4:] == [last + 901, 5.0], "a clock that was set back keeps nothing waiting"


@pytest.mark.parametrize(("kept", "days", "asked"), [(3, 30.0, 0), (2, 30.0, 1), (3, 1.0, 1)])
def test_what_was_ever_done_is_not_read_where_no_log_can_go(tmp_path: Path, kept: int, days: float, asked: int) -> None:
    now, looks = 5 * 86_400.0, []
    for number in (1, 2, 3):
        (tmp_path / f"{number}-agent").mkdir()
    settings = SimpleNamespace(run_days=days, run_beads=kept)
    done = [
        Bead(f"b{n}", "x", status=Status.DONE, merged_commit="c", closed_at=now - (4 - n) * 40_000.0) for n in (1, 2, 3)
    ]
    store = SimpleNamespace(
        attempt=lambda number: replace(reviews(number, "f", "h"), started_at=now - (4 - number) * 40_000.0),
        beads=lambda statuses: looks.append(statuses) or done,
        sessions=lambda going: [],
    )
    ports = SimpleNamespace(
        store=store, paths=SimpleNamespace(runs=str(tmp_path)), config=lambda: SimpleNamespace(retention=settings)
    )
    going = Upkeep(ports)._old_runs(Board(now))  # type: ignore[arg-type]
    assert len(looks) == asked
    assert going == (["1-agent"] if asked else [])
