"""One simulated repository with everybody in it: the real deciders, store and daemon, everything else fake.

1. One seed decides everything: the plan, the agents, the checks, the people, the crashes.
2. A crash drops the daemon and all it had in memory; a new one recovers, and may crash too.
3. The promises are looked at after every step; the first broken one ends the run with a Broken.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from nobrakes.checks.contract import Contract, digest
from nobrakes.config.settings import Config
from nobrakes.daemon.deciders import is_idle
from nobrakes.daemon.worker.loop import Daemon
from nobrakes.errors import NobrakesError
from nobrakes.features.service.shaping import Words
from nobrakes.git.port import Argv
from nobrakes.host.port import Command, Step
from nobrakes.notices.model import NoChannels
from nobrakes.paths import Paths
from nobrakes.ports import Alone, Ports
from nobrakes.sandbox.system_paths import steady
from nobrakes.store import Store, open_memory

from . import by_epics, fake_remote, invariants, landed, requested, settled
from .agents import AgentWorld, Script, agent, check, ends_at_once
from .at_the_host import AtTheHost
from .clock import FakeClock
from .collecting import Collecting
from .crashing import Crash, Crashing, Dice
from .drawn import settings
from .fake_background import FakeBackground
from .fake_machine import FakeMachine
from .fake_nodes import FakeNodes
from .fake_processes import AGENT, FakeProcesses
from .features import Features
from .main_monitor import at_ease, with_canary, without_canary
from .noticing import ZONE, Noticing
from .people import PAUSED, People
from .populating import fill, people_at_main, people_at_work
from .providers import PROVIDER, Providers, adapter, served
from .questions import Questions
from .rates import Rates
from .scene import Scene, Tally
from .sessions import GONE, Sessions
from .stumbling import Stumbling
from .talking import SESSION, Talking
from .undoing import some_have_it

ROOT = "/simulated/.nobrakes"
ENVIRONMENT = {"PATH": "/bin"}
TURNS = 1500
"""So many turns without a rest are a loop that never rests."""
LOOKS = 100
"""So many looks at what only people can go on with, one after the other, are enough."""
WHOLE_BOARD = 200
"""A board of more beads is not looked at whole in each step, so that the cost of a step stays what it was."""
BOOTS = 1000
"""So many daemons that die while they recover: the crash rate is too high to go on."""


class Broken(AssertionError):
    """A promise was broken; the message says which, when, and how to see it again."""


class World:
    """A repository, its daemon, its agents and its people, on a virtual clock."""

    def __init__(
        self, seed: int, beads: int = 8, rates: Rates | None = None, config: Config | None = None, only: str = ""
    ) -> None:
        self.seed = seed
        self.only = only  # the one promise to look at; empty: all of them
        self.rng = random.Random(seed)
        self.rates = rates or Rates()
        self.replay = f"python -m tests.world --seed {seed} --beads {beads} {self.rates.options()}".rstrip()
        if not self.rates.slow:  # where checks are slower than agents, reviews stand in a queue
            self.rates = replace(self.rates, slow=self.rng.choice((1.0, 4.0)))
        self.config = without_canary(config or settings(self.rng))
        self.clock = FakeClock()
        self.store = open_memory(self.clock.now)
        self.noticing = Noticing(seed, self.clock, self.store) if some_have_it(seed, "notices") else None
        if self.noticing is not None:
            self.config = self.noticing.on(self.config)
        requested_git = requested.some_git(ROOT, seed, self.rates.requests)
        self.git = requested_git or fake_remote.some_git(ROOT, seed, self.rates.protects)
        if requested_git is not None:
            self.config = requested.settings(self.config, requested_git.rng)
            self.config = by_epics.settings(self.config, seed) if self.rates.epics else self.config
        if self.rates.weakens:
            together = replace(self.config.review, merge="squash", every_commit_green=False, validators=1)
            self.config = replace(self.config, review=replace(together, revalidate="cached"))
        rates = self.rates
        linger = rates.linger or (0.2 if some_have_it(seed, "lingering") else 0.0)
        leftovers = rates.fail / 4
        self.processes = FakeProcesses(self.clock, self._prepare, self._program, self.rng, leftovers, rates.cut, linger)
        self.providers = Providers(self.clock, self.rng, self.rates.refuse)
        self.providers.breaking = rates.broken or (0.03 if some_have_it(seed, "broken CLIs") else 0.0)
        self.background = FakeBackground(self.rng)
        self.people = People(self.store, self.git, self.clock, self.rng, self._edit_checks, rates.edits)
        self.sessions = Sessions(self.store, self.rng, rates.machine, rates.fail / 4)
        talking = Talking(self.store, random.Random(f"{seed} talks"), rates.fail)
        self.scene = Scene(self.config, self.clock, self.store, self.git, self.processes, self.sessions, talking)
        self.machine = FakeMachine(seed) if self.rates.shared or some_have_it(seed, "machine") else None
        self.scene.machine, self.scene.providers = self.machine, self.providers
        self.scene.requested = requested_git
        if self.rates.nodes or some_have_it(seed, "nodes"):
            rate = self.rates.nodes or 0.1
            self.scene.nodes = FakeNodes(seed, rate, self.clock, self.processes, self.store)
        self.processes.begins = self._begins
        self.git.told_of_landing = self._lands
        self.scene.noticing = self.noticing
        self.store.tell(lambda: None, self._synced)
        self.scene.observed.spending.caps = self.config.caps
        self.tally = self.scene.tally
        self.dice = Dice(self.rng, self.rates.crash, self.rates.trouble, self.rates.people / 200)
        fake_remote.meet(self.git, self.dice)
        self.scene.stumbling = Stumbling(seed, rates.stumble, self.store)
        self.git.collecting = Collecting(seed, rates.collects)
        self.dice.stumbles = partial(self._stumbles, self.scene.stumbling)
        self.dice.between = lambda: self._note("meanwhile " + self._act())
        self.contracts = [self._contract()]  # the keys of the checks that were in force in this turn
        self.log: list[str] = []
        self.pace = 1 + beads // WHOLE_BOARD
        self.rest = max(2000, 20 * beads)  # so many calm steps it may take until all is settled
        self.wake_at: float | None = None
        self.is_idle = False  # nothing is left to do without a person, as it was seen last
        self.questions: Questions | None = None
        self.features: Features | None = None
        self.at_the_host: AtTheHost | None = None
        self.ports = self._ports()
        fill(self, beads)
        people_at_work(self, talking)
        people_at_main(self)
        self.scene.stumbling.choose()
        self.daemon = self._boot()

    # --- the machine -----------------------------------------------------------------------------

    def _ports(self) -> Ports:
        doors = cast(Store, Crashing(self.store, "store", self.dice))
        return Ports(
            store=doors,
            git=Crashing(self.git, "git", self.dice),
            processes=Crashing(self.processes, "processes", self.dice),
            notifier=self.scene.notes,
            background=self.background,
            paths=Paths(ROOT),
            config=lambda: self.config,
            limits=self.config.board_limits,
            adapter=adapter,
            start_trouble=self.providers.start_trouble,
            environment=ENVIRONMENT,
            on_nodes=(lambda board: board) if self.scene.nodes is None else self.scene.nodes.on_nodes,
            machine=Alone() if self.machine is None else Crashing(self.machine, "machine", self.dice),
            channels=NoChannels() if self.noticing is None else self.noticing.channels,
            zone=lambda: ZONE,
            steady=lambda: ("boot", self.clock.steady()),
            words=lambda: Words(doors),
            pulls=None if self.scene.requested is None else requested.ports(self.scene.requested, self.dice),
        )

    def _begins(self, run: str) -> None:
        for one in (self.machine, self.scene.nodes):
            if one is not None:
                one.starts(run)

    def _stumbles(self, stumbling: Stumbling, what: str, given: Sequence[object]) -> None:
        stumbling.before(what, given)
        self.git.collecting.before(what, given, self.git.handed_in)

    def _prepare(self, argv: Argv) -> str | None:
        if self.rng.random() < self.rates.machine:
            return "no space left on device"
        return self.git.clones.execute(argv)

    def _program(self, command: Command, step: Step) -> Script:
        if AGENT in step.argv:
            words, session = self.sessions.first_line(command, step, self._lives)
            self.processes.say(self.processes.children[command.folder.rpartition("/")[2]], step, words)
            if words.split() == [GONE]:
                return ends_at_once()
            if SESSION in command.env:
                self.scene.talking.hears(session, command)
                return served(command.env[PROVIDER], self.providers, self._talks(session, command), self.rng)
            agent_world = AgentWorld(command.env, self.git.clones, self.store, self.clock, self.rng, self.rates)
            work = agent(agent_world)
            if self.questions is not None:
                work = self.questions.first(agent_world, work)
            return served(command.env[PROVIDER], self.providers, work, self.rng)
        return check(step.argv[-1], command.cwd, self.git.clones, self.rng, self.rates)

    def _talks(self, session: str, command: Command) -> Script:
        if self.scene.readers is not None and self.scene.readers.serves(command.env):
            return self.scene.readers.agent(command.env)
        if self.features is None or not self.features.agents.serves(command.env):
            return self.scene.talking.agent(command.env)
        self.features.agents.hears(session, command)
        return self.features.agents.agent(command.env)

    def _lives(self, run: str) -> bool:
        return self.processes.children[run].alive

    def _edit_checks(self) -> str:
        """A person edits the checks: they ask the same of a tree, and have another name and order."""
        first, second = self.config.checks
        name = f"{second.kind}-again" if second.name == second.kind else second.kind
        renamed = replace(second, name=name)
        self.config = self.scene.config = replace(self.config, checks=(renamed, first))
        self.contracts.append(self._contract())
        return f"the checks are {renamed.name}, {first.name} now"

    def _lands(self, commits: Sequence[str]) -> None:
        each = self.config.review.every_commit_green
        proven = commits if each else list(dict.fromkeys([*landed.apart(self.scene, commits), *commits[-1:]]))
        self.scene.observed.lands += [(commit, tuple(self.contracts)) for commit in proven]

        if not self.scene.observed.synced and not self.git.is_shared():  # there it moves beside the loop, later
            self.scene.observed.unsynced += commits[-1:]
        self.scene.observed.synced = False

    def _synced(self) -> None:
        self.scene.observed.synced = True

    def _contract(self) -> str:
        return Contract(self.config.setup, self.config.contract(), digest(steady(ENVIRONMENT))).key

    def _boot(self) -> Daemon:
        for _ in range(BOOTS):
            self.tally.boots += 1
            self.background.forget()
            if self.machine is not None:
                self.machine.killed()
            if self.noticing is not None:
                self.noticing.channels.forget()
            try:
                daemon = Daemon(self.ports)
                daemon.recover()
            except Crash as crash:
                self._crashed(crash)
            except NobrakesError as error:
                self._note(f"the daemon did not start: {error}")
            except Exception as error:
                raise self._broken([f"the daemon died of {type(error).__name__}: {error}"]) from error
            else:
                return daemon
        raise self._broken([f"no daemon survived its start in {BOOTS} tries"])

    def _crashed(self, crash: Crash) -> None:
        self._note(f"CRASH {crash}")
        if isinstance(self.git, fake_remote.SharedFakeGit):
            self.git.daemon_died()
        if str(crash).split()[-1] in ("git.land", "git.pin", "git.keep_evidence") and self.rng.random() < 0.5:
            self.git.is_cut_off(str(crash) == "after git.land")

    def _turns(self) -> None:
        """Turn until nothing changes, as the loop does."""
        for _ in range(TURNS):
            self.tally.turns += 1
            self.contracts, acts = self.contracts[-1:], self.tally.acts
            try:
                turn = self.daemon.tick(signs=self.processes.taken())
            except Crash as crash:
                self._crashed(crash)
                self.daemon = self._boot()
                continue
            except Exception as error:
                raise self._broken([f"the daemon died of {type(error).__name__}: {error}"]) from error
            self.wake_at = None if turn.wake_at is None else turn.wake_at - self.clock.apart
            if not turn.changed:
                self.is_idle = is_idle(turn.board)
                if self.is_idle and acts == self.tally.acts:  # else the turn's board is older than what somebody did
                    self._keep_promises((settled.somebody_is_asked,))
                return
        raise self._broken([f"the loop did not rest in {TURNS} turns"])

    # --- time ------------------------------------------------------------------------------------

    def step(self) -> bool:
        """Let something happen; False when nothing more will, unless somebody acts."""
        moments = [m for m in (self.processes.next_event(), self.wake_at) if m is not None]
        if not moments:
            return False
        self.tally.steps += 1
        paused, pauses = self.store.setting(PAUSED) is not None, self.people.pauses
        moment = max(min(moments), self.clock.steady())
        if self.rng.random() < 0.2:
            moment += self.rng.uniform(0, 60)
        for line in self.processes.advance(moment):
            self._note(line)
        self.clock.pass_to(moment)
        if self.rates.jump and self.rng.random() < self.rates.jump:
            self._set_clock()
        if self.rng.random() < self.dice.meddle * 200:
            self._note(self._act())
        for one in (self.machine, self.scene.nodes):
            if one is not None and (moved := one.move()):
                self._note(moved)
        self._machine()
        self._turns()
        self._keep_promises(invariants.PROMISES, paused and pauses == self.people.pauses)
        return True

    def _set_clock(self) -> None:
        jump = self.rng.choice((-1, 1)) * self.rng.uniform(60, 20_000)
        self.clock.jump(jump)
        self.scene.observed.jumped(jump)
        self._note(f"THE CLOCK JUMPS by {jump:+.0f} s")

    def _act(self) -> str:
        self.tally.acts += 1
        return self.people.act()

    def _machine(self) -> None:
        """Rarely the machine restarts, or the daemon is stopped and started in order."""
        drawn = self.rng.random()
        if drawn < self.dice.crash / 10:
            self.tally.reboots += 1
            self._note("REBOOT")
            self.processes.reboot()
            self.daemon = self._boot()
        elif drawn > 1 - (self.rates.stop if self.rates.stop >= 0 and self.dice.crash else self.dice.crash / 2):
            self.tally.stops += 1
            self._note("STOP")
            self._stop()

    def _stop(self) -> None:
        self.store.set_setting("stopping", "1")
        for _ in range(TURNS):
            self._turns()
            if not self.store.runs() and not self.store.board(self.config.board_limits()).attempts:
                break
            moments = [m for m in (self.processes.next_event(), self.wake_at) if m is not None]
            moment = max(min(moments, default=self.clock.steady()), self.clock.steady())
            self.processes.advance(moment)
            self.clock.pass_to(moment)
        else:
            raise self._broken(["a daemon that was told to stop did not end"])
        self.store.set_setting("stopping", None)
        self.daemon = self._boot()

    def run(self, steps: int = 250) -> Tally:
        """A wild time of at most `steps`, then a calm one until all is settled. Broken when a promise is."""
        self.config = self.scene.config = with_canary(self.config, self.seed)
        for _ in range(steps):
            if not self.step():
                if not self.rates.people:
                    break
                self._note(self._act())
                self._turns()
                self._keep_promises(invariants.PROMISES)
        self.dice.calm()
        self.git.collecting.calm()
        for one in (self.machine, self.scene.nodes):
            if one is not None:
                one.is_calm = True
        self.processes.cut = self.sessions.gone = 0.0
        self.providers.rate = self.providers.breaking = 0.0
        self._note("CALM")
        if self.scene.requested is not None:
            self.config = self.scene.config = requested.at_rest(self.config)
        self.people.tidy()
        self._turns()
        self._keep_promises(invariants.PROMISES)
        looked = 0
        for _ in range(self.rest):
            self.config = self.scene.config = at_ease(self.config, self.store)
            helped = self._help()
            if not self.step() and not helped:
                break
            rests = self.is_idle and not helped and settled.only_people_go_on(self.scene)
            unsent = rests and settled.what_people_should_know_was_sent(self.scene)
            looked = looked + 1 if rests and not unsent else 0
            if unsent and self.noticing is not None:
                self.noticing.wait()
            if looked == LOOKS:
                break
        else:
            raise self._broken(["it never settles"])
        self._keep_promises(settled.PROMISES)
        return self.tally

    def _help(self) -> bool:
        """At the end of the day: who plans features decides something, or merges; False: there is nothing."""
        said = None if self.at_the_host is None else self.at_the_host.help()
        if said is not None:
            self._note(said)
            return True
        if self.features is None or self.processes.next_event() is not None:
            return False
        said = self.features.help()
        if said is not None:
            self._note(said)
            self._turns()
        return said is not None

    # --- telling ---------------------------------------------------------------------------------

    def _note(self, line: str) -> None:
        self.log.append(f"{self.clock.now() - 1_800_000_000:9.1f}  {line}")

    def _keep_promises(self, promises: Sequence[Callable[[Scene], list[str]]], paused: bool = False) -> None:
        for event in self.scene.observed.follow(self.store, paused):
            data = {k: v for k, v in event.data.items() if k in ("outcome", "reason", "type", "step")}
            self._note(f"  {event.seq}: {event.kind.value} {event.bead or ''} {event.actor} {data}")
        if promises is invariants.PROMISES and self.tally.steps % self.pace:
            return
        self.scene.look()
        for promise in promises:
            if self.only not in ("", promise.__name__):
                continue
            found = promise(self.scene)
            if found:
                raise self._broken([f"{promise.__name__}: {one}" for one in found])

    def _broken(self, found: list[str]) -> Broken:
        return Broken("\n".join([*found, self.replay]))
