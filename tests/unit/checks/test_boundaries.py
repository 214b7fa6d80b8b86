"""Agents cannot escape: what each role may change, checked on the tree that it hands in."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nobrakes import globs as globs_module
from nobrakes.beads.model import Role
from nobrakes.checks.policy.boundaries import Boundary, gate_changes, may_write, violations
from nobrakes.config.settings import Config
from nobrakes.git.port import GITLINK, SYMLINK, Change
from nobrakes.globs import matches

BOUNDARY = Config().boundary()
FILE, GONE = "100644", "000000"


@pytest.mark.parametrize(
    ("glob", "covers", "leaves"),
    [
        ("tests/**", ["tests/a.py", "tests/a/b/c.py", "tests"], ["test/a.py", "src/tests/a.py", "testsuite/a.py"]),
        ("**/tests/**", ["tests/a.py", "a/b/tests/c.py"], ["a/test.py"]),
        ("src/**/test.py", ["src/test.py", "src/a/b/test.py"], ["test.py", "src/a/test.pyc"]),
        ("src/*/test.py", ["src/a/test.py"], ["src/test.py", "src/a/b/test.py"]),
        ("*_test.go", ["a_test.go", "pkg/a_test.go"], ["a_test.go.txt", "test.go"]),
        ("test_?.py", ["test_a.py", "x/test_b.py"], ["test_ab.py", "test_.py"]),
        ("*.test.*", ["a.test.js", "web/a.test.tsx"], ["a.tests.js", "test.js"]),
        ("docs", ["docs", "docs/a.md", "x/docs/a.md"], ["docs.md", "adocs"]),
        ("docs/", ["docs/a.md"], ["docs.md"]),
        ("a.b", ["a.b"], ["axb"]),
        ("/a.js", ["a.js"], ["x/a.js"]),
        ("/docs/", ["docs/a.md"], ["x/docs/a.md"]),
        ("a+(b)", ["a+(b)"], ["aab"]),
        ("", [], ["a", "a/b"]),
    ],
)
def test_globs(glob: str, covers: list[str], leaves: list[str]) -> None:
    assert [path for path in covers if not matches(path, [glob])] == []
    assert [path for path in leaves if matches(path, [glob])] == []


def test_a_doer_writes_code_and_a_test_writer_writes_tests() -> None:
    for path in ("src/shop.py", "README.md", "contest/latest.py"):
        assert may_write(Role.DOER, path, BOUNDARY) is None
        assert "boundaries.tests" in str(may_write(Role.TEST_WRITER, path, BOUNDARY))
    for path in ("tests/test_shop.py", "web/cart.test.ts", "pkg/pay_test.go", "tests"):
        assert may_write(Role.TEST_WRITER, path, BOUNDARY) is None
        assert "boundaries.tests" in str(may_write(Role.DOER, path, BOUNDARY))


@pytest.mark.parametrize("path", ["Makefile", "makefile", ".github/workflows/ci.yml", ".mcp.json"])
@pytest.mark.parametrize("role", [Role.DOER, Role.TEST_WRITER])
def test_a_gate_is_changed_by_scaffolding_beads_only(role: Role, path: str) -> None:
    why = may_write(role, path, BOUNDARY)
    assert why is not None and why.startswith("this file is protected")
    assert may_write(role, path, BOUNDARY, scaffolding=True) is None


def test_fixtures_of_tests_are_the_test_writers_though_they_are_gates() -> None:
    assert may_write(Role.TEST_WRITER, "tests/conftest.py", BOUNDARY) is None
    assert may_write(Role.TEST_WRITER, "conftest.py", Boundary(("tests/**",), ("conftest.py",))) is not None
    why = may_write(Role.DOER, "tests/conftest.py", BOUNDARY)
    assert why is not None and why.startswith("this file is protected")


@pytest.mark.parametrize("path", ["web/__snapshots__/a.test.js.snap", "tests/golden/a.txt", "pkg/testdata/x.golden"])
def test_of_a_recorded_outcome_a_person_is_asked_and_nobody_is_refused(path: str) -> None:
    boundary = Boundary(("**/__snapshots__/**", "tests/**", "**/testdata/**"))
    change = Change(path, FILE, FILE)
    assert gate_changes([change], boundary) == [change]
    assert violations(Role.DOER, [change], boundary, asks=True) == []
    assert violations(Role.TEST_WRITER, [change], boundary) == []
    assert gate_changes([change], Boundary(("elsewhere/**",))) == []


@pytest.mark.parametrize(
    "path",
    [
        ".nobrakes/beads.jsonl",
        ".NoBrakes/config.toml",
        "docs/.nobrakes/config.toml",
        ".git/hooks/pre-commit",
        ".GIT/config",
        "src/.Git/config",
        "GIT~1/config",
        "src/git~12/config",
    ],
)
@pytest.mark.parametrize("scaffolding", [False, True])
def test_nobody_changes_what_git_and_nobrakes_live_on(path: str, scaffolding: bool) -> None:
    assert all(may_write(role, path, BOUNDARY, scaffolding) is not None for role in Role)


def test_names_that_only_resemble_them_are_work() -> None:
    for path in (".gitignore", "src/git/x.py", "git~a/x", "nobrakes/x.py", ".nobrakes2/x"):
        assert may_write(Role.DOER, path, BOUNDARY) is None


def test_every_change_is_looked_at_and_told_in_order() -> None:
    changes = [
        Change("src/a.py", FILE, FILE),
        Change("tests/test_a.py", FILE, GONE),
        Change("Makefile", GONE, FILE),
    ]
    lines = violations(Role.DOER, changes, BOUNDARY)
    assert [line.split(": ")[0] for line in lines] == ["tests/test_a.py", "Makefile"]
    assert violations(Role.DOER, changes, BOUNDARY, scaffolding=True) == []


def test_a_shared_file_may_change_but_not_in_its_gate_sections() -> None:
    work = Change("pyproject.toml", FILE, FILE)
    gate = Change("pyproject.toml", FILE, FILE, sections=("tool.pytest",))
    assert violations(Role.DOER, [work], BOUNDARY) == []
    assert "tool.pytest" in violations(Role.DOER, [gate], BOUNDARY)[0]
    assert violations(Role.DOER, [gate], BOUNDARY, scaffolding=True) == []


@pytest.mark.parametrize(("before", "after"), [(GONE, GITLINK), (GITLINK, GONE), (GITLINK, GITLINK), (FILE, GITLINK)])
def test_submodules_stay_as_they_are_even_for_scaffolding(before: str, after: str) -> None:
    for scaffolding in (False, True):
        assert "submodules" in violations(Role.DOER, [Change("lib", before, after)], BOUNDARY, scaffolding)[0]


@pytest.mark.parametrize(
    "link",
    [
        "/etc/passwd",
        "../../secret",
        "../../../x",
        "a/../../../x",
        "../.git/config",
        "../.NOBRAKES/config.toml",
        "../.git",
    ],
)
def test_links_that_lead_out(link: str) -> None:
    for scaffolding in (False, True):
        change = Change("src/link", GONE, SYMLINK, link)
        assert "points outside" in violations(Role.DOER, [change], BOUNDARY, scaffolding)[0]


@pytest.mark.parametrize("link", ["sibling.py", "../README.md", "./a/../b", "../src/.gitignore"])
def test_links_that_stay(link: str) -> None:
    assert violations(Role.DOER, [Change("src/link", GONE, SYMLINK, link)], BOUNDARY) == []


def test_a_link_in_place_of_the_tests_is_a_change_to_the_tests() -> None:
    assert violations(Role.DOER, [Change("tests", GONE, SYMLINK, "src/easy")], BOUNDARY)


segment = st.text("abcT._*?~-", min_size=1, max_size=6).filter(lambda s: s.strip(".") and "*" not in s and "?" not in s)
paths = st.lists(segment, min_size=1, max_size=5).map("/".join)


@given(paths, st.sampled_from(list(Role)))
def test_no_case_and_no_depth_hides_a_gate(path: str, role: Role) -> None:
    boundary = Boundary(tests=("tests/**",), gates=("Makefile", ".ci/**"))
    for gate in (f"{path}/Makefile", f".ci/{path}", f"{path}/MAKEFILE"):
        assert may_write(role, gate, boundary) is not None


@given(paths, paths)
def test_no_path_is_both_a_doers_and_a_test_writers(path: str, glob: str) -> None:
    boundary = Boundary(tests=(glob, "tests/**"))
    free = [role for role in (Role.DOER, Role.TEST_WRITER) if may_write(role, path, boundary) is None]
    assert len(free) <= 1


@given(paths, st.lists(st.sampled_from(["..", ".", "a", "b", ".git", "x.py"]), min_size=1, max_size=6))
def test_a_link_that_is_let_through_ends_inside(path: str, parts: list[str]) -> None:
    change = Change(path, GONE, SYMLINK, "/".join(parts))
    if violations(Role.DOER, [change], Boundary(tests=())) == []:
        where = path.split("/")[:-1]
        for part in parts:
            if part == "..":
                assert where, "it leaves the repository"
                where.pop()
            elif part != ".":
                where.append(part)
        assert where[:1] != [".git"]


def test_a_list_of_globs_covers_what_one_of_them_does():
    names = ("a", "ab", "b.py", "conftest.py", "test_a.py", "src", "x")
    patterns = (*names, "*.py", "test_*", "a*b", "?b", "**", "a?*", "*")
    drawn = random.Random(7)
    for _ in range(4000):
        path = "/".join(drawn.choice(names) for _ in range(drawn.randint(1, 4)))
        globs = [
            drawn.choice(("", "/")) + "/".join(drawn.choice(patterns) for _ in range(drawn.randint(1, 3)))
            for _ in range(drawn.randint(0, 4))
        ]
        each = [globs_module._covers(globs_module.segments(glob), 0, path.split("/"), 0) for glob in globs]
        assert matches(path, globs) == any(each), (path, globs)
        assert matches(path, globs_module.folded(tuple(glob.upper() for glob in globs))) == any(each), (path, globs)
