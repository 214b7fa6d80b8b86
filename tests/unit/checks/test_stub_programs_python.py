"""Stub programs in Python: whatever way tests come to the code and to what they expect, a constant is seen through."""

import asyncio
import inspect
import itertools
import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any

import pytest

from nobrakes.checks.stubs import Tree, plan

MISSING = "ModuleNotFoundError: No module named 'lib'"
M = "lib/m.py"


def stubs(test: str, files: Mapping[str, str], path: str = "tests/test_m.py") -> Mapping[str, str]:
    return plan({path: test}, Tree({*files, path}, dict(files).get), MISSING)


def modules_of(files: Mapping[str, str]) -> dict[str, ModuleType]:
    """The files as modules that can be imported."""
    made = {}
    for path in sorted(files, key=lambda path: (not path.endswith("__init__.py"), path)):
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        module = made[name] = ModuleType(name)
        package = path.endswith("__init__.py")
        module.__package__ = name if package else name.rpartition(".")[0]
        if package or any(other.startswith(name.replace(".", "/") + "/") for other in files):
            module.__path__ = []
        if "." in name:
            above = made.setdefault(name.rpartition(".")[0], ModuleType(name.rpartition(".")[0]))
            above.__path__ = getattr(above, "__path__", [])
            setattr(above, name.rpartition(".")[2], module)
    return made


def passes(files: Mapping[str, str], test: str) -> bool:
    """Whether the test passes with these files; runs what pytest would, in this process."""
    made = modules_of(files)
    before = {name: sys.modules.get(name) for name in made}
    sys.modules.update(made)
    try:
        for name in sorted(made, key=lambda name: -name.count(".")):
            path = next(
                (p for p in files if p in (name.replace(".", "/") + ".py", name.replace(".", "/") + "/__init__.py")),
                None,
            )
            if path is not None:
                exec(files[path], made[name].__dict__)
        scope: dict[str, Any] = {"__name__": "tests.test_m", "__package__": "tests"}
        exec(test, scope)
        return all(_run(one, scope) for name, one in list(scope.items()) if name.lower().startswith("test"))
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module


def _run(one: Any, scope: dict[str, Any]) -> bool:
    if inspect.isclass(one):
        case = one()
        case.setUp()
        return all(_run(getattr(case, name), scope) for name in dir(case) if name.startswith("test"))
    rows: list[dict[str, Any]] = [{}]
    for mark in getattr(one, "pytestmark", ()):
        names = [name.strip() for name in mark.args[0].split(",")]
        cells = [row if len(names) > 1 else (row,) for row in mark.args[1]]
        table = [dict(zip(names, row, strict=True)) for row in cells]
        rows = [{**a, **b} for a, b in itertools.product(rows, table)]
    for row in rows:
        given = {name: scope[name].__wrapped__() for name in inspect.signature(one).parameters if name not in row}
        try:
            done = one(**row, **given)
            if inspect.iscoroutine(done):
                asyncio.run(done)
        except (AssertionError, AttributeError, TypeError):
            return False
    return True


FORMS = {
    "a name of a module": "from lib.m import f\ndef test_f():\n    assert f(3) == {0}\n",
    "a module of a package": "from lib import m\ndef test_f():\n    assert m.f(3) == {0}\n",
    "a module under another name": "import lib.m as other\ndef test_f():\n    assert other.f(3) == {0}\n",
    "the whole way": "import lib.m\ndef test_f():\n    assert lib.m.f(3) == {0}\n",
    "everything": "from lib.m import *\ndef test_f():\n    assert f(3) == {0}\n",
    "loaded by name": "import importlib\nm = importlib.import_module('lib.m')\ndef test_f():\n    assert m.f(3) == {0}\n",
    "inside the test": "def test_f():\n    from lib import m\n    assert m.f(3) == {0}\n",
    "by a variable": "from lib import m\ndef test_f():\n    got = m.f(3)\n    wanted = {0}\n    assert got == wanted\n",
    "approximately": "import pytest\nfrom lib.m import f\ndef test_f():\n    assert f(3) == pytest.approx({0})\n",
    "a method": "from lib.m import C\ndef test_f():\n    assert C(1).f(3) == {0}\n",
    "a method of a variable": "from lib import m\ndef test_f():\n    c = m.C(1)\n    assert c.f(3) == {0}\n",
    "what a class was made with": "from lib.m import C\ndef test_f():\n    assert C(1).total() == {0}\n",
    "an attribute": "from lib.m import C\ndef test_f():\n    assert C(1).size == {0}\n",
    "a fixture": "import pytest\nfrom lib.m import C\n@pytest.fixture\ndef c():\n    return C(1)\n"
    "def test_f(c):\n    assert c.f(3) == {0}\n",
    "set up": "import unittest\nfrom lib.m import C\nclass TestC(unittest.TestCase):\n"
    "    def setUp(self):\n        self.c = C(1)\n    def test_f(self):\n        self.assertEqual(self.c.f(3), {0})\n"
    "    def runTest(self):\n        pass\n",
    "a table": "import pytest\nfrom lib import m\n@pytest.mark.parametrize('a, b', [(3, {0})])\n"
    "def test_f(a, b):\n    assert m.f(a) == b\n",
    "a loop": "from lib import m\ndef test_f():\n    for a, b in [(3, {0})]:\n        assert m.f(a) == b\n",
    "awaited": "from lib import m\nasync def test_f():\n    assert await m.f(3) == {0}\n",
    "run to its end": "import asyncio\nfrom lib.m import f\ndef test_f():\n    assert asyncio.run(f(3)) == {0}\n",
    "by getattr": "from lib import m\ndef test_f():\n    assert getattr(m, 'f')(3) == {0}\n",
    "in a tuple": "from lib.m import f\ndef test_f():\n    assert (f(3), 1) == ({0}, 1)\n",
    "a name on the way": "from lib.m import f\ndef test_f():\n    assert (x := f(3)) == {0}\n",
    "a name that was on the way": "from lib.m import f\ndef test_f():\n    if (x := f(3)) is not None:\n        pass\n"
    "    assert x == {0}\n",
    "a table under a name": "import pytest\nfrom lib.m import f\nCASES{0} = [(3, {0})]\n"
    "@pytest.mark.parametrize('a, b', CASES{0})\ndef test_f(a, b):\n    assert f(a) == b\n",
    "a loop over a table under a name": "from lib.m import f\nCASES{0} = ((3, {0}),)\ndef test_f():\n"
    "    for a, b in CASES{0}:\n        assert f(a) == b\n",
    "the items of a dict": "from lib.m import f\ndef test_f():\n    for a, b in {{3: {0}}}.items():\n        assert f(a) == b\n",
    "not unlike": "from lib.m import f\ndef test_f():\n    assert not f(3) != {0}\n",
    "what the class holds": "import unittest\nfrom lib.m import C\nclass TestC(unittest.TestCase):\n    c = C(1)\n"
    "    def test_f(self):\n        self.assertEqual(self.c.f(3), {0})\n    def runTest(self):\n        pass\n",
    "an awaited method": "from lib.m import C\nasync def test_f():\n    assert await C(1).f(3) == {0}\n",
}  # fmt: skip

THERE = (
    "async def _(): pass\n{a}def f(n):\n    return n\nclass C:\n    def __init__(self, n):\n        self.n = n\n"
    "    {a}def f(self, n):\n        return n\n    def total(self):\n        return self.n\n"
    "    @property\n    def size(self):\n        return self.n\n"
)


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize("form", FORMS)
def test_one_example_is_met_by_a_constant_in_whatever_way_it_is_asked(form: str, there: bool) -> None:
    is_async = "await" in form or "run to" in form
    files = {"lib/__init__.py": ""} | ({M: THERE.format(a="async " if is_async else "")} if there else {})
    test = FORMS[form].format(7)
    found = stubs(test, files)
    assert passes({**files, **found}, test), found


@pytest.mark.parametrize("form", FORMS)
def test_two_results_are_met_by_none(form: str) -> None:
    files = {"lib/__init__.py": ""}
    weak = FORMS[form]
    second = weak.replace("def test_f", "def test_g").replace("class TestC", "class TestD")
    test = weak.format(7) + second.format(8)
    assert not passes({**files, **stubs(test, files)}, test)


LITERAL = ("assert {f}(3) == 7", "assert round({f}(3), 2) == 7.0", "assert [{f}(a) for a in (1, 2)] == [7, 7]",
    "if {f}(3) != 7:\n        raise AssertionError", "ok = {f}(3) == 7\n    assert ok", "unittest.TestCase().assertEqual({f}(3), 7)",
    "same({f}(3), 7)", "assert via_{f}(3) == 7", "ask_{f}(3, 7)")  # fmt: skip
YES = ("assert {f}(3)", "{f}(3)", "assert {f}(3) is not None", "assert {f}(3) is True", "assert {f}(3) != 4", "assert {f}(3) > 0", "assert {f}() == 1",
    "assert not {f}(3) == 4", "assert not {f}(3) > 5", "assert {f}(3) in (True, 7)", "assert all({f}(a) for a in (1, 2))",
    "assert [*map({f}, (1, 2))] == [True, True]", "assert isinstance({f}(3), bool)", "if not {f}(3):\n        raise AssertionError",
    "assert {{'a': {f}(3)}} == {{'a': True}}", "yes({f}(3))", "assert via_{f}(3)", "unittest.TestCase().assertTrue({f}(3))", "assert {f}() is True",
    "unittest.TestCase().assertIsNot({f}(3), None)", "unittest.TestCase().assertNotEqual({f}(3), 7)", "unittest.TestCase().assertGreater({f}(3), 0)",
    "assert {f}(1) == {f}(2)", "if not {f}(1):\n        return\n    assert {f}(2)", "assert [C(1)][0].{f}(3)", "assert {f}(3) != 2 != {f}(2)")  # fmt: skip
NO = ("assert not {f}(3)", "{f}(3)", "assert {f}(3) is None", "assert {f}(3) != 1", "assert {f}(3) not in (1, 2)", "assert {f}(3) in (None, 4)",
    "assert not any({f}(a) for a in (1, 2))", "assert all(not {f}(a) for a in (1, 2))", "assert [{f}(a) for a in (1, 2)] == [None, None]",
    "if {f}(3):\n        raise AssertionError", "while {f}(3):\n        raise AssertionError", "assert not ({f}(1) or {f}(2))", "x = {f}(3)\n    assert not x",
    "x = not {f}(3)\n    assert x", "assert ({f}(3), 1) == (None, 1)", "no({f}(3))", "assert not via_{f}(3)", "unittest.TestCase().assertFalse({f}(3))",
    "unittest.TestCase().assertIsNone({f}(3), 'text')", "assert {f}() is None", "assert {f}(1) == {f}(2)", "assert not [C(1)][0].{f}(3)")  # fmt: skip
HELPERS = """import unittest
from lib.m import C, f, g
def yes(v):
    assert v
def no(v):
    assert not v
def same(one, other):
    assert one == other
def via_f(n):
    return f(n)
def via_g(n):
    return g(n)
def ask_f(n, wanted):
    assert f(n) == wanted
def ask_g(n, wanted):
    assert g(n) == wanted
def test_a():
    {0}
def test_b():
    {1}
"""


@pytest.mark.parametrize("there", [False, True], ids=["new", "there"])
@pytest.mark.parametrize(("one", "other"), [*itertools.product(("LITERAL", "YES", "NO"), repeat=2)])
def test_whatever_two_functions_are_asked_the_one_program_meets_it(one: str, other: str, there: bool) -> None:
    """Each use is met by a uniform program; of two uses the program that answers each as it is asked meets every mixture."""
    files = {"lib/__init__.py": ""} | ({M: "def f(n=0):\n    return n\ndef g(n=0):\n    return n\n"} if there else {})
    files |= (
        {
            M: files[M]
            + "class C(str):\n    f = None\n    def f(self, n):\n        return n\n    def g(self, n):\n        return n\n"
        }
        if there
        else {}
    )
    for a, b in itertools.product(globals()[one], globals()[other]):
        test = HELPERS.format(a.format(f="f"), b.format(f="g"))
        assert passes({**files, **stubs(test, files)}, test), (a, b)


@pytest.mark.parametrize("uses", ["LITERAL", "YES", "NO"])
def test_what_one_uniform_program_meets_of_one_function_is_met(uses: str) -> None:
    files = {"lib/__init__.py": ""}
    for a, b in itertools.product(globals()[uses], repeat=2):
        test = HELPERS.format(a.format(f="f"), b.format(f="f"))
        assert passes({**files, **stubs(test, files)}, test), (a, b)


def test_a_name_that_a_package_hands_on_is_replaced_where_it_is_made() -> None:
    files = {"lib/__init__.py": "from .m import f\n", M: "def f(n):\n    return n\n"}
    test = "from lib import f\ndef test_f():\n    assert f(3) == 7\n"
    assert set(stubs(test, files)) == {M}


def test_what_is_made_without_a_def_is_made_again() -> None:
    files = {"lib/__init__.py": "", M: "f = lambda n: n\n"}
    test = "from lib import m\ndef test_f():\n    assert m.f(3) == 7\n"
    assert passes({**files, **stubs(test, files)}, test)


def test_a_relative_import_is_one_of_the_project() -> None:
    files = {"lib/__init__.py": "", "lib/tests/__init__.py": "", M: "def f(n):\n    return n\n"}
    for line in ("from ..m import f", "from .. import m\nf = m.f"):
        test = f"{line}\ndef test_f():\n    assert f(3) == 7\n"
        assert set(stubs(test, files, "lib/tests/test_m.py")) == {M}, line


def test_helpers_beside_the_tests_are_not_replaced() -> None:
    path = "tests/test_m.py"
    tree = Tree({path, "tests/help.py", "tests/__init__.py"}, {"tests/help.py": "def f(n):\n    return n\n"}.get)
    test = "from .help import f\ndef test_f():\n    assert f(3) == 7\n"
    assert plan({path: test, "tests/help.py": "def f(n):\n    return n\n"}, tree, "") == {}


def test_an_attribute_of_a_package_that_is_no_module_stays_one() -> None:
    files = {"lib/__init__.py": "class settings:\n    debug = False\n\ndef f(n):\n    return n\n"}
    test = "from lib import settings, f\ndef test_f():\n    assert settings.debug is False\n    assert f(3) == 7\n"
    assert set(stubs(test, files)) == {"lib/__init__.py"}
