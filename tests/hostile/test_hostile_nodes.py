"""Nodes that lie: what they send runs nothing of the person's, and who does not fit is refused with a clear text."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, FleetProject, cluster, end_gateway
from tests.support.sandboxes import needs_sandbox
from tests.support.scripted import until

pytestmark = [pytest.mark.slow, needs_sandbox]

EVIL = """
import os
from nobrakes.fleet import node

CODE = '''
import os, sys
if b"nobrakes.fleet.gateway" in open("/proc/self/cmdline", "rb").read():
    for path in @TARGETS@:
        try:
            with open(path, "a") as file:
                file.write("reached\\\\n")
        except OSError:
            pass
'''

class Answer:
    def __reduce__(self):
        return exec, (CODE,)

async def answers(*words):
    return Answer()

node.ask = node.describe = answers
"""


@pytest.fixture
def nodes(tmp_path: Path) -> Iterator[Cluster]:
    with cluster(tmp_path / "cluster") as made:
        yield made


def project_of(folder: Path, nodes: Cluster, **settings: object) -> FleetProject:
    made = FleetProject(folder, nodes, "echo made >made; git add made; git commit -q -m Work", **settings)
    made.configure('mode = "none"', 'mode = "auto"')
    return made


def why(project: FleetProject, name: str) -> str:
    found = project.nodes().get(name, {"why": "it was not asked yet"})
    return "" if found["why"] == "it was not asked yet" else str(found["why"])


def test_a_pickle_that_runs_code_reaches_nothing_of_the_person(tmp_path: Path, nodes: Cluster) -> None:
    project = project_of(tmp_path, nodes)
    fleet = project.folder / ".nobrakes" / "fleet"
    inside = fleet / "own" / "ran"
    outside = [
        Path(os.environ["HOME"], "ran"),
        tmp_path / "ran",
        project.folder / "ran",
        project.folder / ".git" / "ran",
    ]
    outside += [
        project.folder / ".nobrakes" / "ran",
        project.folder / ".nobrakes" / "wake" / "ran",
        fleet / "ran",
        Path("/var/tmp/ran"),
    ]
    preload = tmp_path / "evil.py"
    targets = [*map(str, outside), str(inside)]
    preload.write_text(EVIL.replace("@TARGETS@", repr(targets)))
    nodes.add("evil", DASK_DISTRIBUTED__WORKER__PRELOAD=f"['{preload}']")
    nodes.add("good")
    try:
        until(lambda: why(project, "evil") == "it has no nobrakes, or does not answer")
        assert inside.read_text().startswith("reached"), "the code did not run: this test shows nothing"
        project.add("one")
        project.nobrakes("run")
        assert project.status("one") == "done"
        assert [path for path in outside if path.exists()] == []
    finally:
        end_gateway(project)


def test_a_node_with_another_version_is_refused_with_both_versions(tmp_path: Path, nodes: Cluster) -> None:
    preload = tmp_path / "old.py"
    preload.write_text("from nobrakes.fleet import node\nnode.__version__ = '0.0.1'\n")
    nodes.add("old", DASK_DISTRIBUTED__WORKER__PRELOAD=f"['{preload}']")
    project = project_of(tmp_path, nodes)
    try:
        version = project.ask("version")["nobrakes"]
        until(lambda: why(project, "old") == f"it has nobrakes 0.0.1, and this machine has {version}")
        assert f"it has nobrakes 0.0.1, and this machine has {version}" in project.nobrakes("fleet").stdout
    finally:
        end_gateway(project)


def test_a_node_with_other_agents_or_tools_is_refused_with_both_versions(
    tmp_path: Path, nodes: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent's and the check's programs of a machine are those of its PATH: here two machines differ in them."""
    there, here = tmp_path / "there", tmp_path / "here"
    for folder, version in ((there, "1.4.2"), (here, "2.0.1")):
        folder.mkdir()
        for name in ("my-claude", "linter"):
            (folder / name).write_text(f"#!/bin/sh\necho {version}\n")
            (folder / name).chmod(0o755)
    nodes.add("old", PATH=f"{there}:{os.environ['PATH']}")
    nodes.add("bare")
    project = project_of(tmp_path, nodes)
    monkeypatch.setenv("PATH", f"{here}:{os.environ['PATH']}")
    project.configure('doer = "script"', 'doer = ["script", "claude"]')
    project.configure("[agents.script]", '[agents.claude]\nexecutable = "my-claude"\n[agents.script]')
    project.configure('command = "sh tests/run.sh"', 'command = "sh tests/run.sh"\ntools = { linter = ">=2" }')
    try:
        project.nobrakes("run", expect=None)
        until(lambda: "2.0.1" in why(project, "old"), what=lambda: why(project, "old"))
        assert why(project, "old") == (
            "it has claude 1.4.2, and this machine has 2.0.1; the check needs linter >=2, but found 1.4.2"
        )
        assert "it lacks the agent claude: my-claude was not found" in why(
            project, "bare"
        ) and "linter is not installed" in why(project, "bare")
        assert "claude 1.4.2, linter 1.4.2" in str(project.nodes()["old"]["about"])
    finally:
        end_gateway(project)
