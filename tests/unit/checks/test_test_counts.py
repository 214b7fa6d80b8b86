"""What test commands print, read. "captured" outputs are the tools' own; the others follow their sources."""

import time

import pytest

from nobrakes.checks.runners import READERS, TestCounts, count_tests

PYTEST = {  # captured from pytest 9.2
    "========= 1 failed, 1 passed, 1 skipped, 1 xfailed, 1 xpassed in 0.58s =========": (2, 1, 2),
    "1 failed, 1 passed, 1 skipped, 1 xfailed, 1 xpassed in 0.59s": (2, 1, 2),
    "\x1b[31m========= \x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m1 passed\x1b[0m, \x1b[33m1 skipped\x1b[0m, "
    "\x1b[33m1 xfailed\x1b[0m\x1b[31m in 0.57s\x1b[0m\x1b[31m =========\x1b[0m": (1, 1, 2),
    "============================== 2 errors in 0.69s ===============================": (0, 2, 0),
    "========================== 1 passed, 1 error in 0.55s ==========================": (1, 1, 0),
    "============================ no tests ran in 0.54s =============================": (0, 0, 0),
    "no tests ran in 0.53s": (0, 0, 0),
    "============================ 1 deselected in 0.55s =============================": (0, 0, 0),
    "2 failed, 1 passed, 2 subtests passed in 0.62s": (1, 2, 0),
    "================== 812 passed, 3 warnings in 75.25s (0:01:15) ==================": (812, 0, 0),
    "===== 1 failed, 11 passed, 2 rerun in 0.59 seconds =====": (11, 1, 0),  # of older ones
}

UNITTEST = {  # captured from Python 3.11
    "Ran 9 tests in 0.001s\n\nFAILED (failures=4, errors=2, skipped=3, expected failures=1, unexpected successes=1)": (
        0,
        5,
        4,
    ),
    "Ran 1 test in 0.000s\n\nFAILED (failures=3)": (0, 1, 0),  # three subtests of one test
    "Ran 2 tests in 0.000s\n\nOK (skipped=2)": (0, 0, 2),
    "Ran 1 test in 0.000s\n\nFAILED (errors=1)": (0, 1, 0),
    "Ran 0 tests in 0.000s\n\nOK": (0, 0, 0),
    "Ran 0 tests in 0.000s\n\nFAILED (errors=1)": (0, 1, 0),  # setUpClass
    "Ran 0 tests in 0.000s\n\nNO TESTS RAN": (0, 0, 0),  # since 3.12
    "Ran 0 tests in 0.000s\n\nNO TESTS RAN (skipped=1)": (0, 0, 1),
    "Ran 312 tests in 4.217s\r\n\r\nOK\r\n": (312, 0, 0),
}

GO_PLAIN = """\
?   \texample.com/shop\t[no test files]
ok  \texample.com/shop/cart\t0.003s
ok  \texample.com/shop/price\t(cached)\tcoverage: 81.2% of statements
ok  \texample.com/shop/empty\t0.002s [no tests to run]
--- FAIL: TestPay (0.00s)
    pay_test.go:9: got 1, want 2
FAIL
FAIL\texample.com/shop/pay\t0.004s
FAIL\texample.com/shop/mail [build failed]
FAIL
"""

GO_VERBOSE = """\
=== RUN   TestAdd
=== RUN   TestAdd/small
=== RUN   TestAdd/large
--- FAIL: TestAdd (0.00s)
    --- PASS: TestAdd/small (0.00s)
    --- FAIL: TestAdd/large (0.00s)
=== RUN   TestLater
    a_test.go:20: not yet
--- SKIP: TestLater (0.00s)
FAIL
FAIL\texample.com/a\t0.002s
FAIL\texample.com/b [build failed]
=== RUN   TestFine
--- PASS: TestFine (0.00s)
PASS
ok  \texample.com/c\t0.002s
FAIL
"""

GO_JSON = """\
{"Time":"2024-05-01T10:00:00Z","Action":"start","Package":"example.com/a"}
{"Time":"2024-05-01T10:00:00Z","Action":"run","Package":"example.com/a","Test":"TestA"}
{"Action":"output","Package":"example.com/a","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\\n"}
{"Time":"2024-05-01T10:00:00Z","Action":"fail","Package":"example.com/a","Test":"TestA","Elapsed":0}
{"Time":"2024-05-01T10:00:00Z","Action":"pass","Package":"example.com/a","Test":"TestB","Elapsed":0}
{"Time":"2024-05-01T10:00:00Z","Action":"skip","Package":"example.com/a","Test":"TestC","Elapsed":0}
{"Time":"2024-05-01T10:00:00Z","Action":"fail","Package":"example.com/a","Elapsed":0.002}
{"Time":"2024-05-01T10:00:00Z","Action":"skip","Package":"example.com/none","Elapsed":0}
{"ImportPath":"example.com/b","Action":"build-fail"}
{"Time":"2024-05-01T10:00:00Z","Action":"fail","Package":"example.com/b","Elapsed":0,"FailedBuild":"example.com/b"}
"""

CARGO = """\
running 3 tests
test tests::ign ... ignored
test tests::works ... ok
test tests::bad ... FAILED

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.07s

error: test failed, to rerun pass `--lib`
     Running tests/i.rs (target/debug/deps/i-ba71f52d0fcfa4c5)

running 1 test
test it ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

   Doc-tests cr

running 1 test
test src/lib.rs - doc (line 2) ... ok

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out; finished in 0.00s
"""  # captured from cargo, with --no-fail-fast

NODE_TAP = """\
TAP version 13
# Subtest: bad
not ok 2 - bad
  ---
  error: '1 == 2'
  ...
# Subtest: parent
    # Subtest: child
    ok 1 - child
    1..1
ok 5 - parent
1..5
# tests 6
# suites 0
# pass 3
# fail 1
# cancelled 0
# skipped 1
# todo 1
# duration_ms 137.518514
"""  # captured from node 20

NODE_SPEC = """\
✔ parent (0.591168ms)
ℹ tests 7
ℹ suites 0
ℹ pass 3
ℹ fail 2
ℹ cancelled 0
ℹ skipped 1
ℹ todo 1
ℹ duration_ms 174.115555

✖ failing tests:
"""  # captured from node 20

NODE_NONE = "TAP version 13\n1..0\n# tests 0\n# suites 0\n# pass 0\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n"

JEST = """\
FAIL src/b.test.js
  ● Test suite failed to run

    Cannot find module './nope' from 'src/b.test.js'

PASS src/a.test.js
Test Suites: 1 failed, 1 passed, 2 total
Tests:       1 failed, 2 skipped, 1 todo, 3 passed, 7 total
Snapshots:   0 total
Time:        0.412 s
Ran all test suites.
"""

VITEST = """\
⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯
 FAIL  b.test.js [ b.test.js ]
Error: Failed to resolve import "./nope" from "b.test.js".
⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯
 Test Files  2 failed | 1 passed (3)
      Tests  1 failed | 4 passed | 2 skipped | 1 todo (8)
   Start at  10:00:00
"""

MOCHA = """
  cart
    ✔ adds
    1) pays

  3 passing (5ms)
  1 pending
  2 failing

  1) cart
       pays:
"""

CTEST = """\
50% tests passed, 2 tests failed out of 4

Total Test time (real) =   0.01 sec

The following tests did not run:
\t  3 - c (Skipped)
\t  4 - d (Disabled)

The following tests FAILED:
\t  2 - b (Failed)
\t  5 - e (Not Run)
"""  # captured from ctest

PROVE = """\
t/a.t ..
1..3
ok 1 - a
not ok 2 - b
ok 3 # SKIP no
Failed 1/3 subtests
\t(less 1 skipped subtest: 1 okay)
t/b.t ..
1..1
ok 1 - a
ok
Files=2, Tests=4,  0 wallclock secs ( 0.02 usr +  0.00 sys =  0.02 CPU)
Result: FAIL
"""  # captured from prove -v

JUNIT = """\
<?xml version="1.0"?>
<testsuites tests="9"><testsuite name="outer" tests="9"><testsuite name="inner" tests="4">
<testcase name="a" time="0.1"/><testcase name="b"><failure message="no">expected &lt;error/></failure></testcase>
<testcase name="c"><error>boom</error></testcase><testcase name="d"><skipped/></testcase>
<testcase name="e"><system-out><![CDATA[<failure> is only printed]]></system-out></testcase>
</testsuite></testsuite></testsuites>
"""

MAVEN = """\
[INFO] Running com.example.CartTest
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1, Time elapsed: 0.05 s <<< FAILURE! -- in com.example.CartTest
[INFO] Results:
[ERROR] Tests run: 3, Failures: 1, Errors: 0, Skipped: 1
"""

AVA = """\
  ✔ adds
  - [skip] left
  ✘ [fail]: thrown Error thrown in test
  ─

  thrown

  2 tests passed in the words of a failure

  ─

  1 hook failed
  1 test failed
  3 tests passed
  1 known failure
  1 test skipped
  1 test todo
  1 uncaught exception
"""

OTHERS = {
    "go": (GO_PLAIN, (2, 2, 0)),
    "go -v": (GO_VERBOSE, (2, 3, 1)),
    "go -json": (GO_JSON, (1, 2, 1)),
    "go, nothing to test": ("?   \texample.com/shop\t[no test files]\n", (0, 0, 0)),
    "go -v, nothing to run": ("testing: warning: no tests to run\nPASS\nok  \ta\t0.1s [no tests to run]\n", (0, 0, 0)),
    "cargo": (CARGO, (3, 1, 1)),
    "nextest": ("     Summary [   0.020s] 5 tests run: 3 passed, 1 failed, 1 timed out, 2 skipped\n", (3, 2, 2)),
    "node, TAP": (NODE_TAP, (3, 1, 2)),
    "node, spec": (NODE_SPEC, (3, 2, 2)),
    "node, nothing": (NODE_NONE, (0, 0, 0)),
    "jest": (JEST, (3, 2, 3)),
    "jest, no file loads": (
        "● Test suite failed to run\nTest Suites: 1 failed, 1 total\nTests:       0 total\n",
        (0, 1, 0),
    ),
    "vitest": (VITEST, (4, 2, 3)),
    "vitest, no file loads": ("⎯ Failed Suites 1 ⎯\n Test Files  1 failed (1)\n      Tests  no tests\n", (0, 1, 0)),
    "mocha": (MOCHA, (3, 2, 1)),
    "mocha, nothing": ("\n  0 passing (1ms)\n\n", (0, 0, 0)),
    "ava": (AVA, (3, 3, 3)),
    "ava, one": ("  ✔ adds\n  ─\n\n  1 test passed\n", (1, 0, 0)),
    "TAP, plan first": ("1..4\nok 1 - a\nnot ok 2 - b\nok 3 # skip no\nnot ok 4 # TODO later\n", (1, 1, 2)),
    "TAP, plan last": ("ok 1\nok 2\n1..2\nok 1\nnot ok 2\n1..2\n", (3, 1, 0)),
    "TAP, broken off": ("1..5\nok 1\nok 2\n", (2, 3, 0)),
    "TAP, nothing": ("1..0 # SKIP no database\n", (0, 0, 0)),
    "TAP, bailed out": ("1..2\nok 1\nBail out! no database\n", (1, 1, 0)),
    "tape": ("ok 1 a\nnot ok 2 b\n\n1..2\n# tests 2\n# pass  1\n# fail  1\n", (1, 1, 0)),
    "prove -v": (PROVE, (2, 1, 1)),
    "ctest": (CTEST, (1, 2, 2)),
    "ctest, nothing": ("No tests were found!!!\n", (0, 0, 0)),
    "phpunit": ("OK (3 tests, 5 assertions)\n", (3, 0, 0)),
    "phpunit, failing": (
        "FAILURES!\nTests: 6, Assertions: 5, Errors: 1, Failures: 1, PHPUnit Warnings: 1, Skipped: 1, Incomplete: 1.\n",
        (2, 2, 2),
    ),
    "phpunit, skipping": ("OK, but some tests were skipped!\nTests: 3, Assertions: 1, Skipped: 2.\n", (1, 0, 2)),
    "phpunit, nothing": ("No tests executed!\n", (0, 0, 0)),
    "rspec": ("5 examples, 1 failure, 1 pending\n", (3, 1, 1)),
    "rspec, no file loads": ("0 examples, 0 failures, 1 error occurred outside of examples\n", (0, 1, 0)),
    "minitest": ("5 runs, 7 assertions, 1 failures, 1 errors, 1 skips\n", (2, 2, 1)),
    "test-unit": ("4 tests, 7 assertions, 1 failures, 0 errors, 0 pendings, 1 omissions, 0 notifications\n", (2, 1, 1)),
    "JUnit XML": (JUNIT, (2, 2, 1)),
    "JUnit XML in one line": (JUNIT.replace("\n", " ") + " " * 5000, (2, 2, 1)),
    "Maven": (MAVEN, (1, 1, 1)),
}


@pytest.mark.parametrize(("output", "expected"), [*PYTEST.items(), *UNITTEST.items()])
def test_python_summaries(output: str, expected: tuple[int, int, int]) -> None:
    assert count_tests("first line\n" + output + "\n") == TestCounts(*expected)


@pytest.mark.parametrize("name", OTHERS)
def test_summaries_of_other_languages(name: str) -> None:
    output, expected = OTHERS[name]
    assert count_tests(output) == TestCounts(*expected)


@pytest.mark.parametrize(
    "output",
    [
        "",
        "make: Nothing to be done for 'test'.",
        'error: could not compile `cr` (test "i") due to 1 previous error',
        "12 passed my desk in 3 hours",
        "Ran 3 tests in 0.1s",  # a summary without its verdict
        "All 12 tests passed in 3 places",
        "ok 1 - said by a program without a plan",
        "<testcase> is an element of JUnit's",
    ],
)
def test_what_nobody_can_count_is_not_zero(output: str) -> None:
    assert count_tests(output) is None


def test_two_suites_in_one_output_are_added_up() -> None:
    both = "3 passed, 1 skipped in 0.10s\n" + CARGO + "1 failed in 0.2s\n" + NODE_TAP
    assert count_tests(both) == TestCounts(passed=3 + 3 + 3, failed=1 + 1 + 1, skipped=1 + 1 + 2)


def test_every_reader_is_listed_and_marked() -> None:
    assert all(reader.marks and all(reader.marks) for reader in READERS.values())


HOSTILE = {
    "one line of equals signs": "=",
    "one line of spaces": " ",
    "blank lines": "\n",
    "unfinished escapes": "\x1b]",
    "parts of a summary": "1 passed, ",
    "summaries": "1..2\nok 1\n# tests 2\n=== 1 passed in 0.1s ===\n<testsuite><testcase/>\nTests: 1 failed, 1 total\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_the_work_is_linear_in_the_length_of_the_output(name: str) -> None:
    def seconds(size: int) -> float:
        text = HOSTILE[name] * (size // len(HOSTILE[name]))
        begin = time.process_time()
        count_tests(text)
        return time.process_time() - begin

    small = max(min(seconds(250_000) for _ in range(3)), 0.001)
    assert seconds(2_000_000) < small * 8 * 8, "eight times the text took far more than eight times the time"
