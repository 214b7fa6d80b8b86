"""The one place where real doors are chosen: a repository's .nobrakes, opened."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING, cast

from .errors import ConfigError, NobrakesError, NoSandbox, NotAllowed, NotARepository, NotInitialised
from .paths import FOLDER, Paths, find, process_environment, repository_root

if TYPE_CHECKING:
    from .beads.model import Bead
    from .config.settings import Config
    from .daemon.model import Board
    from .daemon.worker.loop import Daemon, View
    from .decisions.service.all_blockers import Blockers, Here
    from .events.service import Exporter
    from .features.service.shaping import Words
    from .files import InPlace
    from .fleet.service import Nodes
    from .git.port import Argv, Git
    from .git.repository import Repository
    from .host.channel import FolderChannelServer
    from .host.port import Background, Notifier, Processes
    from .ports import Ports
    from .requests.hosts.port import IssueTracker, PullPorts
    from .review.service.merges import Run
    from .review.service.undo import Undone
    from .sandbox.closure import Closure
    from .snapshot.worker import States, StateSaver
    from .store import Store

SEEN_BY_CHILDREN = (
    *("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "SSL_CERT_DIR", "SSL_CERT_FILE", "TERM", "TMPDIR", "TZ", "USER"),
)
"""Environment of agents and checks, beside LC_*; agents also get what the config names."""


class App:
    """A repository with nobrakes in it. Ports open at first use; `close` closes them."""

    def __init__(self, paths: Paths, is_reading: bool = False, is_home: bool = False) -> None:
        self.paths = paths
        self.is_home = is_home  # the person's own, which belongs to no repository
        self.is_reading = is_reading
        self.misconfigured = ""

    @cached_property
    def config(self) -> "Config":
        """Raises ConfigError; reading commands get defaults and the message instead."""
        from .config.settings import load, load_for_reading

        if not self.is_reading:
            return load(self.paths.config)
        found, self.misconfigured = load_for_reading(self.paths.config)
        if self.misconfigured:
            _note(self.misconfigured)
        return found

    @cached_property
    def store(self) -> "Store":
        """The database, created if missing; changes are also written beside it."""
        from .files import keep_private
        from .snapshot import log
        from .store import open_store

        if os.environ.get("NOBRAKES_DOOR"):
            raise NotAllowed("a sandboxed agent can access only its own bead", "`nobrakes agent bead` shows the bead.")
        if not os.path.lexists(self.paths.database) and not is_agent():
            from .snapshot.service import make_missing

            make_missing(self.paths, self.git, _note)
        keep_private(self.paths.folder)
        store = open_store(self.paths.database)
        log.attach(store, self.paths, _note, lambda: self.git)
        if self.is_reading:
            store.keep_answers()  # several parts of a page ask the same
        return store

    @property
    def is_copy(self) -> bool:
        """Whether a copy of the database was read, since its folder is not writable."""
        return "store" in self.__dict__ and self.store.is_copy

    @cached_property
    def git(self) -> "Git":
        from .git.repository import open_git

        return open_git(self.paths, self.config, self._confine, lambda: self.in_place())

    @cached_property
    def states(self) -> "States | None":
        """What pushes this work's state for another machine; None: the settings name no place for it."""
        if not self.config.fleet.takeover_remote:
            return None
        from .git.repository import open_git
        from .snapshot.worker import States

        git = open_git(self.paths, self.config, None, lambda: self.in_place())
        return States(self.paths, git, self.config.review.land == "local")

    @cached_property
    def in_place(self) -> "InPlace":
        from .files import InPlace

        return InPlace(f"{self.paths.root}/.git", self.paths.database)

    def _confine(self, argv: "Argv") -> "Argv":
        from .sandbox import closure

        if trouble := self.sandbox_trouble():
            raise NoSandbox(f"git filters run only in a sandbox, and bubblewrap does not work here: {trouble}")
        return closure.filter_wrap(argv)

    @cached_property
    def pulls(self) -> "PullPorts | None":
        """The code host for requests; None: work does not land by them. Raises ConfigError."""
        if not self.config.review.by_request:
            return None
        from .requests.service import ports_of as code_host_ports_of

        return code_host_ports_of(self.paths, self.config)

    def issues(self, repository: str = "") -> "IssueTracker":
        """A repository's at GitHub; empty: of the one that the settings name, or the remote. Raises ConfigError."""
        from .requests.service import issue_tracker

        return issue_tracker(self.paths, self.config, repository)

    @cached_property
    def processes(self) -> "Processes":
        from .host.runs.processes import LocalProcesses

        return LocalProcesses(self.paths.wake, lambda: self.in_place())

    @cached_property
    def notifier(self) -> "Notifier":
        from .notices.senders import NOTIFIERS

        return NOTIFIERS["stdout"]()

    def check_agents(self) -> None:
        """ConfigError for an unknown agent in the config."""
        from . import extras
        from .agents.known import ADAPTERS, named_agents

        for key, name in named_agents(self.config):
            if name not in ADAPTERS:
                raise ConfigError(
                    f"{os.path.relpath(self.paths.config)}: {key}: unknown agent '{name[:40]}'",
                    f"Use one of: {', '.join(sorted(ADAPTERS))}. `script` runs any command.",
                )
            extras.need_of_agent(name)
        extras.need_of_engine(self.config.fleet.engine)

    def environment(self) -> Mapping[str, str]:
        return {k: v for k, v in process_environment().items() if k in SEEN_BY_CHILDREN or k.startswith("LC_")}

    def sandbox_trouble(self) -> str:
        """Why bubblewrap does not work here; empty: it does. Tested once."""
        return self._sandbox_trouble

    @cached_property
    def _sandbox_trouble(self) -> str:
        from .host.versions import probing_trouble
        from .sandbox import system_paths

        return system_paths.platform_trouble() or probing_trouble(
            system_paths.argv(self.paths.root, self.environment())
        )

    def wall_trouble(self) -> str:
        """Why Landlock does not work here; empty: it does. Tested once."""
        return self._wall_trouble

    @cached_property
    def _wall_trouble(self) -> str:
        from .host.versions import probing_trouble
        from .sandbox import closure

        return closure.platform_trouble() or probing_trouble(closure.probe(self.paths.root))

    @cached_property
    def nodes(self) -> "Nodes":
        from .fleet.service import Nodes

        def confined(argv: "Argv", closure: "Closure") -> "Argv":
            from .host.confine import Confined

            return Confined(closure, folder=closure.workspace).wrap(argv)

        return Nodes(self.paths, lambda: self.config, self.environment(), self.sandbox_trouble, confined)

    def close(self) -> None:
        if "store" in self.__dict__:
            self.store.close()

    def __enter__(self) -> "App":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_agent() -> bool:
    return any(name in os.environ for name in ("NOBRAKES_TOKEN", "NOBRAKES_RUN"))


def _note(text: str) -> None:
    sys.stderr.write(f"note: {text}\n")


def _keep_up(paths: Paths) -> None:
    """Write what agents filed beside the database too (snapshot.log), for people."""
    with App(paths) as app:
        assert app.store, "opening the store imports what agents filed"


def open_app(start: str | None = None, is_reading: bool = False) -> App:
    return App(located(start), is_reading)


def located(start: str | None = None) -> Paths:
    """The .nobrakes folder for `start` (default: the current folder). Raises NotARepository, NotInitialised."""
    if (paths := find(start)) is None or not (os.path.lexists(paths.tracked_config) or is_agent()):
        here = start or os.getcwd()
        if (root := repository_root(here)) is None:
            raise NotARepository(f"{here} is not in a git repository")
        from .git import persons

        paths = Paths(os.path.join(root, FOLDER))
        if not persons.find(paths):
            raise NotInitialised("nobrakes is not set up in this repository yet")
    return paths


def ports_of(app: App, notifier: "Notifier", store: "Store | None" = None) -> "Ports":
    """The app's real ports for the daemon; `store` replaces the repository's database."""
    from .agents.adapter import guard_argv
    from .agents.known import adapter
    from .agents.worker.launch import Adapters, NewTroubles
    from .config.settings import ConfigSource
    from .daemon.service import control
    from .git import persons
    from .git.location import Place
    from .host.command import LocalZone, ThreadBackground, steady
    from .host.messages import ChildChannels
    from .host.port import Notice
    from .host.versions import Modules
    from .machine.web_state import SharedMachine
    from .ports import Ports

    def tell(text: str) -> None:
        notifier.tell(Notice(text, urgent=True))

    def words() -> "Words":
        from .features.service.shaping import Words

        return Words(facts)

    facts = app.store if store is None else store
    source = ConfigSource(partial(persons.follow, app.paths, app.git), app.config, tell)
    background = ThreadBackground()
    adapters = Adapters(adapter, app.paths, source, app.environment().get("PATH"))
    return Ports(
        store=facts,
        git=app.git,
        processes=app.processes,
        notifier=notifier,
        background=background,
        paths=app.paths,
        config=source,
        limits=lambda: control.daemon_limits(facts, source()),
        adapter=adapters,
        channels=ChildChannels(lambda: source().notify, app.paths.root),
        zone=LocalZone,
        on_nodes=lambda board: _on_nodes(app, source(), board),
        degraded=NewTroubles(lambda: [*adapters.degraded(), *_node_troubles(app, source())]),
        start_trouble=adapters.trouble,
        git_trouble=Place(app.paths.root, "").trouble,
        environment=app.environment(),
        credentials=process_environment(),
        sandbox_trouble=app.sandbox_trouble,
        wall_trouble=app.wall_trouble,
        channel=_agent_channel(app.paths, tell),
        steady=steady,
        modules=Modules(app.paths.root).of,
        machine=SharedMachine(app.paths.root, facts.now, tell),
        in_place=app.in_place,
        guard=guard_argv(),
        pulls=app.pulls,
        issues=app.issues,
        words=words,
        states=_saver(app, background, notifier),
        export=_export(facts, app.paths.root, lambda: source().events.export, tell),
    )


def _saver(app: App, background: "Background", notifier: "Notifier") -> "StateSaver | None":
    if app.states is None:
        return None
    from .snapshot.worker import StateSaver

    return StateSaver(app.states, background, notifier)


def _on_nodes(app: App, config: "Config", board: "Board") -> "Board":
    if config.fleet.engine == "local":
        return board
    from .decisions.service.node_blockers import on_nodes

    return on_nodes(board, app.nodes.look(), config.fleet)


def _node_troubles(app: App, config: "Config") -> list[str]:
    if config.fleet.engine == "local":
        return []
    from .decisions.service.node_blockers import node_blocker

    found = app.nodes.look()
    why = node_blocker(found, config.fleet)
    return app.nodes.troubles(found, f"{why.what}. `nobrakes fleet` shows the nodes" if why else "")


def _export(store: "Store", root: str, path: Callable[[], str], tell: Callable[[str], None]) -> Callable[[], None]:
    """Update the file of public events, if the settings name one."""

    @cache
    def exporter() -> "Exporter":
        from .events.service import Exporter

        return Exporter(store, root, path, tell)

    return lambda: exporter().turn() if path() else None


def _agent_channel(paths: Paths, tell: Callable[[str], None]) -> "FolderChannelServer":
    """The server for agents in a sandbox, with the functions that others call directly."""
    from .host.channel import FolderChannelServer
    from .trash import Trash

    def answer(owner: str, request: bytes | None) -> bytes:
        from .agents.db.channel_answers import reply
        from .agents.service.own_work import CALLS

        return reply(paths.database, partial(_keep_up, paths), CALLS, owner, request)

    return FolderChannelServer(paths.ports, Trash(paths.trash), answer, tell)


def open_daemon(app: App, notifier: "Notifier | None" = None) -> "Daemon":
    """A daemon on the app's real ports; the caller holds its lock. Hindered if we would run agents' code."""
    from . import extras
    from .agents.known import adapter
    from .daemon.service.control import UNSIGNED, untold
    from .daemon.worker.loop import Daemon
    from .decisions.service.all_blockers import Blockers, code_blockers
    from .host import command
    from .host.port import Notice

    Blockers(tuple(code_blockers(app.paths.root))).require(app.store.now())
    for name in app.config.agents.agent_choice().names():
        adapter(name)
        extras.need_of_agent(name)
    extras.need_of_engine(app.config.fleet.engine)
    if app.states is not None:
        app.states.require()
    command.install(app.paths)
    app.store.keep_answers()
    people = notifier or app.notifier
    for text in untold(app.store, app.paths.root, app.config.checks):
        people.tell(Notice(text))
    signer = cast("Repository", app.git).signer  # what signs now and cannot later leaves no commit unsigned
    unsigned = signer.unsigned(app.config.review.land)
    again = "The daemon tested signing when it started. `nobrakes doctor` tests again; then restart the daemon"
    app.store.set_setting(UNSIGNED, f"{unsigned}. {again}" if unsigned else None)
    if unsigned:
        people.tell(Notice(unsigned, urgent=True))
    return Daemon(ports_of(app, people), tries_main=True)


def try_main(app: App, tell: Callable[[str], None]) -> tuple[bool, list[str]]:
    """Check main's tip: (whether it passes, messages with commands). Raises NoMain."""
    from .checks.contract import CheckOutcome, overall, setup_failed
    from .checks.proof import advice, passed
    from .review.worker.main_checks import Proving, said_of

    results = Proving(ports_of(app, app.notifier), tell).tried(app.git.main())
    if overall(results) is CheckOutcome.PASS:
        return True, [passed(results)]
    what = "the checks could not run on main" if setup_failed(results) else "main fails its checks"
    return False, [what, *said_of(results), *advice(results, app.config.contract())]


def untried(app: App) -> str:
    """Why main's tip is not known to pass, with the command to type; empty: it passed. Runs nothing."""
    from .checks.worker.validation import Validation

    if not app.config.checks:
        return ""
    try:
        main = app.git.main()
        tree = app.git.tree(main)
        passed = Validation(ports_of(app, app.notifier)).recorded(tree)
        why = "; main passed only with other checks or in another environment (PATH, LANG and similar variables)"
        otherwise = why if passed is None and app.store.passed_otherwise(tree) else ""
    except NobrakesError:
        return ""  # the doctor says it of its own accord
    tried = "`nobrakes init --trial` runs the checks now; otherwise `nobrakes run` runs them first"
    return "" if passed is not None else f"main at {main[:12]} is not known to pass its checks{otherwise}: {tried}"


def undo(app: App, actor: str, seq: int | None, tell: Callable[[str], None]) -> "Undone":
    """Undo the last step, or that of event `seq`; a merge only when its checks pass, which `tell` reports."""
    from .review.service import undo as review_undo

    def prove(commit: str) -> None:
        from .review.worker.main_checks import Proving

        tell(f"checking the revert commit {commit[:12]}")
        Proving(ports_of(app, app.notifier), tell).prove(commit)

    def keep(bead: "Bead", base: str, commit: str) -> None:
        from .checks.worker.validation import Validation
        from .review.worker.chain import Evidence

        ports = ports_of(app, app.notifier)
        Evidence(ports).taken_back(bead, base, commit, "undo", actor, Validation(ports).contract())

    return review_undo.undo(app.store, app.git, actor, seq, app.paths, prove, keep, app.config.review.by_request)


def rerun(app: App, tell: Callable[[str], None]) -> "Run":
    from .review.worker.main_checks import Proving
    from .store import open_memory

    return Proving(ports_of(app, app.notifier, open_memory()), tell).again


def serve(app: App, view: "View", *, until_idle: bool, notifier: "Notifier | None" = None) -> "Board":
    from .daemon.worker import service as daemon_service

    return daemon_service.serve(lambda: open_daemon(app, notifier), view, until_idle=until_idle)


def here(app: App) -> "Here":
    """This process, for starting agents."""
    from .decisions.service.all_blockers import Here

    def in_main(path: str) -> bool:
        try:
            return path in app.git.paths(app.git.main())
        except NobrakesError:
            return False

    assert app.config, "reading the settings reports mistakes"
    environment, troubles = app.environment(), (app.sandbox_trouble, app.wall_trouble)
    return Here(environment, process_environment(), in_main, *troubles, app.misconfigured)


def blockers(app: App, red_main: bool = False) -> "Blockers":
    from .decisions.service.all_blockers import blockers as look

    return look(app.store, app.paths, app.config, here(app), red_main)
