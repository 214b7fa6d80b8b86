"""whats-next of a real folder: what its documents name is looked for, and compared with the tree at the sprint's
beginning: the commit before its plan came."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nobrakes.projects.model import Brief
from nobrakes.projects.service import projects_folder, sprint_approval

PLAN = "docs/sprints/s1-brew/plan.md"


class Tea:
    """A project with a pot and a cup, from before its sprint."""

    def __init__(self, git: Any) -> None:
        self.folder, self.git = Path(projects_folder.create(Brief("tea"), "Ada").path), git
        self.commits("Begin", {"src/pot.py": "", "src/cups/one.py": "", "DECISIONS.md": "## Green tea\n"})

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)

    def commits(self, subject: str, files: dict[str, str]) -> None:
        self.write(files)
        self.git(self.folder, "add", "-A")
        self.git(self.folder, "-c", "user.name=Ada", "-c", "user.email=a@b", "commit", "-q", "-m", subject)

    def found(self) -> dict[str, tuple[str, ...]]:
        return {one.kind.value: one.items for one in sprint_approval.look("tea").findings}


@pytest.fixture
def tea(git: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tea:
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_RUN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("NOBRAKES_USER_HOME", str(tmp_path))
    return Tea(git)


def test_a_path_that_no_folder_can_have_is_an_artifact_that_is_not_there(tea: Tea) -> None:
    names = ("src/\0pot.py", f"src/{'t' * 5000}", "../out.py", "../tea/CLAUDE.md", "CLAUDE.md")
    tea.write({PLAN: "".join(f"- [x] Write `{name}`\n" for name in names)})
    items = tea.found()["tasks_left"]
    assert len(items) == 3 and not any("CLAUDE" in item or "\0" in item for item in items)


@pytest.mark.parametrize("changes", [Tea.write, lambda tea, files: tea.commits("Work", files)])
def test_a_file_from_before_the_sprint_is_no_work_of_it_until_it_changes(
    tea: Tea, changes: Callable[[Tea, dict[str, str]], None]
) -> None:
    tea.commits("Plan", {PLAN: "- [ ] Warm `./src/pot.py`\n- [ ] Wash `src/cups/`\n- [ ] Add `src/leaf.py`\n"})
    assert tea.found() == {"tasks_left": ("Warm `./src/pot.py`", "Wash `src/cups/`", "Add `src/leaf.py`")}
    changes(tea, {"src/pot.py": "warm", "src/leaf.py": ""})
    assert tea.found() == {"tasks_left": ("Wash `src/cups/`",)}
    changes(tea, {"src/cups/two.py": ""})
    assert tea.found() == {"review_missing": ()}, "its tasks are done"
    tea.commits("Review", {"docs/sprints/s1-brew/review.md": "## Done\n"})
    tea.commits("Plan more", {"docs/sprints/s2-pour/plan.md": "- [ ] Fill `src/pot.py`\n"})
    assert tea.found() == {"tasks_left": ("Fill `src/pot.py`",)}, "it changed in the sprint before"


def test_a_sprint_in_which_no_file_changed_did_none_of_what_it_claims(tea: Tea) -> None:
    tea.commits("Plan", {PLAN: "- [ ] Warm `src/pot.py`\n- [ ] Talk\n"})
    claim = {PLAN: "- [x] Warm `src/pot.py`\n- [x] Talk\n", "docs/sprints/s1-brew/review.md": "## Done\n"}
    tea.commits("Done", claim | {"task.md": "**Status:** executing\n", "docs/ROADMAP.md": "- [x] R1: Tea\n"})
    assert tea.found() == {"tasks_left": ("Warm `src/pot.py`", "Talk")}, "only documents changed"
    tea.commits("Test it", {"tests/pot.py": ""})
    assert tea.found() == {}, "a task's box tells what is done, as in a test of a file that stays"


def test_a_sprint_begins_where_its_plan_was_merged(tea: Tea) -> None:
    tea.git(tea.folder, "checkout", "-q", "-b", "plan")
    tea.commits("Plan", {PLAN: "- [ ] Warm `src/pot.py`\n"})
    tea.git(tea.folder, "checkout", "-q", "main")
    tea.commits("Warm", {"src/pot.py": "warm"})
    tea.git(tea.folder, "merge", "-q", "--no-ff", "-m", "Merge the plan", "plan")
    assert tea.found() == {"tasks_left": ("Warm `src/pot.py`",)}, "it was warm already"


def test_documents_that_came_with_their_sprint_s_review_have_no_beginning(tea: Tea) -> None:
    tea.commits("Told later", {PLAN: "- [x] Warm `src/pot.py`\n", "docs/sprints/s1-brew/review.md": "## Done\n"})
    assert tea.found() == {"decision_not_in_plan": ("Green tea",)}


def test_a_decision_from_before_the_last_sprint_was_known_to_its_planner(tea: Tea) -> None:
    tea.commits("Plan", {PLAN: "- [ ] Talk\n"})
    assert "decision_not_in_plan" not in tea.found()
    tea.commits("Decide", {"DECISIONS.md": "## Green tea\n## Black tea\n"})
    assert tea.found()["decision_not_in_plan"] == ("Black tea",)
    tea.commits("Plan more", {"docs/sprints/s2-pour/plan.md": "- [ ] Talk more\n"})
    assert "decision_not_in_plan" not in tea.found()
