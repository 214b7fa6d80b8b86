"""Readers of work in the simulated world, and people who decide on what they found; with `--readings` alone.

1. They speak by the operation that agents call. Most read and find something or nothing; others are silent, talk
   rubbish, crash or hang. Some give two reviews, of which the last one counts.
2. Each turn has dice of its own.
"""

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nobrakes.decisions.model import EscalationType
from nobrakes.decisions.service import desk
from nobrakes.errors import NobrakesError, Stale, UsageError
from nobrakes.review.reading import CATEGORIES, READING_CHOICES_SEND_BACK
from nobrakes.sessions.model import Session, SessionKind
from nobrakes.store import Store

from .agents import DONE, Script, ends_at_once

ME = "human"
RUBBISH = ("all is well", "[]", '{"findings": [{"priority": "P0"}]}', '{"findings": [], "approve": true}', "[" * 20_000)


@dataclass
class Readers:
    """Who reads, and who decides.

    `shown`: by session and by question, what differed; `landings`: how many were seen; `wrong`: rubbish that was taken.
    """

    store: Store
    seed: int
    fail: float
    landings: int = 0
    shown: dict[tuple[str, int], Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.dice = random.Random(f"{self.seed} people who decide on findings")

    def serves(self, env: Mapping[str, str]) -> bool:
        """Whether this session's agent reads work."""
        return self.store.session(int(env["NOBRAKES_SESSION"])).kind is SessionKind.CODE_REVIEW

    def agent(self, env: Mapping[str, str]) -> Script:
        """One turn, drawn from the seed."""
        try:
            turn, session = self.store.turn_of_token(env["NOBRAKES_TOKEN"])
        except Stale:
            return ends_at_once()
        dice = random.Random(f"{self.seed} reads {turn.id}")
        if dice.random() < self.fail:
            return dice.choice((_crashes, _hangs, _says_nothing))(dice)
        return self._reads(session, env["NOBRAKES_TOKEN"], dice)

    def _reads(self, session: Session, token: str, dice: random.Random) -> Script:
        yield dice.uniform(5, 90)
        if dice.random() < 0.1:
            self._talks_rubbish(session, dice)
        if dice.random() < 0.9:
            for _ in range(dice.choice((1, 1, 2))):
                try:
                    self.store.turn_of_token(token)
                    desk.give(self.store, session, _answer(dice))
                except NobrakesError:
                    break  # its turn is over for nobrakes, and it does not know yet
                yield dice.uniform(1, 20)
        return 0, f"I read it.\n{DONE}"

    def _talks_rubbish(self, session: Session, dice: random.Random) -> None:
        try:
            desk.give(self.store, session, dice.choice(RUBBISH))
        except UsageError:
            return
        self.wrong.append(f"rubbish of session {session.id} was taken for a review")

    # --- people ----------------------------------------------------------------------------------

    def decide(self) -> str:
        """Decide on what was found, or on what nobody read."""
        found = [one for one in self.store.escalations() if one.type is EscalationType.CODE_REVIEW]
        if not found:
            return "nothing was found"
        one = self.dice.choice(sorted(found, key=lambda one: one.id))
        assert one.form is not None
        labels = [str(option["label"]) for option in one.form["options"]]
        how = self.dice.choice((*labels, *labels, "approve", "retry"))
        if how in ("approve", "retry"):
            desk.resolve(self.store, one.id, how, self.dice.choice(("", "do think")), ME)
        else:
            desk.answer(self.store, one.id, f"{how}: smaller" if how == READING_CHOICES_SEND_BACK else how, ME)
        return f"decided on the reading of {one.bead} ({one.id}): {how}"

    def end_one(self) -> str:
        """End a reader's session."""
        found = [one for one in self.store.sessions() if one.kind is SessionKind.CODE_REVIEW]
        if not found:
            raise NobrakesError("nobody reads")
        return f"ended reader {self.store.end_session(self.dice.choice(found).id, ME).id}"


def _answer(dice: random.Random) -> str:
    found = [
        {
            "category": dice.choice(CATEGORIES),
            "priority": priority,
            "path": "src/base.py",
            "text": f"issue {dice.random()}",
        }
        for priority, chance in (("P1", 0.25), ("P2", 0.25), ("P3", 0.4))
        if dice.random() < chance
    ]
    return json.dumps({"findings": found})


def _crashes(dice: random.Random) -> Script:
    yield dice.uniform(5, 60)
    return 1, "Traceback\n"


def _hangs(dice: random.Random) -> Script:
    yield dice.uniform(5, 60)
    yield None
    return 0, ""


def _says_nothing(dice: random.Random) -> Script:
    yield dice.uniform(1, 30)
    return 0, ""
