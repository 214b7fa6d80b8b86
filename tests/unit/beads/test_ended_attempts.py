"""Ended attempts as lines beside the database: the same when read, without secrets, bounded."""

import json

import pytest

from nobrakes.beads.model import Attempt, AttemptLog, Outcome, Role
from nobrakes.events.kinds import Changes, Position
from nobrakes.snapshot import beads_jsonl, reader

DOER = Attempt(
    7, "one", 2, Role.DOER, "Ada", 3, "7.3.token", 1.25, "claude", "a" * 40, "b" * 40, 9.5, Outcome.FAILED, "it failed",
    AttemptLog("half", "no key", "mind the gap", keep_branch=False), {"session": "s"}, "north", "large", 0.25, 99,
)  # fmt: skip


def again(one: Attempt) -> Attempt:
    text = beads_jsonl.lines(Changes(Position(1, 1.0), attempts=[one])).decode()
    found = reader.read(text, "the file")
    assert found.notes == []
    return found.attempts[one.id]


def test_what_is_read_is_what_was_written_but_for_the_token_and_the_session() -> None:
    read = again(DOER)
    assert {name: getattr(read, name) for name in Attempt.__slots__ if name not in ("token", "data")} == {
        name: getattr(DOER, name) for name in Attempt.__slots__ if name not in ("token", "data")
    }
    assert (read.token, read.data) == ("", {})


def test_a_reviews_journal_is_kept_and_its_long_results_are_not() -> None:
    from dataclasses import replace

    review = replace(DOER, role=Role.REVIEWER, data={"step": "swap", "candidate": "c" * 40, "results": [{"tail": "x"}]})
    assert again(review).data == review.data
    long = replace(review, data={**review.data, "results": [{"tail": "x" * 9000}]})
    assert again(long).data == {"step": "swap", "candidate": "c" * 40}
    assert again(replace(review, data={"step": "y" * 9000})).data == {}


def test_texts_are_without_secrets_and_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    monkeypatch.setenv("MY_TOKEN", "correct-horse-battery")
    key = "ghp_" + "a1B2" * 9
    told = replace(DOER, detail=f"with {key}", log=AttemptLog(f"{key} and correct-horse-battery", "x" * 9000, key))
    line = json.dumps(beads_jsonl.record(replace(told, role=Role.REVIEWER, data={"failure": f"token {key}"})))
    assert key not in line and "correct-horse-battery" not in line and 'token": ' not in line
    assert len(again(told).log.blockers) == beads_jsonl.MAX_TEXT


def test_a_damaged_line_is_told_and_left_out() -> None:
    text = beads_jsonl.lines(Changes(Position(1, 1.0), attempts=[DOER])).decode().replace('"doer"', '"nobody"')
    found = reader.read(text, "the file")
    assert found.attempts == {} and len(found.notes) == 1
