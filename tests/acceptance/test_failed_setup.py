"""A set-up that fails is told as that, with its first error, and blames main and agents for nothing."""

from pathlib import Path

from tests.support.scripted import Scripted

BEGINS = "npm warn deprecated left-pad\nnpm error code ENOENT\nnpm error A complete log is in /nowhere"
SAID = "the set-up (`setup`) failed: npm error code ENOENT"
GOOD = "echo more >>shared && commit 'More'"


class Trying(Scripted):
    """A project whose main is tried, as it is by default."""

    tries_main = True


def set_up(project: Scripted, setup: str, script: str) -> None:
    """Give the project this set-up, and a script `needs.sh` that is committed."""
    (project.folder / "needs.sh").write_text(script)
    project.git("add", "needs.sh")
    project.git("commit", "-qm", "What it needs")
    project.configure('main = "main"', f'main = "main"\nsetup = "{setup}"')


def test_a_setup_that_fails_on_main_is_asked_about_once_and_main_is_not_called_red(tmp_path: Path) -> None:
    project = Trying(tmp_path)
    set_up(project, "sh needs.sh", f"echo '{BEGINS}'; exit 3\n")
    project.plan([{"id": one, "title": one, "needs_tests": False} for one in ("one", "two")])
    said = project.nobrakes("run", expect=40).stdout
    assert said.count(f"! {SAID}") == 1 and said.count(SAID) == 2 and "mend `setup`" in said
    assert "does not pass its checks" not in said and "main is red" not in said and "`format`" not in said
    project.nobrakes("run", expect=40)
    (asked,) = project.open()
    assert asked["type"] == "broken_checks" and asked["title"].startswith("the set-up (`setup`) failed on main at")
    assert f"setup: broken: {SAID}" in asked["detail"] and asked["detail"].count("npm error code") == 2
    assert [project.show(one)["attempts"] for one in ("one", "two")] == [[], []]
    assert project.events("main_frozen") == []
    tried = project.nobrakes("init", "--trial").stdout
    assert SAID in tried and "no check was started on main" in tried and "does not pass its checks" not in tried


def test_a_setup_that_fails_with_a_branch_only_is_the_branchs(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1")
    set_up(project, "sh needs.sh", f"if grep -q broken shared; then echo '{BEGINS}'; exit 3; fi\n")
    project.add("one")
    project.does("one", "echo broken >>shared && commit 'Break it'")
    project.nobrakes("run", expect=40)
    (review,) = (a for a in project.show("one")["attempts"] if a["role"] == "reviewer")
    assert review["outcome"] == "failed_review" and SAID in review["detail"]
    assert project.landed() == {} and project.events("main_frozen") == []


def test_a_setup_that_fails_on_main_too_blames_no_branch(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1")
    gone = project.flag("gone")
    set_up(project, "sh needs.sh", f"test ! -e '{gone}' || {{ echo '{BEGINS}'; exit 3; }}\n")
    project.add("one")
    project.does("one", f"{GOOD}; touch '{gone}'")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one") == ["completed"] and project.outcomes("one", "reviewer") == ["interrupted"]
    (asked,) = project.open()
    assert asked["type"] == "broken_checks" and SAID in asked["detail"] and "none is blamed" in asked["detail"]
    assert asked["bead"] is None and project.show("one")["failures"] == 0


def test_a_setup_that_fails_for_every_review_is_one_question_and_they_go_on_once_it_passes(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1")
    gone = project.flag("gone")
    set_up(project, "sh needs.sh", f"test ! -e '{gone}' || {{ echo '{BEGINS}'; exit 3; }}\n")
    beads = ("one", "two", "three")
    for one in beads:
        project.add(one)
        project.does(one, f"echo {one} >{one}.txt && commit 'More'; touch '{gone}'")
    project.nobrakes("run", expect=40)
    (asked,) = project.open()
    assert asked["type"] == "broken_checks" and asked["bead"] is None and "failed on main" in asked["title"]
    said = project.nobrakes("status").stdout
    assert SAID in said and "main is red" not in said
    project.nobrakes("resolve", str(asked["id"]), "--dismiss", "--note", "seen")
    said = project.nobrakes("status").stdout
    assert "frozen: the set-up (`setup`) fails on main at" in said and SAID in said and "main is red" not in said
    gone.unlink()
    project.nobrakes("run")
    assert project.open() == [] and sorted(project.landed().values()) == sorted(beads)
    assert [project.show(one)["failures"] for one in beads] == [0, 0, 0]


def test_a_setup_that_fails_in_the_red_proof_and_without_the_tests_blames_no_test_writer(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1")
    gone = project.flag("gone")
    set_up(project, "sh needs.sh", f"test ! -e '{gone}' || {{ echo '{BEGINS}'; exit 3; }}\n")
    project.plan([{"id": "one", "title": "One"}])
    project.does("one", f"echo 'test -e made' >tests/test_one.sh && commit 'Test'; touch '{gone}'")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one", "test_writer") == ["broken_checks"]
    assert SAID in project.open()[0]["detail"] and project.show("one")["failures"] == 0


def test_tests_where_no_check_looks_are_a_persons_question(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1")
    for folder in ("app", "tool"):
        (project.folder / folder / "tests").mkdir(parents=True)
        (project.folder / folder / "tests" / "test_begin.sh").write_text("true\n")
        (project.folder / folder / "tests" / "run.sh").write_text((project.folder / "tests" / "run.sh").read_text())
    project.git("add", "-A")
    project.git("commit", "-qm", "Two parts")
    project.configure('command = "sh tests/run.sh"', 'command = "sh tests/run.sh"\ndirectory = "app"')
    project.plan([{"id": "one", "title": "One"}])
    project.does("one", "echo 'test -e made' >tool/tests/test_one.sh && commit 'Test'")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one", "test_writer") == ["broken_checks"]
    (asked,) = project.open()
    said = "no check runs in a folder that holds these tests: tool/tests/test_one.sh. The test checks run in app."
    assert asked["type"] == "broken_checks" and said in asked["detail"] and project.show("one")["failures"] == 0
