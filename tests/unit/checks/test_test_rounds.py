"""Test rounds: which calls of an agent's tools ran the tests."""

import time

import pytest

from nobrakes.checks import proof
from nobrakes.checks.contract import Check


def is_round(command: str, call: str) -> bool:
    check = Check("unit", command)
    found = proof.count([call], proof.runs([check])) == 1
    assert not found or all(word in call for word in proof.words([check])), "the daemon looks for the word first"
    return found


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("python3 -m pytest -q", "Bash: python3 -m pytest -q"),
        ("python3 -m pytest -q", "Bash: pytest -x tests/test_a.py"),
        ("python3 -m pytest -q", "Bash: cd src && .venv/bin/python -m pytest 2>&1 | tail -5"),
        ("python3 -m pytest -q", "Bash: /bin/bash -lc 'pytest -q'"),
        ("python3 -m pytest -q", "run_shell_command: CI=1 timeout 60 pytest"),
        ("pytest", "`uv run --frozen pytest`"),
        ("npm ci && npm test", "Bash: npm --silent test"),
        ("npm test", "Bash: npm run test"),
        ("npm run test:unit", "Bash: npm run test:unit -- --watch=false"),
        ("go test ./...", "Bash: go test ./pkg"),
        ("timeout 600 cargo test --all", "Bash: cargo test one"),
        ("make test", "Bash: make -j4 test"),
        ("./run-tests.sh", "Bash: sh ./run-tests.sh one"),
        ("python3 tests/run.py", "Bash: python3 tests/run.py"),
        ("python3 -m unittest discover", "Bash: python3 -m unittest tests.test_a"),
        ("node --test", "Bash: node --test a.test.js"),
    ],
)
def test_a_call_that_runs_a_checks_program_is_a_round(command: str, call: str) -> None:
    assert is_round(command, call)


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("python3 -m pytest -q", "Bash: pip install pytest"),
        ("python3 -m pytest -q", "Bash: grep -rn pytest ."),
        ("python3 -m pytest -q", "Read: tests/pytest.py"),
        ("python3 -m pytest -q", "Bash: cat pytest.ini"),
        ("python3 -m pytest -q", "Bash: nobrakes agent test"),
        ("python3 -m pytest -q", "Bash: python3 setup.py"),
        ("npm test", "Bash: npm install"),
        ("go test ./...", "Bash: go build ./..."),
        ("make test", "Bash: make"),
        ("node --test", "Bash: node server.js"),
        ("", "Bash: ls"),
    ],
)
def test_another_call_is_none(command: str, call: str) -> None:
    assert not is_round(command, call)


def test_only_checks_of_kind_test_count_and_a_call_counts_once() -> None:
    checks = [Check("style", "ruff check .", "lint"), Check("unit", "pytest"), Check("more", "pytest -m more")]
    calls = ["Bash: ruff check .", "Bash: pytest; pytest -m more", "Bash: pytest"]
    assert proof.count(calls, proof.runs(checks)) == 2
    assert proof.runs(checks[:1]) is None and proof.count(calls, None) == 0


@pytest.mark.parametrize("piece", ["-a ", "a=b ", "/", "env ", "; ", "env A=1 -x "])
def test_a_long_call_is_looked_at_in_no_time(piece: str) -> None:
    pattern = proof.runs([Check("unit", "pytest"), Check("more", "npm test")])
    began = time.process_time()
    proof.count([f"Bash: {piece * 600}"[:600]] * 20, pattern)
    assert time.process_time() - began < 2
