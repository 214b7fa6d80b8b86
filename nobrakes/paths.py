"""Where things are: the .nobrakes folder and what is in it. Imports `os` only, since hooks and hot commands use it.

1. One graph a repository: a linked worktree finds the .nobrakes of its main worktree, though it has a copy of
   the tracked settings itself; a bare repository has it inside itself; one in a folder further down is nobody's.
2. An agent is told by NOBRAKES_HOME; it never searches.
"""

import os

TYPE_CHECKING = False  # `ready` imports this: nothing that costs
if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = os.path.dirname(os.path.abspath(__file__))
HOOKS = ("reference-transaction", "pre-push", "pre-rebase")
"""Git's hooks of a workspace."""
FOLDER = ".nobrakes"
AGAIN = ".again"
"""At a confined agent's door, beside what it asks: written anew by whoever was not answered at once."""


class Paths:
    """The paths below one .nobrakes folder."""

    __slots__ = ("folder",)

    def __init__(self, folder: str) -> None:
        self.folder = folder

    @property
    def root(self) -> str:
        """The folder that .nobrakes lies in: the main worktree, or the bare repository."""
        return os.path.dirname(self.folder)

    @property
    def database(self) -> str:
        """The store's file."""
        return os.path.join(self.folder, "nobrakes.db")

    @property
    def config(self) -> str:
        """The settings in force: those of the checkout, else main's, where they were kept (git.persons)."""
        tracked, kept = self.tracked_config, self.kept_config
        return tracked if os.path.lexists(tracked) or not os.path.lexists(kept) else kept

    @property
    def tracked_config(self) -> str:
        """The settings as the checkout has them, tracked by git; a sparse cone or another branch may lack them."""
        return os.path.join(self.folder, "config.toml")

    @property
    def kept_config(self) -> str:
        """The settings that main had, for a checkout without them."""
        return os.path.join(self.folder, "config.main.toml")

    @property
    def judged(self) -> str:
        """What the settings were found to say (config.settings)."""
        return os.path.join(self.folder, "config.checked")

    def config_is_new(self) -> bool:
        """Whether the settings changed since they were last found to be right, as far as two looks tell.

        An agent or a check, which may not see them, is told no.
        """
        if "NOBRAKES_TOKEN" in os.environ or "NOBRAKES_RUN" in os.environ:
            return False
        try:
            return os.stat(self.config).st_ctime_ns > os.stat(self.judged).st_mtime_ns
        except OSError:
            return True

    @property
    def snapshot(self) -> str:
        """The graph as tracked by git."""
        return os.path.join(self.folder, "beads.jsonl")

    @property
    def since(self) -> str:
        """What changed in the graph since its snapshot."""
        return os.path.join(self.folder, "beads.since.jsonl")

    @property
    def runs(self) -> str:
        """One folder a child process: prompt, logs, exit codes."""
        return os.path.join(self.folder, "runs")

    @property
    def wake(self) -> str:
        """The only folder that the daemon watches: whoever touches a file here wakes it."""
        return os.path.join(self.folder, "wake")

    @property
    def workspaces(self) -> str:
        """One private clone a bead."""
        return os.path.join(self.folder, "workspaces")

    @property
    def relays(self) -> str:
        """One private clone a relay session."""
        return os.path.join(self.folder, "relays")

    @property
    def scratch(self) -> str:
        """Fresh checkouts for validations."""
        return os.path.join(self.folder, "scratch")

    @property
    def hooks(self) -> str:
        """Git's hooks of all workspaces, beside the command: agents read them, and change nothing there."""
        return os.path.join(self.folder, "bin", "hooks")

    @property
    def agents(self) -> str:
        """One folder an agent CLI, below it one a bead with its sessions; and what was seen of CLIs."""
        return os.path.join(self.folder, "agents")

    @property
    def ports(self) -> str:
        """One folder a confined agent: what it says and what it is told."""
        return os.path.join(self.folder, "doors")

    @property
    def temporary(self) -> str:
        """The daemon's temporary files, which no agent can change under its hands."""
        return os.path.join(self.folder, "tmp")

    @property
    def trash(self) -> str:
        """What is being removed, and what cannot be."""
        return os.path.join(self.folder, "trash")

    @property
    def request_lock(self) -> str:
        """Locked, a byte of it for each key, while a command under that key is done."""
        return os.path.join(self.folder, "requests.lock")

    @property
    def lock(self) -> str:
        """Held (flock) by the one daemon, with its pid inside."""
        return os.path.join(self.folder, "daemon.lock")

    @property
    def daemon_log(self) -> str:
        """What the daemon in the background says."""
        return os.path.join(self.folder, "daemon.log")


def _common_git_dir(dot_git: str) -> str | None:
    """The shared git folder that a `.git` folder or file stands for."""
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
    """The shared git folder of the repository whose main worktree, or bare folder, is `root`; None: there is none."""
    dot_git = os.path.join(root, ".git")
    if os.path.lexists(dot_git):
        return _common_git_dir(dot_git)
    return root if _is_bare(root) else None


def repository_root(start: str) -> str | None:
    """The folder that .nobrakes belongs into for the repository around `start`; None: no repository here."""
    folder = os.path.realpath(start)
    while True:
        dot_git = os.path.join(folder, ".git")
        if os.path.lexists(dot_git):
            common = _common_git_dir(dot_git)
            if common is None:
                return None
            if os.path.basename(common) == ".git":
                return os.path.dirname(common)
            # a submodule's git folder lies in the outer repository; a bare one is its own place
            if os.path.isfile(os.path.join(common, "commondir")) or not _is_bare(common):
                return folder
            return common
        if _is_bare(folder):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent


def _is_bare(folder: str) -> bool:
    """Whether the folder is a git folder that says of itself that it is bare."""
    if not (os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects"))):
        return False
    try:
        with open(os.path.join(folder, "config"), encoding="utf-8", errors="surrogateescape") as file:
            return "bare=true" in file.read().replace(" ", "").replace("\t", "").lower()
    except OSError:
        return False


def territory(start: str | None = None) -> tuple[str, ...]:
    """What is read as configuration, or run, by a command that is started here: as far as it is there, links unread.

    The worktree's top folder, its `.git`, the git folders, and .nobrakes with its settings.
    """
    here = os.path.realpath(start or os.getcwd())
    root = repository_root(here)
    if root is None:
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
    """What of the territory belongs to another account than this process; empty for an agent, which was sent here."""
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
"""Their links are laid by packages, and are hundreds: they are not followed."""
_OWN_PATHS: dict[tuple[frozenset[str], str], str] = {}


def own_path(start: str, path: str | None = None) -> str:
    """The PATH of what nobrakes starts unconfined for the repository around `start`; `path`: instead of our own.

    Without folders that are relative, that lie in the repository or are reached through it, or that hold a link into
    it: what came to main, or an agent's work, may lie there. So it is with the repository around this process.
    """
    key = _repositories(start), os.environ.get("PATH", os.defpath) if path is None else path
    found = _OWN_PATHS.get(key)
    if found is None:
        folders = (one for one in key[1].split(os.pathsep) if os.path.isabs(one))
        kept = (one for one in folders if not _is_reached(one, key[0]) and not _leads_into(one, key[0]))
        found = _OWN_PATHS[key] = os.pathsep.join(kept)
    return found


def _leads_into(folder: str, roots: frozenset[str]) -> bool:
    """Whether a program there is a link to a file of these repositories: a tool of theirs that its author uses."""
    if folder.rstrip("/") in _SYSTEM_FOLDERS:
        return False
    try:
        with os.scandir(folder) as found:
            return any(one.is_symlink() and _is_reached(one.path, roots) for one in found)
    except OSError:
        return False


def own_program(name: str, start: str, path: str | None = None) -> str | None:
    """Where the program is that nobrakes starts unconfined, by its whole path or on `own_path`; None: nowhere."""
    import shutil

    found = shutil.which(name, path=own_path(start, path))
    return None if found is None or not os.path.isabs(found) or is_in_repository(found, start) else found


def is_in_repository(path: str, start: str) -> bool:
    """Whether the path lies in the repository around `start`, in a worktree of it, or is reached through it."""
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
    """Each link on the way to the path, where it lies, and where all of them lead in the end.

    Whoever changes one of these places changes what is found at the path. A relative path is one of the current folder.
    """
    place, links = os.sep, 0
    rest = os.path.join(os.sep if os.path.isabs(path) else os.getcwd(), path).split(os.sep)[::-1]
    while rest:
        word = rest.pop()
        if word == os.pardir:
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
    """A file that comes with nobrakes (NAMES.json, config/…, hooks/…), installed or in a checkout."""
    installed = os.path.join(PACKAGE, "_data", name)
    return installed if os.path.exists(installed) else os.path.join(os.path.dirname(PACKAGE), name)


# Copied, since another thread may be changing it, as GitPython's import does. `os.environ` itself is asked for a name
# only; a test refuses everything else.
def process_environment() -> dict[str, str]:
    """The environment as it is now. A name that goes meanwhile is left out."""
    return {name: value for name in list(os.environ) if (value := os.environ.get(name)) is not None}
