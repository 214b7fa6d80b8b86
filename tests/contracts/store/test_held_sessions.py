"""The lock of an agent's session: one attempt of one bead at a time, whoever else wants it at the same moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

from nobrakes.beads.model import Attempt, Bead, Outcome, Role, Run, RunKind, Status
from nobrakes.events.kinds import Kind
from nobrakes.store import Store


def opened(store: Store, bead: str) -> Attempt:
    found = store.open_attempt(bead, Role.DOER, "claude", ["Ada", "Bo", "Cyd"], 60.0, None)
    assert found is not None
    return found


def put(store: Store, *names: str) -> None:
    store.put([Bead(b, b, status=Status.NEEDS_DOER, needs_tests=False) for b in names], [], "me")


def test_a_session_is_of_one_bead_for_ever(store: Store) -> None:
    put(store, "a", "b")
    mine, other = opened(store, "a"), opened(store, "b")
    assert store.hold_session("s", mine.id)
    assert store.hold_session("s", mine.id)  # again, after a crash
    assert not store.hold_session("s", other.id)
    store.close_attempt(mine, Kind.DOER_STOPPED, Outcome.KILLED)
    assert not store.hold_session("s", other.id)


def test_the_next_attempt_has_it_when_nothing_of_the_last_one_lives(store: Store) -> None:
    put(store, "a")
    first = opened(store, "a")
    assert store.hold_session("s", first.id)
    store.plan_run(Run("1-agent", first.id, RunKind.AGENT, 0.0))
    store.close_attempt(first, Kind.DOER_STOPPED, Outcome.CANCELLED)
    second = opened(store, "a")
    assert not store.hold_session("s", second.id)  # a process of the first may live
    store.end_run("1-agent")
    assert not store.hold_session("s", second.id, fresh=True)  # somebody has had it
    assert store.hold_session("s", second.id) and store.hold_session("s", second.id, fresh=True)
    assert not store.hold_session("s", first.id)


def test_what_agents_of_two_beads_call_theirs_is_nobodys(store: Store) -> None:
    put(store, "a", "b")
    liar, owner = opened(store, "a"), opened(store, "b")
    assert store.hold_session("s", liar.id, fresh=True)  # heard first
    assert not store.hold_session("s", owner.id, fresh=True)
    store.close_attempt(liar, Kind.DOER_STOPPED, Outcome.INTERRUPTED)
    assert not store.hold_session("s", opened(store, "a").id)
    assert not store.hold_session("s", owner.id)


def test_of_many_who_want_it_at_once_one_has_it(open_again: Callable[[], Store], store: Store, tmp_path: Path) -> None:
    names = [f"b{n}" for n in range(8)]
    put(store, *names)
    wanting = [opened(store, name).id for name in names]
    in_file = (tmp_path / "nobrakes.db").exists()
    ready = Barrier(len(wanting))

    def want(attempt: int) -> bool:
        mine = open_again() if in_file else store
        ready.wait() if in_file else None
        try:
            return mine.hold_session("s", attempt)
        finally:
            if in_file:
                mine.close()

    if in_file:
        with ThreadPoolExecutor(len(wanting)) as pool:
            got = list(pool.map(want, wanting))
    else:  # one connection, which no second thread may use
        got = [want(attempt) for attempt in wanting]
    assert sum(got) == 1
