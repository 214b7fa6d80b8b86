"""What bends a runner asks a person, from whichever role; tests, plain fixtures and empty packages do not."""

import pytest

from nobrakes.checks.contract import Check
from nobrakes.checks.policy.boundaries import Boundary, gate_changes
from nobrakes.checks.policy.protected_files import loaded
from nobrakes.checks.policy.runner_hooks import LARGEST, changed, is_loaded, may_hold
from nobrakes.git.port import Change

BENDS = {
    "hook": ("tests/conftest.py", "import pytest\n@pytest.hookimpl(tryfirst=True)\ndef pytest_pyfunc_call(pyfuncitem):\n    return True\n"),
    "hook by another name": ("tests/conftest.py", "import pytest\n@pytest.hookimpl(specname='pytest_runtest_call')\ndef quiet(item):\n    return True\n"),
    "hook that is imported": ("tests/conftest.py", "from shop.testing import pytest_runtest_call\n"),
    "hook that is assigned": ("tests/conftest.py", "if True:\n    pytest_runtest_protocol = lambda item: True\n"),
    "plug-in in a class": ("tests/test_a.py", "class Quiet:\n    def pytest_runtest_call(self, item):\n        return True\n"),
    "plug-in in the product": ("shop/testing.py", "def pytest_pyfunc_call(pyfuncitem):\n    return True\n"),
    "plug-ins": ("tests/conftest.py", "pytest_plugins = ['shop.quiet']\n"),
    "registered": ("tests/test_a.py", "import pytest\n@pytest.fixture(autouse=True)\ndef q(request):\n    request.config.pluginmanager.register(object())\n"),
    "insides": ("tests/test_a.py", "import _pytest.python as p\np.Function.runtest = lambda self: None\n"),
    "insides by name": ("tests/test_a.py", "from _pytest.runner import call_runtest_hook\nx = call_runtest_hook\n"),
    "patch": ("shop/__init__.py", "import pytest\npytest.Function.runtest = lambda self: None\n"),
    "patch by setattr": ("tests/a.py", "import pytest\nsetattr(pytest.Item, 'runtest', None)\n"),
    "patch by text": ("tests/a.py", "from unittest import mock\nmock.patch('_pytest.python.Function.runtest').start()\n"),
    "patch of a module": ("tests/a.py", "import sys\nsys.modules['_pytest.python'].Function.runtest = None\n"),
    "unittest": ("shop/cart.py", "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n"),
    "unittest by name": ("shop/cart.py", "from unittest import TestCase\nTestCase.run = lambda *a: None\n"),
    "case that runs nothing": ("tests/base.py", "from unittest import TestCase\nclass Base(TestCase):\n    def run(self, result=None):\n        pass\n"),
    "node": ("tests/conftest.py", "import pytest\n@pytest.fixture(autouse=True)\ndef quiet(request):\n    request.node.obj = lambda *a: None\n"),
    "skip of all": ("tests/conftest.py", "import pytest\n@pytest.fixture(autouse=True)\ndef later():\n    pytest.skip('later')\n"),
    "xfail of all": ("tests/conftest.py", "import pytest\n@pytest.fixture(autouse=True)\ndef later(request):\n    request.applymarker(pytest.mark.xfail)\n"),
    "ignored": ("tests/conftest.py", "collect_ignore = ['test_basket.py']\n"),
    "exit at the end": ("tests/conftest.py", "import atexit, os\natexit.register(os._exit, 0)\n"),
    "computed name": ("tests/conftest.py", "globals()['pytest_' + 'pyfunc_call'] = lambda pyfuncitem: True\n"),
    "computed module": ("tests/conftest.py", "import importlib\nimportlib.import_module('_' + 'pytest')\n"),
    "text that runs": ("tests/conftest.py", "exec(open('x').read())\n"),
    "load_tests": ("tests/test_a.py", "def load_tests(loader, tests, pattern):\n    return tests\n"),
    "package": ("tests/__init__.py", "import os\nos.environ.pop('CI', None)\n"),
    "package that skips": ("tests/__init__.py", "import unittest\nraise unittest.SkipTest('no')\n"),
    "name of a runner": ("tests/pytest.py", ""),
    "TestMain": ("a_test.go", "package a\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}\n"),
    "what TestMain calls": ("a_test.go", "package a\nfunc all(m *testing.M) int {\n\treturn 0\n}\n"),
    "init that ends": ("a_test.go", "package a\nfunc init() {\n\tx()\n\tos.Exit(0)\n}\n"),
    "mocha": ("test/hooks.js", "exports.mochaHooks = {\n  beforeEach() { this.skip() }\n}\n"),
    "mocha options": ("test/mocha.opts", "--require ./x\n"),
    "global": ("test/a.test.js", "globalThis.it = () => {}\n"),
    "assertion": ("test/a.test.js", "const assert = require('assert')\nassert.strictEqual = () => {}\n"),
    "assertion by definition": ("src/a.ts", "Object.defineProperty(assert, 'equal', { value: () => {} })\n"),
    "mock of the runner": ("test/a.test.ts", "vi.mock('vitest', () => ({}))\n"),
    "jest's automatic mock": ("__mocks__/expect.js", "module.exports = () => ({})\n"),
    "loader": ("test/a.js", "Module._load = () => ({})\n"),
    "RSpec": ("spec/spec_helper.rb", "RSpec.configure do |config|\n  config.filter_run_excluding :slow\nend\n"),
    "around": ("spec/spec_helper.rb", "RSpec.configure do |config|\n  config.around(:each) { |one| nil }\nend\n"),
    "RSpec's insides": ("spec/a_spec.rb", "RSpec::Core::Example.prepend(Quiet)\n"),
    "Minitest": ("test/test_helper.rb", "class Minitest::Test\n  def run; self; end\nend\n"),
    "exit": ("test/test_helper.rb", "at_exit { exit! 0 }\n"),
    "PHPUnit": ("tests/A.php", "class A extends TestCase {\n  public function runTest(): void {}\n}\n"),
    "PHPUnit's extension": ("tests/E.php", "final class E implements Extension {}\n"),
    "xUnit": ("tests/A.cs", '[assembly: Xunit.TestFramework("A.B", "A")]\n'),
    "before all": ("tests/A.cs", "[ModuleInitializer]\ninternal static void Go() {}\n"),
    "JUnit": ("src/test/java/A.java", "class A implements InvocationInterceptor {\n}\n"),
    "Kotlin": ("src/test/kotlin/Q.kt", "class Q : InvocationInterceptor {\n}\n"),
    "Kotlin with a base": ("src/test/kotlin/Q.kt", "class Q(val a: Int) : Base(a), ExecutionCondition {\n}\n"),
    "Spock": ("src/test/groovy/SpockConfig.groovy", "runner { exclude { baseClass Object } }\n"),
    "assert by its name": ("test/helper.js", 'const assert = require("node:assert");\nassert["equal"] = () => {};\n'),
    "an own toBe": ("test/setup.js", 'expect.extend({\n  near() {},\n  toBe() { return { pass: true } },\n});\n'),
    "chai's methods": ("test/setup.js", 'chai.use((c, u) => u.overwriteMethod(c.Assertion, "equal", () => () => {}));\n'),
    "jest's environment": ("tests/env.js", "class E extends NodeEnvironment {\n  handleTestEvent(e) { e.test.errors = [] }\n}\n"),
    "a stub of assert": ("test/helper.js", 'sinon.stub(assert, "strictEqual");\n'),
    "a spy on assert": ("test/helper.js", 'jest.spyOn(assert, "equal").mockImplementation(() => {});\n'),
    "an own eq": ("spec/support/x.rb", "RSpec::Matchers.define(:eq) { |x| match { true } }\n"),
    "rule": ("src/test/java/R.java", "public class R implements TestRule {\n}\n"),
    "constructor": ("tests/a.rs", "#[ctor]\nfn go() { std::process::exit(0) }\n"),
    "Test::More": ("t/lib/Quiet.pm", "no warnings;\n*Test::More::ok = sub { 1 };\n"),
    "END": ("t/a.t", "END { $? = 0 }\n"),
    "ExUnit": ("test/test_helper.exs", "ExUnit.start(exclude: [:all])\n"),
    "dart": ("test/flutter_test_config.dart", "Future<void> testExecutable(x) async {}\n"),
    "bats": ("test/helper.bash", "run() {\n  status=0\n}\n"),
    "Minitest by an editor of Windows": ("test/test_helper.rb", "class Minitest::Test\r\n  def run; self; end\r\nend\r\n"),
    "Minitest after a form feed": ("test/test_helper.rb", "\fclass Minitest::Test\n  def run; self; end\nend\n"),
    "init of Windows": ("a_test.go", "package a\r\nfunc init() {\r\n\tos.Exit(0)\r\n}\r\n"),
    "END after a form feed": ("t/a.t", "\fEND { go_out() }\n"),
    "xUnit beside a bracket": ("tests/A.cs", '[assembly: AssemblyTitle("["), TestFramework("A.B", "A")]\n'),
    "assertion after a mark": ("test/a.test.js", "\ufeffassert.strictEqual = () => {}\n"),
    "UTF-16": ("tests/A.cs", '[assembly: TestFramework("A.B", "A")]\n'.encode("utf-16").decode(errors="surrogateescape")),
    "gtest": ("tests/main.cc", "int main() { RUN_ALL_TESTS(); return 0; }\n"),
}  # fmt: skip

PLAIN = {
    "empty package": ("tests/__init__.py", ""),
    "package with words": ("tests/__init__.py", '"""The tests."""\nfrom tests.helpers import make\n\nDATA = ["a"]\n'),
    "fixtures": ("tests/conftest.py", "import pytest\nfrom shop import app\n@pytest.fixture\ndef client():\n    return app.client()\n@pytest.fixture(autouse=True)\ndef fresh(tmp_path, monkeypatch):\n    monkeypatch.chdir(tmp_path)\n    yield\n"),
    "annotation": ("tests/conftest.py", "from _pytest.monkeypatch import MonkeyPatch\nimport pytest\n@pytest.fixture\ndef x(m: MonkeyPatch) -> MonkeyPatch:\n    return m\n"),
    "tests": ("tests/test_a.py", "import pytest\nimport unittest.mock\ndef test_a(monkeypatch, request):\n    monkeypatch.setattr('builtins.open', None)\n    with pytest.raises(ValueError), unittest.mock.patch('shop.x'):\n        f()\n"),
    "skip of one": ("tests/test_a.py", "import pytest\ndef test_a():\n    pytest.skip('no network')\n"),
    "case": ("tests/test_a.py", "import unittest\nclass A(unittest.TestCase):\n    def setUp(self):\n        self.x = 1\n    def assertSame(self, a):\n        self.assertEqual(a, 1)\n"),
    "runner of a product": ("shop/jobs.py", "class JobRunner:\n    def run(self):\n        self.done = True\n"),
    "go": ("a_test.go", "package a\nfunc TestA(t *testing.T) {\n\tt.Fatal()\n}\nfunc init() {\n\tx = 1\n}\n"),
    "mocha": ("test/a.test.js", "describe('a', () => {\n  beforeEach(() => { x = 1 })\n  it('b', () => { assert.equal(a, 1) })\n})\n"),
    "vitest": ("test/a.test.ts", "vi.mock('./shop')\nexpect(vi.fn()).toBe(1)\nconst assert = 1\n"),
    "local": ("src/a.js", "const test = {}\ntest.name = 'x'\nprocess.exitCode = 1\n"),
    "rspec": ("spec/spec_helper.rb", "RSpec.configure do |config|\n  config.include Helpers\n  config.before(:each) { clean }\nend\n"),
    "minitest": ("test/test_a.rb", "class ATest < Minitest::Test\n  def test_a\n    assert true\n  end\nend\n"),
    "exunit": ("test/test_helper.exs", "ExUnit.start()\n"),
    "junit": ("src/test/java/ATest.java", "class ATest extends BaseTest {\n  @Test void a() {}\n}\n"),
    "xunit": ("tests/A.cs", "public class A : IClassFixture<B> {\n  [Fact] public void C() {}\n}\n"),
    "rust": ("tests/a.rs", "#[test]\nfn a() { assert_eq!(1, 1) }\n"),
    "perl": ("t/a.t", "use Test::More;\nis(1, 1, 'one');\ndone_testing;\n"),
    "data": ("tests/data/a.json", "{}"),
    "build target": ("tests/CMakeLists.txt", "add_test(a a)\n"),
}  # fmt: skip


@pytest.mark.parametrize("what", BENDS)
def test_what_bends_the_runner_is_told_where_it_is_new_changed_or_gone_and_not_where_it_stays(what: str) -> None:
    path, text = BENDS[what]
    assert may_hold(path) and changed(path, None, text, True)
    assert changed(path, text, text, True) == ()
    assert changed(path, text, None, True)


@pytest.mark.parametrize("what", PLAIN)
def test_plain_tests_and_helpers_are_told_of_nothing(what: str) -> None:
    path, text = PLAIN[what]
    assert changed(path, None, text, True) == () and changed(path, text, None, True) == ()


def test_a_hook_counts_with_all_that_it_reaches_and_a_fixture_beside_it_does_not() -> None:
    hook = "def keep(items):\n    return items\ndef pytest_collection_modifyitems(items):\n    items[:] = keep(items)\n"
    assert (
        changed("tests/conftest.py", hook, hook + "import pytest\n@pytest.fixture\ndef a():\n    return 1\n", True)
        == ()
    )
    assert changed("tests/conftest.py", hook, hook.replace("return items", "return []"), True)
    main = "func TestMain(m *testing.M) {\n\tos.Exit(m.Run())\n}\n"
    assert changed("a_test.go", main, main + "func TestB(t *testing.T) {\n}\n", True) == ()
    assert changed("a_test.go", main, main.replace("m.Run()", "0"), True)


def test_a_package_runs_with_tests_where_it_has_some() -> None:
    paths = ("tests/__init__.py", "tests/test_a.py", "tests/apps/one/__init__.py", "tests/apps/one/views.py")
    assert is_loaded("tests/__init__.py", paths) and not is_loaded("tests/apps/one/__init__.py", paths)
    assert is_loaded("tests/apps/one/conftest.py", paths)


def test_a_file_that_is_too_large_to_be_read_is_asked_about_among_tests() -> None:
    text = "x = 1\n" * (LARGEST // 5)
    assert changed("tests/test_a.py", None, text, True) and not changed("shop/a.py", None, text, False)


@pytest.mark.parametrize(
    ("command", "texts", "path"),
    [
        ("npx vitest run", {"vitest.config.ts": "export default { test: { setupFiles: ['./test/setup.ts'] } }"}, "test/setup.ts"),
        ("npm test", {"package.json": '{"jest": {"setupFilesAfterEnv": ["<rootDir>/test/setup.js"]}}'}, "test/setup.js"),
        ("npm test", {"package.json": '{"scripts": {"test": "mocha --require ./test/setup test"}}'}, "test/setup.js"),
        ("npm test", {".mocharc.yml": "require:\n  - ./test/env.cjs\n"}, "test/env.cjs"),
        ("node --test --import ./test/hooks.mjs", {}, "test/hooks.mjs"),
        ("pytest -p tests.quiet", {}, "tests/quiet.py"),
        ("pytest", {"tests/conftest.py": "pytest_plugins = ['tests.fixtures.quiet']\n"}, "tests/fixtures/quiet.py"),
        ("vendor/bin/phpunit", {"phpunit.xml": '<phpunit bootstrap="tests/bootstrap.php"/>'}, "tests/bootstrap.php"),
    ],
)  # fmt: skip
def test_what_settings_and_options_load_beside_the_tests_is_asked_about(
    command: str, texts: dict[str, str], path: str
) -> None:
    known = loaded("", [Check("t", command)], texts)
    assert path in known
    boundary = Boundary(("test/**", "tests/**"), loaded=known)
    assert gate_changes([Change(path, "100644", "100644")], boundary)
    assert not gate_changes([Change("test/a.test.ts", "000000", "100644")], boundary)


def test_what_other_programs_are_told_is_not_loaded() -> None:
    assert (
        loaded("pip install -r requirements.txt", [Check("t", "cp -r src out; mkdir -p a/b && pytest -q")], {}) == set()
    )


@pytest.mark.parametrize(
    "text",
    [
        '{"python.defaultInterpreterPath": "./x"}', '{"rust-analyzer.check.overrideCommand": ["./x"]}',
        '{"task.allowAutomaticTasks": "on"}', '{"terminal.integrated.profiles.linux": {}}', '{"eslint.nodePath": "x"}',
        '{"git.path": "./git"}', '{"go.alternateTools": {"go": "./x"}, "go.toolsEnvVars": {}}',
    ],
)  # fmt: skip
def test_a_package_s_editor_settings_that_name_a_program_are_asked_about(text: str) -> None:
    path = "web/.vscode/settings.json"
    assert may_hold(path) and changed(path, '{"editor.tabSize": 2, "files.exclude": {"dist": true}}', text, False)
    assert not changed(path, "{}", '{"editor.tabSize": 2, "files.exclude": {"dist": true}}', False)


@pytest.mark.parametrize(
    "text",
    [
        "from pluggy import HookimplMarker\nhookimpl = HookimplMarker('example')\ndef test_a():\n    @hookimpl(wrapper=True)\n    def m():\n        yield\n",
        "from datasette import hookimpl\ndef test_a():\n    class P:\n        @hookimpl\n        def prepare(self):\n            pass\n",
        "import pytest\n@pytest.mark.parametrize('include_hookspec', [1])\ndef test_a(include_hookspec):\n    assert include_hookspec\n",
        "from pluggy._tracing import TagTracer\ndef test_a():\n    assert TagTracer()\n",
    ],
)
def test_plugins_of_the_product_are_no_hooks_of_its_runner(text: str) -> None:
    assert changed("testing/test_a.py", None, text, True) == ()


@pytest.mark.parametrize(
    "text",
    [
        "from pluggy import HookimplMarker\nh = HookimplMarker('pytest')\n@h\ndef a():\n    pass\nhookimpl = h\n@hookimpl\ndef b():\n    pass\n",
        "from shop import hookimpl\n@hookimpl(specname='pytest_runtest_call')\ndef quiet(item):\n    return True\n",
        "from pytest import hookimpl as h\n@h(wrapper=True)\ndef pytest_runtest_call(item):\n    yield\n",
        "import pluggy\npluggy._callers._multicall = None\n",
        "from pluggy._manager import PluginManager\nPluginManager._hookexec = None\n",
    ],
)
def test_marks_and_patches_of_the_runner_s_own_plugins_are(text: str) -> None:
    assert changed("testing/test_a.py", None, text, True)


def test_in_a_conftest_every_mark_of_a_hook_counts() -> None:
    text = "from shop import hookimpl\n@hookimpl\ndef quiet(item):\n    return True\n"
    assert changed("tests/conftest.py", None, text, True) == ("quiet",)


DEEP = ("a" + ".b" * 800, "a" + " + b" * 800, "-" * 900 + "1", "a " * 200_000)


@pytest.mark.parametrize("text", DEEP)
def test_code_that_is_nested_too_deep_to_be_read_asks_where_the_runner_takes_it_up(text: str) -> None:
    assert changed("tests/test_a.py", "", text, True) == ("code that nobrakes cannot parse",)
    assert changed("conftest.py", "", text, False) == ("code that nobrakes cannot parse",)
    assert changed("src/a.py", "", text, False) == ()


def test_many_hooks_in_a_row_are_its_block_once() -> None:
    assert changed("a.rb", None, "class A\n" + "  at_exit " * 5_000 + "\n" + "    b\n" * 5_000, True)


PATCH = b"import pytest\npytest.Function.runtest = lambda self: None\n"
ENCODED = {
    "a mark": b"\xef\xbb\xbf" + PATCH,
    "another encoding": b"# coding: latin-1\n\xe9 = 1\n" + PATCH,
    "code in a comment": b"# coding: utf-7\n# +AAo-import pytest; pytest.Function.runtest = lambda self: None\n",
    "escapes": b"# coding: unicode_escape\n# \\u000aimport pytest; pytest.Function.runtest = lambda self: None\n",
}


@pytest.mark.parametrize("what", ENCODED)
def test_python_is_read_as_python_reads_it(what: str) -> None:
    text = ENCODED[what].decode(errors="surrogateescape")
    assert changed("tests/test_a.py", "", text, True) == ("a patch of pytest.Function.runtest",)


def test_an_encoding_that_takes_long_is_not_read() -> None:
    text = "# coding: punycode\n#b-" + "zb" * 100_000
    assert changed("tests/test_a.py", "", text, True) == ("code that nobrakes cannot parse",)


NEWER = "type Number = int\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n"
"""A plain test in a Python that ours cannot read (one that can finds what it does)."""


@pytest.mark.parametrize(
    "code",
    [
        "import pytest\npytest.Function.runtest = lambda self: None\n",
        "from pytest import Function as F\nF.runtest: object = lambda self: None\n",
        "from pytest import Function as F\nfor F.runtest in [print]: pass\n",
        "import unittest\nclass A(unittest.TestCase):\n    def run(self, result=None):\n        pass\n",
        "setattr(pytest.Function, 'runtest', print)\n",
        "def pytest_runtest_call(item): pass\n",
        "exec('x')\n",
    ],
)
def test_code_that_only_a_newer_python_reads_is_asked_about_if_it_may_bend_the_runner(code: str) -> None:
    assert changed("tests/test_a.py", NEWER, NEWER + "}" + code, True) == ("code that nobrakes cannot parse",)
    assert changed("tests/test_a.py", NEWER, "type Text = str\n" + NEWER + "}\n", True) == ()
    assert changed("shop/a.py", NEWER, NEWER + "}" + code, False) == ()
