"""A text that people have already becomes a plan: what each line is, what it is called, and what was left out."""

import json
import re
import time
from contextlib import suppress
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.model import BeadType
from nobrakes.errors import Deadlock, NobrakesError, PlanError
from nobrakes.features.service import approving
from nobrakes.features.service.approving import approve
from nobrakes.plans.markdown import short_id
from nobrakes.plans.nodes import normal
from nobrakes.plans.service import plan_in


def read(text, path="todo.md", known=()):
    return plan_in(text, path, known)


def tree(plan):
    """Each bead's title -> (the epic's title, the titles that it waits for, criteria, description)."""
    titles = {node.id: node.fields["title"] for node in plan.nodes}
    return {
        node.fields["title"]: (
            titles.get(node.fields.get("epic")),
            [titles.get(id_, id_) for id_ in node.needs or ()],
            list(node.fields.get("acceptance", ())),
            node.fields.get("description", ""),
        )
        for node in plan.nodes
    }


TEXT = """\
---
title: "- [ ] no item"
---
# Product

## Login

People can log in.

- [ ] Parse the **header**
  Fast, and in one pass.

  - it is read once
  - Acceptance
    - [ ] junk is rejected,
      with its line
    - [x] it exists
  - [ ] Read bytes (after: Store tokens)
- [x] Store tokens
* [ ] Form, depends on Parse the header
  ~~~
  - [ ] code
  ~~~
  Blocked by: Read bytes
1. [ ] Third

### Done when
- [ ] people are in
- nobody else is

## Alone
Acceptance criteria:
- [ ] first

      - [ ] code, too
> - [ ] quoted

<!--
- [ ] hidden
-->
"""


def test_items_are_beads_headings_are_epics_and_the_text_below_is_the_description():
    plan = read(TEXT)
    assert tree(plan) == {
        "Product": (None, [], [], ""),
        "Login": ("Product", [], ["people are in", "nobody else is"], "People can log in."),
        "Parse the header": (
            "Login",
            ["Read bytes"],
            ["junk is rejected, with its line"],
            "Fast, and in one pass.\n\n- it is read once",
        ),
        "Read bytes": ("Login", [], [], ""),
        "Form": (
            "Login",
            ["Parse the header", "Read bytes"],
            [],
            "~~~\n- [ ] code\n~~~\nBlocked by: Read bytes",
        ),
        "Third": ("Login", [], [], ""),
        "Alone": ("Product", [], ["first - [ ] code, too"], "> - [ ] quoted"),
    }
    kinds = {node.fields["title"]: node.fields.get("type") for node in plan.nodes}
    assert kinds["Login"] is BeadType.EPIC and kinds["Alone"] is None and kinds["Third"] is None
    assert sorted(plan.problems) == [
        "line 17: skipped, because the criterion is ticked: it exists",
        "line 18: 'Store tokens' is ticked, so no dependency on it is needed",
        "line 19: skipped, because the criterion is ticked: Store tokens",
        "line 36: skipped an item inside a block quote",
        "line 39: skipped an item inside a comment",
        "not imported: line 38, a comment: <!--",
        "not imported: lines 1 to 3, the file's front matter",
    ]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("Title\n=====\n- [ ] a", ["Title", "a"]),
        ("- [ ] a\n---\n- [ ] b", ["a", "b"]),
        ("* * *\n+ [ ] a\n2) [ ] b", ["a", "b"]),
        ("para\n\n    - [ ] code\n\n- [ ] a", ["a"]),
        ("- [x] a\n  - [ ] b", ["b"]),
        ("- group\n  - [ ] a\n\t- [ ] b", ["a", "b"]),
        ("- ```\n  - [ ] code\n  ```\n- [ ] a", ["a"]),
        ("````\n```\n- [ ] code\n````\n- [ ] a", ["a"]),
        ("- [ ] a\r\n- [ ] b\r- [ ] c", ["a", "b", "c"]),
        ("- [ ] Acceptance\n  - [ ] a", ["Acceptance", "a"]),
        ("- [-] a\n- [] b\n- [ ]c\n- [ ] d", ["a", "b", "d"]),
        ("[link](x)\n- [ ] a [b](c) `d`\x1b[31m\u202e", ["a b `d`"]),
        ("#\n- [ ] a", ["line 1", "a"]),
        ("- [ ] `", ["`"]),
        (
            "- [ ] Add src/__init__.py\n- [ ] Move *.md to **/old\n- [ ] **All** of `__x__`",
            ["Add src/__init__.py", "Move *.md to **/old", "All of `__x__`"],
        ),
        (
            "- [ ] **Set up `a*b`** - now\n- [ ] *`x`* and **/old\n- [ ] [`y`](z) `**k**`",
            ["Set up `a*b` - now", "`x` and **/old", "`y` `**k**`"],
        ),
        ("- [ ]* 2.3 optional", ["2.3 optional"]),
        ("# P\n## R1 Ring\n- signs\n## 2 Chapter\ntext", ["P", "R1 Ring"]),
        ("# P\n## Login\nIt must open.\n## Other\nperhaps", ["P", "Login"]),
        ("# P\n## Needs\n- **FR-001**: open\n- free", ["P", "Needs", "FR-001: open"]),
    ],
)
def test_what_is_an_item(text, titles):
    assert [node.fields["title"] for node in read(text).nodes] == titles


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("- [ ] a\n- [ ] b (after: a)", ["a"]),
        ("- [ ] a\n- [ ] c\n- [ ] b [blocked by A, c]", ["a", "c"]),
        ("- [ ] read / write\n- [ ] b\n  waits for: Read / Write.", ["read / write"]),
        ("- [ ] #12 a\n- [ ] b\n\n  It is blocked by #12.", ["#12 a"]),
        ("# One\n- [ ] a\n# Two\n- [ ] a\n- [ ] b (after: a)", ["a"]),
        ("- [ ] b after: nb-1", ["nb-1"]),
        ("- [ ] b (blocked by #7)", ["gh-7"]),
        ("# One\n- [ ] a\n# Two\n- [ ] b (after: One)", ["One"]),
        ("- [ ] b\n  It depends on the weather", []),
        ("- [ ] b\n  ```\n  after: nothing\n  ```", []),
    ],
)
def test_what_is_waited_for(text, needs):
    assert tree(read(text, known={"nb-1", "gh-7"}))["b"][1] == needs


@pytest.mark.parametrize(
    ("text", "path", "error"),
    [
        (" \n", "-", "standard input is empty"),
        ("- plain", "x.md", "no line like `- \\[ \\] Title`"),
        ("- [ ] a\n\n```\n- [ ] b", "x.md", "x.md:3: the code block that starts here is never closed"),
        ("<!-- x\n- [ ] b", "x.md", "x.md:1: the comment that starts here is never closed"),
        ("- [ ] a (after: b)", "x.md", "x.md: line 1: depends on 'b', but no task has this name"),
        (
            "# One\n- [ ] a\n# Two\n- [ ] a\n# C\n- [ ] b\n  after: a",
            "x.md",
            "several tasks are called 'a': line 2, line 4",
        ),
        ('[{"number": 1}', "-", "standard input:1:15: not JSON"),
        (
            '[{"number": 1.5, "title": ""}, 3]',
            "x.json",
            r"issues\[0\].number: is not the number(.|\n)*issues\[1\]: is not an issue",
        ),
        ('[{"number": 1, "title": "a", "labels": [{}], "body": 3}]', "-", r"body: has another type(.|\n)*labels\[0\]"),
        ('[{"number": 1, "title": "a"}, {"number": 1, "title": "b"}]', "-", "issue #1 appears twice"),
        ("3", "x.json", "not a plan"),
    ],
)
def test_what_cannot_be_read_is_said_with_its_place(text, path, error):
    with pytest.raises(PlanError, match=error) as raised:
        read(text, path)
    assert raised.value.hint or ":" in str(raised.value)


def test_a_title_that_is_too_long_is_cut_and_kept_whole_in_the_description():
    (node,) = read("- [ ] " + "long " * 200).nodes
    assert len(node.fields["title"]) <= 500 and node.fields["description"].startswith("long long")


def test_the_same_text_again_changes_its_beads(store):
    report = approving.propose(store, read(TEXT), "me", dry_run=True)
    assert len(report.new) == 7 and not report.applied and store.beads() == []
    first = approving.propose(store, read(TEXT), "me")
    again = approving.propose(store, read("Words before.\n\n" + TEXT.split("---\n", 2)[2]), "me")
    assert (len(first.new), again.new, again.changed) == (7, (), ())
    changed = TEXT.replace("**header**", "header").replace("in one pass", "in two passes")
    assert len(approving.propose(store, read(changed), "me").changed) == 1
    with store.write():
        approve(store, actor="me", choice=approving.ALL)
    report = approving.propose(store, read(TEXT), "me")
    assert len(report.proposed) == 1 and not report.new


def test_a_circle_is_refused_and_named(store):
    with pytest.raises(Deadlock, match="remove"):
        approving.propose(store, read("- [ ] a (after: b)\n- [ ] b (after: a)"), "me")
    with pytest.raises(Deadlock, match="remove"):
        approving.propose(store, read("- [ ] a\n  - [ ] b (after: a)"), "me")
    assert store.beads() == []


ISSUES = [
    {
        "number": 1,
        "title": "Crash\non start",
        "body": "It crashes.\r\n\r\n- [ ] no crash\r\n- [x] repro\r\n- [ ] #2\r\n\r\n**Depends on:** #9 and #3\r\n"
        "### Acceptance criteria\n- it starts\n\n```\nblocked by #5",
        "labels": [{"name": "bug", "color": "x"}, {"name": "Priority: High"}, {"name": "ui"}],
        "state": "OPEN",
        "milestone": {"number": 3, "title": "v1", "description": "the first"},
        "comments": [],
    },
    {"number": 2, "title": "Guide", "body": None, "labels": ["documentation", "p3", "P2"], "milestone": "later"},
    {"number": 3, "title": "Old", "state": "CLOSED"},
    {"number": 5, "title": "\ud800 x", "body": "blocked by #5, after: #1", "labels": []},
]


def test_issues_are_beads_with_what_their_labels_milestones_and_bodies_say():
    plan = read(json.dumps(ISSUES), "-")
    found = {node.id: (dict(node.fields), node.needs) for node in plan.nodes}
    crash, needs = found["gh-1"]
    assert crash == {
        "title": "Crash on start",
        "type": BeadType.FIX,
        "priority": 1,
        "labels": ("ui",),
        "acceptance": ("no crash", "it starts"),
        "epic": "gh-milestone-3",
        "description": "It crashes.\n\n**Depends on:** #9 and #3\n\n```\nblocked by #5",
    }
    assert needs == ("gh-2",)
    assert found["gh-milestone-3"][0] == {"title": "v1", "description": "the first", "type": BeadType.EPIC}
    assert (found["gh-2"][0]["type"], found["gh-2"][0]["priority"]) == (BeadType.DOCS, 2)
    assert found["gh-5"] == ({"title": "? x", "description": "blocked by #5, after: #1"}, ("gh-1",))
    assert len(found) == 5 and plan.problems == (
        "issue #1, line 4: skipped, because the criterion is ticked: repro",
        "issue #1: its dependency on '#9' (neither in the file nor in the graph) is not imported",
        "not imported: issue #3, because it is closed: Old",
        "issue #5: its dependency on itself is not imported",
    )
    assert read(json.dumps(ISSUES[1]), "one.json").nodes[0].id.startswith("gh-milestone-")
    assert not read("[]", "-").nodes


PIECES = st.sampled_from(
    [
        "- [ ] ",
        "* [x] ",
        "1. [ ] ",
        "- ",
        "Acceptance",
        "Done when: ",
        "# ",
        "## ",
        "```",
        "~~~",
        "> ",
        "<!--",
        "-->",
        "after: ",
        "(depends on ",
        "blocked by #1",
        "\n",
        "\n\n",
        "  ",
        "    ",
        "\t",
        "---",
        "===",
        "a",
        "b)",
        "`",
    ]
)


@given(st.lists(PIECES | st.text(max_size=3), max_size=40).map("".join))
def test_any_text_is_a_plan_or_an_error(text):
    try:
        plan = read(text)
    except NobrakesError:
        return
    names = {node.id for node in plan.nodes}
    assert len(names) == len(plan.nodes) and all(names >= set(node.needs or ()) for node in plan.nodes)


ITEM = st.tuples(st.integers(0, 3), st.sampled_from(["- [ ] ", "* [ ] ", "- [x] ", "- ", "# ", "Acceptance:\n"]))


@given(st.lists(ITEM, min_size=1, max_size=12))
def test_every_unticked_item_is_a_bead_a_criterion_or_told_of(lines):
    """Each line has a word of its own, and is where the line before it allows."""
    text, last = [], 0
    for place, (depth, mark) in enumerate(lines):
        last = 0 if mark == "# " else min(depth, last + 1)
        text.append("  " * last + f"{mark}word{place}")
    try:
        plan = read("\n".join(text))
    except PlanError as error:
        assert "found no task" in str(error) and not any(mark.endswith("[ ] ") for _, mark in lines)
        return
    parts = [" ".join((node.fields["title"], *node.fields.get("acceptance", ()))) for node in plan.nodes]
    words = set(" ".join((*parts, *plan.problems)).split())
    for place, (_, mark) in enumerate(lines):
        assert not mark.endswith("[ ] ") or f"word{place}" in words


SPEC_KIT = """\
# Tasks

## Phase 1: Setup
- [x] T001 Begin
- [ ] T002 Lay out
- [ ] T003 [P] Add a table
- [ ] T004 [P] Add a queue
- [ ] T005 Join them (depends on T001, T003)

## Phase 2: Foundation
- [ ] T006 Base
  - Depends on: none

## Phase 3: User Story 1
- [ ] T007 [US1] Page

## Phase 4: User Story 2
- [ ] T008 [US2] Mail

## Phase 5: Polish
- [ ] T009 Docs

## Dependencies
Stories may run in parallel.
"""


def test_phases_and_tasks_follow_each_other_as_their_format_says():
    plan = read(SPEC_KIT, "tasks.md")
    waits = {
        title.split(":")[0].split()[-1] if "Phase" in title else title.split()[0]: needs
        for title, (_, needs, _, _) in tree(plan).items()
    }
    assert waits["T002"] == [] and waits["T006"] == []
    assert waits["T003"] == waits["T004"] == ["T002 Lay out"]
    assert waits["T005"] == ["T003 [P] Add a table", "T004 [P] Add a queue"]
    assert waits["1"] == [] and waits["2"] == ["Phase 1: Setup"]
    assert waits["3"] == waits["4"] == ["Phase 2: Foundation"]
    assert waits["5"] == ["Phase 3: User Story 1", "Phase 4: User Story 2"]
    assert plan.problems[1] == "not imported: lines 23 to 24, 'Dependencies' and the text below it"


PRD = """\
Before all.

# Product

What it is.

## Background
It was slow.

## Requirements

### R1 Ring
- signs with the newest

### R2 Grace
1. old keys end

## Notes
Call Ann.
"""


def test_requirements_are_drafts_and_what_surrounds_them_is_the_epics_text():
    plan = read(PRD, "prd.md")
    found = tree(plan)
    assert found["R1 Ring"] == ("Requirements", [], [], "- signs with the newest")
    assert found["R2 Grace"] == ("Requirements", [], [], "1. old keys end")
    assert found["Product"][3] == "What it is.\n\n## Background\n\nIt was slow."
    assert list(plan.problems) == [
        "not imported: line 1, the text before the first heading",
        "not imported: lines 18 to 19, 'Notes' and the text below it",
    ]


WORDS = st.tuples(
    st.sampled_from(["# ", "## ", "", "- ", "- [ ] ", "- [x] ", "1. ", "  ", "> ", "R1 ", "## R2 ", "## Goals "]),
    st.booleans(),
)


@given(st.lists(WORDS, min_size=1, max_size=12))
def test_every_word_is_in_a_bead_or_told_of(lines):
    text = "\n".join(f"{mark}word{place}" + "\n" * blank for place, (mark, blank) in enumerate(lines))
    try:
        plan = read(text)
    except PlanError:
        return
    said = " ".join(
        " ".join((node.fields["title"], node.fields.get("description", ""), *node.fields.get("acceptance", ())))
        for node in plan.nodes
    )
    told = {number for one in plan.problems for number in _numbers(one)}
    for number, line in enumerate(text.split("\n"), 1):
        word = line.rpartition("word")[2]
        assert not word or f"word{word}" in said.split() or number in told, (number, plan.problems)


def _numbers(told):
    words = re.search(r"lines? ([\d, to]+)", told)[1].strip(" ,t")
    ends = [[int(one) for one in part.split(" to ")] for part in words.split(", ")]
    return [number for one in ends for number in range(one[0], one[-1] + 1)]


ANSWER = """\
Sure! Here is the plan:

```yaml
tasks:
  - id: 1
    title: "Set up `__init__.py`"
    priority: high
    estimate: 2 days
  - {id: 2, name: Add the API, depends_on: [1], acceptance_criteria: [it answers], owner: ann}
  - {id: 3, title: Add the page, dependencies: 2, priority: P3}
```

Shall I go on?
"""


@pytest.mark.parametrize("path", ["answer.md", "-", "the plan"])
def test_a_plan_in_a_fence_is_taken_with_a_models_habits(path):
    plan = read(ANSWER, path)
    first, second, third = plan.nodes
    assert [node.fields["title"] for node in plan.nodes] == ["Set up `__init__.py`", "Add the API", "Add the page"]
    assert (first.fields["priority"], first.fields["estimate"], third.fields["priority"]) == (1, 960, 3)
    assert (second.needs, third.needs, second.fields["acceptance"]) == ((first.id,), (second.id,), ("it answers",))
    assert [node.id for node in plan.nodes] == ["t-wivsgsm", "t-jm5z5yn", "t-iauti2y"]  # as in earlier versions
    assert plan.problems == (
        "not imported: lines 1 to 2, outside the plan",
        "not imported: lines 12 to 13, outside the plan",
        "not imported: tasks[1], its fields owner",
    )


def test_a_fence_of_json_may_end_lists_with_commas_and_says_its_line_otherwise():
    text = '# Plan\n\n```json\n{"beads": [\n  {"id": "a", "title": "A, ]"},\n  {"id": "b", "title": "B", "blockedBy": ["a"],},\n]}\n```\n'
    assert tree(read(text))["B"][1] == ["A, ]"]
    with pytest.raises(PlanError, match=r"todo\.md:5:"):
        read(text.replace('"id": "a",', '"id" "a",'))
    assert [node.fields["title"] for node in read(f"- [ ] Mine\n\n{text}").nodes] == ["Mine"]  # an example in a list


SPEC = """\
## Phase 1: Setup
- [ ] T001 Lay out
## Phase 2: User Story 1
### Tests
- [ ] T002 [P] Test it
- [ ] T003 [P] Test more
### Implementation
- [ ] T004 Build it
## Phase N: Polish
- [ ] T005 Polish
## Review checklist
- [ ] All read
"""


def test_tasks_follow_each_other_across_headings_of_a_phase_and_a_checklist_is_no_work():
    plan = read(SPEC)
    found = tree(plan)
    assert found["T004 Build it"][1] == ["T002 [P] Test it", "T003 [P] Test more"]
    assert found["Phase N: Polish"][1] == ["Phase 2: User Story 1"] and "All read" not in found
    assert plan.problems == ("not imported: lines 11 to 12, 'Review checklist' and the text below it",)


def test_a_numbered_task_waits_for_its_numbered_parts_but_not_for_optional_ones():
    found = tree(
        read("- [ ] 2. Model\n- [ ] 2.1 Fields\n- [ ]* 2.2 Tests\n- [ ] 2.1.1 Names\n- [ ] 3. Next (needs: 2.1)\n")
    )
    assert found["2. Model"][1] == ["2.1 Fields"] and found["2.1 Fields"][1] == ["2.1.1 Names"]
    assert found["3. Next"][1] == ["2.1 Fields"] and found["2.2 Tests"][1] == []


@pytest.mark.parametrize(
    ("said", "minutes"), [("2 days", 960), ("1.5h", 90), ("30 minutes", 30), ("1 day 2 hours", 600), ("1h30m", 90)]
)
def test_tasks_without_ids_are_named_by_their_titles(said, minutes):
    text = f"tasks:\n  - title: Log in\n    estimate: {said}\n  - title: Log out\n    depends_on: Log in\n"
    one, two = read(text, "plan.yaml").nodes
    assert (one.fields["estimate"], two.needs) == (minutes, (one.id,))
    assert [one.id, two.id] == [node.id for node in read(text, "plan.yaml").nodes] and one.id != two.id


def test_a_bare_list_of_task_masters_tasks_is_taken_and_an_optional_part_is_not_waited_for():
    tasks = '[{"id": 1, "title": "A", "subtasks": [{"id": 1, "title": "A1"}]}, {"id": 2, "title": "B"}]'
    assert [node.id for node in read(tasks, "-").nodes] == ["tm-1", "tm-1.1", "tm-2"]
    assert tree(read("- [ ] 1. Core\n  - [ ] 1.1 Types\n  - [ ]* 1.2 Tests\n"))["1. Core"][1] == ["1.1 Types"]


def test_a_comment_behind_a_title_is_not_part_of_it_and_is_reported():
    plan = read("- [ ] A <!-- id: 7 --> <!-- x -->\n- [ ] B `<!-- y -->` (after: A)\n")
    assert tree(plan) == {"A": (None, [], [], ""), "B `<!-- y -->`": (None, ["A"], [], "")}
    assert plan.problems == ("not imported: line 1, a comment: <!-- id: 7 --> <!-- x -->",)


def test_scenarios_are_criteria_and_a_refused_text_is_not_called_a_plan_file():
    story = "### US-1 Browse\nAs a user.\n#### Acceptance Scenarios\n1. Given a, then b\n"
    assert tree(read(story))["US-1 Browse"][2] == ["Given a, then b"]
    with pytest.raises(PlanError) as raised:
        read("- [ ] a (after: b)")
    assert raised.value.hint == "Change these lines, then import the file again."


def test_fields_of_issues_that_mean_nothing_here_are_reported():
    issues = '[{"number": 1, "title": "a", "assignees": [{"login": "ann"}], "url": "u", "comments": []}]'
    plan = read(issues, "-")
    assert plan.problems == ("not imported: the fields assignees of issues",)
    assert "metadata" not in plan.nodes[0].fields, "an address that is not one of an issue is not kept"


NESTED = """\
project: Shop
goal: Sell things
epics:
  - id: E1
    title: Log in
    summary: People have an account
    tasks:
      - {id: 1, title: Store **/old in `__init__.py`, priority: High, effort: 2-3 hours, status: To Do}
      - id: 2
        title: Form
        depends_on: "1"
        acceptance_criteria: [it opens, status: 200]
        subtasks: [Draw it, "Fix: the colour"]
      - Fix: the parser
  - title: Pay
    tasks:
      - {id: 1, title: Card, dependencies: [E1], files: "src/a.py, src/b.py", owner: ann}
      - {id: 2, title: Card, needs: [1, Form, nowhere], estimate: 5 points, priority: huge, type: backend}
      - {title: Old, status: completed}
      - {description: no title}
"""


def test_epics_in_a_plan_come_in_with_what_is_in_them(store):
    plan = read(NESTED, "plan.yaml")
    found = tree(plan)
    assert list(found) == [
        *(
            "Log in",
            "Store **/old in `__init__.py`",
            "Form",
            "Draw it",
            "Fix: the colour",
            "Fix: the parser",
            "Pay",
            "Card",
        )
    ]
    assert found["Log in"] == (None, [], [], "People have an account")
    assert found["Form"][:3] == ("Log in", ["Store **/old in `__init__.py`"], ["it opens", "status: 200"])
    assert found["Draw it"][0] == found["Fix: the colour"][0] == "Form" and found["Fix: the parser"][0] == "Log in"
    one, two = (node for node in plan.nodes if node.fields["title"] == "Card")
    assert (one.needs, one.fields["touches"]) == ((plan.nodes[0].id,), ("src/a.py", "src/b.py"))
    assert two.needs == (one.id, next(node.id for node in plan.nodes if node.fields["title"] == "Form"))
    (first,) = (node for node in plan.nodes if node.fields["title"].startswith("Store"))
    assert (first.fields["priority"], first.fields["estimate"]) == (1, 180)
    kinds = [node.fields["title"] for node in plan.nodes if node.fields.get("type") is BeadType.EPIC]
    assert kinds == ["Log in", "Form", "Pay"]
    assert list(plan.problems) == [
        "not imported: 'project', which is not a task",
        "not imported: 'goal', which is not a task",
        "not imported: epics[1].tasks[3], which has no title",
        "not imported: epics[1].tasks[0], its fields owner",
        "epics[1].tasks[1]: the unknown estimate '5 points' is not imported",
        "epics[1].tasks[1]: the unknown priority 'huge' is not imported",
        "epics[1].tasks[1]: the unknown type 'backend' is not imported",
        "epics[1].tasks[1]: its dependency on 'nowhere' (neither in the file nor in the graph) is not imported",
        "not imported: epics[1].tasks[2], because it is completed: Old",
    ]
    first = approving.propose(store, plan, "me")
    again = approving.propose(store, read(NESTED, "-"), "me")
    assert (len(first.new), again.new, again.changed) == (9, (), ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '{"plan": {"phases": [{"name": "Set up", "tasks": ["A", "B"]}, {"name": "Build", "tasks": ["C"]}]}}',
            {"Set up": (None, []), "A": ("Set up", []), "B": ("Set up", []), "Build": (None, ["Set up"]), "C": ("Build", [])},
        ),
        ("tasks:\n- {title: A, epic: Log in}\n- {title: B, epic: Log in}\n",
         {"Log in": (None, []), "A": ("Log in", []), "B": ("Log in", [])}),
        ("tasks:\n  build: {needs: [lint]}\n  lint: {title: Lint it}\n", {"build": (None, ["Lint it"]), "Lint it": (None, [])}),
        ("- title: Epic\n  children:\n  - title: A\n  - title: B\n    after: A\n",
         {"Epic": (None, []), "A": ("Epic", []), "B": ("Epic", ["A"])}),
        ("beads:\n- title: Epic\n  stories:\n  - title: S\n    tasks: [T]\n",
         {"Epic": (None, []), "S": ("Epic", []), "T": ("S", [])}),
        ("- Core:\n  - Parse\n  - Print: fast\n- title: Ship\n  after: [Core]\n  steps: [tag]\n",
         {"Core": (None, []), "Parse": ("Core", []), "Print: fast": ("Core", []), "Ship": (None, ["Core"])}),
        ('{"phases": [{"phase": 1, "name": "S", "tasks": ["A"]}, {"phase": 2, "name": "T", "tasks": ["B"]}]}',
         {"S": (None, []), "A": ("S", []), "T": (None, ["S"]), "B": ("T", [])}),
        ("epics: [{title: Only}]\ntasks: [{title: A, dependencies: none}, {title: B, dependencies: 'Task 1, A'}]\n",
         {"Only": (None, []), "A": (None, []), "B": (None, ["A"])}),
    ],
)  # fmt: skip
def test_shapes_of_an_outline(text, expected):
    assert {title: tuple(found[:2]) for title, found in tree(read(text, "plan.yaml")).items()} == expected


TABLE = """\
# Plan

What it is.

## Tasks

| # | Task | Depends on | Estimate | Priority | Status | Owner |
|---|:-----|-----------|---------:|----------|--------|-------|
| 1 | **Set up** `__init__.py` | - | 2h | High | Done | |
| 2 | Move **/old to `a|b` | 1 | 1 day | low | | ann |
| 3 | Split x\\|y | 1, 2 | ~3h | P0 | [ ] | |

| Word | Meaning |
|------|---------|
| a    | b       |
"""


def test_a_table_of_tasks_is_a_plan_and_the_rest_is_listed(store):
    plan = read(TABLE)
    old, split = plan.nodes
    assert (old.fields["title"], split.fields["title"]) == ("Move **/old to `a|b`", "Split x|y")
    assert (old.fields["estimate"], old.fields["priority"], split.fields["priority"]) == (480, 3, 0)
    assert (old.needs, split.needs) == (None, (old.id,))
    assert list(plan.problems) == [
        "not imported: lines 1 to 5, 13 to 15, outside of the tables",
        "not imported: tasks[0], because it is done: Set up `__init__.py`",
        "not imported: tasks[1], its fields Owner",
    ]
    assert len(approving.propose(store, plan, "me").new) == 2
    assert approving.propose(store, read(TABLE), "me").new == ()
    assert read("- [ ] Mine\n\n" + TABLE).nodes[0].fields["title"] == "Mine"


def test_tables_under_several_headings_and_a_column_of_phases_are_epics():
    text = "## Core\n|ID|Task|\n|-|-|\n|A-1|One|\n\n## Page\n|ID|Task|Needs|\n|-|-|-|\n|A-2|Two|A-1|\n"
    assert {title: found[:2] for title, found in tree(read(text)).items()} == {
        "Core": (None, []),
        "One": ("Core", []),
        "Page": (None, []),
        "Two": ("Page", ["One"]),
    }
    text = "| Phase | Task |\n|---|---|\n| 1 | A |\n| 1 | B |\n| 2 | C |\n"
    assert {title: found[:2] for title, found in tree(read(text, "-")).items()} == {
        "Phase 1": (None, []),
        "A": ("Phase 1", []),
        "B": ("Phase 1", []),
        "Phase 2": (None, ["Phase 1"]),
        "C": ("Phase 2", []),
    }


NUMBERS = """\
# Plan
## Goals
1. Be quick
## Tasks
1. Add `__init__.py`
   - with a version
   It must load.
2) Move **/old (depends on 1)
   1. first
3. Ship, depends on step 2
## Login
It must:
1. open
## Open questions
1. Why?
"""


def test_a_numbered_list_is_a_list_of_tasks(store):
    plan = read(NUMBERS)
    assert tree(plan) == {
        "Plan": (None, [], [], "## Goals\n\n1. Be quick"),
        "Tasks": ("Plan", [], [], ""),
        "Add `__init__.py`": ("Tasks", [], [], "- with a version\nIt must load."),
        "Move **/old": ("Tasks", ["Add `__init__.py`"], [], "1. first"),
        "Ship": ("Tasks", ["Move **/old"], [], ""),
        "Login": ("Plan", [], [], "It must:\n1. open"),
    }
    assert plan.problems == ("not imported: lines 14 to 15, 'Open questions' and the text below it",)
    assert [node.fields["title"] for node in read("1. A\n2. B\n", "-").nodes] == ["A", "B"]


def test_ids_that_every_plan_has_name_beads_in_their_own_plan_only():
    """T1 of one model's plan would change T1 of another."""
    one, two = (read(f"tasks: [{{id: T1, title: {title}}}, {{id: AB-1, title: B, needs: T1}}]", "-") for title in "XY")
    assert one.nodes[0].id != two.nodes[0].id and one.nodes[1].id == two.nodes[1].id == "AB-1"
    assert one.nodes[1].needs == (one.nodes[0].id,)


def test_headings_that_number_tasks_are_beads():
    text = "# P\n### Task 1: Lay out\nSo.\n### Task 2: Build\n**Depends on:** Task 1\n- parts\n"
    found = tree(read(text))
    assert list(found) == ["P", "Task 1: Lay out", "Task 2: Build"] and found["Task 2: Build"][1] == ["Task 1: Lay out"]


def test_titles_that_said_needs_in_an_earlier_version_stay_their_beads(store):
    """It took `(needs: A)` for a part of the title."""
    digest = ""
    for kind, title in (("heading", "H (needs: A)"), ("item", "B (requires: A)")):
        digest = sha256("\0".join((digest, kind, normal(title))).encode()).hexdigest()
    text = "# A\n- [ ] x\n# H (needs: A)\n- [ ] B (requires: A)\n- [ ] B\n"
    earlier = short_id(digest, ())
    assert earlier not in [node.id for node in read(text).nodes]
    again = {node.id: node.fields["title"] for node in read(text, known={earlier}).nodes}
    assert again[earlier] == "B" and len(again) == 5


def test_an_epic_is_called_as_it_was_first():
    plan = read("tasks: [{title: A, epic: Log in, done: false}, {title: B, epic: log in}, {title: C, done: true}]", "-")
    assert [node.fields["title"] for node in plan.nodes] == ["Log in", "A", "B"]
    assert plan.problems == ("not imported: tasks[2], because it is done: C",)


def test_lines_that_are_not_taken_are_named_without_those_between_that_are():
    assert read("Hello.\n\n1. A\n   more\n\nBye.\nNow.\n", "-").problems == (
        "not imported: lines 1, 6 to 7, the text before the first heading",
    )


def test_what_is_in_an_epic_without_a_title_is_taken():
    plan = read("epics:\n- summary: Lost\n  tasks: [{title: A, tags: 'good first issue, b'}]\n", "plan.yaml")
    assert tree(plan) == {"A": (None, [], [], "")}
    assert plan.nodes[0].fields["labels"] == ("good first issue", "b")
    assert plan.problems == ("not imported: epics[0], which has no title",)


def test_a_table_is_read_like_the_rest_of_its_text():
    head = "| # | ID | Task | Task |\n|---|----|------|------|\n"
    plan = read(f"<!--\n{head}| 1 | A-1 | Hidden |\n-->\n\n    {head}\nA\n=\n{head}| 1 | A-2 | Shown | more | most |\n")
    assert [(node.id, node.fields["title"]) for node in plan.nodes] == [("A-2", "Shown")]
    assert plan.problems == (
        "not imported: lines 1 to 11, outside of the tables",
        "not imported: tasks[0], its fields #, column 4, column 5",
    )


FAR = " " * 200_000


@pytest.mark.parametrize(
    "text",
    [
        f"# a{FAR}x\n- [ ] A",
        f"- [ ] A\n  is blocked by{FAR}x",
        f"- [ ] A, depends on{FAR}x",
        f"- [ ] A{FAR}x <!-- a -->",
        "- [ ] A " + "<!-- " * 100_000,
        "- [ ] A\n" + "`" * 200_000 + "\n",
        "\n" * 200_000 + "- [ ] A",
        "|Task|#|\n|-|-|\n|A|" + "|" * 100_000,
        f"1. A\n\n|a\n|-{FAR}x",
        f"tasks:\n- {{title: A, needs: 'b{FAR}c'}}",
        '{"tasks": [{"title": "A"},], "x": "' + '"\\' * 200_000,
    ],
)
def test_no_text_of_a_plan_takes_long(text):
    begun = time.monotonic()
    with suppress(PlanError):
        assert read(text, "-").nodes[-1].fields["title"].startswith("A")
    assert time.monotonic() - begun < 5
