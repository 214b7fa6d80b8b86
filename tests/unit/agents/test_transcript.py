"""Markers, cleaning and shortening."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.agents.adapter import Contradiction, Marker, marker_outcome, read_marker
from nobrakes.beads.model import Outcome
from nobrakes.text.cleaning import clean, shorten

# lines that look like markers and fences, so that a search finds their mixtures
LINES = st.sampled_from(
    [
        "",
        "text",
        "```",
        "````",
        "~~~",
        "```python",
        "> NOBRAKES: FAILED",
        " NOBRAKES: FAILED",
        "NOBRAKES: DONE",
        "`x` ```",
    ]
)


@pytest.mark.parametrize("marker", Marker)
def test_a_marker_on_its_own_line_is_read(marker: Marker) -> None:
    assert read_marker(f"Done.\n\nNOBRAKES: {marker.value}  \r\nbye") is marker


@pytest.mark.parametrize(
    "text",
    [
        "",
        "NOBRAKES: completed",
        "nobrakes: COMPLETED",
        "NOBRAKES:COMPLETED",
        "I say NOBRAKES: COMPLETED",
        "NOBRAKES: COMPLETED.",
        "> NOBRAKES: COMPLETED",
        "**NOBRAKES: COMPLETED**",
        "- `NOBRAKES: COMPLETED`: every criterion",
        "NOBRAKES: DONE",
        "NOBRAKES: COMPLETED\u2028NOBRAKES: FAILED",
    ],
)
def test_what_only_looks_like_a_marker_is_none(text: str) -> None:
    assert read_marker(text) is None


def test_fences_are_not_read() -> None:
    assert read_marker("```\nNOBRAKES: FAILED\n```\nNOBRAKES: COMPLETED") is Marker.COMPLETED
    assert read_marker("~~~ text\nNOBRAKES: FAILED\n```\nNOBRAKES: BLOCKED\n~~~~") is None
    assert read_marker("````\n```\nNOBRAKES: FAILED\n````") is None


def test_a_fence_that_is_never_closed_is_no_fence() -> None:
    assert read_marker("```\ncode\nNOBRAKES: BLOCKED") is Marker.BLOCKED


def test_two_different_markers_contradict_each_other_and_the_same_twice_does_not() -> None:
    assert read_marker("NOBRAKES: FAILED\nNOBRAKES: FAILED") is Marker.FAILED
    found = read_marker("NOBRAKES: FAILED\nNOBRAKES: COMPLETED\nNOBRAKES: FAILED")
    assert found == Contradiction((Marker.FAILED, Marker.COMPLETED))
    assert marker_outcome(found) is Outcome.CONTRADICTED_ITSELF


def test_every_marker_has_its_outcome() -> None:
    assert {marker: marker_outcome(marker) for marker in Marker} == {
        Marker.COMPLETED: Outcome.COMPLETED,
        Marker.CONTEXT_EXHAUSTED: Outcome.GAVE_UP_CONTEXT,
        Marker.BLOCKED: Outcome.BLOCKED,
        Marker.FAILED: Outcome.GAVE_UP_TESTS,
    }
    assert marker_outcome(None) is None


@given(st.lists(LINES), st.sampled_from(Marker), st.lists(LINES))
def test_a_marker_counts_exactly_when_it_stands_outside_of_fences(
    before: list[str], marker: Marker, after: list[str]
) -> None:
    text = "\n".join([*before, f"NOBRAKES: {marker.value}", *after])
    assert read_marker(text) in (marker, None)
    if not any("```" in line or "~~~" in line for line in before):
        assert read_marker(text) is marker
    fenced = "\n".join(["`````", f"NOBRAKES: {marker.value}", *(line for line in after if "````" not in line), "`````"])
    assert read_marker(fenced) is None


@pytest.mark.parametrize(
    ("dirty", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x9b31mred", "red"),
        ("a\x1b]0;title\x07b", "ab"),
        ("a\x1b]8;;http://x\x1b\\b", "ab"),
        ("a\x1b]52;c;ZXZpbA==\x07b", "ab"),
        ("a\x1bPq...\x1b\\b", "ab"),
        ("a\x1b]0;never ends\nb", "a\nb"),
        ("a\x1b(Bb\x1b7c", "abc"),
        ("a\u202eb\u2066c\u2069\u200f", "abc"),
        ("a\U000e0041\U000e0042b\u200b\ufeff", "ab"),
        ("a\r\nb\rc\u2028d\x0be", "a\nb\nc\nd\ne"),
        ("a\x00b\x08c\x7fd\te", "abcd\te"),
        ("a\ud800b", "a\ufffdb"),
        ("ä 漢 👩‍💻", "ä 漢 👩‍💻"),
    ],
)
def test_clean_leaves_what_a_person_can_see(dirty: str, shown: str) -> None:
    assert clean(dirty) == shown


@given(st.text(st.characters() | st.sampled_from("\x1b[]0;m\x07\x9b\u202e\r\n")))
def test_clean_text_holds_no_controls_and_stays_clean(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert not any((ord(c) < 32 and c not in "\t\n") or 0x7F <= ord(c) < 0xA0 for c in cleaned)
    cleaned.encode()


@given(st.text(), st.integers(0, 50))
def test_shortened_text_fits_and_short_text_stays(text: str, limit: int) -> None:
    short = shorten(text, limit)
    assert len(short) <= limit
    assert short == text or len(text) > limit


@pytest.mark.slow
def test_fences_that_nobody_closes_cost_no_more_than_their_lines() -> None:
    opened = "\n".join(f"{'`' * (3 + (100_000 - n) // 1000)} {n}" for n in range(100_000))
    closed = "\n".join(["~~~"] * 100_001)
    began = time.process_time()
    assert read_marker(f"{opened}\n{closed}\n") is None
    assert read_marker(f"{opened}\nNOBRAKES: COMPLETED") is Marker.COMPLETED
    assert time.process_time() - began < 10, "what each opening looks at would take hours"


def test_the_longest_fence_that_closes_counts_not_the_first() -> None:
    said = "````text\n```\nNOBRAKES: FAILED\n````\nNOBRAKES: COMPLETED"
    assert read_marker(said) is Marker.COMPLETED
    assert read_marker("```a\n~~~\nNOBRAKES: FAILED\n~~~\nNOBRAKES: BLOCKED") is Marker.BLOCKED
    assert read_marker("~~~\nNOBRAKES: FAILED\n~~~ no\n```\nNOBRAKES: BLOCKED\n~~~") is None
