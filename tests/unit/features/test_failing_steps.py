"""A step of a feature that fails again and again: what a person is offered, and what each of it does."""

from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.agents.worker.end import offered
from nobrakes.beads.model import Bead, Status
from nobrakes.decisions import forms
from nobrakes.decisions.model import Escalation, EscalationType, NewEscalation
from nobrakes.decisions.service import desk
from nobrakes.errors import NotAllowed
from nobrakes.features.model import HELD_WITH, RESHAPED, ItemKind, ItemState, Stage, State
from nobrakes.features.reviewed_plan import checkpoint
from nobrakes.features.service import controls
from nobrakes.features.worker.forge import collect
from tests.unit.features.test_checkpoints_done import Built


def fails(world: Built, bead: str = "form", type_: EscalationType = EscalationType.REPEATED_FAILURE) -> Escalation:
    new = NewEscalation(type_, f"{bead} failed 3 times", hypothesis="a missing module")
    asked = world.store.escalate(offered(world.store, world.store.bead(bead), new), bead, None, "nobrakes")
    collect(world.ports, world.feature)
    assert not collect(world.ports, world.feature), "it is collected once"
    world.settle()
    return asked


def test_it_is_one_question_with_guidance_the_plan_a_pause_and_the_way_back() -> None:
    world = Built()
    asked = fails(world)
    assert asked.form is not None and asked.form["priority"] == 1
    assert forms.form(asked.form).labels() == [forms.RETRY, forms.REPLAN, forms.FAILING_PAUSE, forms.ROLL_BACK]
    (item,) = world.store.items("login")
    assert (item.kind, item.state, item.line) == (ItemKind.ESCALATION, ItemState.WAITING, asked.id)
    assert "form failed 3 times" in item.text and "a missing module" in item.text
    desk.answer(world.store, asked.id, "install it first", "ada")
    bead = world.store.bead("form")
    assert bead.status is not Status.ESCALATED and (bead.held, bead.failures) == (None, 0)
    assert world.store.escalation(asked.id).answer == "retry with guidance: install it first"
    assert collect(world.ports, world.feature)
    assert world.store.items("login")[0].state is ItemState.RESOLVED, "what was decided is collected no more"
    other = fails(world, "table", EscalationType.CONFLICT)
    assert other.form is None, "a conflict is decided by what is shown"
    new = NewEscalation(EscalationType.REPEATED_FAILURE, "alone failed 3 times")
    world.store.put([Bead("alone", "Alone", status=Status.NEEDS_DOER)], [], "ada")
    assert offered(world.store, world.store.bead("alone"), new) is new, "it is no step of a feature"


def test_the_plan_is_changed_because_of_it_and_the_bead_rests_until_then() -> None:
    world = Built()
    asked = fails(world)
    desk.answer(world.store, asked.id, "2", "ada")
    assert world.store.escalation(asked.id).resolution == forms.REPLAN
    assert world.store.bead("form").held == RESHAPED.format(feature="login")
    before = len(world.store.messages(1))
    world.settle()
    assert (world.feature.stage, world.feature.replannings) == (Stage.REVIEW, 1)
    (said,) = world.store.messages(1)[before:]
    assert "a person chose to change the plan because of: form failed 3 times" in said.text
    assert world.store.bead("form").held and world.store.bead("table").held is None, "the others go on"
    world.ready()
    world.settle()
    assert world.feature.stage is Stage.IMPLEMENTATION and world.store.bead("form").held is None


@pytest.mark.parametrize("chosen", [forms.FAILING_PAUSE, forms.ROLL_BACK])
def test_the_feature_rests_with_all_its_live_beads_until_it_is_resumed(chosen: str) -> None:
    world = Built()
    asked = fails(world)
    decided = desk.answer(world.store, asked.id, chosen, "ada")
    advice = "feature login is paused. To see and confirm the rollback: `nobrakes forge rollback login`"
    assert (advice in desk.then(world.store, decided)) is (chosen == forms.ROLL_BACK)
    assert world.feature.state is State.PAUSED
    reason = HELD_WITH.format(feature="login")
    assert [world.store.bead(one).held for one in ("form", "table")] == [reason, reason]
    world.settle()
    assert world.store.bead("form").held == reason, "nothing lets go of it while the feature rests"
    paths: Any = SimpleNamespace(wake="/nowhere")
    controls.resume(world.store, paths, "login", "ada")
    assert [world.store.bead(one).held for one in ("form", "table")] == [None, None]


def test_a_refused_choice_leaves_the_question_and_what_an_agent_wrote_does_nothing() -> None:
    world = Built()
    asked = fails(world)
    world.store.change_feature("login", {"state": State.PAUSED}, "ada")
    with pytest.raises(NotAllowed, match="is paused"):
        desk.answer(world.store, asked.id, forms.REPLAN, "ada")
    assert world.store.escalation(asked.id).resolved_at is None and world.store.bead("form").held is None
    forged = forms.as_values(forms.made("radio", [forms.FAILING_PAUSE, "pause the bead"]))
    question = NewEscalation(EscalationType.QUESTION, "Really?", form=forged)
    mine = world.store.escalate(question, "table", None, "Ada")
    desk.answer(world.store, mine.id, "2", "ada")
    assert world.store.escalation(mine.id).answer == "pause the bead" and world.store.bead("table").held is None


def test_what_beads_wait_for_is_told_at_a_checkpoint_once() -> None:
    world = Built()
    fails(world, type_=EscalationType.CONFLICT)
    before = len(world.store.messages(1))
    checkpoint(world.store, "login", "ada")
    world.settle()
    assert world.feature.replannings == 1
    (said,) = world.store.messages(1)[before:]
    assert said.text.count("form failed 3 times") == 1 and "> escalation (bead form): conflict: " in said.text
    assert world.store.bead("form").status is Status.ESCALATED, "the person may still decide it"
