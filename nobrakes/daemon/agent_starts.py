"""What every start of an agent has in common, whoever it works for: an attempt or a session."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from ..agents.adapter import Launch
from ..config.settings import Config
from ..core.policy import agent_permissions
from ..host.runs import recording
from ..ports.git import Argv
from ..ports.processes import Command, Step
from .agent_ends import STEP
from .boundary import with_agents
from .confine import OWN, Confined, Confinement
from .ports import Ports

HANDOFF = os.path.join(OWN, "handoff.md")
"""In the folder of a run: what its agent hands on in a file."""


_GO_IN = """
left=$1
shift
while [ "$left" -gt 0 ]; do
    if [ -L "./$1" ] || { [ ! -d "./$1" ] && ! mkdir -- "./$1"; } || ! cd -- "./$1"; then
        echo "its folder cannot be worked in: $1 is no folder of the workspace" >&2
        exit 126
    fi
    left=$((left - 1))
    shift
done
exec "$@"
"""


def environment(ports: Ports, config: Config, credentials: Sequence[str], token: str, folder: str) -> dict[str, str]:
    """What an agent of this token sees in the run's folder; the caller adds whom it works for."""
    named = (*credentials, *config.agents.environment)
    boundary = with_agents(config.boundary())
    path = os.path.join(ports.paths.folder, "bin") + os.pathsep + ports.environment.get("PATH", os.defpath)
    return {
        **ports.environment,
        **{name: ports.credentials[name] for name in named if name in ports.credentials},
        "PATH": path,
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
    """What the CLI's own permissions let through; None: they are off, by its setting or in a closure."""
    if config.agents.bypasses(agent) or not confinement.nothing():
        return None
    return agent_permissions.commands(config.contract(), config.setup)


def in_directory(launch: Launch, directory: str) -> Launch:
    """The same, begun in this folder of the workspace: made where it is missing, and never through a link."""
    parts = [part for part in directory.split("/") if part]
    argv = ("/bin/sh", "-c", _GO_IN, "go-in", str(len(parts)), *parts, *launch.argv)
    return replace(launch, argv=argv, programs=(launch.argv[0], *launch.programs))


def command(
    launch: Launch, confined: Confined, folder: str, workspace: str, prompt: str, prologue: Sequence[Argv]
) -> Command:
    """What is started: what comes before, as the caller made it, then the agent, behind the wall."""
    return Command(
        folder=folder,
        cwd=workspace,
        env=launch.env,
        steps=(Step(STEP, _recorded(folder, confined.wrap(launch.argv)), stdin=launch.stdin),),
        prologue=(*prologue, *(confined.wrap(argv, alone=True) for argv in launch.prologue)),
        files={
            **{os.path.join(OWN, name): content for name, content in launch.files.items()},
            "prompt.md": prompt.encode(),
            HANDOFF: b"",
        },
    )


def _recorded(folder: str, argv: Argv) -> Argv:
    """The argv by way of the recorder: whatever an agent says is kept without secrets, and bounded."""
    out, err = (os.path.join(folder, f"{STEP}.{stream}") for stream in ("out", "err"))
    return recording.recorded(argv, out, err)
