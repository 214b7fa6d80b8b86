"""Beads that wait for people at a code host stand in a column of their own, on every board."""

import pytest

from nobrakes.beads.model import Bead, Role, Status
from nobrakes.beads.service import bead_page, board
from nobrakes.requests.model import PullRequest, PullState
from nobrakes.store import open_memory


@pytest.fixture
def store():
    made = open_memory()
    found = [Bead(id_, f"Bead {id_}", status=Status.NEEDS_REVIEW, labels=("x",)) for id_ in ("a", "b", "c", "d")]
    made.put(found, [], "me")
    for id_ in ("a", "b", "c"):
        review = made.open_attempt(id_, Role.REVIEWER, "", ["Reviewer"], 60.0, None)
        step = "validate_rebased" if id_ == "c" else "pull_request"
        made.journal(review.id, {"step": step, "waiting": "people" if id_ == "b" else ""})
    made.save_pull(PullRequest("a", PullState.OPEN, 7, "https://host/7", says="is waiting for people to merge it"))
    made.save_pull(PullRequest("c", PullState.OPEN, 8, "https://host/8"))
    yield made
    made.close()


def test_the_board_of_a_terminal(store):
    view = board.board(store)
    assert list(view.columns).index("requested") == list(view.columns).index("review") + 1
    assert [card.id for card in view.columns["requested"]] == ["a", "b"] and view.counts["requested"] == 2
    assert [card.id for card in view.columns["review"]] == ["c", "d"] and view.counts["review"] == 2
    first, second = (card.request for card in view.columns["requested"])
    assert (first.number, first.page, first.says) == (7, "https://host/7", "is waiting for people to merge it")
    assert (second.number, second.state, second.says) == (0, "opening", "people")
    assert all(card.request is None for card in view.columns["review"]), "what is looked at anew waits for nobody"
    assert [card.id for card in board.board(store, limit=1).columns["review"]] == ["c"]


def test_the_board_of_a_browser_with_a_filter_and_without(store):
    for wanted in ("", "bead"):
        found = {one.name: one for one in board.columns(store, wanted).columns}
        assert [tile.id for tile in found["requested"].tiles] == ["a", "b"] and found["requested"].total == 2
        assert (found["requested"].tiles[0].page, found["requested"].tiles[1].page) == ("https://host/7", "")
        assert found["requested"].tiles[0].line == "is waiting for people to merge it" and found["review"].total == 2


def test_the_list(store):
    found = bead_page.listing(store, labels=("x",))
    assert {one.id: one.request and one.request.number for one in bead_page.with_requests(found)} == {
        "a": 7, "b": 0, "c": None, "d": None,
    }  # fmt: skip
