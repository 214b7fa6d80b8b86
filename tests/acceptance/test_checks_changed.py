"""A branch that changes what decides whether work is good: a person sees the difference and decides."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted

CHECK = 'command = "sh tests/run.sh"'


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def asked(project: Scripted) -> dict:
    (one,) = project.open()
    assert one["type"] == "checks_changed"
    return one


@pytest.mark.parametrize(
    ("path", "play"),
    [
        ("Makefile", "echo 'all:' >Makefile; work"),
        (".github/workflows/ci.yml", "mkdir -p .github/workflows; echo on >.github/workflows/ci.yml; work"),
        ("pyproject.toml", "printf '[tool.pytest.ini_options]\\naddopts = \"--deselect x\"\\n' >pyproject.toml; work"),
        ("package.json", 'echo \'{"scripts": {"test": "true"}}\' >package.json; work'),
        ("argparse.py", "echo 'import os' >argparse.py; work"),
        ("_pytest/__init__.py", "mkdir _pytest; echo 1 >_pytest/__init__.py; work"),
        ("a.egg-info/entry_points.txt", "mkdir a.egg-info; echo '[pytest11]' >a.egg-info/entry_points.txt; work"),
        ("src/evil.pth", "mkdir -p src; echo 'import os' >src/evil.pth; work"),
        ("web/.npmrc", "mkdir web; echo x >web/.npmrc; work"),
        ("Cargo.toml", "printf '[lib]\\ntest = false\\n' >Cargo.toml; work"),
        ("scripts/lint.sh", "mkdir -p scripts; echo true >scripts/lint.sh; work"),
    ],
)
def test_a_person_is_shown_the_difference_and_nothing_lands(project: Scripted, path: str, play: str) -> None:
    project.configure("[limits]", '[[checks]]\nname = "lint"\nkind = "lint"\ncommand = "sh scripts/lint.sh"\n[limits]')
    (project.folder / "scripts").mkdir()
    (project.folder / "scripts" / "lint.sh").write_text("! grep -r BAD src\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A linter")
    project.does("one", play)
    project.add("one")
    project.nobrakes("run", expect=40)
    one = asked(project)
    assert project.landed() == {} and project.status("one") == "escalated"
    assert project.outcomes("one", "reviewer") == ["checks_changed"] and project.show("one")["failures"] == 0
    shown = project.nobrakes("escalation", str(one["id"])).stdout
    assert f"+++ b/{path}" in shown and f"nobrakes resolve {one['id']} --approve" in shown
    assert any(
        line.startswith("+") and not line.startswith("+++") for line in one["evidence"]["difference"].splitlines()
    )


def test_what_is_accepted_goes_on_with_that_very_head_and_a_later_one_asks_again(project: Scripted) -> None:
    project.does("one", "echo 'first:' >Makefile; work", turn=1)
    project.does("one", "echo 'second:' >Makefile; work", turn=2)
    project.does("one", "echo 'second:' >Makefile; work", turn=3)
    project.add("one")
    project.nobrakes("run", expect=40)
    first = asked(project)
    project.nobrakes("resolve", str(first["id"]), "--retry", "--note", "Name it second")
    project.nobrakes("run", expect=40)
    second = asked(project)
    assert "Name it second" in project.prompt("one", 2)
    assert second["evidence"]["head"] != first["evidence"]["head"] and "+second:" in second["evidence"]["difference"]
    project.nobrakes("resolve", str(second["id"]), "--approve", "--note", "good")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.git("show", "main:Makefile") == "second:\n"
    assert len(project.turns("one")) == 2, "nobody had to do it again"
    assert project.show("one")["attempts"][-1]["outcome"] == "completed"
    # another bead's change is asked about, whatever was accepted before
    project.does("two", "echo 'third:' >Makefile; work")
    project.add("two")
    project.nobrakes("run", expect=40)
    asked(project)


def test_a_scaffolding_bead_changes_gates_and_its_review_tells_which(project: Scripted) -> None:
    project.does("one", "echo 'all:' >Makefile; work")
    project.add("one", scaffolding=True)
    project.nobrakes("run")
    assert project.status("one") == "done"
    assert project.ask("review")[0]["gates"] == ["Makefile"]
    assert "changes protected files: Makefile" in project.nobrakes("review").stdout


def test_an_agent_cannot_accept_its_own_change(project: Scripted) -> None:
    project.does("one", "echo 'all:' >Makefile; work", turn=1)
    project.does("one", 'nobrakes resolve 1 --approve; echo $? >"$BOOK/refused"; work', turn=2)
    project.add("one")
    project.nobrakes("run", expect=40)
    project.nobrakes("resolve", str(asked(project)["id"]), "--retry")
    project.nobrakes("run")
    assert project.flag("refused").read_text().strip() == "17"
    assert "Makefile" not in project.git("ls-tree", "--name-only", "main").split()


def test_only_a_plan_or_a_change_of_the_checks_is_approved(project: Scripted) -> None:
    project.configure(CHECK, 'command = "no-such-program-at-all"')
    project.add("one")
    project.nobrakes("run", expect=40)
    done = project.nobrakes("resolve", str(project.open()[0]["id"]), "--approve", expect=None)
    assert done.returncode and "is not about a single bead" in done.stderr and "--retry | --dismiss" in done.stderr


def test_a_list_of_dependencies_alone_does_not_stall_the_night(project: Scripted) -> None:
    project.does("one", 'echo \'{"dependencies": {"left": "^1.0"}}\' >package.json; work')
    project.does("two", "printf '[dependencies]\\nserde = \"1\"\\n' >Cargo.toml; work")
    project.add("one", "two")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.status("two") == "done"


def test_by_setting_a_person_is_asked_of_dependencies_too(project: Scripted) -> None:
    project.config.write_text(project.config.read_text() + '\n[boundaries]\ndependencies = "asked"\n')
    project.does("one", 'echo \'{"dependencies": {"left": "^1.0"}}\' >package.json; work')
    project.add("one")
    project.nobrakes("run", expect=40)
    assert "left" in asked(project)["evidence"]["difference"]
