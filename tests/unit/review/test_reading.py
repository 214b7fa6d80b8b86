"""Who reads work next, in which round, and what follows from what was found."""

from dataclasses import replace
from typing import Any

import pytest

from nobrakes.beads.model import Bead
from nobrakes.requests.model import Facts, body, mark
from nobrakes.review import reading
from nobrakes.review.reading import ASK, SEND_BACK, Next, Reading, Rules, Waits, Way, following, reader
from nobrakes.sessions.model import Session, SessionKind, State

P1 = {"category": "errors", "priority": "P1", "text": "x", "path": "", "line": 0}
P3 = {**P1, "priority": "P3"}
RULES = Rules(SEND_BACK)


def read(
    content: str = "a", number: int = 1, outcome: str = "done", *found: Any, cost: float = 1.0, **more: Any
) -> Reading:
    data = {"content": content, "round": number, "outcome": outcome, "attempt": 1, **more}
    if outcome == "done":
        data["answer"] = list(found)
    session = Session(number, SessionKind.CODE_REVIEW, "bead:x", "", "codex", State.ENDED, cost_usd=cost, data=data)
    return Reading.of(session)


def next_(*known: Reading, rules: Rules = RULES, content: str = "a", attempt: int = 1, agents: bool = True) -> Next:
    return following(rules, known, content, attempt, agents)


def test_the_first_reader_begins_in_round_one_and_off_is_off() -> None:
    assert next_() == Next(Way.BEGIN, round=1, tries=1)
    assert next_(rules=Rules()).way is Way.PASS


def test_while_one_reads_it_waits_and_without_a_finding_of_weight_it_goes_on() -> None:
    assert next_(read(outcome="")).way is Way.WAIT
    assert next_(read()).way is Way.PASS and next_(read("a", 1, "done", P3)).way is Way.SEND_BACK
    assert next_(read("a", 1, "done", P3), rules=Rules(SEND_BACK, lowest=2)).way is Way.PASS


def test_what_must_be_mended_goes_back_and_in_the_last_round_to_a_person() -> None:
    assert next_(read("a", 1, "done", P1)).way is Way.SEND_BACK
    assert next_(read("a", 3, "done", P1)).way is Way.ASK
    assert next_(read("a", 1, "done", P1), rules=Rules(ASK)).way is Way.ASK
    assert next_(read("a", 1, "done", P1), agents=False).way is Way.ASK, "a person's work"


def test_mended_work_is_another_content_and_the_next_round() -> None:
    assert next_(read("a", 1, "done", P1), content="b") == Next(Way.BEGIN, round=2, tries=1)
    assert next_(read("a", 1, "done", P1), read("b", 2), content="b").way is Way.PASS


def test_the_same_content_handed_in_again_is_another_round_and_after_a_crash_it_is_not() -> None:
    sent = read("a", 1, "done", P1, sent_back=1)
    assert next_(sent, attempt=1).way is Way.SEND_BACK and next_(sent, attempt=2) == Next(Way.BEGIN, round=2, tries=1)


def test_a_round_that_was_sent_back_is_over_also_where_its_first_reader_failed() -> None:
    failed, sent = read(outcome="failed", **{"try": 1}), read("a", 1, "done", P1, sent_back=1, **{"try": 2})
    assert next_(failed, sent, attempt=2) == Next(Way.BEGIN, round=2, tries=1)


def test_who_fails_is_followed_by_another_one_and_then_a_person_is_asked_or_it_goes_on_unread() -> None:
    failed = read(outcome="failed", why="silence", **{"try": 1})
    twice = read(outcome="failed", why="silence", **{"try": 2})
    assert next_(failed) == Next(Way.BEGIN, round=1, tries=2)
    assert next_(failed, twice).way is Way.UNREAD and next_(failed, twice, rules=Rules(ASK)).way is Way.ASK
    assert "silence" in next_(failed, twice).why


def test_what_was_found_and_nobody_saw_mended_never_goes_on_unread() -> None:
    found, twice = read("a", 1, "done", P1), read("b", 2, "failed", **{"try": 2})
    assert next_(found, twice, content="b").way is Way.ASK
    assert next_(found, read("b", 2), read("c", 3, "failed", **{"try": 2}), content="c").way is Way.UNREAD


def test_rounds_and_money_are_bounded() -> None:
    rounds = [read(content, number, "done", P1) for number, content in enumerate("abc", 1)]
    assert next_(*rounds, content="d").way is Way.ASK
    assert next_(read("a", 1, cost=5.0), content="b").way is Way.UNREAD
    assert "$5.00" in next_(read("a", 1, cost=5.0), content="b", rules=Rules(ASK)).why


def test_a_reading_whose_review_was_over_counts_as_no_round_and_what_it_cost_counts() -> None:
    assert next_(read(outcome="dropped")) == Next(Way.BEGIN, round=1, tries=1)
    assert next_(read(outcome="dropped", cost=5.0)).way is Way.UNREAD


def test_eyes_are_fresh_where_there_are_others() -> None:
    assert reader(("claude", "codex"), {"claude"}, 1, 1) == "codex"
    assert reader(("claude", "codex", "gemini"), {"claude"}, 2, 1) == "gemini"
    assert reader(("claude", "codex", "gemini"), {"claude"}, 1, 2) == "gemini"
    assert reader(("claude", "codex", "gemini"), {"claude", "codex"}, 2, 1) == "gemini"
    assert reader(("claude",), {"claude"}, 2, 2) == "claude" and reader((), {"script"}, 1, 1) == "script"


@pytest.mark.parametrize(
    ("state", "more", "ended"),
    [
        (State.RUNNING, {"answer": []}, None),
        (State.READY, {}, None),
        (State.IDLE, {"answer": []}, "done"),
        (State.STUCK, {"answer": []}, "done"),
        (State.ENDED, {"answer": []}, "done"),
        (State.IDLE, {}, "failed"),
        (State.ASKING, {}, "failed"),
        (State.STUCK, {}, "failed"),
        (State.ENDED, {}, "failed"),
    ],
)
def test_how_a_reading_ends(state: State, more: dict[str, Any], ended: str | None) -> None:
    one = Reading.of(Session(1, SessionKind.CODE_REVIEW, "bead:x", "", "codex", state, created_at=100.0, data=more))
    found = reading.ended(one, 10.0, 0.0, False)
    assert (found[0] if found else None) == ended and (found is None or bool(found[1]) == (ended == "failed"))


WAITING = Reading.of(Session(1, SessionKind.CODE_REVIEW, "bead:x", "", "codex", State.READY, created_at=100.0))


def test_who_is_not_started_waits_long_but_not_for_ever() -> None:
    late = reading.timeout(10.0)
    assert reading.ended(WAITING, 10.0, late - 1, False) is None
    assert (reading.ended(WAITING, 10.0, late, False) or ("", ""))[0] == "failed"


def test_a_time_in_which_nobody_is_started_counts_against_no_reading() -> None:
    waits = Waits()
    assert waits.seen(WAITING, 90_000.0, False) == 90_000.0, "there was no daemon before"
    assert waits.seen(WAITING, 90_100.0, False) == 90_000.0
    assert waits.seen(WAITING, 90_200.0, True) == 90_200.0, "it is paused"
    assert waits.seen(WAITING, 180_000.0, False) == 180_000.0, "and was until now"
    runs = Reading.of(replace(WAITING.session, state=State.RUNNING))
    assert waits.seen(runs, 180_100.0, False) == 180_100.0, "it runs"
    assert waits.seen(WAITING, 180_200.0, False) == 180_200.0, "and was cut off"
    waits.restart()
    assert waits.seen(WAITING, 500_000.0, False) == 500_000.0, "the machine slept"


def test_a_summary_counts() -> None:
    assert reading.summary([]) == "" and reading.summary([read()]) == "1 round, $1.00: no findings"
    assert reading.summary([read("a", 1), read("b", 2, "done", P1, P3)]) == "2 rounds, $2.00: 1 P1, 1 P3"


def test_rounds_are_numbered_through_after_a_person_sent_the_work_back() -> None:
    known = [
        read("a", 1, "failed", since="0.0"),
        read("a", 1, "done", P1, since="0.0", **{"try": 2}),
        read("b", 2, since="0.0"),
        read("c", 1, since="0.1"),
        read("d", 2, since="0.1"),
    ]
    assert [one["round"] for one in reading.numbered(known)] == [1, 1, 2, 3, 4]
    assert reading.summary(known).startswith("4 rounds, ")
    facts = Facts(Bead("one", "One"), "b" * 40, "main", "a" * 40, read=reading.numbered(known[1:4]))
    text = body(facts, mark("one"))
    assert [text.count(f"- Round {number}: ") for number in (1, 2, 3)] == [1, 1, 1]
