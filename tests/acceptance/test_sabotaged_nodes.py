"""Random beads on three nodes while workers, links, scheduler, helper and daemon are killed, stopped and cut at
random: main is the one that one machine makes, and nothing is done twice, taken late or left behind.

NOBRAKES_SEED: the seed (printed). NOBRAKES_BEADS: how many beads. In CI the sabotage ends after CALM seconds, so that the
test ends; at night it goes on until the last bead is merged.
The nodes have no sandbox, so that agents leave signs of their lives in a book outside.
"""

import os
import random
import sqlite3
import subprocess
import time
from collections import Counter
from contextlib import closing
from math import inf
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import FleetProject, end_gateway
from tests.support.saboteur import LinkedCluster, Saboteur
from tests.support.scripted import Scripted, until

SEED = os.environ.get("NOBRAKES_SEED", "1")
SIZE = int(os.environ.get("NOBRAKES_BEADS", "100"))
CALM = 75.0
NODES = ("n1", "n2", "n3")
PLACES = 3
DOERS = 7
KINDS = ("work", "work", "work", "twice", "fails", "asks", "slow")

BEGIN = """
set -e
life=$NOBRAKES_BEAD.$NOBRAKES_ATTEMPT
echo "$life begins in $(pwd)" >>"$BOOK/lives"
sleep @SECONDS@
"""
PLAYS = {
    "work": "",
    "slow": "sleep 2\n",
    "twice": '[ -e "half/$NOBRAKES_BEAD" ] || { mkdir -p half; echo half >"half/$NOBRAKES_BEAD"; exit 3; }\n',
    "fails": '[ -e "$BOOK/failed.$NOBRAKES_BEAD" ] || { touch "$BOOK/failed.$NOBRAKES_BEAD"; exit 3; }\n',
    "asks": 'mkdir -p said\nnobrakes agent ask --wait 60 "tea or coffee?" | grep -o "tea, please" >"said/$NOBRAKES_BEAD"\n',
}
END = """
mkdir -p src by
echo "$life" >"by/$NOBRAKES_BEAD"
cat /dev/null @NEEDS@ | cksum >"src/$NOBRAKES_BEAD"
git add -A
git commit -q -m "Work on $NOBRAKES_BEAD"
echo "$life ends" >>"$BOOK/lives"
"""


def beads(seed: str, size: int) -> list[dict[str, Any]]:
    """Beads that need up to three earlier ones, each with its kind."""
    rng = random.Random(seed)
    found: list[dict[str, Any]] = []
    for number in range(size):
        needs = rng.sample(range(max(0, number - 20), number), k=min(number, rng.choice((0, 0, 1, 1, 2, 3))))
        found.append(
            {
                "id": f"b{number}",
                "needs": [f"b{one}" for one in sorted(needs)],
                "kind": rng.choice(KINDS),
                "seconds": round(rng.choice((0.0, 0.1, 1.0)), 1),
            }
        )
    return found


def prepare(project: Scripted, plan: list[dict[str, Any]]) -> None:
    for one in plan:
        needs = " ".join(f"src/{need}" for need in one["needs"])
        begin = BEGIN.replace("@SECONDS@", str(one["seconds"]))
        project.does(one["id"], begin + PLAYS[one["kind"]] + END.replace("@NEEDS@", needs))
    project.plan(
        [{"id": one["id"], "title": f"Bead {one['id']}", "needs": one["needs"], "needs_tests": False} for one in plan]
    )


class Person:
    """Who answers questions, starts the daemon again when it was killed, and does not wait for retries."""

    def __init__(self, project: Scripted) -> None:
        self.project = project
        self.run = self._start()

    def _start(self) -> "subprocess.Popen[str]":
        with open(self.project.folder.parent / "run.log", "ab") as log:
            return self.project.start("run", stdout=log)

    def kill_daemon(self) -> None:
        self.run.kill()

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        with closing(sqlite3.connect(self.project.folder / ".nobrakes" / "nobrakes.db", timeout=30)) as store, store:
            return store.execute(sql, values).fetchall()

    def attend(self) -> bool:
        """Do what waits for a person; whether all is done."""
        code = self.run.poll()
        if code == 0:
            return True
        if code is not None:
            assert code in (-9, 40), self.said()
            self.run = self._start()
        for (number,) in self.ask(
            "SELECT id FROM escalations WHERE answered_at IS NULL AND resolved_at IS NULL AND type = 'question'"
        ):
            self.project.nobrakes("answer", str(number), "tea, please", expect=None)
        others = self.ask("SELECT * FROM escalations WHERE resolved_at IS NULL AND type != 'question'")
        assert not others, (others, self.said())
        if self.ask("UPDATE beads SET retry_at = 1 WHERE retry_at > 1 RETURNING id"):
            self.project.nobrakes("set", f"doers={DOERS}")  # it wakes the daemon
        return False

    def said(self) -> str:
        return (self.project.folder.parent / "run.log").read_text(errors="replace")[-6000:]


def tree(project: Scripted) -> str:
    """Main's files, without who made them."""
    lines = project.git("ls-tree", "-r", "main").splitlines()
    return "\n".join(line for line in lines if not line.split("\t")[1].startswith(("by/", ".nobrakes/")))


def alone(folder: Path, plan: list[dict[str, Any]]) -> str:
    """Main's files as one machine makes them."""
    project = Scripted(folder, doers=DOERS)
    prepare(project, plan)
    person = Person(project)
    until(person.attend, 300, what=person.said)
    return tree(project)


def sabotaged(folder: Path, seed: str, size: int, seconds: float) -> None:
    """The plan of this seed, done on nodes under sabotage for so long, comes out as on one machine."""
    print(f"seed {seed}, {size} beads")
    plan = beads(seed, size)
    expected = alone(folder / "alone", plan)
    nodes = LinkedCluster(folder / "cluster")
    try:
        nodes.start()
        for name in NODES:
            nodes.add(name, places=PLACES)
        project = FleetProject(folder / "fleet", nodes, unconfined=True, scheduler=nodes.door)
        project.configure("doers = 3", f"doers = {DOERS}")
        prepare(project, plan)
        project.ready(*NODES)
        person = Person(project)
        saboteur = Saboteur(seed, nodes, PLACES, lambda: end_gateway(project), person.kill_daemon)
        try:
            saboteur.begin()
            calm = time.monotonic() + seconds
            until(lambda: person.attend() or saboteur.trouble or time.monotonic() > calm, 900, what=person.said)
            saboteur.mend()
            until(lambda: saboteur.supervise() or person.attend(), 300, what=person.said)
            assert sum(saboteur.acts.values()) >= 10, "too little was harmed: this run shows nothing"
            check(project, nodes, plan, expected)
        finally:
            print("\n".join(saboteur.story))
            saboteur.end()
            person.run.kill()
            person.run.wait()
            project.kill_orphans()
            end_gateway(project)
    finally:
        nodes.end()


def check(project: FleetProject, nodes: LinkedCluster, plan: list[dict[str, Any]], expected: str) -> None:
    assert tree(project) == expected
    assert Counter(project.landed().values()) == {one["id"]: 1 for one in plan}
    project.nobrakes("verify")
    lives = project.flag("lives").read_text().splitlines()
    begun = Counter(line.split()[0] for line in lives if " begins in " in line)
    assert set(begun.values()) == {1}, begun.most_common(3)
    ends = {one["id"]: project.outcomes(one["id"]) for one in plan}
    for one in plan:
        bead, outcomes = one["id"], ends[one["id"]]
        assert outcomes[-1] == "completed" and outcomes.count("completed") == 1, (bead, outcomes)
        assert set(outcomes) <= {"completed", "failed", "lost"}, (bead, outcomes)
        assert outcomes.count("failed") <= (one["kind"] in ("twice", "fails")), project.show(bead)
        assert project.git("show", f"main:by/{bead}").strip() == f"{bead}.{len(outcomes)}", "a late result was taken"
    print(Counter(outcome for outcomes in ends.values() for outcome in outcomes))
    until(
        lambda: not nodes.left() and not nodes.runs() and not nodes.secrets(),
        what=lambda: (nodes.left(), [(one, os.listdir(one)) for one in nodes.runs()], nodes.secrets()),
    )


@pytest.mark.parametrize(
    ("seed", "seconds"),
    [
        pytest.param(SEED, CALM, marks=pytest.mark.slow),
        *(pytest.param(str(seed), inf, marks=pytest.mark.night) for seed in range(1, 7)),
    ],
)
def test_main_is_the_same_under_sabotage(tmp_path: Path, seed: str, seconds: float) -> None:
    sabotaged(tmp_path, seed, SIZE, seconds)
