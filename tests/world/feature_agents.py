"""Shapers and reviewers of the simulated features: they ask, propose, find, say that the plan is complete, and go wrong.

1. Each turn has dice of its own, and each feature a Shaper of one sort: most are good; others ask for ever, are never
   ready, speak by text markers alone, or propose what no plan may be.
2. They speak by the operations that agents call. What must be refused and was not is kept (`wrong`).
3. What was asked by words, and which answers each prompt told, is remembered: the promises compare it with the store.
"""

import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from nobrakes.beads.model import Status
from nobrakes.beads.progress import CATEGORIES
from nobrakes.decisions import forms
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NobrakesError, Stale
from nobrakes.features.model import Feature
from nobrakes.features.reviewed_plan import beads_under, nodes_of
from nobrakes.features.service import shaping
from nobrakes.host.port import Command
from nobrakes.sessions.model import Session, Turn
from nobrakes.store import Store

from .agents import BLOCKED, DONE, Script, ends_at_once
from .asking import OPTIONS, drawn

GOOD, WORDS, ASKS, NEVER_READY, WILD = "good", "words", "asks for ever", "never ready", "wild"
SORTS = {GOOD: 6, WORDS: 2, ASKS: 1, NEVER_READY: 1, WILD: 2}
TOUCHES = ("src/api.py", "src/page.css", "migrations/1.sql", "tests/test_x.py", "Dockerfile")
_TOLD = re.compile(r"^(?:You asked: which way (q\d+)\.|A review of the plan found[^\n]*?\bissue (i\d+)\.)", re.M)


@dataclass(frozen=True, slots=True)
class Told:
    """An answer that a turn's prompt told: to which session of a CLI, and in which turn of which session."""

    provider_session: str
    session: int
    turn: int


@dataclass(frozen=True, slots=True)
class FeatureTurn:
    """What one turn of a feature's agent works with."""

    feature: Feature
    domain: str
    session: Session
    turn: Turn
    token: str
    dice: random.Random


@dataclass
class FeatureAgents:
    """All agents of a world's features."""

    store: Store
    seed: int
    fail: float
    by_words: dict[int, tuple[str, ...]] = field(default_factory=dict)  # turn, and what it asked by text markers
    told: dict[str, list[Told]] = field(default_factory=lambda: defaultdict(list))  # by what was asked
    wrong: list[str] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.stubborn = random.Random(f"{self.seed} reviewers").random() < 0.15  # they find something in every round

    def serves(self, env: Mapping[str, str]) -> bool:
        """Whether this session's agent is a Shaper or a reviewer."""
        return self.store.feature_of_session(int(env["NOBRAKES_SESSION"])) is not None

    def hears(self, provider_session: str, command: Command) -> None:
        """A CLI was given its prompt in this session."""
        session = int(command.env["NOBRAKES_SESSION"])
        turn = int(command.folder.rpartition("/")[2].partition("-")[0].removeprefix("s"))
        for question, issue in _TOLD.findall(command.files["prompt.md"].decode()):
            self.told[question or issue].append(Told(provider_session, session, turn))

    def agent(self, env: Mapping[str, str]) -> Script:
        """One turn, drawn from the seed."""
        token = env["NOBRAKES_TOKEN"]
        try:
            turn, session = self.store.turn_of_token(token)
        except Stale:
            return ends_at_once()
        served = self.store.feature_of_session(session.id)
        if served is None:
            return ends_at_once()
        dice = random.Random(f"{self.seed} turn {turn.id}")
        if dice.random() < self.fail:
            return dice.choice((_crashes, _hangs, _says_nothing, _is_full))(dice)
        own = FeatureTurn(*served, session, turn, token, dice)
        return self._reviews(own) if own.domain else self._shapes(own)

    def sort(self, feature: str) -> str:
        """Of which sort the feature's Shaper is."""
        dice = random.Random(f"{self.seed} which Shaper {feature}")
        return dice.choices(list(SORTS), list(SORTS.values()))[0]

    # --- Shapers ---------------------------------------------------------------------------------

    def _shapes(self, own: FeatureTurn) -> Script:
        yield own.dice.uniform(5, 60)
        sort = self.sort(own.feature.id)
        deeds = self._deeds(sort, own)
        if sort == WORDS:
            return 0, self._by_words(own, deeds)
        blocked = False
        for deed in deeds:
            blocked |= deed == "ask"
            self._does(own, deed)
            yield own.dice.uniform(1, 20)
        return 0, f"I did what I could: {', '.join(deeds) or 'nothing'}.\n{BLOCKED if blocked else DONE}"

    def _deeds(self, sort: str, own: FeatureTurn) -> list[str]:
        dice, planned = own.dice, bool(nodes_of(self.store, own.feature.id))
        if sort == ASKS:
            return ["ask"]
        drawn = dice.random()
        if sort == WILD and drawn < 0.5:
            return [dice.choice(("circle", "empty", "elsewhere", "broken", "ready"))]
        if sort == NEVER_READY:
            return ["propose"] if drawn < 0.4 else []
        if not planned:
            return ["ask"] if drawn < 0.3 else ["propose"] if drawn < 0.6 else ["propose", "ready"]
        if drawn < 0.1:
            return ["propose", "ask"]
        return [] if drawn < 0.15 else ["ready"] if drawn < 0.5 else ["propose", "ready"]

    def _does(self, own: FeatureTurn, deed: str) -> None:
        deeds: Mapping[str, Callable[[FeatureTurn], object]] = {
            "ask": self._asks,
            "propose": lambda own: self._proposes(own, _plan(own)),
            "ready": lambda own: shaping.plan_ready(self.store, own.session.id, self._turn(own)),
            "circle": lambda own: self._proposes(own, _circle(own)),
            "empty": lambda own: self._proposes(own, '{"beads": []}'),
            "elsewhere": lambda own: self._proposes(own, self._elsewhere(own)),
            "broken": lambda own: self._proposes(own, "beads: ["),
        }
        try:
            deeds[deed](own)
        except NobrakesError:
            return  # the agent reads why, and ends its turn
        if deed in ("empty", "elsewhere", "broken"):  # a circle may lead through what is closed, and is none then
            self.wrong.append(f"the Shaper of {own.feature.id} proposed what is {deed}, and it was taken")

    def _turn(self, own: FeatureTurn) -> Turn:
        """The turn, while it is open; Stale."""
        return self.store.turn_of_token(own.token)[0]

    def _asks(self, own: FeatureTurn) -> None:
        for _ in range(own.dice.choice((1, 1, 2))):
            form = forms.as_values(drawn(own.dice))
            new = NewEscalation(EscalationType.QUESTION, self._title(), session=own.session.id, form=form)
            with self.store.write():
                turn = self._turn(own)
                self.store.escalate(new, None, None, f"Session {own.session.id}")
                self.store.did(turn.id, "asked")

    def _title(self) -> str:
        return f"which way q{next(self._numbers)}. of all?"

    def _proposes(self, own: FeatureTurn, plan: str) -> None:
        shaping.propose(self.store, own.session.id, plan, self._turn(own))

    def _elsewhere(self, own: FeatureTurn) -> str:
        """A plan that reaches into another feature, or moves the feature itself."""
        others = [one.id for one in self.store.features(going=False) if one.id != own.feature.id]
        if not others:
            return _text([{"id": own.feature.id, "title": "mine"}])
        other = own.dice.choice(others)
        # a live one may be proposed, for a person to decide, and what is wanted of a closed one is left out
        inside = [bead.id for bead in beads_under(self.store, other) if bead.status is Status.DRAFT]
        if inside and own.dice.random() < 0.5:
            return _text([{"id": f"{own.feature.id}-z", "title": "z"}, {"id": inside[0], "epic": own.feature.id}])
        return _text([{"id": f"{own.feature.id}-z", "title": "z", "epic": other}])

    def _by_words(self, own: FeatureTurn, deeds: Iterable[str]) -> str:
        """The same as text markers; now and then one in another one, or one without an end."""
        parts, asked, dice = [], [], own.dice
        for deed in deeds:
            if deed == "ask":
                asked.append(self._title())
                options = "\n".join(f"- {one}" for one in dice.sample(OPTIONS, 3))
                end = "" if dice.random() < 0.2 else "\n[/DECISION_NEEDED]"
                parts.append(f'[DECISION_NEEDED priority="{dice.randint(1, 3)}"]\n{asked[-1]}\n{options}{end}')
            elif deed == "propose":
                parts += [_step(own, place) for place in range(1, dice.randint(2, 4))]
            elif deed == "ready":
                parts.append("[PLAN_READY]")
        self.by_words[own.turn.id] = tuple(asked)
        if dice.random() < 0.2:
            parts = ["[CHECKPOINT]", *parts, "[/CHECKPOINT]"]
        return "\n".join([*parts, DONE])

    # --- reviewers -------------------------------------------------------------------------------

    def _reviews(self, own: FeatureTurn) -> Script:
        dice = own.dice
        if dice.random() < 0.08:
            yield dice.uniform(400, 900)  # longer than a reviewer may take
        yield dice.uniform(5, 80)
        finds = self.stubborn or dice.random() < (0.5 if own.feature.round < 3 else 0.2)
        for _ in range(dice.choice((1, 1, 2)) if finds else 0):
            try:
                self._finds(own)
            except NobrakesError:
                break
        if dice.random() < 0.1:
            self._oversteps(own)
        yield dice.uniform(1, 10)
        return 0, f"I looked.\n{DONE}"

    def _finds(self, own: FeatureTurn) -> None:
        dice, beads = own.dice, self.store.plan_versions(own.feature.id)[-1].beads
        bead = str(dice.choice(beads)["id"]) if beads and dice.random() < 0.5 else ""
        issue = f"issue i{next(self._numbers)}. is there"
        options = dice.sample(OPTIONS, dice.randint(0, 3))
        where = (self.store, own.session.id, issue, "it breaks", options)
        shaping.find(*where, dice.choice(CATEGORIES), dice.randint(1, 3), bead, self._turn(own))

    def _oversteps(self, own: FeatureTurn) -> None:
        """A reviewer that plans."""
        try:
            self._proposes(own, _plan(own))
        except NobrakesError:
            return
        self.wrong.append(f"a reviewer of {own.feature.id} changed the plan")


def _text(beads: list[dict[str, Any]]) -> str:
    return json.dumps({"beads": beads})


def _plan(own: FeatureTurn) -> str:
    """One to three beads, each of which may wait for those before it; the same ones again in each turn."""
    dice, beads = own.dice, list[dict[str, Any]]()
    for letter in dice.sample("abcd", dice.randint(1, 3)):
        node: dict[str, Any] = {"id": f"{own.feature.id}-{letter}", "title": f"Part {letter}"}
        node |= {"description": f"v{dice.randrange(9)}", "touches": [dice.choice(TOUCHES)]}
        node["needs"] = [one["id"] for one in beads if dice.random() < 0.4]
        beads.append(node)
    return _text(beads)


def _circle(own: FeatureTurn) -> str:
    one, other = (f"{own.feature.id}-{letter}" for letter in own.dice.sample("abcd", 2))
    return _text([{"id": one, "title": "one", "needs": [other]}, {"id": other, "title": "other", "needs": [one]}])


def _step(own: FeatureTurn, place: int) -> str:
    return f'[PLAN_STEP id="{place}" parent="null"]\nStep {place}\nas v{own.dice.randrange(9)}\n[/PLAN_STEP]'


def _crashes(dice: random.Random) -> Script:
    yield dice.uniform(5, 60)
    return dice.choice([1, 2, 137]), "Traceback\n"


def _hangs(dice: random.Random) -> Script:
    yield dice.uniform(5, 60)
    yield None
    return 0, ""


def _says_nothing(dice: random.Random) -> Script:
    yield dice.uniform(1, 30)
    return 0, DONE


def _is_full(dice: random.Random) -> Script:
    yield dice.uniform(5, 60)
    return 0, "NOBRAKES: CONTEXT_EXHAUSTED\n"
