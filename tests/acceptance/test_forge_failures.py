"""A Shaper, a reviewer or a bead that fails three times: the same four ways in each stage, and what is typed next."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.test_forge_building import FAILS
from tests.acceptance.test_forge_shaper import PROPOSES, Forge

FAIL, CLEAN = "exit 3\n", 'echo "Nothing is wrong."; echo "NOBRAKES: COMPLETED"\n'
READY = 'nobrakes agent plan-ready; echo "It is whole."; echo "NOBRAKES: COMPLETED"\n'
FINDS = f'nobrakes agent finding "Slow." --category security --priority 1 --impact "Bots." --option "mend it"\n{CLEAN}'
ASKS = 'nobrakes agent ask "Who logs in?"; echo "NOBRAKES: BLOCKED"\n'
FOUR = ["retry with guidance", "change the plan", "pause the feature", "roll back the feature"]
PLAN = """nobrakes agent propose - <<'PLAN'
beads:
  - {id: steps, title: The steps, needs_tests: false}
PLAN
"""


def in_discovery(forge: Forge) -> int:
    forge.does("session~1", FAIL)
    forge.nobrakes("run", expect=40)
    return 3


def in_planning(forge: Forge) -> int:
    forge.says(1, PROPOSES + ASKS)
    forge.does("session~1", FAIL)
    forge.nobrakes("run", expect=40)
    forge.nobrakes("answer", str(forge.questions()[0]["id"]), "Everybody")
    forge.nobrakes("run", expect=40)
    return 4


def in_review(forge: Forge) -> int:
    forge.says(1, PLAN + READY)
    forge.does("session~2", FINDS)
    forge.does("session~1", FAIL)
    forge.nobrakes("run", expect=40)
    forge.nobrakes("answer", str(forge.questions()[0]["id"]), "1")
    forge.nobrakes("run", expect=40)
    return 4


def built(forge: Forge) -> None:
    """A feature whose one bead fails as often as it may."""
    forge.says(1, PLAN + READY)
    for session in range(2, 9):
        forge.does(f"session~{session}", CLEAN)
    forge.does("steps", FAILS)
    forge.nobrakes("run", expect=40)
    forge.nobrakes("forge", "sign-off", "login", "--take-risk", expect=None)
    forge.nobrakes("commit-strategy", "--yes")


def in_implementation(forge: Forge) -> int:
    built(forge)
    forge.does("session~1", FAIL)
    forge.nobrakes("forge", "pause", "login")
    forge.nobrakes("forge", "resume", "login")
    forge.nobrakes("hold", "steps")
    forge.nobrakes("forge", "discuss", "login", "Why one step?")
    forge.nobrakes("run", expect=None)
    return 4


STAGES: dict[str, Callable[[Forge], int]] = {
    "discovery": in_discovery,
    "planning": in_planning,
    "review": in_review,
    "implementation": in_implementation,
}


def asked(forge: Forge, title: str, *go_on: str) -> dict[str, Any]:
    """The one open question, which has the four ways; `go_on`: instead of the first."""
    (one,) = forge.questions()
    assert title in one["title"], one
    ways = [*(go_on or FOUR[:1]), *FOUR[1:]]
    assert [option["label"] for option in one["form"]["options"]] == ways
    page = forge.nobrakes("escalation", str(one["id"])).stdout
    assert all(way in page for way in ways), page
    return one


def answered(forge: Forge, one: dict[str, Any], way: str, then: str) -> None:
    said = forge.nobrakes("answer", str(one["id"]), way).stdout
    assert then in said, said
    typed = re.findall(r"`nobrakes ([^`]+)`", said)
    for command in typed:
        forge.nobrakes(*command.split(), expect=17 if "rollback" in command else 0)  # it asks for --yes
    assert typed or "goes to" in said, said


@pytest.mark.parametrize("stage", STAGES)
def test_a_shaper_that_fails_three_times_offers_the_four_ways_in_its_stage(tmp_path: Path, stage: str) -> None:
    forge = Forge(tmp_path, more="most_domains = 1\n")
    failed = STAGES[stage](forge)
    assert len(forge.turns("session~1")) == failed, "three times, and no more"
    one = asked(forge, f"stopped in {stage}: the feature's Shaper failed 3 times")
    assert "exit code 3" in one["detail"]
    stands = forge.nobrakes("status").stdout
    assert stands.count("the feature's Shaper failed 3 times") and "stopped with an error:" not in stands, (
        "it is said once"
    )
    forge.does("session~1", ASKS)
    answered(forge, one, "use the old form", "the Shaper of feature login continues with your words")
    assert forge.feature().state.value == "active" and forge.feature().stage.value == stage
    forge.nobrakes("run", expect=40)
    assert "use the old form" in forge.prompt("session~1", failed + 1)
    assert [found["title"] for found in forge.questions()] == ["Who logs in?"]


@pytest.mark.parametrize("stage", STAGES)
def test_the_plan_is_changed_or_the_feature_rests_or_goes_in_each_stage(tmp_path: Path, stage: str) -> None:
    for number, way in enumerate(FOUR[1:]):
        forge = Forge(tmp_path / str(number), more="most_domains = 1\n")
        failed = STAGES[stage](forge)
        one = asked(forge, f"stopped in {stage}")
        forge.does("session~1", ASKS)
        if way == "change the plan":
            refused = forge.error("answer", str(one["id"]), way, code=2)
            assert "reason" in refused["message"] + refused["hint"]
            answered(forge, one, f"{way}: one step less", "changes the plan next")
            assert forge.feature().stage.value == ("discovery" if stage == "discovery" else "planning")
            forge.nobrakes("run", expect=40)
            assert "Change the plan: one step less" in forge.prompt("session~1", failed + 1)
        elif way == "pause the feature":
            said = forge.nobrakes("answer", str(one["id"]), "pause the feature").stdout
            assert "feature login is paused. To continue the feature: `nobrakes forge resume login`" in said
            forge.nobrakes("run", expect=None)
            assert len(forge.turns("session~1")) == failed and forge.feature().state.value == "paused"
            forge.nobrakes("forge", "resume", "login")
            forge.nobrakes("run", expect=40)
            assert len(forge.turns("session~1")) > failed, "nobrakes tries again"
        else:
            answered(forge, one, way, "To see and confirm the rollback: `nobrakes forge rollback login`")
            forge.nobrakes("forge", "rollback", "login", "--yes")
            assert forge.feature().state.value == "rolled_back" and not forge.questions()


def test_a_message_or_resume_instead_of_a_choice_closes_the_question(tmp_path: Path) -> None:
    for number, command in enumerate((("session", "say", "1", "Go on."), ("forge", "resume", "login"))):
        forge = Forge(tmp_path / str(number))
        in_discovery(forge)
        asked(forge, "stopped in discovery")
        forge.does("session~1", ASKS)
        forge.nobrakes(*command)
        forge.nobrakes("run", expect=40)
        assert [found["title"] for found in forge.questions()] == ["Who logs in?"]


def test_reviewers_that_fail_and_a_shaper_that_says_nothing_offer_them_too(tmp_path: Path) -> None:
    forge = Forge(tmp_path / "reviewers", more="most_domains = 1\n")
    forge.config.write_text(forge.config.read_text().replace("most_rounds = 1\n", ""))
    forge.says(1, PLAN + READY)
    for session in range(2, 9):
        forge.does(f"session~{session}", FAIL)
    forge.nobrakes("run", expect=40)
    one = asked(forge, "No reviewer finished a review in 2 review rounds in a row", "continue", "close the reviews")
    forge.does("session~1", ASKS)
    answered(forge, one, "change the plan: no steps", "changes the plan next")
    forge.nobrakes("run", expect=40)
    assert "Change the plan: no steps" in forge.prompt("session~1", 2) and forge.feature().stage.value == "planning"
    forge = Forge(tmp_path / "silent")
    forge.does("session~1", f"{PROPOSES}echo NOBRAKES: COMPLETED\n")
    forge.nobrakes("run", expect=40)
    one = asked(forge, "makes no progress", "go on", "the plan is whole")
    answered(forge, one, "pause the feature", "To continue the feature: `nobrakes forge resume login`")
    forge.nobrakes("run", expect=40)
    assert forge.feature().state.value == "active" and len(forge.questions()) == 1, "it was resumed, and is as silent"


def test_a_bead_that_fails_is_offered_them_while_it_is_built_and_while_its_plan_is_changed(tmp_path: Path) -> None:
    for number, is_replanned in enumerate((False, True)):
        forge = Forge(tmp_path / str(number), more="most_domains = 1\n")
        built(forge)
        forge.does("session~1", ASKS)
        if is_replanned:
            forge.nobrakes("forge", "change", "login", "And a logout.")
        forge.nobrakes("run", expect=40)
        ours = [one for one in forge.questions() if one["bead"] == "steps"]
        assert [option["label"] for option in ours[0]["form"]["options"]] == FOUR
        answered(forge, ours[0], "change the plan", "the Shaper of feature login changes the plan next")
        assert "is being changed because of it" in forge.show("steps")["held"]
        for one in forge.questions():
            forge.nobrakes("answer", str(one["id"]), "Everybody")
        before = len(forge.turns("session~1"))
        forge.nobrakes("run", expect=40)
        assert "steps failed 3 times" in forge.prompt("session~1", before + 1), json.dumps(forge.questions())
