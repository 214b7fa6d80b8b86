"""Which tests failed, by name: all of them, or none where a report leaves one out."""

import json

import pytest

from nobrakes.checks.contract import FORMATS
from nobrakes.checks.runners import READERS, count_tests, failing_tests, format_of, plain_lines

PYTEST = """\
..F.E
=========================== short test summary info ============================
FAILED tests/test_a.py::test_two - AssertionError: assert 1 == 2
FAILED tests/test_a.py::TestB::test_three[a b-1] - assert False
ERROR tests/test_c.py - ImportError: cannot import name 'x'
2 failed, 3 passed, 1 error in 0.12s
"""
GO = "\n".join(
    json.dumps(line, separators=(",", ":"))
    for line in [
        {"Action": "run", "Package": "m/p", "Test": "TestA"},
        {"Action": "fail", "Package": "m/p", "Test": "TestA/sub", "Elapsed": 0},
        {"Action": "fail", "Package": "m/p", "Test": "TestA", "Elapsed": 0},
        {"Action": "pass", "Package": "m/p", "Test": "TestB", "Elapsed": 0},
        {"Action": "fail", "Package": "m/p", "Elapsed": 0.1},
    ]
)
TAP = """\
1..4
ok 1 - begins
not ok 2 - goes on
not ok 3 - some day # TODO write it
not ok 4 tests/end.sh
"""
JUNIT = """<?xml version="1.0"?><testsuites><testsuite name="s" tests="4">
<testcase classname="calc.Add" name="adds &lt;two&gt;"><failure message="x">trace <![CDATA[<failure>
<testcase name="in the log"><failure/>]]></failure></testcase>
<testcase classname='calc.Add' name='skips'><skipped/></testcase><testcase name="alone"><error/><failure/></testcase>
<testcase classname="calc.Add" name="fine" time="0.1"/></testsuite></testsuites>"""
JEST = json.dumps(
    {
        "numFailedTestSuites": 1,
        "numFailedTests": 1,
        "numPassedTestSuites": 0,
        "numPassedTests": 2,
        "numPendingTests": 1,
        "numRuntimeErrorTestSuites": 0,
        "numTodoTests": 0,
        "numTotalTests": 4,
        "testResults": [
            {
                "assertionResults": [
                    {"fullName": "cart is empty", "status": "failed"},
                    {"fullName": "x", "status": "passed"},
                ]
            }
        ],
    },
    separators=(",", ":"),
)


@pytest.mark.parametrize(
    ("output", "format_", "names"),
    [
        (
            PYTEST,
            "pytest",
            ("tests/test_a.py::TestB::test_three[a b-1]", "tests/test_a.py::test_two", "tests/test_c.py"),
        ),
        (GO, "go", ("m/p/TestA", "m/p/TestA/sub")),
        (TAP, "tap", ("goes on", "tests/end.sh")),
        (JUNIT, "junit", ("alone", "calc.Add.adds <two>")),
        (JEST, "jest", ("cart is empty",)),
        (f"Tests:       1 failed, 1 skipped, 2 passed, 4 total\n{JEST}\n", "jest", ("cart is empty",)),
    ],
)
def test_a_report_names_what_failed(output: str, format_: str, names: tuple[str, ...]) -> None:
    for asked in (format_, "auto"):
        counts = count_tests(output, asked)
        assert counts is not None and counts.failed == len(names)
        assert failing_tests(output, asked, counts) == names


@pytest.mark.parametrize(
    "output",
    [
        PYTEST.replace("2 failed", "3 failed"),  # one of them is not named
        PYTEST.replace("[a b-1]", "[a - b]"),  # where a name ends cannot be told
        TAP.replace("1..4", "1..6"),  # two tests were never reported
        JEST.replace('"numRuntimeErrorTestSuites":0', '"numRuntimeErrorTestSuites":1'),
        "Ran 2 tests in 0.01s\n\nFAILED (failures=1)\n",  # names nobody reads
        PYTEST + TAP,  # two formats at once
        "3 passed in 0.1s",
        "",
    ],
)
def test_a_report_that_does_not_name_them_all_names_none(output: str) -> None:
    assert failing_tests(output, "auto", count_tests(output)) == ()


ODD = ("null", "5", '"text"', "[1]", "[null]", "[[]]", '{"a": 1}', '[{"assertionResults": 1}]', '[{"assertionResults": [1, {}]}]', "[" * 20_000, "[" * 3000 + "]" * 3000, "9" * 5000, "1e999", "NaN")  # fmt: skip
FORMS = (
    JEST.replace('"testResults":[', '"testResults":ODD,"more":['),
    JEST.replace('"status":"failed"', '"status":ODD').replace('"cart is empty"', "ODD"),
    JEST.replace('"numFailedTests":1', '"numFailedTests":ODD'),
    f"ODD\n{JEST}\nODD",
    '["numTotalTests"]\n"numTotalTests"',
    '{"Action":"fail","Package":"a","Test":ODD}\n{"Action":"fail","Package":"a","Test":"x"}',
    '{"Action":"fail","Package":ODD}\n{"Action":ODD,"Package":"a","Test":"x", "Action":"fail"}',
    '{"Action":ODD,"Package":"a","x":"Action":"fail"}\n{"x":{"Action":"fail"},"Action":ODD,"Package":"m"}',
    "1..2\nok 1\n# tests 1.2.3\n# pass ODD\n# fail .",
    "TAP version 13\n# tests 9e999\n# pass 1.\n# fail 0.5\n1..ODD",
)


@pytest.mark.parametrize("form", FORMS)
def test_odd_output_ends_no_reader(form: str) -> None:
    assert "ODD" in form or "num" in form
    for odd in ODD:
        output = form.replace("ODD", odd)
        format_of(output)
        for asked in ("auto", *FORMATS):
            counts = count_tests(output, asked)
            assert all(isinstance(name, str) for name in failing_tests(output, asked, counts))
        lines = plain_lines(output)
        for reader in READERS.values():  # also those that would not be asked
            assert list(reader.read(lines)) is not None


def test_the_numbers_of_a_long_line_of_json_are_read() -> None:
    long = JEST.replace('"cart is empty"', json.dumps("long " * 5000))
    counts = count_tests(long, "jest")
    assert counts is not None and (counts.passed, counts.failed, counts.skipped) == (2, 1, 1)


def test_only_the_format_that_is_asked_for_is_read() -> None:
    assert count_tests(TAP, "pytest") is None and count_tests(TAP, "exit") is None
    assert count_tests(TAP + PYTEST, "tap") == count_tests(TAP)
