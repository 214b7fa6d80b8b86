"""Beads on the nodes of a real Dask cluster with TLS, on this machine, compared with the same beads without nodes.

    .venv/bin/python benchmarks/nodes.py [--sandbox none] [--beads N]
    .venv/bin/python benchmarks/nodes.py --sleep SECONDS [--doers N] [--beads N]

Without `--sleep`: beads of no work with one Doer, in turn with and without nodes, in the sandbox or not. The cost of a
bead is the time from one merge to the next. With `--sleep`, agents sleep so long, on four nodes: the share is their
sleep by the time of all Doers, from the moment when all work to the start of the last agent. All processes are on this
machine, so the nodes' CPU is in the figures.
"""

import argparse
import json
import os
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.cluster import Cluster, FleetProject, cluster, end_gateway, gateways

HERE = Path(__file__).parent
BEADS = 12
FIRST = 3
"""Merges before the steady state."""
WORK = 'mkdir -p src; echo "$NOBRAKES_BEAD" >"src/$NOBRAKES_BEAD"; git add -A; git commit -q -m Work'


def one_bead(folder: Path, is_remote: bool, beads: int, sandbox: str) -> dict[str, float]:
    """Seconds and CPU seconds of a bead of no work, one at a time. CPU: all processes, of nodes and scheduler too."""
    with cluster(folder / "cluster") as nodes:
        path = {"PATH": nodes.path_without_sandbox()} if sandbox == "none" else {}
        for name in ("n1", "n2"):
            nodes.add(name, **path)
        project = _project(folder, nodes, WORK, 1, is_remote, unconfined=sandbox == "none")
        if sandbox == "none":
            project.configure('mode = "auto"', 'mode = "none"\nwall = "none"')
        project.add(*(f"b{number}" for number in range(beads)))
        if is_remote:
            project.ready("n1", "n2")
        else:
            nodes.end()  # the CPU of its start is none of a bead's
        before = _cpu(project, nodes)
        said = project.nobrakes("run").stdout
        cpu = _cpu(project, nodes) - before
        with closing(sqlite3.connect(project.folder / ".nobrakes" / "nobrakes.db")) as store:
            merged = [row[0] for row in store.execute("SELECT at FROM events WHERE kind = 'merged' ORDER BY at")]
        end_gateway(project)
    assert len(merged) == beads, said
    gaps = [later - sooner for sooner, later in zip(merged[FIRST:], merged[FIRST + 1 :], strict=False)]
    return {"seconds": statistics.median(gaps), "cpu": cpu / beads}


def busy(folder: Path, sleep: float, doers: int, beads: int) -> dict[str, float]:
    """The share of the Doers' time on four nodes that their agents sleep, and the CPU seconds of a bead."""
    names = ("n1", "n2", "n3", "n4")
    with cluster(folder / "cluster") as nodes:
        for name in names:
            nodes.add(name, places=doers // len(names) + 2)
        agent = f"begun=$(date +%s.%N); sleep {sleep}; {WORK}"
        agent = agent.replace('echo "$NOBRAKES_BEAD"', 'echo "$begun $(date +%s.%N)"')
        project = _project(folder, nodes, agent, doers, True, reserved_for_checks=2)
        project.add(*(f"b{number}" for number in range(beads)))
        project.ready(*names)
        before = _cpu(project, nodes)
        project.nobrakes("run")
        cpu = _cpu(project, nodes) - before
        end_gateway(project)
        said = "".join(project.git("show", f"main:src/b{number}") for number in range(beads))
    slept = sorted(tuple(map(float, line.split())) for line in said.splitlines())
    first, last = slept[doers - 1][0], slept[-1][0]
    share = sum(max(0.0, min(end, last) - max(begin, first)) for begin, end in slept) / (doers * (last - first))
    return {"share": share, "cpu": cpu / beads, "seconds": last - first}


def _project(folder: Path, nodes: Cluster, agent: str, doers: int, is_remote: bool, **settings: object) -> FleetProject:
    project = FleetProject(folder / "project", nodes, agent, **settings)
    project.configure('mode = "none"', 'mode = "auto"')
    project.configure("doers = 3", f"doers = {doers}")
    if not is_remote:
        project.configure('engine = "dask"', 'engine = "local"')
    return project


def _cpu(project: FleetProject, nodes: Cluster) -> float:
    """CPU seconds of what ended among our children, and of the living processes of cluster and helper."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = (*nodes.workers.values(), nodes.scheduler)
    living = [one.pid for one in started if one is not None and one.poll() is None]
    ticks = 0
    for pid in (*living, *gateways(project)):
        words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, words[11:15]))
    return ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def measured(beads: int, sandbox: str) -> dict[str, Any]:
    """One bead with and without nodes, in turn, twice each; the better median counts."""
    found: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    for is_remote in (False, True, False, True):
        with tempfile.TemporaryDirectory(prefix="nodes-") as folder:
            found[is_remote].append(one_bead(Path(folder), is_remote, beads, sandbox))
    here, there = (min(found[way], key=lambda one: one["seconds"]) for way in (False, True))
    return {"here": here, "nodes": there, "allowed": 1.5 * here["seconds"] + 0.15}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sleep", type=float, default=0.0)
    parser.add_argument("--doers", type=int, default=64)
    parser.add_argument("--beads", type=int, default=0)
    parser.add_argument("--sandbox", choices=("auto", "none"), default="auto")
    given = parser.parse_args()
    began = time.monotonic()
    if given.sleep:
        with tempfile.TemporaryDirectory(prefix="nodes-") as folder:
            found: dict[str, Any] = busy(Path(folder), given.sleep, given.doers, given.beads or 3 * given.doers)
    else:
        found = measured(given.beads or BEADS, given.sandbox)
    found["load"] = os.getloadavg()[0]
    found["took"] = time.monotonic() - began
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
