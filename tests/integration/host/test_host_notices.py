"""Telling people: one line a notice, which cannot command the terminal."""

import sys

import pytest

from nobrakes.config.sections import AgentSettings
from nobrakes.host.port import Notice
from nobrakes.notices.senders import NOTIFIERS, StdoutNotifier, plain
from nobrakes.sandbox import closure


def test_a_notice_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    NOTIFIERS["stdout"]().tell(Notice("conflict in a.py", bead="login-1", urgent=True))
    NOTIFIERS["stdout"]().tell(Notice("all done"))
    assert capsys.readouterr().out == "! login-1: conflict in a.py\nall done\n"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;a title\x07said", "said"),
        ("\x1b]52;c;c3RvbGVu\x1b\\said", "said"),
        ("\x1b]8;;http://bad\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1bPq payload", ""),
        ("one\nINFO two\r\nthree\x08\x00", "one INFO two three"),
        ("abc\u202edcb\u2066x", "abcdcbx"),
        ("\x1bcreset", "reset"),
        ("naïve 日本 ✓", "naïve 日本 ✓"),
    ],
)
def test_untrusted_text_only_says_something(text: str, shown: str) -> None:
    assert plain(text) == shown


def test_a_reader_that_went_away_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        encoding = "ascii"

        def write(self, text: str) -> int:
            text.encode("ascii")
            raise BrokenPipeError(32, "Broken pipe")

        def flush(self) -> None:
            raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr(sys, "stdout", Gone())
    StdoutNotifier().tell(Notice("é"))


def test_no_sandbox_says_so() -> None:
    assert closure.describe(["claude"], AgentSettings()).startswith("agents run without a sandbox:")
