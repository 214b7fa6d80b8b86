"""Who acts: a name that people see whole, and never the machine's own."""

import sqlite3

import pytest

from nobrakes.agents.db import edits
from nobrakes.errors import UsageError
from nobrakes.events.kinds import NOBODY, Actor, Surface, default_actor, given, is_session, session_actor

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
    "Session 1",
    "session 12",
    "Z\u200be",
]


@pytest.mark.parametrize("name", BAD)
def test_a_name_that_cannot_be_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        given(name, Surface.WEB)


@pytest.mark.parametrize("name", ["Zoe", "Zoë B.", "ci-bot", "李", "Session planner"])
def test_a_name_is_taken_as_it_is(name: str) -> None:
    assert given(name, Surface.WEB) == Actor(name, Surface.WEB) == default_actor(name, Surface.WEB)


@pytest.mark.parametrize(
    ("name", "made"), [("", NOBODY), ("nobrakes", NOBODY), (" a \n b", "a b"), ("y" * 99, "y" * 80)]
)
def test_what_the_system_says_is_made_to_fit(name: str, made: str) -> None:
    assert default_actor(name, Surface.CLI).name == made


def test_the_agent_of_a_session_is_called_as_its_channel_calls_it() -> None:
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE turns (token, id, session, outcome)")
    connection.execute("INSERT INTO turns VALUES ('s3.word', 3, 7, NULL)")
    assert edits.agent_identity(connection, "s3.word").name == session_actor(7)
    assert is_session(session_actor(7)) and not is_session("Session planner") and not is_session("Ada")
