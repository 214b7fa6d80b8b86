"""What an agent without a sandbox leaves in place of a preview's facts is no preview, and no error."""

import json
from pathlib import Path

import pytest

from nobrakes.paths import Paths
from nobrakes.review.service import previews

FACTS = {"run": "x", "pid": 0, "born": "1", "port": 8000, "at": 1.0, "by": "me", "apart": False}


@pytest.fixture
def paths(tmp_path: Path) -> Paths:
    found = Paths(str(tmp_path))
    Path(previews.preview_folder(found, "b1")).mkdir(parents=True)
    return found


def leave(paths: Paths, **facts: object) -> None:
    Path(previews.preview_folder(paths, "b1"), previews.FACTS).write_text(json.dumps({**FACTS, **facts}))


def test_the_facts_of_a_preview_show_it(paths: Paths) -> None:
    leave(paths)
    assert [(one.bead, one.state, one.url) for one in previews.all_of(paths)] == [
        ("b1", "ended", "http://localhost:8000/")
    ]


@pytest.mark.parametrize(
    "facts",
    [
        *({"pid": pid} for pid in (2**31, 2**63, 10**30, -1)),
        *({"port": port} for port in (65_536, 99_999_999, -1)),
        *({"at": at} for at in (float("inf"), float("nan"), 1e300, -1.0)),
    ],
    ids=str,
)
def test_facts_that_no_preview_has_show_none(paths: Paths, facts: dict[str, float]) -> None:
    leave(paths, **facts)
    assert previews.all_of(paths) == []
    assert not previews.is_alive(paths, "b1")
