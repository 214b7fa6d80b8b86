"""Which files a check's command names, and of which changes a person is asked."""

import pytest

from nobrakes.config.settings import Config, parse
from nobrakes.core.beads.bead import Role
from nobrakes.core.checks.contract import Check
from nobrakes.core.policy.boundaries import Boundary, Change, gate_changes, violations
from nobrakes.core.policy.protected_files import named

FILE, GONE = "100644", "000000"


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("sh scripts/check.sh", "scripts/check.sh"),
        ("./scripts/check.sh --all", "scripts/check.sh"),
        ("python3 tools/lint.py src", "tools/lint.py"),
        ("make -f build/Foo.mk test", "build/Foo.mk"),
        ("make -fbuild/Foo.mk", "build/Foo.mk"),
        ("ruff check --config=cfg/lint.toml .", "cfg/lint.toml"),
        ("CI=1 true && (sh a/b.sh; false) | tee out.txt", "a/b.sh"),
        ("bash -c 'set -e; sh scripts/inner.sh \"$@\"' x", "scripts/inner.sh"),
        ("cd tools && python3 lint.py", "tools/lint.py"),
        ("cd tools; cd deep; sh x.sh", "tools/deep/x.sh"),
        ("python3 -m tools.lint", "tools/lint.py"),
        ("python3 -m tools", "tools/__main__.py"),
        ("python3 -m pytest -q", "pytest.py"),  # a file of that name would be run instead
        ("sh 'unclosed scripts/x.sh", "scripts/x.sh"),
        ("tools/py/bin/python -m pytest", "tools/py/bin"),  # a link in its place leads elsewhere
        ("tools/py/bin/python -m pytest", "tools"),
        ("cd web/app && npm test", "web/app"),
        ("sh $PWD/scripts/check.sh", "scripts/check.sh"),
        ('sh "${ROOT}/scripts/check.sh"', "scripts/check.sh"),
        ('"$(git rev-parse --show-toplevel)/scripts/check.sh" -q', "scripts"),
    ],
)
def test_a_command_names_files(command: str, names: str) -> None:
    assert names in named("", [Check("x", command)]) and names in named(command, [])


def test_a_command_names_files_from_its_directory() -> None:
    check = Check("x", "sh check.sh ../shared/all.sh ../../out.sh", directory="app/web")
    assert {"app/web/check.sh", "app/shared/all.sh", "out.sh"} <= named("", [check])
    assert not any(path.startswith("..") for path in named("", [Check("x", "sh ../x.sh")]))


def test_the_folder_of_a_check_is_named_with_every_folder_above_it() -> None:
    assert {"app", "app/web"} <= named("", [Check("x", "npm test", directory="app/web")])


def test_what_a_link_on_the_way_leads_to_is_named() -> None:
    config = parse('[[checks]]\nname = "t"\ncommand = "tools/py/bin/run all && sh check"\n', "x")
    links = {"tools/py": "../mine", "mine/bin": "deep", "check": "ci/check.sh", "out": "../../etc", "round": "round"}
    tree = frozenset((*links, "mine/deep/run", "ci/check.sh", "mine/other"))
    boundary = config.boundary({}, tree, links.get)
    for path in ("mine", "mine/bin", "mine/deep", "mine/deep/run", "ci/check.sh", "tools/py"):
        assert gate_changes([Change(path, FILE, FILE)], boundary), path
    assert not gate_changes([Change("mine/other", FILE, FILE), Change("mine/deep/x", GONE, FILE)], boundary)


BOUNDARY = Boundary(
    ("tests/**",), ("Makefile", ".githooks/**", "conftest.py"), frozenset({"ci/run.sh", "tests/all.sh"})
)


def changed(*paths: str) -> list[Change]:
    return [Change(path, FILE, FILE) for path in paths]


@pytest.mark.parametrize(
    ("path", "asked", "refused"),
    [
        ("Makefile", True, False),
        ("makefile", True, False),
        ("ci/run.sh", True, False),
        ("CI/Run.sh", True, False),
        ("src/a.py", False, False),
        ("tests/all.sh", False, True),  # a test, and of tests nobody is asked
        ("tests/conftest.py", True, True),
        (".githooks/pre-commit", False, True),
        (".nobrakes/config.toml", False, True),
    ],
)
def test_of_gates_a_person_is_asked_and_tests_and_hooks_are_refused(path: str, asked: bool, refused: bool) -> None:
    assert bool(gate_changes(changed(path), BOUNDARY)) is asked
    assert bool(violations(Role.DOER, changed(path), BOUNDARY, asks=True)) is refused


def test_of_a_gate_section_a_person_is_asked() -> None:
    change = [Change("pyproject.toml", FILE, FILE, sections=("tool.pytest",))]
    assert gate_changes(change, BOUNDARY) == change
    assert violations(Role.DOER, change, BOUNDARY, asks=True) == []
    assert violations(Role.TEST_WRITER, change, BOUNDARY)


@pytest.mark.parametrize("path", ["uv.lock", "web/package-lock.json", "go.sum"])
def test_lock_files_are_gates_by_setting(path: str) -> None:
    with_locks = parse("[boundaries]\nlock_files = true", "config.toml").boundary()
    assert gate_changes(changed(path), with_locks) and not gate_changes(changed(path), Config().boundary())


def test_the_boundary_of_a_config_knows_what_its_checks_name() -> None:
    config = parse('setup = "sh prepare.sh"\n[[checks]]\nname = "a"\ncommand = "sh run.sh"\ndirectory = "app"', "x")
    assert gate_changes(changed("prepare.sh", "app/run.sh", "run.sh"), config.boundary()) == changed(
        "prepare.sh", "app/run.sh"
    )
