"""Confinement of a run: the sandbox of its workspace by the settings, put around its commands at the last moment.

1. Where no sandbox works, `auto` continues without, and the daemon reports and records it; `bubblewrap` starts nothing.
2. The repository, its git folder, nobrakes' state and the person's own place are hidden, whatever the settings.
3. nobrakes' own programs (making a clone) run outside; the project's and agents' inside.
4. Without a sandbox runs are behind Landlock where it works: they write only their own places.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from ..agents.adapter import Launch, host_of
from ..config import user
from ..config.sections import AgentSettings
from ..errors import NO_SANDBOX, NO_WALL, NoSandbox
from ..files import private_folder
from ..git.port import Argv, Workspace
from ..ports import Ports
from ..programs import SPEC
from ..programs import program as own_program
from ..records import copied, frozen
from ..sandbox import closure
from ..sandbox.closure import Bounds, Closure, Laid, Machine, Wall, lies_in
from ..sandbox.system_paths import HOME, NO_USER_SITE, caches, kept, machine, named_files, program, steady, variables
from .port import Login, Step

_PROXY = os.path.join(os.path.dirname(__file__), "proxy.py")
REFUSED = "network.refused"
"""In a run's folder: refused hosts, a line each."""
OWN = "own"
"""The part of a run's folder that its agent may write."""
CACHES = os.path.join(".git", "nobrakes-cache")
"""In a workspace: the tools' caches, removed with it."""
TEMPORARY = "tmp"


@frozen
class Confined:
    """Wraps one run's commands; without closure and wall it does nothing. `folder` is the run's."""

    closure: Closure | None = None
    wall: Wall | None = None
    folder: str = ""
    spec: bytes = b""  # of a run on a node (fleet.on_node)

    def wrap(self, argv: Argv, alone: bool = False, is_last: bool = False) -> Argv:
        """The confined command. `alone`: without network; `is_last`: of a run on a node, whose work comes back then."""
        if self.spec:
            how = "last" if is_last else "alone" if alone else ""
            return own_program("remote", os.path.join(self.folder, SPEC), how, "--", *argv)
        if self.wall is not None:
            return closure.wall_wrap(argv, self.wall)
        if self.closure is None:
            return argv
        words = closure.wrap(argv, self.closure)
        if alone or not self.closure.hosts:
            return words
        return self._proxied(words)

    @property
    def files(self) -> dict[str, bytes]:
        """What must lie in the run's folder."""
        return {SPEC: self.spec} if self.spec else {}

    def closing(self) -> tuple[Step, ...]:
        """The step that ends a run on a node; without one, its last command does."""
        return (
            (Step("close", own_program("remote", os.path.join(self.folder, SPEC), "close", "--")),) if self.spec else ()
        )

    @property
    def is_apart(self) -> bool:
        """Whether it has a network of its own."""
        return self.closure is not None and self.closure.network != "open"

    def serving(self, argv: Argv, port: int, workspace: str) -> Argv:
        """The confined command that serves people at this port of the loopback, as long as its workspace is there."""
        if self.closure is None or not self.is_apart:
            return self._proxied(self.wrap(argv), f"0:{workspace}")
        return self._proxied(closure.wrap(argv, replace(self.closure, is_serving=True)), f"{port}:{workspace}")

    def _proxied(self, words: Argv, serves: str = "") -> Argv:
        hosts = "" if self.closure is None else ",".join(self.closure.hosts)
        log = os.path.join(self.folder, REFUSED)
        return (sys.executable, "-I", "-S", _PROXY, log, hosts, serves, "--", *words)


class Confinement:
    """Decides by settings and machine how runs are confined."""

    def __init__(self, ports: Ports, travels: bool = False) -> None:
        """`travels`: its runs may go to nodes (fleet)."""
        self.ports = ports
        self._travels = travels

    def is_remote(self) -> bool:
        return self._travels and self.ports.config().fleet.engine != "local"

    def why_not(self) -> str:
        """Why agents and checks run without a sandbox; empty: with one. Raises NoSandbox if one is required."""
        if self.is_remote():
            return ""  # of the node: one without gets no work
        mode = self.ports.config().sandbox.mode
        if mode == "none":
            return 'the setting sandbox.mode is "none"'
        trouble = self.ports.sandbox_trouble()
        if trouble and mode == "bubblewrap":
            raise NoSandbox(NO_SANDBOX.format(trouble))
        return trouble

    def why_open(self) -> str:
        """Why unsandboxed runs have no wall; empty: they have. Raises NoSandbox if one is required."""
        setting = self.ports.config().sandbox.wall
        if setting == "none":
            return 'the setting sandbox.wall is "none"'
        trouble = self.ports.wall_trouble()
        if trouble and setting == "landlock":
            raise NoSandbox(NO_WALL.format(trouble))
        return trouble

    def nothing(self) -> str:
        """Why runs are unconfined; empty: they are confined. Raises NoSandbox."""
        why_not = self.why_not()
        why_open = self.why_open() if why_not else ""
        return f"{why_not}, and {why_open}" if why_open else ""

    def agent(
        self,
        run: str,
        workspace: str,
        folder: str,
        launch: Launch,
        lent: Sequence[str] = (),
        laid: Laid | None = None,
        made: Workspace | None = None,
    ) -> Confined:
        """An agent's confinement; makes its channel. `lent`: object folders of another repository. `laid`: the
        workspace is a person's checkout, with this over it. `made`: the workspace, if the run may go to a node."""
        if self.nothing():
            return Confined()
        paths = self.ports.paths
        own = (os.path.join(folder, OWN), *launch.writes)
        for path in launch.writes:
            private_folder(path)
        door = self.ports.channel.begin(run, [_login(source, place, own) for source, place in launch.login])
        if self.is_remote():
            return self._on_node(run, workspace, folder, launch, own, door, made)
        if self.why_not():
            mine = (workspace, os.path.join(door, "in"), *own)
            words = (
                ("NOBRAKES_DOOR", door),
                ("NOBRAKES_SANDBOX", "landlock"),
                *caches(os.path.join(workspace, CACHES), launch.env, self._written()).items(),
                *launch.confined.items(),
            )
            return self._walled(mine, folder, words)
        known = machine(launch.env)
        names = (launch.argv[0], *launch.programs)
        programs = [path for name in names for path in program(name, launch.env, known.home)]
        named = [
            path
            for path in (*programs, *named_files(launch.argv))
            if not any(lies_in(path, folder) for folder in (*known.system, *known.programs))
            and not any(lies_in(os.path.realpath(path), private) for private in self._private())
        ]
        inner = (os.path.join(folder, "prompt.md"), os.path.join(paths.folder, "bin"), os.path.join(door, "out"))
        return self._confined(
            workspace,
            folder,
            known,
            hosts=launch.hosts,
            environment=(("NOBRAKES_DOOR", door), ("NOBRAKES_SANDBOX", "bubblewrap"), *launch.confined.items()),
            inner=tuple(dict.fromkeys((*inner, *named, *lent))),
            own=(os.path.join(door, "in"), *own),
            laid=laid,
        )

    def _on_node(
        self,
        run: str,
        workspace: str,
        folder: str,
        launch: Launch,
        own: tuple[str, ...],
        channel: str,
        made: Workspace | None,
    ) -> Confined:
        from ..fleet.model import spec_of, view_of  # most repositories have no nodes

        assert made is not None, "only runs with a workspace of their own go to nodes"
        has_all_files = made.is_kept or self._needs_all_files(made.prologue)
        tools = os.path.join(self.ports.paths.folder, "bin")
        view = view_of(
            self.ports.config().sandbox,
            workspace,
            names=(launch.argv[0], *launch.programs),
            inner=(os.path.join(folder, "prompt.md"), tools, os.path.join(channel, "out")),
            own=(os.path.join(channel, "in"), *own),
            environment=(("NOBRAKES_DOOR", channel), ("NOBRAKES_SANDBOX", "bubblewrap"), *launch.confined.items()),
            hosts=launch.hosts,
        )
        spec = spec_of(self.ports, "agent", run, folder, made.commits, view, has_all_files, channel)
        return Confined(folder=folder, spec=spec)

    def _needs_all_files(self, prologue: Sequence[Argv]) -> bool:
        """Whether a node cannot make the workspace's files of its commit alone: submodules or filters made some."""
        return len(prologue) > 1 or bool(self.ports.config().git.filters)

    def check(
        self,
        checkout: str,
        folder: str,
        read: tuple[str, ...] = (),
        commit: str = "",
        prologue: Sequence[Argv] = (),
        reports: Sequence[tuple[str, str]] = (),
    ) -> Confined:
        """The confinement of a validation or red proof of `commit`, which may read these folders of its run.
        `prologue` makes the checkout; `reports`: (directory, glob) of files that a node sends back."""
        if self.is_remote():
            from ..fleet.model import spec_of, view_of

            view = view_of(self.ports.config().sandbox, checkout, inner=read)
            is_whole = self._needs_all_files(prologue)
            name = os.path.basename(folder)
            spec = spec_of(self.ports, "check", name, folder, (commit,), view, is_whole, reports=reports)
            return Confined(folder=folder, spec=spec)
        if self.nothing():
            return Confined()
        if self.why_not():
            home = self.home(folder)
            return self._walled((checkout, home) if home else (checkout,), folder)
        return self._confined(checkout, folder, machine(self.ports.environment), inner=read)

    def home(self, folder: str) -> str:
        """The home to be made for a run of checks; empty: none, or in the sandbox's memory."""
        is_private = self.ports.config().sandbox.home == "private"
        return os.path.join(folder, HOME) if is_private and self.why_not() else ""

    def environment(self, folder: str) -> dict[str, str]:
        environment = dict(self.ports.environment)
        if home := self.home(folder):
            return {**environment, **variables(home, environment, None if self.nothing() else self._written())}
        return environment if self.ports.config().sandbox.home == "own" else {**environment, **NO_USER_SITE}

    def seen(self) -> dict[str, str]:
        """The common part of all checks' environments."""
        environment = dict(self.ports.environment)
        return environment if self.ports.config().sandbox.home == "own" else steady(environment)

    def _walled(self, own: tuple[str, ...], folder: str, environment: tuple[tuple[str, str], ...] = ()) -> Confined:
        private = (*self._territory(), *kept(self.ports.environment))
        return Confined(wall=Wall(private, (*own, *self._written()), os.path.join(folder, TEMPORARY), environment))

    def _territory(self) -> tuple[str, ...]:
        return self.ports.paths.root, self.ports.paths.folder, *self.ports.git.territory(), *user.folders()

    def _written(self) -> tuple[str, ...]:
        paths = self._let_in("write", self.ports.config().sandbox.write, self._territory())
        return tuple(sorted({os.path.realpath(path) for path in paths}))

    def _private(self) -> tuple[str, ...]:
        return self.ports.paths.folder, os.path.dirname(self.ports.git.lent()[0]), *user.folders()

    def _confined(
        self,
        workspace: str,
        folder: str,
        known: Machine,
        *,
        hosts: tuple[str, ...] = (),
        environment: tuple[tuple[str, str], ...] = (),
        inner: tuple[str, ...] = (),
        own: tuple[str, ...] = (),
        laid: Laid | None = None,
    ) -> Confined:
        settings = self.ports.config().sandbox
        is_narrow = settings.network == "provider"
        lent = self.ports.git.lent()
        hidden = (self.ports.paths.root, *self._private())
        closure = Closure(
            workspace,
            known,
            hidden=hidden,
            inner=(*(path for path in lent if os.path.isdir(path) and not _is_laid(path, laid)), *inner),
            own=own,
            laid=laid,
            read=self._let_in("read", settings.read, self._private()),
            write=self._let_in("write", settings.write, hidden),
            environment=environment,
            network=settings.network,
            hosts=tuple(dict.fromkeys((*map(host_of, hosts), *settings.hosts))) if is_narrow else (),
            bounds=copied(Bounds, settings),
        )
        return Confined(closure, folder=folder)

    def _let_in(self, name: str, paths: tuple[str, ...], forbidden: tuple[str, ...]) -> tuple[str, ...]:
        found = []
        for path in paths:
            whole = os.path.normpath(os.path.expanduser(path))
            real = os.path.realpath(whole)
            inside = any(lies_in(real, secret) for secret in forbidden)
            if inside or (name == "write" and any(lies_in(secret, real) for secret in forbidden)):
                raise NoSandbox(
                    f"sandbox.{name} names {path}, which contains the repository or nobrakes' own files",
                    "Name another folder in .nobrakes/config.toml.",
                )
            found += [whole, real]
        return tuple(path for path in dict.fromkeys(found) if os.path.exists(path))


def _is_laid(path: str, laid: Laid | None) -> bool:
    return laid is not None and any(lies_in(path, where) for _, where in laid.over)


def _login(source: str, place: str, own: tuple[str, ...]) -> Login:
    top = next(path for path in own if lies_in(place, path))
    return Login(source, top, os.path.relpath(place, top))


def describe(why_not: str, nothing: str, agents: AgentSettings) -> str:
    """The message about the confinement of agents and checks."""
    if nothing:
        return f"{closure.describe(agents.agent_choice().names(), agents)} The reason: {nothing}."
    if why_not:
        return f"{closure.wall_describe()} The reason: {why_not}."
    return "agents and checks run in a sandbox (bubblewrap): they see their workspace and the machine's programs"
