"""A cluster whose links can be cut, and a saboteur who kills, stops and cuts its parts at random, from a seed.

The saboteur also does what a supervisor does: it starts workers again that ended. What it broke is mended after a while.
"""

import random
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.support.cluster import PLACES, Cluster
from tests.support.links import BACK, FORTH, Link

LONGER_THAN_LEASE = (33.0, 40.0)
SHORT = (0.5, 6.0)


class LinkedCluster(Cluster):
    """Workers and clients reach the scheduler through links, and the scheduler the workers."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.links: dict[str, Link] = {}
        self._seen: set[str] = set()
        self._unconfined = self.path_without_sandbox()

    def start(self, *names: str) -> None:
        super().start()
        if "client" not in self.links:
            self.links["client"] = Link(int(self.address.rpartition(":")[2]))
        for name in names:
            self.add(name)

    @property
    def door(self) -> str:
        """The scheduler's address for clients."""
        return f"tls://127.0.0.1:{self.links['client'].port}"

    def add(self, name: str, places: int = PLACES, **environment: str) -> None:
        for one in (f"{name} up", f"{name} down"):
            if one in self.links:
                self.links.pop(one).end()
        up, port = Link(int(self.address.rpartition(":")[2])), free_port()
        down = Link(port)
        self.links |= {f"{name} up": up, f"{name} down": down}
        words = ("worker", f"tls://127.0.0.1:{up.port}", "--name", name, "--resources", f"place={places}")
        where = ("--listen-address", f"tls://127.0.0.1:{port}", "--contact-address", f"tls://127.0.0.1:{down.port}")
        more = ("--nthreads", str(places), "--no-nanny", "--no-dashboard", "--memory-limit", "0")
        own = {"NOBRAKES_NODE": str(self.node(name)), "PATH": self._unconfined}
        self.workers[name] = self._start(name, (*words, *where, *more), **own, **environment)

    def notice(self) -> None:
        """Remember the runs that are there, for `secrets`."""
        self._seen.update(path.name for path in self.runs())

    def secrets(self) -> list[Path]:
        """The folders in memory of runs on these nodes, also of runs that are gone."""
        return [path for name in self._seen if (path := Path("/dev/shm", f"nobrakes-{name}")).exists()]

    def end(self) -> None:
        super().end()
        for link in self.links.values():
            link.end()


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


class Saboteur:
    """Breaks one thing after another until `mend`; `acts` counts what it did."""

    def __init__(
        self,
        seed: str,
        nodes: LinkedCluster,
        places: int,
        end_gateway: Callable[[], None],
        end_daemon: Callable[[], None],
    ) -> None:
        self._places = places
        self.rng = random.Random(seed)
        self.nodes = nodes
        self.names = list(nodes.workers)
        self.acts: Counter[str] = Counter()
        self.story: list[str] = []
        self._others = {"gateway": end_gateway, "daemon": end_daemon}
        self._later: list[tuple[float, Callable[[], None]]] = []
        self._stopped: dict[str, int] = {}
        self._began = time.monotonic()
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.trouble: BaseException | None = None

    def begin(self) -> None:
        self._thread.start()

    def mend(self) -> None:
        """Break nothing more, and make all whole again."""
        self.end()
        if self.trouble:
            raise self.trouble
        self.supervise()

    def end(self) -> None:
        """Break nothing more; what was stopped or cut goes on."""
        self._is_over.set()
        self._thread.join()
        later, self._later = self._later, []
        for _, repair in later:
            repair()

    def supervise(self) -> None:
        """Start again what ended."""
        scheduler = self.nodes.scheduler
        if scheduler is None or scheduler.poll() is not None:
            return  # it comes back later
        for name in self.names:
            process = self.nodes.workers.get(name)
            if process is None or process.poll() is not None:
                self._tell(f"start {name}")
                self.nodes.add(name, places=self._places)

    def _work(self) -> None:
        kinds = {"worker": 4, "stop": 2, "cut": 6, "gateway": 2, "scheduler": 1, "daemon": 3}
        again = 0.0
        try:
            while not self._is_over.wait(0.1):
                self.nodes.notice()
                now = time.monotonic()
                due, self._later = (
                    [one for at, one in self._later if at <= now],
                    [(at, one) for at, one in self._later if at > now],
                )
                for repair in due:
                    repair()
                if self.rng.random() < 0.05:
                    self.supervise()
                if now >= again:
                    [kind] = self.rng.choices(list(kinds), list(kinds.values()))
                    getattr(self, f"_{kind}", lambda kind=kind: self._other(kind))()
                    again = now + self.rng.uniform(1.0, 8.0)
        except BaseException as error:
            self.trouble = error

    def _tell(self, what: str) -> None:
        self.story.append(f"{time.monotonic() - self._began:6.1f} {what}")

    def _do(self, kind: str, what: str) -> None:
        self.acts[kind] += 1
        self._tell(f"{kind} {what}")

    def _after(self, seconds: tuple[float, float], repair: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + self.rng.uniform(*seconds), repair))

    def _worker(self) -> None:
        living = [name for name, one in self.nodes.workers.items() if one.poll() is None]
        if living:
            name = self.rng.choice(sorted(living))
            self._do("kill", name)
            self.nodes.kill(name)

    def _stop(self) -> None:
        living = [name for name, one in self.nodes.workers.items() if one.poll() is None and name not in self._stopped]
        if not living or len(self._stopped) > 1:
            return
        name = self.rng.choice(sorted(living))
        process = self.nodes.workers[name]
        self._do("stop", name)
        process.send_signal(signal.SIGSTOP)
        self._stopped[name] = process.pid

        def proceed() -> None:
            self._stopped.pop(name, None)
            self._tell(f"continue {name}")
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)

        self._after(LONGER_THAN_LEASE if self.rng.random() < 0.7 else SHORT, proceed)

    def _cut(self) -> None:
        where = self.rng.choice(sorted(self.nodes.links))
        link = self.nodes.links[where]
        how = self.rng.choice(("reset", "down", "stall", FORTH, BACK))
        self._do("cut", f"{where}: {how}")
        if how == "reset":
            link.reset()
            return
        if how == "down":
            link.down()
        else:
            link.stall(*(() if how == "stall" else (how,)))

        def mend() -> None:
            self._tell(f"mend {where}")
            link.mend()

        self._after(LONGER_THAN_LEASE if self.rng.random() < 0.3 else SHORT, mend)

    def _scheduler(self) -> None:
        if self.nodes.scheduler is None or self.nodes.scheduler.poll() is not None:
            return
        self._do("scheduler", "killed")
        self.nodes.kill("scheduler")
        self._after(SHORT, self.nodes.start)

    def _other(self, kind: str) -> None:
        self._do(kind, "killed")
        self._others[kind]()
