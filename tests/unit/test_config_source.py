"""config.toml while the daemon runs: the last good one is in force while somebody writes it."""

import os
import time
from pathlib import Path

import pytest

from nobrakes.config import settings
from nobrakes.config.settings import ConfigSource, load

CHECK = '[[checks]]\nname = "{0}"\ncommand = "{0}"\n'
GOOD = CHECK.format("test") + CHECK.format("lint")


class Rig:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.path = folder / "config.toml"
        self.path.write_text(GOOD)
        self.told: list[str] = []
        self.now = 100.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        self.source = ConfigSource(str(self.path), load(str(self.path)), self.told.append)

    def checks(self, after: float = 0.1) -> list[str]:
        self.now += after
        return [one.name for one in self.source().checks]


@pytest.fixture
def rig(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Rig:
    return Rig(tmp_path, monkeypatch)


@pytest.mark.parametrize("wrong", ["", '[[checks]]\nname = "te', "main = 3\n", "nothing = 1\n", None])
def test_what_is_empty_or_broken_leaves_the_last_good_one_in_force(rig: Rig, wrong: str | None) -> None:
    if wrong is None:
        rig.path.unlink()
    else:
        rig.path.write_text(wrong)
    for _ in range(3):
        assert rig.checks() == ["test", "lint"]
        if wrong is not None:
            os.utime(rig.path, ns=(1, int(rig.now * 1e9)))  # written again, as wrong as before
    assert len(rig.told) == 1
    assert rig.told[0].endswith("The previous settings stay in force.")
    rig.path.write_text(GOOD + CHECK.format("types"))
    assert rig.checks() == ["test", "lint", "types"]
    assert len(rig.told) == 2
    assert rig.told[1].endswith("is valid again, and its settings are in force.")


def test_half_a_file_that_is_valid_is_not_believed_at_once(rig: Rig) -> None:
    rig.path.write_text(CHECK.format("test"))
    assert rig.checks() == ["test", "lint"]
    rig.path.write_text(GOOD)
    assert rig.checks() == ["test", "lint"]
    assert rig.told == []


def test_a_check_that_was_taken_out_is_gone_a_moment_later(rig: Rig) -> None:
    rig.path.write_text(CHECK.format("test"))
    assert rig.checks() == ["test", "lint"]
    assert rig.checks(after=settings.SETTLED) == ["test"]
