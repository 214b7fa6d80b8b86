"""`run`, the daemon, and looking on, with an agent that is a shell script, in a real repository."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

AGENT = """#!/bin/sh
set -e
nobrakes agent progress "begin $NOBRAKES_BEAD"
case "$NOBRAKES_BEAD" in
  slow*) while [ ! -e "$GO" ]; do sleep 0.02; done ;;
  fails*) echo "cannot do it"; nobrakes agent done failed --summary "no"; exit 0 ;;
esac
echo "made for $NOBRAKES_BEAD" > "file-$NOBRAKES_BEAD.txt"
git add -A && git commit -q -m "Work on $NOBRAKES_BEAD"
echo "said: all done with \033[31m$NOBRAKES_BEAD\033[0m"
nobrakes agent done completed --summary "made the file"
"""


class Repository:
    """A repository with one commit, nobrakes, and the script as its agent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.go = folder.parent / "signs" / "go"
        self.go.parent.mkdir()
        self.env = {
            k: v for k, v in os.environ.items() if k == "NOBRAKES_USER_HOME" or not k.startswith("NOBRAKES_")
        } | {"GO": str(self.go)}
        folder.mkdir()
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=folder, check=True)
        subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", "Begin"], cwd=folder, check=True)
        agent = folder.parent / "agent.sh"
        agent.write_text(AGENT)
        agent.chmod(0o755)
        self.ok("init", "--build", "true")
        config = folder / ".nobrakes" / "config.toml"
        config.write_text(
            'main = "main"\n[limits]\nmax_failures = 1\n[[checks]]\nname = "build"\nkind = "build"\ncommand = "true"\n'
            '[agents]\ntest_writer = "script"\ndoer = "script"\nenvironment = ["GO"]\n'
            f'[agents.script]\ncommand = ["{agent}"]\n[sandbox]\nread = ["{self.go.parent}"]\n'
        )

    def start(self, *argv: str, **how) -> subprocess.Popen:
        command = [sys.executable, "-m", "nobrakes", *argv]
        return subprocess.Popen(command, cwd=self.folder, env=self.env, **how)

    def run(self, *argv: str) -> tuple[int, str, str]:
        process = self.start(*argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err

    def ok(self, *argv: str) -> str:
        code, out, err = self.run(*argv)
        assert code == 0, (argv, out, err)
        return out

    def data(self, *argv: str):
        return json.loads(self.run(*argv, "--json")[1])["data"]

    def add(self, *ids: str) -> None:
        for one in ids:
            self.ok("add", f"Bead {one}", "--id", one, "--no-tests")


@pytest.fixture
def repository(tmp_path):
    return Repository(tmp_path / "repository")


def until(condition, seconds=60.0):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
    return found


def test_run_does_everything_and_says_so_line_by_line(repository):
    repository.add("a", "b")
    repository.ok("depend", "b", "a")
    code, out, _ = repository.run("run")
    assert code == 0 and out.splitlines()[-1] == "2 done"
    words = [line for line in out.splitlines() if " merged " in line]
    assert ["Bead a" in line for line in words] == [True, False] and "\x1b" not in out
    assert [bead["status"] for bead in repository.data("list")] == ["done", "done"]
    assert repository.data("review")[0]["results"][0]["outcome"] == "pass"
    assert repository.data("history", "a")["commit"]
    log = repository.ok("history", "--transcript", "a")
    assert "said: all done with a" in log and "\x1b" not in log
    assert "ended: completed" in repository.ok("watch", "a")
    assert "2 done" in repository.ok("status") and "done (2)" in repository.ok("board")


def test_run_ends_with_40_when_a_bead_waits_for_a_person(repository):
    repository.add("fails", "a")
    code, out, err = repository.run("run", "--json")
    shown = json.loads(out)  # nothing but the envelope is on stdout
    assert code == 40 and shown["data"]["counts"]["escalated"] == 1 and shown["data"]["settled"] is False
    [number] = shown["data"]["escalations"]
    assert f"escalation {number}" in err
    shown = repository.data("escalation", str(number))
    assert shown["type"] == "repeated_failure" and shown["hypothesis"] == "not known"  # its own words are no evidence
    assert "cancelled" in repository.ok("resolve", str(number), "--cancel", "-m", "not needed")
    assert repository.run("resolve", str(number), "--retry")[0] == 17
    assert repository.run("run")[0] == 0


def test_run_ends_with_what_to_type_while_a_line_of_packed_refs_is_broken(repository):
    repository.add("a")
    subprocess.run(["git", "pack-refs", "--all"], cwd=repository.folder, check=True)
    packed = repository.folder / ".git" / "packed-refs"
    whole = packed.read_text()
    packed.write_text(f"{whole}what a power cut left\n")
    code, _, err = repository.run("run")
    assert code == 83 and "what a power cut left" in err and "cp .git/packed-refs" in err
    packed.write_text(whole)
    assert repository.run("run")[0] == 0


def test_on_a_terminal_it_draws_a_picture(repository):
    repository.add("slow")
    ours, theirs = pty.openpty()
    process = repository.start("run", stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    try:
        while b"doer" not in seen or b"Bead slow" not in seen or b"1 working" not in seen:
            seen += os.read(ours, 65536)
        repository.go.touch()
        while True:
            seen += os.read(ours, 65536)
    except OSError:  # the other end of a terminal that was closed
        pass
    finally:
        os.close(ours)
    assert process.wait(60) == 0 and b"\x1b[J" in seen and seen.rstrip().endswith(b"1 done")


def test_ctrl_c_stops_in_order_keeps_the_work_and_is_130(repository):
    repository.add("slow")
    process = repository.start("run", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    until(lambda: '"progressed"' in repository.ok("events", "--json"))
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    shown = repository.data("show", "slow")
    assert shown["status"] == "needs_doer" and shown["attempts"][0]["outcome"] == "interrupted"
    assert shown["failures"] == 0
    repository.go.touch()
    assert repository.run("run")[0] == 0


def test_the_daemon_starts_works_hands_over_and_stops(repository):
    code, out, _ = repository.run("daemon", "status", "--json")
    assert code == 24 and json.loads(out)["data"] == {"running": False, "pid": None}
    assert repository.run("daemon", "stop")[0] == 24
    first = repository.data("daemon", "start")["pid"]
    try:
        assert repository.run("daemon", "start")[0] == 23 and repository.run("run")[0] == 23
        repository.add("slow")
        until(lambda: repository.data("show", "slow")["status"] == "doing")
        second = repository.data("daemon", "restart")["pid"]
        assert second != first and repository.data("daemon", "status") == {"running": True, "pid": second}
        assert [a["outcome"] for a in repository.data("show", "slow")["attempts"]] == [None]
        repository.go.touch()
        until(lambda: repository.data("show", "slow")["status"] == "done")
    finally:
        assert repository.run("daemon", "stop")[0] == 0
    code, out, _ = repository.run("daemon", "status")
    assert code == 24 and "no daemon is running here" in out
    assert "Bead slow" in (repository.folder / ".nobrakes" / "daemon.log").read_text()


def test_watch_follows_an_agent_until_it_ends(repository):
    repository.add("slow")
    repository.ok("daemon", "start")
    try:
        name = until(lambda: repository.data("show", "slow")["assignee"])
        watching = repository.start("watch", name, stdout=subprocess.PIPE, text=True)
        assert watching.stdout.readline().startswith(f"{name} (doer) on slow, attempt 1")
        repository.go.touch()
        out, _ = watching.communicate(timeout=60)
        assert watching.returncode == 0 and "said: all done with slow" in out and out.endswith("ended: completed\n")
    finally:
        repository.ok("daemon", "stop")


def test_pause_starts_nothing_until_resume(repository):
    repository.add("a")
    repository.ok("pause")
    for command in ("run", "daemon start"):
        code, _, told = repository.run(*command.split())
        assert code == 62 and "paused: no new work starts" in told and "`nobrakes resume`" in told
    assert "paused: no new work starts" in repository.ok("status")
    repository.ok("resume")
    assert repository.run("run")[0] == 0


def test_events_follow_what_happens(repository):
    following = repository.start("events", "--follow", "--json", stdout=subprocess.PIPE, text=True)
    try:
        repository.add("a")
        assert json.loads(following.stdout.readline())["event"] == "proposed"
        repository.ok("hold", "a", "-m", "why")
        assert json.loads(following.stdout.readline())["metadata"]["reason"] == "why"
    finally:
        following.terminate()
        following.wait(10)
