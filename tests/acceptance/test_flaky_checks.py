"""Flaky checks: nobody is blamed for them at once, the ledger knows them, and a person may let one fail for a time."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted

CHECK = 'command = "sh tests/run.sh"'


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path, limits="max_failures = 1")


def fails_in_runs(project: Scripted, *runs: int) -> Path:
    """Let the check fail in these of its runs, whatever the tree; the file has a line a run."""
    count = project.flag("runs")
    bad = " ".join(map(str, runs))
    project.configure(
        CHECK,
        f'command = "rm -f tests/fails; echo x >>{count}; n=$(($(wc -l <{count}))); '
        f'for bad in {bad}; do [ $n != $bad ] || touch tests/test_flaky.sh tests/fails; done; sh tests/run.sh"',
    )
    (project.folder / "tests" / "test_flaky.sh").write_text("! [ -e tests/fails ]\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A test that fails at times")
    return count


def runs_of(count: Path) -> int:
    return len(count.read_text().split())


def test_with_flaky_an_unknown_check_that_fails_is_blamed_and_a_known_one_is_asked_again(project: Scripted) -> None:
    project.configure("[agents]", '[review]\nconfirm = "flaky"\n[agents]')
    count = fails_in_runs(project, 1, 4)
    project.add("one")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one", "reviewer") == ["failed_review"], "the ledger knows nothing yet"
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--retry")
    project.does("one", 'git commit -q --allow-empty -m "The same tree"')
    project.nobrakes("run")
    assert project.status("one") == "done"
    (line,) = project.ask("flakes")
    assert (line["check"], line["test"], line["times"]) == ("test", "tests/test_flaky.sh", 1)
    assert line["last"]["bead"] == "one" and len(line["last"]["tree"]) == 40
    before = runs_of(count)
    assert before == 3  # it failed, main passed, and the same tree passed
    project.add("two")
    project.nobrakes("run")
    assert project.status("two") == "done" and project.show("two")["failures"] == 0
    assert runs_of(count) == before + 2, "it failed, and one more run of the same tree passed"
    assert [flake["times"] for flake in project.ask("flakes")] == [2]
    assert "tests/test_flaky.sh" in project.nobrakes("flakes").stdout
    events = project.events("flaked")
    assert len(events) == 2 and {"check", "tests", "tree", "run"} <= set(events[0]["metadata"])


def test_as_installed_what_fails_twice_and_then_passes_is_a_flake_and_blames_nobody(project: Scripted) -> None:
    count = fails_in_runs(project, 1, 2)
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.show("one")["failures"] == 0
    assert runs_of(count) == 4, "red, red, green, and main's own tests were counted"
    assert [flake["test"] for flake in project.ask("flakes")] == ["tests/test_flaky.sh"]
    assert project.nobrakes("verify").returncode == 0


def test_only_what_failed_is_repeated_and_what_passed_stands(project: Scripted) -> None:
    count, lints, builds = fails_in_runs(project, 1, 2), project.flag("lints"), project.flag("builds")
    for kind, runs in (("lint", lints), ("build", builds)):
        project.configure(
            "[limits]", f'[[checks]]\nname = "{kind}"\nkind = "{kind}"\ncommand = "echo x >>{runs}"\n[limits]'
        )
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done"
    assert (runs_of(count), runs_of(lints), runs_of(builds)) == (4, 2, 4), "with a build others may need what it made"
    rows = {row["name"]: row for row in project.ask("review")[-1]["results"]}
    assert rows["lint"]["outcome"] == "pass" and rows["lint"]["reason"].startswith("it passed in the run ")
    assert project.nobrakes("verify").returncode == 0


def test_what_is_red_three_times_is_blamed_and_never_asks_nobody_again(project: Scripted) -> None:
    count = fails_in_runs(project, 1, 2, 3)
    project.add("one")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one", "reviewer") == ["failed_review"]
    assert runs_of(count) == 4, "red three times, and main was looked at"


def test_with_never_one_red_is_enough(project: Scripted) -> None:
    project.configure("[agents]", '[review]\nconfirm = "never"\n[agents]')
    count = fails_in_runs(project, 1)
    project.add("one")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one", "reviewer") == ["failed_review"] and runs_of(count) == 2


def test_a_run_that_was_repeated_is_in_the_ledger(project: Scripted) -> None:
    fails_in_runs(project, 1)
    project.configure("[limits]", "retry = 1\n[limits]")
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done"
    assert "the check passed in run 2, and failed before" in project.nobrakes("review").stdout
    assert [flake["test"] for flake in project.ask("flakes")] == ["tests/test_flaky.sh"]


FLAKY = "tests/test_flaky.sh"


def always_fails(project: Scripted) -> None:
    (project.folder / FLAKY).write_text("false\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A test that fails")


def test_a_quarantined_test_fails_and_blocks_nobody_and_everybody_is_told(project: Scripted) -> None:
    always_fails(project)
    project.nobrakes("quarantine", "test", FLAKY, "--reason", "nb-12 mends it")
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done"
    review = project.nobrakes("review").stdout
    assert f"a person has quarantined what failed: {FLAKY}" in review and "1 failed" in review
    assert project.ask("review")[-1]["results"][0]["quarantined"] == [FLAKY]
    assert f"{FLAKY} of test" in project.nobrakes("status").stdout
    assert project.ask("status")["quarantined"][0]["reason"] == "nb-12 mends it"
    assert project.ask("quarantine")["quarantined"][0]["test"] == FLAKY


def test_another_test_that_fails_beside_it_is_not_let_through(project: Scripted) -> None:
    always_fails(project)
    project.nobrakes("quarantine", "test", FLAKY, "--reason", "nb-12 mends it")
    (project.folder / "tests" / "test_limit.sh").write_text("! [ -e src/one ]\n")
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A test that the work fails")
    project.add("one")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one", "reviewer") == ["failed_review"] and project.landed() == {}


def test_what_passed_in_quarantine_does_not_stand_when_it_is_lifted(project: Scripted) -> None:
    always_fails(project)
    project.nobrakes("quarantine", "test", "--reason", "all of it")
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done"
    project.nobrakes("quarantine", "test", "--lift")
    project.add("two")
    project.nobrakes("run", expect=40)
    assert [e["type"] for e in project.open()] == ["main_red"]


def test_a_quarantine_survives_a_lost_database(project: Scripted) -> None:
    project.nobrakes("quarantine", "test", FLAKY, "--reason", "nb-12 mends it")
    for file in (project.folder / ".nobrakes").glob("nobrakes.db*"):
        file.unlink()
    assert [one["test"] for one in project.ask("quarantine")["quarantined"]] == [FLAKY]
    project.nobrakes("quarantine", "test", FLAKY, "--lift")
    assert project.ask("quarantine")["quarantined"] == []
    assert "nothing is quarantined" in project.nobrakes("quarantine").stdout


def test_an_agent_may_not_quarantine(project: Scripted) -> None:
    project.does("one", 'nobrakes quarantine test -m "let me"; echo $? >"$BOOK/refused"; work')
    project.add("one")
    project.nobrakes("run")
    assert project.flag("refused").read_text().strip() == "17"
    assert project.ask("quarantine")["quarantined"] == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nope", "-m", "x"), "unknown check 'nope'"),
        (("test",), "a quarantine needs a reason"),
        (("test", "--lift"), "the check test is not quarantined"),
        (("--lift",), "name the check to quarantine"),
        (("test", "-m", "x" * 301), "longer than 300 characters"),
    ],
)
def test_a_mistake_is_told(project: Scripted, words: tuple[str, ...], says: str) -> None:
    done = project.nobrakes("quarantine", *words, expect=None)
    assert done.returncode and says in done.stderr and "\n  " in done.stderr
