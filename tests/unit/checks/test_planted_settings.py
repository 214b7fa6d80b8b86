"""What a Doer could plant in the settings of runners and in manifests: a person is asked, and dependencies stay free."""

import pytest

from nobrakes.beads.model import Role
from nobrakes.checks.policy.boundaries import gate_changes, violations
from nobrakes.checks.policy.protected_files import named, sources
from nobrakes.config.settings import parse
from nobrakes.git.manifests import changed_parts
from nobrakes.git.port import SYMLINK, Change

FILE, GONE = "100644", "000000"
CONFIG = parse('[[checks]]\nname = "t"\ncommand = "python3 -m pytest"\n', "x")
TREE = frozenset(("polls/tests.py", "polls/models.py", "shop/test_cart.py", "shop/cart.py", "Gemfile", "lib/a.rb"))
BOUNDARY = CONFIG.boundary({}, TREE)


@pytest.mark.parametrize(
    "path",
    [
        ".jestrc.json", "jest.preset.js", ".pnp.cjs", ".yarn/releases/yarn-4.cjs", ".yarn/plugins/x.cjs", "nx.json",
        "wdio.conf.ts", "web-test-runner.config.mjs", ".oxlintrc.json", "tests.edn",
        "testng.xml", "buildSrc/src/main/kotlin/Tests.kt", "build-logic/src/main/groovy/t.gradle", "gradle/test.gradle",
        "vendor/github.com/stretchr/testify/assert/assertions.go", "vendor/github.com/onsi/gomega/types/types.go",
        "a/vendor/gotest.tools/v3/assert/assert.go", "vendor/phpunit/phpunit/src/A.php", "vendor/autoload.php",
        ".rspec-local", "rakelib/test.rake", "lib/tasks/test.rake", "Rakefile.rb", ".minitest.rb", ".bundle/config",
        "tox.toml", ".stestr.conf", "behave.ini", "nose2.cfg", "unittest.cfg", ".venv/bin/pytest", "venv/bin/python3",
        "lib/python3.11/site-packages/pytest_evil.py", ".env.local", "phpunit.dist.xml", "phpspec.yml", "config/test.exs",
        "pubspec_overrides.yaml", "Jenkinsfile", ".travis.yml", ".buildkite/pipeline.yml", "lefthook.yml", "mise.toml",
        "lib/App/Prove/Plugin/Evil.pm", "lib/minitest/evil_plugin.rb", "global.json", ".hspec",
    ],
)  # fmt: skip
def test_a_person_is_asked_of_a_runners_settings_and_of_frameworks_in_the_tree(path: str) -> None:
    for before in (GONE, FILE) if not path.startswith("lib/") else (GONE,):
        change = [Change(path, before, FILE)]
        assert gate_changes(change, BOUNDARY), path
        assert violations(Role.DOER, change, BOUNDARY, asks=True) == []


@pytest.mark.parametrize(
    "path",
    ["vendor/modules.txt", "vendor/golang.org/x/net/a.go", "static/vendor/jquery.js", "gradle/libs.versions.toml",
     "src/bundle/config.js", "lib/tasks/import.rb", "shop/venv.py", ".env.example", "config/prod.exs", "docs/nx.md"],
)  # fmt: skip
def test_ordinary_work_beside_them_is_free(path: str) -> None:
    assert gate_changes([Change(path, GONE, FILE)], BOUNDARY) == []


@pytest.mark.parametrize(
    "path",
    ["polls/tests/__init__.py", "polls/tests.cpython-311-x86_64-linux-gnu.so", "polls/tests.abi3.so", "polls/tests.pyd",
     "shop/test_cart/__init__.py", "shop/test_cart.so"],
)  # fmt: skip
def test_a_module_that_python_takes_instead_of_a_test_is_never_a_doers_alone(path: str) -> None:
    boundary = parse('[boundaries]\ntests = ["polls/tests.py", "shop/test_cart.py"]\n', "x").boundary({}, TREE)
    change = [Change(path, GONE, FILE)]
    assert gate_changes(change, boundary)
    assert not gate_changes([Change("polls/models/__init__.py", GONE, FILE)], boundary), "which hides no test"
    assert not gate_changes([Change("shop/cart.so", GONE, FILE)], boundary)


def test_a_link_in_the_place_of_a_tests_package_hides_it_too() -> None:
    boundary = parse('[boundaries]\ntests = ["polls/tests.py"]\n', "x").boundary({}, TREE)
    assert gate_changes([Change("polls/tests", GONE, SYMLINK, "models")], boundary)


PYC = b"\xa7\x0d\x0d\x0a"


MANIFESTS: list[tuple[str, bytes | None, bytes, tuple[str, ...]]] = [
    # a package that is called like a framework is found in its place, by npm, node, pip and go
    ("package.json", b'{"name": "x"}', b'{"name": "chai", "exports": "./f.js"}', ("name",)),
    ("web/package.json", None, b'{"name": "@jest/globals", "main": "f.js"}', ("name",)),
    ("package.json", b'{"devDependencies": {"ours": "1"}}', b'{"name": "ours", "devDependencies": {"ours": "1"}}',
     ("name",)),
    ("package.json", b"{}", b'{"bin": {"jest": "f.js"}}', ("bin",)),
    ("package.json", b"{}", b'{"name": "mocha", "bin": "f.js"}', ("name",)),
    ("package.json", b"{}", b'{"browser": {"chai": "./f.js"}}', ("browser",)),
    ("package.json", b"{}", b'{"imports": {"#a": "./f.js"}}', ("imports",)),
    ("package.json", b'{"scripts": {"test": "jest"}}', b'{"scripts": {"test": "true"}}', ("scripts",)),
    ("package.json", b"{}", b'{"jest": {"setupFiles": ["./f.js"]}}', ("jest",)),
    ("package.json", b"{}", b'{"overrides": {"chai": "1.0.0"}}', ("overrides",)),
    ("package.json", b"{}", b'{"mocha": {"require": "./f.js"}}', ("mocha",)),
    ("pyproject.toml", b"", b'[project]\nname = "pytest"\n', ("project.name",)),
    ("pyproject.toml", b"", b'[project.scripts]\npytest = "shop:main"\n', ("project.scripts",)),
    ("pyproject.toml", b"", b'[tool.uv]\nindex-url = "x"\n', ("tool.uv.index-url",)),
    ("pyproject.toml", b"", b'[tool.uv.workspace]\nmembers = ["fake"]\n', ("tool.uv.workspace",)),
    ("pyproject.toml", b"", b'[tool.poetry.group.dev.dependencies]\npytest = {path = "fake"}\n',
     ("dependencies from elsewhere",)),
    ("pyproject.toml", b"", b'[tool.pixi.tasks]\ntest = "true"\n', ("tool.pixi.tasks",)),
    ("pyproject.toml", b"", b'[tool.rye.scripts]\ntest = "true"\n', ("tool.rye.scripts",)),
    ("pyproject.toml", b"", b'[tool.pytest.ini_options]\naddopts = "-p no:python"\n', ("tool.pytest",)),
    ("pyproject.toml", b"", b'[tool.coverage.run]\nplugins = ["shop.plug"]\n', ("tool.coverage",)),
    ("setup.py", None, b'from setuptools import setup\nsetup(entry_points={"pytest11": ["e = shop.e"]})\n',
     ("entry_points",)),
    ("setup.py", b'setup(entry_points={"pytest11": ["e = a"]})', b'setup(entry_points={"pytest11": ["e = b"]})',
     ("entry_points",)),
    ("setup.py", b'setup(name="x")', b'setup(name="pytest")', ("name",)),
    ("go.mod", b"module a\n", b"module github.com/stretchr/testify\n", ("module",)),
    ("go.mod", b"module a\n", b"module a\ntool x/y\n", ("tool",)),
    ("Cargo.toml", b"", b'[[test]]\nname = "a"\nharness = false\n', ("test",)),
    ("Cargo.toml", b"", b"[lib]\nharness = false\n", ("lib",)),
    ("Cargo.toml", b"", b'[package]\nname = "proptest"\n', ("package.name",)),
    ("Gemfile", b'gem "rake"\n', b'gem "rake"\ngem "minitest", path: "fake"\n', ("dependencies from elsewhere",)),
    ("Gemfile", b'gem "rake"\n', b'gem "rake"\nat_exit { exit!(0) }\n', ("code",)),
    ("Gemfile", b"", b'eval_gemfile "x"\n', ("code",)),
    ("gems.rb", b"", b'gem "rspec", :git => "x"\n', ("dependencies from elsewhere",)),
    ("composer.json", b"{}", b'{"scripts": {"test": "true"}}', ("scripts",)),
    ("composer.json", b"{}", b'{"repositories": [{"type": "path", "url": "fake"}]}', ("repositories",)),
    ("composer.json", b"{}", b'{"autoload-dev": {"files": ["f.php"]}}', ("autoload-dev",)),
    ("mix.exs", b"def project do\nend\n", b'def project do\n[aliases: [test: "x"]]\nend\n', ("code",)),
    ("mix.exs", b"", b'  defp deps do\n    [{:a, path: "fake"}]\n  end\n', ("dependencies from elsewhere",)),
    ("pubspec.yaml", b"name: a\n", b"name: a\ndependency_overrides:\n  test: any\n", ("dependency_overrides",)),
    ("pubspec.yaml", b"", b"dev_dependencies:\n  test:\n    path: fake\n", ("dependencies from elsewhere",)),
    ("Pipfile", b"", b'[scripts]\ntest = "true"\n', ("scripts",)),
    ("Pipfile", b"", b'[packages]\npytest = {path = "fake"}\n', ("dependencies from elsewhere",)),
    # what was compiled stands for its source whatever that says: unchecked, by its hash
    ("polls/__pycache__/tests.cpython-311.pyc", None, PYC + b"\x01\0\0\0" + b"x" * 9, ("code without its source",)),
]  # fmt: skip


MIX = b"""defmodule A do
  @version "1.0"
  def project do
    [app: :a, deps: deps()]
  end
  defp deps do
    [
      # of the web
      {:x, "~> 1.0", only: [:dev, :test], runtime: false}, {:y?, ">= 0.0.0"}
    ]
  end
end
"""
GEMS = b'source "https://rubygems.org"\nruby "3.2"\ngem "a", [">= 1", "< 2"], groups: [:test, "x"]\n'


@pytest.mark.parametrize(
    ("path", "old", "before", "after"),
    [
        ("mix.exs", MIX, '@version "1.0"', '@version System.cmd("x", [])'),
        ("mix.exs", MIX, '@version "1.0"', '@version "1.0"; System.halt(0)'),
        ("mix.exs", MIX, '@version "1.0"', '@version "#{System.halt(0)}"'),
        ("mix.exs", MIX, '"~> 1.0"', 'System.get_env("A")'),
        ("mix.exs", MIX, "    [\n", "    System.halt 0\n    [\n"),
        ("mix.exs", MIX, "  def project do\n", '  def project do\n    # "#{System.halt(0)}"\n'),
        ("mix.exs", MIX, "# of the web", "#{System.halt(0)}"),
        ("Gemfile", GEMS, 'ruby "3.2"', 'ruby "3.2"; exit!(0)'),
        ("Gemfile", GEMS, 'ruby "3.2"', '# "#{exit!}"'),
        ("Gemfile", GEMS, 'ruby "3.2"', "ruby = exit!(0)"),
        ("Gemfile", GEMS, '"< 2"', "exit!"),
        ("Gemfile", GEMS, ':test, "x"', 'system "x"'),
    ],
)
def test_code_in_a_line_of_a_list_is_code(path: str, old: bytes, before: str, after: str) -> None:
    assert changed_parts(path, old, old.replace(before.encode(), after.encode()))[0] == ("code",)


@pytest.mark.parametrize(
    ("path", "old", "before", "after"),
    [
        ("mix.exs", MIX, '@version "1.0"', '@version "1.1"'),
        ("mix.exs", MIX, '"~> 1.0", only', '"~> 2.0", only'),
        ("mix.exs", MIX, "# of the web", "# of the web (new)"),
        ("Gemfile", GEMS, 'ruby "3.2"', 'ruby file: ".ruby-version", engine: "jruby"'),
        ("Gemfile", GEMS, 'ruby "3.2"', "ruby '~> 3.3', '>= 3.3.1'"),
        ("Gemfile", GEMS, '"< 2"', '"< 3"'),
    ],
)
def test_a_line_of_a_list_is_free(path: str, old: bytes, before: str, after: str) -> None:
    assert changed_parts(path, old, old.replace(before.encode(), after.encode()))[0] == ()


@pytest.mark.parametrize(
    ("path", "old", "new", "sections"), MANIFESTS, ids=[f"{row[0]} {row[3][0]}" for row in MANIFESTS]
)
def test_what_decides_in_a_manifest_is_told(
    path: str, old: bytes | None, new: bytes, sections: tuple[str, ...]
) -> None:
    assert changed_parts(path, old, new)[0] == sections


@pytest.mark.parametrize(
    ("path", "old", "new", "lists"),
    [
        ("package.json", b'{"name": "x"}', b'{"name": "y", "exports": "./a.js", "bin": {"y": "y.js"}}', False),
        ("package.json", b"{}", b'{"browser": {"./a.js": "./b.js"}, "main": "a.js"}', False),
        ("package.json", b"{}", b'{"dependencies": {"a": "catalog:"}, "devDependencies": {"jest": "~29.1"}}', True),
        ("pyproject.toml", b"", b'[project]\nname = "shop"\n[project.scripts]\nshop = "shop:main"\n', False),
        ("pyproject.toml", b"", b'[tool.poetry.dependencies]\npython = "^3.11"\nx = {version = "1", extras = ["y"]}\n', True),
        ("pyproject.toml", b"", b'[tool.uv]\ndev-dependencies = ["a"]\n', True),
        ("setup.py", b'setup(name="x", install_requires=["a"])', b'setup(name="x", install_requires=["b"])', False),
        ("setup.py", None, b'setup(entry_points={"console_scripts": ["x = a:b"]})', False),
        ("go.mod", None, b"module example.com/shop\ngo 1.22\n", False),
        ("Cargo.toml", b"", b'[package]\nname = "shop"\nversion = "1"\n[dependencies]\nb = "1"\n', True),
        ("Gemfile", b"", b'source "https://rubygems.invalid"\nruby "3.2"\n# more\ngem "rails", "~> 7.1"\n'
                         b'group :test, :development do\n  gem "rspec", ">= 3", require: false\nend\n', True),
        ("composer.json", b"{}", b'{"require": {"php": "8"}, "require-dev": {"phpunit/phpunit": "10"}, "name": "a/b"}', True),
        ("mix.exs", b'version: "1"\n  defp deps do\n    []\n  end\n',
         b'version: "2"\n  defp deps do\n    [{:a, "~> 1.0"}]\n  end\n', True),
        ("pubspec.yaml", b"name: a\n", b"name: a\nversion: 2\ndependencies:\n  http: ^1.0\n", True),
        ("Pipfile", b"", b'[packages]\nrequests = "*"\n', True),
        ("shop/__pycache__/a.cpython-311.pyc", None, PYC + b"\0\0\0\0" + b"x" * 9, False),
        ("shop/__pycache__/a.cpython-311.pyc", None, PYC + b"\x03\0\0\0" + b"x" * 9, False),
    ],
)  # fmt: skip
def test_lists_of_dependencies_and_names_stay_free(path: str, old: bytes | None, new: bytes, lists: bool) -> None:
    assert changed_parts(path, old, new) == ((), lists)


@pytest.mark.parametrize(
    ("name", "text", "names", "leaves"),
    [
        ("jest.config.js", "module.exports = { setupFiles: ['<rootDir>/src/setup.ts', 'dotenv/config'] }",
         {"src/setup.ts"}, {"dotenv/config.ts"}),
        ("jest.config.ts", 'export default { globalSetup: "./up", moduleNameMapper: { "^@/(.*)$": "<rootDir>/src/$1" } }',
         {"up.ts", "up.js"}, {"src/$1"}),
        ("vitest.config.mts", "test: { setupFiles: ['./src/a.ts'], coverage: { include: ['./src/b.ts'] } }",
         {"src/a.ts"}, {"src/b.ts"}),
        ("vite.config.ts", "test: { environment: './env.ts' }", {"env.ts"}, set()),
        (".mocharc.json", '{"require": ["./hooks.js"], "spec": "src/**/*.js"}', {"hooks.js"}, set()),
        (".mocharc.yml", "require:\n  - ./hooks.js\nreporter: ./dots.js\n", {"hooks.js", "dots.js"}, set()),
        ("package.json", '{"jest": {"reporters": ["default", "./rep.js"]}, "files": ["./dist.js"]}', {"rep.js"}, {"dist.js"}),
        ("package.json", '{"ava": {"require": ["./reg.js"]}}', {"reg.js"}, set()),
        ("conftest.py", 'pytest_plugins = ["shop.plugin", "pytester"]\n', {"shop/plugin.py", "src/shop/plugin.py"}, set()),
        ("tests/conftest.py", 'pytest_plugins = "shop.plugin"\n', {"shop/plugin.py"}, set()),
        ("conftest.py", 'pytest_plugins = (\n    "shop.fixtures",\n)\n', {"shop/fixtures.py"}, set()),
        ("pytest.ini", "[pytest]\naddopts = -q -p shop.plugin\n", {"shop/plugin.py"}, set()),
        ("pyproject.toml", '[tool.pytest.ini_options]\naddopts = ["-p", "shop.plugin"]\n', {"shop/plugin.py"}, set()),
        (".rspec", "--require ./lib/hooks\n--color\n", {"lib/hooks.rb"}, set()),
        ("phpunit.xml", '<phpunit bootstrap="src/boot.php"/>', {"src/boot.php"}, set()),
    ],
)  # fmt: skip
def test_what_a_runners_settings_take_up_is_named(name: str, text: str, names: set[str], leaves: set[str]) -> None:
    checks = CONFIG.contract()
    assert name in sources(checks)
    found = named("", checks, {name: text})
    assert names <= found and not leaves & found
