"""Nodes that lie: what they send runs nothing of the person's, and who does not fit is refused with a clear text."""

import os
from collections.abc import Iterator
from functools import reduce
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, FleetProject, certificates, cluster, end_gateway, expired
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

class Trouble(Exception):
    def __reduce__(self):  # what it becomes has to be an exception, else Dask sends its words only
        return eval, (f"exec({CODE!r}) or Exception('evil')",)

async def answers(*words):
    @ANSWERS@

@CALLS@ = answers
"""
CALLS = {
    "the answer of its description": ("return Answer()", "node.describe"),
    "an exception at its description": ("raise Trouble('evil')", "node.describe"),
    "an exception in an exception": ("raise Exception(Trouble('evil'))", "node.describe"),
    "the answer about a run": ("return Answer()", "node.ask"),
    "an exception about a run": ("raise Trouble('evil')", "node.ask"),
}


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


@pytest.mark.parametrize(("answer", "calls"), CALLS.values(), ids=CALLS)
def test_a_pickle_that_runs_code_reaches_nothing_of_the_person(
    tmp_path: Path, nodes: Cluster, answer: str, calls: str
) -> None:
    project = project_of(tmp_path, nodes)
    fleet = project.folder / ".nobrakes" / "fleet"
    inside = fleet / "own" / "ran"
    state = project.folder / ".nobrakes"
    above = [Path(os.environ["HOME"]), tmp_path, project.folder, project.folder / ".git", state, state / "wake", fleet]
    outside = [*(folder / "ran" for folder in above), Path("/var/tmp/ran")]
    targets = [*map(str, outside), str(inside)]
    preload = tmp_path / "evil.py"
    words = {"@TARGETS@": repr(targets), "@ANSWERS@": answer, "@CALLS@": calls}
    preload.write_text(reduce(lambda text, pair: text.replace(*pair), words.items(), EVIL))
    nodes.add("evil", places=8, DASK_DISTRIBUTED__WORKER__PRELOAD=f"['{preload}']")
    nodes.add("good")
    try:
        if calls == "node.describe":
            until(lambda: why(project, "evil") == "it has no nobrakes, or does not answer")
        else:
            project.ready("evil", "good")
        project.add("one")
        project.nobrakes("run")
        assert inside.read_text().startswith("reached"), "the code did not run: this test shows nothing"
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
        own = project.folder / ".nobrakes" / "fleet" / "own"
        assert [path for path in (own, *own.iterdir()) if path.lstat().st_mode & 0o077] == [], "other accounts get in"
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


def files_of(tls: tuple[Path, Path, Path]) -> dict[str, str]:
    return dict(zip(("ca", "certificate", "key"), map(str, tls), strict=True))


CERTIFICATES = {
    "a client of another authority": ("other client", "the scheduler refuses fleet.certificate: "),
    "a scheduler of another authority": (
        "other scheduler",
        "fleet.ca does not vouch for the scheduler's certificate: ",
    ),
    "a scheduler without TLS": ("plain", "the scheduler does not speak TLS"),
    "an expired client": ("expired client", "the scheduler refuses fleet.certificate: "),
    "an expired scheduler": ("expired scheduler", "the scheduler's certificate has expired"),
}


@pytest.mark.parametrize(("wrong", "text"), CERTIFICATES.values(), ids=CERTIFICATES)
def test_no_work_is_sent_where_certificates_do_not_fit(tmp_path: Path, wrong: str, text: str) -> None:
    right, other, old = certificates(tmp_path / "tls"), certificates(tmp_path / "other"), expired(tmp_path / "tls")
    theirs, ours = {
        "other client": (right, (right[0], *other[1:])),
        "other scheduler": (other, right),
        "plain": (right, right),
        "expired client": (right, old),
        "expired scheduler": (old, right),
    }[wrong]
    nodes = Cluster(tmp_path / "cluster", tls=theirs, is_plain=wrong == "plain")
    try:
        nodes.start("n1")
        address = nodes.address.replace("tcp://", "tls://")
        project = FleetProject(tmp_path, nodes, "echo made >made", scheduler=address, **files_of(ours))
        project.configure('mode = "none"', 'mode = "auto"')
        project.add("one")
        until(lambda: f"{address} cannot be asked: {text}" in project.nobrakes("fleet").stdout)
        with project.running() as run:
            until(lambda: project.ask("status")["hindrances"]["found"])
            for command in ("status", "doctor"):
                said = " ".join(project.nobrakes(command, expect=None).stdout.split())
                assert "no agent or check starts: nobrakes cannot reach the scheduler" in said and text in said
            assert run.poll() is None
        assert project.outcomes("one") == [] and nodes.runs() == []
    finally:
        nodes.end()
        end_gateway(project)
