"""What an agent says at its door, by the words of the command line."""

import io
import json
import os
import sys
import threading
import time

import pytest

from nobrakes.beads.model import Bead, Outcome, Role, Status
from nobrakes.cli import entry, main
from nobrakes.events.kinds import Kind
from nobrakes.store import create_store, open_store


class Door:
    """A repository in which Ada works on nb-1; `run` is what she types."""

    def __init__(self, folder, capsys, monkeypatch):
        self.capsys, self.monkeypatch = capsys, monkeypatch
        self.database = str(folder / ".nobrakes" / "nobrakes.db")
        store = create_store(self.database)
        store.put([Bead("nb-1", "Parse", needs_tests=False, status=Status.NEEDS_DOER)], [], "me")
        self.attempt = store.open_attempt("nb-1", Role.DOER, "script", ("Ada",), 600.0, None)
        store.close()
        monkeypatch.setenv("NOBRAKES_TOKEN", self.attempt.token)
        monkeypatch.setenv("NOBRAKES_HOME", str(folder / ".nobrakes"))

    def run(self, *argv, stdin=""):
        self.monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        self.monkeypatch.setattr(sys, "argv", ["nobrakes", *argv])
        code = entry.main()
        shown = self.capsys.readouterr()
        return code, shown.out.strip(), shown.err.strip()

    def store(self, question):
        store = open_store(self.database)
        try:
            return question(store)
        finally:
            store.close()

    def last_event(self):
        return self.store(lambda store: store.events()[-1])


@pytest.fixture
def door(tmp_path, capsys, monkeypatch):
    folder = tmp_path / "repository"
    (folder / ".nobrakes").mkdir(parents=True)
    (folder / ".nobrakes" / "config.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return Door(folder, capsys, monkeypatch)


@pytest.mark.parametrize(
    ("verb", "kind"), [("log", Kind.LOGGED), ("progress", Kind.PROGRESSED), ("notify", Kind.NOTIFIED)]
)
@pytest.mark.parametrize("by", ["argument", "stdin", "json"])
def test_what_an_agent_says_is_written_down_for_its_bead(door, verb, kind, by):
    said = "half done; $(rm x) 'quoted' 🚀\nsecond line"
    if by == "stdin":
        code, out, _ = door.run("agent", verb, "-", stdin=said)
    else:
        code, out, _ = door.run("agent", verb, said, *(["--json"] if by == "json" else []))
    assert code == 0
    if by == "json":
        assert json.loads(out) == {"ok": True, "command": f"agent {verb}", "data": {"written": True}}
    event = door.last_event()
    assert (event.kind, event.bead, event.attempt, event.actor) == (kind, "nb-1", door.attempt.id, "Ada")
    assert event.data["text"] == said


@pytest.mark.parametrize("argv", [["agent", "log"], ["agent", "log", ""], ["agent", "log", "a", "b"], ["agent", "hum"]])
def test_saying_nothing_is_a_usage_error(door, argv):
    before = door.last_event()
    assert door.run(*argv)[0] == 2 and door.last_event() == before


def test_a_question_is_filed_once_and_its_answer_read(door):
    code, out, _ = door.run("agent", "ask", "Is UTC right?")
    assert code == 0 and "no answer yet: commit, log and end with NOBRAKES: BLOCKED" in out
    code, out, _ = door.run("agent", "ask", "Is UTC right?", "--json")
    number = json.loads(out)["data"]["escalation"]
    assert json.loads(out)["data"]["answer"] is None
    assert len(door.store(lambda store: store.escalations())) == 1
    door.store(lambda store: store.answer(number, "Yes,\x1b[31m everywhere", "me"))
    assert door.run("agent", "answer")[:2] == (0, "Yes, everywhere")
    assert json.loads(door.run("agent", "answer", str(number), "--json")[1])["data"]["answer"].startswith("Yes,")


def test_asking_waits_for_the_answer(door):
    def answer_it():
        found = []
        while not found:
            found = door.store(lambda store: store.escalations())
        door.store(lambda store: store.answer(found[0].id, "Use UTC", "me"))

    person = threading.Thread(target=answer_it)
    person.start()
    code, out, _ = door.run("agent", "ask", "--wait", "60", "Which zone?")
    person.join()
    assert (code, out) == (0, "Use UTC")


def test_the_exit_code_says_that_nobody_answered(door):
    code, out, _ = door.run("agent", "ask", "--wait", "0.2", "Which zone?")
    assert code == 82 and "question 1" in out
    assert door.run("agent", "ask", "Which zone?")[0] == 0  # who does not wait is not told so


def test_a_suggestion_stops_nothing(door):
    code, out, _ = door.run("agent", "escalate", "Split the parser", "--detail", "it is large")
    assert code == 0 and "continue with your bead" in out
    [found] = door.store(lambda store: store.escalations())
    assert (found.type.value, found.title, found.detail) == ("doer_suggestion", "Split the parser", "it is large")
    assert door.store(lambda store: store.bead("nb-1")).status is Status.DOING


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        ([], "completed"),
        (["completed"], "completed"),
        (["context_exhausted"], "gave_up_context"),
        (["--outcome", "gave_up_tests"], "gave_up_tests"),
        (["failed", "--json"], "failed"),
        (["--outcome=blocked", "--discard-branch"], "blocked"),
    ],
)
def test_handing_in_leaves_the_outcome_and_the_log(door, argv, said):
    texts = ["--summary", "the header", "--blockers", "none", "--learnings", "CRLF"]
    assert door.run("agent", "done", *argv, *texts)[0] == 0
    attempt = door.store(lambda store: store.attempt(door.attempt.id))
    log = attempt.log
    assert attempt.data["said"] == said and attempt.outcome is None
    assert (log.summary, log.blockers, log.learnings) == ("the header", "none", "CRLF")
    assert log.keep_branch is ("--discard-branch" not in argv)


def test_a_summary_may_come_from_stdin(door):
    assert door.run("agent", "done", "--summary", "-", stdin="long\nstory\n")[0] == 0
    assert door.store(lambda store: store.attempt(door.attempt.id)).log.summary.strip() == "long\nstory"


@pytest.mark.parametrize("argv", [["sideways"], ["--outcome", "merged"], ["failed", "--outcome", "blocked"]])
def test_an_outcome_that_is_none_is_a_usage_error(door, argv):
    assert door.run("agent", "done", *argv)[0] == 2
    assert "said" not in door.store(lambda store: store.attempt(door.attempt.id)).data


@pytest.mark.parametrize("verb", [["log", "x"], ["ask", "x"], ["escalate", "x"], ["answer"], ["done"]])
def test_a_channel_that_has_closed_stays_closed(door, verb):
    door.store(lambda store: store.close_attempt(door.attempt, Kind.DOER_STOPPED, Outcome.FAILED))
    before = door.last_event()
    code, _, err = door.run("agent", *verb)
    assert code == 18 and "attempt has ended" in err and door.last_event() == before
    assert json.loads(door.run("agent", *verb, "--json")[1])["error"]["name"] == "Stale"


def test_without_a_token_there_is_no_door(door, monkeypatch):
    monkeypatch.delenv("NOBRAKES_TOKEN")
    code, _, err = door.run("agent", "log", "x")
    assert code == 17 and "NOBRAKES_TOKEN" in err


def test_an_agent_reads_the_graph_but_does_not_change_it(door):
    assert door.run("show", "nb-1")[0] == 0
    assert json.loads(door.run("show", "nb-1", "--json")[1])["data"]["status"] == "doing"
    assert door.run("ready", "--json")[0] == door.run("list")[0] == door.run("events")[0] == 0
    before = door.last_event()
    for argv in (["add", "x"], ["done", "nb-1"], ["answer", "1", "x"], ["pause"], ["set", "doers=9"], ["undo"]):
        code, _, err = door.run(*argv)
        assert code == 17 and "nobrakes agent escalate" in err
    assert door.last_event() == before


def test_no_command_shows_the_token(door):
    for argv in (["show", "nb-1"], ["list"], ["events"]):
        for shown in (door.run(*argv)[1], door.run(*argv, "--json")[1]):
            assert door.attempt.token not in shown


@pytest.mark.parametrize("argv", [["show", "nb-1"], ["ready"]])
def test_hot_and_full_say_the_same(door, argv, monkeypatch, capsys):
    door.store(
        lambda store: store.put([Bead("nb-2", "Next\u00e9", status=Status.NEEDS_TESTS, labels=("a",))], [], "me")
    )
    now = time.time_ns()
    monkeypatch.setattr(time, "time_ns", lambda: now)  # the seconds of an agent at work are part of the cost
    hot = door.run(*argv)[1], json.loads(door.run(*argv, "--json")[1])
    assert main.run(argv) == 0
    text = capsys.readouterr().out.strip()
    assert main.run([*argv, "--json"]) == 0
    assert hot == (text, json.loads(capsys.readouterr().out))


@pytest.mark.parametrize(
    "argv",
    [
        ["log", "x"],
        ["progress", "x", "--step", "1", "--of", "3"],
        ["progress", "x", "--step", "7"],
        ["notify", "x"],
        ["ask", "Which?"],
        ["escalate", "Split it"],
        ["answer"],
        ["done", "--summary", "s"],
    ],
    ids=" ".join,
)
def test_hot_and_full_say_the_same_at_the_door(door, argv, monkeypatch, capsys, tmp_path):
    (tmp_path / ".git" / "logs").mkdir(parents=True)
    (tmp_path / ".git" / "logs" / "HEAD").write_text("")
    monkeypatch.setenv("NOBRAKES_WORKSPACE", str(tmp_path))
    door.run("agent", "ask", "Which?")
    code, hot, _ = door.run("agent", *argv)
    assert main.run(["agent", *argv]) == code == 0
    assert capsys.readouterr().out.strip() == hot
    assert ("step 7 is reported with only 0 commits" in hot) is ("7" in argv)


def test_an_agent_reads_what_it_is_to_do(door):
    code, out, _ = door.run("agent", "bead")
    assert code == 0 and "Bead nb-1: Parse" in out
    assert door.run("agent", "attempts")[:2] == (0, "this is the first attempt")
    assert json.loads(door.run("agent", "whats-next", "--json")[1])["data"]["next"][0].startswith("Take the first step")
    assert door.run("agent", "request-review", "-", stdin="a plan")[0] == 17


def test_a_person_sees_both_tracks(door, monkeypatch):
    assert door.run("agent", "progress", "parses", "--step", "6", "--of", "9")[0] == 0
    clone = door.database.replace("nobrakes.db", "workspaces/nb-1/.git/logs")
    os.makedirs(clone)
    with open(os.path.join(clone, "HEAD"), "w", encoding="utf-8") as log:
        log.write(f"{'0' * 40} {'1' * 40} Ada <a@b> {int(door.attempt.started_at) + 1} +0000\tcommit: one\n")
    monkeypatch.delenv("NOBRAKES_TOKEN")
    shown = door.run("status")[1]
    assert (
        "Ada reports: step 6 of 9, 1 commit, parses" in shown and "but step 6 is reported with only 1 commit" in shown
    )
    assert json.loads(door.run("status", "--json")[1])["data"]["working"][0]["says"].startswith("step 6")


def test_the_checks_are_run_in_the_agents_workspace_and_each_call_is_a_round(door, tmp_path, monkeypatch):
    work = tmp_path / "work"
    (work / "sub").mkdir(parents=True)
    rows = [
        {"name": "unit", "command": "echo ran $NOBRAKES_TOKEN; pwd; exit 3", "directory": "sub", "timeout": 60.0},
        {"name": "style", "command": "true", "directory": "", "timeout": 60.0},
        {"name": "slow", "command": "echo began; sleep 60", "directory": "", "timeout": 0.2},
    ]
    monkeypatch.setenv("NOBRAKES_CHECKS", json.dumps(rows))
    monkeypatch.setenv("NOBRAKES_WORKSPACE", str(work))
    code, out, _ = door.run("agent", "test", "unit")
    assert code == 54 and f"unit: fail: exit code 3\nran\n{work}/sub" in out, "the door is not the tests'"
    assert (door.last_event().kind, door.last_event().data["text"]) == (Kind.TESTED, "unit: fail: exit code 3")
    code, out, _ = door.run("agent", "test", "--json")
    assert code == 54 and [one["outcome"] for one in json.loads(out)["data"]["checks"]] == [
        "fail: exit code 3",
        "pass",
        "fail: stopped after 0.2 seconds",
    ]
    assert door.run("agent", "test", "style")[:2] == (0, "style: pass")
    before = door.last_event()
    assert door.run("agent", "test", "ghost")[0] == 2 and door.last_event() == before
