"""Why nothing starts on nodes: what this machine lacks for them, and what their last state says.

1. Only repositories with nodes load this.
2. The daemon and whoever reads decide by the same state, so that each surface names the same cause.
"""

import shlex
from collections.abc import Callable, Iterator
from dataclasses import replace

from ... import extras
from ...config.sections import FleetSettings
from ...config.settings import Config
from ...daemon.model import Board
from ...fleet.model import Fleet, file_troubles, known
from ...paths import Paths
from ...text.cleaning import count
from ..blockers import CONFIG, Blocker, Kind

NOTHING_STARTS = "no agent or check starts"
_NAMED = 3
_SOON = 1.0
"""Seconds after which the nodes are looked at again while they have too few places for the agents."""
_SELDOM = 5.0


def setup_blockers(config: Config, sandbox_trouble: Callable[[], str]) -> Iterator[Blocker]:
    """What this machine lacks to send agents and checks to nodes."""
    extra, local = extras.EXTRA_BY_ENGINE[config.fleet.engine], 'set fleet.engine = "local"'
    if not extras.is_there(extra):
        what = f"{NOTHING_STARTS}: nodes need the extra `{extra}`, which is not installed"
        command, cure = extras.command(extra), f"install the extra here and on every node, or {local} in {CONFIG}"
        yield Blocker(Kind.NO_NODES, what, "", (command,), cure, refuses=True)
    for wrong in file_troubles(config.fleet):
        cure = f"fix the TLS files under [fleet] in {CONFIG}, or {local}"
        yield Blocker(Kind.NO_NODES, f"{NOTHING_STARTS}: {wrong}", "", ("nobrakes doctor",), cure, refuses=True)
    if config.sandbox.mode != "none" and (trouble := sandbox_trouble()):
        what = f"{NOTHING_STARTS}: the program that talks to the nodes runs only in a sandbox"
        cure = f'install bubblewrap, or set sandbox.mode = "none" in {CONFIG}, which runs agents without a sandbox too'
        yield Blocker(Kind.NO_NODES, what, trouble, ("nobrakes doctor",), cure, refuses=True)


def on_known_nodes(board: Board, paths: Paths, config: Config, is_wanted: bool) -> Board:
    """The board by the nodes' last state. `is_wanted`: a daemon has work for them, so an unknown state holds it up."""
    found = known(paths)
    return on_nodes(board, found, config.fleet) if found.is_known or is_wanted else board


def on_nodes(board: Board, found: Fleet, settings: FleetSettings) -> Board:
    """This board, with no more agents than the nodes have places, and why there are none."""
    wanted = board.limits.doers
    if wanted == 0:
        return replace(board, node_seconds=_SELDOM)  # this is the reason, whatever the nodes do
    why = node_blocker(found, settings)
    most = 0 if why else found.agents(settings)
    limits = replace(board.limits, doers=min(wanted, most))
    return replace(board, limits=limits, no_nodes=why, node_seconds=_SOON if most < wanted else _SELDOM)


def node_blocker(found: Fleet, settings: FleetSettings) -> Blocker | None:
    """Why nothing starts on the nodes."""
    scheduler, show = settings.scheduler, ("nobrakes fleet",)
    join = f'start a worker that joins {scheduler}, with `--resources "place=4"`'
    if not found.is_known:
        return Blocker(Kind.NO_NODES, f"{NOTHING_STARTS}: {found.trouble}", f"the scheduler is {scheduler}", show)
    if found.trouble:
        cure = f"start the scheduler, or fix the settings under [fleet] in {CONFIG}"
        what = f"{NOTHING_STARTS}: nobrakes cannot reach the scheduler {scheduler}"
        return Blocker(Kind.NO_NODES, what, found.trouble, ("nobrakes doctor", *show), cure)
    if not found.nodes:
        return Blocker(Kind.NO_NODES, f"{NOTHING_STARTS}: the scheduler {scheduler} has no node", "", show, join)
    if not found.is_complete and not any(one.is_usable for one in found.nodes):
        return Blocker(Kind.NO_NODES, f"{NOTHING_STARTS}: the nodes have not said yet what they have", "", show)
    refused = [one for one in found.nodes if one.why]
    drained = [one.name for one in found.nodes if one.is_drained]
    if not any(one.is_usable for one in found.nodes):
        resume = tuple(f"nobrakes fleet resume {shlex.quote(name)}" for name in drained[:_NAMED])
        whys = "; ".join(f"{one.name}: {one.why}" for one in refused[:_NAMED])
        are = " or ".join([*["drained"] * bool(drained), *["refused"] * bool(refused)])
        cure = "fix the cause on the node, and restart its worker" if refused else ""
        return Blocker(Kind.NO_NODES, f"{NOTHING_STARTS}: every node is {are}", whys, (*resume, *show), cure)
    places = max(one.places for one in found.nodes if one.is_usable)
    largest = f"the largest usable node has {count(places, 'place')}"
    if not found.agents(settings):
        why = f"an agent takes {settings.agent_places}, and {settings.reserved_for_checks} are reserved for checks"
        return Blocker(Kind.NO_NODES, f"no agent starts: {largest}", why, show, join)
    if not found.has_place_for_checks(settings):
        what = f"no check can run, so no agent starts: {largest}"
        return Blocker(Kind.NO_NODES, what, f"a run of the checks takes {settings.check_places}", show, join)
    return None
