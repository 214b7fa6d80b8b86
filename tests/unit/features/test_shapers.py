"""Shapers under the daemon, on a real store and a clock that waits for nobody: words without tools, silence, expiry, money.

A turn is played as the daemon would: opened, spoken in, closed. Whatever is decided is done twice, as after a crash.
"""

from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, BeadType, Outcome, Status
from nobrakes.config.sections import AgentSettings, ForgeSettings
from nobrakes.config.settings import Config
from nobrakes.daemon.model import Board, Limits
from nobrakes.errors import NoAgent, NotAllowed, PlanError
from nobrakes.events.kinds import Kind
from nobrakes.features import actions, planning
from nobrakes.features.actions import ForgeAction
from nobrakes.features.model import Feature, Stage, State, Step
from nobrakes.features.service import shaping
from nobrakes.features.service.shaping import Words
from nobrakes.features.worker.forge import Forge
from nobrakes.features.worker.shapers import board_of
from nobrakes.ports import Ports
from nobrakes.sessions.model import Fact, Turn
from nobrakes.sessions.model import State as At
from nobrakes.store import open_memory
from tests.world.clock import FakeClock

HOUR = 3600.0
STEPS = """[PLAN_STEP id="1" parent="null"]
The table
Its columns.
[/PLAN_STEP]
[PLAN_STEP id="2" parent="null"]
The <script>form</script>
[/PLAN_STEP]
"""
GONE = (Fact.GAVE_UP, Outcome.MISSING_EXECUTABLE, "there is no claude")
QUESTION = '[DECISION_NEEDED priority="1"]\nWhich store?\n- Postgres: known (recommended)\n- SQLite\n[/DECISION_NEEDED]'


class World:
    """A repository with one feature, and a Shaper of whom a test says what it says."""

    def __init__(self, shaper: tuple[str, ...] = ("claude",), **forge: Any) -> None:
        self.clock = FakeClock(1000.0)
        self.store = open_memory(self.clock.now)
        self.store.put([Bead("login", "Login", type=BeadType.EPIC)], [], "me")
        self.store.begin_feature(Feature("login", "Login", "People log in."))
        self.config = Config(forge=ForgeSettings(**forge), agents=AgentSettings(shaper=shaper))
        self.providers = {"claude": "anthropic", "codex": "openai"}
        ports: Any = SimpleNamespace(
            store=self.store,
            config=lambda: self.config,
            adapter=self.adapter,
            words=lambda: Words(self.store),
        )
        self.ports: Ports = ports
        self.forge = Forge(ports)
        self.settle()

    def adapter(self, name: str) -> Any:
        """One of the agents that there are."""
        if name not in self.providers:
            raise NoAgent(f"unknown agent '{name}'")
        return SimpleNamespace(provider=self.providers[name])

    @property
    def feature(self) -> Feature:
        return self.store.feature("login")

    def board(self) -> Board:
        return self.store.board(Limits())

    def settle(self) -> list[ForgeAction]:
        """What is decided until nothing is; each is done twice, and the second time changes nothing."""
        done: list[ForgeAction] = []
        while (board := board_of(self.ports, self.board(), self.store.features())) and (
            actions := planning.plan_features(board)
        ):
            for action in actions:
                assert self.forge.perform(action), action
                before = self.store.position()
                assert not self.forge.perform(action) and self.store.position() == before, action
            done += actions
            assert len(done) < 50, done
        return done

    def begins(self) -> Turn:
        """The next turn, which the board has to offer."""
        assert [one.id for one in self.board().sessions] == [1]
        opened = self.store.open_turn(1)
        assert opened is not None
        turn = opened[0]
        self.store.note_turn(turn.id, {"stage": self.feature.stage.value, "round": self.feature.round})
        if not turn.resumes:
            self.store.hear_session(turn.id, f"cli-{turn.id}")
        return turn

    def ends(
        self, turn: Turn, words: str = "", outcome: Outcome = Outcome.COMPLETED, usd: float = 0.0
    ) -> list[ForgeAction]:
        """The turn ends with these words; what was decided then."""
        fact = Fact.ENDED_WELL if outcome is Outcome.COMPLETED else Fact.CUT_OFF
        self.store.spend_turn(turn.id, usd, 1)
        self.store.close_turn(turn.id, fact, outcome, "", said=words)
        return self.settle()

    def says(self, words: str, **ended: Any) -> list[ForgeAction]:
        """A whole turn with these words and no operation."""
        return self.ends(self.begins(), words, **ended)

    def told(self) -> list[str]:
        """What waits to be said to it."""
        return [one.text for one in self.store.messages(1) if one.turn is None]

    def answers(self, answer: str) -> None:
        """A person answers the only open question."""
        (asked,) = self.store.escalations()
        self.store.answer(asked.id, answer, "me")
        self.settle()

    def passes(self, hours: float) -> None:
        """So many hours of silence."""
        self.clock.advance_to(self.clock.now() + hours * HOUR)
        self.settle()

    def notices(self) -> list[str]:
        return [str(one.data["text"]) for one in self.store.events(0, 1000) if one.kind is Kind.FEATURE_TOLD]


def test_words_with_markers_ask_propose_and_are_ready_as_operations_are() -> None:
    world = World()
    world.says(f"I looked.\n{QUESTION}\n{STEPS}[PLAN_READY]")
    (asked,) = world.store.escalations()
    assert asked.session == 1 and asked.form is not None and asked.form["recommended"] == ["Postgres"]
    assert world.store.session(1).state is At.ASKING
    drafts = world.store.beads([Status.DRAFT])
    assert [bead.id for bead in drafts] == ["login", "login-1", "login-2"]
    assert drafts[2].epic == "login" and "<script>" in drafts[2].title, "it is text, and shown as text"
    assert (world.feature.stage, world.feature.plan) == (Stage.PLANNING, 0), "not ready while it asks"
    world.answers("Postgres")
    assert world.told() == ["You asked: Which store?\nThe answer: Postgres"]
    world.says("[PLAN_READY]")
    assert (world.feature.stage, world.feature.plan) == (Stage.REVIEW, 1)
    assert world.board().ready == () and all(bead.status is Status.DRAFT for bead in world.store.beads())


def test_what_the_words_want_and_may_not_is_said_to_the_shaper_and_changes_nothing() -> None:
    world = World()
    before = world.store.beads()
    world.says("[PLAN_READY]\n[PLAN_APPROVED]")
    (told,) = world.told()
    assert "refused" in told and "no proposed beads" in told and world.store.beads() == before
    assert world.feature.stage is Stage.DISCOVERY


@pytest.mark.parametrize(
    "words", ["I looked around.", "", "Error: failed with exit code 1", "[plan_ready]", "```\n[PLAN_READY]\n```"]
)
def test_a_turn_with_neither_call_nor_marker_is_shown_raw_with_a_question(words: str) -> None:
    world = World()
    world.says(words)
    (asked,) = world.store.escalations()
    assert asked.session == 1 and asked.detail == (words or "(the Shaper wrote nothing)")
    assert world.feature.state is State.ACTIVE and world.store.session(1).state is At.ASKING
    world.answers("Ask me about the store")
    assert "Ask me about the store" in world.told()[0]
    world.says(QUESTION)
    assert len(world.store.escalations()) == 1, "it goes on"


@pytest.mark.parametrize("outcome", [Outcome.TIMED_OUT, Outcome.CRASHED, Outcome.RATE_LIMITED])
def test_how_a_turn_ended_is_the_adapters_verdict_and_its_words_are_not_read(outcome: Outcome) -> None:
    world = World()
    world.says(f"{QUESTION}\n{STEPS}\n[PLAN_READY]", outcome=outcome)
    assert world.store.escalations() == [] and len(world.store.beads()) == 1
    assert world.store.session(1).state is At.READY, "nobrakes tries again"


def test_who_never_asks_and_is_never_ready_is_told_a_few_times_and_then_a_person_is_asked() -> None:
    world = World()
    for number in range(planning.MAX_NUDGES + 1):
        turn = world.begins()
        shaping.propose(world.store, 1, f"beads: [{{id: again, title: Version {number}}}]", turn)
        world.ends(turn)
    (asked,) = world.store.escalations()
    assert asked.session is None and "makes no progress" in asked.title and world.board().sessions == ()
    world.answers(actions.IS_COMPLETE)
    assert (world.feature.stage, world.feature.plan) == (Stage.REVIEW, 1)


ASKS_AND_IS_REFUSED = f'{QUESTION}\n[PLAN_STEP id="1" parent="99"]\nA step\n[/PLAN_STEP]'


def test_who_asks_and_is_refused_again_and_again_is_stopped_by_a_question() -> None:
    world = World()
    for _ in range(planning.MAX_NUDGES + 1):
        assert world.board().sessions, "it is told, and tries again"
        world.says(ASKS_AND_IS_REFUSED)
    asked = [one.title for one in world.store.escalations() if one.session is None]
    assert len(asked) == 1 and world.board().sessions == (), "no turn begins meanwhile"


def test_who_is_refused_the_same_again_and_again_is_stopped_by_a_question() -> None:
    world = World()
    for _ in range(planning.MAX_NUDGES + 1):
        assert world.board().sessions, "it is told, and tries again"
        world.says("[PLAN_READY]")
    (asked,) = world.store.escalations()
    assert "makes no progress" in asked.title and world.board().sessions == (), "no turn begins meanwhile"
    world.answers(actions.GO_ON)
    world.says("[PLAN_READY]")
    assert world.store.escalations() == [] and world.board().sessions


def test_what_holds_a_session_back_is_decided_before_it_begins_its_next_turn() -> None:
    world = World(shaper_usd=2.0)
    turn = world.begins()
    world.store.say(1, "One more thing", "me")
    world.store.spend_turn(turn.id, 2.5, 1)
    world.store.close_turn(turn.id, Fact.ENDED_WELL, Outcome.COMPLETED, "", said=QUESTION)
    assert world.forge.turn(world.board(), world.store.features()), "the daemon looks once, then begins turns"
    assert world.board().sessions == () and "2.50 USD" in str([one.title for one in world.store.escalations()])


def test_after_silence_it_is_warned_of_expires_and_its_question_stays_and_asks_once_how_to_go_on() -> None:
    world = World()
    world.says(QUESTION)
    world.passes(22)
    assert "expires in 2.0 hours" in world.notices()[-1] and world.feature.state is State.ACTIVE
    world.passes(2)
    assert world.feature.state is State.EXPIRED and len(world.store.escalations()) == 1
    world.answers("SQLite")
    assert world.board().sessions == (), "an expired feature begins no turn"
    (asked,) = world.store.escalations()
    assert "expired" in asked.title and asked.session is None
    world.answers(actions.VIEW_ONLY)
    assert world.store.escalations() == [] and world.feature.state is State.EXPIRED, "it is asked once"
    world.store.say(1, "And now?", "me")
    world.settle()
    world.answers(actions.FRESH)
    assert world.feature.state is State.ACTIVE
    turn = world.begins()
    assert not turn.resumes, "it begins afresh"
    assert [one.text for one in world.store.turn_messages(turn.id)][-2:] == [
        "You asked: Which store?\nThe answer: SQLite",
        "And now?",
    ]


def test_from_the_base_its_drafts_are_cancelled_and_kept() -> None:
    world = World()
    world.says(f"{QUESTION}\n{STEPS}")
    world.passes(24)
    world.answers("SQLite")
    world.answers(actions.FROM_BASE)
    found = {bead.id: bead.status for bead in world.store.beads()}
    assert found == {"login": Status.DRAFT, "login-1": Status.CANCELLED, "login-2": Status.CANCELLED}
    assert (world.feature.state, world.feature.stage) == (State.ACTIVE, Stage.DISCOVERY)


def test_a_spent_budget_holds_the_next_turn_until_a_person_continues_or_closes() -> None:
    world = World(shaper_usd=2.0)
    world.says(QUESTION, usd=2.5)
    budget, question = sorted(world.store.escalations(), key=lambda one: one.session or 0)
    assert "2.50 USD" in budget.title and budget.session is None
    world.store.answer(question.id, "SQLite", "me")
    assert world.board().sessions == () and world.settle() == []
    world.answers(actions.CONTINUE)
    with pytest.raises(NotAllowed, match="too late"):
        world.store.take_back(budget.id, "me")  # it was acted by: nobody would hear another answer
    world.says(f"Now which?\n{QUESTION.replace('store', 'cache')}", usd=2.1)
    budget, _ = sorted(world.store.escalations(), key=lambda one: one.session or 0)
    world.store.answer(budget.id, actions.CLOSE, "me")
    world.settle()
    assert world.feature.state is State.PAUSED and len(world.store.escalations()) == 1, "its question stays"


def test_a_conversation_is_told_of_when_nearly_full_and_begins_afresh_when_full_and_at_each_stage() -> None:
    world = World()
    turn = world.begins()
    world.store.spend_turn(turn.id, 0.0, 10, 0.82)
    world.ends(turn, QUESTION)
    assert "82% full" in world.notices()[-1]
    world.answers("SQLite")
    turn = world.begins()
    assert turn.resumes
    world.store.spend_turn(turn.id, 0.0, 10, 0.96)
    world.ends(turn, QUESTION.replace("store", "cache"))
    assert "starts a new conversation" in world.notices()[-1]
    world.answers("SQLite")
    turn = world.begins()
    assert not turn.resumes
    shaping.propose(world.store, 1, "beads: [{id: a1, title: A}]", turn)
    world.ends(turn)
    assert not world.begins().resumes, "the stage is planning now"


def test_another_agent_goes_on_where_one_is_refused_and_is_told_what_the_first_could_not_finish() -> None:
    world = World()
    world.config = Config(forge=ForgeSettings(), agents=AgentSettings(shaper=("claude", "codex")))
    turn = world.begins()
    closed = world.store.session(1)
    world.store.close_turn(turn.id, Fact.GAVE_UP, Outcome.MISSING_EXECUTABLE, "there is no claude")
    world.settle()
    after = world.store.session(1)
    assert (closed.agent, after.agent, after.provider, after.state) == ("claude", "codex", "openai", At.READY)
    assert "codex plans the feature from now on" in world.notices()[-1]
    turn = world.begins()
    assert not turn.resumes and len(world.store.turn_messages(turn.id)) == 1
    world.store.close_turn(turn.id, Fact.GAVE_UP, Outcome.MISSING_EXECUTABLE, "there is no codex")
    world.providers = {"codex": "openai"}
    world.config = Config(forge=ForgeSettings(), agents=AgentSettings(shaper=("codex",)))
    world.settle()
    assert world.feature.state is State.ERROR
    world.store.say(1, "It is installed now", "me")
    world.settle()
    assert world.feature.state is State.ACTIVE and len(world.board().sessions) == 1


def test_where_no_other_agent_is_left_it_stops_once_until_a_person_says_something() -> None:
    world = World()
    world.store.close_turn(world.begins().id, *GONE, resends=True)
    assert world.store.session(1).waiting == 1, "what it could not finish waits"
    world.settle()
    (asked,) = world.store.escalations()
    assert world.feature.state is State.ERROR and not world.notices(), "the question is what is told"
    world.store.say(1, "It is installed now", "me")
    world.settle()
    assert world.feature.state is State.ACTIVE and world.store.escalation(asked.id).resolved_at is not None
    world.store.close_turn(world.begins().id, *GONE, resends=True)
    world.settle()
    assert world.feature.state is State.ERROR and [one.id for one in world.store.escalations()] == [asked.id + 1]


def test_another_agent_is_not_told_again_what_the_first_one_finished() -> None:
    world = World()
    world.config = Config(forge=ForgeSettings(), agents=AgentSettings(shaper=("claude", "codex")))
    world.says(QUESTION)
    world.answers("SQLite")
    del world.providers["claude"]
    world.settle()
    assert world.store.session(1).agent == "codex"
    assert world.told() == ["You asked: Which store?\nThe answer: SQLite"], "and not to begin"


def test_an_agent_that_there_is_not_stops_its_feature_and_nothing_else() -> None:
    world = World(reviewers=("typo",))
    world.says(f"{STEPS}[PLAN_READY]")
    assert world.feature.state is State.ERROR and "typo" in world.store.escalations()[-1].title
    world.config = Config(forge=ForgeSettings())
    world.store.move_feature("login", Step.RESUMED, "me")
    world.settle()
    assert world.feature.round == 1
    unknown = World(shaper=("typo",))
    assert unknown.feature.state is State.ERROR and unknown.feature.session is None


def test_a_paused_feature_begins_no_turn_and_a_person_who_ends_its_session_stops_it() -> None:
    world = World()
    world.store.move_feature("login", Step.PAUSED, "me")
    assert world.board().sessions == () and world.settle() == []
    world.store.move_feature("login", Step.RESUMED, "me")
    assert len(world.board().sessions) == 1
    world.store.end_session(1, "me")
    world.settle()
    assert world.feature.state is State.ERROR and "somebody ended session 1" in world.store.escalations()[-1].title
    world.store.move_feature("login", Step.RESUMED, "me")
    world.settle()
    assert world.feature.session == 2, "whoever resumes it begins a new one"


class Killed(BaseException):
    """The daemon is gone."""


class Dying:
    """The store of a daemon that is killed in its n-th call."""

    def __init__(self, store: Any, calls: int) -> None:
        self.store, self.left = store, calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        if not callable(found):
            return found
        self.left -= 1
        if self.left < 0:
            raise Killed
        return found


@pytest.mark.parametrize("words", [f"{QUESTION}\n{STEPS}", f"{STEPS}[PLAN_READY]", "Hm."])
def test_killed_in_any_call_it_goes_on_where_it_was_and_does_nothing_twice(words: str) -> None:
    def facts(world: World) -> Any:
        asked = [(one.title, one.session) for one in world.store.escalations()]
        beads = [(bead.id, bead.status, bead.epic) for bead in world.store.beads()]
        feature = world.feature
        return asked, beads, feature.stage, feature.plan, feature.data, world.told(), world.store.session(1).state

    whole = World()
    whole.says(words)
    killed = 0
    for calls in range(1, 200, 3):
        world = World()
        turn = world.begins()
        world.store.close_turn(turn.id, Fact.ENDED_WELL, Outcome.COMPLETED, "", said=words)
        dying: Any = Dying(world.store, calls)
        mortal = Forge(SimpleNamespace(**{**vars(world.ports), "store": dying, "words": partial(Words, dying)}))  # type: ignore[arg-type]
        try:
            while mortal.turn(world.board(), dying.features()):
                pass
        except Killed:
            killed += 1
        else:
            break
        world.settle()
        assert facts(world) == facts(whole), calls
    assert killed > 5


def test_a_reviewer_only_finds_and_a_session_of_no_feature_proposes_nothing() -> None:
    world = World()
    turn = world.begins()
    with pytest.raises(NotAllowed, match="makes the plan"):
        shaping.find(world.store, 1, "x", "y", [], "security", 1, "", turn)
    other = world.store.begin_session(world.store.session(1).kind, "person:me", "t", ("claude", "", ""), "hi", "me")
    with pytest.raises(NotAllowed, match="is not for a feature"):
        shaping.propose(world.store, other.id, "beads: [{id: a1, title: A}]")


def test_a_shaper_neither_plans_under_another_epic_nor_writes_the_facts_of_a_feature() -> None:
    world = World()
    world.store.put([Bead("other", "Other", type=BeadType.EPIC, status=Status.OPEN)], [], "me")
    mine = "{id: mine, title: Mine, type: epic}, {id: a1, title: A, epic: mine}"
    foreign = "{id: other, title: Another}, {id: b1, title: B, epic: other}"
    with pytest.raises(PlanError, match="the bead's epic 'other' is not in feature login"):
        shaping.propose(world.store, 1, f"beads: [{mine}, {foreign}]")
    with pytest.raises(PlanError, match="reserves for features"):
        shaping.propose(world.store, 1, "beads: [{id: a1, title: A, metadata: {feature: {stage: done}}}]")
    shaping.propose(world.store, 1, f"beads: [{mine}]")
    assert {bead.id: bead.epic for bead in world.store.beads()} == {
        "login": None,
        "other": None,
        "mine": "login",
        "a1": "mine",
    }
