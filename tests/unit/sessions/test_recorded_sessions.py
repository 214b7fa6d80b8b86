"""Reading a session while it grows: whole lines, from any offset, in bounded memory."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nobrakes.agents.adapter import LineKind, TranscriptLine
from nobrakes.sessions.service import viewing
from nobrakes.sessions.service.viewing import CUT, MAX_LINE, Ring, follow


def lines(path: Path, offset: int = 0, final: bool = False) -> list[bytes]:
    return [line for _, line in follow(str(path), offset, final)]


def test_a_missing_file_has_no_lines(tmp_path: Path) -> None:
    assert lines(tmp_path / "missing") == []


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
    path.write_bytes(b"x" * MAX_LINE + b"\n" + b"y" * (3 * MAX_LINE) + b"\nnext\n")
    first, second, third = follow(str(path))
    assert first == (MAX_LINE + 1, b"x" * MAX_LINE)
    assert second == (4 * MAX_LINE + 2, b"y" * MAX_LINE + CUT)
    assert third == (4 * MAX_LINE + 7, b"next")


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.lists(st.sampled_from([b"\n", b"a", b"bc", b"longer piece"]), max_size=60).map(b"".join), cuts=st.data())
def test_reading_in_pieces_is_reading_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes, cuts: st.DataObject
) -> None:
    monkeypatch.setattr(viewing, "_BLOCK", 7)
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


def ring(path: Path, **more: int) -> Ring:
    return Ring(str(path), lambda raw: [TranscriptLine(LineKind.TEXT, raw.decode())] if raw else [], **more)


def texts(found: Ring) -> list[str]:
    return [line.text for line in found.last]


def test_a_ring_holds_the_last_lines_and_reads_on(tmp_path: Path) -> None:
    path = tmp_path / "out"
    found = ring(path, size=3)
    assert list(found.read_on()) == [] == texts(found)
    path.write_bytes(b"one\n\ntwo\nthree\nfour\nfi")
    assert [line.text for line in found.read_on()] == ["one", "two", "three", "four"]
    assert texts(found) == ["two", "three", "four"]
    with path.open("ab") as file:
        file.write(b"ve\nsix")
    assert [line.text for line in found.read_on()] == ["five"]
    assert [line.text for line in found.read_on(final=True)] == ["six"]
    assert texts(found) == ["four", "five", "six"]
    path.write_bytes(b"anew\n")
    assert [line.text for line in found.read_on()] == ["anew"]


@pytest.mark.parametrize(("back", "first"), [(9, "three"), (12, "two"), (100, "one")])
def test_a_ring_may_begin_near_the_end_with_a_whole_line(tmp_path: Path, back: int, first: str) -> None:
    path = tmp_path / "out"
    path.write_bytes(b"one\ntwo\nthree\n")
    assert next(ring(path, back=back).read_on()).text == first
