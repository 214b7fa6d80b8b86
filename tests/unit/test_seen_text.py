"""Characters that nobody sees: escaped in JSON, gone from prompts and terminals."""

import json

import pytest

from nobrakes.cli import outcome, screen
from nobrakes.text.cleaning import clean, one_line, only_seen, visible

CONTROLS = [*range(0x20), *range(0x7F, 0xA0)]
DIRECTION = [0x61C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A)]
NOWHERE = [
    0xAD,
    0x34F,
    0x115F,
    0x180E,
    0x200B,
    0x2060,
    0x3164,
    0xFE01,
    0xFEFF,
    0xFFA0,
    0xFFF9,
    0x1D173,
    0xE0001,
    0xE0041,
]
NOWHERE += [0xE0100, 0xE01EF, 0x2028, 0x2029]
JOINERS = [0x200C, 0x200D, 0xFE0E, 0xFE0F]
ALL = [*CONTROLS, *DIRECTION, *NOWHERE, *JOINERS]


def test_json_carries_it_as_an_escape_and_means_the_same() -> None:
    for code in ALL:
        value = {"title": f"a{chr(code)}b", "words": ["naïve 日本 ✓ 🙂"]}
        text = outcome.envelope("show", value)
        assert chr(code) not in text and "naïve 日本 ✓ 🙂" in text, hex(code)
        assert json.loads(text)["data"] == value, hex(code)


def test_a_hot_command_prints_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    value = "".join(map(chr, [*ALL, 0xD800]))
    screen.put_envelope("show", json.dumps({"title": value}, ensure_ascii=False))
    said = capsys.readouterr().out
    assert json.loads(said)["data"]["title"] == value
    assert not {chr(code) for code in ALL} - {"\n"} & set(said)


def test_an_error_is_escaped_as_well() -> None:
    text = outcome.error_envelope("show", ValueError("no bead \u202egpj"), 3, "look at \u2066x")
    assert "\u202e" not in text and json.loads(text)["error"]["message"] == "no bead \u202egpj"


def test_a_prompt_has_none_of_them() -> None:
    for code in [code for code in ALL if chr(code) not in "\t\n"]:
        assert chr(code) not in only_seen(f"a{chr(code)}b 日{chr(code)}本 🙂{chr(code)}"), hex(code)


def test_a_terminal_has_none_of_them() -> None:
    for code in (*CONTROLS, *DIRECTION, *NOWHERE):
        assert chr(code) not in one_line(f"a{chr(code)}b 日{chr(code)}本"), hex(code)


def test_what_joins_emoji_and_letters_stays_where_it_does_that() -> None:
    for text in ("👩‍💻 1️⃣ ❤️‍🔥", "می‌خواهم"):
        assert clean(text) == text
    assert clean("a\u200db" + "\ufe0f\u200d\u200c\u200d" * 9) == "ab"
    assert visible('"plain"') == '"plain"'
