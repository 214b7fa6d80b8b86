"""A remote that main is shared by: what it is asked, in bounded time, and its answers in git's own words.

1. Nothing can ask for a password or a host key: no terminal, no prompt, ssh in batch mode; what takes too long is ended
   with everything that it started.
2. It runs under the human's own configuration (their credential helper, proxy, ssh command) in the human's repository,
   and never in a workspace. Hooks are off, as everywhere.
3. What it says is shown without the user's part of addresses, which may hold a password.
"""

import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import IO

from ...core.errors import GitFailed, GitTooOld
from ...core.review.waits import Cause, cause_of, first_words
from ...environ import process_environment
from ...paths import own_path
from .. import bounded, commands, lfs, refs
from ..environment import CHECKOUT, strays
from ..filters import Filters
from ..location import Place
from ..objects import Objects
from ..transactions import DURABLE

KNOWN = f"{refs.OWN}/remote/main"
"""Where the remote's main was when it was last heard of."""

DONE = "Done"
"""The last word of a push that did all that it was to do: an exit code alone may be one that nobody could collect."""

_USER = re.compile(r"(?<=://)[^/@\s]+(?=@)")
_QUERY = re.compile(r"(\w+://[^\s?'\"]+)\?[^\s'\"]+")


@dataclass(frozen=True, slots=True)
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
        """What a person's own fetches say of it: it stands for it until it is heard of."""
        return (f"refs/remotes/{self.remote}/{self.branch}",)


@dataclass(frozen=True, slots=True)
class Reply:
    """How a command that reaches the remote ended, and why. `refused`: the remote said no, so it did nothing."""

    ok: bool
    words: str = ""
    refused: bool = False
    cause: Cause = Cause.NONE


def redacted(text: str) -> str:
    """The text without what in addresses may be secret: user, password, query."""
    return _QUERY.sub(r"\1", _USER.sub("***", text))


class Remote:
    """One remote of one repository."""

    def __init__(self, place: Place, shared: Shared) -> None:
        self.place = place
        self.shared = shared
        self.ref = f"refs/heads/{shared.branch}"

    def __str__(self) -> str:
        return f"{self.shared.remote}/{self.shared.branch}"

    def known(self) -> str | None:
        """Where the remote's main was when it was last heard of; None: never."""
        return refs.read(self.place, self.shared.known)

    def fetch(self) -> Reply:
        """Learn where the remote's main is (`known`)."""
        asked = ["fetch", "--quiet", "--no-tags", "--no-prune", "--no-recurse-submodules", "--no-write-fetch-head"]
        before = self.known()
        # without --refmap a human's own remote-tracking refs would move, and they are not ours
        said = self._reach(
            [*DURABLE, *asked, "--refmap=", "--", self.shared.remote, f"+{self.ref}:{self.shared.known}"]
        )
        now = self.known()
        if said.ok and now is not None and now != before and self._has_lfs(now):
            self._reach(
                ["lfs", "fetch", self.shared.remote, now]
            )  # what is not to be had stays a pointer: doctor says so
        return said

    def push(self, new: str, old: str) -> Reply:
        """Move the remote's main from `old` to `new`, if it is there: the remote's own compare-and-swap."""
        urls = self._urls()
        if len(urls) > 1:
            # they move one after the other, so none of them decides
            words = f"the remote '{self.shared.remote}' pushes to {len(urls)} addresses; leave one of them"
            return Reply(False, words, refused=True, cause=Cause.ADDRESSES)
        return self._push(self.ref, new, old)

    def head_of(self, branch: str) -> tuple[str, Reply]:
        """Where the branch is at the remote; "": it is not there."""
        ref = f"refs/heads/{branch}"
        said, out = self._reached(["ls-remote", "--", self.shared.remote, ref])
        lines = (line.partition("\t") for line in out.splitlines())
        return next((commit for commit, _, name in lines if name == ref), ""), said

    def push_branch(self, branch: str, new: str, old: str) -> Reply:
        """Move the remote's branch from `old` ("": it is not there) to `new`, if it is there."""
        return self._push(f"refs/heads/{branch}", new, old)

    def _push(self, ref: str, new: str, old: str) -> Reply:
        if self._has_lfs(new):  # first, so that no pointer is there without its content; git's own hook is off
            content = self._reach(["lfs", "push", self.shared.remote, new])
            if not content.ok:
                return replace(content, words=f"the content that Git LFS keeps was not taken: {content.words}")
        asked = ["push", "--porcelain", "--atomic", "--no-follow-tags", "--recurse-submodules=no", "--no-verify"]
        return self._reach([*asked, f"--force-with-lease={ref}:{old}", "--", self.shared.remote, f"{new}:{ref}"])

    def _has_lfs(self, commit: str) -> bool:
        """Whether anything of the commit is kept by Git LFS, as far as this repository has to do with it."""
        if not lfs.is_used(self.place):
            return False
        with closing(Objects(self.place)) as objects:
            return lfs.NAME in Filters(self.place, objects).names(commit)

    def branches(self, *patterns: str) -> tuple[dict[str, str], Reply]:
        """The remote's branches that fit one of the patterns, and where each is."""
        wanted = [f"refs/heads/{pattern}" for pattern in patterns]
        said, out = self._reached(["ls-remote", "--", self.shared.remote, *wanted])
        lines = [line.split("\t") for line in out.splitlines() if line.count("\t") == 1]
        return {name.removeprefix("refs/heads/"): commit for commit, name in lines}, said

    def remove_branch(self, branch: str, there: str) -> Reply:
        """Remove the remote's branch, if it is still there."""
        ref = f"refs/heads/{branch}"
        asked = ["push", "--porcelain", "--atomic", "--no-follow-tags", "--recurse-submodules=no", "--no-verify"]
        return self._reach([*asked, f"--force-with-lease={ref}:{there}", "--", self.shared.remote, f":{ref}"])

    def address(self) -> str:
        """The remote's address, as git has it."""
        return self._ask(["remote", "get-url", "--", self.shared.remote], (0, 2, 128)).text

    def _urls(self) -> list[str]:
        asked = ["remote", "get-url", "--push", "--all", "--", self.shared.remote]
        return self._ask(asked, (0, 2, 128)).text.split("\n")

    def _ask(self, arguments: Sequence[str], expect: Sequence[int]) -> commands.Answer:
        return commands.run(arguments, cwd=self.place.git_dir, env=self._env(), expect=expect)

    def _env(self) -> dict[str, str]:
        kept = {name: self.place.plumbing[name] for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE")}
        return {**CHECKOUT, **kept}

    def _ssh(self) -> str | None:
        """The human's own ssh command, told to ask nobody; None: it is no OpenSSH, and has to know by itself."""
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

    def _reached(self, arguments: Sequence[str]) -> tuple[Reply, str]:
        env = self._env()
        ssh = self._ssh()
        if ssh is not None:
            env["GIT_SSH_COMMAND"] = ssh
        stray = strays(env)
        passed = {name: value for name, value in process_environment().items() if name not in stray}
        # files and not pipes: whatever outlives git could keep a pipe open, and with that us
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
            code = self._run(["git", *arguments], {**passed, **env}, out, error)
            said = _text(out), _text(error)
        if code == 0 and (arguments[0] != "push" or DONE in said[0].split("\n")):
            return Reply(True), said[0]
        if code is None:
            words = f"{self.shared.remote} did not answer in {self.shared.seconds:g} seconds"
            return Reply(False, _words(words, *said), cause=Cause.SILENT), ""
        refused, cause = _is_refused(code, said[0]), cause_of("\n".join(reversed(said)))
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
            bounded.end(process)
        # what was asked to end may have ended well at that moment
        return 0 if process.poll() == 0 else None


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(64_000).decode("utf-8", "replace")


def _is_refused(code: int, out: str) -> bool:
    """Whether the remote answered, and said no to this ref."""
    return code == 1 and any(line.startswith("!") for line in out.split("\n"))


def _words(otherwise: str, out: str, error: str) -> str:
    """The lines that say what went wrong, as one."""
    return redacted(first_words(f"{error}\n{out}")) or otherwise
