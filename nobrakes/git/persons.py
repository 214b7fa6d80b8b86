"""What is a person's: worktrees, checkouts of relay sessions, small repositories, and settings.

1. Only new worktrees and branches are made; nothing of a person's is removed, moved or overwritten.
2. git uses the person's own configuration there, without hooks.
"""

import contextlib
import fcntl
import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from hashlib import sha256

from .. import EMAIL, NAME
from ..checks.policy.ownership import CONTRACT, OWN_FOLDER
from ..config.user import make, user_place
from ..errors import GitFailed, NobrakesError, NotAllowed, PlaceUnusable
from ..files import write_atomic
from ..paths import Paths
from ..records import frozen
from ..text import toml
from . import command_line, objects
from .command_line import ASKING, CHECKOUT, PLUMBING
from .landing import standing
from .landing.standing import Worktree
from .location import Place
from .port import Git

_SECONDS = 900.0
_READING = {**CHECKOUT, "GIT_OPTIONAL_LOCKS": "0"}
_NOT_OURS = ":(top,exclude).nobrakes"
"""Settings and snapshot are not work on a bead."""
_HEADS = "refs/heads/"


class Persons:
    """The worktrees of the repository in `root`."""

    def __init__(self, root: str, main: str) -> None:
        self.place = Place(root, main)

    def around(self, folder: str) -> Worktree | None:
        real = os.path.realpath(folder)
        found = [one for one in standing.all_of(self.place) if _contains(os.path.realpath(one.path), real)]
        return max(found, key=lambda one: len(os.path.realpath(one.path)), default=None)

    def worktree_on_branch(self, branch: str) -> Worktree | None:
        return next(iter(standing.branch_worktrees(self.place, f"{_HEADS}{branch}")), None)

    def branch(self, worktree: Worktree) -> str:
        return next((ref for ref in standing.refs_in(worktree) if ref.startswith(_HEADS)), "").removeprefix(_HEADS)

    def uncommitted(self, worktree: Worktree) -> list[str]:
        """Paths that are changed, in conflict or new; without ignored ones."""
        asked = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", ".", _NOT_OURS]
        return [row[3:] for row in command_line.run(asked, cwd=worktree.path, env=_READING, seconds=_SECONDS).records]

    def head(self, worktree: Worktree) -> str:
        return command_line.run(["rev-parse", "--verify", "HEAD^{commit}"], cwd=worktree.path, env=_READING).text

    def commit(self, name: str) -> str | None:
        asked = ["rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}"]
        answer = self.place.run(asked, expect=(0, 1, 128))
        return answer.text if answer.code == 0 and objects.is_oid(answer.text) else None

    def add(self, folder: str, branch: str, head: str) -> bool:
        """Make a worktree of the branch, at `head` if it is new. False: the branch exists, is a person's and stays."""
        is_new = objects.read(self.place, f"{_HEADS}{branch}") is None
        force = ["--force"] if self._is_registered(folder) else []  # it was removed by hand, and git still knows of it
        what = ["-b", branch, folder, head] if is_new else [folder, branch]
        env = {**CHECKOUT, "GIT_DIR": self.place.git_dir}
        command_line.run(["worktree", "add", *force, *what], cwd=self.place.root, env=env, seconds=_SECONDS)
        return is_new

    def rebase(self, folder: str, onto: str, fork: str) -> bool:
        """Rebase what is checked out there; whether it stopped at a conflict and is under way."""
        command_line.run(["rebase", "--onto", onto, fork], cwd=folder, env=CHECKOUT, expect=(0, 1), seconds=_SECONDS)
        found = self.around(folder)
        if found is None:
            raise GitFailed(f"{folder} is no longer a worktree")
        return found.under_way() is not None

    def _is_registered(self, folder: str) -> bool:
        linked = os.path.join(self.place.git_dir, "worktrees")
        for name in os.listdir(linked) if os.path.isdir(linked) else ():
            try:
                with open(os.path.join(linked, name, "gitdir"), encoding="utf-8", errors="surrogateescape") as file:
                    known = os.path.dirname(file.readline().strip())
            except OSError:
                continue
            if os.path.realpath(known) == os.path.realpath(folder):
                return not os.path.isdir(folder)
        return False


def _contains(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip(os.sep) + os.sep)


# A checkout in which a relay session works is named by a file in the person's own place, from the session's beginning
# until nothing of it runs; merges that would move it wait. One whose .nobrakes is gone is nobody's.
@frozen
class Claim:
    """Session `session` of the .nobrakes `folder` works in the checkout `root`."""

    root: str
    folder: str
    session: int

    @property
    def ending(self) -> str:
        is_own = self.folder == os.path.join(self.root, ".nobrakes")
        return f"nobrakes session end {self.session}{'' if is_own else ' --user'}"


def place() -> str:
    """Raises NotAllowed in a run, PlaceUnusable."""
    return os.path.join(user_place().state, "in-place")


def who(root: str) -> Claim | None:
    with suppress(NotAllowed, PlaceUnusable):
        found = _read(_file(root))
        if found is not None and os.path.isdir(found.folder):
            return found
    return None


def take(wanted: Claim) -> None:
    """Claim the checkout; repeatable. NotAllowed: another session works there, or none may."""
    refuse(wanted.root)
    make(os.path.dirname(place()))
    make(place())
    with _alone():
        there = who(wanted.root)
        if there is None:
            file = _file(wanted.root)
            with open(os.open(f"{file}.new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as opened:
                opened.write(json.dumps(asdict(wanted)).encode())
            os.replace(f"{file}.new", file)
        elif there != wanted:
            raise taken(there)


def taken(there: Claim) -> NotAllowed:
    return NotAllowed(
        f"session {there.session} of {os.path.dirname(there.folder)} already works in this checkout; only one may",
        f"`{there.ending}` ends that session. Without --in-place a session works in its own clone.",
    )


def refuse(root: str) -> None:
    """NotAllowed if the checkout holds the home of this account or the person's own place: an agent would hold it too.
    Also if it is sparse: an agent's commit would remove the missing files."""
    found = user_place()
    inside = os.path.join(os.path.realpath(root), "")
    for path in (os.path.expanduser("~"), found.settings, found.state):
        if os.path.join(os.path.realpath(path), "").startswith(inside):
            raise NotAllowed(
                f"a session cannot work in place in {root}: it contains {path}, which is private",
                "Without --in-place a session works in its own clone.",
            )
    if any(row.startswith("S ") for row in command_line.run(["ls-files", "-t", "-z"], cwd=root, env=_READING).records):
        raise NotAllowed(
            f"a session cannot work in place in {root}: in a sparse checkout, its commits would delete the missing "
            "files",
            "Without --in-place a session works in its own clone, with all files.",
        )


def release(claim: Claim) -> None:
    with suppress(FileNotFoundError), _alone():
        if who(claim.root) == claim:
            os.unlink(_file(claim.root))


@contextmanager
def _alone() -> Iterator[None]:
    """Lock the claims of this account. Raises FileNotFoundError if there are none."""
    descriptor = os.open(os.path.join(place(), "lock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def list_claims(folder: str) -> Iterator[Claim]:
    try:
        where = place()
        names = sorted(os.listdir(where))
    except (NotAllowed, PlaceUnusable, FileNotFoundError, PermissionError):  # a closed place blocks the machine
        return
    for name in names:
        found = _read(os.path.join(where, name)) if name.endswith(".json") else None
        if found is not None and found.folder == folder:
            yield found


def kept(root: str) -> str:
    """The folder that keeps the checkout's content from before each turn."""
    return _file(root).removesuffix(".json")


def _file(root: str) -> str:
    name = sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    return os.path.join(place(), f"{name}.json")


def _read(file: str) -> Claim | None:
    try:
        with open(file, encoding="utf-8", errors="surrogateescape") as opened:
            found = json.load(opened)
        return Claim(str(found["root"]), str(found["folder"]), int(found["session"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


_WHO = (("user.name", NAME), ("user.email", EMAIL), ("commit.gpgsign", "false"))


def begin(folder: str, text: str) -> None:
    """Make a repository with one commit that says its purpose; completes an interrupted attempt."""
    command_line.run(["init", "-q", "-b", "main"], cwd=folder)
    for name, value in _WHO:
        command_line.run(["config", name, value], cwd=folder)
    with open(os.path.join(folder, "README"), "w", encoding="utf-8") as file:
        file.write(text)
    command_line.run(["add", "README"], cwd=folder)
    command_line.run(["commit", "-q", "-m", "Begin"], cwd=folder, expect=(0, 1))  # 1: it is committed


def scratch_make(folder: str, branch: str) -> None:
    begin(folder, "A place to try agents out.\n")
    command_line.run(["checkout", "-q", "-b", branch], cwd=folder)


def committed(folder: str, path: str, commit: str = "HEAD") -> str:
    """The file's text in the commit; empty: missing."""
    answer = command_line.run(["cat-file", "blob", f"{commit}:{path}"], cwd=folder, expect=(0, 128))
    return answer.text if answer.code == 0 else ""


def added(folder: str, below: str, tip: str = "HEAD") -> dict[str, str]:
    """By path, the commit before each file below this folder came to `tip`; without those of the first commit."""
    asked = ["log", "-z", "--first-parent", "-m", "-M", "--diff-filter=A", "--name-only", "--format=%x01%P", tip]
    said = command_line.run([*asked, "--", below], cwd=folder).text
    records = (re.split(r"[\0\n]+", one) for one in said.split("\x01"))
    return {path: parents.split()[0] for parents, *paths in records for path in paths if parents}


def differing(folder: str, base: str, tip: str = "") -> frozenset[str]:
    """The paths that differ between two commits; no `tip`: from what lies in the folder, with new files."""
    asked = ["diff", "-z", "--name-only", "--no-renames", base, *([tip] if tip else []), "--"]
    every = [asked] if tip else [asked, ["ls-files", "-z", "--others", "--exclude-standard"]]
    return frozenset(path for one in every for path in command_line.run(one, cwd=folder, env=_READING).records)


def newborn_begin(folder: str, subject: str) -> None:
    command_line.run(["init", "-q", "-b", "main", "--template="], cwd=folder)
    command_line.run(["add", "-A", "--force"], cwd=folder)
    command_line.run(["commit", "-q", "--allow-empty", "-m", subject], cwd=folder)


def commit(folder: str, paths: Sequence[str], subject: str) -> bool:
    """Commit only these paths; whether they had changes."""
    command_line.run(["add", "--", *paths], cwd=folder)
    if command_line.run(["diff", "--cached", "--quiet", "--", *paths], cwd=folder, expect=(0, 1)).code == 0:
        return False
    command_line.run(["commit", "-q", "-m", subject, "--", *paths], cwd=folder)
    return True


def has_commit(folder: str) -> bool:
    return command_line.run(["rev-parse", "-q", "--verify", "HEAD^{commit}"], cwd=folder, expect=(0, 1)).code == 0


def subjects(folder: str, most: int = 1000) -> list[str]:
    if not has_commit(folder):
        return []
    return command_line.run(["log", "-z", "--format=%s", f"--max-count={most}", "HEAD", "--"], cwd=folder).records


# Where a sparse cone or another branch took config.toml away, main's is read from its objects and kept in a file
# beside, which git ignores. A config.toml that is there is what holds.
def find(paths: Paths) -> bool:
    """Look for settings before any are known, and store them; whether there are any."""
    return _keep(paths, None if os.path.lexists(paths.tracked_config) else _main_settings(paths.root))


def follow(paths: Paths, git: Git) -> str:
    """Store main's settings if the checkout has none; returns the settings file that applies."""
    if not os.path.lexists(paths.tracked_config):
        with contextlib.suppress(NobrakesError):  # whoever needs main says what is wrong with it
            _keep(paths, git.read(git.main(), CONTRACT))
    return paths.config


def _keep(paths: Paths, content: bytes | None) -> bool:
    if content is None:
        return False
    try:
        with open(paths.kept_config, "rb") as file:
            if file.read() == content:
                return True
    except FileNotFoundError:
        os.makedirs(paths.folder, mode=0o700, exist_ok=True)
    write_atomic(paths.kept_config, content)
    return True


def _main_settings(root: str) -> bytes | None:
    found = dict(_candidates(root))
    for content in found.values():
        with contextlib.suppress(ValueError):
            return found.get(str(toml.loads(content.decode()).get("main", "main")), content)
    return None


def _candidates(root: str) -> Iterator[tuple[str, bytes]]:
    asked = ["for-each-ref", "--format=%(refname:strip=2)", "--sort=-committerdate", "refs/heads/"]
    answer = command_line.run(asked, cwd=root, env=PLUMBING, expect=(0, 128))
    branches = answer.text.split("\n") if answer.code == 0 and answer.out else []
    usual = [name for name in ("main", "master") if name in branches]
    for branch in dict.fromkeys((*usual, *branches[:_MAX_BRANCHES])):
        read = ["cat-file", "blob", f"refs/heads/{branch}:{CONTRACT}"]
        blob = command_line.run(read, cwd=root, env=PLUMBING, expect=(0, 128))
        if blob.code == 0:
            yield branch, blob.out


_MAX_BRANCHES = 20
"""How many branches are searched, newest commits first."""

_HOOKS = """pre-commit prepare-commit-msg commit-msg post-commit pre-merge-commit post-merge pre-push
reference-transaction"""
_LARGEST = 100_000


@frozen
class Hooks:
    """The folder of git's hooks, and those in it that inspect commits, merges or pushes."""

    folder: str
    names: tuple[str, ...]


def hooks(root: str) -> Hooks | None:
    """The hooks of a person's own commits, without those of Git LFS."""
    # without our own settings: they would answer that hooks are off
    env = {name: value for name, value in ASKING.items() if not name.startswith("GIT_CONFIG")}
    folder = command_line.run(["rev-parse", "--path-format=absolute", "--git-path", "hooks"], cwd=root, env=env).text
    found = tuple(name for name in _HOOKS.split() if _is_hook(os.path.join(folder, name)))
    return Hooks(folder, found) if found else None


def _is_hook(path: str) -> bool:
    try:
        if not os.path.isfile(path) or not os.access(path, os.X_OK):
            return False
        with open(path, "rb") as file:
            return b"git lfs " not in file.read(_LARGEST)
    except OSError:
        return False


def is_outside_the_cone(root: str) -> bool:
    """Whether a sparse checkout leaves out .nobrakes: git removes ignored files there. Git 2.39 cannot be asked about
    an untracked path, but `add` refuses one that is left out."""
    asked = ["config", "--type=bool", "--get", "core.sparseCheckout"]
    if command_line.run(asked, cwd=root, env=_READING, expect=(0, 1)).text != "true":
        return False
    listed = command_line.run(["ls-files", "-t", "-z", "--", OWN_FOLDER], cwd=root, env=_READING).records
    if listed or not os.path.lexists(os.path.join(root, CONTRACT)):
        return any(record.startswith("S ") for record in listed)
    tried = command_line.run(["add", "--dry-run", "--", CONTRACT], cwd=root, env=_READING, expect=(0, 1, 128))
    return tried.code != 0 and "sparse-checkout" in tried.error


def is_left_in_place(root: str) -> bool:
    """Whether git leaves .nobrakes in place outside the cone: it removes a folder with only ignored files."""
    asked = ["ls-files", "--others", "--exclude-standard", "-z", "--", OWN_FOLDER]
    return bool(command_line.run(asked, cwd=root, env=_READING).records)
