"""What evidence is gathered from: runs of one's own, recorded ones, and the run of a batch's tip."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from nobrakes.beads.model import Bead, Role, Status
from nobrakes.checks.contract import Check, Contract
from nobrakes.events.kinds import Event, Kind
from nobrakes.requests.model import Where
from nobrakes.review.journal import Journal
from nobrakes.review.verify import Repository, verify
from nobrakes.review.worker.chain import Evidence
from nobrakes.store import open_memory
from tests.world.fake_git import FakeGit

CONTRACT = Contract("", (Check("test", "true"),), "env")
KEY = CONTRACT.key
CHECK = {"name": "test", "code": 0, "outcome": "pass", "reason": "", "seconds": 1.0, "counts": None, "excerpt": "ok"}


class World:
    """A store, a fake git with two beads on main, and what the Reviewer ran."""

    def __init__(self) -> None:
        self.store = open_memory(lambda: 100.0)
        self.git = FakeGit(first={"a": "0"})
        beads = [Bead(one, one, needs_tests=False, status=Status.NEEDS_REVIEW) for one in ("one", "two")]
        self.store.put(beads, [], "me")
        self.base = self.git.head
        self.branch = self.commit({"a": "branch"}, self.base)
        self.tips = []
        for bead in ("one", "two"):
            trailers = (("Bead", bead), ("Evidence", "none"))
            self.git.put_on_main(self.commit({"a": bead}, self.git.head, trailers))
            self.tips.append(self.git.head)
        self.contracts = {}
        attempt = self.store.open_attempt("one", Role.REVIEWER, "nobrakes", (), 60.0, None)
        assert attempt is not None
        self.attempt = attempt
        self.journal = Journal().with_values(
            head=self.branch, fork=self.base, base=self.base, candidate=self.tips[0], contract=KEY
        )
        self.ran(self.branch, "9-check1")

    def commit(self, tree: dict[str, str], parent: str, trailers: tuple[tuple[str, str], ...] = ()) -> str:
        return self.git.objects.commit(tree, (parent,), "words", "you", 1.0, trailers).id

    def ran(self, commit: str, *runs: str) -> None:
        """These runs of the commit's tree passed."""
        kept = [
            {"run": run, "attempt": self.attempt.id, "at": 50.0, "contract": {"checks": []}, "checks": [CHECK]}
            for run in runs
        ]
        self.store.save_validation(self.git.tree(commit), KEY, {"results": [], "runs": kept})

    def step(self, step: str, commit: str, run: str, outcome: str = "pass") -> None:
        """The review noted this run of its own."""
        self.contracts[run] = CONTRACT.text
        data = {
            "step": step,
            "commit": commit,
            "run": run,
            "results": [{**CHECK, "outcome": outcome, "tail": "this is the very end"}],
        }
        self.store.record(Event(Kind.REVIEW_STEP, "one", self.attempt.id, data=data))

    def merged(self, tip: str = "") -> dict[str, Any]:
        ports: Any = SimpleNamespace(
            where=Where(),
            store=self.store,
            git=self.git,
            paths=SimpleNamespace(runs="/runs"),
            processes=SimpleNamespace(output=lambda path, limit: self.contracts.get(path.split("/")[2], "")),
            credentials={"MY_TOKEN": "the very end"},
            environment={},
        )
        Evidence(ports).merged(self.attempt, self.store.bead("one"), self.journal.with_values(tip=tip))
        return next(self.git.evidence()).record

    def how(self, tip: str = "") -> list[str]:
        return [step["how"] for step in self.merged(tip)["steps"] if step["step"] == "validate"]

    def wrong(self) -> str:
        line = self.git.line("main")
        return "\n".join(
            w.text
            for w in verify(self.git.evidence(), line, line, Repository(self.git.made, self.git.content)).wrong
            if w.bead == "one"
        )


@pytest.fixture
def world() -> World:
    return World()


def test_a_recorded_run_of_the_same_tree_is_named(world: World) -> None:
    world.ran(world.tips[0], "9-check2")
    assert world.how() == ["recorded"] * 3 and world.wrong() == ""


def test_the_candidates_run_stands_for_the_branchs_where_nobody_ran_that(world: World) -> None:
    world.journal = world.journal.with_values(head=world.commit({"a": "never run"}, world.base))
    world.ran(world.tips[0], "9-check2")
    world.step("validate_rebased", world.tips[0], "9-check2")
    first, second = (step for step in world.merged()["steps"][:3] if step["step"] == "validate")
    assert (first["how"], first["run"], first["tip"]["commit"]) == ("stands_for", "9-check2", world.tips[0])
    assert (second["how"], second["run"]) == ("ran", "9-check2") and world.wrong() == ""


def test_the_run_of_the_batchs_tip_stands_for_what_came_with_it(world: World) -> None:
    world.ran(world.tips[1], "10-check1")
    record = world.merged(tip=world.tips[1])
    second = record["steps"][2]
    assert (second["how"], second["run"], second["tip"]["commit"]) == ("stands_for", "10-check1", world.tips[1])
    assert record["runs"]["10-check1"]["tree"] == world.git.tree(world.tips[1]) and world.wrong() == ""


def test_what_nobody_knows_is_not_made_up(world: World) -> None:
    assert world.how() == ["recorded", "unknown", "unknown"]
    assert world.wrong().count("no run is recorded") == 2


def test_each_of_the_three_may_be_another_run(world: World) -> None:
    world.ran(world.tips[0], "9-check2", "9-check3")
    world.step("validate_rebased", world.tips[0], "9-check2")
    world.step("validate_main", world.tips[0], "9-check3")
    record = world.merged()
    steps = [step for step in record["steps"] if step["step"] == "validate"]
    assert [(step["how"], step["run"]) for step in steps] == [
        ("recorded", "9-check1"), ("ran", "9-check2"), ("ran", "9-check3")]  # fmt: skip


def test_a_run_after_the_merge_does_not_stand_for_one_before_it(world: World) -> None:
    world.ran(world.tips[0], "8-check1", "9-check3")
    world.step("validate_main", world.tips[0], "9-check3")
    steps = [step for step in world.merged()["steps"] if step["step"] == "validate"]
    assert [(step["how"], step["run"]) for step in steps[1:]] == [("recorded", "8-check1"), ("ran", "9-check3")]


def test_a_run_that_failed_is_told_as_it_was_without_secrets(world: World) -> None:
    world.ran(world.tips[0], "9-check2")
    world.step("validate_main", world.tips[0], "9-check3", "fail")
    run = world.merged()["runs"]["9-check3"]
    assert (run["outcome"], run["checks"][0]["excerpt"]) == ("fail", "this is [secret]")
    assert "main after the merge: the run did not pass (test: fail)" in world.wrong()


def test_main_is_judged_by_the_checks_of_that_moment_when_they_were_edited_meanwhile(world: World) -> None:
    world.ran(world.tips[0], "9-check2")
    world.step("validate_main", world.tips[0], "9-check3", "broken")
    world.step("validate_main", world.tips[0], "9-check4")
    world.contracts["9-check4"] = replace(CONTRACT, checks=(Check("renamed", "true"),)).text
    last = world.merged()["steps"][-1]
    assert (last["run"], last["how"]) == ("9-check4", "ran") and last["contract"] != KEY
    assert world.wrong() == ""


def test_a_run_of_other_checks_proves_nothing(world: World) -> None:
    world.step("validate_rebased", world.tips[0], "9-check2")
    world.contracts["9-check2"] = Contract("", (Check("test", "false"),), "env").text
    assert world.how()[1] == "unknown"
