"""Worker names: A to Z, round and round, never two at once."""

from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.model import next_name
from nobrakes.config.settings import Config

NAMES = ("Ada", "Bowie", "Cleo")


def test_names_come_in_order_and_wrap() -> None:
    cursor, given_out = 0, []
    for _ in range(4):
        name, cursor = next_name(NAMES, cursor, ())
        given_out.append(name)
    assert given_out == ["Ada", "Bowie", "Cleo", "Ada"]


def test_a_name_in_use_is_skipped() -> None:
    assert next_name(NAMES, 0, {"Ada", "Bowie"}) == ("Cleo", 0)
    assert next_name(NAMES, 2, {"Cleo"}) == ("Ada", 1)


def test_with_every_name_in_use_numbered_ones_go_on() -> None:
    assert next_name(NAMES, 1, set(NAMES)) == ("Bowie 2", 2)
    assert next_name(("Ada",), 0, {"Ada", "Ada 2"}) == ("Ada 3", 0)


def test_a_cursor_from_a_longer_list_is_no_trouble() -> None:
    assert next_name(NAMES, 25, ()) == ("Bowie", 2)


def test_the_names_that_come_with_nobrakes_go_from_a_to_z() -> None:
    names = Config().worker_names()
    assert [name[0] for name in names] == [chr(ord("A") + place) for place in range(26)]


@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=5, unique=True), st.integers(0, 9), st.data())
def test_no_two_workers_have_one_name(names: list[str], cursor: int, data: st.DataObject) -> None:
    in_use: set[str] = set()
    for _ in range(12):
        name, cursor = next_name(names, cursor, in_use)
        assert name not in in_use
        in_use.add(name)
        if data.draw(st.booleans()):
            in_use.discard(data.draw(st.sampled_from(sorted(in_use))))
