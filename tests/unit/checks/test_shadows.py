"""What a branch could plant for a check's interpreter or runner: a person is asked, and nights do not stall."""

from dataclasses import replace

import pytest

from nobrakes.beads.model import Role
from nobrakes.checks.contract import Check
from nobrakes.checks.policy.boundaries import adds_modules, gate_changes, violations
from nobrakes.checks.policy.protected_files import named
from nobrakes.checks.policy.shadows import programs
from nobrakes.config.settings import Config, parse
from nobrakes.git.port import SYMLINK, Change

FILE, GONE = "100644", "000000"
CONFIG = parse('[[checks]]\nname = "t"\ncommand = "PYTHONPATH=lib/python python3 -m pytest"\ndirectory = "app"\n', "x")
TREE = frozenset(("shop/basket.py", "src/own/a.py", "calendar.py", "src/packaging/__init__.py", "tests/test_a.py"))
TEXTS = {"pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["code", "."]\n'}
BOUNDARY = CONFIG.boundary(TEXTS, TREE)


def new(path: str, mode: str = FILE) -> list[Change]:
    return [Change(path, GONE, mode)]


@pytest.mark.parametrize(
    "path",
    [
        "argparse.py", "pluggy.py", "_pytest/__init__.py", "_pytest/python.py", "pytest_evil.py", "src/json.py",
        "app/unittest/__init__.py", "app/src/re.py", "app/lib/python/os.py", "code/coverage/x.py", "xdist.so",
        "iniconfig.cpython-311-x86_64-linux-gnu.so", "hypothesis/a/b.py",
        "evil.egg-info/PKG-INFO", "a/b.dist-info/entry_points.txt", "entry_points.txt", "x.pth", "src/sitecustomize.py",
        "usercustomize.py", ".npmrc", "web/.yarnrc.yml", ".pnpmfile.cjs", "node_modules/jest/index.js", ".mocharc.json",
        "src/setupTests.ts", ".bazelrc", "init.gradle.kts", ".simplecov", ".nvmrc", ".python-version", ".tool-versions",
        ".env", "ruff.toml", "a/.ruff.toml", "mypy.ini", ".flake8", "pytest.ini", ".pytest.ini", "tsconfig.build.json",
        "eslint.config.js", ".eslintrc.json", "biome.json", ".golangci.yml", "clippy.toml", "rustfmt.toml",
        ".cargo/config.toml", "sub/.cargo/config", "nextest.toml", ".config/nextest.toml", "vite.config.ts",
        "babel.config.js", "jest.setup.ts", "karma.conf.js", "playwright.config.ts", "ava.config.js", "deno.jsonc",
        "bunfig.toml", "CMakeLists.txt", "CTestConfig.cmake", "build.gradle.kts", "settings.gradle", "gradle.properties",
        "gradle/wrapper/gradle-wrapper.jar", "Rakefile", ".rspec", "phpunit.xml.dist", ".credo.exs",
        "analysis_options.yaml", "Directory.Build.props", "a.runsettings", "build.rs", "crates/a/build.rs", "meson.build",
        "cmake/Tests.cmake", "src/main/resources/junit-platform.properties",
        "src/main/resources/META-INF/services/org.junit.platform.launcher.TestExecutionListener",
        "lib/Test/More.pm", "lib/TAP/Parser.pm", "lib/minitest.rb", "lib/minitest/spec.rb", "lib/rspec/core.rb",
        "src/main/java/org/junit/jupiter/api/Assertions.java", "app/src/main/kotlin/org/mockito/A.kt",
        "src/main/java/junit/framework/Assert.java",
    ],
)  # fmt: skip
def test_a_person_is_asked_of_what_a_runner_takes_up_by_itself(path: str) -> None:
    assert gate_changes(new(path), BOUNDARY)
    assert violations(Role.DOER, new(path), BOUNDARY, asks=True) == []
    assert violations(Role.DOER, new(path), BOUNDARY, scaffolding=True) == []


@pytest.mark.parametrize(
    "path",
    [
        "shop/argparse.py", "shop/json.py", "src/own/types.py", "argparse.md", "docs/json/a.md", "shop/pytest_like.py",
        "src/packaging/tags.py", "web/src/env.ts", "environment.py", "shop/logging/__init__.py", "pathological.py",
        "rusty.toml", "src/features/ruff.py", "jsonish.py", "lib/Test/Shop.pm", "lib/testing/unit.rb", "lib/rspecial.rb",
        "src/main/java/org/shop/junit/A.java", "src/build.rs.txt", "lib/shop/minitest.rb",
    ],
)  # fmt: skip
def test_ordinary_work_is_not_asked_about(path: str) -> None:
    assert gate_changes(new(path), BOUNDARY) == []


def test_a_link_hides_a_module_as_a_folder_does_and_an_edit_of_an_old_one_does_not() -> None:
    assert gate_changes([Change("_pytest", GONE, SYMLINK, "shop")], BOUNDARY)
    assert not gate_changes([Change("calendar.py", FILE, FILE), Change("json.py", FILE, GONE)], BOUNDARY)


def test_a_repository_that_is_a_test_framework_is_not_asked_about_itself() -> None:
    paths = frozenset(("lib/minitest.rb", "junit/src/main/java/org/junit/Assert.java"))
    own = CONFIG.boundary({}, paths)
    assert not gate_changes(new("lib/minitest/mock.rb"), own) and gate_changes(new("lib/rspec.rb"), own)
    assert not gate_changes(new("junit/src/main/java/org/junit/Rule.java"), own)


def test_lists_of_dependencies_are_asked_about_by_setting_and_other_sections_always() -> None:
    asked = parse('[boundaries]\ndependencies = "asked"\n', "x").boundary()
    lists = Change("package.json", FILE, FILE, dependencies=True)
    other = Change("package.json", FILE, FILE, sections=("scripts",), dependencies=True)
    assert gate_changes([lists, other], Config().boundary()) == [other]
    assert gate_changes([lists, other], asked) == [lists, other]


@pytest.mark.parametrize("name", ["CMakeLists.txt", "meson.build", "Makefile.am", "BUILD.bazel"])
def test_the_list_of_tests_in_their_own_folder_is_the_test_writers(name: str) -> None:
    assert violations(Role.TEST_WRITER, new(f"tests/{name}"), BOUNDARY) == []
    assert violations(Role.TEST_WRITER, new(name), BOUNDARY)
    assert violations(Role.TEST_WRITER, new(f"src/{name}"), BOUNDARY)
    assert violations(Role.DOER, new(f"tests/{name}"), BOUNDARY)


def test_a_test_writers_fixtures_may_be_called_like_gates() -> None:
    for path in ("tests/fixtures/app/tsconfig.json", "tests/fixtures/Makefile"):
        assert violations(Role.TEST_WRITER, new(path), BOUNDARY) == []
    assert violations(Role.TEST_WRITER, new("fixtures/Makefile"), BOUNDARY)


MAKEFILE = "include build/rules.mk\n-include local.mk\ntest: lint\n\tsh scripts/run.sh\nlint:\n\t@python3 tools/lint.py\nship:\n\tsh ship.sh\n"


@pytest.mark.parametrize(
    ("command", "name", "text", "names", "leaves"),
    [
        (
            "make test",
            "Makefile",
            MAKEFILE,
            {"build/rules.mk", "local.mk", "scripts/run.sh", "tools/lint.py"},
            {"ship.sh"},
        ),
        ("npm test", "package.json", '{"scripts": {"test": "node scripts/test.js"}}', {"scripts/test.js"}, set()),
        ("tox", "tox.ini", "[testenv]\ncommands = python ci/run.py\n", {"ci/run.py"}, set()),
        ("just test", "justfile", "import 'more.just'\ntest:\n  sh go.sh\n", {"more.just", "go.sh"}, set()),
        ("npm test", "package.json", "{", set(), set()),
    ],
)
def test_what_a_command_starts_by_a_name_is_named_too(
    command: str, name: str, text: str, names: set[str], leaves: set[str]
) -> None:
    found = named("", [Check("t", command)], {name: text})
    assert names <= found and not leaves & found
    below = named("", [Check("t", command, directory="web")], {f"web/{name}": text})
    assert {f"web/{one}" for one in names} <= below


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("python3 -m pytest -q", ("python3",)),
        ("PYTHONPATH=. .venv/bin/python -m pytest && ruff check .", (".venv/bin/python", "ruff")),
        ("cd api && pytest -q | tee log", ("pytest",)),
        ("uv run pytest", (".venv/bin/python",)),
        ("uv run --frozen -- pytest; true", (".venv/bin/python",)),
        ("make test", ("make",)),
        ("sh 'unclosed", ("sh",)),
        ("", ()),
    ],
)
def test_a_command_tells_whose_interpreter_runs_it(command: str, words: tuple[str, ...]) -> None:
    assert programs([Check("t", command)]) == tuple((word, "") for word in words)
    assert programs([Check("t", command, directory="api")]) == tuple((word, "api") for word in words)


def test_a_new_module_that_hides_an_installed_one_is_asked_about() -> None:
    knowing = replace(BOUNDARY, installed=frozenset({"stripe", "own"}))
    assert gate_changes(new("stripe.py"), knowing) and gate_changes(new("src/stripe/__init__.py"), knowing)
    assert not gate_changes(new("stripe.py"), BOUNDARY) and gate_changes(new("json.py"), knowing)
    assert not gate_changes(new("shop/stripe.py"), knowing) and not gate_changes(new("src/own/b.py"), knowing)


def test_only_new_code_where_a_path_begins_may_hide_a_module() -> None:
    assert adds_modules(new("stripe.py"), BOUNDARY) and adds_modules(new("src/a/b.py"), BOUNDARY)
    assert not adds_modules([Change("stripe.py", FILE, FILE)], BOUNDARY)
    assert not adds_modules(new("README.md"), BOUNDARY) and not adds_modules(new("src/own/c.py"), BOUNDARY)
