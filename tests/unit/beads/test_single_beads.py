"""One bead at a time: what a person adds, changes and decides."""

from types import SimpleNamespace

import pytest

from nobrakes.beads import commands
from nobrakes.beads.model import BeadType, Dependency, DependencyType, Outcome, Role, Status, is_bead_id
from nobrakes.beads.service import bead_commands
from nobrakes.beads.service.bead_commands import ALPHABET, new_id
from nobrakes.errors import BadBead, Deadlock, NoSuchBead, NotAllowed, Stale
from nobrakes.paths import Paths


def test_an_id_is_short_safe_and_new(store):
    found = {new_id(store) for _ in range(200)}
    assert len(found) == 200
    assert all(is_bead_id(i) and len(i) == 9 and i.startswith("nb-") and set(i[3:]) <= set(ALPHABET) for i in found)


def test_an_id_that_is_taken_is_not_given_out(store, monkeypatch):
    bead_commands.add(store, "first", id="nb-222222")
    drawn = iter("2" * 6 + "3" * 6)
    monkeypatch.setattr("secrets.choice", lambda alphabet: next(drawn))
    assert new_id(store) == "nb-333333"


def test_a_bead_is_a_draft_unless_told(store):
    assert bead_commands.add(store, "a").status is Status.DRAFT
    assert bead_commands.add(store, "b", draft=False).status is Status.NEEDS_TESTS
    assert bead_commands.add(store, "c", draft=False, needs_tests=False).status is Status.NEEDS_DOER
    assert bead_commands.add(store, "d", draft=False, type="epic").status is Status.OPEN


def test_every_field_arrives(store):
    epic = bead_commands.add(store, "whole", type=BeadType.EPIC)
    first = bead_commands.add(store, "first")
    made = bead_commands.add(
        store, "second", type="bug", description="d", acceptance=["x", "y"], priority=0, labels=["l", "l", "m"],
        epic=epic.id, estimate=30, needs_tests=False, scaffolding=True, touches=["src/**"], notes="n",
        metadata={"k": [1]}, needs=[first.id, first.id], id="mine",
    )  # fmt: skip
    assert (made.id, made.type, made.acceptance, made.labels) == ("mine", BeadType.FIX, ("x", "y"), ("l", "m"))
    assert (made.epic, made.estimate, made.scaffolding, made.needs_tests) == (epic.id, 30, True, False)
    assert made.metadata == {"k": [1]}
    assert Dependency("mine", first.id) in store.dependencies("mine")


@pytest.mark.parametrize(
    ("error", "arguments"),
    [
        (NoSuchBead, {"needs": ["nowhere"]}),
        (NoSuchBead, {"epic": "nowhere"}),
        (BadBead, {"id": "../x"}),
        (BadBead, {"priority": 9}),
        (BadBead, {"type": "wish"}),
        (BadBead, {"estimate": 0}),
        (BadBead, {"labels": "abc"}),
        (Deadlock, {"id": "x", "needs": ["x"]}),
    ],
)
def test_a_wrong_bead_is_refused_and_nothing_is_written(store, error, arguments):
    with pytest.raises(error):
        bead_commands.add(store, "title", **arguments)
    assert store.beads() == []


def test_an_id_is_used_once(store):
    bead_commands.add(store, "first", id="x")
    with pytest.raises(BadBead, match="already"):
        bead_commands.add(store, "second", id="x")
    assert store.bead("x").title == "first"


def test_edit_changes_what_is_named_and_nothing_else(store):
    bead = bead_commands.add(store, "a", description="keep", priority=3)
    after = bead_commands.edit(store, bead.id, {"title": "b", "type": "feat", "labels": ["x"]}, "me")
    assert (after.title, after.type, after.labels, after.description) == ("b", BeadType.FEATURE, ("x",), "keep")
    assert after.priority == 3
    with pytest.raises(BadBead, match="'status' is not a field"):
        bead_commands.edit(store, bead.id, {"status": "done"}, "me")
    with pytest.raises(BadBead):
        bead_commands.edit(store, bead.id, {"priority": -1}, "me")


def test_an_edit_that_changes_nothing_is_no_event(store):
    bead = bead_commands.add(store, "a")
    before = len(store.events())
    bead_commands.edit(store, bead.id, {"title": "a"}, "me")
    assert len(store.events()) == before


def test_hold_defer_and_back(store, now):
    bead = bead_commands.add(store, "a", draft=False)
    assert [b.id for b in store.ready(5)] == [bead.id]
    assert bead_commands.hold(store, bead.id, "wait", "me").held == "wait"
    assert store.ready(5) == []
    assert bead_commands.release(store, bead.id, "me").held is None
    with pytest.raises(NotAllowed):
        bead_commands.release(store, bead.id, "me")
    bead_commands.defer(store, bead.id, now.seconds + 1000, "me")
    assert store.ready(5) == []
    bead_commands.defer(store, bead.id, None, "me")
    assert [b.id for b in store.ready(5)] == [bead.id]


def test_what_is_closed_cannot_be_held(store):
    bead = bead_commands.add(store, "a", draft=False)
    bead_commands.done(store, bead.id, "by hand", "me")
    with pytest.raises(NotAllowed, match="done"):
        bead_commands.hold(store, bead.id, "x", "me")


@pytest.mark.parametrize(
    ("close", "status"), [(bead_commands.cancel, Status.CANCELLED), (bead_commands.done, Status.DONE)]
)
def test_closing_a_bead_at_work_ends_the_attempt_and_wakes_the_daemon(store, tmp_path, close, status):
    paths = Paths(str(tmp_path))
    (tmp_path / "wake").mkdir()
    bead = bead_commands.add(store, "a", draft=False, needs_tests=False)
    attempt = store.open_attempt(bead.id, Role.DOER, "script", ["Ada"], 60.0, None)
    assert close(store, bead.id, "why", "me", paths).status is status
    ended = store.attempt(attempt.id)
    assert ended.outcome is Outcome.CANCELLED
    with pytest.raises(Stale):
        store.attempt_of_token(attempt.token)
    assert store.bead(bead.id).assignee is None
    assert store.bead(bead.id).close_reason == "why"
    assert list((tmp_path / "wake").iterdir())
    assert bead_commands.reopen(store, bead.id, "me").status is Status.NEEDS_DOER


def test_dependencies_come_and_go(store):
    a, b = bead_commands.add(store, "a", draft=False), bead_commands.add(store, "b", draft=False)
    bead_commands.depend(store, b.id, a.id, DependencyType.BLOCKS, "me")
    assert [bead.id for bead in store.ready(5)] == [a.id]
    with pytest.raises(Deadlock):
        bead_commands.depend(store, a.id, b.id, DependencyType.BLOCKS, "me")
    with pytest.raises(Deadlock):
        bead_commands.depend(store, a.id, a.id, DependencyType.BLOCKS, "me")
    assert bead_commands.undepend(store, b.id, a.id, DependencyType.BLOCKS, "me") is True
    assert bead_commands.undepend(store, b.id, a.id, DependencyType.BLOCKS, "me") is False
    assert len(store.ready(5)) == 2


def test_an_empty_word_empties_what_may_be_empty_and_says_nothing_of_the_rest(store):
    app = SimpleNamespace(store=store, paths=None)
    bead_commands.add(store, "e", id="e", type="epic")
    bead_commands.add(store, "a", id="a", acceptance=["x"], labels=["l"], epic="e", estimate=5, type="fix", notes="n")
    given = {"acceptance": ("",), "labels": ("",), "epic": "", "notes": "", "estimate": "", "type": ""}
    changed, text = commands.edit(app, "me", bead="a", priority=None, **given)
    assert (changed.acceptance, changed.labels, changed.epic, changed.notes) == ((), (), None, "")
    assert (changed.estimate, changed.type, changed.priority) == (5, BeadType.FIX, 2)
    assert text == "a  a: acceptance, epic, labels, notes changed"
