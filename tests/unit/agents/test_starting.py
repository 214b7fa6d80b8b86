"""A broken agent CLI is one fault of the machine: one question, no attempt counts, and it goes on by itself."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.agents import limits
from nobrakes.agents.adapter import Verdict
from nobrakes.agents.known import adapter
from nobrakes.agents.worker.end import close, cool
from nobrakes.agents.worker.process import Definitions, StartProbe
from nobrakes.beads.model import Attempt, Bead, Outcome, Role, Status
from nobrakes.config.settings import parse
from nobrakes.daemon.model import Limits
from nobrakes.decisions.model import STARTS, EscalationType, NewEscalation
from nobrakes.decisions.service import desk
from nobrakes.events.kinds import Kind
from nobrakes.store import open_memory

BROKEN = Verdict(Outcome.BAD_CONFIGURATION, "the agent did not start: Error: native binary not installed")
LIMITS = Limits()
SETTINGS = """
setup = "make"
[agents]
doer = "claude"
test_writer = "claude"
"""


class World:
    """Six beads, a store, a clock, and a CLI whose answer is in `trouble`."""

    def __init__(self) -> None:
        self.now, self.trouble, self.asked = 1000.0, "", 0
        self.store = open_memory(lambda: self.now)
        self.store.put(
            [Bead(f"b{n}", f"Do {n}", status=Status.NEEDS_DOER, needs_tests=False) for n in range(6)], [], "me"
        )
        self.held: list[Callable[[], None]] = []
        background = SimpleNamespace(begin=lambda name, job: self.held.append(job), over=self.over)
        self.config = parse(SETTINGS, "config.toml")
        self.ports: Any = SimpleNamespace(
            store=self.store,
            background=background,
            start_trouble=self.ask,
            notifier=SimpleNamespace(tell=print),
            adapter=adapter,
            config=lambda: self.config,
        )
        self.probe = StartProbe(self.ports)

    def ask(self, agent: str) -> str:
        self.asked += 1
        return self.trouble

    def over(self, name: str) -> bool:
        while self.held:
            self.held.pop()()
        return True

    def begin(self, bead: str, agent: str = "claude", provider: str = "anthropic") -> Attempt:
        attempt = self.store.open_attempt(bead, Role.DOER, agent, ["Ada", "Bo", "Cleo", "Di"], 60.0, "f" * 40, provider)
        assert attempt is not None
        return attempt

    def end(self, attempt: Attempt, verdict: Verdict = BROKEN) -> None:
        cool(self.ports, attempt, verdict)
        close(self.ports, LIMITS, attempt, verdict.outcome, verdict.detail)

    def close_for_long(self, verdict: Verdict = BROKEN) -> None:
        """Two beads fail alike, and the gate stays closed for an hour."""
        watch = Definitions(self.ports)
        watch.look(self.board())
        self.fail("b0", verdict)
        self.fail("b1", verdict)
        assert not watch.look(self.board())
        (gate,) = self.store.gates().values()
        self.store.start_cooldown(replace(gate, until=self.now + 3600, times=9))

    def sets(self, settings: str) -> bool:
        """A person changes the settings; whether the next look of a daemon that began before changes the board."""
        watch = Definitions(self.ports)
        watch.look(self.board())
        self.config = parse(settings, "config.toml")
        return watch.look(self.board())

    def fail(self, bead: str, verdict: Verdict = BROKEN) -> None:
        self.end(self.begin(bead), verdict)
        self.now += 1

    def board(self) -> Any:
        return self.store.board(LIMITS)

    @property
    def closed(self) -> bool:
        gate = self.store.gates().get("anthropic")
        return gate is not None and gate.is_closed(self.now)

    def questions(self) -> list[tuple[EscalationType, str | None]]:
        return [(one.type, one.bead) for one in self.store.escalations()]


ONE = [(EscalationType.BROKEN_ENVIRONMENT, None)]


@pytest.fixture
def world() -> World:
    return World()


def test_the_same_failure_on_a_second_bead_closes_the_agent_and_asks_once(world: World) -> None:
    at_work = [world.begin(f"b{n}") for n in range(4)]
    world.end(at_work[0])
    assert not world.closed and world.questions() == []
    for attempt in at_work[1:]:
        world.end(attempt)
        assert world.closed and world.questions() == ONE
    assert "native binary not installed" in world.store.escalations()[0].detail
    assert [one.failures for one in world.store.beads()] == [0] * 6
    assert {one.status for one in world.store.beads()} == {Status.NEEDS_DOER}


def test_other_failures_and_those_of_another_agent_close_nothing(world: World) -> None:
    for bead, word in enumerate(("no such model", "unknown option", "a bad key", "no home")):
        world.fail(f"b{bead}", Verdict(Outcome.BAD_CONFIGURATION, f"the agent did not start: {word}"))
    world.end(
        world.begin("b4", "codex", "openai"), Verdict(Outcome.BAD_CONFIGURATION, "the agent did not start: no home")
    )
    assert not world.store.gates() and world.questions() == []


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("pid 4711: cannot map 0x7f31", "pid 12: cannot map 0x55aa", True),
        ("/runs/b0/x: no such file", "/runs/b1/x: no such file", True),
        ("fix-login: bad", "add-logout: bad", False),
    ],
)
def test_numbers_and_names_of_beads_make_no_difference(world: World, first: str, second: str, same: bool) -> None:
    world.fail("b0", Verdict(Outcome.MISSING_EXECUTABLE, first))
    world.fail("b1", Verdict(Outcome.MISSING_EXECUTABLE, second))
    assert world.closed is same


def test_a_bead_that_meets_it_alone_goes_to_a_person_at_the_second_time(world: World) -> None:
    world.fail("b0")
    bead = world.store.bead("b0")
    assert bead.status is Status.NEEDS_DOER and bead.retry_at is not None and world.questions() == []
    world.now += 40
    world.fail("b0")
    assert not world.closed and world.questions() == [(EscalationType.BROKEN_ENVIRONMENT, "b0")]


def test_an_agent_that_started_takes_back_what_was_noted(world: World) -> None:
    world.fail("b0")
    world.fail("b1", Verdict(Outcome.FAILED, "it gave up"))
    world.fail("b2")
    assert not world.closed and world.questions() == []


def test_it_is_asked_before_it_is_tried_again_and_opens_by_itself(world: World) -> None:
    world.fail("b0")
    world.fail("b1")
    world.trouble = "`claude --version` ended with 1: SyntaxError"
    for again in range(1, 4):
        gate = world.store.gates()["anthropic"]
        world.now = gate.until
        assert limits.room(world.store.gates(), (), world.now) == {"anthropic": 1}
        assert world.probe.holds("claude", "anthropic", world.board()) is True
        assert world.closed and world.asked == again
        assert "SyntaxError" in world.store.gates()["anthropic"].detail
    world.trouble, world.now = "", world.store.gates()["anthropic"].until
    assert world.probe.holds("claude", "anthropic", world.board()) is None
    attempt = world.begin("b2")
    assert world.questions() == ONE  # that it answers is no proof that it works
    world.end(attempt, Verdict(Outcome.FAILED, "it gave up"))
    assert not world.store.gates() and world.questions() == []


def test_one_that_answers_and_does_not_start_waits_longer_each_time_and_is_not_asked_about_again(world: World) -> None:
    world.fail("b0")
    world.fail("b1")
    waits = []
    for _ in range(4):
        gate = world.store.gates()["anthropic"]
        waits.append(round(gate.until - gate.since))
        world.now = gate.until
        assert world.probe.holds("claude", "anthropic", world.board()) is None
        world.fail("b2")
        assert world.questions() == ONE
    assert waits == [30, 60, 120, 240] and world.store.bead("b2").failures == 0


def test_a_limit_shows_that_it_starts(world: World) -> None:
    world.fail("b0")
    world.fail("b1")
    world.now = world.store.gates()["anthropic"].until
    world.fail("b2", Verdict(Outcome.RATE_LIMITED, "limit reached", resets_at=world.now + 500))
    assert world.closed and world.questions() == []


def test_a_person_who_has_mended_it_opens_it(world: World) -> None:
    world.fail("b0")
    world.fail("b1")
    desk.resolve(world.store, world.store.escalations()[0].id, "retry", actor="human")
    assert not world.store.gates() and world.questions() == []
    world.fail("b2")
    world.fail("b3")
    assert world.closed and world.questions() == ONE
    assert world.store.end_cooldown("anthropic", "human") and world.questions() == []


def test_closing_again_after_a_crash_says_the_same(world: World) -> None:
    first, second = world.begin("b0"), world.begin("b1")
    world.now += 1
    for attempt in (first, first, second, second):
        cool(world.ports, attempt, BROKEN)
    assert world.store.gates()["anthropic"].times == 1 and world.questions() == ONE
    kinds = [event.kind for event in world.store.events(0, 100)]
    assert kinds.count(Kind.GATE_CLOSED) == 1


CLAUDE = "\n[agents.claude]\n"
MODEL_GONE = Verdict(Outcome.MODEL_UNAVAILABLE, "no such model")
NO_WORKSPACE = Verdict(Outcome.WORKSPACE_FAILED, "the set-up failed")


@pytest.mark.parametrize(
    ("verdict", "settings"),
    [
        (BROKEN, f'{SETTINGS}{CLAUDE}executable = "/opt/claude"'),
        (BROKEN, f'{SETTINGS}{CLAUDE}permissions = "bypass"'),
        (BROKEN, f'{SETTINGS}environment = ["CLAUDE_HOME"]'),
        (BROKEN, f'{SETTINGS}[sandbox]\nread = ["/opt"]'),
        (BROKEN, f'{SETTINGS}[agents.models.claude]\ndoer = "other"'),
        (MODEL_GONE, f'{SETTINGS}{CLAUDE}base_url = "https://other.test"'),
        (NO_WORKSPACE, SETTINGS.replace("make", "make it")),
        (Verdict(Outcome.AUTH, "no key"), f'{SETTINGS}environment = ["KEY"]'),
        (Verdict(Outcome.RATE_LIMITED, "used up"), f'{SETTINGS}{CLAUDE}base_url = "https://other.test"'),
    ],
)
def test_changed_settings_are_tried_at_once_by_one_agent(world: World, verdict: Verdict, settings: str) -> None:
    world.close_for_long(verdict)
    before = world.questions()
    assert limits.room(world.store.gates(), (), world.now).popitem()[1] == 0
    assert world.sets(settings)
    assert limits.room(world.store.gates(), (), world.now).popitem()[1] == 1 and world.questions() == before
    world.now += 1
    world.end(world.begin("b2"), Verdict(Outcome.FAILED, "it gave up"))
    assert not world.store.gates() and world.questions() == []


@pytest.mark.parametrize(
    ("verdict", "settings"),
    [
        (BROKEN, SETTINGS.replace("claude", "codex")),
        (MODEL_GONE, f'{SETTINGS}{CLAUDE}model = "there"'),
        (MODEL_GONE, f'{SETTINGS}[agents.models.claude]\ndoer = "there"\ntest_writer = "there"'),
    ],
)
def test_what_no_setting_names_any_more_is_asked_about_no_longer(world: World, verdict: Verdict, settings: str) -> None:
    world.close_for_long(verdict)
    assert world.questions() == ONE
    assert world.sets(settings)
    assert not world.store.gates() and world.questions() == []


@pytest.mark.parametrize(
    "settings", [f"{SETTINGS}[agents.codex]\nmodel = 'other'", f"{SETTINGS}[limits]\ndoers = 2", f"# new\n{SETTINGS}"]
)
def test_settings_of_others_open_nothing(world: World, settings: str) -> None:
    world.close_for_long()
    assert not world.sets(settings) and world.closed and world.questions() == ONE


def test_settings_that_changed_while_no_daemon_worked_are_tried_by_the_next(world: World) -> None:
    world.close_for_long()
    world.config = parse(f'{SETTINGS}{CLAUDE}executable = "/opt/claude"', "config.toml")
    assert Definitions(world.ports).look(world.board()) and not world.closed
    world.fail("b2")
    assert world.closed and not Definitions(world.ports).look(world.board())
    assert world.store.gates()["anthropic"].times == 1 and world.questions() == ONE


def test_an_agent_of_the_settings_of_before_closes_nothing(world: World) -> None:
    at_work = [world.begin(f"b{n}") for n in range(4)]
    world.now += 1
    world.sets(f'{SETTINGS}{CLAUDE}executable = "/opt/claude"')
    for attempt in at_work:
        world.end(attempt)
    assert not world.store.gates() and world.questions() == []


def test_settings_are_looked_at_while_something_waits_at_a_gate(world: World) -> None:
    watch = Definitions(world.ports)
    watch.look(world.board())
    assert watch.wake_at() == []
    world.fail("b0")
    world.fail("b1")
    watch.look(world.board())
    (due,) = watch.wake_at()
    assert watch.is_silent(due) and watch.wake_at() > [due]
    world.config = parse(f'{SETTINGS}{CLAUDE}executable = "/opt/claude"', "config.toml")
    assert not watch.is_silent(due)


def test_the_question_about_a_model_stays_while_it_is_tried_in_vain(world: World) -> None:
    for bead in ("b0", "b1", "b2"):
        world.fail(bead, MODEL_GONE)
        world.now = world.store.gates()["claude:default"].until
    assert world.questions() == ONE


def as_before(world: World, reason: str, provider: str = "anthropic") -> None:
    """What a daemon left that kept no digest of the settings: the gate, for an hour, and its question."""
    row = (provider, reason, "the agent did not start: Error", world.now - 60, world.now + 3600, 9, False)
    world.store.run("INSERT INTO gates VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    if reason in ("bad_configuration", "model_unavailable"):
        evidence = {STARTS: provider, "agent": "claude", "outcome": reason}
        asked = NewEscalation(EscalationType.BROKEN_ENVIRONMENT, "the agent claude does not start", "", evidence)
        world.store.escalate(asked, None, None, "nobrakes")


@pytest.mark.parametrize(
    ("reason", "provider"), [("bad_configuration", "anthropic"), ("model_unavailable", "claude:default")]
)
def test_a_gate_of_settings_that_nobody_noted_is_tried_once_by_one_agent(
    world: World, reason: str, provider: str
) -> None:
    as_before(world, reason, provider)
    watch = Definitions(world.ports)
    assert watch.look(world.board()) and world.questions() == ONE
    assert limits.room(world.store.gates(), (), world.now) == {provider: 1}
    assert not watch.look(world.board()) and not Definitions(world.ports).look(world.board())
    world.now += 1
    world.fail("b0", MODEL_GONE if provider == "claude:default" else BROKEN)
    assert world.store.gates()[provider].is_closed(world.now) and world.questions() == ONE
    assert not Definitions(world.ports).look(world.board())
    world.now = world.store.gates()[provider].until
    world.fail("b1", Verdict(Outcome.FAILED, "it gave up"))
    assert not world.store.gates() and world.questions() == []


def test_the_cli_of_such_a_gate_is_asked_before_it_is_tried(world: World) -> None:
    as_before(world, "bad_configuration")
    world.trouble = "SyntaxError"
    assert Definitions(world.ports).look(world.board())
    assert world.probe.holds("claude", "anthropic", world.board()) is True and world.closed


def test_an_agent_of_such_a_gate_that_no_setting_names_is_asked_about_no_longer(world: World) -> None:
    as_before(world, "bad_configuration", "openai")
    assert Definitions(world.ports).look(world.board())
    assert not world.store.gates() and world.questions() == []


@pytest.mark.parametrize("reason", ["rate_limited", "auth", "billing"])
def test_a_providers_own_refusal_of_before_holds_until_its_end_or_other_settings(world: World, reason: str) -> None:
    as_before(world, reason)
    assert not Definitions(world.ports).look(world.board()) and world.closed
    assert world.sets(f'{SETTINGS}{CLAUDE}base_url = "https://other.test"') and not world.closed


@pytest.mark.parametrize("outcome", [Outcome.MISSING_EXECUTABLE, Outcome.WORKSPACE_FAILED])
def test_what_was_printed_says_the_likely_cause(world: World, outcome: Outcome) -> None:
    for bead in ("b0", "b1"):
        world.fail(bead, Verdict(outcome, "it did not start:\nsh: 1: bun: not found"))
    assert '"sh: 1: bun: not found"' in world.store.escalations()[0].hypothesis
