"""What a bead takes for which nobody gave an estimate."""

from nobrakes.beads.graph import LEAST, FinishedBead, TypicalMinutes, typical, typical_minutes, weight


def past(type_: str, minutes: float, estimate: int | None = None, count: int = LEAST) -> list[FinishedBead]:
    return [FinishedBead(type_, estimate, minutes)] * count


def test_it_is_the_mean_of_what_is_known_without_outliers() -> None:
    assert typical_minutes(20, []) == TypicalMinutes(20)
    assert (typical([10, 20, 30]), typical([1, 2]), typical([10, 10, 9000]), typical([0.2])) == (20, 2, 20, 1)
    assert weight("task", None, TypicalMinutes(20)) == 20 and weight("task", 7, TypicalMinutes(20)) == 7
    assert weight("epic", 7, TypicalMinutes(20)) == 0, "an epic is no work"


def test_nothing_known_is_one_for_all() -> None:
    assert typical_minutes(None, []) == typical_minutes(None, past("fix", 8, count=LEAST - 1)) == TypicalMinutes(1)


def test_the_past_tells_for_each_type() -> None:
    assert typical_minutes(None, [*past("fix", 4.2), *past("feature", 30)]) == TypicalMinutes(
        18, {"feature": 30, "fix": 5}
    )


def test_the_past_is_scaled_to_what_people_say() -> None:
    """Agents took a tenth of what was estimated: a type without estimates is brought into the same minutes."""
    known = [*past("feature", 6, estimate=60), *past("fix", 2)]
    assert typical_minutes(60, known) == TypicalMinutes(60, {"feature": 60, "fix": 20})
    assert typical_minutes(60, past("fix", 2)) == TypicalMinutes(60), "agents' minutes and people's are not mixed"
