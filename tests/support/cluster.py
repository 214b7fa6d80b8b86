"""A Dask cluster with TLS on the loopback: a scheduler and its workers, as real processes, which a test can end.

1. Ports are the system's choice; certificates are made by `openssl`, once for all tests of a process.
2. Each worker keeps its runs in a folder of its own. Nothing here waits for a time: only for what must happen.
3. What was started is ended by its pid.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.project import Project
from tests.support.scripted import Scripted, until

PLACES = 4


def certificates(folder: Path) -> tuple[Path, Path, Path]:
    """An authority, and a certificate with its key that it signed."""
    folder.mkdir(parents=True, exist_ok=True)
    ca, certificate, key = folder / "ca.pem", folder / "node.pem", folder / "node.key"
    if not key.exists():
        new = ("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        for name, words in (("ca", ()), ("node", ("-CA", "ca.pem", "-CAkey", "ca.key"))):
            files = ("-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}")
            subprocess.run([*new, *files, *words], cwd=folder, check=True, capture_output=True)
    return ca, certificate, key


def expired(folder: Path) -> tuple[Path, Path, Path]:
    """As `certificates`, but this certificate was valid until yesterday only."""
    ca, _, key = certificates(folder)
    certificate = folder / "expired.pem"
    words = ("openssl", "req", "-new", "-key", key, "-subj", "/CN=node")
    asked = subprocess.run(words, check=True, capture_output=True).stdout
    signed = ("openssl", "x509", "-req", "-CA", ca, "-CAkey", folder / "ca.key", "-CAcreateserial", "-days", "-1")
    certificate.write_bytes(subprocess.run(signed, input=asked, check=True, capture_output=True).stdout)
    return ca, certificate, key


class Cluster:
    """A scheduler and workers by their names; `start` them."""

    def __init__(self, folder: Path, tls: tuple[Path, Path, Path] | None = None, is_plain: bool = False) -> None:
        self.folder = folder
        self.tls = tls or certificates(folder / "tls")
        self.is_plain = is_plain
        self.address = ""
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *names: str) -> None:
        """The scheduler, at the same address as before if it had one, and these workers."""
        told = self.folder / "scheduler.json"
        told.unlink(missing_ok=True)
        port = self.address.rpartition(":")[2] or "0"
        words = ("scheduler", "--host", "127.0.0.1", "--port", port, "--scheduler-file", str(told))
        self.scheduler = self._start("scheduler", (*words, "--no-dashboard", "--no-show"))
        until(lambda: told.exists() and told.read_text().endswith("}"), what=lambda: self.log("scheduler"))
        self.address = json.loads(told.read_text())["address"]
        for name in names:
            self.add(name)

    def path_without_sandbox(self) -> str:
        """A PATH of this machine's programs without bubblewrap."""
        folder = self.folder / "programs"
        if not folder.exists():
            folder.mkdir()
            for path in reversed(os.environ["PATH"].split(os.pathsep)):
                for name in os.listdir(path) if os.path.isdir(path) else ():
                    if name != "bwrap":
                        (folder / name).unlink(missing_ok=True)
                        (folder / name).symlink_to(os.path.join(path, name))
        return str(folder)

    def add(self, name: str, places: int = PLACES, **environment: str) -> None:
        """Start a worker, and wait for nothing: who needs it sees it in `nobrakes fleet`."""
        words = ("worker", self.address, "--host", "127.0.0.1", "--name", name, "--resources", f"place={places}")
        more = ("--nthreads", str(places), "--no-nanny", "--no-dashboard", "--memory-limit", "0")
        self.workers[name] = self._start(name, (*words, *more), NOBRAKES_NODE=str(self.node(name)), **environment)

    def node(self, name: str) -> Path:
        """The folder in which a worker keeps its runs."""
        return self.folder / "nodes" / name

    def _start(self, name: str, words: Sequence[str], **environment: str) -> "subprocess.Popen[bytes]":
        ca, certificate, key = map(str, self.tls)
        secured = () if self.is_plain else ("--tls-ca-file", ca, "--tls-cert", certificate, "--tls-key", key)
        here = self.folder / "work" / name
        here.mkdir(parents=True, exist_ok=True)
        quiet = {"DASK_TEMPORARY_DIRECTORY": str(here), "DASK_DISTRIBUTED__ADMIN__LOG_LENGTH": "100", **environment}
        with open(self.folder / f"{name}.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", *words[:1], *secured, *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=here,
                env={**os.environ, **quiet},
                start_new_session=True,
            )

    def log(self, name: str) -> str:
        """What a process of the cluster said."""
        return (self.folder / f"{name}.log").read_text(errors="replace")[-4000:]

    def kill(self, name: str) -> None:
        """kill -9 of a worker or of the `scheduler`."""
        process = self.scheduler if name == "scheduler" else self.workers.pop(name)
        assert process is not None
        process.kill()
        process.wait()

    def send(self, name: str, number: signal.Signals) -> None:
        self.workers[name].send_signal(number)

    def end(self) -> None:
        for process in (*self.workers.values(), self.scheduler):
            if process is not None and process.poll() is None:
                process.kill()
                process.wait()
        for pid in self.left():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def left(self) -> list[int]:
        """Living processes of runs on these nodes."""
        found = []
        mark = f"NOBRAKES_WAKE={self.folder / 'nodes'}/".encode()
        for pid in filter(str.isdigit, os.listdir("/proc")):
            with suppress(OSError):
                if mark in Path("/proc", pid, "environ").read_bytes():
                    found.append(int(pid))
        return found

    def runs(self, name: str = "*") -> list[Path]:
        """The folders of runs on these nodes, or on one."""
        return list((self.folder / "nodes").glob(f"{name}/runs/*"))

    def settings(self, **more: object) -> str:
        """The section `fleet` of a project that uses these nodes."""
        ca, certificate, key = map(str, self.tls)
        values = {"engine": "dask", "scheduler": self.address, "ca": ca, "certificate": certificate, "key": key, **more}
        return "[fleet]\n" + "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items())


@contextmanager
def cluster(folder: Path, *names: str) -> Iterator[Cluster]:
    """A cluster with these workers, until the end of the block."""
    made = Cluster(folder)
    try:
        made.start(*names)
        yield made
    finally:
        made.end()


class FleetProject(Scripted):
    """A project whose runs go to the nodes of a cluster."""

    def __init__(self, folder: Path, nodes: Cluster, agent: str = "", **settings: object) -> None:
        super().__init__(folder, more=nodes.settings(**settings))
        if agent:
            text = self.config.read_text()
            line = next(one for one in text.splitlines() if one.startswith("command = ["))
            self.config.write_text(text.replace(line, f"command = ['sh', '-c', '''{agent}''']"))

    def nodes(self) -> dict[str, dict[str, object]]:
        return {one["name"]: one for one in self.ask("fleet")["nodes"]}

    def ready(self, *names: str) -> None:
        """Wait until these nodes get work and have none, and no others are there."""
        wanted = dict.fromkeys(names, ("", {}))
        until(lambda: {name: (one["why"], one["runs"]) for name, one in self.nodes().items()} == wanted)


def end_gateway(project: Project) -> None:
    """End the helper that talks to the nodes."""
    for pid in gateways(project):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def gateways(project: Project) -> list[int]:
    """The processes of the project's helper: its sandbox's and its own."""
    folder = str(project.folder / ".nobrakes" / "fleet").encode()
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError):
            words = Path("/proc", pid, "cmdline").read_bytes().split(b"\0")
            if b"nobrakes.fleet.gateway" in words and folder in words:
                found.append(int(pid))
    return found
