"""Tasks of task-master and Backlog.md become a plan: what is taken, in which order, and what is told of."""

import json

import pytest

from nobrakes.errors import PlanError
from nobrakes.plans.service import plan_in, read_plan

TASKS = {
    "tasks": [
        {"id": 1, "title": "Set up `src/__init__.py`", "status": "done"},
        {
            "id": 2,
            "title": "Add **/old",
            "description": "What",
            "details": "How",
            "testStrategy": "Run it",
            "priority": "high",
            "dependencies": [1, 4, 9],
            "complexity": 3,
            "subtasks": [
                {"id": 1, "title": "First", "status": "pending", "dependencies": []},
                {"id": 2, "title": "Second", "status": "in-progress", "dependencies": [1]},
                {"id": "2.3", "title": "Third", "status": "done"},
            ],
        },
        {"id": "3", "title": "Later", "status": "deferred", "dependencies": ["2.2"]},
        {"id": 4, "title": "Gone", "status": "cancelled"},
    ],
    "metadata": {"version": 1},
}


def nodes(plan):
    return {node.id: (dict(node.fields), node.needs, node.hold) for node in plan.nodes}


def test_tasks_of_task_master():
    plan = plan_in(json.dumps(TASKS), "tasks.json")
    found = nodes(plan)
    assert list(found) == ["tm-2", "tm-2.1", "tm-2.2", "tm-3"]
    fields, needs, _ = found["tm-2"]
    assert (fields["title"], fields["type"].value, fields["priority"], needs) == ("Add **/old", "epic", 1, None)
    assert (fields["description"], fields["acceptance"]) == ("What\n\nHow", ("Run it",))
    assert found["tm-2.2"][0]["epic"] == "tm-2" and found["tm-2.2"][1] == ("tm-2.1",)
    assert found["tm-3"][1:] == (("tm-2.2",), "deferred")
    assert list(plan.problems) == [
        "not imported: 'metadata', which is not a task",
        "not imported: task 1, because it is done: Set up `src/__init__.py`",
        "not imported: task 2, its fields complexity",
        "task 2: its dependency on 4, which is cancelled, is not imported",
        "task 2: its dependency on '9' (neither in the file nor in the graph) is not imported",
        "task 2.2: the task is 'in-progress' in the file, so its bead needs your approval",
        "not imported: task 2.3, because it is done: Third",
        "not imported: task 4, because it is cancelled: Gone",
    ]


def test_tags_of_task_master_are_kept_apart():
    value = {"master": {"tasks": TASKS["tasks"][3:]}, "other tag": {"tasks": [{"id": 4, "title": "A"}]}}
    plan = plan_in(json.dumps(value), "-")
    (node,) = plan.nodes
    assert node.id.startswith("tm-") and node.id.endswith("-4") and node.fields["title"] == "A"
    with pytest.raises(PlanError, match="other tag: task 4 appears twice"):
        plan_in(json.dumps({"other tag": {"tasks": [{"id": 4, "title": "A"}] * 2}}), "-")


TASK = """\
---
id: {id}
title: "{title}"
status: {status}
assignee: [ann]
labels: [ui]
dependencies: {needs}
priority: high
ordinal: {ordinal}
{more}---

## Description

<!-- SECTION:DESCRIPTION:BEGIN -->
What it does.
<!-- SECTION:DESCRIPTION:END -->

## Acceptance Criteria
<!-- AC:BEGIN -->
- [ ] #1 it opens
- [x] #2 it closes
<!-- AC:END -->
"""


def task(id, title, status="To Do", needs="[]", ordinal=1, more=""):
    return TASK.format(id=id, title=title, status=status, needs=needs, ordinal=ordinal, more=more)


def test_a_task_of_backlog_is_a_bead_with_its_criteria():
    plan = plan_in(task("BACK-1", "Open `__init__.py`"), "back-1.md")
    ((id_, (fields, needs, _)),) = nodes(plan).items()
    assert (id_, fields["title"], fields["priority"], needs) == ("BACK-1", "Open `__init__.py`", 1, None)
    assert fields["acceptance"] == ("#1 it opens",) and "What it does." in fields["description"]
    assert list(plan.problems) == [
        "back-1.md, line 21: skipped, because the criterion is ticked: #2 it closes",
        "not imported: back-1.md, its fields assignee",
    ]


def test_a_folder_of_backlog_is_a_plan_in_its_order(tmp_path):
    folder = tmp_path / "backlog" / "tasks"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(task("task-1", "Last", needs="[task-2, task-3, task-9]", ordinal=9))
    (folder / "b.md").write_text(task("task-2", "First", ordinal=2))
    (folder / "c.md").write_text(task("task-3", "Over", "Done"))
    (folder / "d.md").write_text(task("task-2.1", "Part", ordinal=3, more="parent_task_id: task-2\n"))
    (folder / "notes.md").write_text("# Notes\n")
    plan = read_plan(str(tmp_path / "backlog"))
    found = nodes(plan)
    assert list(found) == ["task-2", "task-2.1", "task-1"]
    assert found["task-1"][1] == ("task-2",) and found["task-2.1"][0]["epic"] == "task-2"
    assert found["task-2"][0]["type"].value == "epic"
    assert "not imported: notes.md, which is not a task of Backlog.md" in plan.problems
    assert "not imported: c.md, because it is done: Over" in plan.problems
    assert "a.md: its dependency on 'task-9' (neither in the file nor in the graph) is not imported" in plan.problems


def test_records_of_beads_are_taken_with_from_too():
    plan = plan_in('{"id":"a","title":"A","assignee":"ann"}\n{"id":"b","title":"B","status":"tombstone"}\n', "i.jsonl")
    assert [node.id for node in plan.nodes] == ["a"]
    assert list(plan.problems) == [
        "not imported: line 1: a: the assignee ann",
        "1 tombstone (deleted beads) skipped: line 2",
    ]


def test_a_folder_is_looked_into_for_the_one_file_of_tasks(tmp_path):
    for name in ("a", "b"):
        (tmp_path / ".kiro" / "specs" / name).mkdir(parents=True)
    (tmp_path / ".kiro" / "specs" / "a" / "tasks.md").write_text("- [ ] 1. One\n")
    assert [node.fields["title"] for node in read_plan(str(tmp_path)).nodes] == ["1. One"]
    (tmp_path / ".kiro" / "specs" / "b" / "tasks.md").write_text("- [ ] 1. Two\n")
    with pytest.raises(PlanError, match=r"several task files: \.kiro/specs/a/tasks\.md, \.kiro/specs/b/tasks\.md"):
        read_plan(str(tmp_path))
    assert [node.fields["title"] for node in read_plan(str(tmp_path / ".kiro" / "specs" / "b")).nodes] == ["1. Two"]


def test_tasks_json_with_keys_of_a_plan_is_still_task_masters():
    value = {"tasks": [{"id": 1, "title": "A", "details": "all", "metadata": {"x": 1}, "labels": ["b"]}]}
    plan = plan_in(json.dumps(value), "tasks.json")
    assert [node.id for node in plan.nodes] == ["tm-1"] and plan.nodes[0].fields["description"] == "all"
    assert (plan.nodes[0].fields["metadata"], plan.nodes[0].fields["labels"]) == ({"x": 1}, ("b",))
    assert plan.problems == ()


def test_a_part_that_waits_for_its_own_epic_does_not_stop_both(tmp_path):
    folder = tmp_path / "backlog" / "tasks"
    folder.mkdir(parents=True)
    (folder / "a.md").write_text(task("task-1", "Whole", "In Progress"))
    (folder / "b.md").write_text(task("task-2", "Part", needs="[TASK-1]", more="parent_task_id: task-1\ntype: odd\n"))
    plan = read_plan(str(tmp_path / "backlog"))
    assert [(node.needs, node.fields.get("epic")) for node in plan.nodes] == [(None, None), (None, "task-1")]
    assert "b.md: its dependency on its own epic, TASK-1, is not imported" in plan.problems
    assert "b.md: the unknown type 'odd' is not imported" in plan.problems
    assert "a.md: the task is 'in progress' in the file, so its bead needs your approval" in plan.problems


def test_finished_tasks_and_drafts_of_backlog_are_known_and_reported(tmp_path):
    for folder, number, state, more in (
        ("tasks", 1, "To Do", "dependencies: [BACK-2, BACK-3]\n"),
        ("completed", 2, "Done", ""),
        ("drafts", 3, "Draft", ""),
    ):
        (tmp_path / "backlog" / folder).mkdir(parents=True)
        text = f"---\nid: BACK-{number}\ntitle: T{number}\nstatus: {state}\n{more}---\n"
        (tmp_path / "backlog" / folder / f"back-{number}.md").write_text(text)
    plan = read_plan(str(tmp_path))
    assert [(node.id, node.needs) for node in plan.nodes] == [("BACK-1", None)]
    assert plan.problems == (
        "back-1.md: its dependency on BACK-3, which is draft, is not imported",
        "not imported: completed/back-2.md, because it is done: T2",
        "not imported: drafts/back-3.md, because it is draft: T3",
    )


def test_all_tasks_without_an_id_of_their_own_are_named_together():
    parts = [{"id": 1, "title": "B", "subtasks": [{"title": "C"}]}]
    tasks = [{"id": 1, "title": "A", "subtasks": parts}, "D", {"id": 1, "title": "E"}]
    with pytest.raises(PlanError) as caught:
        plan_in(json.dumps({"tasks": tasks}), "tasks.json")
    for place in ("tasks[0].subtasks[0].subtasks[0] has no id", "tasks[1] has no id", "task 1 appears twice"):
        assert place in str(caught.value)


def test_a_task_that_names_itself_as_its_epic_is_taken_without_one():
    plan = plan_in("tasks: [{title: Log in, epic: Log in}, {title: Form, epic: Log in}, {title: B, epic: B}]", "-")
    first, form, other = plan.nodes
    assert (first.fields.get("epic"), form.fields["epic"], other.fields) == (None, first.id, {"title": "B"})
    assert plan.problems == (
        "tasks[0]: its parent log in is not imported",
        "tasks[2]: its parent b is not imported",
    )
