"""kill -9 of whatever is alive, at any moment: work goes on, counts once, and nothing is done twice."""

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from nobrakes.host import proctable
from tests.support.scripted import Scripted, lives, until

WAITS = 'while [ ! -e "$BOOK/go" ]; do sleep 0.05; done; work'


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def wrapper_of(agent: int) -> int:
    """The process that writes the agent's exit code down; between them stands the recorder of what the agent says."""
    recorder = proctable.look(agent).parent
    return proctable.look(recorder).parent


def test_an_agent_outlives_its_daemon_and_counts_once(project: Scripted) -> None:
    project.does("one", WAITS)
    project.add("one")
    with project.running() as first:
        [agent] = until(lambda: project.turns("one"))
        first.kill()
        first.wait()
        assert lives(agent)
        with project.running() as second:
            until(lambda: project.events("recovered"))
            assert lives(agent)
            project.flag("go").touch()
            out, _ = second.communicate(timeout=60)
    assert second.returncode == 0, out
    assert project.turns("one") == [agent] and project.outcomes("one") == ["completed"]
    assert project.show("one")["failures"] == 0 and list(project.landed().values()) == ["one"]


def test_an_agent_that_ends_while_nobody_looks_counts_once(project: Scripted) -> None:
    project.does("one", WAITS)
    project.add("one")
    with project.running() as first:
        [agent] = until(lambda: project.turns("one"))
        first.kill()
        first.wait()
        project.flag("go").touch()
        until(lambda: not lives(agent))
        project.nobrakes("run")
    assert project.turns("one") == [agent] and project.outcomes("one") == ["completed"]


def test_an_agent_that_is_killed_counts_as_killed(project: Scripted) -> None:
    project.does("one", "echo half >src-half; sleep 100", turn=1)
    project.add("one")
    with project.running() as run:
        [agent] = until(lambda: project.turns("one"))
        until(lambda: list((project.folder / ".nobrakes" / "workspaces" / "one").glob("src-half")))
        os.kill(agent, signal.SIGKILL)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.outcomes("one") in (["killed", "completed"], ["crashed", "completed"])
    assert project.show("one")["attempts"][0]["detail"]
    assert project.orphans() == []


def test_an_agent_whose_wrapper_is_killed_is_ended_once_it_is_silent(project: Scripted) -> None:
    project.configure("grace_seconds = 1", "grace_seconds = 0.3\nidle_minutes = 0.05")
    project.does("one", "sleep 100", turn=1)
    project.add("one")
    with project.running() as run:
        [agent] = until(lambda: project.turns("one"))
        os.kill(wrapper_of(agent), signal.SIGKILL)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.outcomes("one") == ["stalled", "completed"] and project.orphans() == []


def test_two_agents_never_live_on_one_bead_when_only_the_wrapper_dies(project: Scripted) -> None:
    both = """read -r other _ <"$BOOK/one.turns"
    grep -q 'State:.[^Z]' "/proc/$other/status" && touch "$BOOK/two-live"
    work"""
    project.does("one", "trap '' TERM; touch \"$BOOK/on\"; while :; do sleep 0.2; done", turn=1)
    project.does("one", both, turn=2)
    project.configure("grace_seconds = 1", "grace_seconds = 0.2\nagent_minutes = 0.08")
    project.add("one")
    with project.running() as run:
        until(project.flag("on").exists)
        [agent] = project.turns("one")
        os.kill(wrapper_of(agent), signal.SIGKILL)
        out, _ = run.communicate(timeout=90)
    assert run.returncode == 0, out
    assert not project.flag("two-live").exists() and not lives(agent)
    assert project.status("one") == "done"


def test_a_validation_outlives_its_daemon(project: Scripted) -> None:
    slow = f"sh -c 'echo x >>{project.book}/checks; while [ ! -e {project.book}/go ]; do sleep 0.05; done; echo 1..0'"
    project.configure(
        'name = "test"\ncommand = "sh tests/run.sh"', f'name = "slow"\nkind = "build"\ncommand = "{slow}"'
    )
    project.add("one")
    with project.running() as first:
        until(project.flag("checks").exists)
        first.kill()
        first.wait()
        project.flag("go").touch()
        project.nobrakes("run")
    assert project.flag("checks").read_text() == "x\n", "the check ran once"
    assert project.status("one") == "done" and project.orphans() == []


def test_a_check_that_is_killed_is_nobodys_fault(project: Scripted) -> None:
    slow = f"echo x >>{project.book}/checks; [ -e {project.book}/go ] || sleep 100"
    project.configure(
        'name = "test"\ncommand = "sh tests/run.sh"', f'name = "slow"\nkind = "build"\ncommand = "{slow}"'
    )
    project.add("one")
    with project.running() as run:
        until(project.flag("checks").exists)

        def is_over() -> bool:
            """Kills each check that has begun: with the work, and on main."""
            for line in project.orphans():
                pid, _, argv = line.partition(": ")
                if argv.split() == ["sleep", "100"]:
                    with suppress(ProcessLookupError):
                        os.kill(int(pid), signal.SIGKILL)
            return run.poll() is not None

        until(is_over)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 40, out
    assert [e["type"] for e in project.open()] == ["broken_checks"]
    assert project.show("one")["failures"] == 0
    project.flag("go").touch()
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--retry")
    project.nobrakes("run")
    assert project.status("one") == "done" and len(project.turns("one")) == 1


def test_the_daemon_in_the_background(project: Scripted) -> None:
    project.does("one", WAITS)
    project.does("two", "nobrakes agent done blocked --blockers 'Which colour?'")
    first = project.ask("daemon", "start")["pid"]
    try:
        project.add("one", "two")
        [agent] = until(lambda: project.turns("one"))
        os.kill(first, signal.SIGKILL)
        until(lambda: not project.ask("daemon", "status")["running"])
        second = project.ask("daemon", "start")["pid"]
        third = project.ask("daemon", "restart")["pid"]
        assert len({first, second, third}) == 3 and lives(agent)
        project.flag("go").touch()
        until(lambda: project.status("one") == "done")
        until(lambda: project.open())
    finally:
        project.nobrakes("daemon", "stop")
    assert project.ask("daemon", "status") == {"running": False, "pid": None}
    log = (project.folder / ".nobrakes" / "daemon.log").read_text()
    assert "question" in log and "Which colour?" in log
    assert project.turns("one") == [agent] and project.orphans() == []


def test_ctrl_c_keeps_the_work_and_a_second_run_finishes(project: Scripted) -> None:
    project.does("one", 'echo begun >begun; commit "Begun"; echo more >more; touch "$BOOK/on"; sleep 100', turn=1)
    project.does("one", 'cp begun more "$BOOK"; work', turn=2)
    project.add("one")
    with project.running() as run:
        until(project.flag("on").exists)
        run.send_signal(signal.SIGINT)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 130, out
    assert project.orphans() == []
    assert project.outcomes("one") == ["interrupted"] and project.show("one")["failures"] == 0
    project.nobrakes("run")
    assert project.status("one") == "done"
    assert project.flag("begun").read_text() == "begun\n" and project.flag("more").read_text() == "more\n"
    assert project.git("show", "main:begun") == "begun\n"
