"""Sessions in the simulated world: people who talk with agents, and agents that answer, ask and go wrong.

1. One world in four has them; the dice of all others are left alone.
2. Whatever a person says bears a mark of its own, so that it can be seen which session of a CLI was told of it, and how
   often.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from nobrakes.beads.model import Outcome, person_owner
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import NobrakesError
from nobrakes.host.port import Command
from nobrakes.sessions.model import REVIEWERS, SessionKind, State
from nobrakes.store import Store

from .agents import BLOCKED, DONE, Script
from .providers import ADAPTERS

SESSION = "NOBRAKES_SESSION"
MOST = 4
"""Sessions that go on at once: people have other things to do."""


@dataclass
class Talking:
    """People and their sessions. `told`: by the session of a CLI, how often each mark was in what it was told."""

    store: Store
    rng: random.Random
    fail: float
    me: str = "human"
    said: int = 0
    told: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))

    def _mark(self) -> str:
        self.said += 1
        return f"mark-{self.said}."

    def begin(self) -> str:
        """Begin a session."""
        if len(self.store.sessions()) >= MOST:
            return "enough sessions"
        name = self.rng.choice(sorted(ADAPTERS))
        agent = (name, ADAPTERS[name].provider, "")
        made = self.store.begin_session(
            SessionKind.PLANNING, person_owner(self.me), "a plan", agent, self._mark(), self.me
        )
        return f"began session {made.id} with {name}"

    def say(self) -> str:
        """Say something to one."""
        number = self._some()
        return f"said {self.store.say(number, self._mark(), self.me).text} to session {number}"

    def end(self) -> str:
        """End one."""
        return f"ended session {self.store.end_session(self._some(), self.me).id}"

    def stop(self) -> str:
        """Ask one to stop what it does."""
        return f"stopped session {self.store.stop_session(self._some(), self.me).id}"

    def _some(self) -> int:
        found = [one for one in self.store.sessions() if one.kind not in REVIEWERS]
        if not found:
            raise NobrakesError("nobody talks")
        return self.rng.choice(found).id

    # --- agents ----------------------------------------------------------------------------------

    def hears(self, provider_session: str, command: Command) -> None:
        """A CLI was given its prompt in this session."""
        prompt = command.files["prompt.md"].decode()
        self.told[provider_session].update(word for word in prompt.split() if word.startswith("mark-"))

    def agent(self, env: Mapping[str, str]) -> Script:
        """One turn, drawn from the seed."""
        if self.rng.random() < self.fail:
            return self.rng.choice((self._crashes, self._hangs, self._says_nothing))(env)
        return self._asks(env) if self.rng.random() < 0.3 else self._answers(env)

    def _answers(self, env: Mapping[str, str]) -> Script:
        yield self.rng.uniform(5, 90)
        return 0, f"an answer of session {env[SESSION]}\n{DONE}"

    def _asks(self, env: Mapping[str, str]) -> Script:
        yield self.rng.uniform(5, 60)
        try:
            _, session = self.store.turn_of_token(env["NOBRAKES_TOKEN"])
            title = f"which of {self._mark()}"
            new = NewEscalation(EscalationType.QUESTION, title, session=session.id)
            self.store.escalate(new, None, None, env["NOBRAKES_NAME"])
        except NobrakesError:
            return 0, DONE  # its turn is over for nobrakes, and it does not know yet
        yield self.rng.uniform(1, 20)
        return 0, BLOCKED

    def _crashes(self, env: Mapping[str, str]) -> Script:
        yield self.rng.uniform(5, 60)
        return self.rng.choice([1, 2, 137]), "Traceback\n"

    def _hangs(self, env: Mapping[str, str]) -> Script:
        yield self.rng.uniform(5, 60)
        yield None
        return 0, ""

    def _says_nothing(self, env: Mapping[str, str]) -> Script:
        yield self.rng.uniform(1, 30)
        return 0, ""

    # --- what must hold --------------------------------------------------------------------------

    def told_twice(self) -> list[str]:
        """What one session of a CLI was told more than once."""
        return [
            f"{mark} was said {count} times to {session}"
            for session, marks in self.told.items()
            for mark, count in marks.items()
            if count > 1
        ]

    def never_told(self, resting: Collection[int] = ()) -> list[str]:
        """At rest: what was said to a session that goes on, and that no agent was told of.

        `resting`: the sessions of features that do not go on.
        """
        wrong = []
        heard = {mark for marks in self.told.values() for mark in marks}
        for session in self.store.sessions():
            if session.id in resting:
                continue
            if session.state in (State.READY, State.RUNNING):
                wrong.append(f"session {session.id} is {session.state} at rest")
            for one in self.store.messages(session.id):
                marks = [word for word in one.text.split() if word.startswith("mark-")]
                ended = [turn.outcome for turn in self.store.turns(session.id)][-1:]
                stopped = session.state is State.IDLE and ended == [Outcome.INTERRUPTED]
                # the answer to one of several questions waits for those to the others
                waits = session.state is State.ASKING and one.text.startswith("You asked")
                if one.author and one.turn is None and session.state is not State.STUCK and not (stopped or waits):
                    wrong.append(f"{one.text!r} waits, and session {session.id} is {session.state}")
                if one.author and one.turn is not None and not heard.issuperset(marks):
                    wrong.append(f"{one.text!r} was given to turn {one.turn}, and nobody was told of it")
        return wrong
