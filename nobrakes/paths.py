"""Where things are: the .nobrakes folder and its contents. Imports `os` and `sys` only: hooks and hot commands use it.

1. One graph a repository: a linked worktree uses its main worktree's .nobrakes, although it has a copy of the tracked
   settings; a bare repository has it inside; one in a subfolder is ignored.
2. Agents get NOBRAKES_HOME and never search.
"""

import os
import sys

TYPE_CHECKING = False  # `ready` imports this: nothing that costs
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

PACKAGE = os.path.dirname(os.path.abspath(__file__))
GIT_RULES = (".gitattributes", ".gitmodules", ".lfsconfig")
"""Git's own rules are refused without a question (checks.policy.boundaries)."""
HOOKS = ("reference-transaction", "pre-push", "pre-rebase")
FOLDER = ".nobrakes"
AGAIN = ".again"


class _Below:
    """A path below the folder."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __get__(self, paths: "Paths", kind: type) -> str:
        return os.path.join(paths.folder, *self._names)


class Paths:
    """The paths below one .nobrakes folder."""

    __slots__ = ("folder",)

    database = _Below("nobrakes.db")
    tracked_config = _Below("config.toml")  # the checkout's; missing in a sparse cone or another branch
    kept_config = _Below("config.main.toml")  # main's settings, for a checkout without them
    judged = _Below("config.checked")  # the validated settings (config.settings)
    snapshot = _Below("beads.jsonl")
    since = _Below("beads.since.jsonl")
    synced = _Below("beads.synced.jsonl")  # a file of Beads at its last sync (plans.beads_file)
    runs = _Below("runs")  # one folder a child process: prompt, logs, exit codes
    wake = _Below("wake")  # the only folder that the daemon watches: touching a file here wakes it
    workspaces = _Below("workspaces")
    previews = _Below("previews")  # one folder a bead whose server people tried
    relays = _Below("relays")
    scratch = _Below("scratch")
    hooks = _Below("bin", "hooks")  # git's hooks of all workspaces; read-only for agents
    agents = _Below("agents")  # one folder an agent CLI, with a bead's sessions below; and the CLIs' abilities
    ports = _Below("doors")  # one folder a confined agent, with its requests and answers
    temporary = _Below("tmp")  # the daemon's temporary files, out of agents' reach
    trash = _Below("trash")
    request_lock = _Below("requests.lock")  # locked while a command runs, one byte for each key
    takeover_lock = _Below("takeover.lock")  # locked while this machine pushes to where another one may take over
    lock = _Below("daemon.lock")  # the daemon holds it (flock), with its pid inside
    daemon_log = _Below("daemon.log")

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def root(self) -> str:
        """The main worktree, or the bare repository."""
        return os.path.dirname(self.folder)

    @property
    def config(self) -> str:
        """The checkout's settings, else the stored ones of main (git.persons)."""
        tracked, kept = self.tracked_config, self.kept_config
        return tracked if os.path.lexists(tracked) or not os.path.lexists(kept) else kept

    def config_is_new(self) -> bool:
        """Whether the settings changed since their last validation. False for agents and checks, which see none."""
        if "NOBRAKES_TOKEN" in os.environ or "NOBRAKES_RUN" in os.environ:
            return False
        try:
            return os.stat(self.config).st_ctime_ns > os.stat(self.judged).st_mtime_ns
        except OSError:
            return True


def typed_in(root: str, command: str) -> str:
    """The command as people type it in any folder."""
    from shlex import quote

    return f"cd {quote(root)} && {command}"


def _common_git_dir(dot_git: str) -> str | None:
    if os.path.isdir(dot_git):
        return dot_git
    try:
        with open(dot_git, encoding="utf-8", errors="surrogateescape") as file:
            first = file.readline().strip()
    except OSError:
        return None
    if not first.startswith("gitdir:"):
        return None
    git_dir = os.path.join(os.path.dirname(dot_git), first[len("gitdir:") :].strip())
    try:
        with open(os.path.join(git_dir, "commondir"), encoding="utf-8", errors="surrogateescape") as file:
            return os.path.normpath(os.path.join(git_dir, file.readline().strip()))
    except OSError:
        return os.path.normpath(git_dir)


def git_folder(root: str) -> str | None:
    dot_git = os.path.join(root, ".git")
    if os.path.lexists(dot_git):
        return _common_git_dir(dot_git)
    return root if _is_bare(root) else None


def repository_root(start: str) -> str | None:
    folder = os.path.realpath(start)
    while True:
        dot_git = os.path.join(folder, ".git")
        if os.path.lexists(dot_git):
            if (common := _common_git_dir(dot_git)) is None:
                return None
            if os.path.basename(common) == ".git":
                return os.path.dirname(common)
            # a submodule's git folder lies in the outer repository; a bare one is its own place
            if os.path.isfile(os.path.join(common, "commondir")) or not _is_bare(common):
                return folder
            return common
        if _is_bare(folder):
            return folder
        if (parent := os.path.dirname(folder)) == folder:
            return None
        folder = parent


def _is_bare(folder: str) -> bool:
    if not (os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects"))):
        return False
    try:
        with open(os.path.join(folder, "config"), encoding="utf-8", errors="surrogateescape") as file:
            return "bare=true" in file.read().replace(" ", "").replace("\t", "").lower()
    except OSError:
        return False


def territory(start: str | None = None) -> tuple[str, ...]:
    """The existing files that a command started here reads as configuration or runs, links unread: the worktree's top
    folder, its `.git`, the git folders, and .nobrakes with its settings."""
    here = os.path.realpath(start or os.getcwd())
    if (root := repository_root(here)) is None:
        return ()
    folder = here
    while not os.path.lexists(os.path.join(folder, ".git")) and folder not in (root, os.path.dirname(folder)):
        folder = os.path.dirname(folder)
    found = [folder, root]
    for top in (folder, root):
        dot_git = os.path.join(top, ".git")
        found += [dot_git, os.path.realpath(dot_git), _common_git_dir(dot_git) or top]
    own = os.path.join(root, FOLDER)
    found += [own, os.path.join(own, "config.toml")]
    return tuple(path for path in dict.fromkeys(found) if os.path.lexists(path))


def strangers(start: str | None = None) -> tuple[str, ...]:
    if "NOBRAKES_TOKEN" in os.environ or "NOBRAKES_RUN" in os.environ:
        return ()
    own = os.geteuid()
    return tuple(path for path in territory(start) if os.lstat(path).st_uid != own)


def find(start: str | None = None) -> Paths | None:
    """The .nobrakes folder for `start` (default: NOBRAKES_HOME, else the current folder); None: not initialised."""
    home = os.environ.get("NOBRAKES_HOME")
    if start is None and home:
        return Paths(home) if os.path.isdir(home) else None
    here = start or os.getcwd()
    own = Paths(os.path.join(repository_root(here) or os.path.realpath(here), FOLDER))
    return own if os.path.isfile(own.config) else None


_SYSTEM_FOLDERS = frozenset({"/bin", "/sbin", "/usr/bin", "/usr/sbin"})
_OWN_PATHS: dict[tuple[frozenset[str], str], str] = {}


def own_path(start: str, path: str | None = None) -> str:
    """The PATH for unconfined programs of the repository around `start`; `path` replaces our own. Without folders that
    are relative, in or reached through it or this process's repository, or hold a link into one (agents' work)."""
    key = _repositories(start), os.environ.get("PATH", os.defpath) if path is None else path
    if (found := _OWN_PATHS.get(key)) is None:
        folders = (one for one in key[1].split(os.pathsep) if os.path.isabs(one))
        kept = (one for one in folders if not _is_reached(one, key[0]) and not _leads_into(one, key[0]))
        found = _OWN_PATHS[key] = os.pathsep.join(kept)
    return found


def _leads_into(folder: str, roots: frozenset[str]) -> bool:
    if folder.rstrip("/") in _SYSTEM_FOLDERS:
        return False
    try:
        with os.scandir(folder) as found:
            return any(one.is_symlink() and _is_reached(one.path, roots) for one in found)
    except OSError:
        return False


def which(program: str, path: str | None = None) -> str | None:
    """The program's file on the PATH, by default our own: as `shutil.which`, whose module costs 2 ms."""
    path = os.environ.get("PATH", os.defpath) if path is None else path
    folders = [""] if os.path.dirname(program) else path.split(os.pathsep) if path else []
    found = (os.path.join(folder, program) for folder in folders)
    try:
        return next((one for one in found if os.access(one, os.X_OK) and not os.path.isdir(one)), None)
    except ValueError:  # no file has such a name
        return None


def own_program(name: str, start: str, path: str | None = None) -> str | None:
    """The absolute path of an unconfined program on `own_path`; None: none."""
    found = which(name, own_path(start, path))
    return None if found is None or not os.path.isabs(found) or is_in_repository(found, start) else found


def is_in_repository(path: str, start: str) -> bool:
    return _is_reached(path, _repositories(start))


def _repositories(start: str) -> frozenset[str]:
    try:
        places = [start, os.getcwd()]
    except FileNotFoundError:
        places = [start]
    found = (repository_root(place.partition(f"{os.sep}{FOLDER}{os.sep}")[0]) for place in places)
    return frozenset(root for root in found if root is not None)


def _is_reached(path: str, roots: frozenset[str]) -> bool:
    for place in on_the_way(path):
        above = os.path.dirname(place) if os.path.islink(place) else place
        if repository_root(above) in roots or any(f"{place}{os.sep}".startswith(f"{root}{os.sep}") for root in roots):
            return True
    return False


MAX_LINKS = 40


def on_the_way(path: str) -> "Iterator[str]":
    """Each link on the way to the path, and its final target: who changes one changes the path. Relative to here."""
    place, links = os.sep, 0
    rest = os.path.join(os.sep if os.path.isabs(path) else os.getcwd(), path).split(os.sep)[::-1]
    while rest:
        if (word := rest.pop()) == os.pardir:
            place = os.path.dirname(place)
        elif word not in ("", os.curdir):
            here = os.path.join(place, word)
            if links == MAX_LINKS or not os.path.islink(here):
                place = here
                continue
            yield here
            links += 1
            target = os.readlink(here)
            place = os.sep if os.path.isabs(target) else place
            rest += target.split(os.sep)[::-1]
    yield place


def resource(name: str) -> str:
    """A file shipped with nobrakes (NAMES.json, config/…, hooks/…), installed or in a checkout."""
    installed = os.path.join(PACKAGE, "_data", name)
    return installed if os.path.exists(installed) else os.path.join(os.path.dirname(PACKAGE), name)


# Copied, since another thread may be changing it, as GitPython's import does. `os.environ` itself is asked for a name
# only; a test refuses everything else.
def process_environment() -> dict[str, str]:
    """Without names that vanish meanwhile."""
    return {name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None}


def own_code(root: str, more: "Iterable[str]" = ()) -> "Iterator[tuple[str, str, str]]":
    """Where this process imports code from, and `more`, as far as it lies in the repository: path, worktree, path in
    it. Links count on their whole way, and so do missing folders."""
    own = os.path.realpath(root)
    for place in dict.fromkeys(step for path in (*_import_paths(), *more) for step in on_the_way(path)):
        is_ours = place.startswith(os.path.join(own, FOLDER, ""))
        if top := own if is_ours else _worktree_of(place, own):
            yield place, top, os.path.relpath(place, top)


def _import_paths() -> "Iterator[str]":
    yield PACKAGE
    for folder in sys.path:
        yield folder
        try:
            with os.scandir(folder or os.curdir) as entries:
                yield from (one.path for one in entries if one.is_symlink())
        except OSError:
            continue
    for name, module in tuple(sys.modules.items()):
        if name.startswith("__editable__"):
            namespaces = getattr(module, "NAMESPACES", {}).values()
            for path in (*getattr(module, "MAPPING", {}).values(), *(one for many in namespaces for one in many)):
                yield from (path, f"{path}.py")


def _worktree_of(place: str, root: str) -> str | None:
    folder = os.path.dirname(place) if os.path.islink(place) else place
    while True:
        if os.path.lexists(os.path.join(folder, ".git")) and repository_root(folder) == root:
            return folder
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
