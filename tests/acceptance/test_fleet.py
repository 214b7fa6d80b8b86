"""Agents and checks on the nodes of a Dask cluster, by the commands that people type. The nodes are processes on this
machine with TLS, and their agents and checks are in the node's sandbox."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, FleetProject, cluster, end_gateway
from tests.support.sandboxes import needs_sandbox
from tests.support.scripted import until

pytestmark = [pytest.mark.slow, needs_sandbox]

AGENT = """
set -e
commit() { git add -A && git commit -q -m "$@"; }
case $NOBRAKES_BEAD.$NOBRAKES_ATTEMPT in
one.1)
    nobrakes agent bead | grep -q 'Bead one'
    mkdir deep
    echo half >deep/half
    ln -s half deep/link
    printf '#!/bin/sh\\n' >tool
    chmod 755 tool
    pwd >where
    exit 3 ;;
one.2)
    [ "$(cat deep/link)" = half ] && [ -L deep/link ] && [ -x tool ] && [ ! -x deep/half ]
    case $(cat where) in */nodes/n?/runs/*) ;; *) exit 4 ;; esac
    nobrakes agent ask --wait 60 'tea or coffee?' >answer
    grep -q 'tea, please' answer
    commit 'Work of two attempts' ;;
*)
    pwd >"made-$NOBRAKES_BEAD"
    commit 'Work' ;;
esac
"""
CHECK = """\
case $PWD in */nodes/n?/runs/*) ;; *) echo "here is no node: $PWD"; exit 1 ;; esac
mkdir -p reports
echo '<testsuite tests="1"><testcase classname="a" name="b"/></testsuite>' >reports/one.xml
"""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("cluster"), "n1", "n2") as made:
        yield made


@pytest.fixture
def project(tmp_path: Path, nodes: Cluster) -> Iterator[FleetProject]:
    made = FleetProject(tmp_path, nodes, AGENT)
    (made.folder / "check.sh").write_text(CHECK)
    made.git("add", "-A")
    made.git("commit", "-q", "-m", "Add the check")
    made.configure('command = "sh tests/run.sh"', 'command = "sh check.sh"\nreport = "reports/*.xml"')
    yield made
    end_gateway(made)


def test_work_of_two_attempts_on_nodes_is_merged(project: FleetProject, nodes: Cluster) -> None:
    project.add("one")
    project.ready("n1", "n2")
    with project.running() as run:
        until(project.open, what=lambda: (project.show("one"), nodes.log("n1"), nodes.log("n2")))
        until(lambda: any("2-agent" in str(one["runs"]) for one in project.nodes().values()))
        [run_on] = [one for one in project.ask("fleet")["runs"] if one["run"].startswith("2-agent")]
        assert (run_on["bead"], run_on["role"], run_on["places"]) == ("one", "doer", 1)
        project.nobrakes("answer", str(project.open()[0]["id"]), "tea, please")
        said, _ = run.communicate(timeout=60)
    assert project.status("one") == "done", said
    assert project.outcomes("one") == ["failed", "completed"]
    modes = {line.split()[-1]: line.split()[0] for line in project.git("ls-tree", "-r", "main").splitlines()}
    assert (modes["tool"], modes["deep/link"], modes["deep/half"]) == ("100755", "120000", "100644")
    assert_clean(nodes)


def test_a_drained_node_gets_no_new_run_until_it_is_resumed(project: FleetProject, nodes: Cluster) -> None:
    project.ready("n1", "n2")
    until(lambda: all(one["cpu"] is not None and one["free"] > 0 for one in project.nodes().values()))
    assert "no new run starts on n1; 0 runs still there" in project.nobrakes("fleet", "drain", "n1").stdout
    rows = [line.split() for line in project.nobrakes("fleet").stdout.splitlines() if line.startswith("n")]
    assert [(*row[:3], row[-1]) for row in rows[1:]] == [("n1", "4", "0", "drained"), ("n2", "4", "0", "ready")]
    project.add("two", "three", "four")
    project.nobrakes("run")
    assert {where(project, bead) for bead in ("two", "three", "four")} == {"n2"}
    project.nobrakes("fleet", "drain", "n2")
    project.nobrakes("fleet", "resume", "n1")
    project.add("five")
    project.nobrakes("run")
    assert where(project, "five") == "n1"
    assert_clean(nodes)
    error = project.error("fleet", "drain", "n9", code=2)
    assert error["message"] == "there is no node 'n9'" and error["hint"] == "Known nodes: n1, n2"


def where(project: FleetProject, bead: str) -> str:
    """The node on which a bead was made."""
    path = project.git("show", f"main:made-{bead}")
    return path.partition("/nodes/")[2].partition("/")[0]


def assert_clean(nodes: Cluster) -> None:
    """No process and no file of a run is left on the nodes."""
    until(lambda: not nodes.left() and not nodes.runs(), what=lambda: (nodes.left(), nodes.runs()))
