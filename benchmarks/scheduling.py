"""How long a plan takes: the order in which the shipped Assigner starts beads, against proven optima or lower bounds.

    .venv/bin/python benchmarks/scheduling.py [--graphs FOLDER --optima FILE] [--seeds N]

On a virtual clock: each graph is put into a store in memory, `daemon.deciders.plan` starts beads by the store's columns
in the store's order, until all are done. A bead takes what its task takes, whatever was estimated. Modes: every
estimate known, half of them (drawn anew for each seed), none. Peers in the same run, on the same graphs: first in first
out, a random order, and the same levels where a missing estimate counts as one minute.

Without `--graphs` small random graphs are made, and what is printed is relative to a lower bound (the longest chain, or
all work shared equally), which no order reaches on each of them. `--graphs` is a folder of `.stg` files (Standard Task
Graph Set), `--optima` its CSV with file, p, best_found and proven_lb; rows without a proof are left out.

Targets, over the proven optima of the graphs of 50 tasks: at most 0.42 % with all estimates, 1.25 % with half of them,
2.0 % with none. A second table: beads that say which files they will change, a third of them colliding with another;
pairs that run side by side are conflicts. Target: fewer of them than without saying so, at most 1.02 times as long.
"""

import argparse
import csv
import heapq
import random
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from measure import keep, table

from nobrakes.beads.graph import node_of
from nobrakes.beads.model import Attempt, Bead, Dependency, ReadyBead, Role, Status
from nobrakes.checks.policy.shadows import Busy
from nobrakes.daemon import deciders
from nobrakes.daemon.model import Board, Limits, StartAgent
from nobrakes.store import Store, open_memory
from tests.world.graph import b_levels

DOERS = (2, 4, 8, 16)
SHARES = {"all estimates": 1.0, "half": 0.5, "none": 0.0}
START = 1_800_000_000.0


@dataclass
class Graph:
    """Tasks: id to minutes; needs: id to what it waits for; touches: id to files. `best`: by Doers, the least time."""

    name: str
    minutes: dict[str, int]
    needs: dict[str, list[str]]
    best: dict[int, float] = field(default_factory=dict)
    touches: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def bound(self, doers: int) -> float:
        """No order is faster."""
        longest: dict[str, int] = {}
        for task in self.minutes:  # each after what it needs
            longest[task] = self.minutes[task] + max((longest[one] for one in self.needs[task]), default=0)
        return max(max(longest.values()), sum(self.minutes.values()) / doers)


def made(seed: int, tasks: int = 50) -> Graph:
    """A random graph in layers, with skewed durations."""
    chance = random.Random(seed)
    names = [f"t{number:03}" for number in range(tasks)]
    minutes = {name: 1 + int(chance.expovariate(1 / 7)) for name in names}
    width = chance.choice((4, 8, 16))
    needs = {}
    for place, name in enumerate(names):
        near = names[max(0, place - 2 * width) : max(0, place - chance.randrange(width))]
        needs[name] = sorted(chance.sample(near, min(len(near), chance.choice((0, 1, 1, 2, 3)))))
    return Graph(f"made {seed}", minutes, needs)


def read(folder: Path, optima: Path) -> list[Graph]:
    """The graphs whose least time is proven."""
    best: dict[str, dict[int, float]] = {}
    with optima.open() as file:
        for row in csv.DictReader(file):
            if row["best_found"] == row["proven_lb"]:
                best.setdefault(row["file"], {})[int(row["p"])] = float(row["best_found"])
    graphs = []
    for name, least in sorted(best.items()):
        lines = (folder / name).read_text().splitlines()
        rows = [[int(word) for word in line.split()] for line in lines if line.strip() and not line.startswith("#")]
        tasks = {row[0]: row for row in rows[1:] if 1 <= row[0] <= rows[0][0]}
        minutes = {f"t{number:03}": row[1] for number, row in tasks.items()}
        needs = {f"t{n:03}": [f"t{needed:03}" for needed in row[3:] if needed in tasks] for n, row in tasks.items()}
        graphs.append(Graph(name, minutes, needs, least))
    return graphs


def store_of(graph: Graph, known: Iterable[str], clock: list[float]) -> Store:
    """The graph as beads, those of `known` with an estimate."""
    store, known = open_memory(lambda: clock[0]), set(known)
    beads = [
        Bead(
            name,
            name,
            needs_tests=False,
            status=Status.NEEDS_DOER,
            estimate=max(1, minutes) if name in known else None,
            touches=graph.touches.get(name, ()),
        )
        for name, minutes in graph.minutes.items()
    ]
    store.put(beads, [Dependency(name, one) for name, needs in graph.needs.items() for one in needs], "plan")
    return store


Choose = Callable[[int, float, Sequence[str], Sequence[str]], list[str]]
"""(Doers, now, who works, who is ready in the order in which it became so) -> whom to start."""


def shipped(graph: Graph, known: Iterable[str]) -> Choose:
    """The Assigner over the store's columns: its order is `conditions.IN_ORDER`, read once as the graph stands."""
    clock = [START]
    store = store_of(graph, known, clock)
    columns = {row[0]: row[1:] for row in store.plain("SELECT id, b_level, dependents FROM beads")}
    store.close()
    since: dict[str, float] = {}

    def choose(doers: int, now: float, working: Sequence[str], ready: Sequence[str]) -> list[str]:
        for name in ready:
            since.setdefault(name, now)
        order = sorted(ready, key=lambda name: (-columns[name][0], -columns[name][1], -since[name], name))
        front = tuple(
            ReadyBead(name, Status.NEEDS_DOER, "task", 2, 0, touches=graph.touches.get(name, ())) for name in order
        )
        attempts = tuple(
            Attempt(number, name, 1, Role.DOER, "Ada", 1, "t", 0.0) for number, name in enumerate(working, 1)
        )
        taken = {name: graph.touches[name] for name in working if name in graph.touches}
        board = Board(now, Limits(doers=doers), ready=front, attempts=attempts, taken=taken)
        return [one.bead for one in deciders.plan_assignments(board) if isinstance(one, StartAgent)]

    return choose


def by(key: Callable[[str], object]) -> Choose:
    """Whoever has the least key."""

    def choose(doers: int, now: float, working: Sequence[str], ready: Sequence[str]) -> list[str]:
        return sorted(ready, key=key)[: doers - len(working)]  # type: ignore[arg-type]

    return choose


def fifo(graph: Graph, known: Iterable[str]) -> Choose:
    """First come, first served."""
    return lambda doers, now, working, ready: list(ready[: doers - len(working)])


def at_random(graph: Graph, known: Iterable[str]) -> Choose:
    """Any order."""
    chance = random.Random(graph.name)
    places = {name: chance.random() for name in graph.minutes}
    return by(lambda name: places[name])


def one_minute(graph: Graph, known: Iterable[str]) -> Choose:
    """The longest chain, a missing estimate counted as one minute."""
    known = set(known)
    beads = [
        Bead(name, name, status=Status.NEEDS_DOER, estimate=m if name in known else 1)
        for name, m in graph.minutes.items()
    ]
    edges = [Dependency(name, one) for name, needs in graph.needs.items() for one in needs]
    levels = b_levels(map(node_of, beads), edges)
    return by(lambda name: (-levels[name], name))


def run(graph: Graph, doers: int, choose: Choose) -> tuple[float, int]:
    """When all is done, and how often two ran side by side that change the same files."""
    missing = {name: len(needs) for name, needs in graph.needs.items()}
    waiting: dict[str, list[str]] = {}
    for name, needs in graph.needs.items():
        for one in needs:
            waiting.setdefault(one, []).append(name)
    ready = [name for name in graph.minutes if not missing[name]]
    working: list[tuple[float, str]] = []
    now, conflicts = 0.0, 0
    while ready or working:
        for name in choose(doers, START + now, [one for _, one in working], ready):
            conflicts += sum(_collide(graph, name, other) for _, other in working)
            ready.remove(name)
            heapq.heappush(working, (now + graph.minutes[name], name))
        now = working[0][0]
        while working and working[0][0] == now:
            _, done = heapq.heappop(working)
            for name in waiting.get(done, ()):
                missing[name] -= 1
                if not missing[name]:
                    ready.append(name)
    return now, conflicts


def _collide(graph: Graph, one: str, other: str) -> bool:
    return Busy([graph.touches.get(other, ())]).meets(graph.touches.get(one, ()))


POLICIES: Mapping[str, Callable[[Graph, Iterable[str]], Choose]] = {
    "shipped": shipped,
    "one minute": one_minute,
    "first in": fifo,
    "random": at_random,
}


def above(graphs: Sequence[Graph], policy: Callable[[Graph, Iterable[str]], Choose], share: float, seeds: int) -> float:
    """The mean of how much longer than the best it takes, in per cent."""
    found = []
    for graph in graphs:
        for seed in range(seeds if 0 < share < 1 else 1):
            names = sorted(graph.minutes)
            known = random.Random(f"{graph.name} {seed}").sample(names, round(share * len(names)))
            choose = policy(graph, known)
            for doers, best in (graph.best or {p: graph.bound(p) for p in DOERS}).items():
                found.append(run(graph, doers, choose)[0] / best - 1)
    return 100 * statistics.mean(found)


def with_files(graph: Graph) -> Graph:
    """A third of the beads change a folder that another one changes, too."""
    chance = random.Random(f"files of {graph.name}")
    names = list(graph.minutes)
    chosen = chance.sample(names, len(names) // 3)
    own = {name: (f"src/{name}.py",) for name in names}
    shared = {name: (f"src/part{place // 3}/**",) for place, name in enumerate(chosen)}
    return Graph(graph.name, graph.minutes, graph.needs, graph.best, own | shared)


def collisions(graphs: Sequence[Graph]) -> dict[str, float]:
    """Conflicts with and without what beads say, and the median and the worst of the ratios of time."""
    without, kept, ratios = 0, 0, []
    for graph in graphs:
        said = with_files(graph)
        names = list(graph.minutes)
        blind = shipped(graph, names)
        for doers in DOERS:
            time, conflicts = run(said, doers, lambda *asked, blind=blind: blind(*asked))  # type: ignore[misc]
            apart, fewer = run(said, doers, shipped(said, names))
            without, kept = without + conflicts, kept + fewer
            ratios.append(apart / time)
    return {"without": without, "with": kept, "mean time": statistics.mean(ratios), "most time": max(ratios)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", type=Path)
    parser.add_argument("--optima", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    given = parser.parse_args()
    graphs = read(given.graphs, given.optima) if given.graphs else [made(seed) for seed in range(60)]
    found = {
        name: {share: above(graphs, policy, part, given.seeds) for share, part in SHARES.items()}
        for name, policy in POLICIES.items()
    }
    print(f"{len(graphs)} graphs; per cent above the {'proven optimum' if given.graphs else 'lower bound'}")
    print(table([["policy", *SHARES], *([name, *(f"{x:.2f}" for x in row.values())] for name, row in found.items())]))
    apart = collisions(graphs)
    print("\nconflicts: " + ", ".join(f"{name} {value:.4g}" for name, value in apart.items()))
    keep("scheduling_optima" if given.graphs else "scheduling", {"above": found, "collisions": apart})


if __name__ == "__main__":
    main()
