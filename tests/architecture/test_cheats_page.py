"""The page of cheats: each row says what meets it, and names a test that is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cheats.md"
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\) \| ", line.strip("| "))]
    for line in PAGE.read_text().splitlines()
    if re.match(r"\| \d", line)
]
TESTS = sorted({test for row in ROWS for test in re.findall(r"`(tests/\S+::[^`]+)`", row[-1])})


def test_there_are_enough_of_them_and_they_are_numbered() -> None:
    assert [int(row[0]) for row in ROWS] == list(range(1, len(ROWS) + 1)) and len(ROWS) >= 40


def test_each_row_says_what_meets_it_and_what_shows_it() -> None:
    for row in ROWS:
        says_what_meets_it_and_what_shows_it(row)


def says_what_meets_it_and_what_shows_it(row: list[str]) -> None:
    said = row[3]
    assert said.startswith(("caught", "asked", "not caught")), said
    if said.startswith("not caught"):
        assert re.search(r"[Aa] person", said), "what a person can do"
        assert re.search(rf"test_not_caught\.py::test_\w+(?:_{row[0]}_|\[{row[0]} )", row[4]), (
            "no test shows that it lands"
        )
    assert len(row) == 5 and "::" in row[4], "no test shows it"


@pytest.mark.slow
def test_each_test_that_is_named_is_there() -> None:
    files = sorted({test.partition("::")[0] for test in TESTS})
    assert [name for name in files if not (ROOT / name).is_file()] == []
    argv = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-o", "addopts=", "-p", "no:cacheprovider", *files]
    told = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False).stdout.splitlines()
    assert [one for one in TESTS if not any(is_meant(one, line) for line in told)] == []


def is_meant(named: str, collected: str) -> bool:
    """What stands in brackets begins the name of the row."""
    if named.endswith("]"):
        return collected.startswith(named.removesuffix("]"))
    return collected.partition("[")[0] == named
