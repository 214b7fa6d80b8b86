"""What people look at: readiness, the board, one screen, a bead's history, the reviews, the drawn graph."""

import pytest

from nobrakes.beads.model import Bead, Dependency, Outcome, Role, Status
from nobrakes.beads.service import bead_commands, bead_page, board
from nobrakes.config.sections import CheckSettings
from nobrakes.config.settings import Config
from nobrakes.daemon.service import control, status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NoSuchBead, UsageError
from nobrakes.events.kinds import Kind
from nobrakes.paths import Paths
from nobrakes.pictures import draw


@pytest.fixture
def busy(store):
    """One bead of every column, and an epic."""
    bead_commands.add(store, "E", id="e", type="epic", draft=False)
    bead_commands.add(store, "R", id="ready", draft=False, epic="e", priority=0)
    bead_commands.add(store, "B", id="blocked", draft=False, needs=["ready"])
    bead_commands.add(store, "H", id="held", draft=False)
    bead_commands.hold(store, "held", "think", "me")
    bead_commands.add(store, "W", id="working", draft=False, needs_tests=False)
    store.open_attempt("working", Role.DOER, "script", ["Ada"], 60.0, None)
    bead_commands.add(store, "D", id="draft")
    bead_commands.add(store, "X", id="cancelled", draft=False)
    bead_commands.cancel(store, "cancelled", "no", "me")
    bead_commands.add(store, "O", id="done", draft=False)
    bead_commands.done(store, "done", "yes", "me")
    bead_commands.add(store, "Q", id="asked", draft=False)
    store.escalate(NewEscalation(EscalationType.QUESTION, "which?"), "asked", None, "nobrakes")
    store.put([Bead("waits", "V", status=Status.NEEDS_REVIEW)], [], "me")
    return store


def test_ready_and_why_not(busy):
    assert [bead.id for bead in bead_page.ready(busy, 9)] == ["ready"]
    assert bead_page.ready(busy, 0) == []
    found = {one.bead: one for one in bead_page.explain(busy)}
    assert set(found) == {node.id for node in busy.nodes()}
    assert found["ready"].ready and found["ready"].reasons == ()
    assert found["blocked"].reasons == ("blocked by ready (needs_tests)",) and found["blocked"].whys == ("blocked",)
    assert found["held"].reasons == ("held: think",)
    assert all(one.reasons for one in found.values() if not one.ready)


def test_explain_named_ones_only(busy):
    assert [one.bead for one in bead_page.explain(busy, ("held", "blocked"))] == ["blocked", "held"]
    with pytest.raises(NoSuchBead):
        bead_page.explain(busy, ("nowhere",))


def test_the_board_has_each_bead_in_one_column(busy):
    found = board.board(busy)
    assert {name: [card.id for card in cards] for name, cards in found.columns.items()} == {
        "draft": ["draft"], "blocked": ["blocked", "held"], "ready": ["ready"], "working": ["working"],
        "review": ["waits"], "requested": [], "escalated": ["asked"], "done": ["done"], "cancelled": ["cancelled"],
    }  # fmt: skip
    assert [(worker.name, worker.bead, worker.role) for worker in found.working] == [("Ada", "working", Role.DOER)]
    assert found.columns["blocked"][0].reasons == ("blocked by ready (needs_tests)",)


def test_counts(busy):
    assert status.counts(busy) == {
        "draft": 1, "blocked": 2, "ready": 1, "working": 1, "review": 1, "requested": 0, "escalated": 1, "done": 1,
        "cancelled": 1, "held": 1,
    }  # fmt: skip


def test_one_screen(busy, tmp_path):
    paths = Paths(str(tmp_path))
    control.pause(busy, paths, "me")
    control.set_limits(busy, {"doers": "7"}, "me")
    found = status.status(busy, paths, Config(checks=(CheckSettings(name="test", command="x"),)))
    assert (found.paused, found.stopping, found.daemon, found.epics, found.checks) == (True, False, None, 1, 1)
    assert found.limits.doers == 7 and found.counts["ready"] == 1
    assert [e.bead for e in found.escalations] == ["asked"]
    assert found.working[0].seconds >= 0


@pytest.fixture
def reviewed(store):
    """A bead that was rejected once and then merged."""
    store.put([Bead("m", "M", needs_tests=False, status=Status.NEEDS_REVIEW)], [], "me")
    first = store.open_attempt("m", Role.REVIEWER, "nobrakes", ["Reviewer"], 60.0, None)
    results = [{"name": "test", "outcome": "fail", "reason": "exit code 1"}]
    store.close_attempt(
        first, Kind.REVIEW_REJECTED, Outcome.FAILED_REVIEW, detail="test: fail", data={"results": results}
    )
    doer = store.open_attempt("m", Role.DOER, "script", ["Ada"], 60.0, None)
    store.close_attempt(doer, Kind.WORK_SUBMITTED, Outcome.COMPLETED, head="b" * 40)
    second = store.open_attempt("m", Role.REVIEWER, "nobrakes", ["Reviewer"], 60.0, None)
    store.close_attempt(second, Kind.MERGED, Outcome.COMPLETED, data={"results": []}, merged_commit="a" * 40)
    return store


def test_reviews_newest_first(reviewed):
    found = bead_page.reviews(reviewed, 5)
    assert [(r.bead, r.title, r.outcome) for r in found] == [
        ("m", "M", Outcome.COMPLETED), ("m", "M", Outcome.FAILED_REVIEW)
    ]  # fmt: skip
    assert found[0].commit == "a" * 40 and found[1].commit is None
    assert found[1].results[0]["reason"] == "exit code 1"
    assert len(bead_page.reviews(reviewed, 1)) == 1


def test_the_history_of_a_bead(reviewed):
    found = bead_page.history(reviewed, None, "m")
    assert [a.role for a in found.attempts] == [Role.REVIEWER, Role.DOER, Role.REVIEWER]
    assert len(found.reviews) == 2 and found.commit == "a" * 40
    assert [e.kind for e in found.events][:2] == [Kind.PROPOSED, Kind.REVIEW_STARTED]
    with pytest.raises(NoSuchBead):
        bead_page.history(reviewed, None, "nowhere")


def test_a_drawing_shows_what_happens_now_and_says_what_it_left_out(busy, monkeypatch):
    whole = draw.graph(busy, format="svg")
    assert (whole.shown, whole.beads, whole.note) == (10, 10, "")
    monkeypatch.setattr(draw, "MAX_DRAWN", 5)
    part = draw.graph(busy, format="svg")
    assert (part.shown, part.beads) == (5, 10) and part.note.startswith("The picture shows 5 of 10 beads")
    assert part.note in part.text.replace("&amp;", "&")
    drawn = {word for word in ("ready", "blocked", "working", "asked", "waits") if f">{word}</text>" in part.text}
    assert drawn == {"ready", "blocked", "working", "asked", "waits"}, "what is ready, busy, and waits for that"
    assert draw.graph(busy, format="dot").shown == 10, "a program reads that"
    inside = draw.graph(busy, format="svg", epic="e")
    assert (inside.shown, inside.beads) == (2, 2)
    monkeypatch.setattr(draw, "MAX_DRAWN", 1)
    assert (draw.graph(busy, format="svg", epic="e").shown, draw.graph(busy, format="svg").beads) == (1, 10)


def test_the_graph_is_drawn_in_four_formats(busy):
    assert "> ready" in draw.graph(busy).text
    assert draw.graph(busy, format="mermaid").text.startswith("flowchart")
    assert draw.graph(busy, format="dot").text.startswith("digraph")
    assert draw.graph(busy, format="svg", epic="e").text.startswith("<svg")
    inside = draw.graph(busy, epic="e").text
    assert "ready" in inside and "blocked  B" not in inside
    with pytest.raises(UsageError):
        draw.graph(busy, format="png")
    with pytest.raises(NoSuchBead):
        draw.graph(busy, epic="nowhere")


def test_a_graph_of_many_beads_shows_where_something_happens_and_all_when_asked(store, monkeypatch):
    beads = [Bead(f"b{n:02}", f"B {n}", status=Status.NEEDS_DOER) for n in range(30)]
    store.put(beads, [Dependency(f"b{n:02}", f"b{n - 1:02}") for n in range(1, 30)], "me")
    whole = draw.graph(store)
    assert (whole.shown, whole.beads, whole.note) == (30, 30, "")
    monkeypatch.setattr(draw, "LINES", 20)
    monkeypatch.setattr(draw, "MAX_DRAWN", 4)
    part = draw.graph(store)
    assert (part.shown, part.beads) == (4, 30) and "`--format dot` or `text` shows all" in part.note
    assert [line.split()[1] for line in part.text.splitlines()[:4]] == ["b00", "b01", "b02", "b03"]
    assert part.text.splitlines()[0].startswith(">") and part.text.splitlines()[1].endswith("<- b00")
    assert draw.graph(store, format="text") == whole
    assert draw.graph(store, format="svg").shown == 4
