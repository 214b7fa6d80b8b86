"""The ground on which a CLI is tried: a scratch repository, a home of its own, a model, and runs as the daemon's are.

Nothing of the human's is read: no login, no settings, no key; what the CLI keeps goes away with the scratch folder.
"""

import os
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..agents.adapter import Adapter, AgentEnd, Assignment, Verdict, guard_argv
from ..agents.guarded import CANARY_FILE
from ..agents.registry import adapter
from ..core.beads.attempt import Run, RunKind
from ..core.beads.bead import Role
from ..git import scratch
from ..host import parallel
from ..host.runs.processes import LocalProcesses
from ..loopback.server import Scripts, serve
from ..ports.processes import Command, Step
from .dialects import ACP, AGENTS, DUMMY, KEYS, AnyDialect, Call, Dialect

SECONDS = 60.0
"""How long one run may take."""
GRACE = 5.0
PAUSE = 0.03
BRANCH = "task/conformance"
CLOSED = "http://127.0.0.1:9"
"""A proxy that nobody is: what does not speak to the loopback speaks to nobody."""


@dataclass(frozen=True, slots=True)
class Ran:
    """One run of the CLI."""

    verdict: Verdict
    output: bytes
    errors: str
    requests: list[dict[str, Any]]

    def told(self) -> str:
        """Everything that the model was sent."""
        return str([request["body"] for request in self.requests])


class Ground:
    """A CLI's own ground, in `folder`."""

    def __init__(self, name: str, command: Sequence[str], folder: str, path: str, auth: str = "") -> None:
        self.folder = os.path.realpath(folder)
        self.path = path
        self.workspace = os.path.join(self.folder, "workspace")
        for part in ("home", ".nobrakes/bin", "wake", "workspace"):
            os.makedirs(os.path.join(self.folder, part))
        spoken = AGENTS if name == ACP else (name,)
        self.model = Scripts({one: [] for one in spoken})
        self.server = serve(self.model)
        port = self.server.server_port
        self.dialects = [Dialect(one, command[0], port) for one in spoken]
        self.any = AnyDialect(tuple(command), auth, port) if name == ACP else None
        self.about = ""  # what an ACP agent calls itself
        self.adapter: Adapter = adapter(name)
        self.processes = LocalProcesses(os.path.join(self.folder, "wake"))
        self.runs = 0
        scratch.make(self.workspace, BRANCH)
        for path, text in (self.any.files() if self.any else {}).items():
            file = os.path.join(self.folder, "home", path)
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(file, "w", encoding="utf-8") as opened:
                opened.write(text)

    def close(self) -> None:
        """Stop serving."""
        self.server.shutdown()
        self.server.server_close()

    def script(self, *steps: Callable[[Dialect], Call] | str) -> None:
        """What the model answers from now on: a call of a tool, or text; the last one for ever."""
        self.model.requests.clear()
        for dialect in self.dialects:
            self.model.scripts[dialect.name] = [
                {"text": step} if isinstance(step, str) else {"tools": [list(step(dialect))]} for step in steps
            ]

    def work(self, prompt: str, session: str | None = None) -> Ran:
        """One run to its end; one that takes too long is killed."""
        folder, run = self._start(prompt, session)
        if not self._wait(lambda: not self.processes.alive(run), SECONDS):
            self.processes.kill(run)
        return self._ended(folder)

    def stop(self, prompt: str, sign: str) -> tuple[Ran, list[int]]:
        """A run that is stopped as the daemon stops one, once `sign` tells a pid; that pid, if it still lives."""
        folder, run = self._start(prompt, None)
        path = os.path.join(self.workspace, sign)
        self._wait(lambda: bool(parallel.pid_in(path)) or not self.processes.alive(run), SECONDS)
        self.processes.terminate(run)
        self._wait(lambda: not self.processes.alive(run), GRACE)
        self.processes.kill(run)
        pid = parallel.pid_in(path)
        left = [pid] if pid and not self._wait(lambda: not parallel.lives(pid), GRACE) else []
        for one in left:
            parallel.end(one)
        return self._ended(folder), [pid] if left else ([] if pid else [0])

    def wait_for_another_minute(self, since: float) -> None:
        """Return in another minute than `since` was in."""
        self._wait(lambda: time.time() // 60 != since // 60, 61.0)

    def _start(self, prompt: str, session: str | None) -> tuple[str, Run]:
        self.runs += 1
        name = f"run-{self.runs}"
        folder = os.path.join(self.folder, name)
        own = os.path.join(folder, "own")
        launch = self.adapter.launch(
            Assignment(
                role=Role.DOER,
                bead="conformance",
                worker="Doctor",
                attempt=self.runs,
                prompt=prompt,
                prompt_file=os.path.join(folder, "prompt.md"),
                workspace=self.workspace,
                folder=own,
                session=session or str(uuid.uuid4()),
                resume=session is not None,
                env=self._environment(),
                settings=(self.any or self.dialects[0]).settings(),
                system_prompt="You are tried out.",
                guard=guard_argv(),
            )
        )
        command = Command(
            folder=folder,
            cwd=self.workspace,
            env=launch.env,
            steps=(Step("agent", launch.argv, stdin=launch.stdin),),
            prologue=launch.prologue,
            files={
                **{os.path.join("own", path): content for path, content in launch.files.items()},
                "prompt.md": prompt.encode(),
                "own/begun": b"",
            },
        )
        born = self.processes.start(name, command)
        now = time.time()
        return folder, Run(name, self.runs, RunKind.AGENT, now, pid=born.pid, born=born.mark)

    def _environment(self) -> dict[str, str]:
        proxies = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), CLOSED)
        local = dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1,localhost")
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
            **({**self.any.keys(), **self.any.environment()} if self.any else {KEYS[self.dialects[0].name]: DUMMY}),
            **proxies,
            **local,
        }

    def _wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not (met := condition()) and time.monotonic() < end:
            time.sleep(PAUSE)
        return met

    def _ended(self, folder: str) -> Ran:
        ending = self.processes.ending(folder, ("agent",))
        step = ending.steps[0]
        output = self.processes.head(os.path.join(folder, "agent.out"), 4_000_000)
        errors = ending.prologue_failed or self.processes.output(os.path.join(folder, "agent.err"), 4000)
        self_test = self.processes.output(os.path.join(folder, "own", CANARY_FILE), 100)
        code = step.code if step.started else 127
        verdict = self.adapter.verdict(AgentEnd(code, output.split(b"\n"), errors, self_test, time.time()))
        return Ran(verdict, output, errors, list(self.model.requests))
