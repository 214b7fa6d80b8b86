"""The snapshot's text is the same whether its lines are brought along or all made anew."""

import random
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, DependencyType, Outcome, Role, Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NobrakesError
from nobrakes.events import db as events_db
from nobrakes.events.kinds import Event, Kind
from nobrakes.paths import Paths
from nobrakes.snapshot import beads_jsonl as interop
from nobrakes.snapshot import service as snapshot_service
from nobrakes.store import open_memory
from tests.support.dose import everyday
from tests.support.records import dumped


class World:
    """A store whose clock the test moves, and where its snapshot lies."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.time = 1000.0
        self.store = open_memory(lambda: self.time)
        self.paths = Paths(str(folder))
        epics = [Bead(f"e{i}", "E", BeadType.EPIC, status=Status.OPEN) for i in range(3)]
        beads = [Bead(f"b{i}", "Ünï", status=Status.NEEDS_DOER, epic="e0" if i % 3 else None) for i in range(60)]
        self.store.put([*epics, *beads], [Dependency(f"b{i}", f"b{i - 1}") for i in range(1, 60, 2)], "me")

    def write(self) -> bytes:
        made = snapshot_service.snapshot(self.store, self.paths)
        Path(self.paths.snapshot).write_bytes(made.text)
        snapshot_service.remember(self.store, made)
        return made.text

    def whole(self) -> bytes:
        return dumped(self.store.beads(), self.store.dependencies()).encode()

    def change(self) -> None:
        rng, store = self.rng, self.store
        one, other, epic = f"b{rng.randrange(60)}", f"b{rng.randrange(60)}", f"e{rng.randrange(3)}"
        self.time += rng.choice((0.0, 0.0, 0.001, 5.0, 5000.0))
        number = rng.randrange(10**6)
        remarks = [
            partial(store.record, Event(kind, one, data=data))
            for kind, data in (
                (Kind.HELD, {"reason": "why"}),
                (Kind.RELEASED, {}),
                (Kind.DEFERRED, {"until": self.time + 3000}),
                (Kind.CANCELLED, {}),
                (Kind.DONE_BY_HAND, {}),
                (Kind.REOPENED, {}),
            )
        ]
        choices = [
            *remarks,
            lambda: store.put([Bead(f"n{number}", "new", epic=epic)], [Dependency(f"n{number}", one)], "me"),
            lambda: store.change(one, {"title": f"t{number}", "epic": rng.choice((epic, None))}, "me"),
            lambda: store.add_dependency(Dependency(one, other, rng.choice(list(DependencyType))), "me"),
            lambda: store.remove_dependency(rng.choice(store.dependencies()), "me"),
            lambda: store.approve([rng.choice(store.beads([Status.DRAFT])).id], "me"),
            lambda: store.escalate(NewEscalation(EscalationType.QUESTION, "why?"), one, None, "me"),
            lambda: store.answer(rng.choice(store.escalations()).id, "so", "me"),
            lambda: store.ready(1),
            self.attempt,
        ]
        rng.choice(choices)()

    def attempt(self) -> None:
        ready = self.store.ready(1)
        made = self.store.open_attempt(ready[0].id, Role.DOER, "script", ["Ada"], 60.0, None)
        if made is not None and self.rng.random() < 0.8:
            again = self.time + 1000
            self.store.close_attempt(made, Kind.DOER_STOPPED, Outcome.FAILED, counts=True, retry_at=again)


@pytest.mark.parametrize("seed", everyday(0, ci=range(1, 12)))
def test_lines_brought_along_are_the_lines_made_again(tmp_path: Path, seed: int) -> None:
    world = World(tmp_path, seed)
    world.write()
    for _ in range(40):
        for _ in range(world.rng.randrange(5)):
            try:
                world.change()
            except (NobrakesError, IndexError):
                continue
        assert world.write() == world.whole()


def test_only_what_was_touched_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, 1)
    world.time += 1
    world.write()
    world.time += 1
    world.store.change("b7", {"title": "new"}, "me")
    read: list[Iterable[str] | None] = []
    real = world.store.alike
    monkeypatch.setattr(world.store, "alike", lambda ids=None: read.append(ids) or real(ids))
    text = world.write()
    assert read == [["b7"]] and b'{"id":"b7","title":"new",' in text


def test_beads_that_are_alike_are_written_each_as_itself(tmp_path: Path) -> None:
    world = World(tmp_path, 3)
    kept = {"x_beads": {"owner": "you", "dependencies": [{"type": "tracks"}], "notes": "theirs"}, "k": 1}
    for number in range(4):
        lines = (("one line",), ("two", "lines"), (), (" spaces ",))[number]
        branch = "" if number < 2 else f"task/bead-{'a2' if number == 2 else 'other'}"
        texts = {"description": f"d{number}", "acceptance": lines, "notes": "n" * number}
        world.store.put([Bead(f"a{number}", "Same", metadata=kept, branch=branch, **texts)], [], "me")
    world.store.add_dependency(Dependency("a1", "b1", DependencyType.RELATED), "me")
    world.store.add_dependency(Dependency("a1", "a0"), "me")
    ended = {"t0": 1790000000.123456, "t1": 1790000000.123457}  # as JSON of SQLite both would be the same
    world.store.put([Bead(id_, "Same", status=Status.DONE, closed_at=at) for id_, at in ended.items()], [], "me")
    found = {one.id: one.like for one in world.store.alike()}
    assert {id_: found[id_].closed_at for id_ in ended} == ended
    assert found["a0"] is found["a1"] and found["b1"] is found["b4"] and found["a2"] is not found["a3"]
    assert world.write() == world.whole()


def test_more_kinds_than_are_remembered_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, 4)
    monkeypatch.setattr(events_db, "AT_ONCE", 2)
    monkeypatch.setattr(interop, "MANY", 2)
    for number in range(9):
        world.store.change(f"b{number}", {"priority": number % 5, "estimate": number % 3 + 1}, "me")
    assert world.write() == world.whole()


@pytest.mark.parametrize("spoil", ["other", "gone", "writer"])
def test_anything_else_is_made_again(tmp_path: Path, spoil: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path, 2)
    path = Path(world.paths.snapshot)
    expected = world.write()
    if spoil == "other":
        path.write_bytes(expected.replace(b"b1", b"b0"))
    elif spoil == "gone":
        path.unlink()
    else:
        world.store.set_setting(
            snapshot_service.WRITTEN,
            (world.store.setting(snapshot_service.WRITTEN) or "").replace('"by": "', '"by": "x'),
        )
        path.write_bytes(b"")
    assert world.write() == expected == world.whole()
