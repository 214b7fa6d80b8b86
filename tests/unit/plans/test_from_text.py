"""A text that people have already becomes a plan: what each line is, what it is called, and what was left out."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes.beads.model import BeadType
from nobrakes.errors import Deadlock, NobrakesError, PlanError
from nobrakes.features.service import approving
from nobrakes.features.service.approving import approve
from nobrakes.plans.markdown import plan_of_tasks


def read(text, path="todo.md", known=()):
    return plan_of_tasks(text, path, known)


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
        "line 17: skipped, since it is ticked: it exists",
        "line 18: 'Store tokens' is ticked: it is not waited for",
        "line 19: skipped, since it is ticked: Store tokens",
        "line 36: an item in a quotation was left out",
        "line 39: an item in a comment was left out",
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
        ("- [-] a\n- [] b\n- [ ]c\n- [ ] d", ["d"]),
        ("[link](x)\n- [ ] a [b](c) `d`\x1b[31m\u202e", ["a b d"]),
        ("#\n- [ ] a", ["line 1", "a"]),
        ("- [ ] `", ["line 1"]),
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
        ("", "-", "standard input: there is no task in it"),
        ("- plain", "x.md", "no line like `- \\[ \\] Title`"),
        ("- [ ] a\n\n```\n- [ ] b", "x.md", "x.md:3: the code block that begins here never ends"),
        ("<!-- x\n- [ ] b", "x.md", "x.md:1: the comment that begins here never ends"),
        ("- [ ] a (after: b)", "x.md", "x.md: line 1: 'b' is waited for, and nothing is called so"),
        ("# One\n- [ ] a\n# Two\n- [ ] a\n# C\n- [ ] b\n  after: a", "x.md", "several: line 2, line 4"),
        ('[{"number": 1}', "-", "standard input:1:15: not JSON"),
        (
            '[{"number": 1.5, "title": ""}, 3]',
            "x.json",
            r"issues\[0\].number: is not the number(.|\n)*issues\[1\]: is not an issue",
        ),
        ('[{"number": 1, "title": "a", "labels": [{}], "body": 3}]', "-", r"body: is of another(.|\n)*labels\[0\]"),
        ('[{"number": 1, "title": "a"}, {"number": 1, "title": "b"}]', "-", "issue #1 is there twice"),
        ("3", "x.json", "not a list of issues"),
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
    with pytest.raises(Deadlock, match="cut"):
        approving.propose(store, read("- [ ] a (after: b)\n- [ ] b (after: a)"), "me")
    with pytest.raises(Deadlock, match="cut"):
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
        "issue #3: skipped, since it is closed",
        "issue #1, line 4: skipped, since it is ticked: repro",
        "issue #1 waits for #9, which is neither in the list nor in the graph: not taken over",
        "issue #1 waits for #3, which is closed: not waited for",
        "issue #5 names itself",
    )
    assert read(json.dumps(ISSUES[1]), "one.json").nodes[0].id.startswith("gh-milestone-")
    assert read("[]", "-").nodes == ()


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
        assert "no task in it" in str(error) and not any(mark.endswith("[ ] ") for _, mark in lines)
        return
    parts = [" ".join((node.fields["title"], *node.fields.get("acceptance", ()))) for node in plan.nodes]
    words = set(" ".join((*parts, *plan.problems)).split())
    for place, (_, mark) in enumerate(lines):
        assert not mark.endswith("[ ] ") or f"word{place}" in words
