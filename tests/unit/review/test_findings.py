"""What a reviewer of work may say: judged whole, bounded, and nothing of what is wrong is kept."""

import json
from typing import Any

import pytest

from nobrakes.errors import UsageError
from nobrakes.review import reading
from nobrakes.review.reading import CATEGORIES, FINDINGS_ANSWER, MAX_FINDINGS, Finding, Priority, findings_of

ONE = {"category": "errors", "priority": "P2", "path": "a.py", "line": 3, "text": "Nobody hears of it"}


def answer(*found: Any, **more: Any) -> str:
    return json.dumps({"findings": list(found), **more})


def test_findings_come_in_the_order_of_their_priority_each_once() -> None:
    found = findings_of(answer({**ONE, "priority": "P3"}, ONE, {**ONE, "priority": "P1"}, ONE))
    assert [one.priority for one in found] == [Priority.MUST, Priority.SHOULD, Priority.MAY]
    assert reading.counted(found) == {"P1": 1, "P2": 1, "P3": 1}
    assert [len(reading.Rules(lowest=lowest).stopping(found)) for lowest in (1, 2, 3)] == [1, 2, 3]
    assert findings_of(answer()) == [] and reading.kept([one.as_values() for one in found]) == tuple(found)
    assert found[0].place == "a.py:3" and Finding("errors", Priority.MAY, "x").place == ""
    assert reading.told(found[:1]) == "- P1 errors at a.py:3: Nobody hears of it"


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "all is well",
        "[]",
        "null",
        "[" * 100_000,
        '{"findings": {}}',
        answer(ONE, approved=True),
        answer("P1: mend it"),
        answer({**ONE, "priority": "P0"}),
        answer({**ONE, "priority": 1}),
        answer({**ONE, "category": "taste"}),
        answer({**ONE, "category": ["errors"]}),
        answer({**ONE, "line": -1}),
        answer({**ONE, "line": "3"}),
        answer({**ONE, "line": True}),
        answer({**ONE, "text": " "}),
        answer({**ONE, "text": "\u200b\u200b"}),
        answer({**ONE, "text": 7}),
        answer({**ONE, "path": ["a"]}),
        answer({**ONE, "command": "rm"}),
        answer(*[{**ONE, "line": line} for line in range(MAX_FINDINGS + 1)]),
        answer({**ONE, "text": "x" * FINDINGS_ANSWER}),
    ],
)
def test_what_is_no_review_is_refused(wrong: str) -> None:
    with pytest.raises(UsageError):
        findings_of(wrong)


def test_the_words_are_cleaned_bounded_and_without_secrets() -> None:
    evil = "\x1b[2J\u202egone\u200b api_key=sk-ant-api03-" + "a1B2" * 20 + " end " + "x" * 5_000
    (one,) = findings_of(answer({**ONE, "text": evil, "path": "a\nb.py", "line": None}))
    assert "\x1b" not in one.text and "\u202e" not in one.text and "a1B2a1B2" not in one.text
    assert len(one.text) <= reading.TEXT and one.path == "a b.py" and one.line == 0


def test_the_categories_of_plans_are_among_them() -> None:
    assert {"code_quality", "architecture", "security", "performance", "correctness", "tests"} < set(CATEGORIES)
