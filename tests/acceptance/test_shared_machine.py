"""Two repositories of one person on one machine: places for agents, what a day may cost, and who gets what when."""

import os
import signal
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.notice_servers import webhook
from tests.support.scripted import Scripted, lives, until
from tests.support.without_root import without_roots_rights

NOBRAKES_OF = "env -u NOBRAKES_USER_HOME nobrakes"
HOLDS = 'while [ ! -e "$BOOK/go" ]; do sleep 0.05; done; work'
"""A play: the agent works until the test lets it go on."""


def pair(tmp_path: Path) -> tuple[Scripted, Scripted]:
    return Scripted(tmp_path / "one"), Scripted(tmp_path / "two")


def at_work(made: Scripted) -> list[int]:
    pids = [int(word) for path in made.book.glob("*.turns") for word in path.read_text().split()[:1]]
    return [pid for pid in pids if lives(pid)]


@contextmanager
def daemon(made: Scripted) -> Iterator[int]:
    """A daemon in the background, and its pid; whatever is left of it is ended."""
    made.nobrakes("daemon", "start")
    pid = made.ask("daemon", "status")["pid"]
    try:
        yield pid
    finally:
        made.flag("go").touch()
        made.nobrakes("daemon", "stop", expect=None)
        made.kill_orphans()


def test_repositories_are_listed_with_what_waits_there(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    assert [found["path"] for found in one.ask("repositories")] == [str(one.folder), str(two.folder)]
    assert {found["state"] for found in one.ask("repositories")} == {"stopped"}
    with daemon(two):
        assert [found["state"] for found in one.ask("repositories")] == ["stopped", "daemon runs"]
        assert "nobrakes daemon stop" in two.nobrakes("repositories", "forget", str(two.folder), expect=17).stderr
    one.nobrakes("repositories", "forget", str(two.folder))
    assert [found["path"] for found in two.ask("repositories")] == [str(one.folder)]
    assert two.nobrakes("status").returncode == 0


def test_limits_are_set_shown_and_judged(tmp_path: Path) -> None:
    made = Scripted(tmp_path / "one")
    assert "machine" not in made.nobrakes("status").stdout
    made.nobrakes("machine", "set", "agents=3", "usd_per_day=20")
    for command in ("status", "board", "providers", "machine"):
        text = made.nobrakes(command).stdout
        assert "machine.agents: 0 of 3" in text and "machine.usd_per_day: 0 of 20" in text, command
    made.error("machine", "set", "agents=0", code=12)
    made.error("machine", "set", "agents", code=2)
    made.error("machine", "unset", code=2)
    assert made.ask("machine")["agents"] == 3
    config = Path(os.environ["NOBRAKES_USER_HOME"], "config", "config.toml")
    config.write_text("[machine]\nagent = 3\n")
    assert "machine.agent: is not a setting" in made.nobrakes("run", expect=62).stderr, "limits are never just dropped"
    for command, code in (("doctor", 1), ("status", 0), ("machine", 0)):
        assert "machine.agent: is not a setting" in made.nobrakes(command, expect=code).stdout, command


def test_an_agent_neither_sees_nor_sets_what_is_shared(tmp_path: Path) -> None:
    made = Scripted(tmp_path / "one")
    made.does(
        "a",
        f'{NOBRAKES_OF} machine set agents=9 >"$BOOK/said" 2>&1; {NOBRAKES_OF} repositories >>"$BOOK/said" 2>&1; work',
    )
    made.add("a")
    made.nobrakes("run")
    said = made.flag("said").read_text()
    assert said.count("error") == 2 and not Path(os.environ["NOBRAKES_USER_HOME"], "config", "config.toml").exists()


@pytest.mark.slow
def test_a_daemon_that_is_killed_frees_its_places_at_once(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    one.nobrakes("machine", "set", "agents=3")
    for made in (one, two):
        for name in ("a", "b", "c"):
            made.does(name, HOLDS)
        made.add("a", "b", "c")
    with daemon(one) as pid:
        until(lambda: len(at_work(one)) == 3)
        with daemon(two):
            until(lambda: "agent limit is reached: 3 of 3" in (two.folder / ".nobrakes" / "daemon.log").read_text())
            assert at_work(two) == []
            os.kill(pid, signal.SIGKILL)
            killed = time.monotonic()
            until(lambda: len(at_work(two)) == 3)
            assert time.monotonic() - killed < 15, "it waits for no lease"
            assert len(at_work(one)) == 3, "agents outlive their daemon"
            one.nobrakes("daemon", "start")  # it takes its agents up again, beyond the limit
            until(lambda: one.ask("machine")["taken"] == 6)
            assert len(at_work(one)) == 3 and len(at_work(two)) == 3, "nobody is ended for it"
            one.flag("go").touch()
            until(lambda: one.status("c") == "done" and one.status("a") == "done" and one.status("b") == "done")
            assert one.ask("machine")["taken"] == 3


STAMPS = """
echo "$(date +%s.%N) start" >>"$STAMPS"
sleep 0.3
echo "$(date +%s.%N) stop" >>"$STAMPS"
work
"""


@pytest.mark.slow
def test_under_a_limit_of_one_two_runs_never_have_two_agents(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    one.nobrakes("machine", "set", "agents=1")
    stamps = one.flag("stamps")
    for made in (one, two):
        for name in ("a", "b", "c"):
            made.does(name, STAMPS.replace("$STAMPS", str(stamps)))
        made.add("a", "b", "c")
    with one.running() as first, two.running() as second:
        for process in (first, second):
            said, _ = process.communicate(timeout=120)
            assert process.returncode == 0, said
    words = [line.split()[1] for line in sorted(stamps.read_text().splitlines())]
    assert words == ["start", "stop"] * 6
    assert [made.status(name) for made in (one, two) for name in "abc"] == ["done"] * 6


@pytest.mark.slow
def test_limits_that_cannot_be_read_start_no_agent_and_let_finished_work_land(tmp_path: Path) -> None:
    made = Scripted(tmp_path / "one")
    made.nobrakes("machine", "set", "agents=1")
    made.does("a", HOLDS)
    made.add("a", "b")
    with daemon(made):
        until(lambda: len(at_work(made)) == 1)
        with closing(sqlite3.connect(Path(os.environ["NOBRAKES_USER_HOME"], "state", "user.db"))) as own, own:
            own.execute("INSERT INTO migrations VALUES (99, 1.0)")
        until(lambda: "newer nobrakes" in (made.folder / ".nobrakes" / "daemon.log").read_text())
        made.flag("go").touch()
        until(lambda: made.status("a") == "done")
        assert made.turns("b") == []
        for command, code in (("doctor", 1), ("status", 0), ("machine", 0)):
            text = made.nobrakes(command, expect=code).stdout
            assert "newer nobrakes" in text and "Update nobrakes" in text, command
        with closing(sqlite3.connect(Path(os.environ["NOBRAKES_USER_HOME"], "state", "user.db"))) as own, own:
            own.execute("DELETE FROM migrations WHERE version = 99")
        until(lambda: made.status("b") == "done")
        assert "can read this machine's limits again" in (made.folder / ".nobrakes" / "daemon.log").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("closed", ["state/user.db", "state", "config"])
def test_limits_that_are_closed_by_their_modes_start_no_agent_until_they_are_opened(
    tmp_path: Path, closed: str
) -> None:
    path = Path(os.environ["NOBRAKES_USER_HOME"], closed)
    with webhook() as kept, without_roots_rights():
        made = Scripted(
            tmp_path / "one", more=f'[notify.channels.hook]\ntype = "webhook"\nurl = "http://127.0.0.1:{kept.port}/x"'
        )
        made.nobrakes("machine", "set", "agents=1")
        made.does("a", HOLDS)
        made.add("a", "b")
        with daemon(made):
            until(lambda: len(at_work(made)) == 1)
            with _closed(path):
                _are_missed(made, path, kept.messages)
            until(lambda: made.status("b") == "done")
            assert "can read this machine's limits again" in (made.folder / ".nobrakes" / "daemon.log").read_text()
        made.add("c")
        with _closed(path):
            assert f"ls -ld {path}" in made.nobrakes("run", expect=62).stderr
        made.nobrakes("run")
        assert made.status("c") == "done"


@contextmanager
def _closed(path: Path) -> Iterator[None]:
    mode = path.stat().st_mode
    path.chmod(0)
    try:
        with pytest.raises(PermissionError):
            os.listdir(path) if path.is_dir() else path.read_bytes()
        yield
    finally:
        path.chmod(mode)


def _are_missed(made: Scripted, path: Path, messages: list[Any]) -> None:
    """What is at work ends and lands, nothing else starts, and each place says why and what to type."""
    mend = f"ls -ld {path}"
    until(lambda: any(mend in message["text"] for message in messages), what=lambda: messages)
    assert mend in (made.folder / ".nobrakes" / "daemon.log").read_text()
    made.flag("go").touch()
    until(lambda: made.status("a") == "done")
    for command, code in (("doctor", 1), ("status", 0), ("machine", 0)):
        text = made.nobrakes(command, expect=code).stdout
        assert "limits cannot be read" in text and mend in text, command
    assert made.turns("b") == []


def spend(made: Scripted, usd: float, tokens: int) -> None:
    """As if the last attempt had cost this: the scripted agent cannot tell."""
    with closing(sqlite3.connect(made.folder / ".nobrakes" / "nobrakes.db")) as store, store:
        store.execute("UPDATE attempts SET cost_usd = ?, tokens = ? WHERE id = 1", (usd, tokens))


@pytest.mark.slow
def test_what_a_day_may_cost_is_summed_over_repositories(tmp_path: Path) -> None:
    one, two = pair(tmp_path)
    for made in (one, two):
        made.add("a")
        made.nobrakes("run")
    spend(one, 6.0, 600)
    one.nobrakes("run")  # nothing is left to do; it says what was spent
    one.nobrakes("machine", "set", "usd_per_day=10")
    two.does("b", HOLDS)
    two.add("b", "c")
    two.flag("c").write_text(HOLDS)
    with two.running() as process:
        until(lambda: len(at_work(two)) == 2)
        spend(two, 5.0, 500)
        two.nobrakes("machine", "set", "usd_per_day=10.5")  # whatever wakes it: it sums up when an agent ends
        os.kill(at_work(two)[0], signal.SIGKILL)
        until(lambda: two.events("cap_reached"), what=lambda: two.ask("machine"))
        until(lambda: "capped" in (*two.outcomes("b"), *two.outcomes("c")))
        assert process.poll() is None, "the day ends by itself"
        one.add("d")
        with one.running() as other:
            until(lambda: one.events("cap_reached"))
            assert one.outcomes("d") == [] and other.poll() is None
            assert "machine.usd_per_day: 11 of 10.5" in one.nobrakes("status").stdout
            two.flag("go").touch()
            one.nobrakes("machine", "set", "usd_per_day=default")
            said, _ = other.communicate(timeout=60)
            assert one.status("d") == "done" and "next day begins at 00:00 UTC" in said
        process.communicate(timeout=60)
    assert two.status("b") == two.status("c") == "done"
    assert len(one.events("cap_reached")) == len(two.events("cap_reached")) == 1
