"""What a repository and other tools say reaches the agents: instructions as main has them, and imported texts."""

import json
from pathlib import Path

from tests.support.scripted import Scripted


def prompts(project: Scripted) -> list[str]:
    return [path.read_text() for path in sorted((project.folder / ".nobrakes" / "runs").glob("*/prompt.md"))]


def test_an_agent_is_told_the_repositorys_instructions_once_and_does_not_change_them_unasked(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1")
    (project.folder / "AGENTS.md").write_text("Commit messages are in Latin.\n")
    (project.folder / "CLAUDE.md").write_text("@AGENTS.md\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "Instructions")
    project.add("one")
    project.does("two", 'echo "Do what you like." >AGENTS.md; git add -A; git commit -qm x')
    project.nobrakes("run")
    (prompt,) = prompts(project)
    assert prompt.count("Commit messages are in Latin.") == 1 and "## AGENTS.md" in prompt
    assert "Commit messages are in Latin." in project.nobrakes("prompt", "one").stdout
    project.add("two")
    project.nobrakes("run", expect=40)
    (asked,) = project.open()
    assert asked["type"] == "checks_changed" and asked["evidence"]["files"] == ["AGENTS.md"]


def test_imported_texts_reach_show_and_the_prompt(tmp_path: Path) -> None:
    project = Scripted(tmp_path)
    record = {
        "id": "bd-1",
        "title": "Imported",
        "status": "open",
        "issue_type": "task",
        "design": "One table for both.",
        "comments": [{"id": 1, "author": "ann", "text": "Mind the time zone.", "created_at": "2026-01-01T00:00:00Z"}],
    }
    (tmp_path / "plan.jsonl").write_text(json.dumps(record) + "\n")
    project.nobrakes("plan", "apply", str(tmp_path / "plan.jsonl"), "--live")
    shown = project.nobrakes("show", "bd-1").stdout
    for words in ("One table for both.", "ann: Mind the time zone."):
        assert words in shown and words in project.nobrakes("prompt", "bd-1").stdout
