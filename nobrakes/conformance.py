"""The checks, each seen by its effect: on files, commits, processes, and on what the model was told.

1. A check passes only if its call was really made.
2. Later checks need the first: an agent that does not end by itself is not checked further.
3. An ACP agent shows less: its model is its own business, and the guard hears only permission requests. An agent of a
   profile has no guard: `deny` tries its own permissions, if nobrakes can set them. What cannot be observed neither
   passes nor fails.
"""

import json
import os
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from . import abilities
from .abilities import CHECKS, CODED, Seen, proven, version_in
from .agents.adapter import SELF_TEST_FILE, Adapter, AgentEnd, Assignment, LineKind, Verdict, guard_argv
from .agents.known import adapter
from .agents.profile import ByProfile, Filled
from .beads.model import Outcome, Role, Run, RunKind
from .config import profiles
from .config.profiles import Profile, Trial
from .config.sections import AcpSettings, AgentSettings, ProfileSettings
from .config.settings import Config
from .git import persons
from .host import command as host_command
from .host.port import Command, Step
from .host.proctable import become_subreaper
from .host.runs.processes import LocalProcesses
from .host.versions import probing_trouble
from .loopback import Scripts, serve
from .paths import Paths, own_path, own_program
from .records import frozen
from .trash import clear

# How a scripted model speaks to each CLI. An agent of the Agent Client Protocol may ask any of the three APIs, so it is
# told where each of them is, in the words of the CLIs that it may be made of.
Call = tuple[str, Any]
ACP = "acp"

DUMMY = "nobrakes-dummy-key"
TRIALS = profiles.trials()
AGENTS = tuple(TRIALS)


@frozen
class Dialect:
    """One CLI, with its API at this port."""

    name: str
    executable: str
    port: int
    trial: Trial

    def settings(self) -> AgentSettings:
        """The settings of an attempt."""
        url = f"http://127.0.0.1:{self.port}/s/{self.name}{self.trial.path}"
        kind: Any = type(AgentSettings().of(self.name))
        own: Any = kind(executable=self.executable, model=self.trial.model, base_url=url)
        if kind is not ProfileSettings:
            return AgentSettings(**{self.name: own})
        return AgentSettings(profiles={self.name: own}, environment=tuple(self.trial.variables))

    def shell(self, command: str) -> Call | str:
        return self._said(self.trial.shell, {"command": command})

    def write(self, workspace: str, path: str, text: str) -> Call | str:
        return self._said(self.trial.write, {"workspace": workspace, "file": path, "text": text})

    def _said(self, how: tuple[str, Any] | str, words: dict[str, str]) -> Call | str:
        found: Any = Filled(words)(how)
        return found if isinstance(found, str) else tuple(found)


@frozen
class AnyDialect:
    """An ACP agent, with all three APIs at this port."""

    command: tuple[str, ...]
    auth: str
    port: int

    def settings(self) -> AgentSettings:
        acp = AcpSettings(command=self.command, auth=self.auth, keys=tuple(self.keys()))
        return AgentSettings(acp=acp, environment=tuple(self.environment()))

    def keys(self) -> dict[str, str]:
        return {key: DUMMY for trial in TRIALS.values() for key in (*trial.variables, "OPENAI_API_KEY")}

    def environment(self) -> dict[str, str]:
        url = f"http://127.0.0.1:{self.port}/s"
        return {
            "ANTHROPIC_BASE_URL": f"{url}/claude",
            "OPENAI_BASE_URL": f"{url}/codex/v1",
            "GOOGLE_GEMINI_BASE_URL": f"{url}/gemini",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
        }

    def files(self) -> dict[str, str]:
        return {".gemini/settings.json": '{"security": {"auth": {"selectedType": "gemini-api-key"}}}'}


# Nothing of the human's is read: no login, no settings, no key; what the CLI keeps goes away with the scratch folder.
SECONDS = 60.0
GRACE = 5.0
PAUSE = 0.03
BRANCH = "task/conformance"
CLOSED = "http://127.0.0.1:9"


@frozen
class AgentRun:
    """One run of the CLI."""

    verdict: Verdict
    output: bytes
    errors: str
    requests: list[dict[str, Any]]

    def told(self) -> str:
        return str([request["body"] for request in self.requests])


Permitted = tuple[tuple[str, ...], ...] | None


class Fixture:
    """A CLI's own ground, in `folder`."""

    def __init__(self, name: str, command: Sequence[str], folder: str, path: str, about: str = "") -> None:
        """`about`: an ACP agent's method of login; the file of a profile."""
        self.folder = os.path.realpath(folder)
        self.path = path
        self.workspace = os.path.join(self.folder, "workspace")
        for part in ("home", ".nobrakes/bin", "wake", "workspace"):
            os.makedirs(os.path.join(self.folder, part))
        spoken = AGENTS if name == ACP else (name,)
        self.profile = profiles.parse(profiles.read(about), about) if name not in CODED else None
        trials = TRIALS if self.profile is None else {name: self.profile.trial or Trial()}
        self.model = Scripts({one: [] for one in spoken}, [one for one in spoken if trials[one].is_plain])
        self.server = serve(self.model)
        port = self.server.server_port
        self.dialects = [Dialect(one, command[0], port, trials[one]) for one in spoken]
        self.any = AnyDialect(tuple(command), about, port) if name == ACP else None
        self.about = ""  # what an ACP agent calls itself
        self.adapter: Adapter = adapter(name) if self.profile is None else ByProfile(name, self.profile)
        self.processes = LocalProcesses(os.path.join(self.folder, "wake"))
        self.runs = 0
        persons.scratch_make(self.workspace, BRANCH)
        for path, text in (self.any.files() if self.any else {}).items():
            file = os.path.join(self.folder, "home", path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8") as opened:
                opened.write(text)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def script(self, *steps: Callable[[Dialect], Call | str] | str) -> None:
        """Set the model's answers: tool calls or text; the last repeats forever."""
        self.model.requests.clear()
        for dialect in self.dialects:
            said = [step if isinstance(step, str) else step(dialect) for step in steps]
            found: list[dict[str, Any]] = [
                {"text": one} if isinstance(one, str) else {"tools": [list(one)]} for one in said
            ]
            if dialect.trial.done:
                found[-1]["tools"] = [list(dialect.trial.done)]
            self.model.scripts[dialect.name] = found

    def work(self, prompt: str, session: str | None = None, permitted: Permitted = None) -> AgentRun:
        """One run to its end; a timeout kills it."""
        folder, run = self._start(prompt, session, permitted)
        if not self._wait(lambda: not self.processes.alive(run), SECONDS):
            self.processes.kill(run)
        return self._ended(folder)

    def stop(self, prompt: str, sign: str) -> tuple[AgentRun, list[int]]:
        """A run stopped as by the daemon, once `sign` reports a pid; returns the pids that survive."""
        folder, run = self._start(prompt, None)
        path = os.path.join(self.workspace, sign)
        self._wait(lambda: bool(host_command.pid_in(path)) or not self.processes.alive(run), SECONDS)
        self.processes.terminate(run)
        self._wait(lambda: not self.processes.alive(run), GRACE)
        self.processes.kill(run)
        pid = host_command.pid_in(path)
        left = [pid] if pid and not self._wait(lambda: not host_command.is_alive(pid), GRACE) else []
        for one in left:
            host_command.end(one)
        return self._ended(folder), [pid] if left else ([] if pid else [0])

    def wait_for_another_minute(self, since: float) -> None:
        self._wait(lambda: time.time() // 60 != since // 60, 61.0)

    def _start(self, prompt: str, session: str | None, permitted: Permitted = None) -> tuple[str, Run]:
        self.runs += 1
        name = f"run-{self.runs}"
        folder = os.path.join(self.folder, name)
        launch = self.adapter.launch(
            Assignment(
                role=Role.DOER,
                bead="conformance",
                worker="Doctor",
                attempt=self.runs,
                prompt=prompt,
                prompt_file=os.path.join(folder, "prompt.md"),
                workspace=self.workspace,
                folder=os.path.join(folder, "own"),
                session=session or str(uuid.uuid4()),
                resume=session is not None,
                env=self._environment(),
                settings=(self.any or self.dialects[0]).settings(),
                system_prompt="You are tried out.",
                guard=guard_argv(),
                permitted=permitted,
            )
        )
        files = {os.path.join("own", path): content for path, content in launch.files.items()}
        command = Command(
            folder=folder,
            cwd=self.workspace,
            env=launch.env,
            steps=(Step("agent", launch.argv, stdin=launch.stdin),),
            prologue=launch.prologue,
            files={**files, "prompt.md": prompt.encode(), "own/begun": b""},
        )
        born = self.processes.start(name, command)
        return folder, Run(name, self.runs, RunKind.AGENT, time.time(), pid=born.pid, born=born.mark)

    def _environment(self) -> dict[str, str]:
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), CLOSED)
        return {
            "PATH": self.path,
            "HOME": os.path.join(self.folder, "home"),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
            "NOBRAKES_HOME": os.path.join(self.folder, ".nobrakes"),
            "NOBRAKES_BRANCH": BRANCH,
            "NOBRAKES_TESTS": "tests/**",
            "NOBRAKES_GATES": "Makefile",
            **proxies,
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost"),
            **({**self.any.keys(), **self.any.environment()} if self.any else self.dialects[0].trial.variables),
        }

    def _wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not (met := condition()) and time.monotonic() < end:
            time.sleep(PAUSE)
        return met

    def _ended(self, folder: str) -> AgentRun:
        ending = self.processes.ending(folder, ("agent",))
        step = ending.steps[0]
        output = self.processes.head(os.path.join(folder, "agent.out"), 4_000_000)
        errors = ending.prologue_failed or self.processes.output(os.path.join(folder, "agent.err"), 4000)
        self_test = self.processes.output(os.path.join(folder, "own", SELF_TEST_FILE), 100)
        code = step.code if step.started else 127
        verdict = self.adapter.verdict(AgentEnd(code, output.split(b"\n"), errors, self_test, time.time()))
        return AgentRun(verdict, output, errors, list(self.model.requests))


WORD = "pomegranate"
DONE = "It is done.\n\nNOBRAKES: COMPLETED"
REFUSED = "nobrakes refuses this"
PID = "sleeper.pid"
_SLEEPER = (
    "import os, time; file = open('sleeper.new', 'w'); file.write(f'{os.getpid()}\\n'); file.close(); "
    f"os.rename('sleeper.new', '{PID}'); time.sleep(600)"
)


@frozen
class Check:
    """One check. `passed` None: not tried, or unknown."""

    name: str
    passed: bool | None
    detail: str = ""


NOT_SO_FAR = "not reached"
NO_PERMISSIONS = "no guard and no permissions of its own: only the sandbox or the wall restrains it"
NO_TOOL = "unknown: the agent called no tool by a name that this test knows"
BY_THE_MINUTE = "gemini-cli"
"""Its ACP mode (0.61.0) names a session's file by the minute, and loses one that it resumes in the same minute."""


def not_so_far(first: Check) -> list[Check]:
    return [first, *(Check(name, None, NOT_SO_FAR) for name in CHECKS[1:])]


def run(fixture: Fixture) -> list[Check]:
    """Every check, in order."""
    make, escape = "echo made >made && git add made && git commit -q -m 'Made'", "git push; echo escaped >escaped"
    steps = [lambda one: one.shell(make) or one.write(fixture.workspace, "made", "made")]
    if fixture.profile is None:
        steps += [lambda one: one.shell(escape), lambda one: one.write(fixture.workspace, ".git/hooks/escaped", "x")]
    fixture.script(*steps, DONE)
    first = fixture.work(f"Remember the word {WORD}.")
    ended = time.time()
    begun = _event(first, "session")
    fixture.about = str(begun.get("agent", "")) if fixture.any else ""
    spawned = _spawn(first) if first.requests or not fixture.any else _unheard(first, begun)
    if not spawned.passed:
        return not_so_far(spawned)
    if not fixture.any:
        seen = [_stream(fixture, first), _commit(fixture), _deny(fixture, first)]
        return [spawned, *seen, _resume(fixture, first), _kill(fixture)]
    if _called(fixture, first):
        seen = [_stream(fixture, first), _commit(fixture), _asked(fixture, first)]
        killed = _kill(fixture)
    else:
        *seen, killed = (Check(name, None, NO_TOOL) for name in ("stream", "commit", "deny", "kill"))
    if begun.get("resumes") is not True:
        return [spawned, *seen, Check("resume", None, "the agent reports that it cannot continue a session"), killed]
    if fixture.about.startswith(BY_THE_MINUTE):
        fixture.wait_for_another_minute(ended)
    return [spawned, *seen, _resume(fixture, first), killed]


def _bounded(fixture: Fixture, profile: Profile) -> Check:
    """Its own permissions: they allow git alone, and not what the script tries."""
    if not profile.is_bounded:
        return Check("deny", None, NO_PERMISSIONS)
    escape = "git status; python3 -c \"open('escaped', 'w')\""
    fixture.script(lambda one: one.shell("git status"), lambda one: one.shell(escape), DONE)
    ran = fixture.work("Go on.", permitted=(("git",),))
    if escaped := _escaped(fixture):
        return Check("deny", False, f"its own permissions had no effect: the file {escaped} was created")
    tried = len(ran.requests) > 1
    return Check("deny", tried or None, "" if tried else _end(ran))


def _called(fixture: Fixture, ran: AgentRun) -> bool:
    # an ACP agent that asks for leave does not always tell of the call as well, but of what came of it
    shown = (LineKind.TOOL_CALL, LineKind.RESULT) if fixture.any else (LineKind.TOOL_CALL,)
    return any(line.kind in shown for raw in ran.output.split(b"\n") for line in fixture.adapter.lines(raw))


def _event(ran: AgentRun, kind: str, **values: object) -> dict[str, Any]:
    for raw in ran.output.split(b"\n"):
        try:
            event = json.loads(raw)
        except ValueError:
            continue
        if isinstance(event, dict) and event.get("type") == kind and values.items() <= event.items():
            return event
    return {}


def _unheard(ran: AgentRun, begun: dict[str, Any]) -> Check:
    if begun or ran.verdict.outcome is Outcome.AUTH:
        return Check("spawn", None, f"unknown: the agent never called the scripted model; {_end(ran)}")
    return Check("spawn", False, f"the agent started no session: {_end(ran)}")


def _spawn(ran: AgentRun) -> Check:
    if not ran.requests:
        return Check("spawn", False, f"the agent never called the model: {_end(ran)}")
    passed = ran.verdict.outcome is Outcome.COMPLETED
    return Check("spawn", passed, "" if passed else _end(ran))


def _end(ran: AgentRun) -> str:
    return f"{ran.verdict.outcome.value}: {ran.verdict.detail}"[:400]


def _stream(fixture: Fixture, ran: AgentRun) -> Check:
    lines = [line for raw in ran.output.split(b"\n") for line in fixture.adapter.lines(raw)]
    if not fixture.any and fixture.adapter.sessions and fixture.adapter.session(ran.output.split(b"\n")) is None:
        return Check("stream", False, "the agent's output names no session")
    if not any(line.kind is LineKind.TEXT and "It is done" in line.text for line in lines):
        return Check("stream", False, "the agent's output does not contain the model's text")
    called = _called(fixture, ran) or (fixture.profile is not None and fixture.profile.output == "text")
    return Check("stream", called, "" if called else "the agent's output contains no tool call")


def _commit(fixture: Fixture) -> Check:
    passed = persons.committed(fixture.workspace, "made") == "made"
    return Check("commit", passed, "" if passed else "the expected change is not in the last commit")


def _escaped(fixture: Fixture) -> str:
    paths = ("escaped", ".git/hooks/escaped")
    return ", ".join(path for path in paths if os.path.exists(os.path.join(fixture.workspace, path)))


def _asked(fixture: Fixture, ran: AgentRun) -> Check:
    """An ACP agent gets only a no, so refusals are read from our client's output."""
    escaped, refused = _escaped(fixture), _event(ran, "permission", allowed=False)
    if escaped:
        why = "the guard's refusal had no effect" if refused else "the agent did not ask, so the guard cannot refuse"
        return Check("deny", False, f"{why}: the file {escaped} was created")
    return Check("deny", True) if refused else Check("deny", None, "unknown: the agent asked for no permission")


def _deny(fixture: Fixture, ran: AgentRun) -> Check:
    if fixture.profile is not None:
        return _bounded(fixture, fixture.profile)
    if escaped := _escaped(fixture):
        return Check("deny", False, f"the guard's refusal had no effect: the file {escaped} was created")
    told = ran.told().count(REFUSED)
    return Check("deny", told > 0, "" if told else "the model got no refusal: perhaps the agent did not ask the guard")


def _resume(fixture: Fixture, first: AgentRun) -> Check:
    if not fixture.adapter.sessions:
        return Check("resume", None, "it continues no session")
    if (session := first.verdict.session) is None:
        return Check("resume", False, "the agent named no session to continue")
    fixture.script(DONE)
    again = fixture.work("Which word was it?", session)
    if again.verdict.outcome is not Outcome.COMPLETED:
        return Check("resume", False, _end(again))
    if WORD not in again.told():
        return Check("resume", False, "the model did not get the earlier messages")
    same = again.verdict.session == session
    return Check("resume", same, "" if same else "the agent continued in another session")


def _kill(fixture: Fixture) -> Check:
    if not fixture.dialects[0].trial.shell:
        return Check("kill", None, "it starts no commands by itself")
    fixture.script(lambda dialect: dialect.shell(f'python3 -c "{_SLEEPER}"'), DONE)
    ran, left = fixture.stop("Wait.", PID)
    if left == [0]:
        return Check("kill", False, f"the command that the test stops never started: {_end(ran)}")
    return Check("kill", not left, "a process of the agent survived the kill; nobrakes ended it" if left else "")


# Where bubblewrap works each CLI has no network but a loopback of its own; elsewhere proxies that nobody is keep what
# goes by them on this machine. Which of the two it was is part of the answer.
TRIAL_SECONDS = 240.0
ALONE = (
    own_program("bwrap", os.getcwd()) or "bwrap",
    "--dev-bind",
    "/",
    "/",
    "--unshare-net",
    "--die-with-parent",
    "--",
)


@frozen
class Tried:
    """The result for one agent. `program` None: not installed."""

    agent: str
    program: str | None
    version: str
    known: bool
    checks: tuple[Check, ...]
    command: tuple[str, ...] = ()  # of an ACP agent: how it was called
    named: bool = True  # whether the settings name it; else it was tried only since it is there
    why_not: str = ""  # of a profile that cannot be tried: why

    @property
    def ok(self) -> bool:
        return not self.named or all(check.passed is not False for check in self.checks)


@frozen
class Report:
    """The results for all agents, and how the network was blocked."""

    network: str
    agents: tuple[Tried, ...]

    @property
    def ok(self) -> bool:
        return all(one.ok for one in self.agents)


def trial_run(
    config: Config, paths: Paths, environment: Mapping[str, str], only: Mapping[str, str] | None = None
) -> Report:
    """Try each installed CLI, and record its abilities. `only`: these profiles, by name the file."""
    path = environment.get("PATH", os.defpath)
    found = profiles.files() if only is None else only
    whole = {name: profiles.parse(profiles.read(file), file) for name, file in found.items()}
    called = _trial_called(config, path) if only is None else {}
    chosen = config.agents.agent_choice().names()
    known = {name for name, profile in whole.items() if profile == profiles.find(name)}
    for name, profile in whole.items():
        command = config.agents.command(name) if name in known else (profile.program,)
        if only is not None or name in chosen or abilities.program_of(command[0], path) is not None:
            called[name] = command
    programs = {name: _program(command[0], paths, path) for name, command in called.items()}
    alone = not probing_trouble([*ALONE, "true"])
    folder = tempfile.mkdtemp(prefix="nobrakes-conformance-")
    try:
        commands = {}
        env = _environment(environment, folder)
        prefix = ALONE if alone else ()
        for name, (word, *more) in called.items():
            if programs[name] is None:
                continue
            command = (own_program(word, paths.root, path) or word, *more)
            if name != ACP:
                commands[f"{name} version"] = (*prefix, command[0], "--version")
            if name in whole and whole[name].trial is None:
                continue
            own, about = os.path.join(folder, name), _auth(config) if name == ACP else found.get(name, "")
            commands[name] = (*prefix, sys.executable, "-I", "-m", "nobrakes.conformance", name, own, about, *command)
        printed = host_command.outputs(commands, env, TRIAL_SECONDS)
        named = bool(config.agents.acp.command)
        why_not = {
            name: profile.proof.why or "its profile has no [trial]"
            for name, profile in whole.items()
            if profile.trial is None
        }
        tried = [
            replace(_tried(name, command, programs[name], printed, named), why_not=why_not.get(name, ""))
            for name, command in called.items()
        ]
    finally:
        clear(folder, time.monotonic() + TRIAL_SECONDS)
    of = [one for one in tried if not one.why_not and (one.agent in known or one.agent in CODED)]
    abilities.keep(paths, {one.agent: _seen(one, one.program) for one in of if one.program is not None})
    network = "no network except their own loopback" if alone else "only proxy variables block the network"
    return Report(network, tuple(tried))


def _program(word: str, paths: Paths, path: str) -> str | None:
    """The started file; None: none, or it is in the repository, where agents may change it."""
    found = abilities.program_of(word, path)
    return None if found is None or own_program(word, paths.root, path) is None else found


def _trial_called(config: Config, path: str) -> dict[str, tuple[str, ...]]:
    """Each agent's command; Gemini CLI also serves to test the Agent Client Protocol."""
    called = {name: config.agents.command(name) for name in AGENTS}
    if (own := config.agents.acp.command) or abilities.program_of(called["gemini"][0], path) is not None:
        called[ACP] = own or (*called["gemini"], "--acp")
    return called


def _auth(config: Config) -> str:
    return config.agents.acp.auth if config.agents.acp.command else "gemini-api-key"


def _tried(
    name: str, command: tuple[str, ...], program: str | None, printed: Mapping[str, tuple[int, str]], named: bool
) -> Tried:
    if program is None:
        return Tried(name, None, "", False, ())
    about, checks = _found(*printed[name]) if name in printed else ("", ())
    if name == ACP:
        return Tried(name, program, version_in(about) or about[:40], False, checks, command, named)
    version = version_in(printed[f"{name} version"][1])
    return Tried(name, program, version, version in proven(name), checks)


def _environment(env: Mapping[str, str], folder: str) -> dict[str, str]:
    home = os.path.join(folder, "home")
    os.makedirs(home)
    return {
        "PATH": own_path(os.getcwd(), env.get("PATH", os.defpath)),
        "HOME": home,
        "LANG": "C.UTF-8",
        "TMPDIR": folder,
    }


def _found(code: int, text: str) -> tuple[str, tuple[Check, ...]]:
    last = text.strip().splitlines()[-1:]
    try:
        told = json.loads(last[0])
        return str(told["about"]), tuple(Check(**one) for one in told["checks"])
    except (IndexError, KeyError, ValueError, TypeError):
        said = last[0][:300] if last else "nothing"
        return "", tuple(not_so_far(Check(CHECKS[0], False, f"the test itself ended with exit code {code}: {said}")))


def _seen(one: Tried, program: str) -> Seen:
    can = {check.name: check.passed for check in one.checks if check.passed is not None}
    return Seen(program, abilities.stamp(program, one.command[1:]), one.version, one.known, can)


# `python -I -m nobrakes.conformance AGENT FOLDER ABOUT COMMAND...` is a process of its own, so that it can be given a
# network without a way out, and adopts what a CLI leaves behind.
def main(arguments: list[str]) -> int:
    """Try it; always 0."""
    name, folder, about, *command = arguments
    become_subreaper()
    fixture = Fixture(name, command, folder, os.environ.get("PATH", os.defpath), about)
    try:
        checks = run(fixture)
    finally:
        fixture.close()
    sys.stdout.write(json.dumps({"about": fixture.about, "checks": [asdict(check) for check in checks]}) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
