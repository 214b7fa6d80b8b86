"""Times as people write them."""

from datetime import datetime

import pytest

from nobrakes.errors import UsageError
from nobrakes.text.times import moment, spoken

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
