"""The providers of the simulated agents: they refuse for a while, say until when or not, and send bills.

1. A refusal is a time of the provider and not of an agent: whoever starts within it is refused.
2. An agent tells what came of it in the first lines of its output: SESSION id (or GONE), then REFUSED outcome
   reset-time or COST dollars tokens.
3. A CLI may be broken for a while: then nobody starts with it, and it may answer for its version or not.
4. The CLI of `first` is told the id of its session, that of `second` chooses it.
"""

import random
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field, replace

from nobrakes.agents.adapter import AgentEnd, Assignment, Launch, Verdict
from nobrakes.agents.script import Script as ScriptAdapter
from nobrakes.beads.model import Outcome
from nobrakes.errors import NoAgent

from .clock import FakeClock
from .sessions import BEGIN, GONE, RESUME, SAID

PROVIDER = "SIMULATED_PROVIDER"
BROKEN = "BROKEN"
REFUSALS = (Outcome.RATE_LIMITED, Outcome.PROVIDER_DOWN, Outcome.AUTH, Outcome.BILLING, Outcome.NETWORK)

Run = Generator[float | None, None, tuple[int, str]]


class Simulated(ScriptAdapter):
    """An agent with a provider. `names`: whether nobrakes chooses the ids of its sessions."""

    sessions = True

    def __init__(self, name: str, provider: str, names: bool) -> None:
        self.name = name
        self.provider = provider
        self.names = names

    def launch(self, a: Assignment) -> Launch:
        """The script's command, which is told whom to ask."""
        launch = super().launch(a)
        env = {**launch.env, PROVIDER: self.provider}
        if not (a.resume or self.names):
            return replace(launch, env=env)
        words = (RESUME if a.resume else BEGIN, a.session)
        return replace(launch, env=env, argv=(*launch.argv, *words), session=a.session)

    def session(self, lines: Iterable[bytes]) -> str | None:
        """The id in its first line."""
        words = next((line.decode().split() for line in lines if line.strip()), [])
        return words[1] if words[:1] == [SAID] else None

    def verdict(self, end: AgentEnd) -> Verdict:
        """The script's, with what the provider said."""
        lines = [line.decode() for line in end.lines]
        said = {words[0]: words[1:] for words in map(str.split, lines[:3]) if words}
        if GONE in said:
            return Verdict(Outcome.SESSION_LOST, "there is no such session")
        if BROKEN in said:
            return Verdict(Outcome.BAD_CONFIGURATION, "the agent did not start: SyntaxError: Unexpected end of input")
        refused, cost = said.get("REFUSED"), said.get("COST")
        if refused is not None:
            resets = None if refused[1] == "-" else float(refused[1])
            return Verdict(Outcome(refused[0]), "the provider refuses", resets_at=resets)
        found = super().verdict(replace(end, lines=[line.encode() for line in lines]))
        if cost is None:
            return found
        return replace(found, cost_usd=float(cost[0]), tokens={"all": int(cost[1])})


ADAPTERS: Mapping[str, Simulated] = {
    a.name: a for a in (Simulated("first", "north", True), Simulated("second", "south", False))
}


def adapter(name: str) -> Simulated:
    """The simulated agent of this name."""
    if name not in ADAPTERS:
        raise NoAgent(f"nobody simulates '{name}'")
    return ADAPTERS[name]


@dataclass
class Providers:
    """Which provider refuses until when. `rate`: how often a start meets the beginning of a refusal."""

    clock: FakeClock
    rng: random.Random
    rate: float
    refusing: dict[str, tuple[Outcome, float, bool]] = field(default_factory=dict)
    breaking: float = 0.0  # how often a start meets a CLI that breaks then
    dice: random.Random = field(default_factory=lambda: random.Random("broken CLIs"))
    broken: dict[str, float] = field(default_factory=dict)  # until when
    periods: dict[str, int] = field(default_factory=dict)  # how often it was broken

    def is_broken(self, provider: str, starts: bool = True) -> bool:
        """Whether its CLI is broken; who `starts` with it may meet that it breaks just then."""
        now = self.clock.now()
        if self.broken.get(provider, 0.0) > now:
            return True
        if not (starts and self.breaking and self.dice.random() < self.breaking):
            return False
        self.broken[provider] = now + self.dice.uniform(60, 3000)
        self.periods[provider] = self.periods.get(provider, 0) + 1
        return True

    def start_trouble(self, agent: str) -> str:
        """What its CLI says of its version: half of those that are broken still tell it."""
        broken = self.is_broken(ADAPTERS[agent].provider, starts=False)
        return "SyntaxError" if broken and self.dice.random() < 0.5 else ""

    def refuses(self, provider: str) -> str | None:
        """The line that a refused agent prints; None: it is let in."""
        now = self.clock.now()
        if self.rate and self.rng.random() < self.rate:
            outcome = self.rng.choice(REFUSALS)
            told = outcome is Outcome.RATE_LIMITED and self.rng.random() < 0.7
            self.refusing.setdefault(provider, (outcome, now + self.rng.uniform(30, 4000), told))
        if provider in self.refusing and self.refusing[provider][1] <= now:
            del self.refusing[provider]
        if provider not in self.refusing:
            return None
        outcome, until, told = self.refusing[provider]
        return f"REFUSED {outcome.value} {until if told else '-'}\n"


def served(provider: str, providers: Providers, work: Run, rng: random.Random) -> Run:
    """An agent's run at its provider: refused soon after its start, or billed at its end."""
    if providers.is_broken(provider):
        work.close()
        yield 1.0
        return 1, f"{BROKEN}\n"
    refusal = providers.refuses(provider)
    if refusal is not None:
        work.close()
        yield rng.uniform(1, 40)
        return 1, refusal
    code, output = yield from work
    return code, f"COST {rng.uniform(0.05, 1):.2f} {rng.randrange(1000, 90_000)}\n{output}"
