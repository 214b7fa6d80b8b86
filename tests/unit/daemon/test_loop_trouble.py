"""The loop waits out what the machine lacks, wherever it meets it, tells it once, and goes on."""

import errno
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.daemon.worker import loop
from nobrakes.daemon.worker.loop import Daemon, Troubles, Turn
from nobrakes.errors import GitFailed, NoAnswer, NoMain, RefsBroken, StoreBroken, StoreBusy

TROUBLES: list[Callable[[], Exception]] = [
    lambda: OSError(errno.EIO, os.strerror(errno.EIO)),
    lambda: OSError(errno.EMFILE, os.strerror(errno.EMFILE)),
    lambda: OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    lambda: RuntimeError("can't start new thread"),
    lambda: StoreBusy("database is locked"),
    lambda: NoAnswer("`git x` did not answer"),
]


class Rig:
    """A daemon whose turns do what a test says, and a view that may fail."""

    def __init__(self, turns: list[Exception | None]) -> None:
        self.turns = turns
        self.told: list[str] = []
        self.waited: list[float | None] = []
        self.view_fails: Exception | None = None
        self.daemon = Daemon.__new__(Daemon)
        self.daemon.ports = SimpleNamespace(  # type: ignore[assignment]
            store=SimpleNamespace(now=lambda: 100.0, board=lambda limits: None),
            notifier=SimpleNamespace(tell=self.tell),
            paths=SimpleNamespace(folder="/state"),
            channels=SimpleNamespace(wakes=lambda wake: None),
            background=SimpleNamespace(wakes=lambda wake: None, is_empty=lambda: True),
            limits=lambda: None,
        )
        self.living = 0  # looks that still find a process of the run before
        self.daemon.works = self.works  # type: ignore[method-assign, assignment]
        self.daemon.meter = SimpleNamespace(wake_at=list, is_silent=lambda now: False)  # type: ignore[assignment]
        self.daemon.ends = SimpleNamespace(wake_at=list, is_silent=lambda now: False)  # type: ignore[assignment]
        self.daemon.definitions = self.daemon.ends  # type: ignore[assignment]
        courier: Any = SimpleNamespace(trouble=lambda text, stops: None)
        self.daemon.troubles = Troubles(self.daemon.ports, courier)
        self.daemon.tick = self.tick  # type: ignore[method-assign, assignment]

    def tell(self, notice: Any) -> None:
        self.told.append(notice.text)
        if self.view_fails is not None:
            raise self.view_fails

    def tick(self, seen: Any = None) -> Turn:
        error = self.turns.pop(0)
        if error is not None:
            raise error
        return Turn(False, SimpleNamespace(now=100.0), (), None, None)  # type: ignore[arg-type]

    def works(self, board: Any) -> bool:
        self.living -= 1
        return self.living >= 0

    def wait(self, timeout: float | None) -> bool:
        self.waited.append(timeout)
        return False

    def set(self) -> None: ...

    def event(self, event: Any) -> None: ...

    def board(self, board: Any) -> None:
        if self.view_fails is not None:
            raise self.view_fails

    def run(self) -> None:
        loop.run(self.daemon, self, self, False, lambda _: not self.turns)


@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_meets_the_looks_of_the_loop_is_waited_out_and_told_once(trouble: Callable[[], Exception]) -> None:
    rig = Rig([trouble(), trouble(), None])
    rig.run()
    assert len(rig.told) == 1
    assert rig.waited == [loop.RETRY_SECONDS, loop.RETRY_SECONDS]


def test_a_log_that_cannot_be_written_ends_nothing() -> None:
    rig = Rig([OSError(errno.EIO, "x"), None, None])
    rig.view_fails = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    rig.run()
    assert rig.turns == []


@pytest.mark.parametrize("error", [StoreBroken("it is damaged"), ValueError("a bug")])
def test_a_damaged_database_and_a_bug_still_end_it(error: Exception) -> None:
    with pytest.raises(type(error)):
        Rig([error, None]).run()


@pytest.mark.parametrize("trouble", [*TROUBLES, lambda: GitFailed("Unable to create '.git/index.lock': File exists.")])
def test_what_a_start_meets_is_waited_out_and_told_once_as_well(trouble: Callable[[], Exception]) -> None:
    rig, met = Rig([trouble(), trouble(), None]), []
    rig.daemon.recover = rig.tick  # type: ignore[method-assign, assignment]
    assert loop.recover(rig.daemon, rig, lambda: met.append(1), lambda: False)
    assert len(rig.told) == 1 and len(met) == 2
    assert rig.waited == [loop.RETRY_SECONDS, loop.RETRY_SECONDS]


def test_a_start_that_waits_hears_a_stop_and_what_waiting_does_not_mend_ends_it() -> None:
    rig = Rig([NoAnswer("`git x` did not answer"), NoMain("there is no main")])
    rig.daemon.recover = rig.tick  # type: ignore[method-assign, assignment]
    assert not loop.recover(rig.daemon, rig, lambda: None, lambda: bool(rig.waited))
    with pytest.raises(NoMain):
        loop.recover(rig.daemon, rig, lambda: None, lambda: False)


def test_a_start_that_only_a_person_can_help_ends_a_run_once_nothing_lives_and_no_daemon() -> None:
    rig = Rig([RefsBroken("unexpected line", "Mend that line."), RefsBroken("unexpected line"), NoAnswer("x"), None])
    rig.daemon.recover = rig.tick  # type: ignore[method-assign, assignment]
    rig.living = 1
    with pytest.raises(RefsBroken):
        loop.recover(rig.daemon, rig, lambda: None, lambda: False, until_idle=True)
    assert len(rig.waited) == 1, "an agent of the run before still worked"
    assert rig.told == ["Nothing is started until it is mended: unexpected line. Mend that line."]
    rig.turns.insert(0, RefsBroken("unexpected line"))
    assert loop.recover(rig.daemon, rig, lambda: None, lambda: False)
