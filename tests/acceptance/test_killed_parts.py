"""kill -9 of one process of a run, whichever it is: the run ends soon and rightly, and no work or process is left over.

Silence is no way out here: an agent may be silent for ten minutes, and no test waits so long.
"""

import os
import signal
from pathlib import Path

import pytest

from nobrakes.host import proctable
from tests.support.scripted import Scripted, lives, until

SOON = 20.0

WORKS = """
NAME() { echo $$ >"$BOOK/$1.new"; mv "$BOOK/$1.new" "$BOOK/$1"; }
NAME agent
echo half >half; commit Half
sh -c 'sh -c "echo \\$\\$ >\\"\\$1/grandchild\\"; sleep 300" sh "$1" & echo $$ >"$1/child"; wait' sh "$BOOK" &
child=$!
setsid sh -c 'echo $$ >"$1/detached"; sleep 300' sh "$BOOK" >/dev/null 2>&1 &
until [ -e "$BOOK/go" ]; do sleep 0.05; done
kill $child 2>/dev/null
work
"""
SAYS_SO = 'echo "NOBRAKES: COMPLETED"'
ROLES = ("child", "grandchild", "detached", "agent", "wrapper")


class Parts(Scripted):
    """A project whose first agent has a child, a grandchild and one that has left its session."""

    def play(self, last_words: str = SAYS_SO) -> None:
        self.does("one", WORKS + last_words, turn=1)
        self.does("one", 'cp half "$BOOK/kept-half"; work', turn=2)
        self.add("one")

    def pids(self) -> dict[str, int]:
        """The processes of the run by their roles, once all of them are there."""
        names = ("child", "grandchild", "detached", "agent")
        files = [self.flag(name) for name in names]
        until(lambda: all(file.exists() and file.read_text().endswith("\n") for file in files))
        pids = {name: int(file.read_text()) for name, file in zip(names, files, strict=True)}
        found = proctable.look(pids["agent"])
        recorder = found and proctable.look(found.parent)  # it stands between them, and keeps what the agent says
        assert recorder is not None
        return {**pids, "wrapper": recorder.parent}

    def in_the_end(self, pids: dict[str, int]) -> None:
        """What holds whoever was killed."""
        assert not [role for role, pid in pids.items() if lives(pid)]
        assert self.orphans() == []


@pytest.fixture
def project(tmp_path: Path) -> Parts:
    return Parts(tmp_path)


def ended(project: Parts) -> str | None:
    """How the first attempt ended; None: not yet."""
    return (project.outcomes("one") or [None])[0]


@pytest.mark.parametrize("role", ROLES)
def test_one_process_of_an_agents_run_is_killed(project: Parts, role: str) -> None:
    project.play()
    with project.running() as run:
        pids = project.pids()
        os.kill(pids[role], signal.SIGKILL)
        project.flag("go").touch()
        until(lambda: ended(project), SOON)
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    wanted = ["killed", "completed"] if role == "agent" else ["completed"]
    assert project.outcomes("one") == wanted
    assert project.show("one")["failures"] == len(wanted) - 1
    assert project.status("one") == "done" and project.git("show", "main:half") == "half\n"
    project.in_the_end(pids)


@pytest.mark.parametrize("which", ["wrapper and agent", "process group", "session and what left it"])
def test_a_run_that_is_killed_whole_is_lost_and_counts_for_nothing(project: Parts, which: str) -> None:
    project.play()
    with project.running():
        pids = project.pids()
        if which == "process group":
            os.killpg(os.getpgid(pids["agent"]), signal.SIGKILL)
        else:
            everybody = which == "session and what left it"
            for role in ("wrapper", "agent", *(("child", "grandchild", "detached") if everybody else ())):
                os.kill(pids[role], signal.SIGKILL)
        assert until(lambda: ended(project), SOON) == "lost"
        assert project.show("one")["failures"] == 0 and project.status("one") == "needs_doer"
        assert (project.folder / ".nobrakes" / "workspaces" / "one" / "half").read_text() == "half\n"
        until(lambda: not any(lives(pid) for pid in pids.values()), SOON)
        project.in_the_end(pids)


def test_an_agent_without_its_wrapper_that_says_nothing_is_lost_and_its_commits_stay(project: Parts) -> None:
    project.play(last_words="")
    with project.running():
        pids = project.pids()
        os.kill(pids["wrapper"], signal.SIGKILL)
        project.flag("go").touch()
        assert until(lambda: ended(project), SOON) == "lost"
        assert project.show("one")["failures"] == 0
        until(lambda: not any(lives(pid) for pid in pids.values()), SOON)
    kept = project.folder / ".nobrakes" / "workspaces" / "one"
    assert (kept / "half").exists() and (kept / "src" / "one").exists()


def test_an_agent_without_its_wrapper_that_has_handed_in_is_taken_at_its_word(project: Parts) -> None:
    project.play(last_words="nobrakes agent done completed --summary 'all of it'")
    with project.running() as run:
        pids = project.pids()
        os.kill(pids["wrapper"], signal.SIGKILL)
        project.flag("go").touch()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.outcomes("one") == ["completed"] and project.status("one") == "done"
    project.in_the_end(pids)


@pytest.mark.parametrize("dies", ["before", "after"])
def test_a_wrapper_is_killed_while_no_daemon_looks_or_under_a_later_one(project: Parts, dies: str) -> None:
    """`before` the second daemon starts, or `after`: it is not the parent of what it watches."""
    project.play()
    with project.running() as first:
        pids = project.pids()
        first.kill()
        first.wait()
        if dies == "before":
            os.kill(pids["wrapper"], signal.SIGKILL)
        with project.running() as second:
            until(lambda: project.events("recovered"))
            if dies == "after":
                os.kill(pids["wrapper"], signal.SIGKILL)
            assert lives(pids["agent"])
            project.flag("go").touch()
            until(lambda: ended(project), SOON)
            out, _ = second.communicate(timeout=60)
    assert second.returncode == 0, out
    assert project.outcomes("one") == ["completed"] and project.show("one")["failures"] == 0
    project.in_the_end(pids)


def test_a_wrapper_is_killed_while_the_workspace_is_prepared(project: Parts) -> None:
    script = project.book / "setup.sh"
    script.write_text(f"echo $$ >{project.book}/s.new; mv {project.book}/s.new {project.book}/setup; sleep 300\n")
    project.configure('main = "main"', f'main = "main"\nsetup = "exec sh {script}"')
    project.add("one")
    with project.running():
        until(project.flag("setup").exists)
        setup = proctable.look(int(project.flag("setup").read_text()))
        recorder = setup and proctable.look(setup.parent)
        assert setup is not None and recorder is not None
        os.kill(recorder.parent, signal.SIGKILL)
        assert until(lambda: ended(project), SOON) == "workspace_failed"
        assert project.show("one")["failures"] == 0 and project.orphans() == [] and not lives(setup.pid)


CHECK = """
echo x >>@/checks
echo $$ >@/check.new; mv @/check.new @/check
until [ -e @/go ]; do sleep 0.05; done
echo 1..0
"""


@pytest.mark.parametrize("down", [False, True], ids=["alone", "with-its-check"])
def test_a_validation_whose_wrapper_is_killed_is_done_again_and_nobody_is_asked(project: Parts, down: bool) -> None:
    script = project.book / "check.sh"
    script.write_text(CHECK.replace("@", str(project.book)))
    project.configure(
        'name = "test"\ncommand = "sh tests/run.sh"', f'name = "slow"\nkind = "build"\ncommand = "exec sh {script}"'
    )
    project.add("one")
    with project.running() as run:
        until(project.flag("check").exists)
        check = proctable.look(int(project.flag("check").read_text()))
        recorder = check and proctable.look(check.parent)  # it stands between them, and bounds what the check says
        assert check is not None and recorder is not None
        for pid in (recorder.parent, *([recorder.pid, check.pid] if down else [])):
            os.kill(pid, signal.SIGKILL)
        until(lambda: len(project.flag("checks").read_text().split()) == 2, SOON)
        assert not lives(check.pid), "nobody would see its exit code"
        project.flag("go").touch()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.status("one") == "done" and project.ask("escalations", "--all") == []
    assert project.orphans() == [] and not list((project.folder / ".nobrakes" / "scratch").glob("*"))


def test_a_check_that_always_takes_its_wrapper_with_it_is_brought_to_a_person(project: Parts) -> None:
    script = project.book / "check.sh"
    script.write_text(f"echo x >>{project.book}/checks; read -r _ _ _ up _ </proc/$PPID/stat; kill -9 $up $PPID $$\n")
    project.configure('mode = "none"', 'mode = "none"\nwall = "none"')  # behind a wall it could not
    project.configure(
        'name = "test"\ncommand = "sh tests/run.sh"', f'name = "slow"\nkind = "build"\ncommand = "exec sh {script}"'
    )
    project.add("one")
    project.nobrakes("run", expect=40)
    assert [e["type"] for e in project.open()] == ["broken_checks"] and project.show("one")["failures"] == 0
    ran = len(project.flag("checks").read_text().split())
    assert ran == 6, "four times with the work; main by itself, before and after it is frozen"
