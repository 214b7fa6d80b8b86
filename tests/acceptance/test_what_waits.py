"""Whatever only a person can move is listed wherever people look: Next, status, escalations, the pages, a notice."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_forge_reviews import PLAN
from tests.acceptance.test_forge_shaper import Forge
from tests.acceptance.test_sprints import NEEDS_PERSON, Tea
from tests.support.scripted import Scripted
from tests.support.team import Team

pytestmark = pytest.mark.slow


def listed(place: Scripted, kind: str, command: str) -> str:
    """What the lists say of the one thing that waits, which each of them names with what to type."""
    [found] = [one for one in place.ask("status")["hindrances"]["found"] if one["kind"] == kind]
    assert found["commands"][0].startswith(command), found
    for words in ((), ("status",), ("escalations",)):
        assert command in place.nobrakes(*words).stdout, words
    assert f"Next: {command}" in place.nobrakes().stdout
    return str(found["what"])


def test_a_plan_whose_reviews_are_done_waits_for_a_sign_off(tmp_path: Path) -> None:
    channel = '[notify.channels.mine]\ntype = "command"\ncommand = ["true"]\n'
    forge = Forge(tmp_path, more=f"clean_rounds = 1\nmost_domains = 1\n{channel}")
    forge.says(1, PLAN)
    forge.does("session~2", 'echo "Nothing is wrong."; echo "NOBRAKES: COMPLETED"\n')
    forge.nobrakes("run", expect=NEEDS_PERSON)
    assert "plan of feature login (" in listed(forge, "sign_off", "nobrakes forge sign-off login")
    assert "draft" not in forge.nobrakes("escalations").stdout, "its drafts wait for that, not for another yes"
    [told] = [one for one in notices(forge) if "sign-off" in one]
    assert "login" in told and "nobrakes forge show login" in told
    forge.nobrakes("forge", "sign-off", "login", "--take-risk")
    assert listed(forge, "drafts", "nobrakes commit-strategy") == "1 draft and 1 epic wait for your approval"
    forge.nobrakes("commit-strategy", "--yes")
    assert "no escalation" in forge.nobrakes("escalations").stdout and not asks(forge)


def notices(place: Scripted) -> list[str]:
    connection = sqlite3.connect(place.folder / ".nobrakes" / "nobrakes.db")
    return [str(row[0]) for row in connection.execute("SELECT text FROM notices ORDER BY id")]


def asks(place: Scripted) -> list[Any]:
    return [one["what"] for one in place.ask("status")["hindrances"]["found"]]


def test_a_plan_that_is_still_made_or_reviewed_asks_nobody(tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    forge.says(1, PLAN.replace("nobrakes agent plan-ready; ", ""))
    forge.nobrakes("run")
    kinds = [one["kind"] for one in forge.ask("status")["hindrances"]["found"]]
    assert "sign_off" not in kinds and "drafts" in kinds, "the plan was never called whole, so a yes is enough for it"


def test_sprints_that_wait_for_a_new_yes(tmp_path: Path) -> None:
    tea = Tea(tmp_path)
    tea.yes(2)
    brief = tea.folder / "CLAUDE.md"
    brief.write_text(brief.read_text().replace("Sell tea", "Sell coffee"))
    tea.git("commit", "-q", "-am", "Another objective")
    tea.nobrakes("run", expect=NEEDS_PERSON)
    said = listed(tea, "sprints", "nobrakes project status")
    assert said == "the sprints wait for your approval after 0 of 2"
    assert "the brief changed" in tea.nobrakes("escalations").stdout


def test_a_session_whose_agent_is_not_there(tmp_path: Path) -> None:
    place = Scripted(tmp_path)
    place.nobrakes("session", "start", "Which port?", "--agent", "script")
    place.does("session~1", "exit 3")
    place.nobrakes("run", expect=NEEDS_PERSON)
    assert "session 1 (Which port?)" in listed(place, "session", "nobrakes session show 1")
    place.does("session~1", 'echo "8080"; echo "NOBRAKES: COMPLETED"')
    place.nobrakes("session", "say", "1", "Now?")
    place.nobrakes("run")
    assert not asks(place)


def test_work_that_is_pushed_only_with_a_word(tmp_path: Path) -> None:
    team = Team(tmp_path, more="push = false")
    team.add("one")
    team.run_on()
    assert "'one' has passed" in listed(team, "request", "nobrakes pr open one")
    team.nobrakes("pr", "open", "one")
    assert "nobrakes pr open" not in team.nobrakes("escalations").stdout
