"""Processes of agents: their start, permitted commands, end, and agents that do not start.

Our own stop is never the agent's failure: whatever signal or exit code follows, only its words and its waiting for the
provider count; without these, the reason of the stop is the outcome.
"""

import hashlib
import json
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any

from ... import abilities
from ...beads.model import TABLE, Attempt, Bead, Outcome, Role, Run
from ...checks.contract import SETUP_FAILED, Check, first_error
from ...checks.worker.steps import clean, setup_said, with_agents
from ...config.settings import Config
from ...daemon.model import Board
from ...daemon.service import control
from ...decisions.blockers import cure_of_start
from ...decisions.causes import likely_cause
from ...decisions.model import STARTS, EscalationType, NewEscalation, waiting_text
from ...errors import NoAgent, NobrakesError
from ...files import private_folder, write_atomic
from ...git.port import Argv
from ...host.command import outputs
from ...host.confine import OWN, Confined, Confinement
from ...host.port import Command, Step, StepEnd
from ...host.runs import recording
from ...parking import owner_of
from ...ports import Ports
from ...programs import NODE_FAILED, NODE_LOST
from ...records import frozen
from ...sessions.model import Talk
from .. import limits
from ..adapter import SELF_TEST_FILE, UNSEEN, AgentEnd, Assignment, Launch, Verdict, self_test_failed
from ..known import ADAPTERS, named_agents
from ..limits import Cooldown, error_of

if TYPE_CHECKING:
    from ...store import Store

STEP = "agent"
SELF_TEST = os.path.join(OWN, SELF_TEST_FILE)
HEAD, TAIL = 64_000, 2_000_000
"""Bytes of an output's beginning and end that are read for its verdict."""

_OUTAGES = frozenset({Outcome.NETWORK, Outcome.PROVIDER_DOWN, Outcome.RATE_LIMITED})
"""A timeout while waiting for one of these is not the agent's fault."""
_TOO_LONG = frozenset({Outcome.STALLED, Outcome.TIMED_OUT})
_OWN_WORDS = frozenset({Outcome.COMPLETED, Outcome.GAVE_UP_CONTEXT, Outcome.GAVE_UP_TESTS, Outcome.BLOCKED})
"""What an agent declares as its end."""
_NO_WORDS_COUNT = frozenset({Outcome.GUARD_FAILED, Outcome.CANCELLED})
"""A stop for these ignores its words."""

LIVED_ON = "the agent had finished, but its process kept running, so nobrakes ended it"


class How(Enum):
    """How far an agent came."""

    NEVER_BEGAN = auto()
    STOPPED = auto()  # by us; `outcome` says why
    OUTAGE = auto()  # by us, while it waited for its provider
    ENDED = auto()  # by itself: its words count


@frozen
class Ended:
    """How far it came, and what that means."""

    how: How
    verdict: Verdict


def how_it_ended(ports: Ports, agent: str, run: Run) -> Ended:
    """Judge the run by its exit files and output."""
    folder = os.path.join(ports.paths.runs, run.id)
    ending = ports.processes.ending(folder, [STEP])
    step = ending.steps[0]
    if (why := lost_with_node(ports, run) or failed_node(ports, run)) and run.stopping in (None, Outcome.COMPLETED):
        return Ended(How.NEVER_BEGAN, Verdict(Outcome.LOST, why))  # its work is lost too, whatever it said
    if run.stopping is not None:
        return _stopped(ports, agent, run.stopping, step, folder)
    if ending.prologue_failed is not None:
        if (unguarded := self_test_failed(ending.prologue_failed)) is not None:
            return Ended(How.NEVER_BEGAN, Verdict(Outcome.GUARD_FAILED, unguarded))
        why = clean(ports, ending.prologue_failed)[-4000:]
        if said := setup_said(ending.prologue_failed):
            why = f"{SETUP_FAILED}: {first_error(clean(ports, said))}\n{why}"
        return Ended(How.NEVER_BEGAN, Verdict(Outcome.WORKSPACE_FAILED, why))
    if not step.started:
        return Ended(How.NEVER_BEGAN, Verdict(Outcome.LOST, UNSEEN))
    return Ended(How.ENDED, _by_adapter(ports, agent, step, folder))


def lost_with_node(ports: Ports, run: Run) -> str:
    """Why the run's node is lost, which counts for nothing; empty: it is not."""
    why = ports.processes.output(os.path.join(ports.paths.runs, run.id, NODE_LOST), 500).strip()
    return f"lost with its node: {why}" if why else ""


def failed_node(ports: Ports, run: Run) -> str:
    """What the run's node could not do; empty: nothing."""
    why = ports.processes.output(os.path.join(ports.paths.runs, run.id, NODE_FAILED), 500).strip()
    return f"its node failed: {why}" if why else ""


def _stopped(ports: Ports, agent: str, why: Outcome, step: StepEnd, folder: str) -> Ended:
    """Judge by its words as far as they count; our stop caused the exit code."""
    if why in _NO_WORDS_COUNT or not step.started:
        return Ended(How.STOPPED, Verdict(why, ""))
    verdict = _by_adapter(ports, agent, step if step.code == 0 else replace(step, code=None), folder)
    if why is Outcome.COMPLETED and verdict.outcome is Outcome.LOST:
        verdict = replace(verdict, detail=LIVED_ON)
    if verdict.outcome in _OWN_WORDS or verdict.unsure or why is Outcome.COMPLETED:
        return Ended(How.ENDED, verdict)
    if verdict.outcome in _OUTAGES and why in _TOO_LONG:
        return Ended(How.OUTAGE, verdict)
    if why in _TOO_LONG and not ports.adapter(agent).has_begun(lines(ports, step.output)):
        errors = clean(ports, ports.processes.output(os.path.join(folder, f"{STEP}.err"), 2000)).strip()
        why_not = f"the agent printed nothing after its start, so nobrakes stopped the agent. {errors}".strip()
        return Ended(How.NEVER_BEGAN, Verdict(Outcome.BAD_CONFIGURATION, why_not))
    return Ended(How.STOPPED, Verdict(why, ""))


def _by_adapter(ports: Ports, agent: str, step: StepEnd, folder: str) -> Verdict:
    processes = ports.processes
    errors = processes.output(os.path.join(folder, f"{STEP}.err"), 20_000)
    self_test = processes.output(os.path.join(folder, SELF_TEST), 100)
    end = AgentEnd(step.code, lines(ports, step.output), errors, self_test, ports.store.now())
    return ports.adapter(agent).verdict(end)


def unsure(verdict: Verdict) -> str:
    why = f"the last output line is incomplete or missing ({verdict.detail})"
    return f"nobrakes cannot tell whether the agent had finished, because {why}; the review checks its commits"


def lines(ports: Ports, path: str) -> list[bytes]:
    """Of a long output the beginning and the end."""
    processes, older = ports.processes, f"{path}.1"  # host.runs.recording
    end = (processes.output(older, HEAD + TAIL) + processes.output(path, HEAD + TAIL)).encode()
    if len(end) < HEAD + TAIL:
        return end.split(b"\n")
    begin = processes.head(older, HEAD) or processes.head(path, HEAD)
    return [*begin.split(b"\n")[:-1], *end[-TAIL:].split(b"\n")[1:]]  # no line that was cut


HANDOFF = os.path.join(OWN, "handoff.md")
"""In the folder of a run: the agent's hand-off file."""

_GO_IN = """
left=$1
shift
while [ "$left" -gt 0 ]; do
    if [ -L "./$1" ] || { [ ! -d "./$1" ] && ! mkdir -- "./$1"; } || ! cd -- "./$1"; then
        echo "its folder cannot be worked in: $1 is not a folder of the workspace" >&2
        exit 126
    fi
    left=$((left - 1))
    shift
done
exec "$@"
"""


def environment(ports: Ports, config: Config, credentials: Sequence[str], token: str, folder: str) -> dict[str, str]:
    """The agent's environment in the run's folder, without its identity."""
    named = (*credentials, *config.agents.environment)
    boundary = with_agents(config.boundary())
    return {
        **ports.environment,
        **{name: ports.credentials[name] for name in named if name in ports.credentials},
        "PATH": os.path.join(ports.paths.folder, "bin") + os.pathsep + ports.environment.get("PATH", os.defpath),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_EDITOR": "true",
        "NOBRAKES_HOME": ports.paths.folder,
        "NOBRAKES_TOKEN": token,
        "NOBRAKES_DOOR": "",  # there and empty: a CLI hands a variable on that is not there by its name, with the $
        "NOBRAKES_SANDBOX": "",
        "NOBRAKES_PROMPT": os.path.join(folder, "prompt.md"),
        "NOBRAKES_HANDOFF": os.path.join(folder, HANDOFF),
        "NOBRAKES_TESTS": "\n".join(boundary.tests),
        "NOBRAKES_GATES": "\n".join((*boundary.gates, *boundary.steering)),
        "NOBRAKES_ASK_FIRST": "\n".join(config.agents.ask_first),
        "NOBRAKES_PYTHON": sys.executable,
    }


def permitted(confinement: Confinement, config: Config, agent: str) -> tuple[tuple[str, ...], ...] | None:
    """What the CLI's own permissions allow; None: they are off, by its setting or in a sandbox."""
    if config.agents.bypasses(agent) or not confinement.nothing():
        return None
    return commands(config.contract(), config.setup)


# These are rules of words and no wall, since what the checks start may do anything. A command is told as the words that
# it begins with, up to its first option; what cannot be told so (quotes, a subshell) is left out.
ALWAYS = ("git", "nobrakes")
_RUNNER = re.compile(r"(?:\S*/)?(?:python[\d.]*|node|ruby|perl|php|bash|sh|deno)")
_WRAPPER = re.compile(r"(?:\S*/)?(?:uv|poetry|pipenv|pdm|hatch|rye|bundle|npm|npx|pnpm|yarn|bun)")
_AROUND = frozenset(("env", "exec", "time", "nice", "timeout", "stdbuf", "xvfb-run"))
"""Programs that start any other: never allowed by themselves."""
_VERBS = frozenset(("run", "exec", "test"))
_PLAIN = re.compile(r"[\w./:@%+=,-]+")


def commands(checks: Iterable[Check], setup: str = "") -> tuple[tuple[str, ...], ...]:
    found: dict[tuple[str, ...], None] = {(word,): None for word in ALWAYS}
    for text in (*(check.command for check in checks), setup):
        for part in re.split(r"&&|\|\||[;|&\n]", text):
            if words := _beginning(part.split()):
                found[words] = None
    return tuple(found)


def _beginning(words: list[str]) -> tuple[str, ...]:
    """The words that name the started program; empty if unclear."""
    while words and (re.match(r"\w+=", words[0]) or words[0] in _AROUND):
        around, words = words[0] in _AROUND, words[1:]
        while around and words and re.match(r"-|\d", words[0]):
            words = words[1:]
    if not words or not all(_PLAIN.fullmatch(word) for word in words[:4]):
        return ()
    if _RUNNER.fullmatch(words[0]):  # an interpreter alone would be everything
        if words[1:2] == ["-m"]:
            return tuple(words[:3]) if len(words) > 2 else ()
        return tuple(words[:2]) if len(words) > 1 and words[1] not in ("-c", "-e", "-", "-lc") else ()
    taken = words[:1]
    if _WRAPPER.fullmatch(words[0]):
        for word in words[1:]:
            if word.startswith("-"):
                break
            taken.append(word)
            if word not in _VERBS:
                return tuple(taken)
        return tuple(taken) if len(taken) > 1 else ()
    return (*taken, *(word for word in words[1:2] if re.fullmatch(r"[a-z][\w:-]*", word)))


def in_directory(launch: Launch, directory: str) -> Launch:
    """Start it in this folder of the workspace: made if missing, never through a link."""
    parts = [part for part in directory.split("/") if part]
    argv = ("/bin/sh", "-c", _GO_IN, "go-in", str(len(parts)), *parts, *launch.argv)
    return replace(launch, argv=argv, programs=(launch.argv[0], *launch.programs))


def command(
    launch: Launch, confined: Confined, folder: str, workspace: str, prompt: str, prologue: Sequence[Argv]
) -> Command:
    # the argv by way of the recorder: whatever an agent says is kept without secrets, and bounded
    argv = confined.wrap(launch.argv, is_last=True)
    out, err = (os.path.join(folder, f"{STEP}.{stream}") for stream in ("out", "err"))
    return Command(
        folder=folder,
        cwd=workspace,
        env=launch.env,
        steps=(Step(STEP, recording.recorded(argv, out, err), stdin=launch.stdin),),
        prologue=(*prologue, *(confined.wrap(argv, alone=True) for argv in launch.prologue)),
        files={os.path.join(OWN, name): content for name, content in launch.files.items()}
        | {"prompt.md": prompt.encode(), HANDOFF: b"", **confined.files},
    )


# Agents that do not start are one fault of the machine: the same failure of a second owner closes the agent's gate and
# asks once, in one transaction. Failures are the same by the beginning of what was printed, without numbers and names
# of beads. Afterwards the CLI is asked for its version (an ACP agent for its hello, a script for its program) before
# one agent goes ahead.
GREETING_SECONDS = 60.0
"""Seconds for an agent's greeting, including its start."""
NOTED = "not_started:"
"""A provider's setting: who met which failure to start."""
MAX_ERRORS = 20
"""Recorded different failures."""


def is_shared(ports: Ports, work: Attempt | Talk, verdict: Verdict, gate: Cooldown | None) -> bool:
    """Whether the failure to start is the agent's, not the work's: its cooldown says so, or others met it."""
    if not TABLE[verdict.outcome].is_of_start:
        return False
    if gate is not None and gate.is_of_start:
        return True
    store, owner, error = ports.store, owner_of(work), _error(work, verdict)
    key = f"{NOTED}{limits.gate_key(work, verdict.outcome)}"
    noted: dict[str, str] = json.loads(store.setting(key) or "{}")
    if noted.get(error, owner) != owner:
        return True
    if error not in noted:
        store.set_setting(key, json.dumps(dict([*noted.items(), (error, owner)][-MAX_ERRORS:])))
    return False


def forget(ports: Ports, work: Attempt | Talk) -> None:
    for key in (limits.WORKSPACES, work.provider):
        if ports.store.setting(f"{NOTED}{key}"):
            ports.store.set_setting(f"{NOTED}{key}", None)


def is_of_broken_checks(store: "Store", verdict: Verdict) -> bool:
    if not verdict.detail.startswith(SETUP_FAILED):
        return False
    of_main = (one.type is EscalationType.BROKEN_CHECKS and one.bead is None for one in store.escalations())
    return store.setting(control.BROKEN) is not None or any(of_main)


def question(work: Attempt | Talk, verdict: Verdict, beads: Iterable[Bead]) -> NewEscalation:
    """The question to a person, for no bead; it names those of `beads` that wait."""
    if isinstance(work, Attempt) and TABLE[verdict.outcome].is_of_model:
        key = limits.model_key_of(work)
        detail = (
            f"{verdict.detail}\n\nnobrakes starts no agent with this model of {work.agent}; other models continue. "
            "No failure is counted. In .nobrakes/config.toml, name a model that the provider has. nobrakes also tries "
            "this model again automatically, and withdraws this question when the model works. To try now: "
            f"nobrakes providers open {shlex.quote(key)}"
        )
        evidence = {STARTS: key, "agent": work.agent, "outcome": verdict.outcome.value}
        title = f"the provider of {work.agent} does not have the model {work.model or 'that the agent uses by default'}"
        return NewEscalation(EscalationType.BROKEN_ENVIRONMENT, title, detail, evidence, likely_cause(verdict.detail))
    key = limits.gate_key(work, verdict.outcome)
    title, whom, over = f"the agent {work.agent} does not start", f" with {work.agent}", "the agent starts"
    if key == limits.WORKSPACES:
        title, whom, over = "nobrakes cannot create a workspace", "", "nobrakes can create a workspace"
    cure = cure_of_start(key)
    detail = (
        f"{verdict.detail}\n\nMore than one bead or session met this problem, so nobrakes starts no other agent{whom}. "
        f"{waiting_text(beads)} No failure is counted. {cure[0].upper()}{cure[1:]}. nobrakes tries again automatically "
        f"and withdraws this question when {over}. To try now: nobrakes providers open {key}"
    )
    evidence = {STARTS: key, "agent": work.agent, "outcome": verdict.outcome.value}
    return NewEscalation(EscalationType.BROKEN_ENVIRONMENT, title, detail, evidence, likely_cause(verdict.detail))


class StartProbe:
    """Checks CLIs that did not start before agents are started with them."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._said: dict[str, str] = {}
        self._passed: dict[str, float] = {}

    def holds(self, agent: str, provider: str, board: Board) -> bool | None:
        """None: it may start. Else it may not; the value says whether the board changed."""
        gate = board.gates.get(provider)
        if gate is None or not gate.is_of_start or self._passed.get(provider) == gate.until:
            return None
        background, job = self.ports.background, f"test whether the agent {agent} starts"
        if provider not in self._said:
            background.begin(job, partial(self._ask, agent, provider))
        if not background.over(job) or provider not in self._said:
            return False
        trouble = self._said.pop(provider)
        if not trouble:
            self._passed[provider] = gate.until
            return None
        self.ports.store.start_cooldown(limits.still_broken(gate, trouble, self.ports.store.now()))
        return True

    def _ask(self, agent: str, provider: str) -> None:
        self._said[provider] = self.ports.start_trouble(agent) or self._greeted(agent)

    def _greeted(self, agent: str) -> str:
        """Why the agent does not answer, confined as an attempt; empty: it answers, or cannot be asked."""
        if abilities.reports_version(agent) or not abilities.is_tried(agent):
            return ""  # it was asked for its version, or nothing more is known of it than its program
        ports, config = self.ports, self.ports.config()
        words = (word for word in config.agents.command(agent) if not os.path.isabs(word))
        if any(os.path.lexists(os.path.join(ports.paths.root, word)) for word in words):
            return ""  # it lies in the workspaces, and there is none
        run = f"greeting-{agent}"
        with tempfile.TemporaryDirectory(prefix=f"{run}-", dir=ports.paths.temporary) as folder:
            workspace, own = os.path.join(folder, "workspace"), os.path.join(folder, OWN)
            try:
                launch = self._greeting(agent, config, folder, workspace, own)
                write_atomic(os.path.join(folder, "prompt.md"), b"")  # a sandbox shows what is there
                for name, content in launch.files.items():
                    private_folder(os.path.dirname(os.path.join(own, name)))
                    write_atomic(os.path.join(own, name), content)
                argv = Confinement(ports).agent(run, workspace, folder, launch).wrap(launch.greets)
                code, said = outputs({"": argv}, launch.env, GREETING_SECONDS, workspace)[""]
            except (NobrakesError, OSError) as error:
                return str(error)
            finally:
                ports.channel.end(run)
        verdict = ports.adapter(agent).verdict(AgentEnd(code, said.encode().split(b"\n")))
        return verdict.detail if code and TABLE[verdict.outcome].is_of_start else ""

    def _greeting(self, agent: str, config: Config, folder: str, workspace: str, own: str) -> Launch:
        ports, adapter = self.ports, self.ports.adapter(agent)
        for path in (workspace, own):
            os.makedirs(path)
        assignment = Assignment(
            role=Role.DOER,
            bead="",
            worker="nobrakes",
            attempt=0,
            prompt="",
            prompt_file=os.path.join(folder, "prompt.md"),
            workspace=workspace,
            folder=own,
            session="",
            resume=False,
            env=environment(ports, config, adapter.credentials, "", folder),
            settings=config.agents.seated(agent, Role.DOER),
            system_prompt="",
            guard=ports.guard,
        )
        return adapter.launch(assignment)


DEFINED = "agents.defined"
"""The setting: by agent, the digest of its settings and since when they hold."""
DEFINED_SECONDS = 2.0
"""Polling interval of the settings while something waits."""


def is_former(store: "Store", work: Attempt | Talk, outcome: Outcome) -> bool:
    key = limits.WORKSPACES if TABLE[outcome].is_of_workspace else work.agent
    since: float = json.loads(store.setting(DEFINED) or "{}").get(key, ("", 0.0))[1]
    return work.started_at < since


# A digest of the settings is kept for each agent. After a change the gates behind them are over, with one agent as a
# trial; who was started before it says nothing of any gate.
class Definitions:
    """Detects changed settings of agents."""

    def __init__(self, ports: Ports) -> None:
        self.ports = ports
        self._config: Config | None = None
        self._known: dict[str, list[Any]] = {}
        self._is_stored = False
        self._looks_at: list[float] = []

    def look(self, board: Board) -> bool:
        """End cooldowns of former settings; whether the board changed."""
        config, store, now = self.ports.config(), self.ports.store, board.now
        self._looks_at = [now + DEFINED_SECONDS] if board.gates else []
        if config is self._config and (self._is_stored or not board.gates):
            return False
        is_unknown = False
        if self._config is None and board.gates:  # an earlier daemon knew by which settings they were closed
            kept = store.setting(DEFINED)
            self._known, is_unknown = json.loads(kept or "{}"), kept is None  # an older nobrakes noted nothing
        self._config, found, known = config, _definitions(config), self._known
        changed = {key for key, (digest, _) in known.items() if found.get(key) != digest}
        since = {key: now if key in changed else known.get(key, ("", 0.0))[1] for key in found}
        self._known = {key: [digest, since[key]] for key, digest in found.items()}
        gates = [
            gate
            for gate in board.gates.values()
            if (is_unknown and gate.is_asked) or any(self._is_of(gate, key) for key in changed)
        ]
        if changed or board.gates:
            self._is_stored = True
            with store.write():
                store.set_setting(DEFINED, json.dumps(self._known))
                for gate in gates:
                    if gate.provider in self._led_to(config, board):
                        store.start_cooldown(limits.tried_again(gate, now))
                    else:
                        store.end_cooldown(gate.provider, "nobrakes")
        return bool(gates)

    def _is_of(self, gate: Cooldown, key: str) -> bool:
        return gate.provider in (key, self._provider(key)) or gate.provider.startswith(f"{key}:")

    def _led_to(self, config: Config, board: Board) -> set[str]:
        names, roles = set(config.agents.agent_choice().names()), (Role.TEST_WRITER, Role.DOER)
        models = {limits.model_key(name, config.agents.model_of(name, role)) for name in names for role in roles}
        return {limits.WORKSPACES, *map(self._provider, names), *models, *{one.provider for one in board.sessions}}

    def _provider(self, agent: str) -> str:
        with suppress(NoAgent):
            return self.ports.adapter(agent).provider
        return ""

    def wake_at(self) -> list[float]:
        return self._looks_at

    def is_silent(self, now: float) -> bool:
        self._looks_at = [now + DEFINED_SECONDS if one <= now else one for one in self._looks_at]
        return self.ports.config() is self._config


def _definitions(config: Config) -> dict[str, str]:
    agents, named = config.agents, named_agents(config)
    found: dict[str, object] = {limits.WORKSPACES: config.setup}
    for name in {*ADAPTERS, *(name for _, name in named)}:
        who = [setting for setting, one in named if one == name]
        found[name] = (agents.of(name), agents.models.get(name), agents.environment, who)
    return {key: hashlib.sha256(repr((one, config.sandbox)).encode()).hexdigest()[:16] for key, one in found.items()}


def _error(work: Attempt | Talk, verdict: Verdict) -> str:
    text = verdict.detail
    if isinstance(work, Attempt):
        text = re.sub(rf"(?<![\w.-]){re.escape(work.bead)}(?![\w.-])", "BEAD", text)
    return error_of(verdict.outcome, " / ".join(line.strip() for line in text.splitlines() if line.strip())[:400])
