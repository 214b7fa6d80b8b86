"""The monitor of main tells why it waits: once for each cause, also where the cause changes."""

from dataclasses import replace

from nobrakes.review.main_monitor import Phase
from nobrakes.review.waits import Cause, Land, Landing
from tests.world.scene import Notes
from tests.world.world import World


def test_another_cause_is_told_and_the_same_is_not_told_again() -> None:
    world = World(4)
    world._turns()
    monitor = world.daemon.monitor
    notes = Notes()
    monitor.ports = replace(monitor.ports, notifier=notes)
    board = world.store.board(world.config.board_limits())
    seen = (Cause.EDITS, Cause.EDITS, Cause.LOCK, Cause.LOCK, Cause.EDITS)
    for cause in seen:
        monitor._wait(board, Land(Landing.BLOCKED, "no", cause), f"its repair is waiting: {cause}")
    assert [one.text.rsplit(" ", 1)[1] for one in notes.told] == ["edits", "lock", "edits"]
    monitor._save(replace(monitor.watch, phase=Phase.LAND))
    monitor._wait(board, Land(Landing.BLOCKED, "no", Cause.EDITS), "its repair is waiting: edits")
    assert len(notes.told) == 4, "another phase tells it anew"
