"""A node's side: what a Dask worker does for a run. Loaded on nodes only.

1. A run's folder is made for it alone, and removed with it. Of a repository a node keeps the objects, which git
   verifies when they come.
2. The sandbox is this machine's own, made of the run's view (its closure) and this machine's programs; a node where no
   sandbox works says so before it gets work.
3. A run has a lease. If nobody asks for it in time, its processes are killed, and whatever comes later is unknown here.
   A process beside the worker does the same when the worker is killed or stands still (fleet.reaper).
4. Credentials are in the environment of a process or in a folder in memory, and go with the run.
5. What nodes answer is bytes and JSON; commands' output is bounded by who asks for it.
"""

import asyncio
import contextlib
import fcntl
import json
import logging
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from .. import __version__
from ..abilities import version_in
from ..checks.contract import ASKED_WITH, as_text, found_in
from ..checks.contract import unmet as lacking
from ..errors import NobrakesError
from ..git import command_line as git
from ..globs import matching
from ..host import proctable
from ..host.command import outputs
from ..host.confine import Confined
from ..host.proctable import HOME_MARKER, RUN_MARKER, Tree
from ..host.versions import probing_trouble
from ..paths import PACKAGE, process_environment
from ..sandbox import closure, system_paths
from ..sandbox.closure import Bounds, Closure
from ..walking import Beyond
from . import parcel

LOAD = "nobrakes"
"""The name of a machine's load among the figures of its worker."""
LEASE = 25.0
"""Seconds without a question after which a run's processes are killed. The next attempt comes 30 s after a loss."""
SILENT = "silent"
"""In the folder of a run: its worker stood still, and its processes were killed. Nothing of the run counts."""
BEAT_SECONDS = 1.0
GRACE = 5.0
_VERSION_SECONDS = 15.0
_HELD = 4 << 20
"""Bytes of output held until they are asked for; a command that writes more waits."""
_MAX_TIPS = 50
_ALIVE_SECONDS = 15.0
"""Seconds between two looks at all processes of this machine for one run; silence is counted in minutes."""
_MIN_NAP, _MAX_NAP = 0.002, 0.02
"""Seconds between two looks at a command that somebody waits for."""
_MAX_UPDATES = 12 << 20
"""Bytes of an agent's own folders in one answer; outputs and result files come beside them."""
_MAX_REPORTS = 24 << 20
_SHIPPED = ("PATH", "HOME", "SHELL", "TMPDIR", "TMP", "TEMP", "USER", "LOGNAME", "XDG_RUNTIME_DIR")
"""Variables whose values are this machine's own."""


def place() -> str:
    """The folder of all runs on this machine."""
    return process_environment().get("NOBRAKES_NODE") or os.path.join("/var/tmp", f"nobrakes-node-{os.getuid()}")


async def describe(needs: str, dask_worker: Any = None) -> str:
    """What this machine is, as JSON. `needs`: as model.needs_of makes it. From now on each heartbeat of the worker,
    which Dask passes in, has the machine's load."""
    logging.getLogger("distributed.worker").addFilter(_is_question)
    if dask_worker is not None:
        dask_worker.metrics[LOAD] = load
    return json.dumps(await asyncio.to_thread(_describe, json.loads(needs)))


def load(worker: object = None) -> dict[str, float]:
    """How busy this machine is. Dask's own figures are of the worker's process, and agents and checks are others."""
    import psutil  # type: ignore[import-untyped]  # Dask needs it

    memory = psutil.virtual_memory()
    return {"cpu": psutil.cpu_percent(), "free": memory.available, "memory": memory.total}


def _is_question(record: logging.LogRecord) -> bool:
    """Dask logs each question, and a run is asked about several times a second."""
    return "out-of-band function" not in record.msg


@cache
def _sandbox_trouble() -> str:
    """Why no sandbox works here; empty: one does."""
    return system_paths.platform_trouble() or probing_trouble(system_paths.argv(place(), dict(process_environment())))


def _describe(needs: Mapping[str, Any]) -> dict[str, str]:
    remove_leftovers()
    version = ".".join(map(str, git.version()))
    trouble = _sandbox_trouble()
    python = ".".join(map(str, sys.version_info[:3]))
    about = {
        "nobrakes": __version__,
        "python": python,
        "git": version,
        "sandbox": trouble,
        "host": socket.gethostname(),
    }
    return {**about, **_programs(needs["agents"], needs["tools"])}


def _programs(agents: Mapping[str, Sequence[str]], tools: Sequence[Sequence[str]]) -> dict[str, str]:
    """Versions of the agents and of the checks' tools here, and `unmet`: why they do not fit; empty: they do."""
    asked = {f"agent {name}": (program, "--version") for name, (program, version) in agents.items() if version}
    asked |= {f"tool {tool}": (tool, ASKED_WITH.get(tool, "--version")) for tool, _ in tools}
    own = process_environment()
    env = {name: own[name] for name in ("PATH", "HOME") if name in own} | {"LANG": "C.UTF-8", "CI": "1"}
    said = outputs(
        {name: argv for name, argv in asked.items() if shutil.which(argv[0])}, env, _VERSION_SECONDS, place()
    )
    found: dict[str, str] = {}
    unmet: list[str] = []
    for name, (program, version) in agents.items():
        there = version_in(said.get(f"agent {name}", (0, ""))[1])
        found[name] = there
        if not shutil.which(program):
            unmet.append(f"it lacks the agent {name}: {program} was not found")
        elif version and there != version:
            unmet.append(f"it has {name} {there or 'of an unknown version'}, and this machine has {version}")
    for tool, wanted in tools:
        code, text = said.get(f"tool {tool}", (127, ""))
        present = found_in(text)
        found[tool] = as_text(present) if present else ""
        unmet += [why] if (why := lacking(tool, wanted, code, text)) else []
    programs = ", ".join(f"{name} {version}".strip() for name, version in found.items())
    return {"programs": programs, "unmet": "; ".join(unmet)}


class Output:
    """What a command wrote to one of its streams and nobody has asked for yet."""

    def __init__(self, stream: Any, condition: threading.Condition) -> None:
        self._held = bytearray()
        self._condition = condition
        self.is_over = False
        self._thread = threading.Thread(target=self._read, args=(stream,), daemon=True)
        self._thread.start()

    def _read(self, stream: Any) -> None:
        with stream:
            while part := os.read(stream.fileno(), 1 << 16):
                with self._condition:
                    self._held += part
                    self._condition.notify_all()
                    while len(self._held) > _HELD:
                        self._condition.wait(1.0)
        with self._condition:
            self.is_over = True
            self._condition.notify_all()

    def take(self) -> bytes:
        """All of it. The caller holds the condition."""
        found = bytes(self._held)
        self._held.clear()
        self._condition.notify_all()
        return found

    @property
    def is_waiting(self) -> bool:
        return bool(self._held)


class Execution:
    """One command of a run."""

    def __init__(
        self, child: "subprocess.Popen[bytes]", tree: Tree, stdin: bytes, condition: threading.Condition, since: int
    ) -> None:
        self.child = child
        self.tree = tree
        self.since = since
        self.out, self.err = Output(child.stdout, condition), Output(child.stderr, condition)
        threading.Thread(target=self._write, args=(stdin,), daemon=True).start()

    def _write(self, content: bytes) -> None:
        try:
            with self.child.stdin or tempfile.TemporaryFile() as line:
                line.write(content)
        except OSError:
            pass  # the command does not read it

    @property
    def is_over(self) -> bool:
        return self.child.poll() is not None and self.out.is_over and self.err.is_over

    @property
    def has_updates(self) -> bool:
        return self.out.is_waiting or self.err.is_waiting or self.is_over


class Caller:
    """A command's program at home, whose questions come one by one: one that is repeated gets the same answer."""

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.serial: int | None = None
        self.answer = "", b""


class Session:
    """One run on this node."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked_at = _now()
        self.answering = 0
        self.callers: dict[str, Caller] = {}
        self.closed = threading.Event()
        self.condition = threading.Condition()
        runs = _made(os.path.join(place(), "runs"))
        with _locked(runs):
            self.top = tempfile.mkdtemp(prefix=f"{name[:60]}-", dir=runs)
            self.lock = open(os.path.join(self.top, "lock"), "wb", 0)  # noqa: SIM115 - held as long as this process lives
            fcntl.flock(self.lock, fcntl.LOCK_EX)
        self.lock.write(b"%d\n" % os.getpid())
        self.secret = _secret(self.top)
        os.mkdir(self.secret, 0o700)
        os.symlink(self.secret, os.path.join(self.top, "secret"))
        self.cache = ""
        self.spec: dict[str, Any] = {}
        self.received: dict[str, list[bytes]] = {"objects": [], "files": []}
        self.executions: dict[str, Execution] = {}
        self.before: dict[str, tuple[int, ...]] = {}
        self.mirrored: dict[str, dict[str, tuple[int, ...]]] = {}
        self.inboxes: list[str] = []
        self._inspected_at = 0.0
        self._alive = ""
        self._alive_at = 0.0
        self.collected: bytes | None = None

    # Paths of the home machine become this machine's wherever they stand: in words, variables and files that nobrakes
    # wrote. The longest comes first, and none is taken for the beginning of another name.
    def _pairs(self) -> list[tuple[str, str]]:
        spec = self.spec
        pairs = [
            (spec["agents"], os.path.join(self.secret, "agents")),
            (spec["git"], self.cache),
            (spec["root"], os.path.join(self.top, "repository")),
            (spec["package"], PACKAGE),
            (spec["python"], sys.executable),
        ]
        return sorted(pairs, key=lambda pair: -len(pair[0]))

    def here(self, text: str) -> str:
        return self._translated(os.fsencode(text)).decode(errors="surrogateescape")

    def _translated(self, content: bytes) -> bytes:
        table = {os.fsencode(home): os.fsencode(node) for home, node in self._pairs()}
        any_of = b"|".join(re.escape(home) for home in table)
        return re.sub(rb"(?<![\w./-])(" + any_of + rb")(?![\w.-])", lambda found: table[found[1]], content)

    def prepare(self, spec: dict[str, Any]) -> None:
        """Make the run's folders, and its workspace as it is at home."""
        self.spec = spec
        self.cache = _cache(spec["repository"], spec["width"])
        _take(self.cache, self.received["objects"], spec["new"])
        root = _made(os.path.join(self.top, "repository"))
        for one in (*spec["closure"]["own"], *spec["made"], spec["folder"]):
            _made(self.here(one))
        files = b"".join(self.received["files"])
        workspace = f"{spec['place']}/"
        mine: list[tuple[str, str, int, bytes]] = []
        others: list[tuple[str, str, int, bytes]] = []
        for one in parcel.entries(files):
            (mine if one[0].startswith(workspace) else others).append(one)
        agents = os.path.relpath(spec["agents"], spec["root"]) + "/"
        for path, kind, mode, content in others:
            top, inner = (root, path)
            if path.startswith(agents):
                top, inner = _made(os.path.join(self.secret, "agents")), path[len(agents) :]
            parcel.write(top, inner, kind, mode, self._translated(content) if kind == "file" else content)
        checkout = _made(os.path.join(root, spec["place"]))
        for path, kind, mode, content in mine:
            parcel.write(checkout, path[len(workspace) :], kind, mode, content)
        info = _made(os.path.join(checkout, ".git", "objects", "info"))
        with open(os.path.join(info, "alternates"), "w", encoding="utf-8") as file:
            file.write(os.path.join(self.cache, "objects") + "\n")
        if not spec["has_all_files"]:
            _fill(checkout)
        self.received = {"objects": [], "files": []}
        self.before = parcel.state_of(checkout)
        self.mirrored = {one: parcel.state_of(path) for one, path in self._mirrors()}
        self.inboxes = [path for one, path in self._mirrors() if _is_inbox(one)]

    def _mirrors(self) -> list[tuple[str, str]]:
        found = []
        for one in self.spec["lets_in"]:
            path = self.here(os.path.join(self.spec["root"], one))
            if os.path.isdir(path):
                found.append((one, path))
        return found

    def execute(self, number: str, words: Mapping[str, Any], stdin: bytes) -> None:
        """Start a command of the run. Raises OSError."""
        environment = {name: self.here(value) for name, value in words["environment"].items()}
        own = process_environment()
        environment |= {name: own[name] for name in _SHIPPED if name in own}
        tools = os.path.join(self.here(self.spec["root"]), ".nobrakes", "bin")
        environment["PATH"] = os.pathsep.join((tools, environment.get("PATH", os.defpath)))
        wake = _made(os.path.join(self.top, "wake"))
        environment |= {RUN_MARKER: f"{self.name}.{number}", HOME_MARKER: wake}
        with tempfile.TemporaryFile(dir=self.top) as now:
            since = os.fstat(now.fileno()).st_ctime_ns
        argv = [self.here(word) for word in words["argv"]]
        cwd = self.here(words["cwd"])
        confined = self._confined(environment)
        if confined.closure is None:
            environment |= {name: self.here(value) for name, value in self.spec["closure"]["environment"]}
        child = subprocess.Popen(
            confined.wrap(tuple(argv), alone=bool(words["alone"])),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd if os.path.isdir(cwd) else self.top,
            env=environment,
            start_new_session=True,
        )
        process = proctable.look(child.pid)
        mark = process.mark if process else proctable.ended_mark()
        tree = Tree(f"{self.name}.{number}", wake, child.pid, mark)
        self.executions[number] = Execution(child, tree, stdin, self.condition, since)

    def _confined(self, environment: Mapping[str, str]) -> Confined:
        """This machine's sandbox with the run's view; without one, if the person lets such machines run it."""
        given = self.spec["closure"]
        if self.spec["unconfined"] and _sandbox_trouble():
            return Confined()
        machine = system_paths.machine(environment)
        named = [path for name in given["names"] for path in system_paths.program(name, environment, machine.home)]
        inner = [path for one in given["inner"] if os.path.exists(path := self.here(one))]
        known = (*machine.system, *machine.programs)
        inner += [path for path in named if not any(closure.lies_in(path, folder) for folder in known)]
        made = Closure(
            self.here(given["workspace"]),
            machine,
            hidden=(self.here(self.spec["root"]), self.cache),
            inner=tuple(dict.fromkeys((os.path.join(self.cache, "objects"), *inner))),
            own=tuple(map(self.here, given["own"])),
            environment=tuple((name, self.here(value)) for name, value in given["environment"]),
            network=given["network"],
            hosts=tuple(given["hosts"]),
            bounds=Bounds(**given["bounds"]),
        )
        return Confined(made, folder=self.here(self.spec["folder"]))

    def give(self, answers: bytes) -> None:
        """Write answers to the agent's requests into its channel."""
        if answers and self.spec["channel"]:
            parcel.unpack(os.path.join(self.here(self.spec["channel"]), "out"), answers)

    async def wait(self, number: str, seconds: float) -> None:
        """Until there is something new of a command. This holds no thread: a node has more runs than threads."""
        one, deadline, nap = self.executions.get(number), time.monotonic() + min(seconds, 5.0), _MIN_NAP
        while one and not one.has_updates and not self._has_request() and time.monotonic() < deadline:
            await asyncio.sleep(nap)
            nap = min(1.5 * nap, _MAX_NAP)

    def _has_request(self) -> bool:
        with contextlib.suppress(OSError):
            return any(name[:1] != "." for inbox in self.inboxes for name in os.listdir(inbox))
        return False

    def updates(self, number: str) -> tuple[dict[str, Any], bytes]:
        """What is new of a command."""
        one = self.executions[number]
        with self.condition:
            is_over = one.is_over
            out, err = one.out.take(), one.err.take()
        news, is_more = self._changes(is_all=False)
        if not is_more and (is_over or time.monotonic() - self._inspected_at > 1.0):
            more, is_more = self._changes(is_all=True)
            news += more
        is_over = is_over and not is_more  # else the rest comes with the next question
        news += self._reports(one.since) if is_over else b""
        code = one.child.returncode if is_over else None
        return {"code": code, "out": len(out), "err": len(err), "alive": self._activity(one)}, out + err + news

    def _activity(self, one: Execution) -> str:
        """A fingerprint of CPU and files: the same again means silence."""
        if time.monotonic() - self._alive_at > _ALIVE_SECONDS:
            self._alive_at = time.monotonic()
            tree, folder = proctable.members(one.tree), self.here(self.spec["folder"])
            self._alive = proctable.fingerprint(tree, folder, self.here(self.spec["workspace"]), self._alive)
        return self._alive

    def _changes(self, is_all: bool) -> tuple[bytes, bool]:
        """What is new in the folders that are the same on both sides: requests, and at times all of them. Also whether
        there is more than fits in one answer; a file that never fits stays here."""
        parts: list[bytes] = []
        size = 0
        for where, path in self._mirrors():
            is_inbox = _is_inbox(where)
            if not is_inbox and not is_all:
                continue
            now = parcel.state_of(path)
            fresh = [name for name in parcel.changed(self.mirrored.get(where, {}), now) if name in now]
            fresh = [name for name in fresh if not (is_inbox and name[:1] == ".")]
            known = {name: one for name, one in self.mirrored.get(where, {}).items() if name in now}
            for name in fresh:
                entry = parcel.pack(path, [name], where) if sum(now[name][1:2]) <= _MAX_UPDATES else b""
                if size + len(entry) > _MAX_UPDATES and parts:
                    self.mirrored[where] = known
                    return b"".join(parts), True
                size += len(entry)
                parts.append(entry)
                known[name] = now[name]
                if is_inbox:  # a request is the home machine's from now on
                    os.unlink(os.path.join(path, name))
            self.mirrored[where] = {} if is_inbox else now
        if is_all:
            self._inspected_at = time.monotonic()
        return b"".join(parts), False

    def _reports(self, since: int) -> bytes:
        """The result files of the checks that were written since then, by the inode's own moment."""
        parts, size = [], 0
        checkout = self.here(self.spec["workspace"])
        for directory, glob in self.spec["reports"]:
            top = os.path.join(checkout, directory)
            if os.path.realpath(top) != os.path.normpath(os.path.join(os.path.realpath(checkout), directory)):
                continue  # a link, which may lead out of the workspace
            files = parcel.state_of(top)
            fresh = matching([path for path, (_, *times) in files.items() if times and times[2] >= since], (glob,))
            size += sum(files[path][1] for path in fresh)
            if size > _MAX_REPORTS:
                raise ValueError(f"the result files of the checks have more than {_MAX_REPORTS >> 20} MB")
            parts.append(parcel.pack(top, fresh, os.path.join(self.spec["place"], directory)))
        return b"".join(parts)

    def stop(self, number: str) -> None:
        for process in proctable.members(self.executions[number].tree):
            proctable.ask_to_end(process)

    def collect(self, part: int) -> tuple[dict[str, Any], bytes]:
        """What changed in the workspace since the begin, without what git ignores."""
        if self.collected is None:
            checkout = self.here(self.spec["workspace"])
            now = parcel.state_of(checkout)
            ignored = self._ignored(checkout)
            names = [
                name
                for name in parcel.changed(self.before, now)
                if not any(name == one or name.startswith(f"{one}/") for one in ignored)
                and name != ".git/objects/info/alternates"
            ]
            self.collected = parcel.pack(checkout, names, self.spec["place"])
        begin = part * parcel.PART
        piece = self.collected[begin : begin + parcel.PART]
        return {"over": begin + parcel.PART >= len(self.collected)}, piece

    def _ignored(self, checkout: str) -> list[str]:
        """Asked inside the sandbox, since the clone's settings are the agent's. ValueError: git cannot say it."""
        environment = {name: value for name, value in process_environment().items() if name in ("PATH", "LANG")}
        argv = ("git", "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
        try:
            done = subprocess.run(
                self._confined(environment).wrap(argv, alone=True),
                cwd=checkout,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=60,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ValueError("git needs more than 60 s to list the ignored files of the workspace") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()[:300]
            raise ValueError(f"git cannot list the ignored files of the workspace: {said}")
        return [os.fsdecode(name).rstrip("/") for name in done.stdout.split(b"\0") if name]

    def kill(self) -> None:
        """KILL all processes of the run, until none is left."""
        deadline = time.monotonic() + GRACE
        for one in self.executions.values():
            while (left := proctable.members(one.tree)) and time.monotonic() < deadline:
                for process in left:
                    proctable.send(process, signal.SIGKILL)
                time.sleep(0.01)
            one.child.poll()

    @property
    def is_late(self) -> bool:
        """Whether nothing of the run counts any more: nobody asked in time, or this worker stood still."""
        is_forgotten = not self.answering and _now() - self.asked_at > LEASE
        return is_forgotten or os.path.exists(os.path.join(self.top, SILENT))

    def remove(self) -> None:
        self.kill()
        _remove(self.secret, self.top)
        self.lock.close()


def _remove(*paths: str) -> None:
    for path in paths:
        subprocess.run(["chmod", "-R", "u+rwx", "--", path], check=False, capture_output=True)
        shutil.rmtree(path, ignore_errors=True)


def _secret(top: str) -> str:
    """The folder in memory of the run in this folder: known from its name, so that none is forgotten."""
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else tempfile.gettempdir()
    return os.path.join(memory, f"nobrakes-{os.path.basename(top)}")


@contextlib.contextmanager
def _locked(path: str) -> Iterator[None]:
    held = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
    finally:
        os.close(held)


def remove_leftovers() -> None:
    """End and remove the runs of a worker that was killed here, also as it began or removed a run."""
    runs = _made(os.path.join(place(), "runs"))
    for one in os.scandir(runs):
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            with _locked(runs):
                lock = os.open(os.path.join(one.path, "lock"), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                proctable.end_all(os.path.join(one.path, "wake"))
                _remove(_secret(one.path), one.path)
            finally:
                os.close(lock)


def end_silent(worker: int) -> None:
    """End the runs of a worker that stands still. It removes them itself if it goes on."""
    for one in os.scandir(_made(os.path.join(place(), "runs"))):
        with contextlib.suppress(OSError):
            with open(os.path.join(one.path, "lock"), encoding="ascii") as lock:
                is_its = lock.read().strip() == str(worker)
            if is_its:
                open(os.path.join(one.path, SILENT), "wb").close()  # first: how its processes end counts for nothing
                proctable.end_all(os.path.join(one.path, "wake"))
                _remove(_secret(one.path))


def _beat() -> None:
    """Tell the process beside this worker that it works. If that one was killed, another takes its place."""
    while True:
        with subprocess.Popen(
            (sys.executable, "-P", "-m", "nobrakes.fleet.reaper", str(os.getpid())),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
        ) as beside:
            assert beside.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                while True:
                    os.write(beside.stdin.fileno(), b".")
                    time.sleep(BEAT_SECONDS)
            beside.kill()


@cache
def _watched() -> threading.Thread:
    thread = threading.Thread(target=_beat, daemon=True)
    thread.start()
    return thread


def _now() -> float:
    """Seconds, also those in which the machine slept."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


def _is_inbox(where: str) -> bool:
    """Whether a folder of the run is that of its agent's requests."""
    return where.endswith("/in")


def _made(path: str) -> str:
    os.makedirs(path, mode=0o700, exist_ok=True)
    return path


def _cache(repository: str, width: int) -> str:
    """The bare repository that keeps the objects of a home repository."""
    path = os.path.join(_made(os.path.join(place(), "objects")), repository)
    if not os.path.isdir(path):
        new = tempfile.mkdtemp(dir=os.path.dirname(path))
        kind = "sha256" if width == 64 else "sha1"
        git.run(["init", "-q", "--bare", f"--object-format={kind}", new], cwd=new)
        try:
            os.rename(new, path)
        except OSError:  # another run made it meanwhile
            shutil.rmtree(new, ignore_errors=True)
    return path


def _take(cache: str, parts: Sequence[bytes], commits: Sequence[str]) -> None:
    """Verify the pack, and that the commits are there by their ids."""
    here = {**git.PLUMBING, "GIT_DIR": cache}
    if parts:
        git.run(["index-pack", "--stdin", "--fix-thin", "--strict"], cwd=cache, env=here, stdin=b"".join(parts))
    if wanted := "".join(f"update refs/tips/{commit} {commit}\n" for commit in commits):
        git.run(["update-ref", "--stdin"], cwd=cache, env=here, stdin=wanted.encode())


def _fill(checkout: str) -> None:
    """Write the files of the index, which git made at home, without the clone's settings."""
    here = {**git.PLUMBING, "GIT_DIR": os.path.join(checkout, ".git"), "GIT_WORK_TREE": checkout}
    git.run(["checkout-index", "-a", "-f", "-q", "-u"], cwd=checkout, env=here)


SESSIONS: dict[str, Session] = {}
_LATE: set[str] = set()
"""Runs that are over here: whoever asks for one is told so."""


def hold(name: str) -> str:
    """The Dask task of a run: it takes the node's places as long as the run is here."""
    if name in SESSIONS or name in _LATE:
        return "again"  # Dask repeats a task whose node it thought lost: an agent is never started twice
    _watched()
    session = SESSIONS[name] = Session(name)
    try:
        while not session.closed.wait(0.2):
            if session.is_late:
                return "nobody asked"
        return "closed"
    finally:
        _LATE.add(name)
        SESSIONS.pop(name, None)
        session.remove()


def _known(repository: str) -> bytes:
    """The ids of the commits whose objects are here."""
    path = os.path.join(place(), "objects", os.path.basename(repository))
    if not os.path.isdir(path):
        return b"[]"
    words = ("for-each-ref", f"--count={_MAX_TIPS}", "--sort=-creatordate", "--format=%(objectname)", "refs/tips")
    return json.dumps(git.run(words, cwd=path, env={**git.PLUMBING, "GIT_DIR": path}).text.split()).encode()


_LOST = json.dumps({"lost": "the node does not know the run (any more)"}), b""


async def ask(name: str, call: str, words: str, body: bytes) -> tuple[str, bytes]:
    """One question about a run: (JSON, bytes). An unknown run is told as lost."""
    given: dict[str, Any] = json.loads(words)
    deadline = time.monotonic() + float(given.pop("begins", 0.0))
    while name not in SESSIONS and time.monotonic() < deadline:
        await asyncio.sleep(0.01)
    session = SESSIONS.get(name)
    if session is None or session.is_late:
        return ("{}", b"") if call in ("close", "kill") else _LOST
    caller, serial = session.callers.setdefault(str(given.pop("caller", "")), Caller()), given.pop("serial", None)
    session.answering += 1
    try:
        async with caller.lock:
            if serial is None or serial != caller.serial:
                caller.answer = await _answered(session, call, given, body)
                caller.serial = serial
            return _LOST if session.is_late else caller.answer
    finally:
        session.answering -= 1
        session.asked_at = _now()


async def _answered(session: Session, call: str, given: Mapping[str, Any], body: bytes) -> tuple[str, bytes]:
    found = "{}", b""
    if call != "exchange" or body:
        found = await asyncio.to_thread(_said, session, call, given, body)
    if call != "exchange" or found[0] != "{}":
        return found
    await session.wait(given["number"], given["wait"])
    return await asyncio.to_thread(_said, session, "updates", given, b"")


def _said(session: Session, call: str, given: Mapping[str, Any], body: bytes) -> tuple[str, bytes]:
    try:
        said, answer = _answer(session, call, given, body)
    except (OSError, NobrakesError) as error:  # a full disk, a broken git: this machine's, or of what came
        said, answer = {"failed": f"{type(error).__name__}: {error}"[:2000]}, b""
    except (KeyError, ValueError, TypeError, parcel.Broken, Beyond) as error:
        said, answer = {"refused": f"{type(error).__name__}: {error}"[:2000]}, b""
    return json.dumps(said), answer


def _answer(session: Session, call: str, given: Mapping[str, Any], body: bytes) -> tuple[dict[str, Any], bytes]:
    if call == "receive":
        session.received[given["what"]].append(body)
        return {}, b""
    if call == "known":
        return {}, _known(given["repository"])
    if call == "prepare":
        session.received["files"].append(body[given["words"] :])
        session.prepare(json.loads(body[: given["words"]]))
        return {}, b""
    if call == "execute":
        session.execute(given["number"], json.loads(body[: given["words"]]), body[given["words"] :])
        return {}, b""
    if call == "exchange":
        session.give(body)
        return {}, b""
    if call == "updates":
        return session.updates(given["number"])
    if call == "stop":
        session.stop(given["number"])
        return {}, b""
    if call == "collect":
        return session.collect(given["part"])
    if call in ("close", "kill"):
        session.closed.set()
        return {}, b""
    raise ValueError(f"an unknown question: {call}")
