"""The command layer: one git command at a time, under an environment of our own (see environment).

1. Commands are lists; nothing is read by a shell. Outputs are bytes; lists are asked for with -z.
2. A question with a short answer is asked here: importing GitPython takes longer than ten of them, and most of our
   processes ask fewer. GitPython moves what is streamed from and to files, such as packs.
3. GitPython copies this process's environment; what may not pass is unset by `env -u`, which costs a process, but
   only where there is something to unset.
4. An exit code that the caller did not ask for is GitFailed, with the command and the last line of its errors.
5. Every command has a time (`seconds`, else by its word: bounded.seconds_for); one that hangs is ended: NoAnswer.
"""

import contextlib
import os
import re
import sys
from _thread import allocate_lock
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import IO, TYPE_CHECKING, Any, BinaryIO, cast

from ..core.errors import DiskFull, GitFailed, GitTooOld, MachineShort, NobrakesError, RefsBroken, StoreReadOnly
from ..environ import process_environment
from ..paths import own_path
from . import bounded
from .environment import PLUMBING, strays

if TYPE_CHECKING:
    import subprocess

OLDEST = (2, 38)
_SHOWN = 200
_TOO_LARGE = re.compile(r": File too large$", re.MULTILINE)
_BROKEN_REFS = re.compile(r"^fatal: (?:unexpected|unterminated) line in .*packed-refs", re.MULTILINE)
# at the end of a line, where git puts the system's own words, and not in a name of an agent's
_SHORT = re.compile(
    r"(?:^|: |\] )(?:Too many open files(?: in system)?|Cannot allocate memory|Resource temporarily unavailable"
    r"|Input/output error|Stale file handle)$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class Answer:
    """How a command ended."""

    code: int
    out: bytes
    error: str

    @property
    def text(self) -> str:
        """The output as text without its last line end; for object ids and other plain answers."""
        return os.fsdecode(self.out).rstrip("\n")

    @property
    def records(self) -> list[str]:
        """The output's NUL-terminated records as text (file names keep undecodable bytes as surrogates)."""
        return os.fsdecode(self.out).split("\0")[:-1]


def failure(command: Sequence[str], code: int, error: str) -> NobrakesError:
    """The error that a failed command stands for."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    last = lines[-1][:_SHOWN] if lines else f"exit code {code}"
    if "No space left on device" in error or "Disk quota exceeded" in error or _TOO_LARGE.search(error):
        return DiskFull(f"git could not write: {last}")
    if _SHORT.search(error):
        return MachineShort(f"git could not work: {last}")
    if "Read-only file system" in error:
        return StoreReadOnly(f"git could not write: {last}", "Check that the file system is not mounted read-only.")
    if _BROKEN_REFS.search(error):
        return RefsBroken(
            f"git can read no ref at all: {last}",
            "Stop nobrakes, keep a copy (`cp .git/packed-refs packed-refs.copy`), and open .git/packed-refs in an "
            "editor. Mend the line that git names, or take that line alone out: `git for-each-ref` works again then, "
            "and `nobrakes doctor` says what is missing.",
        )
    if "promisor remote" in error or "lazy fetch" in error:
        return GitFailed(
            f"this partial clone lacks an object, and its remote did not give it: {last}",
            "Bring the remote in reach; `git fetch --refetch --no-filter` then makes it a whole clone.",
        )
    shown = " ".join(command)
    return GitFailed(
        f"`{shown[:_SHOWN]}` failed: {last}",
        "Run `nobrakes doctor`; `git fsck` says whether the repository itself is whole.",
    )


def environment_of(given: Mapping[str, str]) -> tuple[list[str], Mapping[str, str]]:
    """What has to stand before a command of GitPython's, and its environment, so that no GIT_* of ours gets through."""
    prefix: list[str] = []
    for name in strays(given):
        # -u and not -i: values on a command line can be read by everyone on the machine
        prefix += ["-u", name]
    return (["env", *prefix] if prefix else []), given


def run(
    arguments: Sequence[str],
    *,
    cwd: str,
    env: Mapping[str, str] = PLUMBING,
    stdin: bytes | IO[bytes] | None = None,
    stdout: IO[bytes] | None = None,
    expect: Sequence[int] = (0,),
    seconds: float | None = None,
) -> Answer:
    """Run `git ARGUMENTS` in `cwd` and return how it ended; `stdout` receives the output instead of the answer.

    `seconds`: the time that it has (default: by its word). GitFailed, GitTooOld, DiskFull, StoreReadOnly, NoAnswer.
    """
    limit = bounded.seconds_for(arguments) if seconds is None else seconds
    if not os.path.isdir(cwd):
        # GitPython would quietly run in the current folder instead
        raise GitFailed(f"`{' '.join(['git', *arguments])[:_SHOWN]}` cannot run: the folder {cwd} is gone")
    try:
        if stdout is not None or not isinstance(stdin, bytes | None):
            answer = _stream(arguments, cwd, env, stdin, stdout, limit)
        else:
            answer = _ask(arguments, cwd, env, stdin, limit)
    except FileNotFoundError:
        raise GitTooOld("git is not installed, or not on the PATH") from None
    except OSError as error:
        raise failure(["git", *arguments], -1, str(error)) from None
    if answer.code not in expect:
        raise failure(["git", *arguments], answer.code, answer.error)
    return answer


def _ask(arguments: Sequence[str], cwd: str, env: Mapping[str, str], stdin: bytes | None, limit: float) -> Answer:
    stray = strays(env)
    passed = {name: value for name, value in process_environment().items() if name not in stray}
    with contextlib.ExitStack() as stack:
        file = None
        if stdin is not None and len(stdin) > bounded.CHUNK:
            # a pipe would be fed page by page
            file, stdin = stack.enter_context(_file(stdin)), None
        process = bounded.start(arguments, cwd, {**passed, **env}, stdin=file)
        return _ended(process, arguments, stdin or b"", limit, None)


def _ended(
    process: "subprocess.Popen[bytes]", arguments: Sequence[str], said: bytes, limit: float, stdout: IO[bytes] | None
) -> Answer:
    """How the process ended, its output in the answer or in `stdout`; NoAnswer."""
    out: list[bytes] = []
    error = bounded.exchange(process, said, limit, out.append if stdout is None else stdout.write)
    if error is None:
        raise bounded.no_answer(arguments, limit)
    return Answer(process.returncode, b"".join(out), error.decode("utf-8", "replace").rstrip("\n"))


@contextlib.contextmanager
def _file(content: bytes) -> Iterator[IO[bytes]]:
    """A file without a name, to be read from its beginning."""
    import tempfile

    with tempfile.TemporaryFile() as opened:
        opened.write(content)
        opened.seek(0)
        yield opened


_IMPORTING = allocate_lock()


def _import_gitpython() -> None:
    # as if there were no git: else it asks git for its version, however long that takes; we name git in each command
    with _IMPORTING:  # the environment is everybody's, and several threads ask git
        if "git" not in sys.modules:
            _import_blind()


def _import_blind() -> None:
    absent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "no-git-here")  # where nobody else writes
    blind = {"GIT_PYTHON_GIT_EXECUTABLE": absent, "GIT_PYTHON_REFRESH": "quiet"}
    before = {name: os.environ.pop(name, None) for name in blind}
    os.environ.update(blind)
    try:
        import git  # noqa: F401
    finally:
        for name, value in before.items():
            del os.environ[name]
            if value is not None:
                os.environ[name] = value


def _stream(
    arguments: Sequence[str], cwd: str, env: Mapping[str, str], stdin: Any, stdout: IO[bytes] | None, limit: float
) -> Answer:
    _import_gitpython()
    import git.exc

    prefix, environment = environment_of({**env, "PATH": own_path(cwd)})
    with contextlib.ExitStack() as stack:
        if isinstance(stdin, bytes):
            stdin = stack.enter_context(_file(stdin))
        try:
            started = git.Git(cwd).execute(
                [*prefix, "git", *arguments],
                istream=cast(BinaryIO, stdin),
                as_process=True,
                env=environment,
                process_group=0,
            )
        except git.exc.GitCommandNotFound:
            raise FileNotFoundError from None
        # taken out of its hands: GitPython would wait for the end without a limit
        process, started.proc = cast("subprocess.Popen[bytes]", started.proc), None
        answer = _ended(process, arguments, b"", limit, stdout)
        if stdout is not None:
            stdout.flush()
        return answer


def converse(
    arguments: Sequence[str], cwd: str, env: Mapping[str, str], errors: IO[bytes] | None = None
) -> "subprocess.Popen[bytes]":
    """Start a git command that goes on answering through its stdin and stdout; `errors`: where its complaints go.

    Not by GitPython: its stderr pipe, which nobody empties, would stop a long conversation.
    """
    import subprocess

    bare = {name: value for name, value in process_environment().items() if not name.startswith("GIT_")}
    try:
        return bounded.start(arguments, cwd, {**bare, **env}, stderr=subprocess.DEVNULL if errors is None else errors)
    except OSError as error:
        raise failure(["git", *arguments], -1, str(error)) from None


def hang_up(process: "subprocess.Popen[bytes]", at_once: bool = False) -> None:
    """End a command that goes on answering: its input closes, and with that it ends. `at_once`: it is known to hang."""
    for stream in (process.stdin, process.stdout):
        # what it was never told is no loss when it is dead
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
    if at_once or not bounded.ends(process, bounded.GRACE_SECONDS):
        bounded.end(process)


def version() -> tuple[int, ...]:
    """The installed git's version; GitTooOld below 2.38 and where there is none."""
    return _version(os.environ.get("PATH", ""))


@cache
def _version(path: str) -> tuple[int, ...]:
    """The version of the git on this PATH: asked once, whoever begins with it."""
    answer = run(["version"], cwd="/")
    found = parse_version(answer.text)
    if found < OLDEST:
        shown = ".".join(map(str, found)) or answer.text[:40]
        raise GitTooOld(f"git {shown} is too old; the Reviewer needs 2.38")
    return found


def parse_version(text: str) -> tuple[int, ...]:
    """The numbers in `git version 2.39.5 (Apple Git-154)`; empty when there are none."""
    words = text.split()
    numbers = words[2].split(".") if len(words) > 2 else []
    found: list[int] = []
    for number in numbers[:3]:
        if not number.isdigit():
            break
        found.append(int(number))
    return tuple(found)
