"""People who plan features: they begin, answer late, twice or never, change their minds, sign off, approve.

1. One world in eight has them, or all of them with `--features`; the dice of all others are left alone.
2. They act by the commands' own code, between any two calls of the daemon. What it refuses is refused.
3. At the end of the day most people decide whatever waits for them (`help`), so that a feature that only waits for a
   person comes to its end; others leave all of it lying.
"""

import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from nobrakes.beads.model import Bead, Status
from nobrakes.config.settings import Config
from nobrakes.decisions import forms
from nobrakes.decisions.model import Escalation, EscalationType
from nobrakes.decisions.service import desk
from nobrakes.errors import NobrakesError
from nobrakes.events.kinds import Event, Kind
from nobrakes.features import reviewed_plan
from nobrakes.features.actions import CLOSE
from nobrakes.features.model import ACCEPT_RISK, PLANNED, SIGNED, Feature, Stage, State
from nobrakes.features.reviewed_plan import beads_under
from nobrakes.features.service import approving, controls, feature_page
from nobrakes.features.service.approving import Choice
from nobrakes.paths import Paths
from nobrakes.sessions.model import State as At
from nobrakes.sessions.service import relay

from .feature_agents import FeatureAgents
from .feature_log import FeatureLog
from .people import ME, People

SHARE = 0.125
MOST = 4
"""Features in one world."""
MAX_HELP = 300
"""So many decisions at the end of the day, and what still waits for one goes round in circles."""


HARDLY_LIVES = 0.05
"""Where so many calls kill the daemon a turn with features, which makes more of them, hardly ever comes to its end."""


def how_often(seed: int, rate: float, crash: float) -> float:
    """How often people do something with features; 0: in this world nobody has any."""
    return rate or float(crash < HARDLY_LIVES and random.Random(f"{seed} features are planned").random() < SHARE)


def settings(seed: int, config: Config) -> Config:
    """The settings with small numbers, so that a virtual day holds many rounds, caps and expiries."""
    dice = random.Random(f"{seed} settings of features")
    forge = replace(
        config.forge,
        expire_hours=dice.choice((24.0, 1.0, 0.3)),
        warn_hours=dice.choice((2.0, 0.1)),
        reviewers=dice.choice(((), ("second",), ("second", "first"))),
        review_minutes=dice.choice((5.0, 1.5)),
        most_rounds=dice.choice((2, 3, 4)),
        clean_rounds=dice.choice((1, 2)),
        most_domains=dice.choice((1, 2)),
        review_usd=dice.choice((1.0, 5.0)),
        shaper_usd=dice.choice((3.0, 10.0)),
        collect=dice.choice((1, 3)),
        turn_minutes=dice.choice((5.0, 15.0)),
    )
    shaper = dice.choice((("first",), ("second",), ("first", "second")))
    return replace(config, forge=forge, agents=replace(config.agents, shaper=shaper))


Plan = dict[str, tuple[object, ...]]
"""What waits for a yes under a feature: each bead with what is wanted of it."""


@dataclass
class Features:
    """`nobrakes forge …`, `answer`, `commit-strategy`, and the agents that serve features."""

    people: People
    config: Callable[[], Config]
    paths: Paths
    seed: int
    agents: FeatureAgents
    often: float
    begun: int = 0
    helped: Counter[str] = field(default_factory=Counter)  # what was decided at the end of the day, of each feature
    signed: dict[str, Plan] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.log = FeatureLog(lambda: self.config().forge)
        self.resumed: Counter[str] = Counter()
        self.refused: set[tuple[str, str]] = set()
        self.store = self.people.store
        self.dice = random.Random(f"{self.seed} people who plan features")
        self.helps = self.dice.random() < 0.7
        for weight, act in self._acts():
            self.people.also(weight * self.often, act)

    def _acts(self) -> list[tuple[float, Callable[[], str]]]:
        """What people do, and how often beside all else."""
        return [
            (4, self.begin),
            (9, self.answer),
            (2, self.answer_again),
            (2, self.take_back),
            (1, self.leave_open),
            (1, self.ask_change),
            (1, self.discuss),
            (0.7, self.pause),
            (3, self.resume),
            (0.4, self.cancel),
            (0.5, self.archive),
            (0.5, self.edit),
            (1, self.checkpoint),
            (4, self.sign_off),
            (4, self.commit),
            (0.5, self.drop),
            (0.3, self.end_session),
        ]

    # --- the feature ---------------------------------------------------------------------------------------------

    def begin(self) -> str:
        """Begin a feature."""
        if self.begun >= MOST:
            return "enough features"
        wanted = controls.Wanted(f"Feature {self.begun + 1}", "What should be there.", files=("src/shared.py",))
        id_ = f"f{self.begun + 1:02}"
        made = controls.begin(self.store, self.paths, self.config(), self.people.git, wanted, ME, id_)
        self.begun += 1
        self.people.planned.add(made.id)
        return f"began feature {made.id}"

    def ask_change(self) -> str:
        """Want the plan another way."""
        id_ = self._some(lambda one: one.stage is not Stage.DONE).id
        return f"asked for a change of {controls.ask_change(self.store, self.paths, id_, 'smaller', ME).id}"

    def discuss(self) -> str:
        """Ask the Shaper something."""
        id_ = self._some(lambda one: one.session is not None).id
        return f"asked about {controls.discuss(self.store, self.paths, id_, 'why so', ME).id}"

    def pause(self) -> str:
        """Begin no turn any more."""
        id_ = self._some(lambda one: one.state is State.ACTIVE).id
        return f"paused {controls.pause(self.store, self.paths, id_, ME).id}"

    def resume(self) -> str:
        """Go on."""
        id_ = self._some(lambda one: one.state is not State.ACTIVE).id
        return f"resumed {controls.resume(self.store, self.paths, id_, ME).id}"

    def cancel(self) -> str:
        """End the turn at once."""
        id_ = self._some(lambda one: True).id
        return f"cancelled {controls.cancel(self.store, self.paths, id_, ME).id}"

    def archive(self) -> str:
        """Hide it, or show it again."""
        one = self._some(lambda one: True)
        controls.archive(self.store, one.id, not one.archived, ME)
        return f"archived {one.id}: {not one.archived}"

    def edit(self) -> str:
        """Say something else of it."""
        one, wanted = self._some(lambda one: True), controls.Wanted(description=f"As {self.dice.randrange(9)}.")
        controls.edit(self.store, self.paths, self.config(), one.id, wanted, ME)
        return f"edited {one.id}"

    def checkpoint(self) -> str:
        """Want what was collected looked at."""
        one = self._some(lambda one: one.stage is Stage.IMPLEMENTATION)
        reviewed_plan.checkpoint(self.store, one.id, ME)
        return f"asked for a checkpoint of {one.id}"

    def end_session(self) -> str:
        """End the Shaper's session."""
        one = self._some(lambda one: one.session is not None)
        relay.end(self.store, self.paths, one.session or 0, ME)
        return f"ended session {one.session} of {one.id}"

    # --- questions -----------------------------------------------------------------------------------------------

    def answer(self) -> str:
        """Answer one question of a feature."""
        found = self.open()
        if not found:
            raise NobrakesError("nothing is asked about features")
        return self._answer(self.dice.choice(found))

    def _answer(self, one: Escalation) -> str:
        decided = desk.answer(self.store, one.id, self._words(one), ME)
        return f"answered {one.id} ('{one.title[:30]}'): {decided.answer}"

    def answer_again(self) -> str:
        """Answer what is answered."""
        one = self.dice.choice(self._answered())
        was = self.store.escalation(one.id).answer
        try:
            desk.answer(self.store, one.id, self._words(one), ME)
        except NobrakesError as error:
            return f"answered {one.id} again: {error}"
        self.agents.wrong.append(f"escalation {one.id} was answered '{was}', and again")
        return f"answered {one.id} again"

    def take_back(self) -> str:
        """Take an answer back."""
        one = self.dice.choice(self._answered())
        desk.take_back(self.store, one.id, ME)
        return f"took the answer to {one.id} back"

    def leave_open(self) -> str:
        """Say that nothing is to be done about a question."""
        found = self.open()
        if not found:
            raise NobrakesError("nothing is asked about features")
        one = self.dice.choice(found)
        return f"left {one.id} open: {desk.resolve(self.store, one.id, 'dismiss', 'not needed', ME).resolution}"

    def open(self) -> list[Escalation]:
        """The open questions of features, of whoever asks them."""
        return [one for one in self.store.escalations() if self.is_about_a_feature(one)]

    def is_about_a_feature(self, one: Escalation) -> bool:
        """Whether the question is one of a feature: of its sessions, or of nobrakes."""
        if one.type is not EscalationType.QUESTION or one.bead is not None:
            return False
        return "feature" in one.evidence or (
            one.session is not None and self.store.feature_of_session(one.session) is not None
        )

    def _answered(self) -> list[Escalation]:
        found = [one for one in self.store.escalations_as_filed() if one.answer is not None]
        found = [one for one in found if self.is_about_a_feature(one)]
        if not found:
            raise NobrakesError("nothing is answered")
        return found

    def _words(self, one: Escalation) -> str:
        """What a person types who answers the question well."""
        form = forms.form(one.form)
        labels = [label for label in form.labels() if label != ACCEPT_RISK or self.dice.random() < 0.3]
        if not labels:
            return f"text {self.dice.randrange(9)}"
        if form.kind == "checkbox":
            return ",".join(forms.typed_as(form, label) for label in self.dice.sample(labels, 1))
        rests = (forms.FAILING_PAUSE, forms.ROLL_BACK)
        label = self.dice.choice([one for one in labels if one not in rests or self.dice.random() < 0.3] or labels)
        return f"{label}: it is small" if any(one.why and one.label == label for one in form.options) else label

    # --- the yes -------------------------------------------------------------------------------------------------

    def sign_off(self) -> str:
        """Sign a plan off, with what has to be said beside it, or without."""
        one = self._some(lambda one: one.stage is Stage.REVIEW)
        return self._sign_off(one, self.dice.random() < 0.8)

    def _sign_off(self, one: Feature, risks: bool) -> str:
        rules, reason = self.config().forge, "good enough" if risks else ""
        kept = feature_page.sign_off(self.store, rules, one.id, ME, take_risk=risks, reason=reason)
        self.signed[one.id] = self.waiting(one.id)
        return f"signed off version {kept.version} of {one.id}"

    def commit(self) -> str:
        """`nobrakes commit-strategy`, of one feature or of a part of its drafts."""
        one = self._some(lambda one: bool(self.waiting(one.id)))
        plan = sorted({*self.waiting(one.id), *self._epic(one.id)})
        if self.dice.random() < 0.2:
            plan = self.dice.sample(plan, self.dice.randint(1, len(plan)))
        return self._commit(one, plan)

    def _commit(self, one: Feature, plan: list[str]) -> str:
        lies, before = self.waiting(one.id), self.store.feature(one.id)
        made, whole = approving.make_live(self.store, Choice(only=frozenset(plan)), ME)
        changed = made.drafts or made.changes
        if changed and before.stage in PLANNED and before.plan and not self._is_signed(one.id, lies):
            self.wrong.append(f"{', '.join(made.drafts)} went live, and nobody signed off what lay under {one.id}")
        return f"made {', '.join(made.drafts + made.changes)} live; built now: {', '.join(whole)}"

    def _is_signed(self, feature: str, lies: Plan) -> bool:
        """Whether what lies there was signed off as it lies; what went live or was dropped since is no change of it."""
        return lies.items() <= self.signed.get(feature, {}).items()

    def drop(self) -> str:
        """Cancel a draft of a plan."""
        one = self._some(lambda one: bool(self.waiting(one.id)))
        drafts = [bead.id for bead in self._beads(one.id) if bead.status is Status.DRAFT]
        if not drafts:
            raise NobrakesError("there is no draft")
        bead = self.dice.choice(drafts)
        self.store.record(Event(Kind.CANCELLED, bead, actor=ME))
        return f"cancelled the draft {bead}"

    def waiting(self, feature: str) -> Plan:
        """What of the plan waits for a yes, as it lies."""
        return {
            bead.id: (bead.title, bead.description, bead.touches, str(bead.proposed), *self._needs(bead.id))
            for bead in self._beads(feature)
            if bead.status is Status.DRAFT or bead.proposed
        }

    def _needs(self, bead: str) -> list[str]:
        return sorted(one.needs for one in self.store.dependencies(bead) if one.bead == bead)

    def _beads(self, feature: str) -> list[Bead]:
        return beads_under(self.store, feature)

    def _epic(self, feature: str) -> list[str]:
        return [feature] if self.store.bead(feature).status is Status.DRAFT else []

    # --- the end of the day --------------------------------------------------------------------------------------

    def help(self) -> str | None:
        """Decide one thing that waits for a person; None: nothing does, or they leave it lying."""
        if not self.helps or self.goes_round():
            return None
        for one in self.store.features():
            for act in (self._helps_by_an_answer, self._helps_on, self._helps_by_a_yes):
                try:
                    done = act(one)
                except NobrakesError as error:
                    done = f"{act.__name__} of {one.id} refused: {error}" if self._is_new(one, str(error)) else ""
                if done:
                    self.helped[one.id] += 1
                    return f"at the end of the day: {done}"
        return None

    def goes_round(self) -> bool:
        """Whether so much was decided that it leads nowhere."""
        return self.helped.total() >= MAX_HELP

    def _is_new(self, one: Feature, error: str) -> bool:
        is_new = (one.id, error) not in self.refused
        self.refused.add((one.id, error))
        return is_new

    def _helps_by_an_answer(self, one: Feature) -> str:
        for asked in self.open():
            if asked.evidence.get("feature") == one.id or (asked.session is not None and asked.session == one.session):
                labels = forms.form(asked.form).labels()
                if CLOSE in labels:
                    return f"closed: {desk.answer(self.store, asked.id, CLOSE, ME).title}"
                return self._answer(asked)
        return ""

    def _helps_on(self, one: Feature) -> str:
        if one.state is State.ACTIVE or self.resumed[one.id] >= 2:
            return ""
        controls.resume(self.store, self.paths, one.id, ME)
        self.resumed[one.id] += 1
        return f"resumed {one.id}"

    def _helps_by_a_yes(self, one: Feature) -> str:
        if one.state is not State.ACTIVE:
            return ""
        works = any(session.state in (At.RUNNING, At.READY) for session in self.store.sessions())
        lies = self.waiting(one.id)
        is_signed = bool(one.data.get(SIGNED)) and self._is_signed(one.id, lies)
        if one.stage is Stage.REVIEW and not works and not is_signed:
            return self._sign_off(one, True)
        plan = sorted({*lies, *self._epic(one.id)})
        goes_live = one.stage not in PLANNED or (one.stage is Stage.REVIEW and is_signed)
        return self._commit(one, plan) if plan and goes_live else ""

    def minutes(self, env: Mapping[str, str]) -> float:
        """How long an agent may take that was started with this environment."""
        id_, settings = int(env.get("NOBRAKES_SESSION", 0)), self.config()
        if id_ not in self.log.sessions:
            return settings.limits.agent_minutes
        forge, is_shaper = settings.forge, id_ in self.log.shapers
        return min(settings.limits.agent_minutes, forge.turn_minutes if is_shaper else forge.review_minutes)

    def resting(self) -> frozenset[int]:
        """The sessions of features that do not go on, or not before a person answers what nobrakes asked."""
        asked = {one.evidence.get("feature") for one in self.store.escalations()}
        going = {one.id for one in self.store.features() if one.state is State.ACTIVE} - asked
        return frozenset(number for number, id_ in self.log.sessions.items() if id_ not in going)

    def _some(self, wanted: Callable[[Feature], bool]) -> Feature:
        found = [one for one in self.store.features() if wanted(one)]
        if not found:
            raise NobrakesError("there is no such feature")
        return self.dice.choice(found)
