"""Diagnosis of broken parts, and their repair (`repair`). Looking changes nothing.

1. A finding is ok, a warning or an error; `repair` names its fix.
2. Each check is a function; results are in the order below, causes before effects. The slow database check begins
   first, while a thread tries the sandbox.
"""

import os
import shlex
import stat
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import cache_from_source
from typing import TYPE_CHECKING, TypeVar, Union, cast

from .. import abilities, errors
from .. import paths as found
from ..beads.model import CLOSED, WORKING, Bead, DependencyType, Status
from ..beads.readiness import Circle
from ..config.setup.detect import what_to_write
from ..config.user import user_place
from ..daemon.service.control import FROZEN
from ..decisions.blockers import Blocker, Kind
from ..decisions.model import EscalationType
from ..decisions.service.all_blockers import Here, agent_blocker, blockers, check_blockers
from ..errors import DaemonRunning, GitFailed, MachineShort, NobrakesError, StoreBroken, StoreNewer, UsageError
from ..files import IGNORED_BEFORE, for_git, open_to_others
from ..git import command_line, location
from ..git.location import owner
from ..git.workspaces.make import BROKEN, agent_folders, forget_sessions
from ..host.locks import holder
from ..host.versions import Versions
from ..machine.registry import trouble
from ..notices import service as notices_service
from ..paths import PACKAGE, Paths, process_environment, which
from ..records import frozen
from ..requests import service as requests_service
from ..review.service.landed import lost_changes_messages, off_main_message, unknown
from ..sandbox import closure
from ..sessions.model import name_of
from ..text.cleaning import age, count
from ..trash import Trash
from .health import ERROR, OK, WARNING, Finding

if TYPE_CHECKING:
    from ..config.settings import Config
    from ..git.port import Git
    from ..git.repository import Repository
    from ..store import Store


def _place(_: "_Patient") -> Iterator[Finding]:
    """Silent for an agent, which may not look."""
    try:
        place = user_place()
    except NobrakesError:
        place = None
    text, stops = trouble()
    if text:
        yield Finding("place", ERROR if stops else WARNING, text)
    elif place is not None:
        yield Finding("place", OK, f"your repositories share {place.state} and the settings in {place.settings}")


_SHOWN = 5
_SAFE = "; all beads are still stored in .nobrakes/beads.jsonl, its later changes and git"


def _privacy(patient: "_Patient") -> Iterator[Finding]:
    paths = patient.paths
    strange = found.strangers(paths.root)
    for path in strange[:_SHOWN]:
        yield Finding("owner", WARNING, f"{path} belongs to {owner(path)}, but git trusts it (safe.directory, or sudo)")
    if not strange:
        yield Finding("owner", OK, f"the repository and .nobrakes belong to {owner(paths.folder)} (you)")
    others = [path for path in found.territory(paths.root) if _writable_by_others(path)]
    for path in others[:_SHOWN]:
        text = f"every account can write to {path}, and so decide which programs run here"
        yield Finding("owner", WARNING, f"{text}: `chmod o-w {shlex.quote(path)}`")
    closed = open_to_others(paths.folder)
    for path in closed[:_SHOWN]:
        text = f"other accounts can access {path} ({stat.S_IMODE(os.lstat(path).st_mode):04o})"
        yield Finding("private", WARNING, f"{text}: `chmod go= {shlex.quote(path)}`")
    if not closed:
        yield Finding("private", OK, "other accounts cannot read nobrakes' files (0700, 0600)")


def _writable_by_others(path: str) -> bool:
    mode = os.lstat(path).st_mode
    return not stat.S_ISLNK(mode) and bool(mode & stat.S_IWOTH)


_BROKEN = (
    Kind.TAKEN_OVER,
    Kind.NO_NODES,
    Kind.NO_AGENT,
    Kind.NO_LOGIN,
    Kind.MAIN_RED,
    Kind.CHECKS_BROKEN,
    Kind.DAEMON_DEAD,
    Kind.EPIC_CIRCLE,
)


def examine_machine(
    config: "Config",
    paths: Paths,
    sandbox_trouble: Callable[[], str],
    wall_trouble: Callable[[], str],
    here: Here | None = None,
) -> Iterator[Finding]:
    """The configured programs and the confinement of agents, as seen from `here`."""
    seen = here or Here(process_environment(), process_environment())
    for one in check_blockers(config, paths, seen):
        yield as_finding("checks", one)
    if config.checks and not any(check.kind == "test" for check in config.checks):
        yield Finding("checks", WARNING, "no check runs tests, so nothing tests the agents' work")
    for text in what_to_write(paths.root, config.checks).values():
        yield Finding("checks", WARNING, text)
    for name in config.agents.agent_choice().names():
        yield _agent(name, config, paths, seen)
    try:
        yield _sandbox(config, sandbox_trouble, wall_trouble)
    except MachineShort as error:
        yield Finding("sandbox", ERROR, f"no work starts until you fix this problem: {error}")


def as_finding(name: str, one: Blocker) -> Finding:
    """A blocker as a finding: broken if a run would be refused, or start nothing."""
    typed = " or ".join(f"`{command}`" for command in one.commands[:2])
    then = "; ".join(part for part in (one.why, one.cure, typed and f"type {typed}") if part)
    level = ERROR if one.refuses or one.kind in _BROKEN else WARNING
    return Finding(name, level, f"{one.what}: {then}" if then else one.what)


def _sandbox(config: "Config", sandbox_trouble: Callable[[], str], wall_trouble: Callable[[], str]) -> Finding:
    mode = config.sandbox.mode
    trouble = 'the setting sandbox.mode is "none"' if mode == "none" else sandbox_trouble()
    if not trouble:
        return Finding("sandbox", OK, "agents and checks run in a sandbox (bubblewrap)")
    if mode == "bubblewrap":
        return Finding("sandbox", ERROR, errors.NO_SANDBOX.format(trouble))
    setting = config.sandbox.wall
    no_wall = 'the setting sandbox.wall is "none"' if setting == "none" else wall_trouble()
    if not no_wall:
        return Finding(
            "sandbox", WARNING if closure.lacking() else OK, f"{closure.wall_describe()} The reason: {trouble}."
        )
    if setting == "landlock":
        return Finding("sandbox", ERROR, errors.NO_WALL.format(no_wall))
    said = closure.describe(config.agents.agent_choice().names(), config.agents)
    return Finding("sandbox", WARNING, f"{said} The reason: {trouble}, and {no_wall}.")


def _agent(name: str, config: "Config", paths: Paths, here: Here) -> Finding:
    if (hindered := agent_blocker(name, config, here)) is not None:
        return as_finding("agent" if hindered.kind is Kind.NO_AGENT else "login", hindered)
    command = config.agents.command(name)
    seen = abilities.recall(paths)
    path = here.environment.get("PATH")
    standing = abilities.standing(name, command, seen, Versions(paths, path, writes=False))
    if standing.why:
        return Finding("agent", WARNING, standing.said)
    found = which(command[0], path=path)
    return Finding("agent", OK, f"the agent {name} is {found}" + (f", {standing.basis}" if standing.basis else ""))


def _installation(_: "_Patient") -> Iterator[Finding]:
    """Without compiled files each command compiles."""
    if not (missing := uncompiled()):
        yield Finding("start-up", OK, "all of nobrakes' modules are compiled")
    else:
        yield Finding(
            "start-up", WARNING, f"{count(len(missing), 'module is', 'modules are')} compiled at every start", "compile"
        )


def uncompiled() -> list[str]:
    """The modules without a compiled file."""
    found = []
    for folder, folders, names in os.walk(PACKAGE):
        folders[:] = [name for name in folders if name not in ("__pycache__", "_data")]
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".py") and not os.path.exists(cache_from_source(path)):
                found.append(path)
    return found


def compile_package() -> list[str]:
    """Compile every module; returns what was done."""
    import compileall

    before = len(uncompiled())
    compileall.compile_dir(PACKAGE, quiet=2)
    left = len(uncompiled())
    lines = [f"{count(before - left, 'module was', 'modules were')} compiled"]
    return lines if not left else [*lines, f"{left} could not be compiled: is {PACKAGE} writable?"]


# A repair is asked for by its name, and keeps a copy of what it replaces.
T = TypeVar("T")
Opened = Union["Store", NobrakesError]
"""The store, or why it cannot be opened."""


def repair(name: str, store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    """Repair one thing; returns what was done. UsageError: unknown name; DaemonRunning."""
    if name not in REPAIRS:
        raise UsageError(f"'{name[:40]}' is not a known repair", f"The repairs are: {', '.join(REPAIRS)}.")
    if (pid := holder(paths.lock)) is not None and name in ("rebuild", "stale-workspaces"):
        raise DaemonRunning(
            f"a daemon is running here (process {pid}), and a repair would change the daemon's data",
            "Stop the daemon with `nobrakes daemon stop`, then repair.",
        )
    return REPAIRS[name](store, git, paths)


def _needed(store: Opened) -> "Store":
    if isinstance(store, NobrakesError):
        raise store
    return store


def _counters(store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    return [f"{count(_needed(store).recount(), 'bead was', 'beads were')} recounted"]


def _rebuild(store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    from ..snapshot.service import rebuild, told

    if not isinstance(store, NobrakesError):
        store.close()
    return told(rebuild(paths, git))


def _repairs_workspaces(store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    there = _needed(store)
    if git is None:
        raise GitFailed("git does not work in this repository", "`nobrakes doctor` shows why.")
    known = {bead.id: bead for bead in there.beads()}
    lines = []
    for name in stale_workspaces(there, paths):
        if name.startswith(name_of(0)[:-1]):  # of a session that is gone: it has no work that could be archived
            forget_sessions(Trash(paths.trash), paths.agents, name)
            lines.append(f"removed the agent CLIs' files of {name}")
            continue
        bead = known.get(name) or Bead(name, name)
        git.retire(bead, bead.fence)
        forget_sessions(Trash(paths.trash), paths.agents, name)
        kept = ", ".join(ref for ref, _ in git.archived(name)) or "without new work"
        lines.append(f"the workspace {name} was archived ({kept}) and removed")
    return lines or ["there is no stale workspace"]


def _refs_of(store: Opened, git: "Git | None", paths: Paths) -> list[str]:
    if git is None:
        raise GitFailed("git does not work in this repository", "`nobrakes doctor` shows why.")
    found = [(one, git.restore(one)) for one in git.broken_refs(in_depth=True) if one.held_in]
    told = (f"{one.ref} is {'repaired' if done else 'still broken'}: {one.held_in}" for one, done in found)
    return list(told) or ["no workspace has the commit of a broken git ref"]


def stale_workspaces(store: "Store", paths: Paths) -> list[str]:
    """Closed beads with a workspace or an agent CLI's sessions."""
    names = {name for name in names_in(paths.workspaces) if os.path.isdir(os.path.join(paths.workspaces, name))}
    names = {name for name in names if BROKEN not in name}
    names |= agent_folders(paths.agents).keys()
    if not names:
        return []
    alive = {*store.listed(status for status in Status if status not in (*CLOSED, Status.DRAFT))}
    alive |= {name_of(session.id) for session in store.sessions()}
    return sorted(names - alive)


def names_in(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []


REPAIRS: dict[str, Callable[[Opened, "Git | None", Paths], list[str]]] = {
    "counters": _counters,
    "rebuild": _rebuild,
    "stale-workspaces": _repairs_workspaces,
    "refs": _refs_of,
    "compile": lambda store, git, paths: compile_package(),
}
NOT_TRIED = "not tested"
_Inspection = Callable[["_Patient"], Iterator[Finding]]


@frozen
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
    """Every finding, also good ones. An unopened store is a finding by its error. `misconfigured`: the mistake in
    config.toml while `config` is older. `here`: this process as starter of agents. `untried`: why main is not known to
    pass; empty: it passes."""
    if config is not None and config.sandbox.mode != "none":
        sandbox_trouble = _begun(sandbox_trouble)
    rest = wall_trouble, misconfigured, here, untried
    found: dict[_Inspection, list[Finding]] = {}
    try:
        if isinstance(store, NobrakesError):
            raise store
        patient = _Patient(store, git, paths, config, sandbox_trouble, *rest)
        found[_database] = list(_database(patient))
    except NobrakesError as error:  # also one that opens and lacks its tables
        patient = _Patient(None, git, paths, config, sandbox_trouble, *rest)
        found[_database] = [
            Finding("database", ERROR, f"{error}{_SAFE}", "rebuild")
            if isinstance(error, StoreBroken) and not isinstance(error, StoreNewer)
            else Finding("database", ERROR, error.whole)
        ]
    found |= {look: _found(look, patient) for look in _INSPECTIONS if look is not _database}
    once: dict[str, Finding] = {}
    for finding in (finding for look in _INSPECTIONS for finding in found[look]):
        once.setdefault(finding.text, finding)  # what keeps several looks from looking is told once
    return [*once.values()]


def or_none(open_it: "Callable[[], T]") -> "T | None":
    try:
        return open_it()
    except NobrakesError:
        return None


def opened_store(paths: Paths, open_it: "Callable[[], Store]") -> "Store | NobrakesError":
    """Never creates a missing database."""
    from ..db.database import missing

    if not os.path.lexists(paths.database):
        return missing(paths.database)
    try:
        return open_it()
    except NobrakesError as error:
        return error


def _found(look: "_Inspection", patient: _Patient) -> list[Finding]:
    found: list[Finding] = []
    try:
        for one in look(patient):
            found.append(one)
    except NobrakesError as error:
        found.append(Finding(look.__name__.lstrip("_"), ERROR, error.whole))
    return found


def _begun(question: Callable[[], str]) -> Callable[[], str]:
    """Starts the question in a thread; calling the result waits."""
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
    from ..config.setup import init

    try:
        partial = location.is_partial(patient.paths.root)
    except NobrakesError as error:
        yield Finding("git", ERROR, error.whole)
        return
    yield Finding("git", OK, f"git {'.'.join(map(str, command_line.version()))}")
    if partial:
        yield Finding("git", WARNING, "this is a partial clone, so nobrakes needs the remote to create a workspace")
    if for_git(patient.paths.folder).get(".gitignore") == IGNORED_BEFORE:
        text = "`git sparse-checkout set` can remove .nobrakes, because its .gitignore is outdated. Before that command"
        yield Finding("git", OK, f"{text}, type: nobrakes init; and commit .gitignore and .gitattributes in .nobrakes")
    if init.has_merge_driver(patient.paths) is False:
        yield Finding("git", WARNING, "git merges the graph line by line in this clone: nobrakes init --merge-driver")
    for text in init.told(patient.paths.root, patient.config) if patient.config else ():
        yield Finding("git", WARNING, text)


def _config(patient: _Patient) -> Iterator[Finding]:
    if patient.config is None:
        yield Finding("config", ERROR, "config.toml cannot be read: `nobrakes config --check` shows why")
        return
    if patient.misconfigured:
        yield Finding("config", ERROR, patient.misconfigured)
    else:
        yield Finding("config", OK, "config.toml is valid")
    yield from examine_machine(
        patient.config, patient.paths, patient.sandbox_trouble, patient.wall_trouble, patient.here
    )
    yield from notices_service.examine(patient.config.notify)
    yield from requests_service.examine(patient.store, patient.git, patient.paths, patient.config)


def _nodes(patient: _Patient) -> Iterator[Finding]:
    """What this machine needs for nodes, and whether the scheduler answers. Starts nothing."""
    config = patient.config
    if config is None or config.fleet.engine == "local":
        return
    from ..decisions.service.node_blockers import setup_blockers  # few repositories have nodes
    from ..fleet.model import is_key_open, known
    from ..fleet.service import reach_trouble

    setup = [as_finding("nodes", one) for one in setup_blockers(config, patient.sandbox_trouble)]
    yield from setup
    settings = config.fleet
    if is_key_open(settings):
        text = f"other accounts can read the TLS key {settings.key}: `chmod go= {shlex.quote(settings.key)}`"
        yield Finding("nodes", WARNING, text)
    if config.sandbox.mode == "none":
        yield Finding("nodes", WARNING, 'nodes can run code on this machine, because sandbox.mode is "none"')
    for name in ("read", "write"):
        if folders := getattr(config.sandbox, name):
            shown = ", ".join(folders)
            text = f"agents and checks on nodes do not see the folders of sandbox.{name}, which stay here: {shown}"
            yield Finding("nodes", WARNING, text)
    if setup:
        return
    found = known(patient.paths)
    if not found.is_known and (trouble := reach_trouble(settings)):
        yield Finding("nodes", ERROR, f"the scheduler {settings.scheduler} does not answer: {trouble}")
    elif not found.trouble or not found.is_known:
        about = f": {count(len(found.nodes), 'node')}" if found.is_known else "; `nobrakes fleet` shows its nodes"
        yield Finding("nodes", OK, f"the scheduler {settings.scheduler} answers{about}")
    for one in found.nodes if found.is_known else ():
        if one.why:
            yield Finding("nodes", WARNING, f"the node {one.name} gets no work: {one.why}")


_STATE_SECONDS = 120.0
"""Age after which changes should have been pushed."""


def _takeover(patient: _Patient) -> Iterator[Finding]:
    """Whether another machine could continue, and from when."""
    config = patient.config
    if config is None or patient.git is None:
        return
    found = config.fleet
    if not found.takeover_remote:
        text = "no other machine could continue this work: no remote is named for that (fleet.takeover_remote)"
        yield Finding("takeover", OK, text)
        return
    fence = cast("Repository", patient.git).fence
    assert fence is not None, "the settings name a place for states"
    if fence.lost():
        return  # the blockers say it
    at, now = fence.saved_at(), time.time()
    where = f"{found.takeover_remote} ({found.takeover_prefix})"
    if at is None:
        yield Finding("takeover", WARNING, f"the daemon has not pushed a state to {where} yet")
    elif now - at > _STATE_SECONDS and fence.is_behind(patient.paths.since):
        text = f"{where} lacks changes of the last {age(now - at)}: the daemon pushes them while it runs"
        yield Finding("takeover", WARNING, text)
    else:
        yield Finding("takeover", OK, f"another machine can take over from {where}, pushed {age(now - at)} ago")


def _main(patient: _Patient) -> Iterator[Finding]:
    if patient.git is None:
        return
    yield Finding("main", OK, f"main is at {patient.git.main()[:12]}")
    yield from _refs(patient.git)
    yield from _checkouts(patient.git)
    # what main carries and the database does not know: it went back, and the next start sets it right
    for text in unknown(patient.store, patient.git) if patient.store and patient.git else ():
        yield Finding("main", WARNING, text)
    yield from _fallen(patient)
    yield from _untried(patient)
    if archived := patient.git.archived():
        yield Finding("archive", OK, f"archived branches under refs/nobrakes/archive: {len(archived)}")


def _fallen(patient: _Patient) -> Iterator[Finding]:
    store, git, config = patient.store, patient.git, patient.config
    text = off_main_message(store, git, config) if store and git and config else ""
    if text:
        yield Finding("main", WARNING, text)
    for lost in lost_changes_messages(store, git) if store and git else ():
        yield Finding("main", ERROR, lost)


def _untried(patient: _Patient) -> Iterator[Finding]:
    """A red main is reported by _blockers."""
    if patient.store is None or patient.store.setting(FROZEN) is not None:
        return
    if text := patient.untried():
        yield Finding("main", WARNING, text)


def _blockers(patient: _Patient) -> Iterator[Finding]:
    """What keeps a run from starting, and what can never continue by itself."""
    if patient.store is None or patient.config is None:
        return
    for one in blockers(patient.store, patient.paths, patient.config).found:
        if (one.stops and one.kind is not Kind.NO_CHECK) or one.kind in _NAMES:  # the checks' own findings say that
            yield as_finding(_NAMES.get(one.kind, "run"), one)
    for one in requests_service.epic_circles(patient.store, patient.config):
        yield as_finding("epics", one)


_NAMES = {
    Kind.MAIN_RED: "main",
    Kind.NO_NODES: "nodes",
    Kind.TAKEN_OVER: "takeover",
    Kind.CHECKS_BROKEN: "checks",
    Kind.DAEMON_DEAD: "daemon",
    Kind.RUN_CUT_OFF: "daemon",
    Kind.CANCELLED_BLOCKER: "blocked",
    Kind.CANCELLED_PARENT: "blocked",
    Kind.EMPTY_EPIC: "epic",
}


def _refs(git: "Git") -> Iterator[Finding]:
    """Also incomplete refs. Those of present work are rebuilt when needed."""
    try:
        found = git.broken_refs(in_depth=True)
    except NobrakesError as error:
        yield Finding("refs", ERROR, f"git cannot read the refs: {error.whole}")
        return
    for one in found:
        text = f"the git ref {one.ref} is broken: {one.why}; "
        if one.ref.split("/")[2] in ("incoming", "candidate", "start"):
            yield Finding("refs", WARNING, f"{text}`nobrakes run` restores the ref from the workspace")
        elif one.held_in:
            yield Finding("refs", ERROR, f"{text}{'/'.join(one.held_in.split('/')[-2:])} still has the commit", "refs")
        else:
            lost = f"lost: {_named_by(one.ref)}; no workspace has it, so restore the ref from a copy of the repository"
            yield Finding("refs", ERROR, text + lost)


def _named_by(ref: str) -> str:
    _, _, kind, *rest = ref.split("/")
    if kind == "evidence":
        return "the evidence of merges up to this ref (`nobrakes verify` names each merge without evidence)"
    if kind != "archive" or len(rest) != 2:
        return "the commit of this ref"
    what = _ARCHIVED.get(rest[1].partition("-")[2].partition("-")[0], "was kept")
    return f"what {what} for {rest[0]}"


_ARCHIVED = {
    "branch": "was committed",
    "wip": "was not committed yet",
    "head": "was committed outside the branch",
    "incoming": "was handed in and then dropped",
}


def _checkouts(git: "Git") -> Iterator[Finding]:
    try:
        behind = git.behind()
    except NobrakesError as error:
        yield Finding("checkout", WARNING, f"cannot tell whether a checkout is behind main: {error}")
        return
    for text in behind:
        yield Finding("checkout", ERROR, text)


def _database(patient: _Patient) -> Iterator[Finding]:
    assert patient.store is not None, "without a database there is nothing to examine"
    damage = patient.store.damage()
    yield _soundness(damage or patient.store.wrong_counters(), bool(damage))
    found = patient.store.circles()
    for circle in found:
        yield Finding("deadlock", ERROR, _told(circle))
    if not found:
        yield Finding("deadlock", OK, "no beads wait for each other")


def _soundness(problems: list[str], is_damaged: bool) -> Finding:
    if not problems:
        return Finding("database", OK, "the database is intact, and its counters are correct")
    said = "; ".join(problems[:5]) + (f"; and {len(problems) - 5} more" if len(problems) > 5 else "")
    if is_damaged:
        return Finding("database", ERROR, said + _SAFE, "rebuild")
    return Finding("counters", ERROR, said, "counters")


def _told(circle: Circle) -> str:
    around = " -> ".join((*circle.members, circle.members[0]))
    cut = circle.cut
    if cut.type is DependencyType.PARENT_CHILD:
        mend = f'nobrakes edit {cut.bead} --epic ""'
    else:
        mend = f"nobrakes undepend {cut.bead} {cut.needs}"
    return f"{count(len(circle.stuck), 'bead')} can never start: {around} wait for each other; to fix: `{mend}`"


def _parked(patient: _Patient) -> Iterator[Finding]:
    """Owners of unexpected errors in nobrakes."""
    store = patient.store
    for one in store.escalations() if store is not None else ():
        if one.type is EscalationType.NOBRAKES_FAILED and store is not None:
            is_held = one.bead is not None and store.bead(one.bead).held is not None
            held = f", and the bead is held: `nobrakes release {one.bead}`" if is_held else ""
            what = one.bead or one.title.partition(":")[0]
            text = f"nobrakes itself failed on {what}: `nobrakes escalation {one.id}` shows the error{held}"
            yield Finding("parked", WARNING, text)


def _assignments(patient: _Patient) -> Iterator[Finding]:
    if (store := patient.store) is None:
        return
    pid = holder(patient.paths.lock)
    now = store.now()
    stale = [b for b in store.beads(WORKING) if b.lease_until is not None and b.lease_until < now]
    if stale:
        ids = ", ".join(b.id for b in stale[:10])
        what = "the daemon is running but slow" if pid else "`nobrakes run` continues the work"
        yield Finding("leases", WARNING, f"the agents on {ids} have not reported for too long; {what}")
    yield Finding("daemon", OK, f"a daemon is running (process {pid})" if pid else "no daemon is running")


def _workspaces(patient: _Patient) -> Iterator[Finding]:
    if patient.store is None:
        return
    for name in stale_workspaces(patient.store, patient.paths):
        text = f"the workspace or sessions of {name} belong to no live bead; a repair archives and removes them"
        yield Finding("workspaces", WARNING, text, "stale-workspaces")
    for name in names_in(patient.paths.workspaces):
        if BROKEN in name:
            text = f"workspaces/{name} was moved away, because its files could not be archived: inspect it"
            yield Finding("workspaces", WARNING, text)
    for one in Trash(patient.paths.trash).left():
        if one.why:
            text = f"{one.path} cannot be removed: {one.why}; its remaining files are in {one.at}"
            yield Finding("trash", WARNING, text)


_INSPECTIONS: tuple[_Inspection, ...] = (
    _git,
    _privacy,
    _config,
    _nodes,
    _takeover,
    _main,
    _database,
    _blockers,
    _parked,
    _assignments,
    _workspaces,
    _installation,
    _place,
)
