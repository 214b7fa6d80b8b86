"""A person edits the checks while they run: what ran is judged as it ran, and what merges passed what main has now."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

CHECK = 'command = "sh tests/run.sh"'


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    found = Scripted(tmp_path)
    on, go = found.flag("on"), found.flag("go")
    found.configure(CHECK, f'command = "touch {on}; until [ -e {go} ]; do sleep 0.02; done; sh tests/run.sh"')
    return found


@pytest.mark.parametrize("edit", ["renamed", "another command", "one more"])
def test_checks_edited_while_they_run_are_run_again_and_nobody_is_blamed(project: Scripted, edit: str) -> None:
    project.add("one")
    with project.running() as run:
        until(project.flag("on").exists)
        if edit == "renamed":
            project.configure('name = "test"', 'name = "suite"')
        elif edit == "another command":
            project.configure("sh tests/run.sh", "sh ./tests/run.sh")
        else:
            project.configure("[limits]", '[[checks]]\nname = "style"\nkind = "lint"\ncommand = "true"\n[limits]')
        project.flag("go").touch()
        out, _ = run.communicate(timeout=60)
    assert run.returncode == 0, out
    assert project.status("one") == "done" and not project.open()
    assert project.show("one")["failures"] == 0
    review = project.ask("review")[-1]
    assert [r["outcome"] for r in review["results"]] == ["pass"] * (2 if edit == "one more" else 1)


def test_what_passed_the_checks_of_before_does_not_land_under_stricter_ones(project: Scripted) -> None:
    project.add("one")
    with project.running() as run:
        until(project.flag("on").exists)
        project.configure(
            "[limits]", '[[checks]]\nname = "strict"\nkind = "lint"\ncommand = "! test -e src/one"\n[limits]'
        )
        project.flag("go").touch()
        until(lambda: project.show("one")["failures"])
        run.terminate()
        run.communicate(timeout=60)
    assert project.landed() == {} and project.status("one") != "done"


def test_work_that_waits_for_main_is_checked_again_when_the_checks_became_stricter(project: Scripted) -> None:
    project.flag("go").touch()
    project.does("one", 'echo agent >shared; commit "Change shared"')
    project.add("one")
    (project.folder / "shared").write_text("my own edit\n")
    project.nobrakes("run", expect=40)
    project.configure(
        "[limits]", '[[checks]]\nname = "strict"\nkind = "lint"\ncommand = "! grep agent shared"\n[limits]'
    )
    project.git("checkout", "-q", "shared")
    with project.running() as run:
        until(lambda: project.show("one")["failures"])
        run.terminate()
        run.communicate(timeout=60)
    assert project.landed() == {} and project.git("show", "main:shared") == "nobody was here\n"
