"""What a record is, and how it stands in a commit."""

import json

import pytest

from nobrakes import US
from nobrakes.git.port import Made
from nobrakes.review.evidence import (
    EXCERPT,
    MAX_RECORD,
    Entry,
    bounded,
    canonical,
    counts_of,
    date,
    excerpt,
    message,
    run_of,
    taken_back_by,
)

RECORD = {
    "version": 1,
    "kind": "merge",
    "at": 1_700_000_000.5,
    "bead": {"id": "nb-1", "title": "A title\n\nBead: nb-2", "type": "task"},
    "merged": {"commit": "a" * 40, "tree": "b" * 40},
    "runs": {},
}


def entry(record=RECORD, **fields) -> Entry:
    moment = f"{US} {date(record)}"
    return Entry(
        **{"commit": "c" * 40, "parents": (), "message": message(record), "people": (moment, moment), **fields}
    )


def test_the_same_values_are_the_same_text() -> None:
    assert canonical({"b": 1, "a": [2.5, "ü"]}) == canonical(dict(reversed([("b", 1), ("a", [2.5, "ü"])])))
    assert json.loads(canonical(RECORD)) == RECORD


def test_what_stands_in_a_commit_is_read_back() -> None:
    found = entry()
    assert found.problem() == "" and found.record == RECORD
    assert (found.bead, found.about) == ("nb-1", f"Merged: {'a' * 40}")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"whole": False}, "does not match its id"),
        ({"message": message(RECORD).replace('"task"', '"fix" ')}, "not match its record"),
        ({"message": message(RECORD).replace("Merged: a", "Merged: b")}, "not match its record"),
        ({"message": message(RECORD).replace("nb-1 was", "nb-2 was")}, "not match its record"),
        ({"message": "hello\n"}, "no readable record"),
        ({"message": "hello\n\n" + "[" * 100_000 + "\n\nBead: x\n"}, "no readable record"),
        ({"message": message({**RECORD, "version": 2})}, "unknown version"),
        ({"people": (f"{US} 1 +0000", f"{US} 1 +0000")}, "date and people"),
        ({"people": (f"You <you@example.invalid> {date(RECORD)}",) * 2}, "date and people"),
    ],
)
def test_what_was_changed_is_told(fields, words) -> None:
    assert words in entry(**fields).problem()


def test_a_record_that_says_nan_cannot_be_read() -> None:
    assert "no readable record" in entry(message=message(RECORD).replace("1700000000.5", "NaN")).problem()


def test_an_excerpt_is_the_last_whole_lines() -> None:
    text = "\n".join(f"line {number}" for number in range(1000))
    found = excerpt(text)
    assert len(found) <= EXCERPT and found.startswith("line ") and found.endswith("line 999")
    assert excerpt("x" * 5000) == "x" * EXCERPT
    assert excerpt("\udc80 bad\n") == "? bad"


def test_a_run_is_as_good_as_its_worst_check() -> None:
    def run(*outcomes: str) -> str:
        checks = [{"name": "c", "outcome": one, "code": 0, "seconds": 0.1234} for one in outcomes]
        return str(run_of({"checks": checks}, "t", "k", None)["outcome"])

    assert [run("pass", "pass"), run("pass", "fail"), run("fail", "not-run"), run("broken", "fail"), run()] == [
        "pass",
        "fail",
        "not-run",
        "broken",
        "not-run",
    ]


def test_counts_are_added_up_and_none_is_not_zero() -> None:
    counted = {"checks": [{"counts": {"passed": 2, "failed": 0, "skipped": 1}}, {"counts": None}] * 2}
    assert counts_of(counted) == {"passed": 4, "failed": 0, "skipped": 2}
    assert counts_of({"checks": [{"counts": None}]}) is None and counts_of(None) is None


def test_a_record_that_is_too_long_goes_without_excerpts() -> None:
    check = {"name": "test", "outcome": "pass", "excerpt": "x" * EXCERPT}
    long = {**RECORD, "runs": {str(number): {"checks": [check]} for number in range(MAX_RECORD // EXCERPT + 1)}}
    short = bounded(long)
    assert len(canonical(short)) <= MAX_RECORD and short["runs"]["0"]["checks"][0] == {**check, "excerpt": ""}
    assert bounded(RECORD) == RECORD


def test_who_takes_a_bead_back_is_the_newest_that_says_so() -> None:
    def made(commit: str, *trailers: tuple[str, str]) -> Made:
        return Made(commit, "t", (), "s", "a", trailers)

    line = [
        made("4"),
        made("3", ("Reverts-Bead", "nb-1")),
        made("2", ("Reverts-Bead", "nb-1")),
        made("1", ("Bead", "nb-1")),
    ]
    assert taken_back_by(line, "nb-1") == "3" and taken_back_by(line, "nb-2") is None
    assert made("5", ("Bead", "nb-9"), ("Bead", "nb-1")).trailer("Bead") == "nb-1"
