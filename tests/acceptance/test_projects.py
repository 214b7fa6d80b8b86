"""A workspace from nothing: projects are made, found again, confirmed, hidden; clashes and broken templates lose nothing."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm


class Workspace:
    """A person's workspace, in a place of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {**os.environ, "NOBRAKES_USER_HOME": str(folder / "mine")}
        self.root = folder / "mine" / "workspace"
        self.projects = self.root / "PROJECTS"

    def nobrakes(self, *words: str, expect: int = 0) -> subprocess.CompletedProcess[str]:
        done = warm.nobrakes(words, self.folder, self.env)
        assert done.returncode == expect, f"{words} ended with {done.returncode}:\n{done.stdout}{done.stderr}"
        return done

    def ask(self, *words: str) -> Any:
        return json.loads(self.nobrakes(*words, "--json").stdout)["data"]

    def git(self, name: str, *words: str) -> str:
        return subprocess.run(
            ["git", *words], cwd=self.projects / name, capture_output=True, text=True, check=True
        ).stdout


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


def test_a_project_is_a_repository_with_its_brief_and_nobrakes_in_it(workspace: Workspace) -> None:
    made = workspace.ask("project", "new", "tea", "--objective", "Sell tea", "--criterion", "An order can be paid")
    path = workspace.projects / "tea"
    assert made["path"] == str(path) and made["is_repository"]
    brief = (path / "CLAUDE.md").read_text()
    assert brief == (path / "AGENTS.md").read_text()
    assert "Sell tea" in brief and "- [ ] An order can be paid" in brief and "9. Self-evolving infrastructure" in brief
    assert "**Status:** planning" in (path / "task.md").read_text()
    assert json.loads((path / ".claude" / "settings.json").read_text())["permissions"]
    assert workspace.git("tea", "log", "--reverse", "--format=%s").split("\n")[0] == "Begin tea"
    assert workspace.git("tea", "status", "--porcelain") == "" and (path / ".nobrakes" / "config.toml").is_file()
    assert [one["path"] for one in workspace.ask("repositories")] == [str(path)]
    assert [one["name"] for one in workspace.ask("project", "list")["projects"]] == ["tea"]
    shown = workspace.ask("project", "show", "tea")
    assert (shown["status"], shown["objective"], shown["criteria"][0]["is_checked"]) == ("planning", "Sell tea", False)


def test_a_clash_offers_both_ways_and_touches_nothing(workspace: Workspace) -> None:
    workspace.ask("project", "list")  # the workspace is made by whoever looks
    (workspace.projects / "tea").mkdir()
    (workspace.projects / "tea" / "mine").write_text("mine")
    for name in ("tea", "TEA"):
        refused = workspace.nobrakes("project", "new", name, expect=75)
        assert "A project named 'tea' already exists. To work on the existing project" in refused.stderr
        assert "`nobrakes project use tea`" in refused.stderr
    assert [one.name for one in (workspace.projects / "tea").iterdir()] == ["mine"]
    assert os.listdir(workspace.projects) == ["tea"]
    refused = workspace.nobrakes("project", "use", "coffee", expect=74)
    assert "Project 'coffee' not found. Available projects: tea" in refused.stderr


def test_templates_and_the_folder_are_the_persons(workspace: Workspace) -> None:
    workspace.ask("project", "list")
    templates = workspace.root / "TEMPLATES"
    (templates / "DEFAULT-CLAUDE.md").write_text("# {{title}}\nours\n")
    workspace.nobrakes("project", "new", "tea", "--title", "Tea {{name}}")
    assert (workspace.projects / "tea" / "CLAUDE.md").read_text() == "# Tea {{name}}\nours\n"
    (templates / "DEFAULT-settings.json").write_text("{nope")
    assert "is not valid JSON" in workspace.nobrakes("project", "new", "site", expect=12).stderr
    assert workspace.ask("project", "list")["projects"][0]["name"] == "tea", "and no half of a project is there"
    (templates / "DEFAULT-settings.json").unlink()
    workspace.nobrakes("project", "new", "site")  # what was missing is made anew, and the half is gone

    config = workspace.folder / "mine" / "config" / "config.toml"
    config.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    config.write_text(f'[workspace]\nfolder = "{workspace.folder}/other"\n')
    assert workspace.ask("project", "list")["folder"] == f"{workspace.folder}/other/PROJECTS"
    config.write_text('[workspace]\nfolder = "other"\n')
    assert "workspace.folder" in workspace.nobrakes("project", "list", expect=12).stderr


def test_a_project_is_confirmed_for_a_session_and_archived(workspace: Workspace) -> None:
    workspace.nobrakes("project", "new", "tea")
    said = workspace.nobrakes("project", "use", "tea", "--session", "phone").stdout
    message = "Project set to 'tea' (existing project). All coding tools will now operate in this directory."
    assert said.splitlines()[0] == message
    (chat,) = workspace.ask("project", "status")["sessions"]
    assert (chat["name"], chat["project"], chat["path"]) == ("phone", "tea", str(workspace.projects / "tea"))
    done = warm.nobrakes(["events", "--json"], workspace.projects / "tea", workspace.env)
    (event,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert event["event"] == "project.set" and event["metadata"]["projectPath"] == str(workspace.projects / "tea")
    assert workspace.ask("project", "whats-next", "tea")["findings"] == [], "a new project fits together"
    task, brief = workspace.projects / "tea" / "task.md", workspace.projects / "tea" / "CLAUDE.md"
    task.write_text(task.read_text().replace("planning", "complete"))
    (found,) = workspace.ask("project", "whats-next", "tea")["findings"]
    assert (
        found["kind"] == "not_complete"
        and "1 success criterion is not met" in found["text"]
        and "- [ ] " in brief.read_text()
    )
    workspace.nobrakes("project", "archive", "tea")
    assert workspace.ask("project", "list")["projects"] == []
    assert "is archived" in workspace.nobrakes("project", "use", "tea", expect=17).stderr
    workspace.nobrakes("project", "archive", "tea", "--undo")
    workspace.nobrakes("project", "use", "tea")


def test_no_agent_reaches_the_workspace(workspace: Workspace) -> None:
    workspace.env["NOBRAKES_TOKEN"] = "1.1.x"
    assert warm.nobrakes(["project", "list"], workspace.folder, workspace.env).returncode != 0
    assert not (workspace.folder / "mine").exists()


def test_of_two_that_make_the_same_project_one_makes_it(workspace: Workspace) -> None:
    from concurrent.futures import ThreadPoolExecutor

    workspace.ask("project", "list")
    with ThreadPoolExecutor(2) as pool:
        ended = list(
            pool.map(lambda _: warm.nobrakes(["project", "new", "tea"], workspace.folder, workspace.env), "ab")
        )
    assert sorted(one.returncode for one in ended) == [0, 75]
    assert workspace.git("tea", "log", "--format=%s").split("\n")[-2] == "Begin tea"
