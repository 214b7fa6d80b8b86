"""Who acts: a name that people see whole, and never the machine's own."""

import pytest

from nobrakes.errors import UsageError
from nobrakes.events.kinds import NOBODY, Actor, Surface, default_actor, given

BAD = [
    "",
    "  ",
    " Zoe",
    "Zoe  B",
    "Zo\ne",
    "Z\x1b[31m",
    "Z\u202e",
    "x" * 81,
    "nobrakes",
    "Reviewer",
    "Zoe (undo)",
    "Z\u200be",
]


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        given(name, Surface.WEB)


@pytest.mark.parametrize("name", ["Zoe", "Zoë B.", "ci-bot", "李"])
def test_a_name_is_taken_as_it_is(name: str) -> None:
    assert given(name, Surface.WEB) == Actor(name, Surface.WEB) == default_actor(name, Surface.WEB)


@pytest.mark.parametrize(
    ("name", "made"), [("", NOBODY), ("nobrakes", NOBODY), (" a \n b", "a b"), ("y" * 99, "y" * 80)]
)
def test_what_the_system_says_is_made_to_fit(name: str, made: str) -> None:
    assert default_actor(name, Surface.CLI).name == made
