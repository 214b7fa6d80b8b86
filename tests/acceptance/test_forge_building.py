"""A feature while it is built: an agent that cannot continue, a step that fails three times, and what a person decides."""

import json
import time
from pathlib import Path
from typing import Any

from nobrakes.beads.model import Bead, BeadType, Status
from nobrakes.features.model import Feature, Step
from tests.acceptance.test_forge_shaper import _Open
from tests.support.scripted import Scripted

BLOCKED = """echo half >half; commit Half
nobrakes agent progress "The client is there" --percent 40 --work-type refactoring
nobrakes agent test >/dev/null
nobrakes agent blocked "No <b>endpoint</b> for it" --option "Use v1: slower; costs a day" --option "pause the bead" \\
    --recommend "Use v1" --tried "v2 answers 404" >"$BOOK/said" 2>&1
sleep 300; touch "$BOOK/went on"
"""
FAILS = 'nobrakes agent done failed --summary "No way"; echo "NOBRAKES: FAILED"\n'


class Building(Scripted):
    """A project whose feature `login` is built: one bead that is blocked, one that fails, and one that waits for a place."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, doers=1, more='[forge]\nreviewers = ["script"]\n')
        self.configure('test_writer = "script"', 'shaper = "script"\ntest_writer = "script"')
        live: dict[str, Any] = {"epic": "login", "needs_tests": False, "status": Status.NEEDS_DOER}
        with _Open(str(self.folder / ".nobrakes" / "nobrakes.db")) as store:
            store.put([Bead("login", "Login", type=BeadType.EPIC, status=Status.OPEN)], [], "me")
            store.put(
                [Bead(one, f"The {one}", priority=n, **live) for n, one in enumerate(("api", "steps", "page"))],
                [],
                "me",
            )
            store.begin_feature(Feature("login", "Login", "People log in."))
            store.move_feature("login", Step.APPROVED, "me")
        self.does("api", BLOCKED, 1)
        self.does("steps", FAILS)


def statuses(project: Building, bead: str) -> list[dict[str, Any]]:
    """What `execution.status` said of the bead."""
    said = project.nobrakes("events", "--public", "--bead", bead).stdout
    return [one["metadata"] for one in map(json.loads, said.splitlines()) if one["event"] == "execution.status"]


def test_who_is_blocked_makes_room_and_three_failures_offer_guidance_the_plan_a_pause_or_the_way_back(
    tmp_path: Path,
) -> None:
    project = Building(tmp_path)
    began = time.monotonic()
    project.nobrakes("run", expect=40)
    assert time.monotonic() - began < 120 and not project.flag("went on").exists(), "it was stopped at once"
    assert "filed as question" in project.flag("said").read_text()
    assert project.outcomes("api") == ["blocked"] and project.outcomes("steps") == ["failed"] * 3
    assert project.status("page") == "done", "its place was given to others"
    asked = {one["bead"]: one for one in project.open()}
    labels = {bead: [option["label"] for option in one["form"]["options"]] for bead, one in asked.items()}
    assert labels["api"] == ["Use v1", "give guidance", "pause the bead"]
    assert labels["steps"] == ["retry with guidance", "change the plan", "pause the feature", "roll back the feature"]
    assert {one["form"]["priority"] for one in asked.values()} == {1} and project.status("api") == "escalated"
    number = {bead: str(one["id"]) for bead, one in asked.items()}
    shown = project.nobrakes("escalation", number["api"]).stdout
    for words in (
        "P1",
        "v2 answers 404",
        "Use v1 (recommended)",
        "costs: a day",
        f'nobrakes answer {number["api"]} "…"',
    ):
        assert words in shown, shown

    assert "is answered: pause the feature" in project.nobrakes("answer", number["steps"], "3").stdout
    assert project.ask("forge", "show", "login")["feature"]["state"] == "paused"
    assert project.show("steps")["held"] == "feature login is paused"
    told = statuses(project, "api")
    assert [(one["status"], one["progress"], one["work_type"], one["tests_status"]) for one in told][:4] == [
        ("IN_PROGRESS", 0, "IMPLEMENTATION", "NOT_RUN"),
        ("IN_PROGRESS", 40, "REFACTORING", "NOT_RUN"),
        ("IN_PROGRESS", 40, "REFACTORING", "PASSING"),
        ("BLOCKED", 40, "REFACTORING", "PASSING"),
    ]
    assert told[3]["message"] == "No <b>endpoint</b> for it" and told[3]["step_id"] == "api"
    assert told[-1]["status"] == "BLOCKED" and told[-1]["files_modified"] == 1, "its workspace was looked at"
    page = statuses(project, "page")
    assert (page[-1]["status"], page[-1]["progress"], page[-1]["files_modified"]) == ("COMPLETE", 100, 1)
    assert "api  blocked, refactoring, 40 %, 1 file, tests passing" in project.nobrakes("forge", "show", "login").stdout
    project.nobrakes("answer", number["api"], "try v3\nit is new")
    project.nobrakes("run", expect=40)
    assert len(project.turns("api")) == 1 and len(project.turns("steps")) == 3, "nobody begins while it is paused"
    project.nobrakes("forge", "resume", "login")
    project.does("steps", "work")
    project.nobrakes("run")
    assert (project.status("api"), project.status("steps")) == ("done", "done")
    assert "> give guidance: try v3\n> it is new" in project.prompt("api", 2)
    assert project.git("show", "main:half") == "half\n", "it went on where the branch was"
