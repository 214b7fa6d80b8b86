"""How a bead stands is asked of few events: those since it was begun last."""

from typing import Any

import pytest

from nobrakes.beads.model import Bead, Outcome, Role, Status
from nobrakes.beads.service.bead_page import status_now
from nobrakes.beads.work_status import statuses
from nobrakes.events.kinds import Event, Kind
from nobrakes.events.service import StoreFacts
from nobrakes.store import Store


def test_no_event_from_before_the_last_beginning_is_read(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put([Bead("b", "B", status=Status.NEEDS_DOER, needs_tests=False)], [], "me")
    for _ in range(2):
        attempt = store.open_attempt("b", Role.DOER, "script", ["Ada"], 60.0, None)
        assert attempt is not None
        for changed in range(1, 4):
            store.record(Event(Kind.FILES_CHANGED, "b", attempt.id, "Ada", {"changed": changed}))
        store.close_attempt(attempt, Kind.DOER_STOPPED, Outcome.CRASHED)
    told = store.events(bead="b")
    by_all, began = statuses(told), [one.seq for one in told if one.kind is Kind.DOER_STARTED]
    read: list[int] = []
    events = store.events

    def noted(*asked: Any) -> list[Event]:
        found = events(*asked)
        read.extend(one.seq for one in found)
        return found

    monkeypatch.setattr(store, "events", noted)
    assert status_now(store, "b") == by_all[max(by_all)] and read and min(read) == began[1]
    for place, first in ((-2, began[1]), (began[1] - told[0].seq - 2, began[0])):
        read.clear()
        page = told[place:]
        facts = StoreFacts(store, page)
        assert [facts.status(one) for one in page] == [by_all.get(one.seq) for one in page]
        assert min(read) == first
