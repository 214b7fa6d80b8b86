"""Untrusted text on a terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.text.cleaning import age, count, cut, first_of, lines, one_line, pad, width

EVIL = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;owned\x07title",
    "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\",
    "\x9b2Jgone",
    "back\x08space",
    "ring\x07",
    "a\rb",
    "right\u202eto left",
    "two\nlines\tand tabs",
    "lone \udcff surrogate",
    "$(touch pwned); `id` && rm -rf x | cat > y",
]


@pytest.mark.parametrize("text", EVIL)
def test_one_line_is_one_harmless_line(text):
    shown = one_line(text)
    assert "\n" not in shown and "\x1b" not in shown
    assert not any(ord(c) < 32 or 127 <= ord(c) < 160 or 0x202A <= ord(c) <= 0x202E for c in shown)
    shown.encode()


def test_shell_syntax_and_emoji_are_left_as_they_are():
    assert one_line("$(rm x) `y` 👩‍🚀 Zoë 漢字") == "$(rm x) `y` 👩‍🚀 Zoë 漢字"


def test_lines_keep_their_breaks_and_lose_everything_else():
    assert lines("a\x1b[2J\r\nb\tc") == ["a", "b   c"]


@given(st.text(), st.integers(0, 40))
def test_cut_never_takes_more_columns_than_it_may(text, columns):
    line = one_line(text)
    assert width(cut(line, columns)) <= max(columns, 0) or width(line) <= columns


@given(st.text())
def test_one_line_is_always_encodable_and_without_controls(text):
    shown = one_line(text)
    shown.encode()
    assert not any(ord(c) < 32 or ord(c) == 127 for c in shown)


def test_wide_characters_take_two_columns():
    assert width("漢字") == 4 and width("🚀") == 2 and width("e\u0301") == 1
    assert pad("漢", 4) == "漢  "
    assert cut("漢字漢字", 5) == "漢字…"


def test_a_title_of_ten_thousand_characters_is_cut():
    assert width(cut("x" * 10_000, 60)) == 60


@pytest.mark.parametrize(
    ("seconds", "said"), [(-1, "0 s"), (59.9, "59 s"), (61, "1 min"), (7500, "2 h 05"), (200_000, "2 d")]
)
def test_ages(seconds, said):
    assert age(seconds) == said


def test_counts():
    assert (count(1, "bead"), count(2, "bead")) == ("1 bead", "2 beads")


def test_at_most_so_many_names_are_said_and_the_others_counted() -> None:
    assert first_of(("a", "b", "c"), 3) == "a, b, c"
    assert first_of(("a", "b", "c"), 2) == "a, b and 1 more"
    assert first_of(["a", "b", "c", "d"], 1, "; ") == "a and 3 more"
    assert first_of((), 2) == ""
