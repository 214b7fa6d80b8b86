"""How often requests are looked at."""

from nobrakes.requests.model import between_looks, next_look


def test_the_looks_at_all_requests_fit_into_the_hosts_calls() -> None:
    assert between_looks(60.0, 1) == between_looks(60.0, 5) == 60.0
    assert between_looks(1.0, 1) == 1.0
    assert between_looks(60.0, 20) > 200.0


def test_where_nothing_happens_looks_are_rarer_and_never_more_often_than_is_set() -> None:
    assert next_look(60.0, 0.0) == next_look(60.0, 600.0) == 60.0
    assert next_look(60.0, 3000.0) == 300.0 and next_look(60.0, 90_000.0) == 600.0
    assert next_look(3600.0, 0.0) == next_look(3600.0, 90_000.0) == 3600.0
