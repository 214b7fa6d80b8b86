"""The board, settings, validations and events of every store."""

from typing import Any

from nobrakes.agents.limits import Cooldown
from nobrakes.beads.model import Outcome, Status
from nobrakes.daemon.model import Limits
from nobrakes.events.kinds import Event, Kind
from nobrakes.store import Store
from tests.contracts.store.store_beads import bead, claim


def test_the_board_is_one_moment(store: Store, clock: Any) -> None:
    store.put([bead("a"), bead("r", status=Status.NEEDS_REVIEW), bead("h", status=Status.NEEDS_REVIEW)], [], "me")
    store.record(Event(Kind.HELD, "h"))
    store.set_setting("paused", "yes")
    store.start_cooldown(Cooldown("north", Outcome.RATE_LIMITED, "", clock.time, clock.time + 5, 1, told=True))
    store.start_cooldown(Cooldown("south", Outcome.NETWORK, "", clock.time - 30, clock.time, 1, told=False))
    board = store.board(Limits(doers=2))
    assert (board.now, board.limits.doers, board.paused, board.stopping) == (clock.time, 2, True, False)
    assert [one.id for one in board.ready] == ["a"]
    assert [one.id for one in board.to_review] == ["r"]
    assert {name: gate.is_closed(board.now) for name, gate in board.gates.items()} == {"north": True, "south": False}
    assert board.wake_at == clock.time + 5
    assert store.board(Limits(), front=0).ready == ()


def test_the_board_holds_what_could_be_started(store: Store) -> None:
    store.put([bead(name) for name in "abcd"], [], "me")
    claim(store, "a")
    for doers, ready in ((2, ["b", "c", "d"]), (1, ["b"]), (0, ["b"])):
        assert [one.id for one in store.board(Limits(doers=doers)).ready] == ready
        assert [one.id for one in store.board(Limits(doers=doers), front=2).ready] == ["b", "c"]


def test_settings_and_validations(store: Store) -> None:
    assert store.setting("k") is None
    store.set_setting("k", "v")
    store.set_setting("k", "w")
    assert store.setting("k") == "w"
    store.set_setting("k", None)
    assert store.setting("k") is None
    assert store.validation("tree", "contract") is None
    store.save_validation("tree", "contract", {"results": [1]})
    assert store.validation("tree", "contract") == {"results": [1]}
    assert store.validation("tree", "other") is None


def test_events_are_numbered_and_filtered(store: Store, clock: Any) -> None:
    store.put([bead("a"), bead("b")], [], "me")
    store.record(Event(Kind.LOGGED, "a", actor="Ada", data={"text": "hm"}))
    store.record(Event(Kind.DAEMON_STARTED, data={"pid": 1}))
    found = store.events()
    assert [e.seq for e in found] == [1, 2, 3, 4]
    assert {e.at for e in found} == {clock.time}
    assert store.events(after=2, limit=1) == [found[2]]
    assert store.events(bead="a") == [found[0], found[2]]
    assert (found[2].actor, found[2].data) == ("Ada", {"text": "hm"})
