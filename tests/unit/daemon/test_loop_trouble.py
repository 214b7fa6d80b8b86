"""The loop waits out what the machine lacks, wherever it meets it, tells it once, and goes on."""

import errno
import os
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest

from nobrakes.beads.model import bead_owner
from nobrakes.daemon.service import control
from nobrakes.daemon.worker import loop
from nobrakes.daemon.worker.loop import Daemon, Troubles, Turn
from nobrakes.decisions.table import ways
from nobrakes.errors import (
    ConfigError,
    DiskFull,
    GitFailed,
    GitTooOld,
    GitUnusable,
    MachineShort,
    NoAnswer,
    NobrakesError,
    NoMain,
    ObjectsAway,
    RefsBroken,
    StoreBroken,
    StoreBusy,
    StoreReadOnly,
)
from nobrakes.git.command_line import lacking
from nobrakes.review.waits import PASSES
from nobrakes.store import open_memory
from tests.world.clock import FakeClock

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
        self.noted: list[tuple[str, str | None]] = []
        self.view_fails: Exception | None = None
        self.daemon = Daemon.__new__(Daemon)
        self.daemon.ports = SimpleNamespace(  # type: ignore[assignment]
            store=SimpleNamespace(now=lambda: 100.0, board=lambda limits: None, set_setting=self.set_setting),
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
        sender: Any = SimpleNamespace(trouble=lambda text, stops: None)
        self.daemon.troubles = Troubles(self.daemon.ports, sender)
        self.daemon.tick = self.tick  # type: ignore[method-assign, assignment]

    def tell(self, notice: Any) -> None:
        self.told.append(notice.text)
        if self.view_fails is not None:
            raise self.view_fails

    def set_setting(self, name: str, value: str | None) -> None:
        self.noted.append((name, value))

    def tick(self, seen: Any = None, signs: Any = None) -> Turn:
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

    def taken(self) -> None: ...

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
    assert len(rig.told) == len(rig.noted) == 1, "and status says it"
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
    assert len(rig.told) == len(rig.noted) == 1 and len(met) == 2
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
    assert rig.told == ["No work starts until you fix this problem: unexpected line. Mend that line."]
    rig.turns.insert(0, RefsBroken("unexpected line"))
    assert loop.recover(rig.daemon, rig, lambda: None, lambda: False)


class Settled:
    """What is in the way, turn by turn, over a store whose clock the test moves."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = open_memory(self.clock.now)
        notifier = SimpleNamespace(tell=lambda notice: None)
        ports: Any = SimpleNamespace(store=self.store, notifier=notifier, paths=SimpleNamespace(folder="/state"))
        sender: Any = SimpleNamespace(trouble=lambda text, stops: None)
        self.troubles = Troubles(ports, sender)

    def turn(self, error: NobrakesError | None) -> tuple[str | None, int]:
        """What status is told at the end of a turn that met this, and how many questions are open."""
        now = self.clock.now()
        if error is not None:
            self.troubles.pause(error)
        else:
            self.troubles.settle(now)
        self.clock.pass_to(self.clock.now() + loop.RETRY_SECONDS)
        return self.store.setting(control.TROUBLE), len(self.store.escalations())


AWAY = "fatal: '/gone' does not appear to be a git repository"


def test_what_is_in_the_way_is_told_to_status_until_it_is_over() -> None:
    world = Settled()
    assert world.turn(NoAnswer("git hung", "Look.")) == ("git hung. Look.", 0)
    assert world.turn(StoreBusy("locked", "Wait."))[0] == "locked. Wait."
    assert world.turn(None) == (None, 0)


def test_a_partial_clone_whose_remote_is_away_is_asked_about_once_and_no_more_when_it_is_back() -> None:
    world = Settled()
    asked = [world.turn(lacking(AWAY))[1] for _ in range(int(PASSES / loop.RETRY_SECONDS) + 3)]
    assert asked == [0] * (len(asked) - 3) + [1] * 3, "for five minutes it may pass by itself"
    assert world.turn(None) == (None, 0)
    assert world.turn(lacking("fatal: could not read Username: terminal prompts disabled"))[1] == 1, "no time heals it"


@pytest.mark.parametrize("said", ["fatal: the remote end hung up unexpectedly", "fatal: early EOF"])
def test_a_remote_that_hangs_up_is_given_its_time(said: str) -> None:
    world = Settled()
    assert [world.turn(lacking(said))[1] for _ in range(3)] == [0, 0, 0]


def test_a_trouble_that_could_not_be_written_down_is_written_at_the_next_turn() -> None:
    world = Settled()
    keeps, world.store.set_setting = world.store.set_setting, Mock(side_effect=StoreBusy("locked", "Wait."))
    assert world.turn(NoAnswer("git hung", "Look.")) == (None, 0)
    world.store.set_setting = keeps
    assert world.turn(NoAnswer("git hung", "Look."))[0] == "git hung. Look."


LASTING = [
    ConfigError("unknown key", "Mend it."),
    DiskFull("no space is left"),
    GitFailed("`git gc` failed: it says no"),
    GitTooOld("git is 2.30"),
    GitUnusable("bad config line 3"),
    MachineShort("too many open files"),
    NoAnswer("git hung"),
    NoMain("there is no main"),
    RefsBroken("unexpected line"),
    StoreBusy("database is locked"),
    StoreReadOnly("it cannot be written"),
]


@pytest.mark.parametrize("error", LASTING, ids=lambda error: type(error).__name__)
def test_whatever_lasts_is_asked_about_once_and_no_more_when_it_is_over(error: NobrakesError) -> None:
    world = Settled()
    asked = [world.turn(error)[1] for _ in range(int(PASSES / loop.RETRY_SECONDS) + 3)]
    assert asked == [0] * (len(asked) - 3) + [1] * 3
    (one,) = world.store.escalations()
    assert one.title == str(error) and error.hint in one.detail
    assert "main" not in ways(one)["retry"].does, "which is not looked at again for it"
    assert world.turn(None) == (None, 0)


def test_trouble_that_changes_its_words_lasts() -> None:
    world = Settled()
    turns = int(PASSES / loop.RETRY_SECONDS) + 3
    asked = [world.turn(DiskFull(f"no space is left to write /state/{turn}"))[1] for turn in range(turns)]
    assert asked == [0] * (turns - 3) + [1] * 3


def test_a_person_who_answered_is_asked_again_only_after_as_long() -> None:
    world = Settled()
    turns = int(PASSES / loop.RETRY_SECONDS)
    for _ in range(turns + 1):
        world.turn(NoAnswer("git hung"))
    world.store.resolve(world.store.escalations()[0].id, "mended", "A Person")
    assert [world.turn(NoAnswer("git hung"))[1] for _ in range(turns + 1)] == [0] * turns + [1]


def test_what_waits_alone_is_told_with_its_bead() -> None:
    world = Settled()
    world.troubles._fails(bead_owner("a"), "StartAgent", lacking(AWAY))
    told, asked = world.turn(None)
    assert told is not None and told.startswith("a waits: this partial clone lacks an object") and not asked


def test_a_question_of_a_daemon_that_was_killed_is_withdrawn_by_the_next_one() -> None:
    world = Settled()
    world.turn(lacking("fatal: could not read Username: terminal prompts disabled"))
    after = Troubles(world.troubles.ports, world.troubles.sender)
    after.settle(world.clock.now())
    assert not world.store.escalations() and world.store.setting(control.TROUBLE) is None


def test_what_a_partial_clone_lacks_is_told_by_its_first_words() -> None:
    assert isinstance(lacking(AWAY), ObjectsAway) and AWAY in str(lacking(f"{AWAY}\nfatal: promisor remote"))
