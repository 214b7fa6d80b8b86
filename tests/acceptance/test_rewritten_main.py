"""A person amends, rebases or resets main while nobrakes works: nobody is blamed for it, and nothing comes back.

1. What the person changed is theirs: it is no part of the work that began on what main was before.
2. The work is built anew on what main is now, and no attempt is counted for it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.scripted import Scripted, until

GATED = """touch "$BOOK/begun.$turn"; while [ ! -e "$BOOK/go.$turn" ]; do sleep 0.05; done; work"""
TESTED = f"""
if [ $NOBRAKES_ROLE = test_writer ]; then
    touch "$BOOK/begun.$turn"; while [ ! -e "$BOOK/go.$turn" ]; do sleep 0.05; done
    echo 'test -e src/one' >tests/test_one.sh; commit "Tests"
else
    {GATED}
fi
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Scripted]:
    yield begun(tmp_path)


def begun(folder: Path) -> Scripted:
    """A project in which a person has two commits on main."""
    project = Scripted(folder, doers=1)
    person(project, "other", "two\n")
    person(project, "third", "three\n")
    return project


def person(project: Scripted, name: str, text: str, *how: str) -> None:
    (project.folder / name).write_text(text)
    project.git("add", name)
    project.git("commit", "-q", "-m", "By a person", *how)


def amend(project: Scripted) -> None:
    person(project, "third", "three, amended\n", "--amend")
    assert (project.folder / "third").read_text() == "three, amended\n"


def rebase(project: Scripted) -> None:
    """Every commit of main is another one, the first as well."""
    project.git("rebase", "-q", "--root", "--exec", "git commit -q --amend --no-edit --reset-author --date=@1")


def drop(project: Scripted) -> None:
    project.git("reset", "-q", "--hard", "HEAD~1")
    assert not (project.folder / "third").exists()


def squashed(project: Scripted) -> None:
    """Both of the person's commits become one, with something else in it."""
    project.git("reset", "-q", "--soft", "HEAD~2")
    person(project, "other", "two and three\n")


def merging(project: Scripted, way: str) -> None:
    """`review.merge`."""
    project.configure("[limits]", f'[review]\nmerge = "{way}"\n[limits]')


WAYS = pytest.mark.parametrize("rewrite", [amend, rebase, drop, squashed])
MERGING = pytest.mark.parametrize("way", ["squash", "rebase"])


def assert_nobody_blamed(project: Scripted, *outcomes: str) -> None:
    """The bead is done by these Doers, and its commit has nothing but its own work."""
    assert project.status("one") == "done", project.nobrakes("history", "one").stdout
    assert project.outcomes("one") == list(outcomes)
    assert not project.open()
    (commit,) = project.landed()
    assert set(project.git("show", "--format=", "--name-only", commit).split()) <= {"src/one", "tests/test_one.sh"}
    project.nobrakes("verify")
    project.nobrakes("doctor")


@WAYS
@MERGING
def test_while_a_doer_works(project: Scripted, rewrite: Callable[[Scripted], None], way: str) -> None:
    merging(project, way)
    project.does("one", GATED)
    project.add("one")
    with project.running() as run:
        until(project.flag("begun.1").exists)
        rewrite(project)
        there = project.git("ls-tree", "-r", "main")
        project.flag("go.1").touch()
        assert run.wait(timeout=60) == 0
    assert_nobody_blamed(project, "completed")
    assert set(there.splitlines()) < set(project.git("ls-tree", "-r", "main").splitlines())


@WAYS
def test_before_a_doer_goes_on_with_a_kept_branch(project: Scripted, rewrite: Callable[[Scripted], None]) -> None:
    project.does("one", "mkdir -p src; echo half >src/one; commit Half; exit 3", turn=1)
    project.does("one", GATED)
    project.add("one")
    with project.running() as run:
        until(project.flag("begun.2").exists)
        rewrite(project)
        project.flag("go.2").touch()
        assert run.wait(timeout=60) == 0
    assert project.status("one") == "done"
    assert "boundary" not in project.outcomes("one")


@WAYS
@pytest.mark.parametrize("turn", [1, 2])
def test_with_tests_of_its_own(project: Scripted, rewrite: Callable[[Scripted], None], turn: int) -> None:
    """While the tests are written, and while a Doer works on the proven ones."""
    project.does("one", TESTED)
    project.add("one", needs_tests=True)
    project.flag(f"go.{3 - turn}").touch()
    with project.running() as run:
        until(project.flag(f"begun.{turn}").exists)
        rewrite(project)
        project.flag(f"go.{turn}").touch()
        assert run.wait(timeout=60) == 0
    assert_nobody_blamed(project, "completed")
    assert project.outcomes("one", "test_writer") == ["completed"]


@WAYS
def test_between_the_proven_tests_and_a_doer(project: Scripted, rewrite: Callable[[Scripted], None]) -> None:
    project.does("one", TESTED)
    project.add("one", needs_tests=True)
    project.flag("go.2").touch()
    with project.running() as run:
        until(project.flag("begun.1").exists)
        project.nobrakes("pause")
        project.flag("go.1").touch()
        until(lambda: project.outcomes("one", "test_writer") == ["completed"])
        rewrite(project)
        project.nobrakes("resume")
        if run.wait(timeout=60) != 0:
            project.nobrakes("run")
    assert_nobody_blamed(project, "completed")


@WAYS
@MERGING
def test_during_a_review(project: Scripted, rewrite: Callable[[Scripted], None], way: str) -> None:
    merging(project, way)
    go, reviewed = project.flag("go"), project.flag("reviewed")
    wait = f"touch {reviewed}; while [ ! -e {go} ]; do sleep 0.05; done; sh tests/run.sh"
    project.configure('"sh tests/run.sh"', f'"{wait}"')
    project.add("one")
    with project.running() as run:
        until(reviewed.exists)
        until(lambda: project.outcomes("one") == ["completed"])
        rewrite(project)
        go.touch()
        assert run.wait(timeout=60) == 0
    assert_nobody_blamed(project, "completed")


def test_done_beads_that_a_reset_takes_off_main_are_told(project: Scripted) -> None:
    """By `doctor`, `status` and each start, until they are back."""
    project.add("one", "two")
    project.nobrakes("run")
    commit = {bead: commit for commit, bead in project.landed().items()}
    project.git("reset", "-q", "--hard", "HEAD~2")
    for told in ("doctor", "status", "run"):
        said = project.nobrakes(told, expect=None).stdout
        for word in ("one (", "two (", commit["one"][:12], "nobrakes reopen BEAD", "git cherry-pick COMMIT"):
            assert word in " ".join(said.split()), f"{told}: {said}"
    assert {"one", "two"} == {bead for bead in ("one", "two") if bead in project.ask("status")["off_main"]}
    project.git("cherry-pick", commit["one"])
    said = " ".join(project.nobrakes("doctor", expect=None).stdout.split())
    assert f"two ({commit['two'][:12]})" in said and "one (" not in said, "it is back, as another commit"
    project.nobrakes("reopen", "two")
    project.nobrakes("run")
    assert project.status("two") == "done" and (project.folder / "src" / "two").exists()
    for told in ("doctor", "status", "run"):
        assert "does not contain" not in project.nobrakes(told, expect=None).stdout
