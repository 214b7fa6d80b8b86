"""Cheats: programs that do nothing right, made from what the new tests import."""

from collections.abc import Mapping

import pytest

from nobrakes.checks.stubs import CONSTANT, EMPTY, YES, Tree, judge_cheats, plan

MISSING = "ModuleNotFoundError: No module named 'sums'"


def cheats(
    tests: Mapping[str, str], files: Mapping[str, str] | None = None, output: str = ""
) -> dict[str, dict[str, str]]:
    tree = Tree({*(files or {}), *tests}, dict(files or {}).get)
    return {cheat.name: dict(cheat.files) for cheat in plan(tests, tree, output)}


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
    found = cheats({"tests/test_sums.py": WEAK}, output=MISSING)
    assert set(found) == {EMPTY, YES, CONSTANT}
    assert [name for name in (EMPTY, YES, CONSTANT) if run(found[name]["sums.py"], WEAK)] == [CONSTANT]


def test_two_examples_with_different_results_are_not() -> None:
    found = cheats({"tests/test_sums.py": STRONG}, output=MISSING)
    assert [name for name, files in found.items() if run(files["sums.py"], STRONG)] == []


@pytest.mark.parametrize(
    ("test", "passes"),
    [
        ("from sums import ok\ndef test_ok():\n    assert ok('x')\n", [YES]),
        ("from sums import ok\ndef test_ok():\n    ok('x')\n", [EMPTY, YES]),
        ("from sums import ok\ndef test_ok():\n    assert ok('x') is None\n", [EMPTY, CONSTANT]),
        ("from sums import ok\ndef test_ok():\n    assert ok('x')\n    assert not ok('y')\n", []),
    ],
)
def test_what_says_yes_or_nothing_meets_what_asks_no_more(test: str, passes: list[str]) -> None:
    found = cheats({"tests/test_sums.py": test}, output=MISSING)
    assert [name for name, files in found.items() if run(files["sums.py"], test)] == passes


def test_without_arguments_a_constant_may_be_right() -> None:
    test = "from sums import version\ndef test_version():\n    assert version() == '1.0'\n"
    assert CONSTANT not in cheats({"tests/test_sums.py": test}, output=MISSING)


def test_a_module_goes_where_its_package_is() -> None:
    test = "from shop.cart import Cart\nimport shop.money as money\ndef test_x():\n    money.round(Cart().total())\n"
    found = cheats({"tests/test_x.py": test}, {"src/shop/__init__.py": "", "src/shop/cart.py": "X = 1\n"})
    assert set(found[EMPTY]) == {"src/shop/cart.py", "src/shop/money.py"}
    assert "class Cart" in found[EMPTY]["src/shop/cart.py"]
    assert "X = 1" in found[EMPTY]["src/shop/cart.py"]


def test_an_existing_function_gets_another_body_and_its_neighbours_keep_theirs() -> None:
    test = "from sums import add\ndef test_add():\n    assert add(1, 2) == 3\n"
    before = "def add(a, b):\n    return 0\n\ndef other():\n    return 7\n"
    found = cheats({"tests/test_sums.py": test}, {"sums.py": before})
    assert "return 7" in found[EMPTY]["sums.py"]
    assert run(found[CONSTANT]["sums.py"], test)


def test_methods_are_emptied_but_not_those_that_python_calls() -> None:
    before = "class Cart:\n    def __init__(self):\n        self.n = 1\n    def total(self):\n        return self.n\n"
    test = "from cart import Cart\ndef test_total():\n    assert Cart().total() == 2\n"
    text = cheats({"tests/test_cart.py": test}, {"cart.py": before})[YES]["cart.py"]
    assert "self.n = 1" in text
    assert "return True" in text


def test_an_error_that_is_raised_can_be_raised() -> None:
    test = "import pytest\nfrom sums import Bad, add\ndef test_bad():\n    with pytest.raises(Bad):\n        add(1)\n"
    assert "class Bad(Exception)" in cheats({"tests/test_sums.py": test}, output=MISSING)[EMPTY]["sums.py"]


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
    assert cheats({"tests/test_x.py": test}, {"README.md": ""}) == {}


def test_a_module_of_somebody_else_is_left_alone() -> None:
    test = "import requests\nfrom sums import add\ndef test_x():\n    assert add(requests) == 1\n"
    assert set(cheats({"tests/test_x.py": test}, output=MISSING)[EMPTY]) == {"sums.py"}


JS = """import { add, minus as sub } from '../src/sums.js'
import assert from 'node:assert'
assert.equal(add(1, 2), 3)
assert.strictEqual(sub(3, 1), 2)
"""


def test_a_missing_module_in_javascript() -> None:
    found = cheats({"test/sums.test.mjs": JS}, {"package.json": "{}"})
    assert found[EMPTY] == {
        "src/sums.js": "export const add = function () { return undefined; };\n"
        "export const minus = function () { return undefined; };\n"
    }
    assert "return 3;" in found[CONSTANT]["src/sums.js"]
    assert "return 2;" in found[CONSTANT]["src/sums.js"]


def test_a_required_module_in_javascript() -> None:
    test = "const sums = require('./sums')\nexpect(sums.add(1, 2)).toBe(3)\n"
    found = cheats({"sums.test.js": test})
    assert found[YES] == {"sums.js": "module.exports.add = function () { return true; };\n"}
    assert "return 3;" in found[CONSTANT]["sums.js"]


def test_names_taken_out_of_a_required_module_in_javascript() -> None:
    test = "const { add, minus: sub } = require('../sums')\nassert.strictEqual(add(1, 2), 3)\n"
    found = cheats({"test/sums.test.js": test})
    assert found[EMPTY] == {
        "sums.js": "module.exports.add = function () { return undefined; };\n"
        "module.exports.minus = function () { return undefined; };\n"
    }
    assert "return 3;" in found[CONSTANT]["sums.js"]


@pytest.mark.parametrize(
    "line",
    ["assert.equal(f(3), 7)", "assert.equal(7, f(3))", "t.is(f(3), 7)", "t.same(await f(3), 7)", "expect(f(3)).to.equal(7)",
     "expect(f(3)).to.deep.equal(7);", "expect(await f(3)).toBe(7)", "const got = f(3)\nassert.strictEqual(got, 7)",
     "let got = await f(3);\nexpect(got).toEqual(7);", "assert.strictEqual( f( 3 ) , 7 );"],
)  # fmt: skip
def test_the_value_that_a_call_is_compared_with_in_javascript(line: str) -> None:
    found = cheats({"test/a.test.js": f"import {{ f }} from '../m.js'\n{line}\n"})
    assert found[CONSTANT] == {"m.js": "export const f = function () { return 7; };\n"}
    two = cheats({"test/a.test.js": "import { f } from '../m.js'\nassert.equal(f(), 1)\n"})
    assert CONSTANT not in two, "a call without arguments may well give a constant"


@pytest.mark.parametrize(
    "clause",
    ["const {} = require({})", "const { } = require({})", "const {\n} = require({})", "let { ...all } = require({})",
     "import {} from {}", "import * from {}", "import , from {}", "import { , } from {}", "import type {} from {}",
     "import * as all from {}", "import { default as all } from {}", "import a, * as b from {}", "var $ = require({})"],
)  # fmt: skip
def test_odd_clauses_end_nothing_in_javascript(clause: str) -> None:
    head, _, tail = clause.rpartition("{}")
    cheats({"a.test.js": f"{head}'./sums'{tail}\nall.x(1); b.y(2)\n"})


def test_a_module_that_is_there_is_left_alone_in_javascript() -> None:
    assert cheats({"test/sums.test.ts": JS}, {"src/sums.ts": "export {}"}) == {}


def test_a_module_outside_of_the_repository_is_left_alone() -> None:
    assert cheats({"a.test.js": "import x from '../../x.js'\n"}) == {}


def test_the_reason_names_what_passed() -> None:
    assert judge_cheats([]) is None
    assert f"{EMPTY} and with {CONSTANT}" in str(judge_cheats([EMPTY, CONSTANT]))
