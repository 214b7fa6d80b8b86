"""Reading a session while it grows: whole lines, from any offset, in bounded memory."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nobrakes.sessions import reader
from nobrakes.sessions.reader import CUT, LONGEST, follow, tail


def lines(path: Path, offset: int = 0, final: bool = False) -> list[bytes]:
    return [line for _, line in follow(str(path), offset, final)]


def test_a_missing_file_has_no_lines(tmp_path: Path) -> None:
    assert lines(tmp_path / "missing") == []
    assert tail(str(tmp_path / "missing"), 5) == []


def test_a_line_is_given_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"one\ntwo\nthr")
    assert list(follow(str(path))) == [(4, b"one"), (8, b"two")]
    assert list(follow(str(path), 8)) == []
    with path.open("ab") as file:
        file.write(b"ee\n\n")
    assert list(follow(str(path), 8)) == [(14, b"three"), (15, b"")]


def test_the_last_line_counts_without_its_end_when_nothing_follows(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"one\ntwo")
    assert list(follow(str(path), final=True)) == [(4, b"one"), (7, b"two")]
    assert list(follow(str(path), 7, final=True)) == []


def test_a_file_that_became_shorter_is_read_from_its_start(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"a long first life\n")
    ((offset, _),) = follow(str(path))
    path.write_bytes(b"new\n")
    assert list(follow(str(path), offset)) == [(4, b"new")]


def test_a_line_without_measure_is_cut_and_the_next_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"x" * LONGEST + b"\n" + b"y" * (3 * LONGEST) + b"\nnext\n")
    first, second, third = follow(str(path))
    assert first == (LONGEST + 1, b"x" * LONGEST)
    assert second == (4 * LONGEST + 2, b"y" * LONGEST + CUT)
    assert third == (4 * LONGEST + 7, b"next")
    assert tail(str(path), 2) == [b"y" * LONGEST + CUT, b"next"]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.lists(st.sampled_from([b"\n", b"a", b"bc", b"longer piece"]), max_size=60).map(b"".join), cuts=st.data())
def test_reading_in_pieces_is_reading_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, cuts: st.DataObject
) -> None:
    monkeypatch.setattr(reader, "_BLOCK", 7)
    path = tmp_path / "out"
    path.write_bytes(b"")
    offset, found, written = 0, [], 0
    while written < len(data):
        step = cuts.draw(st.integers(1, len(data) - written))
        with path.open("ab") as file:
            file.write(data[written : written + step])
        written += step
        for reached, line in list(follow(str(path), offset)):
            offset = reached
            found.append(line)
    whole, _, rest = data.rpartition(b"\n")
    assert found == (whole.split(b"\n") if b"\n" in data else [])
    assert lines(path, offset, final=True) == ([rest] if rest else [])
    for count in (0, 1, 3, 100):
        everything = data.removesuffix(b"\n").split(b"\n") if data else []
        assert tail(str(path), count) == (everything[-count:] if count else [])
