"""What a run on a node needs to be told, and what is known of the nodes."""

import hashlib
import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, Any

from ..abilities import noted, program_of, reports_version, stamp
from ..files import read_tail
from ..paths import PACKAGE, is_in_repository
from ..programs import SPEC
from ..records import copied, frozen
from ..sandbox.closure import Bounds
from ..text.cleaning import count

if TYPE_CHECKING:
    from ..config.sections import FleetSettings, SandboxSettings
    from ..config.settings import Config
    from ..paths import Paths
    from ..ports import Ports

FOLDER = "fleet"
OWN = "own"
"""In the folder of the helper that talks to the nodes: all that the helper can write."""
LINE = os.path.join(OWN, "line")
"""The helper's socket, in its folder."""
STATE = os.path.join(OWN, "state.json")
LOCK = os.path.join(OWN, "lock")
DRAINED = "drained.json"
SETTINGS = "settings.json"
"""What the helper was started with, in its folder."""
OLD = 15.0
"""Seconds after which the helper's state counts as unknown."""
NOT_YET = "the scheduler has not answered yet"
NOT_NOW = "no program has asked the scheduler lately"
_LARGEST = 4_000_000


@frozen
class Node:
    """One machine that runs agents and checks. `why`: it gets no work, and why; `about`: versions. `cpu` (percent of
    all CPUs), `free` and `memory` (bytes): of the whole machine; null: not known."""

    address: str
    name: str
    places: int
    runs: Mapping[str, int]
    why: str = ""
    about: Mapping[str, str] = field(default_factory=dict)
    is_drained: bool = False
    is_asked: bool = True  # it said what it is, or does not answer
    cpu: float | None = None
    free: int | None = None
    memory: int | None = None

    @property
    def taken(self) -> int:
        return sum(self.runs.values())

    @property
    def is_usable(self) -> bool:
        return not self.why and not self.is_drained


@frozen
class Loss:
    """A run whose node did not answer any more. `bead`, `role`: where they are known."""

    at: float
    run: str
    node: str
    why: str
    bead: str = ""
    role: str = ""


@frozen
class Fleet:
    """The nodes as the helper saw them last. `trouble`: why the scheduler does not answer."""

    at: float
    trouble: str
    nodes: tuple[Node, ...] = ()
    losses: tuple[Loss, ...] = ()

    @property
    def is_known(self) -> bool:
        """Whether the helper wrote it just now."""
        return self.trouble not in (NOT_YET, NOT_NOW)

    @property
    def is_complete(self) -> bool:
        """Whether each node has said what it is, or does not answer."""
        return self.is_known and all(one.is_asked for one in self.nodes)

    def agents(self, settings: "FleetSettings") -> int:
        """How many agents the usable nodes have places for."""
        usable = [one.places - settings.reserved_for_checks for one in self.nodes if one.is_usable]
        return sum(max(0, one) // settings.agent_places for one in usable)

    def has_place_for_checks(self, settings: "FleetSettings") -> bool:
        return any(one.is_usable and one.places >= settings.check_places for one in self.nodes)


@frozen
class NodeRun:
    """What runs on a node. `bead`, `role` and `name` are empty for other repositories' runs, and checks of main."""

    node: str
    run: str
    places: int
    bead: str
    role: str
    name: str


@frozen
class FleetView:
    """The nodes, with what runs where. `at`: when the scheduler answered (seconds since 1970)."""

    scheduler: str
    at: float
    trouble: str
    nodes: tuple[Node, ...]
    runs: tuple[NodeRun, ...]
    losses: tuple[Loss, ...]


@frozen
class NodesLine:
    """The nodes in one line. `ready`: nodes that get work; `places`, `taken`: of all that nobrakes can use, also
    drained ones; `trouble`: why nothing more is known."""

    nodes: int
    ready: int
    places: int
    taken: int
    losses: int
    trouble: str

    def text(self) -> str:
        """The line itself."""
        if self.trouble in (NOT_YET, NOT_NOW):
            return f"nodes: {self.trouble} (nobrakes fleet)"
        if self.trouble:
            return f"nodes: nobrakes cannot reach the scheduler: {self.trouble}"
        lost = f"; {count(self.losses, 'run was', 'runs were')} lost (nobrakes fleet)" if self.losses else ""
        return f"nodes: {self.ready} of {self.nodes} ready, {self.taken} of {count(self.places, 'place')} taken{lost}"


def line_of(found: Fleet) -> NodesLine:
    """The nodes, counted."""
    usable = [one for one in found.nodes if not one.why]
    places, taken = sum(one.places for one in usable), sum(one.taken for one in usable)
    ready = sum(one.is_usable for one in usable)
    return NodesLine(len(found.nodes), ready, places, taken, len(found.losses), found.trouble)


def folder_of(paths: "Paths") -> str:
    return os.path.join(paths.folder, FOLDER)


def known(paths: "Paths") -> Fleet:
    """The nodes as the helper's file says. This starts nothing."""
    folder = folder_of(paths)
    try:
        text = read_tail(os.path.join(folder, STATE), _LARGEST).decode("utf-8", "replace")
        found = parsed(text, drained(folder))
    except ValueError:
        return Fleet(0.0, NOT_YET)
    return replace(found, trouble=NOT_NOW) if not abs(time.time() - found.at) <= OLD else found


def drained(folder: str) -> tuple[str, ...]:
    """The names of nodes that get no new work."""
    try:
        with open(os.path.join(folder, DRAINED), encoding="utf-8") as file:
            return tuple(json.load(file))
    except FileNotFoundError:
        return ()


def file_troubles(settings: "FleetSettings") -> list[str]:
    """What is wrong with the TLS files."""
    found = []
    for name in ("ca", "certificate", "key") if settings.scheduler.startswith("tls://") else ():
        path = getattr(settings, name)
        if not os.path.isfile(path):
            found.append(f"fleet.{name}: the file {path} does not exist")
        elif not os.access(path, os.R_OK):
            found.append(f"fleet.{name}: you cannot read the file {path}")
    return found


def is_key_open(settings: "FleetSettings") -> bool:
    """Whether other accounts can read the TLS key."""
    try:
        return bool(settings.key) and bool(stat.S_IMODE(os.stat(settings.key).st_mode) & 0o077)
    except OSError:
        return False


def run_of(session: str) -> str:
    """The run that has this name at the scheduler, which several repositories may share."""
    return session.rpartition("-")[0]


def is_own(paths: "Paths", session: str) -> bool:
    """Whether a run of this repository has this name there."""
    spec = read_tail(os.path.join(paths.runs, run_of(session), SPEC), _LARGEST)
    try:
        return bool(json.loads(spec)["session"] == session)
    except (ValueError, KeyError, TypeError):
        return False


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
        "closure": dict(view),
        "unconfined": settings.unconfined,
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
                bool(one.get("asked", True)),
                *_load_of(one.get("load", {})),
            )
            for one in found["nodes"]
        ]
        losses = [
            Loss(float(one["at"]), *(str(one[name])[:500] for name in ("run", "node", "why")))
            for one in found["losses"]
        ]
        nodes.sort(key=lambda one: one.name)
        return Fleet(float(found["at"]), str(found["trouble"])[:500], tuple(nodes), tuple(losses))
    except (KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(f"the state of the nodes cannot be read: {error}") from error


def _load_of(said: Mapping[str, float]) -> tuple[float | None, int | None, int | None]:
    cpu, free, memory = map(said.get, ("cpu", "free", "memory"))
    whole = None if free is None else int(free), None if memory is None else int(memory)
    return (None if cpu is None else round(float(cpu), 1), *whole)


def needs_of(config: "Config", paths: "Paths") -> dict[str, Any]:
    """What a node has to have: agent -> (program, version), of those that are installed here; (tool, wanted version) of
    the checks. An empty version: it may be any. Starts nothing."""
    agents = {}
    for name in config.agents.agent_choice().names():
        command = config.agents.command(name)
        program = program_of(command[0]) if command else None
        if program is None or is_in_repository(program, paths.root):
            continue
        mark = stamp(program, command[1:])
        version = (noted(paths, program, mark) or "") if reports_version(name) else ""
        agents[name] = [command[0], version]
    tools = {(tool, wanted) for check in config.contract() for tool, wanted in check.tools if os.sep not in tool}
    return {"agents": agents, "tools": sorted(map(list, tools))}


def gateway_settings(config: "Config", paths: "Paths") -> dict[str, Any]:
    """What the program that talks to the nodes is started with."""
    settings = config.fleet
    return {
        "needs": needs_of(config, paths),
        "scheduler": settings.scheduler,
        "ca": settings.ca,
        "certificate": settings.certificate,
        "key": settings.key,
        "unconfined": settings.unconfined,
        "reserved_for_checks": settings.reserved_for_checks,
    }
