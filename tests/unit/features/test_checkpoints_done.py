"""A feature that is built goes back to its plan: collected once, told once, held only where the new plan says so."""

from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, Status
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import FileTooLarge, GitFailed, NotAllowed
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.model import ItemKind, ItemState, Stage, Step
from nobrakes.features.reviewed_plan import checkpoint
from nobrakes.features.service import approving, shaping
from nobrakes.features.worker import forge
from tests.unit.features.test_plan_reviews import Reviewed


class Built(Reviewed):
    """A feature whose plan went live."""

    def __init__(self, **forge: Any) -> None:
        super().__init__(**forge)
        self.clean_round()
        self.clean_round()
        self.approves(take_risk=True)
        self.goes_live()

    def goes_live(self) -> None:
        approving.approve(self.store, approving.ALL, "ada")
        if self.feature.stage is Stage.REVIEW:
            self.store.move_feature("login", Step.APPROVED, "ada")
        self.settle()

    def suggests(self, text: str, bead: str = "form") -> None:
        self.store.escalate(NewEscalation(EscalationType.DOER_SUGGESTION, text), bead, None, "Ada")
        forge.collect(self.ports, self.feature)
        assert not forge.collect(self.ports, self.feature), "it is collected once"


def test_what_is_collected_goes_to_the_plan_all_of_it_is_reviewed_and_new_beads_go_live_by_a_yes() -> None:
    world = Built(collect=2)
    world.suggests("dependency: a mail server")
    world.settle()
    assert world.feature.stage is Stage.IMPLEMENTATION
    world.suggests("Rename the table", "table")
    kinds = [one.kind for one in world.store.items("login")]
    assert kinds == [ItemKind.DEPENDENCY, ItemKind.SUGGESTION]
    before = len(world.store.messages(1))
    world.settle()
    assert (world.feature.stage, world.feature.replannings) == (Stage.REVIEW, 1)
    assert all(one.state is ItemState.REVIEWED for one in world.store.items("login"))
    said = world.store.messages(1)[before:]
    assert len(said) == 1 and "a mail server" in said[0].text and "2 items are collected" in said[0].text
    assert not world.running(), "the Shaper plans first"
    assert world.store.bead("form").held is None, "live beads go on"

    turn = world.begins()
    plan = """beads:
  - {id: form, title: A better form}
  - {id: mail, title: The mail server, touches: [infra/mail.tf], needs: [table]}
"""
    shaping.propose(world.store, 1, plan, turn)
    shaping.plan_ready(world.store, 1, turn)
    world.ends(turn)
    assert sorted(world.running()) == ["database", "devops", "frontend"], "a full review"
    assert world.store.bead("form").held is not None and world.store.bead("table").held is None
    with pytest.raises(NotAllowed, match="not signed off"):
        approving.approve(world.store, approving.ALL, "ada")
    world.clean_round()
    world.clean_round()
    world.approves(take_risk=True)
    world.goes_live()
    assert world.store.bead("form").held is None and world.store.bead("form").title == "A better form"
    assert world.store.bead("mail").status is not Status.DRAFT


def test_a_checkpoint_that_changes_nothing_goes_on_without_a_yes() -> None:
    world = Built()
    checkpoint(world.store, "login", "ada")
    world.settle()
    assert world.feature.stage is Stage.REVIEW
    with pytest.raises(NotAllowed, match="a checkpoint is only for a feature that agents build"):
        checkpoint(world.store, "login", "ada")
    world.ready()
    assert world.feature.stage is Stage.IMPLEMENTATION and not world.running()
    assert not [one for one in world.store.beads() if one.status is Status.DRAFT]


def test_the_epic_is_not_complete_while_something_collected_waits() -> None:
    world = Built()
    world.suggests("scope: two more pages")
    for bead in ("form", "table"):
        world.store.record(Event(Kind.DONE_BY_HAND, bead, actor="ada"))
    for step in (Step.PAUSED, Step.RESUMED):
        world.store.move_feature("login", step, "ada")
        assert forge.holds_back(world.ports, "login"), "a checkpoint comes first, now or later"
    world.settle()
    assert world.feature.stage is Stage.REVIEW and forge.holds_back(world.ports, "login")
    world.ready()
    assert not forge.holds_back(world.ports, "login")


def test_an_ended_session_is_begun_again_with_what_was_collected() -> None:
    world = Built()
    world.store.end_session(1, "ada")
    checkpoint(world.store, "login", "ada")
    world.settle()
    assert world.feature.session not in (None, 1)
    assert "a person asked for this checkpoint" in world.store.messages(world.feature.session or 0)[0].text


def test_a_merge_of_a_bead_in_an_epic_of_the_plan_is_looked_into_and_what_is_left_out_is_told() -> None:
    world = Built()
    world.store.put([Bead("part", "Part", type=BeadType.EPIC, epic="login")], [], "me")
    world.store.put([Bead("inner", "Inner", epic="part", status=Status.OPEN, merged_commit="m1")], [], "me")
    world.store.put([Bead("gone", "Gone", epic="login", status=Status.OPEN, merged_commit="m2")], [], "me")
    world.ports.git = Merged()
    assert forge.collect(world.ports, world.feature)
    assert [(one.bead, one.file, one.line) for one in world.store.items("login")] == [
        ("inner", "a.py", 1),
        ("inner", "a.py", 2),
    ], "the same words twice are two"
    told = world.notices()
    assert [text for text in told if "merge of inner" in text and "b.py" in text], "a file that is too large"
    assert [text for text in told if "merge of gone" in text and "broken" in text]
    assert not forge.collect(world.ports, world.feature), "it is told once"


class Merged:
    """Git, with a merge m1 that changed two files, and m2 that it cannot read."""

    def made(self, commit: str) -> Any:
        return SimpleNamespace(parents=("m0",))

    def changes(self, base: str, commit: str) -> Any:
        if commit == "m2":
            raise GitFailed("git is broken")
        return [SimpleNamespace(path=path) for path in ("b.py", "a.py")]

    def read(self, commit: str, path: str, limit: int) -> bytes | None:
        if path == "b.py":
            raise FileTooLarge("too large")
        return b"# TODO: mend\n# TODO: mend\n" if commit == "m1" else None
