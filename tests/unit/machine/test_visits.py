"""Since when a person is told what came: their last look before this visit, which is their own and no program's."""

import os
from pathlib import Path

import pytest

from nobrakes.machine.registry import VISIT_SECONDS, draw, last_visit

EVENING = 1_900_000_000.0
MORNING = EVENING + 13 * 3600


def _no_space(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert draw(str(tmp_path))
    return str(tmp_path)


def test_a_morning_is_told_of_the_night_however_often_one_looks(root: str) -> None:
    assert last_visit(root, EVENING, True) is None, "the first look ever"
    assert last_visit(root, EVENING + 60, True) is None
    assert last_visit(root, MORNING, True) == EVENING + 60
    assert last_visit(root, MORNING + 600, True) == EVENING + 60, "still the same visit"
    assert last_visit(root, MORNING + 600 + VISIT_SECONDS + 1, True) == MORNING + 600


def test_a_program_that_asks_is_no_visit(root: str) -> None:
    last_visit(root, EVENING, True)
    for minute in range(60, 780, 30):
        assert last_visit(root, EVENING + minute * 60 + 1, False) == EVENING
    assert last_visit(root, MORNING, True) == EVENING


def test_an_agent_and_a_place_that_cannot_be_written_have_no_visits(root: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as full:
        full.setattr("nobrakes.machine.registry.write_atomic", _no_space)
        assert last_visit(root, EVENING - 1, True) is None
    last_visit(root, EVENING, True)
    [kept] = (Path(os.environ["NOBRAKES_USER_HOME"]) / "state" / "visits").iterdir()
    kept.write_text("what is this\n")
    assert last_visit(root, MORNING, False) is None
    monkeypatch.setenv("NOBRAKES_TOKEN", "1.1.x")
    assert last_visit(root, MORNING, True) is None and kept.read_text() == "what is this\n"
