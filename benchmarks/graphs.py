"""Large graphs, and what one command costs in them."""

import atexit
import json
import os
import random
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from measure import ORDINARY
from pipeline import NOBRAKES, repository

from nobrakes.beads.model import Bead, Dependency, Status
from nobrakes.store import create_store

COST = str(Path(__file__).parent / "cost.py")
AT_ONCE = 100_000
TIMEOUT_SECONDS = 120.0
STATUSES = (Status.DONE, *[Status.NEEDS_DOER] * 9)
WORDS = """the a of and to when return value error request page user account table column index cache file folder name
path test case click button field form date amount tax total report export import queue worker retry token session login
password"""
OTHER_WORDS = "größe überprüfen café naïve – “quoted” → ≥ 设置 должен"
AREAS = ("api", "billing", "database", "docs", "frontend", "login", "mobile", "reports", "search", "security")
MINUTES = (15, 30, 30, 45, 60, 60, 90, 120, 240, 480)
CHARACTERS = 200


def text_of(number: int) -> dict[str, Any]:
    """What people write of a bead: a title, CHARACTERS of text (every other one not in ASCII), labels, an estimate."""
    rng = random.Random(number)
    words = " ".join(rng.choices(f"{WORDS} {OTHER_WORDS * (number % 2)}".split(), k=CHARACTERS // 4))
    title = f"{words[:40].rsplit(' ', 1)[0].capitalize()} {number}"
    labels, minutes = tuple(rng.sample(AREAS, 2)), rng.choice(MINUTES)
    return {"title": title, "description": words[:CHARACTERS].strip(), "labels": labels, "estimate": minutes}


def beads_of(count: int, before: int = 1000) -> Iterator[tuple[list[Bead], list[Dependency]]]:
    """Beads with texts and two dependencies each on some of so many before, a tenth of them done, in parts."""
    rng = random.Random(1)
    for start in range(0, count, AT_ONCE):
        places = range(start, min(count, start + AT_ONCE))
        beads = [
            Bead(f"b{i:07}", **text_of(i), status=STATUSES[i % 10], priority=i % 5, needs_tests=False) for i in places
        ]
        needs = {(i, j) for i in places if i >= before for j in rng.sample(range(i - before, i), 2)}
        yield beads, [Dependency(f"b{i:07}", f"b{j:07}") for i, j in sorted(needs)]


@cache
def filled(count: int, before: int = 1000) -> str:
    """A database with so many live beads, made once while this process lives, or kept where NOBRAKES_GRAPHS says."""
    path = os.path.join(os.environ.get("NOBRAKES_GRAPHS") or _home(), f"{count}-{before}.db")
    if not os.path.exists(path):
        made = f"{path}.{os.getpid()}"
        with closing(create_store(made)) as store:
            for beads, needs in beads_of(count, before):
                store.put(beads, needs, "benchmark")
        os.rename(made, path)
    return path


@cache
def _home() -> str:
    home = TemporaryDirectory()
    atexit.register(home.cleanup)
    return home.name


@contextmanager
def repository_with(count: int) -> Iterator[str]:
    """A repository with nobrakes in it, its settings untouched, and so many live beads."""
    with TemporaryDirectory() as folder:
        repository(folder)
        subprocess.run([NOBRAKES, "init"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        shutil.copy(filled(count), database(folder))
        yield folder


def database(folder: str) -> str:
    return os.path.join(folder, ".nobrakes", "nobrakes.db")


def cost(argv: Sequence[str], folder: str, limit: float = TIMEOUT_SECONDS) -> dict[str, Any]:
    """Seconds, CPU seconds, megabytes and bytes of output of a process; an exit code that is no answer is an error.

    What has not ended after `limit` seconds is killed, and is told as what it cost until then.
    """
    whole = [sys.executable, "-I", "-S", COST, str(limit), *argv]
    env = {name: value for name, value in os.environ.items() if not name.startswith("NOBRAKES_")}
    done = subprocess.run(whole, cwd=folder, env=env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"{' '.join(argv)} could not be measured: {done.stderr.strip()[-200:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    if found["code"] not in (*ORDINARY, -signal.SIGKILL):
        raise SystemExit(f"{' '.join(argv)} ended with {found['code']}: {done.stderr.strip()[-200:]}")
    return found
