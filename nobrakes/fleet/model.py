"""What a run on a node needs to be told, and what is known of the nodes."""

import hashlib
import json
import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from typing import TYPE_CHECKING, Any

from ..paths import PACKAGE
from ..records import copied, frozen
from ..sandbox.closure import Bounds

if TYPE_CHECKING:
    from ..config.sections import FleetSettings, SandboxSettings
    from ..paths import Paths
    from ..ports import Ports

FOLDER = "fleet"
LINE = "line"
"""The socket of the helper that talks to the nodes, in its folder."""


@frozen
class Node:
    """One machine that runs agents and checks. `why`: it gets no work, and why; `about`: versions."""

    address: str
    name: str
    places: int
    runs: Mapping[str, int]
    why: str = ""
    about: Mapping[str, str] = field(default_factory=dict)
    is_drained: bool = False

    @property
    def taken(self) -> int:
        return sum(self.runs.values())


@frozen
class Loss:
    """A run whose node did not answer any more."""

    at: float
    run: str
    node: str
    why: str


@frozen
class Fleet:
    """The nodes as the helper saw them last. `trouble`: why the scheduler does not answer."""

    at: float
    trouble: str
    nodes: tuple[Node, ...] = ()
    losses: tuple[Loss, ...] = ()

    def free(self) -> int:
        return sum(max(0, one.places - one.taken) for one in self.nodes if not one.why and not one.is_drained)


def folder_of(paths: "Paths") -> str:
    return os.path.join(paths.folder, FOLDER)


def view_of(
    settings: "SandboxSettings",
    workspace: str,
    *,
    names: Sequence[str] = (),
    inner: Sequence[str] = (),
    own: Sequence[str] = (),
    environment: Sequence[tuple[str, str]] = (),
    hosts: Sequence[str] = (),
) -> dict[str, Any]:
    """A run's view in the words of this machine; the node makes its own sandbox of it. Folders of this machine that
    the settings let in are not there."""
    from ..agents.adapter import host_of

    is_narrow = settings.network == "provider"
    return {
        "workspace": workspace,
        "names": list(names),
        "inner": list(inner),
        "own": list(own),
        "environment": list(environment),
        "network": settings.network,
        "hosts": list(dict.fromkeys((*map(host_of, hosts), *settings.hosts))) if is_narrow else [],
        "bounds": asdict(copied(Bounds, settings)),
    }


def spec_of(
    ports: "Ports",
    role: str,
    run: str,
    folder: str,
    commits: Sequence[str],
    view: Mapping[str, Any],
    has_all_files: bool = False,
    channel: str = "",
    reports: Sequence[tuple[str, str]] = (),
) -> bytes:
    """The run as fleet.on_node and the node need it. `reports`: (directory, glob) of the checks' result files."""
    paths, settings = ports.paths, ports.config().fleet
    git = os.path.dirname(ports.git.lent()[0])
    own = [path for path in view["own"] if not path.startswith(f"{channel}/")] if channel else []
    lets_in = [os.path.relpath(path, paths.root) for path in view["own"]]
    spec = {
        "session": f"{run}-{secrets.token_hex(8)}",
        "role": role,
        "need": settings.agent_places if role == "agent" else settings.check_places,
        "line": os.path.join(folder_of(paths), LINE),
        "repository": hashlib.sha256(os.path.realpath(git).encode()).hexdigest()[:24],
        "width": len(commits[0]),
        "root": paths.root,
        "git": git,
        "agents": paths.agents,
        "package": PACKAGE,
        "python": sys.executable,
        "workspace": view["workspace"],
        "place": os.path.relpath(view["workspace"], paths.root),
        "folder": folder,
        "commits": list(commits),
        "has_all_files": has_all_files,
        "channel": channel,
        "ships": [path for path in (*view["inner"], *own) if path != os.path.join(channel, "out")],
        "made": [os.path.join(channel, "out")] if channel else [],
        "lets_in": lets_in,
        "reports": list(reports),
        "closure": {} if settings.unconfined else dict(view),
    }
    return json.dumps(spec).encode()


def parsed(text: str, drained: Sequence[str] = ()) -> Fleet:
    """The helper's state. ValueError: it is none."""
    try:
        found = json.loads(text)
        nodes = [
            Node(
                str(one["address"])[:200],
                str(one["name"])[:100],
                int(one["places"]),
                {str(run): int(need) for run, need in one["runs"].items()},
                str(one["why"])[:500],
                {str(name): str(value)[:300] for name, value in one["about"].items()},
                str(one["name"])[:100] in drained,
            )
            for one in found["nodes"]
        ]
        losses = [
            Loss(float(one["at"]), *(str(one[name])[:500] for name in ("run", "node", "why")))
            for one in found["losses"]
        ]
        nodes.sort(key=lambda one: one.name)
        return Fleet(float(found["at"]), str(found["trouble"])[:500], tuple(nodes), tuple(losses))
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"the state of the nodes cannot be read: {error}") from error


def gateway_settings(settings: "FleetSettings") -> dict[str, Any]:
    return {
        "scheduler": settings.scheduler,
        "ca": settings.ca,
        "certificate": settings.certificate,
        "key": settings.key,
        "unconfined": settings.unconfined,
        "reserved_for_checks": settings.reserved_for_checks,
    }
