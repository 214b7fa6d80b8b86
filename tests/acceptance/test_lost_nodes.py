"""Nodes, their scheduler, the helper and the daemon, killed and stopped: each bead is merged, each end of an attempt
is truthful, nothing runs twice at once, and no late result is taken.

The nodes have no sandbox (`fleet.unconfined`), so that the agents leave signs of their lives outside.
"""

import signal
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, FleetProject, cluster, end_gateway, gateways
from tests.support.saboteur import LinkedCluster
from tests.support.scripted import until

pytestmark = [pytest.mark.slow]

HOLDS = """
turn=$turn.$NOBRAKES_ATTEMPT
echo "$turn begins in $(pwd)" >>"$BOOK/lives"
until [ -e "$BOOK/go" ]; do sleep 0.05; done
echo "$turn of $NOBRAKES_BEAD" >>late
work
echo "$turn ends" >>"$BOOK/lives"
"""


class Lossy(FleetProject):
    """A project with one bead whose agent holds until the file `go` is there."""

    def __init__(self, folder: Path, nodes: Cluster, **settings: object) -> None:
        super().__init__(folder, nodes, unconfined=True, **settings)
        self.cluster = nodes
        self.does("one", HOLDS)
        self.add("one")
        self.ready(*nodes.workers)

    def lives(self) -> list[str]:
        path = self.flag("lives")
        return path.read_text().splitlines() if path.exists() else []

    def node(self, turn: int = 0) -> str:
        """The node on which the agent's life with this number began, once it has."""
        until(
            lambda: len(self.begun()) > turn,
            what=lambda: (
                self.status("one"),
                self.show("one")["retry_at"],
                self.outcomes("one"),
                self.begun(),
                self.nodes().keys(),
            ),
        )
        return self.begun()[turn].partition("/nodes/")[2].partition("/")[0]

    def begun(self) -> list[str]:
        return [line for line in self.lives() if " begins in " in line]

    def hurry(self) -> None:
        """Let the next attempt begin now: it waits half a minute after a lost one."""
        with closing(sqlite3.connect(self.folder / ".nobrakes" / "nobrakes.db", timeout=30)) as store, store:
            store.execute("UPDATE beads SET retry_at = 1 WHERE retry_at IS NOT NULL")
        self.nobrakes("set", "doers=3")  # it wakes the daemon

    def go(self) -> None:
        self.flag("go").touch()

    def assert_merged(self, outcomes: list[str]) -> None:
        """One bead on main, by its last attempt alone, and every attempt with its own end and life."""
        assert self.status("one") == "done" and self.outcomes("one") == outcomes
        assert self.show("one")["failures"] == 0
        assert [line.split()[0] for line in self.git("show", "main:late").splitlines()] == [
            f"{len(outcomes)}.{len(outcomes)}"
        ]
        assert len(self.landed()) == 1
        begun = Counter(line.split()[0] for line in self.begun())
        assert set(begun.values()) == {1}, self.lives()
        self.nobrakes("verify")


def secrets(nodes: Cluster) -> list[Path]:
    """The folders in memory of runs, which hold copies of logins."""
    known = [path.resolve() for path in (nodes.folder / "nodes").glob("*/runs/*/secret")]
    SEEN.update(known)
    return [path for path in SEEN if path.exists()]


SEEN: set[Path] = set()


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Lossy]:
    with cluster(tmp_path / "cluster") as nodes:
        for name in ("n1", "n2"):
            nodes.add(name, PATH=nodes.path_without_sandbox())
        made = Lossy(tmp_path, nodes)
        try:
            yield made
        finally:
            end_gateway(made)


def test_a_killed_node_loses_its_run_and_another_one_does_it(project: Lossy) -> None:
    with project.running() as run:
        first = project.node()
        assert secrets(project.cluster)
        project.cluster.kill(first)
        until(lambda: project.outcomes("one") == ["lost"])
        assert f"lost with its node: the node {first} does not answer" in project.show("one")["attempts"][0]["detail"]
        until(lambda: not project.cluster.left() and not project.cluster.runs(first) and not secrets(project.cluster))
        project.hurry()
        assert project.node(1) in project.cluster.workers
        project.go()
        said, _ = run.communicate(timeout=60)
    assert run.returncode == 0, said
    project.assert_merged(["lost", "completed"])
    assert "1.1 ends" not in project.lives()
    until(lambda: not project.cluster.left() and not project.cluster.runs() and not secrets(project.cluster))


@pytest.mark.night
def test_many_lost_nodes_are_no_failure_of_the_bead(project: Lossy) -> None:
    with project.running() as run:
        for turn in range(3):
            project.cluster.add(f"n{turn + 3}", PATH=project.cluster.path_without_sandbox())
            project.cluster.kill(project.node(turn))
            until(lambda turn=turn: project.outcomes("one") == ["lost"] * (turn + 1))
            project.hurry()
        project.node(3)
        project.go()
        said, _ = run.communicate(timeout=60)
    assert run.returncode == 0, said
    project.assert_merged([*["lost"] * 3, "completed"])


def test_a_stopped_node_that_continues_late_brings_nothing(project: Lossy) -> None:
    with project.running() as run:
        first = project.node()
        project.cluster.send(first, signal.SIGSTOP)
        until(lambda: project.outcomes("one") == ["lost"])
        until(lambda: project.nodes()[first]["why"] == "it does not answer")
        until(lambda: not project.cluster.left(), what=project.lives)  # before the next attempt, which waits for longer
        assert not secrets(project.cluster)
        project.hurry()
        assert project.node(1) != first
        project.cluster.send(first, signal.SIGCONT)
        until(lambda: not project.cluster.runs(first), what=project.lives)
        project.go()
        said, _ = run.communicate(timeout=60)
    assert run.returncode == 0, said
    project.assert_merged(["lost", "completed"])
    assert "1.1 ends" not in project.lives()
    project.ready("n1", "n2")


@pytest.mark.night
def test_a_scheduler_that_is_started_again_gets_the_work_done(project: Lossy) -> None:
    with project.running() as run:
        project.node()
        project.cluster.kill("scheduler")
        until(lambda: project.outcomes("one") == ["lost"])
        until(lambda: "cannot be asked: " in project.nobrakes("fleet").stdout)
        for worker in project.cluster.workers.values():  # Dask ends them without a scheduler
            worker.wait(60)
        project.hurry()
        project.cluster.start()
        for name in ("n1", "n2"):
            project.cluster.add(name, PATH=project.cluster.path_without_sandbox())
        project.node(1)
        until(lambda: len(project.cluster.runs()) == 1)
        project.go()
        said, _ = run.communicate(timeout=60)
    assert run.returncode == 0, said
    project.assert_merged(["lost", "completed"])


def test_a_connection_that_breaks_loses_nothing(tmp_path: Path) -> None:
    """Between the helper and the scheduler, and from the scheduler to the node."""
    nodes = LinkedCluster(tmp_path / "cluster")
    try:
        nodes.start("n1")
        project = Lossy(tmp_path, nodes, scheduler=nodes.door)
        with project.running() as run:
            project.node()
            for name in ("client", "n1 down"):
                before = nodes.links[name].accepted
                nodes.links[name].reset()
                until(lambda name=name, before=before: nodes.links[name].accepted > before)
            project.go()
            said, _ = run.communicate(timeout=60)
        assert run.returncode == 0, said
        project.assert_merged(["completed"])
    finally:
        end_gateway(project)
        nodes.end()


def test_a_killed_helper_loses_nothing(project: Lossy) -> None:
    with project.running() as run:
        project.node()
        before = gateways(project)
        end_gateway(project)
        until(lambda: set(gateways(project)) - set(before))
        project.go()
        said, _ = run.communicate(timeout=60)
    assert run.returncode == 0, said
    project.assert_merged(["completed"])


def test_a_daemon_that_is_started_again_takes_up_its_runs_on_nodes(project: Lossy) -> None:
    with project.running() as run:
        project.node()
        run.kill()
        run.wait()
        with project.running() as again:
            until(lambda: project.events("recovered"))
            project.go()
            said, _ = again.communicate(timeout=60)
    assert again.returncode == 0, said
    project.assert_merged(["completed"])
