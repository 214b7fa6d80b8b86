"""What simulated agents and checks do: scripts that take time, leave a tree behind, and end with an exit code.

1. A script is a generator: it yields the seconds until its next step and returns its exit code and output.
2. Most agents do good work; with the seed's fail rate one of the ways to go wrong is drawn instead.
3. A script that yields None hangs: it makes no sign of life until it is stopped.
"""

import random
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass

from nobrakes.beads.model import Role
from nobrakes.checks.policy import ownership
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.errors import GitFailed, NobrakesError
from nobrakes.store import Store

from .clock import FakeClock
from .clones import Clones
from .filtering import SECRET
from .project import BASE_TESTS, LINT, TESTS, Tree, code_path, flaked, forbidden, run_lint, run_tests, test_path, wanted
from .rates import Rates

Script = Generator[float | None, None, tuple[int, str]]

DONE = "NOBRAKES: COMPLETED\n"
BLOCKED = "NOBRAKES: BLOCKED\n"


@dataclass(frozen=True, slots=True)
class AgentWorld:
    """One agent's environment, and the world that it can reach."""

    env: Mapping[str, str]
    clones: Clones
    store: Store
    clock: FakeClock
    rng: random.Random
    rates: Rates

    @property
    def bead(self) -> str:
        """The bead it was given."""
        return self.env["NOBRAKES_BEAD"]

    def tree(self) -> Tree:
        """What it sees."""
        return self.clones.tree(self.bead)

    def save(self, **files: str | None) -> None:
        """Change one of its files: `code`, `test`, or `shared`."""
        paths = {"code": code_path(self.bead), "test": test_path(self.bead), "shared": "src/shared.py"}
        self.clones.edit(self.bead, {paths.get(name, name): text for name, text in files.items()})

    def commit(self, subject: str) -> None:
        """Commit what it changed."""
        self.clones.commit(self.bead, f"{subject} ({self.bead})", self.clock.now())

    def lacks_a_plan(self) -> bool:
        """Whether it must not begin before a person approved its plan."""
        bead, asked = self.store.bead(self.bead), self.store.escalations(open_only=False, bead=self.bead)
        return ownership.needed(bead, Role(self.env["NOBRAKES_ROLE"])) and ownership.approved(asked) is None

    def ask(self, kind: EscalationType, title: str) -> bool:
        """Talk to people by the door of its token; False when the door is shut."""
        try:
            attempt = self.store.attempt_of_token(self.env["NOBRAKES_TOKEN"])
            self.store.escalate(NewEscalation(kind, title), attempt.bead, attempt.id, attempt.name)
        except NobrakesError:
            return False
        return True


# --- good work -----------------------------------------------------------------------------------


def writes_tests(agent_world: AgentWorld) -> Script:
    """One test that fails until the Doer has done its work, and sometimes one about another bead's file."""
    yield agent_world.rng.uniform(5, 60)
    lines = [f"{code_path(agent_world.bead)} is v{agent_world.rng.randrange(4)}"]
    others = sorted(p for p in agent_world.tree() if p.startswith("src/") and p not in ("src/base.py", "src/shared.py"))
    if others and agent_world.rng.random() < 0.3:
        other = agent_world.rng.choice(others)
        value = f"v{agent_world.rng.randrange(4)}"
        if other != code_path(agent_world.bead) and agent_world.tree()[other] != value:
            lines.append(f"{other} is not {value}")
    if agent_world.rng.random() < 0.2:
        lines.append(f"src/shared.py is not v{agent_world.rng.randrange(4)}")
    agent_world.save(test="\n".join(lines))
    if agent_world.rates.weakens and agent_world.rng.random() < agent_world.rates.weakens:
        tests = {path: text for path, text in sorted(agent_world.tree().items()) if path.startswith("tests/")}
        for path in [path for path in tests if path not in (BASE_TESTS, test_path(agent_world.bead))][-1:]:
            same = [f"{path} is not {agent_world.bead}" for _ in tests[path].splitlines()]
            agent_world.clones.edit(agent_world.bead, {path: "\n".join(same)})
    agent_world.commit("tests")
    yield agent_world.rng.uniform(1, 20)
    return 0, DONE


def does_the_work(agent_world: AgentWorld) -> Script:
    """What the tests want, in one or two commits; sometimes the shared file is changed too."""
    yield agent_world.rng.uniform(10, 90)
    if (
        agent_world.lacks_a_plan()
        and agent_world.rng.random() < 0.9
        and agent_world.ask(EscalationType.PLAN_REVIEW, "this, then that")
    ):
        return 0, BLOCKED
    if agent_world.rng.random() < 0.3:
        agent_world.save(code="draft")
        agent_world.commit("first try")
        yield agent_world.rng.uniform(10, 60)
    path = code_path(agent_world.bead)
    want = wanted(agent_world.tree(), path)
    if want is None:
        want = next((v for v in ("v0", "v1", "v2", "v3") if v not in forbidden(agent_world.tree(), path)), "v9")
    agent_world.save(code=want)
    if agent_world.rng.random() < agent_world.rates.conflict:
        banned = forbidden(agent_world.tree(), "src/shared.py")
        agent_world.save(shared=next(v for v in ("v0", "v1", "v2", "v3", f"by {agent_world.bead}") if v not in banned))
    if agent_world.rates.filters and agent_world.rng.random() < agent_world.rates.filters:
        agent_world.clones.edit(agent_world.bead, {SECRET: f"the secret of {agent_world.bead}"})
    agent_world.commit("work")
    yield agent_world.rng.uniform(1, 20)
    return 0, DONE


# --- bad work ------------------------------------------------------------------------------------


def gives_up(agent_world: AgentWorld) -> Script:
    """Says so, and leaves half of it uncommitted."""
    yield agent_world.rng.uniform(5, 60)
    agent_world.save(code="half")
    yield 5.0
    return agent_world.rng.choice([0, 1]), agent_world.rng.choice(
        ["NOBRAKES: FAILED\n", "NOBRAKES: CONTEXT_EXHAUSTED\n"]
    )


def crashes(agent_world: AgentWorld) -> Script:
    """Dies with an exit code, after a commit that is not finished."""
    yield agent_world.rng.uniform(5, 60)
    agent_world.save(code="broken LINT")
    agent_world.commit("wip")
    return agent_world.rng.choice([1, 2, 137]), "Traceback\n"


def hangs(agent_world: AgentWorld) -> Script:
    """Falls silent."""
    yield agent_world.rng.uniform(5, 60)
    yield None
    return 0, ""


def does_nothing(agent_world: AgentWorld) -> Script:
    """Says that it is done, without a commit."""
    yield agent_world.rng.uniform(1, 30)
    return 0, DONE


def breaks_the_boundary(agent_world: AgentWorld) -> Script:
    """Changes what its role may not: tests, code, a gate or nobrakes' own folder."""
    yield agent_world.rng.uniform(5, 60)
    doer = agent_world.env["NOBRAKES_ROLE"] == Role.DOER.value
    other = test_path("base") if doer else code_path(agent_world.bead)
    path = agent_world.rng.choice([other, "Makefile", ".nobrakes/config.toml"])
    changes: dict[str, str | None] = {path: agent_world.rng.choice(["src/base.py is ok", None])}
    if doer:
        changes[code_path(agent_world.bead)] = wanted(agent_world.tree(), code_path(agent_world.bead)) or "v0"
        changes[test_path(agent_world.bead)] = (
            None if agent_world.rng.random() < 0.5 else agent_world.tree().get(test_path(agent_world.bead))
        )
    else:
        changes[test_path(agent_world.bead)] = f"{code_path(agent_world.bead)} is v1"
    if path not in agent_world.tree() and changes[path] is None:
        changes[path] = "mine now"
    agent_world.clones.edit(agent_world.bead, changes)
    agent_world.commit("more than asked")
    yield 1.0
    return 0, DONE


def rewrites_its_branch(agent_world: AgentWorld) -> Script:
    """Throws the history of its branch away."""
    yield agent_world.rng.uniform(5, 60)
    agent_world.save(code=wanted(agent_world.tree(), code_path(agent_world.bead)) or "v1")
    agent_world.clones.rewrite(agent_world.bead, agent_world.clock.now())
    yield 1.0
    return 0, DONE


def asks(agent_world: AgentWorld) -> Script:
    """Asks a person and stops."""
    yield agent_world.rng.uniform(5, 60)
    agent_world.ask(EscalationType.QUESTION, f"what is {agent_world.rng.choice(['this', 'that'])}?")
    yield 1.0
    return 0, BLOCKED


def says_two_things(agent_world: AgentWorld) -> Script:
    """Contradicts itself."""
    yield agent_world.rng.uniform(5, 60)
    return 0, DONE + "NOBRAKES: FAILED\n"


def writes_bad_code(agent_world: AgentWorld) -> Script:
    """Code that no test or linter accepts."""
    yield agent_world.rng.uniform(5, 60)
    agent_world.save(code=agent_world.rng.choice(["wrong", "LINT"]))
    agent_world.commit("work")
    yield 1.0
    return 0, DONE


def writes_tests_that_pass(agent_world: AgentWorld) -> Script:
    """Tests that prove nothing."""
    yield agent_world.rng.uniform(5, 60)
    agent_world.save(test="src/base.py is ok")
    agent_world.commit("tests")
    yield 1.0
    return 0, DONE


def writes_tests_that_do_not_parse(agent_world: AgentWorld) -> Script:
    """Tests that fail for the wrong reason."""
    yield agent_world.rng.uniform(5, 60)
    agent_world.save(test="what?")
    agent_world.commit("tests")
    yield 1.0
    return 0, DONE


def suggests(agent_world: AgentWorld) -> Script:
    """Does the work, and tells people of more work that it saw."""
    agent_world.ask(EscalationType.DOER_SUGGESTION, f"more of {agent_world.bead}")
    role = agent_world.env["NOBRAKES_ROLE"]
    return (yield from (does_the_work(agent_world) if role == Role.DOER.value else writes_tests(agent_world)))


_BOTH = (gives_up, crashes, hangs, does_nothing, breaks_the_boundary, rewrites_its_branch, asks, says_two_things)
BAD: Mapping[str, tuple[Callable[[AgentWorld], Script], ...]] = {
    Role.TEST_WRITER.value: (*_BOTH, writes_tests_that_pass, writes_tests_that_do_not_parse),
    Role.DOER.value: (*_BOTH, writes_bad_code, writes_bad_code),
}
GOOD: Mapping[str, Callable[[AgentWorld], Script]] = {
    Role.TEST_WRITER.value: writes_tests,
    Role.DOER.value: does_the_work,
}


def agent(agent_world: AgentWorld) -> Script:
    """An agent of the role, drawn from the seed."""
    role = agent_world.env["NOBRAKES_ROLE"]
    if agent_world.rng.random() < agent_world.rates.fail:
        return agent_world.rng.choice(BAD[role])(agent_world)
    return suggests(agent_world) if agent_world.rng.random() < 0.05 else GOOD[role](agent_world)


def ends_at_once() -> Script:
    """An agent whose CLI finds nothing to go on with."""
    yield 1.0
    return 1, ""


def check(command: str, path: str, clones: Clones, rng: random.Random, rates: Rates) -> Script:
    """One check in a checkout; the machine may break it, and then it says neither yes nor no."""
    yield rng.uniform(1, 60) * rates.slow
    if rng.random() < rates.machine:
        return rng.choice([127, 126, 137]), "the machine broke\n"
    try:
        tree = clones.checked_out(path)
    except GitFailed as error:
        return 128, f"{error}\n"
    code, output = {TESTS: run_tests, LINT: run_lint}[command](tree)
    if command == TESTS and not code and rates.flake and rng.random() < rates.flake:
        return 1, flaked(output)
    if command == TESTS and rates.mute and random.Random(f"{path} {output}").random() < rates.mute:
        return 0, "done\n"  # a command whose exit code is another's, and that tells no number of tests
    return code, output
