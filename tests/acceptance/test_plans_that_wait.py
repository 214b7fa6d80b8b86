"""What a plan says of an approval is what `approve` finds."""

import json
from pathlib import Path

import pytest

from tests.support.scripted import Scripted


@pytest.mark.parametrize(
    ("beads", "options", "waits"),
    [
        ([{"id": "a", "title": "A"}], [], True),
        ([{"id": "a", "title": "A", "status": "live"}, {"id": "b", "title": "B", "status": "done"}], [], False),
        ([{"id": "a", "title": "A", "status": "live"}, {"id": "b", "title": "B"}], [], True),
        ([{"id": "a", "title": "A"}], ["--live"], False),
        ([{"id": "a", "title": "A", "status": "draft"}], ["--live"], True),
    ],
)
def test_only_a_plan_with_drafts_waits_for_a_person(
    tmp_path: Path, beads: list[dict[str, str]], options: list[str], waits: bool
) -> None:
    project = Scripted(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps({"beads": beads}))
    said = project.nobrakes("plan", "apply", str(tmp_path / "plan.json"), *options).stdout
    assert ("agents start only after you approve these beads" in said) == waits
    assert ("nothing needs your approval" in project.nobrakes("approve", expect=None).stdout) != waits
