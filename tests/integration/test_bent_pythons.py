"""Code under test that bends Python's runners: a test that was altered to fail is not reported, as it is on main."""

import random
import subprocess
import sys
from pathlib import Path

import pytest

from nobrakes.checks.probes import is_reported, mutation_probes

TEST = "import unittest\nfrom shop.cart import f\n\n\nclass TestCart(unittest.TestCase):\n    def test_f(self):\n        self.assertEqual(f(3), 3)\n"
HONEST = "def f(n):\n    return n\n"
WRONG = "def f(n):\n    return None\n"
BENT = {
    "an assertion that says yes": "import unittest\nunittest.TestCase.assertEqual = lambda *a, **k: None\n" + WRONG,
    "a list of tests of its own": WRONG
    + "import unittest\nclass Fake(unittest.TestCase):\n    def test_f(self):\n        pass\n"
    "unittest.TestLoader.loadTestsFromModule = lambda s, m, *a, **k: unittest.TestSuite([Fake('test_f')])\n",
    "a test that is exchanged": WRONG
    + "import unittest\ndef init(cls, **k):\n    cls._class_cleanups = []\n    cls.test_f = lambda self: None\n"
    "unittest.TestCase.__init_subclass__ = classmethod(init)\n",
    "a result that forgets": WRONG
    + "import unittest\nunittest.TestResult.addFailure = unittest.TestResult.addError = lambda *a, **k: None\n"
    "import unittest.runner as r\nr.TextTestResult.addFailure = r.TextTestResult.addError = lambda *a, **k: None\n",
    "an end that is not a failure": WRONG
    + "import os, unittest\nunittest.TestCase.run = lambda self, r=None: (r.startTest(self), r.addSuccess(self), r.stopTest(self))\n",
}  # fmt: skip


def output(folder: Path, code: str) -> str:
    """What unittest prints with this code, and the test altered."""
    (one,) = mutation_probes("tests/test_cart.py", TEST, random.Random(7))
    for path, text in (("shop/cart.py", code), ("shop/__init__.py", ""), ("tests/test_cart.py", one.text)):
        (folder / path).parent.mkdir(exist_ok=True)
        (folder / path).write_text(text)
    argv = [sys.executable, "-B", "-m", "unittest", "discover", "-v", "-s", "tests", "-t", "."]
    (folder / "tests" / "__init__.py").touch()
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("how", BENT)
def test_what_bends_unittest_does_not_report_the_altered_test(tmp_path: Path, how: str) -> None:
    said = output(tmp_path, BENT[how])
    assert "test_f" in said and "OK" in said, said
    assert not is_reported(said, "unittest", "test_f")


def test_where_nothing_is_bent_it_is_reported(tmp_path: Path) -> None:
    assert is_reported(output(tmp_path, HONEST), "unittest", "test_f")
