"""The stub program: it does nothing right, and is made from what the new tests import."""

from collections.abc import Mapping

import pytest

from nobrakes.checks.stubs import Tree, plan

MISSING = "ModuleNotFoundError: No module named 'sums'"


def stubs(tests: Mapping[str, str], files: Mapping[str, str] | None = None, output: str = "") -> Mapping[str, str]:
    tree = Tree({*(files or {}), *tests}, dict(files or {}).get)
    return plan(tests, tree, output)


def run(program: str, test: str) -> bool:
    """Whether the test passes with the program in place of its import."""
    scope: dict[str, object] = {}
    exec(program, scope)
    body = "\n".join(line for line in test.splitlines() if not line.startswith(("from ", "import ")))
    exec(body, scope)
    tests = [value for name, value in scope.items() if name.startswith("test_") and callable(value)]
    try:
        for function in tests:
            function()
    except AssertionError:
        return False
    return True


WEAK = "from sums import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
STRONG = WEAK + "\ndef test_more():\n    assert add(2, 2) == 4\n"


def test_one_example_is_met_by_a_constant() -> None:
    assert run(stubs({"tests/test_sums.py": WEAK}, output=MISSING)["sums.py"], WEAK)


def test_two_examples_with_different_results_are_not() -> None:
    assert not run(stubs({"tests/test_sums.py": STRONG}, output=MISSING)["sums.py"], STRONG)


@pytest.mark.parametrize(
    ("test", "passes"),
    [
        ("assert ok('x')", True),
        ("ok('x')", True),
        ("assert ok('x') is None", True),
        ("assert not ok('x')", True),
        ("assert ok('x')\n    assert not ok('y')", False),
        ("assert ok('x') == 3\n    assert ok('y')", True),
        ("assert ok('x') == 3\n    assert not ok('y')", False),
    ],
)
def test_what_says_yes_or_nothing_meets_what_asks_no_more(test: str, passes: bool) -> None:
    test = f"from sums import ok\ndef test_ok():\n    {test}\n"
    assert run(stubs({"tests/test_sums.py": test}, output=MISSING)["sums.py"], test) == passes


def test_one_program_answers_each_function_as_it_is_asked() -> None:
    """No program whose functions all have an empty body, or all say yes, or all give a constant, passes these."""
    asked = ("add(1, 2) == 3", "is_ok(1)", "not is_bad(1)", "find(1) is None", "log(1) is not None")
    test = "from sums import *\n" + "".join(f"def test_{n}():\n    assert {one}\n" for n, one in enumerate(asked))
    test = test.replace("import *", "import add, is_ok, is_bad, find, log")
    assert run(stubs({"tests/test_sums.py": test}, output=MISSING)["sums.py"], test)
    more = test + "def test_more():\n    assert add(2, 2) == 4\n"
    assert not run(stubs({"tests/test_sums.py": more}, output=MISSING)["sums.py"], more)


def test_the_answer_is_the_one_that_most_tests_want() -> None:
    test = WEAK + "def test_a():\n    assert add(2, 2) == 4\ndef test_b():\n    assert add(1, 3) == 4\n"
    assert "return 4" in stubs({"tests/test_sums.py": test}, output=MISSING)["sums.py"]


def test_without_arguments_a_constant_may_be_right() -> None:
    test = "from sums import version\ndef test_version():\n    assert version() == '1.0'\n"
    assert not run(stubs({"tests/test_sums.py": test}, output=MISSING)["sums.py"], test)


def test_a_module_goes_where_its_package_is() -> None:
    test = "from shop.cart import Cart\nimport shop.money as money\ndef test_x():\n    money.round(Cart().total())\n"
    found = stubs({"tests/test_x.py": test}, {"src/shop/__init__.py": "", "src/shop/cart.py": "X = 1\n"})
    assert set(found) == {"src/shop/cart.py", "src/shop/money.py"}
    assert "class Cart" in found["src/shop/cart.py"]
    assert "X = 1" in found["src/shop/cart.py"]


def test_an_existing_function_gets_another_body_and_its_neighbours_keep_theirs() -> None:
    test = "from sums import add\ndef test_add():\n    assert add(1, 2) == 3\n"
    before = "def add(a, b):\n    return 0\n\ndef other():\n    return 7\n"
    found = stubs({"tests/test_sums.py": test}, {"sums.py": before})
    assert "return 7" in found["sums.py"]
    assert run(found["sums.py"], test)


def test_methods_are_emptied_but_not_those_that_python_calls() -> None:
    before = "class Cart:\n    def __init__(self):\n        self.n = 1\n    def total(self):\n        return self.n\n"
    test = "from cart import Cart\ndef test_total():\n    assert Cart().total() == 2\n"
    text = stubs({"tests/test_cart.py": test}, {"cart.py": before})["cart.py"]
    assert "self.n = 1" in text
    assert "return True" in text


def test_an_error_that_is_raised_can_be_raised() -> None:
    test = "import pytest\nfrom sums import Bad, add\ndef test_bad():\n    with pytest.raises(Bad):\n        add(1)\n"
    assert "class Bad(Exception)" in stubs({"tests/test_sums.py": test}, output=MISSING)["sums.py"]


@pytest.mark.parametrize(
    "test",
    [
        "import os\nfrom json import loads\ndef test_x():\n    assert loads('1') == 1\n",
        "def test_x(:\n",
        "assert True\n",
        "from . import helper\n",
        "from sums import *\n",
    ],
)
def test_nothing_is_claimed_where_nothing_of_the_project_is_imported(test: str) -> None:
    assert stubs({"tests/test_x.py": test}, {"README.md": ""}) == {}


def test_a_module_of_somebody_else_is_left_alone() -> None:
    test = "import requests\nfrom sums import add\ndef test_x():\n    assert add(requests) == 1\n"
    assert set(stubs({"tests/test_x.py": test}, output=MISSING)) == {"sums.py"}


JS = """import { add, minus as sub } from '../src/sums.js'
import assert from 'node:assert'
assert.equal(add(1, 2), 3)
assert.strictEqual(sub(3, 1), 2)
"""


def test_a_missing_module_in_javascript() -> None:
    assert stubs({"test/sums.test.mjs": JS}, {"package.json": "{}"}) == {
        "src/sums.js": "export const add = function () { return 3; };\n"
        "export const minus = function () { return 2; };\n"
    }


def test_a_required_module_in_javascript() -> None:
    test = "const sums = require('./sums')\nexpect(sums.add(1, 2)).toBe(3)\n"
    assert stubs({"sums.test.js": test}) == {"sums.js": "module.exports.add = function () { return 3; };\n"}


def test_names_taken_out_of_a_required_module_in_javascript() -> None:
    test = "const { add, minus: sub } = require('../sums')\nassert.strictEqual(add(1, 2), 3)\n"
    assert stubs({"test/sums.test.js": test}) == {
        "sums.js": "module.exports.add = function () { return 3; };\n"
        "module.exports.minus = function () { return true; };\n"
    }


@pytest.mark.parametrize(
    "line",
    ["assert.equal(f(3), 7)", "assert.equal(7, f(3))", "t.is(f(3), 7)", "t.same(await f(3), 7)", "expect(f(3)).to.equal(7)",
     "expect(f(3)).to.deep.equal(7);", "expect(await f(3)).toBe(7)", "const got = f(3)\nassert.strictEqual(got, 7)",
     "let got = await f(3);\nexpect(got).toEqual(7);", "assert.strictEqual( f( 3 ) , 7 );"],
)  # fmt: skip
def test_the_value_that_a_call_is_compared_with_in_javascript(line: str) -> None:
    found = stubs({"test/a.test.js": f"import {{ f }} from '../m.js'\n{line}\n"})
    assert found == {"m.js": "export const f = function () { return 7; };\n"}


@pytest.mark.parametrize(
    ("lines", "answer"),
    [
        ("assert.equal(f(), 7)", "true"),  # a call without arguments may well give a constant
        ("f(3)", "true"), ("assert(f(3))", "true"), ("expect(f(3)).toBeDefined()", "true"), ("assert.notEqual(f(3), 7)", "true"),
        ("if (!f(3)) throw new Error()", "true"), ("expect(f(3)).not.toBe(7)", "true"), ("assert.equal(f(), true)", "true"),
        ("assert(!f(3))", "undefined"), ("assert(!await f(3))", "undefined"), ("t.falsy(f(3))", "undefined"),
        ("const got = f(3)\nassert(!got)", "undefined"), ("expect(f()).toBeUndefined()", "undefined"),
        ("assert.equal(f(), undefined)", "undefined"), ("expect(f(3)).not.toBeTruthy()", "undefined"),
        ("if (f(3)) throw new Error()", "undefined"), ("assert(f(1))\nassert.equal(f(3), 7)", "7"),
        ("assert(!f(1))\nassert.equal(f(3), 0)", "0"),
    ],
)  # fmt: skip
def test_what_a_function_answers_in_javascript(lines: str, answer: str) -> None:
    found = stubs({"test/a.test.js": f"import {{ f }} from '../m.js'\n{lines}\n"})
    assert found == {"m.js": f"export const f = function () {{ return {answer}; }};\n"}


def test_the_surest_answer_of_several_test_files_is_taken_in_javascript() -> None:
    tests = ("assert(f(1))", "assert(!f(1))", "assert.equal(f(3), 7)", "f(1)")
    found = stubs({f"test/{n}.test.js": f"import {{ f }} from '../m.js'\n{one}\n" for n, one in enumerate(tests)})
    assert "return 7" in found["m.js"]


@pytest.mark.parametrize(
    "clause",
    ["const {} = require({})", "const { } = require({})", "const {\n} = require({})", "let { ...all } = require({})",
     "import {} from {}", "import * from {}", "import , from {}", "import { , } from {}", "import type {} from {}",
     "import * as all from {}", "import { default as all } from {}", "import a, * as b from {}", "var $ = require({})"],
)  # fmt: skip
def test_odd_clauses_end_nothing_in_javascript(clause: str) -> None:
    head, _, tail = clause.rpartition("{}")
    stubs({"a.test.js": f"{head}'./sums'{tail}\nall.x(1); b.y(2)\n"})


def test_a_module_that_is_there_is_left_alone_in_javascript() -> None:
    assert stubs({"test/sums.test.ts": JS}, {"src/sums.ts": "export {}"}) == {}


def test_a_module_outside_of_the_repository_is_left_alone() -> None:
    assert stubs({"a.test.js": "import x from '../../x.js'\n"}) == {}
