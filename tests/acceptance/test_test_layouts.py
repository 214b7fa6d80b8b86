"""Whose the tests are in layouts of every kind: a Doer cannot empty them, and an honest Test Writer may write them."""

from pathlib import Path

import pytest

from tests.support.scripted import Scripted

UNITTEST = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(1, 1)\n"
LAYOUTS = {
    "django": ({"manage.py": "", "polls/models.py": "", "polls/tests.py": UNITTEST}, "polls/tests.py"),
    "maven": (
        {"pom.xml": "<project/>", "src/test/java/FooTest.java": "class FooTest {}"},
        "src/test/java/FooTest.java",
    ),
    ".net": ({"a.sln": "", "A.Tests/A.Tests.csproj": "<Project/>", "A.Tests/Help.cs": "class H {}"}, "A.Tests/Help.cs"),
    "monorepo": ({"pkg/tests/test_a.py": UNITTEST, "pkg/tests/helpers.py": "A = 1"}, "pkg/tests/helpers.py"),
    "ruby": ({"Gemfile": "", "app/spec/a_spec.rb": "", "app/spec/fixtures/a.yml": "a: 1"}, "app/spec/fixtures/a.yml"),
    "elixir": ({"mix.exs": "", "apps/a/test/a_test.exs": "x"}, "apps/a/test/a_test.exs"),
    "dart": ({"pubspec.yaml": "", "packages/a/test/a_test.dart": "x"}, "packages/a/test/a_test.dart"),
    "perl": ({"Makefile.PL": "", "t/a.t": "ok 1"}, "t/a.t"),
    "bats": ({"checks/a.bats": "@test x"}, "checks/a.bats"),
    "node": ({"package.json": "{}", "test.js": "require('assert')(1)"}, "test.js"),
}


def put(project: Scripted, files: dict[str, str]) -> None:
    for path, text in files.items():
        whole = project.folder / path
        whole.parent.mkdir(parents=True, exist_ok=True)
        whole.write_text(text)
    project.git("add", "-A")
    project.git("commit", "-q", "-m", "A layout")


@pytest.fixture
def project(tmp_path: Path) -> Scripted:
    return Scripted(tmp_path, limits="max_failures = 1")


def test_a_doer_cannot_empty_the_tests_of_any_layout(project: Scripted) -> None:
    for number, (files, path) in enumerate(LAYOUTS.values()):
        put(project, files)
        project.does(f"b{number}", f"echo '# nothing' >{path}; work")
    project.add(*(f"b{number}" for number in range(len(LAYOUTS))))
    project.nobrakes("run", expect=40)
    for number, (_, path) in enumerate(LAYOUTS.values()):
        (attempt,) = (a for a in project.show(f"b{number}")["attempts"] if a["role"] == "doer")
        assert attempt["outcome"] == "boundary", path
        assert f"{path}: the Doer does not change tests (boundaries.tests" in attempt["detail"]
    assert project.landed() == {}


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"django/test/client.py": "A = 1", "tests/test_all.py": UNITTEST}, "django/test/client.py"),
        ({"package.json": "{}", "src/features/x.tsx": "1", "src/features/x.test.tsx": "1"}, "src/features/x.tsx"),
        ({"src/jinja/tests.py": "def test_odd(n):\n    return n % 2\n"}, "src/jinja/tests.py"),
    ],
)
def test_what_is_only_called_like_a_test_is_a_doers(project: Scripted, files: dict[str, str], path: str) -> None:
    put(project, files)
    project.does("one", f"echo 'B = 2' >>{path}; work")
    project.add("one")
    project.nobrakes("run")
    assert project.status("one") == "done"


def test_a_doer_cannot_make_a_test_anything_else_by_what_it_moves(project: Scripted) -> None:
    put(project, {"pom.xml": "<project/>", "src/test/java/FooTest.java": "class FooTest {}"})
    project.does("one", "git rm -q pom.xml; echo x >src/test/java/FooTest.java; work")
    project.add("one")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one") == ["boundary"]


@pytest.mark.parametrize(
    ("mark", "path"),
    [
        ("pom.xml", "src/test/java/FooTest.java"),
        ("pyproject.toml", "tests/helpers.py tests/test_foo.py"),
        ("manage.py", "polls/tests.py"),
        ("mix.exs", "test/foo_test.exs"),
        ("package.json", "src/__tests__/foo.js"),
        ("Gemfile", "spec/foo_spec.rb"),
    ],
)
def test_an_honest_test_writer_is_taken_in_every_layout(project: Scripted, mark: str, path: str) -> None:
    put(project, {mark: "# x\n"})
    first = path.split()[-1]
    lines = "; ".join(f"mkdir -p $(dirname {one}); printf '{UNITTEST!r}' | tr -d \"'\" >{one}" for one in path.split())
    play = lines.replace(repr(UNITTEST), UNITTEST.replace("\n", "\\n"))
    project.plan([{"id": "foo", "title": "Foo", "needs_tests": True}])
    project.does("foo", f"{play}; commit 'Tests'")
    project.nobrakes("run", expect=40)
    (attempt,) = (a for a in project.show("foo")["attempts"] if a["role"] == "test_writer")
    assert attempt["outcome"] == "not_red", (first, attempt["detail"])  # taken in, and run


def test_of_a_changed_snapshot_a_person_is_asked_with_the_difference(project: Scripted) -> None:
    put(project, {"package.json": "{}", "src/a.test.js": "1", "src/__snapshots__/a.test.js.snap": "exports.a = 1\n"})
    project.does("one", "echo 'exports.a = 2' >src/__snapshots__/a.test.js.snap; work")
    project.add("one")
    project.nobrakes("run", expect=40)
    (asked,) = project.open()
    assert asked["type"] == "checks_changed" and "+exports.a = 2" in asked["evidence"]["difference"]
    project.nobrakes("resolve", str(asked["id"]), "--approve")
    project.nobrakes("run")
    assert project.status("one") == "done"


def test_a_test_writers_own_snapshots_and_fixtures_are_not_asked_about(project: Scripted) -> None:
    put(project, {"pyproject.toml": ""})
    writes = (
        "mkdir -p tests/__snapshots__; echo 'raise SystemExit(1)' >tests/conftest.py; echo a >tests/__snapshots__/a"
    )
    fails = "printf '#!/bin/sh\\necho not ok 1 - new\\necho 1..1\\nexit 1\\n' >tests/test_new.sh"
    project.plan([{"id": "one", "title": "One", "needs_tests": True}])
    project.does("one", f"{writes}; {fails}; commit 'Tests'")
    project.nobrakes("run", expect=40)
    assert project.outcomes("one", "test_writer")[0] != "boundary"


def test_an_explicit_setting_wins(project: Scripted) -> None:
    text = project.config.read_text()
    project.config.write_text(text + '\n[boundaries]\ntests = ["proofs/**"]\n')
    put(project, {"proofs/a.txt": "a", "polls/tests.py": UNITTEST})
    project.does("one", "echo x >>polls/tests.py; work")
    project.does("two", "echo x >>proofs/a.txt; work")
    project.add("one", "two")
    project.nobrakes("run", expect=40)
    assert project.status("one") == "done" and project.outcomes("two") == ["boundary"]
