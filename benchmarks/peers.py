"""Other programs that keep tasks, where they are installed: Taskwarrior (`task`) and Backlog.md (`backlog`).

Nothing is installed here: Debian's package is taskwarrior, npm's backlog.md. Both work in a folder of their own.
"""

import json
import os
import shutil
import statistics
import subprocess
import time
import uuid
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

MISSING = "not installed"
Times = tuple[float | None, float]
"""Seconds to bring tasks in (None: it cannot) and to list them."""


def _seconds(argv: Sequence[str], folder: str, env: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(argv, cwd=folder, env=env, check=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    return time.perf_counter() - start


def _warrior(folder: str, count: int) -> Times:
    """Seconds to import so many tasks that wait for one another, and to list them."""
    Path(folder, "rc").write_text(f"data.location={folder}\nconfirmation=off\nverbose=nothing\n")
    ids = [str(uuid.UUID(int=n + 1)) for n in range(count)]
    tasks = [
        {"uuid": one, "description": f"Bead number {n}", "status": "pending", "entry": "20260101T000000Z"}
        | ({"depends": [ids[n - 1]]} if n else {})
        for n, one in enumerate(ids)
    ]
    Path(folder, "tasks.json").write_text(json.dumps(tasks))
    env = os.environ | {"TASKRC": str(Path(folder, "rc")), "HOME": folder}
    taken = _seconds(["task", "import", "tasks.json"], folder, env)
    return taken, statistics.median(_seconds(["task", "list"], folder, env) for _ in range(3))


def _backlog(folder: str, count: int) -> Times:
    """The same; it has no import, its tasks are files that we write."""
    env = os.environ | {"HOME": folder}
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)
    _seconds(["backlog", "init", "peer", "--defaults"], folder, env)
    tasks = Path(folder, "backlog", "tasks")
    tasks.mkdir(parents=True, exist_ok=True)
    for n in range(1, count + 1):
        needs = f"[task-{n - 1}]" if n > 1 else "[]"
        head = f"id: task-{n}\ntitle: Bead number {n}\nstatus: To Do\nassignee: []\ncreated_date: '2026-01-01'\n"
        text = f"---\n{head}labels: []\ndependencies: {needs}\n---\n\n## Description\n\nNothing.\n"
        (tasks / f"task-{n} - Bead-number-{n}.md").write_text(text)
    return None, statistics.median(_seconds(["backlog", "task", "list", "--plain"], folder, env) for _ in range(3))


PEERS = {"task": _warrior, "backlog": _backlog}


@cache
def measured(count: int) -> dict[str, Times | str]:
    """Of each peer the seconds to bring in and to list so many tasks, or why not; measured once in a process."""
    found: dict[str, Times | str] = {}
    for name, peer in PEERS.items():
        if not shutil.which(name):
            found[name] = MISSING
            continue
        with TemporaryDirectory() as folder:
            try:
                found[name] = peer(folder, count)
            except (subprocess.SubprocessError, OSError) as error:
                found[name] = f"failed: {type(error).__name__}"
    return found


def told(count: int, place: int) -> str:
    """One of both numbers of each peer, in words."""
    words = []
    for name, one in measured(count).items():
        taken = one if isinstance(one, str) else one[place]
        if taken is not None:
            words.append(f"{name}: {taken}" if isinstance(taken, str) else f"{name}, {count:,} tasks: {taken:.2f} s")
    return "; ".join(words)


def listed(count: int) -> str:
    """What listing takes."""
    return told(count, 1)


def imported(count: int) -> str:
    """What bringing in takes."""
    return told(count, 0)
