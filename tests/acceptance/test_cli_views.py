"""Planning, approving, looking, undoing and mending from the command line, in a real repository."""

import io
import json
import subprocess
import sys

import pytest

from nobrakes.cli import main
from nobrakes.decisions.model import EscalationType, NewEscalation
from nobrakes.records import plain
from nobrakes.store import open_store


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one commit and `nobrakes init` done, as the current folder."""
    for name in ("NOBRAKES_TOKEN", "NOBRAKES_HOME"):
        monkeypatch.delenv(name, raising=False)
    subprocess.run(["git", "init", "-q", "-b", "main", str(tmp_path)], check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    assert main.run(["init", "--build", "true"]) == 0
    return tmp_path


@pytest.fixture
def nobrakes(repository, capsys, monkeypatch):
    """Run a command with --json; (exit code, data or error)."""
    capsys.readouterr()

    def run(*argv, stdin=""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        code = main.run([*argv, "--json"])
        shown = json.loads(capsys.readouterr().out)
        assert shown["ok"] is (code == 0) and (code == 0 or shown["error"]["code"] == code)
        return code, shown["data"] if "data" in shown else shown["error"]

    return run


@pytest.fixture
def text(nobrakes, capsys):
    """Run a command for people; what it printed."""

    def run(*argv):
        assert main.run([*argv]) in (0, 1)
        return capsys.readouterr().out

    return run


@pytest.fixture
def planned(nobrakes):
    """The plan of `plan example`, applied."""
    plan = nobrakes("plan", "example")[1]["plan"]
    code, report = nobrakes("plan", "apply", "-", stdin=plan)
    assert code == 0 and report["applied"]
    return plan


def test_init_twice_changes_nothing(nobrakes, repository):
    config = repository / ".nobrakes" / "config.toml"
    before = config.read_text()
    code, data = nobrakes("init")
    assert code == 0 and data["created"] == [] and config.read_text() == before
    nobrakes("init", "--test", "pytest")
    with_check = config.read_text()
    assert 'command = "pytest"' in with_check.removeprefix(before)
    code, data = nobrakes("init", "--test", "pytest")
    assert code == 0 and data["created"] == [] and config.read_text() == with_check


def test_the_example_plan_is_a_right_one_and_applies_once(nobrakes, planned, text):
    code, report = nobrakes("plan", "apply", "-", stdin=planned)
    assert code == 0 and report["new"] == report["changed"] == [] and len(report["unchanged"]) == 4
    assert {bead["status"] for bead in nobrakes("list")[1]} == {"draft"}


def test_a_dry_run_writes_nothing(nobrakes):
    plan = nobrakes("plan", "example")[1]["plan"]
    code, report = nobrakes("plan", "apply", "-", "--dry-run", stdin=plan)
    assert code == 0 and len(report["new"]) == 4 and report["applied"] is False and nobrakes("list")[1] == []


def test_a_plan_that_is_none_is_an_error_with_its_place(nobrakes):
    for wrong in ("beads: 7", "beads:\n- {id: a, titel: x}", "\x00", "- - -"):
        code, error = nobrakes("plan", "apply", "-", stdin=wrong)
        assert (code, error["name"]) == (13, "PlanError")
    assert nobrakes("plan", "apply", "no-such-file.yaml")[0] == 13


CIRCLE = "beads:\n- {id: a, title: A, needs: [b]}\n- {id: b, title: B, needs: [a]}\n"


def test_a_plan_with_a_circle_is_refused_by_name_or_cut(nobrakes):
    code, error = nobrakes("plan", "apply", "-", stdin=CIRCLE)
    assert (code, error["name"]) == (14, "Deadlock") and error["details"][0]["members"] == ["a", "b"]
    code, report = nobrakes("plan", "apply", "-", "--cut", stdin=CIRCLE)
    assert code == 0 and len(report["cut"]) == 1


def test_what_is_proposed_is_a_draft_and_nothing_else(nobrakes):
    assert nobrakes("propose", "-", stdin="beads:\n- {id: a, title: A}\n")[0] == 0
    assert nobrakes("show", "a")[1]["status"] == "draft"
    assert nobrakes("propose", "-", stdin="live: true\nbeads:\n- {id: b, title: B}\n")[0] == 13


def test_drafts_go_live_by_a_persons_word_only(nobrakes, planned, repository):
    code, error = nobrakes("commit-strategy")
    assert code == 2 and "--yes" in error["hint"]
    code, done = nobrakes("commit-strategy", "--yes")
    assert code == 0 and len(done["approved"]) == 4 and done["commit"]
    assert [bead["id"] for bead in nobrakes("ready")[1]] == ["scaffold"]
    committed = subprocess.run(
        ["git", "show", "main:.nobrakes/beads.jsonl"], capture_output=True, text=True, check=True
    )
    assert len(committed.stdout.splitlines()) == 4
    assert nobrakes("commit-strategy", "--yes")[1]["approved"] == []


def test_what_would_go_live_is_shown_first_and_nothing_is_changed(nobrakes, planned, text):
    code, found = nobrakes("commit-strategy", "--dry-run")
    assert code == 0 and found["becomes_ready"] == ["scaffold"] and found["needs"]["login-form"] == ["password-hashing"]
    assert [draft["id"] for draft in found["drafts"]] == ["scaffold", "password-hashing", "login", "login-form"]
    assert text("commit-strategy", "--dry-run").splitlines() == [
        "3 drafts and 1 epic would go live:",
        "  + scaffold          P2  Lay out the package and its tests",
        "  + password-hashing  P1  Passwords are stored as salted hashes  (after scaffold)",
        "  + login             P2  People can log in",
        "  + login-form        P2  The login form  (after password-hashing)",
        "ready to start: scaffold",
        "critical path: scaffold -> password-hashing -> login-form",
    ]
    assert {bead["status"] for bead in nobrakes("list")[1]} == {"draft"}
    nobrakes("commit-strategy", "--yes")
    nobrakes("edit", "scaffold", "--title", "Another title")
    nobrakes("cancel", "login-form")
    assert text("commit-strategy", "--dry-run").splitlines() == [
        "0 drafts would go live",
        "beads edited since the last approval: scaffold",
        "beads cancelled since then: login-form",
        "critical path: scaffold -> password-hashing",
    ]


def test_a_dry_run_drops_no_proposed_change(nobrakes, planned):
    nobrakes("commit-strategy", "--yes")
    nobrakes("propose", "-", stdin='{"beads": [{"id": "scaffold", "title": "Another title"}]}')
    code, error = nobrakes("commit-strategy", "--drop", "scaffold:title", "--dry-run")
    assert code == 2 and "--dry-run" in error["message"]
    assert [one["bead"] for one in nobrakes("commit-strategy", "--dry-run")[1]["proposed"]] == ["scaffold"]


def test_a_withdrawn_answer_takes_no_reason(nobrakes, planned):
    for other in ("--take-back", "--recommended"):
        code, error = nobrakes("answer", "1", other, "--why", "a reason")
        assert code == 2 and "needs exactly one answer" in error["message"]


def test_ready_explains_why_a_bead_waits(nobrakes, planned, text):
    nobrakes("commit-strategy", "--yes")
    explained = {one["bead"]: one for one in nobrakes("ready", "--explain")[1]}
    assert explained["scaffold"]["ready"] is True and "scaffold" in explained["password-hashing"]["reasons"][0]
    assert [one["bead"] for one in nobrakes("ready", "--explain", "login-form")[1]] == ["login-form"]
    assert nobrakes("ready", "--explain", "nope")[0] == 16
    assert "waits" in text("ready", "--explain")


def test_status_and_board_count_and_name_the_beads(nobrakes, planned, text):
    nobrakes("commit-strategy", "--yes")
    shown = nobrakes("status")[1]
    assert shown["counts"]["ready"] == 1 and shown["counts"]["blocked"] == 2 and shown["epics"] == 1
    assert [card["id"] for card in nobrakes("board")[1]["columns"]["ready"]] == ["scaffold"]
    assert "1 ready" in text("status") and "ready (1)" in text("board")


@pytest.mark.parametrize(
    ("form", "has"), [("text", "scaffold"), ("mermaid", "graph"), ("dot", "digraph"), ("svg", "<svg")]
)
def test_the_graph_is_drawn_in_every_format_also_into_a_file(nobrakes, planned, repository, form, has):
    assert has in nobrakes("graph", "--format", form)[1]["graph"]
    path = repository / f"graph.{form}"
    assert nobrakes("graph", "-f", form, "-o", str(path))[0] == 0 and has in path.read_text()


def test_what_cannot_be_drawn_or_written_says_why(nobrakes, repository):
    assert nobrakes("graph", "--format", "gif")[0] == 2
    assert nobrakes("graph", "--epic", "nope")[0] == 16
    assert nobrakes("graph", "-o", str(repository / "no" / "folder"))[0] == 1


def test_a_title_cannot_break_out_of_a_drawing(nobrakes, repository):
    nobrakes("add", '"]; evil --> x <script>alert(1)</script>', "--id", "a")
    assert "<script>" not in nobrakes("graph", "--format", "svg")[1]["graph"]


def test_an_escalation_is_seen_and_decided_once(nobrakes, repository, text):
    nobrakes("add", "A", "--id", "a")
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    evidence = {"attempts": [{"attempt": 1, "role": "doer", "name": "Ada", "outcome": "failed", "detail": "no\x1b[2J",
                              "summary": "tried", "agent": "script"}], "files": ["a.py"]}  # fmt: skip
    new = NewEscalation(EscalationType.CONFLICT, "a.py\x1b[31m conflicts", "both changed it", evidence, "two hands")
    store.escalate(new, "a", None, "Reviewer")
    store.close()
    [found] = nobrakes("escalations")[1]
    number = str(found["id"])
    assert found["type"] == "conflict" and "conflicts" in text("escalations")
    shown = text("escalation", number)
    assert "\x1b" not in shown and "two hands" in shown and "summary: tried" in shown and "a.py" in shown
    assert nobrakes("resolve", number)[0] == nobrakes("resolve", number, "--retry", "--done")[0] == 2
    code, refused = nobrakes("answer", number, "so")
    assert code == 17 and "not a question" in refused["message"] and "nobrakes resolve" in refused["hint"]
    code, decided = nobrakes("resolve", number, "--retry", "--note", "mended by hand")
    assert code == 0 and decided["resolved_at"] is not None
    assert nobrakes("resolve", number, "--retry")[0] == 17
    assert nobrakes("escalations")[1] == [] and len(nobrakes("escalations", "--all")[1]) == 1
    assert nobrakes("escalation", "99")[0] == 29


def test_undo_takes_the_last_step_back_and_then_the_one_before(nobrakes):
    nobrakes("add", "A", "--id", "a")
    nobrakes("hold", "a", "-m", "wait")
    nobrakes("edit", "a", "--title", "B")
    assert nobrakes("undo")[0] == 0 and nobrakes("show", "a")[1]["title"] == "A"
    assert nobrakes("undo")[0] == 0 and nobrakes("show", "a")[1]["held"] is None
    assert nobrakes("undo")[0] == 0 and nobrakes("show", "a")[1]["status"] == "cancelled"
    assert nobrakes("undo")[0] == 30
    assert nobrakes("undo", "9999")[0] == 30


def test_doctor_looks_and_mends_by_name(nobrakes, repository, text, monkeypatch):
    code, findings = nobrakes("doctor")
    assert code == (0 if all(f["level"] != "error" for f in findings) else 1)
    assert {"git", "config", "database"} <= {finding["name"] for finding in findings}
    assert "database" in text("doctor")
    assert nobrakes("doctor", "--repair", "counters")[0] == 0
    assert nobrakes("doctor", "--repair", "everything")[0] == 2
    monkeypatch.setenv("NOBRAKES_TOKEN", "t")
    assert nobrakes("doctor", "--repair", "counters")[0] == 17


def test_doctor_works_where_the_database_does_not(nobrakes, repository):
    (repository / ".nobrakes" / "nobrakes.db").write_bytes(b"this is not a database at all" * 100)
    code, findings = nobrakes("doctor")
    assert code == 1 and any(f["name"] == "database" and f["repair"] == "rebuild" for f in findings)


def test_the_prompt_of_a_bead_is_shown_and_nothing_started(nobrakes):
    nobrakes("add", "Parse the header", "--id", "a", "-d", "strictly")
    shown = nobrakes("prompt", "a")[1]["prompt"]
    assert "Parse the header" in shown and nobrakes("show", "a")[1]["attempts"] == []
    assert (
        nobrakes("prompt", "a", "--role", "doer")[1]["prompt"]
        != nobrakes("prompt", "a", "--role", "test_writer")[1]["prompt"]
    )
    assert nobrakes("prompt", "a", "--role", "king")[0] == 2


@pytest.mark.parametrize("command", ["shape", "reshape"])
def test_the_shapers_prompt_is_shown_and_without_a_terminal_nobody_talks(nobrakes, command, capsys):
    nobrakes("add", "Parse the header", "--id", "a")
    assert "Parse the header" in nobrakes(command)[1]["prompt"]
    assert main.run([command, "--print"]) == 0 and "Parse the header" in capsys.readouterr().out
    assert main.run([command]) == 2 and "terminal" in capsys.readouterr().err


def test_without_the_agent_the_shaper_says_how_to_plan(nobrakes, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("PATH", "/nowhere")
    assert main.run(["shape"]) == 28
    shown = capsys.readouterr()
    assert shown.out == "" and "Claude Code is not installed" in shown.err and "nobrakes plan example" in shown.err


def test_a_beads_history_has_its_events(nobrakes, text):
    nobrakes("add", "A", "--id", "a")
    nobrakes("hold", "a", "-m", "wait")
    assert [event["kind"] for event in nobrakes("history", "a")[1]["events"]] == ["proposed", "held"]
    assert "held" in text("history", "a") and text("review") == "no review yet\n"


def test_json_is_made_of_plain_values_only(nobrakes, planned):
    for argv in (["status"], ["board"], ["review"], ["version"], ["set"], ["config"], ["daemon", "status"]):
        code, data = nobrakes(*argv)
        assert code == (24 if argv == ["daemon", "status"] else 0) and plain(data) == data


def test_the_ways_to_look_at_the_graph(nobrakes, planned, text):
    looked = {mode: nobrakes("graph", f"--{mode}")[1] for mode in ("focus", "epics", "all")}
    assert [found["mode"] for found in looked.values()] == ["focus", "epics", "all"]
    bead = next(node for node in looked["all"]["nodes"] if node["column"] == "draft" and not node["is_epic"])
    assert bead["id"] in text("graph", "--all", "--search", bead["title"]) and "draft" in text("graph", "--all")
    for wrong in (("--focus", "--all"), ("--epics", "--open"), ("--search", "x"), ("--what-if", bead["id"])):
        assert nobrakes("graph", *wrong)[0] != 0


def test_undo_takes_back_the_newest_step_or_says_why_not(nobrakes, repository, text):
    nobrakes("add", "A", "--id", "a")
    store = open_store(str(repository / ".nobrakes" / "nobrakes.db"))
    question = store.escalate(NewEscalation(EscalationType.QUESTION, "Which?"), "a", None, "Ada").id
    broken = store.escalate(NewEscalation(EscalationType.CONFLICT, "It is broken"), "a", None, "Ada").id
    store.close()
    nobrakes("pause")
    assert text("undo") == "undone: paused\n" and nobrakes("show", "a")[1]["status"] == "escalated"
    nobrakes("resolve", str(broken), "--retry")
    code, error = nobrakes("undo")
    assert (
        code == 17
        and "'resolved a'" in error["message"]
        and "'added a', an earlier step: `nobrakes undo " in error["hint"]
    )
    nobrakes("answer", str(question), "this")
    assert text("undo") == "undone: answered a\n"
    assert [one["id"] for one in nobrakes("escalations")[1]] == [question]
    before = nobrakes("set")[1]
    nobrakes("set", "doers=7")
    assert nobrakes("set")[1] != before and text("undo") == "undone: limits changed\n"
    assert nobrakes("set")[1] == before
