"""Where the repository is: its git folder, its own worktree, and how commands run there.

1. Every command gets the git folder: git neither searches for it nor checks ownership.
2. Object work uses the git folder as worktree and no index, so that the person's files and index (attributes!) have no
   effect.
3. What cannot change in a process (folders, kind of repository) is asked once, when first needed.
"""

import copy
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import IO, TYPE_CHECKING

from .. import paths
from ..errors import ForeignRepository, GitFailed, GitUnusable, NobrakesError, NoMain, NotARepository
from ..records import frozen
from . import command_line
from .command_line import ASKING, CHECKOUT, PLUMBING, Transactions, Writer

if TYPE_CHECKING:
    from .upkeep import Held

_BARE = re.compile(rb"^[ \t]*bare[ \t]*=[ \t]*(true|yes|on|1)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_WANTED = (
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.worktree",
    "core.bare",
    "extensions.objectformat",
    "extensions.partialclone",
    "gc.auto",
    "lfs.storage",
)


class Place:
    """One repository, found from a folder inside it (or from a bare one)."""

    def __init__(
        self,
        root: str,
        main: str,
        followed: str = "",
        before: tuple[str, ...] = (),
        in_place: Callable[[], None] = lambda: None,
    ) -> None:
        """`followed`: the ref that is main, if no branch here is; `before`: its stand-ins until it exists. `in_place`:
        called just before main moves, raises RepositoryReplaced."""
        self.root = root
        self.branch = main
        self.ref = followed or f"refs/heads/{main}"
        self.before = before
        self.in_place = in_place
        self.transactions = Transactions()
        self.said: tuple[Mapping[str, tuple[float, ...]], Sequence[tuple[str, str, str]]] = {}, []
        self.commits = Writer("commit", lambda *made: self.held.learn(*made))
        self.trees = Writer("tree", lambda *made: self.held.learn(*made))

    def close(self) -> None:
        for one in (self.transactions, self.commits, self.trees):
            one.close()

    def with_main(self, name: str, ref: str, before: tuple[str, ...]) -> "Place":
        """The same repository where `ref`, called `name`, is main, and `before` are its stand-ins."""
        other = copy.copy(self)
        other.held = self.held
        other.branch, other.ref, other.before = name, ref, before
        return other

    @cached_property
    def git_dir(self) -> str:
        command_line.version()
        asked = ["rev-parse", "--path-format=absolute", "--git-common-dir"]
        try:
            return os.path.realpath(command_line.run(asked, cwd=self.root, env=CHECKOUT).text)
        except GitFailed as error:
            raise NotARepository(f"{self.root} is not in a git repository: {error}") from None

    @cached_property
    def held(self) -> "Held":
        from .upkeep import Held

        return Held()

    @cached_property
    def objects(self) -> str:
        return os.path.join(self.git_dir, "objects")

    def lent(self) -> tuple[str, ...]:
        found = [self.objects]
        for folder in found:  # grows while it is read
            try:
                with open(os.path.join(folder, "info", "alternates"), encoding="utf-8") as file:
                    named = [os.path.normpath(os.path.join(folder, line.strip())) for line in file if line.strip()]
            except (FileNotFoundError, NotADirectoryError):
                continue
            found += [path for path in named if path not in found]
        return tuple(found)

    def head(self) -> str:
        """The commit checked out in `root`. Raises NoMain."""
        asked = ["rev-parse", "-q", "--verify", "HEAD^{commit}"]
        answer = command_line.run(asked, cwd=self.root, env=CHECKOUT, expect=(0, 1, 128))
        if answer.code:
            raise NoMain(f"{self.root} has no commit yet", "Make a first commit in the repository.")
        return answer.text

    @property
    def shallow(self) -> str:
        """The file with the ends of a shallow history; empty for a full history."""
        file = os.path.join(self.git_dir, "shallow")
        return file if os.path.isfile(file) else ""

    @cached_property
    def settings(self) -> Mapping[str, str]:
        """The repository's own settings about its kind and file system."""
        answer = self.run(["config", "--local", "--includes", "-z", "--list"])
        found: dict[str, str] = {}
        for record in answer.records:
            key, _, value = record.partition("\n")
            if key in _WANTED or key.endswith(PROMISOR):
                found[key] = value
        return found

    @cached_property
    def worktree(self) -> str | None:
        """None for a bare repository, except one that is bare by accident."""
        if self.settings.get("core.bare", "").lower() in ("true", "yes", "on", "1"):
            return os.path.dirname(self.git_dir) if self.bare_by_accident else None
        if named := self.settings.get("core.worktree"):
            return os.path.realpath(os.path.join(self.git_dir, named))
        if os.path.basename(self.git_dir) == ".git":
            return os.path.dirname(self.git_dir)
        # `git init --separate-git-dir`: nothing in the git folder says where its worktree is
        return os.path.realpath(self.root) if os.path.isfile(os.path.join(self.root, ".git")) else None

    @property
    def bare_by_accident(self) -> bool:
        """Whether git takes the repository for bare, though tracked files lie beside its `.git`."""
        if os.path.basename(self.git_dir) != ".git" or not os.path.isfile(os.path.join(self.git_dir, "index")):
            return False
        with open(os.path.join(self.git_dir, "config"), "rb") as file:
            if _BARE.search(file.read()) is None:  # so that nobody asks git in vain
                return False
        if self.run(["config", "--type=bool", "core.bare"], expect=(0, 1)).text != "true":
            return False
        top = os.path.dirname(self.git_dir)
        env = {**CHECKOUT, "GIT_DIR": self.git_dir, "GIT_WORK_TREE": top}
        tracked = command_line.run(["ls-files", "-z"], cwd=top, env=env)
        return any(os.path.lexists(os.path.join(top, path)) for path in tracked.records)

    @cached_property
    def plumbing(self) -> Mapping[str, str]:
        return {
            **PLUMBING,
            "GIT_DIR": self.git_dir,
            "GIT_WORK_TREE": self.git_dir,
            "GIT_INDEX_FILE": os.path.join(self.git_dir, "nobrakes-has-no-index"),
        }

    def require_usable(self) -> None:
        """Raises GitUnusable if git itself fails here, before a failure is blamed on an object."""
        self.run(["rev-parse", "--git-dir"], expect=range(256))

    def trouble(self) -> str:
        """Why git fails here under this account's settings; empty: it works."""
        try:
            command_line.run(["rev-parse", "--git-dir"], cwd=self.root, env=CHECKOUT, expect=range(256))
        except GitUnusable as error:
            return error.whole
        return ""

    def run(
        self,
        arguments: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        stdin: bytes | IO[bytes] | None = None,
        stdout: IO[bytes] | None = None,
        expect: Sequence[int] = (0,),
    ) -> command_line.Answer:
        environment = self.plumbing if env is None else {**self.plumbing, **env}
        return command_line.run(arguments, cwd=self.git_dir, env=environment, stdin=stdin, stdout=stdout, expect=expect)


PROMISOR = ".promisor"
"""The end of the setting of a remote that promises the objects that a partial clone lacks."""
_PARTIAL = r"^(extensions\.partialclone|remote\..*\.promisor)$"
_READING = {**CHECKOUT, "GIT_OPTIONAL_LOCKS": "0"}


@frozen
class Discovered:
    """A repository, as found. `root` is the worktree's top folder, or the bare repository itself."""

    root: str
    bare: bool
    has_commits: bool
    head_branch: str | None  # None: HEAD is detached
    branches: tuple[str, ...]
    dirty: bool  # tracked files have changes, staged or not
    is_partial: bool  # objects are fetched when needed: private clones cannot borrow what is not there


def discover(path: str) -> Discovered:
    """The repository around `path`. Raises NotARepository (also for a path with a line break), GitTooOld."""
    command_line.version()
    common, bare = _folders(path)
    top = common if bare else _ask(path, ["rev-parse", "--show-toplevel"])
    if "\n" in top or not os.path.isdir(top):  # a line break at its end is not there to be seen
        raise _broken(path)
    head = command_line.run(["symbolic-ref", "-q", "--short", "HEAD"], cwd=path, env=_READING, expect=(0, 1))
    branches = _ask(path, ["for-each-ref", "--format=%(refname:strip=2)", "refs/heads/"])
    commit = command_line.run(["rev-parse", "-q", "--verify", "HEAD^{commit}"], cwd=path, env=_READING, expect=(0, 1))
    status = ["status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=dirty"]
    return Discovered(
        root=os.path.realpath(top),
        bare=bare,
        has_commits=commit.code == 0,
        head_branch=head.text if head.code == 0 else None,
        branches=tuple(branches.split("\n")) if branches else (),
        dirty=not bare and bool(command_line.run(status, cwd=path, env=_READING).out),
        is_partial=_promises(path),
    )


def tracked(root: str) -> tuple[str, ...]:
    return tuple(command_line.run(["ls-files", "-z", "--full-name"], cwd=root, env=_READING).records)


@cache
def own_code_tracked(root: str) -> tuple[str, ...]:
    """The places in the repository from which this process imports code and where agents change files: tracked by git,
    or where agents work."""
    found = paths.own_code(root)
    return tuple(at for at, top, path in found if path.startswith(f"{paths.FOLDER}/") or _is_tracked(path, top))


@cache
def own_code_globs(root: str) -> tuple[str, ...]:
    """Globs of where nobrakes and its Python run in the repository; agents change them only with a person's consent."""
    places = (path for _, _, path in paths.own_code(root, (sys.prefix,)))
    return tuple(dict.fromkeys(f"/{path}" for path in places if path != os.curdir))


def _is_tracked(path: str, top: str) -> bool:
    """Whether git tracks the path or one below it; True if git cannot tell (a submodule)."""
    try:
        return bool(command_line.run(["ls-files", "-z", "--", f":(literal){path}"], cwd=top, env=_READING).out)
    except GitFailed:
        return True


def is_partial(path: str) -> bool:
    command_line.version()
    _folders(path)
    return _promises(path)


def _promises(path: str) -> bool:
    return bool(command_line.run(["config", "--get-regexp", _PARTIAL], cwd=path, env=_READING, expect=(0, 1)).text)


def _folders(path: str) -> tuple[str, bool]:
    asked = ["rev-parse", "--path-format=absolute", "--git-common-dir", "--is-bare-repository"]
    if not os.path.isdir(path):
        raise NotARepository(f"there is no folder {path}")
    try:
        found = _ask(path, asked).split("\n")
    except GitFailed:
        raise NotARepository(f"{path} is not in a git repository") from None
    if len(found) != len(asked) - 2:
        raise _broken(path)
    common, bare = found
    # inside .git itself nothing is a worktree, and it is not a bare repository either
    if bare != "true" and _ask(path, ["rev-parse", "--is-inside-work-tree"]) != "true":
        raise NotARepository(f"{path} is inside a repository's own git folder", "Go to the folder with your files.")
    return os.path.realpath(common), bare == "true"


def _broken(path: str) -> NotARepository:
    why = f"the path of the repository around {path!r} contains a line break, which git's lists cannot represent"
    return NotARepository(why, "Rename the folder, then run `nobrakes init`.")


def _ask(path: str, arguments: list[str]) -> str:
    return command_line.run(arguments, cwd=path, env=_READING).text


def own_commit() -> str:
    """The commit that this nobrakes was built from, else that of its checkout; empty: unknown."""
    if os.path.exists(stamp := paths.resource("COMMIT")):
        with open(stamp, encoding="ascii") as file:
            return file.read().strip()
    top = os.path.dirname(paths.PACKAGE)
    if not os.path.exists(os.path.join(top, ".git")):
        return ""
    try:
        return _ask(top, ["rev-parse", "--short=12", "HEAD"])
    except NobrakesError:
        return ""


_WHERE = re.compile(r"dubious ownership in repository at '(.*)'")


# Git decides about its own folders: by owner, SUDO_UID, and `safe.directory` of the system and the human. It is asked
# without our own environment, which trusts every folder. Git knows nothing of .nobrakes: it has to belong to whom git
# trusts here.
def check(start: str | None = None) -> None:
    """Raises ForeignRepository if git would refuse or .nobrakes is a stranger's; GitTooOld."""
    strange = paths.strangers(start)
    if not strange:
        return
    here = os.path.realpath(start or os.getcwd())
    root = paths.repository_root(here) or here
    for folder in dict.fromkeys((here, root)):
        _ownership_ask(folder)
    trusted = _trusted(root)
    own = os.path.join(root, paths.FOLDER)
    for path in strange:
        if path.startswith(own) and os.lstat(path).st_uid not in trusted:
            raise ForeignRepository(
                f"{path} belongs to {owner(path)}, not to you",
                f"Check the folder's content, then take ownership: chown -R {os.geteuid()} {own}",
            )


def owner(path: str) -> str:
    uid = os.lstat(path).st_uid
    try:
        from pwd import getpwuid

        return getpwuid(uid).pw_name
    except (ImportError, KeyError):
        return f"the account {uid}"


def _ownership_ask(folder: str) -> None:
    answer = command_line.run(["rev-parse", "--git-dir"], cwd=folder, env=ASKING, expect=(0, 128))
    if answer.code == 0:
        return
    found = _WHERE.search(answer.error)
    if found is None:
        raise GitFailed(f"git cannot read the repository around {folder}: {answer.error.splitlines()[0][:200]}")
    raise ForeignRepository(
        f"git detected dubious ownership in the repository at '{found[1]}', so nobrakes read and ran nothing in it",
        f"If you trust the owner: git config --global --add safe.directory {found[1]}",
    )


def _trusted(root: str) -> set[int]:
    found = {os.geteuid()}
    found |= {os.lstat(path).st_uid for path in paths.territory(root) if paths.FOLDER not in path.split(os.sep)[-2:]}
    sudo = os.environ.get("SUDO_UID", "")
    if os.geteuid() == 0 and sudo.isascii() and sudo.isdigit():
        found.add(int(sudo))
    return found


YOUNG_SECONDS = 2.0
_FILES = ("core.attributesfile", "core.excludesfile")
_PROGRAMS = (".clean", ".smudge", ".process", ".driver")


def settings(place: Place) -> tuple[str, ...]:
    found = []
    for key, value, file in said(place):
        found += [file, *_named(key, value, os.path.dirname(file))]
    return tuple(dict.fromkeys(found))


# Git is asked again when one of the files changed, appeared or went, of those that git read, that its settings include,
# and that it looks for. A file that changed while git was asked, or just before, is not relied on.
def said(place: Place) -> Sequence[tuple[str, str, str]]:
    """(key, value, file) of git's settings, without those of our environment."""
    stamps, rows = place.said
    if not stamps or any(_stamp(path) != stamp for path, stamp in stamps.items()):
        before = time.time() - YOUNG_SECONDS
        rows = list(_asked(place))
        read = {file for _, _, file in rows}
        named = {path for key, value, file in rows for path in _included(key, value, os.path.dirname(file))}
        stamps = {path: _stamp(path) for path in {*read, *named, *_searched(place)}}
        is_settled = all(stamps[path] for path in read) and all(
            max(one[:2], default=0.0) < before for one in stamps.values()
        )
        place.said = (stamps, rows) if is_settled else ({}, [])
    return rows


def _stamp(path: str) -> tuple[float, ...]:
    """Changes with the file; empty: there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return ()
    return found.st_mtime, found.st_ctime, found.st_ino, found.st_size


def _searched(place: Place) -> Iterator[str]:
    """Where git looks for settings, and what an `includeIf` may ask for."""
    environment = paths.process_environment()
    home = os.path.expanduser("~")
    yield environment.get("GIT_CONFIG_SYSTEM", "/etc/gitconfig")
    yield environment.get("GIT_CONFIG_GLOBAL", os.path.join(home, ".gitconfig"))
    yield os.path.join(environment.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "git", "config")
    yield from (
        os.path.join(place.git_dir, name) for name in ("config", "config.worktree", "HEAD", "reftable/tables.list")
    )


def _asked(place: Place) -> Iterator[tuple[str, str, str]]:
    asked = ["config", "--list", "--show-origin", "--includes", "-z"]
    answer = command_line.run(asked, cwd=place.git_dir, env={**CHECKOUT, "GIT_DIR": place.git_dir})
    for origin, record in zip(answer.records[::2], answer.records[1::2], strict=False):
        key, _, value = record.partition("\n")
        if origin.startswith("file:"):
            yield key, value, os.path.join(place.git_dir, origin.removeprefix("file:"))


def _included(key: str, value: str, folder: str) -> Iterator[str]:
    if key.startswith("include") and key.endswith(".path"):
        yield os.path.join(folder, os.path.expanduser(value))


def _named(key: str, value: str, folder: str) -> Iterator[str]:
    yield from _included(key, value, folder)
    if key in _FILES:
        yield os.path.expanduser(value)
    elif key.endswith(_PROGRAMS):
        words = [os.path.expanduser(word) for word in value.split()]
        yield from (word for word in words if os.path.isabs(word) and os.path.isfile(word))
