"""The filter of the board looks at id, title, type, epic and labels, in any case, and counts what it does not show."""

from nobrakes.beads.model import Bead, BeadType
from nobrakes.beads.service.board import columns
from nobrakes.store import open_memory


def found(store, words, most=60):
    view = columns(store, words, most)
    return {one.name: ([tile.id for tile in one.tiles], one.total) for one in view.columns if one.total}, view.found


def test_each_word_is_looked_for_in_every_text_of_a_bead():
    store = open_memory(lambda: 5000.0)
    store.put(
        [
            Bead("login", "Log-in", BeadType.EPIC),
            Bead("a", "Straße sperren", epic="login"),
            Bead("b", "Keep the key", BeadType.REPAIR, labels=("Über", 'quo"ted')),
            Bead("c", "Keep the door", priority=0),
        ],
        [],
        "me",
    )
    store.approve(["a", "b", "c", "login"], "me")
    for words, ids in {
        "STRASSE": ["a"],
        "login": ["a"],
        "repair keep": ["b"],
        "über": ["b"],
        'quo"ted': ["b"],
        "keep": ["c", "b"],
        "[]": [],
        "keep sperren": [],
    }.items():
        shown, total = found(store, words)
        assert shown.get("ready", ([], 0)) == (ids, len(ids)), words
        assert total == len(ids)


def test_more_beads_than_are_shown_are_counted():
    store = open_memory(lambda: 5000.0)
    store.put([Bead(f"b{n}", f"Bead {n}") for n in range(7)], [], "me")
    shown, total = found(store, "bead", most=3)
    assert shown == {"draft": (["b0", "b1", "b2"], 7)}
    assert total == 7
