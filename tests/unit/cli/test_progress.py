"""Who waits at a terminal is told what goes on; nobody else is."""

import io
import sys
import time

import pytest

from nobrakes.cli import outcome


class Terminal(io.StringIO):
    """A stderr that says what it is."""

    def __init__(self, is_one: bool) -> None:
        super().__init__()
        self.is_one = is_one

    def isatty(self) -> bool:
        return self.is_one


@pytest.mark.parametrize(
    ("is_one", "argv", "is_told"),
    [(True, ["plan", "apply", "x"], True), (False, ["plan", "apply", "x"], False), (True, ["plan", "--json"], False)],
)
def test_only_a_terminal_is_told(is_one, argv, is_told, monkeypatch):
    monkeypatch.setattr(outcome, "SECONDS", 0.01)
    monkeypatch.setattr(sys, "stderr", Terminal(is_one))
    monkeypatch.setattr(sys, "argv", ["nobrakes", *argv])
    told = sys.stderr
    with pytest.raises(KeyError), outcome.report_progress("reading the plan"):
        until = time.monotonic() + 5
        while is_told and not told.getvalue() and time.monotonic() < until:
            time.sleep(0.005)
        raise KeyError
    assert bool(told.getvalue()) == is_told
    assert all(line == "reading the plan: 0 s" for line in told.getvalue().splitlines()[:1])
    size = len(told.getvalue())
    time.sleep(0.03)
    assert len(told.getvalue()) == size
