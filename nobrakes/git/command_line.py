"""The command layer: one git command at a time, in our own environment.

1. Commands are lists without a shell; outputs are bytes, lists use -z.
2. Short questions are asked here: importing GitPython costs more than ten of them. GitPython streams from and to files,
   such as packs.
3. GitPython copies this process's environment; forbidden variables are unset by `env -u`, only if there are any.
4. An unexpected exit code is GitFailed, with the command and its last error line; an unreadable configuration is
   GitUnusable, so that work is not blamed.
5. Every command has a time limit (`seconds`, else seconds_for); then it is killed: NoAnswer.
"""

import contextlib
import os
import re
import select
import signal
import sys
import threading
import time
from _thread import allocate_lock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from typing import IO, TYPE_CHECKING, Any, BinaryIO, TypeVar, cast

from .. import EMAIL, NAME, errors
from ..errors import DiskFull, GitFailed, GitTooOld, GitUnusable, NoAnswer, NobrakesError, ObjectsAway, StoreReadOnly
from ..paths import own_path, process_environment
from ..records import frozen
from ..text.cleaning import count

if TYPE_CHECKING:
    import subprocess

    from .commits import Person


# A hang is not an answer: NoAnswer is no GitFailed, so nobody judges work by it. The child is asked to end first,
# since git removes its lock files then, and killed with what it started a moment later. What a kill does not end waits
# for a disk: it is left behind and named by `left`. Time is the machine's own (monotonic).
SHORT_SECONDS = 60.0
"""For commands that read a few files, and for each silence of a command that keeps answering."""
LONG_SECONDS = 600.0
"""For commands whose work grows with the repository."""
GRACE_SECONDS = 2.0
CHUNK = 65_536

_SHORT_WORDS = """cat-file commit-tree config for-each-ref hash-object init mktree remote rev-parse show-ref
symbolic-ref update-ref version"""
_BOUNDED_SHORT = frozenset(_SHORT_WORDS.split())
_BOUNDED_SHOWN = 120
_left: "list[subprocess.Popen[bytes]]" = []


def seconds_for(arguments: Sequence[str]) -> float:
    words = iter(arguments)
    for word in words:
        if word == "-c":
            next(words, None)
        elif not word.startswith("-"):
            return SHORT_SECONDS if word in _BOUNDED_SHORT else LONG_SECONDS
    return LONG_SECONDS


def no_answer(arguments: Sequence[str], seconds: float) -> NoAnswer:
    return NoAnswer(f"`{_shown(['git', *arguments])}` did not answer in {count(seconds, 'second')} and was stopped")


def start(
    arguments: Sequence[str], cwd: str, env: Mapping[str, str], stdin: Any = None, stderr: Any = None
) -> "subprocess.Popen[bytes]":
    """Start `git ARGUMENTS` under exactly this environment, with pipes where no stream is given; OSError."""
    return begin(["git", *arguments], cwd, env, stdin, stderr)


def begin(
    words: Sequence[str], cwd: str, env: Mapping[str, str], stdin: Any = None, stderr: Any = None
) -> "subprocess.Popen[bytes]":
    import subprocess

    pipe = subprocess.PIPE
    return subprocess.Popen(
        words,
        cwd=cwd,
        env={**env, "PATH": own_path(cwd, env.get("PATH", os.defpath))},
        process_group=0,
        stdin=pipe if stdin is None else stdin,
        stdout=pipe,
        stderr=pipe if stderr is None else stderr,
    )


def exchange(
    process: "subprocess.Popen[bytes]", said: bytes, seconds: float, take: Callable[[bytes], object]
) -> bytes | None:
    """Send `said`, pass the output to `take` piece by piece, and return the errors. None: it did not end in `seconds`
    and was killed. Any exception kills it too."""
    deadline = time.monotonic() + seconds
    stderr = bytearray()
    try:
        if _move(process, said, deadline, take, stderr.extend) and ends(process, deadline - time.monotonic()):
            return bytes(stderr)
        end(process)
        return None
    except BaseException:
        end(process)
        raise
    finally:
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _move(
    process: "subprocess.Popen[bytes]",
    said: bytes,
    deadline: float,
    take: Callable[[bytes], object],
    take_error: Callable[[bytes], object],
) -> bool:
    assert process.stdout is not None and process.stderr is not None
    takers = {process.stdout.fileno(): take, process.stderr.fileno(): take_error}
    polled = select.poll()
    for number in takers:
        polled.register(number, select.POLLIN)
    rest = memoryview(said)
    if process.stdin is not None:
        if rest:
            os.set_blocking(process.stdin.fileno(), False)
            polled.register(process.stdin.fileno(), select.POLLOUT)
        else:
            process.stdin.close()
    while takers or rest:
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        for number, _ in polled.poll(left * 1000):
            if number in takers:
                if piece := os.read(number, CHUNK):
                    takers[number](piece)
                else:
                    polled.unregister(number)
                    del takers[number]
                continue
            assert process.stdin is not None
            rest = rest[_feed(number, rest) :]
            if not rest:
                polled.unregister(number)
                process.stdin.close()
    return True


def _feed(number: int, rest: memoryview) -> int:
    try:
        return os.write(number, rest[:CHUNK])
    except BlockingIOError:
        return 0
    except BrokenPipeError:
        return len(rest)


def ends(process: "subprocess.Popen[bytes]", seconds: float) -> bool:
    """Wait for its end; False: it still runs after `seconds`."""
    import subprocess

    if process.poll() is not None:
        return True
    seconds = max(0.0, seconds)
    # Popen.wait(timeout) sleeps in steps, which every short command would feel
    with contextlib.suppress(OSError, AttributeError):
        descriptor = os.pidfd_open(process.pid)
        try:
            polled = select.poll()
            polled.register(descriptor, select.POLLIN)
            if not polled.poll(seconds * 1000):
                return False
        finally:
            os.close(descriptor)
        seconds = GRACE_SECONDS  # it has ended, and is collected at once
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return False
    return True


def end(process: "subprocess.Popen[bytes]") -> None:
    for how in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, how)
            os.killpg(process.pid, signal.SIGCONT)
        if ends(process, GRACE_SECONDS):
            return
    _left.append(process)


def left() -> list[str]:
    _left[:] = [process for process in _left if process.poll() is None]
    return [f"`{_shown(process.args)}` (process {process.pid})" for process in _left]


def _shown(words: Any) -> str:
    return " ".join(map(str, words))[:_BOUNDED_SHOWN]


# Every GIT_* variable of the caller is dropped, but for those that say where the human's configuration is, and those of
# networks and prompts. PLUMBING ignores the system's and the human's configuration; CHECKOUT keeps them: files in the
# human's worktree are written with their filters and line ends. Hooks, background upkeep, signing and prompts are off
# in both.
_SETTINGS = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
    ("submodule.recurse", "false"),
    ("commit.gpgSign", "false"),
    ("i18n.commitEncoding", "UTF-8"),
    ("merge.renames", "true"),
    ("merge.directoryRenames", "conflict"),
    # a power cut must not leave main on a commit whose objects never reached the disk; refs that matter: see refs
    ("core.fsync", "committed,loose-object"),
    ("core.fsyncMethod", "batch"),
    # whose repository it is was asked before anything else (git.location), under ASKING, which lacks this line
    ("safe.directory", "*"),
)


def _numbered(settings: tuple[tuple[str, str], ...]) -> dict[str, str]:
    numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return numbered


_ALWAYS = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "SSH_ASKPASS": "",
    "GIT_EDITOR": ":",
    "GIT_PAGER": "cat",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_COMMITTER_NAME": NAME,
    "GIT_COMMITTER_EMAIL": EMAIL,
    "GIT_AUTHOR_NAME": NAME,
    "GIT_AUTHOR_EMAIL": EMAIL,
    "LC_ALL": "C",
    "LANGUAGE": "C",
}

CHECKOUT: Mapping[str, str] = {**_ALWAYS, **_numbered(_SETTINGS)}
"""For the human's own worktrees."""

ASKING: Mapping[str, str] = {**_ALWAYS, **_numbered(tuple(one for one in _SETTINGS if one[0] != "safe.directory"))}
"""For the question whether git trusts a repository: the system's and the human's configuration decide."""

PLUMBING: Mapping[str, str] = {
    **_ALWAYS,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    **_numbered((*_SETTINGS, ("core.attributesFile", "/dev/null"))),
}
"""For objects, refs and everything that an agent had its hands on."""

_HARMLESS_NAMES = """GIT_CONFIG_GLOBAL GIT_CONFIG_SYSTEM GIT_CONFIG_NOSYSTEM GIT_SSL_ GIT_HTTP_ GIT_CURL_ GIT_PROXY_
GIT_SSH GIT_PS1_ GIT_PYTHON_"""
_HARMLESS = tuple(_HARMLESS_NAMES.split())


def strays(given: Mapping[str, str]) -> list[str]:
    """The GIT_* variables of this process that `given` does not overrule and that must not reach git."""
    return [name for name in process_environment() if _is_stray(name, given)]


def _is_stray(name: str, given: Mapping[str, str]) -> bool:
    return name.startswith("GIT_") and name not in given and not name.startswith(_HARMLESS)


def inherited(given: Mapping[str, str]) -> dict[str, str]:
    """This process' environment without `strays`."""
    return {name: value for name, value in process_environment().items() if not _is_stray(name, given)}


OLDEST = (2, 38)
_SHOWN = 400
_TOO_LARGE = re.compile(r": File too large$", re.MULTILINE)
_BROKEN_REFS = re.compile(r"^fatal: (?:unexpected|unterminated) line in .*packed-refs", re.MULTILINE)
_UNUSABLE = re.compile(
    r"^fatal: (?:bad config|bad (?:numeric|boolean) config|.*while reading the configuration|.*include depth"
    r"|Expected git repo version|unknown repository (?:extension|object format)|core\.bare and core\.worktree"
    r"|unable to access '[^']*(?:\.gitconfig|/git/config|\.git/config)|Invalid path|invalid gitfile format)",
    re.MULTILINE,
)
# at the end of a line, where git puts the system's own words, and not in a name of an agent's
_SHORT = re.compile(
    r"(?:^|: |\] )(?:Too many open files(?: in system)?|Cannot allocate memory|Resource temporarily unavailable"
    r"|Input/output error|Stale file handle)$",
    re.MULTILINE,
)


@frozen
class Answer:
    """How a command ended."""

    code: int
    out: bytes
    error: str

    @property
    def text(self) -> str:
        return os.fsdecode(self.out).rstrip("\n")

    @property
    def records(self) -> list[str]:
        """The output's NUL-terminated records as text (file names keep undecodable bytes as surrogates)."""
        return os.fsdecode(self.out).split("\0")[:-1]


def failure(command: Sequence[str], code: int, error: str) -> NobrakesError:
    """The error that a failed command stands for."""
    lines = [line.strip() for line in error.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith(("fatal: ", "error: "))] or lines  # else it gives hints
    last = said[-1][:_SHOWN] if said else f"exit code {code}"
    if "No space left on device" in error or "Disk quota exceeded" in error or _TOO_LARGE.search(error):
        return DiskFull(f"git could not write: {last}")
    if _SHORT.search(error):
        return errors.MachineShort(f"git could not work: {last}")
    if "Read-only file system" in error:
        return StoreReadOnly(f"git could not write: {last}", "Check that the file system is not mounted read-only.")
    if _UNUSABLE.search(error):
        return GitUnusable(f"git does not work in this repository: {last}")
    if _BROKEN_REFS.search(error):
        return errors.RefsBroken(
            f"git cannot read any ref of this repository: {last}",
            "Stop nobrakes, keep a copy (`cp .git/packed-refs packed-refs.copy`), and open .git/packed-refs in an "
            "editor. Fix or remove only the line that git names. Then `git for-each-ref` works again, "
            "and `nobrakes doctor` says what is missing.",
        )
    if re.search(_AWAY, error, re.MULTILINE):
        return lacking(error)
    shown = " ".join(command)
    return GitFailed(
        f"`{shown[:_SHOWN]}` failed: {last}",
        "Run `nobrakes doctor`; `git fsck` checks the repository itself for damage.",
    )


def lacking(error: str) -> ObjectsAway:
    """The error of a partial clone whose remote does not give what is missing."""
    first = (error.strip().splitlines() or [""])[0][:_SHOWN]
    made = ObjectsAway(f"this partial clone lacks an object, and its remote did not give it: {first}")
    made.said = error
    return made


_AWAY = r"^(?:fatal|error|warning): (?:could not fetch \S+ from promisor remote|lazy fetching disabled)"


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
    limit = seconds_for(arguments) if seconds is None else seconds
    if not os.path.isdir(cwd):
        # GitPython would quietly run in the current folder instead
        raise GitFailed(f"`{' '.join(['git', *arguments])[:_SHOWN]}` cannot run: the folder {cwd} is missing")
    try:
        if stdout is not None or not isinstance(stdin, bytes | None):
            answer = _stream(arguments, cwd, env, stdin, stdout, limit)
        else:
            answer = _ask(arguments, cwd, env, stdin, limit)
    except FileNotFoundError:
        raise GitTooOld("git is not installed, or not on the PATH") from None
    except OSError as error:
        raise failure(["git", *arguments], -1, str(error)) from None
    if answer.code not in expect or (answer.code == 128 and _UNUSABLE.search(answer.error)):
        whole = os.path.join(os.path.realpath(cwd), ".git/")  # one name for the file, wherever git was started
        raise failure(["git", *arguments], answer.code, answer.error.replace(" in file .git/", f" in file {whole}"))
    return answer


def _ask(arguments: Sequence[str], cwd: str, env: Mapping[str, str], stdin: bytes | None, limit: float) -> Answer:
    with contextlib.ExitStack() as stack:
        file = None
        if stdin is not None and len(stdin) > CHUNK:
            # a pipe would be fed page by page
            file, stdin = stack.enter_context(_file(stdin)), None
        return _ended(
            start(arguments, cwd, {**inherited(env), **env}, stdin=file), arguments, stdin or b"", limit, None
        )


def _ended(
    process: "subprocess.Popen[bytes]", arguments: Sequence[str], said: bytes, limit: float, stdout: IO[bytes] | None
) -> Answer:
    out: list[bytes] = []
    error = exchange(process, said, limit, out.append if stdout is None else stdout.write)
    if error is None:
        raise no_answer(arguments, limit)
    return Answer(process.returncode, b"".join(out), error.decode("utf-8", "replace").rstrip("\n"))


@contextlib.contextmanager
def _file(content: bytes) -> Iterator[IO[bytes]]:
    import tempfile  # costs 1 ms with what it imports, and most commands only ask

    with tempfile.TemporaryFile() as opened:
        opened.write(content)
        opened.seek(0)
        yield opened


_IMPORTING = allocate_lock()


def _import_gitpython() -> None:
    # as if there were no git: else it asks git for its version, however long that takes; we name git in each command
    absent = os.path.join(os.path.dirname(os.path.abspath(__file__)), "no-git-here")  # where nobody else writes
    blind = {"GIT_PYTHON_GIT_EXECUTABLE": absent, "GIT_PYTHON_REFRESH": "quiet"}
    with _IMPORTING:  # the environment is everybody's, and several threads ask git
        if "git" in sys.modules:
            return
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

    given = {**env, "PATH": own_path(cwd)}
    # -u and not -i: values on a command line can be read by everyone on the machine
    unset = [word for name in strays(given) for word in ("-u", name)]
    with contextlib.ExitStack() as stack:
        if isinstance(stdin, bytes):
            stdin = stack.enter_context(_file(stdin))
        try:
            started = git.Git(cwd).execute(
                [*(["env", *unset] if unset else []), "git", *arguments],
                istream=cast(BinaryIO, stdin),
                as_process=True,
                env=given,
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
    """Start a git command that keeps answering over stdin and stdout. Not by GitPython: nobody empties its stderr pipe,
    which would stop a long conversation."""
    import subprocess

    bare = {name: value for name, value in process_environment().items() if not name.startswith("GIT_")}
    try:
        return start(arguments, cwd, {**bare, **env}, stderr=subprocess.DEVNULL if errors is None else errors)
    except OSError as error:
        raise failure(["git", *arguments], -1, str(error)) from None


def hang_up(process: "subprocess.Popen[bytes]", at_once: bool = False) -> None:
    """End a command that goes on answering: its input closes, and with that it ends. `at_once`: it is known to hang."""
    for stream in (process.stdin, process.stdout):
        # what it was never told is not a loss when it is dead
        with contextlib.suppress(OSError):
            if stream is not None:
                stream.close()
    if at_once or not ends(process, GRACE_SECONDS):
        end(process)


def version() -> tuple[int, ...]:
    """The installed git's version; raises GitTooOld below 2.38 or without git."""
    return _version(os.environ.get("PATH", ""))


@cache
def _version(path: str) -> tuple[int, ...]:
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


T = TypeVar("T")


# A lasting child ends when its input closes, and so with this process. Silence of a question's time is NoAnswer, and
# ends it. Its errors go nowhere: a pipe that nobody empties would stop a long conversation.
class Line:
    """A started command and what it says. OSError, EOFError: it is dead; NoAnswer: it hangs."""

    def __init__(self, arguments: Sequence[str], git_dir: str, env: Mapping[str, str]) -> None:
        self._arguments = arguments
        self.process = converse(arguments, git_dir, env)
        assert self.process.stdin is not None and self.process.stdout is not None
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()
        os.set_blocking(self._in, False)
        self._heard = bytearray()

    def say(self, question: bytes) -> None:
        rest = memoryview(question)
        while rest:
            try:
                rest = rest[os.write(self._in, rest[:CHUNK]) :]
            except BlockingIOError:
                if self._waited(self._in, select.POLLOUT) == self._out:
                    self._hear()

    def line(self) -> bytes:
        searched = 0
        while (end := self._heard.find(b"\n", searched)) < 0:
            searched = len(self._heard)
            self._waited()
            self._hear()
        return self._cut(end + 1)

    def read(self, size: int) -> bytes:
        while len(self._heard) < size:
            self._waited()
            self._hear()
        return self._cut(size)

    def _cut(self, size: int) -> bytes:
        said = bytes(memoryview(self._heard)[:size])
        del self._heard[:size]
        return said

    def _hear(self) -> None:
        piece = os.read(self._out, CHUNK)
        if not piece:
            raise EOFError
        self._heard += piece

    def _waited(self, number: int = -1, event: int = 0) -> int:
        polled = select.poll()
        polled.register(self._out, select.POLLIN)
        if event:
            polled.register(number, event)
        ready = [found for found, _ in polled.poll(SHORT_SECONDS * 1000)]
        if not ready:
            raise no_answer(self._arguments, SHORT_SECONDS)
        return self._out if self._out in ready else ready[0]


class Conversation:
    """One lasting git command. Threads take turns."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = arguments
        self._line: Line | None = None
        self._lock = threading.Lock()

    @property
    def process(self) -> "subprocess.Popen[bytes] | None":
        return None if self._line is None else self._line.process

    def hold(self, talk: Callable[[Line], T], git_dir: str, env: Mapping[str, str]) -> T:
        """Run `talk` alone with the process. A process that dies or hangs meanwhile is dropped."""
        with self._lock:
            whole, hangs = False, False
            try:
                if self._line is None:
                    self._line = Line(self._arguments, git_dir, env)
                answer = talk(self._line)
                whole = True
                return answer
            except NoAnswer:
                hangs = True
                raise
            finally:
                if not whole:
                    self._drop(hangs)  # in the middle of a word: nobody could go on from here

    def ask(self, question: bytes, lines: int, git_dir: str, env: Mapping[str, str]) -> list[bytes]:
        """The answer's lines with their ends; fewer than `lines`: the process died. Raises NoAnswer."""
        answers: list[bytes] = []

        def talk(line: Line) -> Any:
            line.say(question)
            while len(answers) < lines:
                answers.append(line.line())

        with contextlib.suppress(OSError, EOFError):
            self.hold(talk, git_dir, env)
        return answers

    def close(self) -> None:
        with self._lock:
            self._drop(False)

    def _drop(self, hangs: bool) -> None:
        line, self._line = self._line, None
        if line is not None:
            hang_up(line.process, hangs)


DURABLE = ("-c", "core.fsync=committed,loose-object,reference")

_DONE = [b"start: ok\n", b"prepare: ok\n", b"commit: ok\n"]


# All of a transaction or nothing, on the disk before the answer. One that is refused or not answered is tried again by
# a command of its own, which then says what is wrong. Main does not go this way: what is written to its log has the
# time at which the process began.
class Transactions:
    """Changes refs of one repository."""

    def __init__(self) -> None:
        self._git = Conversation([*DURABLE, "update-ref", "--no-deref", "--stdin"])

    def close(self) -> None:
        self._git.close()

    def commit(self, lines: Sequence[str], git_dir: str, env: Mapping[str, str]) -> bool:
        """Run these lines of `git update-ref --stdin` as one transaction; False: the result is unknown."""
        if self._git.ask(f"start\n{''.join(lines)}prepare\ncommit\n".encode(), len(_DONE), git_dir, env) == _DONE:
            return True
        self._git.close()
        return False


# An object that git does not answer for is written once more by a command of its own: the same bytes are the same
# object.
class Writer:
    """Writes objects of one type ("commit", "tree") into one repository."""

    def __init__(self, kind: str, learn: Callable[[str, str, bytes], object]) -> None:
        """`learn` gets the id, type and content of each written object."""
        self._kind, self._learn = kind, learn
        self._command = ("hash-object", "-t", kind, "-w")
        self._git = Conversation([*self._command, "--stdin-paths"])

    def close(self) -> None:
        self._git.close()

    def write(self, content: bytes, git_dir: str, env: Mapping[str, str]) -> str:
        """Write the object; returns its id."""
        with _named(content) as path:
            answers = self._git.ask(os.fsencode(path) + b"\n", 1, git_dir, env)
        oid = answers[0].decode("ascii").strip() if answers else ""
        oid = oid or run([*self._command, "--stdin"], cwd=git_dir, env=env, stdin=content).text
        self._learn(oid, self._kind, content)
        return oid


@contextmanager
def _named(content: bytes) -> Iterator[str]:
    try:
        memory = os.memfd_create("nobrakes-object", os.MFD_CLOEXEC)
    except (AttributeError, OSError):  # another system, or a container that forbids it
        import tempfile

        with tempfile.NamedTemporaryFile(prefix="nobrakes-object-") as file:
            file.write(content)
            file.flush()
            yield file.name
        return
    with open(memory, "wb") as file:
        file.write(content)
        file.flush()
        yield f"/proc/{os.getpid()}/fd/{memory}"


def content(
    tree: str, parents: Sequence[str], author: tuple["Person", str], committer: tuple["Person", str], text: str
) -> bytes:
    """A commit as git stores it; times are `SECONDS ZONE`."""
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [
        f"{what} {who.name} <{who.email}> {when}"
        for what, (who, when) in (("author", author), ("committer", committer))
    ]
    return ("\n".join([*lines, "", ""]) + text).encode("utf-8", "replace")
