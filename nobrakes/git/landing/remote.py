"""Main where a remote decides: pushed to under a lease, or only followed where only merged pull requests change it.

For followed ones:

1. Main is the remote's last known main, under our own ref. No branch or checkout of a person moves.
2. A request's branch is ours if it is missing or at a commit that we pushed; others stay unchanged.
"""

import os
import re
import shlex
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from ...errors import GitFailed, GitTooOld, OnlyByRequest
from ...paths import own_path
from ...records import frozen
from ...review.waits import WAITS, Cause, Land, Landing, cause_of, first_words, why
from ...text.cleaning import count
from .. import command_line, lfs, objects
from ..command_line import CHECKOUT, DURABLE, inherited
from ..filters import Filters
from ..history import History
from ..location import Place
from ..objects import Objects, own_ref
from ..port import BASES
from .local import Lander
from .standing import Note

if TYPE_CHECKING:
    from .takeover import Fence

KNOWN = f"{objects.OWN}/remote/main"
"""The last known position of the remote's main."""

DONE = "Done"
"""The last word of a complete push: an exit code may be lost."""

_USER = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_QUERY = re.compile(r"(?<!\w)(\w++://[^\s?'\"]+)(?:\?[^\s'\"]+)?")


@frozen
class Shared:
    """The remote's name, the branch there that is main, and the seconds that it may take to answer."""

    remote: str
    branch: str
    seconds: float = 120.0
    by_request: bool = False  # nothing is pushed to it: it changes by merged pull requests alone
    known: str = KNOWN  # the ref of ours that keeps where it was
    direct: bool = False  # but what lands here, which is pushed

    @property
    def before(self) -> tuple[str, ...]:
        """Refs of a person's own fetches, which stand for it until nobrakes fetched."""
        return (f"refs/remotes/{self.remote}/{self.branch}",)


@frozen
class Reply:
    """How a command that reaches the remote ended, and why. `refused`: the remote rejected it and did nothing."""

    ok: bool
    words: str = ""
    refused: bool = False
    cause: Cause = Cause.NONE


def redacted(text: str) -> str:
    """The text without what in addresses may be secret: user, password, query."""
    return _QUERY.sub(r"\1", _USER.sub("***", text))


# Nothing can ask for a password or a host key, and what takes too long is ended with all that it started. It runs under
# the human's configuration in the human's repository, never in a workspace. What it says is shown without the user's
# part of addresses, which may hold a password.
class Remote:
    """One remote of one repository."""

    def __init__(self, place: Place, shared: Shared, fence: "Fence | None" = None) -> None:
        """`fence`: of a repository whose work another machine may take over; no push goes without it."""
        self.place = place
        self.shared = shared
        self.fence = fence
        self.ref = f"refs/heads/{shared.branch}"

    def __str__(self) -> str:
        return f"{self.shared.remote}/{self.shared.branch}"

    def known(self) -> str | None:
        return objects.read(self.place, self.shared.known)

    def fetch(self) -> Reply:
        """Learn where the remote's main is (`known`)."""
        args = ["fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head"]
        before = self.known()
        # without --refmap a human's own remote-tracking refs would move, and they are not ours
        said = self._reach([*DURABLE, *args, "--refmap=", "--", self.shared.remote, f"+{self.ref}:{self.shared.known}"])
        now = self.known()
        if said.ok and now is not None and now != before and self._has_lfs(now):
            self._reach(["lfs", "fetch", self.shared.remote, now])  # what is not to be had stays a pointer: see doctor
        return self._without_refs(said) if said.cause is Cause.MISSING else said

    def _without_refs(self, said: Reply) -> Reply:
        """Why main is missing where the answer has no ref at all: a new remote, or a page instead of git."""
        answered, out = self._reached(["ls-remote", "--", self.shared.remote], {"GIT_TRACE_PACKET": "1"})
        if not answered.ok or out:
            return said
        if self.address().startswith(("http://", "https://")) and "packet:" not in answered.words:
            return replace(said, words="a web page answers at the remote, not a git server", cause=Cause.NOT_GIT)
        push = f"git push {shlex.quote(self.shared.remote)} {shlex.quote(self.shared.branch)}"
        return replace(said, words=f"{WAITS[Cause.EMPTY].words}: type `{push}`", cause=Cause.EMPTY)

    def unseen(self, new: str, said: Reply) -> Reply:
        """Why a push is refused as out of date although the remote's main is at `old`."""
        if self._urls() != [self.address()]:
            words = "the remote has different addresses to fetch and to push, and their main branches differ"
            return replace(said, words=words, cause=Cause.ADDRESSES)
        asked = ["push", "--dry-run", "--porcelain", "--no-follow-tags", "--recurse-submodules=no", "--no-verify"]
        tried, out = self._reached([*asked, "--", self.shared.remote, f"{new}:{self.ref}"])
        if tried.ok and "[new branch]" in out:
            return replace(said, words=f"the remote hides {self.ref} from pushes (hideRefs)", cause=Cause.PROTECTED)
        return said

    def push(self, new: str, old: str) -> Reply:
        """Move the remote's main from `old` to `new` by the remote's own compare-and-swap."""
        urls = self._urls()
        if len(urls) > 1:
            # they move one after the other, so none of them decides
            words = f"the remote '{self.shared.remote}' pushes to {count(len(urls), 'address', 'addresses')}; keep one"
            return Reply(False, words, refused=True, cause=Cause.ADDRESSES)
        return self.move(self.ref, new, old)

    def head_of(self, branch: str) -> tuple[str, Reply]:
        """Where the branch is at the remote; "": missing."""
        return self.at(f"refs/heads/{branch}")

    def at(self, ref: str) -> tuple[str, Reply]:
        """Where the ref is at the remote; "": missing."""
        said, out = self._reached(["ls-remote", "--", self.shared.remote, ref])
        lines = (line.partition("\t") for line in out.splitlines())
        return next((commit for commit, _, name in lines if name == ref), ""), said

    def push_branch(self, branch: str, new: str, old: str) -> Reply:
        """Move the remote's branch from `old` ("": missing) to `new`, if it is there."""
        return self.move(f"refs/heads/{branch}", new, old)

    def move(self, ref: str, new: str, old: str) -> Reply:
        """Move the remote's ref from `old` ("": missing) to `new` ("": remove it)."""
        if not (content := self.push_content(new)).ok:
            return content
        return self.push_all({ref: (new, old)}) if self.fence is None else self.fence(self, ref, new, old)

    def push_content(self, new: str) -> Reply:
        """First, so that no pointer is there without its content; git's own hook is off."""
        if not new or not self._has_lfs(new):
            return Reply(True)
        said = self._reach(["lfs", "push", self.shared.remote, new])
        return said if said.ok else replace(said, words=f"the remote rejected the content of Git LFS: {said.words}")

    def push_all(self, moved: Mapping[str, tuple[str, str]]) -> Reply:
        """Move all these refs, ref -> (new, old), or none."""
        self.place.in_place()
        asked = ["push", "--porcelain", "--atomic", "--no-follow-tags", "--recurse-submodules=no", "--no-verify"]
        leases = [f"--force-with-lease={ref}:{old}" for ref, (_, old) in moved.items()]
        refs = [f"{new}:{ref}" for ref, (new, _) in moved.items()]
        return self._reach([*asked, *leases, "--", self.shared.remote, *refs])

    def fetch_all(self, *refspecs: str) -> Reply:
        """Fetch refs to places of ours, and remove there what the remote lacks."""
        args = ["fetch", "--quiet", "--no-tags", "--prune", "--no-recurse-submodules", "--no-write-fetch-head"]
        return self._reach([*DURABLE, *args, "--refmap=", "--", self.shared.remote, *refspecs])

    def _has_lfs(self, commit: str) -> bool:
        if not lfs.is_used(self.place):
            return False
        with closing(Objects(self.place)) as objects:
            return lfs.NAME in Filters(self.place, objects).names(commit)

    def branches(self, *patterns: str) -> tuple[dict[str, str], Reply]:
        """The remote's branches matching one of the patterns, with their commits."""
        wanted = [f"refs/heads/{pattern}" for pattern in patterns]
        said, out = self._reached(["ls-remote", "--", self.shared.remote, *wanted])
        lines = [line.split("\t") for line in out.splitlines() if line.count("\t") == 1]
        return {name.removeprefix("refs/heads/"): commit for commit, name in lines}, said

    def remove_branch(self, branch: str, there: str) -> Reply:
        """Remove the remote's branch if it is still at `there`."""
        return self.move(f"refs/heads/{branch}", "", there)

    def address(self) -> str:
        return self._ask(["remote", "get-url", "--", self.shared.remote], (0, 2, 128)).text

    def _urls(self) -> list[str]:
        asked = ["remote", "get-url", "--push", "--all", "--", self.shared.remote]
        return self._ask(asked, (0, 2, 128)).text.split("\n")

    def _ask(self, arguments: Sequence[str], expect: Sequence[int]) -> command_line.Answer:
        return command_line.run(arguments, cwd=self.place.git_dir, env=self._env(), expect=expect)

    def _env(self) -> dict[str, str]:
        kept = {name: self.place.plumbing[name] for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}
        return {**CHECKOUT, **kept}

    def _ssh(self) -> str | None:
        """The person's own ssh command, without prompts; None: not OpenSSH."""
        named = os.environ.get("GIT_SSH_COMMAND")
        if named is None and "GIT_SSH" in os.environ:
            return None
        if named is None:
            named = self._ask(["config", "--get", "core.sshCommand"], (0, 1)).text or "ssh"
        try:
            first = shlex.split(named)[:1]
        except ValueError:
            return None
        if [os.path.basename(word) for word in first] != ["ssh"]:
            return None
        return f"{named} -o BatchMode=yes -o ConnectTimeout={max(1, int(self.shared.seconds))}"

    def _reach(self, arguments: Sequence[str]) -> Reply:
        return self._reached(arguments)[0]

    def _reached(self, arguments: Sequence[str], more: Mapping[str, str] | None = None) -> tuple[Reply, str]:
        env = {**self._env(), **(more or {})}
        if (ssh := self._ssh()) is not None:
            env["GIT_SSH_COMMAND"] = ssh
        # files and not pipes: whatever outlives git could keep a pipe open, and with that us
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
            code = self._run(["git", *arguments], {**inherited(env), **env}, out, error)
            said = _text(out), _text(error)
        if code == 0 and (arguments[0] != "push" or DONE in said[0].split("\n")):
            return Reply(True, said[1] if more else ""), said[0]
        if code is None:
            words = f"{self.shared.remote} did not answer in {count(self.shared.seconds, 'second')}"
            return Reply(False, _words(words, *said), cause=Cause.SILENT), ""
        refused = code == 1 and any(line.startswith("!") for line in said[0].split("\n"))
        cause = cause_of("\n".join(reversed(said)), "push" in arguments[:2])
        return Reply(False, _words(f"git ended with {code}", *said), refused, cause), ""

    def _run(self, command: list[str], env: dict[str, str], out: IO[bytes], error: IO[bytes]) -> int | None:
        """The exit code; None: it took too long."""
        import subprocess

        try:
            process = subprocess.Popen(
                command,
                # an address such as ../remote.git is read from where git is run
                cwd=self.place.worktree or self.place.git_dir,
                env={**env, "PATH": own_path(self.place.git_dir)},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=error,
                start_new_session=True,  # no terminal, so nothing can ask there; and one group to end
            )
        except FileNotFoundError:
            raise GitTooOld("git is not installed, or not on the PATH") from None
        except OSError as failed:
            raise GitFailed(f"`git {command[1]}` cannot run: {failed.strerror}") from None
        try:
            return process.wait(self.shared.seconds)
        except subprocess.TimeoutExpired:
            command_line.end(process)
        # what was asked to end may have ended well at that moment
        return 0 if process.poll() == 0 else None


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(64_000).decode("utf-8", "replace")


def _words(otherwise: str, out: str, error: str) -> str:
    return redacted(first_words(f"{error}\n{out}")) or otherwise


_TRIES = 3


# The push with a lease is the decision: it comes before the local main moves, and only when that could. One whose end
# nobody knows is asked for again, under the same lease. Main here with commits of its own waits for a person: nothing
# of theirs is pushed.
class SharedLander:
    """Moves a main that others push to as well."""

    def __init__(self, place: Place, history: History, local: Lander, remote: Remote) -> None:
        self.place = place
        self.history = history
        self.local = local
        self.remote = remote

    def is_shared(self) -> bool:
        return True

    def catch_up(self) -> Land:
        heard = self.remote.fetch()
        return self._follow(None) if heard.ok else unheard(self.remote, heard)

    def obstacle(self, new: str, old: str) -> Land | None:
        return self.local.obstacle(new, old)

    def land(self, new: str, old: str) -> Land:
        if not has(self.remote, self.history, new):
            main = objects.main(self.place)
            if main == old:
                if (reason := self.local.obstacle(new, old)) is not None:
                    return reason
                undecided = pushed(self.remote, self.history, new, old)
            else:
                undecided = self._look(new, main, old)
            if undecided is not None:
                return undecided
        if self.history.contains(new, objects.main(self.place)):
            settled = self.local.settle(Note(old, new), is_elsewhere=True)  # a crash may have left checkouts behind
            if settled.landing is not Landing.MOVED:
                return replace(settled, may_have_landed=True)
        return self._follow(new)

    def commit(self, make: Callable[[], str | None]) -> str | None:
        """Let `make` commit on main here, and push it; GitFailed says whether it was made."""
        ready = self.catch_up()
        if ready.landing is not Landing.MOVED:
            raise GitFailed(f"nothing was committed: {ready.reason}")
        made = make()
        if made is not None:
            said = self.remote.push(made, self.remote.known() or "")
            if not said.ok:
                words = f"{made[:12]} is on your local main, but {self.remote} rejected it: {said.words}"
                raise GitFailed(words, WAITS[said.cause].remedy or "Push main. Merges then continue.")
            objects.update(self.place, {self.remote.shared.known: made})
        return made

    def _look(self, new: str, main: str, old: str) -> Land | None:
        """Main here moved by itself; None: the remote's main contains `new`, so it landed."""
        heard = self.remote.fetch()
        if not heard.ok:
            return replace(unheard(self.remote, heard), may_have_landed=True)
        if has(self.remote, self.history, new):
            return None
        if self.history.contains(new, main):
            return self._ahead()
        return Land(Landing.LOST, f"main is at {main[:12]}, not at {old[:12]}")

    def _follow(self, new: str | None) -> Land:
        """Bring main here to the remote's. `new`: what has just landed there, and cannot be called back."""
        landed = new is not None
        for _ in range(_TRIES):
            main, there = objects.main(self.place), self.remote.known()
            if there is None:
                return _waits(Cause.MISSING, f"nobrakes does not know {self.remote} yet", landed)
            if main == there:
                settled = self.local.settle(is_elsewhere=True)
                return settled if settled.landing is Landing.MOVED else replace(settled, may_have_landed=landed)
            if not self.history.contains(main, there):
                if not self.history.contains(there, main):
                    what = f"your local main and the remote's main have diverged. Rebase main onto {self.remote}; push"
                    return _waits(Cause.PARTED, what, landed)
                return Land(Landing.MOVED) if landed else self._ahead()
            land = self.local.land(there, main)
            if land.landing is Landing.BLOCKED:
                return replace(land, may_have_landed=landed)
        return _waits(Cause.RACES, "main changes too fast to merge: nobrakes cannot update local main", landed)

    def _ahead(self) -> Land:
        what = f"your local main has commits that the remote lacks ({self.remote}). Push main. The merge then continues"
        return _waits(Cause.AHEAD, what)


def has(remote: Remote, history: History, new: str) -> bool:
    there = remote.known()
    return there is not None and history.contains(new, there)


def pushed(remote: Remote, history: History, new: str, old: str) -> Land | None:
    """Move the remote's main from `old` to `new`; None: it contains `new`."""
    said = remote.push(new, old)
    if said.ok:
        objects.update(remote.place, {remote.shared.known: new})
        return None
    if not remote.fetch().ok:
        return replace(refused(remote, f"{remote} rejected the push", said), may_have_landed=not said.refused)
    if has(remote, history, new):
        return None
    if remote.known() != old:
        return Land(Landing.LOST, f"{remote} has moved meanwhile")
    if said.cause is Cause.RACES and said.refused:
        said = remote.unseen(new, said)
    # a remote that nobody hears any more may still be at it
    return replace(refused(remote, f"{remote} rejected the push", said), may_have_landed=not said.refused)


def unheard(remote: Remote, said: Reply) -> Land:
    return refused(remote, f"cannot fetch {remote}", said)


def refused(remote: Remote, what: str, said: Reply) -> Land:
    """A remote failed, in its own words, with the remedy. Unless it rejected the request, it may still have done it."""
    return Land(Landing.BLOCKED, why(said.cause, f"{what}: {said.words}", remote.shared.by_request), said.cause)


def _waits(cause: Cause, what: str, may_have_landed: bool = False) -> Land:
    return Land(Landing.BLOCKED, why(cause, what), cause, may_have_landed)


BRANCHES = ("*/bead-*", "feature/*")
"""Names of the branches of beads and epics."""
_WHY = 'main changes by merged pull requests alone (review.land = "pull_request")'


def followed(root: str, main: str, shared: Shared, in_place: Callable[[], None] = lambda: None) -> Place:
    """A repository whose main is the last known main of the remote."""
    return Place(root, main, shared.known, (*shared.before, f"refs/heads/{main}"), in_place)


def with_base_branch(shared: Shared, branch: str, direct: bool) -> Shared:
    """The same remote with another branch as main; empty: the same branch."""
    if not branch:
        return replace(shared, direct=direct)
    return replace(shared, branch=branch, known=own_ref(f"{BASES}/{branch}"), direct=direct)


class RequestLander:
    """Follows the main that others merge to."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote

    def is_shared(self) -> bool:
        return True

    def catch_up(self) -> Land:
        heard = self.remote.fetch()
        return Land(Landing.MOVED) if heard.ok else unheard(self.remote, heard)

    def obstacle(self, new: str, old: str) -> Land | None:
        return None

    def land(self, new: str, old: str) -> Land:
        return Land(Landing.BLOCKED, _WHY, Cause.BY_REQUEST)

    def commit(self, make: Callable[[], str | None]) -> str | None:
        raise OnlyByRequest(f"nothing was committed on main: {_WHY}")


class DirectLander(RequestLander):
    """Follows a branch that others merge to, and pushes to it what needs no request."""

    def __init__(self, remote: Remote, history: History) -> None:
        super().__init__(remote)
        self.history = history

    def land(self, new: str, old: str) -> Land:
        if has(self.remote, self.history, new):
            return Land(Landing.MOVED)
        return pushed(self.remote, self.history, new, old) or Land(Landing.MOVED)


class Publisher:
    """Pushes the branches of requests, and removes them."""

    def __init__(self, remote: Remote, names: Collection[str], bases: Collection[str] = ()) -> None:
        """`names`: patterns of our branches; `bases`: branches beside main that people merge to."""
        self.remote = remote
        self.names = names
        self.bases = bases

    def __call__(self, branch: str, commit: str, ours: Collection[str]) -> Land:
        """Push `commit` to the remote's `branch` if it is missing or at one of `ours`."""
        there, said = self.remote.head_of(branch)
        if not said.ok:
            return refused(self.remote, f"cannot reach {self.remote.shared.remote}", said)
        if there == commit:
            return Land(Landing.MOVED)
        if there and there not in ours:
            return Land(
                Landing.LOST,
                f"the remote's branch {branch} is at {there[:12]}, which nobrakes did not push. Rename or delete it",
            )
        said = self.remote.push_branch(branch, commit, there)
        if said.ok:
            return Land(Landing.MOVED)
        return refused(self.remote, f"{self.remote.shared.remote} rejected the branch {branch}", said)

    def remove(self, branch: str, ours: Collection[str]) -> Land:
        """Remove the remote's `branch` if it is at one of `ours`, which stay alive here. LOST: it is not ours."""
        there, said = self.remote.head_of(branch)
        if not said.ok:
            return refused(self.remote, f"cannot reach {self.remote.shared.remote}", said)
        if not there:
            return Land(Landing.MOVED)
        if there not in ours or branch in (self.remote.shared.branch, *self.bases):
            return Land(Landing.LOST, f"the remote's branch {branch} is at {there[:12]}, which nobrakes did not push")
        said = self.remote.remove_branch(branch, there)
        what = f"{self.remote.shared.remote} did not delete the branch {branch}"
        return Land(Landing.MOVED) if said.ok else refused(self.remote, what, said)

    def branches(self) -> Mapping[str, str]:
        """The remote's branches with our names. Raises GitFailed."""
        found, said = self.remote.branches(*self.names)
        if not said.ok:
            raise GitFailed(f"cannot reach {self.remote.shared.remote}: {said.words}")
        return found
