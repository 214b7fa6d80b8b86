"""Decoys: tests that are altered so that they have to fail, and the runner's own words about them."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from nobrakes.core.checks.contract import Check
from nobrakes.core.checks.decoys import decoys, endings, is_reported, likely, named, narrowed

PYTEST = """import pytest
from shop import total


def test_equal():
    assert total([1]) == 1


async def test_awaited():
    assert await total([1]) == 1


def test_says_nothing():
    total([])


@pytest.mark.skip
def test_skipped():
    assert total([]) == 0


def test_asks_to_be_skipped():
    pytest.skip("later")


def test_loops():
    for n in range(3):
        total([n])


class TestMore:
    def test_method(self):
        assert total([2]) == (1 +
                              1)


@pytest.mark.xfail
class TestLater:
    def test_later(self):
        assert total([]) == 1
"""


def test_in_python_the_expected_value_is_what_nothing_equals() -> None:
    found = {one.test: one.text for one in decoys("tests/test_shop.py", PYTEST, 42)}
    assert set(found) == {"test_equal", "test_awaited", "test_says_nothing", "test_loops", "test_method"}
    assert "assert total([1]) == 100000000042" in found["test_equal"]
    assert "raise AssertionError('nobrakes_decoy'); total([])" in found["test_says_nothing"]
    assert "raise AssertionError" in found["test_method"], "a value on several lines stays, and the test raises"
    for text in found.values():
        ast.parse(text)
        assert text != PYTEST and len(text) != len(PYTEST)


@pytest.mark.parametrize(
    "text",
    [
        "@pytest.fixture\ndef test_client():\n    return make() == 1\n",
        "@pytest.mark.slow\ndef test_all():\n    assert f() == 1\n",
        "class Server:\n    def test_connection(self):\n        return self.ping() == 1\n",
        "class TestIt:\n    __test__ = False\n    def test_a(self):\n        assert 1 == 1\n",
        "class TestIt:\n    def __init__(self, x):\n        self.x = x\n    def test_a(self):\n        assert 1 == 1\n",
        "class T(TestCase):\n    x = 1\ndef test_file(name):\n    return FOLDER + name\n",
        "@requires_network\ndef test_get():\n    assert get() == 1\n",
        "def test_twice():\n    assert f() == 1\ndef test_twice():\n    assert f() == 2\n",
        "def test_each():\n    yield check, 1\n",
    ],
)
def test_what_a_runner_may_leave_out_is_not_altered(text: str) -> None:
    assert decoys("test_x.py", text) == []


@pytest.mark.parametrize(
    "body",
    [
        "with pytest.raises(ValueError):\n        assert f() == 1",
        "for one in CASES:\n        assert f(one) == 1",
        "if sys.platform == 'win32':\n        assert f() == 1",
        "def inner():\n        assert f() == 1\n    inner()",
        "if not HAS:\n        return\n    assert f() == 1",
    ],
)
def test_a_value_that_a_test_may_not_come_to_stays_and_the_test_raises_first(body: str) -> None:
    (one,) = decoys("test_x.py", f"def test_x():\n    {body}\n")
    ast.parse(one.text)
    assert one.text.startswith("def test_x():\n    raise AssertionError('nobrakes_decoy')\n    ")
    assert body in one.text


def test_a_file_that_is_skipped_as_a_whole_has_none() -> None:
    for line in ("pytestmark = pytest.mark.skip", "pytest.importorskip('x')"):
        assert decoys("test_x.py", f"import pytest\n{line}\ndef test_x():\n    assert 1 == 1\n") == []


def test_what_is_altered_is_never_as_long_as_before() -> None:
    for value in ("'01234567890'", "100000000000", "[[[[]]]]", "True"):
        text = f"def test_x():\n    assert f() == {value}\n"
        (one,) = decoys("test_x.py", text)
        assert len(one.text) != len(text)


BENT = {
    "equals everything": "class Any(int):\n    __hash__ = int.__hash__\n    def __eq__(self, other):\n        return True\n",
    "equals all but objects": "class Any(int):\n    __hash__ = int.__hash__\n"
    "    def __eq__(self, other):\n        return type(other) is not object\n",
    "equals what looks like a value": "class Any(int):\n    __hash__ = int.__hash__\n"
    "    def __eq__(self, other):\n        return isinstance(other, (int, str))\n",
}


@pytest.mark.parametrize("how", BENT)
@pytest.mark.parametrize("value", ["7", "'seven'", "0.5"])
def test_what_equals_anything_of_the_expected_kind_lets_the_altered_test_pass(how: str, value: str) -> None:
    (one,) = decoys("test_x.py", f"def test_x():\n    assert f() == {value}\n", 17)
    scope: dict[str, object] = {}
    exec(f"{BENT[how]}def f():\n    return Any()\n{one.text}test_x()", scope)  # it passes, so it is not reported
    with pytest.raises(AssertionError):
        exec(f"def f():\n    return {value}\n{one.text}test_x()", {})


@pytest.mark.parametrize(
    ("path", "text", "test", "says"),
    [
        ("a.test.ts", "test('adds', async () => {\n  expect(1).toBe(ONE)\n})\n", "adds", "=> { throw new Error("),
        ("spec/a_spec.rb", "it 'adds' do\n  check(1)\nend\n", "adds", "it 'adds' do; raise 'nobrakes_decoy'"),
        (
            "src/test/java/ATest.java",
            "class ATest {\n    @Test\n    public void adds() throws Exception {\n        check();\n    }\n}\n",
            "adds",
            '{ if (true) { throw new AssertionError("nobrakes_decoy"); }',
        ),
        ("a.test.js", "describe('x', () => {\n  it(\"adds two\", function () {\n  })\n})\n", "adds two", "{ throw new"),
        ("a_test.go", "func TestAdd(tt *testing.T) {\n\tx()\n}\n", "TestAdd", '{ tt.Fatal("nobrakes_decoy");'),
        (
            "src/lib.rs",
            "#[test]\nfn adds() {\n    assert_eq!(1, 1);\n}\n",
            "adds",
            '{ if true { panic!("nobrakes_decoy"); }',
        ),
        ("src/lib.rs", "#[tokio::test]\n#[test]\nfn adds() -> R {\n    Ok(())\n}\n", "adds", "-> R { if true {"),
    ],
)
def test_elsewhere_the_test_fails_as_the_first_thing_it_does(path: str, text: str, test: str, says: str) -> None:
    (one,) = decoys(path, text)
    assert (one.test, one.path) == (test, path) and says in one.text


@pytest.mark.parametrize(
    ("path", "line", "altered"),
    [
        ("a.test.js", "assert.strictEqual(f(1, 2), 3)", "assert.strictEqual(f(1, 2), Symbol('nobrakes_decoy'))"),
        ("a.test.js", "assert.equal(f('a'), 'b', 'why');", "assert.equal(f('a'), Symbol('nobrakes_decoy'), 'why');"),
        ("test.js", "t.is(f('a, b'), 'ab');", "t.is(f('a, b'), Symbol('nobrakes_decoy'));"),
        ("a.spec.js", "await expect(f(1)).toBe(true);", "await expect(f(1)).toBe(Symbol('nobrakes_decoy'));"),
        ("a.spec.js", "expect(f(1)).to.equal(-1.5);", "expect(f(1)).to.equal(Symbol('nobrakes_decoy'));"),
        ("a.test.ts", "expect(f(1)).toEqual(null);", "expect(f(1)).toEqual(Symbol('nobrakes_decoy') as any);"),
    ],
)
def test_in_javascript_the_expected_value_is_what_nothing_equals(path: str, line: str, altered: str) -> None:
    text = f"test('adds', async t => {{\n  const a = {{}};\n  {line}\n  {line}\n}});\n"
    (one,) = decoys(path, text)
    assert one.text == text.replace(line, altered, 1)


def test_a_decoy_tells_whether_a_value_was_altered() -> None:
    both = "test('throws', () => {\n  f()\n})\ntest('equals', () => {\n  assert.equal(f(), 1)\n})\n"
    assert [(one.test, one.by_value) for one in decoys("a.test.js", both)] == [("throws", False), ("equals", True)]
    both = "def test_a():\n    f()\ndef test_b():\n    assert f() == 1\n"
    assert [(one.test, one.by_value) for one in decoys("test_a.py", both)] == [("test_a", False), ("test_b", True)]


@pytest.mark.parametrize(
    "body",
    [
        "for (const one of all) {\n    assert.equal(f(one), 1)\n  }",
        "if (win) return\n  assert.equal(f(), 1)",
        "expect(f()).not.toBe(1)",
        "assert.notEqual(f(), 1)",
        "// assert.equal(f(), 1)",
        "assert.throws(() => assert.equal(f(), 1))",
        "assert.equal(f(), 1) || more()",
        "try {\n  assert.equal(f(), 1)\n } catch {}",
        "assert.equal(f(), one)",
        "assert.equal(f(1)\n, 1)",
    ],
)
def test_in_javascript_a_value_that_a_test_may_not_come_to_stays(body: str) -> None:
    (one,) = decoys("a.test.js", f"test('adds', () => {{\n  {body}\n}})\n")
    assert "Symbol" not in one.text and "=> { throw new Error('nobrakes_decoy')" in one.text and body in one.text


@pytest.mark.parametrize(
    ("path", "line", "altered"),
    [
        ("t/a.t", "is(f(1), 90, 'takes ten');", "is(f(1), 'nobrakes_decoy', 'takes ten');"),
        ("t/a.t", 'is f(1), "a b", "takes ten";', "is f(1), 'nobrakes_decoy', \"takes ten\";"),
    ],
)
def test_in_perl_a_test_point_expects_what_nothing_is(path: str, line: str, altered: str) -> None:
    (one,) = decoys(path, f"use Test::More;\n{line}\n")
    assert one.test == "takes ten" and one.text == f"use Test::More;\n{altered}\n"
    assert decoys(path, f"use Test::More;\nSKIP: {{\n{line}\n}}\n") == []
    assert decoys(path, f"use Test::More;\n  {line}\n") == [], "only what stands at the left certainly runs"


@pytest.mark.parametrize(
    "line",
    [
        "expect(f(1)).to eq 90",
        "expect(f(1)).to eq(90)",
        "expect(f(1)).to eql 'x'",
        "assert_equal 90, f(1)",
        "_(f(1)).must_equal 90",
        "f(1).body.must_equal 'x'",
    ],
)
def test_in_ruby_the_expected_value_is_what_nothing_equals(line: str) -> None:
    (one,) = decoys("spec/a_spec.rb", f"  it 'adds' do\n    {line}\n  end\n")
    assert "Object.new" in one.text and "raise" not in one.text


def test_a_test_in_java_expects_what_nothing_equals() -> None:
    (one,) = decoys("ATest.java", "    @Test\n    void adds() {\n        assertEquals(90, f(1));\n    }\n")
    assert one.test == "adds" and "assertEquals(new Object(), f(1));" in one.text


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a_spec.rb", "xit 'adds' do\nend\n"),
        ("a_spec.rb", "it 'adds', skip: true do\nend\n"),
        ("a_spec.rb", "describe 'x', :slow do\n  it 'adds' do\n  end\nend\n"),
        ("ATest.java", "    @Test\n    @Disabled\n    void adds() {\n    }\n"),
        ("ATest.java", "    @Test\n    void adds() {\n        assumeTrue(x);\n    }\n"),
        ("ATest.java", "@Disabled\nclass A {\n    @Test\n    void adds() {\n    }\n}\n"),
        ("ATest.java", "    @Test(expected = A.class)\n    public void adds() {\n    }\n"),
        ("a.test.ts", "test.skip('adds', () => {\n})\nit.todo('more')\nxit('x', () => {\n})\n"),
        (
            "a_test.go",
            "func TestAdd(t *testing.T) {\n\tif testing.Short() { t.Skip() }\n}\nfunc Helper(t *testing.T) {\n}\n",
        ),
        ("a.rs", "#[test]\n#[ignore]\nfn a() {\n}\n#[test]\n#[should_panic]\nfn b() {\n}\nfn c() {\n}\n"),
        ("a.test.js", "describe.skip('x', () => {\n  it('adds', () => {\n  })\n})\n"),
        ("a.test.js", "it('adds', () => {\n})\nit.only('more', () => {\n})\n"),
        ("a_test.go", "//go:build integration\n\npackage a\nfunc TestAdd(t *testing.T) {\n}\n"),
        ("a.rs", '#[cfg(feature = "slow")]\nmod tests {\n#[test]\nfn a() {\n}\n}\n'),
        ("a.rs", "#[cfg(windows)]\n#[test]\nfn a() {\n}\n"),
        ("a.sh", "true\n"),
        ("a.py", "def test_(:\n"),
    ],
)
def test_what_does_not_plainly_run_is_left_alone(path: str, text: str) -> None:
    assert decoys(path, text) == []


@pytest.mark.parametrize(
    ("command", "test", "run"),
    [
        ("python3 -m pytest -q", "test_a", "python3 -m pytest -q -k test_a"),
        ("uv run pytest tests", "test_a", "uv run pytest tests -k test_a"),
        ("PYTHONPATH=. python3 -m unittest -v", "test_a", "PYTHONPATH=. python3 -m unittest -v -k test_a"),
        ("pytest -k slow", "test_a", "pytest -k slow"),
        ("cd web && pytest", "test_a", "cd web && pytest"),
        ("make test", "test_a", "make test"),
        ("go test -v ./...", "TestA", "go test -v ./... -run ^TestA$"),
        ("go test -run X ./...", "TestA", "go test -run X ./..."),
        ("cargo test --locked", "adds", "cargo test --locked adds"),
        ("cargo test -- --nocapture", "adds", "cargo test -- --nocapture"),
        ("npx vitest run", "adds two", "npx vitest run -t 'adds two'"),
        ("npm test", "adds", "npm test"),
        ("pytest 'unclosed", "test_a", "pytest 'unclosed"),
    ],
)
def test_a_plain_call_of_a_runner_is_narrowed_and_nothing_else(command: str, test: str, run: str) -> None:
    assert narrowed(command, test) == run


@pytest.mark.parametrize(
    ("format_", "output", "reported"),
    [
        ("pytest", "FAILED tests/test_a.py::test_x - assert 1 == 2", True),
        ("pytest", "FAILED tests/test_a.py::TestA::test_x[1-2]", True),
        ("pytest", "________ TestA.test_x ________", True),
        ("pytest", "FAILED tests/test_a.py::test_xy", False),
        ("pytest", "1 passed in 0.1s", False),
        ("unittest", "FAIL: test_x (tests.test_a.T.test_x)", True),
        ("unittest", "test_x (tests.test_a.T.test_x) ... ok", False),
        ("go", "--- FAIL: test_x (0.00s)", True),
        ("cargo", "test tests::test_x ... FAILED", True),
        ("cargo", "test tests::test_x ... ok", False),
        ("jest", "  ● sums › test_x", True),
        ("jest", "  ✓ test_x (2 ms)", False),
        ("vitest", " FAIL  a.test.ts > sums > test_x", True),
        ("vitest", "   × test_x 4ms", True),
        (
            "vitest",
            " \x1b[31m×\x1b[39m a.spec.js\x1b[2m > \x1b[22msums\x1b[2m > \x1b[22mtest_x\x1b[32m 4\x1b[2mms",
            True,
        ),
        ("tap", "not ok 3 - test_x", True),
        ("tap", "ok 3 - test_x", False),
        ("tap", "✖ test_x (0.5ms)", True),
        ("tap", "TAP version 13\n# test_a\nok 1 is\n# test_x\nok 2 is\nnot ok 3 should be equal\n  ---\n", True),
        ("tap", "# test_x\nok 2 is\n# test_y\nnot ok 3 should be equal\n", False),
        ("tap", "# test_x\nok 2 is\n\n1..2\nnot ok 3 is", False),
        ("ava", "  ✘ [fail]: sums › test_x", True),
        ("ava", "  ✔ sums › test_x", False),
        ("tap", "#   Failed test 'test_x'", True),
        ("ruby", "rspec ./spec/a_spec.rb:3 # Sums test_x", True),
        ("ruby", "SumsTest#test_x [test/a_test.rb:3]:", True),
        ("ruby", "Sums::of two#test_0002_test_x [spec/a_spec.rb:3]:", True),
        ("ruby", "Sums#test_0002_no test_x [spec/a_spec.rb:3]:", False),
        ("maven", "[ERROR] a.SumsTest.test_x -- Time elapsed: 0.1 s <<< FAILURE!", True),
        ("maven", "[ERROR]   SumsTest.test_x:12 expected: <90>", True),
        ("auto", "FAIL: test_x (tests.test_a.T.test_x)", True),
        ("junit", '<testcase classname="a" name="test_x" time="0">\n<failure message="no">', True),
        ("junit", '<testcase classname="a" name="test_x" time="0"/>', False),
    ],
)
def test_only_its_own_name_as_failed_is_a_report(format_: str, output: str, reported: bool) -> None:
    assert is_reported(f"begin\n{output}\nend\n", format_, "test_x") is reported


def test_a_check_runs_files_of_its_own_language() -> None:
    assert endings(Check("t", "x", format="go")) == (".go",)
    assert endings(Check("t", "cd api && uv run pytest -q")) == (".py",)
    assert ".ts" in endings(Check("t", "npm test")) and ".py" in endings(Check("t", "make test"))


@pytest.mark.parametrize(
    "path", ["tests/test_a.py", "polls/tests.py", "a/b_test.go", "web/a.spec.tsx", "crate/tests/x.rs", "test.js", "test-a.mjs",
             "spec/a.js", "spec/a_spec.rb", "test/test_a.rb", "test/spec_a.rb", "t/a.t", "src/test/java/a/ATest.java"],
)  # fmt: skip
def test_files_that_are_called_as_tests_are_likely(path: str) -> None:
    assert likely(path)


@pytest.mark.parametrize(
    "path", ["contest.py", "src/test.css", "latest.js", "docs/testing.md", "contest.rb", "src/main/java/A.java"]
)
def test_files_that_only_sound_like_tests_are_not(path: str) -> None:
    assert not likely(path)


@pytest.mark.slow
@pytest.mark.parametrize("runner", [["-m", "pytest", "-q"], ["-m", "unittest", "-v"]])
def test_the_real_runner_reports_each_decoy(tmp_path: Path, runner: list[str]) -> None:
    text = (
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1 + 1, 2)\n\n"
        "    def test_b(self):\n        self.assertTrue(True)\n"
    )
    found = decoys("test_it.py", text)
    assert [one.test for one in found] == ["test_a", "test_b"]
    for one in found:
        (tmp_path / "test_it.py").write_text(one.text)
        command = narrowed(" ".join(["python3", *runner]), one.test).split()[1:]
        done = subprocess.run([sys.executable, "-B", *command], cwd=tmp_path, capture_output=True, text=True)
        assert is_reported(done.stdout + done.stderr, runner[1], one.test), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "directory", "run"),
    [
        ("pytest -q", "", "abcd"),
        ("pytest tests/test_a.py::test_x", "", "a"),
        ("node --test ./tests/test_b.py", "", "b"),
        ("go test ./tests/unit/...", "", "c"),
        ("pytest test_a.py", "tests", "a"),
        ("ava 'tests/test_*.py'", "", "ab"),
        ("pytest --ignore tests/unit", "", "abcd"),
        ("pytest --ignore=tests/unit .", "", "abcd"),
        ("cd tests && pytest", "", "abc"),
        ("pytest 'tests", "", "abcd"),
    ],
)
def test_a_decoy_is_put_where_the_command_looks(command: str, directory: str, run: str) -> None:
    files = {"a": "tests/test_a.py", "b": "tests/test_b.py", "c": "tests/unit/test_c.py", "d": "src/test_d.py"}
    assert named(command, directory, list(files.values())) == [files[one] for one in run]
