"""A main that is decided about elsewhere is red: nothing is brought to it, and all goes on when it is mended there."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until
from tests.support.team import Team

CHECK = 'command = "sh tests/run.sh"'
RED = 'command = "(test ! -e broken || ls goo? || exit 1) && sh tests/run.sh"'


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path)
    made.configure(CHECK, RED)
    made.hub.push({"broken": "x\n"})
    made.add("one")
    yield made
    made.hub.close_down()


needs_gh = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")


@needs_gh
def test_the_next_run_sees_that_people_mended_it(team: Team) -> None:
    said = team.run_on()
    assert "main is red" in said and not team.hub.open_ones(), said
    assert [one["type"] for one in team.open()] == ["main_red"] and team.show("one")["failures"] == 0
    team.run_on()
    assert team.status("one") == "needs_review", "it is as red as it was"
    team.hub.push({"good": "x\n"})
    said = team.run_on()
    assert team.status("one") == "reviewing" and len(team.hub.open_ones()) == 1, said
    assert team.open() == [] and len(team.turns("one")) == 1


@needs_gh
def test_a_daemon_at_work_sees_that_people_mended_it(team: Team) -> None:
    team.does("long", 'until [ -e "$BOOK/go" ]; do sleep 0.1; done; work')
    team.add("long")
    with team.running():
        until(lambda: bool(team.open()), 60)
        team.hub.push({"good": "x\n"})
        until(lambda: bool(team.hub.open_ones()), 60)
    assert len(team.turns("one")) == 1


@pytest.mark.parametrize("hours", [0, 24])
def test_who_pushes_to_a_remote_goes_on_when_others_mended_it(tmp_path: Path, hours: int) -> None:
    project = Scripted(tmp_path)
    remote, theirs = tmp_path / "remote.git", tmp_path / "theirs"
    subprocess.run(["git", "clone", "-q", "--bare", str(project.folder), str(remote)], check=True)
    project.git("remote", "add", "origin", str(remote))
    project.configure(CHECK, RED)
    settings = f'[review]\nland = "remote"\nmain_check_hours = {hours}\npoll_seconds = 1\n'
    project.config.write_text(project.config.read_text() + settings)

    def push(name: str) -> None:
        for command in (f"echo x >{name}", "git add -A", f"git commit -qm {name}", "git push -q origin HEAD:main"):
            subprocess.run(["sh", "-c", command], cwd=theirs, check=True)

    subprocess.run(["git", "clone", "-q", str(remote), str(theirs)], check=True)
    push("broken")
    project.does("long", 'until [ -e "$BOOK/go" ]; do sleep 0.1; done; work')
    project.add("one", "long")
    with project.running():
        until(lambda: bool(project.open()), 60)
        assert [one["type"] for one in project.open()] == ["main_red"]
        push("good")
        until(lambda: project.status("one") == "done", 90, project.waits)
    assert project.open() == []
    assert project.git("ls-remote", "origin", "main").split()[0] == project.show("one")["merged_commit"]


@needs_gh
def test_a_repair_is_asked_for_while_main_is_red(team: Team) -> None:
    team.run_on()
    team.does("fix", "echo x >good; commit Mended")
    team.plan([{"id": "fix", "title": "Mend main", "type": "repair", "needs_tests": False}])
    said = team.run_on()
    assert [one["head"]["ref"] for one in team.hub.open_ones()] == ["repair/bead-fix"], said
    team.hub.merge(1)
    said = team.run_on()
    assert team.status("fix") == "done" and team.status("one") == "reviewing", said
    assert team.open() == [] and len(team.hub.open_ones()) == 1


@needs_gh
def test_what_is_taken_back_while_main_is_red_is_asked_for(team: Team) -> None:
    """The request of one broke main with what others merged beside it."""
    team.hub.push({"good": "x\n"})
    team.configure("|| exit 1)", "|| exit 1) && ! ls src/on? besid?")
    team.run_on()
    team.hub.merge(1)
    team.run_on()
    team.hub.push({"beside": "x\n"})
    team.add("two")
    team.run_on()
    assert [one["type"] for one in team.open()] == ["main_red"] and not team.hub.open_ones()
    team.nobrakes("undo", "one", "--yes")
    said = team.run_on()
    assert len(team.hub.open_ones()) == 1, said
    team.hub.merge(2)
    said = team.run_on()
    assert team.open() == [] and team.status("two") == "reviewing", said
    assert team.show("one")["held"] and team.hub.git("ls-tree", "--name-only", "-r", "main", "src/one") == ""


@needs_gh
def test_a_daemon_that_found_main_red_from_the_start_sees_that_people_mended_it(team: Team) -> None:
    team.git("pull", "-q", "origin", "main")
    team.nobrakes("daemon", "start")
    try:
        until(lambda: team.open() or "does not pass" in team.nobrakes("status").stdout, 60)
        assert not team.turns("one")
        team.hub.push({"good": "x\n"})
        until(lambda: bool(team.hub.open_ones()), 60)
    finally:
        team.nobrakes("daemon", "stop")


@needs_gh
def test_an_epic_that_brings_a_repair_is_asked_for_while_main_is_red(team: Team) -> None:
    team.run_on()
    team.config.write_text(team.config.read_text() + '[review.features.shop]\nunit = "epic"\n')
    team.nobrakes("add", "The shop", "--id", "shop", "--type", "epic")
    team.does("fix", "echo x >good; commit Mended")
    team.plan([{"id": "fix", "title": "Mend main", "type": "repair", "needs_tests": False, "epic": "shop"}])
    said = team.run_on()
    assert [one["head"]["ref"] for one in team.hub.open_ones()] == ["feature/shop"], said
    team.hub.merge(1)
    said = team.run_on()
    assert team.status("fix") == "done" and team.status("one") == "reviewing", said
