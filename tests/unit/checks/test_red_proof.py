"""The Test Writer hands in tests; the machine wants to see them fail, and for a reason a Doer can remove."""

import pytest

from nobrakes.checks.contract import Check, CheckEnd, CheckOutcome, CheckResult, Reason, judge
from nobrakes.checks.proof import judge_red, unsearched_tests
from nobrakes.checks.runners import TestCounts, count_tests, why_failed

ASSERTION = {
    "pytest": "E   assert 1 == 2\n\ntest_a.py:3: AssertionError\nFAILED test_a.py::test_bad - assert 1 == 2",
    "pytest raises": "E   Failed: DID NOT RAISE <class 'SyntaxError'>",
    "unittest": "FAIL: test_bad (uni.T.test_bad)\nAssertionError: 1 != 2",
    "node": "  failureType: 'testCodeFailure'\n  error: '1 == 2'\n  code: 'ERR_ASSERTION'\n  name: 'AssertionError'",
    "cargo": "thread 'tests::bad' (7729) panicked at src/lib.rs:8:18:\nassertion `left == right` failed",
    "go": "--- FAIL: TestPay (0.00s)\n    pay_test.go:9: got 1, want 2",
    "jest": "  ● adds\n\n    expect(received).toBe(expected) // Object.is equality",
    "phpunit": "Failed asserting that 1 matches expected 2.",
    "perl": "#   Failed test 'adds'\n#   at t/a.t line 4.\n#          got: '1'\n#     expected: '2'",
    "rspec": "     Failure/Error: expect(1).to eq(2)",
}

MISSING = {
    "no module": "E   ModuleNotFoundError: No module named 'notthere'",
    "no name to import": "E   ImportError: cannot import name 'pay' from 'shop' (/shop/__init__.py)",
    "no name": "NameError: name 'undefined_thing' is not defined",
    "no attribute": "E   AttributeError: module 'shop' has no attribute 'pay'",
    "node, no file": "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/x/m.mjs' imported from /x/b.test.mjs",
    "node, no export": "SyntaxError: The requested module './m.mjs' does not provide an export named 'nope'",
    "node, TAP, no export": "# SyntaxError: The requested module './m.mjs' does not provide an export named 'nope'",
    "node, no function": "  error: 'foo is not a function'\n  code: 'ERR_TEST_FAILURE'\n  name: 'TypeError'",
    "jest, no file": "  ● Test suite failed to run\n\n    Cannot find module './nope' from 'b.test.js'",
    "vitest, no file": 'Error: Failed to resolve import "./nope" from "b.test.js". Does the file exist?',
    "TypeScript": "a.test.ts:3:8 - error TS2339: Property 'pay' does not exist on type 'Shop'.",
    "rust, no function": "error[E0425]: cannot find function `sub` in crate `cr`",
    "rust, no module": "error[E0432]: unresolved import `cr::shop`",
    "rust, other arguments": "error[E0061]: this function takes 1 argument but 2 arguments were supplied",
    "go": "./a_test.go:5:2: undefined: Pay",
    "go, no method": "./a_test.go:5:4: s.Pay undefined (type Shop has no field or method Pay)",
    "gcc": "a.c:3:5: error: 'pay' was not declared in this scope",
    "C++, no header": "a.cpp:1:10: fatal error: pay.h: No such file or directory",
    "java": "[ERROR] CartTest.java:[9,5] cannot find symbol",
    "ruby": "NameError:\n  uninitialized constant Shop",
    "perl, no module": "Can't locate Shop/Pay.pm in @INC (you may need to install the Shop::Pay module) at t/a.t line 3.",
    "perl, no subroutine": "Undefined subroutine &Shop::pay called at t/a.t line 5.",
    "perl, no method": 'Can\'t locate object method "pay" via package "Shop" at t/a.t line 5.',
    "C#": "CartTests.cs(7,20): error CS0246: The type or namespace name 'Cart' could not be found",
    "kotlin": "e: file:///x/CartTest.kt:7:9 Unresolved reference: Cart",
    "scala": "[error] CartTest.scala:4:13: not found: value Cart",
    "swift": "CartTests.swift:5:9: error: cannot find 'Cart' in scope",
    "dart": "test/a_test.dart:4:10: Error: The method 'pay' isn't defined for the class 'Shop'.",
    "elixir": "** (UndefinedFunctionError) function Shop.pay/1 is undefined (module Shop is not available)",
    "php": 'Error: Class "Shop\\Pay" not found',
}

SYNTAX = {
    "pytest": '__ ERROR collecting test_c.py __\nE     File "test_c.py", line 1\nE   SyntaxError: invalid syntax',
    "pytest, indentation": "E   IndentationError: unexpected indent",
    "unittest": "ERROR: uni (unittest.loader._FailedTest.uni)\nImportError: Failed to import\nSyntaxError: x",
    "node, TAP": "# const x = ;\n#           ^\n# SyntaxError: Unexpected token ';'",
    "jest": "  ● Test suite failed to run\n\n    SyntaxError: /x/c.test.js: Unexpected token (1:10)",
    "vitest": "Error: Transform failed with 1 error:",
    "TypeScript": "a.test.ts(3,8): error TS1005: ';' expected.",
    "rust": "error: mismatched closing delimiter: `}`\n --> tests/i.rs:1:25",
    "go": "# example.com/a\na_test.go:3:1: expected declaration, found x",
    "go, in a function": "./a_test.go:7:3: syntax error: unexpected newline, expected comma or )",
    "perl": 'syntax error at t/a.t line 3, near "= ;"\nExecution of t/a.t aborted due to compilation errors.',
    "gcc": "a.c:3:5: error: expected ';' before 'return'",
    "javac": "CartTest.java:9: error: ';' expected",
    "php": 'PHP Parse error:  syntax error, unexpected token ";" in /x/ATest.php on line 3',
}

NOT_THE_FILES_SYNTAX = {
    "a test that ran raised it": "=== FAILURES ===\nE   SyntaxError: invalid syntax\n=== 1 failed in 0.1s ===",
    "a unittest test raised it": "ERROR: test_eval (uni.T.test_eval)\nSyntaxError: invalid syntax",
    "JSON.parse": "  ● reads\n\n    SyntaxError: Unexpected token h in JSON at position 1",
    "a jest test raised it": "  ● parser › refuses\n\n    SyntaxError: no such verb",
}


@pytest.mark.parametrize("name", ASSERTION)
def test_an_assertion_is_seen(name: str) -> None:
    assert why_failed(ASSERTION[name]) is Reason.ASSERTION


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_symbol_is_seen(name: str) -> None:
    assert why_failed(MISSING[name]) is Reason.MISSING_SYMBOL


@pytest.mark.parametrize("name", SYNTAX)
def test_a_syntax_error_is_seen_and_dominates(name: str) -> None:
    assert why_failed(SYNTAX[name]) is Reason.SYNTAX
    assert why_failed(ASSERTION["node"] + "\n" + SYNTAX[name] + "\n" + MISSING["no module"]) is Reason.SYNTAX


@pytest.mark.parametrize("name", NOT_THE_FILES_SYNTAX)
def test_a_syntax_error_that_a_test_met_is_not_the_files_own(name: str) -> None:
    assert why_failed(NOT_THE_FILES_SYNTAX[name]) is not Reason.SYNTAX


def test_an_output_that_tells_nothing_is_unknown() -> None:
    assert why_failed("make: *** [Makefile:2: test] Error 1") is Reason.UNKNOWN


def ended(output: str, code: int = 1, name: str = "unit", *, started: bool = True) -> CheckResult:
    return judge(CheckEnd(Check(name, "make test"), code if started else None, 1.0, started), count_tests(output))


def proof(output: str, code: int = 1, base: TestCounts | None = None) -> str | None:
    """The verdict on one check that printed this, with the new tests on the base."""
    return judge_red([ended(output, code)], base, count_tests(output), why_failed(output))


GREEN_BASE = TestCounts(passed=50, failed=0, skipped=1)


def test_an_assertion_proves_red() -> None:
    assert proof("E   assert 1 == 2\n1 failed, 50 passed, 1 skipped in 0.1s", base=GREEN_BASE) is None


def test_a_missing_symbol_proves_red_though_it_kept_every_other_test_from_running() -> None:
    assert proof("E   ImportError: cannot import name 'pay'\n1 error in 0.1s", base=GREEN_BASE) is None


def test_a_compiler_that_misses_a_symbol_proves_red_without_a_count() -> None:
    assert proof("error[E0425]: cannot find function `sub` in crate `cr`", code=101) is None


def test_a_failure_nobody_can_explain_is_believed_only_with_a_test_that_failed() -> None:
    assert proof("ValueError: 3\n1 failed in 0.1s") is None
    assert proof("make: *** Error 1", code=2) == "the check failed, but the check's output shows no failing test"


def test_tests_that_pass_prove_nothing() -> None:
    assert (
        proof("51 passed in 0.1s", code=0) == "the new tests already pass without the new code, so they prove nothing"
    )


def test_a_syntax_error_proves_nothing() -> None:
    why = proof("E   SyntaxError: invalid syntax\n1 error in 0.1s", base=GREEN_BASE)
    assert why is not None and "syntax error" in why


@pytest.mark.parametrize(
    ("output", "code", "says"),
    [
        ("no tests ran in 0.1s", 5, "collected no test"),
        ("sh: make: not found", 127, "was not found"),
        ("", 137, "killed by signal 9"),
    ],
)
def test_what_did_not_really_run_proves_nothing(output: str, code: int, says: str) -> None:
    why = proof(output, code)
    assert why is not None and says in why


def test_without_a_test_check_there_is_no_proof() -> None:
    assert judge_red([], None, None, Reason.ASSERTION) is not None


def test_tests_may_not_disappear() -> None:
    why = proof("E   assert 1 == 2\n1 failed, 40 passed, 1 skipped in 0.1s", base=GREEN_BASE)
    assert why is not None and why.startswith("9 tests fewer")


def test_a_base_that_fails_already_does_not_prove_the_new_tests() -> None:
    red_base = TestCounts(passed=49, failed=2, skipped=0)
    assert proof("E   assert 1\n2 failed, 50 passed in 0.1s", base=red_base) is not None
    assert proof("E   assert 1\n3 failed, 49 passed in 0.1s", base=red_base) is None


def test_with_several_test_checks_one_must_fail_and_none_may_be_broken() -> None:
    counts = TestCounts(3, 1, 0)
    red, green = ended("1 failed in 0.1s"), ended("3 passed in 0.1s", 0, "web")
    broken, unreached = ended("", 127, "web"), ended("", 0, "web", started=False)
    assert judge_red([red, green], None, counts, Reason.ASSERTION) is None
    assert judge_red([red, unreached], None, counts, Reason.ASSERTION) is None
    assert judge_red([red, broken], None, counts, Reason.ASSERTION) is not None
    assert judge_red([unreached], None, None, Reason.ASSERTION) is not None


def test_counts_of_zero_prove_nothing_even_where_the_check_allows_them() -> None:
    failed = CheckResult("unit", CheckOutcome.FAIL, "exit code 1", 1, 1.0)
    assert judge_red([failed], None, TestCounts(0, 0, 0), Reason.ASSERTION) == "no test was collected"


@pytest.mark.parametrize(
    ("directories", "paths", "said"),
    [
        (["app"], ["tool/tests/test_a.py"], "tool/tests/test_a.py. The test checks run in app."),
        (["app/", "web"], ["application/test_a.py"], "The test checks run in app, web."),
        (["app"], [f"t{n}" for n in range(7)], "t4 and 2 more"),
        (["app"], ["tool/a", "app/b"], ""),
        (["app", ""], ["tool/a"], ""),
        (["."], ["tool/a"], ""),
        ([], ["tool/a"], ""),
        (["app"], [], ""),
    ],
)
def test_tests_that_no_check_looks_for_are_named(directories: list[str], paths: list[str], said: str) -> None:
    checks = [Check(f"c{n}", "x", directory=one) for n, one in enumerate(directories)]
    found = unsearched_tests(paths, [*checks, Check("lint", "x", kind="lint")])
    assert said in found and bool(said) is bool(found)
