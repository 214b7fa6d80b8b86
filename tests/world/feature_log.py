"""The event log of features, followed and replayed: what the promises about their order are judged on.

1. Stages and states are replayed by features.model's tables alone; the store's own are only compared with them.
2. A breach that is seen meanwhile is kept until the promise that owns it takes it.
"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from nobrakes.beads.model import owners_bead_of
from nobrakes.config.sections import ForgeSettings
from nobrakes.decisions.model import Escalation
from nobrakes.errors import NotAllowed
from nobrakes.events.kinds import Event, Kind
from nobrakes.features.actions import About
from nobrakes.features.model import PLANNED, Feature, Stage, State, Step, advance
from nobrakes.features.planning import CONTINUE
from nobrakes.features.reviewed_plan import MAX_DEGRADED, End
from nobrakes.sessions.model import SessionKind
from nobrakes.store import Store

from .people import ME, PAUSED

UNCHANGED = "the plan does not change"
"""Why a plan that was approved before is built on without another yes."""


@dataclass
class Followed:
    """One feature by its events. `rounds`: (version, end) of each that ended since the plan was opened last.

    It is opened by a checkpoint, from its base, and where a change is asked for after its reviews were over.
    """

    at: Feature
    version: int = 0
    signed: int = 0
    asked_to_sign: int = 0
    begun: set[int] = field(default_factory=set)  # rounds since the plan was opened last
    closed: set[int] = field(default_factory=set)
    rounds: list[tuple[int, str]] = field(default_factory=list)
    closed_off: bool = False  # a person closed the reviews since
    degraded: int = 0  # rounds in a row that no reviewer finished, at the end
    asked_in_row: set[int] = field(default_factory=set)  # what a person was asked about these, or decided meanwhile

    def open_anew(self) -> None:
        """What was looked at, signed and decided so far counts no more."""
        self.begun, self.rounds, self.signed, self.asked_to_sign = set(), [], 0, 0
        self.closed_off, self.degraded, self.asked_in_row = False, 0, set()


class FeatureLog:
    """What was seen of features so far."""

    def __init__(self, rules: Callable[[], ForgeSettings]) -> None:
        self.rules = rules
        self.seq = 0
        self.features: dict[str, Followed] = {}
        self.sessions: dict[int, str] = {}  # of features: Shapers' and reviewers'
        self.shapers: set[int] = set()
        self.ended: dict[int, str] = {}  # sessions, and who ended them
        self.decided: set[int] = set()  # escalations whose end is in the log
        self._untold: dict[str, str] = {}
        self._breaches: dict[str, list[str]] = defaultdict(list)
        self._kinds: Mapping[Kind, Callable[[Event, Store], None]] = {
            Kind.FEATURE_BEGAN: self._began,
            Kind.FEATURE_MOVED: self._moved,
            Kind.FEATURE_TOLD: self._told,
            Kind.SESSION_BEGAN: self._session,
            Kind.SESSION_ENDED: lambda event, store: self.ended.update({int(event.data["session"]): event.actor}),
            Kind.TURN_STARTED: self._turn,
            Kind.PLAN_KEPT: self._kept,
            Kind.PLAN_REVIEW_BEGAN: self._review,
            Kind.PLAN_ROUND_ENDED: self._round,
            Kind.SIGN_OFF_ASKED: self._sign_off_asked,
            Kind.SIGNED_OFF: self._signed,
            Kind.APPROVED: self._approved,
            Kind.ESCALATED: self._asked,
            Kind.ANSWER_READ: self._read,
            Kind.RESOLVED: self._resolved,
            Kind.ANSWER_TAKEN_BACK: lambda event, store: self.decided.discard(int(event.data["escalation"])),
        }

    def take(self, promise: str) -> list[str]:
        """The breaches of one promise, once."""
        return self._breaches.pop(promise, [])

    def follow(self, store: Store) -> None:
        """Replay what is new in the log."""
        for event in store.events(self.seq, 100_000):
            self.seq = event.seq
            if event.kind in self._kinds:
                self._kinds[event.kind](event, store)
        for id_, what in self._untold.items():
            self._breaches["told"].append(f"{id_} is {what}, and nobody was told")
        self._untold.clear()

    def _of(self, event: Event) -> Followed:
        return self.features[event.bead or ""]

    def _began(self, event: Event, store: Store) -> None:
        id_ = event.bead or ""
        self.features[id_] = Followed(Feature(id_, "", ""))

    def _moved(self, event: Event, store: Store) -> None:
        one, step = self._of(event), Step(event.data["step"])
        said = Stage(event.data["stage"]), State(event.data["state"])
        try:
            stage, state = advance(one.at, step)
        except NotAllowed as error:
            self._breaches["tables"].append(str(error))
            stage, state = said
        if (stage, state) != said:
            told = f"{one.at.id} goes to {said} by {step.value}"
            self._breaches["tables"].append(f"{told}, and by the tables to {stage}, {state}")
        were_over = one.at.stage not in PLANNED or one.asked_to_sign or one.signed
        if step in (Step.CHECKPOINT, Step.BEGUN_AGAIN) or (step is Step.CHANGE_ASKED and were_over):
            one.open_anew()
        if step is Step.APPROVED and event.actor != ME and event.data.get("reason") != UNCHANGED:
            self._breaches["yes"].append(f"{one.at.id} counts as approved by {event.actor}")
        if step is Step.EXPIRED:
            self._judge_expiry(one, store)
        if step in (Step.EXPIRED, Step.FAILED):
            self._untold[one.at.id] = step.value
        one.at = replace(one.at, stage=stage, state=state)

    def _told(self, event: Event, store: Store) -> None:
        self._untold.pop(event.bead or "", None)

    def _judge_expiry(self, one: Followed, store: Store) -> None:
        """What expires waited for a person: for an answer, or for a yes."""
        waits = one.asked_to_sign == one.version > 0 or one.signed
        mine = {number for number, id_ in self.sessions.items() if id_ == one.at.id}
        open_then = (e for e in store.escalations_as_filed() if e.id not in self.decided)  # the log may be read late
        asked = (e.session in mine or e.evidence.get("feature") == one.at.id for e in open_then)
        if not (waits or any(asked) or store.setting(PAUSED)):
            self._breaches["waits"].append(f"{one.at.id} expired in {one.at.stage}, and nobody was asked anything")

    def _session(self, event: Event, store: Store) -> None:
        found = store.session(int(event.data["session"]))
        id_ = owners_bead_of(found.owner)
        if id_ in self.features and found.kind in (SessionKind.PLANNING, SessionKind.REVIEW):
            self.sessions[found.id] = str(id_)
            if found.kind is SessionKind.PLANNING:
                self.shapers.add(found.id)

    def _turn(self, event: Event, store: Store) -> None:
        number = int(event.data["session"])
        id_ = self.sessions.get(number)
        if id_ is None:
            return
        one = self.features[id_]
        if one.at.state is not State.ACTIVE:
            self._breaches["paused"].append(f"session {number} of {id_} began a turn while it is {one.at.state.value}")

    def _kept(self, event: Event, store: Store) -> None:
        one, version = self._of(event), int(event.data["version"])
        if version != one.version + 1:
            self._breaches["log"].append(f"version {version} of {one.at.id} follows version {one.version}")
        one.version = version

    def _review(self, event: Event, store: Store) -> None:
        one, number = self._of(event), int(event.data["round"])
        if one.at.stage is not Stage.REVIEW or one.at.state is not State.ACTIVE:
            where = f"{one.at.state.value} in {one.at.stage.value}"
            self._breaches["paused"].append(f"round {number} of {one.at.id} began, and it is {where}")
        if number not in one.begun and one.degraded >= MAX_DEGRADED * (1 + len(one.asked_in_row)):
            asked = f"a person was asked {len(one.asked_in_row)} times"
            told = f"after {one.degraded} that no reviewer finished, and {asked}"
            self._breaches["degraded"].append(f"round {number} of {one.at.id} begins {told}")
        one.begun.add(number)

    def _round(self, event: Event, store: Store) -> None:
        one, number = self._of(event), int(event.data["round"])
        if number in one.closed:
            self._breaches["log"].append(f"round {number} of {one.at.id} ended twice")
        one.closed.add(number)
        one.rounds.append((int(event.data["version"]), str(event.data["end"])))
        if event.data["end"] == End.DEGRADED:
            one.degraded += 1
        else:
            one.degraded, one.asked_in_row = 0, set()

    def _asked(self, event: Event, store: Store) -> None:
        asked = store.escalation(int(event.data["escalation"]))
        if self._is_about(asked, About.DEGRADED):
            self.features[asked.evidence["feature"]].asked_in_row.add(asked.id)
        if self._is_about(asked, About.FAILING):
            self._untold.pop(asked.evidence["feature"], None)

    def _resolved(self, event: Event, store: Store) -> None:
        asked = store.escalation(int(event.data["escalation"]))
        self.decided.add(asked.id)
        self._asked(event, store)
        if asked.answer is None and self._is_about(asked, About.DEGRADED, About.REVIEW_BUDGET):
            self.features[asked.evidence["feature"]].closed_off = True

    def _read(self, event: Event, store: Store) -> None:
        """An answer counts once it is acted by: it may be taken back before, or meet a plan that is opened anew."""
        asked = store.escalation(int(event.data["escalation"]))
        if asked.answer != CONTINUE and self._is_about(asked, About.DEGRADED, About.REVIEW_BUDGET):
            self.features[asked.evidence["feature"]].closed_off = True

    def _is_about(self, asked: Escalation, *about: About) -> bool:
        return asked.evidence.get("feature") in self.features and asked.evidence.get("about") in about

    def _sign_off_asked(self, event: Event, store: Store) -> None:
        one = self._of(event)
        one.asked_to_sign = int(event.data["version"])
        if one.asked_to_sign != one.version:
            what = f"version {one.asked_to_sign} of {one.at.id}, and the plan is at {one.version}"
            self._breaches["clean"].append(f"a person is to sign off {what}")
        rules = self.rules()
        last = [each for each in one.rounds if each[1] != End.DEGRADED][-rules.clean_rounds :]
        is_clean = len(last) == rules.clean_rounds and all(each == (one.version, End.CLEAN) for each in last)
        if not (is_clean or one.closed_off or len(one.begun) >= rules.most_rounds):
            self._breaches["clean"].append(f"{one.at.id} may be signed off at version {one.version} after {one.rounds}")

    def _signed(self, event: Event, store: Store) -> None:
        one = self._of(event)
        one.signed = int(event.data["version"])
        if event.actor != ME:
            self._breaches["yes"].append(f"{one.at.id} was signed off by {event.actor}")
        asked = (finding.escalation for finding in store.findings(one.at.id))
        self.decided.update(number for number in asked if number is not None)

    def _approved(self, event: Event, store: Store) -> None:
        bead = store.bead(event.bead or "")
        epic = bead.id if bead.id in self.features else bead.epic
        if epic not in self.features:
            return
        one = self.features[str(epic)]
        if event.actor != ME:
            self._breaches["yes"].append(f"{bead.id} of {epic} is live by {event.actor}")
        if one.version and one.at.stage in PLANNED and one.signed != one.version:
            told = f"version {one.version}, signed off is {one.signed or 'none'}"
            self._breaches["yes"].append(f"{bead.id} of {epic} is live by a yes to no signed plan: {told}")
