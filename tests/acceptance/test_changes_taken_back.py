"""A person's commit of an index from before a merge takes it back: verify, doctor and the next run say by which commit."""

from pathlib import Path

import pytest

from nobrakes.errors import Unproven
from tests.support.project import Project

pytestmark = pytest.mark.slow


def test_it_is_said_which_changes_were_taken_back_and_by_which_commit(tmp_path: Path) -> None:
    work = "echo made >made-$NOBRAKES_BEAD; git add -A; git commit -qm work; echo 'NOBRAKES: COMPLETED'"
    project = Project(tmp_path / "shop", ["sh", "-c", work])
    project.plan([{"id": "one", "title": "One", "needs_tests": False}])
    before = project.git("rev-parse", "main").strip()
    project.nobrakes("run")
    project.nobrakes("verify")
    project.git("read-tree", "-u", "--reset", before)
    project.git("commit", "-q", "-m", "my own change")
    by = project.git("rev-parse", "main")[:12]
    said = f"the changes of one ({project.git('rev-parse', 'main~1')[:12]}) in made-one were reverted by {by}"
    assert said in " ".join(project.nobrakes("verify", expect=Unproven.code).stdout.split())
    assert said in " ".join(project.nobrakes("doctor", expect=None).stdout.split())
    assert said in " ".join(project.nobrakes("run", expect=None).stdout.split())
    project.git("revert", "--no-edit", by)
    project.nobrakes("verify")
