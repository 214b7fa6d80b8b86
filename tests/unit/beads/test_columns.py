"""The board of a browser: who has to act, what each card says, and the filter."""

import pytest

from nobrakes.beads.model import Bead, BeadType, Dependency, Role, Status
from nobrakes.beads.service.bead_page import listing
from nobrakes.beads.service.board import MAIN, columns
from nobrakes.daemon.model import Limits
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.store import Store, open_memory


@pytest.fixture
def store():
    made = open_memory()
    beads = [
        Bead("epic", "Money", BeadType.EPIC, status=Status.OPEN),
        Bead("a", "Amounts", status=Status.NEEDS_DOER, epic="epic", estimate=60, labels=("core",)),
        Bead("b", "Budgets", status=Status.NEEDS_DOER, epic="epic"),
        Bead("c", "Colours", status=Status.NEEDS_DOER, priority=0),
        Bead("d", "Draft", status=Status.DRAFT),
    ]
    made.put(beads, [Dependency("b", "a")], "me")
    yield made
    made.close()


def by_name(view):
    return {one.name: one for one in view.columns}


def test_every_bead_stands_where_somebody_has_to_act(store):
    found = by_name(columns(store))
    assert set(MAIN) <= set(found) and "cancelled" not in found
    assert [tile.id for tile in found["ready"].tiles] == ["c", "a"]
    assert found["blocked"].tiles[0].line and found["draft"].total == 1
    first = found["ready"].tiles[1]
    assert (first.frees, first.is_critical, first.epic) == (1, True, "epic")


def test_who_works_and_what_is_asked_is_on_the_card(store):
    attempt = store.open_attempt("c", Role.DOER, "script", ["Ada"], 60.0, None)
    assert attempt is not None
    store.escalate(NewEscalation(EscalationType.QUESTION, "Which colour?"), "a", None, "me")
    found = by_name(columns(store))
    assert (found["working"].tiles[0].line, found["working"].tiles[0].attempt) == ("Ada, doer", attempt.id)
    asked = found["escalated"].tiles[0]
    assert (asked.line, asked.escalation) == ("Which colour?", store.escalations()[0].id)


def test_a_filter_needs_every_word_and_finds_labels_and_epics(store):
    assert columns(store, "core AMOUNTS").found == 1
    assert columns(store, "epic").found == 2
    assert columns(store, "epic colours").found == 0
    assert columns(store).found is None


def test_a_column_shows_its_first_cards_and_counts_all(store):
    store.put([Bead(f"n{n}", "N", status=Status.NEEDS_DOER) for n in range(20)], [], "me")
    ready = by_name(columns(store, most=5))["ready"]
    assert ready.total == 22 and len(ready.tiles) == 5 and ready.tiles[0].id == "c"
    board = store.board(Limits(), 1)
    assert board.ready[0].id == ready.tiles[0].id


def test_a_filter_that_all_beads_match_keeps_the_order_of_every_column(store):
    store.put([Bead(f"n{n}", "N", status=Status.NEEDS_DOER, priority=n % 3) for n in range(9)], [], "me")
    store.put([Bead("after", "A", status=Status.NEEDS_DOER)], [Dependency("after", "n8")], "me")
    every, matching = columns(store), columns(store, "task")
    assert matching.columns == every.columns and [one.total for one in every.columns if one.name == "ready"] == [11]
    assert columns(store, "task", most=3).columns == columns(store, most=3).columns


@pytest.mark.parametrize("wanted", ["", "task"])
def test_beads_that_another_process_adds_meanwhile_are_no_hindrance(tmp_path, monkeypatch, wanted):
    mine = Store(str(tmp_path / "nobrakes.db"), create=True)
    mine.put([Bead("a", "A", status=Status.NEEDS_DOER)], [], "me")
    other = Store(str(tmp_path / "nobrakes.db"))
    reads = {name: getattr(Store, name) for name in ("all", "plain")}

    def beside(name):
        def ask(db, *given):
            found = reads[name](db, *given)
            if db is mine:
                other.put([Bead(f"n{other.counts()['ready']}", "N", status=Status.NEEDS_DOER)], [], "other")
            return found

        return ask

    for name in reads:
        monkeypatch.setattr(Store, name, beside(name))
    found = columns(mine, wanted)
    assert by_name(found)["ready"].tiles[0].id == "a" and other.counts()["ready"] > 2
    mine.close()
    other.close()


def test_a_list_of_an_epic_names_its_beads_and_counts_those_beyond_the_limit(store):
    found = listing(store, (), "epic", limit=1)
    assert [bead.id for bead in found.beads] == ["a"] and (found.fitting, found.read) == (2, 1)
    assert [bead.id for bead in listing(store, (Status.DRAFT, Status.OPEN)).beads] == ["epic", "d"]
    assert listing(store, (), "none").beads == []


def test_a_list_reads_no_more_beads_than_it_shows(store):
    asked: list[str] = []
    store.connection.set_trace_callback(asked.append)
    listing(store, limit=2)
    [ids] = [text for text in asked if text.startswith("SELECT id FROM beads")]
    assert ids.endswith("LIMIT 2")
