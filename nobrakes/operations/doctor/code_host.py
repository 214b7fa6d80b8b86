"""What doctor says of the code host that pull requests are opened at, and of requests that nobody waits for."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...core.beads.bead import CLOSED
from ...core.errors import NobrakesError
from ...core.graph.epic_waits import of_epics
from ...core.graph.readiness import deadlocks
from .findings import ERROR, OK, WARNING, Finding

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...paths import Paths
    from ...ports import Git, Store
    from ...ports.codehosts import PullPorts

_NAME = "code host"


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
    except NobrakesError as error:
        yield Finding(_NAME, ERROR, f"{str(error).rstrip('.')}. {error.hint}")
    if store is None:
        return
    for pull in store.pulls():
        if store.bead(pull.bead).status in CLOSED:
            left = f"pull request {pull.name} is open, and its bead {pull.bead} is over: close it there ({pull.url})"
            yield Finding(_NAME, WARNING, left)
    if config.review.by_epic:
        yield from _waits(store)
    if git is not None and pulls is not None:
        yield from _orphans(store, git, pulls)


def _waits(store: "Store") -> Iterator[Finding]:
    """Epics that wait for each other, though their beads do not."""
    nodes, dependencies = store.nodes(), store.dependencies()
    if deadlocks(nodes, dependencies):
        return  # said already
    epics, seen = {node.id: node.epic for node in nodes}, of_epics(nodes, dependencies)
    for circle in deadlocks(nodes, list(seen)):
        meant = seen[circle.cut]
        around = " -> ".join((*circle.members, circle.members[0]))
        told = (
            f"{around} wait for each other: {meant.needs} of {epics.get(meant.needs)} is done only when all of that "
            f"epic is merged, and {meant.bead} needs it. Have them in one epic (`nobrakes edit`), or "
            f"`nobrakes undepend {meant.bead} {meant.needs}`"
        )
        yield Finding("epics", ERROR, told)


def _orphans(store: "Store", git: "Git", pulls: "PullPorts") -> Iterator[Finding]:
    """Branches at the remote that we pushed, and whose bead is over or unknown: nobody looks after them."""
    try:
        there = pulls.branches()
    except NobrakesError:
        return  # that it cannot be reached is said already
    waiting = {one.branch for one in store.pulls()}
    ours = {commit: name.split("/")[1] for name, commit in git.kept().items() if _is_pushed(name)}
    beads = {one.id: one.status for one in store.beads(ids=sorted(set(ours.values())))} if ours else {}
    for branch, commit in sorted(there.items()):
        bead = ours.get(commit)
        if bead is not None and branch not in waiting and beads.get(bead) in (None, *CLOSED):
            left = f"the branch {branch} is still at the remote, and its bead {bead} is over: it may be removed there"
            yield Finding(_NAME, WARNING, left)


def _is_pushed(name: str) -> bool:
    parts = name.split("/")
    return len(parts) == 3 and (parts[0] == "pull" or (parts[0] == "archive" and parts[2].startswith("pull-")))
