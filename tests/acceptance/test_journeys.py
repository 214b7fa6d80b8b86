"""The journeys of docs/journeys.md: every command is there, ends as it did, and prints what the page shows."""

import difflib
import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import journeys
from tests.support.shop import NOBRAKES, Shop

PAGE = Path(__file__).resolve().parents[2] / "docs" / "journeys.md"
RECORD = "NOBRAKES_RECORD_JOURNEYS"
HAS_TO_RECORD = os.environ.get(RECORD) == "1"  # read here: what a test sees of the environment has no such names


@pytest.fixture
def shop() -> Iterator[Shop]:
    """In a folder with a short name, so that no line is cut because of it."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="") as folder:
        made = Shop(Path(folder))
        try:
            yield made
        finally:
            subprocess.run([NOBRAKES, "daemon", "stop"], cwd=made.folder, env=made.env(), capture_output=True)


def test_the_page_of_journeys_is_what_the_commands_print(shop: Shop) -> None:
    assert all(len(journey.commands) <= journeys.MAX_COMMANDS for journey in journeys.JOURNEYS)
    page = journeys.played(shop)
    if HAS_TO_RECORD:
        PAGE.write_text(page)
    told, now = journeys.comparable(PAGE.read_text()), journeys.comparable(page)
    difference = "\n".join(difflib.unified_diff(told, now, str(PAGE.name), "what is printed", lineterm="", n=2))
    assert told == now, f"{difference}\nIf it is meant so, record the page: {RECORD}=1 pytest {Path(__file__).name}"
