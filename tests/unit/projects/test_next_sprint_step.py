"""The story of three sprints, as the decider tells it: facts in, one step out."""

from dataclasses import replace

import pytest

from nobrakes.agents.limits import Cap, Caps
from nobrakes.beads.model import Status
from nobrakes.checks.contract import Check
from nobrakes.errors import UsageError
from nobrakes.projects.model import Kind, RunState, Sprint, SprintRun, Stage, changed, item_id, items, require, slug
from nobrakes.projects.sprints import (
    TRIES,
    Approve,
    Begin,
    Facts,
    Move,
    Place,
    Plan,
    Sign,
    Stop,
    Task,
    Work,
    beyond,
    items_done,
    labels,
    next_step,
    terms,
)

RUN = SprintRun(1, 3, False, {}, RunState.GOING, "", "you", 0.0, 0.0)
BETWEEN = Facts(RUN, None, criteria=3, open=3)
WORK = Work(Status.OPEN)
"""The epic of the sprint's feature."""


def at(stage: Stage, **values: object) -> Facts:
    sprint = Sprint(1, 1, "menu", stage, bead="sprint-1")
    return replace(BETWEEN, sprint=sprint, **{"work": WORK, "plan": Plan(), **values})  # type: ignore[arg-type]


def test_the_story_of_a_sprint() -> None:
    live = Plan(is_live=True)
    story: list[tuple[Facts, object]] = [
        (BETWEEN, Begin(1)),
        (at(Stage.PLANNING), None),  # its Shaper, reviewers or a question
        (at(Stage.PLANNING, plan=Plan(is_ready=True)), Sign(1)),
        (at(Stage.PLANNING, plan=Plan(is_signed=True)), Move(1, Stage.OPENING)),
        (at(Stage.OPENING), Place(1, Stage.OPENING)),
        (at(Stage.OPENING, opening=Work(Status.NEEDS_REVIEW, tries=1)), None),
        (at(Stage.OPENING, opening=Work(Status.DONE)), Move(1, Stage.EXECUTING)),
        (at(Stage.EXECUTING, plan=Plan(is_signed=True)), Approve(1)),
        (at(Stage.EXECUTING, plan=live), None),
        (at(Stage.EXECUTING, plan=Plan(is_ready=True)), Sign(1)),  # a checkpoint changed its plan
        (at(Stage.EXECUTING, plan=live, work=Work(Status.DONE)), Move(1, Stage.CLOSING)),
        (at(Stage.CLOSING, plan=live), Place(1, Stage.CLOSING)),
        (at(Stage.CLOSING, plan=live, closing=Work(Status.DONE)), Move(1, Stage.DONE)),
        (replace(BETWEEN, done=1, last=1, open=2), Begin(2)),
    ]
    for facts, step in story:
        assert next_step(facts) == step, facts


def test_a_plan_beyond_the_yes_waits_for_a_person_and_goes_on_with_theirs() -> None:
    for stage in (Stage.PLANNING, Stage.EXECUTING):
        assert next_step(at(stage, plan=Plan(is_ready=True, beyond=("b",)))) is None
    assert next_step(at(Stage.PLANNING, plan=Plan(is_signed=True, beyond=("b",)))) == Move(1, Stage.OPENING)
    assert next_step(at(Stage.PLANNING, plan=Plan(is_live=True))) == Move(1, Stage.OPENING), "a person approved it"


def test_no_sprint_begins_while_another_feature_is_planned() -> None:
    assert next_step(replace(BETWEEN, is_taken=True)) is None
    assert next_step(at(Stage.PLANNING, work=None, plan=None, is_taken=True)) is None


def test_a_sprint_that_began_before_a_sprint_was_a_feature_continues() -> None:
    for stage in (Stage.PLANNING, Stage.OPENING, Stage.EXECUTING):
        assert next_step(at(stage, work=None, plan=None)) == Begin(1), "its plan becomes a feature"
    old = at(Stage.EXECUTING, work=Work(Status.DOING), plan=None)
    assert next_step(old) is None, "its one bead is worked on"
    assert next_step(replace(old, work=Work(Status.DONE))) == Move(1, Stage.CLOSING)


def test_what_a_yes_covers() -> None:
    beads = [
        {"id": "a", "labels": ["item:R1"]},
        {"id": "b", "labels": ["part-of:R2", "ui"]},
        {"id": "c", "labels": ["outside"]},
        {"id": "d"},
        {"id": "e", "type": "epic"},
    ]
    assert beyond((), beads) == () and beyond(("R1", "R2"), beads) == ("c", "d") and beyond(("R2",), beads)[0] == "a"
    assert labels([]) == [] and labels(["R1"]) == ["item:R1", "part-of:R1", "outside"]
    roadmap = "- [ ] R1: Log in\n- [ ] R2 Pay\n- [x] R3 Old\n- [ ] Write the menu\n"
    assert [item_id(one.text) for one in items(roadmap)] == ["R1", "R2", "R3", "write-the-menu"]
    done, left = Task("a", "A", True, labels=("item:R1", "item:R2")), Task("b", "B", False, labels=("item:R2",))
    part = Task("c", "C", True, labels=("item:write-the-menu", "part-of:write-the-menu"))
    assert items_done(roadmap, [done, left, part]) == {"r1 log in"}


def test_it_ends_when_every_criterion_is_met_and_nothing_contradicts_or_after_the_last_sprint() -> None:
    met = replace(BETWEEN, done=2, last=2, open=0)
    assert next_step(met) == Stop(1, RunState.COMPLETE, "every success criterion is met (3)")
    assert next_step(replace(met, findings=1)) == Begin(3), "whats-next is not silent"
    assert next_step(replace(met, done=0)) == Begin(3), "nothing was done by this yes"
    assert next_step(replace(met, criteria=0)) == Begin(3), "a brief without criteria is never complete"
    over = next_step(replace(met, done=3, last=3, open=1, findings=2))
    text = "3 sprints are done; 1 of 3 success criteria are open, and whats-next has 2 findings"
    assert over == Stop(1, RunState.OVER, text)


def test_a_yes_lapses_before_anything_begins_and_not_in_the_middle() -> None:
    begins = (replace(BETWEEN, done=1, last=1), replace(at(Stage.PLANNING, plan=Plan(is_ready=True)), done=1))
    begins += (replace(at(Stage.EXECUTING, plan=Plan(is_signed=True)), done=1),)
    begins += (replace(at(Stage.PLANNING, work=None, plan=None), done=1),)
    for facts in begins:
        step = next_step(replace(facts, changed=("brief", "caps"), spent="x"))
        text = "the brief and caps changed since the approval; 2 of 3 sprints are left"
        assert step == Stop(1, RunState.WAITS, text), facts
        spent = next_step(replace(facts, spent="the approval ended on Monday"))
        assert spent == Stop(1, RunState.WAITS, "the approval ended on Monday; 2 of 3 sprints are left"), facts
    working = at(Stage.EXECUTING, plan=Plan(is_live=True), changed=("brief",), spent="x")
    assert next_step(working) is None
    for state in (RunState.WAITS, RunState.COMPLETE, RunState.OVER):
        assert next_step(replace(BETWEEN, run=replace(RUN, state=state))) is None


def test_documents_that_do_not_pass_are_made_again_and_then_a_person_is_told() -> None:
    back = at(Stage.CLOSING, closing=Work(Status.NEEDS_DOER, is_back=True, tries=1))
    assert next_step(back) == Place(1, Stage.CLOSING)
    often = next_step(at(Stage.CLOSING, closing=Work(Status.NEEDS_DOER, is_back=True, tries=TRIES)))
    assert isinstance(often, Stop) and "failed the review" in often.why
    given_up = next_step(at(Stage.OPENING, opening=Work(Status.CANCELLED)))
    assert isinstance(given_up, Stop) and "documents was cancelled" in given_up.why
    for stage in (Stage.PLANNING, Stage.EXECUTING):
        cancelled = next_step(at(stage, work=Work(Status.CANCELLED)))
        assert isinstance(cancelled, Stop) and "sprint-1" in cancelled.why and "cancelled" in cancelled.why
        back = next_step(at(stage, plan=Plan(is_given_up=True)))
        assert isinstance(back, Stop) and "rolled back" in back.why


def test_a_ticked_box_is_no_other_brief_and_everything_else_is() -> None:
    check, caps = Check("test", "sh t"), Caps()
    before = terms("## Success Criteria\n- [ ] A\n", "- [ ] R1", (check,), caps)
    assert changed(before, terms("## Success Criteria\n- [x] A\n", "- [x] R1", (check,), caps)) == ()
    assert changed(before, terms("## Success Criteria\n- [x] B\n", "- [x] R1", (check,), caps)) == ("brief",)
    assert changed(before, terms("## Success Criteria\n- [ ] A\n", "- [x] R1", (replace(check, retry=1),), caps)) == (
        "checks",
    )
    assert changed(before, terms("## Success Criteria\n- [ ] A\n", "- [ ] R2", (check,), caps)) == ("roadmap",)
    older = {name: before[name] for name in ("brief", "checks", "caps")}
    assert changed(older, terms("## Success Criteria\n- [ ] A\n", "- [ ] R2", (check,), caps)) == (), "an older yes"
    more = Caps(day=Cap(usd=5.0))
    assert changed(before, terms("## Success Criteria\n- [ ] A\n", "- [x] R1", (check,), more)) == ("caps",)


def test_what_is_handed_in_is_bounded_and_named() -> None:
    assert require(Kind.WISH, " More ") == "More"
    for kind, text in ((Kind.WISH, " "), (Kind.REVIEW, "x" * 40_000)):
        with pytest.raises(UsageError):
            require(kind, text)
    assert slug("../Menü & Pay!") == "men-pay" and slug("…") == "work" and len(slug("a " * 99)) <= 40


def test_what_agents_claim_ends_no_project_and_keeps_no_sprint_from_beginning() -> None:
    claimed = replace(BETWEEN, done=1, last=1, open=3, claimed=3)
    assert next_step(claimed) == Begin(2), "a claim does not stop the next sprint"
    over = next_step(replace(claimed, done=3, last=3))
    text = "3 sprints are done; 3 of 3 success criteria are open; agents claim that 3 are met"
    assert over == Stop(1, RunState.CLAIMED, f"{text}: tick the true claims in CLAUDE.md and commit")
    waits = replace(claimed, run=replace(RUN, state=RunState.CLAIMED), done=3, last=3)
    assert next_step(waits) is None, "it waits for a person"
    assert next_step(replace(waits, open=0, claimed=0)) == Stop(
        1, RunState.COMPLETE, "every success criterion is met (3)"
    )
