"""Which attempt goes on with the session of which."""

from dataclasses import replace
from typing import Any

import pytest

from nobrakes.agents.limits import goes_on
from nobrakes.beads.model import TABLE, Attempt, AttemptLog, Outcome, Role, Session

START = "c0ffee"


def attempt(number: int, outcome: Outcome | None = None, begun: bool = True, **fields: Any) -> Attempt:
    data = {"begun": begun, "start": START}
    whole = Attempt(
        number, "a", number, Role.DOER, "Ada", number, f"{number}.{number}.x", 0.0, "claude", outcome=outcome, data=data, provider_session=f"s{number}",
        provider="anthropic", model="m",
    )  # fmt: skip
    return replace(whole, **fields)


NEW = attempt(9)


def number(*past: Attempt) -> int | None:
    last = goes_on(NEW, [*past, NEW], START)
    return last.number if last else None


@pytest.mark.parametrize("outcome", list(Outcome))
def test_the_table_decides(outcome: Outcome) -> None:
    expected = 1 if TABLE[outcome].session is Session.RESUME else None
    assert number(attempt(1, outcome)) == expected


def test_the_machine_going_down_costs_no_session() -> None:
    assert number(attempt(1, Outcome.LOST)) == number(attempt(1, Outcome.INTERRUPTED)) == 1


@pytest.mark.parametrize(
    "other",
    [
        {"agent": "codex"},
        {"provider": "openai"},
        {"model": "n"},
        {"role": Role.TEST_WRITER},
        {"log": AttemptLog(keep_branch=False)},
        {"data": {"begun": True, "start": "another"}},
    ],
)
def test_it_belongs_to_its_cli_model_role_and_workspace(other: dict[str, Any]) -> None:
    assert number(attempt(1, Outcome.KILLED)) == 1
    assert number(attempt(1, Outcome.KILLED, **other)) is None


def test_the_last_attempt_decides() -> None:
    done = attempt(1, Outcome.COMPLETED)
    assert number(done, attempt(2, Outcome.FAILED_REVIEW, role=Role.REVIEWER)) is None
    assert number(done, attempt(2, Outcome.SESSION_LOST)) is None
    assert number(done, attempt(2, Outcome.KILLED)) == 2


def test_a_session_that_did_not_begin_is_none() -> None:
    assert number(attempt(1, Outcome.KILLED, begun=False)) is None
    assert number(attempt(1, Outcome.RATE_LIMITED), attempt(2, Outcome.LOST, begun=False)) == 1
    assert number(attempt(1, Outcome.FAILED), attempt(2, Outcome.LOST, begun=False)) is None


def test_nobody_goes_on_with_who_has_not_ended() -> None:
    assert number(attempt(1)) is None and number() is None
