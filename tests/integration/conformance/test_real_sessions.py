"""Sessions of the real CLIs: two at once in two folders never mix, and one that is interrupted goes on, whenever it was.

Both run under one home, and each waits in a tool until the other is in one too.
"""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from nobrakes.beads.model import Outcome
from tests.integration.conformance.test_real_endings import DONE, EACH, WAITS, play, tool

WORDS = ("pomegranate", "tamarind")


def beside(tmp_path: Path, name: str, mine: int) -> dict[str, Any]:
    """A run that says its word and waits for the other's; then a second one that goes on with its session."""
    folder, word = tmp_path / str(mine), WORDS[mine]
    folder.mkdir()
    met = f"echo {word} >mine; until [ -s {tmp_path}/{1 - mine}/ground/workspace/mine ]; do sleep 0.1; done"
    home = {"HOME": str(tmp_path / "home")}
    return play(folder, name, [tool(name, met), DONE], then=[DONE], word=word, more_env=home)


@pytest.mark.parametrize("name", EACH)
def test_two_sessions_at_once_in_two_folders_never_mix(tmp_path: Path, name: str) -> None:
    (tmp_path / "home").mkdir()
    with ThreadPoolExecutor(2) as pool:
        one, two = pool.map(lambda mine: beside(tmp_path, name, mine), (0, 1))
    for found, own, foreign in ((one, *WORDS), (two, *WORDS[::-1])):
        first, second = found["first"], found["second"]
        assert first["outcome"] == second["outcome"] == Outcome.COMPLETED.value, found
        assert second["session"] == first["session"]
        assert own in second["told"] and foreign not in first["told"] + second["told"]
        assert (Path(found["workspace"]) / "mine").read_text() == f"{own}\n"
    assert one["first"]["session"] != two["first"]["session"]


@pytest.mark.parametrize("tools", [1, 4])
@pytest.mark.parametrize("name", EACH)
def test_who_is_interrupted_after_some_tools_goes_on(tmp_path: Path, name: str, tools: int) -> None:
    steps = [tool(name, f"echo {number} >>done") for number in range(tools)]
    found = play(tmp_path, name, [*steps, tool(name, WAITS), DONE], stop="waits", then=[DONE])
    assert found["first"]["outcome"] == Outcome.LOST.value and found["left"] == [], found["first"]
    assert found["second"]["outcome"] == Outcome.COMPLETED.value, found["second"]
    assert "pomegranate" in found["second"]["told"] and found["second"]["session"] == found["first"]["session"]
    assert (Path(found["workspace"]) / "done").read_text().split() == [str(number) for number in range(tools)]
