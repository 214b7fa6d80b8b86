"""Whatever only a person can move is listed wherever people look: Next, status, escalations, the pages, a notice."""

import json
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
    envelope = json.loads(place.nobrakes("escalations", "--json").stdout)
    assert [one["kind"] for one in envelope["asks"]] == [kind] and not envelope["data"], envelope
    assert f"Next: {command}" in place.nobrakes().stdout
    here = [one for one in place.ask("repositories") if one["path"] == str(place.folder)]
    assert [one["for_you"] for one in here] == [1], here
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
    assert forge.ask("approve", "--yes")["approved"] == "login@1", "nothing else waits"
    assert listed(forge, "drafts", "nobrakes approve") == "1 draft and 1 epic need your approval"
    forge.nobrakes("approve", "--yes")
    assert "no escalation" in forge.nobrakes("escalations").stdout and not asks(forge)


def notices(place: Scripted) -> list[str]:
    connection = sqlite3.connect(place.folder / ".nobrakes" / "nobrakes.db")
    return [str(row[0]) for row in connection.execute("SELECT text FROM notices ORDER BY id")]


def asks(place: Scripted) -> list[Any]:
    return [one["what"] for one in place.ask("status")["hindrances"]["found"]]


def test_a_plan_that_is_still_made_or_reviewed_asks_nobody(tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    assert "drafts" not in [one["kind"] for one in forge.ask("status")["hindrances"]["found"]], "nothing is proposed"
    assert "nothing needs your approval" in forge.nobrakes("approve").stdout
    forge.says(1, PLAN.replace("nobrakes agent plan-ready; ", ""))
    forge.nobrakes("run", expect=40)
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
    assert said == "the next sprint needs your approval: 0 of 2 are done"
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


def test_settings_with_which_nothing_starts(tmp_path: Path) -> None:
    place = Scripted(tmp_path)
    place.nobrakes("add", "A page", "--id", "page", "--no-tests")
    valid = place.config.read_text()
    place.config.write_text(valid.replace('[[checks]]\nname = "test"\ncommand = "sh tests/run.sh"\n', ""))
    assert "no check is configured" in listed(place, "no_check", "nobrakes config --check")
    place.config.write_text(valid)
    place.nobrakes("list")
    place.config.write_text(valid.replace('main = "main"', "main = 3"))
    assert "config.toml is not valid" in listed(place, "config", "nobrakes config --check")
    place.config.write_text(valid.replace('doer = "script"', 'doer = "claude"'))
    assert "nobrakes doctor" in place.nobrakes().stdout, "`nobrakes run` would be refused"


def test_a_feature_whose_agent_is_not_there(tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    forge.does("session~1", "exit 3")
    forge.nobrakes("run", expect=NEEDS_PERSON)
    (asked,) = forge.open()
    assert "stopped in discovery" in asked["title"] and asked["title"] in forge.nobrakes("escalation", "1").stdout
    forge.nobrakes("resolve", "1", "--dismiss")
    assert "stopped with an error" in listed(forge, "feature_stopped", "nobrakes forge resume login")
    forge.nobrakes("forge", "resume", "login")
    forge.nobrakes("forge", "pause", "login")
    forge.nobrakes("run")
    assert "login" in forge.nobrakes("escalations").stdout, "a pause is a person's: it waits, and asks for nothing"
    forge.nobrakes("pause")
    said = forge.nobrakes("escalations").stdout
    assert said.startswith("paused: ") and said.index("no escalation") < said.index("login"), "what stops all is first"


def test_work_that_is_pushed_only_with_a_word(tmp_path: Path) -> None:
    team = Team(tmp_path, more="push = false")
    team.add("one")
    team.run_on()
    assert "'one' has passed" in listed(team, "request", "nobrakes pr open one")
    assert "--yes works only" in team.error("approve", "--yes", code=17)["message"], "a push has to be named"
    [waits] = team.ask("approve")["waiting"]
    assert "changed since" in team.error("approve", "one@000000000000", code=17)["message"]
    assert "has no @version" in team.error("approve", "one", code=17)["message"], "the yes is to a commit"
    team.nobrakes("approve", waits["what"])
    assert "nobrakes pr open" not in team.nobrakes("escalations").stdout


def test_approve_alone_says_yes_to_the_one_plan_and_its_drafts(tmp_path: Path) -> None:
    place = Scripted(tmp_path)
    assert "nothing needs your approval" in place.nobrakes("approve").stdout
    assert "nothing needs your approval" in place.nobrakes("approve", "--yes").stdout
    place.nobrakes("add", "A page", "--id", "page", "--draft")
    assert "1 draft needs your approval" in place.nobrakes("approve").stdout and place.status("page") == "draft", (
        "it only lists"
    )
    assert "1 bead went live" in place.nobrakes("approve", "--yes").stdout
    assert place.status("page") != "draft"


def test_a_yes_is_to_the_version_that_was_listed_and_a_merge_has_to_be_named(tmp_path: Path) -> None:
    place = Scripted(tmp_path)
    place.nobrakes("add", "Landing", "--id", "landing", "--no-tests", "--label", "merge-review")
    place.nobrakes("run", expect=NEEDS_PERSON)
    [asked] = place.open()
    listed = place.ask("approve")
    assert listed["approved"] == "" and [one["what"] for one in listed["waiting"]] == [str(asked["id"])]
    assert place.status("landing") == "escalated", "a merge is not approved without its name"
    place.nobrakes("add", "A page", "--id", "page", "--draft")
    drafts = place.ask("approve")["waiting"][1]["what"]
    alone = place.error("approve", "page", code=17)
    assert alone["message"] == "nothing was approved: 'page' is one of several drafts"
    assert alone["hint"] == "To approve one draft: `nobrakes commit-strategy --only page`."
    place.nobrakes("add", "Another page", "--id", "other", "--draft")
    said = place.error("approve", drafts, code=17)
    assert "changed since it was listed" in said["message"] and place.status("page") == "draft"
    assert (
        "is not signed off" not in said["message"]
        and "does not need" in place.error("approve", "x", code=17)["message"]
    )
    place.nobrakes("approve", place.ask("approve")["waiting"][1]["what"])
    assert place.status("page") != "draft" and place.status("other") != "draft"
    place.nobrakes("approve", str(asked["id"]))
    place.nobrakes("run", expect=None)
    assert place.status("landing") == "done"
    place.nobrakes("hold", "page")
    assert "'page' is held: no reason given" in place.nobrakes("status").stdout
