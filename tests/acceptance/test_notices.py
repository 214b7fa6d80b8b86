"""`nobrakes notify …` and notices of a run, through real processes: a channel that hangs delays no bead."""

import sys
import time
from pathlib import Path

import pytest

from tests.support.notice_servers import webhook
from tests.support.project import Project

AGENT = """
import os, subprocess, sys
bead = os.environ["NOBRAKES_BEAD"]
open(f"{bead}.txt", "w").write("done")
run = lambda *argv: subprocess.run(argv, check=True)
run("git", "add", "-A"), run("git", "commit", "-q", "-m", f"Do {bead}")
run("nobrakes", "agent", "notify", f"hello from {bead}")
run("nobrakes", "agent", "escalate", "Look here", "--severity", "urgent")
run("nobrakes", "agent", "done")
"""


def channel(port: int, name: str = "hook", **more: str) -> str:
    lines = [f"[notify.channels.{name}]", 'type = "webhook"', f'url = "http://127.0.0.1:{port}/x"']
    return "\n".join([*lines, *(f'{key} = "{value}"' for key, value in more.items())])


def project(folder: Path, more: str) -> Project:
    agent = folder / "agent.py"
    agent.write_text(AGENT)
    made = Project(folder / "project", [sys.executable, str(agent)], more=more)
    made.plan([{"id": "one", "title": "One", "type": "task", "needs_tests": False}])
    return made


@pytest.mark.slow
def test_a_run_tells_what_came_of_it(tmp_path: Path) -> None:
    with webhook() as kept:
        made = project(tmp_path, channel(kept.port))
        made.nobrakes("run")
        kinds = [message["kind"] for message in kept.messages]
        assert sorted(kinds) == ["agent_notify", "merged", "run_finished", "suggestion"], kept.messages
        (urgent,) = [message for message in kept.messages if message["kind"] == "suggestion"]
        assert urgent["severity"] == "urgent" and urgent["bead"] == "one" and "project" in urgent["title"]
        listed = made.ask("notify", "list")
        assert [one["state"] for one in listed["deliveries"]] == ["sent"] * 4
        assert "accepted the notice" in made.nobrakes("notify", "test").stdout


@pytest.mark.slow
def test_a_channel_that_hangs_delays_no_bead(tmp_path: Path) -> None:
    times = {}
    for trouble in ("", "hangs", "dribbles"):
        with webhook(trouble) as kept:
            folder = tmp_path / (trouble or "sound")
            folder.mkdir()
            made = project(folder, channel(kept.port))
            began = time.monotonic()
            made.nobrakes("run")
            whole = time.monotonic() - began
            times[trouble] = whole
            assert made.landed() and kept.connections >= 1
            if trouble:
                waiting = made.ask("notify", "list")["channels"][0]["waiting"]
                assert waiting >= 3, "what was not sent waits for the next run"
    for trouble in ("hangs", "dribbles"):
        assert times[trouble] < times[""] + 15, times  # the bounded chance at the end of a run, on a busy machine


@pytest.mark.slow
def test_what_one_run_could_not_send_the_next_one_sends(tmp_path: Path) -> None:
    with webhook("hangs") as kept:
        made = project(tmp_path, channel(kept.port))
        made.nobrakes("run")
    with webhook() as kept:
        config = made.config.read_text().replace("http://127.0.0.1:", "http://localhost:")
        made.config.write_text(
            "\n".join(line for line in config.splitlines() if not line.startswith("url"))
            + f'\nurl = "http://127.0.0.1:{kept.port}/x"\n'
        )
        made.nobrakes("run")
        assert {"agent_notify", "merged", "suggestion"} <= {message["kind"] for message in kept.messages}


def test_each_channel_is_tried_and_what_failed_is_said(tmp_path: Path) -> None:
    with webhook() as good, webhook("refuses") as bad:
        made = Project(tmp_path / "project", ["true"], more=channel(good.port) + "\n" + channel(bad.port, "other"))
        done = made.nobrakes("notify", "test", expect=58)
        assert "hook: accepted the notice" in done.stdout and "other: the webhook answered 500" in done.stdout
        assert made.nobrakes("notify", "test", "hook").returncode == 0
        assert "unknown channel 'x'" in made.nobrakes("notify", "test", "x", expect=2).stderr
        assert "everything" in made.nobrakes("notify", "list").stdout
        assert [message["kind"] for message in good.messages] == ["test", "test"]


def test_doctor_says_which_channel_cannot_work(tmp_path: Path) -> None:
    more = '[notify.channels.a]\ntype = "webhook"\nsecret = "gone"\n[notify.channels.b]\ntype = "command"\ncommand = ["no-such"]'
    made = Project(tmp_path / "project", ["true"], more=more)
    shown = made.nobrakes("doctor", expect=1).stdout
    assert "the channel a cannot work: there is no secret 'gone'" in shown and "`no-such` was not found" in shown
