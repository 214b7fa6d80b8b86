"""Relay sessions: a branch comes back and no checkout changes; the next prompt goes on; nothing of a clone gets lost."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.project import Project
from tests.support.scripted import until
from tests.support.warm import NOBRAKES

pytestmark = pytest.mark.slow
AGENT = """#!/bin/sh
echo "I look at $(pwd)"
if grep -q "second thing" "$NOBRAKES_PROMPT"; then echo two >two; git add two; git commit -qm "Add two"; echo rest >rest
elif grep -q "only think" "$NOBRAKES_PROMPT"; then :
else echo one >one; git add one; git commit -qm "Add one"; fi
echo "I did it."; echo "NOBRAKES: COMPLETED"
"""


def relay(project: Project, number: int) -> Any:
    return project.ask("relay", "--session", str(number))


def test_a_branch_comes_back_and_the_checkout_stays_as_it_is(tmp_path: Path) -> None:
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT)
    project = Project(tmp_path / "repository", ["sh", str(agent)])
    (project.folder / "mine").write_text("not committed")
    main, before = project.git("rev-parse", "main"), project.git("status", "--porcelain")
    try:
        project.nobrakes("relay", "Do the first thing", "--agent", "script")
        found = until(lambda: (s := relay(project, 1))["session"]["state"] == "asking" and s)
        assert (found["branch"], found["last_words"].splitlines()[-1]) == ("relay/1", "I did it.")
        assert [subject for _, subject in found["commits"]] == ["Add one"] and found["files"] == [["A", "one"]]
        assert project.git("show", "relay/1:one") == "one\n"
        assert (project.git("rev-parse", "main"), project.git("status", "--porcelain")) == (main, before)
        (asked,) = project.ask("escalations")
        assert asked["title"].startswith("What next? Session 1") and "relay/1" in asked["detail"]

        project.git("checkout", "-q", "relay/1")  # a person looks at it: it is not moved under their feet
        project.nobrakes("answer", str(asked["id"]), "Now the second thing")
        found = until(lambda: (s := relay(project, 1))["turns"] == 2 and s["session"]["state"] == "asking" and s)
        assert [subject for _, subject in found["commits"]] == ["Add one", "Add two"]
        assert found["branch"] == "relay/1-2" and project.git("show", "relay/1-2:two") == "two\n"
        assert project.git("log", "--format=%s", "-1", "relay/1") == "Add one\n"
        project.nobrakes("relay", "--session", "1", "Now only think")
        until(lambda: relay(project, 1)["turns"] == 3 and relay(project, 1)["session"]["state"] == "asking")

        away = tmp_path / "away"
        away.mkdir()

        def elsewhere(*words: str) -> str:
            """The same, typed where the session is not."""
            env = {**os.environ, "NOBRAKES_USER_HOME": str(tmp_path / "mine")}
            done = subprocess.run([NOBRAKES, "relay", *words], cwd=away, env=env, capture_output=True, text=True)
            return done.stdout + done.stderr

        there = str(project.folder)
        assert elsewhere("--session", "1", there).startswith("session 1: Do the first thing")
        assert "no session of your own" in elsewhere("--session", "1", there, "--user")
        assert "is not a folder" in elsewhere("--session", "1", str(away / "none"), "Go on")
        text = elsewhere(there, "Only think of it: only think", "--agent", "script")
        assert f"`cd {there} && nobrakes session show 2` shows the session's result" in text
        until(lambda: relay(project, 2)["session"]["state"] == "asking")
        assert elsewhere("--session", "2", there, "And again: only think") == "sent to session 2\n"
        until(lambda: relay(project, 2)["turns"] == 2 and relay(project, 2)["session"]["state"] == "asking")
        project.nobrakes("session", "end", "2")

        project.nobrakes("session", "end", "1")
        until(lambda: not (project.folder / ".nobrakes" / "relays" / "1").exists())
        assert project.git("show", "relay/1-loose:rest") == "rest\n", "what was in no commit is kept, too"
        assert project.ask("escalations") == []
    finally:
        project.nobrakes("daemon", "stop", expect=None)


def test_in_a_repository_of_anybody_only_the_branch_is_left(tmp_path: Path) -> None:
    agent, theirs = tmp_path / "agent.sh", tmp_path / "theirs"
    agent.write_text(AGENT)
    agent.chmod(0o755)
    theirs.mkdir()
    env = {**os.environ, "NOBRAKES_USER_HOME": str(tmp_path / "mine")}

    def git(*words: str) -> str:
        return subprocess.run(["git", *words], cwd=theirs, capture_output=True, text=True, check=True).stdout

    def ask(*words: str) -> Any:
        done = subprocess.run([NOBRAKES, *words, "--json"], cwd=tmp_path, env=env, capture_output=True, text=True)
        return json.loads(done.stdout)

    for place, words in ((tmp_path / "no", "does not exist"), (agent, "is not a folder"), (theirs, "is not in a git")):
        assert words in ask("relay", str(place), "Do it", "--agent", "script")["error"]["message"]
    git("init", "-q")
    refused = ask("relay", str(theirs), "Do the first thing", "--agent", "script")["error"]
    assert refused["name"] == "NoMain"
    git("commit", "-q", "--allow-empty", "-m", "Begin")
    before = sorted(os.listdir(theirs / ".git"))
    assert ask("sessions", "--user")["data"] == []
    config = tmp_path / "mine" / "state" / "home" / ".nobrakes" / "config.toml"
    config.write_text(f"{config.read_text()}\n[agents.script]\ncommand = {json.dumps([str(agent)])}\n")
    try:
        ask("relay", str(theirs), "Do the first thing", "--agent", "script")
        found = until(lambda: (s := ask("relay", "--session", "1")["data"])["session"]["state"] == "asking" and s)
        assert found["branch"] == "relay/1" and git("show", "relay/1:one") == "one\n"
        assert git("status", "--porcelain") == "" and os.listdir(theirs) == [".git"]
        assert ask("relay", "--session", "1", "--user")["data"] == found
        assert set(os.listdir(theirs / ".git")) - set(before) <= {"logs"}
        assert git("for-each-ref", "--format=%(refname)").split() == ["refs/heads/main", "refs/heads/relay/1"]
    finally:
        ask("daemon", "stop", "--user")


def test_one_noun_begins_continues_shows_and_hands_in_a_session_that_works(tmp_path: Path) -> None:
    agent = tmp_path / "agent.sh"
    agent.write_text(AGENT)
    project = Project(tmp_path / "repository", ["sh", str(agent)])
    assert "--works" in project.nobrakes("session", "start", "Think", "--in-place", expect=2).stderr
    assert "--kind" in project.nobrakes("session", "start", "Do", "--works", "--kind", "chat", expect=2).stderr
    assert "'x' is not a whole number" in project.nobrakes("session", "show", "x", expect=2).stderr
    try:
        text = project.nobrakes("session", "start", "Do the first thing", "--works", "--agent", "script").stdout
        assert "`nobrakes session show 1` shows the session's result" in text
        until(lambda: project.ask("session", "show", "1")["session"]["state"] == "asking")
        assert "relay/1" in project.nobrakes("session", "show", "1").stdout
        project.nobrakes("session", "say", "1", "Now the second thing")
        until(lambda: project.ask("session", "show", "1")["work"]["turns"] == 2)
        until(lambda: project.ask("session", "show", "1")["session"]["state"] == "asking")
        assert len(project.ask("escalations")) == 1, "the message answered the first question"
        found = project.ask("session", "show", "1")
        assert [subject for _, subject in found["work"]["commits"]] == ["Add one", "Add two"]
        landed = project.ask("session", "hand-in", "1")
        bead = landed["bead"]
        asked = until(lambda: [one for one in project.ask("escalations") if one["bead"] == bead])
        project.nobrakes("approve", str(asked[0]["id"]))
        until(lambda: project.ask("show", bead)["status"] == "done")
        assert project.git("show", "main:two") == "two\n"
    finally:
        project.nobrakes("daemon", "stop", expect=None)
