"""The Breaker Box."""

from types import SimpleNamespace

import pytest

from nobrakes.beads.model import Bead, Outcome, Role, Run, RunKind, Status
from nobrakes.checks.worker.validation import Durations
from nobrakes.config.sections import LimitSettings, ReviewSettings
from nobrakes.config.settings import Config
from nobrakes.daemon.service import control
from nobrakes.errors import ConfigError, NoSuchBead, NotAllowed
from nobrakes.events.kinds import Kind
from nobrakes.host import proctable
from nobrakes.host.port import Ending, StepEnd
from nobrakes.paths import Paths
from nobrakes.review.journal import CORES


@pytest.fixture
def paths(tmp_path):
    (tmp_path / "wake").mkdir()
    return Paths(str(tmp_path))


def kinds(store):
    return [event.kind for event in store.events()]


def test_pause_stop_and_resume(store, paths):
    assert control.pause(store, paths, "me") is True
    assert control.pause(store, paths, "me") is False
    board = store.board(Config().board_limits())
    assert (board.paused, board.stopping) == (True, False)
    assert control.stop(store, paths, "me") is True
    assert store.board(Config().board_limits()).stopping
    assert control.resume(store, paths, "me") is True
    board = store.board(Config().board_limits())
    assert (board.paused, board.stopping) == (False, False)
    assert kinds(store) == [Kind.PAUSED, Kind.PAUSED, Kind.RESUMED]


def test_each_of_them_wakes_the_daemon(store, paths, tmp_path):
    for act in (control.pause, control.stop, control.resume):
        act(store, paths, "me")
        found = list((tmp_path / "wake").iterdir())
        assert found
        for file in found:
            file.unlink()


def test_limits_override_the_config_until_they_are_changed_again(store, paths):
    config = Config(limits=LimitSettings(doers=2, max_failures=5))
    assert control.limits(store, config).doers == 2
    assert control.set_limits(store, {"doers": "8", "idle_minutes": "1.5"}, "me", paths) == {
        "doers": 8,
        "idle_minutes": 1.5,
    }
    found = control.limits(store, config)
    assert (found.doers, found.idle_seconds, found.max_failures) == (8, 90.0, 5)
    assert control.set_limits(store, {"doers": "default"}, "me") == {"idle_minutes": 1.5}
    assert control.limits(store, config).doers == 2
    assert control.set_limits(store, {"idle_minutes": "default"}, "me") == {}
    assert store.setting(control.LIMITS) is None
    assert kinds(store) == [Kind.LIMITS_CHANGED] * 3


def test_validators_follow_what_the_last_run_of_the_checks_kept_busy(store, paths, monkeypatch):
    monkeypatch.setattr(proctable, "cores", lambda: 8)
    durations = Durations(SimpleNamespace(store=store))
    assert control.daemon_limits(store, Config()).queue.validators == 2

    def ran(cpu, seconds, kind=RunKind.VALIDATION):
        step = StepEnd("test", True, 0, seconds, "", begun=100.0)
        durations.note(Run("1-1", 1, kind, 100.0), Ending((step,), over=True, cpu=cpu))
        return store.setting(CORES), control.daemon_limits(store, Config()).queue.validators

    assert ran(20.0, 10.0) == ("2", 4)
    assert ran(78.0, 10.0) == ("8", 1)
    assert ran(31.0, 10.0) == ("3", 2)
    assert ran(1.0, 10.0, RunKind.RED_PROOF) == ("3", 2), "new tests alone say nothing of the whole"
    assert ran(0.0, 0.0) == ("0", 4)
    assert control.daemon_limits(store, Config(review=ReviewSettings(validators=7))).queue.validators == 7


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"doer": "3"}, "doer: is not a limit"),
        ({"doer": "default"}, "doer: is not a limit"),
        ({"doers": "-1"}, "doers: "),
        ({"doers": "many", "lease_seconds": "1"}, "lease_seconds: "),
    ],
)
def test_a_wrong_limit_is_refused_and_nothing_is_changed(store, paths, changes, says):
    control.set_limits(store, {"doers": "7"}, "me")
    with pytest.raises(ConfigError) as raised:
        control.set_limits(store, changes, "me", paths)
    assert says in str(raised.value) and "doers" in raised.value.hint
    assert control.limits(store, Config()).doers == 7


def test_the_same_limit_again_is_no_event(store):
    control.set_limits(store, {"doers": "7"}, "me")
    control.set_limits(store, {"doers": "7"}, "me")
    assert kinds(store) == [Kind.LIMITS_CHANGED]


def started(store, bead):
    store.put([Bead(bead, bead, status=Status.NEEDS_DOER)], [], "me")
    attempt = store.open_attempt(bead, Role.DOER, "script", (f"Of {bead}",), 60.0, None)
    assert attempt is not None
    return attempt


def test_one_agent_is_asked_to_stop_by_name_or_bead(store, paths, tmp_path):
    first, second = started(store, "one"), started(store, "two")
    assert control.stop_one(store, paths, "of one", None, "me").id == first.id
    assert list((tmp_path / "wake").iterdir())
    board = store.board(Config().board_limits())
    assert (board.stop_asked, board.stopping, board.paused) == ({first.id}, False, False)
    control.stop_one(store, paths, "one", None, "me")
    control.stop_one(store, paths, "two", "think", "me")
    assert store.board(Config().board_limits()).stop_asked == {first.id, second.id}
    assert (store.bead("one").held, store.bead("two").held) == (None, "think")
    assert [e.attempt for e in store.events() if e.kind is Kind.STOP_ASKED] == [first.id, second.id]


def test_who_has_ended_is_forgotten_and_cannot_be_stopped(store, paths):
    first, second = started(store, "one"), started(store, "two")
    control.stop_one(store, paths, "one", None, "me")
    store.close_attempt(first, Kind.DOER_STOPPED, Outcome.INTERRUPTED)
    with pytest.raises(NotAllowed, match="no agent is working on bead one"):
        control.stop_one(store, paths, "one", "why", "me")
    assert store.bead("one").held is None
    with pytest.raises(NoSuchBead):
        control.stop_one(store, paths, "nobody", None, "me")
    control.stop_one(store, paths, "two", None, "me")
    assert store.board(Config().board_limits()).stop_asked == {second.id}
