"""A program in the place of a sandbox: it runs the given command of a run on a node, and is its end here.

    remote SPEC HOW -- ARGV…      HOW: "", "alone" (without network), "last" (bring the work back), "close" (no command)

1. Whoever starts it sees a command: its input, output, errors and exit code are those of the command on the node, and
   TERM goes there. What is true of a run here (its wrapper, its recorder, its limits of time) stays true.
2. The first command of a run opens it: a node is chosen, and gets the commits that it lacks and the workspace. The
   last one brings back what changed in the workspace and in the agent's own folders; nothing of it is executed here.
3. While a command runs, an agent's requests and answers travel between the folders of its channel, as files do.
4. A run whose node is lost has no end: its wrapper is killed, which the daemon takes as it takes a crash of its own.
5. The environment, with the agent's credentials, is in memory only, here and on the node.
"""

import contextlib
import fcntl
import json
import os
import re
import signal
import socket
import sys
import time

from ..globs import matches
from ..paths import process_environment
from ..programs import NODE_FAILED, NODE_LOST
from . import parcel

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_LOCK = "remote.lock"
_OPENED = "remote.opened"
_ALIVE = "remote.alive"
_TIMEOUT = 60.0
"""Seconds in which the helper that talks to the nodes may come back."""
_OURS = ("NOBRAKES_RUN", "NOBRAKES_WAKE", "PWD", "OLDPWD")
_ANSWERS_SOON = 0.25
_BETWEEN = 0.005
_MAX_STDIN = 48 << 20
"""Less than a message carries, since the command's words and environment come before it."""
_FAILED = 125


class Lost(Exception):
    """The run on the node is gone; `str(error)` says why."""


class Failed(Exception):
    """The node could not do what it was asked; `str(error)` says why."""


class Refused(Exception):
    """The command cannot be run there; `str(error)` says why."""


def run(words: "list[str]") -> int:
    """The program `remote`."""
    path, how = words[:2]
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    folder = os.path.dirname(path)
    try:
        return Remote(spec, folder).run(how, words[3:])
    except Refused as error:
        print(f"nobrakes cannot run this on a node: {error}", file=sys.stderr, flush=True)
        return _FAILED
    except Lost as error:
        return _lose(folder, NODE_LOST, str(error))
    except Failed as error:
        return _lose(folder, NODE_FAILED, str(error))
    except (OSError, MemoryError, RecursionError, parcel.Broken, KeyError, TypeError, ValueError) as error:
        # a full disk here, or an answer that no node of ours gives: nobody can say how the command ended
        return _lose(folder, NODE_FAILED, f"its answer cannot be used ({type(error).__name__}: {error})"[:500])


def _lose(folder: str, name: str, why: str) -> int:
    """End as a crash of this machine would: nobody can say how the command ended. A lost node counts for nothing; one
    that fails does when it is repeated, since the work may be the reason."""
    with contextlib.suppress(OSError), open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(why + "\n")
    print(f"the run was lost: {why}", file=sys.stderr, flush=True)
    with open(os.path.join(folder, "pid"), "rb") as file:
        wrapper = int(file.read(100))
    above = []  # the wrapper, and what it forked for neighbours: they would write an exit code down
    one = _parent(os.getppid())
    while one > 1 and wrapper not in above:
        above.append(one)
        one = _parent(one)
    for one in reversed(above if wrapper in above else [wrapper]):
        with contextlib.suppress(ProcessLookupError):
            os.kill(one, signal.SIGKILL)
    return _FAILED


def _parent(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read(4096).rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


class Line:
    """The connection to the helper, made again when it was restarted."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._line: socket.socket | None = None

    def call(self, name: str, body: bytes = b"", **words: "Any") -> "tuple[dict[str, Any], bytes]":
        """The answer. Raises Lost, Failed, Refused."""
        deadline = time.monotonic() + _TIMEOUT
        while True:
            try:
                line = self._connected()
                line.sendall(parcel.message({"call": name, **words}, body))
                said, answer = parcel.receive(line)
                break
            except (OSError, EOFError) as error:
                self._line = None
                if time.monotonic() > deadline:
                    raise Lost(f"the helper that talks to the nodes does not answer ({error})") from None
                time.sleep(0.1)
        if "lost" in said:
            raise Lost(str(said["lost"])[:500])
        if "failed" in said:
            raise Failed(str(said["failed"])[:500])
        if "refused" in said:
            raise Refused(str(said["refused"])[:2000])
        return said, answer

    def say(self, name: str, **words: "Any") -> None:
        """Without waiting for an answer: nothing depends on it."""
        with contextlib.suppress(OSError):
            self._connected().sendall(parcel.message({"call": name, **words}))

    def _connected(self) -> socket.socket:
        if self._line is None:
            self._line = parcel.connected(self._path)
        return self._line


class Remote:
    """One run's commands on its node."""

    def __init__(self, spec: "dict[str, Any]", folder: str) -> None:
        self.spec = spec
        self.folder = folder
        self.session: str = spec["session"]
        self._line = Line(spec["line"])
        self._node = ""
        self._is_asked_to_end = False
        self._serial = 0

    def run(self, how: str, argv: "Sequence[str]") -> int:
        """The command's exit code. Raises Lost, Failed, Refused, Broken, OSError; KeyError, TypeError, ValueError of an
        answer that is none."""
        opened = os.path.join(self.folder, _OPENED)
        if how == "close":
            if os.path.exists(opened):
                self._node = _read(opened)
                self._call("close")
            return 0
        signal.signal(signal.SIGTERM, self._end)
        with open(os.path.join(self.folder, _LOCK), "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # neighbours begin at the same time
            if not os.path.exists(opened):
                self._open()
                with open(opened + ".new", "w", encoding="utf-8") as file:
                    file.write(self._node)
                os.rename(opened + ".new", opened)
            self._node = _read(opened)
        code = self._command(how, argv)
        if how == "last":
            self._collect()
            self._line.say("close", node=self._node, session=self.session)
        return code

    def _end(self, *_: object) -> None:
        self._is_asked_to_end = True

    def _call(self, name: str, body: bytes = b"", **words: "Any") -> "tuple[dict[str, Any], bytes]":
        self._serial += 1  # a question that is asked again, since the line broke, has the same
        who = {"node": self._node, "session": self.session, "caller": str(os.getpid()), "serial": self._serial}
        return self._line.call(name, body, **who, **words)

    def _open(self) -> None:
        spec = self.spec
        asks = {"role": spec["role"], "need": spec["need"], "repository": spec["repository"]}
        said, told = self._line.call("open", session=self.session, **asks)
        while "busy" in said:  # as long as the run's own time allows
            said, told = self._line.call("open", session=self.session, **asks)
        self._node, known = str(said["node"]), json.loads(told)
        if not isinstance(known, list):
            raise parcel.Broken("its commits are not a list")
        for part in _parts(_pack_of(spec["git"], spec["commits"], known)):
            self._call("receive", part, what="objects")
        words = json.dumps({**spec, "new": [one for one in spec["commits"] if one not in known]}).encode()
        *others, last = _parts(iter([self._files()]))
        for part in others:
            self._call("receive", part, what="files")
        self._call("prepare", words + last, words=len(words))

    def _files(self) -> bytes:
        """The run's own files, the workspace, and the agent's folders, by their places below the repository."""
        spec = self.spec
        top = spec["root"]
        found = []
        for path in spec["ships"]:
            below = os.path.relpath(path, top)
            found.append(parcel.pack(top, [below]))
            if os.path.isdir(path):
                found.append(parcel.pack(path, sorted(parcel.state_of(path)), below))
        workspace = spec["workspace"]
        names = sorted(parcel.state_of(workspace))
        wanted = (
            names if spec["has_all_files"] else [name for name in names if name == ".git" or name.startswith(".git/")]
        )
        names = [name for name in wanted if name != ".git/objects/info/alternates"]
        return b"".join((*found, parcel.pack(top, [spec["place"]]), parcel.pack(workspace, names, spec["place"])))

    def _command(self, how: str, argv: "Sequence[str]") -> int:
        environment = {name: value for name, value in process_environment().items() if name not in _OURS}
        words = {"argv": list(argv), "environment": environment, "cwd": os.getcwd(), "alone": how == "alone"}
        number = f"{os.getpid()}-{time.time_ns():x}"
        body = json.dumps(words).encode()
        self._call("execute", body + _stdin(), number=number, words=len(body))
        channel = Channel(self.spec["channel"]) if self.spec["channel"] else None
        told, alive = False, ""
        while True:
            if self._is_asked_to_end and not told:
                self._call("stop", number=number)
                told = True
            answers = channel.answers() if channel else b""
            wait = 0.05 if channel and channel.is_waiting else 1.0
            said, body = self._call("exchange", answers, number=number, wait=wait)
            out = _whole(said, "out", 0, len(body))
            err = _whole(said, "err", 0, len(body) - out)
            _write(1, body[:out])
            _write(2, body[out : out + err])
            if news := body[out + err :]:
                self._place(news)
                if channel:
                    channel.expect()
            if said["alive"] != alive:  # of the silence here, only what happens there counts
                alive = str(said["alive"])[:500]
                with open(os.path.join(self.folder, _ALIVE), "w", encoding="utf-8") as file:
                    file.write(alive)
            if said["code"] is not None:
                code = _whole(said, "code", -64, 255)
                return 128 - code if code < 0 else code

    def _place(self, news: bytes) -> None:
        """Write what an agent's folders got on the node, and checks' result files: only where the run lets it."""
        parcel.unpack(self.spec["root"], news, self.spec["lets_in"])
        tops = [(os.path.join(self.spec["place"], one, ""), glob) for one, glob in self.spec["reports"]]
        for path, kind, mode, content in parcel.entries(news) if tops else ():
            inner = [(path[len(top) :], glob) for top, glob in tops if path.startswith(top)]
            if kind == "file" and any(".git" not in one.split("/") and matches(one, (glob,)) for one, glob in inner):
                parcel.write(self.spec["root"], path, kind, mode, content)

    def _collect(self) -> None:
        parts: list[bytes] = []
        while True:
            said, part = self._call("collect", part=len(parts))
            parts.append(part)
            if said["over"]:
                break
            if len(parts) * parcel.PART > parcel.MAX_PARCEL:
                raise parcel.Broken("the work of the run is too large")
        parcel.unpack(self.spec["root"], b"".join(parts), (*self.spec["lets_in"], self.spec["place"]))


def _whole(said: "dict[str, Any]", name: str, least: int, most: int) -> int:
    """A whole number of an answer. Raises Broken, KeyError."""
    found = said[name]
    if type(found) is not int or not least <= found <= most:
        raise parcel.Broken(f"its {name} is {str(found)[:50]}")
    return found


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _write(number: int, data: bytes) -> None:
    while data:
        data = data[os.write(number, data) :]


def _stdin() -> bytes:
    """All of the input, which is a file, a pipe that will end, or nothing."""
    parts: list[bytes] = []
    size = 0
    while part := os.read(0, 1 << 20):
        parts.append(part)
        size += len(part)
        if size > _MAX_STDIN:
            raise Refused(f"its input has more than {_MAX_STDIN >> 20} MB")
    return b"".join(parts)


def _parts(content: "Iterator[bytes]") -> "Iterator[bytes]":
    held = b""
    for some in content:
        held += some
        while len(held) > parcel.PART:
            yield held[: parcel.PART]
            held = held[parcel.PART :]
    if held:
        yield held


def _pack_of(repository: str, commits: "Sequence[str]", known: "Sequence[str]") -> "Iterator[bytes]":
    """A pack of the commits without what `known` ones hold; nothing, if they are all there."""
    import subprocess

    if all(commit in known for commit in commits):
        return
    git = ("git", f"--git-dir={repository}")
    quiet = {**process_environment(), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    names = [one for one in known if re.fullmatch(r"[0-9a-f]{40,64}", one)]
    asked = subprocess.run(
        [*git, "cat-file", "--batch-check"],
        input="\n".join(names).encode(),
        env=quiet,
        capture_output=True,
        check=False,
    )
    here = [line.split()[0] for line in asked.stdout.decode().splitlines() if line.split()[1:2] == ["commit"]]
    wanted = "".join(f"{one}\n" for one in (*commits, *(f"^{one}" for one in here)))
    with subprocess.Popen(
        [*git, "pack-objects", "--revs", "--stdout", "--thin", "--delta-base-offset", "-q"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=quiet,
    ) as packing:
        assert packing.stdin is not None and packing.stdout is not None
        packing.stdin.write(wanted.encode())
        packing.stdin.close()
        while part := packing.stdout.read(parcel.PART):
            yield part
    if packing.returncode:
        raise Refused("the objects of its commits cannot be packed")


class Channel:
    """The home side of an agent's channel: answers go to the node, each once."""

    def __init__(self, folder: str) -> None:
        self._out = os.path.join(folder, "out")
        self._sent = set(os.listdir(self._out)) if os.path.isdir(self._out) else set()
        self._until = 0.0

    @property
    def is_waiting(self) -> bool:
        return time.monotonic() < self._until

    def expect(self) -> None:
        self._until = time.monotonic() + _ANSWERS_SOON

    def answers(self) -> bytes:
        """New answers; waits a moment for one if a request was just delivered."""
        while not (fresh := self._fresh()) and self.is_waiting:
            time.sleep(_BETWEEN)
        self._sent.update(fresh)
        self._until = 0.0 if fresh else self._until
        return parcel.pack(self._out, fresh)

    def _fresh(self) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self._out) if name not in self._sent and name[0] != ".")
        except FileNotFoundError:
            return []
