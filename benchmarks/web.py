"""What the pages cost: bytes, first paint, from the socket to the screen, memory under load, start, idleness, tabs.

    .venv/bin/python benchmarks/web.py [NAME …] [--soak SECONDS] [--rounds N] [--batches N]

NAME is one of bytes, listening, pages, idle, paint, socket, heap, tabs; without one all are measured. `--soak` is how
long `heap` listens to 500 lines a second (60; the proof takes 600).

1. `nobrakes web` is the installed command with its defaults, Chromium a real one (NOBRAKES_CHROMIUM names another).
2. From the socket to the screen: from when the browser has a message to when it has changed the page by it. It is asked
   of twenty agents on Live, whose files grow; the way from the file to the browser is told beside it.
3. Memory is what stays after the browser collected its garbage, after a first part that is not counted.
"""

import argparse
import gzip
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from measure import keep, table
from pipeline import CONFIG, NOBRAKES, repository

from nobrakes.beads.model import Bead, Dependency, Role, Status
from nobrakes.store import open_store
from nobrakes.web.rendering import WAYS

STATIC = Path(__file__).parent.parent / "nobrakes" / "web" / "static"
CHROMIUM = os.environ.get("NOBRAKES_CHROMIUM") or shutil.which("chromium") or ""
AGENTS = 20
TABS = 10
Row = tuple[str, str, str, bool]
"""(what, what was measured, the target, whether it is met)."""


class Shop:
    """A repository in a place of its own, with `nobrakes web` beside it."""

    def __init__(self, folder: str, beads: int = 0, agents: int = 0) -> None:
        self.folder = Path(folder, "shop")
        self.folder.mkdir()
        home = Path(folder, "home")
        home.mkdir()
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("NOBRAKES_", "XDG_"))}
        self.env |= {"HOME": str(home), "NOBRAKES_USER_HOME": str(home)}
        repository(str(self.folder))
        self.run("init", "--build", "true")
        self.files: list[Path] = []
        self.seed(beads, agents)

    def seed(self, beads: int, agents: int = 0) -> None:
        """Beads in every column, and agents at work."""
        store = open_store(str(self.folder / ".nobrakes" / "nobrakes.db"))
        kinds = (Status.NEEDS_DOER, Status.DRAFT, Status.DONE, Status.NEEDS_DOER, Status.NEEDS_REVIEW)
        found = [Bead(f"b{n}", f"Bead number {n}", status=kinds[n % 5], needs_tests=False) for n in range(beads)]
        store.put(found, [Dependency(f"b{n}", f"b{n - 5}") for n in range(5, beads, 3)], "benchmark")
        work = [Bead(f"w{n}", f"Work {n}", status=Status.NEEDS_DOER, needs_tests=False) for n in range(agents)]
        store.put(work, [], "benchmark")
        for one in work:
            attempt = store.open_attempt(one.id, Role.DOER, "script", [f"Ada {one.id}"], 7200.0, None)
            assert attempt is not None
            run = self.folder / ".nobrakes" / "runs" / f"{attempt.id}-agent"
            run.mkdir(parents=True)
            self.files.append(run / "agent.out")
            self.files[-1].write_text("")
        store.close()

    def run(self, *words: str) -> None:
        subprocess.run([NOBRAKES, *words], cwd=self.folder, env=self.env, check=True, stdout=subprocess.DEVNULL)

    def start(self, port: int = 0, *more: str) -> "subprocess.Popen[str]":
        options = [*(["--port", str(port)] if port else []), *more]
        pipes = {"stdout": subprocess.PIPE, "stdin": subprocess.DEVNULL, "text": True}
        return subprocess.Popen([NOBRAKES, "web", *options], cwd=self.folder, env=self.env, **pipes)  # type: ignore[call-overload,no-any-return]

    def link(self) -> str:
        """A new one, to the server that runs."""
        said = subprocess.run(
            [NOBRAKES, "web"], cwd=self.folder, env=self.env, check=True, capture_output=True, text=True
        )
        return next(line.split()[1] for line in said.stdout.splitlines() if line.startswith("open "))

    @contextmanager
    def serving(self) -> Iterator[tuple[int, str]]:
        """(its pid, the link to log in), until the end of the block."""
        running = self.start()
        try:
            assert running.stdout is not None
            link = ""
            for line in running.stdout:
                link = line.split()[1] if line.startswith("open ") else link
                if line.startswith("also "):
                    break
            yield running.pid, link
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(30)


@contextmanager
def browser(link: str) -> Iterator[Any]:
    """A context of Chromium that is logged in."""
    from playwright.sync_api import sync_playwright

    if not CHROMIUM:
        raise SystemExit("there is no Chromium: apt-get install chromium, or name one with NOBRAKES_CHROMIUM")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--js-flags=--expose-gc"])
        context = started.new_context(base_url=link.partition("/login")[0], viewport={"width": 1280, "height": 800})
        page = context.new_page()
        page.goto(link)
        page.wait_for_url("**/r/shop/")
        page.close()
        try:
            yield context
        finally:
            started.close()


@contextmanager
def talking(files: list[Path], a_second: float) -> Iterator[None]:
    """So many lines a second, by the agents in turn; each has the time in milliseconds at its beginning."""
    over = threading.Event()

    def talk() -> None:
        opened = [path.open("a", buffering=1) for path in files]
        began, said = time.monotonic(), 0
        while not over.wait(0.02 if a_second < 100 else 0.005):
            due = int((time.monotonic() - began) * a_second)
            for number in range(said, due):
                opened[number % len(opened)].write(f"{time.time() * 1000:.0f} line {number} of what an agent does\n")
            said = max(said, due)

    thread = threading.Thread(target=talk, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def cpu_ms(pid: int) -> float:
    """CPU of the process until now, threads that ended included."""
    return time.clock_gettime((~pid << 3) | 2) * 1000  # Linux: the CPU clock of another process


def percentile(values: list[float], share: float) -> float:
    """The value below which this share of them lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, round(share * (len(ordered) - 1)))]


# what is measured


def weigh(raw: dict[str, Any], chosen: argparse.Namespace) -> list[Row]:
    sizes = {
        path.name: len(gzip.compress(path.read_bytes()))
        for path in STATIC.glob("*.*")
        if path.suffix in (".js", ".css")
    }
    total = sum(sizes.values()) / 1000
    raw["bytes"] = sizes
    return [("all scripts and styles, kB packed", f"{total:.1f}", "<= 40", total <= 40)]


def listening(raw: dict[str, Any], chosen: argparse.Namespace) -> list[Row]:
    """From the start of the process to a connection that is accepted, and to an answered page, beside a bare Python."""
    rounds, listens, answers, floors = chosen.rounds, [], [], []
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder)
        for number in range(rounds + 1):
            port = _free()
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], check=True)
            floor = time.perf_counter() - began
            began = time.perf_counter()
            running = shop.start(port)
            while True:
                line = socket.socket()
                if line.connect_ex(("127.0.0.1", port)) == 0:
                    break
                line.close()
                time.sleep(0.002)
            listens.append(time.perf_counter() - began)
            line.sendall(f"GET /login HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            assert b"200" in line.recv(100)
            answers.append(time.perf_counter() - began)
            floors.append(floor)
            line.close()
            running.send_signal(signal.SIGINT)
            running.wait(30)
            if not number:
                for kept in (listens, answers, floors):
                    kept.clear()  # the files were cold
    raw["listening"] = {"seconds": listens, "answered": answers, "python": floors}
    found = statistics.median(listens)
    spread = f"({min(listens):.2f} to {max(listens):.2f})"
    return [
        ("listening after, s", f"{found:.2f} {spread}", "<= 0.4", found <= 0.4),
        ("first page after, s", f"{statistics.median(answers):.2f}", "told", True),
    ]


def _free() -> int:
    with socket.socket() as line:
        line.bind(("127.0.0.1", 0))
        return int(line.getsockname()[1])


PAGES = (
    *(way.path for way in WAYS if way.path not in ("requests", "sprints")),
    *("desk?all=1", "board?q=number", "graph?mode=all", "plan?as=kanban", "bead/b0", "bead/b9999", "do/add"),
    *("settings?changed=1", "evidence?check=1"),
)


def pages(raw: dict[str, Any], chosen: argparse.Namespace) -> list[Row]:
    """Each page with 10,000 beads, and its weight: the first one of a new server, then each in turn, the quickest."""
    with tempfile.TemporaryDirectory() as folder:
        shop, port, token = Shop(folder, beads=10_000, agents=4), _free(), Path(folder, "token")
        firsts = []
        for _ in range(3):
            running = shop.start(port, "--token-file", str(token))
            assert running.stdout is not None
            next(line for line in running.stdout if line.startswith("also "))
            headers = {"Authorization": f"Bearer {token.read_text().strip()}"}
            firsts.append(_asked(port, "/r/shop/", headers)[0])
            if len(firsts) < 3:
                running.send_signal(signal.SIGINT)
                running.wait(30)
        found = {}
        for page in ("/", "/projects", "/sessions", *(f"/r/shop/{path}" for path in PAGES)):
            _asked(port, page, headers)  # its template is compiled
            before, asked = cpu_ms(running.pid), [_asked(port, page, headers) for _ in range(chosen.rounds)]
            body, spent = asked[-1][1], (cpu_ms(running.pid) - before) / chosen.rounds
            found[page] = (min(seconds for seconds, _ in asked), spent, len(body), len(gzip.compress(body)))
        running.send_signal(signal.SIGINT)
        running.wait(30)
    raw["pages"] = {"firsts": firsts, "seconds, cpu ms, bytes, packed": found}
    first = min(firsts)
    rows = [("first page of a new server, s", f"{first:.2f}", "<= 0.6", first <= 0.6)]
    return rows + [
        (
            f"{page}, ms (CPU), kB (packed)",
            f"{seconds * 1000:.0f} ({spent:.0f}), {size / 1000:.0f} ({packed / 1000:.1f})",
            "<= 100 ms",
            seconds <= 0.1,
        )
        for page, (seconds, spent, size, packed) in found.items()
    ]


def _asked(port: int, path: str, headers: dict[str, str]) -> tuple[float, bytes]:
    began = time.perf_counter()
    with urlopen(Request(f"http://127.0.0.1:{port}{path}", headers=headers)) as answer:
        body = answer.read()
    return time.perf_counter() - began, body


def idle(raw: dict[str, Any], chosen: argparse.Namespace) -> list[Row]:
    """The server with nobody there, and with one page open on a repository in which nothing happens."""
    seconds = 30.0
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder, beads=100)
        with shop.serving() as (pid, link):
            with browser(link):
                pass  # whatever it loads for its first page is loaded
            time.sleep(25)  # what was opened for the page that is gone ends
            alone = [_spent(pid, seconds / 3) * 60 / (seconds / 3) for _ in range(3)]
            with browser(shop.link()) as context:
                context.new_page().goto("/r/shop/")
                time.sleep(5)
                watched = [_spent(pid, seconds / 3) * 60 / (seconds / 3) for _ in range(3)]
    raw["idle"] = {"alone_ms_a_minute": alone, "one_page_ms_a_minute": watched}
    found = statistics.median(alone)
    return [
        ("idle, ms of CPU a minute", f"{found:.1f}", "<= 10", found <= 10),
        ("with one page open, ms a minute", f"{statistics.median(watched):.1f}", "told", True),
    ]


def _spent(pid: int, seconds: float) -> float:
    before = cpu_ms(pid)
    time.sleep(seconds)
    return cpu_ms(pid) - before


PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
WAIT = "() => performance.getEntriesByType('navigation')[0].responseStart"
NOTHING = "/nothing"
"""A page that says that there is no such page: what this machine takes at least to paint one of ours."""


def paint(raw: dict[str, Any], chosen: argparse.Namespace) -> list[Row]:
    """The median of a batch, of the quietest of `--batches`, beside a page with nothing on it in the same batch."""
    rows: list[Row] = []
    for beads, most in ((500, 160), (5_000, 170)):
        batches: list[dict[str, list[float]]] = []
        with (
            tempfile.TemporaryDirectory() as folder,
            Shop(folder, beads).serving() as (_, link),
            browser(link) as context,
        ):
            page = context.new_page()
            for _ in range(chosen.batches):
                batches.append({"ms": [], "first_byte_ms": [], "nothing_ms": []})
                for number in range(chosen.rounds + 1):
                    found = _painted(page, "/r/shop/board"), _painted(page, NOTHING)
                    if number:
                        batches[-1]["ms"].append(found[0][0])
                        batches[-1]["first_byte_ms"].append(found[0][1])
                        batches[-1]["nothing_ms"].append(found[1][0])
        raw[f"paint {beads}"] = batches
        best = min(batches, key=lambda one: statistics.median(one["ms"]))
        found, first, nothing = (statistics.median(best[name]) for name in ("ms", "first_byte_ms", "nothing_ms"))
        worst = max(statistics.median(one["ms"]) for one in batches)
        said = f"{found:.0f} (batches to {worst:.0f}; first byte {first:.0f}; an empty page {nothing:.0f})"
        rows.append((f"first paint of a Board of {beads}, ms", said, f"<= {most}", found <= most))
    return rows


def _painted(page: Any, path: str) -> tuple[float, float]:
    page.goto(path)
    page.wait_for_function(PAINT)
    return page.evaluate(PAINT), page.evaluate(WAIT)


WATCH = """
(() => {
  const told = (window.told = { late: [], way: [], count: 0 });
  const Own = window.WebSocket;
  window.WebSocket = class extends Own {
    constructor(...given) {
      super(...given);
      this.addEventListener("message", (event) => {
        const at = performance.now(), clock = Date.now(), message = JSON.parse(event.data);
        if (message.op !== "lines") return;
        // its own listener is the next; whatever it changes is seen by the observer, in the same turn
        let is_seen = false;
        const observer = new MutationObserver(() => {
          if (is_seen) return;
          is_seen = true;
          observer.disconnect();
          told.late.push(performance.now() - at);
          told.count += message.lines.length;
          for (const line of message.lines) told.way.push(clock - Number(line.text.slice(0, 13)));
        });
        observer.observe(document.documentElement, { childList: true, subtree: true });
      });
    }
  };
})();
"""


def to_screen(raw: dict[str, Any], chosen: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder, agents=AGENTS)
        with shop.serving() as (_, link), browser(link) as context, talking(shop.files, 50):
            page = context.new_page()
            page.add_init_script(WATCH)
            page.goto("/r/shop/live")
            page.wait_for_function("() => window.told.count > 100")
            page.evaluate("() => { window.told.late = []; window.told.way = []; window.told.count = 0; }")
            began = time.monotonic()
            time.sleep(20)
            told, took = page.evaluate("() => window.told"), time.monotonic() - began
    late, way = told["late"], told["way"]
    raw["socket"] = {"ms": late, "file_to_browser_ms": way, "lines": told["count"], "seconds": took}
    p99 = percentile(late, 0.99)
    return [
        (
            "socket to screen at 50 a second, ms",
            f"p50 {percentile(late, 0.5):.1f}, p99 {p99:.1f}",
            "p99 <= 15",
            p99 <= 15,
        ),
        ("lines that came in a second", f"{told['count'] / took:.0f}", "told", told["count"] / took > 40),
        ("file to browser, ms", f"p50 {percentile(way, 0.5):.0f}, p99 {percentile(way, 0.99):.0f}", "told", True),
    ]


def heap(raw: dict[str, Any], chosen: argparse.Namespace) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder, agents=AGENTS)
        with shop.serving() as (pid, link), browser(link) as context, talking(shop.files, 500):
            page = context.new_page()
            page.add_init_script(WATCH)
            page.goto("/r/shop/live")
            tools = context.new_cdp_session(page)
            tools.send("Performance.enable")
            # until every agent's lines are as many as a page keeps
            page.wait_for_function(
                "() => [...document.querySelectorAll('.stream')].every((one) => one.childElementCount >= 400)",
                timeout=120_000,
            )
            found = []
            end = time.monotonic() + chosen.soak
            cpu, began = cpu_ms(pid), time.monotonic()
            while time.monotonic() < end:
                page.evaluate("() => { window.told.late = []; window.told.way = []; }")
                tools.send("HeapProfiler.collectGarbage")
                seen = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
                found.append((time.monotonic() - began, seen["JSHeapUsedSize"] / 1e6, seen["Nodes"], _rss(pid)))
                time.sleep(min(10.0, chosen.soak / 10))
            lines = page.evaluate("() => window.told.count")
            busy = (cpu_ms(pid) - cpu) / (time.monotonic() - began) / 10
    raw["heap"] = {"samples": found, "lines": lines, "seconds": chosen.soak, "server_cpu_percent": busy}
    half = len(found) // 2
    first, last = (statistics.median(one[1] for one in part) for part in (found[:half], found[half:]))
    nodes = max(one[2] for one in found) - min(one[2] for one in found)
    growth = last - first
    return [
        (
            f"heap after {chosen.soak:.0f} s at 500 a second, MB",
            f"{first:.2f} then {last:.2f}, {nodes:.0f} nodes between",
            "grows < 0.2",
            growth < 0.2 and nodes < 5_000,
        ),
        ("the server meanwhile", f"{busy:.1f} % of a core, {found[0][3]:.0f} then {found[-1][3]:.0f} MB", "told", True),
    ]


def _rss(pid: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def tabs(raw: dict[str, Any], chosen: argparse.Namespace) -> list[Row]:
    """The daemon's CPU with nobody looking and with ten pages open, in turn."""
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder)
        config = CONFIG.replace("WORKERS", "2").replace("SANDBOX", "none")
        (shop.folder / ".nobrakes" / "config.toml").write_text(config)
        shop.run("daemon", "start")
        shop.run("pause")
        shop.seed(500)
        try:
            pid = int((shop.folder / ".nobrakes" / "daemon.lock").read_text().split()[0])
            with shop.serving() as (_, link), browser(link) as context:
                time.sleep(5)
                none, ten = [], []
                for _ in range(3):
                    none.append(_spent(pid, 10) * 6)
                    pages = [context.new_page() for _ in range(TABS)]
                    for number, page in enumerate(pages):
                        page.goto(f"/r/shop/{('', 'board', 'live', 'graph', 'desk')[number % 5]}")
                    time.sleep(2)
                    ten.append(_spent(pid, 10) * 6)
                    for page in pages:
                        page.close()
        finally:
            shop.run("daemon", "stop")
    raw["tabs"] = {"none_ms_a_minute": none, "ten_ms_a_minute": ten}
    more = statistics.median(ten) - statistics.median(none)
    said = f"{statistics.median(none):.0f} with none, {statistics.median(ten):.0f} with ten"
    return [("the daemon, ms of CPU a minute", said, "no more (20)", more <= 20)]


MEASURES: dict[str, Callable[[dict[str, Any], argparse.Namespace], list[Row]]] = {
    "bytes": weigh,
    "listening": listening,
    "pages": pages,
    "idle": idle,
    "paint": paint,
    "socket": to_screen,
    "heap": heap,
    "tabs": tabs,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="What the pages cost.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASURES))
    parser.add_argument("--soak", type=float, default=60.0, metavar="SECONDS")
    parser.add_argument("--rounds", type=int, default=9, help="How often a page or a start is measured in a batch.")
    parser.add_argument("--batches", type=int, default=3, help="How many batches; the quietest counts.")
    chosen = parser.parse_args()
    if unknown := set(chosen.names) - set(MEASURES):
        raise SystemExit(f"there is no measure {', '.join(sorted(unknown))}; there are: {', '.join(MEASURES)}")
    raw: dict[str, Any] = {}
    rows: list[Row] = []
    for name, measure in MEASURES.items():
        if not chosen.names or name in chosen.names:
            load = os.getloadavg()[0]
            rows += measure(raw, chosen)
            raw.setdefault("load", {})[name] = load
            print(f"{name} measured", file=sys.stderr, flush=True)
    print(table([["what", "measured", "target", "met"], *([*row[:3], "yes" if row[3] else "NO"] for row in rows)]))
    if not chosen.names:
        keep("web", raw)


if __name__ == "__main__":
    main()
