"""Agents that are silent, stubborn, busy or many; and a person at the switches while they work."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted, lives, until

WAITS = 'while [ ! -e "$BOOK/go" ]; do sleep 0.05; done; work'
QUICK = "grace_seconds = 0.3\nidle_minutes = 0.05"


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def test_a_silent_agent_has_stalled(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits=QUICK)
    project.does("one", "sleep 100", turn=1)
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one") == ["stalled", "completed"]
    assert project.orphans() == []


@pytest.mark.parametrize(
    "sign",
    [
        'i=0; while [ $i -lt 12 ]; do i=$((i+1)); echo $i >"file-$i"; sleep 0.5; done',
        'i=0; while [ $i -lt 12 ]; do i=$((i+1)); echo "thinking $i"; sleep 0.5; done',
    ],
    ids=["files", "output"],
)
def test_an_agent_that_gives_any_sign_of_life_is_not_silent(tmp_path: Path, sign: str) -> None:
    project = Scripted(tmp_path, limits=QUICK)
    project.does("one", f"{sign}; work")
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one") == ["completed"]


@pytest.mark.slow
@pytest.mark.parametrize("below", ["", "& wait"])
def test_an_agent_that_only_thinks_is_not_silent(tmp_path: Path, below: str) -> None:
    """CPU counts in grains of seconds, so this takes its time."""
    project = Scripted(tmp_path, limits="idle_minutes = 0.3")
    project.does("one", f"(end=$(($(date +%s) + 25)); while [ $(date +%s) -lt $end ]; do :; done) {below}\nwork")
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one") == ["completed"]


def test_an_agent_has_only_so_much_time(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="grace_seconds = 0.3\nagent_minutes = 0.05")
    project.does("one", "while :; do echo still here; sleep 0.1; done", turn=1)
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one") == ["timed_out", "completed"]


STUBBORN = """trap '' TERM INT HUP
setsid sh -c 'trap "" TERM; echo $$ >"$1/grandchild"; while :; do sleep 0.2; done' sh "$BOOK" >/dev/null 2>&1 &
while :; do sleep 0.2; done"""


def test_a_stubborn_tree_is_dead_before_the_bead_is_free(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="grace_seconds = 0.3\nagent_minutes = 0.05")
    looks = """for pid in $(cat "$BOOK/grandchild") $(head -n 1 "$BOOK/one.turns" | cut -d" " -f1); do
        if grep -q 'State:.[^Z]' "/proc/$pid/status"; then touch "$BOOK/two-live"; fi
    done
    work"""
    project.does("one", STUBBORN, turn=1)
    project.does("one", looks, turn=2)
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one") == ["timed_out", "completed"]
    assert not project.flag("two-live").exists()
    assert not lives(int(project.flag("grandchild").read_text())) and project.orphans() == []


def test_a_process_that_an_agent_leaves_behind_is_ended(project: Scripted) -> None:
    left = 'setsid sh -c \'echo $$ >"$1/left"; sleep 300\' sh "$BOOK" >/dev/null 2>&1 &\nuntil [ -e "$BOOK/left" ]; do :; done'
    project.does("one", f"{left}\nwork")
    project.add("one")
    project.nobrakes("run")
    assert project.outcomes("one") == ["completed"] and project.status("one") == "done"
    assert not lives(int(project.flag("left").read_text())) and project.orphans() == []


def test_a_bead_that_is_cancelled_while_somebody_works_on_it(project: Scripted) -> None:
    project.does("one", 'echo kept >kept; commit "Kept"; echo also >also; touch "$BOOK/on"; sleep 100')
    project.add("one", "two")
    with project.running() as run:
        until(project.flag("on").exists)
        [agent] = project.turns("one")
        project.nobrakes("cancel", "one", "--reason", "not now")
        until(lambda: not lives(agent))
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.outcomes("one") == ["cancelled"] and project.status("one") == "cancelled"
    assert list(project.landed().values()) == ["two"]
    kept = project.git("for-each-ref", "--format=%(refname)", "refs/nobrakes/archive").split()
    trees = [project.git("ls-tree", "-r", "--name-only", ref) for ref in kept]
    assert any("kept" in tree for tree in trees) and any("also" in tree for tree in trees), (kept, trees)
    assert not list((project.folder / ".nobrakes" / "workspaces").iterdir())


def test_held_and_deferred_beads_wait(project: Scripted) -> None:
    project.add("held", "later", "free")
    project.nobrakes("hold", "held", "-m", "let me think")
    project.nobrakes("defer", "later", "2099-01-01")
    project.nobrakes("run", expect=None)
    assert (project.status("free"), project.turns("held"), project.turns("later")) == ("done", [], [])
    assert "let me think" in project.nobrakes("ready", "--explain").stdout
    project.nobrakes("release", "held")
    project.nobrakes("run", expect=None)
    assert project.status("held") == "done" and project.turns("later") == []


def test_pause_lets_go_on_what_runs_and_starts_nothing(project: Scripted) -> None:
    project.does("one", WAITS)
    project.add("one", "two")
    project.nobrakes("set", "doers=1")
    with project.running("--forever") as run:
        until(lambda: project.turns("one") or project.turns("two"))
        project.nobrakes("pause")
        project.flag("go").touch()
        until(lambda: "completed" in project.outcomes("one") + project.outcomes("two"))
        assert len(project.turns("one") + project.turns("two")) == 1
        assert project.landed() == {}
        project.nobrakes("resume")
        until(lambda: project.status("one") == project.status("two") == "done")
        run.terminate()
        run.communicate(timeout=60)
    assert run.returncode == 130


def test_stop_ends_the_agents_and_keeps_their_work(project: Scripted) -> None:
    project.does("one", 'echo half >half; touch "$BOOK/on"; sleep 100', turn=1)
    project.does("one", 'cp half "$BOOK/half"; work', turn=2)
    project.add("one")
    with project.running("--forever"):
        until(project.flag("on").exists)
        [agent] = project.turns("one")
        project.nobrakes("stop")
        until(lambda: project.outcomes("one") == ["interrupted"])
        assert not lives(agent) and project.show("one")["failures"] == 0
        assert len(project.turns("one")) == 1
        project.nobrakes("resume")
        until(lambda: project.status("one") == "done")
    assert project.flag("half").read_text() == "half\n"


def test_limits_hold_and_can_be_changed_while_it_runs(tmp_path: Path) -> None:
    project = Scripted(tmp_path, doers=3)
    count = """mkdir "$BOOK/in-$NOBRAKES_BEAD"; ls -d "$BOOK"/in-* | wc -l >>"$BOOK/crowd"
    until [ -e "$BOOK/go" ]; do sleep 0.05; done; rmdir "$BOOK/in-$NOBRAKES_BEAD"; work"""
    ids = [f"b{n}" for n in range(7)]
    for bead in ids:
        project.does(bead, count)
    project.add(*ids)
    with project.running() as run:
        until(lambda: project.flag("crowd").exists() and len(project.flag("crowd").read_text().split()) == 3)
        project.nobrakes("set", "doers=1")
        project.flag("go").touch()
        out, _ = run.communicate(timeout=120)
    assert run.returncode == 0, out
    crowd = [int(number) for number in project.flag("crowd").read_text().split()]
    assert max(crowd[:3]) == 3 and set(crowd[3:]) == {1} and len(crowd) == 7, crowd
