"""Clones of relay sessions whose database was lost: left where they are, told once, and nobody takes their numbers."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nobrakes.beads.model import person_owner
from nobrakes.daemon.worker.recovery import _count_on
from nobrakes.paths import Paths
from nobrakes.sessions.model import SessionKind
from nobrakes.sessions.worker import Relays
from nobrakes.store import open_memory


def test_a_clone_that_no_session_knows_is_told_once_and_stays_and_its_number_is_not_taken(tmp_path: Path) -> None:
    store, told = open_memory(lambda: 100.0), list[str]()
    ports: Any = SimpleNamespace(
        store=store,
        paths=Paths(str(tmp_path)),
        notifier=SimpleNamespace(tell=lambda notice: told.append(notice.text)),
        git=SimpleNamespace(kept=lambda: ()),
    )
    spec = ("script", "script", "")
    first = store.begin_session(SessionKind.CHAT, person_owner("Ada"), "A talk", spec, "Hello", "Ada")
    store.end_session(first.id, "Ada")
    for name in (str(first.id), "7", "7~index", "²"):
        (tmp_path / "relays" / name).mkdir(parents=True)
    relays = Relays(ports)
    for _ in range(3):
        relays.settle()
    assert len(told) == 2 and "now a different session" in told[0] and "no session 7" in told[1]
    assert sorted(os.listdir(tmp_path / "relays")) == ["1", "7", "7~index", "²"]
    asked: list[str] = []
    store.sessions = lambda going=True: asked.append("sessions") or []  # type: ignore[method-assign,func-returns-value]
    relays.settle()
    assert asked == [], "where no name is new nobody is asked"

    _count_on(ports)
    assert store.begin_session(SessionKind.RELAY, person_owner("Ada"), "Work", spec, "Do it", "Ada").id == 8
