"""When a limit ends, by the words that people are shown: a row for each form, most of them as users published them."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from nobrakes.agents import output
from nobrakes.agents.adapter import AgentEnd
from nobrakes.agents.claude import Claude
from nobrakes.agents.output import FORMS, reset_time
from nobrakes.beads.model import Outcome

from .events import START, api_error, result

ZURICH = ZoneInfo("Europe/Zurich")
NOW = datetime(2026, 11, 21, 14, 0, tzinfo=ZURICH)  # a Saturday


@pytest.fixture(autouse=True)
def in_zurich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What names no zone is local."""
    monkeypatch.setenv("TZ", "Europe/Zurich")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def local(*parts: int) -> float:
    return datetime(*parts, tzinfo=ZURICH).timestamp()  # type: ignore[misc,arg-type]


def at(zone: str, *parts: int) -> float:
    return datetime(*parts, tzinfo=ZoneInfo(zone)).timestamp()  # type: ignore[misc,arg-type]


def after(**parts: float) -> float:
    return NOW.timestamp() + timedelta(**parts).total_seconds()


ROWS: tuple[tuple[str, float], ...] = (
    # Codex
    ("You've hit your usage limit. Upgrade to Pro or try again at 4:08 PM.", local(2026, 11, 21, 16, 8)),
    ("Try again at 9:30 PM", local(2026, 11, 21, 21, 30)),
    ("or try again at 2:08 AM.", local(2026, 11, 22, 2, 8)),
    ("or try again at 12:30 AM.", local(2026, 11, 22, 0, 30)),
    ("or try again at Nov 25th, 2026 9:15 AM.", local(2026, 11, 25, 9, 15)),
    ("Upgrade to Plus (https://x.example/plus), or try again at Nov 27th, 2026 1:36 PM.", local(2026, 11, 27, 13, 36)),
    ("Upgrade your plan to continue, or try again at 25 de nov. de 2026, 11:52.", local(2026, 11, 25, 11, 52)),
    ("Upgrade or add credits to continue, or try again after November 26, 2026, 11:15.", local(2026, 11, 26, 11, 15)),
    ("or try again in 5 days 22 hours 11\nminutes.", after(days=5, hours=22, minutes=11)),
    ("Try again in 4 days 20 hours 9 minutes.", after(days=4, hours=20, minutes=9)),
    ("Please try again in 1.2s. Visit https://x.example/limits", after(seconds=1.2)),
    ("Please try again in 450ms.", after(milliseconds=450)),
    ("Rate limit reached for gpt-5 on tokens per min. Please try again in 6m30s.", after(minutes=6, seconds=30)),
    # Claude Code
    ("You've hit your weekly limit · resets Dec 1, 7am (Europe/Zurich)", local(2026, 12, 1, 7)),
    ("You've hit your session limit · resets 3pm (America/Bogota)", at("America/Bogota", 2026, 11, 21, 15)),
    ("You've hit your session limit · resets 8:30pm (Asia/Tokyo)", at("Asia/Tokyo", 2026, 11, 22, 20, 30)),
    (
        "You've hit your session limit · resets 12:50am (America/Los_Angeles)",
        at("America/Los_Angeles", 2026, 11, 22, 0, 50),
    ),
    ("Claude usage limit reached. Your limit will reset at 1pm (Etc/GMT+5).", at("Etc/GMT+5", 2026, 11, 21, 13)),
    ("Claude Max usage limit reached. Your limit will reset at 12am.", local(2026, 11, 22)),
    ("Claude AI usage limit reached|1795300000", 1795300000.0),
    ("5-hour limit reached ∙ resets 3pm", local(2026, 11, 21, 15)),
    ("You've hit your limit · resets Thu 10:00 AM", local(2026, 11, 26, 10)),
    ("Opus weekly limit reached ∙ resets Nov 27, 5pm", local(2026, 11, 27, 17)),
    ("anthropic-ratelimit-tokens-reset: 2026-11-21T13:30:00Z", at("UTC", 2026, 11, 21, 13, 30)),
    # Gemini CLI
    ("Usage limit reached for gemini-3-flash. Access resets at 10:57 PM GMT-3.", at("Etc/GMT+3", 2026, 11, 21, 22, 57)),
    ("Access resets at 6:00 AM PST.", at("Etc/GMT+8", 2026, 11, 21, 6)),
    ("Access resets at 9:15 AM GMT+5:30.", datetime.fromisoformat("2026-11-22T09:15:00+05:30").timestamp()),
    (
        "You have exhausted your capacity on this model. Your quota will reset after 3h12m5s.",
        after(hours=3, minutes=12, seconds=5),
    ),
    ("Please retry in 34.074824224s.", after(seconds=34.074824224)),
    ('"retryDelay": "3600s"', after(hours=1)),
    ("Quota resets at midnight Pacific time.", at("America/Los_Angeles", 2026, 11, 22)),
    ("Daily quota exceeded; it resets at midnight UTC", at("UTC", 2026, 11, 22)),
    # Copilot
    ("Sorry, you've exceeded your 5 hour session limits. Please retry after 2733 seconds.", after(seconds=2733)),
    ("your request was rate-limited. Please wait 2 hours 33 minutes before trying again.", after(hours=2, minutes=33)),
    ("Please try again in 15 hours 23 minutes. Please review our Terms of \n  Service", after(hours=15, minutes=23)),
    ("Please try again in 2 hours.", after(hours=2)),
    ("Your premium requests reset on December 1, 2026 at 12:00 AM UTC", at("UTC", 2026, 12, 1)),
    # OpenCode, Cursor and others
    ("weekly usage limit reached. It will reset in 5 days 10 hours. To continue", after(days=5, hours=10)),
    ("Your usage limits will reset on Nov 28 at 08:00", local(2026, 11, 28, 8)),
    ("usage limit reached, resets Monday at 9am", local(2026, 11, 23, 9)),
    ("Resets Sun, 6:00 PM", local(2026, 11, 22, 18)),
    ("limit reached, resets tomorrow at 09:00", local(2026, 11, 22, 9)),
    ("It resets at 7:15 AM tomorrow.", local(2026, 11, 22, 7, 15)),
    ("Limit resets in 4hr 5min", after(hours=4, minutes=5)),
    ("resets in 04:35:12", after(hours=4, minutes=35, seconds=12)),
    ("Try again in an hour.", after(hours=1)),
    ("Try again in 2 hours and 5 minutes", after(hours=2, minutes=5)),
    ("429 Too Many Requests, retry-after: 120", after(seconds=120)),
    ('{"retryAfter":90}', after(seconds=90)),
    ("x-ratelimit-reset: 1795300000", 1795300000.0),
    ('"resetsAt":1795300000123', 1795300000.0),
    ("x-ratelimit-reset-requests: 6m0s", after(minutes=6)),
    ("Your quota will be available again at 21:30", local(2026, 11, 21, 21, 30)),
    ("blocked until 2026-11-22 08:00 UTC", at("UTC", 2026, 11, 22, 8)),
    ("blocked until 2026-11-22T08:00:00+02:00", datetime.fromisoformat("2026-11-22T08:00:00+02:00").timestamp()),
    ("Your limit resets at 11 p.m.", local(2026, 11, 21, 23)),
    ("resets 9:30 PM ET", at("America/New_York", 2026, 11, 21, 21, 30)),
    ("resets Jan 3, 7am (Europe/Zurich)", local(2027, 1, 3, 7)),
    ("Limit renews on 28 November at 10:00", local(2026, 11, 28, 10)),
    ("it resets on Dec 1", local(2026, 12, 1)),
)


@pytest.mark.parametrize(("text", "expected"), ROWS, ids=[row[0][:70] for row in ROWS])
def test_it_is_read(text: str, expected: float) -> None:
    assert reset_time(text, NOW.timestamp()) == pytest.approx(expected, abs=0.001)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "try again later",
        "try again in a few minutes",
        "try again at 99:99 PM",
        "try again at 0:30 PM",
        "try again at Nov 99th, 2026 1:00 AM",
        "resets 7",
        "resets on 11/28",  # the day or the month first: nobody knows
        "resets 7am (Middle/Earth)",
        "resets 7am (Etc/../../passwd)",
        "resets 9:30 PM XYZ",
        "retry attempt 3 of 10",
        "Retrying with backoff, attempt 2 failed with status 429",
        "every 5h and every week",
        "resets Nov 20, 2026, 7am",
        "resets today at 9am",
    ],
)
def test_it_is_not_guessed(text: str) -> None:
    assert reset_time(text, NOW.timestamp()) is None


def test_each_form_has_a_row() -> None:
    used = set()
    for text, _ in ROWS:
        for told in output._RESET_TIMES.finditer(text):
            rest = text[told.end() : told.end() + 120]
            used.add(next((name for name, pattern in FORMS if pattern.match(rest)), None))
    assert {name for name, _ in FORMS} <= used
    assert len(ROWS) >= 50


def test_a_limit_of_claude_that_is_told_in_words_alone_is_read() -> None:
    text = "You've hit your weekly limit · resets Dec 1, 7am (Europe/Zurich)"
    lines = [*START, api_error("rate_limit"), result(is_error=True, result=text, api_error_status=429)]
    found = Claude().verdict(AgentEnd(1, lines, at=NOW.timestamp()))
    assert (found.outcome, found.resets_at) == (Outcome.RATE_LIMITED, local(2026, 12, 1, 7))
