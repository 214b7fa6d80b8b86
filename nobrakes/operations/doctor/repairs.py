"""What the doctor mends, each asked for by its name.

A repair keeps a copy of what it replaces. None of them runs by itself.
"""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, Union, cast

from ...core.beads.bead import CLOSED, Bead, Status
from ...core.errors import DaemonRunning, GitFailed, NobrakesError, UsageError
from ...core.sessions.session import name_of
from ...git.workspaces.remove import BROKEN, forget_sessions, kept_by_agents
from ...host.locks import holder
from ...paths import Paths
from ...trash import Trash
from . import machine

if TYPE_CHECKING:
    from ...ports.git import Git
    from ...ports.store import Store

Opened = Union["Store", NobrakesError]
"""The store, or why it cannot be opened."""


class _Countable(Protocol):
    """What the SQLite store offers beyond the port."""

    def recount(self) -> int:
        """Set every derived column right."""
        ...


def repair(name: str, store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    """Mend one thing; what was done, a line each. UsageError for an unknown name, DaemonRunning while one works."""
    if name not in REPAIRS:
        raise UsageError(f"'{name[:40]}' is no repair", f"The repairs are: {', '.join(REPAIRS)}.")
    pid = holder(paths.lock)
    if pid is not None and name in ("rebuild", "stale-workspaces"):
        raise DaemonRunning(
            f"a daemon works here (process {pid}), and it would be mended under its hands",
            "End it in order with `nobrakes daemon stop`, then repair.",
        )
    return REPAIRS[name](store, git, paths)


def _needed(store: Opened) -> "Store":
    if isinstance(store, NobrakesError):
        raise store
    return store


def _counters(store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    return [f"{cast(_Countable, _needed(store)).recount()} beads were counted anew"]


def _rebuild(store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    from ..snapshot.rebuild import rebuild, told

    if not isinstance(store, NobrakesError):
        store.close()
    return told(rebuild(paths, git))


def _workspaces(store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    there = _needed(store)
    if git is None:
        raise GitFailed("git cannot be asked here", "`nobrakes doctor` says why.")
    known = {bead.id: bead for bead in there.beads()}
    lines = []
    for name in stale_workspaces(there, paths):
        if name.startswith(name_of(0)[:-1]):  # of a session that is gone: it has no work that could be archived
            forget_sessions(Trash(paths.trash), paths.agents, name)
            lines.append(f"what agent CLIs kept of {name} was removed")
            continue
        bead = known.get(name) or Bead(name, name)
        git.retire(bead, bead.fence)
        forget_sessions(Trash(paths.trash), paths.agents, name)
        kept = ", ".join(ref for ref, _ in git.archived(name)) or "nothing in it was new"
        lines.append(f"the workspace {name} was archived ({kept}) and removed")
    return lines or ["there is no stale workspace"]


def _compile(store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    return machine.compile_package()


def stale_workspaces(store: "Store", paths: Paths) -> list[str]:
    """The beads that are not live and have a workspace, or sessions that an agent CLI kept of them."""
    names = {name for name in names_in(paths.workspaces) if os.path.isdir(os.path.join(paths.workspaces, name))}
    names = {name for name in names if BROKEN not in name}
    names |= kept_by_agents(paths.agents).keys()
    if not names:
        return []
    alive = {
        id_ for _, id_ in store.by_priority([status for status in Status if status not in (*CLOSED, Status.DRAFT)])
    }
    alive |= {name_of(session.id) for session in store.sessions()}
    return sorted(names - alive)


def names_in(folder: str) -> list[str]:
    """What lies in the folder; nothing where there is none."""
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


REPAIRS: dict[str, Callable[[Opened, "Git | None", Paths], list[str]]] = {
    "counters": _counters,
    "rebuild": _rebuild,
    "stale-workspaces": _workspaces,
    "compile": _compile,
}
"""What can be mended, by name."""
