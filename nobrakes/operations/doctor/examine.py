"""What is broken, and what mends it (repairs.py). Looking changes nothing.

1. A finding is ok, a warning (it works, but look) or an error (something does not work); `repair` names what mends it.
2. Each check is one function; the order below is the order of the answer, causes before effects. The database is
   looked at first, since it takes longest, while the sandbox is tried out in a thread.
"""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, cast

from ...core.beads.bead import WORKING, DependencyType
from ...core.beads.escalations import EscalationType
from ...core.errors import NobrakesError, NoMain, StoreBroken, StoreNewer
from ...core.graph.cycles import Circle
from ...core.graph.readiness import deadlocks
from ...core.hindrances import Kind
from ...git.workspaces.remove import BROKEN
from ...host.locks import holder
from ...paths import Paths
from ...trash import Trash
from ..control import FROZEN
from ..hindrances.look import hindrances
from ..hindrances.machine import Here
from . import channels, code_host, machine, place
from .findings import ERROR, OK, WARNING, Finding
from .repairs import names_in, stale_workspaces

if TYPE_CHECKING:
    from ...config.settings import Config
    from ...ports.git import Git
    from ...ports.store import Store

__all__ = ["Finding", "examine", "opened_store"]


NOT_TRIED = "it was not tried"


class _Checkable(Protocol):
    """What the SQLite store offers beyond the port."""

    def check(self) -> list[str]:
        """What is wrong with file, references and derived columns."""
        ...


_Look = Callable[["_Patient"], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class _Patient:
    store: "Store | None"
    git: "Git | None"
    paths: Paths
    config: "Config | None"
    sandbox_trouble: Callable[[], str]
    wall_trouble: Callable[[], str] = lambda: NOT_TRIED
    misconfigured: str = ""
    here: Here | None = None
    untried: Callable[[], str] = lambda: ""


def examine(
    store: "Store | NobrakesError",
    git: "Git | None",
    paths: Paths,
    config: "Config | None",
    sandbox_trouble: Callable[[], str] = lambda: NOT_TRIED,
    wall_trouble: Callable[[], str] = lambda: NOT_TRIED,
    misconfigured: str = "",
    here: Here | None = None,
    untried: Callable[[], str] = lambda: "",
) -> list[Finding]:
    """Every finding, the good ones too. What could not be opened is a finding itself: for the store, by its error.

    `misconfigured`: what is wrong with config.toml, where `config` is that of before. `here`: this process, as whoever
    starts agents from it. `untried`: why it is not known whether main passes its checks; empty: it does.
    """
    if config is not None and config.sandbox.mode != "none":
        sandbox_trouble = _begun(sandbox_trouble)
    rest = wall_trouble, misconfigured, here, untried
    found: dict[_Look, list[Finding]] = {}
    try:
        if isinstance(store, NobrakesError):
            raise store
        patient = _Patient(store, git, paths, config, sandbox_trouble, *rest)
        found[_database] = list(_database(patient))
    except NobrakesError as error:  # also one that opens and lacks its tables
        patient = _Patient(None, git, paths, config, sandbox_trouble, *rest)
        found[_database] = [_unusable(error)]
    found |= {look: _found(look, patient) for look in _LOOKS if look is not _database}
    return [finding for look in _LOOKS for finding in found[look]]


def opened_store(paths: Paths, open_it: "Callable[[], Store]") -> "Store | NobrakesError":
    """The store, or why there is none. A database that is not there is not made by looking."""
    from ...store.database import missing

    if not os.path.lexists(paths.database):
        return missing(paths.database)
    try:
        return open_it()
    except NobrakesError as error:
        return error


def _found(look: "_Look", patient: _Patient) -> list[Finding]:
    """What one look finds; what keeps it from looking is a finding, and the other looks go on."""
    found: list[Finding] = []
    try:
        for one in look(patient):
            found.append(one)
    except NobrakesError as error:
        found.append(Finding(look.__name__.lstrip("_"), ERROR, f"{error}. {error.hint}"))
    return found


def _begun(question: Callable[[], str]) -> Callable[[], str]:
    """The same question, asked at once in a thread; whoever asks waits for its answer."""
    answers: list[str | BaseException] = []

    def ask() -> None:
        try:
            answers.append(question())
        except BaseException as error:
            answers.append(error)

    thread = threading.Thread(target=ask, name="doctor")
    thread.start()

    def answer() -> str:
        thread.join()
        if isinstance(answers[0], BaseException):
            raise answers[0]
        return answers[0]

    return answer


def _git(patient: _Patient) -> Iterator[Finding]:
    from ...git import commands, discovery
    from ..setup import git_settings

    try:
        partial = discovery.is_partial(patient.paths.root)
    except NobrakesError as error:
        yield Finding("git", ERROR, f"{error}. {error.hint}")
        return
    yield Finding("git", OK, f"git {'.'.join(map(str, commands.version()))}")
    if partial:
        yield Finding("git", WARNING, "this is a partial clone: workspaces lack what was never fetched")
    for text in git_settings.told(patient.paths.root, patient.config) if patient.config else ():
        yield Finding("git", WARNING, text)


def _config(patient: _Patient) -> Iterator[Finding]:
    if patient.config is None:
        yield Finding("config", ERROR, "config.toml cannot be read: `nobrakes config --check` says why")
        return
    if patient.misconfigured:
        yield Finding("config", ERROR, patient.misconfigured)
    else:
        yield Finding("config", OK, "config.toml is right")
    yield from machine.examine(
        patient.config, patient.paths, patient.sandbox_trouble, patient.wall_trouble, patient.here
    )
    yield from channels.examine(patient.config.notify)
    yield from code_host.examine(patient.store, patient.git, patient.paths, patient.config)


def _main(patient: _Patient) -> Iterator[Finding]:
    if patient.git is None:
        return
    try:
        yield Finding("main", OK, f"main is at {patient.git.main()[:12]}")
    except NoMain as error:
        yield Finding("main", ERROR, f"{error}. {error.hint}")
    except NobrakesError as error:
        yield Finding("main", ERROR, str(error))
    else:
        yield from _refs(patient.git)
        yield from _checkouts(patient.git)
        yield from _unknown(patient)
        yield from _fallen(patient)
        yield from _untried(patient)
    archived = patient.git.archived()
    if archived:
        yield Finding("archive", OK, f"kept under refs/nobrakes/archive: {len(archived)}")


def _unknown(patient: _Patient) -> Iterator[Finding]:
    """What main carries and the database does not know: it went back, and the next start sets it right."""
    from .agreement import unknown

    for text in unknown(patient.store, patient.git) if patient.store and patient.git else ():
        yield Finding("main", WARNING, text)


def _fallen(patient: _Patient) -> Iterator[Finding]:
    """What the database calls done and a person took off main."""
    from .agreement import lost_changes, off_main

    store, git, config = patient.store, patient.git, patient.config
    text = off_main(store, git, config) if store and git and config else ""
    if text:
        yield Finding("main", WARNING, text)
    for lost in lost_changes(store, git) if store and git else ():
        yield Finding("main", ERROR, lost)


def _untried(patient: _Patient) -> Iterator[Finding]:
    """Whether main passes its checks, as far as that is known. A red main is what _standing says."""
    if patient.store is None or patient.store.setting(FROZEN) is not None:
        return
    text = patient.untried()
    if text:
        yield Finding("main", WARNING, text)


def _standing(patient: _Patient) -> Iterator[Finding]:
    """What of the facts keeps a run from starting anything, and what can never go on by itself."""
    if patient.store is None or patient.config is None:
        return
    found = hindrances(patient.store, patient.paths, patient.config).found
    for one in found:
        if one.stops or one.kind in _NAMES:
            yield machine.as_finding(_NAMES.get(one.kind, "run"), one)


_NAMES = {
    Kind.MAIN_RED: "main",
    Kind.CHECKS_BROKEN: "checks",
    Kind.DAEMON_DEAD: "daemon",
    Kind.RUN_CUT_OFF: "daemon",
    Kind.CANCELLED_BLOCKER: "blocked",
    Kind.CANCELLED_PARENT: "blocked",
    Kind.EMPTY_EPIC: "epic",
}


def _refs(git: "Git") -> Iterator[Finding]:
    """Refs of ours that lead nowhere. Those of work in hand are made again by who needs them."""
    try:
        found = git.broken_refs()
    except NobrakesError as error:
        yield Finding("refs", ERROR, f"git cannot read the refs: {error}. {error.hint}")
        return
    for ref, why in found:
        work = ref.split("/")[2:3] in (["incoming"], ["candidate"], ["start"])
        mends = (
            "`nobrakes run` makes it again from the workspace"
            if work
            else "bring it back from a copy of the repository"
        )
        yield Finding("refs", WARNING if work else ERROR, f"{ref} leads nowhere: {why}; {mends}")


def _checkouts(git: "Git") -> Iterator[Finding]:
    try:
        behind = git.behind()
    except NobrakesError as error:
        yield Finding("checkout", WARNING, f"it cannot be told whether a checkout is behind main: {error}")
        return
    for text in behind:
        yield Finding("checkout", ERROR, text)


def _database(patient: _Patient) -> Iterator[Finding]:
    assert patient.store is not None, "without one there is nothing to look at"
    yield _soundness(cast(_Checkable, patient.store).check())
    yield from _graph(patient.store)


def _unusable(error: NobrakesError) -> Finding:
    if isinstance(error, StoreBroken) and not isinstance(error, StoreNewer):
        kept = "the snapshot, what changed since and git still hold the graph"
        return Finding("database", ERROR, f"{error}; {kept}", "rebuild")
    return Finding("database", ERROR, f"{error}. {error.hint}")


def _soundness(problems: list[str]) -> Finding:
    if not problems:
        return Finding("database", OK, "the database is sound, and its counters agree with a recomputation")
    counters = all(_is_counter(text) for text in problems)
    shown = "; ".join(problems[:5]) + (f"; and {len(problems) - 5} more" if len(problems) > 5 else "")
    return Finding("counters" if counters else "database", ERROR, shown, "counters" if counters else "rebuild")


def _is_counter(text: str) -> bool:
    return ", and should be " in text


def _graph(store: "Store") -> Iterator[Finding]:
    circles = deadlocks(store.nodes(), store.dependencies())
    for circle in circles:
        yield Finding("deadlock", ERROR, _told(circle))
    if not circles:
        yield Finding("deadlock", OK, "no beads wait for each other")


def _told(circle: Circle) -> str:
    around = " -> ".join((*circle.members, circle.members[0]))
    cut = circle.cut
    if cut.type is DependencyType.PARENT_CHILD:
        mend = f'nobrakes edit {cut.bead} --epic ""'
    else:
        mend = f"nobrakes undepend {cut.bead} {cut.needs}"
    return f"{len(circle.stuck)} beads can never start: {around} wait for each other; `{mend}` frees them"


def _parked(patient: _Patient) -> Iterator[Finding]:
    """The beads, sessions and parts of the daemon for which nobrakes met what it did not expect."""
    store = patient.store
    for one in store.escalations() if store is not None else ():
        if one.type is EscalationType.NOBRAKES_FAILED and store is not None:
            is_held = one.bead is not None and store.bead(one.bead).held is not None
            held = f", and it is held: `nobrakes release {one.bead}`" if is_held else ""
            what = one.bead or one.title.partition(":")[0]
            text = f"nobrakes itself failed on {what}: `nobrakes escalation {one.id}` says how{held}"
            yield Finding("parked", WARNING, text)


def _assignments(patient: _Patient) -> Iterator[Finding]:
    store = patient.store
    if store is None:
        return
    pid = holder(patient.paths.lock)
    now = store.now()
    stale = [b for b in store.beads(WORKING) if b.lease_until is not None and b.lease_until < now]
    if stale:
        ids = ", ".join(b.id for b in stale[:10])
        what = "the daemon is slow to renew" if pid else "the next daemon takes them up: nobrakes run"
        yield Finding("leases", WARNING, f"there is no sign of who works on {ids}; {what}")
    yield Finding("daemon", OK, f"a daemon works (process {pid})" if pid else "no daemon works")


def _workspaces(patient: _Patient) -> Iterator[Finding]:
    if patient.store is None:
        return
    for name in stale_workspaces(patient.store, patient.paths):
        text = f"the workspace or sessions of {name} belong to no live bead; work is archived before it goes"
        yield Finding("workspaces", WARNING, text, "stale-workspaces")
    for name in names_in(patient.paths.workspaces):
        if BROKEN in name:
            text = f"workspaces/{name} was put aside: what lies in it could not be archived, look into it"
            yield Finding("workspaces", WARNING, text)
    for one in Trash(patient.paths.trash).left():
        if one.why:
            text = f"{one.path} cannot be removed: {one.why}; what is left of it is at {one.at}, look into it"
            yield Finding("trash", WARNING, text)


def _installation(patient: _Patient) -> Iterator[Finding]:
    yield from machine.installation()


def _privacy(patient: _Patient) -> Iterator[Finding]:
    from . import privacy

    yield from privacy.examine(patient.paths)


def _place(patient: _Patient) -> Iterator[Finding]:
    yield from place.examine()


_LOOKS: tuple[_Look, ...] = (
    _git,
    _privacy,
    _config,
    _main,
    _database,
    _standing,
    _parked,
    _assignments,
    _workspaces,
    _installation,
    _place,
)
