"""Trees as git stores them: read from one that is like them, compared and written for what differs alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.git.objects import EXECUTABLE, FILE, FOLDER, LINK, MODULE, Entry, changed, differing, stored, tree_content

NAMES = st.text("ab.-0/ é".replace("/", ""), min_size=1, max_size=4) | st.binary(min_size=1, max_size=3).filter(
    lambda raw: not {0, 0x2F} & set(raw)
).map(lambda raw: raw.decode("utf-8", "surrogateescape"))
IDS = st.integers(0, 3).map(lambda one: f"{one:040x}") | st.binary(min_size=20, max_size=20).map(bytes.hex)
ENTRIES = st.builds(Entry, st.sampled_from([FILE, EXECUTABLE, FOLDER, LINK, MODULE]), IDS)
TREES = st.dictionaries(NAMES, ENTRIES, max_size=12)


def test_what_is_written_is_read() -> None:
    entries = {"a": Entry(FILE, "11" * 20), "a.b": Entry(FOLDER, "22" * 20), "b": Entry(LINK, "00" * 20)}
    assert stored(tree_content(entries), 20).entries == entries
    assert stored(b"", 20).entries == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"100644 a",
        b"100644 a\0" + b"x" * 19,
        b"8 a\0" + b"x" * 20,
        b"x100644 a\0" + b"x" * 20,
        b" a\0" + b"x" * 20,
        b"1006440 a\0" + b"x" * 20,
        b"100644 a\0" + b"x" * 20 + b"100644 ",
    ],
)
def test_what_is_no_tree_is_none(raw: bytes) -> None:
    with pytest.raises(ValueError):
        stored(raw, 20)
    with pytest.raises(ValueError):
        stored(raw, 20, stored(tree_content({"a": Entry(FILE, "78" * 20)}), 20))


def test_old_modes_are_read_as_git_reads_them() -> None:
    assert stored(b"100664 a\0" + b"x" * 20 + b"040000 b\0" + b"x" * 20, 20).entries == {
        "a": Entry(FILE, "78" * 20),
        "b": Entry(FOLDER, "78" * 20),
    }


@given(TREES, TREES)
def test_a_tree_is_the_same_read_by_itself_and_from_any_other(one: dict[str, Entry], other: dict[str, Entry]) -> None:
    whole = stored(tree_content(other), 20)
    taken = stored(tree_content(other), 20, stored(tree_content(one), 20))
    assert taken == whole
    assert taken.entries == other and taken.is_plain


@given(TREES, TREES)
def test_the_names_that_differ(one: dict[str, Entry], other: dict[str, Entry]) -> None:
    before, after = stored(tree_content(one), 20), stored(tree_content(other), 20)
    assert differing(before, after) == {name for name in {**one, **other} if one.get(name) != other.get(name)}


@given(TREES, TREES)
def test_a_changed_tree_is_the_one_that_is_written_whole(one: dict[str, Entry], changes: dict[str, Entry]) -> None:
    assert changed(stored(tree_content(one), 20), changes) == tree_content({**one, **changes})


RAW = st.lists(st.tuples(st.sampled_from([b"100644", b"40000", b"040000"]), NAMES, IDS), max_size=6).map(
    lambda found: b"".join(
        mode + b" " + name.encode("utf-8", "surrogateescape") + b"\0" + bytes.fromhex(oid) for mode, name, oid in found
    )
)


@given(RAW, RAW, TREES)
def test_trees_in_any_order_and_with_names_that_stand_twice(
    one: bytes, other: bytes, changes: dict[str, Entry]
) -> None:
    before, after = stored(one, 20), stored(other, 20)
    assert stored(other, 20, before) == after
    assert after.entries == stored(other, 20).entries
    assert differing(before, after) >= {
        name for name in {**before.entries, **after.entries} if before.entries.get(name) != after.entries.get(name)
    }
    assert changed(before, changes) == tree_content({**before.entries, **changes})


@pytest.mark.parametrize("name", ["zb 100644 zb", "zc100644 zb"])
def test_a_name_may_end_like_another_entry(name: str) -> None:
    """What two trees end with may begin inside of an entry then."""
    one = {**{f"a{number:03}": Entry(FILE, "61" * 20) for number in range(300)}, "zb": Entry(FILE, "62" * 20)}
    other = {path: entry for path, entry in one.items() if path != "zb"} | {name: Entry(FILE, "62" * 20)}
    before = stored(tree_content(one), 20)
    after = stored(tree_content(other), 20, before)
    assert after.entries == other
    assert {"zb", name} <= differing(before, after)
