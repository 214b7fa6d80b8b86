"""When a limit ends, by the words that people are shown."""

from datetime import datetime

import pytest

from nobrakes.agents.resets import reset_time

NOW = datetime(2026, 11, 21, 14, 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("or try again at 4:08 PM.", datetime(2026, 11, 21, 16, 8)),
        ("or try again at 2:08 AM.", datetime(2026, 11, 22, 2, 8)),
        ("or try again at 12:30 AM.", datetime(2026, 11, 22, 0, 30)),
        ("try again at Nov 25th, 2026 9:15 AM.", datetime(2026, 11, 25, 9, 15)),
        ("try again in 1 day 2 hours 3 minutes", datetime(2026, 11, 22, 16, 3)),
        ("Please retry in 90.0s", datetime(2026, 11, 21, 14, 1, 30)),
        ("Your quota will reset after 3h12m5s.", datetime(2026, 11, 21, 17, 12, 5)),
    ],
)
def test_it_is_read(text: str, expected: datetime) -> None:
    assert reset_time(text, NOW.timestamp()) == expected.timestamp()


@pytest.mark.parametrize(
    "text", ["", "try again later", "try again at 99:99 PM", "try again at Nov 99th, 2026 1:00 AM"]
)
def test_it_is_not_guessed(text: str) -> None:
    assert reset_time(text, NOW.timestamp()) is None
