"""Times as people write them."""

from datetime import datetime

import pytest

from nobrakes.beads.commands import moment
from nobrakes.errors import UsageError
from nobrakes.text.cleaning import near, spoken

NOW = 1_900_000_000.0


@pytest.mark.parametrize(
    ("text", "seconds"), [("90m", 5400), ("8h", 28800), ("2D", 172800), (" 1w ", 604800), ("0m", 0)]
)
def test_spans_begin_now(text, seconds):
    assert moment(text, NOW) == NOW + seconds


def test_dates_and_times_are_local():
    assert moment("2030-01-31", NOW) == datetime(2030, 1, 31).timestamp()
    assert moment("2030-01-31T09:05", NOW) == datetime(2030, 1, 31, 9, 5).timestamp()
    assert spoken(moment("2030-01-31T09:05", NOW)) == "2030-01-31 09:05"
    assert moment("2030-01-31T09:05+00:00", NOW) == 1896080700


@pytest.mark.parametrize("text", ["", "soon", "8", "-3h", "8.5h", "٣h", "9999999h", "2030-13-01", "x" * 10_000])
def test_everything_else_is_refused_with_an_example(text):
    with pytest.raises(UsageError) as refused:
        moment(text, NOW)
    assert "2030-01-31" in refused.value.hint and len(str(refused.value)) < 100


@pytest.mark.parametrize(
    ("day", "said"),
    [
        (20, "18:05"),
        (19, "18:05 yesterday"),
        (21, "18:05 tomorrow"),
        (18, "2030-01-18 18:05"),
        (22, "2030-01-22 18:05"),
    ],
)
def test_a_time_near_now_needs_no_date(day, said):
    now = datetime(2030, 1, 20, 0, 1).timestamp()
    assert near(datetime(2030, 1, day, 18, 5).timestamp(), now) == said
