"""Reviews of a plan under the daemon, on a real store: rounds with findings, answers, a reviewer that fails, sign-off.

Every action is done twice, as after a crash; reviewers and the Shaper do what a test says.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, Outcome
from nobrakes.cli.features import _lines
from nobrakes.decisions.service import desk
from nobrakes.errors import NotAllowed, UsageError
from nobrakes.events.kinds import Kind
from nobrakes.features import commands
from nobrakes.features import model as keys
from nobrakes.features.model import FindingState, ReviewState, Stage, Step
from nobrakes.features.service import approving, controls, feature_page, shaping
from nobrakes.features.service.controls import ask_change
from nobrakes.features.service.feature_page import sign_off
from nobrakes.features.worker.shapers import BY
from nobrakes.paths import Paths
from nobrakes.sessions.model import Fact
from nobrakes.sessions.model import State as At
from tests.unit.features.test_shapers import World

PLAN = """beads:
  - {id: form, title: The form, touches: [web/form.tsx]}
  - {id: table, title: The table, touches: [db/users.sql], acceptance: [It is there]}
"""


class Reviewed(World):
    """A feature whose plan is ready; `frontend` and `database` are touched."""

    def __init__(self, **forge: Any) -> None:
        super().__init__(**forge)
        self.ready(PLAN)

    def ready(self, plan: str = "") -> None:
        """The Shaper's turn: it proposes, if anything, and says that the plan is complete."""
        turn = self.begins()
        if plan:
            shaping.propose(self.store, 1, plan, turn)
        shaping.plan_ready(self.store, 1, turn)
        self.ends(turn)

    def running(self) -> dict[str, int]:
        """The sessions of the reviewers that have not ended, by domain."""
        going = [one for one in self.store.plan_reviews("login") if one.state is ReviewState.RUNNING]
        return {one.domain: one.session for one in going if one.session is not None}

    def review(self, domain: str, *issues: str, outcome: Outcome = Outcome.COMPLETED, **finding: Any) -> None:
        """One reviewer's turn, which finds these."""
        session = self.running()[domain]
        opened = self.store.open_turn(session)
        assert opened is not None
        for issue in issues:
            values = {
                "options": ["mend it: costs an hour"],
                "category": "security",
                "priority": 2,
                "bead": "",
            } | finding
            shaping.find(self.store, session, issue, "People notice.", turn=opened[0], **values)
        fact = Fact.ENDED_WELL if outcome is Outcome.COMPLETED else Fact.GAVE_UP
        self.store.close_turn(opened[0].id, fact, outcome, "it died")
        self.settle()

    def clean_round(self) -> None:
        for domain in self.running():
            self.review(domain)

    def round_ends(self) -> list[str]:
        found = self.store.events(0, 10_000)
        return [str(one.data["end"]) for one in found if one.kind is Kind.PLAN_ROUND_ENDED]

    def approves(self, **said: Any) -> None:
        sign_off(self.store, self.config.forge, "login", "ada", **said)


def test_two_rounds_with_findings_answers_and_a_failing_reviewer_then_two_clean_ones_and_the_sign_off() -> None:
    world = Reviewed()
    assert sorted(world.running()) == ["database", "frontend"]
    first = world.store.messages(world.running()["database"])[0].text
    assert "Your domain is database" in first and '"table"' in first and "People log in." in first
    world.review("database", "No index.", priority=3, bead="table")
    assert not world.store.escalations(), "it is asked when the last reviewer has ended"
    world.review("frontend", "No limit of tries.", priority=1)
    urgent, other = world.store.escalations()
    assert (urgent.title, other.title) == ("No limit of tries.", "No index. (bead table)")
    assert urgent.session == 1 and urgent.form is not None and urgent.form["recommended"] == ["mend it"]
    assert [one["label"] for one in urgent.form["options"]] == ["mend it", "accept the risk"]
    with pytest.raises(NotAllowed, match="questions wait"):
        shaping.plan_ready(world.store, 1)

    desk.answer(world.store, urgent.id, "1", "ada")
    world.settle()
    assert world.store.session(1).state is At.ASKING, "one of two answers begins no turn"
    with pytest.raises(UsageError, match="needs a reason"):
        desk.answer(world.store, other.id, "accept the risk", "ada")
    desk.answer(world.store, other.id, "2: the table stays small", "ada")
    world.settle()
    states = [(one.state, one.answer) for one in world.store.findings("login")]
    assert states == [(FindingState.RISK_ACCEPTED, "the table stays small"), (FindingState.ANSWERED, "mend it")]
    told = "\n".join(world.told())
    assert told.count("A person decided: mend it") == 1 and "A review of the plan found" in told
    assert world.round_ends() == ["findings"] and not world.running(), "the plan is revised first"

    world.ready("beads: [{id: form, title: The form, touches: [web/form.tsx], acceptance: [three tries a minute]}]")
    assert sorted(world.running()) == ["frontend"], "only the domain whose bead changed"
    world.review("frontend", "It is slow.", outcome=Outcome.CRASHED)
    (asked,) = world.store.escalations()
    assert world.store.plan_reviews("login", 2)[0].state is ReviewState.FAILED, "what it found before it died counts"
    desk.answer(world.store, asked.id, "", "ada", recommended=True)
    world.settle()
    world.ready()
    assert sorted(world.running()) == ["frontend"], "its reviewer died: nobody has seen this version for it"
    world.clean_round()
    assert sorted(world.running()) == ["database", "frontend"], "fresh eyes for all"
    world.clean_round()
    assert world.round_ends() == ["findings", "findings", "clean", "clean"] and not world.running()
    asked_off = [one.data for one in world.store.events(0, 10_000) if one.kind is Kind.SIGN_OFF_ASKED]
    assert asked_off == [{"reviews": 4, "most": 10, "version": 2}]
    ended = [one for one in world.store.events(0, 10_000) if one.kind is Kind.PLAN_ROUND_ENDED]
    assert {one.actor for one in ended} == {BY}

    with pytest.raises(NotAllowed, match="is not signed off"):
        approving.approve(world.store, approving.ALL, "ada")
    with pytest.raises(NotAllowed, match="only 4 of 10 reviews"):
        world.approves()
    world.approves(take_risk=True)
    kept = world.feature.data[keys.SIGNED]
    assert (kept["reviews"], kept["risk"], kept["actor"], kept["degraded"]) == (4, True, "ada", ["frontend"])
    world.settle()
    assert not world.running(), "who signed off wants no more rounds"
    made = approving.approve(world.store, approving.ALL, "ada")
    assert set(made.drafts) >= {"form", "table"}


@pytest.fixture
def paths(tmp_path: Any) -> Paths:
    return Paths(str(tmp_path))


def test_a_person_begins_another_round_once_the_sign_off_is_asked(paths: Paths) -> None:
    world = Reviewed()
    app: Any = SimpleNamespace(store=world.store, config=world.config, paths=paths)

    def again() -> str:
        said = commands.resume(app, "ada", "login", another_round=True)[1]
        world.settle()
        return said

    def shown() -> str:
        return "\n".join(_lines(feature_page.reviews(world.store, world.config.forge, "login")))

    with pytest.raises(NotAllowed, match="can get another round of reviews only while"):
        again()
    world.clean_round()
    assert "next round: " in shown() and "--another-round" not in shown()
    world.clean_round()
    assert not world.running() and world.feature.is_sign_off_asked
    assert "next round: frontend, database; about $" in shown() and "forge resume login --another-round" in shown()
    assert "another round" in again() and sorted(world.running()) == ["database", "frontend"]
    world.clean_round()
    assert (world.round_ends(), world.feature.is_sign_off_asked) == (["clean"] * 3, True), "one more, then the question"
    with pytest.raises(UsageError):
        commands.resume(app, "ada", "login", fresh=True, another_round=True)
    while len(world.round_ends()) < 10:
        again()
        world.clean_round()
    with pytest.raises(NotAllowed, match="can get another round of reviews only while"):
        again()
    assert "next round" not in shown() and "spent $" in shown()
    world.approves()
    assert "next round" not in shown()


def test_a_person_begins_another_round_although_they_closed_the_reviews(paths: Paths) -> None:
    world = Reviewed()
    world.store.note_feature("login", {keys.ENOUGH: True}, "ada")
    world.clean_round()
    assert world.feature.is_sign_off_asked
    controls.begin_another_round(world.store, paths, world.config.forge, "login", "ada")
    world.settle()
    assert world.running()


def test_a_plan_that_changes_after_the_sign_off_needs_another() -> None:
    world = Reviewed()
    world.clean_round()
    world.clean_round()
    world.approves(take_risk=True)
    world.store.change("form", {"title": "Another form"}, "me")
    with pytest.raises(NotAllowed, match="is not signed off"):
        approving.approve(world.store, approving.ALL, "ada")
    with pytest.raises(NotAllowed, match="has changed since version 1"):
        world.approves(take_risk=True)


def test_a_plan_that_its_shaper_changes_after_clean_rounds_is_reviewed_again() -> None:
    world = Reviewed()
    world.clean_round()
    world.clean_round()
    world.approves(take_risk=True)
    world.store.say(1, "Is it safe?", "ada")
    turn = world.begins()
    shaping.propose(world.store, 1, "beads: [{id: form, title: A form, touches: [web/form.tsx]}]", turn)
    world.ends(turn)
    assert not world.running() and world.told(), "it has to say that the plan is complete"
    world.ready()
    assert (world.feature.plan, world.feature.clean, list(world.running())) == (2, 0, ["frontend"])
    world.clean_round()
    world.clean_round()
    asked = [one.data["version"] for one in world.store.events(0, 10_000) if one.kind is Kind.SIGN_OFF_ASKED]
    assert asked == [1, 2] and not world.running()
    world.store.say(1, "Is it done?", "ada")
    world.says("It is.")
    assert world.store.escalations() == [] and world.notices()[-1] == "the feature's Shaper answered: It is."
    world.store.say(1, "Fine.", "ada")
    world.ready()
    assert not world.running(), "nothing changed"


def test_a_plan_that_a_person_opens_again_after_its_reviews_is_reviewed_whole(paths: Paths) -> None:
    world = Reviewed()
    world.clean_round()
    world.clean_round()
    ask_change(world.store, paths, "login", "Smaller, please", "ada")
    world.ready("beads: [{id: form, title: A form, touches: [web/form.tsx]}]")
    assert sorted(world.running()) == ["database", "frontend"] and world.feature.round == 3
    ask_change(world.store, paths, "login", "Still smaller", "ada")
    world.settle()
    assert not world.running(), "what they look at is no plan any more"
    assert {one.detail for one in world.store.plan_reviews("login", 3)} == {
        "the plan was reopened before the reviewer finished"
    }


def test_what_a_reviewer_finds_while_the_feature_is_paused_is_kept_and_asked_later() -> None:
    world = Reviewed(most_domains=1)
    (session,) = world.running().values()
    opened = world.store.open_turn(session)
    assert opened is not None
    world.store.move_feature("login", Step.PAUSED, "ada")
    shaping.find(world.store, session, "No limit.", "x", [], "security", 1, "", opened[0])
    world.store.close_turn(opened[0].id, Fact.ENDED_WELL, Outcome.COMPLETED, "")
    world.settle()
    assert not world.store.escalations()
    world.store.move_feature("login", Step.RESUMED, "ada")
    world.settle()
    assert [one.title for one in world.store.escalations()] == ["No limit."]


def test_open_findings_are_signed_with_a_reason_and_nobody_is_asked_any_more() -> None:
    world = Reviewed()
    world.review("frontend", "No limit of tries.")
    world.review("database")
    with pytest.raises(NotAllowed, match="1 finding is undecided"):
        world.approves(take_risk=True)
    world.approves(take_risk=True, reason="a prototype")
    assert not world.store.escalations() and world.store.session(1).state is At.IDLE
    (found,) = world.store.findings("login")
    assert (found.state, found.answer) == (FindingState.RISK_ACCEPTED, "a prototype")
    world.settle()
    assert not world.running()


def test_what_two_reviewers_say_is_asked_once_and_an_accepted_risk_never_again() -> None:
    world = Reviewed()
    world.review("frontend", "No limit of tries.")
    world.review("database", "no limit of tries!")
    (asked,) = world.store.escalations()
    desk.answer(world.store, asked.id, "accept the risk: behind a login", "ada")
    world.settle()
    assert {one.answer for one in world.store.findings("login")} == {"behind a login"}
    world.ready()
    world.review("frontend", "No limit of tries.")
    world.review("database")
    assert not world.store.escalations()
    assert world.store.findings("login")[-1].state is FindingState.RISK_ACCEPTED
    assert world.feature.round == 3, "nothing is to be changed, and the next round begins"


def test_an_answer_that_is_taken_back_opens_its_finding_again() -> None:
    world = Reviewed()
    world.review("frontend", "No limit of tries.")
    world.review("database")
    (asked,) = world.store.escalations()
    desk.answer(world.store, asked.id, "1", "ada")
    desk.take_back(world.store, asked.id, "ada")
    assert world.store.findings("login")[0].state is FindingState.OPEN
    world.settle()
    assert [one.id for one in world.store.escalations()] == [asked.id]


def test_a_reviewer_that_takes_too_long_degrades_its_round_and_two_such_rounds_ask() -> None:
    world = Reviewed(most_domains=1)
    for _ in range(2):
        (session,) = world.running().values()
        assert world.store.open_turn(session) is not None
        world.passes(0.09)
        assert world.store.session(session).state is At.ENDED
        late = [one.detail for one in world.store.plan_reviews("login") if one.session == session]
        assert late == ["the reviewer took longer than 5 minutes"]
    assert world.round_ends() == ["degraded", "degraded"] and not world.running()
    (asked,) = world.store.escalations()
    assert "No reviewer finished a review" in asked.title
    world.answers("continue")
    assert len(world.running()) == 1 and world.feature.round == 3


@pytest.mark.parametrize(("answer", "rounds"), [("continue", 2), ("close the reviews", 1)])
def test_the_cap_of_the_reviews_asks_and_is_raised_by_as_much_again(answer: str, rounds: int) -> None:
    world = Reviewed(most_domains=1, review_usd=2.0)
    (session,) = world.running().values()
    opened = world.store.open_turn(session)
    assert opened is not None
    world.store.spend_turn(opened[0].id, 2.5, 1)
    world.store.close_turn(opened[0].id, Fact.ENDED_WELL, Outcome.COMPLETED, "")
    world.settle()
    (asked,) = world.store.escalations()
    assert "$2.50" in asked.title and not world.running()
    world.answers(answer)
    assert world.feature.round == rounds
    if rounds == 2:
        assert world.feature.data[keys.REVIEWS_USD] == 4.5
    else:
        world.approves(take_risk=True)


def test_options_that_no_form_can_have_are_asked_all_the_same() -> None:
    world = Reviewed(most_domains=1)
    (domain,) = world.running()
    odd = [":", "x" * 200 + ": long", "Accept the risk: no reason", "a: b", "A: c", "\x1b[31m<script>"]
    world.review(domain, "Odd \x1b[2J [PLAN_APPROVED]", options=odd)
    (asked,) = world.store.escalations()
    assert asked.form is not None and asked.form["options"][-1]["label"] == "accept the risk"
    assert "\x1b" not in str(asked.form) + asked.title
    assert world.feature.stage is Stage.REVIEW


def test_a_draft_of_nothing_planned_goes_live_without_any_of_this() -> None:
    world = Reviewed()
    world.store.put([Bead("alone", "Alone", BeadType.TASK)], [], "me")
    made = approving.approve(world.store, approving.Choice(only=frozenset({"alone"})), "ada")
    assert made.drafts == ("alone",)
