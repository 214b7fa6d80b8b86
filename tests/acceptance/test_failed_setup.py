"""A set-up that fails is told as that, with its first error, and blames main and agents for nothing."""

from contextlib import closing
from pathlib import Path

import pytest

from nobrakes.daemon.service.control import TROUBLE
from nobrakes.store import open_store
from tests.support.scripted import Scripted, until
from tests.support.without_root import without_roots_rights

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
    assert said.count(f"! {SAID}") == 1 and said.count(SAID) == 2 and "fix `setup`" in said
    assert "fails its checks" not in said and "main is red" not in said and "`format`" not in said
    project.nobrakes("run", expect=40)
    (asked,) = project.open()
    assert asked["type"] == "broken_checks" and asked["title"].startswith("the set-up (`setup`) failed on main at")
    assert f"setup: broken: {SAID}" in asked["detail"] and asked["detail"].count("npm error code") == 2
    assert [project.show(one)["attempts"] for one in ("one", "two")] == [[], []]
    assert project.events("main_frozen") == []
    tried = project.nobrakes("init", "--trial").stdout
    assert SAID in tried and "the checks could not run on main" in tried and "does not pass its checks" not in tried


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
    set_up(project, "sh needs.sh", f"test ! -e '{gone}' || {{ echo '{BEGINS}\nnode: command not found'; exit 3; }}\n")
    project.add("one")
    project.does("one", f"{GOOD}; touch '{gone}'")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one") == ["completed"] and project.outcomes("one", "reviewer") == ["interrupted"]
    (asked,) = project.open()
    assert asked["type"] == "broken_checks" and SAID in asked["detail"] and "blames no change" in asked["detail"]
    assert '"node: command not found"' in asked["hypothesis"]
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
    assert f"frozen: main cannot be checked ({SAID})" in said and SAID in said and "main is red" not in said
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
    assert project.outcomes("one", "test_writer") == ["interrupted"]
    (asked,) = project.open()
    assert SAID in asked["detail"] and asked["bead"] is None and project.show("one")["failures"] == 0


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
    said = "no test check covers the folder of these tests: tool/tests/test_one.sh. The test checks run in app."
    assert asked["type"] == "broken_checks" and said in asked["detail"] and project.show("one")["failures"] == 0


def break_checks(project: Scripted, gone: Path, how: str) -> None:
    """Let the program of the tests be broken in this way while the flag is there."""
    (project.folder / "tests" / "run.sh").rename(project.folder / "tests" / "real.sh")
    (project.folder / "tests" / "run.sh").write_text(f"if test -e '{gone}'; then {how}; fi\n. tests/real.sh\n")
    project.git("add", "-A")
    project.git("commit", "-qm", "A program for the tests")


MANY = tuple(f"b{number}" for number in range(8))
HOWS = {"not found": "exit 127", "not executable": "exit 126", "killed": "kill -9 $$"}


@pytest.mark.parametrize("how", HOWS.values(), ids=HOWS)
def test_checks_that_cannot_be_run_are_one_question_for_all_reviews(tmp_path: Path, how: str) -> None:
    project = Scripted(tmp_path, doers=8, limits="max_failures = 1")
    gone = project.flag("gone")
    break_checks(project, gone, how)
    for one in MANY:
        project.add(one)
        project.does(one, f"echo {one} >{one}.txt && commit 'More'; touch '{gone}'")
    _asked_once(project, gone)


@pytest.mark.parametrize("how", ["exit 127", "setup"])
def test_checks_that_cannot_be_run_are_one_question_for_all_red_proofs(tmp_path: Path, how: str) -> None:
    project = Scripted(tmp_path, doers=8, limits="max_failures = 1")
    gone = project.flag("gone")
    if how == "setup":
        set_up(project, "sh needs.sh", f"test ! -e '{gone}' || {{ echo '{BEGINS}'; exit 3; }}\n")
    else:
        break_checks(project, gone, how)
    project.plan([{"id": one, "title": one} for one in MANY])
    for one in MANY:
        breaks = f"test -e '{gone}.seen' || touch '{gone}' '{gone}.seen'"
        project.does(one, f"echo 'test -e made-{one}' >tests/test_{one}.sh && commit 'Test'; {breaks}", 1)
        project.does(one, f"test $NOBRAKES_ROLE = doer || exit 0; touch made-{one} && commit 'Made'")
    _asked_once(project, gone)


@pytest.mark.parametrize("writes_tests", [False, True], ids=["review", "red proof"])
def test_a_check_that_kills_its_wrapper_is_asked_about_after_five_runs(tmp_path: Path, writes_tests: bool) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1", more='wall = "none"')
    gone, runs = project.flag("gone"), project.flag("runs")
    break_checks(project, gone, f"echo run >>'{runs}'; kill -9 0")
    project.plan([{"id": "one", "title": "One", "needs_tests": writes_tests}])
    makes = "echo 'test -e made' >tests/test_one.sh" if writes_tests else "touch made"
    project.does("one", f"{makes}; commit 'First'; touch '{gone}'", 1)
    project.does(
        "one", f"if test $NOBRAKES_ROLE = doer; then touch made; else {makes}; fi; commit 'More' --allow-empty"
    )
    before, asked, _ = project.nobrakes("run", expect=40).stdout.partition("! escalation 1: broken_checks")
    assert asked, before
    assert before.count("checks start on") == 5
    assert len(runs.read_text().splitlines()) == 6, "main's own look runs them once"
    assert project.show("one")["failures"] == 0
    gone.unlink()
    project.nobrakes("run")
    assert project.open() == [] and project.status("one") == "done"


def test_checkouts_that_cannot_be_made_are_one_question_though_main_passed_before(tmp_path: Path) -> None:
    project = Trying(tmp_path, limits="max_failures = 1")
    gone = project.flag("gone")
    scratch = project.folder / ".nobrakes" / "scratch"
    for one in MANY[:2]:
        project.add(one)
        project.does(one, f"echo {one} >{one}.txt && commit 'More'; chmod 500 '{scratch}'; touch '{gone}'")
    with without_roots_rights():
        said = project.nobrakes("run", expect=40).stdout
        assert gone.exists() and "main passes its checks" in said
        (asked,) = project.open()
        why = "no checkout could be made for the checks"
        assert asked["type"] == "broken_checks" and asked["bead"] is None and why in asked["detail"]
        assert "Permission denied" in asked["detail"] and "Permission denied" in project.nobrakes("status").stdout
        assert [project.show(one)["failures"] for one in MANY[:2]] == [0, 0]
        scratch.chmod(0o700)
        project.does(MANY[0], "work"), project.does(MANY[1], "work")
        project.nobrakes("run")
    assert project.open() == [] and sorted(project.landed().values()) == sorted(MANY[:2])


@pytest.mark.parametrize("whose", ["repository", "account"])
def test_a_broken_git_configuration_is_told_once_and_blames_nobody(
    tmp_path: Path, whose: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.gitconfig"
    own.write_text("")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(own))
    project = Scripted(tmp_path, limits="max_failures = 1", more='wall = "none"')
    file = project.folder / ".git" / "config" if whose == "repository" else own
    was, go = file.read_text(), project.flag("go")
    for one in MANY[:2]:
        project.add(one)
        project.does(one, f"while test ! -e '{go}'; do sleep 0.1; done; work")
    project.nobrakes("daemon", "start")
    try:
        until(lambda: all(project.turns(one) for one in MANY[:2]))
        file.write_text(was + "[core\n")
        go.touch()
        said = until(lambda: "git does not work in this repository: fatal: bad config line" in _told(project))
        assert said and "git config --list --show-origin" in _told(project)
        until(lambda: "fatal" in _waits(project))  # the daemon met it, too
        for words, code in (("status", 0), ("doctor", 1)):
            told = project.nobrakes(words, expect=code).stdout
            assert told.count("git does not work") == told.count("--show-origin") == 1, told
        assert [project.show(one)["failures"] for one in MANY[:2]] == [0, 0]
        assert {one["type"] for one in project.open()} <= {"broken_environment"} and len(project.open()) <= 1
        file.write_text(was)
        project.nobrakes("providers", "open", "workspaces", expect=None)
        until(lambda: len(project.landed()) == 2, 120.0)
    finally:
        file.write_text(was)
        project.nobrakes("daemon", "stop", expect=None)
        project.kill_orphans()
    assert [project.show(one)["failures"] for one in MANY[:2]] == [0, 0] and project.open() == []


def _waits(project: Scripted) -> str:
    """What the daemon noted of itself."""
    with closing(open_store(str(project.folder / ".nobrakes" / "nobrakes.db"))) as store:
        return store.setting(TROUBLE) or ""


def _told(project: Scripted) -> str:
    """What `status` and `doctor` say."""
    said = project.nobrakes("status").stdout, project.nobrakes("doctor", expect=1).stdout
    return "".join(said) if "fatal" in said[0] else ""


def _asked_once(project: Scripted, gone: Path) -> None:
    """One question names all that wait, nothing counts, no other agent begins, and all goes on once it is mended."""
    project.nobrakes("run", expect=40)
    (asked,) = project.open()
    assert asked["type"] == "broken_checks" and asked["bead"] is None
    assert f"Beads that this problem affects: {', '.join(MANY)}." in asked["detail"]
    assert [project.show(one)["failures"] for one in MANY] == [0] * 8
    turns = sum(len(project.turns(one)) for one in MANY)
    project.nobrakes("run", expect=40)
    assert len(project.open()) == 1 and sum(len(project.turns(one)) for one in MANY) == turns
    assert "main is red" not in project.nobrakes("status").stdout
    gone.unlink()
    project.nobrakes("run")
    assert project.open() == [] and sorted(project.landed().values()) == sorted(MANY)
    assert [project.show(one)["failures"] for one in MANY] == [0] * 8


def test_workspaces_that_cannot_be_made_are_one_question_and_open_by_themselves(tmp_path: Path) -> None:
    project = Scripted(tmp_path, limits="max_failures = 1\nidle_minutes = 0.03")
    gone = project.flag("gone")
    set_up(project, "sh needs.sh", f"test ! -e '{gone}' || {{ echo '{BEGINS}'; exit 3; }}\n")
    gone.touch()
    project.add(*MANY)
    with project.running("--red-main"):
        until(project.open)
        (asked,) = project.open()
        assert (
            asked["bead"] is None and asked["title"] == "nobrakes cannot create a workspace" and SAID in asked["detail"]
        )
        assert f"Beads that this problem affects: {', '.join(MANY)}." in asked["detail"]
        said = project.nobrakes("status").stdout
        assert "nobrakes cannot create a workspace" in said and "nobrakes providers open workspaces" in said
        assert [project.show(one)["failures"] for one in MANY] == [0] * 8
        assert [one for one in MANY if project.turns(one)] == []
        gone.unlink()
        project.nobrakes("providers", "open", "workspaces")
        until(lambda: len(project.landed()) == len(MANY))
    assert project.open() == [] and len(project.ask("escalations", "--all")) == 1, "and it was asked once in all"
