"""What a command hands back, as text and as JSON."""

import io
import json

import pytest

from nobrakes.beads.model import Attempt, Bead, BeadType, Role, Status
from nobrakes.cli.config import change_lines
from nobrakes.cli.outcome import dumps, envelope
from nobrakes.cli.screen import Screen, screen_of, table
from nobrakes.config.setup.changing import SettingChange
from nobrakes.records import plain


def test_plain_makes_json_of_cores_values():
    bead = Bead("nb-1", "A title", type=BeadType.FIX, labels=("a", "b"), metadata={"x": (1, None)}, status=Status.DONE)
    found = json.loads(dumps(bead))
    assert found["type"] == "fix" and found["labels"] == ["a", "b"] and found["metadata"] == {"x": [1, None]}
    assert type(plain(Status.DONE)) is str


def test_an_attempts_token_is_never_shown():
    attempt = Attempt(1, "nb-1", 1, Role.DOER, "Ada", 1, "sesame", 0.0)
    assert "sesame" not in dumps(attempt) and "token" not in plain(attempt)


def test_what_json_does_not_have_is_refused_and_not_guessed():
    with pytest.raises(TypeError):
        plain(object())
    with pytest.raises(ValueError):
        dumps(float("nan"))


def test_the_envelope():
    assert json.loads(envelope("show", {"id": "nb-1"})) == {"ok": True, "command": "show", "data": {"id": "nb-1"}}


def test_a_table_fits_its_screen_and_stays_aligned():
    rows = [("nb-1", "漢字" * 40), ("nb-22", "x" * 10_000), ("nb-3", "bad\x1b[2Jtitle\nof lines")]
    shown = table(("BEAD", "TITLE"), rows, Screen(width=40)).split("\n")
    from nobrakes.text.cleaning import width

    assert len(shown) == 4 and all(width(line) <= 40 for line in shown)
    assert {line.index(word) for line, word in zip(shown[1:], ("漢", "x", "bad"), strict=True)} == {7}
    assert "\x1b" not in "".join(shown)


def test_a_pipe_gets_no_colour(monkeypatch):
    assert screen_of(io.StringIO()).colour is False
    assert Screen(colour=False).paint("x", "red") == "x"
    assert Screen(colour=True).paint("x", "red") == "\x1b[31mx\x1b[0m"


class _Terminal(io.StringIO):
    def isatty(self):
        return True

    def fileno(self):
        return 1


@pytest.mark.parametrize(
    ("env", "colour"),
    [({"TERM": "xterm"}, True), ({"TERM": "xterm", "NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False), ({}, False)],
)
def test_colour_only_where_it_is_welcome(monkeypatch, env, colour):
    for name in ("TERM", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("os.get_terminal_size", lambda fd: __import__("os").terminal_size((90, 20)))
    shown = screen_of(_Terminal())
    assert (shown.width, shown.colour) == (90, colour)


def test_one_agent_and_a_list_of_it_alone_are_the_same_setting():
    same = SettingChange("agents.doer", ["claude"], "claude", was_default=True, is_default=False)
    assert change_lines((same,)) == ['agents.doer: "claude", unchanged']
