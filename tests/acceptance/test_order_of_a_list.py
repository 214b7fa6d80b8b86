"""The order of a list is the order of work, however the list comes, and it outlives the database."""

import json
from pathlib import Path

import pytest

from tests.support.scripted import Scripted

TITLES = [f"{word} the {thing}" for thing in ("wheel", "door", "lamp") for word in ("Paint", "Fit", "Oil")]


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def markdown(folder: Path) -> list[str]:
    (folder / "list.md").write_text("".join(f"- [ ] {title}\n" for title in TITLES))
    return ["propose", "list.md"]


def task_master(folder: Path) -> list[str]:
    tasks = [{"id": 20 - place, "title": title, "status": "pending"} for place, title in enumerate(TITLES)]
    (folder / "tasks.json").write_text(json.dumps({"tasks": tasks}))
    return ["propose", "tasks.json"]


def issues(folder: Path) -> list[str]:
    """As `gh issue list` prints them: the newest first."""
    found = [{"number": place + 1, "title": title} for place, title in enumerate(TITLES)]
    (folder / "issues.json").write_text(json.dumps(found[::-1]))
    return ["propose", "issues.json"]


def records(folder: Path) -> list[str]:
    same = "2026-01-01T00:00:00Z"
    lines = [{"id": f"x{20 - place}", "title": title, "created_at": same} for place, title in enumerate(TITLES)]
    (folder / "list.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ["propose", "list.jsonl"]


def plan(folder: Path) -> list[str]:
    (folder / "plan.yaml").write_text("beads:\n" + "".join(f"- title: {title}\n" for title in TITLES))
    return ["propose", "plan.yaml"]


def outline(folder: Path) -> list[str]:
    """Tasks of a model's plan, without ids."""
    (folder / "plan.json").write_text(json.dumps({"tasks": [{"name": title} for title in TITLES]}))
    return ["propose", "plan.json"]


def table(folder: Path) -> list[str]:
    rows = "".join(f"| {20 - place} | {title} |\n" for place, title in enumerate(TITLES))
    (folder / "table.md").write_text(f"| # | Task |\n|---|---|\n{rows}")
    return ["propose", "table.md"]


def numbers(folder: Path) -> list[str]:
    (folder / "steps.md").write_text("".join(f"{place}. {title}\n" for place, title in enumerate(TITLES, 1)))
    return ["propose", "steps.md"]


@pytest.mark.parametrize("made", [markdown, task_master, issues, records, plan, outline, table, numbers, None])
def test_a_list_is_worked_in_its_own_order(project: Scripted, made: object) -> None:
    if callable(made):
        project.nobrakes(*made(project.folder))
    else:
        for title in TITLES:
            project.nobrakes("add", title)
    assert [bead["title"] for bead in project.ask("list")] == TITLES
    project.nobrakes("commit-strategy", "--yes")
    assert [bead["title"] for bead in project.ask("ready")] == TITLES
    project.nobrakes("add", "Another one")
    for ending in ("", "-wal", "-shm"):
        (project.folder / ".nobrakes" / f"nobrakes.db{ending}").unlink(missing_ok=True)
    assert [bead["title"] for bead in project.ask("ready")] == [*TITLES, "Another one"]
