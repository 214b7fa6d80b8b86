"""A filter of git that nobody allowed: one attempt at most, one question with the command to type, and then on."""

import shlex
from pathlib import Path

import pytest

from tests.acceptance.test_strange_repositories import Strange, with_filter
from tests.support.scripted import Scripted, until

ROT = '#!/bin/sh\nexec tr "$1" "$2"\n'
STRIP = "#!/bin/sh\ngrep -v output || :\n"


def script(folder: Path, name: str, text: str) -> str:
    """A program of the person's own, outside of the repository."""
    path = folder / name
    path.write_text(text)
    path.chmod(0o755)
    return str(path)


@pytest.fixture(params=["encrypts", "strips"])
def project(request: pytest.FixtureRequest, tmp_path: Path) -> Strange:
    """Of the kind of git-crypt, whose text nobody sees and a new file comes under; of nbstripout, a file is changed."""
    project = Strange(tmp_path)
    if request.param == "encrypts":
        rot = script(tmp_path, "rot", ROT)
        with_filter(project, clean=f"{rot} a-z n-za-m", smudge=f"{rot} n-za-m a-z")
        project.does("one", "echo another password >b.secret; commit one")
        return project
    (project.folder / ".gitattributes").write_text("*.nb filter=strip\n")
    (project.folder / "a.nb").write_text("code\n")
    project.git("config", "filter.strip.clean", script(tmp_path, "strip", STRIP))
    project.git("config", "filter.strip.smudge", "cat")
    project.commit()
    project.does("one", "printf 'code\\nmore\\noutput of a run\\n' >a.nb; commit one")
    return project


def typed(project: Scripted, number: int) -> list[list[str]]:
    """The commands of nobrakes that the escalation tells a person to type first."""
    page = project.ask("escalation", str(number))
    lines = [line.split("`")[1] for line in page["mend"] if "`nobrakes config set" in line]
    return [shlex.split(line)[1:] for line in lines]


def name(project: Strange) -> str:
    return "crypt" if (project.folder / "a.secret").exists() else "strip"


def test_one_attempt_and_one_question_that_names_the_filter(project: Strange) -> None:
    project.add("one")
    project.nobrakes("run", expect=None)
    assert len(project.turns("one")) == 1, "no further agent can help"
    (asked,) = project.open()
    assert asked["type"] == "filter_not_allowed" and name(project) in asked["title"]
    assert project.ask("show", "one")["failures"] == 0, "it is nobody's failure"
    page = " ".join(project.nobrakes("escalation", str(asked["id"])).stdout.split())
    assert f"the filter '{name(project)}'" in page and "nobrakes may not run" in page
    assert "the test boundary" not in page and "likely cause" not in page
    for command in typed(project, asked["id"]):
        project.nobrakes(*command)
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done" and not project.open(), project.nobrakes("escalations").stdout
    assert len(project.turns("one")) == 2, "it went on by itself"
    if name(project) == "crypt":
        assert project.git("show", "main:b.secret") == "nabgure cnffjbeq\n"
    else:
        assert project.git("show", "main:a.nb") == "code\nmore\n"


@pytest.mark.parametrize("touches", ["{path}", "*.{ending}", "README.md,{path}"])
def test_no_agent_starts_where_the_bead_names_such_a_file(project: Strange, touches: str) -> None:
    path = "b.secret" if name(project) == "crypt" else "a.nb"
    project.add("one", touches=touches.format(path=path, ending=path[2:]).split(","))
    project.nobrakes("run", expect=None)
    (asked,) = project.open()
    assert project.turns("one") == [] and asked["type"] == "filter_not_allowed"
    project.nobrakes("run", expect=None)
    assert [one["id"] for one in project.open()] == [asked["id"]] and project.turns("one") == []
    for command in typed(project, asked["id"]):
        project.nobrakes(*command)
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done" and len(project.turns("one")) == 1


def test_an_agent_starts_where_a_glob_covers_other_files_too(project: Strange) -> None:
    (project.folder / "src").mkdir(exist_ok=True)
    project.add("one", touches=["**"])
    project.does("one", "work")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done"


def test_a_person_may_let_an_agent_try_it_all_the_same(project: Strange) -> None:
    path = "a.secret" if name(project) == "crypt" else "a.nb"
    project.add("one", touches=[path])
    project.does("one", f"git mv {path} moved-{path}; commit one")
    project.nobrakes("run", expect=None)
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--retry")
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done"


def test_a_question_stays_until_its_filter_is_allowed(project: Strange) -> None:
    project.add("one")
    project.nobrakes("run", expect=None)
    project.nobrakes("run", expect=None)
    assert len(project.open()) == 1 and len(project.turns("one")) == 1


def test_a_scaffolding_bead_that_brings_a_filter_asks_too(tmp_path: Path) -> None:
    project = Strange(tmp_path)
    project.commit()
    project.add("one", scaffolding=True)
    project.add("two")
    for bead in ("one", "two"):
        project.does(bead, "mkdir a; echo '* filter=mine' >a/.gitattributes; echo x >a/b; commit mine")
    project.nobrakes("run", expect=None)
    found = {one["bead"]: one["type"] for one in project.open()}
    assert found == {"one": "filter_not_allowed", "two": "repeated_failure"} and len(project.turns("one")) == 1


def test_a_filter_that_main_got_while_the_agent_worked_is_no_conflict(tmp_path: Path) -> None:
    project = Strange(tmp_path)
    project.commit()
    project.add("one")
    project.does("one", "touch $BOOK/begun; while [ ! -e $BOOK/go ]; do sleep 0.05; done; echo x >b.secret; commit one")
    with project.running():
        until(project.flag("begun").exists)
        with_filter(project)
        project.flag("go").touch()
        until(lambda: project.status("one") == "escalated")
    (asked,) = project.open()
    assert asked["type"] == "filter_not_allowed" and "crypt" in asked["title"]
    project.nobrakes("run", expect=None)
    assert len(project.open()) == 1 and len(project.turns("one")) == 1
    for command in typed(project, asked["id"]):
        project.nobrakes(*command)
    project.nobrakes("run", expect=None)
    assert project.status("one") == "done" and project.git("show", "main:b.secret") == "k\n"


def test_what_an_agent_may_not_change_is_its_failure_also_beside_a_filter(project: Strange) -> None:
    project.add("one")
    project.does("one", "mkdir .husky; echo x >.husky/a; echo x >>a.nb; echo x >>b.secret; commit one")
    project.nobrakes("run", expect=None)
    (asked,) = project.open()
    assert asked["type"] == "repeated_failure" and ".husky/a" in str(asked)


@pytest.mark.parametrize(
    ("clean", "says"),
    [("printf '\\033[31mno key\\n' >&2; exit 3", "exited with code 3: no key"), ("absent_program", "absent_program")],
)
def test_an_allowed_filter_that_fails_is_the_machines_fault(tmp_path: Path, clean: str, says: str) -> None:
    project = Strange(tmp_path)
    with_filter(project)
    works = project.git("config", "filter.crypt.clean")
    project.git("config", "filter.crypt.clean", clean)
    project.nobrakes("config", "set", "git.filters", "crypt")
    project.add("one")
    project.does("one", "echo x >b.secret; commit one")
    for _ in range(2):
        project.nobrakes("run", expect=None)
        (asked,) = project.open()
        assert asked["type"] == "merge_held_up" and "a git filter fails" in asked["title"]
        page = " ".join(project.nobrakes("escalation", str(asked["id"])).stdout.split())
        assert "b.secret" in page and says in page and "\x1b" not in page and "same lines" not in page
        assert "git config --get-regexp" in page and "passed" not in page
    assert project.ask("show", "one")["failures"] == 0
    project.git("config", "filter.crypt.clean", works)
    project.nobrakes("run")
    assert project.status("one") == "done" and not project.open() and len(project.turns("one")) == 1
    assert project.git("show", "main:b.secret") == "k\n"
