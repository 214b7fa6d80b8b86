"""What kind of project it is, from its files alone."""

import json
import os
import re
import time
import tomllib
from dataclasses import fields

import pytest

from nobrakes.config.editing import TEMPLATE
from nobrakes.config.sections import CheckSettings, Section
from nobrakes.config.settings import Config, parse
from nobrakes.config.setup.detect import detect, make_targets, with_format
from nobrakes.config.setup.init import config_text
from nobrakes.paths import resource
from tests.support.without_root import without_roots_rights


def made(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", ".").replace("_DIR_", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if isinstance(text, str) else json.dumps(text))
    found = detect(str(root))
    return found.setup, [(c.name, c.command) for c in found.checks], found


def test_an_empty_folder(tmp_path):
    assert made(tmp_path)[:2] == ("", [])


@pytest.mark.parametrize(
    ("text", "checks"),
    [
        ("[tool.pytest.ini_options]", [("test", "python3 -m pytest -q")]),
        ('[project]\nname="x"\noptional-dependencies.dev=["pytest>=8"]', [("test", "python3 -m pytest -q")]),
        ('[dependency-groups]\ndev=["pytest", {include-group="x"}]', [("test", "python3 -m pytest -q")]),
        ('[tool.poetry.group.dev.dependencies]\npytest="^8"', [("test", "python3 -m pytest -q")]),
        ("[tool.ruff]\n[tool.mypy]", [("lint", "ruff check ."), ("types", "mypy .")]),
        ("[tool.mypy]\npackages=['x']", [("types", "mypy")]),
        ('[build-system]\nrequires=[]\n[project]\nname="x"\ndependencies=["build"]', [("build", "python3 -m build")]),
        ("not toml [", []),
        ('project = "odd"\ntool = 3', []),
    ],
)
def test_python(tmp_path, text, checks):
    assert made(tmp_path, pyproject__toml=text)[:2] == ("", checks)


def test_unittest_where_there_are_tests_and_no_pytest(tmp_path):
    alone = [("test", "python3 -m unittest discover -v -s tests")]
    assert made(tmp_path, pyproject__toml="", tests_DIR_test_x__py="")[1] == alone
    (tmp_path / "tests" / "__init__.py").write_text("")
    assert made(tmp_path, tests_DIR_test_x__py="")[1] == [("test", "python3 -m unittest -v")]


def test_a_folder_of_tests_without_a_package_or_a_project_file(tmp_path):
    unittest = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
    alone = [("test", "python3 -m unittest discover -v -s tests")]
    assert made(tmp_path, tests_DIR_test_a__py=unittest)[1] == alone
    assert made(tmp_path, tests_DIR_test_b__py="import pytest\n")[1] == [("test", "python3 -m pytest -q")]


def test_tests_within_the_package(tmp_path):
    assert made(tmp_path, setup__py="", shop_DIR_a__py="")[1] == []
    for name in ("__init__.py", "test/__init__.py", "test/test_x.py"):
        path = tmp_path / "shop" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    assert made(tmp_path)[1] == [("test", "python3 -m unittest -v")]


def test_a_django_project_has_its_own_runner(tmp_path):
    files = {"manage__py": "from django.core.management import execute_from_command_line", "polls_DIR_tests__py": ""}
    assert made(tmp_path, requirements__txt="django", **files)[1] == [("test", "python3 manage.py test")]


@pytest.mark.parametrize(
    ("files", "setup", "command", "format_"),
    [
        ({".rspec": "", "Gemfile.lock": ""}, "bundle install", "bundle exec rspec", "ruby"),
        ({"spec/a/b_spec.rb": ""}, "", "rspec", "ruby"),
        ({"Rakefile": "Rake::TestTask.new do |t|\nend\n"}, "", "rake test", "ruby"),
        ({"Rakefile": "Rake::TestTask.new('test:a')\ntask test: ['test:a']\n"}, "", "rake test", "ruby"),
        ({"Makefile.PL": "", "t/a.t": ""}, "", "prove -lrv t", "tap"),
        ({"dist.ini": "", "t/deep/a.t": ""}, "", "prove -lrv t", "tap"),
        ({"pom.xml": "", "mvnw": ""}, "", "./mvnw -B test", "maven"),
        ({"pom.xml": ""}, "", "mvn -B test", "maven"),
        ({"build.gradle.kts": "", "gradlew": ""}, "", "./gradlew test", "auto"),
        (
            {"phpunit.xml.dist": "", "composer.lock": ""},
            "composer install --no-interaction",
            "vendor/bin/phpunit",
            "phpunit",
        ),
        ({"tests/a.bats": ""}, "", "bats -r tests", "tap"),
    ],
)
def test_other_languages(tmp_path, files, setup, command, format_):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = detect(str(tmp_path))
    assert (found.setup, [check.command for check in found.checks]) == (setup, [command])
    assert with_format(str(tmp_path), found.checks[0]).format == format_


@pytest.mark.parametrize(
    "files", [["Gemfile"], ["Rakefile"], ["Makefile.PL"], ["t/a.t"], ["composer.json"], ["spec/a.rb"], ["test/a.sh"]]
)
def test_a_file_that_only_goes_with_a_language_brings_no_check(tmp_path, files):
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    assert detect(str(tmp_path)).checks == ()


def test_dotnet_is_there_where_its_solution_is(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "a.csproj").write_text("Microsoft.NET.Test.Sdk")
    assert detect(str(tmp_path)).checks == ()
    (tmp_path / "all.sln").write_text("")
    assert [check.command for check in detect(str(tmp_path)).checks] == ["dotnet test"]


def test_yarn_from_version_two_has_an_option_of_its_own(tmp_path):
    for name, text in (("package.json", VITEST), ("yarn.lock", ""), (".yarnrc.yml", "")):
        (tmp_path / name).write_text(text)
    assert detect(str(tmp_path)).setup == "yarn install --immutable"


def test_what_a_person_names_is_not_looked_for(tmp_path):
    (tmp_path / "Makefile").write_text("test:\n\tpytest\nlint:\n\truff\n")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    found = detect(str(tmp_path), given={"test"})
    assert ([check.command for check in found.checks], found.notes) == (["make lint"], ())


def test_lock_files_bring_a_setup(tmp_path):
    found = made(tmp_path, pyproject__toml="[tool.pytest.ini_options]\n[tool.ruff]", uv__lock="")
    assert found[:2] == (
        "uv sync --locked --all-extras --all-groups",
        [("test", "uv run pytest -q"), ("lint", "uv run ruff check .")],
    )


UNITTEST = "import unittest\nclass A(unittest.TestCase):\n    def test_a(self): pass\n"
PYTEST = "def test_a():\n    assert 1\n"
VITEST = '{"scripts": {"test": "vitest run"}}'


@pytest.mark.parametrize(
    ("files", "setup", "checks"),
    [
        pytest.param(
            {"package.json": '{"workspaces": ["packages/*"]}', "package-lock.json": "", "packages/a/package.json": VITEST,
             "packages/b/package.json": '{"scripts": {"test": "jest", "lint": "x"}}', "packages/c/package.json": "{}"},
            "npm ci",
            [("a", "packages/a", "npm run test", "vitest"), ("b", "packages/b", "npm run test", "jest")],
            id="npm workspaces",
        ),
        pytest.param(
            {"package.json": VITEST, "packages/a/package.json": VITEST},
            "", [("test", "", "npm run test", "vitest")], id="a script of the top runs all",
        ),
        pytest.param(
            {"pnpm-workspace.yaml": "", "pnpm-lock.yaml": "", "package.json": "{}", "apps/web/package.json": VITEST},
            "pnpm install --frozen-lockfile", [("web", "apps/web", "pnpm run test", "vitest")], id="pnpm",
        ),
        pytest.param(
            {"Cargo.toml": "[workspace]\nmembers = ['a']\n", "Cargo.lock": "", "a/Cargo.toml": "[package]\n"},
            "", [("test", "", "cargo test --workspace --locked", "cargo")], id="cargo",
        ),
        pytest.param(
            {"go.work": "use (\n./a\n./b\n)\n", "a/go.mod": "", "b/go.mod": ""},
            "", [("a", "a", "go test -v ./...", "go"), ("b", "b", "go test -v ./...", "go")], id="go.work",
        ),
        pytest.param(
            {"pyproject.toml": "[tool.uv.workspace]\nmembers = ['packages/*']\n", "uv.lock": "",
             "packages/a/pyproject.toml": "[project]\nname = 'a'\ndependencies = ['pytest']\n",
             "packages/b/pyproject.toml": "", "packages/b/tests/test_b.py": UNITTEST},
            "uv sync --locked --all-extras --all-groups --all-packages",
            [("a", "packages/a", "uv run pytest -q", "pytest"),
             ("b", "packages/b", "uv run python3 -m unittest discover -v -s tests", "unittest")],
            id="uv",
        ),
        pytest.param(
            {"one/poetry.lock": "", "one/pyproject.toml": "[tool.poetry.dev-dependencies]\npytest = '*'\n"},
            "(cd one && poetry install --all-extras)", [("one", "one", "poetry run pytest -q", "pytest")], id="poetry",
        ),
        pytest.param(
            {"packages/api/tests/__init__.py": "", "packages/api/tests/test_b.py": UNITTEST},
            "", [("api", "packages/api", "python3 -m unittest -v", "unittest")], id="no project file at all",
        ),
        pytest.param(
            {"api/tests/test_a.py": UNITTEST, "old/api/tests/test_a.py": UNITTEST, "web/package.json": VITEST},
            "",
            [("api", "api", "python3 -m unittest discover -v -s tests", "unittest"),
             ("api-2", "old/api", "python3 -m unittest discover -v -s tests", "unittest"),
             ("web", "web", "npm run test", "vitest")],
            id="names that are there twice",
        ),
        pytest.param(
            {"pyproject.toml": "[tool.pytest.ini_options]\n", "lib/pyproject.toml": "", "lib/tests/test_a.py": UNITTEST},
            "", [("test", "", "python3 -m pytest -q", "pytest")], id="pytest at the top collects all",
        ),
        pytest.param(
            {"pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n", "lib/tests/test_a.py": UNITTEST},
            "",
            [("test", "", "python3 -m pytest -q", "pytest"),
             ("lib", "lib", "python3 -m unittest discover -v -s tests", "unittest")],
            id="pytest at the top, of one folder",
        ),
        pytest.param(
            {"package.json": VITEST, "examples/x/setup.py": "", "examples/x/tests/test_a.py": UNITTEST,
             "node_modules/y/setup.py": "", "docs/go.mod": "", "testdata/go.mod": "", ".hidden/go.mod": ""},
            "", [("test", "", "npm run test", "vitest")], id="folders that are no packages",
        ),
        pytest.param(
            {"package.json": "{}", "pkg/package.json": VITEST, "pkg/a.test.mjs": "import test from 'node:test'"},
            "", [("pkg", "pkg", "npm run test", "vitest")], id="tests of a package are not the top's",
        ),
        pytest.param(
            {"poetry.lock": "", "pyproject.toml": "[tool.pytest.ini_options]\ntestpaths = ['tests']\n",
             "lib/setup.py": "", "lib/tests/test_a.py": UNITTEST, "own/pyproject.toml": "[tool.pytest]\n"},
            "poetry install --all-extras",
            [("test", "", "poetry run pytest -q", "pytest"),
             ("lib", "lib", "poetry run python3 -m unittest discover -v -s tests", "unittest"),
             ("own", "own", "python3 -m pytest -q", "pytest")],
            id="poetry at the top, which knows no package with a pyproject.toml of its own",
        ),
        pytest.param(
            {"pdm.lock": "", "pyproject.toml": "", "lib/conftest.py": "", "lib/setup.py": ""},
            "pdm sync", [("lib", "lib", "pdm run pytest -q", "pytest")], id="pdm at the top",
        ),
        pytest.param(
            {"uv.lock": "", "pyproject.toml": "", "lib/poetry.lock": "", "lib/pyproject.toml": "[tool.pytest]\n"},
            "uv sync --locked --all-extras --all-groups && (cd lib && poetry install --all-extras)",
            [("lib", "lib", "poetry run pytest -q", "pytest")], id="a lock file of its own goes before the one at the top",
        ),
        pytest.param(
            {"Gemfile": "", "Gemfile.lock": "", "lib/Rakefile": "task :test", "own/Gemfile": "", "own/.rspec": ""},
            "(cd lib && bundle install)",
            [("lib", "lib", "bundle exec rake test", "ruby"), ("own", "own", "rspec", "ruby")], id="a Gemfile at the top",
        ),
        pytest.param(
            {"Gemfile.lock": "", ".rspec": "", "lib/Rakefile": "task :test"},
            "bundle install",
            [("test", "", "bundle exec rspec", "ruby"), ("lib", "lib", "bundle exec rake test", "ruby")],
            id="a Gemfile at the top, whose tests set it up",
        ),
        pytest.param(
            {"-x/pdm.lock": "", "-x/pyproject.toml": "", "-x/-y/test_a.py": UNITTEST},
            "(cd ./-x && pdm sync)",
            [("x", "-x", "pdm run python3 -m unittest discover -v -s ./-y", "unittest")], id="no folder is an option",
        ),
        pytest.param(
            {"a'b $(x)/yarn.lock": "", "a'b $(x)/setup.py": "", "a'b $(x)/`y`;/test_a.py": UNITTEST,
             "a'b $(x)/package.json": VITEST},
            """(cd 'a'"'"'b $(x)' && yarn install --frozen-lockfile)""",
            [("a-b-x-", "a'b $(x)", "python3 -m unittest discover -v -s '`y`;'", "unittest"),
             ("a-b-x--2", "a'b $(x)", "yarn run test", "vitest")], id="no folder is a command",
        ),
        pytest.param({"Makefile": "test:\n\ttrue\n", "a/go.mod": ""}, "", [("test", "", "make test", "auto")], id="make"),
        pytest.param(
            {"pyproject.toml": "[tool.uv]\nworkspace = {members = ['packages/*']}\n[tool.pytest.ini_options]\n",
             "uv.lock": "", "tests/test_a.py": PYTEST, "more/test_b.py": PYTEST,
             "packages/a/pyproject.toml": "", "packages/a/tests/test_a.py": PYTEST,
             "packages/b/pyproject.toml": "", "packages/b/tests/test_a.py": PYTEST},
            "uv sync --locked --all-extras --all-groups --all-packages",
            [("test", "", "uv run pytest -q more tests", "pytest"), ("a", "packages/a", "uv run pytest -q", "pytest"),
             ("b", "packages/b", "uv run pytest -q", "pytest")], id="uv, with pytest at the top",
        ),
        pytest.param(
            {"pyproject.toml": "[tool.uv.workspace]\nmembers = ['a']\n[dependency-groups]\ndev = ['pytest']\n",
             "a/pyproject.toml": "", "a/tests/test_a.py": PYTEST},
            "", [("a", "a", "python3 -m pytest -q", "pytest")], id="uv, without tests at the top",
        ),
        pytest.param(
            {"pyproject.toml": "[tool.uv.workspace]\nmembers = ['libs/*']\n[tool.pytest.ini_options]\n"
             "testpaths = [\n  'tests',\n  'libs/*/tests',\n]\n", "libs/a/pyproject.toml": "",
             "libs/a/tests/test_a.py": PYTEST, "b/test/test_b.py": PYTEST},
            "", [("test", "", "python3 -m pytest -q", "pytest"), ("b", "b", "python3 -m pytest -q", "pytest")],
            id="testpaths that name packages",
        ),
        pytest.param(
            {"package.json": '{"workspaces": ["p/*"], "scripts": {"test": "npm run all", "all": "npm test -ws"}}',
             "p/a/package.json": VITEST},
            "", [("test", "", "npm run test", "auto")], id="a script that runs those of the packages",
        ),
        pytest.param(
            {"package.json": '{"scripts": {"test": "eslint ."}}', "pnpm-workspace.yaml": "packages: ['p/*']\n",
             "p/a/package.json": VITEST},
            "", [("test", "", "npm run test", "auto"), ("a", "p/a", "npm run test", "vitest")],
            id="a script that runs none of the packages",
        ),
        pytest.param(
            {"Cargo.toml": "[workspace]\nmembers = ['a']\nexclude = ['b', 'x']\n", "a/Cargo.toml": "", "b/Cargo.toml": "",
             "c/Cargo.toml": "[workspace]\n", "x/y/Cargo.toml": ""},
            "", [("test", "", "cargo test --workspace", "cargo"), ("b", "b", "cargo test", "cargo"),
                 ("c", "c", "cargo test --workspace", "cargo"), ("y", "x/y", "cargo test", "cargo")],
            id="crates that are not in the workspace",
        ),
        pytest.param(
            {"pom.xml": "", "a/pom.xml": ""},
            "", [("test", "", "mvn -B test", "maven"), ("a", "a", "mvn -B test", "maven")], id="a pom without modules",
        ),
        pytest.param(
            {"settings.gradle.kts": 'include(":a")\n', "a/build.gradle.kts": "", "b/settings.gradle": ""},
            "", [("test", "", "gradle test", "auto"), ("b", "b", "gradle test", "auto")], id="a Gradle build in another",
        ),
    ],
)  # fmt: skip
def test_a_package_has_a_check_of_its_own_where_none_above_covers_it(tmp_path, files, setup, checks):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = detect(str(tmp_path))
    made = [with_format(str(tmp_path), check) for check in found.checks]
    assert (found.setup, [(one.name, one.directory, one.command, one.format) for one in made]) == (setup, checks)
    assert parse(config_text("main", found.setup, made), "x").checks == tuple(made)


@pytest.mark.parametrize(
    ("files", "command", "format_"),
    [
        ({"tests/run.sh": "#!/bin/bash\n# go test\ncd x && python3 -m pytest -q\n"}, "bash tests/run.sh", "pytest"),
        ({"test.sh": "./a.out"}, "sh test.sh", "auto"),
        ({"run_tests.sh": "#! /usr/bin/env -S bash -e\n"}, "bash run_tests.sh", "auto"),
        ({"scripts/test": "#!/usr/bin/env python3\n"}, "python3 scripts/test", "auto"),
        ({"tests/run_all": "#!/bin/sh\n", "ci/test.sh": ""}, "sh ci/test.sh", "auto"),
        ({"tools/run-tests.py": "import unittest\n"}, "python3 tools/run-tests.py", "auto"),
        ({"justfile": "set shell := ['sh']\ntest *args: build\n  go test\n"}, "just test", "auto"),
        ({"Taskfile.yml": "tasks:\n  test:\n    cmds: [x]\n", "test.sh": ""}, "task test", "auto"),
        (
            {"CMakeLists.txt": "project(x)\nenable_testing()\n"},
            "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
            "ctest",
        ),
    ],
)
def test_a_plain_script_is_the_check_where_there_is_no_runner(tmp_path, files, command, format_):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    found = detect(str(tmp_path))
    (check,) = found.checks
    assert (check.name, check.command, with_format(str(tmp_path), check).format) == ("test", command, format_)
    assert found.notes == (f"no test runner was found, so the test check is `{command}`",)
    assert detect(str(tmp_path), given={"test"}).checks == ()
    (tmp_path / "Makefile").write_text("check:\n\ttrue\n")
    assert [check.command for check in detect(str(tmp_path)).checks] == ["make check"]


def test_a_script_that_may_be_run_is_run_by_its_path(tmp_path):
    (tmp_path / "test").mkdir()
    (tmp_path / "test" / "run").write_text("no script")
    assert detect(str(tmp_path)).checks == ()
    (tmp_path / "test" / "run").write_text("#!/bin/sh\n")
    (tmp_path / "test" / "run").chmod(0o755)
    assert [check.command for check in detect(str(tmp_path)).checks] == ["./test/run"]


def test_only_so_many_packages_get_a_check(tmp_path):
    for number in range(25):
        (tmp_path / f"p{number:02}").mkdir()
        (tmp_path / f"p{number:02}" / "go.mod").write_text("")
    found = detect(str(tmp_path))
    assert len(found.checks) == 20
    assert found.notes == ("5 more packages have tests: p20, …",)
    assert detect(str(tmp_path), given={"test"}).checks == ()


def test_no_more_packages_are_set_up_than_have_a_check(tmp_path):
    for number in range(22):
        package = tmp_path / f"p{number:02}"
        package.mkdir()
        (package / "package.json").write_text(VITEST if number else "{}")
        (package / "package-lock.json").write_text("")
    found = detect(str(tmp_path))
    folders = [check.directory for check in found.checks]
    assert found.setup == " && ".join(f"(cd {folder} && npm ci)" for folder in folders)
    assert folders == [f"p{number:02}" for number in range(1, 21)]
    assert found.notes == ("1 more package has tests: p21, …",)


def test_only_so_many_folders_are_examined(tmp_path):
    for number in range(203):
        (tmp_path / f"p{number:03}").mkdir()
        (tmp_path / f"p{number:03}" / "go.mod").write_text("")
    assert detect(str(tmp_path)).notes == (
        "180 more packages have tests: p020, …",
        "nobrakes examined 200 of 203 folders that may be packages",
    )


@pytest.mark.parametrize("name", [b"~x", b"a\nb", b"a\x1bb", b"caf\xe9"])
def test_a_folder_that_no_check_may_have_is_no_package(tmp_path, name):
    folder = os.path.join(os.fsencode(tmp_path), name)
    try:
        os.mkdir(folder)
    except OSError:
        pytest.skip("the file system refuses this name")
    for path, text in ((folder, VITEST), (os.fsencode(tmp_path / "good"), VITEST)):
        os.makedirs(path, exist_ok=True)
        with open(os.path.join(path, b"package.json"), "w") as file:
            file.write(text)
    found = detect(str(tmp_path))
    assert [check.directory for check in found.checks] == ["good"]
    assert parse(config_text("main", found.setup, found.checks), "x").checks == found.checks


def linked(tmp_path, name, to):
    (tmp_path / "repo" / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "repo" / name).symlink_to(to)
    return str(tmp_path / "repo")


def test_no_link_leads_out_of_the_repository(tmp_path):
    for name in ("test_a.py", "a_spec.rb", "a.bats", "package.json"):
        (tmp_path / "out").mkdir(exist_ok=True)
        (tmp_path / "out" / name).write_text(VITEST if name == "package.json" else UNITTEST)
    for name in ("spec", "test", "lib/tests", "t"):
        root = linked(tmp_path, name, tmp_path / "out")
    assert detect(root).checks == ()
    linked(tmp_path, "package.json", tmp_path / "out" / "package.json")
    assert detect(root).checks == ()
    (tmp_path / "repo" / "package.json").unlink()
    (tmp_path / "repo" / "own.json").write_text(VITEST)
    linked(tmp_path, "package.json", "own.json")
    assert [check.command for check in detect(root).checks] == ["npm run test"]


def test_a_link_of_a_package_may_lead_to_elsewhere_in_the_repository(tmp_path):
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "shared.json").write_text(VITEST)
    root = linked(tmp_path, "web/package.json", "../shared.json")
    assert [check.directory for check in detect(root).checks] == ["web"]
    (tmp_path / "shared.json").write_text(VITEST)
    (tmp_path / "repo" / "web" / "package.json").unlink()
    linked(tmp_path, "web/package.json", "../../shared.json")
    assert detect(root).checks == ()


def test_a_link_to_everything_is_not_followed(tmp_path, monkeypatch):
    root = linked(tmp_path, "spec", "/")
    entered = []
    walk = os.walk
    monkeypatch.setattr(os, "walk", lambda top, *a, **k: entered.append(os.path.realpath(top)) or walk(top, *a, **k))
    assert detect(root).checks == ()
    assert "/" not in entered and entered


def test_what_cannot_be_read_is_passed_over(tmp_path):
    (tmp_path / "lib" / "tests").mkdir(parents=True)
    (tmp_path / "package.json").write_text(VITEST)
    (tmp_path / "package.json").chmod(0)
    (tmp_path / "lib" / "tests").chmod(0)
    try:
        with without_roots_rights():
            assert detect(str(tmp_path)).checks == ()
    finally:
        (tmp_path / "lib" / "tests").chmod(0o700)


def test_a_file_that_cannot_be_opened_is_passed_over(tmp_path, monkeypatch):
    (tmp_path / "package.json").write_text(VITEST)

    def refuse(*args, **kwargs):
        raise PermissionError("refused")

    monkeypatch.setattr("builtins.open", refuse)
    assert detect(str(tmp_path)).checks == ()


def scripts(test, **more):
    return json.dumps({"scripts": {"test": test, **more}})


DENO = ("deno.jsonc", "deno test --reporter=tap")
NPM = ("package.json", "npm run test")


@pytest.mark.parametrize(
    ("name", "command", "text"),
    [
        *((*DENO, text) for text in ('"tasks": {' * 60_000, '\\"' * 300_000, "/*" * 300_000, "[" * 600_000)),
        ("Makefile", "make test", "test:\na" + " " * 300_000),
        ("Rakefile", "rake test", "\n" * 300_000 + "task :test"),
        ("pytest.ini", "python3 -m pytest -q", "testpaths=[\n" * 80_000),
        ("pytest.ini", "python3 -m pytest -q", "testpaths=\n" + " " * 300_000 + "="),
        (*NPM, scripts("node " * 80_000)),
        (*NPM, scripts("prove -" + "v" * 300_000 + "_")),
        (*NPM, scripts("c8 -a " + "9" * 300_000)),
        (*NPM, scripts("npm run a; " * 60, a="npm run b; " * 60, b="npm run c; " * 60, c="npm run a; " * 60)),
    ],
)
def test_no_text_of_a_repository_takes_long(tmp_path, name, command, text):
    (tmp_path / name).write_text(text)
    begun = time.monotonic()
    (check,) = detect(str(tmp_path)).checks
    assert with_format(str(tmp_path), check).command == command
    assert time.monotonic() - begun < 5


def test_a_package_is_not_named_as_a_kind(tmp_path):
    for name in ("types", "lint", "build"):
        (tmp_path / "packages" / name).mkdir(parents=True)
        (tmp_path / "packages" / name / "package.json").write_text(VITEST)
    assert [check.name for check in detect(str(tmp_path)).checks] == ["build-2", "lint-2", "types-2"]


@pytest.mark.parametrize(
    ("files", "command", "format_"),
    [
        ({"tests/unit/test_a.py": UNITTEST}, "python3 -m unittest discover -v -s tests/unit", "unittest"),
        (
            {"tests/a/test_a.py": UNITTEST, "tests/b c/test_b.py": UNITTEST},
            "python3 -m unittest discover -v -s tests/a && python3 -m unittest discover -v -s 'tests/b c'",
            "unittest",
        ),
        (
            {"src/app/__init__.py": "", "src/app/tests/__init__.py": "", "src/app/tests/test_a.py": UNITTEST},
            "python3 -m unittest discover -v -s src",
            "unittest",
        ),
        ({"tests/test_a.py": "def test_a():\n    assert 1\n"}, "python3 -m pytest -q", "pytest"),
        ({"tox.ini": "[testenv]\ncommands =\n    python -m unittest\n", "a.py": ""}, "tox", "unittest"),
        ({"noxfile.py": "def tests(session):\n    session.run('pytest', '-q')\n"}, "nox", "pytest"),
        ({"settings.gradle": "include 'a'\n", "a/build.gradle": "", "gradlew": ""}, "./gradlew test", "auto"),
        ({"pom.xml": "<module>a</module>", "a/pom.xml": ""}, "mvn -B test", "maven"),
        ({"bin/rails": "", "test/a_test.rb": ""}, "bin/rails test", "ruby"),
        ({"mix.exs": "", "test/a_test.exs": ""}, "mix test", "auto"),
        (
            {"A.sln": "", "A/A.csproj": "", "T/T.csproj": '<PackageReference Include="Microsoft.NET.Test.Sdk" />'},
            "dotnet test",
            "auto",
        ),
        ({"deno.json": '{"tasks": {"lint": "x"}}'}, "deno test --reporter=tap", "tap"),
        ({"deno.jsonc": '{"tasks": {"test": "deno test -A"}}'}, "deno task test", "auto"),
        ({"deno.json": '{"tasks": {"a": "{}", "test": "x"}}'}, "deno task test", "auto"),
        ({"deno.json": '{"tasks": {"a": "x"}, "x": {"test": "y"}}'}, "deno test --reporter=tap", "tap"),
        ({"deno.json": '{"tasks": {"test": '}, "deno test --reporter=tap", "tap"),
        (
            {"deno.jsonc": '{ // "a": {\n"b": "http://x/*", /* } */ "tasks": {"test": "x", // y\n},}'},
            "deno task test",
            "auto",
        ),
        (
            {"package.json": "{}", "a.test.ts": 'import { test } from "bun:test"'},
            "bun test --reporter=junit --reporter-outfile=junit.xml",
            "auto",
        ),
        ({"package.json": "{}", "src/a.test.mjs": "import test from 'node:test'"}, "node --test", "tap"),
    ],
)
def test_the_runner_of_a_project(tmp_path, files, command, format_):
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (check,) = detect(str(tmp_path)).checks
    assert (check.name, check.command, with_format(str(tmp_path), check).format) == ("test", command, format_)
    assert check.report == {"./gradlew test": "**/build/test-results/test/*.xml"}.get(
        command, "junit.xml" if "junit" in command else ""
    )


SCRIPTS = {"test": "vitest run", "lint": "eslint .", "type-check": "tsc", "build": "vite build"}


@pytest.mark.parametrize(
    ("lock", "setup", "run"),
    [
        ("package-lock.json", "npm ci", "npm run"),
        ("pnpm-lock.yaml", "pnpm install --frozen-lockfile", "pnpm run"),
        ("yarn.lock", "yarn install --frozen-lockfile", "yarn run"),
        ("none", "", "npm run"),
    ],
)
def test_javascript(tmp_path, lock, setup, run):
    (tmp_path / lock).write_text("")
    found = made(tmp_path, package__json={"scripts": SCRIPTS, "devDependencies": {"x": "1"}})
    assert found[0] == setup
    assert found[1] == [
        ("test", f"{run} test"), ("lint", f"{run} lint"), ("types", f"{run} type-check"), ("build", f"{run} build")
    ]  # fmt: skip
    assert any("no lock file" in note for note in found[2].notes) == (lock == "none")


def test_npms_placeholder_is_no_test(tmp_path):
    script = 'echo "Error: no test specified" && exit 1'
    found = made(tmp_path, package__json={"scripts": {"test": script}})
    assert found[1] == [] and any("placeholder" in note for note in found[2].notes)


@pytest.mark.parametrize("text", ["{", "[]", '{"scripts": 5}', '{"scripts": {"test": 5}}'])
def test_an_odd_package_json(tmp_path, text):
    assert made(tmp_path, package__json=text)[1] == []


def test_rust_and_go(tmp_path):
    assert made(tmp_path, Cargo__toml="", Cargo__lock="", go__mod="module x")[1] == [
        ("rust-test", "cargo test --locked"),
        ("go-test", "go test -v ./..."),
        ("go-lint", "go vet ./..."),
        ("go-build", "go build ./..."),
    ]


def test_a_makefile_goes_first(tmp_path):
    found = made(
        tmp_path,
        Makefile="CC := gcc\nall: build\ntest lint: x\n\techo\n.PHONY: types\n%.o: %.c\n",
        pyproject__toml="[tool.pytest.ini_options]\n[tool.mypy]",
    )
    assert found[1] == [("test", "make test"), ("lint", "make lint"), ("types", "mypy .")]
    assert any("left out: `python3 -m pytest -q`" in note for note in found[2].notes)


def test_make_targets():
    text = "a b: c\nV=1\nW := x: y\n.PHONY: a\ninstall::\n\ttest: no\ncheck:\n"
    assert make_targets(text) == {"a", "b", "install", "check"}


# --- the text of config.toml ----------------------------------------------------------------------


def test_the_template_holds_every_setting_with_its_default():
    with open(resource(TEMPLATE), encoding="utf-8") as file:
        text = file.read()
    assert parse(text, TEMPLATE) == Config()
    unset = r"^# (max_budget_usd|remote_branch|archive_days|calls_per_hour|usd|tokens|minutes) = "
    raw = tomllib.loads(re.sub(unset, r"\1 = ", text, flags=re.MULTILINE))

    def compare(model, values, where):
        assert set(values) == {field.name for field in fields(model)}, where
        for field in fields(model):
            if isinstance(field.default, Section):
                compare(type(field.default), values[field.name], f"{where}.{field.name}")

    compare(Config, raw, "config")
    for name in CheckSettings.__dataclass_fields__:
        assert f"\n# {name} = " in text
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if " = " in line and not line.startswith(("#", " ")):
            assert lines[place - 1].startswith("#"), f"{line} has no comment"


def test_a_written_config_is_what_was_asked_for():
    nasty = "echo \"a\\b\" && printf '\\n' # \t ü \x7f"
    checks = [
        CheckSettings(name="test", command=nasty),
        CheckSettings(name="types", command="mypy .", kind="types", timeout_minutes=5, min_tests=0),
    ]
    text = config_text("trunk", "npm ci", checks)
    found = parse(text, "x")
    assert found == Config(main="trunk", setup="npm ci", checks=tuple(checks))
    assert parse(config_text("main", "", []), "x") == Config()


def test_a_setting_may_be_uncommented():
    text = config_text("main", "", [])
    assert "# doers = 4" in text
    assert parse(text.replace("# doers = 4", "doers = 9"), "x").limits.doers == 9
