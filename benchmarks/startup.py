"""How long commands take as whole processes, against `python -c pass`, with 10,000 beads in the store.

    .venv/bin/python benchmarks/startup.py [ROUNDS]

Targets: commands that agents call in a loop at most 2 times the floor, every other one at most 20 times.
"""

import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from measure import interleaved, keep, ratios, table

from nobrakes.core.bead import Bead, Dependency, Role, Status
from nobrakes.store.opening import open_store

BEADS = 10_000
NOBRAKES = str(Path(sys.executable).parent / "nobrakes")
GUARD = str(Path(__file__).parent.parent / "nobrakes" / "hooks" / "guard.py")


def repository(folder: str) -> str:
    """A repository with 10,000 beads, two dependencies each; an agent's token."""
    for argv in (["init", "-q", "-b", "main"], ["commit", "-q", "--allow-empty", "-m", "Begin"]):
        subprocess.run(["git", "-c", "user.name=b", "-c", "user.email=b@b.invalid", *argv], cwd=folder, check=True)
    subprocess.run([NOBRAKES, "init"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    store = open_store(os.path.join(folder, ".nobrakes", "nobrakes.db"))
    rng = random.Random(1)
    beads = [
        Bead(f"b{i}", f"Bead {i}", status=Status.NEEDS_DOER, needs_tests=False, priority=i % 5, description="x" * 200)
        for i in range(BEADS)
    ]
    needs = {(i, j) for i in range(1000, BEADS) for j in rng.sample(range(i - 1000, i), 2)}
    store.put(beads, [Dependency(f"b{i}", f"b{j}") for i, j in sorted(needs)], "benchmark")
    first = store.ready(1)[0].id
    attempt = store.open_attempt(first, Role.DOER, "script", ("Ada",), 3600.0, None)
    assert attempt is not None
    store.close()
    return attempt.token


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    with tempfile.TemporaryDirectory() as folder:
        token = repository(folder)
        plan = Path(folder, "plan.yaml")
        plan.write_text("beads:\n  - id: extra\n    title: One more\n")
        env = {k: v for k, v in os.environ.items() if not k.startswith("NOBRAKES_")}
        python = sys.executable
        hot = {
            "python -c pass": [python, "-c", "pass"],
            "ready --json": [NOBRAKES, "ready", "--json"],
            "show --json": [NOBRAKES, "show", "b5000", "--json"],
        }
        people = {
            "python -c pass": [python, "-c", "pass"],
            **{
                " ".join(words): [NOBRAKES, *words]
                for words in (
                    ["--help"],
                    ["status"],
                    ["board"],
                    ["list", "--status", "done"],
                    ["add", "--dry-run", "x"],
                    ["ready", "--explain", "b9999"],
                    ["escalations"],
                    ["history", "b5000"],
                    ["events", "--after", "9990"],
                    ["config"],
                    ["reviews"],
                    ["doctor"],
                )
                if words[0] != "add"
            },
            "plan apply --dry-run": [NOBRAKES, "plan", "apply", "plan.yaml", "--dry-run"],
        }
        agent_env = {**env, "NOBRAKES_TOKEN": token, "NOBRAKES_HOME": os.path.join(folder, ".nobrakes")}
        agent = {
            "python -c pass": [python, "-c", "pass"],
            "agent log": [NOBRAKES, "agent", "log", "hello"],
            "agent progress": [NOBRAKES, "agent", "progress", "50"],
        }
        rows: list[list[object]] = [["command", "median ms", "x floor", "target"]]
        raw = {}
        for commands, environment, target in ((hot, env, 2), (agent, agent_env, 2), (people, env, 20)):
            times = interleaved(commands, rounds, folder, environment)
            found = ratios(times, "python -c pass")
            for name, own in times.items():
                rows.append([name, f"{statistics.median(own) * 1000:.1f}", f"{found[name]:.2f}", f"<= {target}"])
                raw[name] = own
        print(table(rows))
        keep("startup", raw)


if __name__ == "__main__":
    main()
