"""What doctor says of the code host that pull requests are opened at, and of requests that nobody waits for."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ...core.beads.bead import CLOSED, BeadType, DependencyType, is_bead_id
from ...core.errors import NobrakesError
from ...core.graph.epic_waits import of_epics
from ...core.graph.readiness import deadlocks
from ...core.pulls.delivery import base_of, of_epic, unit_of
from ...roles.delivery import bases
from .findings import ERROR, OK, WARNING, Finding

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...paths import Paths
    from ...ports.codehosts import PullPorts
    from ...ports.git import Git
    from ...ports.store import Store

_NAME = "code host"
_MOST = 10
"""So many beads are named that need what is merged elsewhere."""


def examine(store: "Store | None", git: "Git | None", paths: "Paths", config: "Config") -> Iterator[Finding]:
    """Nothing, where work does not land by requests."""
    if not config.review.by_request:
        return
    from ..code_host import ports_of

    pulls = None
    try:
        pulls = ports_of(paths, config)
        pulls.host.ready()
        yield Finding(_NAME, OK, f"pull requests are opened with {pulls.host.about()}")
        if config.review.pull_auto_merge and not pulls.host.tells:
            told = (
                "git alone merges no request by itself, so people do. `nobrakes config set review.pull_auto_merge "
                "false` if that is meant"
            )
            yield Finding(_NAME, WARNING, told)
    except NobrakesError as error:
        yield Finding(_NAME, ERROR, f"{str(error).rstrip('.')}. {error.hint}")
    if store is None:
        return
    for pull in store.pulls():
        if store.bead(pull.bead).status in CLOSED:
            left = f"pull request {pull.name} is open, and its bead {pull.bead} is over: close it there ({pull.url})"
            yield Finding(_NAME, WARNING, left)
    yield from _features(store, config)
    yield from _waits(store, config)
    yield from _bases(store, config)
    if git is not None and pulls is not None:
        yield from _orphans(store, git, pulls)


def _features(store: "Store", config: "Config") -> Iterator[Finding]:
    """What the settings say of features that there are not, and names of branches that are another epic's."""
    named = config.review.features
    beads = {one.id: one for one in store.beads(ids=sorted(named))} if named else {}
    for epic, one in named.items():
        key = f"review.features.{epic}"
        if epic not in beads:
            told = f"{key}: there is no epic {epic} yet; if there is to be none, take that table out of config.toml"
            yield Finding("features", WARNING, told)
        elif beads[epic].type is not BeadType.EPIC:
            told = f"{key}: {epic} is no epic but a {beads[epic].type}, so nothing follows from it: name its epic"
            yield Finding("features", WARNING, told)
        if one.branch is not None and one.branch.startswith(of_epic("")):
            other = one.branch.removeprefix(of_epic(""))
            if other != epic and is_bead_id(other) and store.beads(ids=[other]):
                told = f"{key}.branch: {one.branch} is what the branch of {other} is called: choose another name"
                yield Finding("features", ERROR, told)


def _waits(store: "Store", config: "Config") -> Iterator[Finding]:
    """Epics that wait for each other, though their beads do not."""
    rules = config.review.rules(config.main)
    if rules.unit != "epic" and all(one.unit != "epic" for one in rules.features.values()):
        return
    nodes, dependencies = store.nodes(), store.dependencies()
    if deadlocks(nodes, dependencies):
        return  # said already
    epics = {node.id: node.epic for node in nodes}
    apart = {node.id for node in nodes if unit_of(_around(node.epic, epics), rules) != "epic"}
    seen = of_epics((node._replace(epic=None) if node.id in apart else node for node in nodes), dependencies)
    for circle in deadlocks(nodes, list(seen)):
        meant = seen[circle.cut]
        around = " -> ".join((*circle.members, circle.members[0]))
        told = (
            f"{around} wait for each other: {meant.needs} of {epics.get(meant.needs)} is done only when all of that "
            f"epic is merged, and {meant.bead} needs it. Have them in one epic (`nobrakes edit`), or "
            f"`nobrakes undepend {meant.bead} {meant.needs}`"
        )
        yield Finding("epics", ERROR, told)


def _bases(store: "Store", config: "Config") -> Iterator[Finding]:
    """Beads that need what is merged into another branch: it is not there when they begin."""
    if not bases(config):
        return
    rules = config.review.rules(config.main)
    nodes = {node.id: node for node in store.nodes()}
    epics = {node.id: node.epic for node in nodes.values()}
    found = []
    for one in store.dependencies():
        if one.type is not DependencyType.BLOCKS or nodes[one.bead].status in CLOSED:
            continue
        mine, other = (base_of(_around(bead, epics), rules) for bead in (one.bead, one.needs))
        if mine != other:
            found.append((one.bead, mine or rules.main, one.needs, other or rules.main))
    for bead, mine, needs, other in found[:_MOST]:
        told = (
            f"{bead} begins on {mine} and needs {needs}, which people merge into {other}: its work is not there before "
            f"they bring it to {mine}. `nobrakes hold {bead}` until then, or `nobrakes undepend {bead} {needs}`"
        )
        yield Finding("features", WARNING, told)
    if len(found) > _MOST:
        yield Finding("features", WARNING, f"and {len(found) - _MOST} more beads need what goes to another branch")


def _around(epic: str | None, epics: Mapping[str, str | None]) -> list[str]:
    """The epic and those above it, the nearest first."""
    found: list[str] = []
    while epic is not None and epic not in found:
        found.append(epic)
        epic = epics.get(epic)
    return found


def _orphans(store: "Store", git: "Git", pulls: "PullPorts") -> Iterator[Finding]:
    """Branches at the remote that we pushed, and whose bead is over or unknown: nobody looks after them.

    One that another request is for is needed.
    """
    try:
        there = pulls.branches()
    except NobrakesError:
        return  # that it cannot be reached is said already
    opened = store.pulls()
    waiting, stood_on = {one.branch for one in opened}, {one.onto for one in opened}
    ours = {commit: name.split("/")[1] for name, commit in git.kept().items() if _is_pushed(name)}
    beads = {one.id: one.status for one in store.beads(ids=sorted(set(ours.values())))} if ours else {}
    for branch, commit in sorted(there.items()):
        bead = ours.get(commit)
        if bead is not None and bead not in stood_on and branch not in waiting and beads.get(bead) in (None, *CLOSED):
            left = f"the branch {branch} is still at the remote, and its bead {bead} is over: it may be removed there"
            yield Finding(_NAME, WARNING, left)


def _is_pushed(name: str) -> bool:
    parts = name.split("/")
    return len(parts) == 3 and (parts[0] == "pull" or (parts[0] == "archive" and parts[2].startswith("pull-")))
