"""A project's documents as nobrakes writes them: what is there stays, boxes are ticked by what was handed in alone."""

from nobrakes.projects import model as projects_model
from nobrakes.projects import sprints
from nobrakes.projects.model import Document, Kind, Sprint, Stage
from nobrakes.projects.sprints import Task

SPRINT = Sprint(2, 1, "pay", Stage.CLOSING)
REVIEW = """## Done
- Take the money: `src/pay`
- [x] Count it
## Not done
- Give change
- [ ] Smile
## Success criteria
- [x] An order can be paid
- [ ] The shop is open
"""


def told(kind: Kind, text: str, number: int = 1) -> Document:
    return Document(number, 2, kind, text, "Ada", 0.0)


def test_boxes_are_ticked_by_the_same_words_below_done_or_ticked() -> None:
    done = sprints.claims_of(REVIEW)
    plan = "## Tasks\n- [ ] Take the money: `src/pay`\n- [ ] Give change\n- [ ] Count it.\n- [ ] Smile\n"
    assert sprints.ticked(plan, done) == (
        "## Tasks\n- [x] Take the money: `src/pay`\n- [ ] Give change\n- [x] Count it.\n- [ ] Smile\n"
    )
    brief = "- [ ] An order can be paid\n- [ ] The shop is open\n- [x] The menu is there\n"
    assert [
        box.is_checked for box in projects_model.boxes(list(projects_model.lines(sprints.ticked(brief, done))))
    ] == [
        True,
        False,
        True,
    ]
    example = "```\n- [ ] Count it\n```\n"
    assert sprints.ticked(example, done) == example, "a code block is an example"


def test_task_md_keeps_what_a_person_wrote_and_gains_a_line_of_history() -> None:
    before = "# Task: Tea\n\n**Status:** planning\n**Updated:** then\n\n## Current State\n\nNew.\n\n## Sprint Progress\n\n## Blockers\n\n## Mine\n\nkeep\n\n## History\n\n- then — Created\n"
    now = sprints.task(before, "executing", "s2-pay", "It is on.", [(True, "s1-menu"), (False, "s2-pay")], "today")
    assert projects_model.status(now) == "executing" and projects_model.field(now, "Current Sprint") == "s2-pay"
    assert "## Mine\n\nkeep\n" in now and "- [x] s1-menu\n- [ ] s2-pay" in now
    assert now.endswith("- then — Created\n- today — It is on.\n")
    again = sprints.task(now, "executing", "s2-pay", "It is on.", [(True, "s1-menu"), (False, "s2-pay")], "today")
    assert again == now, "written twice, it is the same"
    assert projects_model.status(sprints.task("", "complete", "none", "Over.", [], "today")) == "complete"


def test_what_is_told_on_the_way_is_appended_once_and_each_is_one_decision() -> None:
    given = [told(Kind.DECISION, "# SQLite\n## Why\nOne file."), told(Kind.WISH, "A browser")]
    found = sprints.appended({"DECISIONS.md": "# Decisions\n\n## Old\n"}, given, SPRINT, "today")
    assert set(found) == {"DECISIONS.md", "WISHLIST.md"} and "## Old\n\n## SQLite\n" in found["DECISIONS.md"]
    assert "#### Why" in found["DECISIONS.md"]
    assert sprints.appended(found, given, SPRINT, "today") == {}
    assert "- SQLite" in sprints.plan_after("## Tasks\n- [ ] A\n", [], given)


def test_plan_and_review_are_written_from_the_beads_of_the_sprint() -> None:
    menu = Task("s-menu", "Write the menu", True, "I wrote it.", ("It is there",))
    change = Task("s-change", "Give change", False, "too dear")
    plan = sprints.plan(SPRINT, "Sell tea.\n## Not ours", [menu, change])
    assert "# Sprint 2: pay" in plan and "- [ ] Write the menu (bead s-menu)" in plan and "#### Not ours" in plan
    smile = Task("s-smile", "Smile", True)
    after = sprints.plan_after(plan, [menu, change, smile], [])
    assert "- [x] Write the menu (bead s-menu)" in after and "- [ ] Give change" in after
    assert "## Tasks added on the way\n\n- [x] Smile (bead s-smile)" in after
    review = sprints.review(SPRINT, [menu, change], [told(Kind.REVIEW, "# Mine\n- [x] An order can be paid")])
    assert "## Done\n\n- Write the menu (bead s-menu): I wrote it." in review
    assert "## Not done\n\n- Give change (bead s-change): too dear" in review
    assert "## What Ada reports\n\n#### Mine\n- [x] An order can be paid" in review
    assert "an order can be paid" in sprints.claims_of(review) and "give change bead s change" not in after


def test_a_criterion_is_met_by_the_check_that_it_names_and_else_only_claimed() -> None:
    brief = (
        "## Success criteria\n- [ ] It runs (check: build)\n- [ ] It is fast\n- [ ] It sells (check: gone)\n- [x] Old\n"
    )
    boxes = projects_model.criteria(brief)
    done = sprints.claims_of(
        "## Success criteria\n- [x] It runs\n- [x] It is fast\n- [x] It sells (check: gone)\n- [x] Old\n"
    )
    met = sprints.met(boxes, done, {"build", "lint"})
    assert sprints.ticked(brief, met) == brief.replace("- [ ] It runs", "- [x] It runs")
    assert not sprints.met(boxes, frozenset(), {"build"}), "no sprint says that it runs"
    review = {"docs/sprints/s1-a/review.md": "## Success criteria\n- [x] It is fast\n"}
    assert [box.text for box in sprints.claimed(boxes, review)] == ["It is fast"]
