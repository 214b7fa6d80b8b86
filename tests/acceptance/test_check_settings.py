"""What a check may say of itself: where it runs, what it needs, how often, beside what, and where its results are."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted

CHECK = 'command = "sh tests/run.sh"'
SUITE = '<testsuite><testcase classname=\\"a\\" name=\\"{name}\\">{inner}</testcase></testsuite>'


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path)


def add_check(project: Scripted, text: str) -> None:
    project.configure("[limits]", f"[[checks]]\n{text}\n[limits]")


def results(project: Scripted) -> list[dict]:
    return project.ask("review")[-1]["results"]


def test_a_check_runs_in_its_directory_and_a_link_out_of_the_checkout_is_none(
    project: Scripted, tmp_path: Path
) -> None:
    project.does("one", 'mkdir -p app && echo yes >app/there; commit "An app"')
    project.does("two", 'mkdir -p app && echo two >app/two; commit "More"')
    add_check(project, 'name = "app"\nkind = "lint"\ndirectory = "app"\ncommand = "ls | grep -q the.e"')
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done"
    project.configure('directory = "app"', 'directory = "out"')
    (project.folder / "out").symlink_to(tmp_path)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A link of a person's own")
    project.add("two")
    project.nobrakes("run", expect=40)
    waiting = project.open()
    assert [e["type"] for e in waiting] == ["broken_checks"]
    assert "the checkout has no folder out" in waiting[0]["detail"]
    assert "leads out of the checkout" in waiting[0]["detail"]
    assert project.show("two")["failures"] == 0


def test_a_tool_of_another_version_is_nobodys_fault(project: Scripted) -> None:
    tool = project.folder.parent / "bin"
    tool.mkdir()
    (tool / "frob").write_text('#!/bin/sh\necho "frob 1.4.2"\n')
    (tool / "frob").chmod(0o755)
    project.configure(CHECK, f'{CHECK}\ntools = {{ sh-none = "1", python3 = ">=3" }}')
    project.add("one")
    project.nobrakes("run", expect=40)
    assert "the check needs sh-none 1, but sh-none is not installed" in project.open()[0]["detail"]
    assert project.show("one")["failures"] == 0 and project.landed() == {}
    project.configure('sh-none = "1", ', "")
    project.nobrakes("resolve", str(project.open()[0]["id"]), "--retry")
    project.nobrakes("run")
    assert project.status("one") == "done"


def test_a_check_that_is_repeated_passes_at_last_and_each_run_is_shown(project: Scripted) -> None:
    tries = project.flag("tries")
    project.configure(
        CHECK, f'command = "echo x >>{tries}; test $(wc -l <{tries}) -gt 2 && sh tests/run.sh"\nretry = 2'
    )
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done" and project.show("one")["failures"] == 0
    (only,) = results(project)
    assert only["outcome"] == "pass" and [again["outcome"] for again in only["repeated"]] == ["fail", "fail"]


def test_a_check_that_fails_each_time_fails(project: Scripted) -> None:
    tries = project.flag("tries")
    project.configure(CHECK, f'command = "echo x >>{tries}; ! ls src | grep -q on."\nretry = 2\nformat = "exit"')
    project.configure("grace_seconds = 1", "grace_seconds = 1\nmax_failures = 1")
    project.add("one")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one", "reviewer") == ["failed_review"]
    assert len(tries.read_text().split()) == 3 + 1, "three times, which is often enough, and once on main"


def test_parallel_checks_wait_for_each_other(project: Scripted) -> None:
    meet = "d=$(mktemp -u -p . x); touch {own}; until [ -e {other} ]; do sleep 0.02; done"
    for own, other in (("a", "b"), ("b", "a")):
        command = meet.format(own=f"met-{own}", other=f"met-{other}")
        add_check(project, f'name = "{own}"\nkind = "lint"\nparallel = true\ncommand = "{command}"')
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done"
    assert sorted(r["name"] for r in results(project)) == ["a", "b", "test"]


def test_of_parallel_checks_the_one_that_had_its_time_is_named(project: Scripted) -> None:
    for own, minutes in (("slow", 0.02), ("patient", 30)):
        add_check(
            project,
            f'name = "{own}"\nkind = "lint"\nparallel = true\ncommand = "sleep 1000"\ntimeout_minutes = {minutes}',
        )
    project.add("one")
    project.nobrakes("run", expect=40)
    detail = project.open()[0]["detail"]
    assert "slow: broken: the check ran longer than 1 s and was stopped" in detail
    assert "patient: broken: the check was killed before it ended" in detail


def test_results_are_read_from_the_files_that_the_check_wrote(project: Scripted) -> None:
    passing = SUITE.format(name="works", inner="")
    project.configure(
        CHECK, f'command = "mkdir -p out; echo \'{passing}\' >out/a.xml"\nreport = "out/*.xml"\nmin_tests = 1'
    )
    project.does("one", f'mkdir -p out src; echo "{passing}" >out/committed.xml; echo 1 >src/one; commit "Work"')
    project.add("one")
    project.nobrakes("run")
    assert results(project)[0]["counts"] == {"passed": 1, "failed": 0, "skipped": 0}
    failing = SUITE.format(name="works", inner="<failure/>")
    project.configure(passing, failing)
    project.configure("grace_seconds = 1", "grace_seconds = 1\nmax_failures = 1")
    project.add("two")
    project.nobrakes("run", expect=40)
    assert "1 test failed, but the exit code was 0" in project.open()[0]["detail"]


def test_a_check_that_writes_no_report_has_not_run(project: Scripted) -> None:
    project.configure(CHECK, 'command = "true"\nreport = "out/*.xml"')
    project.add("one")
    project.nobrakes("run", expect=40)
    assert "no file that matches out/*.xml contains results in the format junit" in project.open()[0]["detail"]


def test_a_check_that_is_never_cached_runs_in_every_review(project: Scripted) -> None:
    runs = project.flag("runs")
    project.configure(CHECK, f'command = "echo x >>{runs}; sh tests/run.sh"\ncache = "never"')
    project.does("one", 'git commit -q --allow-empty -m "Nothing"; mkdir -p src; echo 1 >src/a; commit "One"')
    project.add("one")
    project.nobrakes("run")
    first = len(runs.read_text().split())
    assert first == 2, "within one review the pass of the very same tree stands; main's tests are counted"
    project.git("reset", "-q", "--hard", "HEAD~1")
    project.does("two", 'mkdir -p src; echo 1 >src/a; commit "The same tree"')
    project.add("two")
    project.nobrakes("run")
    assert project.status("two") == "done" and len(runs.read_text().split()) == 3


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('directory = "/tmp"', "checks.0.directory: must be inside the checkout"),
        ('directory = "a/../.."', "checks.0.directory: must be inside the checkout"),
        ('report = "../*.xml"', "checks.0.report: must be inside the checkout"),
        ("cache = false", "checks.0.cache: Input should be True or 'never'"),
        ("retry = -1", "checks.0.retry: "),
        ('tools = { node = "newest" }', "checks.0.tools: node: 'newest' is not a version: write '>=3.11'"),
        ('tools = { "a b" = "1" }', "checks.0.tools: 'a b' is not the name of a tool"),
        ('format = "xml"', "checks.0.format: "),
        ('kind = "lint"\nreport = "a.xml"', "check 'test': report and format apply only to kind test"),
        ('format = "tap"\nreport = "a.xml"', "check 'test': report needs format junit or auto"),
        ('format = "exit"\nmin_tests = 5', "check 'test': min_tests above 1 needs a format"),
    ],
)
def test_a_mistake_in_a_check_is_named(project: Scripted, text: str, says: str) -> None:
    project.configure(CHECK, f"{CHECK}\n{text}")
    assert says in project.error("config", code=12)["message"]
