"""200 no-op beads through the whole machinery, against the same git work in a plain shell script, in turn.

    .venv/bin/python benchmarks/pipeline.py [ROUNDS] [BEADS] [WORKERS]

Target: at most 1.25 times the script's time, where neither has a sandbox. Beside it is the same with sandboxes: each
bead starts two, for its agent and its check. Every landed tree is verified on all sides.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measure import keep, table

from nobrakes.beads.model import Bead, Status
from nobrakes.store import open_store

HERE = Path(__file__).parent
NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
AGENT = 'n=${NOBRAKES_BEAD#b} && echo "$n" >"file-$n" && git add -A && git commit -q -m "bead $n"'
CONFIG = f"""
main = "main"
[[checks]]
name = "noop"
command = "true"
kind = "build"
[limits]
doers = WORKERS
[agents]
test_writer = "script"
doer = "script"
[agents.script]
command = ["sh", "-c", '''{AGENT}''']
[sandbox]
mode = "SANDBOX"
wall = "none"
"""


def repository(folder: str, files: int = 0) -> None:
    """A repository with main at a first commit, of so many small files, packed as in a clone."""
    for number in range(files):
        path = Path(folder, f"d{number // 50}", f"f{number}.py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"def f{number}():\n    return {number}\n" * 20)
    for argv in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["commit", "-q", "--allow-empty", "-m", "Begin"],
        ["gc", "-q"],
    ):
        subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b.invalid", *argv], cwd=folder, check=True)


def verify(folder: str, beads: int) -> None:
    """Main holds every bead's file with its content, in as many commits, and the repository is whole."""
    names = subprocess.run(["git", "ls-tree", "--name-only", "main"], cwd=folder, capture_output=True, text=True)
    made = [name for name in names.stdout.split() if name.startswith("file-")]
    assert sorted(made) == sorted(f"file-{i}" for i in range(1, beads + 1)), folder
    log = subprocess.run(["git", "rev-list", "--count", "main"], cwd=folder, capture_output=True, text=True)
    assert int(log.stdout) == beads + 1, log.stdout
    subprocess.run(["git", "fsck", "--no-dangling", "--no-progress"], cwd=folder, check=True)


def script(beads: int, workers: int, name: str = "pipeline.sh", sleep: float = 0.0) -> float:
    with tempfile.TemporaryDirectory() as folder:
        repository(folder)
        subprocess.run(["git", "checkout", "-q", "--detach"], cwd=folder, check=True)
        start = time.perf_counter()
        subprocess.run(["sh", str(HERE / name), folder, str(beads), str(workers), f"{sleep:g}"], check=True)
        taken = time.perf_counter() - start
        verify(folder, beads)
    return taken


def config(workers: int, sandbox: str = "", sleep: float = 0.0) -> str:
    """The settings of a run; without `sandbox` nothing is said of it, as installed. Agents sleep first."""
    text = CONFIG.replace("WORKERS", str(workers)).replace("SANDBOX", sandbox)
    if not sandbox:
        text = text[: text.index("[sandbox]")]
    return text.replace(AGENT, f"sleep {sleep:g} && {AGENT}") if sleep else text


def set_up(folder: str, beads: int, settings: str, digits: int = 0, files: int = 0) -> None:
    """A repository of so many files with nobrakes in it, main checked out as people have it, and so many beads that may
    begin, each number with so many digits at least.
    """
    repository(folder, files)
    subprocess.run([NOBRAKES, "init", "--main", "main"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    Path(folder, ".nobrakes", "config.toml").write_text(settings)
    store = open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))
    names = [f"b{i:0{digits}}" for i in range(1, beads + 1)]
    live = [Bead(name, f"bead {name}", status=Status.NEEDS_DOER, needs_tests=False) for name in names]
    store.put(live, [], "benchmark")
    store.close()


def nobrakes(beads: int, workers: int, sandbox: str = "none", sleep: float = 0.0) -> float:
    """Seconds from the start of a run to its end."""
    return run(beads, config(workers, sandbox, sleep))[0]


def run(beads: int, settings: str, files: int = 0) -> tuple[float, float]:
    """Seconds that a run takes, and seconds of CPU."""
    with tempfile.TemporaryDirectory() as folder:
        set_up(folder, beads, settings, files=files)
        start, before = time.perf_counter(), os.times()
        subprocess.run([NOBRAKES, "run"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        taken, after = time.perf_counter() - start, os.times()
        verify(folder, beads)
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return taken, used


def main() -> None:
    rounds, beads, workers = (int(a) for a in (*sys.argv[1:], *("3", "200", "2")[len(sys.argv) - 1 :]))
    pairs, confined = [], []
    for number in range(rounds):
        floor, ours = script(beads, workers), nobrakes(beads, workers)
        pairs.append((floor, ours))
        confined.append(nobrakes(beads, workers, "bubblewrap"))
        print(f"round {number + 1}: script {floor:.2f} s, nobrakes {ours:.2f} s, ratio {ours / floor:.2f}", end="")
        print(f", in sandboxes {confined[-1]:.2f} s", flush=True)
    rows = [
        ["what", "median s", "ms a bead"],
        *(
            [name, f"{value:.2f}", f"{value / beads * 1000:.1f}"]
            for name, value in (
                ("shell script", statistics.median(f for f, _ in pairs)),
                ("nobrakes run", statistics.median(o for _, o in pairs)),
                ("nobrakes run, in sandboxes", statistics.median(confined)),
            )
        ),
    ]
    print(table(rows))
    print(f"median ratio {statistics.median(o / f for f, o in pairs):.2f}, target <= 1.25")
    keep("pipeline", {"beads": beads, "workers": workers, "pairs": pairs, "in_sandboxes": confined})


if __name__ == "__main__":
    main()
