"""Mutation probes: tests that are altered so that they have to fail, and the runner's own words about them."""

import ast
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nobrakes.checks.contract import Check
from nobrakes.checks.probes import (
    MutationProbe,
    endings,
    is_reported,
    likely,
    mutation_probes,
    named,
    near_number,
    near_text,
    others,
    unseen,
)


def probes(path: str, text: str, seed: int = 1) -> list[MutationProbe]:
    """The probes of a file, by this seed."""
    return mutation_probes(path, text, random.Random(seed))


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


def test_in_python_the_expected_value_becomes_one_near_it() -> None:
    found = {one.test: one.text for one in probes("tests/test_shop.py", PYTEST)}
    assert set(found) == {"test_equal", "test_awaited", "test_says_nothing", "test_loops", "test_method"}
    assert re.search(r"assert total\(\[1\]\) == [2-9]\n", found["test_equal"])
    assert "raise AssertionError; total([])" in found["test_says_nothing"]
    assert "raise AssertionError" in found["test_method"], "what is no literal stays, and the test raises"
    for text in found.values():
        ast.parse(text)
        assert text != PYTEST


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
    assert probes("test_x.py", text) == []


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
    (one,) = probes("test_x.py", f"def test_x():\n    {body}\n")
    ast.parse(one.text)
    assert one.text.startswith("def test_x():\n    raise AssertionError\n    ")
    assert body in one.text


def test_a_file_that_is_skipped_as_a_whole_has_none() -> None:
    for line in ("pytestmark = pytest.mark.skip", "pytest.importorskip('x')"):
        assert probes("test_x.py", f"import pytest\n{line}\ndef test_x():\n    assert 1 == 1\n") == []


@pytest.mark.parametrize("value", ["0", "7", "90", "-3", "0.5", "1e-05", "12345678901234567890", "0.30000000000000004"])
def test_a_number_near_another_is_of_the_same_look_and_never_the_same(value: str) -> None:
    for seed in range(50):
        near = near_number(value, random.Random(seed))
        assert float(near) != float(value) and len(near) == len(value)


@pytest.mark.parametrize("value", ["seven", "Ten %", "2024-01-02", "", "…", "ÄÖ a"])
def test_a_text_near_another_differs_in_one_letter_or_digit(value: str) -> None:
    for seed in range(50):
        near = near_text(value, random.Random(seed))
        differing = sum(one != other for one, other in zip(near, value, strict=False))
        assert near.casefold() != value.casefold() and differing + len(near) - len(value) == 1


@pytest.mark.parametrize(
    ("line", "altered"),
    [
        ("assert f() == 'abc'", r"assert f\(\) == '\w{3}'"),
        ("assert True == f()", r"assert False == f\(\)"),
        ("assert f() == -90", r"assert f\(\) == -9[1-9]"),
        ("assert f() == [2, x]", r"assert f\(\) == \[\d, x\]"),
        ("assert f() == (\n        25,\n    )", r"assert f\(\) == \(\n        2\d,\n    \)"),
        ("self.assertEqual(f(), 10)", r"self\.assertEqual\(f\(\), 1[1-9]\)"),
    ],
)
def test_literals_on_either_side_and_in_lists_are_altered(line: str, altered: str) -> None:
    (one,) = probes("test_x.py", f"def test_x():\n    assert g() == 1\n    {line}\n")
    assert one.by_value and re.search(altered, one.text) and line not in one.text
    assert "assert g() == 1\n" in one.text, "the last one, so that all before it is done"


def test_nothing_in_an_altered_file_names_nobrakes_or_looks_unlike_a_test() -> None:
    """What a cheat could search for: a marker, a huge number, an object that nothing equals."""
    texts = {"test_x.py": PYTEST, **{path: text for path, text, *_ in FIRST}}
    for path, text in texts.items():
        for one in probes(path, text):
            added = one.text.replace(text, "")
            assert not re.search(r"nobrakes|decoy|probe|Symbol|object\(\)|Object|\d{9}", added, re.I), added


BENT = {
    "equals everything": "class Any(int):\n    __hash__ = int.__hash__\n    def __eq__(self, other):\n        return True\n",
    "equals all but objects": "class Any(int):\n    __hash__ = int.__hash__\n"
    "    def __eq__(self, other):\n        return type(other) is not object\n",
    "equals what looks like a value": "class Any(int):\n    __hash__ = int.__hash__\n"
    "    def __eq__(self, other):\n        return isinstance(other, (int, float, str))\n",
}


@pytest.mark.parametrize("how", BENT)
@pytest.mark.parametrize("value", ["7", "'seven'", "0.5"])
def test_what_equals_anything_of_the_expected_kind_lets_the_altered_test_pass(how: str, value: str) -> None:
    (one,) = probes("test_x.py", f"def test_x():\n    assert f() == {value}\n", 17)
    scope: dict[str, object] = {}
    exec(f"{BENT[how]}def f():\n    return Any()\n{one.text}test_x()", scope)  # it passes, so it is not reported
    with pytest.raises(AssertionError):
        exec(f"def f():\n    return {value}\n{one.text}test_x()", {})


FIRST = [
    ("a.test.ts", "test('adds', async () => {\n  expect(1).toBe(ONE)\n})\n", "adds", "=> { throw new Error();"),
    ("spec/a_spec.rb", "it 'adds' do\n  check(1)\nend\n", "adds", "it 'adds' do; raise\n"),
    (
        "src/test/java/ATest.java",
        "class ATest {\n    @Test\n    public void adds() throws Exception {\n        check();\n    }\n}\n",
        "adds",
        "{ if (true) { throw new AssertionError(); }",
    ),
    ("a.test.js", "describe('x', () => {\n  it(\"adds two\", function () {\n  })\n})\n", "adds two", "{ throw new"),
    ("a_test.go", "func TestAdd(tt *testing.T) {\n\tx()\n}\n", "TestAdd", "{ tt.FailNow();"),
    (
        "src/lib.rs",
        "#[test]\nfn adds() {\n    assert_eq!(1, 1);\n}\n",
        "adds",
        "{ if true { panic!(); }",
    ),
    ("src/lib.rs", "#[tokio::test]\n#[test]\nfn adds() -> R {\n    Ok(())\n}\n", "adds", "-> R { if true {"),
]


@pytest.mark.parametrize(("path", "text", "test", "says"), FIRST)
def test_elsewhere_the_test_fails_as_the_first_thing_it_does(path: str, text: str, test: str, says: str) -> None:
    (one,) = probes(path, text)
    assert (one.test, one.path) == (test, path) and says in one.text


@pytest.mark.parametrize(
    ("path", "line", "altered"),
    [
        ("a.test.js", "assert.strictEqual(f(1, 2), 3)", r"assert\.strictEqual\(f\(1, 2\), [1-9]\)"),
        ("a.test.js", "assert.equal(f('a'), 'b', 'why');", r"assert\.equal\(f\('a'\), '[a-z]', 'why'\);"),
        ("test.js", "t.is(f('a, b'), 'ab');", r"t\.is\(f\('a, b'\), '[a-z]{2}'\);"),
        ("a.spec.js", "await expect(f(1)).toBe(true);", r"await expect\(f\(1\)\)\.toBe\(false\);"),
        ("a.spec.js", "expect(f(1)).to.equal(-1.5);", r"expect\(f\(1\)\)\.to\.equal\(-1\.[1-9]\);"),
        ("a.test.ts", "expect(f(1)).toEqual(null);", r"expect\(f\(1\)\)\.toEqual\(0\);"),
    ],
)
def test_in_javascript_the_expected_value_becomes_one_near_it(path: str, line: str, altered: str) -> None:
    text = f"test('adds', async t => {{\n  const a = {{}};\n  {line}\n  {line}\n}});\n"
    (one,) = probes(path, text)
    first, second = one.text.splitlines()[2:4]
    assert re.fullmatch(f"  {altered}", first) and first != second == f"  {line}"


def test_a_probe_tells_whether_a_value_was_altered() -> None:
    both = "test('throws', () => {\n  f()\n})\ntest('equals', () => {\n  assert.equal(f(), 1)\n})\n"
    assert [(one.test, one.by_value) for one in probes("a.test.js", both)] == [("throws", False), ("equals", True)]
    both = "def test_a():\n    f()\ndef test_b():\n    assert f() == 1\n"
    assert [(one.test, one.by_value) for one in probes("test_a.py", both)] == [("test_a", False), ("test_b", True)]


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
    (one,) = probes("a.test.js", f"test('adds', () => {{\n  {body}\n}})\n")
    assert "=> { throw new Error()" in one.text and body in one.text


@pytest.mark.parametrize(
    ("path", "line", "altered"),
    [
        ("t/a.t", "is(f(1), 90, 'takes ten');", r"is\(f\(1\), 9[1-9], 'takes ten'\);"),
        ("t/a.t", 'is f(1), "a b", "takes ten";', r'is f\(1\), "[a-z] [a-z]", "takes ten";'),
    ],
)
def test_in_perl_a_test_point_expects_another_value(path: str, line: str, altered: str) -> None:
    (one,) = probes(path, f"use Test::More;\n{line}\n")
    assert one.test == "takes ten" and re.fullmatch(f"use Test::More;\n{altered}\n", one.text) and line not in one.text
    assert probes(path, f"use Test::More;\nSKIP: {{\n{line}\n}}\n") == []
    assert probes(path, f"use Test::More;\n  {line}\n") == [], "only what stands at the left certainly runs"


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
def test_in_ruby_the_expected_value_becomes_another_one(line: str) -> None:
    (one,) = probes("spec/a_spec.rb", f"  it 'adds' do\n    {line}\n  end\n")
    assert one.by_value and line not in one.text and "raise" not in one.text


def test_a_test_in_java_expects_another_value() -> None:
    (one,) = probes("ATest.java", "    @Test\n    void adds() {\n        assertEquals(90, f(1));\n    }\n")
    assert one.test == "adds" and re.search(r"assertEquals\(9[1-9], f\(1\)\);", one.text)


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
    assert probes(path, text) == []


@pytest.mark.parametrize(
    ("format_", "output", "seen"),
    [
        ("pytest", "FAILED t/test_a.py::test_x - no\n1 failed, 3 passed in 0.1s", True),
        ("pytest", "FAILED t/test_a.py::test_x[1]\nFAILED t/test_a.py::test_x[2]\n2 failed, 3 passed in 0.1s", True),
        ("pytest", "FAILED t/test_a.py::test_x\nFAILED t/test_a.py::test_y\n2 failed, 2 passed in 0.1s", False),
        ("pytest", "FAILED t/test_a.py::test_x\nFAILED t/test_a.py::test_flaky\n2 failed, 2 passed in 0.1s", True),
        ("pytest", "FAILED t/test_a.py::test_y\n1 failed, 3 passed in 0.1s", False),
        ("pytest", "4 passed in 0.1s", False),
        ("unittest", "FAIL: test_x (a.T.test_x)\nRan 4 tests in 0.1s\n\nFAILED (failures=1)", True),
        ("tap", "TAP version 13\nok 1 - test_y\nnot ok 2 - test_x\n1..2", True),
        ("tap", "TAP version 13\nnot ok 1 - test_y\nnot ok 2 - test_x\n1..2", False),
    ],
)
def test_seen_is_the_altered_test_alone(format_: str, output: str, seen: bool) -> None:
    assert (unseen(output, format_, [["test_x"]], ["t/test_a.py::test_flaky"]) == []) is seen


def test_of_each_group_one_altered_test_has_to_fail() -> None:
    said = "FAILED t/test_a.py::test_x - no\n1 failed, 3 passed in 0.1s"
    groups = [["test_x", "test_y"], ["test_z"]]
    assert unseen(said, "pytest", groups) == [1], "somebody else's test speaks for nobody"
    assert (
        unseen(
            said.replace("test_x - no", "test_z\nFAILED t/test_a.py::test_y").replace("1 f", "2 f"), "pytest", groups
        )
        == []
    )
    assert unseen(said.replace("1 f", "FAILED t/test_a.py::test_o\n2 f"), "pytest", groups) == [0, 1], "others failed"


def test_where_a_report_names_nothing_its_number_tells_of_others() -> None:
    said = "FAIL: test_x (a.T.test_x)\nFAIL: test_y (a.T.test_y)\nRan 4 tests in 0.1s\n\nFAILED (failures=2)"
    assert others(said, "unittest", ["test_x"]) and not others(said, "unittest", ["test_x", "test_y"])


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
def test_the_real_runner_reports_each_probe(tmp_path: Path, runner: list[str]) -> None:
    text = (
        "import unittest\n\n\nclass T(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(1 + 1, 2)\n\n"
        "    def test_b(self):\n        self.assertTrue(True)\n"
    )
    found = probes("test_it.py", text)
    assert [one.test for one in found] == ["test_a", "test_b"]
    for one in found:
        (tmp_path / "test_it.py").write_text(one.text)
        done = subprocess.run([sys.executable, "-B", *runner], cwd=tmp_path, capture_output=True, text=True)
        assert unseen(done.stdout + done.stderr, runner[1], [[one.test]]) == [], done.stdout + done.stderr


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
def test_a_probe_is_put_where_the_command_looks(command: str, directory: str, run: str) -> None:
    files = {"a": "tests/test_a.py", "b": "tests/test_b.py", "c": "tests/unit/test_c.py", "d": "src/test_d.py"}
    assert named(command, directory, list(files.values())) == [files[one] for one in run]
