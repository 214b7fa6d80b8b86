"""What people see of nodes: each reason why nothing starts there, what runs where, and what this machine lacks."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nobrakes.programs import SPEC
from tests.support.cluster import cluster, end_gateway
from tests.support.nodes import SCHEDULER, SETTINGS, Nodes, node
from tests.support.sandboxes import needs_sandbox
from tests.support.scripted import Scripted, until

AGENT = json.dumps(["sh", "-c", "date >made && git add -A && git commit -qm Work"])
pytestmark = pytest.mark.slow


@pytest.fixture
def made(tmp_path: Path) -> Scripted:
    project = Scripted(tmp_path / "one", more=SETTINGS)
    project.add("b1")
    return project


@pytest.fixture
def nodes(made: Scripted) -> Iterator[Nodes]:
    found = Nodes(made.folder)
    yield found
    found.close()


def cause(made: Scripted) -> dict[str, object] | None:
    """The one reason that the nodes are, which every list gives in the same words."""
    found = [one for one in made.ask("status")["hindrances"]["found"] if one["kind"] == "no_nodes"]
    assert not [one for one in made.ask("status")["hindrances"]["found"] if one["kind"] == "no_doers"]
    if not found:
        return None
    [one] = found
    for words in (("status",), ("board",), ("escalations",)):
        shown = " ".join(made.nobrakes(*words).stdout.split())
        assert one["what"] in shown and one["commands"][0] in shown, words
    assert f"Next: {one['commands'][0]}" in made.nobrakes().stdout
    doctor = made.nobrakes("doctor", expect=1).stdout
    assert f"error    nodes       {one['what']}" in doctor, doctor
    return dict(one)


def test_each_reason_why_nothing_starts_is_named_with_what_to_type(made: Scripted, nodes: Nodes) -> None:
    nodes.are(node("fox"))
    assert cause(made) is None
    nodes.are(trouble="OSError: timed out")
    found = cause(made)
    assert found and found["what"] == f"no agent or check starts: nobrakes cannot reach the scheduler {SCHEDULER}"
    assert found["why"] == "OSError: timed out"
    nodes.are()
    found = cause(made)
    assert found and "has no node" in str(found["what"]) and '--resources "place=4"' in str(found["cure"])
    nodes.are(node("fox", why="no sandbox works there: none"), node("owl"))
    assert cause(made) is None, "one of them can be used"
    (nodes.folder / "drained.json").write_text('["owl"]')
    found = cause(made)
    assert found and str(found["what"]).endswith("every node is drained or refused")
    assert found["commands"] == ["nobrakes fleet resume owl", "nobrakes fleet"]
    assert found["why"] == "fox: no sandbox works there: none"
    nodes.are(node("fox", places=0))
    found = cause(made)
    assert found and found["what"] == "no agent starts: the largest usable node has 0 places"
    made.configure("[fleet]", "[fleet]\ncheck_places = 3")
    nodes.are(node("fox", places=2))
    found = cause(made)
    assert found and str(found["what"]).startswith("no check can run") and "takes 3" in str(found["why"])


def test_no_doers_by_a_persons_own_setting_stay_that(made: Scripted, nodes: Nodes) -> None:
    nodes.are(trouble="OSError: timed out")
    made.nobrakes("set", "doers=0")
    kinds = [one["kind"] for one in made.ask("status")["hindrances"]["found"]]
    assert "no_doers" in kinds and "no_nodes" not in kinds


def test_a_reading_command_starts_no_program_and_takes_an_old_state_for_unknown(made: Scripted) -> None:
    assert not (made.folder / ".nobrakes" / "fleet").exists()
    assert "nodes: the scheduler has not answered yet" in made.nobrakes("status").stdout
    made.nobrakes("doctor", expect=None)
    assert not (made.folder / ".nobrakes" / "fleet").exists()
    nodes = Nodes(made.folder)
    nodes.are(node("fox"), at=time.time() - 60)
    assert "nodes: no program has asked the scheduler lately" in made.nobrakes("status").stdout
    assert cause_kinds(made) == [], "no daemon works, so nothing waits for it"
    nodes.close()


def cause_kinds(made: Scripted) -> list[str]:
    return [one["kind"] for one in made.ask("status")["hindrances"]["found"] if one["kind"] == "no_nodes"]


def test_a_repository_without_nodes_says_nothing_of_them(tmp_path: Path) -> None:
    project = Scripted(tmp_path / "one")
    assert "node" not in project.nobrakes("status").stdout
    assert project.ask("status")["nodes"] is None
    assert "nodes" not in project.nobrakes("doctor", expect=None).stdout
    assert "uses no nodes" in project.nobrakes("fleet", expect=2).stderr


def test_fleet_shows_places_versions_what_runs_where_and_losses(made: Scripted, nodes: Nodes) -> None:
    made.does("b1", "exit 1")
    made.nobrakes("config", "set", "fleet.engine", "local")
    made.nobrakes("run", expect=None)
    made.nobrakes("config", "set", "fleet.engine", "dask")
    own, folder = "1-agent-0123456789abcdef", made.folder / ".nobrakes" / "runs" / "1-agent"
    folder.mkdir(exist_ok=True)
    (folder / SPEC).write_text(json.dumps({"session": own}))
    lost = {"at": time.time() - 90, "run": own, "node": "owl", "why": "the node owl does not answer (OSError)"}
    load = {"cpu": 37.4, "free": 12.3e9, "memory": 64e9}
    fox = node("fox", runs={own: 1, "1-agent-00000000": 2}, load=load)
    nodes.are(fox, node("owl", why="other version"), lost=(lost,))
    shown = made.nobrakes("fleet").stdout
    rows = [line.split() for line in shown.splitlines()]
    said = ["37", "%", "12.3", "of", "64.0", "GB"]
    assert ["fox", "4", "3", *said, node("fox")["about"]["nobrakes"], "3.11.9", "ready"] in rows
    assert [one["cpu"] for one in made.ask("fleet")["nodes"]] == [37.4, None]
    assert [
        "owl",
        "4",
        "0",
        "-",
        "-",
        node("owl")["about"]["nobrakes"],
        "3.11.9",
        "gets",
        "no",
        "work:",
        "other",
        "version",
    ] in rows
    assert any(row[:3] == ["fox", "b1", "doer"] and row[-1] == own for row in rows), shown
    assert any(row[:2] == ["fox", "-"] and row[-1] == "1-agent-00000000" for row in rows), "another repository's"
    assert any("(1 min ago)" in line and "owl" in line and "b1" in line for line in shown.splitlines()), shown
    data = made.ask("fleet")
    assert [(one["node"], one["bead"], one["role"], one["places"]) for one in data["runs"]] == [
        ("fox", "b1", "doer", 1),
        ("fox", "", "", 2),
    ]
    assert data["losses"][0]["bead"] == "b1" and data["scheduler"] == SCHEDULER
    status = made.nobrakes("status").stdout
    assert "nodes: 1 of 2 ready, 3 of 4 places taken; 1 run was lost (nobrakes fleet)" in status
    assert made.ask("status")["nodes"]["taken"] == 3


def test_a_node_is_drained_and_resumed_by_name(made: Scripted, nodes: Nodes) -> None:
    nodes.are(node("fox", runs={"1-agent-00000000": 1}))
    assert made.nobrakes("fleet", "drain", "fox").stdout == "no new run starts on fox; 1 run still there\n"
    assert "drained" in made.nobrakes("fleet").stdout
    assert "Known nodes: fox" in made.nobrakes("fleet", "drain", "elk", expect=2).stderr
    assert made.nobrakes("fleet", "resume", "fox").stdout == "runs start on fox again\n"
    assert "drained" not in made.nobrakes("fleet").stdout


def test_a_run_waits_for_a_node_says_so_once_and_goes_on_when_one_can_be_used(made: Scripted, nodes: Nodes) -> None:
    nodes.are(node("fox", why="it was not asked yet", asked=False))
    (nodes.folder / "drained.json").write_text('["fox"]')
    process = made.start("run", "--forever")
    try:
        until(lambda: cause_kinds(made), what=lambda: made.nobrakes("status").stdout)
        assert "the nodes have not said yet what they have" in made.nobrakes("status").stdout
        assert not degraded(made), "a node that has just come is no news"
        nodes.are(node("fox"))
        until(lambda: degraded(made), what=lambda: made.nobrakes("events").stdout)
        time.sleep(3)
        assert len(degraded(made)) == 1, "once, however often the daemon looks"
        assert "every node is drained" in degraded(made)[0]
        assert cause_kinds(made) == ["no_nodes"] and not made.ask("status")["working"]
        nodes.are(node("fox"))
        (nodes.folder / "drained.json").unlink()
        until(lambda: made.ask("status")["working"], 20, lambda: made.nobrakes("status").stdout)
    finally:
        process.terminate()
        process.wait(30)


def degraded(made: Scripted) -> list[str]:
    events = map(json.loads, made.nobrakes("events", "--json").stdout.splitlines())
    whys = [str(one["metadata"].get("why")) for one in events if one["metadata"].get("kind") == "degraded"]
    return [why for why in whys if "node" in why]


def test_tls_files_that_are_missing_or_open_to_others_are_told_before_anything_starts(made: Scripted) -> None:
    files = {name: made.folder.parent / f"{name}.pem" for name in ("ca", "certificate", "key")}
    for name in ("ca", "key"):
        files[name].write_text("no certificate")
    os.chmod(files["key"], 0o644)
    lines = "".join(f"{name} = {json.dumps(str(path))}\n" for name, path in files.items())
    made.configure(SETTINGS, SETTINGS.replace("tcp://", "tls://") + lines)
    what = f"no agent or check starts: fleet.certificate: the file {files['certificate']} does not exist"
    for words in (("run",), ("daemon", "start")):
        assert what in made.nobrakes(*words, expect=62).stderr, words
    doctor = made.nobrakes("doctor", expect=1).stdout
    assert f"error    nodes       {what}" in doctor
    assert f"other accounts can read the TLS key {files['key']}: `chmod go= {files['key']}`" in doctor
    files["certificate"].write_text("no certificate")
    os.chmod(files["key"], 0o600)
    doctor = made.nobrakes("doctor", expect=1).stdout
    assert f"error    nodes       the scheduler {SCHEDULER.replace('tcp', 'tls')} does not answer" in doctor
    assert "chmod" not in doctor.partition("TLS key")[2]


def test_folders_that_nodes_do_not_see_are_told_by_the_doctor(made: Scripted) -> None:
    assert "do not see the folders" not in made.nobrakes("doctor", expect=1).stdout
    made.nobrakes("config", "set", "sandbox.read", json.dumps([str(made.folder.parent)]))
    doctor = made.nobrakes("doctor", expect=1).stdout
    told = "agents and checks on nodes do not see the folders of sandbox.read, which stay here"
    assert f"warning  nodes       {told}: {made.folder.parent}" in doctor, doctor
    assert "sandbox.write" not in doctor


def test_a_scheduler_that_nobody_started_is_told_by_the_doctor(made: Scripted) -> None:
    doctor = made.nobrakes("doctor", expect=1).stdout
    assert f"error    nodes       the scheduler {SCHEDULER} does not answer: [Errno 111] Connection refused" in doctor


@needs_sandbox
def test_a_scheduler_that_dies_is_the_cause_until_it_is_back(tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", "n1") as real:
        made = Scripted(tmp_path / "one", more=real.settings())
        made.configure(f"command = {json.dumps(['sh', str(tmp_path / 'one' / 'agent.sh')])}", f"command = {AGENT}")
        until(lambda: made.ask("fleet")["nodes"] and not made.ask("fleet")["nodes"][0]["why"])
        real.kill("scheduler")
        # `status` starts no helper: one that nobody asks ends, and what it wrote is soon too old
        until(
            lambda: made.ask("fleet")["trouble"] and cause_kinds(made) == ["no_nodes"],
            what=lambda: made.nobrakes("status").stdout,
        )
        made.add("b1")
        process = made.start("run")
        try:
            until(lambda: degraded(made), what=lambda: made.nobrakes("events").stdout)
            assert f"nobrakes cannot reach the scheduler {real.address}" in degraded(made)[0]
            assert cause_kinds(made) == ["no_nodes"] and not made.ask("status")["working"]
            real.kill("n1")
            real.start("n2")
            assert process.wait(120) == 0, made.nobrakes("status").stdout
            assert "1 done" in made.nobrakes("status").stdout
        finally:
            process.terminate()
            process.wait(30)
            end_gateway(made)
