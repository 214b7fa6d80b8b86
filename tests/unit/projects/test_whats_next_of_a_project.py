"""whats-next of a real folder: whatever a document names as an artifact is looked for, and ends nothing."""

from pathlib import Path
from typing import Any

import pytest

from nobrakes.projects.model import Brief
from nobrakes.projects.service import projects, sprints


def test_a_path_that_no_folder_can_have_is_an_artifact_that_is_not_there(
    git: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NOBRAKES_USER_HOME", str(tmp_path))
    sprint = Path(projects.create(Brief("tea"), "Ada").path, "docs", "sprints", "s1-brew")
    sprint.mkdir(parents=True)
    names = ("src/\0pot.py", f"src/{'t' * 5000}", "../out.py", "../tea/CLAUDE.md", "CLAUDE.md")
    (sprint / "plan.md").write_text("".join(f"- [x] Write `{name}`\n" for name in names))
    (found,) = sprints.look("tea").findings
    assert len(found.items) == 3 and not any("CLAUDE" in item or "\0" in item for item in found.items)
