"""The story of three sprints, as the decider tells it: facts in, one step out."""

from dataclasses import replace

import pytest

from nobrakes.agents.limits import Cap, Caps
from nobrakes.beads.model import Status
from nobrakes.checks.contract import Check
from nobrakes.errors import UsageError
from nobrakes.projects.model import Kind, RunState, Sprint, SprintRun, Stage, changed, require, slug
from nobrakes.projects.sprints import (
    NUDGES,
    TRIES,
    Begin,
    Execute,
    Facts,
    Move,
    Nudge,
    Place,
    Planner,
    Stop,
    Work,
    next_step,
    terms,
)

RUN = SprintRun(1, 3, False, {}, RunState.GOING, "", "you", 0.0, 0.0)
BETWEEN = Facts(RUN, None, criteria=3, open=3)


def at(stage: Stage, **values: object) -> Facts:
    sprint = Sprint(1, 1, "menu", stage, session=4, bead="sprint-1")
    return replace(BETWEEN, sprint=sprint, **values)  # type: ignore[arg-type]


def test_the_story_of_a_sprint() -> None:
    story: list[tuple[Facts, object]] = [
        (BETWEEN, Begin(1)),
        (at(Stage.PLANNING, planner=Planner(True)), None),
        (at(Stage.PLANNING, planner=Planner(True), has_plan=True), None),
        (at(Stage.PLANNING, planner=Planner(False), has_plan=True), Move(1, Stage.OPENING)),
        (at(Stage.OPENING), Place(1, Stage.OPENING)),
        (at(Stage.OPENING, opening=Work(Status.NEEDS_REVIEW, tries=1)), None),
        (at(Stage.OPENING, opening=Work(Status.DONE)), Move(1, Stage.EXECUTING)),
        (at(Stage.EXECUTING), Execute(1)),
        (at(Stage.EXECUTING, work=Work(Status.NEEDS_DOER)), None),
        (at(Stage.EXECUTING, work=Work(Status.ESCALATED)), None),  # a question of it waits for a person
        (at(Stage.EXECUTING, work=Work(Status.DONE)), Move(1, Stage.CLOSING)),
        (at(Stage.CLOSING), Place(1, Stage.CLOSING)),
        (at(Stage.CLOSING, closing=Work(Status.DONE)), Move(1, Stage.DONE)),
        (replace(BETWEEN, done=1, last=1, open=2), Begin(2)),
    ]
    for facts, step in story:
        assert next_step(facts) == step, facts


def test_it_ends_when_every_criterion_is_met_and_nothing_contradicts_or_after_the_last_sprint() -> None:
    met = replace(BETWEEN, done=2, last=2, open=0)
    assert next_step(met) == Stop(1, RunState.COMPLETE, "every success criterion is met (3)")
    assert next_step(replace(met, findings=1)) == Begin(3), "whats-next is not silent"
    assert next_step(replace(met, done=0)) == Begin(3), "nothing was done by this yes"
    assert next_step(replace(met, criteria=0)) == Begin(3), "a brief without criteria is never complete"
    over = next_step(replace(met, done=3, last=3, open=1, findings=2))
    text = "3 sprints are done; 1 of 3 success criteria are open, and whats-next has 2 findings"
    assert over == Stop(1, RunState.OVER, text)


def test_another_brief_asks_again_before_anything_begins_and_not_in_the_middle() -> None:
    for facts in (replace(BETWEEN, done=1, last=1), replace(at(Stage.EXECUTING), done=1)):
        step = next_step(replace(facts, changed=("brief", "caps")))
        text = "the brief and caps changed since the yes; 2 of 3 sprints are left"
        assert step == Stop(1, RunState.WAITS, text), facts
    working = replace(at(Stage.EXECUTING, work=Work(Status.DOING)), changed=("brief",))
    assert next_step(working) is None
    for state in (RunState.WAITS, RunState.COMPLETE, RunState.OVER):
        assert next_step(replace(BETWEEN, run=replace(RUN, state=state))) is None


def test_a_planner_that_hands_nothing_in_is_told_and_then_a_person_is() -> None:
    silent = at(Stage.PLANNING, planner=Planner(False))
    assert next_step(silent) == Nudge(1)
    assert silent.sprint is not None
    told = replace(silent, sprint=replace(silent.sprint, nudged=NUDGES))
    step = next_step(told)
    assert isinstance(step, Stop) and step.state is RunState.WAITS and "session 4" in step.why
    ended = next_step(at(Stage.PLANNING, planner=Planner(False, is_over=True)))
    assert isinstance(ended, Stop) and "was ended" in ended.why


def test_documents_that_do_not_pass_are_made_again_and_then_a_person_is_told() -> None:
    back = at(Stage.CLOSING, closing=Work(Status.NEEDS_DOER, is_back=True, tries=1))
    assert next_step(back) == Place(1, Stage.CLOSING)
    often = next_step(at(Stage.CLOSING, closing=Work(Status.NEEDS_DOER, is_back=True, tries=TRIES)))
    assert isinstance(often, Stop) and "do not pass" in often.why
    given_up = next_step(at(Stage.OPENING, opening=Work(Status.CANCELLED)))
    assert isinstance(given_up, Stop) and "given up" in given_up.why
    cancelled = next_step(at(Stage.EXECUTING, work=Work(Status.CANCELLED)))
    assert isinstance(cancelled, Stop) and "sprint-1" in cancelled.why


def test_a_ticked_box_is_no_other_brief_and_everything_else_is() -> None:
    check, caps = Check("test", "sh t"), Caps()
    before = terms("## Success Criteria\n- [ ] A\n", (check,), caps)
    assert changed(before, terms("## Success Criteria\n- [x] A\n", (check,), caps)) == ()
    assert changed(before, terms("## Success Criteria\n- [x] B\n", (check,), caps)) == ("brief",)
    assert changed(before, terms("## Success Criteria\n- [ ] A\n", (replace(check, retry=1),), caps)) == ("checks",)
    more = Caps(day=Cap(usd=5.0))
    assert changed(before, terms("## Success Criteria\n- [ ] A\n", (check,), more)) == ("caps",)


def test_what_is_handed_in_is_bounded_and_named() -> None:
    assert require(Kind.PLAN, " ## Tasks\n- [ ] A ") == "## Tasks\n- [ ] A"
    for kind, text in ((Kind.PLAN, "no task"), (Kind.WISH, " "), (Kind.REVIEW, "x" * 40_000)):
        with pytest.raises(UsageError):
            require(kind, text)
    assert slug("../Menü & Pay!") == "men-pay" and slug("…") == "work" and len(slug("a " * 99)) <= 40


def test_what_agents_claim_ends_no_project_and_keeps_no_sprint_from_beginning() -> None:
    claimed = replace(BETWEEN, done=1, last=1, open=3, claimed=3)
    assert next_step(claimed) == Begin(2), "a claim does not stop the next sprint"
    over = next_step(replace(claimed, done=3, last=3))
    text = "3 sprints are done; 3 of 3 success criteria are open; agents claim 3 of them"
    assert over == Stop(1, RunState.CLAIMED, f"{text}: tick what holds in CLAUDE.md, and commit it")
    waits = replace(claimed, run=replace(RUN, state=RunState.CLAIMED), done=3, last=3)
    assert next_step(waits) is None, "it waits for a person"
    assert next_step(replace(waits, open=0, claimed=0)) == Stop(
        1, RunState.COMPLETE, "every success criterion is met (3)"
    )
