"""The event log of features, followed and replayed: what the promises about their order are judged on.

1. Stages and states are replayed by core.forge.feature's tables alone; the store's own are only compared with them.
2. A breach that is seen meanwhile is kept until the promise that owns it takes it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ..core.beads.events import Event, Kind
from ..core.errors import NotAllowed
from ..core.forge.feature import PLANNED, Feature, Stage, State, Step, advance
from ..core.forge.reviewing import CONTINUE
from ..core.forge.rounds import End
from ..core.owners import bead_of
from ..core.sessions.session import SessionKind
from ..ports import Store
from .people import ME, PAUSED

UNCHANGED = "nothing of the plan changes"
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


class FeatureLog:
    """What was seen of features so far."""

    def __init__(self) -> None:
        self.seq = 0
        self.features: dict[str, Followed] = {}
        self.sessions: dict[int, str] = {}  # of features: Shapers' and reviewers'
        self.shapers: set[int] = set()
        self.ended: dict[int, str] = {}  # sessions, and who ended them
        self.decided: set[int] = set()  # escalations whose end is in the log
        self.taken_back: Counter[int] = Counter()
        self.questions: Counter[Kind] = Counter()
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
            Kind.RESOLVED: lambda event, store: self.decided.add(int(event.data["escalation"])),
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
        if step in (Step.CHECKPOINT, Step.BEGUN_ANEW) or (step is Step.CHANGE_ASKED and were_over):
            one.begun, one.rounds, one.signed, one.asked_to_sign = set(), [], 0, 0
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
        asked = (e.session in mine or e.evidence.get("feature") == one.at.id for e in store.escalations())
        if not (waits or any(asked) or store.setting(PAUSED)):
            self._breaches["waits"].append(f"{one.at.id} expired in {one.at.stage}, and nobody was asked anything")

    def _session(self, event: Event, store: Store) -> None:
        found = store.session(int(event.data["session"]))
        id_ = bead_of(found.owner)
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
        one.begun.add(number)

    def _round(self, event: Event, store: Store) -> None:
        one, number = self._of(event), int(event.data["round"])
        if number in one.closed:
            self._breaches["log"].append(f"round {number} of {one.at.id} ended twice")
        one.closed.add(number)
        one.rounds.append((int(event.data["version"]), str(event.data["end"])))

    def _sign_off_asked(self, event: Event, store: Store) -> None:
        one = self._of(event)
        one.asked_to_sign = int(event.data["version"])
        if one.asked_to_sign != one.version:
            what = f"version {one.asked_to_sign} of {one.at.id}, and the plan is at {one.version}"
            self._breaches["clean"].append(f"a person is to sign off {what}")
        closed = any(
            e.evidence.get("feature") == one.at.id and e.answer != CONTINUE
            for e in store.escalations_as_filed()
            if e.evidence.get("about") in ("degraded", "review_budget") and e.resolved_at is not None
        )
        self._to_judge = (one, closed)

    _to_judge: "tuple[Followed, bool] | None" = None

    def judge_sign_off(self, most: int, clean: int) -> list[str]:
        """What a person was asked to sign off, although the reviews were not enough. Once each."""
        judged, self._to_judge = self._to_judge, None
        if judged is None:
            return []
        one, closed = judged
        looked = [(version, end) for version, end in one.rounds if end != End.DEGRADED]
        last = looked[-clean:]
        enough = len(last) == clean and all(each == (one.version, End.CLEAN) for each in last)
        if enough or closed or len(one.begun) >= most:
            return []
        return [f"{one.at.id} may be signed off at version {one.version} after {one.rounds}"]

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
