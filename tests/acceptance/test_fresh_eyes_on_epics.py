"""An epic that people merge as a whole is read as a whole, before they are asked; what is found a bead of it mends."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_fresh_eyes import P1, P2, P3, asked
from tests.support.scripted import until
from tests.support.team import UNREAD, Team

pytestmark = pytest.mark.skipif(shutil.which("gh") is None, reason="gh is not installed")
MOST = 14
"""So many sessions have a play."""


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Team]:
    made = Team(tmp_path, 'unit = "epic"')
    made.nobrakes("add", "The shop", "--id", "shop", "--type", "epic")
    made.add("one", epic="shop", acceptance=["it greets"])
    made.add("two", epic="shop", needs=["one"])
    yield made
    made.hub.close_down()


def set_to(team: Team, way: str, more: str = "") -> None:
    team.configure(UNREAD, f'code_review = "{way}"\n{more}')


def finds(team: Team, *rounds: list[dict[str, Any]], first: str = "") -> None:
    """What is found in each round in the whole epic, and nothing afterwards; each bead by itself is read and is well."""
    plays = [json.dumps({"findings": found}) for found in rounds]
    give = "nobrakes agent review -; echo 'NOBRAKES: COMPLETED'"
    well = json.dumps({"findings": []})
    cases = "".join(f"{number}) echo '{answer}' | {give} ;;\n" for number, answer in enumerate(plays, 1))
    play = (
        f"if ! grep -q 'Read the work on epic shop as a whole' \"$NOBRAKES_PROMPT\"; then echo '{well}' | {give}; exit; fi\n"
        f'{first}\necho >>"$BOOK/rounds"; cp "$NOBRAKES_PROMPT" "$BOOK/whole.$(wc -l <"$BOOK/rounds")"\n'
        f"case $(wc -l <\"$BOOK/rounds\") in\n{cases}*) echo '{well}' | {give} ;;\nesac\n"
    )
    for session in range(1, MOST):
        team.does(f"session~{session}", play)


def whole(team: Team, number: int) -> str:
    """What the reader of the whole epic was told, the `number`th."""
    return team.flag(f"whole.{number}").read_text()


def of_whole(team: Team, kind: str) -> list[dict[str, Any]]:
    return [one for one in team.events(kind) if one["task_id"] == "shop"]


def test_what_must_be_mended_is_a_bead_of_the_epic_and_people_are_asked_afterwards(team: Team) -> None:
    set_to(team, "send_back", "code_review_lowest = 2\npull_cost = true")
    finds(team, [P1, P3])
    team.does("shop-mend-1", "echo mended >src/one && commit Mended")
    team.run_on()
    assert team.status("shop-mend-1") == "landed" and team.status("shop") == "reviewing"
    assert team.outcomes("shop", "reviewer")[:1] == ["findings"] and team.show("shop")["failures"] == 0
    told = team.prompt("shop-mend-1", 1)
    assert "An empty name is not met" in told and "could be shorter" not in told
    assert team.show("shop-mend-1")["title"] == "Answer the code review's findings in all of shop"
    first, second = whole(team, 1), whole(team, 2)
    for words in ("+made for one", "+made for two", "round 1 of at most 3", "- one: Bead one (wanted: it greets)"):
        assert words in first, first
    assert "An empty name is not met" in second and "round 2 of at most 3" in second
    opened = next(e["metadata"]["seq"] for e in team.events("pull_opened"))
    assert all(e["metadata"]["seq"] < opened for e in of_whole(team, "code_review_ended"))
    assert len(team.hub.pulls) == 1
    body = team.hub.pull(1)["body"]
    part = body[body.index("## Code review") :].split("\n\n## ")[0]
    assert "Round 1: 1 P1, 1 P3." in part and "Round 2: no findings." in part and "Cost: $0.00" in part
    team.hub.merge(1)
    team.run_on()
    assert {team.status(bead) for bead in ("shop", "one", "two", "shop-mend-1")} == {"done"}
    said = team.ask("review", "shop")[-1]["record"]["fresh_eyes"]
    assert said["read"] and [len(one["findings"]) for one in said["rounds"]] == [2, 0]
    team.nobrakes("verify")


def test_a_person_sends_it_back_and_a_bead_of_the_epic_has_their_words(team: Team) -> None:
    set_to(team, "ask")
    finds(team, [P1])
    team.run_on()
    one = asked(team)
    assert not team.hub.pulls and team.status("shop") == "escalated"
    page = team.nobrakes("escalation", str(one["id"])).stdout
    assert (
        "a new bead in the epic fixes the findings" in " ".join(page.split()) and "starts again from main" not in page
    ), page
    team.nobrakes("answer", str(one["id"]), "send it back: greet nobody")
    said = team.nobrakes("answer", str(one["id"]), "--take-back", expect=None)
    assert said.returncode not in (0, 1) and "too late" in said.stderr, said.stderr
    team.run_on()
    told = team.prompt("shop-mend-1", 1)
    assert "An empty name is not met" in told and "greet nobody" in told
    assert len(team.hub.pulls) == 1 and team.status("shop-mend-1") == "landed"
    assert "greet nobody" in whole(team, 2)


@pytest.mark.parametrize("note", ["Do think", ""])
def test_resolving_it_with_retry_is_the_same(team: Team, note: str) -> None:
    set_to(team, "ask")
    finds(team, [P2])
    team.run_on()
    team.nobrakes("resolve", str(asked(team)["id"]), "--retry", *(["--note", note] if note else []))
    team.run_on()
    told = team.prompt("shop-mend-1", 1)
    assert "Nothing tests the end" in told and note in told
    assert len(team.hub.pulls) == 1


def test_each_p2_becomes_a_draft_outside_of_the_epic_which_goes_on_without_it(team: Team) -> None:
    set_to(team, "ask")
    finds(team, [P2])
    team.run_on()
    team.nobrakes("answer", str(asked(team)["id"]), "a bead for each P2")
    team.run_on()
    (draft,) = [bead for bead in team.ask("list") if bead["status"] == "draft"]
    assert draft["title"] == "tests: Nothing tests the end" and draft["epic"] is None
    assert len(team.hub.pulls) == 1, "what waits for approval holds nothing up"


def test_what_is_p1_beside_drafts_is_mended_in_the_epic(team: Team) -> None:
    set_to(team, "ask")
    finds(team, [P1, P2])
    team.run_on()
    team.nobrakes("answer", str(asked(team)["id"]), "a bead for each P2")
    team.run_on()
    assert "the P1 findings" in team.prompt("shop-mend-1", 1) and len(team.hub.pulls) == 1


def test_it_goes_on_as_it_is_where_a_person_says_so(team: Team) -> None:
    set_to(team, "ask")
    finds(team, [P1])
    team.run_on()
    team.nobrakes("answer", str(asked(team)["id"]), "go on as it is")
    team.run_on()
    assert len(team.hub.pulls) == 1 and len(of_whole(team, "code_review_began")) == 1


def test_rounds_of_an_epic_are_bounded_and_then_a_person_decides(team: Team) -> None:
    set_to(team, "send_back", "code_review_rounds = 2")
    finds(team, [P1], [P1])
    team.does("shop-mend-1", "echo mended >src/one && commit Mended")
    team.run_on()
    assert team.outcomes("shop", "reviewer") == ["findings", "code_review"] and not team.hub.pulls
    assert asked(team)["bead"] == "shop"


def test_what_lands_while_it_is_read_is_read_with_it(team: Team) -> None:
    set_to(team, "ask")
    finds(team, first='if ! test -e "$BOOK/reads"; then touch "$BOOK/reads"; sleep 300; fi')
    with team.running() as process:
        until(team.flag("reads").exists)
        team.add("three", epic="shop")
        until(lambda: len(team.hub.pulls) == 1 or process.poll() is not None, 90)
    team.run_on()
    assert len(team.hub.pulls) == 1 and "+made for three" in whole(team, 1)
    assert [one["metadata"]["state"] for one in of_whole(team, "code_review_ended")] == ["done"]


def test_what_people_ask_for_at_the_request_is_read_again(team: Team) -> None:
    set_to(team, "send_back")
    finds(team)
    team.run_on()
    team.hub.comment(1, "ann", "Name it better.", "src/one", 1)
    team.does("shop-mend-1", "echo better >src/one; commit Mend")
    team.run_on()
    assert len(of_whole(team, "code_review_ended")) == 2 and "+better" in whole(team, 2)
    assert team.hub.git("show", "feature/shop:src/one") == "better"


def test_a_killed_daemon_mends_it_by_one_bead(team: Team) -> None:
    set_to(team, "send_back")
    finds(team, [P1], first='touch "$BOOK/reads"; while ! test -e "$BOOK/go"; do sleep 0.05; done')
    team.does("shop-mend-1", "echo mended >src/one && commit Mended")
    with team.running() as process:
        until(team.flag("reads").exists)
        process.kill()
        process.wait()
        team.flag("go").touch()
        team.run_on()
    assert [bead["id"] for bead in team.ask("list") if "mend" in bead["id"]] == ["shop-mend-1"]
    assert len(of_whole(team, "code_review_began")) == 2 and len(team.hub.pulls) == 1
