"""The database goes back to a copy of earlier, and git does not: nothing is merged twice, and all is done at the end."""

import json
import sqlite3
from collections import Counter
from collections.abc import Sequence

import pytest

from nobrakes.beads.model import BeadType, Status
from nobrakes.events.catalog import TABLE
from nobrakes.events.kinds import Kind
from tests.world.rates import Rates
from tests.world.world import World

KIND = Rates(fail=0, conflict=0, machine=0, trouble=0, people=0, refuse=0, cut=0, edits=0, crash=0)


def copy_of(source: sqlite3.Connection) -> sqlite3.Connection:
    copy = sqlite3.connect(":memory:")
    source.backup(copy)
    return copy


def to_its_end(world: World) -> list[sqlite3.Connection]:
    """Copies of the database, from every twelfth step."""
    world.people.tidy()
    world._turns()
    copies = []
    for step in range(2000):
        if step % 12 == 0:
            copies.append(copy_of(world.store.connection))
        if not world.step():
            return copies
    raise AssertionError("it does not end")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_whatever_moment_the_database_goes_back_to_nothing_is_merged_twice(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(seed, rates=KIND, beads=5)
    copies = to_its_end(world)
    monkeypatch.setattr(world, "_keep_promises", lambda *_: None)  # they follow one log, and this one begins again
    found = 0
    for copy in copies[::-1]:
        landed = Counter(world.git.merged())
        before = len(world.git.landings)
        copy.backup(world.store.connection)
        world.store.cache.forget()  # whoever starts then has read nothing yet
        world.processes.reboot()
        world.daemon = world._boot()
        to_its_end(world)
        events = [one for one in world.store.events(0, 100_000) if one.kind is Kind.FOUND_MERGED]
        found += len(events)
        for event in events:
            assert set(event.data) == set(TABLE[Kind.FOUND_MERGED].keys) - {"with", "whole"}  # of epics
        assert len(world.git.landings) == before, "what was merged already was merged again"
        assert Counter(world.git.merged()) == landed
        for bead in world.store.beads():
            if bead.id in landed and bead.type is not BeadType.EPIC:
                assert bead.status is Status.DONE, bead
    assert found


@pytest.mark.slow
@pytest.mark.parametrize("seed", (1, 4, 6))  # main here alone, and shared ones
def test_before_main_moves_the_database_that_says_so_is_on_the_disk(seed: int) -> None:
    """Once for all that land together."""
    world = World(seed, rates=KIND, beads=8)
    on_disk: list[sqlite3.Connection] = []
    seen: list[tuple[str, ...]] = []
    world.store.tell(lambda: None, lambda: on_disk.append(copy_of(world.store.connection)))

    def landed(commits: Sequence[str]) -> None:
        seen.append(tuple(commits))
        (disk,) = on_disk
        on_disk.clear()
        journals = [json.loads(row[0]) for row in disk.execute("SELECT data FROM attempts WHERE outcome IS NULL")]
        assert commits[-1] in {one["candidate"] for one in journals if one.get("step") == "swap"}

    world.git.told_of_landing = landed
    to_its_end(world)
    told = [commit for commits in seen for commit in commits]  # somebody else's push may come first
    assert world.git.landed and set(world.git.landed) <= set(told)
